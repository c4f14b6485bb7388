"""The answer: what it says, how it looks, and that it survives a trip through JSON."""

from __future__ import annotations

import copy
import json
import math
import pickle
import sys
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localface.answers.certificate import Certificate
from localface.answers.changes import changes_between
from localface.answers.disclosure import Disclosure
from localface.answers.page import Page, PageStep, page_step
from localface.answers.recourse import Recourse
from localface.answers.rendering import page_as_html, page_as_text
from localface.answers.status import Status
from localface.answers.target import Target
from localface.answers.wording import format_percent
from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.data.table_format import TableFormat, person_format
from localface.errors import InputError, NoRecourse

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
    start: dict[str, Any] = {
        "records": PATH[:1],
        "scores": (0.21,),
        "densities": (0.01,),
        "rows": (None,),
    }
    return answer(
        **{
            **start,
            "certificates": (),
            "status": Status.UNREACHABLE,
            "reason": "31 rows are cut off",
            **changes,
        }
    )


def table_answer(name: str, category: str, unit: str | None = None) -> Recourse:
    schema = Schema(
        [Feature(name, kind="binary", categories=("no", category)), Feature("x", unit=unit)]
    )
    form = TableFormat.of(pd.DataFrame({name: ["no", category], "x": [1.5, 2.5]}), schema)
    records = np.array([[0.0, 1.5], [1.0, 2.5]])
    return answer(
        schema=schema, form=form, records=records, scores=(0.2, 0.8), densities=(0.1, 0.2), scales=(1.0, 1.0),
        certificates=(STRICT,), rows=(None, 0),
    )  # fmt: skip


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


def test_every_status_is_a_sentence() -> None:
    assert {status.name for status in Status} == {
        "FOUND",
        "ALREADY_THERE",
        "NO_TARGET",
        "UNREACHABLE",
        "BUDGET",
    }
    assert all(len(status.value.split()) > 5 for status in Status)


def test_the_repr_answers_the_first_question_in_one_line() -> None:
    assert (
        repr(answer())
        == "<Recourse: found, 3 steps, score 0.21 -> 0.81, 104 of 13,943 rows seen (0.75 %)>"
    )
    assert "\n" not in repr(refusal())
    assert repr(refusal()).startswith(
        "<Recourse: unreachable, score 0.21, wanted class 1, score at least 0.75, 104 of"
    )


def test_it_prints_one_numbered_block_per_step_in_units() -> None:
    assert str(answer()).splitlines() == [
        "<Recourse: found, 3 steps, score 0.21 -> 0.81, 104 of 13,943 rows seen (0.75 %)>",
        "  now                                score 0.21",
        "  1  airway    ventilated -> patent  score 0.30",
        "  2  gcs_min   9 -> 14               score 0.58",
        "  3  fio2      0.55 -> 0.35",
        "     spo2_min  91 -> 95 %            score 0.81",
        "  every step passes through places at least as common as 1 in 20 people's",
    ]


def test_changes_below_the_resolution_are_no_changes() -> None:
    shown = str(answer())

    assert "0.551" not in shown
    assert "smaller" not in shown


def test_changes_are_ordered_by_what_is_ordinary_between_people() -> None:
    assert [change.name for change in answer().changes] == ["gcs_min", "fio2", "spo2_min", "airway"]
    assert (answer().changes[0].before, answer().changes[0].after) == (9, 14)
    assert answer().changes[-1].after == "patent"


def test_a_change_of_exactly_the_resolution_counts_in_spite_of_rounding() -> None:
    schema = Schema([Feature("x", resolution=0.05)])
    records = np.array([[0.35], [0.3]])  # 0.35 - 0.3 is a little less than 0.05
    form = TableFormat.of(pd.DataFrame({"x": [0.35, 0.3]}), schema)

    one = answer(
        schema=schema, form=form, records=records, scores=(0, 1), densities=(0, 1), rows=(None, 1), scales=(1,),
        certificates=(STRICT,),
    )  # fmt: skip

    assert [change.name for change in one.changes] == ["x"]


def test_a_step_shows_six_changes_and_counts_the_rest() -> None:
    schema = Schema([Feature(f"f{j}") for j in range(9)])
    records = np.array([np.zeros(9), np.arange(1.0, 10.0)])
    form = TableFormat.of(pd.DataFrame(records, columns=list(schema.names)), schema)

    shown = str(
        answer(
            schema=schema, form=form, records=records, scores=(0.2, 0.8), densities=(0.1, 0.2), rows=(None, 1),
            scales=(1,) * 9, certificates=(STRICT,),
        )
    )  # fmt: skip

    assert "and 3 smaller changes" in shown
    assert [f"f{j}" in shown for j in range(9)] == [False] * 3 + [True] * 6
    assert shown.index("f8") < shown.index("f3")


def test_an_entry_step_says_so() -> None:
    one = answer(certificates=(ENTRY, STRICT, STRICT))

    assert one.entry
    for shown in (str(one), "".join(Tags(one._repr_html_()).words)):
        assert "entry: this first step crosses ground more unusual than 99 % of people's" in shown
        assert (
            "after the entry, every step passes through places at least as common as 1 in 20 people's"
            in shown
        )


def test_a_relaxed_floor_stands_on_top_of_every_rendering() -> None:
    one = answer(relaxed_to=0.012)
    sentence = "relaxed: the floor was lowered from 5 % to 1.2 %"

    assert str(one).startswith(sentence)
    assert "".join(Tags(one._repr_html_()).words).split("</style>")[-1].find(sentence) >= 0
    assert one._repr_html_().index(sentence) < one._repr_html_().index("<table>")
    assert "relaxed to 1.2 %" in repr(one)
    assert json.loads(one.to_json())["relaxed_to"] == 0.012
    assert one.to_frame().attrs["localface"]["relaxed_to"] == 0.012
    assert one.to_frame()["relaxed_to"].tolist() == [0.012] * 4
    assert "as common as 1.2 % of people's" in str(one)
    assert "relaxed" not in str(answer()) + answer()._repr_html_()


def test_two_floors_that_round_alike_are_told_apart() -> None:
    assert "from 12.5 % to 12.4 %" in str(answer(min_density=0.125, relaxed_to=0.124))


def test_steps_below_the_floor_are_never_said_to_keep_it() -> None:
    one = answer(
        certificates=(STRICT, Certificate("strict", 1.0, lowest=0.002, floor=0.05), STRICT)
    )

    assert str(one).startswith("below the floor: 1 of 3 steps")
    assert (
        "below the floor of 5 %: this step crosses ground more unusual than 99.8 % of people's"
        in str(one)
    )
    assert "every step passes" not in str(one)


@pytest.mark.parametrize(
    ("certificate", "sentence"),
    [
        (STRICT, "every place on this step is at least as common as 7 % of people's"),
        (
            Certificate("average", 1, 0.2, 0.05),
            "this step passes on average through places as common as 1 in 5 people's",
        ),
        (
            Certificate("cover", 1, 0.2, 0.05, people=5, radius=0.8),
            "there are at least 5 people within 0.8 ordinary differences of every place on this step",
        ),
        (
            Certificate("strict", 1, 0.2, 0.05, certified=False),
            "every place on this step is at least as common as 1 in 5 people's (sampled, not proven)",
        ),
        (
            Certificate("strict", 1, 0.0, 0.05, entry=True),
            "entry: this first step crosses ground more unusual than anybody's",
        ),
    ],
)
def test_a_certificate_says_what_is_known_of_a_step(
    certificate: Certificate, sentence: str
) -> None:
    assert certificate.sentence == sentence
    assert certificate.holds is (certificate.lowest >= 0.05)


def test_the_last_line_speaks_of_the_rule_and_of_the_proof() -> None:
    average = Certificate("average", 1, 0.2, 0.05, certified=False)
    cover = Certificate("cover", 1, 0.2, 0.05, people=5, radius=0.8)

    assert "passes on average through" in str(answer(certificates=(average,) * 3))
    assert "(sampled, not proven)" in str(answer(certificates=(average,) * 3))
    assert "every step has at least 5 similar people around each of its places" in str(
        answer(certificates=(cover,) * 3)
    )
    assert "no path over all the data is more than 5 % shorter" in str(answer(proven_within=0.05))


def test_no_is_an_answer_with_its_sentence_its_reason_and_what_was_seen() -> None:
    one = refusal()

    assert not one.found
    assert one.counterfactual is None
    assert len(one.path) == 1
    assert one.cost == 0.0
    for shown in (str(one), "".join(Tags(one._repr_html_()).words)):
        assert Status.UNREACHABLE.value in shown
        assert "31 rows are cut off" in shown
        assert "seen: 104 of 13,943 rows (0.75 %), 12 questions, 3 model calls" in shown
        assert "score at least 0.75" in shown


def test_require_returns_the_recourse_or_raises_with_the_reason() -> None:
    one = answer()

    assert one.require() is one
    with pytest.raises(
        NoRecourse, match=r"no path of steps over common enough ground.*: 31 rows are cut off"
    ):
        refusal().require()


@pytest.mark.parametrize(
    ("score", "target", "shown"),
    [
        (0.7499, Target("class 1", 0.75), "0.7499"),
        (0.75, Target("class 1", 0.75), "0.75"),
        (40_350.4, Target("at least", 40_000, kind="value"), "40,350"),
        (39_999.9, Target("at least", 40_000, kind="value"), "39,999.9"),
        (40_000.2, Target("at most 40000", 40_000, at_most=True, kind="value"), "40,000.2"),
        (-1.23456, Target("ready", 0.0, kind="decision"), "-1.235"),
        (0.0, Target("ready", 0.0, kind="decision"), "0"),
    ],
)
def test_a_score_never_looks_as_if_it_were_on_the_other_side_of_the_target(
    score: float, target: Target, shown: str
) -> None:
    assert target.show(score) == shown


def test_data_can_put_no_markup_on_the_page() -> None:
    one = table_answer("<script>alert(1)</script>", "<img src=x onerror=y>", unit="<b>&\"'")
    page = Tags(one._repr_html_())

    assert not {"script", "img", "b"} & set(page.seen)
    assert page.open == []
    assert {"<script>alert(1)</script>", "<img src=x onerror=y>", "<b>&\"'"} <= set(page.words)


@pytest.mark.parametrize("steps", [(), (page_step(1, (), "<i>", ("<i>",)),)])
def test_every_slot_of_the_page_is_escaped(steps: tuple[PageStep, ...]) -> None:
    page = Page("<i>", alerts=("<i>",), opening=("<i>",), now="<i>", steps=steps, closing=("<i>",))

    assert set(Tags(page_as_html(page)).seen) <= KNOWN_TAGS


@settings(max_examples=50, deadline=None)
@given(st.text(min_size=1), st.text(min_size=1), st.text(), st.text())
def test_whatever_the_words_the_html_is_balanced(
    name: str, category: str, unit: str, reason: str
) -> None:
    schema = Schema([Feature("a")])
    changes = changes_between(schema, (1.0,), np.array([1.0]), np.array([2.0]))
    step = page_step(1, changes, unit, (name,))
    page = Page(headline=name, alerts=(category,), opening=(reason,), now=unit, steps=(step,))

    assert Tags(page_as_html(page)).open == []
    assert set(Tags(page_as_html(page)).seen) <= KNOWN_TAGS
    assert page_as_text(page)


def test_the_html_is_an_accessible_table_for_light_and_dark() -> None:
    html = answer()._repr_html_()

    for sign in (
        "<caption>",
        'scope="col"',
        'scope="rowgroup"',
        "prefers-color-scheme",
        "color: inherit",
    ):
        assert sign in html


def test_a_name_with_line_breaks_stays_on_its_line() -> None:
    shown = str(table_answer("two\nlines", "yes\x1b[31m"))

    assert "two lines" in shown
    assert "\x1b" not in shown


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_the_frame_is_of_the_users_kind_with_step_score_and_density(kind: str) -> None:
    library = pytest.importorskip(kind)
    data = library.table(PATIENTS) if kind == "pyarrow" else library.DataFrame(PATIENTS)
    one = answer(form=TableFormat.of(data, ICU), relaxed_to=0.012)

    frame = one.to_frame()

    assert type(frame) is type(data)
    columns = (
        frame.to_pydict()
        if kind == "pyarrow"
        else {name: list(frame[name]) for name in frame.columns}
    )
    assert list(columns) == [*ICU.names, "step", "score", "density", "relaxed_to"]
    assert columns["airway"] == ["ventilated", "patent", "patent", "patent"]
    assert columns["score"] == list(one.scores)
    assert columns["step"] == [0, 1, 2, 3]


def test_a_numpy_user_gets_a_pandas_frame_or_columns_without_pandas(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    schema = Schema([Feature("x0"), Feature("score")])
    form = TableFormat.of(np.zeros((3, 2)), schema)
    one = answer(schema=schema, form=form, records=PATH[:, 2:], scales=(1.0, 1.0))

    frame = one.to_frame()
    monkeypatch.setitem(sys.modules, "pandas", None)
    columns = one.to_frame()

    assert list(frame.columns) == ["x0", "score", "step", "score_", "density"]
    assert isinstance(one.path, np.ndarray)
    assert isinstance(columns, dict)
    assert list(columns) == list(frame.columns)
    assert columns["score_"].tolist() == list(one.scores)


def test_the_counterfactual_is_the_end_of_the_path() -> None:
    end = answer().counterfactual

    assert end["spo2_min"].tolist() == [95]
    assert end["airway"].tolist() == ["patent"]


def test_one_person_comes_back_as_they_came_even_after_json() -> None:
    person = {"airway": "ventilated", "gcs_min": 9, "fio2": 0.55, "spo2_min": 91}
    one = answer(form=person_format(person, TableFormat.of(pd.DataFrame(PATIENTS), ICU)))

    again = Recourse.from_json(one.to_json())

    assert one.counterfactual == {"airway": "patent", "gcs_min": 14, "fio2": 0.35, "spo2_min": 95}
    assert again.counterfactual == one.counterfactual
    assert again.path.equals(one.path)


def test_an_answer_cannot_be_changed() -> None:
    one = answer()

    with pytest.raises(AttributeError):
        one.status = Status.BUDGET  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        one.records[0, 0] = 1.0
    with pytest.raises(TypeError):
        one.settings["n_neighbors"] = 1  # type: ignore[index]


def test_an_answer_survives_pickling_and_copying() -> None:
    one = answer(relaxed_to=0.012)

    for other in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one)):
        assert other.to_json() == one.to_json()
        assert not other.records.flags.writeable


def test_meta_is_what_alibi_users_look_for() -> None:
    meta = answer().meta

    assert meta["name"] == "LocalFACE"
    assert meta["explanations"] == ["local"]
    assert meta["params"]["n_neighbors"] == 50


def test_pieces_that_do_not_belong_together_are_refused() -> None:
    with pytest.raises(InputError, match="a recourse of 4 records has 3 certificates; got 1"):
        answer(certificates=(STRICT,))
    with pytest.raises(InputError, match="at least one record of 4 features; got 0 x 4"):
        answer(records=np.zeros((0, 4)))


def test_disclosure_is_a_share_of_all_rows() -> None:
    assert Disclosure(104, 13_943).fraction == 104 / 13_943
    assert Disclosure(0, 0).fraction == 0.0
    assert str(Disclosure(0, 10)) == "0 of 10 rows seen (0 %)"


@pytest.mark.parametrize("share", [0.0, 1e-9, 0.01, 0.5, 0.99, 1 - 1e-9, 1.0])
def test_only_nothing_is_nought_per_cent_and_only_everything_a_hundred(share: float) -> None:
    assert (format_percent(share) == "0 %") is (share == 0.0)
    assert (format_percent(share) == "100 %") is (share == 1.0)


floats = st.floats(allow_nan=False, allow_infinity=False)
shares = st.floats(0, 1)
plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()


@st.composite
def recourses(draw: st.DrawFn) -> Recourse:
    m = draw(st.integers(1, 4))

    def some(values: st.SearchStrategy[Any], n: int = m) -> tuple[Any, ...]:
        return tuple(draw(st.lists(values, min_size=n, max_size=n)))

    certificate = st.builds(
        Certificate, st.sampled_from(["strict", "average", "cover"]), floats, shares, shares, entry=st.booleans(),
        certified=st.booleans(), people=st.none() | st.integers(0, 99), radius=st.none() | floats,
    )  # fmt: skip
    codes = st.sampled_from([0.0, 1.0])
    whole = st.integers(-(2**53), 2**53).map(float)
    rows = [[draw(codes), draw(whole), draw(floats), draw(whole)] for _ in range(m)]
    return answer(
        status=draw(st.sampled_from(Status)), reason=draw(st.text()), records=np.array(rows), scores=some(floats),
        densities=some(shares), certificates=some(certificate, m - 1), rows=some(st.none() | st.integers(0)),
        target=Target(draw(st.text()), draw(floats), draw(st.booleans()), draw(st.sampled_from(["value", "decision"]))),
        min_density=draw(shares), relaxed_to=draw(st.none() | shares), proven_within=draw(st.none() | shares),
        settings=draw(st.dictionaries(st.text(), plain | st.lists(plain))), version=draw(st.text()),
        disclosure=Disclosure(draw(st.integers(0)), draw(st.integers(1)), seconds={"model": draw(floats)}),
    )  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(recourses())
def test_json_gives_back_every_bit(one: Recourse) -> None:
    text = one.to_json()

    other = Recourse.from_json(text)

    assert other.to_json() == text
    assert other.records.tobytes() == one.records.tobytes()
    for name in Recourse.__slots__:
        if name != "records":
            assert getattr(other, name) == getattr(one, name), name
    assert str(other) == str(one)
    assert other._repr_html_() == one._repr_html_()


def test_json_is_versioned_and_strict() -> None:
    document = json.loads(answer().to_json(indent=2), parse_constant=pytest.fail)

    assert list(document)[:2] == ["format", "version"]
    assert (document["format"], document["version"]) == ("localface/recourse", 1)
    assert document["status"] == "FOUND"
    assert Recourse.from_json(answer().to_json()).settings["max_step"] == math.inf


def damaged(**changes: Any) -> str:
    document = {**json.loads(answer().to_json()), **changes}
    return json.dumps({name: piece for name, piece in document.items() if piece != "gone"})


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "this is not JSON"),
        ("{", "this is not JSON"),
        ('{"a": NaN}', "NaN is no JSON number"),
        ("[" * 100_000, "this is not JSON"),
        ("[1]", "no localface/recourse document"),
        (damaged(format="other"), "no localface/recourse document"),
        (
            damaged(version=2),
            "has version 2; this localface reads 1; upgrade with: pip install --upgrade localface",
        ),
        (damaged(version=True), "has version True"),
        (damaged(records="gone"), "lacks 'records'"),
        (damaged(status="FOND"), "there is no status 'FOND' .did you mean 'FOUND'"),
        (damaged(schema=3), "schema|damaged"),
        (damaged(form=None), "form|damaged"),
        (damaged(records=[[1.0]]), "at least one record of 4 features; got 1 x 1"),
        (damaged(records=[["a", 1, 2, 3]]), "damaged"),
        (damaged(scores=[0.5]), "a recourse of 4 records has 4 scores; got 1"),
        (damaged(target={"label": 3, "min_score": 0.5}), "damaged .label is 3, not str"),
        (damaged(disclosure={"rows": 1, "of": 2, "colour": 3}), "damaged"),
        (damaged(min_density="low"), "damaged .min_density is 'low', not float"),
        (damaged(settings=[1]), "damaged"),
    ],
)
def test_json_that_cannot_be_read_is_refused_with_a_clear_sentence(
    text: str, sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence):
        Recourse.from_json(text)


def test_a_plot_without_matplotlib_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("localface.apps.plots")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr("localface.apps.plots", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)

    with pytest.raises(ModuleNotFoundError, match=r'pip install "localface\[plots\]"'):
        answer().plot()
