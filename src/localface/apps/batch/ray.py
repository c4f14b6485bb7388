"""Many people on a Ray cluster: workers made once, blocks handed out, the dead replaced."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice
from pathlib import Path
from pickle import PicklingError
from typing import Any

from localface.apps.batch.blocks import Block, Failure, Part, Report, Results, done, explain_blocks
from localface.apps.batch.worker import Worker
from localface.data.opening import extra
from localface.errors import InputError, LocalFACEError, ModelError
from localface.explainer import LocalFACE
from localface.options import Ask

ray = extra("ray", "localface.apps.batch.ray", "cluster")

_TRIES = 3  # so often a block may take its worker down with it
_CREATION = "creation task"  # so Ray calls it when a worker cannot be made
_ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR")}


def explain_parquet(
    explainer: LocalFACE,
    people: Any,
    out: str | Path,
    *,
    block_size: int = 1000,
    workers: int | None = None,
    address: str = "auto",
    progress: bool = True,
    id_column: str | None = None,
    ask: Ask = Ask(),
) -> Report:
    """Explain everyone in a parquet file or a folder of them on a Ray cluster, and write the answers to ``out``.

    The explainer is put into the object store once and shared by the workers of a node.
    People are read, and answers written, where this is called: only they need reach the
    files. A worker that dies is replaced and its block done again; a block that takes three
    workers down with it is left out and named at the end.

    Parameters
    ----------
    explainer, people, out, block_size
        As for ``explain_blocks``, which says what is written and what a restart does.
    workers
        How many, of one CPU each; as many as the cluster has CPUs if not given.
    address
        Where the cluster is, unless ``ray.init`` was called before: ``"auto"`` for one that
        runs, ``"local"`` to start one on this machine for as long as it takes.
    progress
        Whether to show a bar.
    id_column, ask
        Who is who, and what is asked for everyone; see ``Worker``.
    """
    _check_workers(workers)
    worker = Worker(explainer, id_column=id_column, ask=ask)
    with _cluster(address, workers):
        engine = partial(_handed_out, workers=workers or _cpus())
        return explain_blocks(engine, worker, people, out, block_size=block_size, progress=progress)


def explain_dataset(
    explainer: LocalFACE,
    dataset: Any,
    *,
    block_size: int = 1000,
    workers: int | None = None,
    id_column: str | None = None,
    ask: Ask = Ask(),
) -> Any:
    """Explain everyone in a Ray dataset: the dataset of answers, worked out when it is read or written.

    Ray hands the blocks out and does those of lost workers again. Without an ``id_column``
    nothing says who is who: the ids then only count within a block.
    """
    _check_workers(workers)
    crew = ray.data.ActorPoolStrategy(size=workers or _cpus())
    return dataset.map_batches(
        _Mapper,
        fn_constructor_args=(_shared(Worker(explainer, id_column=id_column, ask=ask)),),
        batch_size=block_size,
        batch_format="pyarrow",
        zero_copy_batch=True,
        compute=crew,
        num_cpus=1,
        runtime_env={"env_vars": _ONE_THREAD},
    )


class _Mapper:
    """A worker as Ray Data makes it: once for each of its processes."""

    def __init__(self, worker: Any) -> None:
        self._worker = ray.get(worker)

    def __call__(self, people: Any) -> Any:
        return self._worker(people)


class _Hand:
    """A worker as it lives on the cluster."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    def ready(self) -> None:
        """Answer once the worker is made."""

    def done(self, block: Block) -> Part:
        """Do a block."""
        return done(self._worker, block)


class _Crew:
    """The workers of one run, each with at most one block in hand, so that a death is laid at the right door."""

    def __init__(self, worker: Worker) -> None:
        self._worker = _shared(worker)
        self._kind = ray.remote(_Hand).options(
            num_cpus=1,
            max_restarts=0,
            max_task_retries=0,
            scheduling_strategy="SPREAD",
            runtime_env={"env_vars": _ONE_THREAD},
        )
        self._hands: set[Any] = set()
        self._awaited: dict[
            Any, tuple[Any, Block | None]
        ] = {}  # from whom, and which block; None: to be ready
        self._again: deque[Block] = deque()
        self._deaths: Counter[int] = Counter()
        self._stillborn = 0

    def run(self, blocks: Iterator[Block], size: int) -> Results:
        """Hand blocks out to as many workers, until all are done or given up."""
        for _ in range(size):
            self._hire()
        while self._awaited:
            (ref,), _ = ray.wait(list(self._awaited), num_returns=1)
            hand, block = self._awaited.pop(ref)
            try:
                part = ray.get(ref)
            except ray.exceptions.RayTaskError as error:
                raise _cause(error) from None
            except ray.exceptions.RayError as death:
                yield from self._replaced(hand, block, death)
                continue
            self._give(hand, blocks)
            if block is not None:
                yield part

    def dismiss(self) -> None:
        """Let everyone go, whatever they are doing."""
        for hand in self._hands:
            ray.kill(hand)

    def _hire(self) -> None:
        hand = self._kind.remote(self._worker)
        self._hands.add(hand)
        self._awaited[hand.ready.remote()] = (hand, None)

    def _give(self, hand: Any, blocks: Iterator[Block]) -> None:
        """Give a worker the next block, or let it go."""
        self._stillborn = 0
        block = self._again.popleft() if self._again else next(blocks, None)
        if block is None:
            self._hands.discard(hand)
            ray.kill(hand)
        else:
            self._awaited[hand.done.remote(block)] = (hand, block)

    def _replaced(self, hand: Any, block: Block | None, death: Exception) -> Iterator[Failure]:
        """Replace a worker that died; its block is done again, unless it has taken too many with it."""
        self._hands.discard(hand)
        ray.kill(hand)
        if block is None:
            self._stillborn += 1
            if self._stillborn >= _TRIES or _CREATION in str(death):
                raise LocalFACEError(
                    f"no worker can be started on the cluster: {_words(death)}"
                ) from death
        else:
            self._deaths[block.number] += 1
            if self._deaths[block.number] >= _TRIES:
                yield Failure(
                    block.number, f"{_TRIES} workers died over it, the last so: {_words(death)}"
                )
            else:
                self._again.append(block)
        self._hire()


def _handed_out(worker: Worker, blocks: Iterator[Block], workers: int) -> Results:
    """The engine on a cluster: no more workers than there are blocks, and none where nothing is left to do."""
    first = list(islice(blocks, workers))
    if not first:
        return
    crew = _Crew(worker)
    try:
        yield from crew.run(chain(first, blocks), len(first))
    finally:
        crew.dismiss()


def _shared(worker: Worker) -> Any:
    """Put a worker where the workers of every machine find it, one copy a machine."""
    try:
        return ray.put(worker)
    except (TypeError, PicklingError) as error:
        reason = error.__cause__ or error.__context__ or error  # Ray wraps it in a long account
        raise ModelError(
            f"the explainer cannot be sent to the cluster ({reason}): the model has to be one that pickle can write, "
            "such as an estimator of scikit-learn or a function of plain values"
        ) from error


@contextmanager
def _cluster(address: str, workers: int | None) -> Iterator[None]:
    """Use the cluster that we are connected to, else connect for as long as it takes."""
    if ray.is_initialized():
        yield
        return
    local = {"include_dashboard": False, "num_cpus": workers} if address == "local" else {}
    try:
        ray.init(address=address, log_to_driver=False, logging_level="warning", **local)
    except ConnectionError as error:
        raise InputError(
            f"there is no Ray cluster at address={address!r}: start one (ray start --head), call ray.init(...) first, "
            "or pass address='local' for one on this machine"
        ) from error
    try:
        yield
    finally:
        ray.shutdown()


def _cpus() -> int:
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def _check_workers(workers: object) -> None:
    if workers is not None and (
        isinstance(workers, bool) or not isinstance(workers, int) or workers < 1
    ):
        raise InputError(
            f"workers={workers!r}: a whole number, 1 or more, is wanted, or None for one a CPU"
        )


def _cause(error: Any) -> Exception:
    """What really went wrong on the cluster."""
    return error.cause if isinstance(error.cause, Exception) else LocalFACEError(_words(error))


def _words(error: Exception) -> str:
    """The line of Ray's account that says what happened: the last where a worker could not be made, else the first."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if lines and _CREATION in lines[0]:
        return lines[-1]
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
