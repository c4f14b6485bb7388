"""Check what is asked of alternatives: how many, how dear, what to avoid."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from localface.data.box import check_where, number
from localface.data.schema import Schema
from localface.errors import ConstraintError, InputError, listed, near_miss


def checked_weights(schema: Schema, weights: Mapping[str, float] | None) -> dict[str, float]:
    """Read how dear changes are: positive numbers by feature."""
    if weights is None:
        return {}
    if not _is_mapping(weights):
        raise ConstraintError(
            f"weights= is {weights!r}: give a dict from feature to number, as in {{'income': 3}}"
        )
    _check_names("weights", weights, schema)
    for name, weight in weights.items():
        if (number(weight) or 0.0) <= 0:
            raise ConstraintError(
                f"the weight of {name!r} is {weight!r}: give a positive number, above 1 for what should rather not "
                f"change; for what must not, avoid=[{name!r}]"
            )
    return {name: float(weight) for name, weight in weights.items()}


def avoiding(
    schema: Schema, where: Mapping[str, Any] | None, avoid: Sequence[str]
) -> Mapping[str, Any] | None:
    """Narrow what may change by what is to be avoided altogether."""
    if isinstance(avoid, str) or not isinstance(avoid, Collection):
        raise ConstraintError(
            f"avoid= is {avoid!r}: give a list of features, as in avoid=['income']"
        )
    if not avoid:
        return where
    check_where(schema.features, where)
    _check_names("avoid", avoid, schema)
    return {**(where or {}), **dict.fromkeys(avoid, "never")}


def check_n_paths(n_paths: object, *, actions: bool, push: bool = False) -> None:
    """Refuse a number of ways that is none, or that actions would be needed for."""
    if isinstance(n_paths, bool) or not isinstance(n_paths, int | np.integer) or n_paths < 1:
        raise InputError(f"n_paths={n_paths!r}: a whole number of at least 1 is wanted")
    if n_paths > 1 and not actions:
        raise InputError(
            f"n_paths={n_paths}, but no actions are worked out: alternatives differ by what the actions change; "
            "leave actions=True and strategy='guided', or ask for one path"
        )
    if n_paths > 1 and push:
        raise InputError(
            f"n_paths={n_paths} and min_robustness do not go together: ask for one of them at a time"
        )


def _check_names(what: str, names: Iterable[object], schema: Schema) -> None:
    for name in names:
        if name not in schema.names:
            raise ConstraintError(
                f"{what}= names {name!r}, which is no feature{near_miss(name, schema.names)}: "
                f"there are {listed(schema.names)}"
            )


def _is_mapping(value: object) -> bool:
    return isinstance(value, Mapping)
