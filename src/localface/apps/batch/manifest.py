"""The manifest of a run: all that its answers depend on, so that a restart is the same run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from localface._version import __version__
from localface.apps.batch.people_files import PeopleFiles
from localface.apps.batch.worker import Worker
from localface.engine.fingerprint import (
    DIGEST_LENGTH,
    as_sorted_json,
    digest_of_stream,
    digest_of_value,
    engine_digests,
)
from localface.options import Ask

MANIFEST_FORMAT = "localface/parts"
MANIFEST_VERSION = 2


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
        "people": digest_of_value([_file_identity(file, n) for file, n in people.files]),
        "options": json.loads(as_sorted_json(asked)),
        "explainer": {
            "settings": json.loads(as_sorted_json(worker.explainer.options.as_plain_values())),
            **engine_digests(worker.explainer.engine),
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
            plain = not any(
                isinstance(one, str) and len(one) == DIGEST_LENGTH for one in (old, new)
            )
            yield f"{full} ({old!r} there, {new!r} here)" if plain else full


def _file_identity(file: Any, n: int) -> list[Any]:
    """A file by its name and content, not by its age; people in memory by their values."""
    path = getattr(file, "path", None)
    if path is None:
        return [n, file.head(n).to_pydict()]
    with file.open() as stream:
        return [path.rpartition("/")[2], n, digest_of_stream(stream)]
