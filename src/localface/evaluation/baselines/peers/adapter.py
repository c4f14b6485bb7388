"""Adapts a task to another package: the model as it calls it, its answers as proposals."""

from __future__ import annotations

import logging
import random
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from typing import Any, NamedTuple

import numpy as np

from localface.errors import ModelError, install_command
from localface.evaluation.baselines.proposal import Proposal
from localface.evaluation.baselines.task import Query, Task
from localface.types import Array

_JUST_ABOVE = np.nextafter(0.5, 1.0)
_JUST_BELOW = np.nextafter(0.5, 0.0)


class NoAnswer(Exception):
    """A package has no counterfactual for this person; the message says why."""


class PeerAnswer(NamedTuple):
    """The end that a package proposes, as codes, with what it says that costs."""

    codes: Array
    cost: float | None = None


class CountedModel:
    """The task's model as an estimator of two classes, 0 and 1, that counts its calls.

    Tables and arrays of codes come in, one column a feature: numbers as they are, a
    category as its index in the list, be it a number or text. Features that are whole are
    rounded to the nearest whole number, and codes outside of a list to its ends, so that a
    package which knows only continuous numbers gets an answer everywhere.

    With ``remap`` the probability of class 1 is bent in a straight line on either side of
    ``min_score``, so that it is above 0.5 exactly where a record reaches the target: the
    class is then the question, whether a package compares with 0.5 or takes the larger.
    """

    def __init__(self, task: Task, *, remap: bool = True, most: int | None = None) -> None:
        if not (remap or (task.scores.min() >= 0 and task.scores.max() <= 1)):
            raise ModelError(
                "the model's scores are no probabilities: leave remap=True, which makes them so"
            )
        self._task = task
        self._remap = remap
        self._most = most
        self._made = 0
        self.classes_ = np.array([0, 1])

    @property
    def target_threshold(self) -> float:
        """The probability of class 1 from which on a record reaches the target."""
        return 0.5 if self._remap else self._task.min_score

    def restart_call_count(self) -> None:
        """Begin with another person: the calls that one person may take are counted anew."""
        self._made = 0

    def predict_proba(self, table: Any) -> Array:
        """The probabilities of not reaching the target and of reaching it, one row a record."""
        scores = self._score_table(table)
        towards = self._scores_as_probabilities(scores) if self._remap else scores
        return np.column_stack([1.0 - towards, towards])

    def predict(self, table: Any) -> Array:
        """1 for records that reach the target, else 0."""
        return np.asarray(self._score_table(table) >= self._task.min_score).astype(np.int64)

    def _score_table(self, table: Any) -> Array:
        self._made += 1
        if self._most is not None and self._made > self._most:
            raise NoAnswer(f"still searching after {self._most} calls of the model")
        return self._task.score(_nearest_records(self._task, codes_of(self._task, table)))

    def _scores_as_probabilities(self, scores: Array) -> Array:
        known = self._task.scores
        wanted = self._task.min_score
        low = min(0.0, known.min(), wanted)
        high = max(1.0, known.max(), wanted)
        bent = np.interp(scores, [low, wanted, high], [0.0, 0.5, 1.0])
        above = np.maximum(bent, _JUST_ABOVE)
        below = np.minimum(bent, _JUST_BELOW)
        return np.asarray(np.where(scores >= wanted, above, below))


def codes_of(task: Task, table: Any) -> Array:
    """The codes in a table with our features' names, or in an array with our features in order."""
    columns = getattr(table, "columns", None)
    values = table if columns is None else table[list(task.schema.names)].to_numpy(dtype=object)
    codes = np.asarray(values).astype(np.float64)  # text such as "2" too
    return codes if codes.ndim == 2 else codes[None, :]


def ask_peer(
    task: Task,
    person: Any,
    where: Mapping[str, Any] | None,
    search: Callable[[Query], PeerAnswer],
) -> Proposal:
    """Ask a package about one person, and read its answer as a proposal of one step.

    Someone who reaches the target already gets no steps, and the package is not asked.
    """
    query = task.read_query(person, where)
    if task.score(query.record[None, :])[0] >= task.min_score:
        return task.propose(query, [])
    try:
        codes, cost = search(query)
        return task.propose(query, [record_from_codes(task, codes)], cost=cost)
    except NoAnswer as none:
        return task.propose_nothing(query, first_line_of_error(none))


def first_line_of_error(error: BaseException) -> str:
    """The first line of a message, or the error's name where it has none."""
    return next(iter(str(error).splitlines()), "") or type(error).__name__


@contextmanager
def isolated_global_state(seed: int | None = None) -> Iterator[None]:
    """Run another package's code: seeded, silent, with global state restored afterwards.

    Both global generators, the warnings' filters and the handlers of logging are restored.
    """
    numpy_state = np.random.get_state()  # noqa: NPY002
    python_state = random.getstate()
    root = logging.getLogger()
    handlers = list(root.handlers)
    disabled = root.manager.disable
    nowhere = StringIO()
    try:
        with warnings.catch_warnings(), redirect_stdout(nowhere), redirect_stderr(nowhere):
            warnings.simplefilter("ignore")
            logging.disable(logging.CRITICAL)
            if seed is not None:
                np.random.seed(seed)  # noqa: NPY002  # it is the only seed that some of them know
                random.seed(seed)
            yield
    finally:
        np.random.set_state(numpy_state)  # noqa: NPY002
        random.setstate(python_state)
        root.handlers[:] = handlers
        logging.disable(disabled)


@contextmanager
def needs_peer(package: str, distribution: str) -> Iterator[None]:
    """Import a peer silently, or say how to install it.

    Write the imports as plain statements, so that tools that read imports see them:
    ``with needs_peer("dice_ml", "dice-ml"): import dice_ml``.
    """
    try:
        with isolated_global_state():
            yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != package:
            raise
        raise ModuleNotFoundError(
            f"this peer needs {distribution}, which is not installed; "
            f"run: {install_command('peers')}",
            name=package,
        ) from error


def _nearest_records(task: Task, codes: Array) -> Array:
    """The records nearest to codes: whole where they are whole, within the list of categories."""
    records = codes.copy()
    for j, feature in enumerate(task.schema):
        if feature.whole:
            records[:, j] = np.rint(records[:, j])
        if feature.categories is not None:
            records[:, j] = np.clip(records[:, j], 0, len(feature.categories) - 1)
    return records


def record_from_codes(task: Task, codes: Array) -> Array:
    """Codes as a record; whatever is no value of its feature is refused, and says so."""
    record = np.asarray(codes, dtype=np.float64).copy()
    for j, feature in enumerate(task.schema):
        if not np.isfinite(record[j]):
            raise NoAnswer(f"it proposes {record[j]} for {feature.name!r}, which is no number")
        if feature.whole:
            record[j] = np.rint(record[j])
        if feature.categories is not None and not 0 <= record[j] < len(feature.categories):
            last = len(feature.categories) - 1
            raise NoAnswer(
                f"it proposes the place {record[j]:g} for {feature.name!r}, "
                f"whose places are 0 to {last}"
            )
    return record
