"""Refusals on random small tables: every remedy that one offers, applied as it says, opens a way.

``LOCALFACE_REFUSALS`` says how many tables are asked about; 48 unless told otherwise.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import Any

import pytest

from localface import Recourse
from random_tables import Case, make_case

pytestmark = pytest.mark.slow

TABLES = int(os.environ.get("LOCALFACE_REFUSALS", "48"))
BLOCKS = 8
FLOORS = (0.04, 0.02, 0.01, 0.005, 0.001, 0.0)
NAMING = (
    r"a way opens ([^;()\n]*)",
    r"by changing ([^;()\n]*)",
    r"'([^']*)' alone rules out",
    r"relaxed: (\w+) moves by",
)


def explain(case: Case, **options: Any) -> Recourse:
    return case.explainer().explain(case.person, where=case.where, **options)


def with_distances(case: Case, distances: dict[str, float]) -> Case:
    """The case where some features may move so far, whatever distance limited them before."""
    features = dict(case.features)
    where = dict(case.where)
    for name, distance in distances.items():
        if features[name].within is not None:
            features[name] = replace(features[name], within=distance)
        if isinstance(where.get(name), float | int):
            where[name] = distance
    return replace(case, features=features, where=where)


def check_names(case: Case, answer: Recourse) -> None:
    """No sentence names what stays a person's own as something that could move."""
    kept = case.kept_names()
    assert not kept & {name for names in answer.opens for name in names}
    assert not kept & set(answer.widened)
    for pattern in NAMING:
        for found in re.findall(pattern, str(answer)):
            assert not kept & set(re.findall(r"\w+", found)), found


def check_remedies(case: Case, refusal: Recourse) -> None:
    for names in refusal.opens:
        assert explain(case.without_limits(names)).found, names
    told = re.search(r"min_density=([\d.e-]+)", refusal.reason)
    if told:
        assert explain(case, min_density=float(told.group(1))).found, told
    eased = explain(case, relax=True)
    check_names(case, eased)
    check_hopeless(case, eased)
    if "relax=True" in refusal.reason:
        assert eased.found, refusal.reason
    if eased.found and eased.relaxed_to != 0:
        wider = with_distances(case, dict(eased.widened))
        # it is told on a scale of rounded densities
        lower = None if eased.relaxed_to is None else 0.999 * eased.relaxed_to
        again = explain(wider, min_density=lower, relax=True)
        assert again.found, (eased.widened, eased.relaxed_to)
        assert not again.widened
        assert again.relaxed_to is None or again.relaxed_to >= 0.99 * (lower or case.min_density)


def check_hopeless(case: Case, eased: Recourse) -> None:
    """Where no floor is said to help, none does."""
    if "however low" in eased.reason:
        found = [one for one in FLOORS if explain(case, min_density=one).found]
        assert found == [], eased.reason


def check_case(seed: int) -> bool:
    """Check the refusal of a case; tell whether it is one."""
    case = make_case(seed)
    answer = explain(case)
    check_names(case, answer)
    if answer.found or not answer.reason:
        return False
    check_remedies(case, answer)
    return True


@pytest.mark.parametrize("block", range(BLOCKS))
def test_every_remedy_that_a_refusal_offers_opens_a_way(block: int) -> None:
    refused = sum(check_case(seed) for seed in range(block, TABLES, BLOCKS))
    assert refused > 0


def without_keeping(case: Case, names: Any) -> Case:
    """The case where the call does not keep some features as they are by where=."""
    kept = {name for name in names if case.where.get(name) in ("never", 0)}
    return replace(case, where={name: one for name, one in case.where.items() if name not in kept})


def check_wishes(case: Case, name: str) -> int:
    """What is told to have to change only need not be kept: all other limits stay.

    Returns how many such remedies were offered.
    """
    refusal = explain(case, only=[name])
    told = re.search(r"a way opens (.*)", refusal.reason)
    offered = re.split(r",? or in |, or ", told[1]) if told else []
    n_within = 0
    for names, words in zip(refusal.opens, offered, strict=False):
        within = "(" not in words and "other way" not in words
        if within:
            assert explain(without_keeping(case, names), only=[name, *names]).found, words
            n_within += 1
    return n_within


@pytest.mark.parametrize("block", range(BLOCKS))
def test_what_lifts_a_wish_alone_is_enough_within_all_other_limits(block: int) -> None:
    offered = 0
    for seed in range(block, TABLES, BLOCKS):
        case = make_case(seed)
        for name in list(case.features)[:2]:
            offered += check_wishes(case, name)
    assert offered > 0
