"""The slope of a score by the features of a record: a function that gives it, or a torch module that has one."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from localface.errors import ModelError
from localface.evaluation.baselines.task import Task
from localface.types import Array

Slope = Callable[[Array], Array]
_AGREE = 1e-4  # how far a module's output may be from the score that the task reads off the model


def slope_of(task: Task, given: Any = None) -> Slope | None:
    """The slope of the score as the task counts it, checked on every call; None where nobody knows it.

    ``given`` is a function from records to slopes, or a torch module. Without it, the model
    itself or its ``module_`` is taken where it is a torch module that gives the same score.
    """
    if given is None:
        models = (task.model, getattr(task.model, "module_", None))
        module = next((one for one in models if _is_module(one) and _agrees(task, one)), None)
        return (
            None
            if module is None
            else _checked(_torch_slope(task, module), task.scorer.reading.sign)
        )
    if not _is_module(given):
        return _checked(given, task.scorer.reading.sign)
    if not _agrees(task, given):
        raise ModelError(
            "the torch module does not give the score that the task reads off the model, so that its slope is of "
            "something else: let it end as the model does (a sigmoid or softmax for probabilities), one output a record"
        )
    return _checked(_torch_slope(task, given), task.scorer.reading.sign)


def _checked(call: Callable[[Array], Any], sign: int) -> Slope:
    def slope(records: Array) -> Array:
        try:
            found = np.asarray(call(records), dtype=np.float64)
        except Exception as error:
            raise ModelError(f"the gradient failed on {len(records)} record(s): {error}") from error
        if found.shape != records.shape or not np.isfinite(found).all():
            raise ModelError(
                f"the gradient returned shape {found.shape} for records of shape {records.shape}, or numbers that are "
                "not finite: give one slope a record and feature"
            )
        return found * sign

    return slope


def _is_module(model: Any) -> bool:
    """Tell a torch module by what it can do, without torch."""
    return all(
        callable(getattr(model, name, None))
        for name in ("forward", "parameters", "zero_grad", "state_dict")
    )


def _outputs(task: Task, module: Any, records: Array) -> tuple[Any, Any]:
    """The records as torch sees them, and the module's output for the target, one number a record."""
    torch, some = import_module("torch"), next(iter(module.parameters()))
    seen = torch.tensor(records, dtype=some.dtype, device=some.device, requires_grad=True)
    outputs = module(seen)
    if outputs.ndim == 2:
        outputs = outputs[:, 0 if outputs.shape[1] == 1 else task.scorer.reading.column or 0]
    return seen, outputs


def _agrees(task: Task, module: Any) -> bool:
    records = task.records[:: max(1, len(task.records) // 16)]
    try:
        outputs = _outputs(task, module, records)[1].detach().cpu().numpy()
    except Exception:  # whatever it is, such a module has no slope for these records
        return False
    read = task.scorer(records) * task.scorer.reading.sign
    return outputs.shape == read.shape and bool(
        np.allclose(outputs, read, rtol=_AGREE, atol=_AGREE)
    )


def _torch_slope(task: Task, module: Any) -> Callable[[Array], Any]:
    def slope(records: Array) -> Any:
        seen, outputs = _outputs(task, module, records)
        (found,) = import_module("torch").autograd.grad(outputs.sum(), seen)
        return found.cpu().numpy()

    return slope
