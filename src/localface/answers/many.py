"""The answers to many people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, overload

from localface.answers.recourse import Recourse
from localface.data.table_format import table_from_columns
from localface.errors import InputError


class Recourses(Sequence[Recourse]):
    """Answers for many people, in the order they came.

    Where some have none, because they could not be answered (``errors``, by the person's
    number) or the work was stopped (``unfinished``), ``numbers`` says whose the answers are.
    """

    def __init__(
        self,
        answers: Iterable[Recourse],
        *,
        numbers: Sequence[int] | None = None,
        errors: Mapping[int, InputError] | None = None,
        unfinished: int = 0,
    ) -> None:
        self._answers = tuple(answers)
        self.numbers = tuple(range(len(self._answers))) if numbers is None else tuple(numbers)
        self.errors: Mapping[int, InputError] = dict(errors or {})
        self.unfinished = unfinished

    @overload
    def __getitem__(self, index: int) -> Recourse: ...
    @overload
    def __getitem__(self, index: slice) -> Recourses: ...
    def __getitem__(self, index: int | slice) -> Recourse | Recourses:
        if isinstance(index, slice):
            return Recourses(self._answers[index], numbers=self.numbers[index])
        return self._answers[index]

    def __len__(self) -> int:
        return len(self._answers)

    def __repr__(self) -> str:
        counts = Counter(answer.status.word for answer in self._answers)
        words = [f"{n} {word}" for word, n in counts.most_common()]
        cautioned = sum(bool(answer.cautions) for answer in self._answers)
        if cautioned:
            words.append(f"{cautioned} with cautions")
        if self.errors:
            words.append(f"{len(self.errors)} could not be answered")
        if self.unfinished:
            words.append(f"{self.unfinished} unfinished")
        return f"<{len(self)} recourses: {', '.join(words)}>"

    @property
    def found(self) -> list[bool]:
        """Whether each person was served."""
        return [answer.found for answer in self._answers]

    def to_frame(self) -> Any:
        """One line a person, as a table of the user's own kind (see ``Audit.to_frame``)."""
        rows = self._answers
        columns: dict[str, list[Any]] = (
            {} if self._everybody_answered else {"person": list(self.numbers)}
        )
        columns |= {
            "status": [one.status.name for one in rows],
            "cautions": ["; ".join(one.cautions) for one in rows],
            "steps": [len(one.certificates) for one in rows],
            "score_before": [one.scores[0] for one in rows],
            "score_after": [one.scores[-1] for one in rows],
            "cost": [one.cost for one in rows],
            "relaxed_to": [one.relaxed_to for one in rows],
            "rows_seen": [one.disclosure.rows for one in rows],
        }
        return table_from_columns(columns, rows[0].form.kind if rows else "numpy")

    @property
    def _everybody_answered(self) -> bool:
        """Whether everybody who came has an answer."""
        everybody = tuple(range(len(self._answers)))
        return not self.errors and not self.unfinished and self.numbers == everybody
