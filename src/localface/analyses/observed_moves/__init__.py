"""Observed moves: how many real people made a move like the one that is suggested."""

from localface.analyses.observed_moves.comparable import Comparable
from localface.analyses.observed_moves.counter import MoveCounter, evidence_for, read_trajectories
from localface.analyses.observed_moves.trajectories import Trajectories
from localface.answers.move_evidence import MoveEvidence

__all__ = [
    "Comparable",
    "MoveCounter",
    "MoveEvidence",
    "Trajectories",
    "evidence_for",
    "read_trajectories",
]
