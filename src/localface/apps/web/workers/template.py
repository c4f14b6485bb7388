"""A process that has loaded the model and forks a worker from itself whenever one is wanted.

It runs no model: a worker that hangs or ends is replaced by another fork within milliseconds.
Workers share what it has loaded, unless loading has started threads or opened files, which do
not survive a fork: then each of them loads the model itself.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import pickle
import signal
import socket
import struct
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path

from localface.apps.web.http.log_lines import set_up_service_log
from localface.apps.web.workers.serve_connection import serve_connection

LENGTH = struct.Struct("!Q")
LOADED = b"+"
FAILED = b"-"
ORDINARY = b"o"
LOW_PRIORITY = b"l"
_NICENESS = 4  # of workers that give way to others: they get a third as much of a processor


def run_template(descriptor: int, modules: Sequence[str] = ()) -> None:
    """Load the model that comes through a socket, then fork until the socket is closed.

    ``modules`` are imported first, so that no worker has to when it is asked something.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the service
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for workers: none stays a zombie
    set_up_service_log()
    control = socket.socket(fileno=descriptor)
    for name in modules:
        with contextlib.suppress(Exception):  # a worker that needs it says what is wrong
            importlib.import_module(name)
    try:
        pickled = receive_exactly(control, LENGTH.unpack(receive_exactly(control, LENGTH.size))[0])
        handler = _load_or_tell(control, pickled)
        while True:
            _fork_one(control, pickled, handler)
    except (EOFError, OSError):
        pass
    finally:
        os.killpg(0, signal.SIGKILL)  # the service is gone: its workers, and this process


def receive_exactly(connected: socket.socket, n: int) -> bytes:
    """Receive so many bytes; ``EOFError`` where the other end was closed."""
    parts = bytearray()
    while len(parts) < n:
        part = connected.recv(min(2**20, n - len(parts)))
        if not part:
            raise EOFError
        parts += part
    return bytes(parts)


def _load_or_tell(control: socket.socket, pickled: bytes) -> object | None:
    """Load the model and say so; None where a fork would not take it along whole."""
    before = _threads_and_files()
    try:
        handler: object = pickle.loads(pickled)
    except Exception as error:  # whatever a model's own loading raises
        words = f"{type(error).__name__}: {error}".encode()
        control.sendall(FAILED + LENGTH.pack(len(words)) + words)
        raise EOFError from error
    control.sendall(LOADED)
    if before is None or _threads_and_files() != (1, before[1]):
        return None
    gc.freeze()  # it stays, and need not be looked through again and again
    return handler


def _threads_and_files() -> tuple[int, int] | None:
    """How many threads and open files this process has; None where the system does not tell."""
    here = Path("/proc/self")
    if not (here / "task").is_dir():
        return None
    return len(list((here / "task").iterdir())), len(list((here / "fd").iterdir()))


def _fork_one(control: socket.socket, pickled: bytes, handler: object | None) -> None:
    """Wait until a worker is wanted, fork it, and tell its process number."""
    kind, descriptors, _, _ = socket.recv_fds(control, 1, 1)
    if not kind:
        raise EOFError
    number = os.fork()
    if number == 0:
        _become_worker(control, descriptors[0], kind, handler or pickled)
    os.close(descriptors[0])
    control.sendall(LENGTH.pack(number))


def _become_worker(
    control: socket.socket, descriptor: int, kind: bytes, handler: object | bytes
) -> None:
    """Serve through a connection, and end: nothing of the process that was forked goes on."""
    status = 1
    try:
        control.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        if kind == LOW_PRIORITY:
            with contextlib.suppress(OSError):
                os.nice(_NICENESS)
        whole = pickle.loads(handler) if isinstance(handler, bytes) else handler
        serve_connection(Connection(descriptor), whole)
        status = 0
    finally:
        os._exit(status)
