"""An independent judge of steps: the evaluation's own rule on an explainer's rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from localface import LocalFACE, Schema
from localface.data.read import read_records
from localface.data.space import Space
from localface.evaluation.metrics import ReferenceRows, TraversalRule, points_of_records

Array = np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class StepJudge:
    """Steps of an explainer's answers, judged by code that shares nothing with its search."""

    schema: Schema
    space: Space
    rule: TraversalRule
    levels: Array  # the log-densities of people, lowest first

    @classmethod
    def of(cls, explainer: LocalFACE, data: Any) -> StepJudge:
        """Take the fitted numbers of an explainer with density="kde", and its table."""
        space = explainer.engine.space
        records = np.unique(read_records(data, explainer.schema) + 0.0, axis=0)
        rows = ReferenceRows(points_of_records(records, space))
        rule = TraversalRule.of_density(
            explainer.density, rows, min_density=explainer.options.min_density
        )
        return cls(explainer.schema, space, rule, explainer.density.scale.log_densities)

    @property
    def floor(self) -> float:
        """The log-density that no step may fall below."""
        return self.rule.log_floor

    def points(self, states: pd.DataFrame) -> Array:
        """States of a table as points."""
        return points_of_records(read_records(states, self.schema), self.space)

    def lowest(self, start: Array, end: Array) -> float:
        """The lowest log-density along a step."""
        return float(self.rule.along(start[None, :], end[None, :]).lowest_logs[0])

    def share(self, level: float) -> float:
        """The share of people whose own log-density is no higher."""
        return float((self.levels <= level + 1e-9).mean())
