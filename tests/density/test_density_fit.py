"""Fitting: leave-one-out bandwidth, leave-one-out floors."""

from __future__ import annotations

import numpy as np
import pytest

from localface.density import fit
from localface.density.fit import best_bandwidth, fit_kde
from localface.geometry.point_set import PointSet


def _cloud(width, n=400, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, width)) @ (np.eye(width) + 0.3 * rng.normal(size=(width, width)))


def _log_density(places, rows, h, n):
    squares = ((places[:, None, :] - rows[None, :, :]) ** 2).sum(axis=2)
    return (
        np.log(np.exp(-squares / (2 * h * h)).sum(axis=1))
        - np.log(n)
        - places.shape[1] / 2 * np.log(2 * np.pi * h * h)
    )


def test_a_leave_one_out_floor_of_five_percent_refuses_about_five_percent_of_new_people():
    everyone = _cloud(22, n=6000, seed=3)
    known, new = everyone[:4000], everyone[4000:]
    kde = fit_kde(PointSet(known), np.zeros(22, dtype=bool))
    refused = 1 - kde.lowest_along(new, new, kde.scale.quantile(0.05)).passes.mean()
    assert 0.03 <= refused <= 0.09
    own = np.exp(_log_density(known[:300], known, kde.bandwidth, len(known)))
    in_sample = np.quantile(np.log(own), 0.05)
    assert (
        1 - kde.lowest_along(new[:200], new[:200], in_sample).passes.mean() > 0.5
    )  # why it must be leave-one-out


def test_the_bandwidth_is_the_likeliest_leave_one_out():
    rows = _cloud(3, n=300)

    def likelihood(h):
        squares = ((rows[:, None, :] - rows[None, :, :]) ** 2).sum(axis=2)
        np.fill_diagonal(squares, np.inf)
        return np.log(np.exp(-squares / (2 * h * h)).sum(axis=1)).mean() - 3 * np.log(h)

    best = best_bandwidth(PointSet(rows))
    assert likelihood(best) >= max(likelihood(best * 1.03), likelihood(best / 1.03))


def test_of_a_large_table_some_rows_make_the_scale_and_the_others_are_worked_out_when_asked(
    monkeypatch,
):
    points = PointSet(_cloud(2, n=60))
    every = np.arange(60)
    wanted = fit_kde(points, np.zeros(2, dtype=bool), bandwidth=0.5).row_log_densities(every)
    monkeypatch.setattr(fit, "_RANKED_ON", 20)

    few_ranked = fit_kde(points, np.zeros(2, dtype=bool), bandwidth=0.5)

    ranked = np.linspace(0, 59, 20).astype(int)
    assert few_ranked.scale.log_densities == pytest.approx(np.sort(wanted[ranked]))
    assert few_ranked.row_log_densities(every) == pytest.approx(wanted)
    assert few_ranked.row_log_densities(ranked) == pytest.approx(wanted[ranked])
