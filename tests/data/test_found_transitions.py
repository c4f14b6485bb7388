"""Categories that nobody comes back to, in a guessed schema."""

from __future__ import annotations

import pandas as pd
import pytest

from localface import Schema


def guessed(labels):
    return Schema.infer(pd.DataFrame({"habit": labels * 20, "x": range(20 * len(labels))}))


@pytest.mark.parametrize(
    "labels",
    [
        ["current", "former", "never"],
        ["Never smoked", "ex-smoker", "smokes"],
        ["never", "quit", "?", "yes"],
    ],
)
def test_nobody_comes_back_to_never(labels):
    schema = guessed(labels)

    (never,) = (one for one in labels if "ever" in one)
    barred = schema["habit"].never_from
    assert barred is not None
    assert set(barred) == set(labels) - {never, "?"}
    assert all(after == (never,) for after in barred.values())
    assert "no answer leads back to it" in " ".join(schema.notes)
    assert Schema.from_toml(schema.to_toml())["habit"] == schema["habit"]


@pytest.mark.parametrize(
    "labels", [["daily", "never", "weekly"], ["former", "current", "other"], ["never", "ever"]]
)
def test_what_is_only_done_seldom_may_be_given_up(labels):
    assert guessed(labels)["habit"].never_from is None
