"""An audit of counterfactuals that others propose."""

from localface.analyses.audit.auditing import Watch, audit_proposals
from localface.analyses.audit.finding import Finding
from localface.analyses.audit.report import SUMMARY_QUESTIONS, Audit, CountedShare

__all__ = ["SUMMARY_QUESTIONS", "Audit", "CountedShare", "Finding", "Watch", "audit_proposals"]
