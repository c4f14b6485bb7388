"""Builds the compiled library: ``python -m localface.geometry.compiled.build``.

Installing does it too, where a C compiler is there. No header is needed, and no package: a
compiler takes two seconds, and what comes out is smaller than most pictures. This file is also
run by itself, before anything is installed: it imports nothing but the standard library.
"""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

_FOLDER = Path(__file__).parent
LIBRARY = _FOLDER / "_kernels.so"
"""Where the library is built; the name is the same on every platform."""

# Nothing may be fused or put in another order, save sums that say so (omp simd).
_FLAGS = (
    *("-O3", "-std=c11", "-shared", "-fPIC", "-fvisibility=hidden"),
    *("-ffp-contract=off", "-fopenmp-simd", "-fno-math-errno", "-fno-trapping-math"),
)


def find_compiler() -> list[str] | None:
    """Return the command of the C compiler: what CC says, else the first there is; or None."""
    import shlex
    import shutil

    named = os.environ.get("CC")
    candidates = [shlex.split(named)] if named else [["cc"], ["gcc"], ["clang"]]
    return next((one for one in candidates if one and shutil.which(one[0])), None)


def fingerprint_of_sources() -> int | None:
    """Return a number that is another for other sources or flags; None without sources.

    It is compiled in, so that a library is known to be built from the sources beside it.
    """
    sources = sorted([*_FOLDER.glob("*.c"), *_FOLDER.glob("*.h")])
    if not sources:
        return None
    digest = hashlib.sha256(" ".join(_FLAGS).encode())
    for source in sources:
        digest.update(source.name.encode())
        digest.update(source.read_bytes())
    return int.from_bytes(digest.digest()[:8], "big")


def build(into: Path = LIBRARY) -> str | None:
    """Build the library; return what went wrong, None if nothing did."""
    import subprocess

    compiler = find_compiler()
    if compiler is None:
        return "no C compiler was found (cc, gcc or clang; CC names another)"
    fresh = into.with_suffix(f".{os.getpid()}")  # nobody loads what is half written
    mark = f"-DFINGERPRINT={fingerprint_of_sources()}u"
    sources = sorted(map(str, _FOLDER.glob("*.c")))
    command = [*compiler, *_FLAGS, mark, *sources, "-o", str(fresh), "-lm"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return f"{compiler[0]} failed: {done.stderr.strip()[-2000:]}"
        fresh.replace(into)
    except OSError as error:  # a compiler that cannot be run, a folder that cannot be written to
        return f"{compiler[0]} could not be run: {error}"
    finally:
        fresh.unlink(missing_ok=True)
    return None


if __name__ == "__main__":
    sys.exit(build())
