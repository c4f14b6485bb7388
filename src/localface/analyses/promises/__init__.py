"""Promises: answers that people were given, written down and rechecked when the model changes."""

from localface.analyses.promises.fingerprint import Fingerprint
from localface.analyses.promises.ledger import Promises
from localface.analyses.promises.promise import Promise

__all__ = ["Fingerprint", "Promise", "Promises"]
