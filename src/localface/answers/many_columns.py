"""What many answers tell, as columns of a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import median
from typing import Any

from localface.answers.recourse import Recourse
from localface.errors import InputError

FAILED = "ERROR"
"""The status of somebody who could not be answered; the column ``error`` says why."""

_COLUMNS = (
    *("status", "reason", "error", "cautions", "steps", "score_before", "score_after", "cost"),
    *("relaxed_to", "rows_seen", "n_actions", "n_changed", "changed", "score_of_path"),
    "action_cost",
)


def answer_columns(answers: Sequence[Recourse | InputError]) -> dict[str, list[Any]]:
    """The figures of answers, one entry a person; of an error, what it is."""
    lines = [_answer_line(one) for one in answers]
    return {name: [line.get(name) for line in lines] for name in _COLUMNS}


def error_in_words(error: InputError) -> str:
    """What kept somebody from being answered, in a line."""
    return f"{type(error).__name__}: {error}"


def _answer_line(answer: Recourse | InputError) -> dict[str, Any]:
    if isinstance(answer, InputError):
        error = error_in_words(answer)
        return {"status": FAILED, "reason": "", "error": error, "cautions": "", "changed": ""}
    changed = changes_of(answer)
    followed = answer.with_actions_as_path()
    return {
        "status": answer.status.name,
        "reason": answer.reason,
        "error": "",
        "cautions": "; ".join(answer.cautions),
        "steps": len(answer.certificates),
        "score_before": answer.scores[0],
        "score_after": followed.scores[-1],
        "cost": answer.cost,
        "relaxed_to": answer.relaxed_to,
        "rows_seen": answer.disclosure.rows,
        "n_actions": len(answer.actions),
        "n_changed": len(changed),
        "changed": "; ".join(changed),
        "score_of_path": answer.scores[-1],
        "action_cost": followed.cost,
    }


def changes_of(answer: Recourse) -> dict[str, tuple[Any, Any]]:
    """What changes by the actions, or along the path without any: the value now and at the end."""
    if not answer.found:
        return {}
    followed = answer.with_actions_as_path()
    return {one.name: (one.before, one.after) for one in followed.changes}


def counts_by_feature(answers: Sequence[Recourse]) -> dict[str, list[Any]]:
    """How often features change, the most often first; the order of the schema for ties."""
    names = list(answers[0].schema.names) if answers else []
    moves: dict[str, list[tuple[Any, Any]]] = {name: [] for name in names}
    for answer in answers:
        for name, change in changes_of(answer).items():
            moves[name].append(change)
    ranked = sorted(filter(moves.get, names), key=lambda name: -len(moves[name]))
    steps = [_steps_of(moves[name]) for name in ranked]
    return {
        "feature": ranked,
        "people": [len(moves[name]) for name in ranked],
        "share": [len(moves[name]) / len(answers) for name in ranked],
        "up": [sum(step > 0 for step in one or ()) for one in steps],
        "down": [sum(step < 0 for step in one or ()) for one in steps],
        "becomes": [
            "" if one is not None else _ends_of(moves[name])
            for name, one in zip(ranked, steps, strict=True)
        ],
        "median_change": [median(one) if one else None for one in steps],
    }


def _ends_of(changes: Sequence[tuple[Any, Any]]) -> str:
    """Which categories are changed to, and how often each, the most often first."""
    counted = Counter(str(end) for _, end in changes).most_common()
    return ", ".join(f"{end} ({n})" for end, n in counted)


def _steps_of(changes: Sequence[tuple[Any, Any]]) -> list[float] | None:
    """How far numbers move; None where they are no numbers."""
    values = [value for change in changes for value in change]
    if any(isinstance(value, bool | str) or value is None for value in values):
        return None
    return [float(end) - float(now) for now, end in changes]
