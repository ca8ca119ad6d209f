"""``aie.iron.scratchpad_parameter``: a value that the host sets and workers read."""

from __future__ import annotations

from typing import Any

from memtile.iron.dialects import aiex
from memtile.iron.ops.numpy_types import np_dtype_to_mlir_type
from memtile.iron.resolvable import Resolvable


class ScratchpadParameter(Resolvable):
    """A parameter with a name.

    Args:
        name: of the parameter.
        dtype: NumPy's type of the value.
    """

    def __init__(self, name: str, dtype: Any) -> None:
        self._name, self._dtype = name, dtype
        self._resolved = False

    @property
    def name(self) -> str:
        """Of the parameter."""
        return self._name

    @property
    def dtype(self) -> Any:
        """NumPy's type of the value."""
        return self._dtype

    def read(self) -> Any:
        """The value, in a core."""
        return aiex.read_scratchpad_parameter(self._name, np_dtype_to_mlir_type(self._dtype))

    def resolve(self, loc: object = None, ip: Any = None) -> None:
        """Build it, once."""
        if not self._resolved:
            self._resolved = True
            aiex._OPS["ScratchpadParameterOp"](self._name, np_dtype_to_mlir_type(self._dtype))
