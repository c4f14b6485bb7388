"""Evidence of moves: how many real people made a comparable one, and how they fared."""

from localface.evidence.comparable import Comparable
from localface.evidence.moves import MoveEvidence
from localface.evidence.trajectories import Trajectories
from localface.evidence.witnesses import Witnesses, evidence_for, read_evidence

__all__ = ["Comparable", "MoveEvidence", "Trajectories", "Witnesses", "evidence_for", "read_evidence"]
