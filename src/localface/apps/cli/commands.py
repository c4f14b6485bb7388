"""The commands: from parsed arguments to what is printed."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from contextlib import ExitStack, redirect_stdout
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from localface.analyses.alternatives import Alternatives
from localface.analyses.promises import Promises
from localface.answers.recourse import Recourse
from localface.answers.status import Status
from localface.apps import files
from localface.apps.cli.ask_options import read_ask
from localface.apps.cli.console import print_to_stderr, show_while_working
from localface.apps.cli.exit_codes import FOUND, NO_RECOURSE
from localface.apps.cli.ground import run_ground
from localface.apps.cli.inputs import find_person, make_explainer, name_person, note_identifiers
from localface.apps.cli.promises import run_promise, run_recheck
from localface.data.notes_in_toml import note_in_toml
from localface.data.schema import Schema
from localface.data.schema_guide import guided_toml
from localface.data.schema_table import schema_lines
from localface.errors import InputError, install_command, needs_extra
from localface.explainer import LocalFACE
from localface.options import Ask, Search

if TYPE_CHECKING:
    from localface.apps.batch import Report
    from localface.apps.web.service import Service
    from localface.apps.web.workers.processes import ForkTemplate


def _run_demo(arguments: argparse.Namespace) -> int:
    from localface.cases.moons import two_moons

    folder = Path(arguments.out)
    folder.mkdir(parents=True, exist_ok=True)
    moons = two_moons(noise=0.15)
    with show_while_working("explaining one person of two moons"):
        explainer = LocalFACE(moons.model, moons.data, search=Search(n_neighbors=15))
        answer = explainer.explain(moons.person)
    print(answer)
    figure = _write_demo_figure(explainer, moons.person, folder / "two-moons.png")
    page = files.write_answer(
        answer, folder / "two-moons.html", figure=figure.name if figure else None
    )
    print()
    if figure:
        print(f"figure: {figure}")
    print(f"page:   {page}")
    return _exit_code(answer)


def _write_demo_figure(explainer: LocalFACE, person: Any, path: Path) -> Path | None:
    try:
        with show_while_working("drawing"):
            from localface.apps.plots import plot_pipeline

            return files.write_figure(plot_pipeline(explainer, person), path)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "matplotlib":
            raise
        print_to_stderr(
            "no figure: plots need matplotlib, which is not installed; "
            f"run: {install_command('plots')}"
        )
        return None


def _run_explain(arguments: argparse.Namespace) -> int:
    if arguments.row is None and arguments.person is None and arguments.people is None:
        raise InputError("say who is to be explained, with --row, --person or --people")
    if arguments.people is not None:
        return _explain_people(arguments)
    if arguments.alternatives is not None and arguments.plot:
        raise InputError("--plot draws one way: leave out --alternatives, or take --html")
    for path in filter(None, (arguments.plot, arguments.html)):
        files.require_writable_path(path)
    if arguments.plot:
        with needs_extra("plots", "--plot"):
            import matplotlib  # noqa: F401
    with redirect_stdout(sys.stderr):  # whatever the user's model prints is not the answer
        answer, ask = _explain_one_person(arguments)
        written = []
        if isinstance(answer, Recourse) and arguments.plot:
            with show_while_working("drawing"):
                written.append(files.write_figure(answer.plot(), arguments.plot))
        if arguments.html:
            person = name_person(arguments)
            written.append(files.write_answer(answer, arguments.html, person=person, ask=ask))
    print(answer.to_json(indent=2) if arguments.json else answer)
    for path in written:
        print_to_stderr(f"wrote {path}")
    return _exit_code(answer)


def _explain_one_person(arguments: argparse.Namespace) -> tuple[Recourse | Alternatives, Ask]:
    """Make an explainer, and ask it about one person; also gives back what was asked."""
    explainer, columns = make_explainer(arguments)
    person = find_person(arguments, columns)
    ask = read_ask(arguments, explainer.schema)
    with show_while_working("looking for a path"):
        if arguments.alternatives is not None:
            many = {"n": arguments.alternatives, "differ": arguments.differ}
            return explainer.alternatives(person, **ask.given_options(), **many), ask
        return explainer.explain(person, **ask.given_options()), ask


def _explain_people(arguments: argparse.Namespace) -> int:
    """Explain everyone in a folder, here or on a cluster."""
    if arguments.out is None:
        raise InputError("--people needs --out FOLDER, where the answers go")
    if arguments.row is not None:
        raise InputError("--row is for one person, and --people for all of them: leave one out")
    if arguments.alternatives is not None:
        raise InputError("--alternatives is for one person: give --row or --person")
    explainer, _ = make_explainer(arguments)
    report = _choose_batch_function(arguments)(
        explainer,
        arguments.people,
        arguments.out,
        block_size=arguments.block_size,
        id_column=arguments.id,
        ask=read_ask(arguments, explainer.schema),
    )
    print(report)
    print(
        f"to read it: pandas.read_parquet({str(report.out)!r}) has one line a person, by their id; "
        "Recourse.from_json reads a whole answer from the column 'answer'"
    )
    return FOUND


def _choose_batch_function(arguments: argparse.Namespace) -> Callable[..., Report]:
    """What explains many people, here or on a cluster."""
    if arguments.engine == "ray":
        from localface.apps.batch import ray

        return partial(ray.explain_parquet, workers=arguments.workers, address=arguments.address)
    from localface.apps.batch import serial

    return serial.explain_parquet


def _run_store(arguments: argparse.Namespace) -> int:
    schema = files.read_schema(arguments.schema)
    store = files.write_store_of_files(arguments.rows, arguments.out, schema)
    print(
        f"wrote {arguments.out}: {store.n_rows:,} rows, {store.n_distinct:,} of them distinct, "
        f"in {len(store.partition):,} cells"
    )
    probed = f"{store.calibration.n_probe:,}"
    recall = f"{store.calibration.recall:.2%}"
    print(f"looking into the {probed} nearest cells finds {recall} of the nearest people")
    return FOUND


def _run_case(arguments: argparse.Namespace) -> int:
    from localface.cases import readiness
    from localface.cases.mimic import Decisions
    from localface.cases.readiness.example_patient import example_page_name

    study = readiness.run(
        arguments.out,
        mimic=arguments.mimic,
        decisions=Decisions.original() if arguments.original else None,
        splits=arguments.splits,
        grid=arguments.grid,
        row_split=arguments.row_split,
        people=arguments.people,
        max_seconds=arguments.max_seconds,
        seed=arguments.seed,
    )
    print(study)
    print(f"\npage:   {study.page}")
    for group in study.examples:
        print(f"        {Path(arguments.out) / example_page_name(group)}")
    return FOUND


def _run_serve(arguments: argparse.Namespace) -> int:
    from localface.apps.web.http.log_lines import set_up_service_log
    from localface.apps.web.workers.processes import CAN_FORK, ForkTemplate

    set_up_service_log()
    with ExitStack() as at_the_end:
        template = None
        if CAN_FORK and arguments.workers != 0:
            # begun first: it imports what searches need while the model is made
            template = ForkTemplate(for_any_model=arguments.data is not None)
            at_the_end.callback(template.stop)
        _serve(arguments, template)
    return FOUND


def _serve(arguments: argparse.Namespace, template: ForkTemplate | None) -> None:
    """Serve until it is stopped; ``template`` starts the workers."""
    with needs_extra("web" if arguments.data else "demo", "localface serve"):
        import fastapi  # noqa: F401

        from localface.apps.web.serving import Serving
    with redirect_stdout(sys.stderr):
        service = _make_service(arguments)
        running = Serving(service, host=arguments.host, port=arguments.port, template=template)
    print(f"serving {service.title!r} at {running.url} (Ctrl-C stops it)", flush=True)
    if arguments.open:
        import webbrowser

        webbrowser.open(running.url)
    running.run()


def _make_service(arguments: argparse.Namespace) -> Service:
    """What is to be served: a demonstration, or the user's own table and model."""
    from localface.apps.web import demos

    common = {
        "workers": arguments.workers,
        "token": arguments.token,
        "title": arguments.title,
        "promises": arguments.promises,
    }
    if arguments.promises is not None:
        Promises.open(arguments.promises)  # what is wrong with it is said now, not to a person
    if (arguments.data is None) != (arguments.model is None):
        raise InputError(
            "--data and --model go together: give both, or neither for the demonstration"
        )
    if arguments.data is None:
        print_to_stderr(f"preparing the demonstration ({arguments.demo}) ...")
        return demos.make_demo_service(arguments.demo, people=not arguments.no_people, **common)
    explainer, columns = make_explainer(arguments)
    table = None if arguments.no_people else columns.table
    outcome = None
    if arguments.outcome is not None:
        outcome = demos.column_values(files.read_table(arguments.data), arguments.outcome)
    with show_while_working("scoring everyone once"):
        return demos.make_own_service(
            explainer.prescore(),
            table,
            outcome=outcome,
            target_label=arguments.target_label or "",
            **common,
        )


def _run_schema(arguments: argparse.Namespace) -> int:
    with show_while_working(f"reading {arguments.rows}"):
        table = files.read_table(arguments.rows)
        chosen = files.choose_columns(
            table, schema=None, drop=arguments.drop, groups=arguments.groups
        )
        note_identifiers(chosen)
        schema = Schema.infer(chosen.table, groups=chosen.groups, each_row=arguments.each_row)
        text = guided_toml(schema, chosen.table)
    if arguments.out == "-":
        print(text, end="")
        return FOUND
    path = files.write_schema(schema, arguments.out, overwrite=arguments.force, text=text)
    print("\n".join([*schema_lines(schema.features), *map(note_in_toml, schema.notes)]))
    print(
        f"\nwrote {path}: look at the guesses, say what may move and how far, "
        "and drop what is the outcome"
    )
    return FOUND


def _exit_code(answer: Recourse | Alternatives) -> int:
    first = answer[0] if isinstance(answer, Alternatives) else answer
    return FOUND if first.found or first.status is Status.ALREADY_THERE else NO_RECOURSE


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "demo": _run_demo,
    "explain": _run_explain,
    "promise": run_promise,
    "recheck": run_recheck,
    "schema": _run_schema,
    "ground": run_ground,
    "store": _run_store,
    "case": _run_case,
    "serve": _run_serve,
}
"""What each command does; it returns the exit code."""
