"""Several answers together, as a page shows them."""

from __future__ import annotations

from typing import Any

from localface.analyses.alternatives import Alternatives


def alternatives_view(ways: Alternatives) -> dict[str, Any]:
    """What several ways share, and where they part."""
    return {
        "shared": list(ways.shared),
        "parts": " ".join(f"{line[:1].upper()}{line[1:]}." for line in _closing_lines(ways)),
        "sentence": ways.sentence,
        "disclosure": str(ways.disclosure),
    }


def _closing_lines(ways: Alternatives) -> list[str]:
    """The lines that a printed table of ways ends with: what they share, and how they begin."""
    if len(ways) < 2:
        return [ways.sentence]
    lines = ["no feature is changed by all of them"]
    if ways.shared:
        schema = ways[0].schema
        lines = [f"all change {', '.join(schema[name].display_name for name in ways.shared)}"]
    lines += ways.beginnings
    if len(ways) < ways.wanted:
        lines.append(ways.sentence)
    return lines
