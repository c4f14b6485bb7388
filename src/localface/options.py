"""What can be chosen: ``Search`` and ``Options`` once per explainer, an ``Ask`` with every call.

Each option is named, documented and checked here, once. The methods of ``LocalFACE``, the
command line, the service and the batch workers all take their options from the fields below:
adding one is one edit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from functools import wraps
from inspect import Signature, signature
from numbers import Integral, Real
from textwrap import wrap
from typing import Any, ClassVar, Concatenate, Literal, ParamSpec, TypeVar, cast

from localface.errors import InputError, near_miss

EDGES = ("strict", "average", "cover")
STRATEGIES = ("guided", "paper")
ENDS = ("people", "states")
COSTS = ("length", "density", "safest")
DENSITIES = ("kde", "knn")

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")
A = TypeVar("A", bound="Ask")

Kind = Literal["number", "whole", "flag", "features", "limits", "weights", "record", "word"]
"""What an option holds, for whoever reads it from a command line or from JSON."""


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
        The longest step, in ordinary differences between people; ``None`` for no limit.
    momentum_steps
        How many steps the paper's momentum looks back; above 0 the path may leave the rows.
    strategy
        ``"guided"``, or ``"paper"`` for the published algorithms as printed.
    cost
        ``"length"``, ``"density"`` (falls with density; the default of average edges) or
        ``"safest"``.
    slack
        Look no further once the path is proven to be within this share of the best over all
        the data.
    min_people, radius
        The cover rule: how many people, within how many ordinary differences (chosen from
        ``min_density`` if not given).
    ends
        ``"people"``: a path ends at a real person. ``"states"``: where none that this person may
        become will do, it may end at a synthetic state on ground just as common, made of what
        people who reach the target have in what this person may change.
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
    ends: str = "people"

    @property
    def path_cost(self) -> str:
        """What a path is charged for, where the user did not say."""
        return self.cost or ("density" if self.edges == "average" else "length")

    def _mistakes(self) -> Iterator[tuple[str, str]]:
        yield from _word("edges", self.edges, EDGES)
        yield from _word("strategy", self.strategy, STRATEGIES)
        yield from _word("ends", self.ends, ENDS)
        if self.cost is not None:
            yield from _word("cost", self.cost, COSTS)
        yield from _whole("n_neighbors", self.n_neighbors, 1)
        yield from _whole("momentum_steps", self.momentum_steps, 0)
        yield from _whole("min_people", self.min_people, 1)
        yield from _positive("max_step", self.max_step)
        yield from _positive("radius", self.radius)
        if not (_is_number(self.slack) and self.slack >= 0):
            share = "a share of at least 0 is wanted (0.05: proven within 5 % of the best)"
            yield "slack", f"slack={self.slack!r}: {share}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(Search):
    """Everything that an explainer was made with; see ``LocalFACE`` for what each one means."""

    min_score: float
    min_density: float
    max_rows: int | None
    density: Any

    def __post_init__(self) -> None:
        _refuse(self._mistakes())

    def plain(self) -> dict[str, Any]:
        """The settings as plain values, for the record."""
        return {one.name: _plain(getattr(self, one.name)) for one in fields(self)}

    def _mistakes(self) -> Iterator[tuple[str, str]]:
        yield from _score(self.min_score)
        yield from _floor(self.min_density)
        yield from Search._mistakes(self)
        if isinstance(self.density, str):
            yield from _word("density", self.density, DENSITIES)
        if self.max_rows is not None:
            yield from _whole("max_rows", self.max_rows, 1)


def _option(default: Any, kind: Kind, text: str, *, least: int | None = None) -> Any:
    """An option of a call: its default, what it holds, and what is said of it everywhere."""
    return field(default=default, metadata={"kind": kind, "help": text, "least": least})


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What can be said with one call, on top of what the explainer was made with."""

    refused: ClassVar[tuple[str, ...]] = ()  # options that a kind of call has no use for
    call: ClassVar[str] = "explain"

    where: Mapping[str, Any] | None = _option(
        None,
        "limits",
        "what this person may change, on top of the schema: {'age': 5} (within 5), "
        "{'sex': 'never'}, {'fio2': (0.21, 0.4)}, {'ward': ['a', 'b']}",
    )
    counterfactual: Any = _option(
        None, "record", "where to go, if that is known already; explore is skipped"
    )
    min_score: float | None = _option(
        None, "number", "the score to reach, for this call; as the explainer was made if not given"
    )
    min_density: float | None = _option(
        None,
        "number",
        "how unusual a state on the way may be, from 0 to below 1, for this call; "
        "as the explainer was made if not given",
    )
    relax: bool = _option(
        False,
        "flag",
        "where the target cannot be reached, lower the floor by as little as possible, and say so",
    )
    actions: bool = _option(
        True, "flag", "also work out few changes in an order; without, the path alone"
    )
    max_changes: int = _option(
        1, "whole", "how many features one action may change, if that is possible at all", least=1
    )
    min_robustness: float | None = _option(
        None,
        "number",
        "go so far past the threshold that this share of small deviations from the answer still "
        "reaches the target (see robustness)",
    )
    weights: Mapping[str, float] | None = _option(
        None,
        "weights",
        "how much a change of a feature costs: {'income': 3} for what should rather not change; "
        "1 if not given",
    )
    avoid: Sequence[str] = _option(
        (),
        "features",
        "features not to touch at all, neither by an action nor by anyone on the path",
    )

    def __post_init__(self) -> None:
        _refuse(self._mistakes())

    def plain(self) -> dict[str, Any]:
        """What was said beyond the defaults, by name."""
        names = [one.name for one in fields(Ask)]
        return {name: getattr(self, name) for name in names if self._says(name)}

    def _says(self, name: str) -> bool:
        """Tell whether an option was given, and not as it is anyway."""
        value = getattr(self, name)
        default = DEFAULTS[name]
        if default is None or isinstance(default, bool):
            return value is not default
        return bool(len(value)) if default == () else bool(value != default)

    def _mistakes(self) -> Iterator[tuple[str, str]]:
        for name in self.refused:
            if self._says(name):
                yield name, f"{self.call} takes no {name}=: ask for one person with explain"
        if self.min_score is not None:
            yield from _score(self.min_score)
        if self.min_density is not None:
            yield from _floor(self.min_density)
        yield from _whole("max_changes", self.max_changes, 1)
        if self.min_robustness is not None and not _is_share(self.min_robustness):
            share = "a share above 0, up to 1, is wanted (0.9 means 90 %)"
            yield "min_robustness", f"min_robustness={self.min_robustness!r}: {share}"


@dataclass(frozen=True, slots=True)
class AskMany(Ask):
    """What can be said for many people at once."""

    refused: ClassVar[tuple[str, ...]] = ("counterfactual", "min_robustness")
    call: ClassVar[str] = "explain_many"

    on_error: str = field(
        default="raise",
        kw_only=True,
        metadata={
            "kind": "word",
            "help": "'raise', or 'record' to go on without those who cannot be answered, because "
            "their record cannot be read or the model fails on it: see Recourses.errors",
        },
    )
    progress: bool = field(
        default=True,
        kw_only=True,
        metadata={
            "kind": "flag",
            "help": "whether to show a bar with people done and found, the rate, and the time left",
        },
    )

    def _mistakes(self) -> Iterator[tuple[str, str]]:
        yield from Ask._mistakes(self)
        yield from _word("on_error", self.on_error, ("raise", "record"))


@dataclass(frozen=True, slots=True)
class AskAlternatives(Ask):
    """What can be said where several recourses are wanted."""

    refused: ClassVar[tuple[str, ...]] = ("min_robustness",)
    call: ClassVar[str] = "alternatives"

    n: int = field(
        default=3,
        metadata={"kind": "whole", "help": "how many are wanted, no two with the same features"},
    )

    def _mistakes(self) -> Iterator[tuple[str, str]]:
        yield from Ask._mistakes(self)
        yield from _whole("n", self.n, 1)
        if not self.actions:
            wanted = "alternatives differ by what the actions change; leave actions=True"
            yield "actions", f"actions={self.actions!r}: {wanted}"


@dataclass(frozen=True, slots=True)
class AskCheck(Ask):
    """What can be said where a wished state is looked at."""

    refused: ClassVar[tuple[str, ...]] = ("counterfactual", "relax", "actions", "min_robustness")
    call: ClassVar[str] = "check"

    wish: Any = field(
        metadata={
            "kind": "record",
            "help": "some features with the values they should have, as in {'debt': 4000}; "
            "the others stay as they are. A whole record will do as well",
        },
    )


def options_of(ask: type[Ask]) -> tuple[Field[Any], ...]:
    """The options of a kind of call, those that it refuses left out."""
    return tuple(one for one in fields(ask) if one.name not in ask.refused)


DEFAULTS = {one.name: one.default for one in fields(Ask)}


def takes(
    make: Callable[P, A],
) -> Callable[[Callable[[S, Any, A], R]], Callable[Concatenate[S, Any, P], R]]:
    """Let a method take the options of an ask as keywords.

    The method is written for the ask; callers, type checkers and ``help`` see its options.
    ``{options}`` in the method's docstring is replaced by what is said of each of them.
    """
    kind = cast(type[Ask], make)

    def decorate(method: Callable[[S, Any, A], R]) -> Callable[Concatenate[S, Any, P], R]:
        @wraps(method)
        def call(self: S, person: Any, *args: P.args, **options: P.kwargs) -> R:
            _check_keywords(kind, options)
            return method(self, person, make(*args, **options))

        own = list(signature(method).parameters.values())[:2]
        known = signature(kind).parameters
        shown = [*own, *(known[one.name] for one in options_of(kind) if not one.kw_only)]
        shown += [known[one.name] for one in options_of(kind) if one.kw_only]
        call.__signature__ = Signature(shown)  # type: ignore[attr-defined]
        call.__doc__ = (method.__doc__ or "").replace("{options}", _described(kind).strip())
        return cast(Callable[Concatenate[S, Any, P], R], call)

    return decorate


def _check_keywords(kind: type[Ask], options: Mapping[str, object]) -> None:
    known = [one.name for one in fields(kind)]
    for name in options:
        if name not in known:
            near = near_miss(name, known)
            raise TypeError(f"{kind.call}() got an unexpected keyword argument {name!r}{near}")


def _described(kind: type[Ask]) -> str:
    """What is said of the options, as a docstring has it."""
    lines = []
    for one in options_of(kind):
        text = one.metadata["help"]
        lines.append(f"        {one.name}")
        lines += [f"            {line}" for line in wrap(f"{text[0].upper()}{text[1:]}.", 84)]
    return "\n".join(lines)


def _refuse(mistakes: Iterator[tuple[str, str]]) -> None:
    """Raise one error that tells every mistake; its ``option`` is the first of them."""
    found = list(mistakes)
    if found:
        raise InputError("; ".join(text for _, text in found), option=found[0][0])


def _score(value: object) -> Iterator[tuple[str, str]]:
    if not _is_number(value):
        yield "min_score", f"min_score={value!r}: a finite number is wanted"


def _floor(value: Any) -> Iterator[tuple[str, str]]:
    if not (_is_number(value) and 0 <= value < 1):
        share = "a share from 0 to below 1 is wanted"
        meaning = "(0.05 means: no place more unusual than 95 % of people's)"
        yield "min_density", f"min_density={value!r}: {share} {meaning}"


def _word(name: str, value: object, known: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    if value not in known:
        listed = ", ".join(map(repr, known))
        yield name, f"{name}={value!r}: one of {listed} is wanted{near_miss(value, known)}"


def _whole(name: str, value: object, least: int) -> Iterator[tuple[str, str]]:
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        yield name, f"{name}={value!r}: a whole number of at least {least} is wanted"


def _positive(name: str, value: Any) -> Iterator[tuple[str, str]]:
    if value is not None and not (_is_number(value) and value > 0):
        yield name, f"{name}={value!r}: a positive number is wanted, or None"


def _is_share(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    return 0 < float(value) <= 1


def _is_number(value: object) -> bool:
    try:
        return math.isfinite(float(value))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False


def _plain(value: object) -> object:
    """A setting as JSON can hold it, NumPy's numbers too; anything else by the name of its type."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    return type(value).__name__
