"""The log of a service: one JSON object a line, no records of people, no floods."""

from __future__ import annotations

import json
import logging
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

LOG = logging.getLogger("localface.apps.web")
_LOGGERS = ("localface", "uvicorn", "asyncio", "py.warnings")
_MOST_FRAMES = 6


def describe_error(error: BaseException) -> str:
    """An error by its type and where it was raised; what it says may hold a record or a path.

    >>> try:
    ...     {}["Smith"]
    ... except KeyError as error:
    ...     describe_error(error).split(" at ")[0]
    'KeyError'
    """
    frames = traceback.extract_tb(error.__traceback__)[-_MOST_FRAMES:]
    places = [f"{Path(one.filename).name}:{one.lineno} {one.name}" for one in reversed(frames)]
    return " at ".join([type(error).__name__, *places[:1]]) + "".join(f" < {p}" for p in places[1:])


class QuietFilter(logging.Filter):
    """Lets through a few lines of each kind in a while, and says how many were held back."""

    def __init__(
        self, most: int = 5, seconds: float = 10.0, now: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__()
        self._most = most
        self._seconds = seconds
        self._now = now
        self._kinds: dict[tuple[str, str], list[float]] = {}  # since when, let through, held back

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a line is let through; errors are told by type and place alone."""
        if record.exc_info and record.exc_info[1] is not None:
            record.error = describe_error(record.exc_info[1])
        record.exc_info = None
        kind = (record.name, str(record.msg)[:200])
        since, passed, held = self._kinds.setdefault(kind, [self._now(), 0, 0])
        if self._now() - since > self._seconds:
            since, passed = self._now(), 0
        if passed >= self._most:
            self._kinds[kind] = [since, passed, held + 1]
            return False
        record.held_back = int(held)
        self._kinds[kind] = [since, passed + 1, 0]
        if len(self._kinds) > 1000:  # kinds that a client made up
            self._kinds.clear()
        return True


class JsonLines(logging.Formatter):
    """Writes a line of the log as a JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        """Write one line."""
        line: dict[str, object] = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname.lower(),
            "from": record.name,
            "message": record.getMessage(),
        }
        for name in ("error", "held_back"):
            if value := getattr(record, name, None):
                line[name] = value
        return json.dumps(line, ensure_ascii=False)


def set_up_service_log() -> None:
    """Have this process, which is there to serve, write its log to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    handler.addFilter(QuietFilter())
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(logging.WARNING)
