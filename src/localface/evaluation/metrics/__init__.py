"""Metrics of recourse: plain functions that judge any method's proposals independently."""

from localface.evaluation.metrics.changes import (
    changed_features,
    diversity,
    effort_by_feature,
    l0,
    l1,
    l2,
    mad_scales,
    range_scales,
    redundancy,
    scaled_differences,
    single_undos,
)
from localface.evaluation.metrics.common_ground import CommonGround
from localface.evaluation.metrics.endpoints import OutlierFactor, Score, knn_distance, valid, ynn
from localface.evaluation.metrics.groups import (
    DecileGap,
    GroupResult,
    by_decile,
    by_group,
    deciles,
    lowest_decile_gap,
)
from localface.evaluation.metrics.held_out_density import HeldOutDensity
from localface.evaluation.metrics.intervals import (
    Interval,
    ShareInterval,
    TimeQuantiles,
    bootstrap_interval,
    over_seeds,
    share_difference,
    success_share,
    time_quantiles,
)
from localface.evaluation.metrics.judge import Judge
from localface.evaluation.metrics.measure_proposals import measure, measure_many
from localface.evaluation.metrics.measures import Measures, averages
from localface.evaluation.metrics.paths import (
    deepest_fall,
    detour,
    monotone,
    over_optimum,
    path_length,
    sparsity,
    step_lengths,
)
from localface.evaluation.metrics.people_nearby import people_within, typical_eps
from localface.evaluation.metrics.record_points import points_of_records
from localface.evaluation.metrics.reference_rows import ReferenceRows
from localface.evaluation.metrics.robustness import (
    Explain,
    Stability,
    noisy_copies,
    stability,
    valid_under_models,
)
from localface.evaluation.metrics.row_classifier import RowClassifier
from localface.evaluation.metrics.step_densities import StepDensities, path_log_densities
from localface.evaluation.metrics.traversal_rule import RoundKernels, TraversalRule
from localface.evaluation.metrics.violations import Violations, count_violations, existing_values

__all__ = [
    "CommonGround",
    "DecileGap",
    "Explain",
    "GroupResult",
    "HeldOutDensity",
    "Interval",
    "Judge",
    "Measures",
    "OutlierFactor",
    "ReferenceRows",
    "RoundKernels",
    "RowClassifier",
    "Score",
    "ShareInterval",
    "Stability",
    "StepDensities",
    "TimeQuantiles",
    "TraversalRule",
    "Violations",
    "averages",
    "bootstrap_interval",
    "by_decile",
    "by_group",
    "changed_features",
    "count_violations",
    "deciles",
    "deepest_fall",
    "detour",
    "diversity",
    "effort_by_feature",
    "existing_values",
    "knn_distance",
    "l0",
    "l1",
    "l2",
    "lowest_decile_gap",
    "mad_scales",
    "measure",
    "measure_many",
    "monotone",
    "noisy_copies",
    "over_optimum",
    "over_seeds",
    "path_length",
    "path_log_densities",
    "people_within",
    "points_of_records",
    "range_scales",
    "redundancy",
    "scaled_differences",
    "share_difference",
    "single_undos",
    "sparsity",
    "stability",
    "step_lengths",
    "success_share",
    "time_quantiles",
    "typical_eps",
    "valid",
    "valid_under_models",
    "ynn",
]
