"""An audit of counterfactuals that others propose: what each is worth, and whether there is a way to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple, overload

import narwhals as nw
import numpy as np

from localface.box import Box, check_where
from localface.density.protocol import TOLERANCE, Density
from localface.desk import Desk, Request
from localface.errors import ConstraintError, DataError
from localface.frames import Form, read_people, read_person, read_table
from localface.geometry import Array, norms
from localface.infer import Frame, Values, missing, opened
from localface.parts import Certificate, Status, Target
from localface.recourse import Recourse
from localface.render import Change, changes_between, more_unusual_than, number, people, percent, percents, plain
from localface.schema import Schema
from localface.search import Plan

Watch = Callable[[Iterator[tuple[int, Recourse]], int], Iterator[tuple[int, Recourse]]]
"""Passes answers on as they come, given how many there will be."""

_COPIED = 1e-6  # a value this near to the person's own, relatively, went through another format and did not change
_PASSES = 1e-6  # how far below the floor a certified bound may fall and still count as on it


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Finding:
    """What one proposal is worth.

    ``score`` and ``valid`` are by the explainer's own model, ``broken`` the constraints that
    it breaks, in words; ``density`` is the share of people on less common ground, ``jump``
    what is known of the straight step there. ``reachable`` is None where it was not asked:
    nothing, or nothing valid, was proposed, or nothing needs to change. ``recourse`` is the
    way there; ``between`` says what lies in between where there is none, and ``relaxed_to``
    the highest floor that would open one.
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
    changes: tuple[Change, ...] = ()

    @property
    def proposed(self) -> bool:
        """Whether there is a proposal at all."""
        return self.score is not None

    @property
    def in_box(self) -> bool:
        """Whether the proposal keeps every constraint."""
        return self.proposed and not self.broken

    @property
    def changed(self) -> tuple[str, ...]:
        """The features that change by at least their resolution, the largest change first."""
        return tuple(change.name for change in self.changes)

    @property
    def verdict(self) -> str:
        """The finding in a word or two."""
        if not self.proposed:
            return "nothing proposed"
        if not self.valid:
            return "not valid"
        if self.broken:
            return "outside the constraints"
        if self.reachable is None:
            return "already there"
        return "reachable" if self.reachable else "out of reach"

    def __repr__(self) -> str:
        if self.score is None:
            return f"<Finding {self.number}: nothing proposed>"
        scores = f"score {self.target.show(self.score_before)} -> {self.target.show(self.score)}"
        return f"<Finding {self.number}: {self.verdict}, {scores}, {_counted(len(self.changes), 'feature')} changed>"

    def __str__(self) -> str:
        return "\n".join([repr(self), *(f"  {word:<12}{plain(text)}" for word, text in self._lines())])

    def _lines(self) -> Iterator[tuple[str, str]]:
        """What is known, one word and one sentence at a time."""
        if self.score is None or self.density is None or self.jump is None:
            return
        for i, change in enumerate(self.changes):
            yield ("" if i else "changes"), f"{change.name} {change}"
        yield "valid", f"{_yes(self.valid)}: score {self.target.show(self.score)}, wanted {self.target.sentence}"
        yield "in the box", _yes(self.in_box) + (f": {'; '.join(self.broken)}" if self.broken else "")
        yield "on ground", f"{_yes(self.on_ground)}: as common as {people(self.density)}"
        yield "straight", self.jump.sentence
        if self.recourse is not None:
            yield "reachable", f"yes: {self._way(self.recourse)}"
        elif self.reachable is not None:
            yield "reachable", f"no: {self.between}"
        else:
            yield "reachable", f"not asked: {self.between}"

    def _way(self, recourse: Recourse) -> str:
        """How it is reached; fewer changes than were proposed may be enough."""
        way = f"by {_counted(len(recourse.certificates), 'step')} from person to person"
        way += ", after an entry over less common ground" if recourse.entry else ""
        needed = list(dict.fromkeys(name for action in recourse.actions for name in action.changes))
        if not needed:
            return way
        enough = f"; of what changes, {', '.join(needed)} is enough" if len(needed) < len(self.changes) else ""
        return f"{way}, or by {_counted(len(recourse.actions), 'action')}{enough}"


class Share(NamedTuple):
    """How many pairs, and what share of all of them that is."""

    n: int
    share: float


_ASKED: dict[str, Callable[[Finding], bool]] = {
    "proposed": lambda one: one.proposed,
    "valid": lambda one: one.valid,
    "in_box": lambda one: one.in_box,
    "on_ground": lambda one: one.on_ground,
    "straight": lambda one: one.jump is not None and one.jump.holds,
    "reachable": lambda one: one.reachable is True,
}


class Audit(Sequence[Finding]):
    """Findings, one for each pair of a person and a proposal, in the order they came."""

    __slots__ = ("_findings", "_floor", "_kind")

    def __init__(self, findings: Sequence[Finding], *, kind: str = "numpy", min_density: float = 0.0) -> None:
        self._findings = tuple(findings)
        self._kind = kind
        self._floor = min_density

    @overload
    def __getitem__(self, place: int) -> Finding: ...
    @overload
    def __getitem__(self, place: slice) -> Audit: ...
    def __getitem__(self, place: int | slice) -> Finding | Audit:
        if isinstance(place, slice):
            return Audit(self._findings[place], kind=self._kind, min_density=self.min_density)
        return self._findings[place]

    def __len__(self) -> int:
        return len(self._findings)

    @property
    def min_density(self) -> float:
        """The floor that proposals were held to."""
        return self._floor

    def summary(self) -> dict[str, Share]:
        """How many pairs pass each question, and what share of *all* pairs that is.

        ``proposed``, ``valid``, ``in_box``, ``on_ground``, ``straight`` (all of the straight
        step is on common enough ground) and ``reachable`` (some way of such steps leads there).
        """
        counts = {name: sum(map(asked, self._findings)) for name, asked in _ASKED.items()}
        return {name: Share(count, count / len(self) if len(self) else 0.0) for name, count in counts.items()}

    def to_frame(self) -> Any:
        """One line a pair, as a table of the kind that the people came in.

        For a NumPy user it is a pandas frame, or a dict of columns without pandas.
        """
        columns = {name: [read(one) for one in self._findings] for name, read in _COLUMNS.items()}
        kind: Any = self._kind if self._kind != "numpy" else "pandas"
        return nw.from_dict(columns, backend=kind).to_native() if find_spec(kind) else columns

    def plot(self, **options: Any) -> Any:
        """Draw the audit (needs matplotlib); the options are those of ``localface.plots.plot_audit``."""
        try:
            return import_module("localface.plots").plot_audit(self, **options)
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] != "matplotlib":
                raise
            raise ModuleNotFoundError(
                'plots need matplotlib, which is not installed; run: pip install "localface[plots]"', name="matplotlib"
            ) from error

    def __repr__(self) -> str:
        counts = Counter(one.verdict for one in self._findings)
        told = ", ".join(f"{n} {word}" for word, n in counts.most_common())
        return f"<Audit of {_counted(len(self), 'proposal')}{': ' + told if told else ''}>"

    def __str__(self) -> str:
        lines = [f"  {WORDS[name]:<36}{n:>5,}  {percent(share)}" for name, (n, share) in self.summary().items()]
        return "\n".join([repr(self), *lines])

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col">{word}</th>' for word in ("", "proposals", "share of all"))
        body = "".join(
            f'<tr><th scope="row">{escape(WORDS[name])}</th><td>{n:,}</td><td>{percent(share)}</td></tr>'
            for name, (n, share) in self.summary().items()
        )
        caption = f"<caption>{escape(repr(self).strip('<>'))}</caption>"
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


WORDS = {
    "proposed": "something is proposed",
    "valid": "valid: the model agrees",
    "in_box": "within the person's constraints",
    "on_ground": "on common enough ground",
    "straight": "the straight step is on such ground",
    "reachable": "reachable by steps on such ground",
}
"""What each question of the summary asks."""

_COLUMNS: dict[str, Callable[[Finding], Any]] = {
    "number": lambda one: one.number,
    "verdict": lambda one: one.verdict,
    "score_before": lambda one: one.score_before,
    "score": lambda one: np.nan if one.score is None else one.score,
    "valid": lambda one: one.valid,
    "in_box": lambda one: one.in_box,
    "broken": lambda one: "; ".join(one.broken),
    "density": lambda one: np.nan if one.density is None else one.density,
    "on_ground": lambda one: one.on_ground,
    "straight_lowest": lambda one: np.nan if one.jump is None else one.jump.lowest,
    "reachable": lambda one: one.reachable is True,
    "steps": lambda one: 0 if one.recourse is None else len(one.recourse.certificates),
    "actions": lambda one: 0 if one.recourse is None else len(one.recourse.actions),
    "changed": lambda one: ", ".join(one.changed),
    "between": lambda one: one.between,
    "relaxed_to": lambda one: np.nan if one.relaxed_to is None else one.relaxed_to,
}


@dataclass(frozen=True, slots=True, eq=False)
class _Pair:
    """A person, their constraints, and what is proposed to them: nothing, or a record with what is odd about it."""

    record: Array
    box: Box
    goal: Array | None
    odd: tuple[str, ...] = ()


def audited(
    desk: Desk,
    density: Density,
    pairs: tuple[Any, Any],
    *,
    where: Mapping[str, Any] | None,
    form: Form,
    plan: Plan,
    watch: Watch,
) -> Audit:
    """Look at proposals one by one: the model, the box, the ground, the straight step, and a way there."""
    read = _pairs(desk, pairs, where)
    findings, levels = _measured(desk, density, read)
    asked = {
        i: Request(read[i].record, form, read[i].box, goal=read[i].goal, relax=True)
        for i, one in enumerate(findings)
        if one.valid and one.in_box
    }
    for i, answer in watch(_answers(desk, plan, asked, levels), len(asked)):
        findings[i] = _reached(findings[i], answer)
    kind = form.kind if isinstance(pairs[0], list | tuple) else Form.of(pairs[0], desk.schema).kind
    return Audit(findings, kind=kind, min_density=desk.options.min_density)


def _answers(
    desk: Desk, plan: Plan, asked: Mapping[int, Request], levels: Mapping[int, float]
) -> Iterator[tuple[int, Recourse]]:
    """Look for ways to proposals, and where there is none for the least relaxation.

    No way to a proposal can be on more common ground than the proposal itself. Where that
    is below the floor, a way on as common ground is the best there can be, and found sooner.
    """
    on_ground = [i for i in asked if levels[i] >= desk.floor - TOLERANCE]
    for place, answer in desk.answered([asked[i] for i in on_ground], plan):
        yield on_ground[place], answer
    quick = replace(plan, actions=False, slack=1.0)  # that there is a way is all we want to know
    for i in [i for i in asked if i not in on_ground]:
        ((_, answer),) = replace(desk, floor=levels[i]).answered([replace(asked[i], relax=False)], quick)
        if answer.found:
            answer = replace(answer, relaxed_to=float(desk.answers.scale.share(levels[i])))
        elif answer.status is Status.UNREACHABLE:
            ((_, answer),) = desk.answered([asked[i]], quick)
        yield i, answer


def _reached(finding: Finding, answer: Recourse) -> Finding:
    """Add what a search for the proposal found."""
    if answer.status is Status.ALREADY_THERE:
        return replace(finding, between=answer.status.value)
    if answer.relaxed_to is not None:
        floor, lower = percents(answer.min_density, answer.relaxed_to)
        itself = finding.density is not None and answer.relaxed_to >= finding.density - TOLERANCE
        what = "it stands itself on" if itself else "the best way there crosses"
        unusual = f"{what} ground {more_unusual_than(answer.relaxed_to)}"
        between = f"{unusual}; the floor of {floor} would have to be lowered to {lower}"
        return replace(finding, reachable=False, between=between, relaxed_to=answer.relaxed_to)
    if answer.found:
        return replace(finding, reachable=True, recourse=answer)
    return replace(finding, reachable=False, between=answer.reason or answer.status.value)


def _measured(desk: Desk, density: Density, pairs: Sequence[_Pair]) -> tuple[list[Finding], dict[int, float]]:
    """What needs no search, for all pairs at once, and the log-densities of the proposals.

    It takes one model call, and two questions to the density.
    """
    some = [i for i, pair in enumerate(pairs) if pair.goal is not None]
    before = np.stack([pair.record for pair in pairs])
    after = np.array([pairs[i].goal for i in some]).reshape(len(some), len(desk.schema))
    scores = desk.score(np.concatenate([before, after]))
    shown, target = [desk.score.shown(float(score)) for score in scores], desk.answers.target
    findings = [Finding(number=i, target=target, score_before=shown[i]) for i in range(len(pairs))]
    starts, stops = desk.space.points(before[some]), desk.space.points(after)
    ground = density.mean if desk.options.edges == "average" else density.lowest
    levels = ground(stops, stops, None).values if some else np.zeros(0)
    under = ground(starts, stops, None).values if some else np.zeros(0)
    for place, i in enumerate(some):
        length = float(norms(stops[place] - starts[place]))
        findings[i] = replace(
            findings[i],
            score=shown[len(pairs) + place],
            valid=bool(scores[len(pairs) + place] >= desk.score.min_score),
            broken=_broken(desk.schema, pairs[i]),
            density=float(desk.answers.scale.share(levels[place])),
            on_ground=bool(levels[place] >= desk.floor - TOLERANCE),
            jump=_jump(desk, length, float(under[place])),
            changes=changes_between(desk.schema, desk.answers.scales, before[i], after[place]),
        )
        findings[i] = replace(findings[i], **_unasked(findings[i]))
    return findings, dict(zip(some, levels.tolist(), strict=True))


def _unasked(finding: Finding) -> dict[str, Any]:
    """What is said of a proposal that no way is looked for to."""
    if not finding.valid:
        return {"between": f"the model does not agree: wanted {finding.target.sentence}"}
    if finding.broken:
        return {"reachable": False, "between": f"the constraints rule it out: {'; '.join(finding.broken)}"}
    return {}


def _jump(desk: Desk, length: float, lowest: float) -> Certificate:
    """What is known of the straight step."""
    passed = lowest >= desk.floor - _PASSES
    floor = desk.options.min_density
    return desk.answers._certificate(length, lowest, floor, entry=False, passed=passed)


def _broken(schema: Schema, pair: _Pair) -> tuple[str, ...]:
    """The constraints that a proposal breaks, each with what is proposed instead."""
    assert pair.goal is not None
    found = list(pair.odd)
    for j, why in pair.box.reasons.items():
        feature, code = schema.features[j], float(pair.goal[j])
        if not pair.box.holds(j, code):
            unit = f" {feature.unit}" if feature.unit else ""
            found.append(f"{why}, and {feature.format(code)}{unit} is proposed")
    for first, _, second in schema.relations:
        if pair.goal[schema.index(first)] > pair.goal[schema.index(second)]:
            found.append(f"{first} <= {second} does not hold")
    return tuple(found)


def _pairs(desk: Desk, given: tuple[Any, Any], where: Mapping[str, Any] | None) -> list[_Pair]:
    """Read people and proposals side by side."""
    schema = desk.schema
    check_where(schema.features, where)
    people_ = read_people(given[0], schema)
    proposals = _read_proposals(given[1], _loose(schema))
    if len(people_) != len(proposals):
        raise DataError(
            f"{len(people_)} factuals and {len(proposals)} counterfactuals came: give one a person, in the same order, "
            "and None or a row of NaN where nothing is proposed"
        )
    pairs = []
    for i, (record, goal) in enumerate(zip(people_, proposals, strict=True)):
        try:
            box = schema.box(record, where)
        except ConstraintError as error:
            raise ConstraintError(f"person {i}: {error}") from None
        pairs.append(_Pair(record, box, None) if goal is None else _settled(desk, _Pair(record, box, goal)))
    return pairs


def _settled(desk: Desk, pair: _Pair) -> _Pair:
    """Take what is the person's own value but for rounding as their own; note fractions that should be whole."""
    assert pair.goal is not None
    sizes = np.maximum(np.abs(pair.record), desk.space.scales)
    goal = np.where(np.abs(pair.goal - pair.record) <= _COPIED * sizes, pair.record, pair.goal)
    odd = []
    for j, feature in enumerate(desk.schema):
        whole = float(np.rint(goal[j])) + 0.0
        if feature.whole and abs(goal[j] - whole) > _COPIED * sizes[j]:
            odd.append(f"{feature.name} is whole, and {number(float(goal[j]))} is proposed (taken as {whole:.0f})")
        goal[j] = whole if feature.whole else goal[j]
    return replace(pair, goal=goal, odd=tuple(odd))


def _loose(schema: Schema) -> Schema:
    """The same features, with fractions allowed where only whole numbers are: others may propose them."""
    features = [f if f.kind != "integer" else replace(f, kind="numeric") for f in schema]
    return Schema(features)


def _read_proposals(proposals: Any, schema: Schema) -> list[Array | None]:
    """Read a table or a list of proposals; one in which everything is missing is none."""
    if isinstance(proposals, list | tuple):
        return [_read_one(i, one, schema) for i, one in enumerate(proposals)]
    table = opened(proposals)
    empty = _empty(table, schema)
    found: list[Array | None] = [None] * len(table)
    places = np.flatnonzero(~empty)
    if len(places):
        kept = table[places] if isinstance(table, np.ndarray) else table.filter((~empty).tolist()).to_native()
        try:
            records = read_table(kept, schema)
        except DataError as error:
            raise DataError(f"the counterfactuals: {error}") from None
        for place, record in zip(places.tolist(), records, strict=True):
            found[place] = record
    return found


def _read_one(place: int, proposal: Any, schema: Schema) -> Array | None:
    values = proposal
    if nw.dependencies.is_pandas_series(proposal):
        values = proposal.to_numpy(dtype=object)
    elif isinstance(proposal, Mapping):
        values = np.array([proposal.get(name, 0) for name in schema.names], dtype=object)
    if proposal is None or (isinstance(values, np.ndarray) and values.ndim == 1 and missing(values).all()):
        return None
    if not (isinstance(values, np.ndarray) and values.ndim == 1) and _empty(opened(values), schema).all():
        return None
    try:
        return read_person(proposal, schema, "the counterfactual")
    except DataError as error:
        raise DataError(f"counterfactual {place}: {error}") from None


def _empty(table: Frame | Values, schema: Schema) -> Any:
    """Tell which rows have nothing in any feature."""
    if isinstance(table, np.ndarray):
        columns = [table[:, j] for j in range(table.shape[1])]
    else:
        columns = [table[name].to_numpy() for name in schema.names if name in table.columns]
    masks = [missing(column) for column in columns]
    return np.logical_and.reduce(masks) if masks else np.zeros(len(table), dtype=bool)


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def _yes(fine: bool) -> str:
    return "yes" if fine else "no"
