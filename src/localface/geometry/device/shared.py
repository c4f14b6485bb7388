"""One device for several processes: those that hold none ask the one that does.

A process that was forked cannot use the GPU of its parent. It asks through a pipe; what it sends
is the number of the object that is to answer, the name of a method, and the arguments.
"""

from __future__ import annotations

import itertools
import os
import pickle
import threading
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt

from localface.errors import InputError
from localface.geometry.compiled.library import load_library
from localface.geometry.compiled.pair_rule import ASKER_LEFT_OUT, PairRule
from localface.geometry.device.scan import KernelSamples, NearQuestions
from localface.types import Array, Ids

if TYPE_CHECKING:  # a tenth of what importing localface takes, and seldom wanted
    from multiprocessing.connection import Connection
    from multiprocessing.context import BaseContext

_FEW_SEGMENTS = 32  # that the processor has looked up before a device has been asked
_numbers = itertools.count()
_shared: WeakValueDictionary[int, _Shared] = WeakValueDictionary()
_lines: list[Connection] = []  # in a process that holds no device: to the one that does


class _Shared:
    """An object that answers here, or where the device is."""

    def __init__(self, answers: Any) -> None:
        self._answers = answers
        self._number = next(_numbers)
        self._process = os.getpid()
        _shared[self._number] = self

    def __getstate__(self) -> dict[str, Any]:
        return {"answers": self._answers}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["answers"])  # type: ignore[misc]

    def _ask(self, method: str, *arguments: Any, **named: Any) -> Any:
        if not _lines:
            if self._process != os.getpid():
                raise InputError(
                    "this process was forked from one that holds a GPU, and cannot use it: ask in "
                    "the process that fitted the explainer (explain_many(n_jobs=) does), or start "
                    "processes by spawning them",
                    option="device",
                )
            return getattr(self._answers, method)(*arguments, **named)
        asked = (self._number, method, arguments, named)
        _lines[0].send_bytes(pickle.dumps(asked, pickle.HIGHEST_PROTOCOL))
        found, error = pickle.loads(_lines[0].recv_bytes())
        if error is not None:
            raise error
        return found


class SharedScan(_Shared):
    """A ``RowScan`` for several processes."""

    def kernel_sums(self, samples: KernelSamples, bandwidth: float) -> tuple[Array, Array]:
        """Sum kernels at samples; see ``RowScan``."""
        found: tuple[Array, Array] = self._ask("kernel_sums", samples, bandwidth)
        return found

    def near_rows(self, asked: NearQuestions) -> tuple[Ids, Ids]:
        """Find rows near each question; see ``RowScan``."""
        found: tuple[Ids, Ids] = self._ask("near_rows", asked)
        return found


class SharedPairs(_Shared):
    """Tables of pairs for several processes; few segments are looked up by the processor."""

    @property
    def takes_askers(self) -> bool:
        """Whether rows of askers can be left out."""
        return self._rule_for_few is not None

    @cached_property
    def _rule_for_few(self) -> PairRule | None:
        library = load_library()
        return None if library is None else PairRule(library, self._answers.layout)

    def lowest_along(
        self,
        starts: Array,
        ends: Array,
        *,
        left_out: npt.NDArray[np.uint8],
        mean: Array,
        spread: Array,
        log_floors: Array | None = None,
        only_ends: bool = False,
        askers: Array | None = None,
    ) -> Array:
        """Return the lowest that pairs stand for along each segment; see ``PairRule``.

        What leaves out the row of an asker is looked up by the processor.
        """
        here = (left_out & ASKER_LEFT_OUT) > 0
        here |= self._rule_for_few is not None and len(starts) < _FEW_SEGMENTS
        found = np.empty(len(starts))
        for some in (np.flatnonzero(here), np.flatnonzero(~here)):
            if not len(some):
                continue
            named: dict[str, Any] = {
                "left_out": left_out[some],
                "mean": mean[some],
                "spread": spread[some],
                "only_ends": only_ends,
            }
            if not here[some[0]]:
                found[some] = self._ask("lowest_along", starts[some], ends[some], **named)
                continue
            assert self._rule_for_few is not None  # whoever has none is not asked about askers
            named["log_floors"] = None if log_floors is None else log_floors[some]
            named["askers"] = None if askers is None else askers[some]
            found[some] = self._rule_for_few.lowest_along(starts[some], ends[some], **named)
        return found


def any_shared() -> bool:
    """Tell whether this process has a device, or a line to one."""
    return len(_shared) > 0


class DeviceLines:
    """Pipes from processes that are about to be forked to the devices of this one."""

    def __init__(self, context: BaseContext, n_processes: int) -> None:
        pairs = [context.Pipe() for _ in range(n_processes)]
        self._here = [here for here, _ in pairs]
        self._there = [there for _, there in pairs]
        self._taken = context.Value("i", 0)

    def take_one(self) -> None:
        """Ask devices through one of the pipes from now on: for a forked process."""
        with self._taken.get_lock():
            number = self._taken.value
            self._taken.value = number + 1
        _lines[:] = [self._there[number]]

    def serve(self) -> None:
        """Answer what is asked through the pipes, in a thread, until all processes have ended.

        Several threads would be in each other's way: there is one device.
        """
        for line in self._there:
            line.close()
        threading.Thread(target=_serve, args=(self._here,), daemon=True).start()


def _serve(lines: list[Connection]) -> None:
    """Answer until everyone has gone; what came in the meantime is answered together."""
    import selectors

    ready = selectors.DefaultSelector()
    for line in lines:
        ready.register(line, selectors.EVENT_READ)
    while ready.get_map():
        asked: dict[tuple[object, ...], list[tuple[Connection, Any]]] = {}
        for key, _ in ready.select():
            line = cast("Connection", key.fileobj)
            try:
                number, method, arguments, named = pickle.loads(line.recv_bytes())
            except (EOFError, OSError):  # the process has ended
                ready.unregister(line)
                continue
            kind = _kind_of_question(number, method, arguments) or (number, method, line)
            asked.setdefault(kind, []).append((line, (arguments, named)))
        for (number, method, *_), members in asked.items():
            answers = _answer_together(number, method, [one for _, one in members])
            for (line, _), answer in zip(members, answers, strict=True):
                _send_or_forget(line, answer)


def _send_or_forget(line: Connection, answer: Any) -> None:
    with suppress(OSError):  # whoever asked has ended in the meantime
        line.send_bytes(pickle.dumps(answer, pickle.HIGHEST_PROTOCOL))


def _kind_of_question(number: Any, method: str, arguments: Any) -> tuple[object, ...] | None:
    """Say with which questions a question can be answered; None if with none."""
    if method == "near_rows":
        return number, method
    if method == "kernel_sums" and arguments[0].can_be_joined:
        return number, method, arguments[1]
    return None


def _answer_together(number: Any, method: Any, asked: list[Any]) -> list[tuple[Any, Any]]:
    """Answer questions of one kind; an error is everybody's answer."""
    try:
        answers = getattr(_shared[number], method)
        if len(asked) == 1:
            arguments, named = asked[0]
            return [(answers(*arguments, **named), None)]
        first = [arguments[0] for arguments, _ in asked]
        if method == "near_rows":
            return [(one, None) for one in _near_rows_of_each(answers, first)]
        totals, tilted = answers(KernelSamples.join(first), asked[0][0][1])
        ends = np.cumsum([len(one.legs) for one in first])[:-1]
        both = zip(np.split(totals, ends), np.split(tilted, ends), strict=True)
        return [(one, None) for one in both]
    except Exception as error:
        return [(None, error)] * len(asked)


def _near_rows_of_each(near_rows: Any, asked: list[NearQuestions]) -> list[tuple[Ids, Ids]]:
    rows, counts = near_rows(NearQuestions.join(asked))
    each = np.split(counts, np.cumsum([len(one) for one in asked])[:-1])
    ends = np.cumsum([int(one.sum()) for one in each])[:-1]
    return list(zip(np.split(rows, ends), each, strict=True))
