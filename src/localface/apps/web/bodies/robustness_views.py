"""What the service says of how well an answer stands up."""

from __future__ import annotations

from pydantic import BaseModel, Field


class ModelsView(BaseModel):
    """How many of several other models agree with the end."""

    n: int
    valid: int


class LastingView(BaseModel):
    """How likely a retrained model agrees with the end."""

    probability: float
    low: float = Field(description="the lower end of its 90 % interval")
    high: float
    wanted: float | None = Field(description="the probability that was asked for, if any was")
    text: str
