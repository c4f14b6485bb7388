"""Answers as pages of HTML that need nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from localface.analyses.alternatives import Alternatives
from localface.answers.many import Recourses
from localface.answers.record_table import record_as_html
from localface.answers.recourse import Recourse
from localface.engine.asking import limits_with_kept
from localface.options import Ask

_IN_THE_RECORD = ("where", "avoid", "fixed", "only", "counterfactual")


def html_page(
    answer: Recourse | Alternatives, *, figure: str | None, person: str | None, ask: Ask | None
) -> str:
    """The page of one person: whose it is, the answer, the record, and what was asked."""
    first = answer if isinstance(answer, Recourse) else answer[0]
    whose = "" if person is None else f" for {person}"
    heading = "" if person is None else f"<h1>{escape(person)}</h1>\n"
    picture = ""
    if figure:
        image = f'<img src="{escape(figure)}" alt="The path, drawn" style="max-width: 100%">'
        picture = f"<p>{image}</p>\n"
    side_by_side = "" if isinstance(answer, Recourse) else f"{answer._repr_html_()}\n"
    ask = ask or Ask()
    record = record_as_html(first, limits_with_kept(first.schema, ask))
    asked = f"<p>{escape('; '.join(_asked_in_words(first, ask)))}</p>\n"
    body = f"{heading}{side_by_side}{_views(answer)}{picture}{record}{asked}"
    return html_document(f"Recourse{whose}: {first.status.word}", body)


def html_page_of_many(answers: Recourses) -> str:
    """The page of many people: one line each."""
    return html_document(repr(answers).strip("<>"), f"{answers.to_html()}\n")


def html_document(title: str, body: str) -> str:
    """A whole page around what stands on it."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n</head>\n"
        '<body style="font-family: sans-serif; margin: 2em auto; max-width: 60rem; '
        'padding: 0 1rem">\n'
        f"{body}</body>\n</html>\n"
    )


def _asked_in_words(answer: Recourse, ask: Ask) -> Iterator[str]:
    """What was asked beyond the limits on features, which stand in the record."""
    yield f"wanted: {answer.target.sentence}"
    for name, value in ask.given_options().items():
        if name not in _IN_THE_RECORD:
            yield name.replace("_", " ") if value is True else f"{name}={value}"


def _views(answer: Recourse | Alternatives) -> str:
    """Each answer as the page shows it."""
    from localface.apps.web.standalone import standalone_view

    if isinstance(answer, Recourse):
        return standalone_view(answer)
    if len(answer) == 1:
        return standalone_view(answer[0])
    return "".join(f"<h2>Way {i}</h2>\n{standalone_view(one)}" for i, one in enumerate(answer, 1))
