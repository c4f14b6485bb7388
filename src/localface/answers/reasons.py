"""Why a search found no recourse, in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from localface.answers.pair_words import refusing_pair
from localface.answers.relation_words import broken_relations_in_words
from localface.answers.target import Target
from localface.answers.wording import format_count, format_share_of_people, join_words
from localface.data.box import Box
from localface.data.schema import Schema
from localface.density.protocol import Density
from localface.errors import list_names
from localface.options import Options
from localface.search.outcome import Outcome
from localface.search.questions import BestState, TargetCounts
from localface.types import Array, Ids


@dataclass(frozen=True, slots=True, eq=False)
class ReasonWriter:
    """Says why there is no recourse, for the searches of one explainer.

    ``feature_of`` maps the columns of a point to features; ``density`` is what the floor is on.
    """

    schema: Schema
    target: Target
    options: Options
    feature_of: Ids
    density: Density | None = None
    display_score: Callable[[float], float] = float

    def why_no_recourse(self, outcome: Outcome, box: Box, goal: Array | None) -> str:
        """Say why; nothing where the status says it all. ``goal`` is the end that was given."""
        status = outcome.status
        if status == "BUDGET":
            return (
                f"max_rows={self.options.max_rows} was spent; "
                "allow more rows, or widen what may change"
            )
        if outcome.no_floor_helps:
            why = what_rules_out_steps(self.options.max_step, box)
            return f"no floor, however low, opens a way: {why}"
        if goal is not None and status in ("NO_TARGET", "UNREACHABLE"):
            return self._why_goal_fails(outcome, box, goal)
        if status == "NO_TARGET" and not features_that_may_change(self.schema, box):
            return self._why_nothing_changes(box)
        if status == "NO_TARGET" and outcome.counts is not None:
            best = outcome.counts.best
            if best is not None:
                why = self._best_state_there_is(outcome.counts, best, outcome)
                return f"{why}{tied_to_what_stays(self.schema, box)}"
            return self._why_no_target(outcome.counts, box)
        if status == "UNREACHABLE":
            why = self._why_unreachable(outcome.counts, gave_up=outcome.cut_short)
            return f"{why}{tied_to_what_stays(self.schema, box)}"
        return ""

    def _why_unreachable(self, counts: TargetCounts | None, *, gave_up: bool) -> str:
        """Say who or what reaches the target, and that no steps lead there, or none tried."""
        options = self.options
        rows = self.schema.each_row
        many = f"{rows.many} within the constraints reach"
        if counts is not None:
            reach = "reaches" if counts.targets == 1 else "reach"
            many = f"{rows.count(counts.targets)} within the constraints {reach}"
            if counts.of_states:
                states = format_count(counts.targets, "state", "states")
                many = f"{states} open to this {rows.one} {reach}"
        longest = ""
        if options.max_step is not None:
            longest = f" of at most {options.max_step:g} standard deviations"
        none = "none of the steps that were tried" if gave_up else "no steps"
        return (
            f"{many} the target, but {none}{longest} from each "
            f"state to its {options.n_neighbors} nearest, through states at least as common as "
            f"{format_share_of_people(options.min_density, rows)}, lead there"
        )

    def _why_nothing_changes(self, box: Box) -> str:
        """Say that nothing may change, and what of it is because it is missing."""
        gone = [self.schema.features[j].display_name for j in sorted(box.absent or ())]
        if not gone:
            return "nothing may change: everything is kept as it is"
        if len(gone) == len(self.schema):
            return "nothing may change: every value is missing and stays so"
        are = "is missing and stays" if len(gone) == 1 else "are missing and stay"
        return f"nothing may change: {list_names(gone)} {are} so, and the rest is kept as it is"

    def _best_state_there_is(self, counts: TargetCounts, found: BestState, outcome: Outcome) -> str:
        """Say how far this person could come at best, by changing what.

        Those states are meant that were looked at, and nothing is asked of them but the score.
        """
        changed = np.unique(self.feature_of[found.changes])
        names = list_names([self.schema.features[j].display_name for j in changed])
        best = self._score_or_distance(found.score)
        now = self._score_or_distance(outcome.scores[0])
        if counts.allowed <= 1:
            return f"nothing that may change takes another value that goes with the rest: the {now}"
        states = format_count(counts.allowed, "state", "states")
        none = f"of {self._states_looked_at(states)}, none reaches it"
        if found.score <= outcome.scores[0] or best == now:
            return f"{none} or comes nearer: the {now} now, and at best"
        aside = "whatever the floor and the number of features"
        return f"{none}; the best {best}, by changing {names}, {aside}"

    def _states_looked_at(self, states: str) -> str:
        """Say which states were looked at: no mixtures of what several rows have."""
        one = self.schema.each_row.one
        return f"{states} open to this {one}, each with what one {one} in the data has"

    def _score_or_distance(self, score: float) -> str:
        """Say a score of the search, or how far it is off where a range is wanted."""
        if self.target.max_score is not None:  # the score does not tell on which side it is
            return f"{self.target.noun} is {self.target.min_score - score:.4g} off"
        return f"{self.target.noun} is {self.target.format_score(self.display_score(score))}"

    def _why_no_target(self, counts: TargetCounts, box: Box) -> str:
        wanted = self.target.sentence
        rows = self.schema.each_row
        if counts.of_states:
            states = format_count(counts.allowed, "state", "states")
            return f"of {self._states_looked_at(states)}, none has it: {wanted}"
        if counts.targets_anywhere == 0:
            return (
                f"{rows.nobody} in the data reaches it, with or without the constraints: {wanted}"
            )
        many = f"{rows.count(counts.targets_anywhere)} in the data have it"
        tally = self._excluded_per_feature(counts, box)
        if not tally.total():
            return f"{many}, but none with what stays this {rows.of_one} own"
        feature, excluded = tally.most_common(1)[0]
        why = box.reasons.get(feature, self.schema.features[feature].display_name)
        return (
            f"{many}, but the constraints rule all of them out; "
            f"'{why}' alone rules out {excluded:,}"
        )

    def _excluded_per_feature(self, counts: TargetCounts, box: Box) -> Counter[int]:
        """Count how many people the constraints on each feature rule out.

        What stays a person's own is left out: no constraint on it could give way.
        The columns of a category are added up, since each rules out its own people; where one
        category alone is allowed, the column of that one rules out all of them.
        """
        tally: Counter[int] = Counter()
        for column, excluded in enumerate(counts.excluded_by.tolist()):
            feature = int(self.feature_of[column])
            if self.schema.features[feature].own:
                continue
            if len(box.allowed.get(feature, ())) == 1:
                tally[feature] = max(tally[feature], excluded)
            else:
                tally[feature] += excluded
        return tally

    def _why_goal_fails(self, outcome: Outcome, box: Box, goal: Array) -> str:
        given = "the counterfactual that was given"
        outside = box.broken_constraints(self.schema.features, goal)
        if outside:
            return f"{given} lies outside the constraints: {'; '.join(outside.values())}"
        broken = broken_relations_in_words(self.schema, goal)
        if broken:
            return f"{given} breaks what the schema says of every state: {'; '.join(broken)}"
        if outcome.status == "NO_TARGET":
            return f"{given} does not reach the target: {self.target.sentence}"
        pair = refusing_pair(self.density, goal, outcome.log_floor)
        clause = pair.clause if pair else ""
        return f"{given} cannot be reached through common enough states{clause}"


def features_that_may_change(schema: Schema, box: Box) -> list[str]:
    """Name the features that a box leaves more than one value."""
    return [
        feature.name
        for j, feature in enumerate(schema)
        if j not in (box.absent or ())
        and len(box.allowed.get(j, ())) != 1
        and (feature.discrete or box.lower[j] < box.upper[j])
    ]


def tied_to_what_stays(schema: Schema, box: Box) -> str:
    """Say which features that may change are linked to one that stays as it is."""
    free = set(features_that_may_change(schema, box))
    clauses = []
    for names in schema.linked:
        moving = [schema[name].display_name for name in names if name in free]
        staying = [schema[name].display_name for name in names if name not in free]
        if moving and staying:
            is_tied = "is" if len(moving) == 1 else "are"
            stays = "stays as it is" if len(staying) == 1 else "stay as they are"
            clauses.append(f"{join_words(moving)} {is_tied} tied to {join_words(staying)}")
            clauses[-1] += f", which {stays}"
    return "".join(f"; {one}" for one in dict.fromkeys(clauses))


def what_rules_out_steps(max_step: float | None, box: Box) -> str:
    """Say what rules out every step onwards where no floor does."""
    causes = [] if max_step is None else [f"max_step={max_step:g}"]
    if box.up.any() or box.down.any() or box.only_from_own:
        causes.append("features that only move one way")
    if not causes:
        return "no steps from neighbour to neighbour lead there, however unusual"
    rule = "rules" if len(causes) == 1 and max_step is not None else "rule"
    return f"{' or '.join(causes)} {rule} out every step onwards"
