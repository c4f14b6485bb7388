"""Notes on a schema in the words of its file: what to write there, not what to call."""

from __future__ import annotations

import ast
import re

from localface.data.schema_file import toml_lines

_CALL = re.compile(r"schema\.(with_|link|relate|split)\(")


def note_in_toml(note: str) -> str:
    """Say what to write into the file wherever a note says what to call.

    >>> note_in_toml("if that is wrong, schema.with_('late', codes=None)")
    'if that is wrong, leave out codes in its block'
    >>> note_in_toml("to keep it so, schema.relate('a', '<=', 'b')")
    'to keep it so, write relations = [["a", "<=", "b"]] before the blocks'
    """
    found = _CALL.search(note)
    if found is None:
        return note.replace("give it as groups=", "give it as --groups")
    end = _end_of_call(note, found.start())
    if end is None:
        return note
    call = ast.parse(note[found.start() : end], mode="eval").body
    assert isinstance(call, ast.Call)
    return note[: found.start()] + _in_words(found[1], call) + note_in_toml(note[end:])


def _end_of_call(note: str, start: int) -> int | None:
    """Where the call that starts here ends: after the first bracket that makes it complete."""
    for end in (one.end() for one in re.finditer(r"\)", note)):
        if end <= start:
            continue
        try:
            ast.parse(note[start:end], mode="eval")
        except SyntaxError:
            continue
        return end
    return None


def _in_words(method: str, call: ast.Call) -> str:
    given = [_value(one) for one in call.args]
    if method == "split":
        return 'put a block with kind = "binary" for each of its columns in its place'
    if method == "link":
        return f"write {_line('links', [given])} before the blocks"
    if method == "relate":
        key = "rules" if isinstance(given[-1], dict) else "relations"
        return f"write {_line(key, [given])} before the blocks"
    settings = {str(one.arg): _value(one.value) for one in call.keywords}
    lines = [_line(key, value) for key, value in settings.items() if value is not None]
    left_out = [key for key, value in settings.items() if value is None]
    said = [f"write {' and '.join(lines)}"] if lines else []
    said += [f"leave out {' and '.join(left_out)}"] if left_out else []
    return f"{' and '.join(said)} in its block"


def _line(key: str, value: object) -> str:
    return toml_lines({key: value}).strip()


def _value(node: ast.expr) -> object:
    """Read a value off a call; what is left open is written as dots."""
    value = ast.literal_eval(node)
    if isinstance(value, dict):
        return {key if isinstance(key, str) else f"{key:g}": one for key, one in value.items()}
    return ["..."] if value == [...] else value
