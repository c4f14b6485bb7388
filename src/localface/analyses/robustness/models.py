"""Reads other models that an answer is held against."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from localface.data.table_format import TableFormat
from localface.engine.engine import Engine
from localface.errors import InputError, ModelError
from localface.models.model_table import model_table_format
from localface.models.output import read_output
from localface.models.scorer import Scorer


def read_models(
    engine: Engine, models: Any, *, target: object, form: TableFormat
) -> list[tuple[str | int, Scorer]]:
    """Read other models as the explainer's own: for the same target, held to the same score."""
    if models is None:
        return []
    if hasattr(models, "predict") or callable(models) or not isinstance(models, Iterable):
        raise InputError(
            f"models= is a {type(models).__name__}: give a list, or a dict from name to model"
        )
    named: Iterable[tuple[str | int, Any]] = enumerate(models, 1)
    if isinstance(models, Mapping):
        named = [(str(name), model) for name, model in models.items()]
    return [
        (name, _scorer_for_model(engine, name, model, target=target, form=form))
        for name, model in named
    ]


def _scorer_for_model(
    engine: Engine, name: str | int, model: Any, *, target: object, form: TableFormat
) -> Scorer:
    own = engine.score.output
    try:
        output = read_output(model, target=target)
        fed_form = model_table_format(model, form, engine.schema)
        scorer = Scorer(output, fed_form, min_score=engine.options.min_score)
    except ModelError as error:
        raise ModelError(f"model {name}: {error}") from None
    if (output.kind, output.sign) != (own.kind, own.sign):
        raise ModelError(
            f"model {name} gives a {output.kind} and the explainer's own a {own.kind}: "
            f"no score of the one can be held to min_score={engine.options.min_score:g} "
            "of the other"
        )
    return scorer
