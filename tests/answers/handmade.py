"""Answers made by hand, for tests to look at."""

from __future__ import annotations

import math
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

from localface.answers.action import Action
from localface.answers.certificate import Certificate
from localface.answers.disclosure import Disclosure
from localface.answers.recourse import Recourse
from localface.answers.status import Status
from localface.answers.target import Target
from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.data.table_format import TableFormat

pd = pytest.importorskip("pandas")


ICU = Schema(
    [
        Feature("airway", kind="categorical", categories=("ventilated", "patent")),
        Feature("gcs_min", kind="integer"),
        Feature("fio2", resolution=0.01),
        Feature("spo2_min", unit="%", kind="integer"),
    ]
)


PATIENTS = {
    "airway": ["patent", "ventilated"],
    "gcs_min": [14, 9],
    "fio2": [0.35, 0.55],
    "spo2_min": [95, 91],
}


PATH = np.array([[0, 9, 0.55, 91], [1, 9, 0.551, 91], [1, 14, 0.55, 91], [1, 14, 0.35, 95]])


STRICT = Certificate("strict", length=1.25, lowest=0.07, floor=0.05)


ENTRY = Certificate("strict", length=0.5, lowest=0.01, floor=0.05, entry=True)


def answer(**changes: Any) -> Recourse:
    """An answer with every field set, and those that are given in their place."""
    pieces: dict[str, Any] = {
        "status": Status.FOUND,
        "records": PATH,
        "form": TableFormat.of(pd.DataFrame(PATIENTS), ICU),
        "schema": ICU,
        "scores": (0.21, 0.3, 0.58, 0.81),
        "densities": (0.01, 0.2, 0.3, 0.4),
        "certificates": (STRICT, STRICT, STRICT),
        "rows": (None, 3, 4, 5),
        "target": Target("class 1", 0.75),
        "min_density": 0.05,
        "scales": (1.0, 2.0, 0.1, 3.0),
        "disclosure": Disclosure(
            104, 13_943, questions=12, model_calls=3, rows_scored=50, seconds={"model": 0.1}
        ),
        "settings": {"n_neighbors": 50, "max_step": math.inf, "where": {"age": (1, None)}},
    }
    return Recourse(**{**pieces, **changes})


def refusal(**changes: Any) -> Recourse:
    """An answer that says no."""
    start: dict[str, Any] = {
        "status": Status.UNREACHABLE,
        "reason": "31 rows are cut off",
        "records": PATH[:1],
        "scores": (0.21,),
        "densities": (0.01,),
        "rows": (None,),
        "certificates": (),
    }
    return answer(**{**start, **changes})


def table_answer(name: str, category: str, unit: str | None = None) -> Recourse:
    """An answer over two features, the first of which is called and may be what is given."""
    schema = Schema(
        [Feature(name, kind="binary", categories=("no", category)), Feature("x", unit=unit)]
    )
    form = TableFormat.of(pd.DataFrame({name: ["no", category], "x": [1.5, 2.5]}), schema)
    return short_answer(schema, form, np.array([[0.0, 1.5], [1.0, 2.5]]))


def short_answer(schema: Schema, form: TableFormat, records: Any) -> Recourse:
    """An answer of one step over other features."""
    return answer(
        schema=schema,
        form=form,
        records=records,
        scores=(0.2, 0.8),
        densities=(0.1, 0.2),
        rows=(None, 1),
        scales=(1.0,) * len(schema),
        certificates=(STRICT,),
    )


def action(changes: dict[str, Any], before: dict[str, Any], **more: Any) -> Action:
    """An action that keeps the floor."""
    pieces: dict[str, Any] = {"score": 0.81, "density": 0.3, "certificate": STRICT}
    return Action(changes, before, **{**pieces, **more})


def acted_answer(**changes: Any) -> Recourse:
    """An answer of two actions, the second of which needs the first."""
    first = action({"airway": "patent"}, {"airway": "ventilated"}, score=0.4, density=0.05)
    second = action(
        {"gcs_min": 14, "fio2": 0.35},
        {"gcs_min": 9, "fio2": 0.55},
        score=0.92,
        follows=(0,),
    )
    return answer(**{"actions": (first, second), **changes})


KNOWN_TAGS = {"style", "div", "p", "strong", "table", "caption", "thead", "tbody", "tr", "th", "td"}


class Tags(HTMLParser):
    """Opens and closes tags, and keeps the words."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.words: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)
