"""What it means for two answers to be the same."""

from __future__ import annotations

from typing import Any

import pytest

from localface import Recourse

SLIGHT = 1e-9  # how far densities may differ between batches


def bits(answer: Recourse, *, reason: bool = True) -> tuple[Any, ...]:
    """What must be the same to the last bit."""
    return (
        answer.status,
        answer.records.tobytes(),
        answer.rows,
        answer.scores,
        answer.proven_within,
        answer.reason if reason else "",
        answer.opens if reason else (),
        [(dict(one.changes), dict(one.before), one.follows, one.score) for one in answer.actions],
        [(one.entry, one.certified, one.rule) for one in answer.certificates],
    )


def levels(answer: Recourse) -> list[float]:
    """What must be the same but for rounding."""
    under = [value for one in answer.certificates for value in (one.length, one.lowest)]
    acted = [value for one in answer.actions for value in (one.density, one.certificate.lowest)]
    return [*answer.densities, *under, *acted, answer.relaxed_to or 0.0]


def assert_same(answer: Recourse, other: Recourse, *, rows: bool = True) -> None:
    assert bits(answer, reason=rows) == bits(other, reason=rows)
    assert levels(answer) == pytest.approx(levels(other), abs=SLIGHT)
    if rows:
        assert answer.disclosure.rows == other.disclosure.rows
