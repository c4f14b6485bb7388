"""README and docs: every block runs, every link leads somewhere, nothing is left out."""

from __future__ import annotations

import argparse
import inspect
import io
import re
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import localface
from localface import Feature, LocalFACE, Schema, errors
from localface.analyses.promises.verdict import PromiseStatus, WayOn
from localface.answers import cautions
from localface.apps.cli.arguments import make_parser
from localface.apps.web.http_reference import http_reference
from localface.data.seen_values import read_seen_values
from localface.errors import LocalFACEError
from localface.search.outcome import MissingActions
from localface.search.questions import OthersHelped
from worlds import make_explainer

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
INDEX = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
GENERATED = ("api.md", "cli.md", "http.md")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
EVERY = [
    *PAGES,
    *(ROOT / name for name in ("CHANGELOG.md", "CONTRIBUTING.md", "examples/README.md")),
]
BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```$(?:\n\n```text\n(?P<printed>.*?)^```$)?",
    re.DOTALL | re.MULTILINE,
)
LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")
FILE = re.compile(
    r"(?<![\w/.])(?:tests|benchmarks|tools|examples|src|docs)/[\w/-]+\.(?:py|md|toml|json)\b"
)

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


@every_page
def test_every_file_of_the_repository_that_a_page_names_is_there(page: Path) -> None:
    for name in FILE.findall(text_of(page)):
        assert (ROOT / name).is_file(), f"{page.name}: {name}"


def test_every_page_has_one_place_in_the_contents_and_every_figure_is_shown() -> None:
    contents = re.findall(r"^```{toctree}$.*?^$(.*?)^```$", INDEX, re.DOTALL | re.MULTILINE)
    listed = "".join(contents).split()
    pages = [page.stem for page in (ROOT / "docs").glob("*.md") if page.stem != "index"]
    assert sorted(listed) == sorted(pages)
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


CALLS = [
    LocalFACE,
    LocalFACE.explain,
    LocalFACE.explain_many,
    LocalFACE.alternatives,
    LocalFACE.check,
    LocalFACE.audit,
    LocalFACE.recheck,
    Feature,
    localface.Search,
]


def parameters_of(function: Callable[..., Any]) -> list[str]:
    return [name for name in inspect.signature(function).parameters if name not in ("self", "_")]


@pytest.mark.parametrize("function", CALLS, ids=lambda one: one.__qualname__)
def test_every_parameter_is_explained_where_people_read(function: Callable[..., Any]) -> None:
    written = "".join(text_of(page) for page in PAGES if page.name not in GENERATED)
    assert [name for name in parameters_of(function) if not named(written, name)] == []


@pytest.mark.parametrize("function", CALLS, ids=lambda one: one.__qualname__)
def test_the_reference_explains_every_parameter(function: Callable[..., Any]) -> None:
    shown = inspect.getdoc(function) or ""
    assert [name for name in parameters_of(function) if not named(shown, name)] == []


def test_the_reference_has_every_public_name() -> None:
    reference = text_of(ROOT / "docs" / "api.md")
    shown = [name for name in localface.__all__ if name != "__version__"]
    assert [
        name for name in shown if not re.search(rf":: localface\.{name}(\(\))?\n", reference)
    ] == []


@pytest.mark.parametrize("of", [localface.Recourse, LocalFACE], ids=lambda one: one.__name__)
def test_every_public_method_is_mentioned(of: type) -> None:
    together = "".join(map(text_of, PAGES))
    public = [name for name in vars(of) if not name.startswith("_") and callable(getattr(of, name))]
    assert [name for name in public if not named(together, name)] == []


MESSAGES = text_of(ROOT / "docs" / "messages.md")


@pytest.mark.parametrize("statuses", [localface.Status, PromiseStatus, WayOn])
def test_every_status_is_explained(statuses: type[Enum]) -> None:
    assert [status.name for status in statuses if f"`{status.name}`" not in MESSAGES] == []


def test_every_error_is_explained() -> None:
    raised = [
        name
        for name, one in vars(errors).items()
        if isinstance(one, type)
        and issubclass(one, Exception)
        and one.__module__ == errors.__name__
    ]
    assert len(raised) >= 9
    assert [name for name in raised if f"| `{name}` |" not in MESSAGES] == []


def doubts_about(feature: Feature, value: float) -> list[str]:
    schema = Schema([feature])
    data = np.arange(20.0) % len(feature.categories or range(20))
    seen = read_seen_values(schema, data[:, None])
    found = cautions.doubts_about_record(schema, np.array([value]), seen)
    return [doubt.sentence for doubt in found]


LACKING = Schema([Feature("lactate")])
GAP = np.array([np.nan])
WARD = Feature("ward", kind="categorical", categories=("a", "b", "burns"))


def quirks_of(share: float, whole: float) -> list[str]:
    """What is said of a change that helps a share of others."""
    before_after = (np.array([2.0]), np.array([1.0]))
    alone = np.ones((1, 1), dtype=bool)
    helped = OthersHelped(alone, np.array([share]), np.array([93]), whole, 93)
    schema = Schema([Feature("income")])
    return list(cautions.cautions_about_quirks(schema, before_after, helped, np.arange(1)))


CAUTIONS: dict[str, tuple[str, Callable[[], Any]]] = {
    "is higher than anybody's in the data": (
        "doubts_about_record",
        lambda: doubts_about(Feature("fio2"), 99.0),
    ),
    "is a code that stands for no value": (
        "doubts_about_record",
        lambda: [line.replace("is it a", "is a") for line in doubts_about(Feature("x"), -9.0)],
    ),
    "taken together, these values are more unusual than": (
        "cautions_about_own_state",
        lambda: cautions.cautions_about_own_state(0.003, 0.05, found=True),
    ),
    "compared with only about 12 people alike in age and sex": (
        "cautions_about_company",
        lambda: cautions.cautions_about_company(12.4, ["age", "sex"]),
    ),
    "lactate is missing and stays so, whatever only= says of it": (
        "cautions_about_missing",
        lambda: cautions.cautions_about_missing(LACKING, GAP, {"lactate": "only"}),
    ),
    "no short list of actions was found that keeps to common states: what follows is a path": (
        "caution_without_actions",
        lambda: [cautions.caution_without_actions(MissingActions(), 2)],
    ),
    "no plan with at most 2 features was found: this one changes 4, more than was asked for": (
        "caution_about_more_features",
        lambda: [cautions.caution_about_more_features(2, 4)],
    ),
    "no plan with at most 2 features was found, nor one with more: what follows is a path": (
        "caution_without_actions",
        lambda: [cautions.caution_without_actions(MissingActions(most=2), 1)],
    ),
    "other people whose score the same change moves: this may be a quirk of the model": (
        "cautions_about_quirks",
        lambda: quirks_of(0.31, 0.9),
    ),
    "taken together, the changes would help only": (
        "cautions_about_quirks",
        lambda: quirks_of(0.9, 0.31),
    ),
}


@pytest.mark.parametrize("sentence", CAUTIONS)
def test_a_caution_is_explained_as_it_is_said(sentence: str) -> None:
    _, say = CAUTIONS[sentence]
    assert any(sentence in line for line in say())
    assert sentence in MESSAGES.replace("*", "")


def test_no_caution_is_left_unexplained() -> None:
    kinds = {
        name
        for name, one in vars(cautions).items()
        if re.match("caution|doubts", name) and one.__module__ == cautions.__name__
    }
    assert kinds == {kind for kind, _ in CAUTIONS.values()}
    elsewhere = (
        "this goes as far as possible",
        "that a retrained model agrees with at",
        "this plan changes 147 of 200 features, 134 of them at once",
        "it is there only to keep to common states, since this person starts below the floor",
        "through states more unusual than 98.9 % of people's, 1 feature would do",
        "this one passes through states more unusual than",
        "hardly anybody has wage as low as 1000 EUR: 99 of 100 people have 1050 EUR or more",
    )
    assert all(words in MESSAGES for words in elsewhere)


def test_every_endpoint_is_mentioned_and_its_reference_is_up_to_date() -> None:
    code = (
        "from localface.apps.web import http_reference as one; print(one.http_reference(), end='')"
    )
    again = f'write it again: python -c "{code}" > docs/http.md'
    assert text_of(ROOT / "docs" / "http.md") == http_reference(), again
    service = text_of(ROOT / "docs" / "service.md")
    endpoints = re.findall(r"^## `(.*)`$", http_reference(), re.MULTILINE)
    assert len(endpoints) >= 10
    assert [one for one in endpoints if f"`{one}`" not in service] == []


def test_the_glossary_has_every_term_that_the_page_explains() -> None:
    static = ROOT / "src" / "localface" / "apps" / "web" / "static"
    terms = re.findall(r'^  "?([a-z ]+)"?: \[', text_of(static / "help.js"), re.MULTILINE)
    headings = re.findall(r"^### (.+)$", text_of(ROOT / "docs" / "glossary.md"), re.MULTILINE)
    assert len(terms) >= 17
    assert [term for term in terms if term not in headings] == []


def test_every_command_is_mentioned_where_people_read() -> None:
    written = "".join(text_of(page) for page in PAGES if page.name not in GENERATED)
    (commands,) = (
        one for one in make_parser()._actions if isinstance(one, argparse._SubParsersAction)
    )
    assert [name for name in commands.choices if f"localface {name}" not in written] == []


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
    assert said(REFUSED[case]) in MESSAGES
