"""From a search's outcome to the answer a person reads: shares, certificates, reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np

from localface.answers.page import people
from localface.answers.parts import Action, Certificate, Disclosure, Status, Target
from localface.answers.recourse import Recourse
from localface.data.box import Box
from localface.data.read import TableFormat, table_of
from localface.data.schema import Schema
from localface.density.protocol import DensityScale
from localface.errors import InputError
from localface.geometry.segments import norms
from localface.options import Options
from localface.search.outcome import Outcome
from localface.search.questions import TargetCounts
from localface.types import Array, Ids


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """What all answers of one explainer have in common."""

    schema: Schema
    target: Target
    options: Options
    scale: DensityScale
    scales: tuple[float, ...]
    certified: bool
    radius: float | None
    feature_of: Ids
    shown: Callable[[float], float]
    version: str
    recall: float = 1.0  # the share of the nearest rows that the source finds
    settings: Mapping[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        found = {} if self.recall == 1 else {"recall": self.recall}
        object.__setattr__(self, "settings", {**self.options.plain(), **found})

    def recourse(
        self,
        outcome: Outcome,
        records: Array,
        rows: tuple[int | None, ...],
        *,
        form: TableFormat,
        box: Box,
        disclosure: Disclosure,
        goal: Array | None,
        acted: Array | None,
    ) -> Recourse:
        """Close one case."""
        floor = self.options.min_density
        relaxed = float(self.scale.share(outcome.log_floor)) if outcome.relaxed else None
        return Recourse(
            status=Status[outcome.status],
            reason=self._reason(outcome, box, goal),
            records=records,
            form=form,
            schema=self.schema,
            scores=tuple(self.shown(score) for score in outcome.scores),
            densities=tuple(self.scale.share(outcome.log_densities).tolist()),
            certificates=tuple(self._certificates(outcome, floor if relaxed is None else relaxed)),
            rows=rows,
            target=self.target,
            min_density=floor,
            scales=self.scales,
            disclosure=disclosure,
            relaxed_to=relaxed,
            proven_within=self.options.slack if outcome.proven else None,
            composed=outcome.composed,
            actions=()
            if acted is None
            else tuple(self._actions(outcome, acted, floor if relaxed is None else relaxed)),
            settings=self.settings,
            version=self.version,
        )

    def _actions(self, outcome: Outcome, records: Array, floor: float) -> Iterator[Action]:
        """Put the actions into units: ``records`` are the states they lead through, the person's own first."""
        acted = outcome.actions
        assert acted is not None
        lengths = norms(
            np.diff(np.stack([outcome.points[0], *(move.point for move in acted.moves)]), axis=0)
        )
        kept = (
            floor
            if acted.log_floor >= outcome.log_floor
            else min(floor, float(self.scale.share(acted.log_floor)))
        )
        for i, move in enumerate(acted.moves):
            before, after = self.schema.values(records[i]), self.schema.values(records[i + 1])
            changed = [name for name in self.schema.names if before[name] != after[name]]
            below = bool(acted.lowest_log_densities[i] < acted.log_floor - 1e-6)
            yield Action(
                changes={name: after[name] for name in changed},
                before={name: before[name] for name in changed},
                score=self.shown(move.score),
                density=float(self.scale.share(acted.log_densities[i])),
                people=int(acted.people[i]),
                certificate=self._certificate(
                    lengths[i], acted.lowest_log_densities[i], kept, entry=below, passed=not below
                ),
                follows=move.follows,
            )

    def _certificates(self, outcome: Outcome, floor: float) -> Iterator[Certificate]:
        lengths = norms(np.diff(outcome.points, axis=0))
        for i, lowest in enumerate(outcome.lowest_log_densities.tolist()):
            entry = outcome.entry and i == 0
            passed = not entry and lowest >= outcome.log_floor - 1e-6
            yield self._certificate(lengths[i], lowest, floor, entry=entry, passed=passed)

    def _certificate(
        self, length: float, lowest: float, floor: float, *, entry: bool, passed: bool
    ) -> Certificate:
        share = float(self.scale.share(lowest))
        return Certificate(
            rule=self.options.edges,
            length=float(length),
            lowest=max(share, floor)
            if passed
            else share,  # passing within the tolerance is passing
            floor=floor,
            entry=entry,
            certified=self.certified,
            people=self.options.people if self.options.edges == "cover" else None,
            radius=self.radius if self.options.edges == "cover" else None,
        )

    def _reason(self, outcome: Outcome, box: Box, goal: Array | None) -> str:
        status = outcome.status
        if status == "BUDGET":
            return f"max_rows={self.options.max_rows} was spent; allow more rows, or widen what may change"
        if outcome.no_floor_helps:
            return "no floor, however low, opens a way: max_step or one-way features rule out every step onwards"
        if goal is not None and status in ("NO_TARGET", "UNREACHABLE"):
            return self._goal_reason(status, box, goal)
        if status == "NO_TARGET" and outcome.counts is not None:
            return self._no_target(outcome.counts, box)
        if status == "UNREACHABLE":
            many = "people" if outcome.counts is None else _counted(outcome.counts.targets)
            floor = people(self.options.min_density)
            step = self.options.max_step
            longest = "" if step is None else f" of at most {step:g} ordinary differences"
            near = f"from each place to its {self.options.n_neighbors} nearest"
            reach = "reaches" if many == "1 person" else "reach"
            return (
                f"{many} within the constraints {reach} the target, but no steps{longest} {near}, over ground at least "
                f"as common as {floor}, lead there; relax=True finds the least lowering of the floor that opens a way"
            )
        return ""

    def _no_target(self, counts: TargetCounts, box: Box) -> str:
        wanted = self.target.sentence
        if counts.targets_anywhere == 0:
            return f"nobody in the data reaches it, with or without the constraints: {wanted}"
        tally: Counter[int] = Counter()
        for column, excluded in enumerate(counts.excluded_by.tolist()):
            feature = int(self.feature_of[column])
            pinned = (
                len(box.allowed.get(feature, ())) == 1
            )  # then one column tells it all; else each shuts its own people
            tally[feature] = max(tally[feature], excluded) if pinned else tally[feature] + excluded
        feature, excluded = tally.most_common(1)[0]
        why = box.reasons.get(feature, self.schema.names[feature])
        return (
            f"{counts.targets_anywhere:,} people in the data have it, but the constraints rule all of them out; "
            f"'{why}' alone rules out {excluded:,}"
        )

    def _goal_reason(self, status: str, box: Box, goal: Array) -> str:
        outside = [why for i, why in box.reasons.items() if not _within(box, i, float(goal[i]))]
        if outside:
            return f"the counterfactual that was given lies outside the constraints: {'; '.join(outside)}"
        if self.schema.broken(goal[None, :])[0]:
            kept = "; ".join(" ".join(words) for words in self.schema.relations)
            return f"the counterfactual that was given breaks what the schema says of every state: {kept}"
        if status == "NO_TARGET":
            return f"the counterfactual that was given does not reach the target: {self.target.sentence}"
        return "the counterfactual that was given cannot be reached over common enough ground; try relax=True"


def _counted(n: int) -> str:
    return "1 person" if n == 1 else f"{n:,} people"


def _within(box: Box, feature: int, code: float) -> bool:
    return bool(box.lower[feature] <= code <= box.upper[feature]) and code in box.allowed.get(
        feature, (code,)
    )


class Recourses(Sequence[Recourse]):
    """Answers for many people, in the order they came.

    Where some have none, because they could not be answered (``errors``, by the person's
    number) or the work was stopped (``unfinished``), ``numbers`` says whose the answers are.
    """

    def __init__(
        self,
        answers: Iterable[Recourse],
        *,
        numbers: Sequence[int] | None = None,
        errors: Mapping[int, InputError] | None = None,
        unfinished: int = 0,
    ) -> None:
        self._answers = tuple(answers)
        self.numbers = tuple(range(len(self._answers))) if numbers is None else tuple(numbers)
        self.errors: Mapping[int, InputError] = dict(errors or {})
        self.unfinished = unfinished

    @overload
    def __getitem__(self, place: int) -> Recourse: ...
    @overload
    def __getitem__(self, place: slice) -> Recourses: ...
    def __getitem__(self, place: int | slice) -> Recourse | Recourses:
        if isinstance(place, slice):
            return Recourses(self._answers[place], numbers=self.numbers[place])
        return self._answers[place]

    def __len__(self) -> int:
        return len(self._answers)

    def __repr__(self) -> str:
        counts = Counter(answer.status.word for answer in self._answers)
        words = [f"{n} {word}" for word, n in counts.most_common()]
        words += [f"{len(self.errors)} could not be answered"] if self.errors else []
        words += [f"{self.unfinished} unfinished"] if self.unfinished else []
        return f"<{len(self)} recourses: {', '.join(words)}>"

    @property
    def found(self) -> list[bool]:
        """Whether each person was served."""
        return [answer.found for answer in self._answers]

    def to_frame(self) -> Any:
        """One line a person, as a table of the user's own kind (see ``Audit.to_frame``)."""
        rows = self._answers
        whole = not self.errors and not self.unfinished and self.numbers == tuple(range(len(rows)))
        columns: dict[str, list[Any]] = {} if whole else {"person": list(self.numbers)}
        columns |= {
            "status": [one.status.name for one in rows],
            "steps": [len(one.certificates) for one in rows],
            "score_before": [one.scores[0] for one in rows],
            "score_after": [one.scores[-1] for one in rows],
            "cost": [one.cost for one in rows],
            "relaxed_to": [one.relaxed_to for one in rows],
            "rows_seen": [one.disclosure.rows for one in rows],
        }
        return table_of(columns, rows[0].form.kind if rows else "numpy")
