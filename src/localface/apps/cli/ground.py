"""The command that reports on the floor of a table."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

import narwhals as nw

from localface.analyses.floor_report import FloorReport, measure_floor
from localface.apps import files
from localface.apps.cli.console import print_to_stderr, show_while_working
from localface.apps.cli.exit_codes import FOUND
from localface.data.frames import column_names
from localface.engine.loading import load_table
from localface.errors import DataError, did_you_mean, list_names, needs_extra
from localface.options import Options, Search


def run_ground(arguments: argparse.Namespace) -> int:
    """Print how well the floor tells the rows of a table from composed records."""
    for path in filter(None, (arguments.plot, arguments.html)):
        files.require_writable_path(path)
    if arguments.plot:
        with needs_extra("plots", "--plot"):
            import matplotlib  # noqa: F401
    report = _measure_floor(arguments)
    written = []
    if arguments.plot:
        with show_while_working("drawing"):
            written.append(files.write_figure(report.plot(), arguments.plot))
    if arguments.html:
        title = "How well the floor tells people from composed records"
        written.append(files.write_page(arguments.html, title=title, body=report._repr_html_()))
    print(report.to_json(indent=2) if arguments.json else report)
    for path in written:
        print_to_stderr(f"wrote {path}")
    return FOUND


def _measure_floor(arguments: argparse.Namespace) -> FloorReport:
    """Read the table, and measure its floor."""
    with show_while_working(f"reading {arguments.rows}"):
        table = files.read_table(arguments.rows)
        schema = files.read_schema(arguments.schema) if arguments.schema else None
        groups = _column_values_or_none(table, arguments.groups)
        drop = list(arguments.drop)
        if arguments.groups and (schema is None or arguments.groups in schema.names):
            drop.append(arguments.groups)
        columns = files.choose_columns(table, schema=schema, drop=drop)
        options = _options_with_floor(arguments.min_density)
        opened = load_table(columns.table, columns.schema, options)
    return measure_floor(opened, options, groups=groups)


def _options_with_floor(min_density: float) -> Options:
    """The options of an explainer that matter here; no search is run."""
    search = asdict(Search(n_neighbors=1))
    return Options(**search, min_score=0.5, min_density=min_density, max_rows=None, density="kde")


def _column_values_or_none(table: Any, name: str | None) -> list[Any] | None:
    """The values of the column that says whose row it is."""
    if name is None:
        return None
    have = list(column_names(table))
    if name not in have:
        near = did_you_mean(name, have)
        raise DataError(f"there is no column {name!r}{near}: there are {list_names(have)}")
    values: list[Any] = nw.from_native(table, eager_only=True)[name].to_list()
    return values
