"""Build the package as it would be released, and use it as somebody would who installs it.

    python tools/check_package.py                            # make package
    python tools/check_package.py --extras plots web         # or --extras all
    python tools/check_package.py --python python3.11 python3.13 --lowest

Builds the source archive and, from that alone and without git, the wheel; looks at what is in
both, and at what they say of themselves; installs the wheel with nothing but its core into an
environment of its own, uses it there, and checks a user's script by mypy --strict. For each
extra it first goes without, then runs the very command that localface names, and tries again.
What is built is left in dist/.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SMOKE = ROOT / "tools" / "smoke.py"
TYPED = ROOT / "tests" / "typed" / "user_script.py"
COMPILED = ROOT / "src" / "localface" / "geometry" / "compiled"
NOT_TRIED = ("gpu",)  # needs a GPU: the tests of tests/engine/test_device.py are for that
DATA = re.compile(r"\.(csv|parquet|npy|npz|pkl|pickle|joblib|skops|onnx|duckdb)(\.gz)?$")
LEFTOVERS = re.compile(r"(^|/)(\.venv[^/]*|node_modules|__pycache__|\.git|dist|build)/")
LARGEST = {".whl": 2_500_000, ".gz": 8_000_000}  # bytes
NAMED = re.compile(r"run: (pip install .+)$", re.MULTILINE)


def main() -> int:
    """Do all of it; anything that is not as it should be ends the run."""
    asked = read_arguments()
    dist = ROOT / "dist"
    with tempfile.TemporaryDirectory(prefix="localface-package-") as name:
        folder = Path(name)
        tools = make_environment(folder / "tools", sys.executable, "build", "twine", "mypy")
        wheel, archive = build(tools, dist)
        check_contents(wheel, archive)
        step("metadata")
        run(tools / "python", "-m", "twine", "check", "--strict", wheel, archive)
        for python in asked.python:
            use_core(folder, python, wheel, tools)
        if asked.lowest:
            use_lowest(folder, asked.python[0], wheel)
        use_archive(folder, asked.python[0], archive)
        for extra in asked.extras:
            use_extra(folder, asked.python[0], wheel, extra)
    print(f"\nall is well: {wheel.relative_to(ROOT)}, {archive.relative_to(ROOT)}")
    return 0


def read_arguments() -> argparse.Namespace:
    """What is asked for; the extras by name."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    extras = [one for one in PROJECT["optional-dependencies"] if one not in NOT_TRIED]
    parser.add_argument("--extras", nargs="*", default=[], choices=["all", *extras])
    parser.add_argument("--python", nargs="+", default=[sys.executable], help="interpreters")
    parser.add_argument("--lowest", action="store_true", help="the lowest versions allowed too")
    asked = parser.parse_args()
    asked.extras = extras if "all" in asked.extras else asked.extras
    return asked


def build(tools: Path, dist: Path) -> tuple[Path, Path]:
    """The source archive from the tree, and the wheel from the archive, where no git is."""
    step("build")
    shutil.rmtree(dist, ignore_errors=True)
    run(tools / "python", "-m", "build", "--outdir", dist, ROOT)
    (wheel,) = dist.glob("*.whl")
    (archive,) = dist.glob("*.tar.gz")
    for one in (wheel, archive):
        print(f"  {one.name}: {one.stat().st_size / 1e6:.1f} MB")
        require(one.stat().st_size < LARGEST[one.suffix], f"{one.name} has grown too large")
    return wheel, archive


def check_contents(wheel: Path, archive: Path) -> None:
    """What must be in both and what must not; the versions agree."""
    step("contents")
    with zipfile.ZipFile(wheel) as opened:
        in_wheel = opened.namelist()
        (metadata,) = (one for one in in_wheel if one.endswith("/METADATA"))
        version = re.search(r"^Version: (.+)$", opened.read(metadata).decode(), re.MULTILINE)
    with tarfile.open(archive) as unpacked:
        in_archive = [one.partition("/")[2] for one in unpacked.getnames()]
    tops = {name.partition("/")[0].partition("-")[0] for name in in_wheel}
    require(tops == {"localface"}, f"the wheel holds more than the package: {tops}")
    require("localface/py.typed" in in_wheel, "the wheel lacks py.typed")
    require("localface/apps/web/static/app.js" in in_wheel, "the wheel lacks the page")
    for source in [*COMPILED.glob("*.c"), *COMPILED.glob("*.h"), COMPILED / "build.py"]:
        name = source.relative_to(ROOT / "src").as_posix()
        require(name in in_wheel, f"the wheel lacks {name}")
        require(f"src/{name}" in in_archive, f"the archive lacks {name}")
    for name in ("hatch_build.py", "LICENSE", "README.md", "CHANGELOG.md", "tests/conftest.py"):
        require(name in in_archive, f"the archive lacks {name}")
    for name in [*in_wheel, *in_archive]:
        require(not DATA.search(name), f"{name} looks like data")
        require(not LEFTOVERS.search(name), f"{name} does not belong there")
    require(not any(one.endswith(".so") for one in in_archive), "the archive has a built library")
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    built = any(one.endswith("_kernels.so") for one in in_wheel)
    require(built == bool(compiler), "the wheel has no compiled part, though there is a compiler")
    require(bool(version) and version[1] in wheel.name, f"{wheel.name} says it is {version}")
    print(f"  {len(in_wheel)} files in the wheel, {len(in_archive)} in the archive")


def use_core(folder: Path, python: str, wheel: Path, tools: Path) -> None:
    """The wheel with its core alone: a plan, the command line, a typed script."""
    step(f"core alone, {version_of(python)}")
    bin_ = make_environment(folder / f"core-{Path(python).name}", python, str(wheel))
    use(bin_, "core", folder)
    mypy = [tools / "python", "-m", "mypy", "--strict", "--config-file", os.devnull]
    run(*mypy, "--python-executable", bin_ / "python", TYPED, folder=folder)
    use(bin_, TYPED, folder)


def use_lowest(folder: Path, python: str, wheel: Path) -> None:
    """The core with the lowest versions that the project file allows."""
    step("core alone, lowest versions")
    command = [sys.executable, ROOT / "tools" / "lowest_versions.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    bin_ = make_environment(folder / "lowest", python, str(wheel), *done.stdout.split())
    use(bin_, "core", folder)


def use_archive(folder: Path, python: str, archive: Path) -> None:
    """`pip install .` from the unpacked source archive, with no git to be found."""
    step("pip install . from the source archive, without git")
    with tarfile.open(archive) as packed:
        packed.extractall(folder / "unpacked", filter="data")
    (source,) = (folder / "unpacked").iterdir()
    bin_ = make_environment(folder / "from-archive", python)
    only = folder / "only"
    only.mkdir()
    for name in ("cc", "gcc", "ld", "as", "sh"):
        found = shutil.which(name)
        if found:
            (only / name).symlink_to(found)
    require(not (only / "git").exists(), "git is to be found")
    run(bin_ / "python", "-m", "pip", "install", "-qq", ".", folder=source, path=only)
    use(bin_, "core", folder)


def use_extra(folder: Path, python: str, wheel: Path, extra: str) -> None:
    """Without an extra its command is named; that command, run as it stands, brings the feature."""
    step(f"extra {extra}")
    bin_ = make_environment(folder / f"extra-{extra}", python, str(wheel))
    place = folder / f"used-{extra}"
    place.mkdir()
    command = [bin_ / "python", SMOKE, extra]
    without = subprocess.run(command, capture_output=True, text=True, cwd=place, check=False)
    named = NAMED.search(without.stderr)
    require(without.returncode != 0, f"{extra} does nothing that the core cannot do")
    require(named is not None, f"no command was named:\n{without.stderr[-800:]}")
    print(f"  {named[1]}")
    environment = os.environ | {"PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}"}
    quietly = named[1].replace("pip install", "pip install -qq", 1)
    subprocess.run(quietly, shell=True, check=True, cwd=place, env=environment)
    use(bin_, extra, place)


def use(bin_: Path, what: str | Path, folder: Path) -> None:
    """Run a part of smoke.py, or a script, in an environment and away from the sources."""
    script = [SMOKE, what] if isinstance(what, str) else [what]
    run(bin_ / "python", "-W", "error::DeprecationWarning:localface", *script, folder=folder)
    print(f"  {what if isinstance(what, str) else what.name}: works")


def make_environment(folder: Path, python: str, *packages: str) -> Path:
    """A virtual environment with some packages; returns its folder of commands."""
    if python == sys.executable:
        venv.create(folder, with_pip=True, clear=True)
    else:
        run(python, "-m", "venv", "--clear", folder)
    bin_ = folder / ("Scripts" if os.name == "nt" else "bin")
    if packages:
        uv = shutil.which("uv")  # where it is there: it takes seconds, pip a minute
        pip = [uv, "pip"] if uv else [bin_ / "python", "-m", "pip"]
        which = ["--python", bin_ / "python"] if uv else []
        run(*pip, "install", "-q", *which, *packages)
    return bin_


def run(*command: str | Path, folder: Path | None = None, path: Path | None = None) -> None:
    """Run a command; where it fails, show all of what it said, and stop."""
    environment = {name: one for name, one in os.environ.items() if name != "PYTHONPATH"}
    if path is not None:
        environment["PATH"] = str(path)
    done = subprocess.run(
        [str(one) for one in command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    said = (done.stdout + done.stderr)[-4000:]
    require(done.returncode == 0, f"failed: {' '.join(map(str, command))}\n{said}")


def version_of(python: str) -> str:
    """Which Python it is, as it says itself."""
    done = subprocess.run([python, "--version"], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def step(name: str) -> None:
    """Say what is being looked at."""
    print(f"== {name}", flush=True)


def require(holds: bool, otherwise: str) -> None:
    """Stop with a sentence where something does not hold."""
    if not holds:
        sys.exit(otherwise)


if __name__ == "__main__":
    sys.exit(main())
