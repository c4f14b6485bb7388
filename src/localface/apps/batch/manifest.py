"""What a run is: who is explained, by what, and what is asked, so that a restart can tell whether it is the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from localface._version import __version__
from localface.apps.batch.people import People
from localface.apps.batch.worker import Worker
from localface.explainer import LocalFACE
from localface.options import Ask
from localface.sources.holder import list_all_rows

FORMAT = "localface/parts"
FORMAT_VERSION = 1
_CHUNK = 2**20  # bytes read at a time
_PROBES = 1000  # rows of the data whose scores stand for the model


def manifest_of(worker: Worker, people: People) -> dict[str, Any]:
    """Write down all that the answers depend on, as plain values."""
    asked = {one.name: getattr(worker.ask, one.name) for one in fields(Ask)}
    asked["id_column"] = worker.id_column
    return {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "made_with": __version__,
        "n_people": people.n_people,
        "block_size": people.block_size,
        "people": _digest([_file(file, n) for file, n in people.files]),
        "options": json.loads(_written(asked)),
        "explainer": {
            "settings": json.loads(_written(worker.explainer.options.plain())),
            **_known(worker.explainer),
        },
    }


def differences(there: Mapping[str, Any], here: Mapping[str, Any], name: str = "") -> Iterator[str]:
    """Name what differs between two manifests, as deep as it can be named."""
    for key in dict.fromkeys([*there, *here]):
        old, new = there.get(key), here.get(key)
        full = f"{name}.{key}" if name else key
        if isinstance(old, dict) and isinstance(new, dict):
            yield from differences(old, new, full)
        elif old != new:
            plain = not any(isinstance(one, str) and len(one) == _LENGTH for one in (old, new))
            yield f"{full} ({old!r} there, {new!r} here)" if plain else full


def _known(explainer: LocalFACE) -> dict[str, str]:
    """What can be told of an explainer from outside: the schema, the data, and how the model scores some of it.

    Its pickle would not do: that changes with every score that is remembered.
    """
    engine = explainer.engine
    everyone = list_all_rows(engine.source)
    some = everyone[np.unique(np.linspace(0, len(everyone) - 1, _PROBES).astype(np.int64))]
    records = engine.source.records(some)
    rough = [engine.log_floor, *engine.space.scales.tolist()]
    return {
        "schema": _digest(explainer.schema.to_dict()),
        "target": engine.answers.target.sentence,
        "data": _digest(
            [
                engine.source.n_rows,
                len(everyone),
                records.tolist(),
                [f"{value:.8g}" for value in rough],
            ]
        ),
        "model": _digest([f"{score:.8g}" for score in engine.score(records).tolist()]),
    }


def _file(file: Any, n: int) -> list[Any]:
    """A file by its name and what is in it, not by its age; people in memory by what they are."""
    path = getattr(file, "path", None)
    if path is None:
        return [n, file.head(n).to_pydict()]
    content = hashlib.blake2b()
    with file.open() as stream:
        while chunk := stream.read(_CHUNK):
            content.update(chunk)
    return [path.rpartition("/")[2], n, content.hexdigest()]


_LENGTH = 2 * 16


def _digest(value: Any) -> str:
    return hashlib.blake2b(_written(value).encode(), digest_size=_LENGTH // 2).hexdigest()


def _written(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=_plain)


def _plain(value: Any) -> Any:
    """What JSON has no word for, as plain as it can be had."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    return list(value) if isinstance(value, tuple | range) else str(value)
