"""Many people on a Ray cluster; workers that die are replaced."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice
from pathlib import Path
from pickle import PicklingError
from typing import Any

from localface.apps.batch.blocks import (
    AnsweredBlock,
    Failure,
    PeopleBlock,
    Report,
    Results,
    explain_block,
    explain_blocks,
)
from localface.apps.batch.worker import Worker
from localface.errors import InputError, LocalFACEError, ModelError, needs_extra
from localface.explainer import LocalFACE
from localface.options import Ask

with needs_extra("cluster", "localface.apps.batch.ray"):
    import ray

_MAX_DEATHS = 3  # of workers over one block
_CREATION = "creation task"  # in Ray's message when a worker cannot be made
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
    ask: Ask | None = None,
) -> Report:
    """Explain everyone in a file, or in a folder of them, on a Ray cluster.

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
    _check_worker_count(workers)
    worker = Worker(explainer, id_column=id_column, ask=ask or Ask())
    with _connected_to_cluster(address, workers):
        engine = partial(_run_blocks_on_cluster, workers=workers or _count_cluster_cpus())
        return explain_blocks(engine, worker, people, out, block_size=block_size, progress=progress)


def explain_dataset(
    explainer: LocalFACE,
    dataset: Any,
    *,
    block_size: int = 1000,
    workers: int | None = None,
    id_column: str | None = None,
    ask: Ask | None = None,
) -> Any:
    """Explain everyone in a Ray dataset; answers are worked out when they are read or written.

    Ray hands the blocks out and does those of lost workers again. Without an ``id_column``
    nothing says who is who: the ids then only count within a block.
    """
    _check_worker_count(workers)
    pool = ray.data.ActorPoolStrategy(size=workers or _count_cluster_cpus())
    return dataset.map_batches(
        _Mapper,
        fn_constructor_args=(
            _put_into_object_store(Worker(explainer, id_column=id_column, ask=ask or Ask())),
        ),
        batch_size=block_size,
        batch_format="pyarrow",
        zero_copy_batch=True,
        compute=pool,
        num_cpus=1,
        runtime_env={"env_vars": _ONE_THREAD},
    )


class _Mapper:
    """A worker as Ray Data makes it: once for each of its processes."""

    def __init__(self, worker: Any) -> None:
        self._worker = ray.get(worker)

    def __call__(self, people: Any) -> Any:
        return self._worker(people)


class _RemoteWorker:
    """A worker as an actor on the cluster."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    def wait_until_ready(self) -> None:
        """Answer once the worker is made."""

    def explain(self, block: PeopleBlock) -> AnsweredBlock:
        """Explain everyone in a block."""
        return explain_block(self._worker, block)


class _WorkerPool:
    """The workers of one run, each with at most one block, so that it is known what killed it."""

    def __init__(self, worker: Worker) -> None:
        self._worker = _put_into_object_store(worker)
        self._kind = ray.remote(_RemoteWorker).options(
            num_cpus=1,
            max_restarts=0,
            max_task_retries=0,
            scheduling_strategy="SPREAD",
            runtime_env={"env_vars": _ONE_THREAD},
        )
        self._actors: set[Any] = set()
        # by what is awaited: the worker, and its block; None while it is being made
        self._awaited: dict[Any, tuple[Any, PeopleBlock | None]] = {}
        self._retries: deque[PeopleBlock] = deque()
        self._deaths: Counter[int] = Counter()  # by block
        self._failed_starts = 0

    def run_blocks(self, blocks: Iterator[PeopleBlock], size: int) -> Results:
        """Hand blocks out to as many workers, until all are done or given up."""
        for _ in range(size):
            self._start_worker()
        while self._awaited:
            (ref,), _ = ray.wait(list(self._awaited), num_returns=1)
            actor, block = self._awaited.pop(ref)
            try:
                answered = ray.get(ref)
            except ray.exceptions.RayTaskError as error:
                raise _underlying_error(error) from None
            except ray.exceptions.RayError as death:
                yield from self._replace_dead_worker(actor, block, death)
                continue
            self._give_block(actor, blocks)
            if block is not None:
                yield answered

    def stop_workers(self) -> None:
        """Stop every worker, whatever it is doing."""
        for actor in self._actors:
            ray.kill(actor)

    def _start_worker(self) -> None:
        actor: Any = self._kind.remote(self._worker)
        self._actors.add(actor)
        self._awaited[actor.wait_until_ready.remote()] = (actor, None)

    def _give_block(self, actor: Any, blocks: Iterator[PeopleBlock]) -> None:
        """Give a worker the next block, or stop it."""
        self._failed_starts = 0
        block = self._retries.popleft() if self._retries else next(blocks, None)
        if block is None:
            self._actors.discard(actor)
            ray.kill(actor)
        else:
            self._awaited[actor.explain.remote(block)] = (actor, block)

    def _replace_dead_worker(
        self, actor: Any, block: PeopleBlock | None, death: Exception
    ) -> Iterator[Failure]:
        """Replace a worker that died; its block is tried again, until three have died."""
        self._actors.discard(actor)
        ray.kill(actor)
        if block is None:
            self._failed_starts += 1
            if self._failed_starts >= _MAX_DEATHS or _CREATION in str(death):
                raise LocalFACEError(
                    f"no worker can be started on the cluster: {_main_error_line(death)}"
                ) from death
        else:
            self._deaths[block.number] += 1
            if self._deaths[block.number] >= _MAX_DEATHS:
                yield Failure(
                    block.number,
                    f"{_MAX_DEATHS} workers died over it, the last so: {_main_error_line(death)}",
                )
            else:
                self._retries.append(block)
        self._start_worker()


def _run_blocks_on_cluster(worker: Worker, blocks: Iterator[PeopleBlock], workers: int) -> Results:
    """The runner on a cluster: no more workers than there are blocks."""
    first = list(islice(blocks, workers))
    if not first:
        return
    pool = _WorkerPool(worker)
    try:
        yield from pool.run_blocks(chain(first, blocks), len(first))
    finally:
        pool.stop_workers()


def _put_into_object_store(worker: Worker) -> Any:
    """Put a worker into the object store: one copy a machine."""
    try:
        return ray.put(worker)
    except (TypeError, PicklingError) as error:
        reason = error.__cause__ or error.__context__ or error  # Ray wraps it in a long account
        raise ModelError(
            f"the explainer cannot be sent to the cluster ({reason}): "
            "the model has to be one that pickle can write, "
            "such as an estimator of scikit-learn or a function of plain values"
        ) from error


@contextmanager
def _connected_to_cluster(address: str, workers: int | None) -> Iterator[None]:
    """Use the cluster that we are connected to, else connect for as long as it takes."""
    if ray.is_initialized():
        yield
        return
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "warning"}
    if address == "local":
        options |= {"include_dashboard": False, "num_cpus": workers}
    try:
        ray.init(address=address, **options)
    except ConnectionError as error:
        raise InputError(
            f"there is no Ray cluster at address={address!r}: start one (ray start --head), "
            "call ray.init(...) first, or pass address='local' for one on this machine"
        ) from error
    try:
        yield
    finally:
        ray.shutdown()


def _count_cluster_cpus() -> int:
    resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
    return max(1, int(resources.get("CPU", 1)))


def _check_worker_count(workers: object) -> None:
    if workers is not None and (
        isinstance(workers, bool) or not isinstance(workers, int) or workers < 1
    ):
        raise InputError(
            f"workers={workers!r}: a whole number, 1 or more, is wanted, or None for one a CPU"
        )


def _underlying_error(error: Any) -> Exception:
    """What really went wrong on the cluster."""
    return (
        error.cause
        if isinstance(error.cause, Exception)
        else LocalFACEError(_main_error_line(error))
    )


def _main_error_line(error: Exception) -> str:
    """The line of Ray's error that says what happened.

    It is the last where a worker could not be made, else the first.
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if lines and _CREATION in lines[0]:
        return lines[-1]
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
