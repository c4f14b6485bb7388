"""The gradient of the score: from a function, or from a torch module."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from localface.errors import ModelError
from localface.evaluation.baselines.task import Task
from localface.types import Array

Gradient = Callable[[Array], Array]
_AGREE = 1e-4  # how far a module's output may be from the score that the task reads off the model


def score_gradient(task: Task, given: Any = None) -> Gradient | None:
    """The gradient of the score as the task counts it, checked on every call; None if unknown.

    ``given`` is a function from records to gradients, or a torch module. Without it, the model
    itself or its ``module_`` is taken where it is a torch module that gives the same score.
    """
    if given is None:
        models = (task.model, getattr(task.model, "module_", None))
        module = next(
            (
                one
                for one in models
                if _is_torch_module(one) and _module_agrees_with_task(task, one)
            ),
            None,
        )
        if module is None:
            return None
        return _checked_gradient(_torch_gradient(task, module), task.scorer.output.sign)
    if not _is_torch_module(given):
        return _checked_gradient(given, task.scorer.output.sign)
    if not _module_agrees_with_task(task, given):
        raise ModelError(
            "the torch module does not give the score that the task reads off the model, "
            "so that its slope is of something else: let it end as the model does "
            "(a sigmoid or softmax for probabilities), one output a record"
        )
    return _checked_gradient(_torch_gradient(task, given), task.scorer.output.sign)


def _checked_gradient(call: Callable[[Array], Any], sign: int) -> Gradient:
    def gradient(records: Array) -> Array:
        try:
            found = np.asarray(call(records), dtype=np.float64)
        except Exception as error:
            raise ModelError(f"the gradient failed on {len(records)} record(s): {error}") from error
        if found.shape != records.shape or not np.isfinite(found).all():
            raise ModelError(
                f"the gradient returned shape {found.shape} for records of shape {records.shape}, "
                "or numbers that are not finite: give one slope a record and feature"
            )
        return found * sign

    return gradient


def _is_torch_module(model: Any) -> bool:
    """Tell a torch module by what it can do, without torch."""
    return all(
        callable(getattr(model, name, None))
        for name in ("forward", "parameters", "zero_grad", "state_dict")
    )


def _tensor_and_outputs(task: Task, module: Any, records: Array) -> tuple[Any, Any]:
    """The records as a tensor, and the module's output for the target, one number a record."""
    import torch

    some = next(iter(module.parameters()))
    tensor = torch.tensor(records, dtype=some.dtype, device=some.device, requires_grad=True)
    outputs = module(tensor)
    if outputs.ndim == 2:
        outputs = outputs[:, 0 if outputs.shape[1] == 1 else task.scorer.output.column or 0]
    return tensor, outputs


def _module_agrees_with_task(task: Task, module: Any) -> bool:
    records = task.records[:: max(1, len(task.records) // 16)]
    try:
        outputs = _tensor_and_outputs(task, module, records)[1].detach().cpu().numpy()
    except Exception:  # such a module has no gradient for these records
        return False
    read = task.scorer(records) * task.scorer.output.sign
    close = outputs.shape == read.shape and np.allclose(outputs, read, rtol=_AGREE, atol=_AGREE)
    return bool(close)


def _torch_gradient(task: Task, module: Any) -> Callable[[Array], Any]:
    def gradient(records: Array) -> Any:
        import torch

        tensor, outputs = _tensor_and_outputs(task, module, records)
        (found,) = torch.autograd.grad(outputs.sum(), tensor)
        return found.cpu().numpy()

    return gradient
