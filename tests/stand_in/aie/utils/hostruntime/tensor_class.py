"""The tensor that a backend derives from: where its bytes are, one place for all of them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np


class Storage:
    def __init__(self, transport: Any, nbytes: int, device: str, granule: int | None = None) -> None:
        self.transport, self.nbytes, self.device, self.granule = transport, nbytes, device, granule
        self.sync_to_device, self.sync_from_device = transport.to_device, transport.from_device
        self.binding_handle = transport.handle

    @property
    def host_bytes(self) -> Any:
        return self.transport.host_bytes


class NpuTensor(ABC):
    _parent: Any = None
    _offset_bytes = 0
    _storage: Any = None

    def __init__(self, shape_or_data: Any, dtype: Any = np.uint32, device: str = "npu") -> None:
        assert device in ("npu", "cpu"), shape_or_data
        self.dtype = dtype

    @classmethod
    def _resolve_coherence_granule(cls) -> int:
        return 64

    @property
    def storage(self) -> Any:
        return self._storage

    @property
    def storage_offset(self) -> int:
        return self._offset_bytes

    @property
    def _extent(self) -> tuple[int, int]:
        size = math.prod(self.shape) * np.dtype(self.dtype).itemsize
        return self._offset_bytes, self._offset_bytes + size

    @property
    def device(self) -> str:
        return str(self.storage.device)

    def to(self, target: str) -> Any:
        if self.device != target:
            self._sync_to_device() if target == "npu" else self._sync_from_device()
            self.storage.device = target
        return self

    @device.setter
    def device(self, value: str) -> None:
        self.storage.device = value

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize

    def numpy(self) -> Any:
        if self.device == "npu":
            self._sync_from_device()
        return self.data

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.numpy().astype(dtype) if dtype else self.numpy()

    def __getitem__(self, index: Any) -> Any:
        return self.numpy()[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.numpy()[index] = value
        self.device = "cpu"

    def __len__(self) -> int:
        return self.shape[0]

    def fill_(self, value: Any) -> None:
        self.data.fill(value)
        self.device = "cpu"

    @classmethod
    def _filled(cls, values: Any, dtype: Any) -> Any:
        return cls(np.asarray(values).astype(dtype), dtype=dtype)

    @classmethod
    def full(cls, size: Any, fill_value: Any, *, dtype: Any = np.float32) -> Any:
        return cls._filled(np.full(size, fill_value), dtype)

    @classmethod
    def zeros(cls, *size: Any, dtype: Any = np.float32) -> Any:
        return cls.full(size[0] if isinstance(size[0], tuple) else size, 0, dtype=dtype)

    @classmethod
    def ones(cls, *size: Any, dtype: Any = np.float32) -> Any:
        return cls.full(size[0] if isinstance(size[0], tuple) else size, 1, dtype=dtype)

    @classmethod
    def zeros_like(cls, other: Any, dtype: Any = None) -> Any:
        return cls.zeros(other.shape, dtype=dtype or other.dtype)

    @classmethod
    def arange(cls, start: Any = 0, end: Any = None, step: Any = 1, *, dtype: Any = np.int64) -> Any:
        return cls._filled(np.arange(*((0, start) if end is None else (start, end)), step), dtype)

    @classmethod
    def randint(cls, low: int, high: int, size: Any, *, dtype: Any = np.int64) -> Any:
        return cls._filled(np.random.randint(low, high, size=size), dtype)

    @classmethod
    def rand(cls, *size: Any, dtype: Any = np.float32) -> Any:
        return cls._filled(np.random.uniform(0, 1, size=size), dtype)

    def subview(self, offset: int, shape: tuple[int, ...], dtype: Any = None) -> Any:
        return self._subview(offset, shape, np.dtype(dtype or self.dtype))

    @property
    @abstractmethod
    def data(self) -> Any: ...

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]: ...

    @abstractmethod
    def _sync_to_device(self) -> None: ...

    @abstractmethod
    def _sync_from_device(self) -> None: ...

    @abstractmethod
    def _subview(self, offset_bytes: int, shape: tuple[int, ...], dtype: Any) -> Any: ...
