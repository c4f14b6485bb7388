"""The options of one call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any, ClassVar, Literal

from localface.options.checks import (
    choice_mistakes,
    is_share,
    lasting_mistakes,
    min_density_mistakes,
    min_score_mistakes,
    positive_number_mistakes,
    raise_on_mistakes,
    whole_number_mistakes,
)

Kind = Literal[
    "number", "whole", "flag", "features", "limits", "weights", "record", "word", "target"
]
"""What an option holds, for whoever reads it from a command line or from JSON."""


PREFERENCES = ("features", "effort")
"""What may come first in a plan."""


def _option_field(default: Any, kind: Kind, text: str, *, kw_only: bool = True) -> Any:
    """An option of a call: its default, what it holds, and what is said of it everywhere."""
    return field(default=default, kw_only=kw_only, metadata={"kind": kind, "help": text})


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What can be said with one call, on top of what the explainer was made with."""

    refused: ClassVar[tuple[str, ...]] = ()  # options that a kind of call has no use for
    call: ClassVar[str] = "explain"

    where: Mapping[str, Any] | None = _option_field(
        None,
        "limits",
        "what this person may change, on top of the schema: {'age': 5} (within 5), "
        "{'sex': 'never'}, {'fio2': (0.21, 0.4)}, {'ward': ['a', 'b']}",
    )
    counterfactual: Any = _option_field(
        None,
        "record",
        "the state to go to, if it is known already; a path to it is looked for",
    )
    target: Any = _option_field(
        None,
        "target",
        "what to reach with this call: a class, 'other' for any but the present one, 'at least' or "
        "'at most', or a range (low, high); as the explainer was made if not given",
    )
    min_score: float | None = _option_field(
        None, "number", "the score to reach, for this call; as the explainer was made if not given"
    )
    min_density: float | None = _option_field(
        None,
        "number",
        "how unusual a state on the way may be, from 0 (no floor) to below 1, for this call; "
        "as the explainer was made if not given",
    )
    relax: bool = _option_field(
        False,
        "flag",
        "where the target cannot be reached, or only by a path without actions, lower the floor by "
        "as little as possible, and say so",
    )
    best_effort: bool = _option_field(
        False,
        "flag",
        "where the target cannot be reached, go as far as possible: the way to the best score that "
        "can be reached, with a caution that says so; where lasting= cannot be kept, the most "
        "lasting one",
    )
    actions: bool = _option_field(
        True, "flag", "also work out a plan: few changes, in order; without, the path alone"
    )
    max_changes: int = _option_field(
        1, "whole", "how many features one action may change, if that is possible at all"
    )
    max_features: int | None = _option_field(
        None,
        "whole",
        "how many features the actions may change in all, linked ones counted as one; no limit if "
        "not given",
    )
    prefer: str = _option_field(
        "features",
        "word",
        "what comes first in a plan: 'features', the fewest that will do, or 'effort', the least "
        "change in all, by more features where that is less",
    )
    max_seconds: float | None = _option_field(
        None,
        "number",
        "after so many seconds the best answer so far is given, and says that it was cut short",
    )
    min_robustness: float | None = _option_field(
        None,
        "number",
        "go so far past the threshold that this share of small deviations from the answer still "
        "reaches the target (see robustness)",
    )
    lasting: float | None = _option_field(
        None,
        "number",
        "go so far past the threshold that a retrained model agrees with this probability, as in "
        "0.9, or say how lasting the best there is would be; the explainer needs y= for it",
    )
    weights: Mapping[str, float] | None = _option_field(
        None,
        "weights",
        "how much a change of a feature costs: {'income': 3} for what should rather not change; "
        "1 if not given",
    )
    avoid: Sequence[str] = _option_field(
        (),
        "features",
        "features not to touch at all, neither by an action nor on the path; fixed= is the same",
    )
    fixed: Sequence[str] = _option_field((), "features", "another name for avoid")
    only: Sequence[str] = _option_field(
        (), "features", "the only features that may change; all others stay as they are"
    )

    def __post_init__(self) -> None:
        raise_on_mistakes(self._find_mistakes())

    def given_options(self) -> dict[str, Any]:
        """What was said beyond the defaults, by name."""
        names = [one.name for one in fields(Ask)]
        return {name: getattr(self, name) for name in names if self._is_given(name)}

    def _is_given(self, name: str) -> bool:
        """Tell whether an option was given, and not as it is anyway."""
        value = getattr(self, name)
        default = DEFAULTS[name]
        if default is None or isinstance(default, bool):
            return value is not default
        return bool(len(value)) if default == () else bool(value != default)

    def _values_of(self, name: str) -> Sequence[Any]:
        """The values of an option; there may be one a person where many ask."""
        return [getattr(self, name)]

    def _find_mistakes(self) -> Iterator[tuple[str, str]]:
        for name in self.refused:
            if self._is_given(name):
                yield name, f"{self.call} takes no {name}=: ask for one person with explain"
        for min_score in self._values_of("min_score"):
            if min_score is not None:
                yield from min_score_mistakes(min_score)
        if self.min_density is not None:
            yield from min_density_mistakes(self.min_density)
        yield from whole_number_mistakes("max_changes", self.max_changes, 1)
        if self.max_features is not None:
            yield from whole_number_mistakes("max_features", self.max_features, 1)
        yield from choice_mistakes("prefer", self.prefer, PREFERENCES)
        for max_seconds in self._values_of("max_seconds"):
            yield from positive_number_mistakes("max_seconds", max_seconds)
        yield from self._find_mistakes_of_robustness()

    def _find_mistakes_of_robustness(self) -> Iterator[tuple[str, str]]:
        if self.min_robustness is not None and not is_share(self.min_robustness):
            share = "a share above 0, up to 1, is wanted (0.9 means 90 %)"
            yield "min_robustness", f"min_robustness={self.min_robustness!r}: {share}"
        if self.lasting is not None:
            yield from lasting_mistakes(self.lasting)
            if self.min_robustness is not None:
                yield "lasting", "lasting= and min_robustness= cannot be had together: give one"
        if self.best_effort and self.min_robustness is not None:
            yield (
                "best_effort",
                "best_effort=True and min_robustness= cannot be had together: give one",
            )


@dataclass(frozen=True, slots=True)
class AskMany(Ask):
    """What can be said for many people at once."""

    refused: ClassVar[tuple[str, ...]] = ("counterfactual", "min_robustness")
    call: ClassVar[str] = "explain_many"

    where: Any = _option_field(
        None, "limits", "what these people may change, as for explain: one for all, or one a person"
    )
    min_score: Any = _option_field(
        None, "number", "the score to reach: one for all, or a list with one a person"
    )
    max_seconds: Any = _option_field(
        None,
        "number",
        "after so many seconds the best answer so far is given, and says that it was cut short: "
        "one for all, or a list with one a person",
    )
    n_jobs: int = _option_field(
        1,
        "whole",
        "how many processes of this machine share the work, -1 for one a core; the answers are the "
        "same",
    )
    on_error: str = _option_field(
        "raise",
        "word",
        "'raise', or 'record' to go on without those who cannot be answered, because "
        "their record cannot be read or the model fails on it: see Recourses.errors",
    )
    progress: bool = _option_field(
        True,
        "flag",
        "whether to show a bar with people done and found, the rate, and the time left",
    )

    def _find_mistakes(self) -> Iterator[tuple[str, str]]:
        yield from Ask._find_mistakes(self)
        yield from choice_mistakes("on_error", self.on_error, ("raise", "record"))
        if self.n_jobs != -1:
            yield from whole_number_mistakes("n_jobs", self.n_jobs, 1)

    def lists(self) -> dict[str, list[Any]]:
        """The options that were given person by person."""
        every = {name: getattr(self, name) for name in PER_PERSON}
        return {name: list(value) for name, value in every.items() if _is_list(value)}

    def of_person(self, number: int) -> Ask:
        """What is asked for one of the people."""
        own = {name: values[number] for name, values in self.lists().items()}
        return Ask(**{**self.given_options(), **own})

    def _values_of(self, name: str) -> Sequence[Any]:
        found: list[Any] = self.lists().get(name, [getattr(self, name)])
        return found


@dataclass(frozen=True, slots=True)
class AskAlternatives(Ask):
    """What can be said where several recourses are wanted."""

    refused: ClassVar[tuple[str, ...]] = ("prefer", "min_robustness", "best_effort", "lasting")
    call: ClassVar[str] = "alternatives"

    n: int = _option_field(
        3, "whole", "how many are wanted, no two with the same features", kw_only=False
    )
    differ: str = _option_field(
        "features",
        "word",
        "'features', or 'values' for options that may change the same features to other values: "
        "each change in turn goes only part of the way, and others make up for it",
    )

    def _find_mistakes(self) -> Iterator[tuple[str, str]]:
        yield from Ask._find_mistakes(self)
        yield from whole_number_mistakes("n", self.n, 1)
        yield from choice_mistakes("differ", self.differ, ("features", "values"))
        if not self.actions:
            wanted = "alternatives differ by what the actions change; leave actions=True"
            yield "actions", f"actions={self.actions!r}: {wanted}"


@dataclass(frozen=True, slots=True)
class AskCheck(Ask):
    """What can be said where a wished state is looked at."""

    refused: ClassVar[tuple[str, ...]] = (
        "counterfactual",
        "relax",
        "actions",
        "prefer",
        "min_robustness",
        "best_effort",
        "lasting",
    )
    call: ClassVar[str] = "check"

    wish: Any = _option_field(
        MISSING,
        "record",
        "some features with the values they should have, as in {'debt': 4000}; the others stay "
        "as they are. A whole record will do as well",
        kw_only=False,
    )


def accepted_options(ask: type[Ask]) -> tuple[Field[Any], ...]:
    """The options of a kind of call, those that it refuses left out."""
    return tuple(one for one in fields(ask) if one.name not in ask.refused)


def _is_list(value: object) -> bool:
    """Tell whether a value holds one thing a person: a list, a tuple, an array, a Series."""
    return isinstance(value, list | tuple) or getattr(value, "ndim", 0) == 1


PER_PERSON = ("where", "min_score", "max_seconds")  # what many people may each have their own of
DEFAULTS = {one.name: one.default for one in fields(Ask)}
