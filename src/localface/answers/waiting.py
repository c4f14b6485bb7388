"""What waiting alone would do: said beside an answer, and never credited to it."""

from __future__ import annotations

from dataclasses import dataclass

from localface.answers.target import Target
from localface.data.codes import FeatureValue
from localface.data.schema import Schema


@dataclass(frozen=True, slots=True)
class Waiting:
    """A feature that grows by itself, the value at which that alone is enough, the score there."""

    feature: str
    value: FeatureValue
    score: float


def waiting_sentence(waiting: Waiting, schema: Schema, target: Target) -> str:
    """Say in so many words that waiting would do."""
    feature = schema[waiting.feature]
    unit = f" {feature.unit}" if feature.unit else ""
    value = feature.format(feature.code(waiting.value))
    score = target.format_score(waiting.score)
    at = f"{feature.display_name} {value}{unit}"
    return f"waiting alone would do: at {at} the {target.noun} is {score}"
