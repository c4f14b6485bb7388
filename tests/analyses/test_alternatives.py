"""Alternatives: different sets of changes, each sound on its own, weighted as people wish."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from judge import Judge
from localface import Feature, LocalFACE, Schema, Search
from localface.analyses.alternatives import Alternatives, changed_by
from localface.errors import ConstraintError, InputError
from worlds import WORLDS, gaps, make_explainer

pytestmark = pytest.mark.slow

PEOPLE = 10
worlds = pytest.mark.parametrize("name", ["mixed", "ward"])


@cache
def explained(name):
    world = WORLDS[name]()
    explainer = LocalFACE(
        world.model,
        world.data,
        schema=world.schema,
        min_score=world.min_score,
        search=Search(n_neighbors=world.n_neighbors),
    )
    answers = [
        explainer.alternatives(world.people.iloc[i], where=world.where, n=3) for i in range(PEOPLE)
    ]
    return world, explainer, answers


def states(answer):
    """Where the actions lead, one after the other, worked out from what they say."""
    frame = answer.path.iloc[[0] * (len(answer.actions) + 1)].reset_index(drop=True)
    for i, action in enumerate(answer.actions, 1):
        for name, value in action.changes.items():
            frame.loc[i:, name] = value
    return frame


# different, and as many as there are


@worlds
def test_no_two_ways_change_the_same_features(name):
    _, _, answers = explained(name)
    for ways in [ways for ways in answers if ways.found]:
        sets = [changed_by(answer) for answer in ways]
        assert len(set(sets)) == len(ways)
        assert len(ways) == 3 or ways.exhausted
        assert len(ways) == 3 or "no other was left to try" in str(ways)
    assert np.mean([len(ways) == 3 for ways in answers]) >= 0.7


@worlds
def test_the_cheapest_way_comes_first(name):
    _, _, answers = explained(name)
    for ways in answers:
        assert list(ways.costs) == sorted(ways.costs)
        assert all(
            cost.changes == len(names) for cost, names in zip(ways.costs, ways.changed, strict=True)
        )


# each sound on its own


@worlds
def test_every_way_reaches_the_target_by_a_fresh_call_of_the_model(name):
    world, _, answers = explained(name)
    for answer in [one for ways in answers for one in ways if one.found]:
        assert world.model.predict_proba(answer.path)[-1, 1] >= world.min_score
        fresh = world.model.predict_proba(states(answer))[:, 1]
        assert fresh[-1] >= world.min_score
        assert [action.score for action in answer.actions] == pytest.approx(
            fresh[1:].tolist(), abs=1e-9
        )


@worlds
def test_every_way_stays_in_the_box(name):
    _, _, answers = explained(name)
    for answer in [one for ways in answers for one in ways]:
        for table in (answer.path, states(answer)):
            if name == "mixed":
                assert table["married"].nunique() == 1
                assert (table["age"] - table["age"].iloc[0]).abs().max() <= 10
                assert table["years_employed"].is_monotonic_increasing
            else:
                assert table["v1"].nunique() == 1
                assert (table["v0"] - table["v0"].iloc[0]).abs().max() <= 1.0


@worlds
def test_every_step_and_every_action_keeps_the_floor_on_a_fine_grid(name):
    world, explainer, answers = explained(name)
    judge = Judge.of(explainer, world.data, answers[0][0])
    for answer in [one for ways in answers for one in ways]:
        path, acted = judge.points(answer.path), judge.points(states(answer))
        for start, end, certificate in zip(path[:-1], path[1:], answer.certificates, strict=True):
            assert certificate.entry or judge.lowest(start, end) >= judge.floor - 1e-6
        floor = min(judge.floor, judge.lowest(path[0], path[0]))
        for start, end, action in zip(acted[:-1], acted[1:], answer.actions, strict=True):
            assert action.certificate.entry or judge.lowest(start, end) >= floor - 1e-6


# a world whose every set of changes is known


def logic(frame):
    """1 where a and b are up, or c and d, or c and e; else less."""
    a, b, c, d, e = (frame[name].to_numpy() > 1.5 for name in "abcde")
    return np.where((a & b) | (c & d) | (c & e), 0.9, 0.1 + 0.05 * (1.0 * a + b + c + d + e))


def everywhere(n=1500):
    return pd.DataFrame(
        np.random.default_rng(3).uniform(0, 3, (n, 5)).round(2), columns=list("abcde")
    )


@cache
def logical(*links):
    schema = Schema([Feature(name) for name in "abcde"], links=links)
    return LocalFACE(
        logic,
        everywhere(),
        schema=schema,
        min_score=0.5,
        min_density=0.01,
        search=Search(n_neighbors=200),
    )


NOBODY = dict.fromkeys("abcde", 1.0)


def test_the_tree_finds_every_least_set_and_says_that_there_are_no_more():
    # given: by brute force, the least sets of features that lead to the target
    sets = [set(some) for n in range(1, 6) for some in combinations("abcde", n)]
    reach = [
        some
        for some in sets
        if logic(pd.DataFrame([{x: 2.0 * (x in some) for x in "abcde"}]))[0] >= 0.5
    ]
    least = [some for some in reach if not any(other < some for other in reach)]
    # when
    ways = logical().alternatives(NOBODY, n=9)
    # then
    assert sorted(map(sorted, least)) == [["a", "b"], ["c", "d"], ["c", "e"]]
    assert sorted(map(sorted, ways.changed)) == sorted(map(sorted, least))
    assert ways.exhausted
    assert "9 ways were wanted; 3 sets of changes were found, and no other was left to try" in str(
        ways
    )


def test_features_that_are_linked_are_held_and_counted_as_one():
    ways = logical(("a", "b")).alternatives(NOBODY, n=3)
    assert {"a", "b"} in [set(names) for names in ways.changed]
    assert min(ways.costs).changes == 1
    assert set(ways.changed[0]) == {"a", "b"}


def test_distances_and_where_the_branches_part():
    ways = logical().alternatives(NOBODY, n=3)
    sets = ways.changed
    for i, j in np.ndindex(3, 3):
        assert ways.distances[i, j] == pytest.approx(
            1 - len(sets[i] & sets[j]) / len(sets[i] | sets[j])
        )
        apart = np.array([ways[i].end[name] - ways[j].end[name] for name in "abcde"], dtype=float)
        assert ways.ends_apart[i, j] == pytest.approx(
            np.linalg.norm(apart / np.array(ways[i].scales))
        )
        first = [[dict(action.changes) for action in ways[k].actions] for k in (i, j)]
        assert first[0][: ways.parting[i, j]] == first[1][: ways.parting[i, j]]
    assert ways.parting.diagonal().tolist() == [len(answer.actions) for answer in ways]
    assert ways.shared == ()
    assert not ways.distances.flags.writeable


# preferences


def test_weights_of_one_change_nothing():
    world, explainer, _ = explained("mixed")
    people = world.people.iloc[:PEOPLE]
    plain = explainer.explain_many(people, where=world.where, progress=False)
    ones = dict.fromkeys(explainer.schema.names, 1)
    weighted = explainer.explain_many(people, where=world.where, weights=ones, progress=False)
    for one, other in zip(plain, weighted, strict=True):
        assert one.actions == other.actions
        assert one.records.tobytes() == other.records.tobytes()


@pytest.mark.parametrize("dear", ["a", "c"])
def test_what_is_dear_is_left_alone_where_there_is_another_way(dear):
    answer = logical().explain(NOBODY, weights={dear: 10})
    assert answer.found
    assert dear not in changed_by(answer)
    assert logic(pd.DataFrame([answer.end]))[0] >= 0.5


def test_dearer_changes_are_made_less_often():
    world, explainer, _ = explained("mixed")
    people = world.people.iloc[:40]
    counts = []
    for weights in (None, {"income": 20}):
        answers = explainer.explain_many(people, where=world.where, weights=weights, progress=False)
        counts.append(sum("income" in changed_by(answer) for answer in answers))
        assert all(answer.found for answer in answers)
    assert counts[1] < counts[0] / 2


def test_what_is_avoided_is_touched_by_no_action_and_nobody_on_the_path():
    world, explainer, _ = explained("mixed")
    avoid, people = ["home", "school"], world.people.iloc[:PEOPLE]
    answers = explainer.explain_many(people, where=world.where, avoid=avoid, progress=False)
    assert sum(answer.found for answer in answers) >= PEOPLE - 2
    for i, answer in enumerate(answers):
        alone = explainer.explain(people.iloc[i], where=world.where, avoid=avoid)
        assert alone.records.tobytes() == answer.records.tobytes()
        assert (answer.path[avoid].nunique() == 1).all()
        assert not changed_by(answer) & set(avoid)


# the answer as a thing


def test_alternatives_are_a_sequence_that_prints_and_travels():
    ways = logical().alternatives(NOBODY, n=2)
    assert isinstance(ways, Alternatives)
    assert len(ways) == 2
    assert ways[-1] is list(ways)[1]
    assert ways[:1] == (ways[0],)
    assert repr(ways).startswith("<Alternatives: 2 ways, 2 features changed, score 0.10 -> 0.90, ")
    assert "\n" not in repr(ways)
    html = ways._repr_html_()
    assert html.count("<details>") == 2
    assert "<table>" in html
    back = Alternatives.from_json(ways.to_json(indent=1))
    assert str(back) == str(ways) == str(pickle.loads(pickle.dumps(ways)))
    assert back.to_json() == ways.to_json()
    with pytest.raises(AttributeError):
        ways.wanted = 5


def test_the_total_of_what_was_seen_bounds_what_each_way_saw():
    _, _, answers = explained("mixed")
    for ways in answers:
        assert (
            max(one.disclosure.rows for one in ways) <= ways.disclosure.rows <= ways.disclosure.of
        )
        assert ways.disclosure.model_calls >= sum(one.disclosure.model_calls for one in ways)


def test_no_is_an_answer_here_too():
    ways = logical().alternatives(NOBODY, where=dict.fromkeys("abcde", "never"), n=3)
    assert not ways.found
    assert len(ways) == 1
    assert ways[0].reason in str(ways)
    already = logical().alternatives(dict.fromkeys("abcde", 2), n=3)
    assert already[0].status.name == "ALREADY_THERE"
    assert "already there" in repr(already)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 0}, "n=0: a whole number of at least 1 is wanted"),
        ({"n": 2, "actions": False}, "alternatives differ by what the actions change"),
        ({"n": 2, "min_robustness": 0.9}, "alternatives takes no min_robustness="),
        ({"weights": {"f": 2}}, "weights= names 'f', which is no feature"),
        ({"weights": {"a": 0}}, "the weight of 'a' is 0: give a positive number"),
        ({"weights": ["a"]}, "give a dict from feature to number"),
        ({"avoid": "a"}, "avoid= is 'a': give a list of features"),
        ({"avoid": ["aa"]}, "avoid= names 'aa', which is no feature"),
    ],
)
def test_misuse_is_told(options, message):
    with pytest.raises(InputError, match=message) as caught:
        logical().alternatives(NOBODY, **options)
    assert isinstance(caught.value, ConstraintError) == ("n" not in options)


def test_the_change_of_a_way_is_the_effort_that_is_printed_for_one():
    ways = logical().alternatives(NOBODY, n=3)
    for way, cost in zip(ways, ways.costs, strict=True):
        assert cost.size == pytest.approx(way.effort)
        assert "standard deviations of change" in str(way) or "standard deviation of" in str(way)
    assert "change: how far all changes go, in standard deviations" in str(ways)


def test_a_person_with_gaps_has_options_that_differ_by_their_values():
    world = gaps()
    explainer = make_explainer(
        world.model, world.data, schema=world.schema, n_neighbors=30, min_score=0.6
    )
    people = world.people[world.people["months_since_default"].isna() | world.people["age"].isna()]
    found = [
        explainer.alternatives(one, n=3, differ="values") for _, one in people.iloc[:4].iterrows()
    ]
    assert any(len(ways) > 1 for ways in found)


def test_ways_that_end_at_other_values_are_not_said_to_change_other_features():
    data = pd.DataFrame(np.random.default_rng(0).normal(size=(300, 2)), columns=["a", "b"])
    explainer = LocalFACE(
        lambda rows: 1 / (1 + np.exp(1 - rows.sum(axis=1))), data, search=Search(n_neighbors=20)
    )
    ways = explainer.alternatives({"a": -0.5, "b": -0.5}, n=4, differ="values")
    assert len(set(ways.changed)) < len(ways) == 4
    assert ways.sentence == "4 ways that end at different values"


def test_whatever_a_call_finds_that_keeps_a_feature_is_among_all_there_is():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(250, 3)), columns=["a", "b", "c"])

    def score(rows):
        values = np.asarray(rows, dtype=float)
        past = np.maximum(values[:, 0] - 0.7, values[:, 1:].sum(axis=1) - 1.6)
        return 1 / (1 + np.exp(-6 * past))

    made = LocalFACE(score, table, search=Search(n_neighbors=10))
    for number in np.flatnonzero(score(table) < 0.3)[:12]:
        person = table.iloc[[number]]
        ways = made.alternatives(person, 3)
        if not ways.exhausted:
            continue
        for name in ways.changed[0]:
            other = made.explain(person, fixed=[name])
            changed = {one for action in other.actions for one in action.changes}
            assert not changed or any(names <= changed for names in ways.changed)


def test_ways_say_how_they_begin_in_one_sentence_where_all_do_alike():
    def beginnings(*parting):
        return Alternatives.beginnings.fget(_Ways(np.array(parting)))

    assert beginnings([2, 1, 1], [1, 2, 1], [1, 1, 2]) == ("all begin with the same action",)
    assert beginnings([3, 2], [2, 3]) == ("ways 1 and 2 begin with the same 2 actions",)
    assert beginnings([2, 1, 0], [1, 2, 0], [0, 0, 1]) == (
        "ways 1 and 2 begin with the same action",
    )
    assert beginnings([1, 0], [0, 1]) == ()


class _Ways:
    def __init__(self, parting):
        self.parting = parting

    def __len__(self):
        return len(self.parting)


def test_a_caution_of_some_ways_says_which_they_are():
    ways = next(one for one in explained("mixed")[2] if len(one) == 3)
    whole, first, twice = "few are comparable", "this may be a quirk", "another quirk"
    told = [(whole, first), (whole, twice), (twice, whole)]
    warned = replace(
        ways,
        answers=tuple(
            replace(one, cautions=lines) for one, lines in zip(ways.answers, told, strict=True)
        ),
    )

    assert warned.cautions == (whole, f"way 1: {first}", f"ways 2 and 3: {twice}")
    assert f"caution: way 1: {first}" in str(warned)
    assert json.loads(warned.to_json())["cautions"][1] == f"way 1: {first}"
