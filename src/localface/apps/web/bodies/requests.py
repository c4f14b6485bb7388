"""What the bodies of requests may hold, by pydantic models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    create_model,
    model_validator,
)

from localface.options import Ask, AskCheck, accepted_options

JsonNumber = Annotated[float, Field(allow_inf_nan=False)]
Whole = Annotated[int, Field(ge=-(2**63), lt=2**63)]
JsonValue = (
    StrictBool | Annotated[StrictInt, Whole] | Annotated[StrictFloat, JsonNumber] | StrictStr
)
Record = Annotated[dict[str, JsonValue | None], Field(max_length=2_000)]
JsonPart = JsonValue | None | list[JsonValue | None]
Limit = JsonValue | list[JsonValue | None] | dict[str, JsonPart]
Id = Annotated[int, Field(ge=0, lt=2**63, description="a row number, as GET /people lists it")]


class Strict(BaseModel):
    """A model that takes nothing it does not know."""

    model_config = ConfigDict(strict=True, extra="forbid")


class WhoAsks(Strict):
    """Who asks: a record, or the number of someone who is listed."""

    person: Record | None = Field(None, description="feature by feature, in the user's units")
    id: Id | None = None

    @model_validator(mode="after")
    def _check_one_person_given(self) -> WhoAsks:
        if (self.person is None) == (self.id is None):
            raise ValueError(
                'give either "person", a record, or "id", the number of someone who is listed'
            )
        return self


def _number_field(default: Any, text: str) -> tuple[Any, Any]:
    return JsonNumber | None, Field(default, description=text)


def _whole_number_field(default: Any, text: str) -> tuple[Any, Any]:
    return int, Field(default, ge=1, le=1000, description=text)


def _flag_field(default: Any, text: str) -> tuple[Any, Any]:
    return bool, Field(default, description=text)


def _feature_names_field(default: Any, text: str) -> tuple[Any, Any]:
    return list[str], Field([], max_length=1000, description=text)


def _limits_field(default: Any, text: str) -> tuple[Any, Any]:
    return dict[str, Limit], Field({}, max_length=2_000, description=text)


def _weights_field(default: Any, text: str) -> tuple[Any, Any]:
    return dict[str, JsonNumber], Field({}, max_length=1000, description=text)


def _record_field(default: Any, text: str) -> tuple[Any, Any]:
    return Record | None, Field(default, description=text)


def _word_field(default: Any, text: str) -> tuple[Any, Any]:
    return str, Field(default, max_length=40, description=text)


def _target_field(default: Any, text: str) -> tuple[Any, Any]:
    ends = Annotated[list[JsonNumber | None], Field(min_length=2, max_length=2)]
    return JsonValue | ends | None, Field(default, description=text)


_FIELDS = {
    "number": _number_field,
    "whole": _whole_number_field,
    "flag": _flag_field,
    "features": _feature_names_field,
    "limits": _limits_field,
    "weights": _weights_field,
    "record": _record_field,
    "word": _word_field,
    "target": _target_field,
}


def _option_fields(ask: type[Ask]) -> dict[str, Any]:
    """The options of a call as JSON may hold them."""
    return {
        one.name: _FIELDS[one.metadata["kind"]](one.default, one.metadata["help"])
        for one in accepted_options(ask)
        if one.name != "wish"
    }


if TYPE_CHECKING:

    class ExplainOptions(WhoAsks):
        """The options of ``LocalFACE.explain``."""

    class CheckOptions(WhoAsks):
        """The options of ``LocalFACE.check``."""

else:
    ExplainOptions = create_model("ExplainOptions", __base__=WhoAsks, **_option_fields(Ask))
    CheckOptions = create_model("CheckOptions", __base__=WhoAsks, **_option_fields(AskCheck))


class RecourseAsk(ExplainOptions):
    """What POST /recourse takes; as ``LocalFACE.explain`` does."""

    n_paths: int = Field(1, ge=1, le=6, description="how many ways are wanted (see differ)")
    differ: Literal["features", "values"] = Field(
        "features",
        description="where several ways are wanted, in what no two are the same: the features that "
        "they change, or the values that they change them to",
    )
    stages: bool = Field(
        False, description="on a plane: also tell what each stage of the search saw"
    )


class PromiseAsk(RecourseAsk):
    """What POST /promises takes: the question again, and the plan that was seen."""

    plan: list[Record] = Field(
        min_length=1, max_length=64, description="what each action changes, by feature, in order"
    )
    reference: Annotated[str, Field(max_length=200)] | None = Field(
        None, description="your own reference for the person"
    )


class EffectsAsk(WhoAsks):
    """What POST /effects takes."""

    min_score: JsonNumber | None = Field(None, description="the score to reach")


class ScoresAsk(EffectsAsk):
    """What POST /scores takes."""

    changes: list[Record] = Field(
        min_length=1,
        max_length=64,
        description="for each score that is wanted, the features that are otherwise",
    )


class PlanToJudge(Strict):
    """A plan whose firmness is asked for."""

    actions: list[Record] = Field(
        min_length=1, max_length=64, description="what each action changes, by feature, in order"
    )
    density: JsonNumber = Field(0.5, ge=0, le=1, description="of its end, as the answer says")


class FirmnessAsk(EffectsAsk):
    """What POST /firmness takes."""

    plans: list[PlanToJudge] = Field(min_length=1, max_length=6)
    retrained: bool = Field(
        False,
        description="how likely a retrained model agrees, in place of small deviations; only "
        "where GET /schema says so",
    )


class CheckAsk(CheckOptions):
    """What POST /check takes; as ``LocalFACE.check`` does."""

    wish: Record = Field(
        description="the features that should be otherwise, with the values they should have"
    )
