"""``aie.utils.hostruntime``: the device that programs are for."""

from __future__ import annotations

from typing import Any

import numpy as np

_now: list[Any] = [None]


def set_current_device(device: Any) -> None:
    """Choose the device; None = none."""
    _now[0] = device


def chosen_device() -> Any:
    """The device that was chosen; None = none."""
    return _now[0]


def bfloat16_safe_allclose(dtype: Any, arr1: Any, arr2: Any) -> bool:
    """Whether arrays are close to each other."""
    return bool(np.allclose(np.asarray(arr1).astype(np.float32), np.asarray(arr2).astype(np.float32)))
