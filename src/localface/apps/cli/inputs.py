"""Making an explainer out of what the command line names: a table, a model, a schema."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import narwhals as nw

from localface.apps import files
from localface.apps.cli.ask_options import parse_number
from localface.apps.cli.console import print_to_stderr, show_while_working
from localface.data.notes_in_toml import note_in_toml
from localface.data.schema import Schema
from localface.errors import InputError
from localface.explainer import LocalFACE
from localface.options import Search

_N_NEIGHBORS = 50  # people looked at around each state, where there are as many


def make_explainer(
    arguments: argparse.Namespace, *, schema: Schema | None = None
) -> tuple[LocalFACE, files.ChosenColumns]:
    """Read table, schema and model, and make an explainer; also says which columns are used.

    ``schema`` is taken where none is named.
    """
    if files.is_store(arguments.data):
        return _make_store_explainer(arguments)
    with show_while_working(f"reading {arguments.data}"):
        table = files.read_table(arguments.data)
        schema = files.read_schema(arguments.schema) if arguments.schema else schema
    with show_while_working(f"loading {arguments.model}"):
        model = _read_model(arguments)
        others = _read_other_models(arguments)
    outcome = _outcome_to_refit(arguments)
    drop = [*arguments.drop, *outcome]
    columns = files.choose_columns(
        table, schema=schema, model=model, drop=drop, groups=arguments.groups
    )
    _note_unknown_columns(columns, model, said=(*drop, arguments.groups))
    model = files.with_class_names(model, columns.table)
    with show_while_working("fitting the density"):
        explainer = LocalFACE(
            model,
            columns.table,
            schema=columns.schema,
            groups=columns.groups,
            y=nw.from_native(table)[outcome[0]].to_numpy() if outcome else None,
            others=others,
            agree=getattr(arguments, "agree", None),
            target=_find_target_class(arguments.target, model),
            **_explainer_options(arguments, n_neighbors=min(_N_NEIGHBORS, len(table))),
        )
    for note in explainer.schema.notes:
        print_to_stderr(f"note: {note_in_toml(note)} (see localface schema)")
    return explainer, columns


def _note_unknown_columns(
    columns: files.ChosenColumns, model: Any, *, said: Sequence[str | None]
) -> None:
    """Say which columns are left out without anybody having said so."""
    note_identifiers(columns)
    unknown = [name for name in columns.dropped if name not in (*said, *columns.identifiers)]
    if unknown:
        print_to_stderr(
            f"note: {_schema_or_model_in_words(model)} does not know these columns, "
            f"and they are not used: {', '.join(unknown)}"
        )


def note_identifiers(columns: files.ChosenColumns) -> None:
    """Say which columns are left out because they look like identifiers."""
    for name in columns.identifiers:
        print_to_stderr(
            f"note: {name!r} looks like an identifier, as most rows have a text of their own "
            f"there: it is left out (if it says whose row it is: --groups {name})"
        )


def _make_store_explainer(arguments: argparse.Namespace) -> tuple[LocalFACE, files.ChosenColumns]:
    """Open a folder that ``localface store`` wrote; its rows stay where they are."""
    if arguments.row is not None and arguments.person is None:
        raise InputError(
            "--row names a row of a table, and a store has them in an order of its own: "
            "use --person, with --row where it is a table"
        )
    with show_while_working(f"opening {arguments.data}"):
        store = files.open_store(arguments.data)
        schema = files.read_schema(arguments.schema) if arguments.schema else None
        model = _read_model(arguments)
    with show_while_working("fitting the density"):
        explainer = LocalFACE(
            model,
            store,
            schema=schema,
            groups=arguments.groups,
            others=_read_other_models(arguments),
            agree=getattr(arguments, "agree", None),
            target=_find_target_class(arguments.target, model),
            **_explainer_options(arguments),
        )
    return explainer, files.ChosenColumns(None, explainer.schema, ())


def _read_model(arguments: argparse.Namespace) -> Any:
    return _read_model_at(arguments.model, arguments)


def _outcome_to_refit(arguments: argparse.Namespace) -> list[str]:
    """Name the column that the model is fitted to again; a service fits no models."""
    is_named = arguments.run in ("explain", "promise") and arguments.outcome is not None
    return [arguments.outcome] if is_named else []


def _read_other_models(arguments: argparse.Namespace) -> list[Any] | None:
    """Read the other models that were named; None where none were."""
    others = [_read_model_at(path, arguments) for path in getattr(arguments, "others", [])]
    return others or None


def _read_model_at(path: str, arguments: argparse.Namespace) -> Any:
    if arguments.allow_pickle and Path(path).suffix.lower() in files.PICKLES:
        print_to_stderr(f"warning: {path} is a pickle: loading it runs whatever code is in it")
    return files.read_model(path, allow_pickle=arguments.allow_pickle, trust=arguments.trust)


def _schema_or_model_in_words(model: Any) -> str:
    return "the schema" if getattr(model, "feature_names_in_", None) is None else "the model"


def find_person(arguments: argparse.Namespace, columns: files.ChosenColumns) -> Any:
    """The person who was named, by a row of the data, by a file, or by a row of a file."""
    if arguments.person is None:
        return files.take_row(columns.table, files.find_row(columns.whole, arguments.row))
    person = files.read_person(arguments.person, arguments.row)
    if not isinstance(person, dict):  # further columns of a table are passed over
        return person
    return {name: value for name, value in person.items() if name not in columns.dropped}


def name_person(arguments: argparse.Namespace) -> str | None:
    """What a page calls the person who was named: an identifier, or a row of a file."""
    if arguments.row is None:
        return None if arguments.person == "-" else Path(arguments.person).name
    if arguments.row.isdecimal():
        return f"row {arguments.row} of {Path(arguments.person or arguments.data).name}"
    return str(arguments.row).replace("=", " ", 1)


def _explainer_options(
    arguments: argparse.Namespace, *, n_neighbors: int | None = None
) -> dict[str, Any]:
    """The options of an explainer that were given; the others are left to LocalFACE."""
    own = {name: getattr(arguments, name) for name in ("min_score", "min_density", "max_rows")}
    own["each_row"] = getattr(arguments, "each_row", None)
    own["device"] = getattr(arguments, "device", None)  # of the commands that search at once
    search = {name: getattr(arguments, name) for name in ("edges", "max_step", "n_neighbors")}
    if search["n_neighbors"] is None:
        search["n_neighbors"] = n_neighbors
    return {
        **{name: value for name, value in own.items() if value is not None},
        "search": Search(**{name: value for name, value in search.items() if value is not None}),
    }


def _find_target_class(text: str | None, model: Any) -> object:
    """Find the class that is written so.

    A model without classes takes a number, or ``"at least"`` and ``"at most"``; ``LOW:HIGH`` is a
    range for any model, with nothing for an end that is open.
    """
    if text is None:
        return None
    low, colon, high = text.partition(":")
    ends = [parse_number(end) if end else None for end in (low, high)]
    if colon and all(
        end is not None or not said for end, said in zip(ends, (low, high), strict=True)
    ):
        return tuple(ends)
    classes = getattr(model, "classes_", None)
    if classes is None:
        return int(text) if text.isdecimal() else text
    known = classes.tolist() if hasattr(classes, "tolist") else list(classes)
    number = parse_number(text)
    for one in known:
        if str(one) == text or (number is not None and parse_number(str(one)) == number):
            return one
    return text
