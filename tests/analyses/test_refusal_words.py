"""Refusals as the person concerned reads them: what they say of limits, gaps and names is true."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from localface import Feature, LocalFACE, Recourse, Schema, Search, Status
from worlds import World, gaps, make_explainer

RNG = np.random.default_rng(0)
PLACES = pd.DataFrame(RNG.normal(size=(300, 2)), columns=["east", "north"])
PLACES["town"] = np.where(RNG.random(300) < 0.5, "a", "b")
PERSON = {"east": -0.5, "north": -0.5, "town": "a"}
SCHEMA = Schema(
    [
        Feature("east", label="way to the east"),
        Feature("north"),
        Feature("town", kind="categorical", categories=("a", "b"), label="home town"),
    ]
)


def in_the_east(people: Any) -> Any:
    return 1 / (1 + np.exp(-3 * np.asarray(people["east"], dtype=float) + 1))


@cache
def places() -> LocalFACE:
    return LocalFACE(in_the_east, PLACES, schema=SCHEMA, search=Search(n_neighbors=30))


@cache
def with_gaps() -> tuple[World, LocalFACE]:
    world = gaps()
    options = {"n_neighbors": world.n_neighbors, "min_score": world.min_score}
    return world, make_explainer(world.model, world.data, schema=world.schema, **options)


def someone_without(name: str, *, code: float | None = None) -> pd.Series:
    """Somebody whose value of a feature is missing, or is a code."""
    world, _ = with_gaps()
    gone = world.people[name].isna() if code is None else world.people[name] == code
    return world.people[gone].iloc[0]


# limits


@pytest.mark.parametrize(
    ("where", "wanted"),
    [
        ({"east": "never"}, "if way to the east may change"),
        ({"east": 0.0}, "if way to the east may change"),
        ({"east": 0.2}, "if way to the east may move further (your limit: within 0.2)"),
        ({"east": "down"}, "if way to the east may also go up (your limit: down only)"),
        ({"east": (None, 0.1)}, "if way to the east may go above 0.1 (your limit)"),
    ],
    ids=str,
)
def test_a_feature_is_said_to_need_what_it_lacks(where: dict[str, Any], wanted: str) -> None:
    answer = places().explain(PERSON, where=where)

    assert answer.status is Status.NO_TARGET
    assert f"a way opens {wanted}" in answer.reason


def test_several_limits_are_each_told_as_what_they_are() -> None:
    def in_the_north_of_b(people: Any) -> Any:
        north = np.asarray(people["north"], dtype=float) > 0.4
        return 0.0 + (north & (np.asarray(people["town"]) == "b"))

    ready = LocalFACE(in_the_north_of_b, PLACES, schema=SCHEMA, search=Search(n_neighbors=40))

    answer = ready.explain(PERSON, where={"north": 0.2, "town": "never"})

    assert answer.opens == (("north", "town"),)
    further = "north may move further (your limit: within 0.2) and home town may change"
    assert f"a way opens if {further}" in answer.reason


@pytest.mark.parametrize(
    ("east", "where", "wanted"),
    [
        ({}, {}, "way to the east may change"),
        ({}, {"east": 0.2}, "way to the east may go up by more than 0.2 (your limit)"),
        ({"moves": "down"}, {}, "way to the east may go up (the schema: down only)"),
        (
            {"within": 0.2, "unit": "km"},
            {},
            "way to the east may go up by more than 0.2 km (the schema)",
        ),
        (
            {"moves": "down"},
            {"east": (-1.0, -0.4)},
            "way to the east may go up (your limit, and the schema: down only)",
        ),
    ],
    ids=str,
)
def test_what_only_rules_out_is_offered_with_whatever_other_limit_is_in_its_way(
    east: dict[str, Any], where: dict[str, Any], wanted: str
) -> None:
    schema = SCHEMA.with_("east", **east)
    ready = LocalFACE(in_the_east, PLACES, schema=schema, search=Search(n_neighbors=30))

    answer = ready.explain(PERSON, only=["north"], where=where)

    assert answer.reason.endswith(f"; a way opens if {wanted}")


def test_nobody_is_sent_beyond_the_bounds_of_the_schema() -> None:
    schema = SCHEMA.with_("east", bounds=(None, 0.1))
    ready = LocalFACE(in_the_east, PLACES, schema=schema, search=Search(n_neighbors=30))

    for asked in ({}, {"only": ["north"]}, {"where": {"east": 0.2}}):
        answer = ready.explain(PERSON, **asked)
        assert answer.status is Status.NO_TARGET
        assert not answer.opens


def test_remedies_that_keep_to_all_other_limits_come_first() -> None:
    def in_the_north_of_a_or_west(people: Any) -> Any:
        north = np.asarray(people["north"], dtype=float) > 0.4
        east = np.asarray(people["east"], dtype=float)
        return 0.0 + ((north & (np.asarray(people["town"]) == "b")) | (east > 0.4))

    schema = SCHEMA.with_("east", moves="down")
    ready = LocalFACE(
        in_the_north_of_a_or_west, PLACES, schema=schema, search=Search(n_neighbors=40)
    )

    answer = ready.explain(PERSON, fixed=["east", "north", "town"])

    kept, beyond = answer.reason.split("a way opens ")[1].split(", or ")
    assert kept == "if north and home town may change"
    assert beyond == "if way to the east may go up (the schema: down only)"
    assert answer.opens == (("north", "town"), ("east",))


def test_what_opens_is_found_where_the_rest_is_fixed_to_the_persons_own() -> None:
    """Nobody else has these very values, so that no row is allowed, but states are."""
    answer = places().explain(PERSON, only=["north"])

    assert answer.status is Status.NO_TARGET
    assert answer.opens == (("east",),)
    assert places().explain(PERSON, only=["north", "east"]).found


def test_a_wish_that_changes_nothing_is_told_so() -> None:
    check = places().check(PERSON, {"east": PERSON["east"]})

    assert check.reasons[0].startswith("nothing changes, so the score stays 0.08; ")


def test_a_wish_that_leads_away_from_the_target_is_told_so() -> None:
    away = places().check(PERSON, {"east": -1.0})
    nearer = places().check(PERSON, {"east": -0.1})

    wanted = "wanted: score at least 0.5"
    assert away.reasons[-1] == f"the score would be 0.02, worse than 0.08 now; {wanted}"
    assert nearer.reasons[-1] == f"the score would be 0.21; {wanted}"
    assert "worse" not in "".join(nearer.reasons)


def test_a_lower_score_is_a_remedy_only_where_the_wish_improves_it() -> None:
    """What a person has today need not be settled for."""
    away = places().check(PERSON, {"east": -1.0})
    aside = places().check(PERSON, {"town": "b"})
    nearer = places().check(PERSON, {"east": -0.1})

    for wish in (away, aside):
        assert wish.relaxation is not None
        assert (wish.relaxation.enough, wish.relaxation.min_score) == (False, None)
        assert wish.relaxation.sentence == (
            "nothing opens it: it does not bring the score nearer to the target"
        )
    assert nearer.relaxation is not None
    assert nearer.relaxation.sentence == "it opens if a score of 0.21 is enough"


@pytest.mark.parametrize("where", [{}, {"east": "down"}], ids=str)
def test_a_score_that_is_printed_as_todays_is_no_remedy_alone_or_with_others(where: Any) -> None:
    """0.1696 and 0.1721 are both told as 0.17."""
    check = places().check({**PERSON, "east": -0.1962}, {"east": -0.1903}, where=where)

    assert check.relaxation is not None
    assert (check.relaxation.enough, check.relaxation.min_score) == (False, None)
    assert check.relaxation.sentence == (
        "nothing opens it: it hardly brings the score nearer to the target"
    )


def test_a_score_to_settle_for_is_the_one_that_is_told_with_the_option_where_that_is_less() -> None:
    """The wish reaches 0.2489, told as 0.25: of two digits it keeps 0.24."""
    check = places().check(PERSON, {"east": -0.0348})

    assert check.relaxation is not None
    assert check.reasons[-1] == "the score would be 0.25; wanted: score at least 0.5"
    assert check.relaxation.sentence == "it opens if a score of 0.25 is enough (min_score=0.24)"
    assert check.relaxation.min_score == 0.24


def test_what_the_schemas_bounds_rule_out_opens_by_nothing() -> None:
    limited = LocalFACE(
        in_the_east,
        PLACES,
        schema=SCHEMA.with_("north", bounds=(-3, None), unit="steps", moves="up"),
        search=Search(n_neighbors=30),
    )

    beyond = limited.check(PERSON, {"north": -4.0, "east": 0.9})
    below = limited.check(PERSON, {"north": -1.5, "east": 0.9})

    assert beyond.relaxation is not None
    assert below.relaxation is not None
    assert not beyond.relaxation.enough
    assert beyond.relaxation.sentence == (
        "nothing opens it: the schema's bounds of north are -3 steps or more"
    )
    assert below.relaxation.sentence.startswith("it opens if north may be -1.5 steps (1 further)")


def test_a_share_of_less_common_states_is_called_what_it_is() -> None:
    usual = places().check(PERSON, {"east": -0.1})
    rare = places().check(PERSON, {"east": 2.6, "north": 2.4})
    nowhere = places().check(PERSON, {"east": 9.0})

    assert "  usual: " in str(usual)
    assert f"unusual: only {100 * rare.density:.2g} % of people have a less common" in str(rare)
    assert "unusual: no person has a less common state" in str(nowhere)


def test_where_nothing_may_change_that_is_the_reason() -> None:
    answer = places().explain(PERSON, fixed=["east", "north", "town"])

    assert answer.reason.startswith("nothing may change: everything is kept as it is")


def test_what_never_moves_is_not_overstepped_by_some_amount() -> None:
    check = places().check(PERSON, {"east": 0.9}, fixed=["east"])

    assert check.reasons[0] == "'way to the east never moves' rules out 0.9"
    assert check.relaxation is not None
    assert check.relaxation.sentence.startswith("it opens if way to the east may be 0.9")
    assert "further" not in check.relaxation.sentence


# what is missing


def test_the_only_feature_that_may_change_is_missing_and_that_is_why() -> None:
    _, explainer = with_gaps()
    person = someone_without("debt")

    answer = explainer.explain(person, only=["debt"])

    assert answer.status is Status.NO_TARGET
    assert answer.reason.startswith("nothing may change: 'debt' is missing and stays so")
    assert answer.cautions[0] == (
        "debt is missing and stays so, whatever only= says of it; "
        "Feature('debt', missing='may be measured') tells what measuring it could show"
    )


def test_what_may_be_measured_already_is_not_to_be_declared() -> None:
    _, explainer = with_gaps()

    answer = explainer.explain(someone_without("income"), only=["income"])

    assert answer.cautions[0] == "income is missing and stays so, whatever only= says of it"
    assert [one.feature for one in answer.measurements] == ["income"]


def test_a_limit_on_what_is_missing_is_not_dropped_in_silence() -> None:
    _, explainer = with_gaps()
    person = someone_without("months_since_default", code=-9)

    limited = explainer.explain(person, where={"months_since_default": (0, 30)})
    kept = explainer.explain(person, where={"months_since_default": "never"})

    told = "months_since_default is no default and stays so, whatever where= says of it"
    assert limited.cautions[0].startswith(told)
    assert not any("whatever where=" in line for line in kept.cautions)
    many = explainer.explain_many([person], where={"months_since_default": (0, 30)}, progress=False)
    assert many[0].cautions == limited.cautions


def test_a_step_out_of_a_gap_is_called_what_it_is() -> None:
    _, explainer = with_gaps()
    person = someone_without("debt")

    check = explainer.check(person, {"debt": 2000.0})
    (finding,) = explainer.audit([person], [{**person, "debt": 2000.0}], progress=False)

    told = "debt is missing: no step gives it a value, only a measurement does"
    assert f"straight there: {told}" in str(check)
    assert check.relaxation is not None
    assert check.relaxation.sentence == f"nothing opens it: {told}"
    assert not check.relaxation.enough
    assert f"straight    {told}" in str(finding)
    assert not finding.straight


def test_a_value_that_would_go_away_is_called_that() -> None:
    world, explainer = with_gaps()
    person = world.people[world.people["debt"].notna()].iloc[0]

    check = explainer.check(person, {"debt": None})

    assert "straight there: debt has a value, and no step takes that away" in str(check)


# names


def test_no_sentence_of_a_check_prints_a_raw_name() -> None:
    low = RNG.normal(60, 8, 300).round()
    data = pd.DataFrame({"hr_min": low, "hr_max": low + RNG.gamma(4, 5, 300).round()})
    data["sum"] = data["hr_min"] + data["hr_max"]
    labels = {"hr_min": "lowest pulse", "hr_max": "highest pulse", "sum": "both pulses"}
    schema = Schema([Feature(name, unit="bpm", label=label) for name, label in labels.items()])
    schema = schema.relate("hr_min", "<=", "hr_max").relate("sum", "=", {"hr_min": 1, "hr_max": 1})
    ready = LocalFACE(lambda people: np.full(len(people), 0.9), data, schema=schema)
    person = {"hr_min": 60.0, "hr_max": 75.0, "sum": 135.0}

    check = ready.check(person, {"hr_min": 78.0}, where={"hr_min": 10})
    (finding,) = ready.audit([person], [{**person, "hr_min": 78.0}], progress=False)
    asked = ready.explain(person, counterfactual={**person, "hr_min": 78.0}, min_score=0.95)

    words = "\n".join([*map(str, (check, finding, asked)), *check.reasons])
    assert "lowest pulse <= highest pulse" in words
    assert "both pulses = lowest pulse + highest pulse" in words
    assert "lowest pulse may exceed highest pulse by 3 bpm" in words
    assert not any(name in words.replace("sum up", "") for name in ("hr_min", "hr_max"))


def test_an_answer_is_equal_to_what_its_json_gives_back() -> None:
    world, explainer = with_gaps()
    answers = list(explainer.explain_many(world.people.iloc[:12], progress=False))
    answers += [explainer.explain(world.people.iloc[[0]], only=["age"], where={"age": 0})]
    answers += [explainer.explain(world.people.iloc[[0]], actions=False)]

    for answer in answers:
        again = Recourse.from_json(answer.to_json())
        assert again == answer
        assert hash(again) == hash(answer)
    assert any(one.missing for one in answers)
    assert any(not one.found for one in answers)
    assert len(set(answers)) == len(answers)
    assert answers[0] != answers[1]
    assert answers[0] != "an answer"
