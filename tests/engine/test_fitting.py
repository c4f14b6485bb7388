"""An engine is fitted to a table, a model and options."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.neighbors import KernelDensity

from localface.density.common_states import CommonStates
from localface.density.kde import KDE
from localface.density.knn import KNN
from localface.density.sampled import SampledDensity
from localface.engine.fitting import fit_engine
from localface.errors import InputError
from small_engine import options, rising, small_engine, table


def bell(frame: Any) -> Any:
    """A density of one's own."""
    values = np.asarray(frame, dtype=float)
    return np.exp(-0.5 * (values**2).sum(axis=1))


def test_the_density_is_the_one_that_was_asked_for() -> None:
    own = small_engine().density

    assert isinstance(own, CommonStates)
    assert isinstance(small_engine(density="isotropic").density, KDE)
    assert isinstance(small_engine(density="knn").density, KNN)
    assert isinstance(small_engine(edges="cover").density, KNN)
    assert isinstance(small_engine(density=bell).density, SampledDensity)
    assert small_engine(density=own).density is own


def test_the_papers_search_has_the_papers_density_and_geometry() -> None:
    engine = small_engine(strategy="paper")

    assert isinstance(engine.density, KDE)
    assert engine.space.normal_scores == (None, None)
    assert all(small_engine().space.normal_scores)


def test_an_estimator_with_score_samples_is_a_density() -> None:
    fitted = KernelDensity().fit(table().to_numpy())

    assert isinstance(small_engine(density=fitted).density, SampledDensity)


def test_what_is_no_density_is_refused() -> None:
    with pytest.raises(InputError, match="density=42"):
        small_engine(density=42)


def test_the_floor_is_the_quantile_of_peoples_own_densities() -> None:
    engine = small_engine(min_density=0.2)

    assert engine.log_floor == engine.density.scale.quantile(0.2)


def test_only_momentum_needs_to_know_how_far_people_are_apart() -> None:
    assert small_engine().spacing is None
    assert small_engine().plan.walk_options.momentum_radius == np.inf
    walking = small_engine(momentum_steps=3)
    assert walking.spacing is not None
    assert np.isfinite(walking.plan.walk_options.momentum_radius)


def test_average_edges_charge_for_low_density() -> None:
    strict = small_engine().plan
    average = small_engine(edges="average").plan

    assert (strict.cost, strict.price.exponent) == ("length", 0.0)
    assert (average.cost, average.price.exponent) == ("density", 0.5)


def test_answers_say_what_is_certified_and_under_which_target() -> None:
    answers = fit_engine(
        rising, table(), schema=None, target=1, options=options(min_score=0.6)
    ).answers

    assert answers.certified
    assert answers.target.min_score == 0.6
    assert answers.radius is None
    assert small_engine(edges="cover").answers.radius is not None
    assert not small_engine(density=bell).answers.certified


def test_a_mean_is_certified_only_where_it_is_worked_out_exactly() -> None:
    assert small_engine(density="knn").answers.certified
    assert small_engine(edges="average").answers.certified
    assert not small_engine(density="knn", edges="average").answers.certified


def test_the_cover_rule_counts_as_many_people_as_are_wanted() -> None:
    density = small_engine(edges="cover", min_people=5).density

    assert isinstance(density, KNN)
    assert density.k == 5
