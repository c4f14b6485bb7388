"""Builds the compiled library: ``python -m localface.geometry.compiled.build``.

Installing does it too, where a C compiler is there. No header is needed, and no package: a
compiler takes two seconds, and what comes out is smaller than most pictures.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

SOURCES = tuple(sorted(Path(__file__).parent.glob("*.c")))
LIBRARY = Path(__file__).with_name("_kernels.so")
# Nothing may be fused or put in another order: numbers are the same on every machine.
_FLAGS = (
    *("-O3", "-std=c11", "-shared", "-fPIC", "-fvisibility=hidden"),
    *("-ffp-contract=off", "-fopenmp-simd", "-fno-math-errno", "-fno-trapping-math"),
)


def find_compiler() -> str | None:
    """Return the C compiler: what CC names, else the first there is; None without one."""
    named = os.environ.get("CC")
    candidates = [named] if named else ["cc", "gcc", "clang"]
    return next((found for one in candidates if (found := shutil.which(one))), None)


def build(into: Path = LIBRARY) -> str | None:
    """Build the library; return what went wrong, None if nothing did."""
    compiler = find_compiler()
    if compiler is None:
        return "no C compiler was found (cc, gcc or clang; CC names another)"
    fresh = into.with_suffix(f".{os.getpid()}")  # nobody loads what is half written
    command = [compiler, *_FLAGS, *map(str, SOURCES), "-o", str(fresh), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        fresh.unlink(missing_ok=True)
        return f"{compiler} failed: {done.stderr.strip()[-2000:]}"
    fresh.replace(into)
    return None


if __name__ == "__main__":
    sys.exit(build())
