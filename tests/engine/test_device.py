"""Searches on a device: the answers of the processor, and a plain word where there is none."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

from devices import needs_gpu, numpy_device_named
from localface import Feature, LocalFACE, Schema
from localface.data.read import read_records
from localface.density.device_kde import DeviceKDE
from localface.engine import loading
from localface.errors import InputError
from localface.geometry.device.cuda import cupy
from localface.sources.device_table import DeviceTable
from localface.sources.store import write_store
from localface.sources.table import TableSource
from same import assert_same

RNG = np.random.default_rng(0)
N = 700
DATA = pd.DataFrame(
    {
        "age": RNG.integers(20, 70, size=N),
        "income": RNG.normal(size=N),
        "debt": RNG.normal(size=N),
        "job": RNG.choice(["none", "part", "full"], size=N),
    }
)
SCHEMA = Schema(
    [
        Feature("age", moves="never"),
        Feature("income", moves="up"),
        Feature("debt"),
        Feature("job", kind="categorical", categories=("none", "part", "full")),
    ]
)


def score(frame: Any) -> Any:
    job = np.asarray(frame["job"] == "full", dtype=float)
    value = np.asarray(frame["income"]) - np.asarray(frame["debt"]) + job
    return 1 / (1 + np.exp(-2 * value + 1))


PEOPLE = DATA[score(DATA) < 0.4].iloc[:12]


@pytest.fixture
def on_device(monkeypatch: pytest.MonkeyPatch) -> LocalFACE:
    monkeypatch.setattr("localface.engine.fitting.device_named", numpy_device_named)
    return LocalFACE(score, DATA, schema=SCHEMA, device="cuda")


def test_answers_are_the_same_as_on_the_processor(on_device: LocalFACE) -> None:
    explainer = LocalFACE(score, DATA, schema=SCHEMA)

    found = on_device.explain_many(PEOPLE, progress=False)

    assert isinstance(on_device.engine.source, DeviceTable)
    assert isinstance(on_device.density.kde, DeviceKDE)
    assert sum(one.found for one in found) > 8
    assert on_device.log_floor == pytest.approx(explainer.log_floor, abs=1e-9)
    for one, other in zip(found, explainer.explain_many(PEOPLE, progress=False), strict=True):
        assert_same(one, other)


def test_several_processes_share_the_device(on_device: LocalFACE) -> None:
    alone = on_device.explain_many(PEOPLE, progress=False, actions=False)

    shared = on_device.explain_many(PEOPLE, progress=False, actions=False, n_jobs=2)

    for one, other in zip(alone, shared, strict=True):
        assert_same(one, other)


def test_with_a_device_named_no_table_is_too_large_for_all_rows_to_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(loading, "MAX_SCANNED_ROWS", 100)
    sampled = LocalFACE(score, DATA, schema=SCHEMA)

    explainer = LocalFACE(score, DATA, schema=SCHEMA, device="cpu")

    assert not isinstance(sampled.engine.source, TableSource)
    assert type(explainer.engine.source) is TableSource
    assert explainer.engine.source.recall == 1


def test_copies_and_groups_are_left_out_on_a_device_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("localface.engine.fitting.device_named", numpy_device_named)
    groups = np.arange(N) // 2
    common: dict[str, Any] = {"schema": SCHEMA, "groups": groups}

    device = LocalFACE(score, DATA, **common, device="cuda")

    processor = LocalFACE(score, DATA, **common)
    assert device.log_floor == pytest.approx(processor.log_floor, abs=1e-9)
    np.testing.assert_allclose(
        device.density.scale.log_densities, processor.density.scale.log_densities, atol=1e-9
    )


def test_without_cupy_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    cupy.cache_clear()

    with pytest.raises(InputError, match=r"\[gpu\]") as caught:
        LocalFACE(score, DATA, schema=SCHEMA, device="cuda")

    assert caught.value.option == "device"


def test_a_device_that_nobody_knows_is_refused() -> None:
    with pytest.raises(InputError, match=r"device='gpu': 'cuda' \(a GPU\) or 'cpu' is wanted"):
        LocalFACE(score, DATA, schema=SCHEMA, device="gpu")


def test_a_store_stays_on_disk(tmp_path: Path) -> None:
    store = write_store(tmp_path / "store", lambda: iter([read_records(DATA, SCHEMA)]), SCHEMA)

    with pytest.raises(InputError, match="stay on disk"):
        LocalFACE(score, store, device="cpu")


@needs_gpu
def test_a_gpu_gives_the_same_answers_and_the_same_scores() -> None:
    numbers = RNG.normal(size=(20_000, 6)) @ RNG.normal(size=(6, 6))
    labels = numbers[:, 0] + numbers[:, 1] ** 2 > 1
    forest = RandomForestClassifier(20, random_state=0).fit(numbers, labels)
    people = numbers[forest.predict_proba(numbers)[:, 1] < 0.3][:30]
    processor = LocalFACE(forest, numbers)

    device = LocalFACE(forest, numbers, device="cuda")

    for n_jobs in (1, 2):
        found = device.explain_many(people, progress=False, n_jobs=n_jobs)
        for one, other in zip(found, processor.explain_many(people, progress=False), strict=True):
            assert_same(one, other)
