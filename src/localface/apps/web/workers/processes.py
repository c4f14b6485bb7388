"""Starting worker processes: forks of a template where the system can, else new interpreters."""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Protocol

from localface.apps.web.workers.serve_connection import serve_pickled
from localface.errors import LocalFACEError

_THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
_PRELOADED = ("localface", "numpy", "scipy", "pandas", "narwhals", "pyarrow", "polars", "sklearn")
_OWN = ("localface.apps.web.workers.handlers", "localface.answers.document")
_MOST_MODELS = ("pandas", "sklearn")
_NOT_PRELOADED = ("localface.__main__", "localface.apps.cli", "localface.apps.web.app")
CAN_FORK = sys.platform == "linux" and hasattr(os, "fork")


class ModelCannotTravel(LocalFACEError):
    """A model that another process cannot load."""


class ProcessStarter(Protocol):
    """Starts worker processes."""

    def start_process(self, *, low_priority: bool) -> tuple[Connection, int]:
        """Start one; returns the connection to it, and its process number. May wait."""
        ...

    def stop(self) -> None:
        """End every process that was started."""
        ...


class ForkTemplate:
    """Starts workers as forks of a process that has loaded the model; see ``template.py``.

    Not of this process: threads that a model or a notebook has started (OpenMP, ONNX) do not
    survive a fork. It begins to import modules at once: those of this process, those of a worker,
    and what most models need, unless it is known that none of them will be.
    """

    def __init__(self, *, for_any_model: bool = True) -> None:
        self._preloaded = (*_OWN, *(_MOST_MODELS if for_any_model else ()))
        self._pickled: bytes | None = None
        self._lock = threading.Lock()
        self._control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False
        self._start_template()  # it has modules to import, while the model is being made

    def load(self, pickled_handler: bytes) -> None:
        """Have a model loaded; ``ModelCannotTravel`` where that fails."""
        with self._lock:
            self._pickled = pickled_handler
            self._give_model()

    def start_process(self, *, low_priority: bool) -> tuple[Connection, int]:
        """Fork a worker."""
        from localface.apps.web.workers.template import (
            LENGTH,
            LOW_PRIORITY,
            ORDINARY,
            receive_exactly,
        )

        ours, theirs = multiprocessing.Pipe()
        kind = LOW_PRIORITY if low_priority else ORDINARY
        with self._lock:
            try:
                control = self._connected_template()
                socket.send_fds(control, [kind], [theirs.fileno()])
                number = LENGTH.unpack(receive_exactly(control, LENGTH.size))[0]
            except (OSError, EOFError):
                self._end_template()  # the next try starts another
                raise
            finally:
                theirs.close()
        return ours, number

    def stop(self) -> None:
        """End the template and all of its forks."""
        self._stopped = True
        with self._lock:
            self._end_template()

    def _connected_template(self) -> socket.socket:
        """The socket to a template that has the model; another is started where one has ended."""
        if self._stopped:
            raise EOFError
        if self._control is None:
            self._start_template()
            self._give_model()
        if self._control is None:
            raise EOFError
        return self._control

    def _start_template(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs, limit_to_one_thread_each():
            self._process = subprocess.Popen(
                [sys.executable, "-c", _template_code(theirs.fileno(), self._preloaded)],
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # so that Ctrl-C reaches the service alone
            )
        self._control = ours

    def _give_model(self) -> None:
        from localface.apps.web.workers.template import FAILED, LENGTH, receive_exactly

        if self._control is None or self._pickled is None:
            raise EOFError
        self._control.sendall(LENGTH.pack(len(self._pickled)))
        self._control.sendall(self._pickled)
        if receive_exactly(self._control, 1) == FAILED:
            length = LENGTH.unpack(receive_exactly(self._control, LENGTH.size))[0]
            words = receive_exactly(self._control, length).decode()
            self._end_template()
            raise ModelCannotTravel(words)

    def _end_template(self) -> None:
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            with suppress(OSError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(timeout=10)
        self._control = None
        self._process = None


class SpawnedInterpreters:
    """Starts each worker as a new interpreter, where there is no fork."""

    def __init__(self, pickled_handler: bytes) -> None:
        self._pickled = pickled_handler
        self._processes: list[Any] = []

    def start_process(self, *, low_priority: bool) -> tuple[Connection, int]:
        """Start a new interpreter that loads the model."""
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=serve_pickled, args=(theirs, self._pickled), daemon=True)
        with limit_to_one_thread_each():
            process.start()
        theirs.close()
        self._processes = [one for one in self._processes if one.is_alive()] + [process]
        return ours, int(process.pid or 0)

    def stop(self) -> None:
        """End every process that was started."""
        for process in self._processes:
            process.kill()
            process.join(timeout=2)


@contextmanager
def limit_to_one_thread_each() -> Iterator[None]:
    """Let processes started now use one thread each for linear algebra: they share the cores."""
    added = [name for name in _THREAD_VARIABLES if name not in os.environ]
    os.environ.update(dict.fromkeys(added, "1"))
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


def kill_process(number: int) -> None:
    """End a process at once, whatever it is doing."""
    with suppress(OSError):
        os.kill(number, getattr(signal, "SIGKILL", signal.SIGTERM))


def resident_bytes(number: int) -> int:
    """The memory that a process has in use; 0 where the system does not tell."""
    try:
        words = Path(f"/proc/{number}/statm").read_text(encoding="ascii").split()
        return int(words[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def seconds_without_processor(number: int) -> float:
    """How long a process has waited for a free processor; 0 where the system does not tell."""
    try:
        words = Path(f"/proc/{number}/schedstat").read_text(encoding="ascii").split()
        return int(words[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


def _template_code(descriptor: int, more: Sequence[str]) -> str:
    """What the template's interpreter runs: modules are found where this process finds them."""
    return (
        f"import sys; sys.path[:] = {sys.path!r}; "
        "from localface.apps.web.workers.template import run_template; "
        f"run_template({descriptor}, {_modules_to_preload(more)!r})"
    )


def _modules_to_preload(more: Sequence[str]) -> list[str]:
    """The modules that a search may need: those of this process, in the order they were imported.

    And those that are known by name, where their packages are installed.
    """
    here = [
        name
        for name in list(sys.modules)
        if name.partition(".")[0] in _PRELOADED and not name.startswith(_NOT_PRELOADED)
    ]
    installed = (name for name in more if find_spec(name.partition(".")[0]))
    return [*here, *(name for name in installed if name not in here)]
