"""An audit of counterfactuals that others propose: what each is worth, and whether there is a way to it."""

from localface.audit.auditing import Watch, audited
from localface.audit.finding import Finding
from localface.audit.report import WORDS, Audit, Share

__all__ = ["WORDS", "Audit", "Finding", "Share", "Watch", "audited"]
