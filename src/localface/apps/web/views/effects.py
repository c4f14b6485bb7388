"""What speaks for and against somebody today, beside people who are comparable with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from localface.analyses.whynot import read_wish
from localface.answers.target import Target
from localface.answers.wording import format_number
from localface.apps.web.views.labels import Labels, feature_view, value_text
from localface.apps.web.views.scoring import sample_records
from localface.data.absence import is_absent
from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.engine.engine import Engine
from localface.explainer import LocalFACE
from localface.types import Array

_N_BINS = 24
_N_ROWS = 2000  # people whom somebody is compared with where nothing is own
_ENDS = (0.005, 0.995)  # of the values that a small distribution shows


@dataclass(frozen=True, slots=True, eq=False)
class Peers:
    """Records of comparable people, and how much each of them counts; weights sum to 1."""

    records: Array
    weights: Array
    n_people: float

    def of(self, column: int, feature: Feature) -> tuple[Array, Array]:
        """The values of one feature with their weights, without those that are missing."""
        known = ~is_absent(feature, self.records[:, column])
        weights = self.weights[known]
        return self.records[known, column], weights / max(weights.sum(), 1e-300)


def peers_of(explainer: LocalFACE, engine: Engine, record: Array) -> Peers:
    """The people with whom somebody is compared: those alike in what never changes."""
    comparable = getattr(engine.density, "comparable", None)
    if comparable is None:
        records = sample_records(explainer, _N_ROWS)
        return Peers(records, np.full(len(records), 1 / len(records)), len(records))
    point = engine.space.points(record[None, :])[0]
    rows, weights = comparable.weigh(point)
    total = max(weights.sum(), 1e-300)
    return Peers(engine.space.records(rows), weights / total, comparable.count(point))


def effects_view(
    explainer: LocalFACE, engine: Engine, record: Array, labels: Labels
) -> dict[str, Any]:
    """Every feature of somebody: where comparable people are, and what an ordinary value would do.

    The effect of a feature is how much better the score is with the person's own value than with
    the ordinary one among comparable people, all else as it is: above 0 it speaks for them.
    """
    schema = engine.schema
    peers = peers_of(explainer, engine, record)
    ordinary = np.array([_ordinary(schema, j, peers, record) for j in range(len(schema))])
    changed = np.repeat(record[None, :], len(schema), axis=0)
    np.fill_diagonal(changed, ordinary)
    scores = _scores_of(engine, np.vstack([record, changed]))
    target = engine.answers.target
    lines = [
        _feature_line(schema, j, peers, record, labels)
        | _effect_line(schema.features[j], ordinary[j], scores[[0, j + 1]], target, labels)
        for j in range(len(schema))
    ]
    return {
        "n_people": round(peers.n_people),
        "alike": [one.display_name for one in schema if one.own],
        "features": lines,
    }


def what_if_view(
    engine: Engine, record: Array, changes: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """The score of somebody with some values changed, for each of some changes."""
    schema = engine.schema
    states = [read_wish(one, record, schema) if one else record for one in changes]
    target = engine.answers.target
    scores = _scores_of(engine, np.array(states)).tolist()
    return {
        "scores": [
            {
                "score": score,
                "score_text": target.format_score(score),
                "reached": target.is_reached_by(score),
            }
            for score in scores
        ]
    }


def _scores_of(engine: Engine, records: Array) -> Array:
    """The scores as people see them."""
    return np.array(engine.score.display_scores(engine.score(records).tolist(), records))


def _ordinary(schema: Schema, column: int, peers: Peers, record: Array) -> float:
    """The ordinary value among comparable people; the person's own where there is none."""
    feature = schema.features[column]
    values, weights = peers.of(column, feature)
    own = float(record[column])
    if not len(values) or is_absent(feature, np.asarray(own)):
        return own
    if feature.discrete:
        return float(np.bincount(values.astype(int), weights).argmax())
    order = np.argsort(values, kind="stable")
    middle = values[order][np.searchsorted(np.cumsum(weights[order]), 0.5)]
    if feature.resolution:
        middle = round(round(middle / feature.resolution) * feature.resolution, 12)
    return _within_relations(schema, feature.name, float(middle), record)


def _within_relations(schema: Schema, name: str, value: float, record: Array) -> float:
    """The value, no further than the relations with the person's other values allow."""
    for first, _, second in schema.relations:
        if name == first:
            value = min(value, float(record[schema.index(second)]))
        elif name == second:
            value = max(value, float(record[schema.index(first)]))
    return value


def _feature_line(
    schema: Schema, column: int, peers: Peers, record: Array, labels: Labels
) -> dict[str, Any]:
    """One value of somebody, and how the values of comparable people are spread."""
    feature = schema.features[column]
    values, weights = peers.of(column, feature)
    own = float(record[column])
    absent = bool(is_absent(feature, np.asarray(own)))
    return {
        **feature_view(feature, labels),
        "own": feature.own,
        "value": feature.value(own),
        "value_text": value_text(feature, own, labels),
        "missing": absent,
        "below": None if absent or feature.discrete else float(weights[values < own].sum()),
        **_spread(feature, values, weights),
    }


def _spread(feature: Feature, values: Array, weights: Array) -> dict[str, Any]:
    """A small distribution: shares of people by category, or in bins from low to high."""
    if not len(values):
        return {"bins": [], "low": None, "high": None}
    if feature.discrete:
        n = len(feature.categories or ())
        shares = np.bincount(values.astype(int), weights, minlength=n)
        return {"bins": np.round(shares, 4).tolist(), "low": None, "high": None}
    edges = _edges(feature, *np.quantile(values, _ENDS).tolist())
    shares, _ = np.histogram(values, edges, weights=weights)
    low, high = edges[[0, -1]].tolist()
    return {"bins": np.round(shares, 4).tolist(), "low": low, "high": high}


def _edges(feature: Feature, low: float, high: float) -> Array:
    """The edges of bins; each holds as many of a feature's steps as any other."""
    if not feature.resolution:
        return np.linspace(low, high if high > low else low + 1, _N_BINS + 1)
    step = feature.resolution
    first = round(low / step)
    width = max(1, -(-(round(high / step) - first + 1) // _N_BINS))
    n_bins = -(-(round(high / step) - first + 1) // width)
    return np.asarray((first - 0.5 + width * np.arange(n_bins + 1)) * step, dtype=np.float64)


def _effect_line(
    feature: Feature, ordinary: float, scores: Array, target: Target, labels: Labels
) -> dict[str, Any]:
    """What the ordinary value in place of the person's own would do to the score."""
    now, then = scores.tolist()
    better = (then - now) if target.at_most else (now - then)
    return {
        "ordinary": feature.value(ordinary),
        "ordinary_text": value_text(feature, ordinary, labels),
        "score": then,
        "score_text": target.format_score(then),
        "effect": better,
        "effect_text": _effect_text(target, better),
    }


def _effect_text(target: Target, better: float) -> str:
    """How far the score is moved, with its sign."""
    size = f"{abs(better):.2f}"
    if target.kind != "probability":
        size = format_number(float(f"{abs(better):.3g}"))
    return f"{'+' if better >= 0 else '−'}{size}"
