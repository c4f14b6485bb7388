"""Many people on this machine, one block after another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from localface.apps.batch.blocks import (
    PeopleBlock,
    Report,
    Results,
    explain_block,
    explain_blocks,
)
from localface.apps.batch.worker import Worker
from localface.explainer import LocalFACE
from localface.options import Ask


def explain_parquet(
    explainer: LocalFACE,
    people: Any,
    out: str | Path,
    *,
    block_size: int = 1000,
    progress: bool = True,
    id_column: str | None = None,
    ask: Ask | None = None,
) -> Report:
    """Explain everyone in a file, or in a folder of them, and write the answers to ``out``.

    ``id_column`` and ``ask`` are described at ``Worker``; what is written, and what a restart
    does, at ``explain_blocks``.
    """
    worker = Worker(explainer, id_column=id_column, ask=ask or Ask())
    return explain_blocks(run_blocks, worker, people, out, block_size=block_size, progress=progress)


def run_blocks(worker: Worker, blocks: Iterator[PeopleBlock]) -> Results:
    """The runner without a cluster: explain each block here."""
    for block in blocks:
        yield explain_block(worker, block)
