"""A population, block by block: what is done is kept, and a restart does the rest."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from localface.apps.batch.manifest import manifest_of
from localface.apps.batch.parts import Folder, Tally, open_folder, packed, tally_of
from localface.apps.batch.people import PLACE, People, open_people
from localface.apps.batch.worker import Worker
from localface.errors import LocalFACEError

_NAMED = 5  # blocks that a message names


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Some people to explain."""

    number: int
    people: Any


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A block's answers, packed, and how many there are."""

    number: int
    data: bytes
    tally: Tally


@dataclass(frozen=True, slots=True)
class Failure:
    """A block that could not be done, and why."""

    number: int
    reason: str


@dataclass(frozen=True, slots=True)
class Report:
    """What a run came to: the blocks in all, those kept from before and those written now, and the people in them."""

    blocks: int
    out: Path
    people: int = 0
    found: int = 0
    errors: int = 0
    kept: int = 0
    written: int = 0
    failures: tuple[Failure, ...] = ()

    def with_(self, more: Tally) -> Report:
        """The report with some more people in it."""
        people, found, errors = (
            self.people + more.people,
            self.found + more.found,
            self.errors + more.errors,
        )
        return replace(self, people=people, found=found, errors=errors)

    def __str__(self) -> str:
        failed = f", {self.errors:,} with an error" if self.errors else ""
        done = self.kept + self.written
        part = "" if done == self.blocks else f"{done:,} of "
        kept = f" ({self.kept:,} from before)" if self.kept else ""
        return f"{self.people:,} people, {self.found:,} found{failed}: {part}{self.blocks:,} blocks{kept} in {self.out}"


class Unfinished(LocalFACEError):
    """Some blocks could not be done; the others are. ``report`` says which and why."""

    def __init__(self, message: str, report: Report) -> None:
        super().__init__(message)
        self.report = report

    def __reduce__(self) -> tuple[Any, ...]:
        return Unfinished, (str(self), self.report)


Results = Generator[Part | Failure, None, None]
BlockRunner = Callable[[Worker, Iterator[Block]], Results]
"""From a worker and blocks to what became of each block, in any order; blocks are taken only as they are needed."""


def done(worker: Worker, block: Block) -> Part:
    """Do a block: what every engine has its workers do."""
    answers = worker(block.people)
    return Part(block.number, packed(answers), tally_of(answers))


def explain_blocks(
    engine: BlockRunner,
    worker: Worker,
    people: Any,
    out: str | Path,
    *,
    block_size: int = 1000,
    progress: bool = True,
) -> Report:
    """Explain everyone in ``people`` with an engine, and keep the answers of each block as a part in ``out``.

    ``people`` is a parquet file, a folder of them or a pyarrow dataset. ``out`` is a new or
    empty folder, or that of the same run: its finished blocks are not done again. Without
    an ``id_column`` a person's id is their place among all the people, counted from 0.
    """
    crowd = open_people(people, block_size=block_size)
    worker.check_columns(crowd.dataset.schema.names)
    folder = open_folder(out, manifest_of(worker, crowd))
    kept = folder.finished()
    start = Report(blocks=crowd.n_blocks, out=folder.path, kept=len(kept)).with_(
        sum(kept.values(), Tally())
    )
    wanted = set(range(crowd.n_blocks)) - set(kept)
    blocks = _blocks(worker, crowd, wanted)
    named = worker if worker.id_column else replace(worker, id_column=PLACE)
    with (
        closing(engine(named, blocks)) as results,
        _bar(start, crowd.n_people, progress=progress) as show,
    ):
        report = _filled(results, folder, start, wanted=wanted, show=show)
    folder.tidy()
    if report.failures:
        raise Unfinished(_sentence(report, crowd), report)
    return report


def _blocks(worker: Worker, crowd: People, wanted: set[int]) -> Iterator[Block]:
    """Read the blocks that are not done yet, one when it is asked for."""
    columns = dict.fromkeys(
        [*worker.explainer.schema.names, *([worker.id_column] if worker.id_column else [])]
    )
    for number, people in crowd.blocks(wanted, list(columns)):
        yield Block(number, people)


def _filled(
    results: Results,
    folder: Folder,
    report: Report,
    *,
    wanted: set[int],
    show: Callable[[int, int], None],
) -> Report:
    """Write every part as it comes, to the last one; a block of which nothing is heard has failed."""
    left = set(wanted)
    try:
        for result in results:
            left.remove(result.number)
            if isinstance(result, Failure):
                report = replace(report, failures=(*report.failures, result))
                continue
            folder.keep(result.number, result.data, result.tally)
            report = replace(report.with_(result.tally), written=report.written + 1)
            show(result.tally.people, report.found)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"stopped; what is done is kept, and the same call again goes on: {report}"
        ) from None
    lost = tuple(Failure(number, "the engine lost it") for number in sorted(left))
    return replace(report, failures=report.failures + lost)


@contextmanager
def _bar(start: Report, total: int, *, progress: bool) -> Iterator[Callable[[int, int], None]]:
    """A bar of people done and found; what to call with how many more are done, and how many are found in all."""
    if not progress:
        yield lambda more, found: None
        return
    from tqdm.auto import tqdm

    with tqdm(total=total, initial=start.people, unit=" people", disable=None) as bar:

        def show(more: int, found: int) -> None:
            bar.set_postfix(found=found, refresh=False)
            bar.update(more)

        yield show


def _sentence(report: Report, crowd: People) -> str:
    """Say which blocks could not be done, and how to go on."""
    spans = [(one, *crowd.span(one.number)) for one in report.failures[:_NAMED]]
    each = "; ".join(
        f"block {one.number} (people {a:,} to {b - 1:,}): {one.reason}" for one, a, b in spans
    )
    more = f"; and {len(report.failures) - _NAMED} more" if len(report.failures) > _NAMED else ""
    return (
        f"{len(report.failures):,} of {report.blocks:,} blocks could not be done: {each}{more}. The others are in "
        f"{str(report.out)!r}; the same call again tries only those that are missing"
    )
