"""What the command line says beside its answers: mistakes, warnings, progress."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from localface.apps.cli.option_words import in_options


def print_to_stderr(message: str) -> None:
    """Say something in one line, apart from the answers."""
    print(f"localface: {message}", file=sys.stderr)


@contextmanager
def show_while_working(what: str) -> Iterator[None]:
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
def show_warnings_in_one_line() -> Iterator[None]:
    """Show a warning as one line of ours."""

    def show(message: Warning | str, *_: object, **__: object) -> None:
        print_to_stderr(f"warning: {in_options(str(message))}")

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield
