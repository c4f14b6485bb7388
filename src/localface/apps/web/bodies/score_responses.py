"""What the service replies about scores alone, by pydantic models."""

from __future__ import annotations

from pydantic import BaseModel, Field

from localface.apps.web.bodies.requests import JsonValue
from localface.apps.web.bodies.responses import FeatureName
from localface.apps.web.bodies.robustness_views import LastingView, ModelsView


class FeatureEffect(FeatureName):
    """One value of somebody beside those of comparable people, and what it does to the score."""

    own: bool = Field(description="whether it stays the person's own")
    value: JsonValue | None
    value_text: str
    missing: bool
    below: float | None = Field(description="the share of comparable people with less")
    bins: list[float] = Field(description="shares of them by category, or in bins, low to high")
    low: float | None
    high: float | None
    ordinary: JsonValue | None = Field(description="the ordinary value among them")
    ordinary_text: str
    score: float = Field(description="the score with the ordinary value, all else as it is")
    score_text: str
    effect: float = Field(description="how much better the score is with the person's own value")
    effect_text: str


class EffectsReply(BaseModel):
    """The answer to POST /effects."""

    n_people: int = Field(description="how many people, about, are comparable")
    alike: list[str] = Field(description="what they are alike in")
    features: list[FeatureEffect]
    milliseconds: float


class ScoreLine(BaseModel):
    """One score."""

    score: float
    score_text: str
    reached: bool


class ScoresReply(BaseModel):
    """The answer to POST /scores."""

    scores: list[ScoreLine]
    milliseconds: float


class PlanFirmness(BaseModel):
    """How firm one plan is."""

    firmness: str | None = Field(description="how firm it is, in words, where that is known")
    robustness: float | None = Field(
        description="the share of small deviations that still reach the target"
    )
    models: ModelsView | None = None
    lasting: LastingView | None = None
    actions: list[str] = Field(description="how exactly each action has to be kept to")


class PromiseReply(BaseModel):
    """The answer to POST /promises."""

    id: str
    time: str = Field(description="when it was written down first, UTC")
    already: bool = Field(description="whether it had been promised before")
    head: str = Field(description="the digest of the last entry: keep it somewhere else")
    milliseconds: float


class FirmnessReply(BaseModel):
    """The answer to POST /firmness."""

    plans: list[PlanFirmness]
    learning: bool = Field(
        description="whether models are still being fitted again: ask again in a while"
    )
    milliseconds: float
