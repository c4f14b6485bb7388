"""The manifest of a run: all that its answers depend on, so that a restart is the same run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from localface._version import __version__
from localface.apps.batch.people_files import PeopleFiles
from localface.apps.batch.worker import Worker
from localface.explainer import LocalFACE
from localface.options import Ask
from localface.sources.holder import list_all_rows

MANIFEST_FORMAT = "localface/parts"
MANIFEST_VERSION = 2
_CHUNK = 2**20  # bytes read at a time
_PROBES = 1000  # rows of the data whose scores stand for the model


def manifest_of(worker: Worker, people: PeopleFiles) -> dict[str, Any]:
    """Write down all that the answers depend on, as plain values."""
    asked = {one.name: getattr(worker.ask, one.name) for one in fields(Ask)}
    asked["id_column"] = worker.id_column
    return {
        "format": MANIFEST_FORMAT,
        "version": MANIFEST_VERSION,
        "made_with": __version__,
        "n_people": people.n_people,
        "block_size": people.block_size,
        "people": _digest_of_value([_file_identity(file, n) for file, n in people.files]),
        "options": json.loads(_as_sorted_json(asked)),
        "explainer": {
            "settings": json.loads(_as_sorted_json(worker.explainer.options.as_plain_values())),
            **_explainer_digests(worker.explainer),
        },
    }


def manifest_differences(
    there: Mapping[str, Any], here: Mapping[str, Any], name: str = ""
) -> Iterator[str]:
    """Name what differs between two manifests, as deep as it can be named."""
    for key in dict.fromkeys([*there, *here]):
        old = there.get(key)
        new = here.get(key)
        full = f"{name}.{key}" if name else key
        if isinstance(old, dict) and isinstance(new, dict):
            yield from manifest_differences(old, new, full)
        elif old != new:
            plain = not any(isinstance(one, str) and len(one) == _LENGTH for one in (old, new))
            yield f"{full} ({old!r} there, {new!r} here)" if plain else full


def _explainer_digests(explainer: LocalFACE) -> dict[str, str]:
    """What identifies an explainer: schema, target, data, and how the model scores some rows.

    Its pickle would not do: that changes with every score that is remembered.
    """
    engine = explainer.engine
    everyone = list_all_rows(engine.source)
    some = everyone[np.unique(np.linspace(0, len(everyone) - 1, _PROBES).astype(np.int64))]
    records = engine.source.records(some)
    rough = [engine.log_floor, *engine.space.scales.tolist()]
    return {
        "schema": _digest_of_value(explainer.schema.to_dict()),
        "target": engine.answers.target.sentence,
        "data": _digest_of_value(
            [
                engine.source.n_rows,
                len(everyone),
                records.tolist(),
                [f"{value:.8g}" for value in rough],
            ]
        ),
        "model": _digest_of_value([f"{score:.8g}" for score in engine.score(records).tolist()]),
    }


def _file_identity(file: Any, n: int) -> list[Any]:
    """A file by its name and content, not by its age; people in memory by their values."""
    path = getattr(file, "path", None)
    if path is None:
        return [n, file.head(n).to_pydict()]
    content = hashlib.blake2b()
    with file.open() as stream:
        while chunk := stream.read(_CHUNK):
            content.update(chunk)
    return [path.rpartition("/")[2], n, content.hexdigest()]


_LENGTH = 2 * 16


def _digest_of_value(value: Any) -> str:
    return hashlib.blake2b(_as_sorted_json(value).encode(), digest_size=_LENGTH // 2).hexdigest()


def _as_sorted_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=_replace_unserialisable)


def _replace_unserialisable(value: Any) -> Any:
    """What JSON has no type for, as plain values."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    return list(value) if isinstance(value, tuple | range) else str(value)
