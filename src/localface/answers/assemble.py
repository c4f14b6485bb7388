"""From a search's outcome, in points and log-densities, to an answer in the user's units."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from localface.answers.action import Action
from localface.answers.cautions import (
    cautions_about_company,
    cautions_about_own_state,
    cautions_about_quirks,
    doubts_about_record,
    lacking_in_words,
)
from localface.answers.certificate import Certificate
from localface.answers.disclosure import Disclosure
from localface.answers.doubt import Doubt
from localface.answers.extreme_ends import cautions_about_extreme_ends
from localface.answers.long_plans import PlanSize, caution_about_long_plan
from localface.answers.rarer_plans import (
    caution_about_missing_actions,
    caution_about_rarer_actions,
)
from localface.answers.reasons import ReasonWriter
from localface.answers.recourse import Recourse
from localface.answers.status import Status
from localface.answers.target import Target
from localface.answers.waiting import Waiting, waiting_sentence
from localface.data.absence import absent_values, same_codes
from localface.data.box import Box
from localface.data.name_hints import is_identifier_name
from localface.data.schema import Schema
from localface.data.seen_values import SeenRanges, SeenValues
from localface.data.table_format import TableFormat
from localface.density.common_states import CommonStates
from localface.density.protocol import RESTATED_TOLERANCE, Density, DensityScale
from localface.geometry.segments import efforts, norms
from localface.options import Options
from localface.search.outcome import ActionPath, Outcome
from localface.types import Array, Ids


def own_features_that_differ(schema: Schema, seen: Sequence[SeenValues]) -> tuple[str, ...]:
    """Name what never changes and is not the same in all rows; an identifier likens nobody."""
    own = {one.name for one in schema if one.own and not is_identifier_name(one.name)}
    same = {
        feature.name
        for feature, values in zip(schema, seen, strict=False)
        if values.is_the_same or values.all_differ
    }
    return tuple(name for name in schema.names if name in own - same)


DisplayScores = Callable[[Sequence[float], Array], tuple[float, ...]]
"""Turns scores of the search into those for the user, given the records that they are of."""


@dataclass(frozen=True, slots=True, eq=False)
class AnswerAssembler:
    """What all answers of one explainer have in common, ready to make an answer of an outcome.

    ``scale`` turns log-densities into shares of people, ``scales`` are the standard deviations
    of the features, ``display_score`` turns a score of the search into one for the user,
    ``feature_of`` maps the columns of a point to features, ``group_of`` to
    groups of them that only change together, and ``recall`` is the share of the
    nearest rows that the source finds. ``density`` is what the floor is on, where more can be
    told of it than ``scale`` does; ``seen`` tells what the data holds of each feature, and
    ``alike_in`` are the own ones by which people are told apart.
    """

    schema: Schema
    target: Target
    options: Options
    scale: DensityScale
    scales: tuple[float, ...]
    certified: bool
    radius: float | None
    feature_of: Ids
    group_of: Ids
    display_score: Callable[[float], float]
    version: str
    display_scores: DisplayScores | None = None
    recall: float = 1.0
    density: Density | None = None
    seen: tuple[SeenValues, ...] = ()
    settings: Mapping[str, Any] = field(init=False)
    ordinary: SeenRanges = field(init=False)
    alike_in: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "alike_in", own_features_that_differ(self.schema, self.seen))
        object.__setattr__(self, "ordinary", SeenRanges.of(self.seen))
        settings = dict(self.options.as_plain_values())
        if self.recall != 1:
            settings["recall"] = self.recall
        object.__setattr__(self, "settings", settings)

    def assemble_recourse(
        self,
        outcome: Outcome,
        records: Array,
        rows: tuple[int | None, ...],
        *,
        form: TableFormat,
        box: Box,
        disclosure: Disclosure,
        goal: Array | None,
        action_records: Array | None,
        waiting_record: Array | None = None,
    ) -> Recourse:
        """Make an answer of an outcome.

        ``records`` are the states of the path, ``action_records`` those that the actions lead
        through, the person's own first in both; ``rows`` are the rows of the table that the path
        visits. ``waiting_record`` is the state that waiting alone leads to, where that will do.
        """
        relaxed_to = self._relaxed_to(outcome)
        floor = self.options.min_density if relaxed_to is None else relaxed_to
        actions: tuple[Action, ...] = ()
        if action_records is not None:
            actions = tuple(self._actions_in_user_units(outcome, action_records, floor))
        n_comparable = self._count_comparable(outcome.points[0])
        waiting = self._waiting(outcome, records[0], waiting_record)
        doubts = self._doubts(records[0])
        return Recourse(
            status=Status[outcome.status],
            reason=self._reason(outcome, box, goal, waiting),
            waiting=waiting,
            records=records,
            form=form,
            schema=self.schema,
            scores=self._scores_to_show(outcome.scores, records),
            densities=tuple(self.scale.share_below(outcome.log_densities).tolist()),
            certificates=tuple(self._path_certificates(outcome, floor)),
            rows=rows,
            target=self.target,
            min_density=self.options.min_density,
            scales=self.scales,
            disclosure=disclosure,
            relaxed_to=relaxed_to,
            proven_within=self.options.slack if outcome.proven else None,
            composed=outcome.composed,
            n_comparable=n_comparable,
            alike_in=None if n_comparable is None else self.alike_in,
            cut_short=outcome.cut_short,
            cautions=(
                *self._cautions(
                    outcome,
                    records,
                    (*doubts, *self._doubts_about_goal(records[0], goal)),
                    actions=actions,
                    n_comparable=n_comparable,
                    n_rows=disclosure.of,
                ),
                *self._cautions_about_end(outcome, action_records),
            ),
            doubts=doubts,
            actions=actions,
            settings=self.settings,
            version=self.version,
        )

    def step_certificate(
        self, length: float, log_lowest: float, floor: float, *, entry: bool, passed: bool
    ) -> Certificate:
        """Put what is known of one step into shares of people.

        ``floor`` is a share already. A step that passed within the tolerance is on the floor.
        """
        share = float(self.scale.share_below(log_lowest))
        covers = self.options.edges == "cover"
        return Certificate(
            rule=self.options.edges,
            length=float(length),
            lowest=max(share, floor) if passed else share,
            floor=floor,
            entry=entry,
            certified=self.certified,
            people=self.options.min_people if covers else None,
            radius=self.radius if covers else None,
        )

    def _relaxed_to(self, outcome: Outcome) -> float | None:
        """The share that a lowered floor is at; it may be lower by less than shares can tell."""
        if not outcome.relaxed:
            return None
        share = float(self.scale.share_below(outcome.log_floor))
        return share if self.options.edges == "cover" else min(share, self.options.min_density)

    def _count_comparable(self, point: Array) -> int | None:
        """Count the people who are alike in what never changes, where the density knows them."""
        if not isinstance(self.density, CommonStates):
            return None
        found = self.density.n_comparable(point)
        return None if found is None else round(found)

    def _reason(
        self, outcome: Outcome, box: Box, goal: Array | None, waiting: Waiting | None
    ) -> str:
        """Say why there is no recourse, and that waiting alone would do, where it would."""
        reasons = ReasonWriter(
            self.schema,
            self.target,
            self.options,
            self.feature_of,
            self.density,
            self.display_score,
        )
        reason = reasons.why_no_recourse(outcome, box, goal)
        if waiting is None or outcome.status == "FOUND":
            return reason
        told = waiting_sentence(waiting, self.schema, self.target)
        return f"{reason}; {told}" if reason else told

    def _waiting(self, outcome: Outcome, own: Array, grown: Array | None) -> Waiting | None:
        """Put the state that waiting alone leads to into units: the one feature that has grown."""
        if outcome.waiting is None or grown is None:
            return None
        feature = self.schema.features[int(np.flatnonzero(~same_codes(grown, own))[0])]
        value = feature.value(float(grown[self.schema.index(feature.name)]))
        assert value is not None  # what is missing does not grow
        (score,) = self._scores_to_show([outcome.waiting.score], grown[None, :])
        return Waiting(feature.name, value, score)

    def _scores_to_show(self, scores: Sequence[float], records: Array) -> tuple[float, ...]:
        if self.display_scores is None:
            return tuple(self.display_score(score) for score in scores)
        return self.display_scores(scores, records)

    def _doubts(self, record: Array) -> tuple[Doubt, ...]:
        """The values of a person's record that nobody in the data has, where that is known."""
        if not self.seen or self.ordinary.holds(record):
            return ()
        return tuple(doubts_about_record(self.schema, record, self.seen))

    def _doubts_about_goal(self, record: Array, goal: Array | None) -> Iterator[Doubt]:
        """The values of a goal that nobody in the data has and that are not the person's own."""
        if goal is None:
            return
        changed = ~same_codes(record, goal)
        for doubt in self._doubts(goal):
            if changed[self.schema.index(doubt.feature)]:
                yield doubt

    def _cautions(
        self,
        outcome: Outcome,
        records: Array,
        doubts: Sequence[Doubt],
        *,
        actions: Sequence[Action],
        n_comparable: int | None,
        n_rows: int,
    ) -> Iterator[str]:
        """What is to be minded about a person's record, and about an answer to it."""
        yield from (doubt.sentence for doubt in doubts)
        size = PlanSize.of(self.schema, actions)
        if size.is_long:
            yield caution_about_long_plan(self.schema, size)
        found = outcome.status == "FOUND"
        if found or not doubts:  # otherwise it would be the same question twice
            share = float(self.scale.share_below(outcome.log_densities[0]))
            yield from cautions_about_own_state(
                share, self.options.min_density, found=found, rows=self.schema.each_row
            )
        if outcome.actions is not None and outcome.actions.rarer:
            yield caution_about_rarer_actions(actions, self.schema.each_row)
        elif outcome.missing_actions is not None:
            missing = outcome.missing_actions
            yield caution_about_missing_actions(missing, records, self.schema, self.scales)
        if outcome.status == "ALREADY_THERE":  # nothing rests on anybody
            return
        rows = self.schema.each_row
        if n_comparable is None:  # with everybody
            yield from cautions_about_company(n_rows, [], rows)
            return
        gone = absent_values(self.schema, records[0])
        alike = [name for name in self.alike_in if not gone[self.schema.index(name)]]
        kept = [self.schema[name].display_name for name in alike]
        lacking = lacking_in_words(self.schema, records[0])
        yield from cautions_about_company(n_comparable, kept, rows, lacking=lacking)

    def _cautions_about_end(self, outcome: Outcome, records: Array | None) -> Iterator[str]:
        """What is to be minded about where actions lead: to what helps no others, or few have."""
        if outcome.actions is None or records is None:
            return
        ends = (records[0], records[-1])
        helped = outcome.actions.helped
        if helped is not None:
            yield from cautions_about_quirks(self.schema, ends, helped, self.feature_of)
        yield from cautions_about_extreme_ends(self.schema, *ends, self.seen)

    def _path_certificates(self, outcome: Outcome, floor: float) -> Iterator[Certificate]:
        lengths = norms(np.diff(outcome.points, axis=0))
        for i, log_lowest in enumerate(outcome.step_log_densities.tolist()):
            entry = outcome.entry and i == 0
            passed = not entry and log_lowest >= outcome.log_floor - RESTATED_TOLERANCE
            yield self.step_certificate(lengths[i], log_lowest, floor, entry=entry, passed=passed)

    def _actions_in_user_units(
        self, outcome: Outcome, records: Array, floor: float
    ) -> Iterator[Action]:
        """Put the actions into units: ``records`` are the states that they lead through."""
        actions = outcome.actions
        assert actions is not None
        states = np.stack([outcome.points[0], *(move.point for move in actions.moves)])
        steps = np.diff(states, axis=0)
        lengths = norms(steps)
        far = efforts(steps, self.group_of).tolist()
        kept = self._floor_kept_by_actions(actions, outcome.log_floor, floor)
        log_lowest = actions.step_log_densities
        scores = self._scores_to_show([move.score for move in actions.moves], records[1:])
        for i, move in enumerate(actions.moves):
            before = self.schema.values(records[i])
            after = self.schema.values(records[i + 1])
            changed = [name for name in self.schema.names if before[name] != after[name]]
            below = bool(log_lowest[i] < actions.log_floor - RESTATED_TOLERANCE)
            yield Action(
                changes={name: after[name] for name in changed},
                before={name: before[name] for name in changed},
                score=scores[i],
                density=float(self.scale.share_below(actions.log_densities[i])),
                certificate=self.step_certificate(
                    lengths[i],
                    log_lowest[i],
                    kept,
                    entry=below and not actions.rarer,
                    passed=not below,
                ),
                follows=move.follows,
                effort=far[i],
            )

    def _floor_kept_by_actions(self, actions: ActionPath, log_floor: float, floor: float) -> float:
        """The floor that the actions keep: lower for a person who is below it themselves."""
        if actions.log_floor >= log_floor:
            return floor
        return min(floor, float(self.scale.share_below(actions.log_floor)))
