"""What the service takes and gives, exactly, so that its OpenAPI description says everything."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr, model_validator

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
    min_score: Number | None = Field(None, description="the score to reach; as the service was started if not given")
    min_density: Number | None = Field(None, description="how unusual a place on the way may be, from 0 to below 1")

    @model_validator(mode="after")
    def _one_person(self) -> Asked:
        if (self.person is None) == (self.id is None):
            raise ValueError('give either "person", a record, or "id", the number of someone who is listed')
        return self


class RecourseAsk(Asked):
    """What POST /recourse takes; as ``LocalFACE.explain`` does."""

    relax: bool = Field(False, description="lower the floor by as little as possible where nothing else helps")
    avoid: list[str] = Field([], max_length=1000, description="features not to touch at all")
    weights: dict[str, Number] = Field({}, max_length=1000, description="how dear a change of a feature is")
    max_changes: int = Field(1, ge=1, le=1000, description="features that one action may change")
    n_paths: int = Field(1, ge=1, le=6, description="how many ways that change different features are wanted")
    actions: bool = Field(True, description="work out few changes in an order, not the path alone")
    stages: bool = Field(False, description="on a plane: also tell what each stage of the search saw")


class CheckAsk(Asked):
    """What POST /check takes; as ``LocalFACE.check`` does."""

    wish: Record = Field(description="the features that should be otherwise, with the values they should have")


class Problem(BaseModel):
    """What went wrong: the kind of error, the library's own sentence, and the feature it is about."""

    type: str
    message: str
    feature: str | None = None


class ErrorReply(BaseModel):
    """How every error comes."""

    error: Problem


class TargetInfo(BaseModel):
    """What counts as arrived."""

    sentence: str
    label: str
    min_score: float
    at_most: bool
    kind: Literal["probability", "decision", "value"]
    low: float
    high: float


class FeatureName(BaseModel):
    """What a feature is, for whoever shows its values."""

    name: str
    unit: str | None
    kind: Literal["numeric", "integer", "ordinal", "binary", "categorical"]
    categories: list[Value] | None
    labels: list[str] | None = Field(description="words for the categories, in their order")
    text: str
    reference: list[Value | None] | None
    reference_text: str | None


class FeatureInfo(FeatureName):
    """One feature: what it holds, how it may move, where people are."""

    moves: Literal["freely", "up", "down", "never"]
    within: float | None
    bounds: list[Value | None] | None
    resolution: float | None
    whole: bool
    low: float | None
    high: float | None
    middle: Value


class SchemaReply(BaseModel):
    """What the page needs to know before anyone is asked about."""

    title: str
    note: str
    version: str
    rows: int
    target: TargetInfo
    min_density: float
    people: bool
    outcomes: bool
    plane: bool
    features: list[FeatureInfo]
    relations: list[list[str]]


class Person(BaseModel):
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
    people: list[Person]


class PersonReply(BaseModel):
    """Someone who is listed."""

    id: int
    record: dict[str, Value]


class Change(BaseModel):
    """One feature that an action changes."""

    feature: str
    unit: str | None
    before: Value
    after: Value
    before_text: str
    after_text: str
    text: str


class ActionView(BaseModel):
    """One action."""

    number: int
    changes: list[Change]
    score: float
    score_text: str
    density: float
    density_text: str
    needs: list[int]
    together: bool
    near: int | None
    step: str
    entry: bool
    evidence: str | None


class State(BaseModel):
    """One state on the way."""

    label: str
    record: dict[str, Value]
    text: dict[str, str]
    score: float
    score_text: str
    density: float


class ScoreView(BaseModel):
    """The score now, at the end, and the one that is wanted."""

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


class DensityView(BaseModel):
    """How usual the person is."""

    now: float
    floor: float
    text: str


class DisclosureView(BaseModel):
    """What was seen of others."""

    rows: int
    of: int
    model_calls: int
    text: str


class View(BaseModel):
    """One answer, ready to show."""

    status: Literal["FOUND", "ALREADY_THERE", "NO_TARGET", "UNREACHABLE", "BUDGET"]
    word: str
    sentence: str
    reason: str
    notices: list[str]
    headline: str
    person: dict[str, Value]
    score: ScoreView
    density: DensityView
    actions: list[ActionView]
    states: list[State]
    path: list[State]
    moved: list[str]
    features: list[FeatureName] = Field(description="those that are moved or changed, so that a view draws itself")
    opens: list[list[str]]
    disclosure: DisclosureView
    proof: str | None
    closing: list[str]
    robustness: float | None


class TogetherView(BaseModel):
    """What several ways share, and where they part."""

    shared: list[str]
    parts: str
    sentence: str
    disclosure: str


class Stages(BaseModel):
    """What each stage of a search on a plane saw, in the user's units."""

    explore: list[list[float]]
    trail: list[list[float]]
    exploit: list[list[float]]
    enhance: list[list[float]]


class RecourseReply(BaseModel):
    """The answer to POST /recourse."""

    view: View
    alternatives: list[View]
    together: TogetherView | None
    stages: Stages | None = None
    document: dict[str, Any] = Field(description="what Recourse.from_json or Alternatives.from_json reads")
    milliseconds: float


class Finding(BaseModel):
    """One thing that refuses a wish."""

    text: str


class CheckReply(BaseModel):
    """The answer to POST /check."""

    reachable: bool
    sentence: str
    score: float
    score_text: str
    valid: bool
    density: float
    density_text: str
    step: str
    refused_by: list[str]
    findings: list[Finding]
    least: str | None
    view: View | None
    milliseconds: float


class Grid(BaseModel):
    """Score and how usual each place is, row by row from the lowest y."""

    x: list[float]
    y: list[float]
    score: list[list[float]]
    density: list[list[float]]


class MapReply(BaseModel):
    """The plane: everyone on it, and the ground."""

    x: str
    y: str
    rows: list[list[float]]
    grid: Grid


class HealthReply(BaseModel):
    """That the service lives."""

    status: Literal["ok"]
    rows: int
    version: str
