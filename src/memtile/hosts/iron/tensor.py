"""The tensor of the twin for IRON: the host's bytes and the device's, brought together by syncs.

A program that writes to ``data`` and forgets to sync runs with what the device had before, as it may on an
NPU.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]


class TensorStorage:
    """One allocation, as mlir-aie's ``Storage`` wants its transport: the host's copy and the device's."""

    def __init__(self, nbytes: int) -> None:
        self.host_bytes: Bytes = np.zeros(nbytes, np.uint8)
        self.device_bytes: Bytes = np.zeros(nbytes, np.uint8)

    def to_device(self, offset: int, nbytes: int) -> None:
        """The device sees what the host wrote to a range."""
        self.device_bytes[offset : offset + nbytes] = self.host_bytes[offset : offset + nbytes]

    def from_device(self, offset: int, nbytes: int) -> None:
        """The host sees what the device wrote to a range."""
        self.host_bytes[offset : offset + nbytes] = self.device_bytes[offset : offset + nbytes]

    def handle(self, offset: int, nbytes: int) -> Bytes:
        """The device's copy of a range, which a run reads and writes."""
        return self.device_bytes[offset : offset + nbytes]


class TensorParts:
    """A tensor whose device is the twin; ``NpuTensor`` says what it offers.

    Args:
        shape_or_data: sizes of the dimensions, or what is in the tensor.
        dtype: of its elements.
        device: where it is first, ``"npu"`` or ``"cpu"``.
    """

    _storage_class: type[Any]
    _resolve_coherence_granule: Any
    _extent: tuple[int, int]
    storage: Any
    storage_offset: int
    device: str
    _data: Any

    def __init__(
        self, shape_or_data: Any, dtype: npt.DTypeLike = np.uint32, device: str = "npu", **_: Any
    ) -> None:
        super().__init__(shape_or_data, dtype=dtype, device=device)  # type: ignore[call-arg]
        data = None if isinstance(shape_or_data, tuple) else _as_array(shape_or_data, dtype)
        shape = tuple(map(int, shape_or_data)) if data is None else data.shape
        nbytes = math.prod(shape) * np.dtype(dtype).itemsize
        self._storage = self._storage_class(
            TensorStorage(nbytes), nbytes, device, self._resolve_coherence_granule()
        )
        self._place(shape, np.dtype(dtype), 0)
        if data is not None:
            np.copyto(self._data, data)
        if device == "npu":
            self._sync_to_device()

    def _place(self, shape: tuple[int, ...], dtype: np.dtype[Any], start: int) -> None:
        """Say where in its storage the tensor is, and what it is there."""
        self._shape, self._offset_bytes = shape, start
        end = start + math.prod(shape) * dtype.itemsize
        self._data = self._storage.host_bytes[start:end].view(dtype).reshape(shape)

    @property
    def data(self) -> npt.NDArray[Any]:
        """The host's copy; writes to it are not synced."""
        found: npt.NDArray[Any] = self._data
        return found

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the dimensions."""
        return self._shape

    def _sync_to_device(self) -> None:
        start, end = self._extent
        self.storage.sync_to_device(start, end - start)

    def _sync_from_device(self) -> None:
        start, end = self._extent
        self.storage.sync_from_device(start, end - start)

    def buffer_object(self) -> Bytes:
        """The device's copy, flat."""
        start, end = self._extent
        found: Bytes = self.storage.binding_handle(start, end - start)
        return found

    def _subview(self, offset_bytes: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        view: Any = type(self).__new__(type(self))
        super(TensorParts, view).__init__(shape, dtype=dtype, device=self.device)  # type: ignore[call-arg]
        view._parent, view._storage = self, self.storage
        view._place(tuple(shape), dtype, self.storage_offset + offset_bytes)
        return view


def tensor_class(base: type[Any], storage: type[Any]) -> type[Any]:
    """The tensor class of the twin.

    Args:
        base: ``aie.utils.hostruntime.tensor_class.NpuTensor``.
        storage: ``Storage`` beside it.
    """
    return type("MemtileTensor", (TensorParts, base), {"_storage_class": storage})


def _as_array(data: Any, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    return np.asarray(data) if hasattr(data, "shape") else np.asarray(data, dtype=dtype)
