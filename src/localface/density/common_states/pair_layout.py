"""Pairs of features laid out for compiled code."""

from __future__ import annotations

from localface.density.common_states.common_scale import CommonScale
from localface.density.common_states.pair_weights import WeightedPairs
from localface.geometry.compiled.library import load_library
from localface.geometry.compiled.pair_rule import PairRule
from localface.types import Mask


def lay_out_pairs(pairs: WeightedPairs, common: CommonScale, discrete: Mask) -> PairRule | None:
    """Lay out the pairs that count; None where there is no compiled library, or no pair."""
    library = load_library()
    some = pairs.considered
    if library is None or not len(some):
        return None
    tables = pairs.tables
    bins = tables.bins
    return PairRule(
        library,
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
