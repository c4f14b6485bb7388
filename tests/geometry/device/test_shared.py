"""One device for several processes: questions that came together are answered together."""

from __future__ import annotations

import pickle
import threading
from multiprocessing import Pipe
from typing import Any

import numpy as np
import pytest

from localface.errors import InputError
from localface.geometry.device.numpy_scan import NumpyScan
from localface.geometry.device.scan import KernelSamples, NearQuestions
from localface.geometry.device.shared import SharedScan, _answer_together, _serve

ROWS = np.random.default_rng(0).normal(size=(200, 3))


class Counting(NumpyScan):
    calls = 0

    def kernel_sums(self, samples: KernelSamples, bandwidth: float) -> Any:
        self.calls += 1
        return super().kernel_sums(samples, bandwidth)


def test_what_came_together_is_one_call_and_everyone_gets_their_own() -> None:
    scan = Counting(ROWS)
    shared = SharedScan(scan)
    asked = [KernelSamples.at_points(ROWS[:n]) for n in (2, 5, 1)]
    lines = [Pipe() for _ in asked]
    for (_, there), one in zip(lines, asked, strict=True):
        there.send_bytes(pickle.dumps((shared._number, "kernel_sums", (one, 0.5), {})))

    thread = threading.Thread(target=_serve, args=([here for here, _ in lines],))
    thread.start()
    answers = [pickle.loads(there.recv_bytes()) for _, there in lines]
    for _, there in lines:
        there.close()
    thread.join(timeout=10)

    assert scan.calls == 1
    for one, (found, error) in zip(asked, answers, strict=True):
        assert error is None
        np.testing.assert_array_equal(found[0], NumpyScan(ROWS).kernel_sums(one, 0.5)[0])


def test_near_rows_are_given_back_to_whoever_asked() -> None:
    shared = SharedScan(NumpyScan(ROWS))
    asked = [NearQuestions.for_points(ROWS[:n] + 0.1, np.full(n, 4)) for n in (3, 1, 6)]

    found = _answer_together(shared._number, "near_rows", [((one,), {}) for one in asked])

    for one, (answer, error) in zip(asked, found, strict=True):
        alone = NumpyScan(ROWS).near_rows(one)
        assert error is None
        assert [part.tolist() for part in answer] == [part.tolist() for part in alone]


def test_an_error_on_the_device_is_raised_where_it_was_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shared = SharedScan(NumpyScan(ROWS))
    here, there = Pipe()
    monkeypatch.setattr("localface.geometry.device.shared._lines", [there])
    here.send_bytes(pickle.dumps((None, MemoryError("full"))))

    with pytest.raises(MemoryError, match="full"):
        shared.near_rows(NearQuestions.for_points(ROWS[:1], np.ones(1, dtype=np.int64)))


def test_a_forked_process_without_a_line_is_told_that_it_cannot_use_the_device(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shared = SharedScan(NumpyScan(ROWS))
    monkeypatch.setattr("localface.geometry.device.shared.os.getpid", lambda: -1)

    with pytest.raises(InputError, match="forked from one that holds a GPU"):
        shared.kernel_sums(KernelSamples.at_points(ROWS[:1]), 0.5)


def test_a_copy_by_pickle_answers_by_itself() -> None:
    shared = SharedScan(NumpyScan(ROWS))
    samples = KernelSamples.at_points(ROWS[:3])

    copied = pickle.loads(pickle.dumps(shared))

    assert copied._number != shared._number
    np.testing.assert_array_equal(
        copied.kernel_sums(samples, 0.5)[0], shared.kernel_sums(samples, 0.5)[0]
    )
