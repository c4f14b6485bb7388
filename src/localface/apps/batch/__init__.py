"""Explaining many people in blocks, on this machine or on a cluster.

Every engine makes a ``Worker`` once, and then feeds it blocks.
"""

from localface.apps.batch.blocks import Report, Unfinished, explain_blocks
from localface.apps.batch.worker import Worker

__all__ = ["Report", "Unfinished", "Worker", "explain_blocks"]
