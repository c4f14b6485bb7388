"""Why not: what stands between a person and a state they wish for, with the evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import narwhals as nw
import numpy as np

from localface.box import Box
from localface.desk import Desk, Request
from localface.errors import DataError, listed, near_miss
from localface.frames import Form, read_person
from localface.geometry import Array
from localface.parts import Certificate, Disclosure, Status, Target
from localface.recourse import Recourse
from localface.render import (
    Page,
    as_html,
    as_text,
    changes_between,
    more_unusual_than,
    number,
    page_of,
    percent,
    percents,
)
from localface.schema import Feature, Schema
from localface.search import Outcome, Plan

_ON_THE_FLOOR = 1e-6  # how far below the floor a log-density may fall by rounding
_BETWEEN = 31  # places looked at on a straight step, to say where it leaves common ground
_PAIRS_UP_TO = 12  # constrained features up to which pairs are tried
_NAMED = 3  # sets of features that a sentence names


@dataclass(frozen=True, slots=True)
class Overstep:
    """A constraint that a wish breaks: its words, the value wished for, and by how much that is too far.

    ``by`` is counted in ``unit``; it is None where there is no distance, as between categories.
    """

    feature: str
    rule: str
    value: object
    shown: str
    by: float | None = None
    unit: str = ""
    other: str | None = None  # the second feature, where it is a relation that is broken

    @property
    def amount(self) -> str:
        """By how much, for people."""
        return "" if self.by is None else " ".join(part for part in (number(self.by), self.unit) if part)

    @property
    def sentence(self) -> str:
        """What is broken and by how much, for people."""
        if self.by is None:
            return f"'{self.rule}' rules out {self.shown}"
        what = f"{self.feature} {self.shown}" if self.other else self.shown
        return f"'{self.rule}' is overstepped by {self.amount}: {what} is wished for"

    @property
    def remedy(self) -> str:
        """What would have to be allowed, for people."""
        if self.other:
            return f"{self.feature} may exceed {self.other} by {self.amount}"
        further = f" ({self.amount} further)" if self.by is not None else ""
        return f"{self.feature} may be {self.shown}{further}"


@dataclass(frozen=True, slots=True)
class Relaxation:
    """The least that would have to give way for a wish to come true.

    ``widen`` holds the constraints, ``min_density`` the floor and ``min_score`` the score
    to settle for; None, or nothing, where no more is asked than now. ``enough`` tells
    whether that opens it: no floor helps where ``max_step`` rules out every step.
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
    least common place on a straight step that no others lead around.
    """

    schema: Schema
    form: Form
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

    @property
    def wish(self) -> dict[str, object]:
        """What the wish would change: feature and new value, in the user's units."""
        now, then = (self.schema.values(record) for record in self.records)
        return {name: then[name] for name in self.schema.names if now[name] != then[name]}

    @property
    def state(self) -> Any:
        """The whole state that is wished for, in the form the person came in."""
        return self.form.single(self.records[1])

    @property
    def allowed(self) -> bool:
        """Whether the wish keeps every constraint and relation; ``broken`` holds those that it does not."""
        return not self.broken

    @property
    def score(self) -> float:
        """What the model says of the wished state."""
        return self.scores[1]

    @property
    def valid(self) -> bool:
        """Whether the wished state reaches the target."""
        return self.target.reached(self.score)

    @property
    def density(self) -> float:
        """How usual the wished state is: the share of people who stand on less common ground."""
        return self.densities[1]

    @property
    def reachable(self) -> bool:
        """Whether steps that this person may take lead there."""
        return self.allowed and self.way

    @property
    def refused_by(self) -> tuple[str, ...]:
        """Which rules refuse the wish: what is forbidden first, then what is uncommon, useless, out of reach."""
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
        words = f"refused by {_joined(self.refused_by)}" if self.refused_by else "nothing refuses it"
        reached = "reachable" if self.reachable else "not reachable"
        scores = " -> ".join(self.target.show(score) for score in self.scores)
        return f"<Check: {words}, {reached}, score {scores}, {self.disclosure}>"

    def __str__(self) -> str:
        return as_text(_page(self))

    def _repr_html_(self) -> str:
        return as_html(_page(self))


def check(desk: Desk, plan: Plan, request: Request) -> Check:
    """Look at a wish, the goal of a request, from every side."""
    assert request.goal is not None
    record, goal = request.record, request.goal
    same = bool((record == goal).all())
    broken = () if same else tuple(_oversteps(desk.schema, request.box, goal))
    outcome, straight = desk.surveyed(request, desk.space.points(goal[None, :]))
    tried = None if same else _sought(desk, plan, request, broken)
    on_ground = bool(outcome.levels[1] >= desk.floor - _ON_THE_FLOOR)
    spent = [straight.disclosure] if tried is None else [straight.disclosure, tried.disclosure]
    found = Check(
        schema=desk.schema,
        form=request.form,
        target=straight.target,
        min_density=straight.min_density,
        scales=straight.scales,
        records=_frozen(np.stack([record, goal])),
        scores=(straight.scores[0], straight.scores[1]),
        densities=(straight.densities[0], straight.densities[1]),
        broken=broken,
        on_ground=on_ground,
        step=straight.certificates[0],
        direct=same or (not broken and _direct(desk, outcome, straight.certificates[0])),
        way=tried is None or (tried.found and tried.relaxed_to is None),
        recourse=None if broken or tried is None or tried.relaxed_to is not None else _kept(tried),
        place=None,
        reasons=(),
        relaxation=None,
        disclosure=_together(spent),
    )
    return _reasoned(desk, request, found, tried)


def wish_of(wish: object, record: Array, schema: Schema) -> Array:
    """Read a wish: some features with new values, the others as they are, or a whole record."""
    if nw.dependencies.is_pandas_series(wish):
        wish = dict(zip(wish.index, wish.to_numpy(dtype=object), strict=True))
    if not isinstance(wish, Mapping):
        return read_person(wish, schema, "the wish")
    if not wish:
        raise DataError("the wish is empty: name at least one feature with the value it should have")
    goal = record.copy()
    for name, value in wish.items():
        if name not in schema.names:
            near = near_miss(name, schema.names)
            raise DataError(f"the wish names {name!r}, which is no feature{near}: there are {listed(schema.names)}")
        goal[schema.index(name)] = schema[name].code(value)
    return goal


def opened(desk: Desk, plan: Plan, asked: Sequence[tuple[Request, Recourse]]) -> list[Recourse]:
    """Say, for those who have no one to become, which constraints would have to give way: singles, then pairs.

    Everyone else's answer is passed on as it is. Sets that leave nobody to become are told
    by counting; only the others are searched, all in lock-step. The rows that those
    searches see are added up: someone seen twice counts twice, so that the sum is an upper bound.
    """
    answers = [answer for _, answer in asked]
    shut = [i for i, (request, answer) in enumerate(asked) if _is_shut(request, answer)]
    for size in (1, 2):
        trials = [(i, some) for i in shut for some in _sets(asked[i][0].box, size)]
        requests = [replace(asked[i][0], box=_freed(asked[i][0].box, some)) for i, some in trials]
        hopeful = desk.hopeful(requests) if requests else []
        worth = [(*trial, request) for trial, request, fine in zip(trials, requests, hopeful, strict=True) if fine]
        for i, some, found in _tried(desk, plan, worth, answers):
            names = tuple(desk.schema.names[j] for j in some)
            spent = _together([answers[i].disclosure, found.disclosure])
            answers[i] = replace(answers[i], disclosure=spent, opens=(*answers[i].opens, *([names] * found.found)))
        shut = [i for i in shut if not answers[i].opens]
    return [replace(one, reason=f"{one.reason}; {_opens(one.opens)}") if one.opens else one for one in answers]


def _is_shut(request: Request, answer: Recourse) -> bool:
    return answer.status is Status.NO_TARGET and request.goal is None


def _sets(box: Box, size: int) -> list[tuple[int, ...]]:
    """Sets of constrained features of one size; no pairs where there would be too many."""
    constrained = sorted(box.reasons)
    return list(combinations(constrained, size)) if size == 1 or len(constrained) <= _PAIRS_UP_TO else []


def _freed(box: Box, features: Sequence[int]) -> Box:
    """The box without what it says of some features."""
    free = np.isin(np.arange(len(box.lower)), features)
    return Box(
        np.where(free, -np.inf, box.lower),
        np.where(free, np.inf, box.upper),
        {j: codes for j, codes in box.allowed.items() if j not in features},
        box.up & ~free,
        box.down & ~free,
        {j: why for j, why in box.reasons.items() if j not in features},
    )


def _tried(
    desk: Desk, plan: Plan, trials: list[tuple[int, tuple[int, ...], Request]], answers: Sequence[Recourse]
) -> list[tuple[int, tuple[int, ...], Recourse]]:
    """Search each trial no further than to the first way; a row budget is shared out among a person's trials."""
    quick = replace(plan, actions=False, strategy="guided", slack=np.inf, cost="length")
    batches = [trials]
    if desk.options.max_rows is not None:
        batches = [[trial for trial in trials if trial[0] == i] for i in dict.fromkeys(trial[0] for trial in trials)]
    found = []
    for batch in batches:
        at = desk
        if desk.options.max_rows is not None:
            share = (desk.options.max_rows - answers[batch[0][0]].disclosure.rows) // len(batch)
            if share < 1:
                continue
            at = replace(desk, options=replace(desk.options, max_rows=share))
        requests = [replace(request, relax=False) for _, _, request in batch]
        found += [(*batch[number][:2], answer) for number, answer in at.answered(requests, quick)]
    return sorted(found, key=lambda one: one[:2])


def _opens(sets: Sequence[tuple[str, ...]]) -> str:
    """Name the sets of features whose constraints would have to give way."""
    some = [f"if {_joined(names)} may move further" for names in sets[:_NAMED]]
    some += [f"in {len(sets) - _NAMED} other ways"] if len(sets) > _NAMED else []
    return f"a way opens {', or '.join(some)} (the rows seen count the searches for this too, at most)"


def _oversteps(schema: Schema, box: Box, goal: Array) -> Iterator[Overstep]:
    """What a state breaks: the constraints first, then the relations."""
    for j, why in box.reasons.items():
        feature, code = schema.features[j], float(goal[j])
        if not box.holds(j, code):
            by = None if feature.discrete else float(max(box.lower[j] - code, code - box.upper[j]))
            yield Overstep(feature.name, why, feature.value(code), _shown(feature, code), by, _unit(feature, by))
    for first, relation, second in schema.relations:
        feature, code = schema[first], float(goal[schema.index(first)])
        by = code - float(goal[schema.index(second)])
        if by > 0:
            rule = f"{first} {relation} {second}"
            yield Overstep(first, rule, feature.value(code), _shown(feature, code), by, _unit(feature, by), second)


def _widened(box: Box, goal: Array, broken: Sequence[int]) -> Box:
    """The box, widened just enough to hold a state."""
    wide = np.isin(np.arange(len(goal)), broken)
    return Box(
        np.where(wide, np.minimum(box.lower, goal), box.lower),
        np.where(wide, np.maximum(box.upper, goal), box.upper),
        {j: codes | {int(goal[j])} if wide[j] else codes for j, codes in box.allowed.items()},
        box.up & ~wide,
        box.down & ~wide,
        box.reasons,
    )


def _sought(desk: Desk, plan: Plan, request: Request, broken: Sequence[Overstep]) -> Recourse:
    """Look for a way to the wished state, at the least relaxation that opens one."""
    outside = [desk.schema.index(one.feature) for one in broken if one.other is None]
    assert request.goal is not None
    wider = replace(request, box=_widened(request.box, request.goal, outside), relax=True, wished=True)
    how = replace(plan, strategy="guided", momentum_steps=0, actions=plan.actions and not broken)
    ((_, answer),) = desk.answered([wider], how)
    if answer.relaxed_to is None:
        return answer
    lowered = min(answer.relaxed_to, *answer.densities[1:])  # a mean may hide that a place is uncommon
    enough = lowered >= float(desk.answers.scale.share(desk.floor)) > 0  # looking further out was all it took
    return replace(answer, relaxed_to=None if enough else lowered)


def _direct(desk: Desk, outcome: Outcome, step: Certificate) -> bool:
    """Whether the straight step can be taken: common ground, no longer than allowed."""
    longest = desk.options.max_step
    ends = desk.options.edges != "average" or bool((outcome.levels >= desk.floor - _ON_THE_FLOOR).all())
    return step.holds and ends and (longest is None or step.length <= longest)


def _kept(tried: Recourse) -> Recourse | None:
    """The way that was found, with a word on where it leads if that is not the target."""
    if not tried.found:
        return None
    short = "this leads to the wished state, which does not reach the target"
    return tried if tried.target.reached(tried.scores[-1]) else replace(tried, reason=short)


def _reasoned(desk: Desk, request: Request, found: Check, tried: Recourse | None) -> Check:
    """Add the reasons, the place where a straight step fails, and the least relaxation."""
    refused = found.refused_by
    if not refused:
        return found
    place, spent = None, found.disclosure
    if "way" in refused and not found.step.holds:
        place, account = _least_common(desk, request)
        spent = _together([spent, account])
    found = replace(found, place=place, disclosure=spent)
    sentences = [one.sentence for one in found.broken]
    sentences += [_floor_reason(found)] if "floor" in refused else []
    sentences += [_score_reason(found)] if "score" in refused else []
    sentences += [_way_reason(desk, found, tried)] if "way" in refused else []
    return replace(found, reasons=tuple(sentences), relaxation=_relaxation(found, tried))


def _least_common(desk: Desk, request: Request) -> tuple[dict[str, object], Disclosure]:
    """The least common place on the straight way, as the features that change; discrete ones flip half way."""
    assert request.goal is not None
    start, end = desk.space.points(np.stack([request.record, request.goal]))
    t = np.linspace(0, 1, _BETWEEN + 2)[1:-1, None]
    states = np.where(desk.space.discrete, np.where(t < 0.5, start, end), start + t * (end - start))
    outcome, straight = desk.surveyed(request, states)
    values = desk.schema.values(straight.records[1 + int(outcome.levels[1:].argmin())])
    changed = [name for j, name in enumerate(desk.schema.names) if request.record[j] != request.goal[j]]
    return {name: values[name] for name in changed}, straight.disclosure


def _floor_reason(found: Check) -> str:
    step = found.step
    if step.rule == "cover" and step.people is not None and step.radius is not None:
        return f"fewer than {step.people:,} people are within {number(step.radius)} ordinary differences of the wish"
    allowed, unusual = percents(1 - found.min_density, 1 - found.density)
    most = f"the floor allows {allowed}"
    if found.density <= 0:
        return f"the wished state is more unusual than anybody's; {most}"
    return f"the wished state is more unusual than {unusual} of people's; {most}"


def _score_reason(found: Check) -> str:
    missing = number(float(f"{abs(found.target.min_score - found.score):.2g}"))
    wanted = found.target.sentence
    return f"the score would be {found.target.show(found.score)}, {missing} from what is wanted: {wanted}"


def _way_reason(desk: Desk, found: Check, tried: Recourse | None) -> str:
    options = desk.options
    if tried is not None and tried.status is Status.BUDGET:
        return f"max_rows={options.max_rows} was spent before a way was found"
    around = f"no steps from each place to its {options.n_neighbors} nearest lead there over common enough ground"
    if found.place is not None:
        where = ", ".join(f"{name} {_told(found.schema[name], value)}" for name, value in found.place.items())
        return f"the straight way there is {more_unusual_than(found.step.lowest)}, most of all at {where}; {around}"
    if options.max_step is not None and found.step.length > options.max_step:
        long = f"the straight step is {number(found.step.length)} ordinary differences long"
        return f"{long}, and max_step allows {number(options.max_step)}; {around}"
    return around


def _relaxation(found: Check, tried: Recourse | None) -> Relaxation:
    """What would have to give way, all of it at once."""
    lowered = None if tried is None else tried.relaxed_to
    score = None if found.valid else found.score
    enough = tried is None or tried.found
    parts = [one.remedy for one in found.broken]
    if lowered is not None and lowered > 0:
        parts.append("the floor comes down from {} to {}".format(*percents(found.min_density, lowered)))
    elif lowered is not None:
        parts.append("the floor gives way altogether (the way there is more unusual than anybody's)")
    parts += [] if score is None else [f"a score of {found.target.show(score)} is enough"]
    sentence = f"it opens if {_joined(parts)}" if parts and enough else _hopeless(tried)
    return Relaxation(found.broken, lowered, score, enough, sentence)


def _hopeless(tried: Recourse | None) -> str:
    if tried is not None and tried.status is Status.BUDGET:
        return "whether a lower floor opens it is not known: allow more rows"
    return "no floor, however low, opens it: max_step or one-way features rule out every step onwards"


def _page(found: Check) -> Page:
    """Put a check on a page: the wish, what holds of it, what refuses it and what would open it."""
    changes = changes_between(found.schema, found.scales, *found.records)
    wish = ", ".join(f"{change.name} {change}" for change in changes) or "nothing changes"
    reaches = "reaches" if found.valid else "does not reach"
    opening = [f"wished: {wish}", f"score {found.target.show(found.score)} {reaches} {found.target.sentence}"]
    opening.append(f"usual: {percent(found.density)} of people stand on less common ground")
    if found.wish:
        opening.append(f"straight there: {found.step.sentence}")
    opening += [f"refused: {reason}" for reason in found.reasons]
    closing = [found.relaxation.sentence] if found.relaxation else []
    steps = page_of(found.recourse).steps if found.recourse else ()
    now = found.target.show(found.scores[0])
    return Page(repr(found), opening=tuple(opening), now=now, steps=steps, closing=tuple(closing))


def _together(accounts: Sequence[Disclosure]) -> Disclosure:
    """Add accounts up; rows that were seen twice count twice, but never more than there are."""
    seconds: dict[str, float] = {}
    for name, spent in [item for one in accounts for item in one.seconds.items()]:
        seconds[name] = seconds.get(name, 0.0) + spent
    return Disclosure(
        rows=min(accounts[0].of, sum(one.rows for one in accounts)),
        of=accounts[0].of,
        questions=sum(one.questions for one in accounts),
        model_calls=sum(one.model_calls for one in accounts),
        rows_scored=sum(one.rows_scored for one in accounts),
        seconds=seconds,
    )


def _joined(words: Sequence[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def _shown(feature: Feature, code: float) -> str:
    return feature.format(code) + (f" {feature.unit}" if feature.unit else "")


def _told(feature: Feature, value: object) -> str:
    return _shown(feature, feature.code(value))


def _unit(feature: Feature, by: float | None) -> str:
    if feature.categories is not None:
        return "place" if by == 1 else "places"
    return feature.unit or ""


def _frozen(records: Array) -> Array:
    records.setflags(write=False)
    return records
