"""Messages of the library in the words of the command line: ``--min-score`` for ``min_score=``."""

from __future__ import annotations

import re

from localface.data.notes_in_toml import note_in_toml
from localface.options import Ask, accepted_options

_PHRASES = (
    (
        "make the explainer with y=, the outcomes that the model was fitted on",
        "name the column that the model was fitted to with --outcome",
    ),
    ("(low, high), with None for an open end", "LOW:HIGH, with nothing for an open end"),
    ("(a number, or (low, high))", "(a number, or LOW:HIGH)"),
    ("target=(low, high)", "--target LOW:HIGH"),
    ("; --groups on the command line)", ")"),
    ("give None for what is not known", "give null for what is not known"),
)
_OF_EXPLAINERS = (
    *("target", "min_score", "min_density", "max_rows", "edges", "max_step", "n_neighbors"),
    *("groups", "each_row", "others", "agree", "device", "differ"),
)
_SPELT_OTHERWISE = {"y": "--outcome", "actions": "--no-actions"}
_KEYWORD = re.compile(r"(?<![\w.(-])([a-z][a-z_]*)=('[^']*'|\[[^\]]*\]|[\w.-]*)(?=[\s,.;:)]|$)")


def in_options(message: str) -> str:
    """Say what to type wherever a message says what to pass.

    >>> in_options("which class is to be reached? Say target=, one of 'no', 'yes'")
    "which class is to be reached? Say --target, one of 'no', 'yes'"
    >>> in_options("min_score=1.5 is no probability; best_effort=True looks for the highest")
    '--min-score 1.5 is no probability; --best-effort looks for the highest'
    """
    for ours, theirs in _PHRASES:
        message = message.replace(ours, theirs)
    return _KEYWORD.sub(_option, note_in_toml(message))


def _option(found: re.Match[str]) -> str:
    name, value = found.groups()
    known = {one.name for one in accepted_options(Ask)}.union(_OF_EXPLAINERS, _SPELT_OTHERWISE)
    if name not in known or value.startswith("range"):
        return found[0]
    flag = _SPELT_OTHERWISE.get(name, f"--{name.replace('_', '-')}")
    if value in ("", "True", "False"):
        return flag
    words = value.strip("[]").strip("'")
    return f"{flag} {words!r}" if " " in words else f"{flag} {words}"
