"""Tells of answers how likely a retrained model agrees with their ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from localface.analyses.end_record import end_record
from localface.analyses.lasting.learning import LearntLasting, end_densities, learnt_lasting
from localface.answers.recourse import Recourse
from localface.answers.robustness import Lasting, Robustness
from localface.engine.engine import Engine
from localface.types import Array


def add_lasting(engine: Engine, answers: Sequence[Recourse]) -> list[Recourse]:
    """Add to each answer that has an end how likely a retrained model agrees with it.

    Nothing is added where nothing can be told: without outcomes no model can be fitted again.
    """
    told = list(answers)
    waiting = [
        number
        for number, answer in enumerate(answers)
        if answer.found and (answer.robustness is None or answer.robustness.lasting is None)
    ]
    if engine.outcomes is None or not waiting:
        return told
    learnt = learnt_lasting(engine)
    assert learnt is not None
    judged = judge_ends(engine, learnt, [answers[number] for number in waiting])
    for number, lasting in zip(waiting, judged, strict=True):
        known = answers[number].robustness or Robustness()
        told[number] = replace(told[number], robustness=replace(known, lasting=lasting))
    return told


def judge_ends(engine: Engine, learnt: LearntLasting, answers: Sequence[Recourse]) -> list[Lasting]:
    """Tell how likely a retrained model agrees with the end of each answer."""
    ends = np.stack([end_record(one) for one in answers])
    return judge_states(engine, learnt, ends, end_densities(answers))


def judge_states(
    engine: Engine, learnt: LearntLasting, states: Array, densities: Array
) -> list[Lasting]:
    """Tell how likely a retrained model accepts each state, given how common it is."""
    margins = learnt.scale.margins(engine.score(states))
    known = learnt.opinions(states, margins, densities)
    likely, (low, high) = learnt.likely(known)
    votes = known.n_agree
    return [
        Lasting(float(likely[i]), (float(low[i]), float(high[i])), known.n_refits, int(votes[i]))
        for i in range(len(states))
    ]
