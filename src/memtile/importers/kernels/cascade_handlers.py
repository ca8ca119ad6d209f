"""Values of a core body on the cascade and in streams: their types, and the 32-bit words that they are.

A vector is a flat array of numbers (``values``), the first element in the lowest bits; a wide integer is a
Python number.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.arch.core import CORE
from memtile.importers.kernels.body_operands import working_type
from memtile.importers.kernels.expressions import bits_of
from memtile.importers.mlir.description import DeviceDescription
from memtile.importers.mlir.forms.operands import OperationForm, constant
from memtile.importers.mlir.types import dtype_of, shaped

WORD = 32  # bits
_WIDE = 4 * WORD
_MASK = (1 << WORD) - 1
_F32, _BF16 = "f32", "bf16"
_HALF = 16  # bits that bfloat16 has not


def bits_in(kind: str) -> int | None:
    """Bits of a number or of a vector; None if it is neither."""
    memory = shaped(kind)
    if memory is None:
        return WORD if kind == _F32 else None if kind == "index" else bits_of(kind)
    if memory.elements < 0 or not kind.startswith("vector") or dtype_of(memory.element) is None:
        return None
    return int(memory.elements * working_type(memory.element).itemsize * 8)


def cascade_kind(form: OperationForm, kind: str) -> str:
    """The type of a value on the cascade.

    Raises:
        InputFileError: it has not the bits of the cascade.
    """
    if bits_in(kind) != CORE.cascade_bits:
        allowed = f"a type of {CORE.cascade_bits} bits, such as vector<{CORE.cascade_words}xi32>"
        raise form.error(f"the type on the cascade is {kind or 'not said'}", allowed, reason="mlir_cascade")
    return kind


def stream_kind(form: OperationForm, kind: str) -> str:
    """The type of a value in a stream.

    Raises:
        InputFileError: none that the operation has.
    """
    if shaped(kind) is not None or bits_in(kind) not in (WORD, _WIDE):
        raise form.error(
            f"the type in the stream is {kind or 'not said'}", "i32, f32 or i128", reason="mlir_stream"
        )
    return kind


def check_port(device: DeviceDescription, form: OperationForm) -> None:
    """Refuse another port than the one that a core has.

    Raises:
        InputFileError: its number is known and not 0.
    """
    given = form.values[0] if form.values else ""
    number = device.numbers.get(given)
    number = constant(form.operation, given) if number is None and given else number
    if number:
        text = f"the stream port is {number}; a core has one port in and one out"
        raise form.error(text, "0", reason="mlir_stream", given=str(number))


def to_words(value: Any, kind: str) -> npt.NDArray[np.uint32]:
    """The words of a value, the lowest first."""
    memory = shaped(kind)
    if memory is not None:
        numbers = np.ascontiguousarray(value)
        if memory.element == _BF16:
            numbers = numbers.astype(np.float32).view(np.uint32) >> _HALF
        array = numbers.astype(working_type(memory.element).newbyteorder("<"))
        return array.reshape(-1).view("<u4")
    if kind == _F32:
        return np.array([value], "<f4").view("<u4")
    bits = bits_of(kind) or WORD
    return np.array([(value >> low) & _MASK for low in range(0, bits, WORD)], np.uint32)


def from_words(words: npt.NDArray[np.uint32], kind: str) -> Any:
    """The value that words are."""
    memory = shaped(kind)
    if memory is not None:
        array = words.view(working_type(memory.element).newbyteorder("<")).reshape(-1)
        if memory.element == _BF16:
            return (array.astype(np.uint32) << _HALF).view(np.float32)
        return array.astype(np.int64 if bits_of(memory.element) is not None else array.dtype)
    if kind == _F32:
        return words.view("<f4")[0]
    bits = bits_of(kind) or WORD
    number = sum(int(word) << low for low, word in zip(range(0, bits, WORD), words, strict=True))
    return number - (1 << bits) if number >> (bits - 1) else number
