"""What the service takes, exactly, so that its OpenAPI description says everything."""

from __future__ import annotations

from typing import Annotated

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    model_validator,
)

Number = Annotated[float, Field(allow_inf_nan=False)]
Whole = Annotated[int, Field(ge=-(2**63), lt=2**63)]
Value = StrictBool | Annotated[StrictInt, Whole] | Annotated[StrictFloat, Number] | StrictStr
Record = Annotated[dict[str, Value], Field(max_length=2_000)]
Part = Value | None | list[Value | None]
How = Value | list[Value | None] | dict[str, Part]
Id = Annotated[int, Field(ge=0, lt=2**63, description="a row number, as GET /people lists it")]


class Strict(BaseModel):
    """A model that takes nothing it does not know."""

    model_config = ConfigDict(strict=True, extra="forbid")


class Asked(Strict):
    """Who asks: a record, feature by feature, or the number of someone who is listed; one of the two."""

    person: Record | None = Field(None, description="feature by feature, in the user's units")
    id: Id | None = None
    where: dict[str, How] = Field(
        {},
        max_length=2_000,
        description=(
            "what may change, on top of the schema: a number (by so much), a word (freely, up, down, never), "
            "[low, high], a list of categories, or an object of moves, within, bounds and categories"
        ),
    )
    min_score: Number | None = Field(
        None, description="the score to reach; as the service was started if not given"
    )
    min_density: Number | None = Field(
        None, description="how unusual a place on the way may be, from 0 to below 1"
    )

    @model_validator(mode="after")
    def _one_person(self) -> Asked:
        if (self.person is None) == (self.id is None):
            raise ValueError(
                'give either "person", a record, or "id", the number of someone who is listed'
            )
        return self


class RecourseAsk(Asked):
    """What POST /recourse takes; as ``LocalFACE.explain`` does."""

    relax: bool = Field(
        False, description="lower the floor by as little as possible where nothing else helps"
    )
    avoid: list[str] = Field([], max_length=1000, description="features not to touch at all")
    weights: dict[str, Number] = Field(
        {}, max_length=1000, description="how dear a change of a feature is"
    )
    max_changes: int = Field(1, ge=1, le=1000, description="features that one action may change")
    n_paths: int = Field(
        1, ge=1, le=6, description="how many ways that change different features are wanted"
    )
    actions: bool = Field(True, description="work out few changes in an order, not the path alone")
    stages: bool = Field(
        False, description="on a plane: also tell what each stage of the search saw"
    )


class CheckAsk(Asked):
    """What POST /check takes; as ``LocalFACE.check`` does."""

    wish: Record = Field(
        description="the features that should be otherwise, with the values they should have"
    )
