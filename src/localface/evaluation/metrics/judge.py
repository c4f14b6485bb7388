"""What every method is judged with: the same rows, model, held-out people, settings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localface.data.space import Space
from localface.density.protocol import Density
from localface.evaluation.metrics.changes import mad_scales, range_scales
from localface.evaluation.metrics.endpoints import OutlierFactor, Score, valid
from localface.evaluation.metrics.held_out_density import HeldOutDensity
from localface.evaluation.metrics.people_nearby import typical_eps
from localface.evaluation.metrics.record_points import points_of_records
from localface.evaluation.metrics.reference_rows import ReferenceRows
from localface.evaluation.metrics.row_classifier import RowClassifier
from localface.evaluation.metrics.traversal_rule import TraversalRule
from localface.types import Array, Mask


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class Judge:
    """A judge of proposals; ``of`` computes once what all proposals share."""

    space: Space
    rows: ReferenceRows
    reaches_target: Mask
    score: Score
    min_score: float
    mad: Array
    ranges: Array
    outlier_factor: OutlierFactor
    eps: float
    k: int
    min_density: float
    heldout: HeldOutDensity | None
    rule: TraversalRule | None
    classifier: RowClassifier | None

    @classmethod
    def of(
        cls,
        space: Space,
        records: Array,
        score: Score,
        *,
        min_score: float,
        heldout: Array | None = None,
        density: Density | None = None,
        bandwidth: float | None = None,
        classifier: RowClassifier | None = None,
        min_density: float = 0.05,
        eps: float | None = None,
        k: int = 10,
        lof_k: int = 20,
    ) -> Judge:
        """Score the rows afresh, and fit the densities.

        ``records`` are the rows that methods were given; ``heldout`` rows that none was
        given (without them nothing is said of held-out densities). ``density`` is that of the
        explainer whose rule is judged, of which only the fitted numbers are used; ``bandwidth``
        stands in for one with round kernels; with neither the rule is not judged. ``classifier``
        is a second opinion on where proposals end; ``eps`` how near people count as near, by
        default the median distance to the tenth nearest other row.
        """
        distinct = np.unique(np.asarray(records, dtype=np.float64) + 0.0, axis=0)
        rows = ReferenceRows(points_of_records(distinct, space))
        unseen = rule = None
        if heldout is not None:
            points = points_of_records(np.asarray(heldout), space)
            unseen = HeldOutDensity.fit(points, space.discrete)
        if density is not None:
            rule = TraversalRule.of_density(density, rows, min_density=min_density)
        elif bandwidth is not None:
            rule = TraversalRule.fit(
                rows, space.discrete, bandwidth=bandwidth, min_density=min_density
            )
        return cls(
            space=space,
            rows=rows,
            reaches_target=valid(distinct, score, min_score=min_score),
            score=score,
            min_score=min_score,
            mad=mad_scales(distinct, space.schema),
            ranges=range_scales(distinct, space.schema),
            outlier_factor=OutlierFactor.of(rows, k=lof_k),
            eps=typical_eps(rows) if eps is None else eps,
            k=k,
            min_density=min_density,
            heldout=unseen,
            rule=rule,
            classifier=classifier,
        )

    def __repr__(self) -> str:
        unseen = "nobody held out"
        if self.heldout is not None:
            unseen = f"{len(self.heldout.rows):,} held out"
        rule = "no rule"
        if self.rule is not None:
            rule = f"rule with bandwidth {self.rule.ground.bandwidth:.3g}"
        return f"<Judge: {len(self.rows):,} rows, {unseen}, {rule}>"
