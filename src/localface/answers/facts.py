"""The facts of one answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from localface._version import __version__
from localface.answers.action import Action
from localface.answers.cautions import keep_without_path
from localface.answers.certificate import Certificate
from localface.answers.changes import FeatureChange, changes_between
from localface.answers.disclosure import Disclosure
from localface.answers.doubt import Doubt
from localface.answers.measurement import Measurement
from localface.answers.robustness import Robustness
from localface.answers.status import Status
from localface.answers.target import Target
from localface.answers.waiting import Waiting
from localface.answers.wording import format_count, format_percent
from localface.data.absence import absent_values
from localface.data.schema import Schema
from localface.data.table_format import TableFormat
from localface.errors import InputError, NoRecourse
from localface.types import Array


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class RecourseFacts:
    """The fields of a ``Recourse`` and what follows from them; renderings are built on these.

    Everything is in the user's units. ``records``, ``scores``, ``densities`` and ``rows``
    run along the path, the person as they are first; ``certificates`` has one entry per
    step. A density is the share of people whose state is less common. ``opens`` holds,
    where nobody can be reached, the smallest sets of features that would have to move
    further, those first that only lift what the call keeps as it is; ``widened`` how far
    features go that were allowed less; ``robustness`` what is known of how it stands up to small
    deviations, to other models and to retraining, where any is.
    ``waiting`` tells where waiting alone would reach the target, ``measurements`` what measuring
    a missing value could show: no answer rests on either.
    ``composed`` tells that the path ends at a synthetic state, ``cut_short`` that time or rows
    ran out before the answer was as good as it could be. ``n_comparable`` is how many people,
    about, are alike in what never changes and tell what is common; None where all may change.
    ``alike_in`` names those features: what never changes and differs between rows, without
    identifiers; None in answers of earlier days, where it is all that never changes.
    ``cautions`` are sentences about what may be mistaken in the record or weak in the answer;
    they are read first. ``doubts`` are the values of the record among them that may be mistaken.
    """

    status: Status
    records: Array
    form: TableFormat
    schema: Schema
    scores: tuple[float, ...]
    densities: tuple[float, ...]
    certificates: tuple[Certificate, ...]
    rows: tuple[int | None, ...]
    target: Target
    min_density: float
    scales: tuple[float, ...]
    disclosure: Disclosure
    reason: str = ""
    relaxed_to: float | None = None
    widened: Mapping[str, float] = field(default_factory=dict)
    proven_within: float | None = None
    settings: Mapping[str, object] = field(default_factory=dict)
    actions: tuple[Action, ...] = ()
    opens: tuple[tuple[str, ...], ...] = ()
    robustness: Robustness | None = None
    composed: bool = False
    n_comparable: int | None = None
    alike_in: tuple[str, ...] | None = None
    cut_short: bool = False
    waiting: Waiting | None = None
    measurements: tuple[Measurement, ...] = ()
    cautions: tuple[str, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    version: str = __version__

    def __post_init__(self) -> None:
        records = np.array(self.records, dtype=np.float64)
        records.flags.writeable = False
        widened = {str(name): float(far) for name, far in self.widened.items()}
        settled: dict[str, Any] = {
            "records": records,
            "settings": MappingProxyType(dict(_to_plain_setting(self.settings))),
            "scores": tuple(float(value) for value in self.scores),
            "densities": tuple(float(value) for value in self.densities),
            "scales": tuple(float(value) for value in self.scales),
            "widened": MappingProxyType(widened),
            "certificates": tuple(self.certificates),
            "actions": tuple(self.actions),
            "alike_in": None if self.alike_in is None else tuple(self.alike_in),
            "cautions": tuple(str(line) for line in self.cautions),
            "measurements": tuple(self.measurements),
            "doubts": tuple(self.doubts),
            "opens": tuple(tuple(str(name) for name in names) for names in self.opens),
            "rows": tuple(None if row is None else int(row) for row in self.rows),
        }
        for name, value in settled.items():
            object.__setattr__(self, name, value)
        _check_shapes(self)

    def __reduce__(self) -> tuple[Any, ...]:
        pieces = {one.name: getattr(self, one.name) for one in fields(self)}
        pieces |= {"settings": dict(self.settings), "widened": dict(self.widened)}
        return _unpickle_recourse, (type(self), pieces)

    def __repr__(self) -> str:
        if self.found:
            outcome = [
                self._step_count_text,
                f"{self.target.noun} {self._score_now_text} -> {self._score_reached_text}",
            ]
        else:
            outcome = [f"{self.target.noun} {self._score_now_text}, wanted {self.target.sentence}"]
        parts = [self.status.word, *outcome]
        if self.cautions:
            parts.insert(1, format_count(len(self.cautions), "caution", "cautions"))
        if self.relaxed_to is not None:
            parts.append(f"floor relaxed to {format_percent(self.relaxed_to)}")
        if self.widened:
            names = [self.schema[name].display_name for name in self.widened]
            parts.append(f"{' and '.join(names)} widened")
        parts.append(str(self.disclosure))
        return f"<Recourse: {', '.join(parts)}>"

    @property
    def found(self) -> bool:
        """Whether there is a path to the target."""
        return self.status is Status.FOUND

    @property
    def path(self) -> Any:
        """The path as a table of the user's own kind, the person as they are first."""
        return self.form.make_table(self.records)

    @property
    def counterfactual(self) -> Any:
        """Where the path ends, in the form the person came in; None when nothing was found."""
        return self.form.make_person(self.records[-1]) if self.found else None

    @property
    def end(self) -> Any:
        """Where the actions lead, in the form the person came in.

        Without actions it is the counterfactual.
        """
        if not self.actions:
            return self.counterfactual
        return self.form.make_person(self.with_actions_as_path().records[-1])

    def with_actions_as_path(self) -> Self:
        """Return the same answer with the states that its actions lead through as its path."""
        if not self.actions:
            return self
        states = [self.records[0]]
        for action in self.actions:
            states.append(states[-1].copy())
            for name, value in action.changes.items():
                states[-1][self.schema.index(name)] = self.schema[name].code(value)
        return replace(
            self,
            records=np.stack(states),
            scores=(self.scores[0], *(action.score for action in self.actions)),
            densities=(self.densities[0], *(action.density for action in self.actions)),
            certificates=tuple(action.certificate for action in self.actions),
            rows=(self.rows[0], *(None for _ in self.actions)),
            proven_within=None,
            actions=(),
        )

    def without_path(self, status: Status, reason: str) -> Self:
        """Return the same person's answer without path and actions: no, and why not."""
        return replace(
            self,
            status=status,
            reason=reason,
            records=self.records[:1],
            scores=self.scores[:1],
            densities=self.densities[:1],
            rows=self.rows[:1],
            certificates=(),
            actions=(),
            relaxed_to=None,
            widened={},
            proven_within=None,
            composed=False,
            robustness=None,
            cautions=tuple(keep_without_path(self.cautions)),
        )

    @property
    def entry(self) -> bool:
        """Whether the first step leads from below the floor to above it."""
        return any(one.entry for one in self.certificates)

    @property
    def cost(self) -> float:
        """How long the path is, in standard deviations."""
        return float(sum(one.length for one in self.certificates))

    @property
    def effort(self) -> float:
        """How far the actions' changes go, in standard deviations; without any, the path."""
        if not self.actions:
            return self.cost
        return float(sum(action.effort for action in self.actions))

    @property
    def changes(self) -> tuple[FeatureChange, ...]:
        """What differs between now and the end, by at least its resolution; the largest first.

        The end is where the actions lead; without any, where the path does.
        """
        first, last = self.with_actions_as_path().records[[0, -1]]
        return changes_between(self.schema, self.scales, first, last)

    @property
    def missing(self) -> tuple[str, ...]:
        """The features that this person has no value of: they stay so, and no action needs them."""
        gone = absent_values(self.schema, self.records[0])
        return tuple(np.array(self.schema.names, dtype=object)[gone].tolist())

    @property
    def compared_by(self) -> tuple[str, ...]:
        """What comparable people are alike in, as it is called: features, and what is missing."""
        return (*self.shared, "what is missing") if self.missing else self.shared

    @property
    def shared(self) -> tuple[str, ...]:
        """The features in which comparable people are alike, as they are called.

        What is missing is no value to be alike in: that they lack it too is said apart.
        """
        own = tuple(one.name for one in self.schema if one.own)
        names = own if self.alike_in is None else self.alike_in
        gone = self.missing
        return tuple(self.schema[name].display_name for name in names if name not in gone)

    @property
    def summary(self) -> dict[str, object]:
        """The few facts that no table or figure should be without."""
        return {
            "status": self.status.name,
            "cautions": list(self.cautions),
            "reason": self.reason,
            "target": self.target.sentence,
            "min_density": self.min_density,
            "relaxed_to": self.relaxed_to,
            "widened": dict(self.widened),
        }

    def require(self) -> Self:
        """Return this recourse, or raise ``NoRecourse`` when there is no path, with the reason."""
        if self.found:
            return self
        raise NoRecourse(": ".join(part for part in (self.status.value, self.reason) if part))

    @property
    def _step_count_text(self) -> str:
        n = len(self.actions) or len(self.certificates)
        what = "action" if self.actions else "step"
        return f"{n} {what}{'' if n == 1 else 's'}"

    @property
    def _score_now_text(self) -> str:
        return self.target.format_score(self.scores[0])

    @property
    def _score_reached_text(self) -> str:
        return self.target.format_score(self.actions[-1].score if self.actions else self.scores[-1])


def _check_shapes(answer: RecourseFacts) -> None:
    """Refuse an answer whose pieces do not belong together."""
    m = len(answer.records) if answer.records.ndim == 2 else 0
    if m < 1 or answer.records.shape[1] != len(answer.schema):
        got = " x ".join(str(n) for n in answer.records.shape) or "a number"
        raise InputError(
            f"a recourse has at least one record of {len(answer.schema)} features; got {got}"
        )
    if np.isinf(answer.records).any():
        raise InputError("a recourse has finite records; got infinite values")
    wanted = {
        "scores": m,
        "densities": m,
        "rows": m,
        "certificates": m - 1,
        "scales": len(answer.schema),
    }
    for name, count in wanted.items():
        if len(getattr(answer, name)) != count:
            raise InputError(
                f"a recourse of {m} records has {count} {name}; got {len(getattr(answer, name))}"
            )


def _to_plain_setting(value: Any) -> Any:
    """Turn a setting into plain values that JSON gives back the same; anything else by its name."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): _to_plain_setting(one) for key, one in value.items()}
    if isinstance(value, set | frozenset):
        return tuple(sorted((_to_plain_setting(one) for one in value), key=repr))
    if isinstance(value, list | tuple):
        return tuple(_to_plain_setting(one) for one in value)
    if is_dataclass(value) and not isinstance(value, type):
        return _to_plain_setting({one.name: getattr(value, one.name) for one in fields(value)})
    return str(getattr(value, "__name__", type(value).__name__))


def _unpickle_recourse(cls: type[RecourseFacts], pieces: dict[str, Any]) -> RecourseFacts:
    """Rebuild after pickling, with read-only arrays again."""
    return cls(**pieces)
