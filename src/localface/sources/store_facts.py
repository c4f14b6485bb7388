"""What the file about a store says: its fields, and the bounds of each."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

STORE_MARK = "localface store"
STORE_VERSION = 3
_MAX_ROWS = 2**40
_MAX_BYTES = 2**50

Count = Annotated[int, msgspec.Meta(ge=2, le=_MAX_ROWS)]
Bytes = Annotated[int, msgspec.Meta(ge=1, le=_MAX_BYTES)]
Checksum = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{32}$")]


class StoreFacts(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """All that a store says of itself; what its rows hold is in files beside it."""

    version: Annotated[int, msgspec.Meta(ge=STORE_VERSION, le=STORE_VERSION)] = msgspec.field(
        name=STORE_MARK
    )
    n_rows: Count
    n_distinct: Count
    n_probe: Annotated[int, msgspec.Meta(ge=1, le=2**16)]
    recall: Annotated[float, msgspec.Meta(ge=0, le=1)]
    schema: dict[str, Any]
    sizes: dict[str, Bytes]
    parts_checksum: Checksum
    checksum: Checksum
    absences: list[list[float | None]] = []

    def __post_init__(self) -> None:
        if self.n_distinct > self.n_rows:
            raise ValueError(f"{self.n_distinct} different rows of {self.n_rows}")


def facts_from_plain(plain: object) -> StoreFacts:
    """Read the facts; a ``ValueError`` says which of them is out of bounds."""
    try:
        return msgspec.convert(plain, StoreFacts)
    except msgspec.ValidationError as error:  # which is no ValueError in every version
        raise ValueError(str(error)) from None
