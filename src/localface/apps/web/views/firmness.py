"""How firm plans are: each action when it is missed by a little, and the whole when retrained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from localface.analyses.lasting import judge_states, learnt_lasting
from localface.analyses.robustness.noise import NoiseSampler
from localface.analyses.whynot import read_changes
from localface.answers.robustness import Noise, Robustness
from localface.answers.wording import format_amount, format_percent, join_words
from localface.apps.web.views.robustness_view import robustness_parts
from localface.engine.engine import Engine
from localface.types import Array

PlanBody = Mapping[str, Any]
"""``actions``, each a mapping from features to values, and the ``density`` of the end."""


def deviations_view(engine: Engine, record: Array, plans: Sequence[PlanBody]) -> dict[str, Any]:
    """Say of each plan, and of each of its actions, how often a small deviation does no harm."""
    sampler = NoiseSampler(engine.schema, engine.answers.scales)
    found = []
    for plan in plans:
        end = _end_of(engine, record, plan)
        starts = [record, *(_without(engine, record, end, one) for one in plan["actions"])]
        drawn = np.concatenate([sampler(start, end) for start in starts])
        reached = engine.score(drawn) >= engine.score.min_score
        shares = reached.reshape(len(starts), sampler.n).mean(axis=1).tolist()
        noise = [sampler.noise_per_feature(start, end) for start in starts[1:]]
        found.append(
            robustness_parts(Robustness(success=shares[0], n=sampler.n))
            | {"actions": list(map(_action_text, noise, shares[1:]))}
        )
    return {"plans": found}


def retrained_view(engine: Engine, record: Array, plans: Sequence[PlanBody]) -> dict[str, Any]:
    """Say of each plan how likely a retrained model agrees with its end; the first call learns."""
    learnt = learnt_lasting(engine)
    if learnt is None:
        return {"plans": [robustness_parts(Robustness()) | {"actions": []} for _ in plans]}
    ends = np.stack([_end_of(engine, record, plan) for plan in plans])
    densities = np.array([plan["density"] for plan in plans], dtype=float)
    judged = judge_states(engine, learnt, ends, densities)
    return {
        "plans": [robustness_parts(Robustness(lasting=one)) | {"actions": []} for one in judged]
    }


def _end_of(engine: Engine, record: Array, plan: PlanBody) -> Array:
    changes: dict[str, Any] = {}
    for action in plan["actions"]:
        changes |= action
    return read_changes(changes, record, engine.schema)


def _without(engine: Engine, record: Array, end: Array, action: Mapping[str, Any]) -> Array:
    """The end with what one action changes as it was: only that may then be missed."""
    start = np.array(end)
    for name in action:
        start[engine.schema.index(name)] = record[engine.schema.index(name)]
    return start


def _action_text(noise: Sequence[Noise], share: float) -> str:
    """How exactly an action has to be kept to."""
    if not noise:
        return "has to be met exactly"
    amounts = [format_amount(one.amount, one.feature.unit) for one in noise]
    if len(noise) > 1:
        each = zip(amounts, noise, strict=True)
        amounts = [f"{amount} in {one.feature.display_name}" for amount, one in each]
    missed = f"if missed by up to {join_words(amounts)}"
    return f"{missed}, the plan still works in {format_percent(share)} of cases"
