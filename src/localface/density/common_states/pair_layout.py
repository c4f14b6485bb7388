"""Pairs of features laid out for compiled code."""

from __future__ import annotations

from localface.density.common_states.common_scale import CommonScale
from localface.density.common_states.pair_weights import WeightedPairs
from localface.geometry.compiled.library import load_library
from localface.geometry.compiled.pair_rule import PairLayout, PairRule
from localface.types import Mask


def rule_of_pairs(pairs: WeightedPairs, common: CommonScale, discrete: Mask) -> PairRule | None:
    """Return the pairs that count, compiled; None where there is no library, or no pair."""
    library = load_library()
    if library is None or not len(pairs.considered):
        return None
    return PairRule(library, lay_out_pairs(pairs, common, discrete))


def lay_out_pairs(pairs: WeightedPairs, common: CommonScale, discrete: Mask) -> PairLayout:
    """Lay out the pairs that count."""
    some = pairs.considered
    tables = pairs.tables
    bins = tables.bins
    return PairLayout(
        columns=bins.columns,
        edges=bins.edges,
        one_hot=bins.one_hot,
        absences=bins.absences,
        discrete=discrete,
        features=(tables.first[some], tables.second[some]),
        tables=(tables.starts[some], bins.n_bins[tables.second[some]]),
        log_ratios=tables.log_ratios,
        weights=pairs.weights[:, some].mean(axis=0),
        scale=tuple(zip(common.values, common.heights, strict=True)),
    )
