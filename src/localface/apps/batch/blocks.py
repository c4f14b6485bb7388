"""Explaining a population block by block, so that a restart goes on where it stopped."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from localface.apps.batch.answers_folder import (
    AnswersFolder,
    PeopleCounts,
    count_answers,
    open_answers_folder,
    parquet_bytes,
)
from localface.apps.batch.manifest import manifest_of
from localface.apps.batch.people_files import POSITION, PeopleFiles, open_people
from localface.apps.batch.worker import Worker
from localface.errors import LocalFACEError

_MAX_NAMED = 5  # blocks that a message names


@dataclass(frozen=True, slots=True, eq=False)
class PeopleBlock:
    """Some people to explain."""

    number: int
    people: Any


@dataclass(frozen=True, slots=True, eq=False)
class AnsweredBlock:
    """A block's answers as the bytes of a parquet file, and how many there are."""

    number: int
    data: bytes
    counts: PeopleCounts


@dataclass(frozen=True, slots=True)
class Failure:
    """A block that could not be done, and why."""

    number: int
    reason: str


@dataclass(frozen=True, slots=True)
class Report:
    """What a run came to: blocks in all, kept from before and written now, and their people."""

    blocks: int
    out: Path
    people: int = 0
    found: int = 0
    errors: int = 0
    kept: int = 0
    written: int = 0
    failures: tuple[Failure, ...] = ()

    def with_counts_added(self, more: PeopleCounts) -> Report:
        """The report with some more people in it."""
        return replace(
            self,
            people=self.people + more.people,
            found=self.found + more.found,
            errors=self.errors + more.errors,
        )

    def __str__(self) -> str:
        failed = f", {self.errors:,} with an error" if self.errors else ""
        done = self.kept + self.written
        part = "" if done == self.blocks else f"{done:,} of "
        kept = f" ({self.kept:,} from before)" if self.kept else ""
        who = "person" if self.people == 1 else "people"
        blocks = "block" if self.blocks == 1 else "blocks"
        people = f"{self.people:,} {who}, {self.found:,} found{failed}"
        return f"{people}: {part}{self.blocks:,} {blocks}{kept} in {self.out}"


class Unfinished(LocalFACEError):
    """Some blocks could not be done; the others are. ``report`` says which and why."""

    def __init__(self, message: str, report: Report) -> None:
        super().__init__(message)
        self.report = report

    def __reduce__(self) -> tuple[Any, ...]:
        return Unfinished, (str(self), self.report)


Results = Generator[AnsweredBlock | Failure, None, None]
BlockRunner = Callable[[Worker, Iterator[PeopleBlock]], Results]
"""From a worker and blocks to what became of each, in any order; takes blocks as it needs them."""


def explain_block(worker: Worker, block: PeopleBlock) -> AnsweredBlock:
    """Explain everyone in a block: what every engine has its workers do."""
    answers = worker(block.people)
    return AnsweredBlock(block.number, parquet_bytes(answers), count_answers(answers))


def explain_blocks(
    run_blocks: BlockRunner,
    worker: Worker,
    people: Any,
    out: str | Path,
    *,
    block_size: int = 1000,
    progress: bool = True,
) -> Report:
    """Explain everyone in ``people`` with an engine, and write their answers to ``out``.

    ``people`` is a parquet, CSV or JSON file, a folder of files of one kind, or a pyarrow
    dataset. ``out`` is a new or empty folder, or that of the same run: its finished blocks are
    not done again. Without an ``id_column`` a person's id is their place among all the people,
    counted from 0.
    """
    opened = open_people(people, block_size=block_size)
    worker.check_columns(opened.schema.names)
    with open_answers_folder(out, manifest_of(worker, opened)) as folder:
        report = _explain_missing(run_blocks, worker, opened, folder, progress=progress)
    if report.failures:
        raise Unfinished(_failure_message(report, opened), report)
    return report


def _explain_missing(
    run_blocks: BlockRunner,
    worker: Worker,
    opened: PeopleFiles,
    folder: AnswersFolder,
    *,
    progress: bool,
) -> Report:
    """Explain the people of the blocks that are not done yet."""
    kept = folder.counts_of_finished_blocks(opened.n_blocks)
    start = Report(blocks=opened.n_blocks, out=folder.path, kept=len(kept))
    start = start.with_counts_added(sum(kept.values(), PeopleCounts()))
    missing = set(range(opened.n_blocks)) - set(kept)
    blocks = _read_blocks(worker, opened, missing)
    with_ids = worker if worker.id_column else replace(worker, id_column=POSITION)
    with (
        closing(run_blocks(with_ids, blocks)) as results,
        _progress_bar(start, opened.n_people, progress=progress) as show_progress,
    ):
        return _write_results(results, folder, start, missing=missing, show_progress=show_progress)


def _read_blocks(worker: Worker, people: PeopleFiles, missing: set[int]) -> Iterator[PeopleBlock]:
    """Read the blocks that are not done yet, each when it is asked for."""
    columns = list(worker.explainer.schema.names)
    if worker.id_column and worker.id_column not in columns:
        columns.append(worker.id_column)
    for number, table in people.read_blocks(missing, columns):
        yield PeopleBlock(number, table)


def _write_results(
    results: Results,
    folder: AnswersFolder,
    report: Report,
    *,
    missing: set[int],
    show_progress: Callable[[int, int], None],
) -> Report:
    """Write every result as it comes; a block of which nothing is heard has failed."""
    left = set(missing)
    try:
        for result in results:
            left.remove(result.number)
            if isinstance(result, Failure):
                report = replace(report, failures=(*report.failures, result))
                continue
            folder.write_part(result.number, result.data, result.counts)
            report = replace(report.with_counts_added(result.counts), written=report.written + 1)
            show_progress(result.counts.people, report.found)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"stopped; what is done is kept, and the same call again goes on: {report}"
        ) from None
    lost = tuple(Failure(number, "the engine lost it") for number in sorted(left))
    return replace(report, failures=report.failures + lost)


@contextmanager
def _progress_bar(
    start: Report, total: int, *, progress: bool
) -> Iterator[Callable[[int, int], None]]:
    """A progress bar; call what it gives with how many more are done, and found in all."""
    if not progress:
        yield lambda more, found: None
        return
    from tqdm.auto import tqdm

    with tqdm(total=total, initial=start.people, unit=" people", disable=None) as bar:

        def show_progress(more: int, found: int) -> None:
            bar.set_postfix(found=found, refresh=False)
            bar.update(more)

        yield show_progress


def _failure_message(report: Report, people: PeopleFiles) -> str:
    """Say which blocks could not be done, and how to go on."""
    reasons = []
    for failure in report.failures[:_MAX_NAMED]:
        first, after = people.block_span(failure.number)
        span = f"people {first:,} to {after - 1:,}"
        reasons.append(f"block {failure.number} ({span}): {failure.reason}")
    if len(report.failures) > _MAX_NAMED:
        reasons.append(f"and {len(report.failures) - _MAX_NAMED} more")
    return (
        f"{len(report.failures):,} of {report.blocks:,} blocks could not be done: "
        f"{'; '.join(reasons)}. The others are in {str(report.out)!r}; "
        "the same call again tries only those that are missing"
    )
