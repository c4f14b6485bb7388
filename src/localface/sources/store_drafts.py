"""The folder that a store is written into before it has its name."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from localface.data.whole_files import explain_os_errors, hold_folder, settle_folder
from localface.errors import DataError

_BEGUN = "begun"  # the first file in a draft, written once it is held
_SECONDS_TO_BEGIN = 60.0  # within which a writer has written that


@contextmanager
def draft_of_store(folder: Path) -> Iterator[Path]:
    """Give a new folder to write into; it gets its name when the ``with`` body has ended well.

    A draft belongs to the process that holds it. What a killed one has left is removed by the
    next that writes a store of the same name.
    """
    _refuse_existing(folder)
    with explain_os_errors(f"the store {str(folder)!r} cannot be written"):
        folder.parent.mkdir(parents=True, exist_ok=True)
        _remove_abandoned_drafts(folder)
        draft = folder.with_name(f"{folder.name}.draft-{uuid4().hex[:8]}")
        draft.mkdir()
        try:
            with hold_folder(draft):
                (draft / _BEGUN).touch()
                yield draft
                (draft / _BEGUN).unlink()
                _rename(draft, folder)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise
        settle_folder(folder.parent)


def _refuse_existing(folder: Path) -> None:
    if os.path.lexists(folder):
        raise DataError(f"{str(folder)!r} exists already: give another name, or remove it first")


def _rename(draft: Path, folder: Path) -> None:
    """Give the draft its name, unless somebody has taken it in the meantime."""
    _refuse_existing(folder)
    try:
        draft.rename(folder)
    except OSError:
        _refuse_existing(folder)
        raise


def _remove_abandoned_drafts(folder: Path) -> None:
    """Remove drafts that nobody holds any more; one without anything in it may have just begun."""
    prefix = f"{folder.name}.draft-"
    for draft in [one for one in folder.parent.iterdir() if one.name.startswith(prefix)]:
        try:
            begun = any(draft.iterdir()) or time.time() - draft.stat().st_mtime > _SECONDS_TO_BEGIN
            with hold_folder(draft) as abandoned:
                if begun and abandoned:
                    shutil.rmtree(draft, ignore_errors=True)
        except OSError:  # gone already, or not ours to see
            continue
