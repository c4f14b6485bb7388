"""Short plans through rare states, where all that keeps to common ones is a path."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from localface import LocalFACE, Recourse


@pytest.fixture(scope="module")
def horseshoe() -> LocalFACE:
    """People along a horseshoe: they go round to the other arm, or across where nobody is."""
    rng = np.random.default_rng(4)
    angle = rng.uniform(0, np.pi, 500)
    across = 6 * np.cos(angle) + rng.normal(scale=0.25, size=500)
    along = -6 * np.sin(angle) + rng.normal(scale=0.25, size=500)
    people = pd.DataFrame({"dose": across + 6, "weight": along + 70})
    return LocalFACE(lambda frame: 1 / (1 + np.exp(9 - frame["dose"])), people)


PERSON = {"dose": 0.3, "weight": 69.0}


def test_a_path_around_says_which_single_change_would_do_through_rare_states(horseshoe):
    answer = horseshoe.explain(PERSON)

    (caution,) = answer.cautions
    assert answer.found
    assert not answer.actions
    assert all(one.holds for one in answer.certificates)
    assert "no short list of actions was found that keeps to common states" in caution
    assert "through states more unusual than" in caution
    assert "1 feature would do: dose 0.3 -> " in caution
    assert caution.endswith("(relax=True)")
    assert str(answer).startswith(f"caution: {caution}")


def test_relax_gives_that_plan_and_says_of_each_step_what_it_does_not_keep(horseshoe):
    answer = horseshoe.explain(PERSON, relax=True)

    (action,) = answer.actions
    assert list(action.changes) == ["dose"]
    assert not action.certificate.holds
    assert not action.certificate.entry
    assert action.certificate.floor == answer.min_density == 0.05
    assert action.density >= 0.05, "it ends at a common state"
    assert action.score >= 0.5
    assert "this one passes through states more unusual than" in answer.cautions[0]
    assert "below the floor of 5 %: this step passes through states" in str(answer)
    assert "every step is proven" not in str(answer)


def test_what_a_step_falls_to_is_what_a_fine_grid_finds(horseshoe):
    answer = horseshoe.explain(PERSON, relax=True)
    states = answer.with_actions_as_path().records

    engine = horseshoe.engine
    line = engine.space.points(
        states[0] + np.linspace(0, 1, 2001)[:, None] * np.diff(states, axis=0)
    )
    lowest = engine.density.lowest_along(line, line, None).log_densities.min()

    stated = answer.actions[0].certificate.lowest
    assert stated == pytest.approx(float(engine.density.scale.share_below(lowest)), abs=2e-3)


def test_an_answer_with_such_a_plan_comes_back_from_json(horseshoe):
    answer = horseshoe.explain(PERSON, relax=True)

    again = Recourse.from_json(answer.to_json())

    assert str(again) == str(answer)


def test_several_answers_at_once_say_the_same(horseshoe):
    people = pd.DataFrame([PERSON, {"dose": 0.1, "weight": 68.0}])

    alone = [horseshoe.explain(people.iloc[[i]]) for i in range(2)]
    together = horseshoe.explain_many(people, progress=False)

    assert [one.cautions for one in alone] == [one.cautions for one in together]


def test_whoever_wants_few_features_is_told_of_them_too(horseshoe):
    answer = horseshoe.explain(PERSON, max_features=1)

    assert not answer.actions
    assert "1 feature would do: dose" in answer.cautions[0]
