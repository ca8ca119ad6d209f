"""The scratchpad of a host sequence: firmware takes words of the host, and adds them to words there."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from memtile.arch.tiles import WORD_BYTES
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.scratchpad import MOST, SHIFT, parameters_used
from memtile.importers.mlir.sequence.accesses import address, buffer_at
from memtile.importers.mlir.sequence.sequence_reader import Call, Reader
from memtile.runs.firmware import CREATE, FUNCTIONS, UPDATE
from memtile.runs.operations import WORD_MAX, Other, Write, address_of

SYNC = "aiex.sync_scratchpad_parameters_from_host"
_INCREMENT = FUNCTIONS.index("incr")


def check_names(reader: Reader, form: OperationForm, numbers: Sequence[str] = ()) -> None:
    """Refuse parameters that the module does not have.

    Args:
        reader: of the sequence.
        form: of it.
        numbers: its arguments that are numbers.

    Raises:
        InputFileError: a name that nothing is called by.
    """
    device = reader.made.device
    known = list(dict.fromkeys([*device.parameters, *parameters_used(device.operation), *numbers]))
    wrong = [name for name in reader.parameters if name not in known and not name.isdigit()]
    if wrong:
        says = f"the module has no parameter {', '.join(wrong)}"
        raise form.error(says, ", ".join(known) or "none", reason="mlir_parameter", given=", ".join(wrong))


def create(reader: Reader, form: Call) -> None:
    """``aiex.npu.create_scratchpad {size = 4 : ui32}``: firmware takes a copy of the host's words."""
    size, usage = form.number("size"), int(form.attributes.get("usage_type", 0))
    if usage:
        raise form.error(f"its usage type is {usage}", "0", reason="mlir_scratchpad")
    if size <= 0 or size % WORD_BYTES or size > MOST * WORD_BYTES:
        says = f"a scratchpad of {size} bytes"
        raise form.error(says, f"1..{MOST} words of {WORD_BYTES} bytes", reason="mlir_scratchpad")
    _create(reader, form, size)


def _create(reader: Reader, form: OperationForm, size: int) -> None:
    reader.scratchpad = size // WORD_BYTES
    said = (("usage", 0), ("bytes", size), ("offset", 0))
    reader.emit(form, partial(Other, CREATE, b"", said, acts=False))


def update(reader: Reader, form: Call) -> None:
    """``aiex.npu.update_from_scratchpad <mul> {state_table_idx, func_arg, address, buffer}``."""
    given = form.attributes
    function = given.get("func")
    if function is None:
        at = form.bracket("<")
        function = _INCREMENT if at is None else form.operation.tokens.words[at + 1]
    if isinstance(function, str) and function in FUNCTIONS:
        function = FUNCTIONS.index(function)
    if not isinstance(function, int) or not 0 <= function < len(FUNCTIONS):
        raise form.error(f"it computes {function}", ", ".join(FUNCTIONS), reason="mlir_scratchpad")
    computed = function, int(given.get("func_arg", 0))
    _update(reader, form, form.number("state_table_idx"), computed, address(reader, form))


def _update(reader: Reader, form: OperationForm, index: int, function: tuple[int, int], at: int) -> None:
    if index >= reader.scratchpad:
        says = f"word {index} of a scratchpad that has {reader.scratchpad}"
        step = "Create one that is larger, before this." if reader.scratchpad else "Create it before this."
        raise form.error(says, "a word of aiex.npu.create_scratchpad", reason="mlir_scratchpad", step=step)
    word = word_of(reader, form, index)
    said = (
        ("index", index),
        ("function", function[0]),
        ("argument", function[1]),
        ("address", at),
        ("word", word),
    )
    reader.emit(form, partial(Other, UPDATE, b"", said))


def synchronise(reader: Reader, form: OperationForm) -> None:
    """``aiex.sync_scratchpad_parameters_from_host``: bring parameters to cores, then let them begin."""
    device = reader.made.device
    _create(reader, form, len(device.parameters) * WORD_BYTES)
    for name, index in device.parameter_words.items():
        offset, tile = buffer_at(reader, form, name)
        assert tile.place is not None
        at = address_of(*tile.place, offset)
        reader.emit(form, partial(Write, at, 0))
        _update(reader, form, index, (_INCREMENT, 0), at)
    for value in device.parameter_locks.values():
        lock = reader.made.locks[value]
        assert lock.place is not None
        at = address_of(*lock.place, lock.kind.lock_value_base + lock.id * lock.kind.lock_value_stride)
        reader.emit(form, partial(Write, at, 1))


def word_of(reader: Reader, form: OperationForm, index: int) -> int:
    """The word of the scratchpad at an index, as a host program writes it: by name or by number.

    Raises:
        InputFileError: it has no value, or its parameter does not hold it.
    """
    declared = next((p for p in reader.made.device.parameters.values() if p.index == index), None)
    if declared is not None and declared.name in reader.parameters:
        bits = _bits(form, declared.name, declared.kind, reader.parameters[declared.name])
        return (bits << SHIFT) & WORD_MAX if declared.in_core else bits
    raw = reader.parameter(form, str(index) if declared is None else declared.name)
    return _bits(form, str(index), "i32", raw)


def offset_of(reader: Reader, form: OperationForm) -> int:
    """Elements that a parameter of the scratchpad adds to the offset of a BD: by name, or by its word.

    Raises:
        InputFileError: it has no value, or it is no whole number.
    """
    given = form.attributes
    if "offset_parameter" in given:
        value = reader.parameter(form, str(given["offset_parameter"]))
    elif "offset_state_table_idx" in given:
        return word_of(reader, form, int(given["offset_state_table_idx"]))
    else:
        return 0
    return _bits(form, str(given["offset_parameter"]), "i32", value)


def _bits(form: OperationForm, name: str, kind: str, value: Any) -> int:
    """A number as 32 bits; of bfloat16 the number, or its bits as a whole number."""
    if type(value).__name__ == "bfloat16" or (kind == "bf16" and isinstance(value, float | np.floating)):
        import ml_dtypes

        return int(np.asarray(value, ml_dtypes.bfloat16).view(np.uint16))
    if isinstance(value, int | np.integer) and -(1 << 31) <= int(value) <= WORD_MAX:
        return int(value) & WORD_MAX
    says = f"the parameter {name} of type {kind} is {value!r}"
    raise form.error(says, "a number of its type", reason="mlir_parameter", given=str(value))
