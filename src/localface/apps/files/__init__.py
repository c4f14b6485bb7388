"""Reading and writing the files that the command line names."""

from localface.apps.files.columns import ChosenColumns, choose_columns
from localface.apps.files.documents import (
    read_answer,
    read_schema,
    write_answer,
    write_figure,
    write_page,
    write_schema,
)
from localface.apps.files.people import find_row, read_person, take_row
from localface.apps.files.stores import is_store, open_store, write_store_of_files
from localface.apps.files.tables import TABLE_SUFFIXES, read_table
from localface.data.opening import require_writable_path
from localface.models.load import PICKLES, with_class_names
from localface.models.load import load_model as read_model

__all__ = [
    "PICKLES",
    "TABLE_SUFFIXES",
    "ChosenColumns",
    "choose_columns",
    "find_row",
    "is_store",
    "open_store",
    "read_answer",
    "read_model",
    "read_person",
    "read_schema",
    "read_table",
    "require_writable_path",
    "take_row",
    "with_class_names",
    "write_answer",
    "write_figure",
    "write_page",
    "write_schema",
    "write_store_of_files",
]
