"""Whether a text calls a C++ function as its source has it: how many arguments, memory or numbers, and which.

What a register cannot carry from one to the other is refused. Memory may be looked at as another type, which
kernels do on purpose; that is worth a note.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memtile.cpp.parameter_types import CppSignature, CppType

_WHOLE = ("signed", "unsigned", "bool")
_SIZES = {"bf16": 2, "f16": 2, "f32": 4, "f64": 8}
_BITS_IN_BYTE = 8
_INDEX_BYTES = 8


class Passed(NamedTuple):
    """An argument as a text declares it.

    Attributes:
        text: its type, ``memref<64xi8>``.
        element: type of a number, or of each in memory: ``i8``.
        is_memory: it is memory.
    """

    text: str
    element: str
    is_memory: bool


class Misfit(NamedTuple):
    """Something that text and source say differently.

    Attributes:
        says: both, as the end of a sentence about the function.
        allowed: what its source takes.
    """

    says: str
    allowed: str


def misfits(source: CppSignature, given: Sequence[Passed], result: str) -> Iterator[Misfit]:
    """Why calls of a function cannot be what its source means.

    Args:
        source: the function as its source has it.
        given: its arguments as a text declares them.
        result: type of its result in the text; empty = none.
    """
    if len(source.parameters) != len(given):
        texts = ", ".join(each.text for each in given)
        takes = f"takes {_many(len(source.parameters))} ({source.text})"
        says = f"{takes}, the design passes {len(given)} ({texts})"
        yield Misfit(says, f"{len(source.parameters)} arguments")
        return
    for number, (parameter, one) in enumerate(zip(source.parameters, given, strict=True)):
        if not _fits(parameter, one):
            yield Misfit(_as_argument(number, parameter, one), parameter.text)
    if result and not (source.result and _fits_number(source.result, result)):
        back = source.result.text if source.result else "nothing"
        yield Misfit(f"gives {back} back, the design takes {result}", result)


def views(source: CppSignature, given: Sequence[Passed]) -> Iterator[str]:
    """Memory that a function takes as elements of another width or kind than the text says.

    Args:
        source: the function as its source has it.
        given: its arguments as a text declares them; if it takes another number of them, there are no views.
    """
    if len(source.parameters) != len(given):
        return
    for number, (parameter, one) in enumerate(zip(source.parameters, given, strict=True)):
        element = parameter.element
        if one.is_memory and element is not None and not _same(element, one.element):
            yield _as_argument(number, parameter, one)


def _as_argument(number: int, parameter: CppType, one: Passed) -> str:
    return f"takes {parameter.text} as argument {number}, the design passes {one.text}"


def _many(count: int) -> str:
    return f"{count} parameter{'s' * (count != 1)}"


def _fits(parameter: CppType, one: Passed) -> bool:
    if one.is_memory or parameter.kind == "pointer":
        return one.is_memory and parameter.kind == "pointer"
    return _fits_number(parameter, one.element)


def _fits_number(type_: CppType, kind: str) -> bool:
    """Whether a number of the text means the same to a type: whole ones do in any width."""
    size = _size(kind)
    if kind in ("f32", "f64"):
        return type_.kind == "float" and type_.size == size
    if type_.kind in _WHOLE:
        return type_.size <= _INDEX_BYTES and (kind != "bf16" or type_.size == size)
    return type_.kind in ("bf16", "class") and type_.size == size


def _same(element: CppType, kind: str) -> bool:
    """Whether elements have the same width and are whole in both or in neither; a structure is any."""
    size = _size(kind)
    if not size or element.kind in ("void", "class", "pointer"):
        return True
    if element.size != size:
        return False
    if kind in ("bf16", "f16"):
        return element.kind != "bool"  # as its 16 bits, too
    return (element.kind in _WHOLE) == (kind not in _SIZES)


def _size(kind: str) -> int:
    """Bytes of a number of the text; 0 = it is none that is known."""
    digits = kind.lstrip("sui")
    if digits.isdigit() and kind != digits:
        return -(-int(digits) // _BITS_IN_BYTE)
    return _INDEX_BYTES if kind == "index" else _SIZES.get(kind, 0)
