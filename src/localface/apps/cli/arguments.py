"""What the command line takes: every command, its options, and their help."""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from localface._version import __version__
from localface.apps import files
from localface.apps.cli.ask_options import add_ask_options

FOUND, MISUSE, NO_RECOURSE, INTERRUPTED, BROKEN_PIPE = 0, 1, 3, 130, 141
_EXIT_CODES = (
    "exit codes: 0 recourse found (or the person is there already), 1 misuse, 3 no recourse"
)
NEIGHBORS = 50  # as many people are looked at around each place, where there are as many


class Parser(argparse.ArgumentParser):
    """A parser for which misuse is exit code 1, and whose help is as wide everywhere."""

    def __init__(self, **settings: Any) -> None:
        def formatter(prog: str) -> argparse.HelpFormatter:
            return argparse.HelpFormatter(prog, width=100, max_help_position=28)

        super().__init__(**{"formatter_class": formatter, "allow_abbrev": False, **settings})

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and where to look."""
        self.exit(
            MISUSE, f"localface: {message}\n{self.format_usage()}(localface --help says more)\n"
        )


def parser_of() -> argparse.ArgumentParser:
    """The whole command line."""
    parser = Parser(
        prog="localface",
        usage="localface COMMAND [options]",
        description="What would have to change, in which order, by how much: sequential algorithmic recourse.",
        epilog=_EXIT_CODES,
    )
    parser.add_argument("--version", action="version", version=f"localface {__version__}")
    commands = parser.add_subparsers(
        title="commands", metavar="COMMAND", required=True, parser_class=Parser
    )
    _add_demo(commands)
    _add_explain(commands)
    _add_schema(commands)
    _add_store(commands)
    _add_case(commands)
    _add_serve(commands)
    return parser


def _add_serve(commands: Any) -> None:
    serve = commands.add_parser(
        "serve",
        usage="localface serve [--data ROWS --model MODEL] [--port N] [options]",
        help="open the page: pick a person, and work out what would change the decision",
        description=(
            "Serve the page and its HTTP interface on this machine. Without --data and --model it shows a generated "
            "intensive-care cohort in which nobody is real. Decision support: correlational, not advice."
        ),
    )
    _add_served(serve.add_argument_group("what to serve"))
    _add_where(serve.add_argument_group("where to serve it"))
    _add_wishes(serve.add_argument_group("what is wanted"), asked=False)
    serve.set_defaults(run="serve", row=None)


def _add_served(group: Any) -> None:
    add = group.add_argument
    add(
        "--demo",
        choices=("readiness", "moons"),
        default="readiness",
        help="the cohort (default), or two moons",
    )
    add(
        "--data",
        metavar="ROWS",
        help=f"the people to learn from: {', '.join(files.TABLES)}, or a store",
    )
    add("--model", metavar="MODEL", help="a .skops or .onnx file, or module:attribute to import")
    _add_reading(group)
    add("--outcome", metavar="COLUMN", help="the column of --data that says what became of people")
    add("--no-people", action="store_true", help="list nobody: records are typed or pasted")
    add("--title", metavar="TEXT", help="what the page is called")


def _add_where(group: Any) -> None:
    add = group.add_argument
    add(
        "--host",
        default="127.0.0.1",
        help="the address to bind (default: %(default)s, this machine only)",
    )
    add(
        "--port",
        metavar="N",
        type=int,
        default=8080,
        help="the port; 0 takes any that is free (default: %(default)s)",
    )
    add(
        "--token",
        metavar="TEXT",
        help="what to ask for; made up and printed if others can reach the host",
    )
    add(
        "--workers",
        metavar="N",
        type=int,
        help="processes that search (default: one a processor, up to 4)",
    )
    add("--open", action="store_true", help="open the page in the browser")


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
    add(
        "--mimic",
        metavar="FOLDER",
        help="take the rows from these MIMIC-III tables (.csv or .csv.gz)",
    )
    add(
        "--original",
        action="store_true",
        help="read MIMIC-III as the original study did, slips included",
    )
    add(
        "--splits",
        metavar="N",
        type=int,
        default=100,
        help="random splits to measure on (default: %(default)s)",
    )
    add("--grid", action="store_true", help="search the paper's grid of forests on each split")
    add(
        "--row-split",
        action="store_true",
        help="measure also with rows split without regard to patients",
    )
    add(
        "--people",
        metavar="N",
        type=int,
        help="look for recourse for so many of the tested (default: all)",
    )
    add("--los-only-grows", action="store_true", help="do not let the length of stay go back")
    add(
        "--seed",
        metavar="N",
        type=int,
        default=0,
        help="of cohort, splits and forests (default: %(default)s)",
    )
    add(
        "--out", metavar="FOLDER", default="readiness", help="where to write (default: %(default)s)"
    )
    case.set_defaults(run="case")


def _add_store(commands: Any) -> None:
    store = commands.add_parser(
        "store",
        usage="localface store ROWS --schema FILE --out FOLDER",
        help="write a table that does not fit into memory into a folder for --data",
        description="Write a table of any size into a folder that explain takes as --data: rows stay on the disk.",
    )
    store.add_argument("rows", metavar="ROWS", help="a Parquet or CSV file, or a folder of them")
    store.add_argument(
        "--schema",
        metavar="FILE",
        required=True,
        help="what the columns are (see localface schema)",
    )
    store.add_argument(
        "--out", metavar="FOLDER", required=True, help="the folder to write; it must not exist yet"
    )
    store.set_defaults(run="store")


def _add_demo(commands: Any) -> None:
    demo = commands.add_parser(
        "demo",
        usage="localface demo [--out FOLDER]",
        help="explain one person of two moons",
        description="Explain one person of two moons: print the recourse, write a figure and a page, say where.",
    )
    demo.add_argument(
        "--out",
        metavar="FOLDER",
        default="localface-demo",
        help="where to write (default: %(default)s)",
    )
    demo.set_defaults(run="demo")


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
    explain.set_defaults(run="explain")


def _add_inputs(group: Any) -> None:
    add = group.add_argument
    add(
        "--data",
        metavar="ROWS",
        required=True,
        help=f"the people to learn from: {', '.join(files.TABLES)}, or a store",
    )
    add(
        "--model",
        metavar="MODEL",
        required=True,
        help="a .skops or .onnx file, or module:attribute to import",
    )
    who = group.add_mutually_exclusive_group(required=True)
    who.add_argument(
        "--row", metavar="N", type=int, help="the person in this row of the data, counted from 0"
    )
    who.add_argument(
        "--person",
        metavar="FILE",
        help="the person in a JSON file, feature by feature; - reads stdin",
    )
    who.add_argument(
        "--people",
        metavar="FOLDER",
        help="everyone in a parquet file or a folder of them; needs --out",
    )
    _add_reading(group)


def _add_reading(group: Any) -> None:
    add = group.add_argument
    add(
        "--schema",
        metavar="FILE",
        help="what the columns are (see localface schema); guessed if not given",
    )
    add(
        "--drop",
        metavar="COLUMN",
        action="append",
        default=[],
        help="leave a column out; may be repeated",
    )
    add(
        "--trust",
        metavar="TYPE",
        action="append",
        default=[],
        help="trust a type in a .skops file; may be repeated",
    )
    add(
        "--allow-pickle",
        action="store_true",
        help="load a .pkl or .joblib model, which runs the code in it",
    )


def _add_wishes(group: Any, *, asked: bool = True) -> None:
    add = group.add_argument
    add(
        "--target",
        metavar="CLASS",
        help="the class to reach, or 'at least' / 'at most' for a value (default: 1)",
    )
    add("--min-score", metavar="SCORE", type=float, help="the score to reach (default: 0.5)")
    add(
        "--min-density",
        metavar="SHARE",
        type=float,
        help="how unusual a place may be (default: 0.05)",
    )
    add(
        "--edges",
        metavar="RULE",
        help="what makes a step traversable: strict, average or cover (default: strict)",
    )
    add(
        "--n-neighbors",
        metavar="N",
        type=int,
        help="how many people to look at around each place (default: 50)",
    )
    add(
        "--max-step",
        metavar="LENGTH",
        type=float,
        help="the longest step, in ordinary differences between people",
    )
    add("--max-rows", metavar="N", type=int, help="how many people the answer may reveal")
    if not asked:
        return
    add_ask_options(group)


def _add_outputs(group: Any) -> None:
    add = group.add_argument
    add("--json", action="store_true", help="print the answer as JSON, and nothing else")
    add(
        "--plot",
        metavar="FILE",
        help="draw the path into a file such as out.png (needs matplotlib)",
    )
    add("--html", metavar="FILE", help="write the answer as a page")


def _add_many(group: Any) -> None:
    add = group.add_argument
    add(
        "--out",
        metavar="FOLDER",
        help="where the answers of --people go; the same command again goes on",
    )
    add("--id", metavar="COLUMN", help="the column that says who is who (default: count them)")
    add(
        "--block-size",
        metavar="N",
        type=int,
        default=1000,
        help="people in a block (default: %(default)s)",
    )
    add(
        "--engine",
        choices=("serial", "ray"),
        default="serial",
        help="serial (default): this process; ray: a cluster",
    )
    add(
        "--address",
        default="auto",
        help="the Ray cluster (default: the one that runs); local starts one",
    )
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
        "--out",
        metavar="FILE",
        default="schema.toml",
        help="where to write; - prints it (default: %(default)s)",
    )
    schema.add_argument(
        "--drop",
        metavar="COLUMN",
        action="append",
        default=[],
        help="leave a column out; may be repeated",
    )
    schema.add_argument("--force", action="store_true", help="write over a file that is there")
    schema.set_defaults(run="schema")
