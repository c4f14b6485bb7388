"""Everything that attacks the library, one after the other, within a time: service, files, fuzz.

    python benchmarks/attack.py [--only service|files|fuzz] [--seconds 300]

Each part prints its own report. The last lines say of each whether every bar was held; the exit
code is 1 where one was missed, or where a part did not end in its time. Nothing but this machine
is spoken to. Longer runs: the parts by themselves, with their own options.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

_HERE = Path(__file__).parent
_SHARES = {"service": 0.5, "files": 0.3, "fuzz": 0.2}  # of the time
_CASES_PER_SECOND = 2.0  # fuzzed cases that a slow machine does
_PATIENCE = 1.6  # times its share, after which a part is ended


def _command(part: str, seconds: float) -> list[str]:
    """The command of one part, so that it ends in about as many seconds."""
    if part == "service":
        options = ["--seconds", str(max(5.0, seconds / 8)), "--workers", "2"]
        return [sys.executable, str(_HERE / "attack_service.py"), *options]
    if part == "files":
        options = ["--seconds", str(seconds * 0.85)]
        return [sys.executable, str(_HERE / "attack_files.py"), *options]
    tests = str(_HERE.parent / "tests" / "test_fuzz.py")
    return [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "-n0", tests]


def _run(part: str, seconds: float) -> str:
    """Run one part; how it ended, in a word or two."""
    command = _command(part, seconds)
    script = Path(command[1])
    if part != "fuzz" and not script.is_file():
        return f"not run: there is no {script.name}"
    cases = str(max(10, int(seconds * _CASES_PER_SECOND)))
    environment = {"LOCALFACE_FUZZ": cases, **os.environ}
    with subprocess.Popen(
        command, cwd=_HERE.parent, env=environment, start_new_session=True
    ) as running:
        try:
            code = running.wait(timeout=seconds * _PATIENCE + 30)
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)  # with all that it has started
            return "MISSED: it did not end"
    return "held" if code == 0 else f"MISSED (exit code {code})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=list(_SHARES))
    parser.add_argument("--seconds", type=float, default=300.0, help="for all parts together")
    asked = parser.parse_args()
    wanted = {asked.only: 1.0} if asked.only else _SHARES
    ended = {}
    for part, share in wanted.items():
        begin = time.monotonic()
        print(f"== {part}", flush=True)
        word = _run(part, asked.seconds * share)
        ended[part] = f"{word}, {time.monotonic() - begin:.0f} s"
    print("== attacked")
    for part, word in ended.items():
        print(f"  {part:10s} {word}")
    return int(any("MISSED" in word for word in ended.values()))


if __name__ == "__main__":
    sys.exit(main())
