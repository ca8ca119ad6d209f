"""``aie.iron.buffer``: memory of a tile that workers and the host use."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from memtile.iron.device import Tile
from memtile.iron.dialects.aie import buffer
from memtile.iron.helpers.util import array_type, np_ndarray_type_get_dtype, np_ndarray_type_get_shape
from memtile.iron.resolvable import NotResolvedError, Resolvable


class Buffer(Resolvable):
    """Memory of a tile, with a name.

    Args:
        type: NumPy's type, ``np.ndarray[(16,), np.dtype[np.int32]]``; default = the initial value's.
        initial_value: what is in it at first.
        name: default = one of its own.
        tile: default = that of the worker that has it.
        use_write_rtp: the host writes its elements as parameters.
        address: in the tile's memory, in bytes.
        placement: the older name of ``tile``.

    Raises:
        ValueError: neither type nor initial value.
    """

    _numbers = itertools.count()

    def __init__(
        self,
        type: Any = None,
        initial_value: np.ndarray[Any, Any] | None = None,
        name: str | None = None,
        tile: Tile | None = None,
        use_write_rtp: bool = False,
        address: int | None = None,
        placement: Tile | None = None,
    ) -> None:
        if type is None:
            if initial_value is None:
                raise ValueError("a Buffer needs its type, its initial value, or both")
            type = array_type(initial_value.shape, initial_value.dtype.type)
        self._arr_type, self._initial_value = type, initial_value
        self._name = name or f"buf_{next(Buffer._numbers)}"
        self._use_write_rtp, self._address = use_write_rtp, address
        tile = placement if tile is None else tile
        self._tile, self._explicit_tile = tile, tile is not None
        self._owner_worker: Any = None
        self._op: Any = None

    @property
    def name(self) -> str:
        """Of the buffer."""
        return self._name

    @property
    def tile(self) -> Tile | None:
        """That it is on."""
        return self._tile

    def tiles(self) -> list[Tile]:
        """The tile that it needs."""
        return [self._tile] if self._tile is not None else []

    @property
    def shape(self) -> Sequence[int]:
        """Its dimensions."""
        return np_ndarray_type_get_shape(self._arr_type)

    @property
    def dtype(self) -> Any:
        """The type of its elements."""
        return np_ndarray_type_get_dtype(self._arr_type)

    @property
    def op(self) -> Any:
        """Its operation.

        Raises:
            NotResolvedError: it is not built yet.
        """
        if self._op is None:
            raise NotResolvedError(
                f"buffer {self._name} is not resolved: no worker has it, so it is on no tile"
            )
        return self._op

    def __getitem__(self, at: Any) -> Any:
        return self.op[at]

    def __setitem__(self, at: Any, value: Any) -> None:
        self.op[at] = value

    def resolve(self, loc: object = None, ip: Any = None) -> None:
        """Build it.

        Raises:
            ValueError: it is on no tile.
        """
        if self._op is None:
            if self._tile is None:
                raise ValueError(f"buffer {self._name} is on no tile: give it to a Worker, or tile=")
            self._op = buffer(
                self._tile.op,
                self._arr_type,
                name=self._name,
                address=self._address,
                initial_value=self._initial_value,
                use_write_rtp=self._use_write_rtp,
            )
