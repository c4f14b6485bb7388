"""A schema file that teaches what may be written in it."""

from __future__ import annotations

from collections.abc import Mapping

from localface.data.frames import missing_mask, open_table
from localface.data.notes_in_toml import note_in_toml
from localface.data.schema import Schema
from localface.data.schema_file import write_toml

GUIDE = """\
A schema: one [[features]] block a feature. Check every guess below, and correct it.
What a block may hold (after a name and a kind):
  moves = "freely"             or "up", "down", "never" (a person's own), "grows" (as age does)
  protected = true             it stays a person's own, and is never named as what could move
  within = 5                   how far from their own value a person may move
  bounds = [0, 100]            for everyone; -inf and inf leave an end open
  resolution = 0.1             the smallest change that anybody would notice
  scale = 12.5                 one ordinary difference between people, else read off the data
  reference = [60, 100]        what is thought ordinary; it is shown and limits nothing
  comparable = 10              how far others may differ in what is a person's own
  missing = "may be measured"  or "keep" (what is missing stays so), "refuse"
  codes = { "-9" = "no record" }              numbers or categories that stand for no value
  unit = "kg"                                 what its numbers count
  since = "2020-01-31"                        dates are counted in days since this one
  label = "body weight"                       what people read in place of the name
  categories = ["low", "high"]                what it may be, lowest first
  category_labels = { high = "very high" }    what people read in place of a category
  never_from = { divorced = ["single"] }      who is the one never becomes the others
  columns = ["job_clerk", "job_cook"]         columns of 0 and 1 that tell its category
What may come before the blocks:
  each_row = "house"                          what one row is, where it is no person
  links = [["grade", "rate"]]                 features that only ever change together
  relations = [["hr_min", "<=", "hr_max"]]    the first never exceeds the second
  rules = [["total", "=", { a = 1, b = 1 }]]  or "<=", ">=": compared with a weighted sum
"""


def guided_toml(schema: Schema, table: object) -> str:
    """Write a schema with what may be written in it, and how much each column lacks."""
    shares = missing_shares(table)
    remarks = {}
    for feature in schema:
        share = max(shares.get(column, 0.0) for column in feature.columns or (feature.name,))
        if share > 0:
            remarks[feature.name] = f"no value in {_in_percent(share)} of the rows"
    notes = [note_in_toml(note) for note in schema.notes]
    return write_toml(schema.to_dict(), [*GUIDE.splitlines(), "", *notes], remarks)


def missing_shares(table: object) -> dict[str, float]:
    """Return which share of the rows has no value, for each column of a table with names."""
    frame = open_table(table)
    columns: Mapping[str, float] = {
        name: float(missing_mask(frame[name].to_numpy()).mean())
        for name in getattr(frame, "columns", ())
    }
    return dict(columns)


def _in_percent(share: float) -> str:
    if share == 1:
        return "all"
    return f"{max(100 * share, 0.1):.1f} %" if share < 0.1 else f"{100 * share:.0f} %"
