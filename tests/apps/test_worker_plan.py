"""How searches are shared out among workers, by what is known of the model."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from localface import LocalFACE, Search
from localface.apps.web.workers import processes
from localface.apps.web.workers.handlers import RequestHandler
from localface.apps.web.workers.search_workers import plan_workers

RNG = np.random.default_rng(0)
PLANE = RNG.normal(size=(200, 2))
MODEL = LogisticRegression().fit(PLANE, PLANE[:, 0] > 0)


def called(rows: Any) -> Any:
    """The same model, of which nothing is known."""
    return MODEL.predict_proba(rows)[:, 1]


@pytest.mark.parametrize(
    ("model", "others", "shared_at_once"),
    [(MODEL, None, False), (called, None, True), (MODEL, [called], True)],
    ids=["read", "called", "one of two called"],
)
def test_searches_share_a_worker_at_once_only_where_a_model_is_called(
    model: Any, others: Any, shared_at_once: bool
) -> None:
    search = Search(n_neighbors=15)
    explainer = LocalFACE(model, PLANE, others=others, search=search)
    plan = plan_workers(RequestHandler(explainer), 0)
    assert (plan.alone_seconds == 0) == shared_at_once


@pytest.mark.skipif(not processes.CAN_FORK, reason="nothing is forked here")
@pytest.mark.parametrize("for_any_model", [True, False])
def test_what_most_models_need_is_imported_early_unless_it_is_known_not_to_be(
    for_any_model: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = {name: one for name, one in sys.modules.items() if name.startswith("localface")}
    monkeypatch.setattr(processes.sys, "modules", here)  # as before any model was made
    told: list[str] = []

    class Started:
        def __init__(self, command: list[str], **_: Any) -> None:
            told.append(command[-1])

    monkeypatch.setattr(processes.subprocess, "Popen", Started)
    template = processes.ForkTemplate(for_any_model=for_any_model)
    monkeypatch.undo()
    assert template._control is not None
    template._control.close()
    assert ("'sklearn'" in told[0]) == ("'pandas'" in told[0]) == for_any_model
    assert "'localface.apps.web.workers.handlers'" in told[0]
