"""The options of the commands that give and recheck promises."""

from __future__ import annotations

from typing import Any

from localface.apps import files
from localface.apps.cli.ask_options import add_ask_options
from localface.apps.cli.explain_arguments import (
    add_explainer_options,
    add_person_options,
    add_reading_options,
    add_retraining_options,
)

RECHECK_CODES = "exit codes: 0 every promise holds or is kept, 1 misuse, 3 some do not"


def add_promise_command(commands: Any) -> None:
    """Add ``localface promise``."""
    promise = commands.add_parser(
        "promise",
        usage=(
            "localface promise PROMISES (--answer FILE | --data ROWS --model MODEL "
            "(--row ROW | --person FILE [--row ROW])) [--reference TEXT] [options]"
        ),
        help="write an answer down that a person was given, to be rechecked later",
        description=(
            "Write an answer that a person was given into a folder of promises, with the "
            "fingerprint of what it rests on. The folder is only ever appended to, and tells when "
            "it was tampered with. Without an answer, the open promises are listed."
        ),
    )
    promise.add_argument("promises", metavar="PROMISES", help="the folder; made if there is none")
    _add_answer_options(promise.add_argument_group("what is promised"))
    wanted = promise.add_argument_group("what is wanted, without --answer")
    add_retraining_options(wanted)
    add_explainer_options(wanted)
    add_ask_options(wanted)
    _add_keeping_options(promise.add_argument_group("the promises themselves"))
    promise.set_defaults(run="promise")


def add_recheck_command(commands: Any) -> None:
    """Add ``localface recheck``."""
    recheck = commands.add_parser(
        "recheck",
        usage=(
            "localface recheck PROMISES --model MODEL [--data ROWS] [--progress PEOPLE] "
            "[--json FILE] [options]"
        ),
        help="tell what has become of promises under another model or other data",
        description=(
            "Tell of every open promise whether its end still reaches its target, whether "
            "the way there still keeps to common states, what is done and what is left, and the "
            "cheapest way on from where the person is now."
        ),
        epilog=RECHECK_CODES,
    )
    recheck.add_argument("promises", metavar="PROMISES", help="the folder")
    _add_recheck_inputs(recheck.add_argument_group("what to recheck with"))
    wanted = recheck.add_argument_group("what the explainer is made with")
    add_explainer_options(wanted)
    _add_repair_options(recheck.add_argument_group("repairs, and where the result goes"))
    recheck.set_defaults(run="recheck", row=None, person=None)


def _add_answer_options(group: Any) -> None:
    add = group.add_argument
    add(
        "--answer",
        metavar="FILE",
        help="an answer that localface explain --json printed; - reads stdin",
    )
    add(
        "--data",
        metavar="ROWS",
        help=f"the people to learn from: {', '.join(files.TABLE_SUFFIXES)}, or a store; with "
        "--answer, the file that it was worked out from",
    )
    add(
        "--model",
        metavar="MODEL",
        help="a .skops or .onnx file, or module:attribute to import; with --answer, the file",
    )
    add_person_options(group, group)
    add_reading_options(group)
    add(
        "--reference",
        metavar="TEXT",
        help="your own reference for the person, by which --progress finds them later",
    )


def _add_keeping_options(group: Any) -> None:
    add = group.add_argument
    add("--close", metavar="ID", help="close a promise: it is not rechecked any more")
    add("--why", metavar="TEXT", default="", help="why it is closed")
    add(
        "--head",
        metavar="DIGEST",
        help="the head that was kept when the promises were last seen: it must still be there",
    )


def _add_recheck_inputs(group: Any) -> None:
    add = group.add_argument
    add(
        "--model",
        metavar="MODEL",
        required=True,
        help="the model of today: a .skops or .onnx file, or module:attribute to import",
    )
    add(
        "--data",
        metavar="ROWS",
        help="the people to learn from today; by default the file that the promises were worked "
        "out from, where it is still what it was",
    )
    add_reading_options(group)
    add(
        "--progress",
        metavar="PEOPLE",
        help="the people as they are now: a table with their references and any of the features",
    )
    add(
        "--id",
        metavar="COLUMN",
        default="person",
        help="the column of --progress with the references (default: %(default)s)",
    )
    add("--head", metavar="DIGEST", help="the head that was kept: it must still be there")


def _add_repair_options(group: Any) -> None:
    add = group.add_argument
    add(
        "--repairs",
        choices=("broken", "all", "none"),
        default="broken",
        help="for whom a new plan is looked for (default: %(default)s)",
    )
    add(
        "--max-seconds",
        metavar="NUMBER",
        type=float,
        help="how long one search for a new plan may take",
    )
    add("--jobs", metavar="N", type=int, default=1, help="processes that search (default: 1)")
    add(
        "--json",
        metavar="FILE",
        help="write everything as JSON, new plans as whole answers; - prints it, and nothing else",
    )
