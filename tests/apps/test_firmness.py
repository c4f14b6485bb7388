"""How firm plans are: what the service says of small deviations and of retrained models."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from localface import LocalFACE, Schema
from localface.analyses.robustness import measure_robustness
from localface.apps.web.http.reply import Reply
from localface.apps.web.views.firmness import deviations_view, retrained_view
from localface.apps.web.workers.retrained import RetrainedJudge
from localface.engine.outcomes import read_outcomes
from localface.explainer import LocalFACE as Explainer

pd = pytest.importorskip("pandas")


def credit() -> tuple[Explainer, Any, Any]:
    rng = np.random.default_rng(5)
    rows = pd.DataFrame(
        {
            "income": rng.normal(30, 8, 300).round(1),
            "debt": rng.normal(5, 2, 300).round(1),
            "owner": rng.choice(["no", "yes"], 300),
        }
    )
    good = rows["income"] - 2 * rows["debt"] + 4 * (rows["owner"] == "yes") > 22
    schema = Schema.infer(rows).with_("income", resolution=1.0, unit="kEUR")
    model = LogisticRegression().fit(rows[["income", "debt"]], good)

    def score(table: Any) -> Any:
        return model.predict_proba(table[["income", "debt"]])[:, 1]

    return LocalFACE(score, rows, schema=schema), rows, good


EXPLAINER, ROWS, GOOD = credit()
ANSWER = next(
    one
    for one in EXPLAINER.explain_many(ROWS.iloc[:60], progress=False)
    if one.found and len(one.actions) >= 1 and "income" in one.actions[-1].changes
)
PLAN = {
    "actions": [dict(one.changes) for one in ANSWER.actions],
    "density": ANSWER.actions[-1].density,
}


def test_a_plan_holds_in_as_many_deviations_as_the_library_measures() -> None:
    (plan,) = deviations_view(EXPLAINER.engine, ANSWER.records[0], [PLAN])["plans"]

    assert plan["robustness"] == measure_robustness(EXPLAINER.engine, ANSWER).success
    assert plan["firmness"].startswith("if values end slightly off, it still works in ")
    assert len(plan["actions"]) == len(ANSWER.actions)
    assert "if missed by up to 1 kEUR, the plan still works in" in plan["actions"][-1]


def test_an_action_on_several_features_says_of_each_how_far_it_may_be_missed() -> None:
    both = {"income": 45.0, "debt": 3.0}
    record = np.array(ANSWER.records[0])

    (told,) = deviations_view(EXPLAINER.engine, record, [{"actions": [both], "density": 0.5}])[
        "plans"
    ]

    assert "if missed by up to 1 kEUR in income and 0.1 in debt, the plan" in told["actions"][0]


def test_what_is_no_number_has_to_be_met_exactly() -> None:
    record = np.array(ANSWER.records[0])
    owner = EXPLAINER.schema.index("owner")
    other = EXPLAINER.schema["owner"].value(1 - record[owner])
    plan = {"actions": [*PLAN["actions"], {"owner": other}], "density": 0.5}

    (told,) = deviations_view(EXPLAINER.engine, record, [plan])["plans"]

    assert told["actions"][-1] == "has to be met exactly"


def test_retrained_models_vote_on_the_end_of_a_plan() -> None:
    model = LogisticRegression().fit(ROWS[["income", "debt"]], GOOD)
    table = ROWS[["income", "debt"]]
    explainer = LocalFACE(model, table, target=True)
    outcomes = read_outcomes(model, table, GOOD, n_refits=3)
    person = table[~model.predict(table)].iloc[0]
    answer = explainer.explain(person).require()
    plan = {"actions": [dict(one.changes) for one in answer.actions], "density": 0.5}

    engine = replace(explainer.engine, outcomes=outcomes)
    (told,) = retrained_view(engine, answer.records[0], [plan])["plans"]

    assert 0 < told["lasting"]["low"] < told["lasting"]["probability"] < told["lasting"]["high"]
    assert told["firmness"].startswith("a model fitted anew agrees in")


class FakeWorker:
    """A worker that replies when it is told to."""

    can_be_killed = True

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.stopped = False

    def send(self, request: Any) -> None:
        self.sent.append(request)

    def start(self, send_reply: Callable[..., None], beat: Any, loss: Callable[[], None]) -> None:
        self.reply = send_reply
        self.lose = loss

    def kill(self) -> None:
        self.stop()

    def stop(self) -> None:
        self.stopped = True

    def memory(self) -> int:
        return 0


def test_nobody_waits_while_models_are_fitted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("localface.apps.web.workers.retrained._PATIENCE", 0.01)
    worker = FakeWorker()

    async def play() -> None:
        judge = RetrainedJudge(lambda: worker)
        assert await judge.answer({"kind": "firmness"}) is None
        assert await judge.answer({"kind": "firmness"}) is None
        assert len(worker.sent) == 1, "nothing is piled up meanwhile"

        worker.reply(1, Reply(200, b"{}"))
        await asyncio.sleep(0)
        asked = asyncio.ensure_future(judge.answer({"kind": "firmness"}))
        while len(worker.sent) < 2:
            await asyncio.sleep(0)
        worker.reply(2, Reply(200, b'{"plans":[]}'))
        found = await asked
        assert found is not None
        assert found.body == b'{"plans":[]}'

        worker.lose()
        await asyncio.sleep(0)
        assert judge.is_lost
        assert await judge.answer({"kind": "firmness"}) is None
        judge.stop()
        assert worker.stopped

    asyncio.run(play())
