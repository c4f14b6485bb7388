"""Lets methods take the options of an ask as keywords."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import wraps
from inspect import Signature, signature
from textwrap import wrap
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from localface.errors import did_you_mean
from localface.options.ask import Ask, accepted_options
from localface.options.search import Search

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")
A = TypeVar("A", bound=Ask)


def takes_options_of(
    make: Callable[P, A],
) -> Callable[[Callable[[S, Any, A], R]], Callable[Concatenate[S, Any, P], R]]:
    """Let a method take the options of an ask as keywords.

    The method is written for the ask; callers, type checkers and ``help`` see its options.
    ``{options}`` in the method's docstring is replaced by what is said of each of them.
    """
    kind = cast(type[Ask], make)

    def decorate(method: Callable[[S, Any, A], R]) -> Callable[Concatenate[S, Any, P], R]:
        @wraps(method)
        def call_with_ask(self: S, person: Any, *args: P.args, **options: P.kwargs) -> R:
            _check_keywords(kind, options, type(self))
            return method(self, person, make(*args, **options))

        own = list(signature(method).parameters.values())[:2]
        known = signature(kind).parameters
        shown = [*own, *(known[one.name] for one in accepted_options(kind) if not one.kw_only)]
        shown += [known[one.name] for one in accepted_options(kind) if one.kw_only]
        call_with_ask.__signature__ = Signature(shown)  # type: ignore[attr-defined]
        call_with_ask.__doc__ = (method.__doc__ or "").replace(
            "{options}", _describe_options(kind).strip()
        )
        return cast(Callable[Concatenate[S, Any, P], R], call_with_ask)

    return decorate


def _check_keywords(kind: type[Ask], options: Mapping[str, object], asked: type) -> None:
    known = [one.name for one in fields(kind)]
    for name in options:
        if name not in known:
            hint = _where_it_goes(name, asked) or did_you_mean(name, known)
            raise TypeError(f"{kind.call}() got an unexpected keyword argument {name!r}{hint}")


def _where_it_goes(name: str, asked: type) -> str:
    """Say where an option is given that holds for all calls of an explainer."""
    if name in signature(asked).parameters:
        return f": it holds for all calls, {asked.__name__}(..., {name}=...)"
    if name in {one.name for one in fields(Search)}:
        return f": it holds for all calls, {asked.__name__}(..., search=Search({name}=...))"
    return ""


def _describe_options(kind: type[Ask]) -> str:
    """What is said of the options, as a docstring has it."""
    lines = []
    for one in accepted_options(kind):
        text = one.metadata["help"]
        lines.append(f"        {one.name}")
        lines += [f"            {line}" for line in wrap(f"{text[0].upper()}{text[1:]}.", 84)]
    return "\n".join(lines)
