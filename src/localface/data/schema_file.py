"""A schema as TOML text."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from localface.errors import SchemaError

_LISTS = ("each_row", "links", "relations", "rules")
_WITH_OPEN_ENDS = ("bounds", "reference")


def write_toml(
    plain: Mapping[str, Any], notes: Sequence[str] = (), remarks: Mapping[str, str] | None = None
) -> str:
    """Write the plain values of a schema as TOML, one block a feature.

    Notes become comments at the top, remarks (on a feature, by name) comments in its block.
    """
    comments = [f"# {_without_controls(note)}".rstrip() + "\n" for note in notes]
    blocks = ["".join(comments)] if comments else []
    blocks += [toml_lines({key: plain[key]}) for key in _LISTS if key in plain]
    blocks += [
        f"[[features]]\n{toml_lines(_with_infinite_ends(one))}{_remark(one, remarks or {})}"
        for one in plain["features"]
    ]
    return "\n".join(blocks)


def _remark(feature: Mapping[str, Any], remarks: Mapping[str, str]) -> str:
    remark = remarks.get(feature["name"])
    return f"# {_without_controls(remark)}\n" if remark else ""


def _without_controls(note: str) -> str:
    """Keep a note on one line, free of what no comment may hold."""
    return "".join(one if one.isprintable() else " " for one in note)


def toml_lines(values: Mapping[str, Any]) -> str:
    """Write keys with their values, a list in one line: people mend these files by hand.

    tomli-w breaks lists into lines, and no other break is left: those in texts are escaped.
    """
    import tomli_w  # only those who write a schema wait for it

    tables = {key: one for key, one in values.items() if isinstance(one, Mapping)}
    text = tomli_w.dumps({key: one for key, one in values.items() if key not in tables})
    for key, table in tables.items():  # in one line: a table of its own would end the feature
        text += f"{key} = {{ {', '.join(toml_lines({k: v}).strip() for k, v in table.items())} }}\n"
    text = re.sub(r"\[\n\s*", "[", text)
    text = re.sub(r",\n\s*\]", "]", text)
    return re.sub(r",\n\s*", ", ", text)


def read_toml(text: str) -> dict[str, Any]:
    """Read the plain values of a schema from TOML."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SchemaError(f"the schema is not valid TOML: {error}") from None


def read_schema_text(path: str | Path) -> str:
    """Read a schema file."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise SchemaError(
            f"there is no schema file {str(path)!r}: write one with Schema.save"
        ) from None
    except UnicodeDecodeError:
        raise SchemaError(f"{str(path)!r} is not a text file: a schema is TOML in UTF-8") from None


def _with_infinite_ends(feature: Mapping[str, Any]) -> dict[str, Any]:
    """Write open ends as infinite ones: TOML has no null."""
    plain = dict(feature)
    for key in _WITH_OPEN_ENDS:
        if key in plain:
            low, high = plain[key]
            plain[key] = [
                float("-inf") if low is None else low,
                float("inf") if high is None else high,
            ]
    return plain
