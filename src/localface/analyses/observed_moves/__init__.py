"""Evidence of moves: how many real people made a comparable one, and how they fared."""

from localface.analyses.observed_moves.comparable import Comparable
from localface.analyses.observed_moves.counter import MoveCounter, evidence_for, read_evidence
from localface.analyses.observed_moves.trajectories import Trajectories
from localface.answers.move_evidence import MoveEvidence

__all__ = [
    "Comparable",
    "MoveCounter",
    "MoveEvidence",
    "Trajectories",
    "evidence_for",
    "read_evidence",
]
