"""Parts of what the service replies about an answer, by pydantic models."""

from __future__ import annotations

from pydantic import BaseModel, Field


class RowNames(BaseModel):
    """What one row is called, and what many are."""

    one: str
    many: str


class ScoreView(BaseModel):
    """The score now, at the end, and the one that is wanted."""

    noun: str = Field(description="what it is called: a score, or a value where one is predicted")
    now: float
    end: float
    wanted: float
    at_most: bool
    low: float
    high: float
    now_text: str
    end_text: str
    wanted_text: str
    reached: bool
