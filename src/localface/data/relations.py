"""Relations between features that every state must keep."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from localface.data.absence import is_absent
from localface.data.codes import finite_number
from localface.data.feature import Feature
from localface.errors import DataError, SchemaError
from localface.types import Array, Mask

Pair = tuple[str, str, str]
"""Two features in order: ``("hr_min", "<=", "hr_max")``."""

_RELATIONS = ("<=", ">=", "=")
_ROUNDING = 1e-9  # share of the largest number by which rounding may break an equation


@dataclass(frozen=True, slots=True)
class LinearRule:
    """A feature compared with a weighted sum of others: ``total = 1 a + 1 b``."""

    first: str
    relation: str
    terms: tuple[tuple[str, float], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The features that it is about."""
        return (self.first, *(name for name, _ in self.terms))

    @property
    def text(self) -> str:
        """The rule as people write it."""
        parts = [name if weight == 1 else f"{weight:g} {name}" for name, weight in self.terms]
        return f"{self.first} {self.relation} {' + '.join(parts)}"

    def breaks(self, features: Sequence[Feature], records: Array) -> Mask:
        """Tell which records break it; what is missing breaks nothing."""
        position = {feature.name: j for j, feature in enumerate(features)}
        present = np.ones(len(records), dtype=bool)
        apart = np.zeros(len(records))
        slack = np.zeros(len(records))
        for name, weight in ((self.first, -1.0), *self.terms):
            feature = features[position[name]]
            values = records[:, position[name]]
            gone = is_absent(feature, values)
            present &= ~gone
            apart += np.where(gone, 0.0, weight * values)
            slack += np.where(gone, 0.0, _ROUNDING * np.abs(weight * values))
            if self.relation == "=":
                slack += abs(weight) * (feature.resolution or 0.0) / 2
        broken = {"=": np.abs(apart) > slack, "<=": apart < -slack, ">=": apart > slack}
        return np.asarray(present & broken[self.relation])

    def to_plain(self) -> list[object]:
        """Return the rule as plain values."""
        return [self.first, self.relation, dict(self.terms)]


@dataclass(frozen=True, slots=True)
class FunctionRule:
    """A function of a record, as a dict of values, that is true of every state."""

    name: str
    function: Callable[[dict[str, Any]], object]

    @property
    def names(self) -> tuple[str, ...]:
        """No features: a function does not say what it is about."""
        return ()

    @property
    def text(self) -> str:
        """The name of the rule."""
        return self.name

    def breaks(self, features: Sequence[Feature], records: Array) -> Mask:
        """Tell which records break it."""
        return np.array([not self._holds(features, record) for record in records], dtype=bool)

    def _holds(self, features: Sequence[Feature], record: Array) -> bool:
        values = {
            one.name: None if is_absent(one, code) else one.value(float(code))
            for one, code in zip(features, record, strict=True)
        }
        try:
            return bool(self.function(values))
        except Exception as error:
            raise DataError(
                f"the rule {self.name!r} failed on {values}: {type(error).__name__}: {error}. It "
                "is called with a dict of values, None where one is missing"
            ) from error


Rule = LinearRule | FunctionRule


def checked_pair(words: Sequence[object]) -> Pair:
    """Check a relation between two features that is given as three words."""
    plain = tuple(words)
    if len(plain) != 3 or plain[1] != "<=" or not all(isinstance(one, str) for one in plain):
        raise SchemaError(
            f"{' '.join(map(str, plain))!r} is no relation: "
            "write two features and '<=' between them"
        )
    return str(plain[0]), str(plain[1]), str(plain[2])


def make_relation(first: object, relation: str, second: object, name: str | None) -> Pair | Rule:
    """Make a relation of what ``Schema.relate`` was given."""
    if callable(first):
        return FunctionRule(name or str(getattr(first, "__name__", "a function")), first)
    if isinstance(second, str) and relation == ">=":
        return checked_pair((second, "<=", first))
    if isinstance(second, str) and relation == "<=":
        return checked_pair((first, relation, second))
    if isinstance(second, str) and relation == "=":
        second = {second: 1.0}
    if relation not in _RELATIONS or not isinstance(second, Mapping) or not second:
        raise SchemaError(
            f"'{first} {relation} {second}' is no relation: write two features with '<=' between "
            "them, a feature and a weighted sum as in relate('total', '=', {'a': 1, 'b': 1}), or "
            "a function of a record"
        )
    terms = []
    for term, weight in second.items():
        number = finite_number(weight)
        if number is None or number == 0:
            raise SchemaError(f"the weight of {term!r} is {weight!r}: give a number, not 0")
        terms.append((str(term), number))
    return LinearRule(str(first), relation, tuple(terms))


def check_is_number(feature: Feature) -> None:
    """Refuse a feature that has no order in a relation."""
    if feature.discrete:
        raise SchemaError(
            f"{feature.name!r} is {feature.kind} and cannot be compared with '<='",
            feature=feature.name,
        )


def broken_relation_error(text: str, n: int, n_records: int, who: str, feature: str) -> DataError:
    """Say which relation how many records break."""
    many = f"{n} rows of {who} break" if n > 1 else f"1 row of {who} breaks"
    if n_records == 1:
        many = f"{who} breaks"
    return DataError(
        f"the schema says {text}, and {many} it: correct or drop them", feature=feature or None
    )


def rules_from_plain(plain: object) -> list[Rule]:
    """Read rules from plain values: lists of a feature, a relation and a dict of weights."""
    found: list[Rule] = []
    for one in plain if isinstance(plain, list) else [plain]:
        if not isinstance(one, list) or len(one) != 3:
            raise SchemaError(
                f'rules of a schema are lists such as ["total", "=", {{a = 1, b = 1}}]: got {one!r}'
            )
        made = make_relation(one[0], str(one[1]), one[2], None)
        found += [] if isinstance(made, tuple) else [made]
    return found
