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

    def numpy(self) -> Any:
        return self.to("cpu").data

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
