"""How well an answer stands up, as a page shows it."""

from __future__ import annotations

from typing import Any

from localface.answers.recourse import Recourse
from localface.answers.robustness import Robustness
from localface.answers.wording import format_whole_percent


def robustness_view(answer: Recourse) -> dict[str, Any]:
    """What is known of small deviations, other models and retraining; None of what is not."""
    return robustness_parts(answer.robustness or Robustness())


def robustness_parts(known: Robustness) -> dict[str, Any]:
    """The same of robustness that was measured apart from an answer."""
    lasting = known.lasting
    return {
        "firmness": _firmness_text(known),
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


def _firmness_text(known: Robustness) -> str | None:
    """How firm an answer is, in the fewest words: by the strongest of what is known."""
    if known.lasting is not None:
        share = format_whole_percent(known.lasting.probability)
        return f"a model fitted anew agrees in {share} of cases"
    if known.models:
        return f"holds under {known.n_valid} of {len(known.models)} other models"
    if known.success is not None:
        share = format_whole_percent(known.success)
        return f"if values end slightly off, it still works in {share} of cases"
    return None
