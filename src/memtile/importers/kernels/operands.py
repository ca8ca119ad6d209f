"""Operands of a core body: numbers, memory, and indices into it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from memtile.importers.kernels.maps import AffineMap, affine, affine_map
from memtile.importers.kernels.quote import Node, number
from memtile.importers.kernels.views import working_type
from memtile.importers.mlir.forms.operands import Form
from memtile.importers.mlir.tree import Span
from memtile.importers.mlir.types import Shaped, shaped

if TYPE_CHECKING:
    from memtile.importers.kernels.emitter import Emitter

DYNAMIC = -(1 << 63)
"""In a list of numbers, where a value says it."""
_NO_NUMBERS = {"memref": "memory", "objects": "memory", "vector": "a vector"}
_ANY_TYPE = ("arith.select", "builtin.unrealized_conversion_cast")


def number_of(emitter: Emitter, form: Form, value: str) -> Node:
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


def memory_of(emitter: Emitter, form: Form, value: str) -> tuple[Node, Shaped]:
    """The node of memory, and its type.

    Raises:
        InputFileError: the value is no memory.
    """
    text = emitter.types.get(value, "")
    kind = shaped(text) if text.startswith("memref") else None
    if kind is None:
        raise form.error(f"{value} is no memref", "a memref")
    return emitter.use(value), kind


def indices_of(emitter: Emitter, form: Form, before: int, memory: Shaped) -> list[Node]:
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


def mapped(form: Form, found: AffineMap, given: Sequence[Node]) -> list[Node]:
    """The results of a map of these values: first its dimensions, then its symbols.

    Raises:
        InputFileError: there are not as many as the map takes.
    """
    dims, many = len(found.dims), len(found.dims) + len(found.symbols)
    if len(given) != many:
        says = f"its map takes {many} values and gets {len(given)}"
        raise form.error(says, "a value for each dimension and symbol", reason="mlir_operands")
    return found.nodes(given[:dims], given[dims:])


def element_type(form: Form, element: str) -> np.dtype[Any]:
    """NumPy's type of an element as generated code has it.

    Raises:
        InputFileError: it is no type of numbers.
    """
    try:
        return working_type(element)
    except KeyError:
        says = f"elements of type {element} are not known"
        raise form.error(says, "i1 to i64, index, f16, bf16, f32, f64", reason="mlir_type") from None


def index_at(emitter: Emitter, form: Form, span: Span) -> Node:
    """The affine expression that stands somewhere."""
    words = form.operation.tokens.words[span.first : span.end]
    return affine(form, words, lambda value: number_of(emitter, form, value))


def index_of(emitter: Emitter, form: Form, given: object) -> Node:
    """A number or a value of a list.

    Raises:
        InputFileError: it is neither.
    """
    if isinstance(given, str) and given[:1] == "%":
        return number_of(emitter, form, given)
    return number(form.whole(given if isinstance(given, int) and not isinstance(given, bool) else str(given)))


def listed_indices(emitter: Emitter, form: Form, given: object, first: int) -> list[Node]:
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
