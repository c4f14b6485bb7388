"""Models that break on some records; a module of its own, so that other processes can load it."""

from __future__ import annotations

import os
import threading
from typing import Any

import numpy as np
import pandas as pd

HANGS, EXITS, LEAKS = 13, 14, 16
"""The ages at which it never comes back, ends its process, or keeps 8 MB for good."""
_KEPT: list[Any] = []


def faulty_model(frame: pd.DataFrame) -> Any:
    """Score by income less debt, unless somebody's age says otherwise."""
    ages = set(frame["age"].tolist())
    if HANGS in ages:
        threading.Event().wait()
    if EXITS in ages:
        os._exit(3)
    if LEAKS in ages:
        _KEPT.append(np.ones(2**20))
    z = (frame["income"].to_numpy() - 30) / 8 - (frame["debt"].to_numpy() - 5) / 2
    return 1 / (1 + np.exp(-z))
