"""Why not: what stands between a person and a state they wish for, with the evidence."""

from localface.analyses.whynot.checking import check, wish_of
from localface.analyses.whynot.findings import Check, Overstep, Relaxation
from localface.analyses.whynot.opening import opened

__all__ = ["Check", "Overstep", "Relaxation", "check", "opened", "wish_of"]
