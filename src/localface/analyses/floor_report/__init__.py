"""A report on the floor: how well it tells real rows from records composed at random."""

from localface.analyses.floor_report.measuring import measure_floor
from localface.analyses.floor_report.report import FloorReport

__all__ = ["FloorReport", "measure_floor"]
