"""The devices of a module: each operation at its top goes to the function that reads it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from memtile.importers.mlir.description import CoreDescription, DeviceDescription
from memtile.importers.mlir.forms import fabric, memory_forms, objects
from memtile.importers.mlir.forms.operand_faults import reading
from memtile.importers.mlir.forms.operands import OperationForm, constant
from memtile.importers.mlir.generations import DEVICES as OLD_DEVICES
from memtile.importers.mlir.scratchpad import DECLARE, declare
from memtile.importers.mlir.tree import Operation, Region

DEVICES = (
    "xcvc1902",
    "xcve2302",
    "xcve2802",
    "npu1",
    *(f"npu1_{columns}col" for columns in range(1, 4)),
    "npu2",
    *(f"npu2_{columns}col" for columns in range(1, 8)),
)
"""Names of devices, by their number in the generic form less one (mlir-aie, AIEDevice)."""
DEFAULT_STACK = 1024  # bytes (mlir-aie, CoreOp)
_HOST = ("aiex.npu.", "aiex.dma_")  # operations of hosts
IGNORED = frozenset(
    {
        "aie.end",
        "aie.wire",
        "aie.debug",
        "aie.event",
        "aie.plio",
        "aie.trace",
        "aie.trace.config",
        "builtin.unrealized_conversion_cast",
    }
)


def _core(device: DeviceDescription, operation: Operation) -> None:
    form = OperationForm(operation)
    stack = form.integer("stack_size", 0) or form.integer("stackSize", DEFAULT_STACK)
    elf = str(form.attributes.get("elf_file", ""))
    for inner in operation.walk():
        if inner.name == "aie.buffer":
            memory_forms.inner_buffer(device, inner, f".in_core_{len(device.cores)}")
    device.cores.append(CoreDescription(form.values[0], operation, stack, elf))


def _sequence(device: DeviceDescription, operation: Operation) -> None:
    device.sequences[OperationForm(operation).symbol or "sequence"] = operation


def _bd_chain(device: DeviceDescription, operation: Operation) -> None:
    device.chain_symbols[_symbol(operation)] = operation


def _function(device: DeviceDescription, operation: Operation) -> None:
    """A function that cores call; until 2024 one that does a host's work was the host sequence."""
    is_host = any(inner.name.startswith(_HOST) for inner in operation.walk())
    (device.sequences if is_host else device.functions)[_symbol(operation)] = operation


def _constant(device: DeviceDescription, operation: Operation) -> None:
    device.constants[_symbol(operation)] = operation


def _number(device: DeviceDescription, operation: Operation) -> None:
    found = constant(operation, operation.results[0])
    if found is not None:
        device.numbers[operation.results[0]] = found


def _nothing(_device: DeviceDescription, _operation: Operation) -> None:
    """Read elsewhere: parameters belong to the module."""


def _symbol(operation: Operation) -> str:
    named = OperationForm(operation).attributes.get("sym_name")
    found = next((word[1:].strip('"') for word in operation.words if word[:1] == "@"), "")
    return found or str(named or "")


def _memory(device: DeviceDescription, operation: Operation) -> None:
    """Buffers and locks may be declared within the DMA that uses them."""
    for region in operation.regions:
        for block in region.blocks:
            for inner in block.operations:
                if inner.name in ("aie.buffer", "aie.lock"):
                    HANDLERS[inner.name](device, inner)
    memory_forms.chains(device, operation)


HANDLERS: Mapping[str, Callable[[DeviceDescription, Operation], None]] = {
    "aie.tile": fabric.tile,
    "aie.logical_tile": fabric.logical_tile,
    "aie.flow": fabric.flow,
    "aie.packet_flow": fabric.packet_flow,
    "aiex.multicast": fabric.multicast,
    "aiex.broadcast_packet": fabric.broadcast,
    "aie.switchbox": fabric.switchbox,
    "aie.shim_mux": fabric.switchbox,
    "aie.shim_dma_allocation": fabric.allocation,
    "aie.cascade_flow": fabric.cascade_flow,
    "aie.configure_cascade": fabric.configure_cascade,
    "aie.buffer": memory_forms.buffer,
    "aie.external_buffer": memory_forms.buffer,
    "aie.lock": memory_forms.lock,
    "aie.mem": _memory,
    "aie.memtile_dma": _memory,
    "aie.shim_dma": _memory,
    "aie.bd_chain": _bd_chain,
    "aie.objectfifo": objects.object_fifo,
    "aie.objectfifo.createObjectFifo": objects.object_fifo,
    "aie.objectfifo.link": objects.link,
    "aie.objectfifo.register_external_buffers": objects.register_external,
    "aie.objectfifo.allocate": objects.allocate,
    "aie.core": _core,
    "aie.runtime_sequence": _sequence,
    "aiex.runtime_sequence": _sequence,
    "func.func": _function,
    "func": _function,
    "memref.global": _constant,
    "arith.constant": _number,
    DECLARE: _nothing,
}


def devices(module: Region) -> list[DeviceDescription]:
    """The devices of a module, in order.

    Raises:
        InputFileError: an operation that is not as any tool prints it.
    """
    return [
        described(operation)
        for block in module.blocks
        for top in block.operations
        for operation in top.walk()
        if operation.name == "aie.device"
    ]


def described(operation: Operation) -> DeviceDescription:
    """A device as its text has it, whatever was done to what another call returned.

    Raises:
        InputFileError: an operation that is not as any tool prints it.
    """
    form = OperationForm(operation)
    named = not form.generic
    kind = form.texts()[0] if named else form.choice("device", ("", *DEVICES))
    kind = OLD_DEVICES.get(kind, kind)
    found = DeviceDescription(form.symbol, kind, operation)
    symbols = [word[1:] for word in operation.words if word[:1] == "@"]
    found.name = symbols[0] if symbols else found.name
    for region in operation.regions:
        for block in region.blocks:
            for inner in block.operations:
                _read(found, inner)
    declare(found)
    return found


def _read(device: DeviceDescription, operation: Operation) -> None:
    handler = HANDLERS.get(operation.name)
    if handler is not None:
        with reading(operation):
            handler(device, operation)
    elif operation.name in IGNORED:
        device.ignored[operation.name] = device.ignored.get(operation.name, 0) + 1
    else:
        device.unknown.setdefault(operation.name, []).append(operation)
