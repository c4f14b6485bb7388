"""What many answers tell, as columns of a table."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

from localface.answers.recourse import Recourse


def answer_columns(answers: Sequence[Recourse]) -> dict[str, list[Any]]:
    """The figures of answers, one entry a person."""
    changed = [changes_of(one) for one in answers]
    return {
        "status": [one.status.name for one in answers],
        "cautions": ["; ".join(one.cautions) for one in answers],
        "steps": [len(one.certificates) for one in answers],
        "score_before": [one.scores[0] for one in answers],
        "score_after": [one.scores[-1] for one in answers],
        "cost": [one.cost for one in answers],
        "relaxed_to": [one.relaxed_to for one in answers],
        "rows_seen": [one.disclosure.rows for one in answers],
        "n_actions": [len(one.actions) for one in answers],
        "n_changed": [len(one) for one in changed],
        "changed": ["; ".join(one) for one in changed],
        "score_of_actions": [one.with_actions_as_path().scores[-1] for one in answers],
        "action_cost": [one.with_actions_as_path().cost for one in answers],
    }


def changes_of(answer: Recourse) -> dict[str, tuple[Any, Any]]:
    """What changes by the actions, or along the path without any: the value now and at the end."""
    if not answer.found:
        return {}
    followed = answer.with_actions_as_path()
    return {one.name: (one.before, one.after) for one in followed.changes}


def counts_by_feature(answers: Sequence[Recourse]) -> dict[str, list[Any]]:
    """How often each feature changes, the most often first; the order of the schema for ties."""
    names = list(answers[0].schema.names) if answers else []
    moves: dict[str, list[tuple[Any, Any]]] = {name: [] for name in names}
    for answer in answers:
        for name, change in changes_of(answer).items():
            moves[name].append(change)
    ranked = sorted(names, key=lambda name: -len(moves[name]))
    steps = [_steps_of(moves[name]) for name in ranked]
    return {
        "feature": ranked,
        "people": [len(moves[name]) for name in ranked],
        "share": [len(moves[name]) / len(answers) for name in ranked],
        "up": [None if one is None else sum(step > 0 for step in one) for one in steps],
        "down": [None if one is None else sum(step < 0 for step in one) for one in steps],
        "median_change": [median(one) if one else None for one in steps],
    }


def _steps_of(changes: Sequence[tuple[Any, Any]]) -> list[float] | None:
    """How far numbers move; None where they are no numbers."""
    values = [value for change in changes for value in change]
    if any(isinstance(value, bool | str) or value is None for value in values):
        return None
    return [float(end) - float(now) for now, end in changes]
