"""Making an explainer out of what the command line names: a table, a model, a schema."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from localface.apps import files
from localface.apps.cli.ask_options import as_number
from localface.apps.cli.console import say, working
from localface.errors import InputError
from localface.explainer import LocalFACE
from localface.options import Search

_N_NEIGHBORS = 50  # people looked at around each state, where there are as many


def make_explainer(arguments: argparse.Namespace) -> tuple[LocalFACE, files.ChosenColumns]:
    """Read table, schema and model, and make an explainer; also says which columns are used."""
    if files.is_store(arguments.data):
        return _make_store_explainer(arguments)
    with working(f"reading {arguments.data}"):
        table = files.read_table(arguments.data)
        schema = files.read_schema(arguments.schema) if arguments.schema else None
    with working(f"loading {arguments.model}"):
        model = _read_model(arguments)
    columns = files.choose_columns(table, schema=schema, model=model, drop=arguments.drop)
    unknown = [name for name in columns.dropped if name not in arguments.drop]
    if unknown:
        say(
            f"note: {_who_names_columns(model)} does not know these columns, "
            f"and they are not used: {', '.join(unknown)}"
        )
    model = files.named_classes(model, columns.table)
    with working("learning what is common"):
        explainer = LocalFACE(
            model,
            columns.table,
            schema=columns.schema,
            target=_find_target(arguments.target, model),
            **_explainer_options(arguments, n_neighbors=min(_N_NEIGHBORS, len(table))),
        )
    return explainer, columns


def _make_store_explainer(arguments: argparse.Namespace) -> tuple[LocalFACE, files.ChosenColumns]:
    """Open a folder that ``localface store`` wrote; its rows stay where they are."""
    if arguments.row is not None:
        raise InputError(
            "--row counts the rows of a table, and a store has them in an order of its own: "
            "use --person"
        )
    with working(f"opening {arguments.data}"):
        store = files.open_store(arguments.data)
        schema = files.read_schema(arguments.schema) if arguments.schema else None
        model = _read_model(arguments)
    with working("learning what is common"):
        explainer = LocalFACE(
            model,
            store,
            schema=schema,
            target=_find_target(arguments.target, model),
            **_explainer_options(arguments),
        )
    return explainer, files.ChosenColumns(None, explainer.schema, ())


def _read_model(arguments: argparse.Namespace) -> Any:
    if arguments.allow_pickle and Path(arguments.model).suffix.lower() in files.PICKLES:
        say(f"warning: {arguments.model} is a pickle: loading it runs whatever code is in it")
    return files.read_model(
        arguments.model, allow_pickle=arguments.allow_pickle, trust=arguments.trust
    )


def _who_names_columns(model: Any) -> str:
    return "the schema" if getattr(model, "feature_names_in_", None) is None else "the model"


def find_person(arguments: argparse.Namespace, columns: files.ChosenColumns) -> Any:
    """The person who was named, by row or by file."""
    if arguments.person is None:
        return files.one_row(columns.table, arguments.row)
    person = files.read_person(arguments.person)
    return {name: value for name, value in person.items() if name not in columns.dropped}


def _explainer_options(
    arguments: argparse.Namespace, *, n_neighbors: int | None = None
) -> dict[str, Any]:
    """The options of an explainer that were given; the others are left to LocalFACE."""
    own = {name: getattr(arguments, name) for name in ("min_score", "min_density", "max_rows")}
    search = {name: getattr(arguments, name) for name in ("edges", "max_step", "n_neighbors")}
    if search["n_neighbors"] is None:
        search["n_neighbors"] = n_neighbors
    return {
        **{name: value for name, value in own.items() if value is not None},
        "search": Search(**{name: value for name, value in search.items() if value is not None}),
    }


def _find_target(text: str | None, model: Any) -> object:
    """Find the class that is written so.

    A model without classes takes a number, or ``"at least"`` and ``"at most"``.
    """
    if text is None:
        return 1
    classes = getattr(model, "classes_", None)
    if classes is None:
        return int(text) if text.isdecimal() else text
    known = classes.tolist() if hasattr(classes, "tolist") else list(classes)
    number = as_number(text)
    for one in known:
        if str(one) == text or (number is not None and as_number(str(one)) == number):
            return one
    return text
