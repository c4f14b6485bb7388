"""The answers to many people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, overload

import numpy as np

from localface.answers.json_text import dump_json, load_json
from localface.answers.many_columns import answer_columns, changes_of, counts_by_feature
from localface.answers.many_page import lines_as_html
from localface.answers.recourse import Recourse
from localface.data.table_format import table_from_columns
from localface.errors import InputError

_MOST_SHOWN = 50  # people that a notebook shows


class Recourses(Sequence[Recourse]):
    """Answers for many people, in the order they came.

    Where some have none, because they could not be answered (``errors``, by the person's
    number) or the work was stopped (``unfinished``), ``numbers`` says whose the answers are.
    ``labels`` holds those of these people's rows, where they came as a pandas table.
    """

    def __init__(
        self,
        answers: Iterable[Recourse],
        *,
        numbers: Sequence[int] | None = None,
        errors: Mapping[int, InputError] | None = None,
        unfinished: int = 0,
        labels: Sequence[Any] | None = None,
    ) -> None:
        """``labels`` are those of all people who came, answered or not."""
        self._answers = tuple(answers)
        self.numbers = tuple(range(len(self._answers))) if numbers is None else tuple(numbers)
        self.errors: Mapping[int, InputError] = dict(errors or {})
        self.unfinished = unfinished
        self._labels = None if labels is None else tuple(labels)

    @overload
    def __getitem__(self, index: int) -> Recourse: ...
    @overload
    def __getitem__(self, index: slice) -> Recourses: ...
    def __getitem__(self, index: int | slice) -> Recourse | Recourses:
        if isinstance(index, slice):
            return Recourses(self._answers[index], numbers=self.numbers[index], labels=self._labels)
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

    @property
    def labels(self) -> tuple[Any, ...] | None:
        """The labels of the rows whose answers these are; None where rows have no labels."""
        return None if self._labels is None else tuple(self._labels[n] for n in self.numbers)

    @property
    def ends(self) -> Any:
        """Where the actions lead, one row a person; who has no recourse is as they are now."""
        if not self._answers:
            return table_from_columns({}, "numpy")
        ends = [one.with_actions_as_path().records[-1] for one in self._answers]
        return self._with_labels(self._answers[0].form.make_table(np.stack(ends)), self.numbers)

    @property
    def changes(self) -> list[dict[str, tuple[Any, Any]]]:
        """What changes for each person: by feature, the value now and the value at the end."""
        return [changes_of(one) for one in self._answers]

    def summary(self) -> Any:
        """One line a feature that changes, the most often changed first, as a table of your kind.

        ``people`` and ``share`` tell how many of those with recourse change it. For a number,
        ``up`` and ``down`` count which way, and ``median_change`` tells by how much; for a category
        ``becomes`` says what it becomes, and how often: ``"heat pump (12), gas (3)"``.
        """
        found = [one for one in self._answers if one.found]
        return table_from_columns(counts_by_feature(found), self._kind)

    def to_frame(self) -> Any:
        """One line a person, as a table of the user's own kind (see ``Audit.to_frame``).

        ``status``, ``reason`` and ``cautions`` are the answer's; who could not be answered has the
        status ``ERROR``, and ``error`` says why. ``score_after``, ``action_cost``, ``n_actions``,
        ``n_changed`` and ``changed`` tell of the plan (of the path, where there is no plan);
        ``steps``, ``cost`` and ``score_of_path`` of the path. ``person`` numbers the people where
        some have no answer. A pandas table has the labels of their rows, so that it can be joined
        with theirs.
        """
        every = self._answered_or_not()
        numbers = list(every)
        columns: dict[str, list[Any]] = {} if self._everybody_answered else {"person": numbers}
        columns |= answer_columns([every[n] for n in numbers])
        return self._with_labels(table_from_columns(columns, self._kind), numbers)

    def to_html(self, most: int | None = None) -> str:
        """One line a person, and what changes most often, as HTML; of ``most`` people at most."""
        lines = [
            (n if self._labels is None else self._labels[n], one)
            for n, one in self._answered_or_not().items()
        ]
        counts = counts_by_feature([one for one in self._answers if one.found])
        return lines_as_html(lines, counts, caption=repr(self).strip("<>"), most=most)

    def _repr_html_(self) -> str:
        return self.to_html(_MOST_SHOWN)

    def _answered_or_not(self) -> dict[int, Recourse | InputError]:
        """The answer of each person, or why there is none, by their number."""
        every: dict[int, Recourse | InputError] = {
            **dict(zip(self.numbers, self._answers, strict=True)),
            **self.errors,
        }
        return {n: every[n] for n in sorted(every)} if self.errors else every

    def to_json(self, indent: int | None = None) -> str:
        """Write all answers down; ``Recourses.from_json`` gives them back, without the errors."""
        answers = [load_json(one.to_json()) for one in self._answers]
        labels = None if self._labels is None else [_plain_label(one) for one in self._labels]
        errors = {str(n): f"{type(one).__name__}: {one}" for n, one in self.errors.items()}
        written = {
            "format": "localface/recourses",
            "numbers": list(self.numbers),
            "labels": labels,
            "answers": answers,
            "errors": errors,
            "unfinished": self.unfinished,
        }
        return dump_json(written, indent)

    @classmethod
    def from_json(cls, text: str) -> Recourses:
        """Read what ``to_json`` wrote; an error comes back as an ``InputError`` with its text."""
        try:
            plain = load_json(text)
            answers = [Recourse.from_json(dump_json(one)) for one in plain["answers"]]
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"this is no document of recourses: {error}") from None
        return cls(
            answers,
            numbers=plain["numbers"],
            errors={int(n): InputError(one, person=int(n)) for n, one in plain["errors"].items()},
            unfinished=plain["unfinished"],
            labels=plain["labels"],
        )

    @property
    def _kind(self) -> str:
        return self._answers[0].form.kind if self._answers else "numpy"

    def _with_labels(self, table: Any, numbers: Iterable[int]) -> Any:
        """Give a pandas table the labels of the people with these numbers."""
        if self._labels is not None and hasattr(table, "set_axis"):
            return table.set_axis([self._labels[n] for n in numbers], axis=0)
        return table

    @property
    def _everybody_answered(self) -> bool:
        """Whether everybody who came has an answer."""
        everybody = tuple(range(len(self._answers)))
        return not self.errors and not self.unfinished and self.numbers == everybody


def _plain_label(label: Any) -> Any:
    """Return a label as JSON can hold it."""
    return label if label is None or isinstance(label, bool | int | float | str) else str(label)
