"""A model that hangs, ends its process or leaks harms nobody else, with one worker and with two."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import numpy as np
import pandas as pd
import pytest

from faulty_models import EXITS, HANGS, LEAKS, faulty_model
from localface import LocalFACE, Search
from localface.apps.web.service import Service
from localface.apps.web.serving import Serving
from localface.apps.web.workers.member import WorkerLimits

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="workers are forked on Linux alone"),
]
RNG = np.random.default_rng(0)
ROWS = pd.DataFrame(
    {
        "age": RNG.integers(20, 80, 200),
        "debt": RNG.normal(5.0, 2.0, 200).round(1),
        "income": RNG.normal(30.0, 8.0, 200).round(1),
    }
)
PERSON = {"age": 40, "debt": 7.0, "income": 24.0}
LIMITS = WorkerLimits(hung_seconds=4.0, idle_seconds=0.5, grown_bytes=40 * 2**20)


@pytest.fixture(scope="module", params=[1, 2], ids=["one worker", "two workers"])
def client(request: pytest.FixtureRequest) -> Iterator[httpx.Client]:
    explainer = LocalFACE(faulty_model, ROWS, min_score=0.6, search=Search(n_neighbors=20))
    service = Service(explainer.prescore(), workers=request.param, worker_limits=LIMITS)
    with (
        Serving(service).start() as running,
        httpx.Client(base_url=running.url, timeout=30) as connected,
    ):
        yield connected


def ask(client: httpx.Client, **changed: Any) -> httpx.Response:
    return client.post("/recourse", json={"person": {**PERSON, **changed}})


def counted(client: httpx.Client, line: str) -> float:
    lines = client.get("/metrics").text.splitlines()
    return sum(float(one.split()[-1]) for one in lines if one.startswith(f"localface_{line}"))


def until(holds: Any) -> None:
    for _ in range(600):
        if holds():
            return
        threading.Event().wait(0.05)
    raise AssertionError("it never held")


def is_healthy(client: httpx.Client) -> bool:
    return bool(client.get("/health").json()["status"] == "ok")


@pytest.mark.parametrize(
    ("age", "words"), [(HANGS, "did not come back"), (EXITS, "ended the process")]
)
def test_others_are_answered_and_only_the_record_at_fault_is_refused(
    client: httpx.Client, age: int, words: str
) -> None:
    incomes = [20.0 + 0.1 * i for i in range(8)]
    with ThreadPoolExecutor(9) as crowd:
        bad = crowd.submit(ask, client, age=age)
        others = list(crowd.map(lambda income: ask(client, income=income), incomes))
        assert [one.status_code for one in others] == [200] * 8
        assert bad.result().status_code == 502
        assert words in bad.result().json()["error"]["message"]
    until(lambda: is_healthy(client))
    assert ask(client).status_code == 200
    assert counted(client, "workers_lost_total") >= 2


def test_a_model_that_leaks_gets_a_new_process_and_every_answer_comes(
    client: httpx.Client,
) -> None:
    before = counted(client, 'workers_lost_total{reason="memory"}')
    for i in range(4):
        assert ask(client, age=LEAKS, income=20.0 + i).status_code == 200
    until(lambda: counted(client, 'workers_lost_total{reason="memory"}') > before)
    until(lambda: is_healthy(client))
    assert ask(client, income=26.0).status_code == 200


def test_a_client_that_goes_away_leaves_nobody_searching(client: httpx.Client) -> None:
    with pytest.raises(httpx.ReadTimeout):
        client.post("/recourse", json={"person": {**PERSON, "age": HANGS}}, timeout=0.3)
    until(lambda: counted(client, "requests_open ") == 0)
    assert ask(client, income=27.0).status_code == 200
