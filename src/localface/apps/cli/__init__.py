"""The command line: parse, call, print, exit."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from localface.apps.cli.arguments import commands_of, make_parser, parse_arguments
from localface.apps.cli.commands import COMMANDS
from localface.apps.cli.console import print_to_stderr, show_warnings_in_one_line
from localface.apps.cli.exit_codes import BROKEN_PIPE, INTERRUPTED, MISUSE
from localface.apps.cli.option_words import in_options
from localface.errors import LocalFACEError

__all__ = ["cli_reference", "main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command, and return its exit code; a user's mistake is one line, never a traceback."""
    try:
        arguments = parse_arguments(argv)
        with show_warnings_in_one_line():
            code: int = COMMANDS[arguments.run](arguments)
        sys.stdout.flush()
        return code
    except SystemExit as end:  # argparse has printed what there is to say
        return end.code if isinstance(end.code, int) else MISUSE
    except BrokenPipeError:  # the reader has seen enough; keep Python from complaining at exit
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except KeyboardInterrupt as stop:
        if str(stop):
            print_to_stderr(str(stop))
        return INTERRUPTED
    except OSError as error:
        named = error.filename and error.strerror
        print_to_stderr(f"{error.filename}: {error.strerror}" if named else str(error))
        return MISUSE
    except LocalFACEError as error:
        print_to_stderr(in_options(str(error)))
        return MISUSE
    except ImportError as error:
        print_to_stderr(str(error))
        return MISUSE


def cli_reference() -> str:
    """Return the reference of the command line, docs/cli.md: every command with its help."""
    parser = make_parser()
    blocks = [
        ("localface", parser),
        *((f"localface {name}", one) for name, one in commands_of(parser).items()),
    ]
    sections = [f"## `{title}`\n\n```text\n{one.format_help()}```\n" for title, one in blocks]
    opening = (
        "What each command takes, as its `--help` says it. "
        "`python -m localface` is the same as `localface`.\n"
    )
    return "\n".join(["# Command line\n", opening, *sections])
