"""Finds the tables of MIMIC-III in a folder."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from localface.errors import DataError, did_you_mean, list_names

MIMIC_TABLES: Mapping[str, Mapping[str, str]] = {
    "PATIENTS": {"SUBJECT_ID": "BIGINT", "GENDER": "VARCHAR", "DOB": "TIMESTAMP"},
    "ADMISSIONS": {"HADM_ID": "BIGINT", "HOSPITAL_EXPIRE_FLAG": "INTEGER"},
    "ICUSTAYS": {
        "SUBJECT_ID": "BIGINT",
        "HADM_ID": "BIGINT",
        "ICUSTAY_ID": "BIGINT",
        "DBSOURCE": "VARCHAR",
        "FIRST_CAREUNIT": "VARCHAR",
        "INTIME": "TIMESTAMP",
        "OUTTIME": "TIMESTAMP",
    },
    "CALLOUT": {"HADM_ID": "BIGINT", "CALLOUT_OUTCOME": "VARCHAR", "CREATETIME": "TIMESTAMP"},
    "CHARTEVENTS": {
        "ICUSTAY_ID": "BIGINT",
        "ITEMID": "INTEGER",
        "CHARTTIME": "TIMESTAMP",
        "VALUE": "VARCHAR",
        "VALUENUM": "DOUBLE",
        "ERROR": "DOUBLE",
    },
}
"""The columns that are read, with their types; what is no such thing is read as missing."""

_ENDINGS = (".csv", ".csv.gz")


@dataclass(frozen=True, slots=True)
class TableFile:
    """One table as it lies in the folder: its file, and its columns as its header spells them."""

    name: str
    path: Path
    header: tuple[str, ...]

    def create_view_sql(self) -> str:
        """SQL for a view of the wanted columns, typed, that streams the file when it is read.

        Every column is read as text and cast afterwards: nothing is guessed from the first
        lines, and one odd value costs that value, not the line or the run. Without ``trim``,
        DuckDB 2.0 moves the cast into the reader, where an odd value rejects its whole line.
        """
        spelt = {column.strip().upper(): column for column in self.header}
        wanted = ", ".join(
            f"TRY_CAST(trim({_quote_sql_identifier(spelt[column])}) AS {kind}) AS {column.lower()}"
            for column, kind in MIMIC_TABLES[self.name].items()
        )
        columns = ", ".join(f"{_quote_sql_string(column)}: 'VARCHAR'" for column in self.header)
        return f"""
            CREATE VIEW {self.name.lower()} AS SELECT {wanted} FROM read_csv(
                {_quote_sql_string(str(self.path))}, columns = {{{columns}}}, auto_detect = false,
                header = true, delim = ',', quote = '"', escape = '"', nullstr = '',
                store_rejects = true,
                compression = '{"gzip" if self.path.name.lower().endswith(".gz") else "none"}')"""


def find_tables(folder: str | Path) -> list[TableFile]:
    """Find every table that is needed, or say which tables and columns are missing."""
    folder = Path(folder)
    if not folder.is_dir():
        raise DataError(
            f"there is no folder {str(folder)!r}: name the one that holds the tables of MIMIC-III"
        )
    present = {path.name.lower(): path for path in sorted(folder.iterdir()) if path.is_file()}
    found = {name: _find_file(name, present) for name in MIMIC_TABLES}
    lacking = [name for name, path in found.items() if path is None]
    if lacking:
        raise DataError(_missing_tables_message(folder, lacking, present.values()))
    tables = [
        TableFile(name, path, _read_header(path))
        for name, path in found.items()
        if path is not None
    ]
    if wrong := [sentence for table in tables if (sentence := _missing_columns_message(table))]:
        raise DataError("; ".join(wrong))
    return tables


def _find_file(name: str, present: Mapping[str, Path]) -> Path | None:
    return next(
        (present[name.lower() + ending] for ending in _ENDINGS if name.lower() + ending in present),
        None,
    )


def _missing_tables_message(folder: Path, lacking: list[str], present: Iterable[Path]) -> str:
    names = [path.name for path in present]
    stems = {name.upper().removesuffix(".GZ").removesuffix(".CSV"): name for name in names}
    wanted = ", ".join(
        f"{name}.csv or {name}.csv.gz{_suggest_similar_file(name, stems)}" for name in lacking
    )
    holds = f"it holds {list_names(names)}" if names else "it is empty"
    return f"the folder {str(folder)!r} lacks {wanted}; {holds}"


def _suggest_similar_file(name: str, stems: Mapping[str, str]) -> str:
    spare = [stem for stem in stems if stem not in MIMIC_TABLES]
    close = did_you_mean(name, spare)
    return next(
        (close.replace(repr(stem), repr(stems[stem])) for stem in spare if repr(stem) in close), ""
    )


def _missing_columns_message(table: TableFile) -> str:
    there = [column.strip().upper() for column in table.header]
    lacking = [column for column in MIMIC_TABLES[table.name] if column not in there]
    if not lacking:
        return ""
    spare = [column for column in there if column not in MIMIC_TABLES[table.name]]
    wanted = ", ".join(f"{column!r}{did_you_mean(column, spare)}" for column in lacking)
    columns = f"column{'s' * (len(lacking) > 1)}"
    return f"{table.path.name} lacks the {columns} {wanted}; it has {list_names(there, most=30)}"


def _read_header(path: Path) -> tuple[str, ...]:
    zipped = path.name.lower().endswith(".gz")
    try:
        with (gzip.open if zipped else open)(path, "rt", encoding="utf-8-sig", newline="") as lines:
            header = next(csv.reader(lines), [])
    except (OSError, EOFError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(
            f"{path.name} cannot be read as {'gzipped ' if zipped else ''}CSV: {error}"
        ) from error
    repeated = {
        column for column in header if [one.upper() for one in header].count(column.upper()) > 1
    }
    if repeated:
        raise DataError(f"{path.name} has columns of the same name: {list_names(sorted(repeated))}")
    return tuple(header)


def _quote_sql_identifier(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _quote_sql_string(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
