"""Checks on random small tables, held against brute force: what opens a wish, and what is hopeless.

``LOCALFACE_WISHES`` says how many wishes; 48 unless told otherwise.
"""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from localface import LocalFACE
from localface.analyses.whynot import Check
from random_tables import Case, make_case, make_wish

pytestmark = pytest.mark.slow

WISHES = int(os.environ.get("LOCALFACE_WISHES", "48"))
BLOCKS = 8
FLOORS = (0.15, 0.08, 0.04, 0.02, 0.01, 0.005, 0.001, 0.0)


def same_everywhere(records: Any) -> Any:
    """A density with nothing below that of the rows: a floor of 0 is none at all."""
    return 1.0 + (np.asarray(records)[:, 0] > 30)


@cache
def checked(seed: int) -> tuple[Case, dict[str, Any], Check]:
    case = make_case(seed)
    wish = make_wish(case, seed)
    return case, wish, case.explainer().check(case.person, wish, where=case.where)


def widened(case: Case, check: Check) -> Case:
    """The case with every broken constraint widened as the remedy says."""
    oversteps = check.relaxation.widen if check.relaxation is not None else ()
    names = [one.feature for one in oversteps if one.other is None]
    box = case.schema.box(check.records[0], case.where)
    freed = case.without_limits(names)
    for name in names:
        feature = case.features[name]
        j = case.schema.index(name)
        wished = float(check.records[1][j])
        if feature.discrete:
            codes = sorted({*box.allowed[j], int(wished)})
            freed.where[name] = [feature.value(code) for code in codes]
        else:
            ends = (min(box.lower[j], wished), max(box.upper[j], wished))
            freed.where[name] = tuple(end if np.isfinite(end) else None for end in ends)
    broken = {(one.feature, one.other) for one in oversteps if one.other is not None}
    relations = tuple(one for one in case.relations if (one[0], one[2]) not in broken)
    return replace(freed, relations=relations)


def reaches(made: LocalFACE, case: Case, wish: dict[str, Any], **options: Any) -> bool:
    return made.check(case.person, wish, where=case.where, **options).reachable


def opening_floors(case: Case, wish: dict[str, Any]) -> list[object]:
    """The floors no higher than the case's own under which the wish can be reached."""
    made = case.explainer()
    lower = [floor for floor in FLOORS if floor < case.min_density]
    found: list[object] = [one for one in lower if reaches(made, case, wish, min_density=one)]
    if reaches(case.explainer(density=same_everywhere, min_density=0.0), case, wish):
        found.append("none")
    return found


def seeds(block: int) -> range:
    return range(block, WISHES, BLOCKS)


@pytest.mark.parametrize("block", range(BLOCKS))
def test_what_a_check_offers_opens_the_wish_and_hopeless_is_hopeless_at_every_floor(
    block: int,
) -> None:
    for seed in seeds(block):
        case, wish, check = checked(seed)
        told = check.relaxation
        if told is None or check.disclosure.rows == 0:
            continue
        wider = widened(case, check)
        if not told.enough:
            if "however low" in told.sentence:
                assert opening_floors(wider, wish) == [], (seed, told)
            continue
        if told.min_density is not None:
            assert f"to {100 * told.min_density:.3g} %" in told.sentence or not told.min_density
        if told.min_density == 0:
            made = wider.explainer(density=same_everywhere, min_density=0.0)
            assert reaches(made, wider, wish), (seed, told)
            continue
        again = wider.explainer().check(
            case.person,
            wish,
            where=wider.where,
            min_density=told.min_density,
            min_score=told.min_score,
        )
        assert again.reachable, (seed, told)
        if told.min_density is None:
            assert again.refused_by == (), (seed, told)
