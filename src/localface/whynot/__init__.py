"""Why not: what stands between a person and a state they wish for, with the evidence."""

from localface.whynot.checking import check, wish_of
from localface.whynot.findings import Check, Overstep, Relaxation
from localface.whynot.opening import opened

__all__ = ["Check", "Overstep", "Relaxation", "check", "opened", "wish_of"]
