"""Lasting: how likely a retrained model agrees with an answer, and answers that it will."""

from localface.analyses.lasting.judging import add_lasting, judge_states
from localface.analyses.lasting.learning import (
    has_learnt,
    learn_before_sharing,
    learnt_lasting,
)
from localface.analyses.lasting.reaching import go_on_until_lasting

__all__ = [
    "add_lasting",
    "go_on_until_lasting",
    "has_learnt",
    "judge_states",
    "learn_before_sharing",
    "learnt_lasting",
]
