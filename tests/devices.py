"""Devices for tests: NumPy in place of a GPU, and a GPU where there is one."""

from __future__ import annotations

import pytest

from localface.errors import InputError
from localface.geometry.device.cuda import cupy
from localface.geometry.device.device import Device, NumpyDevice


def why_no_gpu() -> str:
    """Say why there is no GPU to test on; nothing where there is one."""
    try:
        cupy()
    except InputError as error:
        return str(error)
    return ""


needs_gpu = pytest.mark.skipif(bool(why_no_gpu()), reason=f"no GPU here: {why_no_gpu()}")


def numpy_device_named(name: str | None) -> Device | None:
    """Open NumPy where a GPU is asked for."""
    return NumpyDevice() if name == "cuda" else None
