"""Two features that do not go together, named: true of the data, and of the state."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest

from localface import LocalFACE, Schema, Search
from localface.answers.pair_words import UnusualPair, describe_pair, refusing_pair
from localface.apps.web.views.view import check_view
from localface.data.read import read_record

pytestmark = pytest.mark.slow


def bills(n=500, seed=0):
    """Months with a company, a price, the total so far, and a plan that goes by the price."""
    chance = np.random.default_rng(seed)
    months = chance.integers(1, 73, n)
    price = np.round(chance.uniform(20, 80, n), 1)
    total = np.round(months * price * chance.normal(1, 0.03, n), 1)
    plan = np.where(price > 60, "large", np.where(price > 40, "middle", "small"))
    return pd.DataFrame({"months": months, "price": price, "total": total, "plan": plan})


TABLE = bills()
SCHEMA = Schema.infer(TABLE).with_("total", unit="$")
NEWCOMER = {"months": 2, "price": 48.0, "total": 96.0, "plan": "middle"}


def rising(frame):
    return frame["price"].to_numpy() / 100


def explainer(**options):
    return LocalFACE(
        rising, TABLE, schema=SCHEMA, min_score=0.5, search=Search(n_neighbors=30), **options
    )


OURS = explainer()


def mask_of(words, table=TABLE):
    """The rows that a phrase is about, read back from its words."""
    name, _, rest = words.partition(" ")
    column = table[name]
    if found := re.fullmatch(r"up to ([\d.]+)(?: \$)?", rest):
        return column <= float(found[1])
    if found := re.fullmatch(r"of ([\d.]+)(?: \$)? or more", rest):
        return column >= float(found[1])
    if found := re.fullmatch(r"of ([\d.]+) to ([\d.]+)(?: \$)?", rest):
        return column.between(float(found[1]), float(found[2]))
    if found := re.fullmatch(r"of ([\d.]+)(?: \$)?", rest):
        return column == float(found[1])
    return column == rest


@pytest.mark.parametrize(
    ("wish", "features"),
    [
        ({"total": 2500.0}, ("months", "total")),
        ({"months": 60}, ("months", "total")),
        ({"plan": "large"}, ("price", "plan")),
        ({"months": 60, "total": 300.0}, ("months", "total")),
    ],
)
def test_a_refused_wish_names_a_pair_that_is_true_of_the_rows_and_of_the_wish(wish, features):
    found = OURS.check(NEWCOMER, wish)

    assert found.pair is not None
    assert found.pair.features == features
    first, second = (mask_of(words) for words in found.pair.values)
    assert (first & second).sum() == found.pair.count
    assert found.pair.expected == pytest.approx(first.sum() * second.sum() / len(TABLE))
    assert found.pair.n_rows == len(TABLE)
    wished = pd.DataFrame([NEWCOMER | wish])
    assert all(mask_of(words, wished).all() for words in found.pair.values)
    assert found.pair.count < found.pair.expected
    assert any(found.pair.sentence in reason for reason in found.reasons)
    assert found.pair.sentence in str(found)


def test_a_pair_that_the_wish_leaves_as_it_is_is_said_to_be_so_now():
    said = OURS.check(NEWCOMER | {"total": 2500.0}, {"price": 50.0})
    changed = OURS.check(NEWCOMER, {"total": 2500.0})

    assert said.pair.features == ("months", "total")
    assert "; so it is now, and the wish changes neither" in str(said)
    assert "so it is now" not in str(changed)


def test_json_names_the_features_and_the_counts():
    view = json.loads(json.dumps(check_view(OURS.check(NEWCOMER, {"total": 2500.0}))))
    assert view["pair"]["features"] == ["months", "total"]
    assert view["pair"]["count"] == 0
    assert view["pair"]["expected"] > 10


def test_a_wish_on_common_ground_names_no_pair():
    found = OURS.check(NEWCOMER, {"months": 3, "total": 150.0})
    assert found.pair is None
    assert check_view(found)["pair"] is None


def test_other_densities_say_what_they_said():
    found = explainer(density="isotropic").check(NEWCOMER, {"total": 9000.0})
    assert found.pair is None
    (floor,) = (reason for reason in found.reasons if "floor allows" in reason)
    assert floor.endswith("the floor allows 95 %")


def test_a_counterfactual_that_is_given_and_a_proposal_that_is_audited_name_the_pair():
    goal = NEWCOMER | {"total": 2500.0, "price": 55.0}

    answer = OURS.explain(NEWCOMER, counterfactual=goal)
    (finding,) = OURS.audit([NEWCOMER], [goal], progress=False)

    assert "with months up to" in answer.reason
    assert finding.pair is not None
    assert finding.pair.sentence in str(finding)


def test_the_question_that_is_lowest_is_what_the_state_goes_by():
    points = OURS.engine.space.points(
        np.stack([read_record(NEWCOMER | {"total": total}, SCHEMA) for total in (99.0, 300, 2500)])
    )
    lowest = OURS.density.lowest_along(points, points, None).log_densities
    for point, log_density in zip(points, lowest, strict=True):
        every = OURS.density.questions_at(point)
        assert [one.name for one in every] == ["joint density", "rarest pair", "weighted pairs"]
        assert min(one.log_density for one in every) == pytest.approx(log_density)


def test_many_small_contradictions_name_the_one_that_counts_most():
    record = read_record(NEWCOMER | {"total": 2500.0}, SCHEMA)
    (point,) = OURS.engine.space.points(record[None, :])
    _, rarest, weighted = OURS.density.questions_at(point)
    assert weighted.log_density < rarest.log_density
    between = (rarest.log_density + weighted.log_density) / 2

    assert refusing_pair(OURS.density, record, OURS.log_floor).alone
    assert not refusing_pair(OURS.density, record, between).alone
    assert refusing_pair(OURS.density, record, weighted.log_density - 1) is None


def test_without_pairs_only_the_joint_density_is_asked():
    alone = LocalFACE(rising, TABLE[["price"]], search=Search(n_neighbors=10))
    (question,) = alone.density.questions_at(np.array([9.0]))
    assert question.name == "joint density"
    assert question.pair is None
    assert refusing_pair(alone.density, np.array([900.0]), alone.log_floor) is None


def test_features_that_go_together_as_by_chance_are_not_described():
    model = OURS.density
    tables = model.pairs.tables
    table = tables.tables[0]
    typical = np.argwhere(table.counts > 2 * table.expected)[0]
    rows = tables.bins.of(model.rows.points)[:, [table.first, table.second]]
    point = model.rows.points[int((rows == typical).all(axis=1).argmax())]
    found = describe_pair(table, tables.bins, model.space, point=point)
    assert found is None or found.count < found.expected


@pytest.mark.parametrize(
    ("count", "expected", "words"),
    [
        (0, 41.3, "nobody with a has b (0 of 6,899 rows; chance alone would make it 41)"),
        (1, 20.0, "only 1 with a has b (1 of 6,899 rows; chance alone would make it 20)"),
        (3, 7.25, "only 3 with a have b (3 of 6,899 rows; chance alone would make it 7.2)"),
    ],
)
def test_the_sentence_counts_as_people_do(count, expected, words):
    pair = UnusualPair(("x", "y"), ("a", "b"), count, expected, 6899)
    assert pair.sentence == words
    assert pair.clause == f": {words}"
    several = UnusualPair(("x", "y"), ("a", "b"), count, expected, 6899, alone=False)
    assert several.clause == f", most of all because {words}"


def test_names_of_the_data_stay_on_one_line():
    table = TABLE.rename(columns={"plan": "odd\nplan"})
    schema = Schema.infer(table)
    ours = LocalFACE(rising, table, schema=schema, search=Search(n_neighbors=10))
    person = {("odd\nplan" if name == "plan" else name): v for name, v in NEWCOMER.items()}
    found = ours.check(person, {"odd\nplan": "large"})
    assert found.pair is not None
    assert "\n" not in found.pair.sentence
