"""The service: what it answers, what it refuses, and many clients at a time."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import numpy as np
import pandas as pd
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.parser import text_string_to_metric_families
from sklearn.linear_model import LogisticRegression

from localface import Feature, LocalFACE, Recourse, Schema, Search
from localface.analyses.alternatives import Alternatives
from localface.apps.web.app import openapi_document
from localface.apps.web.demos import column_values, make_demo_service, make_own_service
from localface.apps.web.http.guard import RequestLimits
from localface.apps.web.service import Service
from localface.apps.web.serving import Serving, make_serving
from localface.apps.web.views.people_list import PeopleList
from localface.cases.moons import two_moons
from localface.errors import InputError
from worlds import make_explainer

pytestmark = pytest.mark.slow

N = 400
RNG = np.random.default_rng(0)
ROWS = pd.DataFrame(
    {
        "age": RNG.integers(20, 80, N),
        "debt": RNG.normal(5.0, 2.0, N).round(1),
        "income": RNG.normal(30.0, 8.0, N).round(1),
        "ward": RNG.choice(["east", "west", "<b>north</b>"], N),
    }
)
SCHEMA = Schema(
    [
        Feature("age", kind="integer", moves="up", within=10),
        Feature("debt", unit="kEUR", resolution=0.1, bounds=(None, 12.0), reference=(None, 4.0)),
        Feature("income", unit="kEUR", resolution=0.1),
        Feature("ward", kind="categorical", categories=("east", "west", "<b>north</b>")),
    ]
)
PERSON = {"age": 40, "debt": 7.0, "income": 24.0, "ward": "east"}


def model(frame: pd.DataFrame) -> Any:
    """Scores by income less debt; raises on anyone of 13 in ``age``, and gives NaN at 14."""
    if (frame["age"] == 13).any():
        raise RuntimeError("no licence in /home/someone/secret.key")
    z = (frame["income"].to_numpy() - 30) / 8 - (frame["debt"].to_numpy() - 5) / 2
    return np.where(frame["age"] == 14, np.nan, 1 / (1 + np.exp(-z)))


def made(**options: Any) -> LocalFACE:
    return make_explainer(
        model, ROWS, schema=SCHEMA, **{"n_neighbors": 20, "min_score": 0.6, **options}
    ).prescore()


EXPLAINER = made()
TRUTH = (ROWS["income"] > 30).to_list()
SERVICE = Service(EXPLAINER, people=PeopleList.of(EXPLAINER, ROWS, truth=TRUTH), title="Loans")
LIGHT = replace(SERVICE, workers=0)  # searches in a thread, so that no process has to be started
REFUSED = [i for i in range(N) if model(ROWS[i : i + 1])[0] < 0.6]


@pytest.fixture(scope="module")
def served() -> Iterator[str]:
    with Serving(SERVICE).start() as running:
        yield running.url


@pytest.fixture(scope="module")
def client(served: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=served, timeout=30) as connected:
        yield connected


def asked(client: httpx.Client, path: str = "/recourse", **body: Any) -> httpx.Response:
    return client.post(path, json=body)


def refusal(answer: httpx.Response) -> tuple[int, str]:
    """The status and the sentence of an error, which has the one form that errors have."""
    error = answer.json()["error"]
    assert set(error) == {"type", "message", "feature", "suggestion"}
    assert not re.search(r"Traceback|/home/|/usr/|\.py", answer.text)
    return answer.status_code, error["message"]


# what it answers


def test_no_reply_waits_between_its_header_and_its_body() -> None:
    """Without it a browser's connection stands still for 40 ms in each reply."""
    with Serving(LIGHT) as running:
        assert running._socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0


def test_an_answer_is_the_one_that_the_library_gives(client: httpx.Client) -> None:
    reply = asked(client, person=PERSON, where={"age": "never"}).json()
    answer = EXPLAINER.explain(PERSON, where={"age": "never"})
    document = Recourse.from_json(json.dumps(reply["document"]))
    assert document.status is answer.status
    assert np.array_equal(document.records, answer.records)
    assert [dict(one.changes) for one in document.actions] == [
        dict(one.changes) for one in answer.actions
    ]
    view = reply["view"]
    assert [one["number"] for one in view["actions"]] == list(range(1, len(answer.actions) + 1))
    assert view["score"]["end_text"] == answer.target.format_score(answer.actions[-1].score)
    assert [one["density"] for one in view["actions"]] == [one.density for one in answer.actions]
    assert all("more usual than" in one["density_text"] for one in view["actions"])
    assert all("on the way" in one["on_the_way"] for one in view["actions"])
    assert view["person"] == PERSON
    assert view["disclosure"]["rows"] == answer.disclosure.rows


def test_what_if_gives_the_scores_that_the_model_gives(client: httpx.Client) -> None:
    changes = [{}, {"income": 60.0}, {"income": 60.0, "debt": 0.0}]
    reply = client.post("/scores", json={"person": PERSON, "changes": changes}).json()
    wanted = [float(EXPLAINER.explain({**PERSON, **one}).scores[0]) for one in changes]
    assert [one["score"] for one in reply["scores"]] == pytest.approx(wanted)
    refused = client.post("/scores", json={"person": PERSON, "changes": [{"incomes": 1}]})
    assert "did you mean 'income'" in refusal(refused)[1]


def test_the_effect_of_a_value_is_what_the_ordinary_one_would_take_away(
    client: httpx.Client,
) -> None:
    found = client.post("/effects", json={"person": PERSON}).json()
    assert [one["name"] for one in found["features"]] == list(PERSON)
    now = EXPLAINER.explain(PERSON).scores[0]
    for one in found["features"]:
        then = EXPLAINER.explain({**PERSON, one["name"]: one["ordinary"]}).scores[0]
        assert one["score"] == pytest.approx(then)
        assert one["effect"] == pytest.approx(now - then)
        assert one["value"] == PERSON[one["name"]]
        assert sum(one["bins"]) <= 1.001
        assert sum(one["bins"]) > 0.97


def test_a_request_may_ask_for_another_score_and_another_floor(client: httpx.Client) -> None:
    low, high = (
        asked(client, person=PERSON, min_score=score).json()["view"] for score in (0.4, 0.8)
    )
    assert low["score"]["wanted"] == 0.4
    assert high["score"]["end"] >= 0.8 > low["score"]["end"] or low["status"] == "ALREADY_THERE"
    floored = asked(client, person=PERSON, min_density=0.3).json()["view"]
    assert floored["density"]["floor"] == 0.3


def test_a_request_may_ask_for_a_range_and_others_are_not_touched_by_it(
    client: httpx.Client,
) -> None:
    ranged = asked(client, person=PERSON, target=[0.45, 0.55]).json()
    plain = asked(client, person=PERSON).json()
    assert 0.45 <= ranged["view"]["score"]["end"] <= 0.55
    assert plain["view"]["score"]["wanted"] == 0.6
    found = Recourse.from_json(json.dumps(ranged["document"]))
    assert np.array_equal(found.records, EXPLAINER.explain(PERSON, target=(0.45, 0.55)).records)


def test_a_request_may_ask_to_go_as_far_as_possible(client: httpx.Client) -> None:
    limits = {"income": 1, "debt": 0.5, "ward": "never", "age": "never"}
    reply = asked(client, person=PERSON, where=limits, best_effort=True).json()
    assert "as far as possible" in reply["cautions"][0]
    assert reply["view"]["score"]["end"] < 0.6


def test_several_ways_may_differ_by_their_values_alone(client: httpx.Client) -> None:
    reply = asked(client, person=PERSON, n_paths=4, differ="values").json()
    ways = Alternatives.from_json(json.dumps(reply["document"]))
    own = EXPLAINER.alternatives(PERSON, n=4, differ="values")
    assert [one.records.tolist() for one in ways] == [one.records.tolist() for one in own]
    plain = Alternatives.from_json(
        json.dumps(asked(client, person=PERSON, n_paths=4).json()["document"])
    )
    assert set(ways.changed) != set(plain.changed) or len(ways) != len(plain)


def test_several_ways_come_with_what_they_share(client: httpx.Client) -> None:
    reply = asked(client, person=PERSON, n_paths=2).json()
    ways = Alternatives.from_json(json.dumps(reply["document"]))
    assert len(reply["alternatives"]) == len(ways) - 1
    assert reply["together"]["shared"] == list(ways.shared)


def test_a_wish_is_refused_with_its_reason(client: httpx.Client) -> None:
    reply = asked(client, "/check", person=PERSON, wish={"debt": 1.0, "age": 30}).json()
    found = EXPLAINER.check(PERSON, {"debt": 1.0, "age": 30})
    assert not reply["reachable"]
    assert [one["text"] for one in reply["findings"]] == list(found.reasons)
    assert reply["least"] == found.relaxation.sentence  # type: ignore[union-attr]


def test_cautions_are_in_the_reply_in_the_view_and_in_the_document(client: httpx.Client) -> None:
    doubtful = {**PERSON, "income": 300.0}
    caution = (
        f"income 300 kEUR is higher than anybody's in the data (highest: {ROWS['income'].max()})"
    )

    reply = asked(client, person=doubtful).json()
    several = asked(client, person=doubtful, n_paths=2).json()
    checked = asked(client, "/check", person=doubtful, wish={"debt": 6.0}).json()

    assert reply["view"]["status"] == "ALREADY_THERE"
    assert reply["cautions"] == [f"{caution}: is it 30?"]
    assert reply["view"]["cautions"] == reply["document"]["cautions"] == reply["cautions"]
    assert several["cautions"] == several["document"]["cautions"] == reply["cautions"]
    assert checked["cautions"][0] == reply["cautions"][0]
    assert asked(client, person=PERSON).json()["cautions"] == []


def test_a_record_outside_the_schemas_bounds_is_refused(client: httpx.Client) -> None:
    status, message = refusal(asked(client, person={**PERSON, "debt": 70.0}))

    assert status == 422
    assert message.startswith("'debt' is 70 kEUR (is it 7?), and the schema's bounds are 12.0 kEUR")


def test_the_schema_tells_all_that_a_page_needs(client: httpx.Client) -> None:
    facts = client.get("/schema").json()
    by_name = {one["name"]: one for one in facts["features"]}
    assert (facts["title"], facts["rows"], facts["people"], facts["outcomes"], facts["plane"]) == (
        "Loans",
        N,
        True,
        True,
        False,
    )
    assert "not advice" in facts["note"]
    assert by_name["debt"]["reference"] == [None, 4.0]
    assert by_name["debt"]["reference_text"] == "at most 4 kEUR"
    assert by_name["age"]["low"] <= ROWS["age"].quantile(0.01)
    assert by_name["income"]["high"] >= ROWS["income"].quantile(0.99)
    assert by_name["ward"]["low"] is None


def test_people_are_listed_searched_and_sorted(client: httpx.Client) -> None:
    def listed(**query: Any) -> dict[str, Any]:
        answer = client.get("/people", params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()  # type: ignore[no-any-return]

    assert listed()["total"] == N
    scores = [one["score"] for one in listed(sort="-score", limit=500)["people"]]
    assert scores == sorted(scores, reverse=True)
    assert [one["id"] for one in listed(offset=10, limit=3)["people"]] == [10, 11, 12]
    assert [one["id"] for one in listed(search="person 399")["people"]] == [399]
    old = listed(search="age>70 west", limit=500)["people"]
    assert {one["id"] for one in old} == set(
        ROWS.index[(ROWS["age"] > 70) & (ROWS["ward"] == "west")]
    )
    missed = {one["id"] for one in listed(outcome="false negative", limit=500)["people"]}
    assert missed == {i for i in range(N) if TRUTH[i] and model(ROWS[i : i + 1])[0] < 0.5}
    assert client.get("/people/3").json()["record"] == ROWS.iloc[3].to_dict()


def test_someone_listed_can_be_asked_about_by_number(client: httpx.Client) -> None:
    by_number = asked(client, id=REFUSED[0]).json()["view"]
    assert by_number["person"] == ROWS.iloc[REFUSED[0]].to_dict()


def test_a_plane_has_a_map_and_tells_what_each_stage_saw() -> None:
    with (
        Serving(make_demo_service("moons", workers=0)).start() as running,
        httpx.Client(base_url=running.url, timeout=60) as moons,
    ):
        plane = moons.get("/map").json()
        reply = asked(moons, person={"x0": -0.95, "x1": 0.35}, stages=True).json()
        end = {"x0": 1.0, "x1": -0.4}
        to_end = asked(
            moons, person={"x0": -0.95, "x1": 0.35}, counterfactual=end, stages=True
        ).json()
    assert (plane["x"], plane["y"], len(plane["rows"])) == ("x0", "x1", 1000)
    assert np.shape(plane["grid"]["score"]) == (len(plane["grid"]["y"]), len(plane["grid"]["x"]))
    for axis in plane["straight"]:  # a page draws steps by these, as they bend
        assert (np.diff(axis["values"]) > 0).all()
        assert (np.diff(axis["at"]) > 0).all()
    path = [list(one["record"].values()) for one in reply["view"]["path"]]
    assert np.allclose(reply["stages"]["enhance"], path)
    n_seen = [len(reply["stages"][purpose]) for purpose in ("explore", "actions", "exploit")]
    assert n_seen[0] > 0
    assert n_seen[1] > 0
    assert sum(n_seen) == reply["view"]["disclosure"]["rows"]
    # On the way to a given end the stages take a search of their own, which is told as well.
    drawn = [row for one in ("explore", "actions", "exploit") for row in to_end["stages"][one]]
    assert len(drawn) <= to_end["view"]["disclosure"]["rows"]


def test_where_there_is_no_plane_there_is_no_map(client: httpx.Client) -> None:
    status, message = refusal(client.get("/map"))
    assert (status, "two numeric features" in message) == (404, True)


def test_a_plane_on_which_the_model_fails_has_no_map_and_is_served_all_the_same() -> None:
    def strict(frame: pd.DataFrame) -> Any:
        if (frame["debt"] > ROWS["debt"].max()).any():
            raise ValueError("nobody has a debt like that")
        return 1 / (1 + np.exp(frame["debt"].to_numpy() - 5))

    explainer = LocalFACE(strict, ROWS[["debt", "income"]], search=Search(n_neighbors=20))
    with make_serving(explainer).start() as running, httpx.Client(base_url=running.url) as plain:
        assert plain.get("/schema").json()["plane"] is False
        assert refusal(plain.get("/map"))[0] == 404


def test_the_list_of_people_can_be_switched_off() -> None:
    with (
        Serving(replace(LIGHT, people=None)).start() as running,
        httpx.Client(base_url=running.url) as closed,
    ):
        assert closed.get("/schema").json()["people"] is False
        for answer in (closed.get("/people"), closed.get("/people/1"), asked(closed, id=1)):
            assert refusal(answer)[0] == 404
        assert asked(closed, person=PERSON).status_code == 200


def count_of(client: httpx.Client, name: str, **labels: str) -> float:
    """What ``/metrics`` says of something, by Prometheus' own parser; 0 where nothing."""
    families = text_string_to_metric_families(client.get("/metrics").text)
    samples = (sample for family in families for sample in family.samples)
    return sum(
        (one.value for one in samples if one.name == f"localface_{name}" and one.labels == labels),
        0.0,
    )


def test_counts_are_told_in_the_form_that_prometheus_reads(client: httpx.Client) -> None:
    before = count_of(client, "requests_total", route="/recourse", status="200")
    waited = count_of(client, "request_seconds_count", route="/recourse")

    asked(client, person=PERSON)

    assert count_of(client, "requests_total", route="/recourse", status="200") == before + 1
    assert count_of(client, "request_seconds_count", route="/recourse") == waited + 1
    assert count_of(client, "requests_open_max") >= 1
    assert client.get("/metrics").headers["content-type"] == CONTENT_TYPE_LATEST


def test_what_a_client_makes_up_is_no_label(client: httpx.Client) -> None:
    client.get("/made-up")
    assert "made-up" not in client.get("/metrics").text
    assert count_of(client, "requests_total", route="other", status="404") >= 1


def test_each_service_counts_for_itself(client: httpx.Client) -> None:
    asked(client, person=PERSON)
    with Serving(LIGHT).start() as running, httpx.Client(base_url=running.url) as other:
        assert count_of(other, "requests_total", route="/recourse", status="200") == 0


# bad input: a clear 4xx, nothing executed, nothing leaked

BAD_BODIES: dict[str, tuple[bytes, int, str]] = {
    "not JSON": (b"{person:", 400, "not JSON"),
    "nothing": (b"", 400, "not JSON"),
    "not UTF-8": (b'{"person": {"age": "\xff"}}', 400, "UTF-8"),
    "NaN": (b'{"person": {"age": NaN}}', 400, "NaN is no JSON number"),
    "infinity": (b'{"person": {"age": -Infinity}}', 400, "no JSON number"),
    "a number that is too large": (b'{"person": {"age": 1e999}}', 400, "too large"),
    "very many digits": (b'{"id": ' + b"9" * 5000 + b"}", 400, "not JSON"),
    "deep": (b'{"person": ' + b"[" * 100_000, 400, "deep"),
    "deep and whole": (b"[" * 40 + b"]" * 40, 400, "deep"),
    "large": (b'{"person": {"age": "' + b"x" * 300_000 + b'"}}', 413, "larger than 256 KiB"),
    "said twice": (b'{"person": {"age": 1, "age": 2}}', 400, "'age' is said more than once"),
    "a list": (b"[1, 2]", 422, ""),
    "no person": (b"{}", 422, 'either "person"'),
    "two persons": (b'{"id": 1, "person": {}}', 422, 'either "person"'),
    "an unknown key": (b'{"id": 1, "relaxx": true}', 422, "relaxx"),
    "a wrong type": (b'{"id": 1, "relax": "yes"}', 422, "relax"),
    "a person that is none": (b'{"person": "me"}', 422, "person"),
    "a negative number": (b'{"id": -1}', 422, "id"),
    "someone who is not listed": (b'{"id": 400}', 404, "there is no person 400"),
    "too many ways": (b'{"id": 1, "n_paths": 1000}', 422, "n_paths"),
}


@pytest.mark.parametrize("case", BAD_BODIES)
def test_a_bad_body_is_refused_with_a_sentence(client: httpx.Client, case: str) -> None:
    body, status, words = BAD_BODIES[case]
    answer = client.post("/recourse", content=body, headers={"Content-Type": "application/json"})
    assert refusal(answer)[0] == status
    assert words in refusal(answer)[1]


BAD_ASKS: dict[str, tuple[dict[str, Any], str, str | None]] = {
    "an unknown feature": ({"person": {**PERSON, "dept": 1}}, "did you mean 'debt'?", None),
    "a missing feature": ({"person": {"age": 40}}, "debt", "debt"),
    "an unseen category": ({"person": {**PERSON, "ward": "wst"}}, "did you mean 'west'?", "ward"),
    "a script in a value": (
        {"person": {**PERSON, "ward": "<script>alert(1)</script>"}},
        "unseen category",
        "ward",
    ),
    "a script in a name": ({"person": {**PERSON, "<script>": 1}}, "<script>", None),
    "text where a number is wanted": ({"person": {**PERSON, "debt": "much"}}, "debt", "debt"),
    "a constraint on nothing": (
        {"person": PERSON, "where": {"dept": "never"}},
        "did you mean 'debt'?",
        None,
    ),
    "a direction that is none": (
        {"person": PERSON, "where": {"debt": "sideways"}},
        "cannot move",
        "debt",
    ),
    "bounds the wrong way round": (
        {"person": PERSON, "where": {"debt": [9, 1]}},
        "wrong way round",
        "debt",
    ),
    "a floor that is none": (
        {"person": PERSON, "min_density": 5},
        "a share from 0 to below 1",
        None,
    ),
    "a weight that is none": (
        {"person": PERSON, "weights": {"debt": -1}},
        "positive number",
        "debt",
    ),
    "avoiding nothing": ({"person": PERSON, "avoid": ["dept"]}, "did you mean 'debt'?", None),
    "a range the wrong way round": ({"person": PERSON, "target": [2, 1]}, "wrong way", None),
    "a key that is no feature": ({"person": {**PERSON, "aeg": 1}}, "did you mean 'age'?", None),
    "an age that is no whole number": ({"person": {**PERSON, "age": 40.5}}, "whole number", "age"),
}


@pytest.mark.parametrize("case", BAD_ASKS)
def test_what_the_library_refuses_is_told_in_its_words_with_the_feature(
    client: httpx.Client, case: str
) -> None:
    body, words, feature = BAD_ASKS[case]
    answer = asked(client, **body)
    assert refusal(answer)[0] == 422
    assert words in refusal(answer)[1]
    assert answer.json()["error"]["feature"] == feature
    assert answer.headers["content-type"] == "application/json"


def test_the_sentence_is_the_librarys_own(client: httpx.Client) -> None:
    person = {**PERSON, "ward": "wst"}
    with pytest.raises(InputError) as caught:
        EXPLAINER.explain(person)
    assert refusal(asked(client, person=person)) == (422, str(caught.value))


def test_what_is_searched_for_must_make_sense(client: httpx.Client) -> None:
    assert "did you mean 'debt'" in refusal(client.get("/people", params={"search": "dept>3"}))[1]
    assert refusal(client.get("/people", params={"outcome": "false negtive"}))[0] == 422
    assert refusal(client.get("/people", params={"offset": -1}))[0] == 422
    assert refusal(client.get("/people/-1"))[0] == 422
    assert refusal(client.get("/people/400"))[0] == 404


def test_only_json_is_taken(client: httpx.Client) -> None:
    assert (
        refusal(client.post("/recourse", content=b"id=1", headers={"Content-Type": "text/plain"}))[
            0
        ]
        == 415
    )
    assert refusal(client.post("/recourse", data={"id": "1"}))[0] == 415


def test_what_is_not_there_is_not_found_in_json(client: httpx.Client) -> None:
    assert refusal(client.get("/nothing"))[0] == 404
    assert refusal(client.get("/recourse"))[0] == 405
    assert refusal(client.options("/recourse"))[0] == 405
    assert refusal(client.delete("/people"))[0] == 405
    assert client.get("/docs").status_code == 404
    assert client.head("/").status_code == 200


@pytest.mark.parametrize(
    "path", ["/static/../app.py", "/static/..%2fapp.py", "/static/%2e%2e/%2e%2e/cli.py"]
)
def test_no_file_but_the_pages_own_can_be_fetched(client: httpx.Client, path: str) -> None:
    raw = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode()
    answer = sent(client, raw)
    assert b" 404 " in answer.partition(b"\r\n")[0]
    assert b"import" not in answer


def sent(client: httpx.Client, raw: bytes) -> bytes:
    """What comes back for bytes that no library would send."""
    with socket.create_connection(
        ("127.0.0.1", client.base_url.port or 0), timeout=10
    ) as connection:
        connection.sendall(raw)
        parts = []
        while part := connection.recv(65536):
            parts.append(part)
    return b"".join(parts)


# who may ask


def test_nobody_else_may_frame_it_cache_answers_or_use_another_name_for_this_machine(
    client: httpx.Client,
) -> None:
    page, facts = client.get("/"), client.get("/schema")
    for answer in (page, facts, client.get("/nothing")):
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert "default-src 'self'" in answer.headers["content-security-policy"]
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert facts.headers["cache-control"] == "no-store"
    for name in ("attacker.example", "127.0.0.1.attacker.example", ""):
        assert refusal(client.get("/schema", headers={"Host": name}))[0] == 421
    for name in ("localhost", "LOCALHOST:80", "127.0.0.2:8080", "[::1]:8080"):
        assert client.get("/schema", headers={"Host": name}).status_code == 200


def test_a_token_is_asked_for_once_it_is_set() -> None:
    with Serving(replace(LIGHT, token="correct-horse")).start() as running:
        address = f"http://127.0.0.1:{running.port}"
        with httpx.Client(base_url=address) as stranger:
            for answer in (stranger.get("/"), stranger.get("/schema"), asked(stranger, id=1)):
                assert refusal(answer)[0] == 401
            assert (
                stranger.get("/schema", headers={"Authorization": "Bearer wrong"}).status_code
                == 401
            )
            assert stranger.get("/?token=wrong").status_code == 401
        with httpx.Client(base_url=address) as script:
            header = {"Authorization": "Bearer correct-horse"}
            assert script.get("/schema", headers=header).status_code == 200
        with httpx.Client(base_url=address, follow_redirects=True) as browser:
            assert browser.get("/", params={"token": "correct-horse"}).status_code == 200
            assert browser.get("/schema").status_code == 200


@pytest.mark.parametrize("token", ["", "short", "with space in it", "grüßgott", "semi;colon"])
def test_a_token_that_no_cookie_or_header_could_carry_is_refused(token: str) -> None:
    with pytest.raises(InputError, match="at least 8 letters"):
        Serving(replace(LIGHT, token=token))


def test_a_token_is_made_up_where_others_can_reach_the_service() -> None:
    with Serving(LIGHT, host="0.0.0.0").start() as running:
        assert running.token
        assert running.token in running.url
        assert httpx.get(f"http://127.0.0.1:{running.port}/health").status_code == 401
        header = {"Authorization": f"Bearer {running.token}"}
        assert (
            httpx.get(f"http://127.0.0.1:{running.port}/health", headers=header).status_code == 200
        )


# a model that fails, clients that go, and many at a time


@pytest.mark.parametrize(
    ("age", "words"), [(13, "the model failed on this record (RuntimeError)"), (14, "NaN")]
)
def test_a_model_that_fails_gives_502_to_whom_it_fails_and_the_service_lives_on(
    client: httpx.Client, age: int, words: str
) -> None:
    persons = [
        {**PERSON, "age": age},
        PERSON,
        {**PERSON, "income": 25.0},
        {**PERSON, "age": age, "debt": 6.0},
    ]
    with ThreadPoolExecutor(4) as crowd:
        answers = list(crowd.map(lambda one: asked(client, person=one), persons))
    assert [one.status_code for one in answers] == [502, 200, 200, 502]
    assert words in refusal(answers[0])[1]
    assert refusal(asked(client, "/check", person=persons[0], wish={"debt": 2.0}))[0] == 502
    assert refusal(asked(client, person=persons[0], n_paths=2))[0] == 502
    assert client.get("/health").status_code == 200


class Slow:
    """A model that waits until it is let go, once it is told to; counts its calls."""

    def __init__(self) -> None:
        self.open, self.calls, self.entered = threading.Event(), 0, threading.Event()
        self.open.set()

    def __call__(self, frame: pd.DataFrame) -> Any:
        self.calls += 1
        self.entered.set()
        assert self.open.wait(timeout=30)
        return model(frame)


@pytest.fixture
def slow() -> Iterator[Slow]:
    one = Slow()
    yield one
    one.open.set()


def slow_service(slow: Slow, limits: Any = RequestLimits()) -> Serving:  # noqa: B008
    explainer = LocalFACE(
        slow, ROWS, schema=SCHEMA, min_score=0.6, search=Search(n_neighbors=20)
    ).prescore()
    slow.entered.clear()
    return Serving(Service(explainer, limits=limits)).start()


def people(n: int) -> list[dict[str, Any]]:
    return [{**PERSON, "income": round(20.0 + 0.1 * i, 1)} for i in range(n)]


def test_requests_that_come_together_are_searched_in_lock_step(slow: Slow) -> None:
    with slow_service(slow) as running, httpx.Client(base_url=running.url, timeout=30) as client:
        before = slow.calls
        alone = [asked(client, person=one).json() for one in people(12)]
        one_by_one = slow.calls - before
        before = slow.calls
        slow.open.clear()
        with ThreadPoolExecutor(12) as crowd:
            futures = [crowd.submit(asked, client, person=one) for one in people(12)]
            until(lambda: count_of(client, "requests_open") == 12)
            slow.open.set()
            together = [future.result().json() for future in futures]
        assert slow.calls - before < 0.5 * one_by_one
    for one, other in zip(alone, together, strict=True):
        states = [
            [(state["record"], state["score"]) for state in reply["view"]["states"]]
            for reply in (one, other)
        ]
        assert states[0] == states[1]


def test_fifty_clients_at_a_time_all_get_the_answer_they_would_have_got_alone(
    client: httpx.Client,
) -> None:
    bodies = [
        {"id": REFUSED[i % len(REFUSED)], "min_score": 0.55 + 0.05 * (i % 5)} for i in range(100)
    ]
    with ThreadPoolExecutor(50) as crowd:
        answers = list(crowd.map(lambda body: asked(client, **body), bodies))
    assert {one.status_code for one in answers} == {200}
    for body, answer in list(zip(bodies, answers, strict=True))[::7]:
        alone = EXPLAINER.explain(ROWS.iloc[body["id"]], min_score=body["min_score"])
        assert np.array_equal(
            Recourse.from_json(json.dumps(answer.json()["document"])).records, alone.records
        )


def until(holds: Any) -> None:
    """Wait until something holds; the test's own time limit is generous."""
    pause = threading.Event()
    for _ in range(1500):
        if holds():
            return
        pause.wait(0.02)
    raise AssertionError("it never held")


def test_the_same_request_twice_is_searched_once(slow: Slow) -> None:
    with slow_service(slow) as running, httpx.Client(base_url=running.url, timeout=30) as client:
        slow.open.clear()
        with ThreadPoolExecutor(5) as crowd:
            futures = [crowd.submit(asked, client, person=PERSON) for _ in range(5)]
            until(lambda: count_of(client, "shared_requests_total") == 4)
            slow.open.set()
            answers = [future.result() for future in futures]
    assert {one.status_code for one in answers} == {200}
    assert len({one.content for one in answers}) == 1


def test_the_time_limit_frees_the_client_and_the_service_lives_on(slow: Slow) -> None:
    limits = SimpleNamespace(**asdict(RequestLimits(seconds=0.0)))  # may be changed while it serves
    with (
        slow_service(slow, limits) as running,
        httpx.Client(base_url=running.url, timeout=30) as client,
    ):
        slow.open.clear()
        assert refusal(asked(client, person=PERSON))[0] == 504
        until(lambda: count_of(client, "requests_open") == 0)

        slow.open.set()
        limits.seconds = 30.0

        assert asked(client, person={**PERSON, "income": 25.0}).status_code == 200


def test_a_client_that_goes_away_is_dropped_and_harms_nobody(slow: Slow) -> None:
    with slow_service(slow) as running, httpx.Client(base_url=running.url, timeout=30) as client:
        slow.open.clear()
        body = json.dumps({"person": PERSON}).encode()
        head = "POST /recourse HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        goer = socket.create_connection(("127.0.0.1", running.port))
        goer.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        assert slow.entered.wait(10)
        dead = socket.create_connection(("127.0.0.1", running.port))
        dead.sendall(
            f"{head}Content-Length: 1000\r\n\r\n".encode() + b'{"per'
        )  # and never any more
        goer.close()
        until(lambda: count_of(client, "dropped_requests_total") == 1)
        slow.open.set()
        assert asked(client, person={**PERSON, "income": 25.0}).status_code == 200
        dead.close()


def test_a_full_queue_says_when_to_come_again(slow: Slow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("localface.apps.web.app.MAX_OPEN", 2)
    with slow_service(slow) as running, httpx.Client(base_url=running.url, timeout=30) as client:
        slow.open.clear()
        with ThreadPoolExecutor(2) as crowd:
            futures = [crowd.submit(asked, client, person=one) for one in people(2)]
            until(lambda: count_of(client, "requests_open") == 2)
            busy = asked(client, person=people(3)[2])
            slow.open.set()
            assert [future.result().status_code for future in futures] == [200, 200]
    assert refusal(busy)[0] == 503
    assert int(busy.headers["retry-after"]) >= 1


def test_workers_of_their_own_give_the_same_answers_and_one_that_dies_is_replaced() -> None:
    moons = two_moons(300)
    explainer = LocalFACE(moons.model, moons.data, search=Search(n_neighbors=15)).prescore()
    some = [{"x0": float(x), "x1": float(y)} for x, y in moons.data[moons.labels == 0][:8]]
    with (
        Serving(Service(explainer, workers=2)).start() as running,
        httpx.Client(base_url=running.url, timeout=60) as client,
        ThreadPoolExecutor(8) as crowd,
    ):
        replies = list(crowd.map(lambda one: asked(client, person=one).json(), some))
        for person, reply in zip(some, replies, strict=True):
            document = Recourse.from_json(json.dumps(reply["document"]))
            assert np.array_equal(document.records, explainer.explain(person).records)
        for number in worker_processes(running):
            os.kill(number, signal.SIGKILL)
        answers = list(crowd.map(lambda one: asked(client, person=one), some))
        assert [one.status_code for one in answers] == [200] * 8
        until(lambda: client.get("/health").json()["status"] == "ok")
        assert count_of(client, "workers_lost_total", reason="ended") >= 1


def worker_processes(running: Serving) -> list[int]:
    """The processes that search for a service."""
    template = running._plan.starter._process.pid  # type: ignore[union-attr]
    children = Path(f"/proc/{template}/task/{template}/children")
    if not children.exists():
        pytest.skip("this system does not tell the children of a process")
    return [int(word) for word in children.read_text().split()]


# the description, and what fits it


SPEC = schemathesis.openapi.from_dict(openapi_document(SERVICE))


@SPEC.parametrize()
@settings(
    max_examples=25,
    derandomize=True,
    deadline=None,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_every_response_fits_the_description_and_none_is_a_5xx(
    case: schemathesis.Case, served: str
) -> None:
    response = case.call(base_url=served)
    assert response.status_code < 500
    # a record that fits the description may still name no feature of this table, and is refused
    case.validate_response(response, excluded_checks=[schemathesis.checks.positive_data_acceptance])


# starting and stopping


def test_a_notebook_gets_a_handle_and_a_with_block_ends_it() -> None:
    with EXPLAINER.serve(title="Mine", people=False) as running:
        assert httpx.get(f"{running.url}schema").json()["title"] == "Mine"
        assert running.url in repr(running)
        assert running.url in running._repr_html_()
    assert "stopped" in repr(running)
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{running.url}health")


def test_a_table_of_others_can_be_listed() -> None:
    with make_serving(EXPLAINER, people=ROWS[:7], workers=0).start() as running:
        assert httpx.get(f"{running.url}people").json()["total"] == 7


def test_a_port_that_is_taken_is_told() -> None:
    with (
        Serving(LIGHT).start() as running,
        pytest.raises(InputError, match=f"port {running.port}.*try --port 0"),
    ):
        Serving(LIGHT, port=running.port)


def test_the_command_serves_the_users_own_and_ctrl_c_ends_it(tmp_path: Path) -> None:
    plane = ROWS[["debt", "income"]]
    ROWS.assign(paid=TRUTH).drop(columns=["ward", "age"]).to_csv(tmp_path / "rows.csv", index=False)
    import skops.io

    skops.io.dump(LogisticRegression().fit(plane, TRUTH), tmp_path / "model.skops")
    given = [
        "--data",
        "rows.csv",
        "--model",
        "model.skops",
        "--target",
        "True",
        "--outcome",
        "paid",
    ]
    command = [sys.executable, "-m", "localface", "serve", "--port", "0", "--workers", "1", *given]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        address = re.search(r"http://127\.0\.0\.1:\d+/", line)
        assert address, process.stderr.read() if process.stderr else line
        listed = httpx.get(f"{address[0]}people", params={"outcome": "false negative"}).json()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert listed["total"] > 0
    assert process.returncode in (0, 130)
    assert "Traceback" not in err


def test_an_outcome_that_is_no_column_is_told() -> None:
    with pytest.raises(InputError, match="did you mean 'ward'"):
        column_values(ROWS, "wrd")
    service = make_own_service(EXPLAINER, ROWS, outcome=column_values(ROWS, "ward"), workers=1)
    assert service.people is not None
    with pytest.raises(InputError, match="workers=-1"):
        make_own_service(EXPLAINER, None, workers=-1)
