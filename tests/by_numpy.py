"""The same objects without their compiled parts, to hold one against the other."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest

from localface.data.lines import PiecewiseLines
from localface.data.plain_columns import PlainColumns
from localface.density.common_states import CommonStates
from localface.density.kde import KDE
from localface.geometry.compiled.library import load_library
from localface.geometry.point_set import PointSet

needs_compiled = pytest.mark.skipif(
    load_library() is None, reason="the compiled part is not built, or not wanted"
)


def point_set_by_numpy(rows: PointSet) -> PointSet:
    """The same points, looked up in Python."""
    found = copy.copy(rows)
    vars(found)["index"] = None
    return found


def kde_by_numpy(kde: KDE) -> KDE:
    """The same density, with NumPy alone."""
    found = copy.copy(kde)
    vars(found)["compiled"] = None
    vars(found)["_point_set"] = point_set_by_numpy(kde._point_set)
    return found


def common_states_by_numpy(density: CommonStates) -> CommonStates:
    """The same common states, with NumPy alone."""
    found = copy.copy(density)
    vars(found).update(
        kde=kde_by_numpy(density.kde),
        rows=point_set_by_numpy(density.rows),
        _pair_rule=None,
        _ground=None,
    )
    return found


def lines_by_numpy(lines: PiecewiseLines) -> PiecewiseLines:
    """The same functions, with NumPy alone."""
    return replace(lines, compiled=None)


def plain_columns_by_numpy(columns: PlainColumns) -> PlainColumns:
    """The same codes, with NumPy alone."""
    return replace(
        columns,
        to_columns=lines_by_numpy(columns.to_columns),
        to_codes=lines_by_numpy(columns.to_codes),
        compiled=None,
    )
