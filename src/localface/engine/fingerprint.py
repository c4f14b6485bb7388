"""What identifies an engine: its schema, its target, its data, and how its model scores."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from localface._version import __version__
from localface.engine.engine import Engine
from localface.sources.holder import list_all_rows
from localface.types import Array

DIGEST_LENGTH = 2 * 16  # characters
_CHUNK = 2**20  # bytes read at a time
_PROBES = 1000  # rows of the data whose scores stand for the model


def engine_digests(engine: Engine) -> dict[str, str]:
    """What identifies an engine: schema, target, data, and how the model scores some rows.

    Its pickle would not do: that changes with every score that is remembered.
    """
    records = _probe_records(engine)
    return {
        "schema": digest_of_value(engine.schema.to_dict()),
        "target": engine.answers.target.sentence,
        "data": _data_digest(engine, records, [engine.log_floor]),
        "model": _model_digest(engine, records),
    }


def lasting_digests(engine: Engine) -> dict[str, str]:
    """The same of what lasts from call to call: the floor and the score to reach may differ."""
    records = _probe_records(engine)
    return {
        "schema": digest_of_value(engine.schema.to_dict()),
        "target": engine.answers.target.label,
        "data": _data_digest(engine, records, []),
        "model": _model_digest(engine, records),
    }


def _probe_records(engine: Engine) -> Array:
    everyone = list_all_rows(engine.source)
    some = everyone[np.unique(np.linspace(0, len(everyone) - 1, _PROBES).astype(np.int64))]
    return engine.source.records(some)


def _data_digest(engine: Engine, records: Array, floor: list[float]) -> str:
    rough = [f"{value:.8g}" for value in (*floor, *engine.space.scales.tolist())]
    n_distinct = len(list_all_rows(engine.source))
    return digest_of_value([engine.source.n_rows, n_distinct, records.tolist(), rough])


def _model_digest(engine: Engine, records: Array) -> str:
    return digest_of_value([f"{score:.8g}" for score in engine.score(records).tolist()])


def package_versions(model: object = None) -> dict[str, str]:
    """The versions of what an answer was worked out with; that of the model's package among it."""
    from importlib.metadata import PackageNotFoundError, version  # a tenth of importing localface

    package = type(model).__module__.partition(".")[0]
    names = {"numpy": "numpy", "scipy": "scipy", "sklearn": "scikit-learn"}
    wanted = {"numpy", "scipy", *([] if package in sys.stdlib_module_names else [package])}
    found = {"python": sys.version.partition(" ")[0], "localface": __version__}
    for name in sorted(wanted - {"localface"}):
        try:
            found[name] = version(names.get(name, name))
        except PackageNotFoundError:
            continue  # the user's own module
    return found


def digest_of_file(path: str | Path) -> str:
    """Return the digest of what a file holds, whatever it is called and however old it is."""
    with Path(path).open("rb") as stream:
        return digest_of_stream(stream, digest_size=DIGEST_LENGTH // 2)


def digest_of_stream(stream: Any, *, digest_size: int = 64) -> str:
    """Return the digest of what a stream holds."""
    content = hashlib.blake2b(digest_size=digest_size)
    while chunk := stream.read(_CHUNK):
        content.update(chunk)
    return content.hexdigest()


def digest_of_value(value: Any) -> str:
    """Return the digest of plain values, the same in whatever order a mapping has them."""
    text = as_sorted_json(value).encode()
    return hashlib.blake2b(text, digest_size=DIGEST_LENGTH // 2).hexdigest()


def as_sorted_json(value: Any) -> str:
    """Write values as JSON, those that it has no type for as plain ones."""
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
