"""README and docs: every block runs, every link leads somewhere, no option is left out."""

from __future__ import annotations

import argparse
import inspect
import io
import re
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import localface
from localface import Feature, LocalFACE, Schema
from localface.apps.cli.arguments import make_parser
from localface.errors import LocalFACEError
from worlds import make_explainer

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
EVERY = [*PAGES, ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md"]
BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```$(?:\n\n```text\n(?P<printed>.*?)^```$)?",
    re.DOTALL | re.MULTILINE,
)
LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")

every_page = pytest.mark.parametrize("page", EVERY, ids=lambda page: page.name)


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def anchor(heading: str) -> str:
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


# blocks


@pytest.mark.parametrize(
    "page", [page for page in PAGES if BLOCK.search(text_of(page))], ids=lambda page: page.name
)
def test_every_python_block_runs_and_prints_what_the_page_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    names: dict[str, Any] = {"__name__": page.stem}
    text = text_of(page)
    for block in BLOCK.finditer(text):
        line = text.count("\n", 0, block.start()) + 2
        code = compile("\n" * (line - 1) + block["code"], str(page), "exec")
        printed = io.StringIO()
        with warnings.catch_warnings(), redirect_stdout(printed):
            warnings.simplefilter("error")
            exec(code, names)
        if block["printed"] is not None:
            assert printed.getvalue() == block["printed"], f"{page.name}, the block in line {line}"


# links


@every_page
def test_every_link_leads_somewhere(page: Path) -> None:
    for found in LINK.finditer(text_of(page)):
        target, _, part = found["target"].partition("#")
        if re.match(r"[a-z]+:", target):
            assert target.startswith("https://"), found[0]
            continue
        place = (page.parent / target).resolve() if target else page
        assert place.exists(), f"{page.name}: {found[0]}"
        if part:
            headings = re.findall(r"^#+ (.+)$", text_of(place), re.MULTILINE)
            assert part in [anchor(heading) for heading in headings], f"{page.name}: {found[0]}"


def test_every_page_is_on_the_map_and_every_figure_is_shown() -> None:
    index = text_of(ROOT / "docs" / "index.md")
    for page in (ROOT / "docs").glob("*.md"):
        assert page.name == "index.md" or f"({page.name}" in index, (
            f"docs/index.md does not lead to {page.name}"
        )
    together = "".join(map(text_of, PAGES))
    for figure in (ROOT / "docs" / "figures").glob("*.png"):
        assert f"figures/{figure.name}" in together, f"{figure.name} is shown nowhere"


@every_page
def test_no_page_knows_whose_machine_it_was_written_on(page: Path) -> None:
    assert not re.search(
        r"(?<![\w.`/])/(home|root|tmp|work|Users|mnt|opt|usr|var|etc)/|[A-Z]:\\|localhost",
        text_of(page),
    )


# nothing is left out


def named(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) is not None


def test_every_public_name_is_mentioned() -> None:
    together = "".join(map(text_of, PAGES))
    assert [name for name in localface.__all__ if not named(together, name)] == []


@pytest.mark.parametrize(
    "function",
    [LocalFACE, LocalFACE.explain, LocalFACE.explain_many, Feature],
    ids=lambda one: one.__qualname__,
)
def test_every_parameter_is_mentioned_in_the_guide(function: Callable[..., Any]) -> None:
    guide = text_of(ROOT / "docs" / "guide.md")
    parameters = [
        name for name in inspect.signature(function).parameters if name not in ("self", "_")
    ]
    assert [name for name in parameters if not named(guide, name)] == []


@pytest.mark.parametrize("of", [localface.Recourse, LocalFACE], ids=lambda one: one.__name__)
def test_every_public_method_is_mentioned(of: type) -> None:
    together = "".join(map(text_of, PAGES))
    public = [name for name in vars(of) if not name.startswith("_") and callable(getattr(of, name))]
    assert [name for name in public if not named(together, name)] == []


def test_every_status_is_explained_in_the_guide() -> None:
    guide = text_of(ROOT / "docs" / "guide.md")
    assert [status.name for status in localface.Status if f"`{status.name}`" not in guide] == []


def test_every_option_of_the_command_line_is_mentioned() -> None:
    page = text_of(ROOT / "docs" / "cli.md")
    assert [option for option in options_of(make_parser()) if not named(page, option)] == []


def options_of(parser: argparse.ArgumentParser) -> list[str]:
    found = []
    for action in parser._actions:
        found += action.option_strings
        if isinstance(action, argparse._SubParsersAction):
            found += [option for one in action.choices.values() for option in options_of(one)]
    return found


# the table of errors says what is really said

N = 200
RNG = np.random.default_rng(0)
DATA = pd.DataFrame(
    {"age": RNG.integers(30, 80, N), "fio2": RNG.normal(0.4, 0.08, N).round(2)}
).assign(unit=RNG.choice(["cardiac", "medical", "surgical"], N))
NUMBERS = DATA[["age", "fio2"]]
PERSON = {"age": 60, "fio2": 0.5, "unit": "medical"}
MODEL = LogisticRegression().fit(NUMBERS, np.where(DATA["fio2"] < 0.4, "ready", "not yet"))


def breathes(frame: pd.DataFrame) -> Any:
    return 1 / (1 + np.exp(20 * (frame["fio2"].to_numpy() - 0.4)))


def fails(frame: pd.DataFrame) -> Any:
    raise RuntimeError("no licence")


def made(model: Any = breathes, data: Any = DATA, **options: Any) -> LocalFACE:
    return make_explainer(model, data, **{"n_neighbors": 20, **options})


def holed() -> pd.DataFrame:
    data = DATA.astype({"age": float})
    data.loc[[1, 2, 5], "fio2"] = np.nan
    data.loc[2, "age"] = np.inf
    return data


REFUSED: dict[str, Callable[[], Any]] = {
    "a column is missing": lambda: made().explain({"age": 60, "fio_2": 0.5, "unit": "medical"}),
    "NaN in the data": lambda: made(data=holed()),
    "NaN in the person": lambda: made().explain({**PERSON, "fio2": float("nan")}),
    "an unseen category": lambda: made().explain({**PERSON, "unit": "medcial"}),
    "a constant column that is said to move": lambda: made(
        data=DATA.assign(site=1.5),
        schema=Schema.infer(DATA.assign(site=1.5)).with_("site", moves="freely"),
    ),
    "one row": lambda: made(data=DATA[:1]),
    "the same row again and again": lambda: made(data=pd.concat([DATA[:1]] * 30)),
    "k larger than the data": lambda: made(n_neighbors=500),
    "a value that cannot be": lambda: made(
        schema=Schema.infer(DATA).with_("fio2", bounds=(0.21, 1.0))
    ).explain({**PERSON, "fio2": 50}),
    "bounds the wrong way round": lambda: made().explain(PERSON, where={"fio2": (0.9, 0.1)}),
    "contradictory constraints": lambda: made().explain(
        PERSON, where={"fio2": {"within": 0.05, "bounds": (0.21, 0.4)}}
    ),
    "a call against the schema": lambda: made(
        schema=Schema.infer(DATA).with_("age", moves="up")
    ).explain(PERSON, where={"age": "down"}),
    "an unknown feature": lambda: made().explain(PERSON, where={"fio": "never"}),
    "a model that raises": lambda: made(fails).explain(PERSON),
    "a model that returns NaN": lambda: made(lambda frame: np.full(len(frame), np.nan)).explain(
        PERSON
    ),
    "a model of the wrong shape": lambda: made(lambda frame: 0.5).explain(PERSON),
    "negative scores": lambda: made(lambda frame: breathes(frame) - 0.5).explain(PERSON),
    "a class that does not exist": lambda: made(MODEL, NUMBERS, target="redy"),
    "a model fitted on other columns": lambda: made(MODEL, DATA, target="ready"),
    "a schema that does not fit": lambda: made(
        schema=Schema.infer(DATA).with_("fio2", kind="integer")
    ),
    "text where numbers were declared": lambda: made(schema=Schema([*map(Feature, DATA)])),
    "a density that is negative": lambda: made(density=lambda frame: -np.ones(len(frame))),
    "a density that is NaN": lambda: made(density=lambda frame: np.full(len(frame), np.nan)),
    "a density that is flat": lambda: made(density=lambda frame: np.ones(len(frame))),
    "mistaken options": lambda: made(min_density=5, max_rows=0),
}


def said(refused: Callable[[], Any]) -> str:
    with pytest.raises(LocalFACEError) as caught:
        refused()
    return f"`{type(caught.value).__name__}` {str(caught.value).replace('|', '&#124;')}"


@pytest.mark.parametrize("case", REFUSED)
def test_the_table_of_errors_says_what_is_really_said(case: str) -> None:
    assert said(REFUSED[case]) in text_of(ROOT / "docs" / "errors.md")
