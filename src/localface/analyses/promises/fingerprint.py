"""What a promise rested on: a model, data, a schema, and the packages that worked it out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from localface.data.opening import require_existing_path
from localface.engine.engine import Engine
from localface.engine.fingerprint import digest_of_file, lasting_digests, package_versions


@dataclass(frozen=True, slots=True)
class FileMark:
    """A file by its name and the digest of what it held."""

    name: str
    digest: str

    @classmethod
    def of(cls, path: str | Path | None) -> FileMark | None:
        """Mark a file; nothing where none is named, or where a folder is."""
        if path is None or Path(path).is_dir():
            return None
        return cls(str(path), digest_of_file(require_existing_path(path)))


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What an answer rested on; None where it is not known.

    ``model`` is a digest of how the model scores some rows of the data for ``target``, ``data`` one
    of the rows, ``schema`` one of the schema; ``model_file`` and ``data_file`` mark whole files.
    """

    model: str | None = None
    target: str | None = None
    data: str | None = None
    schema: str | None = None
    model_file: FileMark | None = None
    data_file: FileMark | None = None
    versions: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_engine(cls, engine: Engine) -> Fingerprint:
        """The fingerprint of an explainer."""
        digests = lasting_digests(engine)
        return cls(
            model=digests["model"],
            target=digests["target"],
            data=digests["data"],
            schema=digests["schema"],
            versions=package_versions(engine.model),
        )

    def with_files(
        self, *, model: str | Path | None = None, data: str | Path | None = None
    ) -> Fingerprint:
        """Return the same with marks of the files that model and data came from."""
        if model is None and data is None:
            return self
        return replace(self, model_file=FileMark.of(model), data_file=FileMark.of(data))

    def changed_since(self, earlier: Fingerprint) -> dict[str, bool | None]:
        """Say of model, data and schema whether each is another than before; None: not known.

        How a model scores is compared on rows of the data, which must be the same for that.
        """
        data = _differ(self.data, earlier.data)
        alike = data is False and self.target == earlier.target
        model = _differ(self.model, earlier.model) if alike else None
        by_file = _differ(_digest(self.model_file), _digest(earlier.model_file))
        data_by_file = _differ(_digest(self.data_file), _digest(earlier.data_file))
        return {
            "model": model if by_file is None else by_file,
            "data": data_by_file if data is None else data,
            "schema": _differ(self.schema, earlier.schema),
        }


def _digest(mark: FileMark | None) -> str | None:
    return None if mark is None else mark.digest


def _differ(now: str | None, then: str | None) -> bool | None:
    return None if now is None or then is None else now != then
