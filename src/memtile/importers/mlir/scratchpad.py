"""Parameters of the scratchpad: words that a host gives to firmware, which brings them to cores and BDs.

A module declares them beside its devices; the place of a declaration is the place of its word in the
scratchpad. For each parameter that a core reads, mlir-aie gives its tile a buffer of two words, and the core
a lock on which it waits before anything else (aie-lower-scratchpad-parameters).
"""

from __future__ import annotations

from collections.abc import Iterator

from memtile.importers.mlir.description import (
    BufferDescription,
    DeviceDescription,
    LockDescription,
    ParameterDescription,
)
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.tree import Operation
from memtile.importers.mlir.types import Shaped

DECLARE = "aiex.scratchpad_parameter"
READ = "aiex.read_scratchpad_parameter"
SHIFT = 2  # bits of a word that firmware keeps zero, so a core's parameter stands above them
MOST = 32  # words of a scratchpad (mlir-aie, npu.create_scratchpad)
_KINDS = ("core", "addr")  # by their number in the generic form
_WORDS = Shaped((2,), "i32")  # firmware writes pairs of words
_OFFSETS = ("aie.dma_bd", "aiex.npu.dma_memcpy_nd")
_PREAMBLE = "emit_parameter_sync_preamble"


def _module_operations(device: Operation) -> list[Operation]:
    """The operations of the module that a device is in."""
    module = device.parent.region if device.parent else None
    return [] if module is None else [each for block in module.blocks for each in block.operations]


def parameters_of(device: Operation) -> dict[str, ParameterDescription]:
    """The parameters that the module of a device declares, by name.

    Raises:
        InputFileError: more than a scratchpad holds, or one that cores read and BDs use.
    """
    top = _module_operations(device)
    declared = [each for each in (*top, *_inside(device)) if each.name == DECLARE]
    if not declared:
        return {}
    uses = _uses(top)
    found: dict[str, ParameterDescription] = {}
    for place, operation in enumerate(declared):
        form = OperationForm(operation)
        if place >= MOST:
            says = f"the module has {len(declared)} parameters, its scratchpad {MOST} words"
            raise form.error(says, f"at most {MOST}", reason="mlir_parameter")
        name = form.symbol
        read, offset = uses.get(name, (False, False))
        if read and offset:
            says = f"cores read {name}, and BDs have it as their offset"
            raise form.error(says, "one of both", reason="mlir_parameter")
        index = int(form.attributes.get("state_table_idx", place))
        found[name] = ParameterDescription(name, index, _type_of(form), _in_core(form, offset=offset))
    return found


def _inside(device: Operation) -> Iterator[Operation]:
    return (each for region in device.regions for block in region.blocks for each in block.operations)


def _uses(top: list[Operation]) -> dict[str, tuple[bool, bool]]:
    """Whether cores read a parameter, and whether it is the offset of BDs, by name."""
    found: dict[str, tuple[bool, bool]] = {}
    for operation in (inner for outer in top for inner in outer.walk()):
        if operation.name == READ:
            name = parameter_read(operation)
            found[name] = (True, found.get(name, (False, False))[1])
        elif operation.dicts and operation.name in _OFFSETS:
            given = OperationForm(operation).attributes.get("offset_parameter")
            if given is not None:
                found[str(given)] = (found.get(str(given), (False, False))[0], True)
    return found


def parameters_used(device: Operation) -> list[str]:
    """Names of the parameters that cores read or BDs have as their offset, declared or not."""
    return list(_uses([device]))


def _type_of(form: OperationForm) -> str:
    if "type" in form.attributes:
        return str(form.attributes["type"])
    words = form.operation.words
    return words[words.index(":") + 1] if ":" in words else ""


def _in_core(form: OperationForm, *, offset: bool) -> bool:
    given = form.attributes.get("kind")
    if given is None:
        return not offset
    word = _KINDS[given] if isinstance(given, int) else str(getattr(given, "listed", (given,))[0])
    return word == _KINDS[0]


def parameter_read(operation: Operation) -> str:
    """The name of the parameter that a core reads."""
    form = OperationForm(operation)
    return str(form.attributes.get("parameter") or form.symbol)


def declare(device: DeviceDescription) -> None:
    """Give the cores of a device the buffers and locks that their parameters need.

    Raises:
        InputFileError: a core reads what nobody declared, or a type that a scratchpad cannot carry.
    """
    device.parameters = parameters_of(device.operation)
    for core in device.cores:
        reads = [each for each in core.operation.walk() if each.name == READ]
        for operation in reads:
            _read(device, core.tile, operation)
        given = OperationForm(core.operation).attributes.get(_PREAMBLE)
        if bool(given) or (given is None and reads):
            value = f"%__param_sync_{core.tile[1:]}"
            device.locks[value] = LockDescription(value[1:], core.tile, core.operation)
            device.parameter_locks[core.tile] = value


def _read(device: DeviceDescription, tile: str, operation: Operation) -> None:
    form, name = OperationForm(operation), parameter_read(operation)
    if name not in device.parameters:
        known = ", ".join(device.parameters) or "none is declared"
        says = f"no parameter has the name {name}"
        raise form.error(says, f"{DECLARE} beside the device: {known}", reason="mlir_parameter")
    kind = device.parameters[name].kind
    if kind != "bf16" and (kind[:1] != "i" or not kind[1:].isdigit() or int(kind[1:]) > 32):
        says = f"{name} is of type {kind}, and firmware carries {32 - SHIFT} bits"
        raise form.error(says, "bf16, or an integer of up to 32 bits", reason="mlir_parameter")
    value = parameter_buffer(device, operation, tile)
    if value not in device.buffers:
        device.buffers[value] = BufferDescription(value[1:], tile, _WORDS, operation)
    device.parameter_words[device.buffers[value].name] = device.parameters[name].index


def parameter_buffer(device: DeviceDescription, operation: Operation, tile: str) -> str:
    """The value that stands for the buffer from which a core of a tile reads a parameter.

    Raises:
        InputFileError: the text names a buffer that the device does not have.
    """
    form = OperationForm(operation)
    named = form.attributes.get("buffer")
    if named is None:
        return f"%__param_{parameter_read(operation)}_{tile[1:]}"
    for value, buffer in device.buffers.items():
        if buffer.name == named:
            return value
    raise form.error(f"no buffer has the name {named}", "a buffer of the device", reason="mlir_buffer")


def syncs_first(device: DeviceDescription, sequence: Operation, sync: str) -> bool:
    """Whether a host sequence brings the parameters to the cores before all else, though it does not say so.

    Args:
        device: whose sequence it is.
        sequence: that is asked about.
        sync: name of the operation that says where it does so.
    """
    given = OperationForm(sequence).attributes.get(_PREAMBLE)
    if given is not None:
        return bool(given)
    if any(each.name == sync for each in sequence.walk()):
        return False
    if device.parameter_words:
        return True
    text = device.operation.tokens.text.content
    names = [name for name in ("offset_parameter", "offset_state_table_idx") if name in text]
    inside = (each for each in device.operation.walk() if each.dicts and each.name in _OFFSETS)
    return any(n in OperationForm(each).attributes for each in inside for n in names) if names else False
