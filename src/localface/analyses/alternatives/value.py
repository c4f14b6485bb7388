"""Several recourses for one person, as a value that prints."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from types import MappingProxyType
from typing import Any, overload

import numpy as np

from localface.analyses.alternatives.cautions import cautions_of_ways
from localface.analyses.alternatives.changes import (
    Cost,
    Names,
    changed_by,
    cost_of,
    distance_per_feature,
    merge_linked_features,
)
from localface.analyses.alternatives.side_by_side import side_by_side_cells
from localface.analyses.end_record import end_record
from localface.answers.disclosure import Disclosure
from localface.answers.long_plans import PlanSize, linked_ones_as_one
from localface.answers.page import alert_lines, caution_lines
from localface.answers.recourse import Recourse
from localface.answers.wording import format_count, to_one_line
from localface.errors import InputError
from localface.geometry.segments import norms
from localface.types import Array, Ids

ALTERNATIVES_FORMAT = "localface/alternatives"
ALTERNATIVES_VERSION = 1
MOST_BRANCHES = 48
"""Branches of the tree that are searched for one person, however many recourses are wanted."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Alternatives(Sequence[Recourse]):
    """Recourses for one person that change different features, the cheapest first.

    Where nothing was found it holds the one answer that says why. ``exhausted`` tells
    that every branch of the search was followed, so that there are no more ways to be had by this
    search. ``disclosure`` is what all branches were shown, also those that led nowhere, every
    row counted once; that of each answer is what its own branch was shown.
    """

    answers: tuple[Recourse, ...]
    wanted: int
    exhausted: bool
    disclosure: Disclosure
    weights: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.answers:
            raise InputError("alternatives hold at least one answer; got none")
        object.__setattr__(self, "answers", tuple(self.answers))
        object.__setattr__(self, "weights", MappingProxyType(dict(self.weights)))

    def __reduce__(self) -> tuple[Any, ...]:
        return Alternatives, (
            self.answers,
            self.wanted,
            self.exhausted,
            self.disclosure,
            dict(self.weights),
        )

    @overload
    def __getitem__(self, index: int) -> Recourse: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Recourse, ...]: ...
    def __getitem__(self, index: int | slice) -> Recourse | tuple[Recourse, ...]:
        return self.answers[index]

    def __len__(self) -> int:
        return len(self.answers)

    @property
    def found(self) -> bool:
        """Whether there is a way at all."""
        return self.answers[0].found

    @property
    def cautions(self) -> tuple[str, ...]:
        """The cautions of all answers, each once; one of some ways says which ways it is about."""
        return cautions_of_ways(self.answers)

    @property
    def costs(self) -> tuple[Cost, ...]:
        """What each way costs."""
        return tuple(cost_of(answer, self.weights) for answer in self.answers)

    @property
    def changed(self) -> tuple[Names, ...]:
        """The features that each way changes."""
        return tuple(changed_by(answer) for answer in self.answers)

    @property
    def shared(self) -> tuple[str, ...]:
        """The features that all ways change, in the order of the schema."""
        common = frozenset.intersection(*self.changed)
        return tuple(name for name in self.answers[0].schema.names if name in common)

    @property
    def distances(self) -> Array:
        """How different each pair is: 1 less the share of changed features in common (Jaccard).

        Features that are linked count as one.
        """
        sets = [
            merge_linked_features(answer.schema, names)
            for answer, names in zip(self.answers, self.changed, strict=True)
        ]
        return _read_only_matrix(
            [[1 - len(a & b) / max(1, len(a | b)) if a != b else 0.0 for b in sets] for a in sets]
        )

    @property
    def ends_apart(self) -> Array:
        """How far apart each pair of ends is, in standard deviations."""
        ends = [end_record(answer) for answer in self.answers]
        return _read_only_matrix(
            [
                [float(norms(distance_per_feature(self.answers[0], a, b))) for b in ends]
                for a in ends
            ]
        )

    @property
    def parting(self) -> Ids:
        """How many first actions each pair has in common; with itself, all of them."""
        steps = [[dict(action.changes) for action in answer.actions] for answer in self.answers]
        parting = np.array(
            [[_count_same_first_actions(a, b) for b in steps] for a in steps], dtype=np.int64
        )
        parting.setflags(write=False)
        return parting

    @property
    def beginnings(self) -> tuple[str, ...]:
        """Which ways begin with the same actions, in sentences."""
        first, second = np.triu_indices(len(self), 1)
        shared = self.parting[first, second].tolist()
        if len(shared) > 1 and shared[0] and len(set(shared)) == 1:
            return (f"all begin with the same {_count_of_actions(shared[0])}",)
        return tuple(
            f"ways {i + 1} and {j + 1} begin with the same {_count_of_actions(n)}"
            for i, j, n in zip(first.tolist(), second.tolist(), shared, strict=True)
            if n
        )

    @property
    def sentence(self) -> str:
        """How many ways there are, and whether there could be more."""
        n = len(self)
        if n >= self.wanted:
            apart = len(set(self.changed)) == n
            how = "change different features" if apart else "end at different values"
            return f"{format_count(n, 'way', 'ways that ' + how)}"
        ways = "1 set of changes was" if n == 1 else f"{n} sets of changes were"
        end = (
            "no other was left to try"
            if self.exhausted
            else "there may be more: not all were tried"
        )
        return f"{self.wanted} ways were wanted; {ways} found, and {end}"

    def to_json(self, indent: int | None = None) -> str:
        """Write everything down; ``Alternatives.from_json`` gives it back."""
        document = {
            "format": ALTERNATIVES_FORMAT,
            "version": ALTERNATIVES_VERSION,
            "cautions": list(self.cautions),
            "wanted": self.wanted,
            "exhausted": self.exhausted,
            "weights": dict(self.weights),
            "disclosure": self.disclosure.to_dict(),
            "costs": [cost._asdict() for cost in self.costs],
            "shared": list(self.shared),
            "distances": self.distances.tolist(),
            "ends_apart": self.ends_apart.tolist(),
            "parting": self.parting.tolist(),
            "answers": [json.loads(answer.to_json()) for answer in self.answers],
        }
        return json.dumps(document, indent=indent, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Alternatives:
        """Read what ``to_json`` wrote; what follows from the answers is worked out again."""
        try:
            document = json.loads(text)
        except ValueError as error:
            raise InputError(
                f"this is not JSON ({error}); Alternatives.from_json reads what to_json wrote"
            ) from None
        if not isinstance(document, dict) or document.get("format") != ALTERNATIVES_FORMAT:
            raise InputError(
                f"this JSON is no {ALTERNATIVES_FORMAT} document; "
                "Alternatives.from_json reads what to_json wrote"
            )
        if document.get("version") != ALTERNATIVES_VERSION:
            raise InputError(
                f"this {ALTERNATIVES_FORMAT} document has version {document.get('version')!r}, "
                f"not {ALTERNATIVES_VERSION}"
            )
        try:
            return cls(
                tuple(Recourse.from_json(json.dumps(one)) for one in document["answers"]),
                int(document["wanted"]),
                bool(document["exhausted"]),
                Disclosure(**document["disclosure"]),
                {str(name): float(weight) for name, weight in document["weights"].items()},
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"this {ALTERNATIVES_FORMAT} document is damaged ({error}); "
                "write it again with to_json()"
            ) from error

    def __repr__(self) -> str:
        first = self.answers[0]
        if not self.found or not first.actions:
            return f"<Alternatives: {first.status.word}, {self.disclosure}>"
        counts = [len(names) for names in self.changed]
        features = _range_text([str(min(counts)), str(max(counts))])
        ends = sorted(answer.actions[-1].score for answer in self.answers)
        score = _range_text(
            [first.target.format_score(ends[0]), first.target.format_score(ends[-1])]
        )
        parts = [
            f"{len(self)} way{'' if len(self) == 1 else 's'}",
            f"{features} feature{'' if features == '1' else 's'} changed{self._linked_words}",
            f"{first.target.noun} {first.target.format_score(first.scores[0])} -> {score}",
            str(self.disclosure),
        ]
        return f"<Alternatives: {', '.join(parts)}>"

    @property
    def _linked_words(self) -> str:
        """How many changes the ways take, where linked features count as one and that is fewer."""
        sizes = [PlanSize.of(one.schema, one.actions) for one in self.answers]
        if not any(size.linked_words for size in sizes):
            return ""
        counts = [size.changes for size in sizes]
        return linked_ones_as_one(_range_text([str(min(counts)), str(max(counts))]))

    def __str__(self) -> str:
        if not self.found or not self.answers[0].actions:
            return str(self.answers[0])
        cells = side_by_side_cells(self.answers, self.changed, self.costs)
        rows = [[to_one_line(cell) for cell in row] for row in cells]
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            for row in rows
        ]
        notes = [*_alert_lines(self), *_closing_lines(self)]
        below = (f"  {line}".rstrip() for line in [*lines, *map(to_one_line, notes)])
        return "\n".join([*map(to_one_line, caution_lines(self.cautions)), repr(self), *below])

    def _repr_html_(self) -> str:
        if not self.found or not self.answers[0].actions:
            return self.answers[0]._repr_html_()
        head, *body = side_by_side_cells(self.answers, self.changed, self.costs)
        top = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
        rows = "".join(_html_table_row(cells) for cells in body)
        alerts = "".join(
            f'<p role="note"><strong>{escape(line)}</strong></p>'
            for line in [*caution_lines(self.cautions), *_alert_lines(self)]
        )
        closing = "".join(f"<p>{escape(line)}</p>" for line in _closing_lines(self))
        whole = "".join(
            f"<details><summary>way {i}</summary>{answer._repr_html_()}</details>"
            for i, answer in enumerate(self.answers, 1)
        )
        caption = f"<caption>{escape(repr(self).strip('<>'))}</caption>"
        table = f"<table>{caption}<thead><tr>{top}</tr></thead><tbody>{rows}</tbody></table>"
        return f'<div class="localface-alternatives">{alerts}{table}{closing}{whole}</div>'


def _count_same_first_actions(one: list[dict[str, object]], other: list[dict[str, object]]) -> int:
    """How many first actions are the same."""
    pairs = zip(one, other, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _read_only_matrix(rows: list[list[float]]) -> Array:
    matrix = np.array(rows, dtype=np.float64)
    matrix.setflags(write=False)
    return matrix


def _range_text(ends: list[str]) -> str:
    return ends[0] if ends[0] == ends[-1] else f"{ends[0]} to {ends[-1]}"


def _html_table_row(cells: list[str]) -> str:
    first, *rest = (escape(cell) for cell in cells)
    return f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in rest)}</tr>'


def _alert_lines(ways: Alternatives) -> list[str]:
    """What nobody may overlook, for each way."""
    lines = []
    for i, answer in enumerate(ways.answers, 1):
        lines += [f"way {i}: {line}" for line in alert_lines(answer)]
        for n, action in enumerate(answer.actions, 1):
            if action.certificate.entry or not action.certificate.holds:
                told = action.certificate.sentence_about(answer.schema.each_row)
                lines.append(f"way {i}, action {n}: {told}")
    return lines


def _count_of_actions(n: int) -> str:
    return "action" if n == 1 else f"{n} actions"


def _closing_lines(ways: Alternatives) -> list[str]:
    """What the ways have in common, how they differ, and whether there are more."""
    lines = [
        (
            "in brackets: the number of the action; "
            "change: how far all changes go, in standard deviations"
        )
    ]
    if ways.weights:
        shown = zip(_display_names(ways, ways.weights), ways.weights.values(), strict=True)
        weights = ", ".join(f"{name} {weight:g}" for name, weight in shown)
        lines[0] += f", weighted: {weights}"
    if len(ways) > 1:
        lines.append(
            f"all change {', '.join(_display_names(ways, ways.shared))}"
            if ways.shared
            else "no feature is changed by all of them"
        )
        lines += ways.beginnings
    return [*lines, ways.sentence]


def _display_names(ways: Alternatives, names: Iterable[str]) -> list[str]:
    schema = ways.answers[0].schema if ways.answers else None
    return [schema[name].display_name if schema else name for name in names]
