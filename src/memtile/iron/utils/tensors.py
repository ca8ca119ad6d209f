"""Tensors of the host: NumPy's arrays with the names that programs use."""

from __future__ import annotations

from typing import Any

import numpy as np


class Tensor:
    """An array that a design reads and writes.

    Args:
        shape_or_data: dimensions, or what is in it.
        dtype: of its elements.
        device: ``"npu"`` or ``"cpu"``; there is one memory for both.
    """

    def __init__(self, shape_or_data: Any, dtype: Any = np.uint32, device: str = "npu") -> None:
        if isinstance(shape_or_data, tuple):
            self._data = np.zeros(shape_or_data, dtype)
        else:
            given = np.asarray(shape_or_data)
            self._data = np.array(
                given, dtype=given.dtype if isinstance(shape_or_data, np.ndarray) else dtype
            )
        self.device = device

    @property
    def data(self) -> np.ndarray[Any, Any]:
        """The array."""
        return self._data

    @property
    def shape(self) -> tuple[int, ...]:
        """Its dimensions."""
        return tuple(self._data.shape)

    @property
    def dtype(self) -> Any:
        """The type of its elements."""
        return self._data.dtype

    @property
    def nbytes(self) -> int:
        """Its size."""
        return self._data.nbytes

    def numpy(self) -> np.ndarray[Any, Any]:
        """The array."""
        return self._data

    def to(self, target_device: str) -> Tensor:
        """Itself."""
        self.device = target_device
        return self

    def numel(self) -> int:
        """All its elements."""
        return self._data.size

    def element_size(self) -> int:
        """Bytes of an element."""
        return self._data.itemsize

    def fill_(self, value: Any) -> None:
        """Put one value everywhere."""
        self._data[...] = value

    def subview(self, offset: int, shape: Any, dtype: Any = None) -> Tensor:
        """A part of it, from an element on, as another tensor of the same memory."""
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        flat = self._data.reshape(-1)[offset:]
        kind = self.dtype if dtype is None else np.dtype(dtype)
        made = Tensor.__new__(Tensor)
        size = int(np.prod(shape)) * kind.itemsize
        made._data = flat.view(np.uint8)[:size].view(kind).reshape(shape)
        made.device = self.device
        return made

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray[Any, Any]:
        return self._data if dtype is None else self._data.astype(dtype)

    def __getitem__(self, at: Any) -> Any:
        return self._data[at]

    def __setitem__(self, at: Any, value: Any) -> None:
        self._data[at] = value

    def __len__(self) -> int:
        return len(self._data)

    def __repr__(self) -> str:
        return f"tensor({self._data}, device='{self.device}')"

    @staticmethod
    def _size(size: tuple[Any, ...]) -> tuple[int, ...]:
        return tuple(size[0]) if len(size) == 1 and isinstance(size[0], (tuple, list)) else size

    @classmethod
    def ones(cls, *size: Any, dtype: Any = np.uint32, device: str = "npu", out: Any = None) -> Tensor:
        """Full of ones."""
        return cls(np.ones(cls._size(size), dtype), device=device)

    @classmethod
    def zeros(cls, *size: Any, dtype: Any = np.uint32, device: str = "npu", out: Any = None) -> Tensor:
        """Full of zeros."""
        return cls(np.zeros(cls._size(size), dtype), device=device)

    @classmethod
    def full(
        cls, size: Any, fill_value: Any, *, dtype: Any = np.uint32, device: str = "npu", out: Any = None
    ) -> Tensor:
        """Full of one value."""
        return cls(np.full(cls._size((size,)), fill_value).astype(dtype), device=device)

    @classmethod
    def zeros_like(cls, other: Any, dtype: Any = None, device: str = "npu") -> Tensor:
        """Full of zeros, like another."""
        return cls(np.zeros(other.shape, other.dtype if dtype is None else dtype), device=device)

    @classmethod
    def arange(
        cls,
        start: Any = 0,
        end: Any = None,
        step: Any = 1,
        *,
        shape: Any = None,
        dtype: Any = None,
        device: str = "npu",
        out: Any = None,
    ) -> Tensor:
        """Numbers in order, ``end`` not included; int64, or float32 if one of the numbers is no whole one."""
        start, end = (0, start) if end is None else (start, end)
        if dtype is None:
            dtype = np.float32 if any(isinstance(each, float) for each in (start, end, step)) else np.int64
        made = np.arange(start, end, step).astype(dtype)
        return cls(made if shape is None else made.reshape(shape), device=device)

    @classmethod
    def randint(
        cls,
        low: int,
        high: int | None = None,
        size: Any = None,
        *,
        dtype: Any = np.int64,
        device: str = "npu",
        **_: Any,
    ) -> Tensor:
        """Random whole numbers, ``high`` not included."""
        if size is None:
            low, high, size = 0, low, high
        return cls(np.random.randint(low, high, cls._size((size,))).astype(dtype), device=device)

    @classmethod
    def rand(cls, *size: Any, dtype: Any = np.float32, device: str = "npu", **_: Any) -> Tensor:
        """Random numbers from 0 to 1."""
        return cls(np.random.rand(*cls._size(size)).astype(dtype), device=device)


def tensor(*args: Any, **kwargs: Any) -> Tensor:
    """A tensor.

    Raises:
        TypeError: an array and another type of elements.
    """
    if (
        args
        and isinstance(args[0], np.ndarray)
        and "dtype" in kwargs
        and args[0].dtype != np.dtype(kwargs["dtype"])
    ):
        raise TypeError(
            f"an array of {args[0].dtype} is no tensor of {np.dtype(kwargs['dtype'])}; convert it before"
        )
    return Tensor(*args, **kwargs)


def ceildiv(a: int, b: int) -> int:
    """The least whole number that is at least ``a / b``."""
    return -(a // -b)


ones, zeros, full, zeros_like, arange, randint, rand = (
    Tensor.ones,
    Tensor.zeros,
    Tensor.full,
    Tensor.zeros_like,
    Tensor.arange,
    Tensor.randint,
    Tensor.rand,
)
