"""Files that people read: schemas, answers, figures."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from localface.analyses.alternatives import Alternatives
from localface.answers.recourse import Recourse
from localface.data.opening import require_existing_path, require_writable_path, reraise_as
from localface.data.schema import Schema
from localface.data.whole_files import explain_os_errors, write_whole
from localface.errors import InputError, SchemaError


def read_schema(path: str | Path) -> Schema:
    """Read a schema from a TOML file."""
    path = require_existing_path(path)
    try:
        return Schema.load(path)
    except SchemaError as error:
        raise SchemaError(f"{str(path)!r}: {error}") from None


def write_schema(
    schema: Schema, path: str | Path, *, overwrite: bool = False, text: str | None = None
) -> Path:
    """Write a schema to a TOML file; one that was mended by hand is not lost by accident.

    ``text`` is written in place of what ``Schema.save`` writes.
    """
    path = require_writable_path(path)
    if path.exists() and not overwrite:
        raise InputError(
            f"there is a file {str(path)!r} already: "
            "name another with --out, or add --force to replace it"
        )
    _write_text(path, schema.to_toml() if text is None else text)
    return path


def read_answer(path: str | Path) -> Recourse:
    """Read an answer back from JSON."""
    path = require_existing_path(path)
    with reraise_as(f"{str(path)!r} is no text", InputError):
        text = path.read_text(encoding="utf-8")
    return Recourse.from_json(text)


def write_answer(
    answer: Recourse | Alternatives, path: str | Path, *, figure: str | None = None
) -> Path:
    """Write an answer as a page of HTML, or as JSON where the name says so.

    ``figure`` is the address of a picture for the page.
    """
    path = require_writable_path(path)
    if path.suffix.lower() == ".json":
        text = answer.to_json(indent=2) + "\n"
    else:
        text = _html_page(answer, figure)
    _write_text(path, text)
    return path


def write_figure(figure: Any, path: str | Path) -> Path:
    """Write a matplotlib figure; the name says in which format."""
    path = require_writable_path(path)
    try:
        figure.savefig(path, dpi=150)
    except ValueError as error:
        raise InputError(
            f"the figure cannot be written to {str(path)!r}: {error}; use a name such as 'out.png'"
        ) from error
    return path


def write_page(path: str | Path, *, title: str, body: str) -> Path:
    """Write a page of HTML."""
    path = require_writable_path(path)
    _write_text(path, _html_document(title, body))
    return path


def _write_text(path: Path, text: str) -> None:
    """Write a file whole: what was there before stays until then."""
    with explain_os_errors(f"{str(path)!r} cannot be written"):
        write_whole(path, text)


def _html_page(answer: Recourse | Alternatives, figure: str | None) -> str:
    picture = ""
    if figure:
        image = f'<img src="{escape(figure)}" alt="The path, drawn" style="max-width: 100%">'
        picture = f"<p>{image}</p>\n"
    first = answer if isinstance(answer, Recourse) else answer[0]
    side_by_side = "" if isinstance(answer, Recourse) else f"{answer._repr_html_()}\n"
    body = f"{side_by_side}{_views(answer)}{picture}"
    return _html_document(f"Recourse: {first.status.word}", body)


def _views(answer: Recourse | Alternatives) -> str:
    """Each answer as the page shows it."""
    from localface.apps.web.standalone import standalone_view

    if isinstance(answer, Recourse):
        return standalone_view(answer)
    if len(answer) == 1:
        return standalone_view(answer[0])
    return "".join(f"<h2>Way {i}</h2>\n{standalone_view(one)}" for i, one in enumerate(answer, 1))


def _html_document(title: str, body: str) -> str:
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n</head>\n"
        '<body style="font-family: sans-serif; margin: 2em auto; max-width: 60rem; '
        'padding: 0 1rem">\n'
        f"{body}</body>\n</html>\n"
    )
