"""The command line: parse, call, print, exit."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from localface import files
from localface._version import __version__
from localface.box import MOVES
from localface.errors import ConstraintError, InputError, LocalFACEError
from localface.explainer import LocalFACE
from localface.recourse import Recourse, Status
from localface.schema import Feature, Schema

FOUND, MISUSE, NO_RECOURSE, INTERRUPTED, BROKEN_PIPE = 0, 1, 3, 130, 141
_EXIT_CODES = "exit codes: 0 recourse found (or the person is there already), 1 misuse, 3 no recourse"
_NEIGHBORS = 50  # as many people are looked at around each place, where there are as many


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command, and return its exit code; a user's mistake is one line, never a traceback."""
    try:
        arguments = _parser().parse_args(argv)
        with _plain_warnings():
            code: int = arguments.run(arguments)
        sys.stdout.flush()
        return code
    except SystemExit as end:  # argparse has printed what there is to say
        return end.code if isinstance(end.code, int) else MISUSE
    except BrokenPipeError:  # whoever read our output has seen enough; keep Python from complaining at exit
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except KeyboardInterrupt as stop:
        if str(stop):
            _say(str(stop))
        return INTERRUPTED
    except OSError as error:
        _say(f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error))
        return MISUSE
    except (LocalFACEError, ImportError) as error:
        _say(str(error))
        return MISUSE


def reference() -> str:
    """Return the reference of the command line, docs/cli.md: every command with its help."""
    parser = _parser()
    (commands,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    blocks = [("localface", parser), *((f"localface {name}", one) for name, one in commands.choices.items())]
    sections = [f"## `{title}`\n\n```text\n{one.format_help()}```\n" for title, one in blocks]
    opening = "What each command takes, as its `--help` says it. `python -m localface` is the same as `localface`.\n"
    return "\n".join(["# Command line\n", opening, *sections])


def _demo(arguments: argparse.Namespace) -> int:
    folder = Path(arguments.out)
    folder.mkdir(parents=True, exist_ok=True)
    moons = import_module("localface.cases.moons").two_moons(noise=0.15)
    with _working("explaining one person of two moons"):
        explainer = LocalFACE(moons.model, moons.data, n_neighbors=15)
        answer = explainer.explain(moons.person)
    print(answer)
    figure = _demo_figure(explainer, moons.person, folder / "two-moons.png")
    page = files.write_answer(answer, folder / "two-moons.html", figure=figure.name if figure else None)
    print()
    if figure:
        print(f"figure: {figure}")
    print(f"page:   {page}")
    return _code(answer)


def _demo_figure(explainer: LocalFACE, person: Any, path: Path) -> Path | None:
    try:
        with _working("drawing"):
            return files.write_figure(import_module("localface.plots").plot_pipeline(explainer, person), path)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "matplotlib":
            raise
        _say('no figure: plots need matplotlib, which is not installed; run: pip install "localface[plots]"')
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
            with _working("drawing"):
                written.append(files.write_figure(answer.plot(), arguments.plot))
        if arguments.html:
            written.append(files.write_answer(answer, arguments.html))
    print(answer.to_json(indent=2) if arguments.json else answer)
    for path in written:
        _say(f"wrote {path}")
    return _code(answer)


def _answer(arguments: argparse.Namespace) -> Recourse:
    """Read everything, wire it together, and ask."""
    explainer, columns = _explainer(arguments)
    person, where = _person(arguments, columns), _where(arguments.where, explainer.schema)
    with _working("looking for a path"):
        return explainer.explain(person, where=where, relax=arguments.relax)


def _explain_people(arguments: argparse.Namespace) -> int:
    """Explain everyone in a folder, here or on a cluster."""
    if arguments.out is None:
        raise InputError("--people needs --out FOLDER, where the answers go")
    explainer, _ = _explainer(arguments)
    room = import_module(f"localface.engines.{arguments.engine}")
    cluster = {"workers": arguments.workers, "address": arguments.address} if arguments.engine == "ray" else {}
    report = room.explain_parquet(
        explainer,
        arguments.people,
        arguments.out,
        block_size=arguments.block_size,
        id_column=arguments.id,
        where=_where(arguments.where, explainer.schema),
        relax=arguments.relax,
        **cluster,
    )
    print(report)
    return FOUND


def _explainer(arguments: argparse.Namespace) -> tuple[LocalFACE, files.Columns]:
    """Read everything, and wire it together."""
    if files.is_store(arguments.data):
        return _explainer_of_store(arguments)
    with _working(f"reading {arguments.data}"):
        table = files.read_table(arguments.data)
        schema = files.read_schema(arguments.schema) if arguments.schema else None
    with _working(f"loading {arguments.model}"):
        model = _model(arguments)
    columns = files.choose_columns(table, schema=schema, model=model, drop=arguments.drop)
    unknown = [name for name in columns.dropped if name not in arguments.drop]
    if unknown:
        _say(f"note: {_whose(model)} does not know these columns, and they are not used: {', '.join(unknown)}")
    model = files.named_classes(model, columns.table)
    with _working("learning what is common"):
        explainer = LocalFACE(
            model,
            columns.table,
            schema=columns.schema,
            target=_target(arguments.target, model),
            **_options(arguments, table),
        )
    return explainer, columns


def _explainer_of_store(arguments: argparse.Namespace) -> tuple[LocalFACE, files.Columns]:
    """Open a folder that ``localface store`` wrote; its rows stay where they are."""
    if arguments.row is not None:
        raise InputError("--row counts the rows of a table, and a store has them in an order of its own: use --person")
    with _working(f"opening {arguments.data}"):
        store = files.open_store(arguments.data)
        schema = files.read_schema(arguments.schema) if arguments.schema else None
        model = _model(arguments)
    with _working("learning what is common"):
        explainer = LocalFACE(model, store, schema=schema, target=_target(arguments.target, model), **_given(arguments))
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
        _say(f"warning: {arguments.model} is a pickle: loading it runs whatever code is in it")
    return files.read_model(arguments.model, allow_pickle=arguments.allow_pickle, trust=arguments.trust)


def _whose(model: Any) -> str:
    return "the schema" if getattr(model, "feature_names_in_", None) is None else "the model"


def _person(arguments: argparse.Namespace, columns: files.Columns) -> Any:
    if arguments.person is None:
        return files.one_row(columns.table, arguments.row)
    person = files.read_person(arguments.person)
    return {name: value for name, value in person.items() if name not in columns.dropped}


def _options(arguments: argparse.Namespace, table: Any) -> dict[str, Any]:
    """The options that were given; the others are left to LocalFACE."""
    neighbors = arguments.n_neighbors
    return {**_given(arguments), "n_neighbors": min(_NEIGHBORS, len(table)) if neighbors is None else neighbors}


def _given(arguments: argparse.Namespace) -> dict[str, Any]:
    names = ("min_score", "min_density", "edges", "max_step", "max_rows", "n_neighbors")
    return {name: getattr(arguments, name) for name in names if getattr(arguments, name) is not None}


def _target(text: str | None, model: Any) -> object:
    """Find the class that is written so; a model without classes takes a number, or "at least" and "at most"."""
    if text is None:
        return 1
    classes = getattr(model, "classes_", None)
    if classes is None:
        return int(text) if text.isdecimal() else text
    known = classes.tolist() if hasattr(classes, "tolist") else list(classes)
    alike = (one for one in known if str(one) == text or (_number(str(one)) == _number(text) is not None))
    return next(alike, text)


def _where(given: Sequence[str], schema: Schema) -> dict[str, dict[str, object]]:
    """Read what may change: ``age=5``, ``sex=never``, ``fio2=0.21:0.4``, ``ward=a,b``; one feature may have several."""
    wishes: dict[str, dict[str, object]] = {}
    for text in given:
        cuts = [i for i, character in enumerate(text) if character == "="]
        if not cuts:
            raise ConstraintError(f"--where {text} cannot be read: write FEATURE=LIMIT, as in age=5 or sex=never")
        cut = next((i for i in cuts if text[:i] in schema.names), cuts[0])
        name, limit = text[:cut], text[cut + 1 :]
        part, value = _limit(limit, schema[name] if name in schema.names else Feature(name))
        if part in wishes.setdefault(name, {}):
            raise ConstraintError(f"--where says twice how {name!r} may change ({part}): say it once")
        wishes[name][part] = value
    return wishes


def _limit(text: str, feature: Feature) -> tuple[str, object]:
    """Tell by its shape what a limit means: a word, a distance, a range, or some categories."""
    known = {str(label): label for label in feature.categories or ()}
    if text in MOVES and text not in known:
        return "moves", text
    if text not in known and ":" in text:
        ends = [known.get(end, _number(end) if _number(end) is not None else end or None) for end in text.split(":", 1)]
        return "bounds", (ends[0], ends[1])
    if known and (feature.discrete or _number(text) is None):
        labels = [text] if text in known else [label.strip() for label in text.split(",")]
        return "categories", [known.get(label, label) for label in labels]
    return ("moves", text) if _number(text) is None else ("within", _number(text))


def _case(arguments: argparse.Namespace) -> int:
    study = import_module(f"localface.cases.{arguments.name}").run(
        arguments.out,
        mimic=arguments.mimic,
        decisions=import_module("localface.cases.mimic").Decisions.original() if arguments.original else None,
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


def _schema(arguments: argparse.Namespace) -> int:
    with _working(f"reading {arguments.rows}"):
        table = files.read_table(arguments.rows)
        kept = files.choose_columns(table, schema=None, drop=arguments.drop).table
        schema = Schema.infer(kept)
    if arguments.out == "-":
        print(schema.to_toml(), end="")
        return FOUND
    path = files.write_schema(schema, arguments.out, overwrite=arguments.force)
    print(schema)
    print(f"\nwrote {path}: look at the guesses, say what may move and how far, and drop what is the outcome")
    return FOUND


def _code(answer: Recourse) -> int:
    return FOUND if answer.found or answer.status is Status.ALREADY_THERE else NO_RECOURSE


def _number(text: str) -> int | float | None:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None


def _say(message: str) -> None:
    print(f"localface: {message}", file=sys.stderr)


@contextmanager
def _working(what: str) -> Iterator[None]:
    """Show on a terminal what is being done, for as long as it takes."""
    shown = sys.stderr.isatty()
    if shown:
        print(f"\r\x1b[Klocalface: {what} ...", end="", file=sys.stderr, flush=True)
    try:
        yield
    finally:
        if shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Show a warning as one line of ours."""

    def show(message: Warning | str, *_: object, **__: object) -> None:
        _say(f"warning: {message}")

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


class _Parser(argparse.ArgumentParser):
    """A parser for which misuse is exit code 1, and whose help is as wide everywhere."""

    def __init__(self, **settings: Any) -> None:
        def formatter(prog: str) -> argparse.HelpFormatter:
            return argparse.HelpFormatter(prog, width=100, max_help_position=28)

        super().__init__(**{"formatter_class": formatter, "allow_abbrev": False, **settings})

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and where to look."""
        self.exit(MISUSE, f"localface: {message}\n{self.format_usage()}(localface --help says more)\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="localface",
        usage="localface COMMAND [options]",
        description="What would have to change, in which order, by how much: sequential algorithmic recourse.",
        epilog=_EXIT_CODES,
    )
    parser.add_argument("--version", action="version", version=f"localface {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=_Parser)
    _add_demo(commands)
    _add_explain(commands)
    _add_schema(commands)
    _add_store(commands)
    _add_case(commands)
    return parser


def _add_case(commands: Any) -> None:
    case = commands.add_parser(
        "case",
        usage="localface case readiness [--mimic FOLDER] [--splits N] [--people N] [--out FOLDER] [options]",
        help="run the paper's case study and write a page",
        description=(
            "Run the case study, readiness for discharge from intensive care, on a generated cohort or on MIMIC-III, "
            "and write it down as a page and as Markdown. Decision support: correlational, not advice."
        ),
    )
    add = case.add_argument
    add("name", choices=("readiness",), help="which study")
    add("--mimic", metavar="FOLDER", help="take the rows from these MIMIC-III tables (.csv or .csv.gz)")
    add("--original", action="store_true", help="read MIMIC-III as the original study did, slips included")
    add("--splits", metavar="N", type=int, default=100, help="random splits to measure on (default: %(default)s)")
    add("--grid", action="store_true", help="search the paper's grid of forests on each split")
    add("--row-split", action="store_true", help="measure also with rows split without regard to patients")
    add("--people", metavar="N", type=int, help="look for recourse for so many of the tested (default: all)")
    add("--los-only-grows", action="store_true", help="do not let the length of stay go back")
    add("--seed", metavar="N", type=int, default=0, help="of cohort, splits and forests (default: %(default)s)")
    add("--out", metavar="FOLDER", default="readiness", help="where to write (default: %(default)s)")
    case.set_defaults(run=_case)


def _add_store(commands: Any) -> None:
    store = commands.add_parser(
        "store",
        usage="localface store ROWS --schema FILE --out FOLDER",
        help="write a table that does not fit into memory into a folder for --data",
        description="Write a table of any size into a folder that explain takes as --data: rows stay on the disk.",
    )
    store.add_argument("rows", metavar="ROWS", help="a Parquet or CSV file, or a folder of them")
    store.add_argument("--schema", metavar="FILE", required=True, help="what the columns are (see localface schema)")
    store.add_argument("--out", metavar="FOLDER", required=True, help="the folder to write; it must not exist yet")
    store.set_defaults(run=_store)


def _add_demo(commands: Any) -> None:
    demo = commands.add_parser(
        "demo",
        usage="localface demo [--out FOLDER]",
        help="explain one person of two moons",
        description="Explain one person of two moons: print the recourse, write a figure and a page, say where.",
    )
    demo.add_argument("--out", metavar="FOLDER", default="localface-demo", help="where to write (default: %(default)s)")
    demo.set_defaults(run=_demo)


def _add_explain(commands: Any) -> None:
    explain = commands.add_parser(
        "explain",
        usage="localface explain --data ROWS --model MODEL (--row N | --person FILE | --people FOLDER) [options]",
        help="find recourse for one person",
        description="Find recourse for one person: how to get from where they stand to another outcome.",
        epilog=_EXIT_CODES,
    )
    _add_inputs(explain.add_argument_group("what to explain"))
    _add_wishes(explain.add_argument_group("what is wanted"))
    _add_outputs(explain.add_argument_group("where the answer goes"))
    _add_many(explain.add_argument_group("many people (see docs/clusters.md)"))
    explain.set_defaults(run=_explain)


def _add_inputs(group: Any) -> None:
    add = group.add_argument
    add(
        "--data", metavar="ROWS", required=True, help=f"the people to learn from: {', '.join(files.TABLES)}, or a store"
    )
    add("--model", metavar="MODEL", required=True, help="a .skops or .onnx file, or module:attribute to import")
    who = group.add_mutually_exclusive_group(required=True)
    who.add_argument("--row", metavar="N", type=int, help="the person in this row of the data, counted from 0")
    who.add_argument("--person", metavar="FILE", help="the person in a JSON file, feature by feature; - reads stdin")
    who.add_argument("--people", metavar="FOLDER", help="everyone in a parquet file or a folder of them; needs --out")
    add("--schema", metavar="FILE", help="what the columns are (see localface schema); guessed if not given")
    add("--drop", metavar="COLUMN", action="append", default=[], help="leave a column out; may be repeated")
    add("--trust", metavar="TYPE", action="append", default=[], help="trust a type in a .skops file; may be repeated")
    add("--allow-pickle", action="store_true", help="load a .pkl or .joblib model, which runs the code in it")


def _add_wishes(group: Any) -> None:
    add = group.add_argument
    add("--target", metavar="CLASS", help="the class to reach, or 'at least' / 'at most' for a value (default: 1)")
    add("--min-score", metavar="SCORE", type=float, help="the score to reach (default: 0.5)")
    add("--min-density", metavar="SHARE", type=float, help="how unusual a place may be (default: 0.05)")
    add("--edges", metavar="RULE", help="what makes a step traversable: strict, average or cover (default: strict)")
    add("--n-neighbors", metavar="N", type=int, help="how many people to look at around each place (default: 50)")
    add("--max-step", metavar="LENGTH", type=float, help="the longest step, in ordinary differences between people")
    add("--max-rows", metavar="N", type=int, help="how many people the answer may reveal")
    limits = "what may change: age=5 (by 5), sex=never, age=up, fio2=0.21:0.4, ward=a,b; may be repeated"
    add("--where", metavar="FEATURE=LIMIT", action="append", default=[], help=limits)
    add("--relax", action="store_true", help="lower the floor by as little as possible where nothing else helps")


def _add_outputs(group: Any) -> None:
    add = group.add_argument
    add("--json", action="store_true", help="print the answer as JSON, and nothing else")
    add("--plot", metavar="FILE", help="draw the path into a file such as out.png (needs matplotlib)")
    add("--html", metavar="FILE", help="write the answer as a page")


def _add_many(group: Any) -> None:
    add = group.add_argument
    add("--out", metavar="FOLDER", help="where the answers of --people go; the same command again goes on")
    add("--id", metavar="COLUMN", help="the column that says who is who (default: count them)")
    add("--block-size", metavar="N", type=int, default=1000, help="people in a block (default: %(default)s)")
    add("--engine", choices=("serial", "ray"), default="serial", help="serial (default): this process; ray: a cluster")
    add("--address", default="auto", help="the Ray cluster (default: the one that runs); local starts one")
    add("--workers", metavar="N", type=int, help="workers on the Ray cluster (default: one a CPU)")


def _add_schema(commands: Any) -> None:
    schema = commands.add_parser(
        "schema",
        usage="localface schema ROWS [--out FILE] [options]",
        help="guess what the columns of a table are",
        description="Guess what the columns of a table are, print the guesses, and write them down to be mended.",
    )
    schema.add_argument("rows", metavar="ROWS", help=f"the table: {', '.join(files.TABLES)}")
    schema.add_argument(
        "--out", metavar="FILE", default="schema.toml", help="where to write; - prints it (default: %(default)s)"
    )
    schema.add_argument(
        "--drop", metavar="COLUMN", action="append", default=[], help="leave a column out; may be repeated"
    )
    schema.add_argument("--force", action="store_true", help="write over a file that is there")
    schema.set_defaults(run=_schema)
