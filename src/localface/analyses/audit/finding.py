"""What one proposal is worth, as a value that prints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from localface.answers.certificate import Certificate
from localface.answers.changes import FeatureChange, straight_step_sentence
from localface.answers.pair_words import UnusualPair
from localface.answers.recourse import Recourse
from localface.answers.target import Target
from localface.answers.wording import format_share_of_people, join_words, to_one_line
from localface.data.row_words import PEOPLE, RowWords


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Finding:
    """What one proposal is worth.

    ``score`` and ``valid`` are by the explainer's own model, ``broken`` the constraints that
    it breaks, in words; ``density`` is the share of people on less common ground, ``jump``
    what is known of the straight step there. ``reachable`` is None where it was not asked:
    nothing, or nothing valid, was proposed, or nothing needs to change. ``recourse`` is the
    way there; ``between`` says what lies in between where there is none, and ``relaxed_to``
    the highest floor that would open one. Without a score but with something broken, what is
    proposed is no state at all: columns of 0 and 1 that tell no category. ``pair`` names two
    features that do not go together, where it is they that put it below the floor. ``cut_short``
    says that rows or time ran out before it could be told whether it is reachable; ``each_row``
    is what rows are called.
    """

    number: int
    target: Target
    score_before: float
    score: float | None = None
    valid: bool = False
    broken: tuple[str, ...] = ()
    density: float | None = None
    on_ground: bool = False
    jump: Certificate | None = None
    reachable: bool | None = None
    recourse: Recourse | None = None
    between: str = ""
    relaxed_to: float | None = None
    changes: tuple[FeatureChange, ...] = ()
    pair: UnusualPair | None = None
    cut_short: bool = False
    each_row: RowWords = PEOPLE

    @property
    def proposed(self) -> bool:
        """Whether there is a proposal at all."""
        return self.score is not None or bool(self.broken)

    @property
    def in_box(self) -> bool:
        """Whether the proposal keeps every constraint."""
        return self.proposed and not self.broken

    @property
    def straight(self) -> bool:
        """Whether the straight step there is one that people take: common, and over no gap."""
        step = self.jump is not None and self.jump.holds
        return step and not any(change.gap for change in self.changes)

    @property
    def changed(self) -> tuple[str, ...]:
        """The features that change by at least their resolution, the largest change first."""
        return tuple(change.name for change in self.changes)

    @property
    def verdict(self) -> str:
        """The finding in a word or two."""
        if not self.proposed:
            return "nothing proposed"
        if self.score is None:
            return "no such state"
        if not self.valid:
            return "not valid"
        if self.broken:
            return "outside the constraints"
        if self.cut_short:
            return "not known"
        if self.reachable is None:
            return "already there"
        return "reachable" if self.reachable else "out of reach"

    def __repr__(self) -> str:
        if self.score is None:
            return f"<Finding {self.number}: {self.verdict}>"
        before = self.target.format_score(self.score_before)
        scores = f"score {before} -> {self.target.format_score(self.score)}"
        changed = f"{count_with_noun(len(self.changes), 'feature')} changed"
        return f"<Finding {self.number}: {self.verdict}, {scores}, {changed}>"

    def __str__(self) -> str:
        return "\n".join(
            [
                repr(self),
                *(f"  {word:<12}{to_one_line(text)}" for word, text in self._labelled_lines()),
            ]
        )

    def _labelled_lines(self) -> Iterator[tuple[str, str]]:
        """What is known, one word and one sentence at a time."""
        if self.score is None or self.density is None or self.jump is None:
            if self.broken:
                yield "in the box", f"no: {'; '.join(self.broken)}"
            return
        for i, change in enumerate(self.changes):
            yield ("" if i else "changes"), str(change)
        score = f"score {self.target.format_score(self.score)}, wanted {self.target.sentence}"
        yield "valid", f"{_yes_or_no(self.valid)}: {score}"
        yield (
            "in the box",
            _yes_or_no(self.in_box) + (f": {'; '.join(self.broken)}" if self.broken else ""),
        )
        common = f"as common as {format_share_of_people(self.density, self.each_row)}"
        clause = self.pair.clause if self.pair else ""
        yield "common", f"{_yes_or_no(self.on_ground)}: {common}{clause}"
        yield "straight", straight_step_sentence(self.jump, self.changes, self.each_row)
        if self.recourse is not None:
            yield "reachable", f"yes: {self._path_sentence(self.recourse)}"
        elif self.reachable is not None:
            yield "reachable", f"no: {self.between}"
        elif self.cut_short:
            yield "reachable", f"not known: {self.between}"
        else:
            yield "reachable", f"not asked: {self.between}"

    def _path_sentence(self, recourse: Recourse) -> str:
        """How it is reached; fewer changes than were proposed may be enough."""
        way = f"by {count_with_noun(len(recourse.certificates), 'step')} from state to state"
        way += ", after an entry step through less common states" if recourse.entry else ""
        needed = list(dict.fromkeys(name for action in recourse.actions for name in action.changes))
        if not needed:
            return way
        names = [recourse.schema[name].display_name for name in needed]
        enough = (
            f"; of what changes, {join_words(names)} {'is' if len(names) == 1 else 'are'} enough"
            if len(needed) < len(self.changes)
            else ""
        )
        return f"{way}, or by {count_with_noun(len(recourse.actions), 'action')}{enough}"


def count_with_noun(n: int, what: str) -> str:
    """So many of something, for people."""
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def _yes_or_no(fine: bool) -> str:
    return "yes" if fine else "no"
