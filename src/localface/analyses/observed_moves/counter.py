"""Counts, in people over time, who made the move that an action asks for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from localface.analyses.observed_moves.comparable import Comparable
from localface.analyses.observed_moves.known_rows import KnownRows
from localface.analyses.observed_moves.trajectories import Trajectories
from localface.answers.move_evidence import MoveEvidence
from localface.data.feature import Feature
from localface.data.frames import missing_mask
from localface.data.hot_columns import codes_of_hot_columns, columns_to_read
from localface.data.read import read_records
from localface.data.schema import Schema
from localface.errors import DataError, InputError, did_you_mean, list_names
from localface.types import Array, Ids, Mask

if TYPE_CHECKING:
    from localface.answers.action import Action
    from localface.answers.recourse import Recourse

_ROUNDING = 1e-9  # the share by which a change, or a time, may miss its mark
_NAMES = ("person", "time", "outcome", "good", "unit", "people", "well")


@dataclass(frozen=True, slots=True, eq=False)
class MoveCounter:
    """Trajectories as an explainer sees them, ready to be asked about any number of answers.

    ``codes`` has a column a feature of the schema, NaN where there is no value, ``known`` the
    share of rows that have one; the rows ``begins`` to ``ends`` of each row are the same
    person's later ones within the time allowed.
    """

    trajectories: Trajectories
    schema: Schema
    scales: tuple[float, ...]
    comparable: Comparable
    codes: Array
    known: Array
    begins: Ids
    ends: Ids
    _known_rows: dict[tuple[str, ...], KnownRows] = field(
        default_factory=dict, repr=False
    )  # each is made once

    @classmethod
    def of(
        cls,
        trajectories: Trajectories,
        schema: Schema,
        scales: Sequence[float],
        comparable: Comparable | None = None,
    ) -> MoveCounter:
        """Read trajectories with a schema, and with the ordinary differences between people."""
        rule = trajectories.comparable if comparable is None else comparable
        if rule.within is None:
            rule = replace(rule, within=trajectories.usual_time_limit)
        _check_features_present(trajectories, schema, rule)
        codes = _order_codes_within_person(
            trajectories,
            np.column_stack([_codes_of_feature(trajectories, feature) for feature in schema]),
        )
        begins, ends = _later_row_ranges(
            trajectories, rule.time_limit_in_stored_units(dated=trajectories.dated)
        )
        known = np.isfinite(codes).mean(axis=0)
        return cls(trajectories, schema, tuple(scales), rule, codes, known, begins, ends)

    def attach_evidence(self, answer: Recourse) -> Recourse:
        """Return the same answer with the evidence on each of its actions."""
        found = zip(answer.actions, self.evidence(answer), strict=True)
        return replace(
            answer, actions=tuple(replace(action, evidence=one) for action, one in found)
        )

    def evidence(
        self, answer: Recourse, *, without: Collection[object] = ()
    ) -> tuple[MoveEvidence, ...]:
        """Tell of each action who made a comparable move, leaving some people out if need be."""
        if not answer.actions:
            return ()
        states = answer.with_actions_as_path().records
        kept = self._mask_leaving_people_out(without)
        return tuple(
            self._count_moves(action, states[i], kept) for i, action in enumerate(answer.actions)
        )

    def _mask_leaving_people_out(self, without: Collection[object]) -> Mask:
        """Rows of people who are not left out."""
        if not len(without):
            return np.ones(len(self.trajectories), dtype=bool)
        kept = np.array([one not in without for one in self.trajectories.ids.tolist()])
        return np.asarray(kept[self.trajectories.person_of])

    def _count_moves(self, action: Action, state: Array, kept: Mask) -> MoveEvidence:
        """Count those who were in a state like this one, and who of them made the move."""
        changed = np.array([self.schema.index(name) for name in action.changes], dtype=np.int64)
        unknown = tuple(self.schema.names[j] for j in changed if self.known[j] == 0)
        if unknown:
            return self._evidence_without_counts((), untold=unknown)
        used = self._compared_features(changed)
        if used not in self._known_rows:
            self._known_rows[used] = self._make_known_rows(used)
        known = self._known_rows[used]
        after = np.array([self.schema[name].code(value) for name, value in action.changes.items()])
        starts = known.most_similar_row_per_person(
            state, kept & self._mask_of_rows_that_could_move(changed, state[changed])
        )
        moved = self._mask_of_starts_that_moved(starts, changed, after - state[changed], after)
        return replace(
            self._evidence_without_counts(used, radius=known.radius),
            **self._count_people_and_outcomes(starts, moved),
        )

    def _compared_features(self, changed: Ids) -> tuple[str, ...]:
        """What similarity is judged by: what the rule says, and whatever the action changes."""
        named = self.comparable.features
        known = self.known >= self.comparable.filled
        asked = known if named is None else np.array([name in named for name in self.schema.names])
        return tuple(name for j, name in enumerate(self.schema.names) if asked[j] or j in changed)

    def _make_known_rows(self, names: tuple[str, ...]) -> KnownRows:
        return KnownRows.from_codes(
            self.schema,
            self.scales,
            names,
            codes=self.codes,
            person_of=self.trajectories.person_of,
            nearest=self.comparable.nearest,
            radius=self.comparable.radius,
        )

    def _mask_of_rows_that_could_move(self, changed: Ids, before: Array) -> Mask:
        """Rows that have the category the move starts from, and a later row of the same person."""
        complete = np.isfinite(self.codes[:, changed]).all(axis=1)
        until = np.concatenate([[0], np.cumsum(complete)])
        able = until[self.ends] > until[self.begins]
        for j, code in zip(changed, before, strict=True):
            if self.schema.features[j].discrete:
                able &= self.codes[:, j] == code
        return np.asarray(able)

    def _mask_of_starts_that_moved(self, starts: Ids, changed: Ids, by: Array, to: Array) -> Mask:
        """Tell who made the move: at one later time, every feature went far enough that way."""
        lengths = self.ends[starts] - self.begins[starts]
        whose = np.repeat(np.arange(len(starts)), lengths)
        first = np.repeat(
            self.begins[starts] - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths
        )
        later = first + np.arange(len(whose))
        done = np.ones(len(whose), dtype=bool)
        for j, step, end in zip(changed, by, to, strict=True):
            if self.schema.features[j].discrete:
                done &= self.codes[later, j] == end
            else:
                gone = (self.codes[later, j] - self.codes[starts[whose], j]) * np.sign(step)
                done &= gone >= self.comparable.size * abs(step) * (1 - _ROUNDING)
        return np.bincount(whose[done], minlength=len(starts)) > 0

    def _count_people_and_outcomes(self, starts: Ids, moved: Mask) -> dict[str, Any]:
        """Count people, and how those of whom it is known fared."""
        fared = self.trajectories.fared[self.trajectories.person_of[starts]]
        return {
            "similar": len(starts),
            "moved": int(moved.sum()),
            "with_outcome": int(np.isfinite(fared[moved]).sum()),
            "fared_well": int((fared[moved] == 1).sum()),
            "others_with_outcome": int(np.isfinite(fared[~moved]).sum()),
            "others_fared_well": int((fared[~moved] == 1).sum()),
        }

    def _evidence_without_counts(self, used: tuple[str, ...], **more: Any) -> MoveEvidence:
        """Evidence in the words of these trajectories, nobody counted yet."""
        people = self.trajectories
        return MoveEvidence(
            similar=0,
            moved=0,
            within=self.comparable.time_limit_in_user_units(dated=people.dated),
            unit=people.unit,
            features=used,
            ignored=tuple(name for name in self.schema.names if name not in used),
            size=self.comparable.size,
            people=people.people,
            well=people.well,
            **more,
        )


def evidence_for(
    trajectories: Trajectories, answer: Recourse, *, without: Collection[object] = (), **rule: Any
) -> tuple[MoveEvidence, ...]:
    """Tell of each action of an answer who made a comparable move, and how they fared.

    ``without`` names people to leave out, such as the one whom the answer is about; the
    other options are those of ``Comparable``, in place of what the trajectories came with.
    For many answers make the ``MoveCounter`` once: they are indexed then.
    """
    comparable = replace(
        trajectories.comparable,
        **_check_option_names(rule, _comparable_option_names(), "evidence_for"),
    )
    return MoveCounter.of(trajectories, answer.schema, answer.scales, comparable).evidence(
        answer, without=without
    )


def read_trajectories(given: object) -> Trajectories:
    """Take trajectories as they are, or make them of a dict: table, column names, options."""
    if isinstance(given, Trajectories):
        return given
    if not isinstance(given, Mapping) or "table" not in given:
        raise InputError(
            f"evidence= is a {type(given).__name__}: "
            "give Trajectories(table, person=..., time=...), or a dict such as "
            "{'table': table, 'person': 'stay', 'time': 'hour'}"
        )
    options = {name: value for name, value in given.items() if name != "table"}
    _check_option_names(options, (*_NAMES, *_comparable_option_names()), "evidence=")
    lacking = [name for name in ("person", "time") if name not in options]
    if lacking:
        raise InputError(
            f"evidence= lacks {list_names(lacking)}: name the columns that say who and when"
        )
    rule = Comparable(
        **{name: options.pop(name) for name in _comparable_option_names() if name in options}
    )
    return Trajectories(given["table"], comparable=rule, **options)


def _comparable_option_names() -> tuple[str, ...]:
    return tuple(one.name for one in fields(Comparable))


def _check_option_names(options: dict[str, Any], known: Iterable[str], what: str) -> dict[str, Any]:
    for name in options:
        if name not in known:
            raise InputError(
                f"{what} has no {name!r}{did_you_mean(name, known)}: "
                f"there are {list_names(known, 20)}"
            )
    return options


def _check_features_present(trajectories: Trajectories, schema: Schema, rule: Comparable) -> None:
    """Refuse a table without any feature of the schema, or without one to judge by."""
    have = list(trajectories.columns)
    wanted = columns_to_read(have, schema)
    lacking = [f"{name!r}{did_you_mean(name, have)}" for name in wanted if name not in have]
    if len(lacking) == len(wanted):
        raise DataError(
            f"the longitudinal table has no feature of the schema: it lacks {', '.join(lacking)}"
        )
    for name in rule.features or ():
        index = schema.index(name)
        columns = schema.features[index].columns or (name,)
        if name not in have and not set(columns) <= set(have):
            raise DataError(
                f"features={name!r}: the longitudinal table has no such column"
                f"{did_you_mean(name, have)}"
            )


def _codes_of_feature(trajectories: Trajectories, feature: Feature) -> Array:
    """One feature in every row, NaN where there is no value."""
    codes = np.full(len(trajectories), np.nan)
    have = trajectories.columns
    names = columns_to_read(list(have), Schema((feature,)))
    if not set(names) <= set(have):
        return codes
    known = ~np.logical_or.reduce([missing_mask(have[name]) for name in names])
    if not known.any():
        return codes
    try:
        if names == [feature.name]:
            alone = replace(feature, columns=None)
            values = have[feature.name][known][:, None]
            codes[known] = read_records(values, Schema((alone,)))[:, 0]
        else:
            some = {name: have[name][known] for name in names}
            codes[known] = codes_of_hot_columns(feature, some)
    except DataError as error:
        raise DataError(f"the longitudinal table: {error}", feature=error.feature) from None
    return codes


def _order_codes_within_person(trajectories: Trajectories, codes: Array) -> Array:
    """Put rows of one person and time into an order that does not depend on how they came."""
    times = trajectories.times
    person_of = trajectories.person_of
    if not ((np.diff(times) == 0) & (np.diff(person_of) == 0)).any():
        return codes
    return np.asarray(codes[np.lexsort((*codes.T, times, person_of))])


def _later_row_ranges(
    trajectories: Trajectories, time_limit_in_stored_units: float
) -> tuple[Ids, Ids]:
    """For each row, where the same person's later rows within a time span begin and end."""
    times = trajectories.times
    person_of = trajectories.person_of
    moments, rank = np.unique(times, return_inverse=True)
    last = (
        np.searchsorted(moments, times + time_limit_in_stored_units * (1 + _ROUNDING), side="right")
        - 1
    )
    # Whole numbers that put people and moments in one order.
    order = person_of * len(moments) + rank.reshape(-1)
    begins = np.searchsorted(order, order, side="right")
    ends = np.searchsorted(order, person_of * len(moments) + last, side="right")
    return begins.astype(np.int64), ends.astype(np.int64)
