"""Extracts the readiness-for-discharge cohort from the tables of MIMIC-III."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from contextlib import contextmanager
from dataclasses import dataclass, fields
from importlib.resources import files
from pathlib import Path
from string import Template
from tempfile import TemporaryDirectory
from typing import Any

from localface.cases.mimic.decisions import Decisions
from localface.cases.mimic.flow import Count, Flow
from localface.cases.mimic.items import Item, items_to_read
from localface.cases.mimic.tables import find_tables
from localface.data.opening import reraise_as
from localface.errors import DataError, InputError, needs_extra

_STEPS = ("stays", "cohort", "samples", "charted", "measured", "windows", "rows")
_SHARE = 0.5  # of the memory; the rest is for what DuckDB does not count: buffers, Python, rows
_FAILED = "MIMIC-III could not be extracted"
_OUTPUTS = ("rows.parquet", "flow.json", "flow.svg")


@dataclass(frozen=True, slots=True, eq=False)
class Extraction:
    """The rows of the cohort, and how they came about.

    ``table`` is a pandas frame: source, subject_id, hadm_id, icustay_id, x (days before
    callout), time, the 22 features in the order and units of the readiness schema (missing
    as NaN), and ready (1 or 0).
    """

    table: Any
    flow: Flow

    @property
    def decisions(self) -> Decisions:
        """The decisions it was made under."""
        return self.flow.decisions

    def flow_text(self) -> str:
        """The counts at each step as aligned text."""
        return self.flow.as_text()

    def flow_svg(self) -> str:
        """The counts at each step as a picture."""
        return self.flow.as_svg()

    def __repr__(self) -> str:
        ready = int(self.table["ready"].sum())
        people = self.table["subject_id"].nunique()
        return f"<Extraction: {len(self.table):,} rows of {people:,} patients, {ready:,} ready>"


def from_mimic(
    folder: str | Path,
    out: str | Path | None = None,
    *,
    decisions: Decisions | None = None,
    memory: str = "2GB",
    threads: int | None = None,
    temp: str | Path | None = None,
    progress: bool = True,
) -> Extraction:
    """Extract the readiness-for-discharge cohort from a folder of MIMIC-III tables.

    Reads PATIENTS, ADMISSIONS, ICUSTAYS, CALLOUT and CHARTEVENTS as they are distributed,
    ``.csv`` or ``.csv.gz``, headers in either case. CHARTEVENTS is streamed once; what does not
    fit into memory goes to disk.

    Parameters
    ----------
    folder : where the tables are
    out : a folder to write ``rows.parquet``, ``flow.json`` and ``flow.svg`` into
    decisions : what to do where the original study is odd or silent, see `Decisions`
    memory : roughly how much memory the whole run may take, such as ``"2GB"``
    threads : how many to use; all by default
    temp : a folder with room for what does not fit into memory; the system's by default
    progress : show a progress bar where there is a terminal
    """
    duckdb = _import_duckdb()
    decisions = decisions or Decisions()
    target = _make_output_folder(out)
    tables = find_tables(folder)
    settings = _duckdb_settings(memory, threads)
    with (
        TemporaryDirectory(prefix="localface-mimic-", dir=temp) as scratch,
        reraise_as(_FAILED, DataError),
    ):
        settings["temp_directory"] = str(Path(scratch) / "spilled")
        with duckdb.connect(str(Path(scratch) / "mimic.duckdb"), config=settings) as connection:
            for table in tables:
                connection.execute(table.create_view_sql())
            _create_items_table(connection, decisions)
            extraction = _extract_cohort(connection, decisions, progress=progress)
            if target is not None:
                _write_outputs(extraction, connection, target)
    return extraction


def _import_duckdb() -> Any:
    """DuckDB 2.0 or later: before, it read a ``.gz`` that breaks off as if it were whole."""
    with needs_extra("case", "extracting MIMIC-III"):
        import duckdb
    if int(duckdb.__version__.partition(".")[0]) < 2:
        raise InputError(
            "extracting MIMIC-III needs duckdb 2.0 or later, since earlier ones take a .gz file "
            f"that breaks off for a whole one; this is {duckdb.__version__}: "
            'run: pip install --upgrade "duckdb>=2.0"'
        )
    return duckdb


def _extract_cohort(connection: Any, decisions: Decisions, *, progress: bool) -> Extraction:
    """Take every step, and count what it leaves."""
    counts: list[Count] = []
    with _progress_bar(progress) as bar:
        for step in _STEPS:
            bar.set_description(f"MIMIC-III: {step}")
            _run_with_progress(connection, _sql_of_step(step, decisions), bar)
            if step in _COUNTERS:
                counts += _COUNTERS[step](connection, decisions)
            _check_cohort_not_empty(counts)
    counts += _count_unreadable_lines(connection)
    table = connection.execute("FROM extracted ORDER BY subject_id, icustay_id, x").df()
    return Extraction(table, Flow(tuple(counts), decisions))


def _sql_of_step(step: str, decisions: Decisions) -> str:
    text = files("localface.cases.mimic").joinpath("sql", f"{step}.sql").read_text(encoding="utf-8")
    return Template(text).substitute(
        {name: json.dumps(value) for name, value in decisions.to_plain_values().items()}
    )


def _run_with_progress(connection: Any, sql: str, bar: Any) -> None:
    """Run SQL while the bar follows it; an interrupted wait stops the query too."""
    done = bar.n
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(connection.execute, sql)
        try:
            while True:
                try:
                    running.result(timeout=0.2)
                    break
                except NotYet:
                    part = max(connection.query_progress(), 0.0) / 100
                    bar.update(max(done + min(part, 0.99) - bar.n, 0))
        except BaseException:
            connection.interrupt()
            raise
    bar.update(done + 1 - bar.n)


@contextmanager
def _progress_bar(shown: bool) -> Iterator[Any]:
    from tqdm.auto import tqdm

    layout = "{desc} {percentage:3.0f}%|{bar}| {elapsed}"
    with tqdm(total=len(_STEPS), disable=None if shown else True, bar_format=layout) as bar:
        yield bar


def _create_items_table(connection: Any, decisions: Decisions) -> None:
    connection.execute(
        "CREATE TABLE items (itemid INTEGER, feature VARCHAR, rank INTEGER, low DOUBLE, high "
        "DOUBLE, scale DOUBLE, shift DOUBLE, void VARCHAR, fraction BOOLEAN)"
    )
    names = [field.name for field in fields(Item)]
    rows = [[getattr(item, name) for name in names] for item in items_to_read(decisions)]
    connection.executemany(f"INSERT INTO items VALUES ({', '.join('?' * len(names))})", rows)


def _count_stays(connection: Any, _: Decisions) -> list[Count]:
    return [Count("kept", "ICU stays", _query_number(connection, "SELECT count(*) FROM stays"))]


def _count_cohort(connection: Any, decisions: Decisions) -> list[Count]:
    eligible = _query_number(connection, "SELECT count(*) FROM stays WHERE eligible")
    counts = [Count("kept", "MetaVision stays that began in MICU or SICU", eligible)]
    if decisions.first_stay_only:
        first = _query_number(connection, "SELECT count(*) FROM cohort")
        counts.append(Count("kept", "first ICU stay of the admission", first))
    called = _query_number(connection, "SELECT count(*) FROM called")
    counts.append(Count("kept", "called out during the stay and discharged", called))
    if decisions.single_callout_only:
        single = _query_number(connection, "SELECT count(*) FROM called WHERE callouts = 1")
        counts.append(Count("kept", "exactly one such callout", single))
    return counts


def _count_samples(connection: Any, decisions: Decisions) -> list[Count]:
    at = dict(connection.execute("SELECT x, count(*) FROM samples GROUP BY x").fetchall())
    ready = _query_number(connection, "SELECT count(*) FROM samples WHERE ready = 1")
    return [
        Count("rows", "ready at callout: left hospital alive, no later ICU stay", ready),
        Count(
            "rows",
            "not ready at callout: died in hospital, or back in the ICU",
            at.get(0, 0) - ready,
        ),
        *(
            Count("rows", f"not ready, {day} days before callout", at.get(day, 0))
            for day in decisions.extra_days
        ),
        Count("rows", "all rows", sum(at.values())),
    ]


def _count_values(connection: Any, _: Decisions) -> list[Count]:
    faults = (
        "SELECT fault, feature, count(*) FROM judged WHERE fault IS NOT NULL "
        "GROUP BY ALL ORDER BY ALL"
    )
    read = _query_number(connection, "SELECT count(*) FROM charted")
    found = connection.execute(faults).fetchall()
    removed = [Count("removed", f"{feature}: {fault}", count) for fault, feature, count in found]
    return [Count("removed", "(all charted values that were looked at)", read), *removed]


_COUNTERS = {
    "stays": _count_stays,
    "cohort": _count_cohort,
    "samples": _count_samples,
    "measured": _count_values,
}


def _count_unreadable_lines(connection: Any) -> list[Count]:
    """Lines that are no CSV, by file: they were skipped."""
    lines = """
        SELECT s.file_path, count(DISTINCT (e.line, e.line_byte_position))
        FROM reject_errors AS e JOIN reject_scans AS s USING (scan_id, file_id)
        GROUP BY s.file_path ORDER BY s.file_path"""
    return [
        Count("lines", Path(path).name, count)
        for path, count in connection.execute(lines).fetchall()
    ]


def _check_cohort_not_empty(counts: list[Count]) -> None:
    stays = [one for one in counts if one.kind == "kept"]
    for before, here in zip([None, *stays], stays, strict=False):
        if here.count == 0:
            came = f" of {before.count:,} ({before.step})" if before else ""
            raise DataError(
                f"the cohort became empty at the step {here.step!r}: none{came} is left"
            )


def _query_number(connection: Any, sql: str) -> int:
    return int(connection.execute(sql).fetchone()[0])


def _duckdb_settings(memory: str, threads: int | None) -> dict[str, Any]:
    """What DuckDB may use; it is kept from fetching anything from elsewhere."""
    parsed = re.fullmatch(
        r"\s*(\d+(?:\.\d+)?)\s*(MB|GB|TB|MiB|GiB|TiB)\s*", str(memory), flags=re.IGNORECASE
    )
    if parsed is None or float(parsed[1]) <= 0:
        raise DataError(f"memory is an amount such as '2GB' or '800MB'; got {memory!r}")
    if threads is not None and threads < 1:
        raise DataError(f"threads is a whole number, 1 or more; got {threads!r}")
    settings: dict[str, Any] = {"memory_limit": f"{float(parsed[1]) * _SHARE}{parsed[2]}"}
    settings |= {"preserve_insertion_order": False, "autoinstall_known_extensions": False}
    return settings | ({"threads": threads} if threads is not None else {})


def _make_output_folder(out: str | Path | None) -> Path | None:
    """The folder for the output, made before any work is done for it."""
    if out is None:
        return None
    target = Path(out)
    if target.exists() and not target.is_dir():
        raise DataError(
            f"out is a folder to write {', '.join(_OUTPUTS)} into; {str(target)!r} is a file"
        )
    target.mkdir(parents=True, exist_ok=True)
    return target


def _write_outputs(extraction: Extraction, connection: Any, target: Path) -> None:
    """Write everything under another name first, so that half a file is never read."""
    with TemporaryDirectory(prefix=".writing-", dir=target) as scratch:
        rows, document, picture = (Path(scratch) / name for name in _OUTPUTS)
        quoted = str(rows).replace("'", "''")
        connection.execute(
            f"COPY (FROM extracted ORDER BY subject_id, icustay_id, x) TO '{quoted}' (FORMAT "
            "parquet)"
        )
        document.write_text(
            json.dumps(extraction.flow.to_dict(), indent=2) + "\n", encoding="utf-8"
        )
        picture.write_text(extraction.flow_svg(), encoding="utf-8")
        for path in (rows, document, picture):
            path.replace(target / path.name)
