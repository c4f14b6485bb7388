"""What every method is judged with: the same rows, model, held-out people and settings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localface.data.space import Space
from localface.evaluation.metrics.change import mad_scales, range_scales
from localface.evaluation.metrics.ends import OutlierFactor, Score, valid
from localface.evaluation.metrics.ground import HeldOut, Rule, ordinary_eps
from localface.evaluation.metrics.near import Rows
from localface.types import Array, Mask


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class Judgement:
    """A judge of proposals; ``of`` works out once what all proposals share."""

    space: Space
    rows: Rows
    reaches: Mask
    score: Score
    min_score: float
    mad: Array
    ranges: Array
    factor: OutlierFactor
    eps: float
    k: int
    min_density: float
    heldout: HeldOut | None
    rule: Rule | None

    @classmethod
    def of(
        cls,
        space: Space,
        records: Array,
        score: Score,
        *,
        min_score: float,
        heldout: Array | None = None,
        bandwidth: float | None = None,
        min_density: float = 0.05,
        eps: float | None = None,
        k: int = 10,
        lof_k: int = 20,
    ) -> Judgement:
        """Score the rows afresh, and fit the densities.

        ``records`` are the rows that methods were given; ``heldout`` rows that none was
        given (without them nothing is said of held-out densities); ``bandwidth`` that of the
        explainer whose rule is judged (without it the rule is not judged); ``eps`` how near
        people count as near, by default the median distance to the tenth nearest other row.
        """
        different = np.unique(np.asarray(records, dtype=np.float64) + 0.0, axis=0)
        rows = Rows(space.points(different))
        return cls(
            space=space,
            rows=rows,
            reaches=valid(different, score, min_score=min_score),
            score=score,
            min_score=min_score,
            mad=mad_scales(different, space.schema),
            ranges=range_scales(different, space.schema),
            factor=OutlierFactor.of(rows, k=lof_k),
            eps=ordinary_eps(rows) if eps is None else eps,
            k=k,
            min_density=min_density,
            heldout=None
            if heldout is None
            else HeldOut.fit(space.points(np.asarray(heldout)), space.discrete),
            rule=None
            if bandwidth is None
            else Rule.of(rows, space.discrete, bandwidth=bandwidth, min_density=min_density),
        )

    def __repr__(self) -> str:
        unseen = (
            "nobody held out" if self.heldout is None else f"{len(self.heldout.rows):,} held out"
        )
        ruled = "no rule" if self.rule is None else f"rule with bandwidth {self.rule.bandwidth:.3g}"
        return f"<Judgement: {len(self.rows):,} rows, {unseen}, {ruled}>"
