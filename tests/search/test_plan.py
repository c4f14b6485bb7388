"""How a search goes about it: what steps cost."""

from __future__ import annotations

import numpy as np
import pytest

from localface.search.plan import Plan, Price, WalkOptions


def test_a_step_costs_its_length_unless_density_counts():
    price = Price()

    assert price.exact_costs(np.array([1.0, 2.0]), np.array([-9.0, 9.0])).tolist() == [1.0, 2.0]


def test_a_step_costs_more_where_the_density_is_below_the_usual_and_never_less():
    price = Price(usual_log_density=1.0, exponent=0.5)

    costs = price.exact_costs(np.array([2.0, 2.0, 2.0]), np.array([-1.0, 1.0, 5.0]))

    assert costs.tolist() == pytest.approx([2 * np.e, 2.0, 2.0])


def test_a_plan_is_guided_by_length_and_acts_unless_told_otherwise():
    plan = Plan(WalkOptions(5))

    assert (plan.strategy, plan.cost, plan.actions) == ("guided", "length", True)
    assert plan.price == Price()
    assert plan.walk_options.momentum_steps == 0
    assert (plan.slack, plan.max_changes, plan.max_features) == (0.05, 1, None)
    assert (plan.astar, plan.exact_source) == (True, True)
    assert (plan.existence_only, plan.every_change) == (False, False)
