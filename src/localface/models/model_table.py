"""The kind of table that a model is called with."""

from __future__ import annotations

from typing import Any

from localface.data.schema import Schema
from localface.data.table_format import TableFormat
from localface.errors import ModelError, did_you_mean, list_names


def model_table_format(model: Any, table_format: TableFormat, schema: Schema) -> TableFormat:
    """Return the kind of table the model wants: the user's own, unless fitted on bare arrays."""
    with_names = getattr(model, "feature_names_in_", None)
    if with_names is not None:
        _check_column_names([str(name) for name in with_names], schema)
        return table_format.with_names() if table_format.kind == "numpy" else table_format
    width = getattr(model, "n_features_in_", None)
    if width is not None and int(width) != len(schema.columns):
        raise ModelError(
            f"the model was fitted on {width} features and the data has {len(schema.columns)}: "
            f"{list_names(schema.columns)}. If it is the last step of a pipeline, give the whole "
            "pipeline, which takes the table as it is"
        )
    bare = width is not None and table_format.kind != "numpy"
    return table_format.without_names() if bare else table_format


def _check_column_names(wanted: list[str], schema: Schema) -> None:
    have = list(schema.columns)
    if wanted == have:
        return
    missing = [name for name in wanted if name not in have]
    extra = [name for name in have if name not in wanted]
    if missing:
        near = did_you_mean(missing[0], extra)
        raise ModelError(
            f"the model was fitted with {list_names(missing)}, which the data lacks{near}: "
            f"give the columns it was fitted with, {list_names(wanted)}",
            feature=missing[0],
        )
    if extra:
        raise ModelError(
            f"the model was not fitted with {list_names(extra)}: drop them from the data "
            "(is one the outcome?)",
            feature=extra[0],
        )
    raise ModelError(
        "the model was fitted with the columns in another order: "
        f"{list_names(wanted, len(wanted))}. Reorder the data "
        "(and the schema): data[list(model.feature_names_in_)]"
    )
