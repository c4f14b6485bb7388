"""The entries of a file of promises: their keys and types."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from localface.analyses.promises.fingerprint import FileMark, Fingerprint
from localface.analyses.promises.promise import Promise, read_target
from localface.errors import InputError, how_to_upgrade

PROMISES_FORMAT = "localface/promises"
PROMISES_VERSION = 1

_Digest = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
_Number = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


class FileMarkDocument(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A ``FileMark``."""

    name: str
    digest: str


class FingerprintDocument(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A ``Fingerprint``."""

    model: str | None
    target: str | None
    data: str | None
    schema: str | None
    model_file: FileMarkDocument | None
    data_file: FileMarkDocument | None
    versions: dict[str, str]


class _EntryDocument(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    digest: _Digest
    before: _Digest
    number: _Number
    id: str
    time: str


class StartDocument(_EntryDocument, kw_only=True):
    """The first entry: what the file is."""

    format: str
    version: int
    made_with: str


class PromiseDocument(_EntryDocument, kw_only=True):
    """A ``Promise``."""

    person: str | None
    record: dict[str, Any]
    answer: dict[str, Any]
    target: Any
    asked: dict[str, Any]
    fingerprint: FingerprintDocument


class ClosingDocument(_EntryDocument, kw_only=True):
    """A ``Closing``."""

    why: str


def promise_from_plain(plain: dict[str, Any]) -> Promise:
    """Read a promise; a ``ValueError`` says what is wrong with it."""
    document = _converted(plain, PromiseDocument)
    pieces = msgspec.structs.asdict(document)
    del pieces["before"]
    prints = msgspec.structs.asdict(document.fingerprint)
    for name in ("model_file", "data_file"):
        mark = getattr(document.fingerprint, name)
        prints[name] = mark and FileMark(mark.name, mark.digest)
    pieces |= {"target": read_target(document.target), "fingerprint": Fingerprint(**prints)}
    return Promise(**pieces)


def why_closed(plain: dict[str, Any]) -> tuple[str, str]:
    """Read when and why a promise was closed."""
    document = _converted(plain, ClosingDocument)
    return document.time, document.why


def check_start(plain: dict[str, Any]) -> None:
    """Refuse a file of another kind, or of a later version."""
    document = _converted(plain, StartDocument)
    if document.format != PROMISES_FORMAT:
        raise ValueError(f"its format is {document.format[:40]!r}, not {PROMISES_FORMAT!r}")
    if document.version != PROMISES_VERSION:
        raise InputError(
            f"these promises have version {document.version}; this localface reads "
            f"{PROMISES_VERSION}; {how_to_upgrade()}"
        )


def _converted(plain: dict[str, Any], kind: Any) -> Any:
    try:
        return msgspec.convert(plain, kind)
    except msgspec.ValidationError as error:  # which is no ValueError in every version
        raise ValueError(str(error)) from None
