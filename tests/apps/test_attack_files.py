"""A short run of the attack on files: the right answer or a sentence, nothing else."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("resource", reason="sizes of files cannot be limited here")
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from attack_files import (
    World,
    attack_batch_files,
    attack_promise_files,
    attack_store_files,
    fill_disks,
    kill_batches,
    kill_promise_writers,
    kill_store_writers,
)

pytestmark = pytest.mark.slow
PATIENCE = 120.0


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World.make(Path(tmp_path_factory.mktemp("attacked")))


def test_a_damaged_store_is_refused_or_right(world: World) -> None:
    tally = attack_store_files(world, 150, PATIENCE, seed=7)
    assert tally.wrong == []
    assert tally.counts["refused"] > 100


def test_a_damaged_batch_is_refused_or_finished(world: World) -> None:
    assert attack_batch_files(world, 20, PATIENCE, seed=7).wrong == []


def test_damaged_or_forged_promises_are_refused_or_right(world: World) -> None:
    tally = attack_promise_files(world, 150, PATIENCE, seed=7)
    assert tally.wrong == []
    assert tally.counts["refused"] > 100


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # it is forked with threads
def test_killed_writers_and_full_disks_lose_nothing(world: World) -> None:
    assert kill_store_writers(world, 6, PATIENCE, seed=7).wrong == []
    assert kill_batches(world, 6, PATIENCE, seed=7).wrong == []
    assert kill_promise_writers(world, 20, PATIENCE, seed=7).wrong == []
    assert fill_disks(world, 2, seed=7).wrong == []
