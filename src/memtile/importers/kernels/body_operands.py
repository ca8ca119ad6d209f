"""Operands of a core body: numbers, memory, and indices into it.

It also has memory of a core body: NumPy views of buffers, in the types that generated code works with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from memtile.importers.kernels.maps import AffineMap, affine, affine_map
from memtile.importers.kernels.quote import Node, number
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.tree import TokenSpan
from memtile.importers.mlir.types import Shaped, dtype_of, shaped

if TYPE_CHECKING:
    from memtile.importers.kernels.emitter import Emitter

Array = npt.NDArray[Any]
_WORKING = {"bf16": np.dtype(np.uint16)}


@dataclass(frozen=True, slots=True)
class CoreBuffer:
    """A buffer as a core addresses it, see ``sim.kernels.kernel_core.Core``.

    Attributes:
        name: for messages.
        offset: first byte in its tile.
        shape: NumPy shape.
        dtype: working type of an element.
        place: column and row of the tile.
    """

    name: str
    offset: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    place: tuple[int, int] | None


def working_type(element: str) -> np.dtype[Any]:
    """Type in which generated code has elements: signed integers, floats, bfloat16 as its 16 bits.

    Raises:
        KeyError: no type of numbers.
    """
    if element in _WORKING:
        return _WORKING[element]
    found = dtype_of(element)
    if found is None:
        raise KeyError(element)
    if found.kind in "ub":
        return np.dtype(f"int{8 * found.itemsize}")
    return found


def for_user(array: Array, element: str) -> Array:
    """A view of the memory in the type that the text says, for a function of the user."""
    dtype = dtype_of(element)
    return array if dtype is None or dtype == array.dtype else array.view(dtype)


DYNAMIC = -(1 << 63)
"""In a list of numbers, where a value says it."""
_NO_NUMBERS = {"memref": "memory", "objects": "memory", "vector": "a vector"}
_ANY_TYPE = ("arith.select", "builtin.unrealized_conversion_cast")


def number_of(emitter: Emitter, form: OperationForm, value: str) -> Node:
    """The node of a value that is a number.

    Raises:
        InputFileError: it is memory or a vector.
    """
    kind = emitter.types.get(value, "")
    if form.operation.name not in _ANY_TYPE:
        what = next((what for key, what in _NO_NUMBERS.items() if kind.startswith(key)), "")
        if what:
            raise form.error(f"{value} is {what}", "numbers", reason="mlir_type", given=value)
    return emitter.use(value)


def memory_of(emitter: Emitter, form: OperationForm, value: str) -> tuple[Node, Shaped]:
    """The node of memory, and its type.

    Raises:
        InputFileError: the value is no memory.
    """
    text = emitter.types.get(value, "")
    kind = shaped(text) if text.startswith("memref") else None
    if kind is None:
        raise form.error(f"{value} is no memref", "a memref")
    return emitter.use(value), kind


def indices_of(emitter: Emitter, form: OperationForm, before: int, memory: Shaped) -> list[Node]:
    """Indices of an element; a memref without dimensions has one element here.

    Raises:
        InputFileError: there are not as many as the memory has dimensions.
    """
    at = form.bracket("[")
    if at is None:
        nodes = [number_of(emitter, form, value) for value in form.values[before + 1 :]]
        if "map" in form.attributes:
            nodes = mapped(form, affine_map(form, str(form.attributes["map"])), nodes)
    else:
        nodes = [index_at(emitter, form, span) for span in form.split(at)]
    if len(nodes) != len(memory.shape):
        says = f"it has {len(nodes)} indices for {len(memory.shape)} dimensions"
        raise form.error(says, "an index for each", reason="mlir_index")
    return nodes or [number(0)]


def mapped(form: OperationForm, found: AffineMap, given: Sequence[Node]) -> list[Node]:
    """The results of a map of these values: first its dimensions, then its symbols.

    Raises:
        InputFileError: there are not as many as the map takes.
    """
    dims, many = len(found.dims), len(found.dims) + len(found.symbols)
    if len(given) != many:
        says = f"its map takes {many} values and gets {len(given)}"
        raise form.error(says, "a value for each dimension and symbol", reason="mlir_operands")
    return found.nodes(given[:dims], given[dims:])


def element_type(form: OperationForm, element: str) -> np.dtype[Any]:
    """NumPy's type of an element as generated code has it.

    Raises:
        InputFileError: it is no type of numbers.
    """
    try:
        return working_type(element)
    except KeyError:
        says = f"elements of type {element} are not known"
        raise form.error(says, "i1 to i64, index, f16, bf16, f32, f64", reason="mlir_type") from None


def index_at(emitter: Emitter, form: OperationForm, span: TokenSpan) -> Node:
    """The affine expression that stands somewhere."""
    words = form.operation.tokens.words[span.first : span.end]
    return affine(form, words, lambda value: number_of(emitter, form, value))


def index_of(emitter: Emitter, form: OperationForm, given: object) -> Node:
    """A number or a value of a list.

    Raises:
        InputFileError: it is neither.
    """
    if isinstance(given, str) and given[:1] == "%":
        return number_of(emitter, form, given)
    return number(form.whole(given if isinstance(given, int) and not isinstance(given, bool) else str(given)))


def listed_indices(emitter: Emitter, form: OperationForm, given: object, first: int) -> list[Node]:
    """The numbers of an attribute, with values where it leaves them open.

    Args:
        emitter: of the operation.
        form: of it.
        given: the attribute, a list or an array.
        first: how many of its values come before those in the list.
    """
    values = iter(form.values[first:])
    return [
        index_of(emitter, form, next(values, "nothing") if n == DYNAMIC else n)
        for n in getattr(given, "listed", given) or ()  # type: ignore[attr-defined]
    ]
