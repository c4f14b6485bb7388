"""JSON text that can also hold infinity or NaN."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np


def dump_json(value: Any, indent: int | None = None) -> str:
    """Write plain values as JSON; infinity becomes ``{"$float": "inf"}``."""
    try:
        return json.dumps(value, indent=indent, allow_nan=False)
    except (TypeError, ValueError):
        # few documents hold such numbers, and looking for them takes its time
        return json.dumps(_spell_special_floats(value), indent=indent, allow_nan=False)


def load_json(text: str) -> Any:
    """Read what ``dump_json`` wrote; raises ValueError where the text is no JSON."""
    return json.loads(text, object_hook=_read_spelled_float, parse_constant=_refuse_json_constant)


def _spell_special_floats(value: Any) -> Any:
    """Spell numbers that JSON cannot hold; NumPy's numbers become Python's."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"$float": str(value)}
    if isinstance(value, Mapping):
        return {key: _spell_special_floats(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_spell_special_floats(one) for one in value]
    return value


def _read_spelled_float(value: dict[str, Any]) -> Any:
    """Undo the spelling for one JSON object."""
    return float(value["$float"]) if value.keys() == {"$float"} else value


def _refuse_json_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON number")
