"""What the service replies, by pydantic models for its OpenAPI description."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from localface.answers.status import StatusName
from localface.apps.web.bodies.answer_parts import RowNames, ScoreView
from localface.apps.web.bodies.requests import JsonValue
from localface.apps.web.bodies.robustness_views import LastingView, ModelsView


class ErrorBody(BaseModel):
    """What went wrong, in the library's own sentence, with the feature that it is about."""

    type: str
    message: str
    feature: str | None = None
    suggestion: JsonValue | None = Field(
        default=None, description="the value of the feature that is likely meant"
    )


class ErrorReply(BaseModel):
    """How every error comes."""

    error: ErrorBody


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
    categories: list[JsonValue] | None
    labels: list[str] | None = Field(description="words for the categories, in their order")
    text: str
    reference: list[JsonValue | None] | None
    reference_text: str | None


class CodeName(BaseModel):
    """A number that stands for a reason why there is no value."""

    value: float
    text: str


class FeatureInfo(FeatureName):
    """One feature: what it holds, how it may move, where people are."""

    moves: Literal["freely", "up", "down", "never", "grows"]
    within: float | None
    bounds: list[JsonValue | None] | None
    resolution: float | None
    whole: bool
    low: float | None
    high: float | None
    middle: JsonValue
    group: str = Field(description="what it is entered together with")
    may_be_missing: bool = Field(description="whether somebody in the data has no value of it")
    codes: list[CodeName] = Field(description="numbers that stand for a reason, not for a value")


class SchemaReply(BaseModel):
    """What the page needs to know before anyone is asked about."""

    title: str
    note: str
    version: str
    rows: int
    each_row: RowNames = Field(description="what rows are called: a person and people, or else")
    target: TargetInfo
    min_density: float
    people: bool
    outcomes: bool
    plane: bool
    retrained: bool = Field(description="whether POST /firmness can tell of retrained models")
    promises: bool = Field(description="whether POST /promises writes promises down")
    features: list[FeatureInfo]
    relations: list[list[str]]


class ChangeView(BaseModel):
    """One feature that an action changes."""

    feature: str
    unit: str | None
    before: JsonValue | None
    after: JsonValue | None
    before_text: str
    after_text: str
    text: str
    words: str = Field(description="the change as somebody would say it")


class ActionView(BaseModel):
    """One action."""

    number: int
    changes: list[ChangeView]
    score: float
    score_text: str
    density: float
    density_text: str
    below_floor: bool = Field(description="whether it leads to a state rarer than was asked for")
    needs: list[int]
    order: str | None = Field(description="why it cannot come earlier, where it cannot")
    together: bool
    step: str
    purpose: str | None = Field(description="what it is for, where the score does not need it")
    on_the_way: str | None = Field(
        description="the same in short, where the step keeps the floor as any other"
    )
    entry: bool
    evidence: str | None


class State(BaseModel):
    """One state on the way."""

    label: str
    record: dict[str, JsonValue | None]
    text: dict[str, str]
    score: float
    score_text: str
    density: float


class DensityView(BaseModel):
    """How usual the person is."""

    now: float
    floor: float
    text: str
    kept: float | None = Field(description="the floor that steps keep, where it is a lower one")
    kept_text: str | None


class DisclosureView(BaseModel):
    """What was seen of others."""

    rows: int
    of: int
    model_calls: int
    text: str


class FactView(BaseModel):
    """One thing that holds for an answer, with the word that explains it."""

    term: str
    text: str


class DoubtView(BaseModel):
    """A value of the record that nobody in the data has."""

    feature: str
    text: str
    suggestion: JsonValue | None = Field(description="the value that is likely meant")
    suggestion_text: str | None


class View(BaseModel):
    """One answer, ready to show."""

    status: StatusName
    word: str
    sentence: str
    reason: str
    each_row: RowNames
    cautions: list[str] = Field(
        description="what may be mistaken in the record or weak in the answer: shown first"
    )
    doubts: list[DoubtView] = Field(
        description="the values among these cautions, to be confirmed before anything is shown"
    )
    notices: list[str]
    headline: str
    person: dict[str, JsonValue | None] = Field(
        description="the person as they are, feature by feature; dates as text"
    )
    score: ScoreView
    density: DensityView
    actions: list[ActionView]
    states: list[State]
    path: list[State]
    moved: list[str]
    path_moved: list[str] = Field(description="those that any state of the path has otherwise")
    features: list[FeatureName] = Field(
        description="those that are moved or changed, so that a view draws itself"
    )
    opens: list[list[str]]
    disclosure: DisclosureView
    proof: str | None
    closing: list[str]
    facts: list[FactView] = Field(description="what holds for the answer as a whole, plainly")
    effort: float | None = Field(
        None, description="how far all actions go together, in standard deviations"
    )
    firmness: str | None = Field(description="how firm it is, in words, where that is known")
    robustness: float | None = Field(
        description="the share of small deviations that still reach the target"
    )
    models: ModelsView | None = None
    lasting: LastingView | None = None
    composed: bool = Field(
        description="whether the path ends at a combination of values that no row has"
    )
    cut_short: bool = Field(
        description="whether time ran out: with more of it there may be a better answer"
    )
    n_comparable: int | None = Field(
        description="how many people, about, are alike in what never changes"
    )


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
    actions: list[list[float]]
    exploit: list[list[float]]
    enhance: list[list[float]]


class RecourseReply(BaseModel):
    """The answer to POST /recourse."""

    cautions: list[str] = Field(description="the cautions of all answers, each once")
    view: View
    alternatives: list[View]
    together: TogetherView | None
    stages: Stages | None = None
    document: dict[str, Any] = Field(
        description="what Recourse.from_json or Alternatives.from_json reads"
    )
    milliseconds: float


class FindingView(BaseModel):
    """One thing that refuses a wish."""

    text: str


class PairView(BaseModel):
    """Two features that do not go together."""

    features: list[str]
    values: list[str]
    count: int = Field(description="rows that have both values")
    expected: float = Field(description="rows that would, if the two had nothing in common")
    n_rows: int
    alone: bool = Field(description="whether this pair alone refuses the state")
    sentence: str


class CheckReply(BaseModel):
    """The answer to POST /check."""

    cautions: list[str]
    reachable: bool
    sentence: str
    score: float
    score_text: str
    valid: bool
    density: float
    density_text: str
    step: str
    refused_by: list[str]
    findings: list[FindingView]
    pair: PairView | None = Field(description="the two features that make it too uncommon, if so")
    least: str | None
    view: View | None
    milliseconds: float


class Grid(BaseModel):
    """Score and how usual each place is, row by row from the lowest y."""

    x: list[float]
    y: list[float]
    score: list[list[float]]
    density: list[list[float]]


class StraightAxis(BaseModel):
    """Values of an axis, and where they are in the space in which steps are straight."""

    values: list[float]
    at: list[float]


class MapReply(BaseModel):
    """The plane: everyone on it, and the ground."""

    x: str
    y: str
    rows: list[list[float]]
    grid: Grid
    straight: list[StraightAxis] = Field(description="of both axes, to draw steps as they bend")


class HealthReply(BaseModel):
    """That the service lives; where it is degraded, why."""

    status: Literal["ok", "degraded"]
    reason: str | None
    rows: int
    version: str
