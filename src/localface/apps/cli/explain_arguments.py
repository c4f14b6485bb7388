"""The options of the commands that make an explainer: ``explain``, ``serve`` and others."""

from __future__ import annotations

from typing import Any

from localface.apps import files
from localface.apps.cli.ask_options import add_alternatives_options, add_ask_options
from localface.apps.cli.exit_codes import EXIT_CODES


def add_explain_command(commands: Any) -> None:
    """Add ``localface explain``."""
    explain = commands.add_parser(
        "explain",
        usage=(
            "localface explain --data ROWS --model MODEL "
            "(--row ROW | --person FILE [--row ROW] | --people PATH) [options]"
        ),
        help="find recourse for one person",
        description=(
            "Find recourse for one person: what would have to change for another outcome."
        ),
        epilog=EXIT_CODES,
    )
    inputs = explain.add_argument_group("what to explain")
    _add_input_options(inputs)
    add_retraining_options(inputs)
    wanted = explain.add_argument_group("what is wanted")
    add_explainer_options(wanted)
    add_ask_options(wanted)
    add_alternatives_options(wanted)
    _add_output_options(explain.add_argument_group("where the answer goes"))
    _add_batch_options(explain.add_argument_group("many people, with --people"))
    explain.set_defaults(run="explain")


def add_serve_command(commands: Any) -> None:
    """Add ``localface serve``."""
    serve = commands.add_parser(
        "serve",
        usage="localface serve [--data ROWS --model MODEL] [--port N] [options]",
        help="open the page: pick a person, and work out what would change the decision",
        description=(
            "Serve the page and its HTTP interface on this machine. Without --data and --model it "
            "shows a generated intensive-care cohort in which nobody is real. "
            "Decision support: correlational, not advice."
        ),
    )
    _add_service_options(serve.add_argument_group("what to serve"))
    _add_server_options(serve.add_argument_group("where to serve it"))
    add_explainer_options(serve.add_argument_group("what is wanted"))
    serve.set_defaults(run="serve", row=None, person=None)


def _add_service_options(group: Any) -> None:
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
        help=f"the people to learn from: {', '.join(files.TABLE_SUFFIXES)}, or a store",
    )
    add("--model", metavar="MODEL", help="a .skops or .onnx file, or module:attribute to import")
    add_reading_options(group)
    add("--outcome", metavar="COLUMN", help="the column of --data that says what became of people")
    add(
        "--promises",
        metavar="FOLDER",
        help="let plans be kept as promises in this folder (see localface promise)",
    )
    add("--no-people", action="store_true", help="list nobody: records are typed or pasted")
    add("--title", metavar="TEXT", help="what the page is called")
    add(
        "--target-label",
        metavar="TEXT",
        help='what somebody is who has reached the target, as in "creditworthy"',
    )


def _add_server_options(group: Any) -> None:
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
        help="processes that search (default: one a processor, up to 4); 0 calls the model in the "
        "service's own process, where nothing can stop it",
    )
    add("--open", action="store_true", help="open the page in the browser")


def _add_input_options(group: Any) -> None:
    add = group.add_argument
    add(
        "--data",
        metavar="ROWS",
        required=True,
        help=f"the people to learn from: {', '.join(files.TABLE_SUFFIXES)}, or a store",
    )
    add(
        "--model",
        metavar="MODEL",
        required=True,
        help="a .skops or .onnx file, or module:attribute to import",
    )
    who = group.add_mutually_exclusive_group()
    add_person_options(group, who)
    who.add_argument(
        "--people",
        metavar="PATH",
        help=f"everyone in a file ({', '.join(files.TABLE_SUFFIXES)}) or a folder of files of one "
        "kind; needs --out",
    )
    add_reading_options(group)


def add_person_options(group: Any, who: Any) -> None:
    """Add how one person is named; ``who`` is the group that ``--person`` goes into."""
    group.add_argument(
        "--row",
        metavar="ROW",
        help="the person in this row of --data, or of --person where that is a table: its number, "
        "counted from 0, or a column and what it holds there, as in client_no=C17",
    )
    who.add_argument(
        "--person",
        metavar="FILE",
        help="the person in a file: JSON, feature by feature (- reads stdin), or a table, with "
        "--row where it has several; nothing is learnt from it",
    )


def add_retraining_options(group: Any) -> None:
    """Add what is said of other models, and of the model fitted again."""
    add = group.add_argument
    add(
        "--others",
        metavar="MODEL",
        action="append",
        default=[],
        help="another model that should agree, as --model; may be repeated",
    )
    add(
        "--agree",
        metavar="SHARE",
        type=float,
        help="the share of --others that has to agree (default: 0.9)",
    )
    add(
        "--outcome",
        metavar="COLUMN",
        help="the column of --data that the model was fitted to: it is fitted again, and answers "
        "tell how likely a retrained model agrees; --lasting needs it",
    )


def add_reading_options(group: Any) -> None:
    """Add how table and model are read."""
    add = group.add_argument
    add(
        "--schema",
        metavar="FILE",
        help="what the columns are (see localface schema); guessed if not given",
    )
    add_column_options(group)
    add_row_word_option(group)
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


def add_column_options(group: Any) -> None:
    """Add which columns of a table are no features."""
    group.add_argument(
        "--drop",
        metavar="COLUMN",
        action="append",
        default=[],
        help="leave a column out, such as the outcome; may be repeated",
    )
    group.add_argument(
        "--groups",
        metavar="COLUMN",
        help="the column that says whose row it is, where people have several; not a feature",
    )


def add_row_word_option(group: Any) -> None:
    """Add what one row is called."""
    group.add_argument(
        "--each-row",
        metavar="WORD",
        help="what one row is where it is no person, such as house: answers then speak of houses",
    )


def add_explainer_options(group: Any) -> None:
    """Add what an explainer is made with."""
    add = group.add_argument
    add(
        "--target",
        metavar="CLASS",
        help="the class to reach, 'other' for any but the present one, 'at least' / 'at most' for "
        "a value, or a range as LOW:HIGH (default: 1)",
    )
    add("--min-score", metavar="SCORE", type=float, help="the score to reach (default: 0.5)")
    add(
        "--min-density",
        metavar="SHARE",
        type=float,
        help="how unusual a state on the way may be (default: 0.05)",
    )
    _add_search_options(group)
    add("--max-rows", metavar="N", type=int, help="how many people the answer may reveal")


def _add_search_options(group: Any) -> None:
    add = group.add_argument
    add(
        "--edges",
        metavar="RULE",
        help="what makes a step traversable: strict, average or cover (default: strict)",
    )
    add(
        "--n-neighbors",
        metavar="N",
        type=int,
        help="how many people to look at around each state (default: 50)",
    )
    add(
        "--max-step",
        metavar="LENGTH",
        type=float,
        help="the longest step, in standard deviations",
    )


def _add_output_options(group: Any) -> None:
    add = group.add_argument
    add("--json", action="store_true", help="print the answer as JSON, and nothing else")
    add(
        "--plot",
        metavar="FILE",
        help="draw the path into a file such as out.png (needs matplotlib)",
    )
    add("--html", metavar="FILE", help="write the answer as a page")


def _add_batch_options(group: Any) -> None:
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
    add(
        "--device",
        choices=("cuda", "cpu"),
        help="look at all rows, on a GPU, or (slowly, for the same answers) on the processor",
    )
