"""Metrics of recourse: plain functions that judge any method's proposals, with code of their own."""

from localface.evaluation.metrics.change import (
    changed,
    differences,
    diversity,
    l0,
    l1,
    l2,
    mad_scales,
    put_back,
    range_scales,
    redundancy,
)
from localface.evaluation.metrics.ends import OutlierFactor, Score, knn_distance, valid, ynn
from localface.evaluation.metrics.ground import (
    HeldOut,
    Rule,
    Under,
    along_path,
    ordinary_eps,
    people_within,
)
from localface.evaluation.metrics.groups import Gap, Line, by_decile, by_group, decile_gap, deciles
from localface.evaluation.metrics.intervals import (
    Interval,
    Seconds,
    Share,
    bootstrapped,
    difference,
    over_seeds,
    seconds,
    success,
)
from localface.evaluation.metrics.judgement import Judgement
from localface.evaluation.metrics.judging import measured, measured_many
from localface.evaluation.metrics.laws import Violations, exist, violations
from localface.evaluation.metrics.measures import Measures, averages
from localface.evaluation.metrics.near import Rows
from localface.evaluation.metrics.paths import (
    deepest_fall,
    detour,
    monotone,
    over,
    path_length,
    sparsity,
    step_lengths,
)
from localface.evaluation.metrics.robust import Explain, Stability, noisy, stability, valid_under

__all__ = [
    "Explain",
    "Gap",
    "HeldOut",
    "Interval",
    "Judgement",
    "Line",
    "Measures",
    "OutlierFactor",
    "Rows",
    "Rule",
    "Score",
    "Seconds",
    "Share",
    "Stability",
    "Under",
    "Violations",
    "along_path",
    "averages",
    "bootstrapped",
    "by_decile",
    "by_group",
    "changed",
    "decile_gap",
    "deciles",
    "deepest_fall",
    "detour",
    "difference",
    "differences",
    "diversity",
    "exist",
    "knn_distance",
    "l0",
    "l1",
    "l2",
    "mad_scales",
    "measured",
    "measured_many",
    "monotone",
    "noisy",
    "ordinary_eps",
    "over",
    "over_seeds",
    "path_length",
    "people_within",
    "put_back",
    "range_scales",
    "redundancy",
    "seconds",
    "sparsity",
    "stability",
    "step_lengths",
    "success",
    "valid",
    "valid_under",
    "violations",
    "ynn",
]
