"""The worker that every runner shares: made once, then fed blocks of people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any
from warnings import catch_warnings

from localface.answers.many_columns import FAILED, error_in_words
from localface.answers.recourse import Recourse
from localface.engine.asking import check_ask
from localface.errors import (
    DataError,
    InputError,
    ModelError,
    did_you_mean,
    list_names,
    needs_extra,
)
from localface.explainer import LocalFACE
from localface.options import Ask, AskMany

with needs_extra("cluster", "explaining people in blocks"):
    import pyarrow as pa


@dataclass(frozen=True, slots=True, eq=False)
class Worker:
    """Answers blocks of people: a table in, a table out, one line a person in the same order.

    A line holds ``id`` (what ``id_column`` says, else the place in the block), ``status``,
    ``reason``, ``cautions``, ``error``, ``score_before``, ``score_after`` (that of the plan, or
    of the path where there is none), ``steps``, ``cost``, ``relaxed_to``, ``rows_seen``,
    ``n_actions`` and ``answer``, the whole ``Recourse`` as JSON. Someone whose record cannot be
    read, or on whom the model fails, has the status ``ERROR`` and the reason in ``error``, and
    does not keep the others from their answers. A model that fails on everyone is no answer about
    anyone: that is raised.

    Parameters
    ----------
    explainer
        A fitted ``LocalFACE``.
    id_column
        The column that says who is who.
    ask
        The options for everyone, those of ``explain_many``, such as ``Ask(relax=True)``.

    Example
    -------
    >>> import pyarrow
    >>> from localface import Search
    >>> from localface.cases.moons import two_moons
    >>> moons = two_moons(seed=0)
    >>> explainer = LocalFACE(moons.model, moons.data, search=Search(n_neighbors=15))
    >>> worker = Worker(explainer, ask=Ask(actions=False))
    >>> worker(pyarrow.table({"x0": [-0.95, 1.0], "x1": [0.35, -0.5]}))["status"].to_pylist()
    ['FOUND', 'ALREADY_THERE']
    """

    explainer: LocalFACE
    _: KW_ONLY
    id_column: str | None = None
    ask: Ask = field(default_factory=Ask)

    def __post_init__(self) -> None:
        AskMany(**self.ask.given_options())
        check_ask(self.explainer.engine, self.ask)

    def __call__(self, people: Any) -> Any:
        """Answer a block: a pyarrow table of people in, a pyarrow table of answers out."""
        self.check_columns(people.column_names)
        answers = self._answer_or_error_per_person(people)
        failed = [one for one in answers if isinstance(one, ModelError)]
        if len(failed) == len(people) > 1:
            raise failed[0]
        lines = [_answer_as_row(one) for one in answers]
        ids = pa.array(range(len(people))) if self.id_column is None else people[self.id_column]
        columns = {
            name: pa.array([line.get(name) for line in lines], kind)
            for name, kind in _answer_column_types().items()
        }
        return pa.table({"id": ids, **columns})

    def check_columns(self, have: Sequence[str]) -> None:
        """Refuse tables that lack a column."""
        wanted = list(self.explainer.schema.names)
        if self.id_column is not None:
            wanted.append(self.id_column)
        lacking = [f"{name!r}{did_you_mean(name, have)}" for name in wanted if name not in have]
        if lacking:
            rows = self.explainer.schema.each_row.many
            raise DataError(f"the {rows} lack {', '.join(lacking)}: they have {list_names(have)}")

    def _answer_or_error_per_person(self, people: Any) -> list[Recourse | InputError]:
        """The answer of each person, or what is wrong with their record."""
        if len(people) == 0:
            return []
        # a block that was stopped is begun again: no need to warn that it is not whole
        with catch_warnings(action="ignore", category=UserWarning):
            answers = self.explainer.explain_many(
                people, progress=False, on_error="record", **self.ask.given_options()
            )
        if answers.unfinished:
            raise KeyboardInterrupt
        every = dict(zip(answers.numbers, answers, strict=True)) | dict(answers.errors)
        return [every[number] for number in range(len(people))]


def _answer_column_types() -> dict[str, Any]:
    """The columns of the answers beside the id."""
    return {
        "status": pa.string(),
        "reason": pa.string(),
        "cautions": pa.string(),
        "error": pa.string(),
        "score_before": pa.float64(),
        "score_after": pa.float64(),
        "steps": pa.int32(),
        "cost": pa.float64(),
        "relaxed_to": pa.float64(),
        "rows_seen": pa.int64(),
        "n_actions": pa.int32(),
        "answer": pa.string(),
    }


def _answer_as_row(answer: Recourse | InputError) -> dict[str, Any]:
    """One person's line; what it does not name is null."""
    if isinstance(answer, InputError):
        return {
            "status": FAILED,
            "error": error_in_words(answer),
        }
    return {
        "status": answer.status.name,
        "reason": answer.reason,
        "cautions": "; ".join(answer.cautions),
        "score_before": answer.scores[0],
        "score_after": answer.with_actions_as_path().scores[-1],
        "steps": len(answer.certificates),
        "cost": answer.cost,
        "relaxed_to": answer.relaxed_to,
        "rows_seen": answer.disclosure.rows,
        "n_actions": len(answer.actions),
        "answer": answer.to_json(),
    }
