"""Many people on this machine, one block after another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Unpack

from localface.apps.batch.blocks import Block, Report, Results, done, explain_blocks
from localface.apps.batch.worker import Wishes, Worker
from localface.explainer import LocalFACE


def explain_parquet(
    explainer: LocalFACE,
    people: Any,
    out: str | Path,
    *,
    block_size: int = 1000,
    progress: bool = True,
    **wishes: Unpack[Wishes],
) -> Report:
    """Explain everyone in a parquet file or a folder of them, and write the answers to ``out`` as they come.

    What is asked for everyone (``where``, ``relax``, ``actions``, ..., and ``id_column``) is
    described at ``Worker``; what is written, and what a restart does, at ``explain_blocks``.
    """
    worker = Worker(explainer, **wishes)
    return explain_blocks(serial, worker, people, out, block_size=block_size, progress=progress)


def serial(worker: Worker, blocks: Iterator[Block]) -> Results:
    """The engine without a cluster: do each block here."""
    for block in blocks:
        yield done(worker, block)
