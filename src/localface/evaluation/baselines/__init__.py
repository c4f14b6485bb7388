"""Baselines: the methods that LocalFACE is compared with, behind one ``explain``."""

from localface.evaluation.baselines.face import FACE
from localface.evaluation.baselines.nearest import NearestUnlike, StraightLine
from localface.evaluation.baselines.nice import NICE
from localface.evaluation.baselines.proposal import Proposal
from localface.evaluation.baselines.task import Method, Task
from localface.evaluation.baselines.wachter import Wachter

__all__ = ["FACE", "NICE", "Method", "NearestUnlike", "Proposal", "StraightLine", "Task", "Wachter"]
