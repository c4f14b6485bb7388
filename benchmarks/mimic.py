"""How much memory does the MIMIC-III extraction take, for N CHARTEVENTS rows?

    python benchmarks/mimic.py [--rows 10000000] [--memory 2GB] [--plain] [--folder FOLDER] [--json]

Nobody in the folder is real. It has the shape of MIMIC-III and its mess: some 5,400 charted
rows a stay, a third of them of items that matter, words where numbers are expected, quoted
line breaks. Writing and extracting run in processes of their own, so that the peak is the
extraction's alone.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROWS_PER_STAY = 5_400
HOURS = 300  # charted hours of a stay

STAYS = """
    SELECT
        i AS row_id, 10000 + i // 2 AS subject_id, 100000 + i AS hadm_id, 200000 + i AS icustay_id,
        CASE WHEN i % 5 = 0 THEN 'carevue' ELSE 'metavision' END AS dbsource,
        ['MICU', 'SICU', 'MICU', 'CCU'][1 + i % 4] AS first_careunit,
        TIMESTAMP '2150-01-01 08:00:00' + to_hours(i * 24) AS intime,
        intime + to_hours({hours}) AS outtime
    FROM range({stays}) AS t(i)
"""
TABLES = {
    "ICUSTAYS": "SELECT * FROM stays",
    "ADMISSIONS": """
        SELECT row_id, subject_id, hadm_id, (row_id % 9 = 0)::INT AS hospital_expire_flag
        FROM stays""",
    "PATIENTS": """
        SELECT DISTINCT subject_id AS row_id, subject_id,
            CASE subject_id % 2 WHEN 0 THEN 'F' ELSE 'M' END AS gender,
            TIMESTAMP '2080-01-01' + to_days(subject_id % 9000) AS dob FROM stays""",
    "CALLOUT": """
        SELECT row_id, subject_id, hadm_id, 'Discharged' AS callout_outcome,
            outtime - INTERVAL 6 HOUR AS createtime
        FROM stays""",
    "CHARTEVENTS": """
        WITH drawn AS (
            SELECT i, 200000 + i // {per_stay} AS icustay_id, (hash(i) >> 2)::BIGINT AS h,
                i % {per_stay} AS nth
            FROM range({rows}) AS t(i)
        ),
        typed AS (
            SELECT *, CASE WHEN h % 3 = 0 THEN {items}[1 + (h // 3) % {n_items}]
                ELSE 220300 + h % 3000 END AS itemid
            FROM drawn
        )
        SELECT
            i AS row_id, s.subject_id, s.hadm_id, s.icustay_id, itemid,
            s.intime + to_minutes((nth * {hours} * 60) // {per_stay}) AS charttime,
            charttime AS storetime, 14700 AS cgid,
            CASE WHEN h % 97 = 0 THEN '33%'
                 WHEN h % 101 = 0 THEN 'two' || chr(10) || 'lines, and a "quote"'
                 ELSE number::VARCHAR END AS value,
            CASE WHEN h % 97 = 0 OR h % 101 = 0 THEN NULL ELSE number END AS valuenum,
            'unit' AS valueuom, 0 AS warning, (h % 211 = 0)::INT AS error,
            NULL AS resultstatus, NULL AS stopped
        FROM (SELECT *, round(30 + (h // 7) % 900 / 10.0, 1) AS number FROM typed)
        JOIN stays AS s USING (icustay_id)""",
}


def write(folder: Path, rows: int, *, zipped: bool) -> None:
    """Write the five tables."""
    import duckdb

    from localface.cases.mimic import Decisions
    from localface.cases.mimic.items import items_to_read

    ids = [item.itemid for item in items_to_read(Decisions())]
    facts = {
        "rows": rows,
        "stays": -(-rows // ROWS_PER_STAY),
        "per_stay": ROWS_PER_STAY,
        "hours": HOURS,
    }
    facts |= {"items": ids, "n_items": len(ids)}
    ending, how = (".csv.gz", "gzip") if zipped else (".csv", "none")
    with duckdb.connect(
        config={"memory_limit": "2GB", "preserve_insertion_order": False}
    ) as connection:
        connection.execute(f"CREATE TABLE stays AS {STAYS.format(**facts)}")
        for name, query in TABLES.items():
            place = str(folder / f"{name}{ending}").replace("'", "''")
            connection.execute(
                f"COPY ({query.format(**facts)}) TO '{place}' (FORMAT csv, HEADER, COMPRESSION "
                f"{how})"
            )


def extract(folder: Path, memory: str) -> dict[str, Any]:
    """Extract, and say what it took."""
    from localface.cases.mimic import from_mimic

    started = time.perf_counter()
    extraction = from_mimic(folder, memory=memory)
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (
        1 if sys.platform == "darwin" else 1024
    )
    counts = {
        one.step: one.count
        for one in extraction.flow.counts
        if one.kind in ("kept", "rows", "lines")
    }
    return {"peak_bytes": peak, "seconds": seconds, "counts": counts}


def apart(*arguments: str) -> str:
    """Run a part of this file in a process of its own; it says on stdout what it found."""
    command = [sys.executable, __file__, *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def measured(folder: Path, asked: argparse.Namespace) -> dict[str, Any]:
    """Write the folder unless it is there already, and extract it."""
    if not list(folder.glob("CHARTEVENTS.*")):
        apart(
            "--part",
            "write",
            "--folder",
            str(folder),
            "--rows",
            str(asked.rows),
            *["--plain"] * asked.plain,
        )
    found = json.loads(
        apart("--part", "extract", "--folder", str(folder), "--memory", asked.memory)
    )
    size = sum(path.stat().st_size for path in folder.iterdir())
    return {"rows": asked.rows, "memory": asked.memory, "folder_bytes": size, **found}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--plain", action="store_true", help="write .csv instead of .csv.gz")
    parser.add_argument(
        "--folder", type=Path, help="where to keep the tables; a temporary folder by default"
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--part", choices=["write", "extract"], help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.part == "write":
        return write(asked.folder, asked.rows, zipped=not asked.plain)
    if asked.part == "extract":
        return print(json.dumps(extract(asked.folder, asked.memory)))
    with tempfile.TemporaryDirectory() as scratch:
        folder = asked.folder or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        found = measured(folder, asked)
    if asked.json:
        return print(json.dumps(found))
    print(
        f"{found['rows']:,} CHARTEVENTS rows, {found['folder_bytes'] / 1e6:,.0f} MB on disk, "
        f"memory={asked.memory}"
    )
    print(f"  {found['seconds']:.1f} s, peak {found['peak_bytes'] / 1e9:.2f} GB")
    return print("\n".join(f"  {step}: {count:,}" for step, count in found["counts"].items()))


if __name__ == "__main__":
    main()
