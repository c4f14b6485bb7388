"""Why not: what stands between a person and a state they wish for, with the evidence."""

from localface.analyses.whynot.checking import check_wish, read_changes, read_wish
from localface.analyses.whynot.findings import Check, Overstep, Relaxation
from localface.analyses.whynot.remedies import explain_refusals

__all__ = [
    "Check",
    "Overstep",
    "Relaxation",
    "check_wish",
    "explain_refusals",
    "read_changes",
    "read_wish",
]
