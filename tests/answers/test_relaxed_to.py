"""What a lowered floor is said to be: never higher than the one that was asked for."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from handmade import acted_answer

from localface import LocalFACE, Search
from localface.apps.web.views.words import floor_kept_text

ROWS = np.random.default_rng(0).normal(size=(80, 2))


def assembler(**options):
    explainer = LocalFACE(lambda rows: 1 / (1 + np.exp(-rows[:, 0])), ROWS, **options)
    return explainer.engine.answers


def test_a_floor_that_is_lowered_by_less_than_shares_can_tell_is_at_the_one_asked_for():
    one = assembler(min_density=0.3)
    barely = SimpleNamespace(relaxed=True, log_floor=one.scale.quantile(0.3) + 0.2)
    lower = SimpleNamespace(relaxed=True, log_floor=one.scale.quantile(0.1))

    assert float(one.scale.share_below(barely.log_floor)) > 0.3
    assert one._relaxed_to(barely) == 0.3
    assert one._relaxed_to(lower) == pytest.approx(0.1, abs=0.02)
    assert one._relaxed_to(replace_relaxed(lower)) is None


def replace_relaxed(outcome):
    return SimpleNamespace(relaxed=False, log_floor=outcome.log_floor)


def test_by_company_the_share_is_what_it_is():
    one = assembler(min_density=0.01, search=Search(edges="cover", min_people=3))
    lowered = SimpleNamespace(relaxed=True, log_floor=one.scale.quantile(0.5))

    assert one._relaxed_to(lowered) > 0.3


def test_a_floor_that_looks_the_same_is_said_to_be_just_below():
    answer = acted_answer()
    same = replace(answer, relaxed_to=answer.min_density)
    lower = replace(answer, relaxed_to=answer.min_density / 2)
    asked = f"{100 * answer.min_density:g} %"

    assert f"the floor was lowered to just below {asked}, " in str(same)
    assert f"the floor was lowered from {asked} to " in str(lower)
    assert "from" not in (floor_kept_text(same) or "")
