"""An audit of counterfactuals that others propose: what each is worth, and whether there is a way to it."""

from localface.analyses.audit.auditing import Watch, audited
from localface.analyses.audit.finding import Finding
from localface.analyses.audit.report import WORDS, Audit, CountedShare

__all__ = ["WORDS", "Audit", "CountedShare", "Finding", "Watch", "audited"]
