"""How well an answer stands up, as a page shows it."""

from __future__ import annotations

from typing import Any

from localface.answers.recourse import Recourse
from localface.answers.robustness import Robustness


def robustness_view(answer: Recourse) -> dict[str, Any]:
    """What is known of small deviations, other models and retraining; None of what is not."""
    known = answer.robustness or Robustness()
    lasting = known.lasting
    return {
        "robustness": known.success,
        "models": {"n": len(known.models), "valid": known.n_valid} if known.models else None,
        "lasting": lasting
        and {
            "probability": lasting.probability,
            "low": lasting.interval[0],
            "high": lasting.interval[1],
            "wanted": lasting.wanted,
            "text": lasting.sentence,
        },
    }
