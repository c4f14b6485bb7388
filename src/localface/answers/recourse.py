"""The answer to one person: frozen, complete, printable, and the same again after a trip through JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from types import MappingProxyType, NoneType
from typing import Any, NoReturn

import narwhals as nw
import numpy as np

from localface._version import __version__
from localface.answers.move_evidence import MoveEvidence
from localface.answers.page import (
    Change,
    as_html,
    as_text,
    changes_between,
    page_of,
    percent,
)
from localface.answers.parts import Action, Certificate, Disclosure, Status, Target
from localface.data.read import TableFormat
from localface.data.schema import Schema
from localface.errors import InputError, NoRecourse, listed, near_miss
from localface.types import Array

__all__ = ["Certificate", "Change", "Disclosure", "NoRecourse", "Recourse", "Status", "Target"]

FORMAT = "localface/recourse"
FORMAT_VERSION = 1


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class Recourse:
    """One person's way to the target, or the reason why there is none.

    Everything is in the user's units. ``records``, ``scores``, ``densities`` and ``rows``
    run along the path, the person as they are first; ``certificates`` has one entry per
    step. A density is the share of people who stand on less common ground. ``opens`` holds, where
    nobody can be reached, the smallest sets of features that would have to move further;
    ``robustness``, where it was asked for, the share of small deviations from the actions that
    still reach the target. ``composed`` tells that the path ends at a state that is nobody's.
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
    widened: Mapping[str, float] = field(
        default_factory=dict
    )  # how far features go that were allowed less
    proven_within: float | None = None
    settings: Mapping[str, object] = field(default_factory=dict)
    actions: tuple[Action, ...] = ()
    opens: tuple[tuple[str, ...], ...] = ()
    robustness: float | None = None
    composed: bool = False
    version: str = __version__

    def __post_init__(self) -> None:
        records = np.array(self.records, dtype=np.float64)
        records.flags.writeable = False
        object.__setattr__(self, "records", records)
        object.__setattr__(self, "settings", MappingProxyType(dict(_frozen(self.settings))))
        for name in ("scores", "densities", "scales"):
            object.__setattr__(self, name, tuple(float(value) for value in getattr(self, name)))
        object.__setattr__(
            self, "widened", MappingProxyType({str(k): float(v) for k, v in self.widened.items()})
        )
        for name in ("certificates", "actions"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        object.__setattr__(
            self, "opens", tuple(tuple(str(name) for name in names) for names in self.opens)
        )
        object.__setattr__(
            self, "rows", tuple(None if row is None else int(row) for row in self.rows)
        )
        _check_shapes(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return _recourse, (
            {**self._pieces(), "settings": dict(self.settings), "widened": dict(self.widened)},
        )

    @property
    def found(self) -> bool:
        """Whether there is a path to the target."""
        return self.status is Status.FOUND

    @property
    def path(self) -> Any:
        """The path as a table of the user's own kind, the person as they are first."""
        return self.form.frame(self.records)

    @property
    def counterfactual(self) -> Any:
        """Where the path ends, in the form the person came in; None when nothing was found."""
        return self.form.single(self.records[-1]) if self.found else None

    @property
    def end(self) -> Any:
        """Where the actions lead, in the form the person came in; without actions, the counterfactual."""
        if not self.actions:
            return self.counterfactual
        return self.form.single(self.followed().records[-1])

    def followed(self) -> Recourse:
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

    @property
    def entry(self) -> bool:
        """Whether the first step is an entry step onto common ground."""
        return any(one.entry for one in self.certificates)

    @property
    def cost(self) -> float:
        """How long the path is, in ordinary differences between people."""
        return float(sum(one.length for one in self.certificates))

    @property
    def changes(self) -> tuple[Change, ...]:
        """What differs between now and the end, by at least its resolution, the largest change first."""
        return changes_between(self.schema, self.scales, self.records[0], self.records[-1])

    @property
    def meta(self) -> dict[str, object]:
        """What users of alibi look for: who explains, what kind of explanation, with which settings."""
        return {
            "name": "LocalFACE",
            "type": ["blackbox"],
            "explanations": ["local"],
            "params": dict(self.settings),
            "version": self.version,
            **self._summary(),
        }

    def require(self) -> Recourse:
        """Return this recourse, or raise ``NoRecourse`` when there is no path, with the reason."""
        if self.found:
            return self
        raise NoRecourse(": ".join(part for part in (self.status.value, self.reason) if part))

    def to_frame(self) -> Any:
        """Return the path with its step, score and density, as a table of the user's own kind.

        For a NumPy user it is a pandas frame, or a dict of columns without pandas. What
        was relaxed stands in a column of its own and, where tables carry notes (pandas
        ``attrs``, pyarrow metadata), there too.
        """
        extra: dict[str, list[Any]] = {
            "step": list(range(len(self.records))),
            "score": list(self.scores),
            "density": list(self.densities),
        }
        if self.relaxed_to is not None:
            extra["relaxed_to"] = [self.relaxed_to] * len(self.records)
        return _with_columns(
            self, {_free_name(name, self.schema): column for name, column in extra.items()}
        )

    def to_json(self, indent: int | None = None) -> str:
        """Write everything down; ``Recourse.from_json`` gives it back, bit for bit."""
        document = {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "made_with": self.version,
            **{name: piece for name, piece in self._pieces().items() if name != "version"},
            "status": self.status.name,
            "records": self.records.tolist(),
            "form": self.form.to_dict(),
            "schema": self.schema.to_dict(),
            "certificates": [_flat(one) for one in self.certificates],
            "target": _flat(self.target),
            "settings": dict(self.settings),
            "disclosure": self.disclosure._plain(),
            "widened": dict(self.widened),
            "actions": [_plain_action(one) for one in self.actions],
        }
        try:
            return json.dumps(document, indent=indent, allow_nan=False)
        except (
            TypeError,
            ValueError,
        ):  # few documents hold what has to be spelt, and looking for it takes its time
            return json.dumps(_spelled(document), indent=indent, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Recourse:
        """Read what ``to_json`` wrote."""
        document = _parsed(text)
        try:
            return cls(**_pieces_of(document))
        except InputError:
            raise
        except KeyError as error:
            raise InputError(
                f"this {FORMAT} document lacks {error.args[0]!r}; write it again with to_json()"
            ) from None
        except (TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
            raise InputError(
                f"this {FORMAT} document is damaged ({error}); write it again with to_json()"
            ) from error

    def plot(self, **options: Any) -> Any:
        """Draw the path (needs matplotlib); the options are those of ``localface.apps.plots.plot_recourse``."""
        return drawn("plot_recourse", self, **options)

    def __repr__(self) -> str:
        n, what = (
            (len(self.actions), "action") if self.actions else (len(self.certificates), "step")
        )
        last = self.actions[-1].score if self.actions else self.scores[-1]
        scores = [self.target.show(score) for score in (self.scores[0], last)]
        parts = [
            self.status.word,
            f"{n} {what}{'' if n == 1 else 's'}" if self.found else "",
            f"score {' -> '.join(scores)}"
            if self.found
            else f"score {scores[0]}, wanted {self.target.sentence}",
            "" if self.relaxed_to is None else f"floor relaxed to {percent(self.relaxed_to)}",
            f"{' and '.join(self.widened)} widened" if self.widened else "",
            str(self.disclosure),
        ]
        return f"<Recourse: {', '.join(part for part in parts if part)}>"

    def __str__(self) -> str:
        return as_text(page_of(self))

    def _repr_html_(self) -> str:
        return as_html(page_of(self))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        """Show the page's own view in a notebook, where the extra ``notebook`` is installed; else text and HTML."""
        if find_spec("anywidget") is not None:
            widget = import_module("localface.apps.web.widget").RecourseWidget.of(self)
            shown = widget._repr_mimebundle_(include=include, exclude=exclude)
            if shown is not None:
                data, notes = shown if isinstance(shown, tuple) else (shown, {})
                return {**data, "text/plain": str(self), "text/html": self._repr_html_()}, notes
        return {"text/plain": str(self), "text/html": self._repr_html_()}

    def _pieces(self) -> dict[str, Any]:
        """The fields by name, as they are."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def _summary(self) -> dict[str, object]:
        """The few facts that no table or figure should be without."""
        return {
            "status": self.status.name,
            "reason": self.reason,
            "target": self.target.sentence,
            "min_density": self.min_density,
            "relaxed_to": self.relaxed_to,
            "widened": dict(self.widened),
        }


def drawn(function: str, subject: object, **options: Any) -> Any:
    """Call a function of ``localface.apps.plots``, which is looked up only now: plots are an extra."""
    try:
        return getattr(import_module("localface.apps.plots"), function)(subject, **options)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "matplotlib":
            raise
        raise ModuleNotFoundError(
            'plots need matplotlib, which is not installed; run: pip install "localface[plots]"',
            name="matplotlib",
        ) from error


def _check_shapes(answer: Recourse) -> None:
    """Refuse an answer whose pieces do not belong together."""
    m = len(answer.records) if answer.records.ndim == 2 else 0
    if m < 1 or answer.records.shape[1] != len(answer.schema):
        got = " x ".join(str(n) for n in answer.records.shape) or "a number"
        raise InputError(
            f"a recourse has at least one record of {len(answer.schema)} features; got {got}"
        )
    if not np.isfinite(answer.records).all():
        raise InputError("a recourse has finite records; got NaN or infinite values")
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


def _free_name(name: str, schema: Schema) -> str:
    """A name for a column of ours that none of the user's has."""
    while name in schema.names:
        name += "_"
    return name


def _with_columns(answer: Recourse, extra: dict[str, list[Any]]) -> Any:
    """The path with columns of ours beside the user's, and with notes where the kind of table carries them."""
    path = answer.path
    if answer.form.kind == "numpy":
        columns = {name: path[:, j] for j, name in enumerate(answer.schema.names)}
        try:
            path = import_module("pandas").DataFrame(columns).infer_objects()
        except ModuleNotFoundError:
            return {**columns, **{name: np.array(column) for name, column in extra.items()}}
    table = nw.from_native(path, eager_only=True)
    added = [
        nw.new_series(name, column, backend=table.implementation) for name, column in extra.items()
    ]
    frame = table.with_columns(*added).to_native()
    if table.implementation.is_pandas():
        frame.attrs["localface"] = answer._summary()
    elif table.implementation.is_pyarrow():
        notes = {
            **(frame.schema.metadata or {}),
            b"localface": json.dumps(_spelled(answer._summary())).encode(),
        }
        frame = frame.replace_schema_metadata(notes)
    return frame


def _frozen(value: Any) -> Any:
    """Settle a setting as a plain value that JSON gives back the same; anything else by its name."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): _frozen(one) for key, one in value.items()}
    if isinstance(value, set | frozenset):
        return tuple(sorted((_frozen(one) for one in value), key=repr))
    if isinstance(value, list | tuple):
        return tuple(_frozen(one) for one in value)
    if is_dataclass(value) and not isinstance(value, type):
        return _frozen(asdict(value))
    return str(getattr(value, "__name__", type(value).__name__))


def _spelled(value: Any) -> Any:
    """Spell what JSON has no word for: infinity and NaN become ``{"$float": "inf"}``."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"$float": str(value)}
    if isinstance(value, Mapping):
        return {key: _spelled(one) for key, one in value.items()}
    return [_spelled(one) for one in value] if isinstance(value, list | tuple) else value


def _unspelled(value: Mapping[str, Any]) -> Any:
    """Undo ``_spelled`` for one JSON object."""
    return float(value["$float"]) if value.keys() == {"$float"} else value


def _parsed(text: str) -> Mapping[str, Any]:
    """Read the JSON and make sure that it is one of ours."""
    try:
        document = json.loads(text, object_hook=_unspelled, parse_constant=_no_constant)
    except (ValueError, TypeError, RecursionError) as error:
        raise InputError(
            f"this is not JSON ({error}); Recourse.from_json reads what Recourse.to_json wrote"
        ) from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise InputError(
            f"this JSON is no {FORMAT} document; Recourse.from_json reads what Recourse.to_json wrote"
        )
    version = document.get("version")
    if type(version) is not int or version != FORMAT_VERSION:
        reads = (
            f"this localface reads {FORMAT_VERSION}; upgrade with: pip install --upgrade localface"
        )
        raise InputError(f"this {FORMAT} document has version {version!r}; {reads}")
    return document


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON number")


def _pieces_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """Turn a document back into the fields of a Recourse."""
    later = ("version", "opens", "widened", "composed")
    pieces = {one.name: document[one.name] for one in fields(Recourse) if one.name not in later}
    return _typed(Recourse, pieces) | {
        "version": str(document["made_with"]),
        "status": _status(document["status"]),
        "records": np.array(document["records"], dtype=np.float64),
        "form": TableFormat.from_dict(document["form"]),
        "schema": Schema.from_dict(document["schema"]),
        "certificates": tuple(
            Certificate(**_typed(Certificate, one)) for one in document["certificates"]
        ),
        "actions": tuple(_action(one) for one in document["actions"]),
        "opens": document.get("opens", ()),  # documents from before these were asked for have none
        "widened": document.get("widened", {}),
        "composed": bool(document.get("composed", False)),
        "target": Target(**_typed(Target, document["target"])),
        "disclosure": Disclosure(**_typed(Disclosure, document["disclosure"])),
    }


def _plain_action(action: Action) -> dict[str, Any]:
    """An action as plain values; what there is no evidence of is not mentioned."""
    plain = {**action._plain(), "certificate": _flat(action.certificate)}
    evidence = plain.pop("evidence")
    return plain if evidence is None else {**plain, "evidence": evidence.to_dict()}


def _flat(value: Certificate | Target) -> dict[str, Any]:
    """The fields of what holds plain values only: ``asdict`` would copy each of them."""
    return {one.name: getattr(value, one.name) for one in fields(value)}


def _action(plain: Mapping[str, Any]) -> Action:
    certificate = Certificate(**_typed(Certificate, plain["certificate"]))
    pieces = {
        **_typed(Action, plain),
        "certificate": certificate,
        "follows": tuple(plain["follows"]),
    }
    if pieces.get("evidence") is not None:
        pieces["evidence"] = MoveEvidence.from_dict(_typed(MoveEvidence, pieces["evidence"]))
    return Action(**pieces)


def _status(name: object) -> Status:
    """Look a status up by its name."""
    known = [status.name for status in Status]
    if name not in known:
        raise InputError(
            f"there is no status {name!r}{near_miss(name, known)}; statuses are {listed(known)}"
        )
    return Status[str(name)]


_JSON_TYPES: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "bool": (bool,),
    "int": (int,),
    "float": (float, int),
    "int | None": (int, NoneType),
    "float | None": (float, int, NoneType),
}


def _typed(cls: type, pieces: Mapping[str, Any]) -> dict[str, Any]:
    """Check the plain fields of a document: what is written there may have been written by anyone."""
    for one in fields(cls):
        wanted = _JSON_TYPES.get(str(one.type))
        if wanted and one.name in pieces and not isinstance(pieces[one.name], wanted):
            raise TypeError(f"{one.name} is {pieces[one.name]!r}, not {one.type}")
    return dict(pieces)


def _recourse(pieces: dict[str, Any]) -> Recourse:
    """Rebuild after pickling, with read-only arrays again."""
    return Recourse(**pieces)
