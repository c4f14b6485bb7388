"""The commands: each reads what it was given, calls the library, and prints."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import Any

from localface.answers.recourse import Recourse
from localface.answers.status import Status
from localface.apps import files
from localface.apps.cli.arguments import FOUND, NEIGHBORS, NO_RECOURSE
from localface.apps.cli.ask_options import as_number, read_ask
from localface.apps.cli.console import say, working
from localface.data.schema import Schema
from localface.errors import InputError
from localface.explainer import LocalFACE
from localface.options import Search


def _demo(arguments: argparse.Namespace) -> int:
    folder = Path(arguments.out)
    folder.mkdir(parents=True, exist_ok=True)
    moons = import_module("localface.cases.moons").two_moons(noise=0.15)
    with working("explaining one person of two moons"):
        explainer = LocalFACE(moons.model, moons.data, search=Search(n_neighbors=15))
        answer = explainer.explain(moons.person)
    print(answer)
    figure = _demo_figure(explainer, moons.person, folder / "two-moons.png")
    page = files.write_answer(
        answer, folder / "two-moons.html", figure=figure.name if figure else None
    )
    print()
    if figure:
        print(f"figure: {figure}")
    print(f"page:   {page}")
    return _code(answer)


def _demo_figure(explainer: LocalFACE, person: Any, path: Path) -> Path | None:
    try:
        with working("drawing"):
            return files.write_figure(
                import_module("localface.apps.plots").plot_pipeline(explainer, person), path
            )
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "matplotlib":
            raise
        say(
            'no figure: plots need matplotlib, which is not installed; run: pip install "localface[plots]"'
        )
        return None


def _explain(arguments: argparse.Namespace) -> int:
    if arguments.people is not None:
        return _explain_people(arguments)
    for path in filter(None, (arguments.plot, arguments.html)):
        files.writable(path)
    if arguments.plot:
        files.extra("matplotlib", "--plot", "plots")
    with redirect_stdout(sys.stderr):  # whatever the user's model prints is not the answer
        answer = _answer(arguments)
        written = []
        if arguments.plot:
            with working("drawing"):
                written.append(files.write_figure(answer.plot(), arguments.plot))
        if arguments.html:
            written.append(files.write_answer(answer, arguments.html))
    print(answer.to_json(indent=2) if arguments.json else answer)
    for path in written:
        say(f"wrote {path}")
    return _code(answer)


def _answer(arguments: argparse.Namespace) -> Recourse:
    """Read everything, wire it together, and ask."""
    explainer, columns = _explainer(arguments)
    person = _person(arguments, columns)
    ask = read_ask(arguments, explainer.schema)
    with working("looking for a path"):
        return explainer.explain(person, **ask.plain())


def _explain_people(arguments: argparse.Namespace) -> int:
    """Explain everyone in a folder, here or on a cluster."""
    if arguments.out is None:
        raise InputError("--people needs --out FOLDER, where the answers go")
    explainer, _ = _explainer(arguments)
    room = import_module(f"localface.apps.batch.{arguments.engine}")
    cluster = (
        {"workers": arguments.workers, "address": arguments.address}
        if arguments.engine == "ray"
        else {}
    )
    report = room.explain_parquet(
        explainer,
        arguments.people,
        arguments.out,
        block_size=arguments.block_size,
        id_column=arguments.id,
        ask=read_ask(arguments, explainer.schema),
        **cluster,
    )
    print(report)
    return FOUND


def _explainer(arguments: argparse.Namespace) -> tuple[LocalFACE, files.Columns]:
    """Read everything, and wire it together."""
    if files.is_store(arguments.data):
        return _explainer_of_store(arguments)
    with working(f"reading {arguments.data}"):
        table = files.read_table(arguments.data)
        schema = files.read_schema(arguments.schema) if arguments.schema else None
    with working(f"loading {arguments.model}"):
        model = _model(arguments)
    columns = files.choose_columns(table, schema=schema, model=model, drop=arguments.drop)
    unknown = [name for name in columns.dropped if name not in arguments.drop]
    if unknown:
        say(
            f"note: {_whose(model)} does not know these columns, and they are not used: {', '.join(unknown)}"
        )
    model = files.named_classes(model, columns.table)
    with working("learning what is common"):
        explainer = LocalFACE(
            model,
            columns.table,
            schema=columns.schema,
            target=_target(arguments.target, model),
            **_options(arguments, n_neighbors=min(NEIGHBORS, len(table))),
        )
    return explainer, columns


def _explainer_of_store(arguments: argparse.Namespace) -> tuple[LocalFACE, files.Columns]:
    """Open a folder that ``localface store`` wrote; its rows stay where they are."""
    if arguments.row is not None:
        raise InputError(
            "--row counts the rows of a table, and a store has them in an order of its own: use --person"
        )
    with working(f"opening {arguments.data}"):
        store = files.open_store(arguments.data)
        schema = files.read_schema(arguments.schema) if arguments.schema else None
        model = _model(arguments)
    with working("learning what is common"):
        explainer = LocalFACE(
            model,
            store,
            schema=schema,
            target=_target(arguments.target, model),
            **_options(arguments),
        )
    return explainer, files.Columns(None, explainer.schema, ())


def _store(arguments: argparse.Namespace) -> int:
    schema = files.read_schema(arguments.schema)
    store = files.write_store(arguments.rows, arguments.out, schema)
    rows = f"{store.n_rows:,} rows, {store.n_distinct:,} of them distinct, in {len(store.partition):,} cells"
    print(f"wrote {arguments.out}: {rows}")
    probed, found = f"{store.calibration.n_probe:,}", f"{store.calibration.recall:.2%}"
    print(f"looking into the {probed} nearest cells finds {found} of the nearest people")
    return FOUND


def _model(arguments: argparse.Namespace) -> Any:
    if arguments.allow_pickle and Path(arguments.model).suffix.lower() in files.PICKLES:
        say(f"warning: {arguments.model} is a pickle: loading it runs whatever code is in it")
    return files.read_model(
        arguments.model, allow_pickle=arguments.allow_pickle, trust=arguments.trust
    )


def _whose(model: Any) -> str:
    return "the schema" if getattr(model, "feature_names_in_", None) is None else "the model"


def _person(arguments: argparse.Namespace, columns: files.Columns) -> Any:
    if arguments.person is None:
        return files.one_row(columns.table, arguments.row)
    person = files.read_person(arguments.person)
    return {name: value for name, value in person.items() if name not in columns.dropped}


def _options(arguments: argparse.Namespace, *, n_neighbors: int | None = None) -> dict[str, Any]:
    """The options of an explainer that were given; the others are left to LocalFACE."""
    own = {name: getattr(arguments, name) for name in ("min_score", "min_density", "max_rows")}
    search = {name: getattr(arguments, name) for name in ("edges", "max_step", "n_neighbors")}
    if search["n_neighbors"] is None:
        search["n_neighbors"] = n_neighbors
    return {
        **{name: value for name, value in own.items() if value is not None},
        "search": Search(**{name: value for name, value in search.items() if value is not None}),
    }


def _target(text: str | None, model: Any) -> object:
    """Find the class that is written so; a model without classes takes a number, or "at least" and "at most"."""
    if text is None:
        return 1
    classes = getattr(model, "classes_", None)
    if classes is None:
        return int(text) if text.isdecimal() else text
    known = classes.tolist() if hasattr(classes, "tolist") else list(classes)
    alike = (
        one
        for one in known
        if str(one) == text or (as_number(str(one)) == as_number(text) is not None)
    )
    return next(alike, text)


def _case(arguments: argparse.Namespace) -> int:
    study = import_module(f"localface.cases.{arguments.name}").run(
        arguments.out,
        mimic=arguments.mimic,
        decisions=import_module("localface.cases.mimic").Decisions.original()
        if arguments.original
        else None,
        splits=arguments.splits,
        grid=arguments.grid,
        row_split=arguments.row_split,
        people=arguments.people,
        los_only_grows=arguments.los_only_grows,
        seed=arguments.seed,
    )
    print(study)
    print(f"\npage:   {study.page}")
    return FOUND


def _serve(arguments: argparse.Namespace) -> int:
    for module in ("fastapi", "uvicorn"):
        files.extra(module, "localface serve", "web")
    with redirect_stdout(sys.stderr):
        service = _service(arguments)
        serving = import_module("localface.apps.web.serving")
        running = serving.Serving(service, host=arguments.host, port=arguments.port)
    print(f"serving {service.title!r} at {running.url} (Ctrl-C stops it)", flush=True)
    if arguments.open:
        import_module("webbrowser").open(running.url)
    running.run()
    return FOUND


def _service(arguments: argparse.Namespace) -> Any:
    """What is to be served: a demonstration, or the user's own table and model."""
    worlds, workers = import_module("localface.apps.web.demos"), arguments.workers
    common = {"workers": workers, "token": arguments.token, "title": arguments.title}
    if (arguments.data is None) != (arguments.model is None):
        raise InputError(
            "--data and --model go together: give both, or neither for the demonstration"
        )
    if arguments.data is None:
        say(f"preparing the demonstration ({arguments.demo}) ...")
        return worlds.demo(arguments.demo, people=not arguments.no_people, **common)
    explainer, columns = _explainer(arguments)
    table = None if arguments.no_people else columns.table
    outcome = (
        None
        if arguments.outcome is None
        else worlds.column_values(files.read_table(arguments.data), arguments.outcome)
    )
    with working("scoring everyone once"):
        return worlds.own_service(explainer.prescore(), table, outcome=outcome, **common)


def _schema(arguments: argparse.Namespace) -> int:
    with working(f"reading {arguments.rows}"):
        table = files.read_table(arguments.rows)
        kept = files.choose_columns(table, schema=None, drop=arguments.drop).table
        schema = Schema.infer(kept)
    if arguments.out == "-":
        print(schema.to_toml(), end="")
        return FOUND
    path = files.write_schema(schema, arguments.out, overwrite=arguments.force)
    print(schema)
    print(
        f"\nwrote {path}: look at the guesses, say what may move and how far, and drop what is the outcome"
    )
    return FOUND


def _code(answer: Recourse) -> int:
    return FOUND if answer.found or answer.status is Status.ALREADY_THERE else NO_RECOURSE


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "demo": _demo,
    "explain": _explain,
    "schema": _schema,
    "store": _store,
    "case": _case,
    "serve": _serve,
}
"""What each command does; it returns the exit code."""
