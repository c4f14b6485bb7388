"""Refuses models that no score can be read from, with what to do."""

from __future__ import annotations

from typing import Any

import numpy as np

from localface.errors import ModelError


def refuse_unreadable(model: Any) -> None:
    """Refuse a bare torch module, a model of several outputs, and one that is not fitted."""
    name = type(model).__name__
    if _is_torch_module(model):
        raise ModelError(
            f"{name} is a bare torch module, which takes tensors and not tables: give a function, "
            "as in lambda rows: torch.sigmoid(net(torch.tensor(rows.to_numpy(), "
            "dtype=torch.float32))).detach().numpy().ravel()"
        )
    classes = getattr(model, "classes_", None)
    if classes is None and hasattr(model, "predict_proba") and hasattr(model, "fit"):
        raise ModelError(f"{name} knows no classes: fit it first, then explain it")
    n_outputs = _count_outputs(model, classes)
    if n_outputs > 1:
        raise ModelError(
            f"{name} has {n_outputs} outputs, and one score is wanted: give a function that "
            "returns the one you mean, as in lambda rows: model.predict_proba(rows)[0][:, 1] or "
            "lambda rows: model.predict(rows)[:, 0]"
        )


def no_classes_error(model: Any) -> ModelError:
    """Say that a model has no classes of which another could be wanted."""
    return ModelError(
        f"target='other' is any class but the present one, and {type(model).__name__} has no "
        "classes: pass a classifier, or say which score is wanted with target=(low, high)",
        option="target",
    )


def _is_torch_module(model: Any) -> bool:
    kinds = [f"{kind.__module__}.{kind.__qualname__}" for kind in type(model).__mro__]
    return "torch.nn.modules.module.Module" in kinds


def _count_outputs(model: Any, classes: Any) -> int:
    """Count the outputs of a fitted model, where it says how many it has."""
    if isinstance(classes, list) and classes and isinstance(classes[0], np.ndarray | list):
        return len(classes)
    for name in ("n_outputs_", "_n_outputs"):
        found = getattr(model, name, None)
        if isinstance(found, int | np.integer) and not hasattr(model, "classes_"):
            return int(found)
    coefficients = getattr(model, "coef_", None)
    if classes is None and isinstance(coefficients, np.ndarray) and coefficients.ndim == 2:
        return len(coefficients)
    return 1
