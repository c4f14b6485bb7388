"""Several recourses of one person side by side, as the cells of a table."""

from __future__ import annotations

from collections.abc import Sequence

from localface.analyses.alternatives.changes import Cost, Names
from localface.analyses.end_record import end_record
from localface.answers.recourse import Recourse
from localface.answers.wording import format_number, join_numbers


def side_by_side_cells(
    answers: Sequence[Recourse], changed: Sequence[Names], costs: Sequence[Cost]
) -> list[list[str]]:
    """A line for each feature that any recourse changes, then the scores and how far each goes."""
    first = answers[0]
    ends = [end_record(answer) for answer in answers]
    rows = [["", "now", *(f"way {i}" for i in range(1, len(answers) + 1))]]
    for j, feature in enumerate(first.schema):
        if not any(feature.name in names for names in changed):
            continue
        cells = [
            f"{feature.format(end[j])} ({_numbers_of_actions_that_change(answer, feature.name)})"
            if feature.name in names
            else ""
            for answer, end, names in zip(answers, ends, changed, strict=True)
        ]
        rows.append([feature.name_with_unit, feature.format(first.records[0][j]), *cells])
    show = first.target.format_score
    scores = [show(answer.actions[-1].score) for answer in answers]
    sizes = [format_number(round(cost.size, 2)) for cost in costs]
    return [*rows, [first.target.noun, show(first.scores[0]), *scores], ["change", "", *sizes]]


def _numbers_of_actions_that_change(answer: Recourse, name: str) -> str:
    """The numbers of the actions that change a feature."""
    return join_numbers(i for i, action in enumerate(answer.actions, 1) if name in action.changes)
