"""The page in a real browser before a real service."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from browser import Watched, fetched, opened, posted, serving, settled
from localface.answers.recourse import Recourse

pytestmark = pytest.mark.slow

STATIC = Path(__file__).parents[2] / "src" / "localface" / "apps" / "web" / "static"
EVIL = "<img src=x onerror=window.hacked=1>"


@pytest.fixture(scope="module")
def patient(ward: str) -> int:
    """Someone the model wrongly calls not ready, with a way of at least three actions."""
    for one in fetched(ward, "people?outcome=false+negative&sort=score&limit=200")["people"]:
        if len(posted(ward, "recourse", {"id": one["id"]})["view"]["actions"]) >= 3:
            return int(one["id"])
    raise AssertionError("nobody has a way of three actions")


@pytest.fixture
def bench(browser: Any, ward: str, patient: int) -> Iterator[Watched]:
    """The page with the patient's answer on it; it must never complain, nor ask anybody else."""
    with opened(browser, f"{ward}#id={patient}") as watched:
        settled(watched.page)
        yield watched
        assert not watched.errors
        assert watched.hosts == {ward.split("/")[2]}


def actions_on(page: Any) -> list[str]:
    """What the cards say: feature by feature, from what to what."""
    cards = page.locator(".card .change")
    return [
        " ".join(one.split()) for one in cards.locator(".name, .before, strong").all_inner_texts()
    ]


def changed_on(page: Any) -> list[str]:
    return [
        str(one)
        for one in page.locator(".card .name").evaluate_all("all => all.map(one => one.title)")
    ]


def redrawn(page: Any) -> None:
    """Wait until whatever has come to the page is drawn."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))")


def drag(page: Any, selector: str, value: float) -> None:
    """Move a slider as a hand does: an input event with a new value."""
    event = "new Event('input', {bubbles: true})"
    move = f"(one, value) => {{one.value = value; one.dispatchEvent({event})}}"
    page.locator(selector).evaluate(move, value)


# a person is found and explained


def test_a_person_is_found_by_number_and_explained_as_the_service_explains_them(
    browser: Any, ward: str, patient: int
) -> None:
    with opened(browser, ward) as watched:
        page = watched.page
        page.select_option("#people-outcome", "false negative")
        page.fill("#people-search", str(patient))
        page.locator(f".person[data-id='{patient}']").click()
        settled(page)

        view = posted(ward, "recourse", {"id": patient})["view"]
        shown = [
            [one["before_text"], one["after_text"]]
            for action in view["actions"]
            for one in action["changes"]
        ]
        assert page.locator("#who").inner_text() == f"Person {patient}"
        assert page.locator(".card").count() == len(view["actions"])
        assert [actions_on(page)[i + 1 : i + 3] for i in range(0, 3 * len(shown), 3)] == shown
        first = page.locator(".card .meta").first.inner_text()
        assert re.search(
            r"Afterwards more usual than .+ of people, (and always )?on the way", first
        )
        assert page.locator(".numbers .now").inner_text() == view["score"]["now_text"]
        assert page.locator(".numbers .end").inner_text() == view["score"]["end_text"]
        looked_at = f"{view['disclosure']['rows']} of {view['disclosure']['of']:,} records"
        assert looked_at in page.locator(".closing").inner_text()
        assert not watched.errors


def test_the_list_is_filtered_by_outcome_and_sorted_by_score(browser: Any, ward: str) -> None:
    with opened(browser, ward) as watched:
        page = watched.page
        page.select_option("#people-sort", "-score")
        page.select_option("#people-outcome", "false positive")
        page.wait_for_function(
            "() => document.querySelector('.person .outcome')?.textContent === 'false positive'"
        )

        scores = [float(one) for one in page.locator(".person .value").all_inner_texts()]
        assert scores == sorted(scores, reverse=True)
        assert set(page.locator(".person .outcome").all_inner_texts()) == {"false positive"}


def test_the_caveat_is_in_plain_sight(bench: Watched) -> None:
    words = bench.page.locator(".caution").inner_text()
    assert "not advice" in words
    assert "correlational" in words.lower()


def test_every_column_of_the_table_is_drawn_and_read_out(bench: Watched) -> None:
    page = bench.page
    heads = page.locator(".steps thead th").all_inner_texts()
    for place in range(len(heads) - 1):
        drag(page, ".stepper input", place)
        cells = page.locator(".steps .scores td").all_inner_texts()
        assert f"score {cells[place]}" in page.locator(".readout").inner_text()
    assert page.locator(".panel").count() > 1
    assert page.locator(".panel[aria-label]").count() == page.locator(".panel").count()


# what may change


def test_a_pinned_feature_is_no_longer_touched_and_the_answer_changes(
    bench: Watched, ward: str, patient: int
) -> None:
    page = bench.page
    before, first = actions_on(page), changed_on(page)[0]

    page.locator(f"#constraints [data-feature='{first}']").get_by_text("pin", exact=True).click()
    settled(page)

    assert first not in changed_on(page)
    assert actions_on(page) != before
    judge = posted(ward, "recourse", {"id": patient, "where": {first: "never"}})["view"]
    assert page.locator(".card").count() == len(judge["actions"])
    assert page.locator("#force").is_visible()
    page.locator("#force .lift").click()
    settled(page)
    assert actions_on(page) == before


def test_leaving_a_card_alone_forbids_its_feature(bench: Watched) -> None:
    page = bench.page
    first = changed_on(page)[0]
    page.locator(".card .leave").first.click()
    settled(page)
    assert first not in changed_on(page)
    assert "left alone" in page.locator("#force").inner_text()


def test_a_dragged_range_holds_and_a_direction_too(bench: Watched, ward: str, patient: int) -> None:
    page = bench.page
    schema = {one["name"]: one for one in fetched(ward, "schema")["features"]}
    free = [
        one
        for one in schema
        if (schema[one]["kind"], schema[one]["moves"]) == ("numeric", "freely")
    ]
    name = next(one for one in changed_on(page) if one in free)
    view = posted(ward, "recourse", {"id": patient})["view"]
    own = view["person"][name]
    after = next(
        one["after"]
        for action in view["actions"]
        for one in action["changes"]
        if one["feature"] == name
    )
    step = schema[name]["resolution"]
    half = round(round((own + after) / 2 / step) * step, 9)  # as the page has it: no stray digits
    side, bounds = ("low", [half, None]) if after < own else ("high", [None, half])

    drag(page, f"#constraints [data-feature='{name}'] input.{side}", half)
    settled(page)

    judge = posted(ward, "recourse", {"id": patient, "where": {name: {"bounds": bounds}}})["view"]
    assert page.locator(".card").count() == len(judge["actions"])
    for one in (
        one for action in judge["actions"] for one in action["changes"] if one["feature"] == name
    ):
        assert one["after"] >= half if side == "low" else one["after"] <= half
    arrow = "may only rise" if after < own else "may only fall"
    page.locator(f"#constraints [data-feature='{name}'] .toggle[title='{arrow}']").click()
    settled(page)
    assert name not in changed_on(page)


def test_target_and_floor_are_asked_with_what_the_sliders_say(
    bench: Watched, ward: str, patient: int
) -> None:
    page = bench.page
    drag(page, "#goal", 0.6)
    drag(page, "#floor", 0.02)
    settled(page)
    judge = posted(ward, "recourse", {"id": patient, "min_score": 0.6, "min_density": 0.02})["view"]
    assert page.locator(".numbers .end").inner_text() == judge["score"]["end_text"]
    assert "0.6" in page.locator(".decision .wanted-text").inner_text()


def test_a_no_has_its_reason_and_a_button_that_relaxes_which_is_then_said_on_top(
    browser: Any, tmp_path: Path
) -> None:
    arguments = divided(tmp_path)
    with serving(*arguments, folder=tmp_path) as url, opened(browser, f"{url}#id=0") as watched:
        page, relaxed = watched.page, posted(url, "recourse", {"id": 0, "relax": True})["view"]
        settled(page)
        assert "No plan reaches it" in page.locator(".headline h2").inner_text()
        assert len(page.locator(".headline .why").inner_text()) > 40
        assert page.locator(".card").count() == 0

        page.wait_for_selector("[data-key='relax']")
        assert relaxed["score"]["end_text"] in page.locator(".offers").inner_text(), "it was tried"
        page.locator("[data-key='relax']").click()
        page.wait_for_selector(".card")

        first = page.locator("#view > *").first
        assert relaxed["notices"][0][8:40] in first.inner_text()
        assert first.get_attribute("class") == "notice"
        assert page.locator(".card").count() == len(relaxed["actions"])
        page.wait_for_selector(".seen", state="attached")
        assert len(page.locator(".fine").get_attribute("points").split()) > 1, (
            "the map has the relaxed way too"
        )
        assert not watched.errors


def divided(folder: Path) -> tuple[str, ...]:
    """Two crowds with a few people between them: nobody gets across unless the floor is lowered."""
    crowd = [((7 * i) % 21, 20 + (11 * i) % 41) for i in range(1, 61)]
    rows = [
        *crowd,
        *((80 + income, age) for income, age in crowd),
        *((income, 40) for income in range(30, 71, 10)),
    ]
    lines = "\n".join(f"{income},{age}" for income, age in rows)
    (folder / "rows.csv").write_text(f"income,age\n{lines}\n", encoding="utf-8")
    model = "def score(table):\n    return [max(0, value) / 100 for value in table['income']]\n"
    (folder / "income_model.py").write_text(model, encoding="utf-8")
    wanted = ("--min-score", "0.7", "--min-density", "0.2", "--n-neighbors", "10")
    return ("--data", "rows.csv", "--model", "income_model:score", *wanted)


def test_a_remedy_that_opens_nothing_is_not_offered(browser: Any, ward: str) -> None:
    assert posted(ward, "recourse", {"id": 165, "min_score": 0.9, "relax": True})["view"][
        "status"
    ] not in ("FOUND", "ALREADY_THERE")
    with opened(browser, f"{ward}#id=165&score=0.9") as watched:
        page = watched.page
        settled(page)
        page.get_by_text("were tried: they open no way").wait_for()
        assert page.locator("[data-key='relax'], [data-key^='open-']").count() == 0


def test_a_floor_that_is_not_kept_is_said_at_the_slider_and_on_the_cards(
    browser: Any, ward: str
) -> None:
    """Someone who stands below the floor is held to where they stand, not to the floor."""
    view = posted(ward, "recourse", {"id": 817, "min_density": 0.3})["view"]
    assert view["density"]["kept"] < 0.3
    assert any(one["below_floor"] for one in view["actions"])
    with opened(browser, f"{ward}#id=817&floor=0.3") as watched:
        page = watched.page
        settled(page)
        assert view["density"]["kept_text"] in page.locator("#floor-note").inner_text()
        assert view["density"]["kept_text"] in page.locator(".floor-kept").inner_text()
        for card, action in zip(page.locator(".card").all(), view["actions"], strict=True):
            assert ("Below the floor" in card.inner_text()) == action["below_floor"]


def test_the_path_shows_every_feature_that_differs(browser: Any, ward: str) -> None:
    view = posted(ward, "recourse", {"id": 817})["view"]
    first, *others = (one["record"] for one in view["path"])
    differ = {name for name in first if any(one[name] != first[name] for one in others)}
    assert len(differ) > len(view["moved"]), "there is something to leave out"
    with opened(browser, f"{ward}#id=817") as watched:
        page = watched.page
        settled(page)
        page.get_by_role("button", name="Path through people").click()
        assert page.locator(".steps tbody tr").count() == 1 + len(differ)
        assert f"All {len(differ)} features that differ are shown" in page.inner_text(".steps")


def test_the_list_opens_on_people_just_below_and_takes_what_people_write(
    browser: Any, ward: str
) -> None:
    with opened(browser, ward) as watched:
        page = watched.page
        page.wait_for_selector(".person")
        scores = [float(one) for one in page.locator(".person .value").all_inner_texts()]
        assert max(scores) < 0.5
        assert min(scores) > 0.45

        page.fill("#people-search", "heart rate > 120, tube and score 0.1 to 0.5")
        page.wait_for_selector("text=score between 0.1 and 0.5")
        words = page.locator(".count-line").inner_text()
        assert "lowest heart rate or highest heart rate above 120" in words
        assert "airway tube" in words
        assert page.locator(".person").count() > 0

        page.fill("#people-search", "lactate > 3")
        page.wait_for_selector("text=nothing here is called 'lactate'")
        assert page.locator(".person").count() == 0
        watched.errors.clear()  # the browser itself notes a 422


def test_a_question_mark_explains_a_figure_and_goes_away_again(bench: Watched) -> None:
    page = bench.page
    mark = page.get_by_label("What does “how usual” mean?")
    mark.click()
    assert "whose combination is rarer" in page.locator(".help-text").inner_text()
    page.keyboard.press("Escape")
    assert page.locator(".help-text").count() == 0
    for one in page.locator(".decision .label, .closing p").all():
        assert one.locator(".help").count() == 1, one.inner_text()


def test_the_tour_is_offered_once_and_leads_through_the_page(browser: Any, ward: str) -> None:
    with opened(browser, ward) as watched:
        page = watched.page
        page.get_by_role("button", name="Show me around").click()
        places = 0
        while page.locator(".tour").count():
            assert page.locator(".lit").count() == 1
            page.locator(".tour .main-button").click()
            places += 1
        assert places >= 3
        page.reload()
        page.wait_for_selector("html[data-ready]")
        assert page.locator(".invitation").count() == 0


# alternatives and wishes


def test_alternatives_stand_side_by_side_and_each_can_be_shown(
    bench: Watched, ward: str, patient: int
) -> None:
    page = bench.page
    page.locator("#tab-ways").click()
    page.wait_for_selector("#panel-ways .use button")
    judge = posted(ward, "recourse", {"id": patient, "n_paths": 3})
    ways = [judge["view"], *judge["alternatives"]]
    assert page.locator("#panel-ways thead th").count() == 2 + len(ways)
    together = page.locator(".together").inner_text()
    assert together.lower().count("change") + together.count("begin with the same") > 0
    assert together.lower().count("all change") + together.count("All of them change") <= 1

    page.locator("#panel-ways .use button").last.click()

    last = ways[-1]["actions"]
    assert page.locator("#panel-way").is_visible()
    assert changed_on(page) == [one["feature"] for action in last for one in action["changes"]]


def test_an_impossible_wish_is_refused_with_its_reason(
    browser: Any, ward: str, patient: int
) -> None:
    limits = json.dumps({"pain": {"bounds": [0, 3]}})
    with opened(browser, f"{ward}#id={patient}&limits={limits}") as watched:
        page = watched.page
        settled(page)
        page.locator("#tab-whynot").click()
        drag(page, "#panel-whynot [data-feature='pain'] input[type=range]", 9)
        page.wait_for_selector(".verdict-line.no")
        words = page.locator(".check").inner_text()
        assert "Refused" in words
        assert "'pain score between 0 and 3'" in words, "only the limit that counts is said"
        assert "The least that would open it" in words


def test_a_wish_that_only_does_not_reach_the_score_is_called_not_enough(bench: Watched) -> None:
    page = bench.page
    page.locator("#tab-whynot").click()
    drag(page, "#panel-whynot [data-feature='pain'] input[type=range]", 4)
    page.wait_for_selector(".verdict-line.no")
    words = page.locator(".check").inner_text()
    assert "Not enough" in words
    assert "; wanted: " in words
    assert "The least" not in words, "a lower score would do: nobody needs to be told"


def test_what_is_the_patients_own_can_be_neither_limited_nor_wished_for(bench: Watched) -> None:
    page = bench.page
    told = {
        "age": "Never changes",
        "sex": "Never changes",
        "body mass index": "Never changes",
        "length of stay": "Grows by itself",
    }
    rows = {one.split("\n")[0]: one for one in page.locator(".limit.fixed").all_inner_texts()}
    assert set(rows) == set(told)
    assert all(words in rows[name] for name, words in told.items())
    page.locator("#tab-whynot").click()
    for name in ("age", "sex", "bmi", "los"):
        assert page.locator(f"#panel-whynot [data-feature='{name}']").count() == 0
    assert page.locator("#panel-whynot [data-feature='pain']").count() == 1


def test_a_wish_that_the_way_itself_makes_is_not_refused(
    bench: Watched, ward: str, patient: int
) -> None:
    page = bench.page
    view = posted(ward, "recourse", {"id": patient})["view"]
    wish = {name: view["states"][-1]["record"][name] for name in view["moved"]}
    assert posted(ward, "check", {"id": patient, "wish": wish})["reachable"]
    schema = {one["name"]: one for one in fetched(ward, "schema")["features"]}
    page.locator("#tab-whynot").click()
    for name, value in wish.items():
        row = f"#panel-whynot [data-feature='{name}']"
        categories = schema[name]["categories"]
        if categories:
            page.locator(f"{row} select").select_option(str(categories.index(value)))
        else:
            drag(page, f"{row} input[type=range]", value)
    page.wait_for_selector(".verdict-line.yes")


def test_a_wish_is_one_persons_and_nobody_elses(bench: Watched, ward: str, patient: int) -> None:
    page = bench.page
    page.locator("#tab-whynot").click()
    drag(page, "#panel-whynot [data-feature='pain'] input[type=range]", 9)
    page.wait_for_selector(".verdict-line")
    asked = len(bench.requests)

    other = next(
        one["id"]
        for one in fetched(ward, "people?sort=borderline&limit=9")["people"]
        if one["id"] != patient
    )
    page.locator(f".person[data-id='{other}']").click()
    page.wait_for_function(
        "id => document.querySelector('#who').textContent === `Person ${id}`", arg=other
    )
    settled(page)

    assert not [one for one in bench.requests[asked:] if one.endswith("/check")]
    assert "Nothing is changed yet" in page.locator(".check").text_content()
    assert page.locator("#panel-whynot .limit.moves").count() == 0


def test_a_value_that_is_tried_has_its_score_at_once(
    bench: Watched, ward: str, patient: int
) -> None:
    page = bench.page
    view = posted(ward, "recourse", {"id": patient})["view"]
    numeric = [one["name"] for one in view["features"] if one["categories"] is None]
    first = next(one for one in changed_on(page) if one in numeric)
    value = view["states"][-1]["record"][first]
    page.locator("#tab-whynot").click()
    page.route("**/check", lambda route: None)  # whether a way leads there is never said
    typed = page.locator(f"#panel-whynot [data-feature='{first}'] .typed")
    typed.fill(str(value))
    typed.press("Enter")
    page.wait_for_selector(".what-if .figure.end")
    (judge,) = posted(ward, "scores", {"id": patient, "changes": [{first: value}]})["scores"]
    assert page.locator(".what-if .end").inner_text() == judge["score_text"]


# the decision, explained


def test_what_speaks_for_and_against_is_shown_with_the_whole_record(
    bench: Watched, ward: str, patient: int
) -> None:
    page = bench.page
    found = posted(ward, "effects", {"id": patient})
    page.wait_for_selector(".today .sides")
    against = sorted(found["features"], key=lambda one: one["effect"])
    worst = [one["text"] for one in against if one["effect"] < -0.005][:3]
    shown = page.locator(".side-of").first.locator(".name").all_inner_texts()
    assert shown == worst
    page.locator(".whole-record summary").click()
    assert page.locator(".value-cell").count() == len(found["features"])
    assert page.locator(".value-cell svg[aria-label]").count() == len(found["features"])
    tallest = (
        "all => all.map(one => Math.max(...[...one.querySelectorAll('.people')]"
        ".map(bar => bar.getBoundingClientRect().height)))"
    )
    heights = page.locator(".value-cell svg").evaluate_all(tallest)
    assert min(heights) > 15, "where comparable people are is to be seen"


def test_what_is_hard_to_change_is_planned_around(bench: Watched, ward: str, patient: int) -> None:
    page = bench.page
    first = changed_on(page)[0]
    effort = page.locator(f"#constraints [data-feature='{first}'] .effort")
    effort.select_option("hard")
    settled(page)
    assert "is hard to change" in page.locator("#force").inner_text()
    judge = posted(ward, "recourse", {"id": patient, "weights": {first: 3}})["view"]
    assert page.locator(".numbers .end").inner_text() == judge["score"]["end_text"]
    assert page.locator(".card").count() == len(judge["actions"])
    effort.select_option("never")
    settled(page)
    assert first not in changed_on(page)
    page.wait_for_url(re.compile("forbidden="))


def test_a_limit_can_be_typed(bench: Watched) -> None:
    page = bench.page
    row = page.locator("#constraints [data-feature='hr_max']")
    row.locator(".typed").last.fill("120")
    row.locator(".typed").last.press("Enter")
    settled(page)
    assert "highest heart rate at most 120 /min" in page.locator("#force").inner_text()
    assert row.locator("input.high").input_value() == "120"


# entering a record


def record_of(ward: str, patient: int) -> dict[str, Any]:
    return dict(fetched(ward, f"people/{patient}")["record"])


def pasted_forms(record: dict[str, Any]) -> dict[str, str]:
    """One record in the four forms that people have it in."""
    lines = [f"{name}: {value}" for name, value in record.items()]
    rows = {
        by: "\n".join(by.join(map(str, line)) for line in (record, record.values()))
        for by in (",", "\t")
    }
    return {
        "JSON": json.dumps(record),
        "CSV": rows[","],
        "tabs": rows["\t"],
        "lines": "\n".join(lines),
    }


def test_a_record_can_be_pasted_in_four_forms(browser: Any, ward: str, patient: int) -> None:
    record = record_of(ward, patient)
    view = posted(ward, "recourse", {"person": record})["view"]
    with opened(browser, ward) as watched:
        page = watched.page
        page.locator("#tab-entry").click()
        for form, text in pasted_forms(record).items():
            page.get_by_role("button", name="Clear").click()
            assert "still to enter" in page.locator("#entry-summary").inner_text()
            with page.expect_request("**/recourse") as asked:
                page.fill("#paste", text)
            assert asked.value.post_data_json["person"] == record, form
        settled(page)
        assert page.locator("#entry-summary").inner_text() == "Complete"
        assert page.locator(".card").count() == len(view["actions"])
        assert page.locator(".numbers .now").inner_text() == view["score"]["now_text"]


DOUBTFUL = {"x0": 25.0, "x1": -0.5}
VERDICTS = ".decision, .card, .headline, .steps"  # what says something about the person


def asked_about(page: Any, record: dict[str, Any]) -> None:
    """Paste a record and wait until the page asks whether it is right."""
    page.locator("#tab-entry").click()
    page.fill("#paste", json.dumps(record))
    page.wait_for_selector(".confirm")
    page.wait_for_selector("#updating", state="hidden")


def test_a_doubtful_value_is_asked_about_before_anything_is_said(browser: Any, moons: str) -> None:
    (caution,) = posted(moons, "recourse", {"person": DOUBTFUL})["cautions"]
    with opened(browser, moons) as watched:
        page = watched.page
        asked_about(page, DOUBTFUL)

        assert f"{caution[0].upper()}{caution[1:]}" in page.locator(".confirm").inner_text()
        assert page.locator(VERDICTS).count() == 0
        assert not page.locator("#map").is_visible()
        assert not page.locator("#answer-tabs").is_visible()
        assert page.locator("#print").is_disabled()
        assert page.locator("#json").is_disabled()
        page.wait_for_function(
            "words => document.querySelector('#live').textContent.includes(words)", arg=caution[1:]
        )

        page.get_by_role("button", name="It is right, go on").click()
        settled(page)
        assert page.locator(".confirm").count() == 0
        assert page.evaluate("document.activeElement.id") == "answer"
        assert caution[1:] in page.locator("#cautions .notice").inner_text()
        upper = page.locator("#cautions").bounding_box()["y"]
        assert upper < page.locator("#decision").bounding_box()["y"]
        assert not watched.errors


def test_what_is_confirmed_stays_so_until_the_record_changes(browser: Any, moons: str) -> None:
    with opened(browser, moons) as watched:
        page = watched.page
        asked_about(page, DOUBTFUL)
        page.locator("[data-key='confirm']").click()
        settled(page)

        drag(page, "#goal", 0.6)
        settled(page)
        assert page.locator(".confirm").count() == 0, "the same record with another target"

        asked_about(page, {**DOUBTFUL, "x1": -0.4})
        assert page.locator(VERDICTS).count() == 0

        page.fill("#paste", json.dumps({**DOUBTFUL, "x0": 1.0}))
        settled(page)
        assert page.locator(".confirm, #cautions .notice").count() == 0
        assert page.locator("#map").is_visible()
        assert not watched.errors


def test_correcting_leads_to_the_field_and_the_suggestion_is_one_press(
    browser: Any, moons: str
) -> None:
    fragment = f"#record={json.dumps(DOUBTFUL)}"  # whoever follows a link is asked as well
    with opened(browser, moons + fragment, width=390) as watched:
        page = watched.page
        page.wait_for_selector(".confirm")
        page.locator("[data-key='correct-x0']").click()
        assert page.evaluate("document.activeElement.id") == "entry-x0"
        assert page.locator("#entry-x0").is_visible()
        assert page.locator(VERDICTS).count() == 0

        page.locator("[data-key='take-x0']").click()
        settled(page)
        assert page.locator(".confirm").count() == 0
        assert page.locator("#entry-x0").input_value() == "0.25"
        judge = posted(moons, "recourse", {"person": {**DOUBTFUL, "x0": 0.25}})["view"]
        assert page.locator(".numbers .now").inner_text() == judge["score"]["now_text"]
        assert not watched.errors


def test_a_refused_slip_of_the_unit_is_mended_with_one_press(
    browser: Any, ward: str, patient: int
) -> None:
    record = record_of(ward, patient) | {"fio2": 50}
    with opened(browser, f"{ward}#record={json.dumps(record)}") as watched:
        page = watched.page
        page.wait_for_selector("#refusal:not([hidden])")
        assert page.locator(VERDICTS).count() == 0
        page.locator("#refusal [data-key='correct-fio2']").click()
        assert page.evaluate("document.activeElement.id") == "entry-fio2"

        page.locator("#refusal [data-key='take-fio2']").click()
        settled(page)
        assert page.locator("#entry-fio2").input_value() == "0.5"
        assert not page.locator("#refusal").is_visible()
        judge = posted(ward, "recourse", {"person": {**record, "fio2": 0.5}})["view"]
        assert page.locator(".numbers .now").inner_text() == judge["score"]["now_text"]


def test_several_doubtful_values_are_asked_about_at_once(
    browser: Any, ward: str, patient: int
) -> None:
    record = record_of(ward, patient) | {"k": 41, "na": 1400}
    with opened(browser, f"{ward}#record={json.dumps(record)}") as watched:
        page = watched.page
        page.wait_for_selector(".confirm")
        assert page.locator(".confirm li").count() == 2
        page.locator("[data-key='take-k']").click()
        page.wait_for_function("() => document.querySelectorAll('.confirm li').length === 1")
        page.locator("[data-key='take-na']").click()
        settled(page)
        assert page.locator("#entry-k").input_value() == "4.1"
        assert page.locator("#entry-na").input_value() == "140"
        assert not watched.errors


def n_asked(bench: Watched) -> int:
    """How often the page has asked for an answer or a score."""
    return sum(url.endswith(("/recourse", "/scores", "/effects")) for url in bench.requests)


def test_a_field_says_what_is_wrong_while_one_types(bench: Watched) -> None:
    page = bench.page
    page.locator("#edit").click()
    asked = n_asked(bench)
    for text, words in {"abc": "no number", "": "", "0.4": ""}.items():
        page.fill("#entry-fio2", text)
        assert words in page.locator("#entry-fio2-message").inner_text()
        assert (page.get_attribute("#entry-fio2", "aria-invalid") == "true") == bool(words)
        if text != "0.4":
            assert n_asked(bench) == asked, "what cannot be read is not asked about"
    page.fill("#entry-pain", "1.5")
    assert "whole number" in page.locator("#entry-pain-message").inner_text()


def test_what_the_service_refuses_stands_beside_its_field_in_its_own_words(
    browser: Any, ward: str, patient: int
) -> None:
    record = record_of(ward, patient) | {"pain": 3.5}
    with opened(browser, f"{ward}#record={json.dumps(record)}") as watched:
        watched.page.wait_for_selector("#refusal:not([hidden])")
        assert "whole number" in watched.page.locator("#refusal").inner_text()
        assert "whole number" in watched.page.locator("#entry-pain-message").text_content()


def test_an_answer_never_stands_under_the_name_of_someone_whom_the_service_refuses(
    bench: Watched,
) -> None:
    page = bench.page
    page.evaluate("location.hash = 'id=999999'")
    page.wait_for_selector("#refusal:not([hidden])")
    assert "there is no person 999999" in page.locator("#refusal").inner_text()
    assert page.locator("#who").inner_text() == "Person 999999"
    assert page.locator(".card, .decision").count() == 0
    assert page.locator("#print").is_disabled()
    bench.errors.clear()  # the browser itself notes a 404


# taking it along


def test_the_report_prints_to_one_pdf_with_all_actions(
    bench: Watched, ward: str, patient: int
) -> None:
    page = bench.page
    view = posted(ward, "recourse", {"id": patient})["view"]
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator(".card").count() == len(view["actions"])
    assert all(one.is_visible() for one in page.locator(".card").all())
    assert not page.locator("#people").is_visible()
    assert "not advice" in page.locator("#report-head").inner_text()
    made = page.pdf(prefer_css_page_size=True, print_background=True)

    assert made.startswith(b"%PDF")
    pypdf = pytest.importorskip("pypdf", reason="the text of the PDF is read with pypdf")
    pages = pypdf.PdfReader(BytesIO(made)).pages
    text = " ".join(" ".join(one.extract_text() for one in pages).split())
    features = {
        one["name"]: one["text"] or one["name"] for one in fetched(ward, "schema")["features"]
    }
    assert len(pages) == 1
    for change in (one for action in view["actions"] for one in action["changes"]):
        assert features[change["feature"]] in text
        assert change["after_text"] in text
    assert f"person {patient}" in text
    unnamed = [one for one in features.values() if one not in text]
    assert not unnamed, "the whole record is printed"


def test_the_json_that_is_saved_is_a_recourse(bench: Watched, tmp_path: Path) -> None:
    with bench.page.expect_download() as download:
        bench.page.locator("#json").click()
    download.value.save_as(tmp_path / "answer.json")
    answer = Recourse.from_json((tmp_path / "answer.json").read_text(encoding="utf-8"))
    assert answer.found
    assert len(answer.actions) == bench.page.locator(".card").count()


def test_the_link_restores_person_limits_target_and_floor(bench: Watched, browser: Any) -> None:
    page = bench.page
    first = changed_on(page)[0]
    page.locator(f"#constraints [data-feature='{first}']").get_by_text("pin", exact=True).click()
    drag(page, "#goal", 0.7)
    drag(page, "#floor", 0.03)
    settled(page)
    page.wait_for_url(re.compile("floor=0.03"))

    with opened(browser, page.url) as again:
        settled(again.page)
        assert actions_on(again.page) == actions_on(page)
        assert again.page.locator("#who").inner_text() == page.locator("#who").inner_text()
        assert again.page.locator("#goal").input_value() == "0.7"
        assert again.page.locator("#floor").input_value() == "0.03"
        assert again.page.locator("#force").inner_text() == page.locator("#force").inner_text()


def test_what_makes_no_sense_in_a_link_is_left_out(browser: Any, ward: str, patient: int) -> None:
    nonsense = {"bounds": 7, "categories": "x", "pinned": "yes"}
    odd = json.dumps({"age": nonsense, "pain": [1], "nothing": {"pinned": True}})
    with opened(
        browser, f"{ward}#id={patient}&limits={odd}&forbidden=3&score=x&wish=[]"
    ) as watched:
        settled(watched.page)
        assert watched.page.locator("#force").is_hidden()
        assert watched.page.locator(".card").count() > 0
        assert not watched.errors


def test_the_json_of_another_way_is_that_ways(bench: Watched, tmp_path: Path) -> None:
    page = bench.page
    page.locator("#tab-ways").click()
    page.wait_for_selector("#panel-ways .use button")
    page.locator("#panel-ways .use button").last.click()
    with page.expect_download() as download:
        page.locator("#json").click()
    download.value.save_as(tmp_path / "way.json")
    answer = Recourse.from_json((tmp_path / "way.json").read_text(encoding="utf-8"))
    assert changed_on(page) == [name for action in answer.actions for name in action.changes]


def test_a_plan_is_saved_with_its_notes_and_opened_again(
    bench: Watched, browser: Any, ward: str, tmp_path: Path
) -> None:
    page = bench.page
    page.locator(f"#constraints [data-feature='{changed_on(page)[0]}'] .effort").select_option(
        "hard"
    )
    settled(page)
    cards = actions_on(page)
    page.locator("#tab-takeaway").click()
    page.fill("#notes", "agreed on Monday")
    with page.expect_download() as download:
        page.locator("#save-plan").click()
    download.value.save_as(tmp_path / "plan.json")

    with opened(browser, ward) as again:
        other = again.page
        other.evaluate("location.hash = 'id=817'")
        settled(other)
        other.set_input_files("#plan-file", str(tmp_path / "plan.json"))
        other.wait_for_function(
            "who => document.querySelector('#who').textContent === who",
            arg=page.locator("#who").inner_text(),
        )
        settled(other)
        assert actions_on(other) == cards
        assert other.locator("#notes").input_value() == "agreed on Monday"
        assert "it is the same today" in other.locator("#panel-takeaway").text_content()


def test_a_letter_has_no_figure_that_is_not_in_the_answer(
    bench: Watched, ward: str, patient: int
) -> None:
    page = bench.page
    page.locator("#tab-takeaway").click()
    view = json.dumps(posted(ward, "recourse", {"id": patient})["view"])
    page.fill("#letter-template", "{name} {decision} {score} {wanted} {end} {actions} {note} {no}")
    letter = page.locator("#letter").input_value()
    assert "{no}" in letter, "what is no name of the template is left as it is"
    numbers = set(re.findall(r"\d+(?:\.\d+)?", letter))
    assert numbers <= {*re.findall(r"\d+(?:\.\d+)?", view), str(patient)}
    assert len(numbers) > 4


def test_several_people_are_pasted_as_a_table_and_stand_side_by_side(
    browser: Any, ward: str, tmp_path: Path
) -> None:
    ids = [one["id"] for one in fetched(ward, "people?sort=borderline&limit=2")["people"]]
    records = [record_of(ward, one) for one in ids]
    broken = {**records[0], "fio2": "much"}
    labels = [one["text"] for one in fetched(ward, "schema")["features"]]
    lines = [labels, *(list(one.values()) for one in (*records, broken))]
    with opened(browser, ward) as watched:
        page = watched.page
        page.locator("#tab-entry").click()
        page.fill("#paste", "\n".join("\t".join(map(str, line)) for line in lines))
        assert "2 of 3 rows read" in page.locator("#paste-note").inner_text()
        assert "row 3: inspired oxygen" in page.locator("#paste-note").inner_text()
        page.wait_for_function("() => !document.body.innerText.includes('being worked out')")
        rows = page.locator("#several tbody tr")
        for row, record in zip(rows.all(), records, strict=True):
            view = posted(ward, "recourse", {"person": record})["view"]
            assert view["score"]["now_text"] in row.inner_text()
            assert view["actions"][0]["changes"][0]["words"][1:] in row.inner_text()
        with page.expect_download() as download:
            page.locator("#several-save").click()
        download.value.save_as(tmp_path / "people.csv")
        assert len((tmp_path / "people.csv").read_text(encoding="utf-8").splitlines()) == 3
        rows.last.get_by_role("button", name="Open").click()
        settled(page)
        assert page.locator(".numbers .now").inner_text() == view["score"]["now_text"]
        assert not watched.errors


# in order


def test_a_late_answer_never_replaces_a_newer_one(browser: Any, ward: str, patient: int) -> None:
    others = [one["id"] for one in fetched(ward, "people?sort=-score&limit=5")["people"]]
    with opened(browser, ward) as watched:
        page = watched.page
        held: list[Any] = []

        def hold(route: Any) -> None:
            if len(held) < 2:
                held.append(route)
            else:
                route.continue_()

        page.route("**/recourse", hold)
        for one in (patient, others[0], others[1]):
            page.fill("#people-search", str(one))
            page.locator(f".person[data-id='{one}']").click()
        settled(page)
        shown = page.locator("#decision").inner_text()
        for route in held:
            route.continue_()
            route.request.response()  # until it came, or will not come
        redrawn(page)

        judge = posted(ward, "recourse", {"id": others[1]})["view"]
        assert len(held) == 2
        assert page.locator("#who").inner_text() == f"Person {others[1]}"
        assert page.locator("#decision").inner_text() == shown
        assert page.locator(".numbers .now").inner_text() == judge["score"]["now_text"]


# Counted where it is asked: the browser reports what is finished when it gets to it.
COUNT_ASKED = """() => {
  const ask = window.fetch;
  window.asked = { flying: 0, most: 0, goals: [] };
  window.fetch = async (url, options) => {
    const other = !String(url).endsWith("recourse") || JSON.parse(options.body).relax;
    if (other) return ask(url, options);
    let done = 0;
    const land = () => { window.asked.flying -= done ? 0 : 1; done = 1; };
    options.signal.addEventListener("abort", land);
    window.asked.flying += 1;
    window.asked.most = Math.max(window.asked.most, window.asked.flying);
    window.asked.goals.push(JSON.parse(options.body).min_score);
    try { return await ask(url, options); } finally { land(); }
  };
}"""


def test_while_dragging_one_question_is_in_flight_and_the_last_place_is_answered(
    bench: Watched,
) -> None:
    page = bench.page
    page.evaluate(COUNT_ASKED)
    for place in range(50, 81):
        drag(page, "#goal", place / 100)
    assert page.locator(".card").count() >= 0, "the answer before stays on the page"
    settled(page)

    assert page.evaluate("window.asked.most") == 1
    goals = page.evaluate("window.asked.goals")
    assert goals == sorted(goals)
    assert goals[-1] == 0.8
    assert "0.8" in page.locator(".decision .wanted-text").inner_text()


# for everyone


def tab_to(page: Any, selector: str, *, most: int = 250, key: str = "Tab") -> None:
    """Press Tab until something that fits has the focus."""
    for _ in range(most):
        page.keyboard.press(key)
        if page.evaluate(
            "selector => document.activeElement?.matches(selector) ?? false", selector
        ):
            return
    raise AssertionError(f"{key} never leads to {selector}")


def test_everything_can_be_done_with_the_keyboard_alone(
    browser: Any, ward: str, patient: int
) -> None:
    with opened(browser, ward) as watched:
        page = watched.page
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "answer"
        tab_to(page, "#tab-data", key="Shift+Tab")
        tab_to(page, "#people-search")
        page.keyboard.type(str(patient))
        page.wait_for_function(
            "id => document.querySelector('.person')?.dataset.id === String(id)", arg=patient
        )
        tab_to(page, ".person")
        page.keyboard.press("Enter")
        settled(page)
        before = page.locator(".numbers .end").inner_text()
        tab_to(page, "#tab-way")
        page.keyboard.press("ArrowRight")
        page.wait_for_selector("#panel-ways .use button")
        page.keyboard.press("ArrowLeft")
        tab_to(page, ".leave")
        page.keyboard.press("Enter")
        settled(page)
        assert page.locator("#force .lift").count() == 1
        tab_to(page, "#goal")
        for _ in range(5):
            page.keyboard.press("ArrowRight")
        settled(page)
        assert page.locator("#goal").input_value() == "0.55"
        assert page.locator(".numbers .end").all_inner_texts() != [before]
        tab_to(page, "#constraints .range input.low")
        page.keyboard.press("ArrowRight")
        settled(page)
        assert page.locator("#force .lift").count() == 2
        assert not watched.errors


def test_from_a_person_to_the_plan_is_a_matter_of_eight_tabs(browser: Any, ward: str) -> None:
    with opened(browser, ward) as watched:
        page = watched.page
        page.locator(".person").first.focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        settled(page)
        page.wait_for_selector(".today .sides")
        assert page.evaluate("document.activeElement.getAttribute('aria-current')") == "true"
        tab_to(page, "#tab-way", most=8)


def test_on_a_phone_limits_are_a_sheet_at_the_foot_that_covers_nothing_while_closed(
    browser: Any, ward: str, patient: int
) -> None:
    with opened(browser, f"{ward}#id={patient}", width=390, height=800) as watched:
        page = watched.page
        settled(page)
        assert page.locator("#constraints").bounding_box()["height"] < 80
        page.locator("#constraints-title").click()
        page.wait_for_selector("#goal", state="visible")
        drag(page, "#goal", 0.6)
        settled(page)
        assert page.locator("#constraints").bounding_box()["height"] < 0.75 * 800
        assert "0.6" in page.locator(".decision .wanted-text").inner_text()


def test_a_new_answer_is_announced_to_those_who_do_not_see_it(bench: Watched) -> None:
    page = bench.page
    page.wait_for_function("() => document.querySelector('#live').textContent.includes('action')")
    before = page.locator("#live").text_content()
    drag(page, "#goal", 0.99)
    page.wait_for_function(
        "before => document.querySelector('#live').textContent !== before", arg=before
    )


def held_against(axe: Any, page: Any) -> list[tuple[str, list[str]]]:
    """What axe holds against the page, however light, and where."""
    found = axe.Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [(one["id"], [node["html"] for node in one["nodes"]][:3]) for one in found]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_axe_finds_nothing(browser: Any, ward: str, patient: int, width: int, scheme: str) -> None:
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="accessibility is checked with axe"
    )
    with opened(browser, f"{ward}#id={patient}", width=width, color_scheme=scheme) as watched:
        page = watched.page
        settled(page)
        page.wait_for_selector(".today summary")
        assert not held_against(axe, page)
        if (width, scheme) in ((390, "dark"), (1280, "light")):
            page.locator("#tab-ways").click()
            page.wait_for_selector("#panel-ways .use button")
            assert not held_against(axe, page)
            page.locator("#tab-whynot").click()
            assert not held_against(axe, page)
            page.locator("#tab-way").click()
        page.locator("#keep").click()
        page.wait_for_selector("#several tbody tr")
        page.locator("#promise").click()
        page.wait_for_selector("#promised:has-text('Promised')")
        page.locator("#edit").click()
        assert page.locator("#panel-entry fieldset").count() > 1, "the form is grouped"
        assert not held_against(axe, page)


def test_nothing_sticks_out_sideways_from_390_to_1920_pixels(bench: Watched) -> None:
    page = bench.page
    for width in (390, 768, 1024, 1280, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        for tab in ("#tab-whynot", "#tab-ways", "#tab-way"):
            page.locator(tab).click()
            page.wait_for_function(
                "width => document.documentElement.scrollWidth <= width", arg=width
            )


# nothing is run, nobody else is asked


def test_script_in_what_is_typed_pasted_or_linked_is_shown_as_text(
    browser: Any, ward: str, patient: int
) -> None:
    record = record_of(ward, patient) | {"fio2": EVIL}
    with opened(browser, f"{ward}#record={json.dumps(record)}") as watched:
        page = watched.page
        page.wait_for_selector("#refusal:not([hidden])")
        assert "onerror" in page.locator("#refusal").inner_text()
        page.locator("#tab-entry").click()
        page.fill("#paste", json.dumps({EVIL: 1, "age": EVIL}))
        assert EVIL in page.locator("#paste-note").inner_text()
        assert EVIL in page.locator("#entry-age-message").inner_text()
        assert page.locator("img").count() == 0
        assert page.evaluate("window.hacked") is None


def test_script_in_the_data_is_shown_as_text(browser: Any, tmp_path: Path) -> None:
    rows = [f"{i % 40},{'plain' if i % 3 else EVIL}" for i in range(400)]
    (tmp_path / "rows.csv").write_text(
        "\n".join([f"income,{EVIL}", *rows]) + "\n", encoding="utf-8"
    )
    model = "def score(table):\n    return [min(1.0, value / 40) for value in table['income']]\n"
    (tmp_path / "evil_model.py").write_text(model, encoding="utf-8")
    arguments = (
        "--data",
        "rows.csv",
        "--model",
        "evil_model:score",
        "--title",
        EVIL,
        "--min-score",
        "0.6",
    )
    with serving(*arguments, folder=tmp_path) as url, opened(browser, url) as watched:
        page = watched.page
        assert page.locator("#title").inner_text() == EVIL
        page.locator(".person").first.click()
        settled(page)
        page.locator("#tab-whynot").click()
        assert EVIL in page.locator("#panel-whynot").inner_text()
        assert page.locator("main img, aside img, header img, section img").count() == 0
        assert page.evaluate("window.hacked") is None


def test_no_module_puts_markup_together_from_text() -> None:
    for path in STATIC.glob("*.js"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text
        ), path
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text), path


# on a plane


def test_two_features_get_a_map_on_which_the_three_stages_are_played(
    browser: Any, moons: str
) -> None:
    one = next(
        one["id"]
        for one in fetched(moons, "people?sort=score&limit=100")["people"]
        if posted(moons, "recourse", {"id": one["id"]})["view"]["status"] == "FOUND"
    )
    with opened(browser, f"{moons}#id={one}", reduced_motion="reduce") as watched:
        page = watched.page
        settled(page)
        page.wait_for_selector(".seen", state="attached")
        seen = page.locator(".seen.explore").count()
        assert page.locator(".fine").get_attribute("points")
        back, on = page.get_by_label("One stage back"), page.get_by_label("One stage on")
        for words in ("Exploit", "Explore"):
            back.click()
            assert page.locator(".stage-label").inner_text().startswith(words)
        assert not page.locator(".fine").get_attribute("points")
        back.click()
        assert page.locator(".seen[visibility='visible']").count() == 0
        page.get_by_role("button", name="Play").click()
        assert page.locator(".seen[visibility='visible']").count() == seen, (
            "without motion, a stage at a time"
        )
        on.click()
        on.click()
        assert page.locator(".fine").get_attribute("points")
        assert not watched.errors


def test_a_place_on_the_map_can_be_asked_about(browser: Any, moons: str) -> None:
    with opened(browser, moons) as watched:
        page = watched.page
        page.locator(".map-stack svg").click(position={"x": 60, "y": 120})
        settled(page)
        assert page.locator("#who").inner_text() == "The record entered"
        assert not watched.errors


# in a notebook


def test_the_view_draws_itself_when_its_files_are_put_into_one(
    browser: Any, ward: str, patient: int
) -> None:
    view = posted(ward, "recourse", {"id": patient})["view"]
    files = [
        (STATIC / name).read_text(encoding="utf-8")
        for name in ("dom.js", "figure.js", "help.js", "table.js", "cards.js", "view.js")
    ]
    source = "\n".join(
        line for text in files for line in text.splitlines() if not line.startswith("import ")
    )
    page = browser.new_page()
    try:
        page.set_content("<div id='cell'></div>")
        page.evaluate(
            """async ([source, view]) => {
                const blob = new Blob([source], {type: "text/javascript"});
                const module = await import(URL.createObjectURL(blob));
                module.render(view, document.getElementById("cell"));
            }""",
            [source, view],
        )
        assert page.locator("#cell .card").count() == len(view["actions"])
        assert page.locator("#cell table").count() == 1
        assert page.locator("#cell .panel").count() > 1
    finally:
        page.close()
