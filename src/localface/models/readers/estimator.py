"""What reads one fitted estimator: from the numbers that it is given to what it returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from localface.models.readers.trees import Trees
from localface.types import Array

_FEW = 200  # up to this many records, all trees at once is faster than one tree after another


class EstimatorReader(Protocol):
    """Called with a matrix of numbers, it returns what the estimator's method returns.

    Where it need not give the same bits, the last ones are left to the order of a sum or to
    an exponential.
    """

    @property
    def exact(self) -> bool:
        """Whether it must give the same bits."""
        ...

    @property
    def description(self) -> str:
        """What it is, in words."""
        ...

    def __call__(self, numbers: Array) -> Array:
        """Return what the method returns for a matrix of numbers."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class TreeSum:
    """A model that adds up trees.

    Parameters
    ----------
    parts : the trees of each raw score; a single part may answer several
    start : what the sums begin with, one number a raw score
    link : from raw scores to what the model returns
    description : what it is, in words
    divisor : what the sums are divided by
    single : whether the model sees its numbers in single precision
    exact : whether the model must give the same bits
    own_trees : scikit-learn's trees of the only part, which are faster for many records
    """

    parts: tuple[Trees, ...]
    start: Array
    link: Callable[[Array], Array]
    description: str
    divisor: int = 1
    single: bool = False
    exact: bool = False
    own_trees: tuple[Any, ...] = ()

    def __call__(self, numbers: Array) -> Array:
        """Return what the model returns for a matrix of numbers."""
        numbers = as_single_precision(numbers) if self.single else numbers
        if self.own_trees and len(numbers) > _FEW and not self.parts[0].is_compiled:
            raw = self._sum_of_own_trees(numbers)
        elif len(self.parts) == 1:
            raw = self.parts[0].sum_of_leaves(numbers, self.start)
        else:
            starts = np.split(self.start, len(self.parts))
            sums = zip(self.parts, starts, strict=True)
            raw = np.concatenate([part.sum_of_leaves(numbers, at) for part, at in sums], axis=1)
        return self.link(raw / self.divisor if self.divisor > 1 else raw)

    def _sum_of_own_trees(self, numbers: Array) -> Array:
        """Add up the same in the same order, one tree after another."""
        singles = numbers.astype(np.float32)
        total = np.tile(self.start, (len(numbers), 1))
        for tree in self.own_trees:
            total += tree.predict(singles)
        return total


def as_single_precision(numbers: Array) -> Array:
    """Return doubles that hold what single precision makes of numbers."""
    with np.errstate(over="ignore"):
        singles = np.asarray(numbers).astype(np.float32, order="C")
    if np.isinf(singles).any():
        raise ValueError("the records hold infinite values, or some beyond single precision")
    return singles.astype(np.float64)


def is_unmodified(model: Any, library: str, names: set[str] | str) -> bool:
    """Tell whether a model is one of a library's own, with nothing put in place of its methods.

    Subclasses are not: they may answer in another way.
    """
    kind = type(model)
    named = {names} if isinstance(names, str) else names
    replaced = _METHODS & set(getattr(model, "__dict__", ()))
    return kind.__module__.startswith(f"{library}.") and kind.__name__ in named and not replaced


_METHODS = {"predict", "predict_proba", "decision_function", "transform"}
