"""What the service replies about the people who are listed, by pydantic models."""

from __future__ import annotations

from pydantic import BaseModel, Field

from localface.apps.web.bodies.requests import JsonValue


class PersonLine(BaseModel):
    """One line of the list of people."""

    id: int
    label: str
    score: float | None
    score_text: str
    reached: bool
    outcome: str | None
    gist: str


class PeopleReply(BaseModel):
    """A page of the list of people."""

    total: int
    offset: int
    understood: str = Field(description="the conditions that were read from the search, in words")
    people: list[PersonLine]


class PersonReply(PersonLine):
    """Someone who is listed."""

    record: dict[str, JsonValue | None]
