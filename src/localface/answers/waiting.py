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
    """Say what the model makes of waiting, so that nobody takes it for advice."""
    feature = schema[waiting.feature]
    unit = f" {feature.unit}" if feature.unit else ""
    value = feature.format(feature.code(waiting.value))
    score = target.format_score(waiting.score)
    at = f"{feature.display_name} {value}{unit}"
    comes = f"with time alone the {target.noun} comes to {score}, at {at}"
    return f"{comes}: this is how the model behaves, and no advice to wait"
