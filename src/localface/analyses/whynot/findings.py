"""What is known of one wish, as a value that prints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from localface.answers.certificate import Certificate
from localface.answers.changes import changes_between, straight_step_sentence
from localface.answers.disclosure import Disclosure
from localface.answers.page import Page, caution_lines, page_of
from localface.answers.pair_words import UnusualPair
from localface.answers.recourse import Recourse
from localface.answers.rendering import page_as_html, page_as_text
from localface.answers.target import Target
from localface.answers.wording import format_amount, format_percent, join_words
from localface.data.schema import Schema
from localface.data.table_format import TableFormat
from localface.types import Array


@dataclass(frozen=True, slots=True)
class Overstep:
    """A constraint that a wish breaks: its words, the value wished for, by how much it is broken.

    ``by`` is counted in ``unit``; it is None where there is no distance, as between categories.
    ``label`` and ``other_label`` are what the features are called, ``fixed`` is whether this one
    may not move at all, ``gap`` says so where a value would have to come or go, and ``beyond``
    where the schema's bounds rule the value out for everybody.
    """

    feature: str
    rule: str
    value: object
    shown: str
    by: float | None = None
    unit: str = ""
    other: str | None = None  # the second feature, where it is a relation that is broken
    label: str = ""
    other_label: str = ""
    fixed: bool = False
    gap: str = ""
    beyond: str = ""

    @property
    def amount_text(self) -> str:
        """By how much, for people; a unit that is a word of several is not said of one."""
        if self.by is None:
            return ""
        return format_amount(self.by, self.unit)

    @property
    def sentence(self) -> str:
        """What is broken and by how much, for people."""
        if self.by is None or self.fixed:
            return f"'{self.rule}' rules out {self.shown}"
        what = f"{self.label or self.feature} {self.shown}" if self.other else self.shown
        return f"'{self.rule}' is overstepped by {self.amount_text}: {what} is wished for"

    @property
    def remedy(self) -> str:
        """What would have to be allowed, for people."""
        if self.other and self.by is None:
            return f"'{self.rule}' need not hold"
        if self.other:
            above = self.other_label or self.other
            return f"{self.label or self.feature} may exceed {above} by {self.amount_text}"
        moves = self.by is not None and not self.fixed
        further = f" ({self.amount_text} further)" if moves else ""
        return f"{self.label or self.feature} may be {self.shown}{further}"


@dataclass(frozen=True, slots=True)
class Relaxation:
    """The least that would have to give way for a wish to come true.

    ``widen`` holds the constraints, ``min_density`` the floor and ``min_score`` the score
    to settle for; None, or nothing, where no more is asked than now. ``enough`` tells
    whether that opens it: no floor helps where ``max_step`` rules out every step, and nothing
    does where the wish changes what stays a person's own or goes beyond the schema's bounds,
    which is not in ``widen``, or brings the score no nearer to the target.
    """

    widen: tuple[Overstep, ...] = ()
    min_density: float | None = None
    min_score: float | None = None
    enough: bool = True
    sentence: str = ""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class Check:
    """What is known of one wish: whether it is allowed, helps, is usual, and can be reached.

    ``records``, ``scores`` and ``densities`` hold two entries: now, and as wished. ``step``
    tells of the single straight step between them, ``direct`` whether it can be taken.
    ``reachable`` says whether any steps lead there, ``recourse`` by which; ``place`` is the
    least common place on a straight step that no others lead around. ``pair`` names two features
    that do not go together, where it is they that make the wish, or that place, too uncommon.
    """

    schema: Schema
    form: TableFormat
    target: Target
    min_density: float
    scales: tuple[float, ...]
    records: Array
    scores: tuple[float, float]
    densities: tuple[float, float]
    broken: tuple[Overstep, ...]
    on_ground: bool
    step: Certificate
    direct: bool
    way: bool
    recourse: Recourse | None
    place: Mapping[str, object] | None
    reasons: tuple[str, ...]
    relaxation: Relaxation | None
    disclosure: Disclosure
    pair: UnusualPair | None = None
    cautions: tuple[str, ...] = ()

    @property
    def wish(self) -> dict[str, object]:
        """What the wish would change: feature and new value, in the user's units."""
        now, then = (self.schema.values(record) for record in self.records)
        return {name: then[name] for name in self.schema.names if now[name] != then[name]}

    @property
    def state(self) -> Any:
        """The whole state that is wished for, in the form the person came in."""
        return self.form.make_person(self.records[1])

    @property
    def allowed(self) -> bool:
        """Whether the wish keeps every constraint and relation; ``broken`` holds the others."""
        return not self.broken

    @property
    def score(self) -> float:
        """What the model says of the wished state."""
        return self.scores[1]

    @property
    def valid(self) -> bool:
        """Whether the wished state reaches the target."""
        return self.target.is_reached_by(self.score)

    @property
    def density(self) -> float:
        """How usual the wished state is: the share of people who stand on less common ground."""
        return self.densities[1]

    @property
    def step_sentence(self) -> str:
        """What is known of the straight step, for people."""
        return straight_step_sentence(
            self.step,
            changes_between(self.schema, self.scales, *self.records),
            self.schema.each_row,
        )

    @property
    def reachable(self) -> bool:
        """Whether steps that this person may take lead there."""
        return self.allowed and self.way

    @property
    def refused_by(self) -> tuple[str, ...]:
        """Which rules refuse the wish: box, relation, floor, score, way, in this order."""
        moved = bool(self.wish)
        refused = {
            "box": any(one.other is None for one in self.broken),
            "relation": any(one.other is not None for one in self.broken),
            "floor": moved and not self.on_ground,
            "score": not self.valid,
            "way": self.on_ground and not self.way,
        }
        return tuple(word for word, holds in refused.items() if holds)

    def __repr__(self) -> str:
        words = "no rule is broken"
        if self.refused_by:
            called = [self.target.noun if one == "score" else one for one in self.refused_by]
            words = f"refused by {join_words(called)}"
        reached = "reachable" if self.reachable else "not reachable"
        scores = " -> ".join(self.target.format_score(score) for score in self.scores)
        return f"<Check: {words}, {reached}, {self.target.noun} {scores}, {self.disclosure}>"

    def __str__(self) -> str:
        return page_as_text(_page_of_check(self))

    def _repr_html_(self) -> str:
        return page_as_html(_page_of_check(self))


def _page_of_check(found: Check) -> Page:
    """Put a check on a page: the wish, what holds of it, what refuses it and what would open it."""
    changes = changes_between(found.schema, found.scales, *found.records)
    wish = ", ".join(str(change) for change in changes) or "nothing changes"
    distance_limits = "reaches" if found.valid else "does not reach"
    score = f"{found.target.noun} {found.target.format_score(found.score)}"
    opening = [f"wished: {wish}", f"{score} {distance_limits} {found.target.sentence}"]
    opening.append(_usual_line(found))
    if found.wish:
        opening.append(f"straight there: {found.step_sentence}")
    opening += [f"refused: {reason}" for reason in found.reasons]
    closing = [found.relaxation.sentence] if found.relaxation else []
    steps = page_of(found.recourse).steps if found.recourse else ()
    now = found.target.format_score(found.scores[0])
    return Page(
        repr(found),
        alerts=caution_lines(found.cautions),
        opening=tuple(opening),
        now=now,
        noun=found.target.noun,
        steps=steps,
        closing=tuple(closing),
    )


def _usual_line(found: Check) -> str:
    """How many have a less common state: usual is what the floor allows."""
    rows = found.schema.each_row
    if found.density <= 0:
        return f"unusual: no {rows.one} has a less common state"
    share = f"{format_percent(found.density)} of {rows.many} have a less common state"
    return f"usual: {share}" if found.on_ground else f"unusual: only {share}"
