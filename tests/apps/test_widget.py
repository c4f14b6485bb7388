"""The page's own view as a widget."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

from localface import LocalFACE, Search
from localface.apps.web.bundle import bundle_module
from localface.apps.web.views.view import answer_view
from localface.apps.web.widget import RecourseWidget
from localface.cases.moons import two_moons

MOONS = two_moons(300)
ANSWER = LocalFACE(MOONS.model, MOONS.data, search=Search(n_neighbors=15)).explain(MOONS.person)


def test_what_is_said_of_a_step_in_short_is_no_more_than_its_certificate_says() -> None:
    def on_the_way(**changes: Any) -> Any:
        action = ANSWER.actions[0]
        certificate = replace(action.certificate, **changes)
        one = replace(ANSWER, actions=(replace(action, certificate=certificate),))
        return answer_view(one)["actions"][0]["on_the_way"]

    assert on_the_way(lowest=0.1) == "on the way always more than 10 %"
    same = ANSWER.actions[0].density
    assert on_the_way(lowest=same) == "and always on the way"
    assert on_the_way(lowest=0.1, certified=False).endswith("(sampled, not proven)")
    assert on_the_way(lowest=0.1, rule="average").startswith("this step passes on average through")
    assert on_the_way(lowest=0.0, floor=0.0) is None, "0 % of people's says nothing"
    assert on_the_way(lowest=0.01, floor=0.05) is None, "a notice says so"
    assert on_the_way(lowest=0.01, entry=True) is None


def test_the_widget_holds_the_view_that_the_service_sends() -> None:
    widget = RecourseWidget.of(ANSWER)
    assert widget.view == answer_view(ANSWER)
    assert json.loads(json.dumps(widget.view, allow_nan=False)) == widget.view


def test_its_module_is_the_pages_own_imports_nothing_and_has_one_default_export() -> None:
    text = str(RecourseWidget.of(ANSWER)._esm)
    assert not re.search(r"^\s*import\b", text, re.MULTILINE)
    assert re.findall(r"^export \w+", text, re.MULTILINE) == ["export default"]
    assert re.search(r"^function render\(", text, re.MULTILINE)
    assert "http" not in re.sub(
        r"http://www\.w3\.org/\S+", "", text
    )  # an SVG's namespace is no request


def test_the_modules_that_are_put_together_share_no_name() -> None:
    names = re.findall(
        r"^(?:async )?(?:function\*?|const|let|class) (\w+)",
        bundle_module("view.js", "host.js"),
        re.MULTILINE,
    )
    assert sorted(set(names)) == sorted(names)
