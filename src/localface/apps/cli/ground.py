"""The command that reports on the floor of a table."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from localface.analyses.floor_report import FloorReport, measure_floor
from localface.apps import files
from localface.apps.cli.console import print_to_stderr, show_while_working
from localface.apps.cli.exit_codes import FOUND
from localface.apps.cli.inputs import note_identifiers
from localface.engine.loading import load_table
from localface.errors import needs_extra
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
        columns = files.choose_columns(
            table, schema=schema, drop=arguments.drop, groups=arguments.groups
        )
        note_identifiers(columns)
        options = _options_with_floor(arguments.min_density)
        opened = load_table(columns.table, columns.schema, options, groups=columns.groups)
    return measure_floor(opened, options)


def _options_with_floor(min_density: float) -> Options:
    """The options of an explainer that matter here; no search is run."""
    search = asdict(Search(n_neighbors=1))
    return Options(**search, min_score=0.5, min_density=min_density, max_rows=None, density="kde")
