"""Baselines: the methods that LocalFACE is compared with, behind one ``explain``."""

from localface.baselines.face import FACE
from localface.baselines.nearest import NearestUnlike, StraightLine
from localface.baselines.nice import NICE
from localface.baselines.proposal import Proposal
from localface.baselines.task import Method, Task
from localface.baselines.wachter import Wachter

__all__ = ["FACE", "NICE", "Method", "NearestUnlike", "Proposal", "StraightLine", "Task", "Wachter"]
