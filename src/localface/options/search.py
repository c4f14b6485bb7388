"""The options of an explainer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from typing import Any

from localface.errors import InputError
from localface.options.checks import (
    choice_mistakes,
    is_number,
    lasting_mistakes,
    min_density_mistakes,
    min_score_mistakes,
    positive_number_mistakes,
    raise_on_mistakes,
    share_mistakes,
    to_plain_value,
    whole_number_mistakes,
)

EDGES = ("strict", "average", "cover")
STRATEGIES = ("guided", "paper")
THROUGH = ("states", "rows")
COSTS = ("length", "density", "safest")
DENSITIES = ("kde", "isotropic", "knn")


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """How paths are looked for; most people never need to touch this.

    It is checked by the explainer that it is given to, so that all mistakes are told at once.

    Parameters
    ----------
    edges
        What makes a step traversable: ``"strict"`` (every point on it is common enough, proven),
        ``"average"`` (it is so on average) or ``"cover"`` (at least ``min_people`` people within
        ``radius`` of every point).
    n_neighbors
        How many people are looked at around each state.
    max_step
        The longest step, in standard deviations; ``None`` for no limit.
    momentum_steps
        How many steps the paper's momentum looks back; above 0 the path may leave the rows.
    strategy
        ``"guided"``, or ``"paper"`` for the published algorithms as printed, in the paper's
        geometry: numbers divided by their spread, one round kernel.
    cost
        ``"length"``, ``"density"`` (falls with density; the default of average edges) or
        ``"safest"``.
    slack
        Look no further once the path is proven to be within this share of the best over all
        the data.
    min_people, radius
        The cover rule: how many people, within how many standard deviations (chosen from
        ``min_density`` if not given).
    through
        What a path leads through. ``"states"``: states of this person, with other people's values
        in what they may change, as far as they may change it, and their own in the rest.
        ``"rows"``: other people as they are, of whom those are left out who differ in what
        cannot change.
    round_values
        Whether numbers of a plan stop at round values, each up to 5 % further for it. ``False``:
        just where the target is reached, with all their digits, as other methods print them.
    """

    edges: str = "strict"
    n_neighbors: int = 50
    max_step: float | None = None
    momentum_steps: int = 0
    strategy: str = "guided"
    cost: str | None = None
    slack: float = 0.05
    min_people: int = 3
    radius: float | None = None
    through: str = "states"
    round_values: bool = True

    @property
    def as_published(self) -> bool:
        """Whether all is to be as the paper has it: its algorithms, distances and density."""
        return self.strategy == "paper"

    @property
    def path_cost_rule(self) -> str:
        """What a path is charged for, where the user did not say."""
        return self.cost or ("density" if self.edges == "average" else "length")

    def _find_mistakes(self) -> Iterator[tuple[str, str]]:
        yield from choice_mistakes("edges", self.edges, EDGES)
        yield from choice_mistakes("strategy", self.strategy, STRATEGIES)
        yield from choice_mistakes("through", self.through, THROUGH)
        if self.cost is not None:
            yield from _cost_mistakes(self.cost)
        yield from whole_number_mistakes("n_neighbors", self.n_neighbors, 1)
        yield from whole_number_mistakes("momentum_steps", self.momentum_steps, 0)
        yield from whole_number_mistakes("min_people", self.min_people, 1)
        yield from positive_number_mistakes("max_step", self.max_step)
        yield from positive_number_mistakes("radius", self.radius)
        if not (is_number(self.slack) and self.slack >= 0):
            share = "a share of at least 0 is wanted (0.05: proven within 5 % of the best)"
            yield "slack", f"slack={self.slack!r}: {share}"
        if not isinstance(self.round_values, bool):
            yield "round_values", f"round_values={self.round_values!r}: True or False is wanted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(Search):
    """Everything that an explainer was made with; see ``LocalFACE`` for what each one means."""

    min_score: float
    min_density: float
    max_rows: int | None
    density: Any
    agree: float = 1.0
    lasting: float | None = None

    def __post_init__(self) -> None:
        raise_on_mistakes(self._find_mistakes())

    @classmethod
    def with_search(cls, search: Search | None, **rest: Any) -> Options:
        """Everything that an explainer is made with, checked together."""
        if search is None:
            search = Search()
        if not isinstance(search, Search):
            raise InputError(
                f"search= is a {type(search).__name__}: give localface.Search(...)", option="search"
            )
        return cls(**asdict(search), **rest)

    def as_plain_values(self) -> dict[str, Any]:
        """The settings as plain values, for the record."""
        return {one.name: to_plain_value(getattr(self, one.name)) for one in fields(self)}

    def _find_mistakes(self) -> Iterator[tuple[str, str]]:
        yield from min_score_mistakes(self.min_score)
        yield from min_density_mistakes(self.min_density)
        yield from Search._find_mistakes(self)
        if isinstance(self.density, str):
            yield from choice_mistakes("density", self.density, DENSITIES)
        if self.max_rows is not None:
            yield from whole_number_mistakes("max_rows", self.max_rows, 1)
        yield from share_mistakes("agree", self.agree, "of the other models")
        if self.lasting is not None:
            yield from lasting_mistakes(self.lasting)


def _cost_mistakes(cost: object) -> Iterator[tuple[str, str]]:
    """What is wrong with what a path is charged for."""
    for name, text in choice_mistakes("cost", cost, COSTS):
        if callable(cost):
            weights = "explainer.explain(person, weights={'income': 3})"
            text = (
                f"{text}; a function is none of them: say what changes cost by feature, {weights}"
            )
        yield name, text
