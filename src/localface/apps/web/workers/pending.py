"""A request that is being answered."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from localface.apps.web.http.reply import Reply
from localface.apps.web.workers.parsed_request import RequestBody


@dataclass(slots=True, eq=False)
class PendingRequest:
    """A request on its way: what it asks, and how many clients wait for it.

    Parameters
    ----------
    number : by which workers know it
    key : what it asks as text; equal requests are searched once
    body : what it asks
    is_dear : whether it takes many searches
    reply : what its clients wait for
    waiting : how many clients
    is_quick : whether it takes no search
    is_suspect : whether a worker was lost with it: it is tried once more, by itself
    was_spared : whether the worker that it had to itself was lost before it gave a sign of life
    """

    number: int
    key: str
    body: RequestBody
    is_dear: bool
    reply: asyncio.Future[Reply]
    waiting: int = 0
    is_quick: bool = False
    is_suspect: bool = False
    was_spared: bool = False
