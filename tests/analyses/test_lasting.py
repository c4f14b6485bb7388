"""How likely a retrained model agrees with an answer, and answers with which it will."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from localface import LocalFACE, Recourse, Search, Status, refits
from localface.analyses.lasting import go_on_until_lasting
from localface.analyses.lasting.agreement import AgreementMap, fit_agreement_map
from localface.analyses.lasting.margin_scale import MarginScale
from localface.answers.cautions import caution_without_actions
from localface.engine.clock import Clock
from localface.errors import InputError, ModelError, NoRecourse
from localface.search.outcome import MissingActions

RNG = np.random.default_rng(0)
DATA = pd.DataFrame(RNG.normal(size=(160, 3)), columns=["east", "north", "up"])
Y = (DATA["east"] + DATA["north"] + RNG.normal(scale=2, size=160) > 0).astype(int).to_numpy()
MODEL = LogisticRegression().fit(DATA, Y)
NONE = MissingActions()
PERSON = {"east": -1.0, "north": -0.5, "up": 0.2}


def explainer(model: Any = MODEL, **options: Any) -> LocalFACE:
    return LocalFACE(model, DATA, search=Search(n_neighbors=15), min_density=0.02, **options)


@pytest.fixture(scope="module")
def ready() -> LocalFACE:
    return explainer(y=Y, n_refits=8)


def probability(answer: Recourse) -> float:
    assert answer.robustness is not None
    assert answer.robustness.lasting is not None
    return answer.robustness.lasting.probability


# the map


def test_the_map_rises_with_margin_and_density_as_the_votes_do() -> None:
    rng = np.random.default_rng(1)
    margins = rng.uniform(0, 2, 400)
    densities = rng.uniform(0, 1, 400)
    truth = 1 / (1 + np.exp(-(-0.5 + 1.5 * margins + 0.4 * np.log(0.01 + densities))))
    votes = rng.binomial(20, truth)

    fitted = fit_agreement_map(margins, densities, votes, 20)

    assert fitted.by_margin == pytest.approx(1.5, abs=0.3)
    assert fitted.by_density == pytest.approx(0.4, abs=0.2)
    assert fitted.expected(margins, densities) == pytest.approx(truth, abs=0.07)
    assert fitted.strength == 20  # ends that look alike are alike: no more than the refits tell


def test_ends_that_look_alike_and_differ_leave_the_word_to_the_votes() -> None:
    rng = np.random.default_rng(2)
    margins = rng.uniform(0, 1, 200)
    votes = rng.choice([0, 20], 200)  # whatever the margin

    fitted = fit_agreement_map(margins, np.full(200, 0.5), votes, 20)
    likely, (low, high) = fitted.given_votes(np.array([0.5]), np.array([18]), 20)

    assert fitted.strength < 1
    assert likely[0] == pytest.approx(0.9, abs=0.03)
    assert low[0] < likely[0] < high[0]


def test_what_would_fall_with_the_margin_is_left_out() -> None:
    margins = np.linspace(0, 1, 50)

    fitted = fit_agreement_map(margins, np.full(50, 0.5), np.round(20 * (1 - margins)), 20)

    assert fitted.by_margin == 0
    assert fitted.margin_lacking(0.5, 0.9) == np.inf


def test_few_ends_count_for_hardly_more_than_a_vote() -> None:
    fitted = fit_agreement_map(np.zeros(5), np.full(5, 0.5), np.full(5, 10), 10)

    likely, _ = fitted.given_votes(fitted.expected(np.zeros(1), np.ones(1)), np.array([0]), 10)

    assert fitted.strength == 1
    assert likely[0] < 0.15


def test_the_margin_that_is_lacking_is_what_the_map_says() -> None:
    known = AgreementMap(-1.0, 2.0, 0.0, 4.0)
    now = float(known.expected(np.array([0.3]), np.ones(1))[0])

    lacking = known.margin_lacking(now, 0.9)

    assert known.expected(np.array([0.3 + lacking]), np.ones(1))[0] == pytest.approx(0.9)


@pytest.mark.parametrize("spread", [None, 3.0])
def test_a_margin_and_the_score_that_has_it_belong_together(spread: float | None) -> None:
    scale = MarginScale(0.6, spread)

    assert scale.margins(np.array([0.6])) == pytest.approx([0])
    assert scale.margins(np.array([scale.score_at(0.7)])) == pytest.approx([0.7])


# answers


def test_an_answer_tells_how_likely_a_retrained_model_agrees(ready: LocalFACE) -> None:
    answer = ready.explain(PERSON)

    told = answer.robustness.lasting if answer.robustness is not None else None
    assert told is not None
    assert told.n_refits == 8
    assert told.interval[0] < told.probability < told.interval[1]
    assert "holds under a retrained model with probability" in str(answer)
    assert "holds under a retrained model with probability" in answer._repr_html_()
    assert Recourse.from_json(answer.to_json()) == answer


def test_without_outcomes_nothing_is_told_and_nothing_changes() -> None:
    assert explainer().explain(PERSON).robustness is None


def test_a_wish_goes_further_until_retrained_models_agree(ready: LocalFACE) -> None:
    plain = ready.explain(PERSON)
    lasting = ready.explain(PERSON, lasting=0.9)

    unseen = refits(MODEL, DATA, Y, n=40, seed=99, progress=False)

    def hold(answer: Recourse) -> float:
        end = pd.DataFrame([answer.end])
        return float(np.mean([one.predict(end)[0] for one in unseen]))

    assert probability(plain) < 0.9 <= probability(lasting)
    assert hold(plain) < 0.8 < hold(lasting)
    assert lasting.target == plain.target  # what is wanted stays what it is
    assert lasting.settings == plain.settings
    assert lasting.robustness is not None
    assert lasting.robustness.lasting is not None
    assert lasting.robustness.lasting.wanted == 0.9


def test_an_explainer_may_wish_for_all_its_answers_and_a_call_may_say_otherwise() -> None:
    wishing = explainer(y=Y, n_refits=8, lasting=0.9)

    assert probability(wishing.explain(PERSON)) >= 0.9
    assert probability(wishing.explain(PERSON, lasting=0.3)) < 0.9


def test_a_wish_that_nothing_keeps_is_refused_and_the_lower_one_that_is_named_is_kept(
    ready: LocalFACE,
) -> None:
    answer = ready.explain(PERSON, lasting=0.999)

    assert answer.status is Status.NOT_LASTING
    assert not answer.actions
    assert len(answer.records) == 1
    assert answer.robustness is None
    told = re.search(
        r"the most lasting plan found holds under a retrained model with probability ([\d.]+) %, "
        r"and 99.9 % was asked for \(lasting=0.999\); lasting=([\d.]+) finds a plan",
        answer.reason,
    )
    assert told is not None
    most = float(told[1]) / 100
    lower = float(told[2])
    assert probability(ready.explain(PERSON, lasting=lower)) >= lower
    assert lower == pytest.approx(most, abs=0.02)
    assert not answer.cautions
    assert Recourse.from_json(answer.to_json()) == answer
    with pytest.raises(NoRecourse, match="the most lasting plan found"):
        answer.require()


def test_a_lower_wish_that_breaks_the_one_for_few_features_is_named_with_how_many_it_takes(
    ready: LocalFACE,
) -> None:
    people = DATA[MODEL.predict(DATA) == 0].iloc[:12]
    told = []
    for _, person in people.iterrows():
        near = dict.fromkeys(DATA, 1.0)
        wishes: dict[str, Any] = {"max_features": 1, "lasting": 0.999, "where": near}
        reason = ready.explain(person, **wishes).reason
        found = re.search(r"lasting=([\d.]+) finds a plan(, by \d features)?, and", reason)
        assert found is not None, reason
        lower = ready.explain(person, **{**wishes, "lasting": float(found[1])})
        most = ready.explain(person, best_effort=True, **wishes)
        assert (found[2] or "") == by_more_than_one_feature(lower)
        assert reason.endswith(f"gives the most lasting one{by_more_than_one_feature(most)}")
        told.append(found[2] is not None)
    assert set(told) == {False, True}


def by_more_than_one_feature(answer: Recourse) -> str:
    n = len({name for action in answer.actions for name in action.changes})
    return f", by {n} features" if n > 1 else ""


def test_whatever_is_wished_an_answer_that_is_given_keeps_it(ready: LocalFACE) -> None:
    people = DATA[MODEL.predict(DATA) == 0].iloc[:8]

    for wish in (0.5, 0.9, 0.97):
        for answer in ready.explain_many(people, lasting=wish, progress=False):
            assert answer.status in (Status.FOUND, Status.NOT_LASTING)
            assert not answer.found or probability(answer) >= wish


def test_by_best_effort_the_most_lasting_answer_is_given_and_says_so(ready: LocalFACE) -> None:
    refused = ready.explain(PERSON, lasting=0.999)
    answer = ready.explain(PERSON, lasting=0.999, best_effort=True)

    assert answer.found
    assert probability(answer) < 0.999
    assert "this is the most lasting one found" in answer.reason
    assert "the most lasting one found" in answer.cautions[0]
    (share,) = re.findall(r"one found, with ([\d.]+ %)", answer.reason)
    assert f"with probability {share}," in refused.reason


def test_a_refusal_takes_over_no_caution_about_a_path_that_it_has_not(ready: LocalFACE) -> None:
    given = ready.explain(PERSON)
    warned = replace(given, cautions=("are they right?", caution_without_actions(NONE, 1)))

    no = warned.without_path(Status.NOT_LASTING, "it does not last")

    assert no.cautions == ("are they right?",)
    assert no.scores == given.scores[:1]
    assert "it does not last" in str(no)


def test_where_time_is_up_the_refusal_says_that_more_could_be_found(ready: LocalFACE) -> None:
    plain = ready.explain(PERSON)
    spent = replace(ready.engine.make_request(DATA.iloc[0].to_numpy(), ready.engine.form))
    late = Clock(1e-9)
    late.start()
    request = replace(spent, lasting=0.999, clock=late)

    (answer,) = go_on_until_lasting(ready.engine, ready.engine.plan, [(request, plain)])

    assert answer.status is Status.NOT_LASTING
    assert answer.cut_short
    assert "the most lasting plan found before time was up" in answer.reason


def test_unless_it_is_wished_lasting_costs_nearly_nothing(ready: LocalFACE) -> None:
    people = DATA[MODEL.predict(DATA) == 0].iloc[:12]

    before = explainer().explain_many(people, progress=False)
    after = ready.explain_many(people, progress=False)

    for one, other in zip(before, after, strict=True):
        assert one.status == other.status
        assert other.effort <= 1.05 * one.effort + 1e-9
        names = [{name for action in a.actions for name in action.changes} for a in (one, other)]
        assert len(names[1]) <= len(names[0])


def test_many_get_the_answers_that_each_would_get_alone(ready: LocalFACE) -> None:
    people = DATA[MODEL.predict(DATA) == 0].iloc[:6]

    for wish in (0.8, 0.97):  # a few are refused
        together = ready.explain_many(people, lasting=wish, progress=False)
        sharing = explainer(y=Y, n_refits=8)
        again = sharing.explain_many(people, lasting=wish, progress=False, n_jobs=2)
        for number, one in enumerate(together):
            alone = ready.explain(people.iloc[[number]], lasting=wish)
            for other in (alone, again[number]):
                assert np.array_equal(other.records, one.records)
                assert other.reason == one.reason
                assert other.robustness == one.robustness


def test_a_plan_is_judged_by_models_that_read_missing_values_and_words() -> None:
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(DATA, Y)

    answer = explainer(tree, y=pd.Series(Y), n_refits=4).explain(PERSON)

    assert 0 < probability(answer) < 1


def test_a_robust_answer_tells_it_as_well(ready: LocalFACE) -> None:
    answer = ready.explain(PERSON, min_robustness=0.9)

    assert answer.robustness is not None
    assert answer.robustness.success is not None
    assert answer.robustness.lasting is not None


def test_several_ways_and_what_is_measured_apart_tell_it_as_well(ready: LocalFACE) -> None:
    for differ in ("features", "values"):
        ways = ready.alternatives(PERSON, 2, differ=differ)
        assert all(0 < probability(one) < 1 for one in ways)
    answer = ready.explain(PERSON)

    measured = ready.robustness(answer, n=20)

    assert measured.success is not None
    assert measured.lasting is not None
    assert measured.lasting.probability == probability(answer)
    assert "lasting with probability" in repr(measured)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: explainer(lasting=0.9), "lasting=0.9 needs to know what became of people"),
        (lambda: explainer().explain(PERSON, lasting=0.9), "make the explainer with y="),
        (lambda: explainer(y=Y[1:]), "y= has 159 and X 160 rows"),
        (lambda: explainer(y=Y + 1), "y= has 1, 2, and the classes of the model are 0, 1"),
        (lambda: explainer(y=Y, n_refits=1), "n_refits=1: a whole number of at least 2"),
        (lambda: explainer(y=Y, lasting=1.0), "lasting=1.0: a probability above 0 and below 1"),
        (lambda: explainer(y=Y, target=(0.5, 0.7), lasting=0.9), "a range has none"),
        (
            lambda: explainer(y=Y).explain(PERSON, lasting=0.9, min_robustness=0.9),
            "cannot be had together",
        ),
        (lambda: explainer(y=Y).alternatives(PERSON, lasting=0.9), "alternatives takes no lasting"),
    ],
)
def test_what_cannot_be_told_is_refused(made: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        made()


def test_a_model_that_cannot_be_fitted_again_says_so_at_once() -> None:
    with pytest.raises(ModelError, match=r"function cannot be fitted again.*others="):
        explainer(lambda rows: MODEL.predict_proba(rows)[:, 1], y=Y)
