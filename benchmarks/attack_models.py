"""A model that breaks on some records, for ``attack_service.py``: other processes import it."""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np
import pandas as pd

AGES = {"hang": 13, "exit": 14, "leak": 16}
"""The ages at which the model never comes back, ends its process, or keeps 4 MB for good."""
_KEPT: list[Any] = []


def make_rows() -> pd.DataFrame:
    """A small table of applicants, none of whom is real."""
    random = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": random.integers(20, 80, 500),
            "debt": random.normal(5.0, 2.0, 500).round(1),
            "income": random.normal(30.0, 8.0, 500).round(1),
        }
    )


def faulty_score(frame: pd.DataFrame) -> Any:
    """Score by income less debt, unless somebody's age says otherwise."""
    ages = set(frame["age"].tolist())
    if AGES["hang"] in ages:
        time.sleep(3600)
    if AGES["exit"] in ages:
        os._exit(3)
    if AGES["leak"] in ages:
        _KEPT.append(np.ones(2**19))
    z = (frame["income"].to_numpy() - 30) / 8 - (frame["debt"].to_numpy() - 5) / 2
    return 1 / (1 + np.exp(-z))


def serve_faulty_model(workers: int) -> None:
    """Serve it, printing the address first."""
    from localface import LocalFACE, Search
    from localface.apps.web.http.log_lines import set_up_service_log
    from localface.apps.web.service import Service
    from localface.apps.web.serving import Serving

    set_up_service_log()
    explainer = LocalFACE(faulty_score, make_rows(), min_score=0.6, search=Search(n_neighbors=20))
    running = Serving(Service(explainer.prescore(), workers=workers))
    print(running.url, flush=True)
    running.run()
