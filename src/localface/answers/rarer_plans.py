"""Tells what there is where no plan as short as was asked for keeps the floor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from localface.answers.action import Action
from localface.answers.cautions import (
    caution_about_more_features,
    caution_without_actions,
    is_about_missing_actions,
)
from localface.answers.changes import changes_between
from localface.answers.long_plans import PlanSize
from localface.answers.recourse import Recourse
from localface.answers.wording import format_count, format_more_unusual_than, join_words
from localface.data.row_words import RowWords
from localface.data.schema import Schema
from localface.search.outcome import MissingActions
from localface.types import Array


def mention_rarer_plan(answer: Recourse, rarer: Recourse) -> Recourse:
    """Add to the caution that there are no actions those which lead through rarer states.

    Nothing is said of more than somebody could follow.
    """
    size = PlanSize.of(rarer.schema, rarer.actions)
    if not rarer.actions or size.is_long:
        return answer
    changes = [f"{one.label} {one.values_text}" for one in rarer.changes]
    few = format_count(size.features, "feature", "features")
    through = rarest_state(rarer.actions, rarer.schema.each_row)
    told = f"through states {through}, {few} would do: {join_words(changes)} (relax=True)"
    cautions = [
        f"{line}; {told}" if is_about_missing_actions(line) else line for line in answer.cautions
    ]
    return replace(answer, cautions=tuple(cautions))


def caution_about_missing_actions(
    missing: MissingActions, records: Array, schema: Schema, scales: Sequence[float]
) -> str:
    """Say that a plan changes more features than it was to, or that a path is all there is.

    ``records`` are the states of the path.
    """
    if missing.with_more is not None and missing.most is not None and missing.fewest is not None:
        return caution_about_more_features(missing.most, missing.fewest)
    steps = [changes_between(schema, scales, *states) for states in pairwise(records)]
    at_once = any(len(changes) > 1 for changes in steps)
    return caution_without_actions(missing, len(steps), at_once=at_once)


def caution_about_rarer_actions(actions: Sequence[Action], rows: RowWords) -> str:
    """Say that actions do not keep the floor, and how rare the states are on their way."""
    through = f"this one passes through states {rarest_state(actions, rows)}"
    return f"no short list of actions was found that keeps to common states: {through}"


def rarest_state(actions: Sequence[Action], rows: RowWords) -> str:
    """How rare the rarest state is that actions lead through."""
    return format_more_unusual_than(min(one.certificate.lowest for one in actions), rows)
