"""The figures: what they show, in which units, and why where there is nothing to draw."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Text

from localface import Search
from localface.analyses.trace import Trace, log_questions, trace_search
from localface.answers.certificate import Certificate
from localface.answers.disclosure import Disclosure
from localface.answers.recourse import Recourse
from localface.answers.status import Status
from localface.answers.target import Target
from localface.apps.plots import (
    plot_against_line,
    plot_pipeline,
    plot_recourse,
    plot_step,
    plot_tube,
)
from localface.cases.moons import Moons, two_moons
from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.data.table_format import TableFormat
from localface.engine.asking import check_ask
from localface.errors import InputError, NoRecourse
from localface.explainer import LocalFACE
from localface.geometry.segments import norms
from localface.options import Ask
from localface.search.questions import Questions, ScorePoints, ask_point_scores

pytestmark = pytest.mark.slow

ICU = Schema(
    [
        Feature("airway", kind="categorical", categories=("ventilated", "patent")),
        Feature("gcs_min", unit="points", kind="integer"),
        Feature("fio2", unit="fraction", resolution=0.01),
        Feature("spo2_min", unit="%", kind="integer"),
        Feature("creatinine", unit="µmol/L"),
        Feature("hr_max", unit="bpm", kind="integer"),
        Feature("cost", unit="$"),
        Feature("na", unit="mmol/L", kind="integer"),
        Feature("age", unit="years", kind="integer", moves="never"),
    ]
)
PATH = np.array(
    [
        [0, 9, 0.55, 91, 180, 118, 500, 143, 63],
        [1, 9, 0.55, 91, 170, 110, 400, 150, 63],
        [1, 14, 0.50, 92, 150, 101, 400, 146, 63],
        [1, 14, 0.35, 95, 120, 92, 450, 143, 63],
    ]
)
SCALES = (1.0, 2.0, 0.1, 4.0, 50.0, 13.0, 400.0, 20.0, 10.0)
STRICT = Certificate("strict", length=1.25, lowest=0.07, floor=0.05)
ENTRY = Certificate("strict", length=0.5, lowest=0.01, floor=0.05, entry=True)


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def moons() -> Moons:
    return two_moons(500, noise=0.12, seed=2)


@pytest.fixture(scope="module")
def explainer(moons: Moons) -> LocalFACE:
    return LocalFACE(
        moons.model, moons.data, min_score=0.75, search=Search(n_neighbors=15, max_step=0.8)
    )


def answer(**changes: Any) -> Recourse:
    records = np.asarray(changes.get("records", PATH))
    schema = changes.get("schema", ICU)
    m = len(records)
    pieces: dict[str, Any] = {
        "status": Status.FOUND,
        "records": records,
        "form": TableFormat.of(records, Schema([Feature(name) for name in schema.names])),
        "schema": schema,
        "scores": (0.21, 0.3, 0.58, 0.81)[:m],
        "densities": (0.1,) * m,
        "certificates": (STRICT,) * (m - 1),
        "rows": (None, *range(m - 1)),
        "target": Target("ready", 0.75),
        "min_density": 0.05,
        "scales": SCALES,
        "disclosure": Disclosure(104, 13_943),
    }
    return Recourse(**{**pieces, **changes})


def refusal(**changes: Any) -> Recourse:
    return answer(
        **{
            "records": PATH[:1],
            "status": Status.UNREACHABLE,
            "reason": "31 rows are cut off",
            **changes,
        }
    )


def shown(figure: Figure) -> str:
    """Every word on a figure, drawn for real, in one line."""
    figure.canvas.draw()
    texts = [text.get_text() for text in figure.findobj(Text) if text.get_visible()]
    return " ".join(" ".join(texts).split())


def titles(figure: Figure) -> list[str]:
    return [panel.get_title(loc="left") for panel in figure.axes]


def levels(panel: Axes) -> list[float]:
    """Where dashed lines run across a panel."""
    lines = [line for line in panel.get_lines() if line.get_linestyle() == "--"]
    return [float(np.asarray(line.get_ydata())[0]) for line in lines]


def test_the_score_stands_on_top_with_its_threshold() -> None:
    figure = plot_recourse(answer())

    top = figure.axes[0]
    assert top.get_ylabel() == "score"
    assert np.asarray(top.get_lines()[0].get_ydata()).tolist() == [0.21, 0.3, 0.58, 0.81]
    assert levels(top) == [0.75]
    assert "wanted: at least 0.75" in shown(figure)


def test_at_most_six_features_are_drawn_and_the_rest_is_named() -> None:
    figure = plot_recourse(answer())

    drawn = [title.split(":")[0] for title in titles(figure)[1:]]
    assert drawn == ["gcs_min", "fio2", "hr_max", "creatinine", "airway", "spo2_min"]
    assert "also changing: na: 143 → 150 → 143 mmol/L, cost: 500 → 450 \\$" in shown(figure)
    assert "age" not in shown(figure)


@pytest.mark.parametrize("most", [0, 1, 3])
def test_fewer_features_can_be_asked_for(most: int) -> None:
    figure = answer().plot(most=most)

    assert len(figure.axes) == 1 + most
    assert "also changing:" in shown(figure)


def test_features_are_shown_in_their_units() -> None:
    figure = plot_recourse(answer())

    assert "gcs_min: 9 → 14 points" in titles(figure)
    assert "spo2_min: 91 → 95 %" in titles(figure)
    assert [panel.get_ylabel() for panel in figure.axes[1:]] == [
        "points",
        "fraction",
        "bpm",
        "µmol/L",
        "",
        "%",
    ]


def test_a_category_is_named_and_flips_at_mid_step() -> None:
    figure = plot_recourse(answer())

    (panel,) = [panel for panel in figure.axes if panel.get_title(loc="left").startswith("airway")]
    assert [label.get_text() for label in panel.get_yticklabels()] == ["ventilated", "patent"]
    assert panel.get_lines()[0].get_drawstyle() == "steps-mid"


def test_what_leaves_and_comes_back_has_changed_too() -> None:
    scales = (*SCALES[:7], 1.0, SCALES[8])

    assert titles(plot_recourse(answer(scales=scales)))[1] == "na: 143 → 150 → 143 mmol/L"


def test_the_panels_share_the_steps_and_begin_with_now() -> None:
    figure = plot_recourse(answer())

    figure.canvas.draw()
    assert [label.get_text() for label in figure.axes[-1].get_xticklabels()] == [
        "now",
        "1",
        "2",
        "3",
    ]
    assert len({panel.get_xlim() for panel in figure.axes}) == 1


def test_one_step_is_drawn_like_any_other() -> None:
    figure = plot_recourse(answer(records=PATH[[0, 3]], scores=(0.21, 0.81)))

    assert "1 step, score 0.21 → 0.81" in shown(figure)
    assert len(figure.axes) == 7


def test_actions_are_called_so_in_the_title_and_below() -> None:
    moons = two_moons(noise=0.15)
    planned = LocalFACE(moons.model, moons.data, search=Search(n_neighbors=15)).explain(
        moons.person
    )
    n = len(planned.actions)
    assert n

    figure = plot_recourse(planned)

    assert f"{n} action{'s' * (n > 1)}, score " in shown(figure)
    assert figure.axes[-1].get_xlabel() == "action"
    assert plot_recourse(answer()).axes[-1].get_xlabel() == "step"


def test_a_long_path_does_not_crowd_its_axis() -> None:
    records = np.linspace(PATH[0], PATH[3], 60)
    figure = plot_recourse(answer(records=records, scores=tuple(np.linspace(0.2, 0.8, 60))))

    assert len(figure.axes[-1].get_xticks()) <= 16


def test_an_entry_step_is_marked_in_every_panel() -> None:
    figure = plot_recourse(answer(certificates=(ENTRY, STRICT, STRICT)))

    assert "entry step: states more unusual than 99 % of people's" in shown(figure)
    for panel in figure.axes:
        (span,) = [patch for patch in panel.patches if patch.get_hatch() == "//"]
        assert (span.get_x(), span.get_width()) == (0, 1)


def test_a_lowered_floor_cannot_be_overlooked() -> None:
    low = [
        Certificate("strict", length=1.0, lowest=lowest, floor=0.012)
        for lowest in (0.06, 0.012, 0.03)
    ]
    figure = plot_recourse(answer(certificates=low, relaxed_to=0.012))

    assert "relaxed: the floor was lowered from 5 % to 1.2 %" in shown(figure)
    assert [patch.get_x() for patch in figure.axes[0].patches if patch.get_hatch()] == [1, 2]
    assert "below the floor of 5 %" in shown(figure)


def test_sound_steps_are_not_marked() -> None:
    assert not [
        patch
        for panel in plot_recourse(answer()).axes
        for patch in panel.patches
        if patch.get_hatch()
    ]


@pytest.mark.parametrize(
    "status", [Status.UNREACHABLE, Status.NO_TARGET, Status.BUDGET, Status.ALREADY_THERE]
)
def test_where_there_is_no_path_the_figure_says_why(status: Status) -> None:
    figure = plot_recourse(refusal(status=status))

    assert len(figure.axes) == 1
    assert status.value in shown(figure)
    assert "31 rows are cut off" in shown(figure)
    assert "now: 0.21" in shown(figure)
    lines = figure.axes[0].get_lines()
    assert [float(np.asarray(line.get_xdata())[0]) for line in lines] == [0.75, 0.21]


def test_a_value_that_must_come_down_is_drawn_as_such() -> None:
    target = Target("a rent of at most 1,200 €", 1200.0, at_most=True, kind="value")
    figure = plot_recourse(answer(target=target, scores=(1850.0, 1700.0, 1500.0, 1195.0)))

    assert figure.axes[0].get_ylabel() == "value"
    assert levels(figure.axes[0]) == [1200.0]
    assert "wanted: at most 1,200" in shown(figure)


def test_names_from_the_data_are_no_mathematics() -> None:
    schema = Schema(
        [
            Feature("a$b$^_{", unit="$\\frac$"),
            Feature("x", kind="binary", categories=("$y", "$\\n$")),
        ]
    )
    records = np.array([[0.0, 0.0], [2.0, 1.0]])
    figure = plot_recourse(
        answer(schema=schema, records=records, scores=(0.2, 0.8), scales=(1.0, 1.0))
    )

    assert "a\\$b\\$^_{: 0 → 2" in shown(figure)


def test_a_figure_of_the_users_own_is_drawn_on() -> None:
    mine = plt.figure(figsize=(5, 9))

    assert plot_recourse(answer(), mine) is mine
    assert plot_tube(plt.figure()) is not mine


def test_a_dark_style_is_followed() -> None:
    with plt.style.context("dark_background"):
        figure = plot_recourse(answer())

    assert to_hex(figure.get_facecolor()) == "#000000"
    assert to_hex(figure.axes[0].yaxis.label.get_color()) == "#ffffff"


def test_tracing_asks_the_same_and_keeps_it() -> None:
    def asks() -> Questions[float]:
        first = yield from ask_point_scores(np.zeros((1, 2)))
        second = yield from ask_point_scores(np.ones((1, 2)))
        return float(first[0] + second[0])

    log: list[Any] = []
    search = log_questions(asks(), log)
    question = next(search)
    assert isinstance(question, ScorePoints)
    search.send(np.array([1.0]))
    with pytest.raises(StopIteration) as end:
        search.send(np.array([2.0]))

    assert end.value.value == 3.0
    assert [float(one.answer[0]) for one in log] == [1.0, 2.0]


def trace_of(explainer: LocalFACE, person: Any) -> Trace:
    asked = check_ask(explainer.engine, Ask())
    return trace_search(explainer.engine, asked.make_request(person), asked.plan)


def test_a_story_is_that_of_the_answer(explainer: LocalFACE, moons: Moons) -> None:
    story = trace_of(explainer, moons.person)
    plain = explainer.explain(moons.person)

    assert np.array_equal(story.recourse.records, plain.records)
    rows = [story.explored, story.for_actions, story.exploited]
    assert sum(map(len, rows)) == plain.disclosure.rows
    assert len(np.unique(np.concatenate(rows), axis=0)) == plain.disclosure.rows
    assert len(story.for_actions) > 0
    fine = story.tried.passes
    taken = {
        (tuple(a), tuple(b))
        for a, b in zip(story.tried.starts[fine], story.tried.ends[fine], strict=True)
    }
    assert set(pairwise(map(tuple, story.trail))) <= taken
    assert float(norms(np.diff(story.trail, axis=0)).sum()) >= plain.cost


def test_tracing_leaves_the_explainer_as_it_was(explainer: LocalFACE, moons: Moons) -> None:
    driver = explainer.engine.driver

    trace_of(explainer, moons.person)

    assert explainer.engine.driver is driver


def test_someone_on_uncommon_ground_enters_the_story_by_an_entry_step(explainer: LocalFACE) -> None:
    person = np.array([-1.3, -0.3])
    story = trace_of(explainer, person)

    assert story.recourse.entry
    assert np.allclose(story.trail[0], explainer.engine.space.points(person[None, :])[0])


def test_the_pipeline_has_a_panel_a_stage(explainer: LocalFACE, moons: Moons) -> None:
    figure = plot_pipeline(explainer, moons.person)

    assert titles(figure)[:3] == ["1  explore", "2  exploit", "3  enhance"]
    recourse = explainer.explain(moons.person)
    assert f"length {recourse.cost:.2f}" in shown(figure)
    assert "of 500 rows seen" in shown(figure)
    assert "row looked at for actions" in shown(figure)
    assert "edge of the common states (floor: 5 %)" in shown(figure)
    space = explainer.engine.space
    curve = space.curve(space.points(recourse.records))
    ways = [
        line
        for line in figure.axes[2].get_lines()
        if np.array_equal(np.asarray(line.get_data()).T, curve)
    ]
    assert ways


@pytest.mark.parametrize(("strategy", "bends"), [("guided", True), ("paper", False)])
def test_steps_are_drawn_as_the_curves_they_are(moons: Moons, strategy: str, bends: bool) -> None:
    one = LocalFACE(
        moons.model, moons.data, search=Search(n_neighbors=15, strategy=strategy, max_step=1.0)
    )
    records = one.explain(moons.person).require().records

    figure = plot_against_line(one, moons.person)

    straight = np.asarray(figure.axes[0].get_lines()[1].get_data()).T
    assert np.allclose(straight[[0, -1]], records[[0, -1]])
    assert len(straight) == 41
    along = straight[-1] - straight[0]
    off = np.abs(np.cross(np.append(along, 0), np.c_[straight - straight[0], np.zeros(41)]))[:, 2]
    assert (off.max() > 1e-3) == bends
    points = one.engine.space.points(straight)
    t = np.linspace(0, 1, 41)[:, None]
    assert np.allclose(points, points[0] + t * (points[-1] - points[0]), atol=1e-9)


def test_the_pipeline_of_someone_without_recourse_says_so() -> None:
    apart = two_moons(200, noise=0.02)
    figure = plot_pipeline(
        LocalFACE(apart.model, apart.data, search=Search(n_neighbors=10)), apart.person
    )

    assert "unreachable" in shown(figure)
    assert "best way" not in shown(figure)


def test_the_axes_of_a_plane_have_names_and_units(moons: Moons) -> None:
    schema = Schema([Feature("width", unit="cm"), Feature("height", unit="m")])
    named = LocalFACE(moons.model, moons.data, schema=schema, search=Search(n_neighbors=15))
    figure = plot_against_line(named, moons.person)

    assert (figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()) == (
        "width (cm)",
        "height (m)",
    )


@pytest.mark.parametrize("draw", [plot_pipeline, plot_against_line])
def test_what_is_no_plane_is_refused_with_what_to_draw_instead(draw: Any) -> None:
    data = np.random.default_rng(0).normal(size=(60, 3))
    explainer = LocalFACE(
        lambda rows: 1 / (1 + np.exp(-rows[:, 0])), data, search=Search(n_neighbors=5)
    )

    with pytest.raises(
        InputError, match=r"two numeric features; this explainer has 3.*explain\(\.\.\.\)\.plot\(\)"
    ):
        draw(explainer, data[0])


def test_the_pipeline_of_the_printed_algorithms_is_refused(moons: Moons) -> None:
    printed = LocalFACE(moons.model, moons.data, search=Search(n_neighbors=15, strategy="paper"))

    with pytest.raises(InputError, match="strategy='guided'"):
        plot_pipeline(printed, moons.person)


def test_the_straight_step_falls_below_the_floor_and_the_way_does_not(
    explainer: LocalFACE, moons: Moons
) -> None:
    figure = plot_against_line(explainer, moons.person)

    below = next(panel for panel in figure.axes if "way travelled" in panel.get_xlabel())
    straight, way, floor = (np.asarray(line.get_ydata(), dtype=float) for line in below.get_lines())
    assert floor[0] == pytest.approx(5.0)
    assert straight.min() < 5.0 <= way.min() + 1e-6
    lengths = [float(np.asarray(line.get_xdata())[-1]) for line in below.get_lines()[:2]]
    assert lengths[0] < lengths[1]


def test_without_recourse_there_is_nothing_to_hold_against_the_line() -> None:
    apart = two_moons(200, noise=0.02)

    with pytest.raises(NoRecourse):
        plot_against_line(
            LocalFACE(apart.model, apart.data, search=Search(n_neighbors=10)), apart.person
        )


def test_the_tube_shows_a_step_that_is_covered_and_one_that_is_not() -> None:
    words = shown(plot_tube())

    assert "covered: someone within ε of every point" in words
    assert "not covered: nobody within ε of the gap" in words
    assert "corrected theorem" in words


def test_the_words_on_the_tube_are_true_by_sampling() -> None:
    from localface.apps.plots import tube

    def covered(start: Any, end: Any, rows: Any) -> bool:
        places = start + np.linspace(0, 1, 5001)[:, None] * (end - start)
        return bool((norms(places[:, None, :] - rows[None, :, :]).min(axis=1) <= 1.0).all())

    assert [covered(tube._ROWS[a], tube._ROWS[b], tube._ROWS) for a, b in tube._STEPS] == [
        True,
        False,
    ]
    pair = np.array([[0.0, 0.0], [tube._APART, 0.0]])
    turns = np.radians(tube._ANGLES)
    ends = tube._REACH * np.column_stack([np.cos(turns), np.sin(turns)])
    assert norms(ends - pair[1]).max() <= 1.0
    assert [covered(pair[0], end, pair) for end in ends] == [True, False]


@pytest.mark.parametrize(
    ("momentum_steps", "end"), [(0, (0.825, -0.225)), (1, (1.35, 0.2)), (2, (1.25, 0.275))]
)
def test_a_step_goes_half_way_and_on_with_the_momentum(
    momentum_steps: int, end: tuple[float, float]
) -> None:
    figure = plot_step(momentum_steps=momentum_steps)

    assert ("momentum" in shown(figure)) == (momentum_steps > 0)
    (dots,) = [dots for dots in figure.axes[0].collections if "next state" in str(dots.get_label())]
    assert np.asarray(dots.get_offsets())[0].tolist() == pytest.approx(end)


def test_a_notebook_shows_a_figure_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a cell returns is shown; what pyplot still holds would be shown a second time."""
    moons = two_moons(200)
    answer = LocalFACE(moons.model, moons.data, search=Search(n_neighbors=15)).explain(moons.person)
    before = plt.get_fignums()
    monkeypatch.setattr(plt, "get_backend", lambda: "module://matplotlib_inline.backend_inline")
    figure = answer.plot()
    assert plt.get_fignums() == before
    assert len(figure.axes) > 1

    monkeypatch.setattr(plt, "get_backend", lambda: "agg")
    figure = answer.plot()
    assert figure.number in plt.get_fignums(), "a script shows it by plt.show()"
    plt.close(figure)
