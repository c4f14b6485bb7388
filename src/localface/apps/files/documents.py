"""Files that people read: schemas, answers, figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from localface.analyses.alternatives import Alternatives
from localface.answers.many import Recourses
from localface.answers.recourse import Recourse
from localface.apps.files.answer_pages import html_document, html_page, html_page_of_many
from localface.data.opening import require_existing_path, require_writable_path, reraise_as
from localface.data.schema import Schema
from localface.data.whole_files import explain_os_errors, write_whole
from localface.errors import InputError, SchemaError
from localface.options import Ask


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
    answer: Recourse | Alternatives | Recourses,
    path: str | Path,
    *,
    figure: str | None = None,
    person: str | None = None,
    ask: Ask | None = None,
) -> Path:
    """Write an answer, or those of many, as a page of HTML, or as JSON where the name says so.

    The page of one person shows the whole record. ``person`` says on top who it is, ``ask`` what
    was asked (``Ask(where={"income": (None, 2400)})``); ``figure`` is the address of a picture.
    """
    path = require_writable_path(path)
    if not _is_instance(answer, Recourse | Alternatives | Recourses):
        raise InputError(
            f"a {type(answer).__name__} cannot be written as an answer: give what explain, "
            "alternatives or explain_many returned"
        )
    if path.suffix.lower() == ".json":
        text = answer.to_json(indent=2) + "\n"
    elif isinstance(answer, Recourses):
        if any(one is not None for one in (figure, person, ask)):
            raise InputError(
                "figure=, person= and ask= are of one person's page, and many answers came"
            )
        text = html_page_of_many(answer)
    else:
        text = html_page(answer, figure=figure, person=person, ask=ask)
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
    _write_text(path, html_document(title, body))
    return path


def _write_text(path: Path, text: str) -> None:
    """Write a file whole: what was there before stays until then."""
    with explain_os_errors(f"{str(path)!r} cannot be written"):
        write_whole(path, text)


def _is_instance(value: object, kind: Any) -> bool:
    return isinstance(value, kind)
