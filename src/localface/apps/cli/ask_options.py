"""The options of one call on the command line, made from the fields of ``Ask``."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field
from typing import Any

from localface.apps import files
from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.data.where import WHERE_MOVES
from localface.errors import ConstraintError
from localface.options import Ask, AskAlternatives, accepted_options

_OF_THE_EXPLAINER = (
    "target",
    "min_score",
    "min_density",
)  # the explainer is made for this one call
_HELP = {
    "where": "what may change: age=5 (by 5), sex=never, age=up, fio2=0.21:0.4, ward=a,b; "
    "may be repeated",
    "weights": "how much a change of a feature costs, as in income=3 (default: 1); may be repeated",
    "avoid": "a feature not to touch at all; may be repeated",
    "fixed": "another name for --avoid",
    "only": "a feature that may change, all others stay as they are; may be repeated",
    "counterfactual": "where to go, if that is known: a JSON file, feature by feature",
    "actions": "give the path alone, without a plan of few changes",
}
_METAVARS = {
    "number": "NUMBER",
    "whole": "N",
    "features": "FEATURE",
    "limits": "FEATURE=LIMIT",
    "weights": "FEATURE=NUMBER",
    "record": "FILE",
    "word": "WORD",
}
_REPEATED = ("features", "limits", "weights")


def add_ask_options(group: Any) -> None:
    """Add a flag for every option of a call."""
    for one in accepted_options(Ask):
        if one.name not in _OF_THE_EXPLAINER:
            _add_flag(group, one)


def _add_flag(group: Any, one: Field[Any]) -> None:
    kind = one.metadata["kind"]
    flag = f"--{one.name.replace('_', '-')}"
    text = _HELP.get(one.name, one.metadata["help"]).replace("%", "%%")
    if kind == "flag":
        if one.default:
            group.add_argument(f"--no-{flag[2:]}", dest=one.name, action="store_false", help=text)
        else:
            group.add_argument(flag, action="store_true", help=text)
        return
    more: dict[str, Any] = {"metavar": _METAVARS[kind]}
    if kind in _REPEATED:
        more |= {"action": "append", "default": []}
    if kind == "word":
        more |= {"default": one.default}
    if kind in ("number", "whole"):
        more |= {"type": float if kind == "number" else int, "default": one.default}
    group.add_argument(flag, help=text, **more)


def add_alternatives_options(group: Any) -> None:
    """Add the flags by which several ways are asked for."""
    by_name = {one.name: one for one in accepted_options(AskAlternatives)}
    group.add_argument(
        "--alternatives",
        metavar="N",
        type=int,
        help="so many ways instead of one, side by side (see --differ)",
    )
    group.add_argument(
        "--differ",
        choices=("features", "values"),
        default=by_name["differ"].default,
        help=f"with --alternatives: {by_name['differ'].metadata['help']}",
    )


def read_ask(arguments: argparse.Namespace, schema: Schema) -> Ask:
    """Read the options of a call from what was typed."""
    said = {
        one.name: _READERS.get(one.metadata["kind"], _return_unchanged)(
            getattr(arguments, one.name), schema
        )
        for one in accepted_options(Ask)
        if one.name not in _OF_THE_EXPLAINER
    }
    return Ask(**said)


def _return_unchanged(given: Any, schema: Schema) -> Any:
    return given


def _read_record_file(given: str | None, schema: Schema) -> Any:
    return None if given is None else files.read_person(given)


def _parse_weights(given: Sequence[str], schema: Schema) -> dict[str, Any] | None:
    """Read what changes cost: ``income=3``."""
    weights = {}
    for text in given:
        name, sign, number = text.rpartition("=")
        if not sign or parse_number(number) is None:
            raise ConstraintError(
                f"--weights {text} cannot be read: write FEATURE=NUMBER, as in income=3",
                option="weights",
            )
        weights[name] = parse_number(number)
    return weights or None


def _parse_limits(given: Sequence[str], schema: Schema) -> dict[str, dict[str, object]]:
    """Read what may change: ``age=5``, ``sex=never``, ``fio2=0.21:0.4``, ``ward=a,b``.

    One feature may have several limits.
    """
    limits: dict[str, dict[str, object]] = {}
    for text in given:
        cuts = [i for i, character in enumerate(text) if character == "="]
        if not cuts:
            raise ConstraintError(
                f"--where {text} cannot be read: write FEATURE=LIMIT, as in age=5 or sex=never"
            )
        cut = next((i for i in cuts if text[:i] in schema.names), cuts[0])
        name = text[:cut]
        part, value = _parse_limit(
            text[cut + 1 :], schema[name] if name in schema.names else Feature(name)
        )
        if part in limits.setdefault(name, {}):
            raise ConstraintError(
                f"--where says twice how {name!r} may change ({part}): say it once"
            )
        limits[name][part] = value
    return limits


def _parse_limit(text: str, feature: Feature) -> tuple[str, object]:
    """Tell by its shape what a limit means: a word, a distance, a range, or some categories."""
    known = {str(label): label for label in feature.categories or ()}
    if text in WHERE_MOVES and text not in known:
        return "moves", text
    if text not in known and ":" in text:
        low, high = text.split(":", 1)
        return "bounds", (_parse_range_end(low, known), _parse_range_end(high, known))
    if known and (feature.discrete or parse_number(text) is None):
        labels = [text] if text in known else [label.strip() for label in text.split(",")]
        return "categories", [known.get(label, label) for label in labels]
    return ("moves", text) if parse_number(text) is None else ("within", parse_number(text))


def _parse_range_end(text: str, categories: Mapping[str, object]) -> object:
    """Read one end of a range: a category, a number, or nothing where it is open."""
    if text in categories:
        return categories[text]
    number = parse_number(text)
    return (text or None) if number is None else number


def parse_number(text: str) -> int | float | None:
    """Read a number, whole where it is written so; None where it is none."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None


_READERS: dict[str, Callable[[Any, Schema], Any]] = {
    "limits": _parse_limits,
    "weights": _parse_weights,
    "record": _read_record_file,
}
