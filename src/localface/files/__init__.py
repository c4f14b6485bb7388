"""The only room that opens files: tables, persons, schemas, models, answers."""

from localface.files.documents import read_answer, read_schema, write_answer, write_figure, write_schema
from localface.files.models import PICKLES, named_classes, read_model
from localface.files.opening import extra, writable
from localface.files.stores import is_store, open_store, write_store
from localface.files.tables import TABLES, Columns, choose_columns, one_row, read_person, read_table

__all__ = [
    "PICKLES",
    "TABLES",
    "Columns",
    "choose_columns",
    "extra",
    "is_store",
    "named_classes",
    "one_row",
    "open_store",
    "read_answer",
    "read_model",
    "read_person",
    "read_schema",
    "read_table",
    "writable",
    "write_answer",
    "write_figure",
    "write_schema",
    "write_store",
]
