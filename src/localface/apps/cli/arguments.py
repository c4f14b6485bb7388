"""The parser of the command line: every command with its options."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import Any, NoReturn

from localface._version import __version__
from localface.apps import files
from localface.apps.cli.exit_codes import EXIT_CODES, MISUSE
from localface.apps.cli.explain_arguments import (
    add_column_options,
    add_explain_command,
    add_row_word_option,
    add_serve_command,
)
from localface.apps.cli.promise_arguments import add_promise_command, add_recheck_command
from localface.errors import did_you_mean
from localface.geometry.compiled.library import load_library

_CHOICE = re.compile(r"invalid choice: '(.*)' \(choose from (.*)\)")


class Parser(argparse.ArgumentParser):
    """A parser for which misuse is exit code 1, and whose help is as wide everywhere."""

    def __init__(self, **settings: Any) -> None:
        def make_help_formatter(prog: str) -> argparse.HelpFormatter:
            return argparse.HelpFormatter(prog, width=100, max_help_position=28)

        super().__init__(
            **{"formatter_class": make_help_formatter, "allow_abbrev": False, **settings}
        )

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and where to look."""
        wrong = _CHOICE.search(message)
        near = did_you_mean(wrong[1], re.findall(r"[\w-]+", wrong[2])) if wrong else ""
        usage = f"{self.format_usage()}(localface --help says more)"
        self.exit(MISUSE, f"localface: {message}{near}\n{usage}\n")


class _Version(argparse.Action):
    """Says the version, and whether the compiled part is in use; loads it only when asked."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        compiled = "NumPy only" if load_library() is None else "with its compiled part"
        print(f"localface {__version__} ({compiled})")
        parser.exit()


def make_parser() -> argparse.ArgumentParser:
    """The whole command line."""
    parser = Parser(
        prog="localface",
        usage="localface COMMAND [options]",
        description=(
            "What would have to change, in which order, by how much: "
            "sequential algorithmic recourse."
        ),
        epilog=EXIT_CODES,
    )
    parser.add_argument(
        "--version",
        action=_Version,
        nargs=0,
        help="show the version, and whether the compiled part is in use",
    )
    commands = parser.add_subparsers(
        title="commands", metavar="COMMAND", required=True, parser_class=Parser
    )
    _add_demo_command(commands)
    add_explain_command(commands)
    add_promise_command(commands)
    add_recheck_command(commands)
    _add_schema_command(commands)
    _add_ground_command(commands)
    _add_store_command(commands)
    _add_case_command(commands)
    add_serve_command(commands)
    return parser


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read what was typed; the command itself says which of its options nobody knows."""
    parser = make_parser()
    arguments, unknown = parser.parse_known_args(argv)
    if unknown:
        command = commands_of(parser)[arguments.run]
        known = [option for one in command._actions for option in one.option_strings]
        near = did_you_mean(unknown[0].partition("=")[0], known)
        command.error(f"unrecognized arguments: {' '.join(unknown)}{near}")
    return arguments


def commands_of(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parser of each command, by its name."""
    (commands,) = (
        action for action in parser._actions if isinstance(action, argparse._SubParsersAction)
    )
    return dict(commands.choices)


def _add_case_command(commands: Any) -> None:
    case = commands.add_parser(
        "case",
        usage=(
            "localface case readiness [--mimic FOLDER] [--splits N] [--people N] [--out FOLDER] "
            "[options]"
        ),
        help="run the paper's case study and write a page",
        description=(
            "Run the case study, readiness for discharge from intensive care, on a generated "
            "cohort or on MIMIC-III, and write it down as a page and as Markdown. "
            "Decision support: correlational, not advice."
        ),
    )
    case.add_argument("name", choices=("readiness",), help="which study")
    _add_study_options(case)
    case.set_defaults(run="case")


def _add_study_options(case: argparse.ArgumentParser) -> None:
    add = case.add_argument
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
    _add_recourse_options(case)


def _add_recourse_options(case: argparse.ArgumentParser) -> None:
    add = case.add_argument
    add(
        "--people",
        metavar="N",
        type=int,
        help="look for recourse for so many of the tested (default: all)",
    )
    add(
        "--max-seconds",
        metavar="NUMBER",
        type=float,
        help="how long the search for one of them may take (default: no limit)",
    )
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


def _add_store_command(commands: Any) -> None:
    store = commands.add_parser(
        "store",
        usage="localface store ROWS --schema FILE --out FOLDER",
        help="write a table that does not fit into memory into a folder for --data",
        description=(
            "Write a table of any size into a folder that explain takes as --data: "
            "rows stay on the disk."
        ),
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


def _add_demo_command(commands: Any) -> None:
    demo = commands.add_parser(
        "demo",
        usage="localface demo [--out FOLDER]",
        help="explain one person of two moons",
        description=(
            "Explain one person of two moons: print the recourse, write a figure and a page, "
            "say where."
        ),
    )
    demo.add_argument(
        "--out",
        metavar="FOLDER",
        default="localface-demo",
        help="where to write (default: %(default)s)",
    )
    demo.set_defaults(run="demo")


def _add_schema_command(commands: Any) -> None:
    schema = commands.add_parser(
        "schema",
        usage="localface schema ROWS [--out FILE] [options]",
        help="guess what the columns of a table are",
        description=(
            "Guess what the columns of a table are, print the guesses, "
            "and write them down to be corrected."
        ),
    )
    schema.add_argument(
        "rows", metavar="ROWS", help=f"the table: {', '.join(files.TABLE_SUFFIXES)}"
    )
    schema.add_argument(
        "--out",
        metavar="FILE",
        default="schema.toml",
        help="where to write; - prints it (default: %(default)s)",
    )
    add_column_options(schema)
    add_row_word_option(schema)
    schema.add_argument("--force", action="store_true", help="write over a file that is there")
    schema.set_defaults(run="schema")


def _add_ground_command(commands: Any) -> None:
    ground = commands.add_parser(
        "ground",
        usage="localface ground ROWS [--schema FILE] [--drop COLUMN] [options]",
        help="tell how well the floor tells people from records put together at random",
        description=(
            "Hold out some rows, and tell how many of them, and how many records whose every "
            "column is somebody else's, clear the floor; no model is needed."
        ),
    )
    add = ground.add_argument
    add("rows", metavar="ROWS", help=f"the table: {', '.join(files.TABLE_SUFFIXES)}")
    add("--schema", metavar="FILE", help="what the columns are; guessed if not given")
    add_column_options(ground)
    add(
        "--min-density",
        metavar="SHARE",
        type=float,
        default=0.05,
        help="the floor (default: %(default)s)",
    )
    add("--json", action="store_true", help="print the report as JSON, and nothing else")
    add("--plot", metavar="FILE", help="draw it into a file such as out.png (needs matplotlib)")
    add("--html", metavar="FILE", help="write the report as a page")
    ground.set_defaults(run="ground")
