"""A sequence from its first operation to its last.

It also has resets that a sequence asks for: of a DMA channel, of a core.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from memtile.arch.register_map import register_at
from memtile.errors import InputFileError
from memtile.explain.moves import Move
from memtile.importers.host_numbers import host_number
from memtile.importers.mlir.configure import CORE_CONTROL, Configured
from memtile.importers.mlir.description import DeviceDescription
from memtile.importers.mlir.forms.operand_faults import reading
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.overlay import CONTROL_PACKET
from memtile.importers.mlir.reconfiguration import Devices
from memtile.importers.mlir.scratchpad import syncs_first
from memtile.importers.mlir.sequence import (
    accesses,
    control_packet_forms,
    loads,
    scratchpad_forms,
    sequence_tasks,
    sequence_values,
    transfer_forms,
)
from memtile.importers.mlir.sequence.runtime_values import check_branches, is_rolled, runtime_values
from memtile.importers.mlir.sequence.sequence_reader import (
    MISSING,
    MOST_STEPS,
    NO_PARAMETERS,
    ArgumentView,
    Call,
    MissingNumber,
    Parameters,
    Reader,
    SequenceTask,
    habits_of,
)
from memtile.importers.mlir.tree import Operation, OperationBlock
from memtile.importers.mlir.types import Shaped, dtype_of, shaped
from memtile.runs.operations import MaskWrite, address_of
from memtile.runs.operations import Operation as Step


def channel_reset(reader: Reader, form: Call) -> None:
    """``aiex.dma_channel_reset(%tile, MM2S, 0)``, or ``_for @allocation``: on, then off.

    Raises:
        InputFileError: a channel without reset, as those of interface tiles are; an object FIFO, whose locks
            and tasks mlir-aie would set up again.
    """
    if form.operation.name.endswith("_for"):
        words = [word[1:].strip('"') for word in form.operation.words if word[:1] == "@"]
        name = str(form.attributes.get("alloc") or form.attributes.get("objfifo") or words[0])
        if name not in reader.made.device.allocations or name in reader.made.device.fifos:
            says = f"{name} is not a channel alone: its locks and tasks are not set up again here"
            step = "Write the reset of each channel, aiex.set_lock for each lock, and aiex.npu.push_queue."
            raise form.error(says, "aiex.dma_channel_reset", reason="mlir_reset", step=step)
        tile, direction, channel = form.allocated(name)
    else:
        tile, direction, channel = form.channel()
    if not tile.kind.has_channel_reset:
        says = f"channels of an {tile.kind.title} have no reset"
        raise form.error(says, "channels of memory tiles and compute tiles", reason="mlir_reset")
    local = direction * tile.kind.channels + channel
    offset = tile.kind.control_base + local * tile.kind.channel_stride
    register = register_at(tile.kind.name, offset)
    assert register is not None  # every channel has a control register
    assert tile.place is not None
    _pulse(reader, form, address_of(*tile.place, offset), register.field("Reset").mask)


def core_reset(reader: Reader, form: Call) -> None:
    """``aiex.core_reset(%tile)``: on, then off; the core is not enabled by it.

    Raises:
        InputFileError: a tile without core.
    """
    tile = form.tile()
    if tile.kind.role != "compute":
        raise form.error(f"the {tile.title} has no core", "a compute tile", reason="mlir_reset")
    assert tile.place is not None
    _pulse(reader, form, address_of(*tile.place, CORE_CONTROL.offset), CORE_CONTROL.field("Reset").mask)


def _pulse(reader: Reader, form: Call, address: int, mask: int) -> None:
    reader.emit(form, partial(MaskWrite, address, mask, mask))
    reader.emit(form, partial(MaskWrite, address, mask, 0))


Scalars = Mapping[int, int]
NO_SCALARS: Scalars = {}
NO_OTHERS: Mapping[str, DeviceDescription] = {}
_NUMBER = "number"  # layout of an argument that is no memory


@dataclass(frozen=True, slots=True)
class SequenceProgram:
    """A host sequence as a program.

    Attributes:
        steps: its operations.
        arguments: types of its arguments, in order; those that are numbers have no shape.
        operation: that it is the program of.
        loads: the devices that it loads, in order.
        packets: words of the control packets that it sends: one more argument, behind the others.
        is_open: whether its steps depend on numbers that only a run has.
        idle: tasks that it configures and never starts.
        moves: what its transfers and tasks touch, each once.
    """

    steps: list[Step]
    arguments: list[Shaped]
    operation: Operation
    loads: Sequence[Configured] = ()
    packets: Sequence[int] = ()
    is_open: bool = False
    idle: Sequence[SequenceTask] = ()
    moves: Sequence[Move] = ()


def known_program_of(
    made: Configured,
    sequence: Operation,
    others: Mapping[str, DeviceDescription],
    parameters: Parameters,
) -> SequenceProgram:
    """The program of a host sequence, without steps if they depend on numbers that only a run has.

    Triton hands the sizes of its grid to every sequence; few of them use one.

    Raises:
        InputFileError: an operation that is not known.
    """
    try:
        return program_of(made, sequence, others=others, parameters=parameters)
    except InputFileError as error:
        if {problem.reason for problem in error.problems} != {MISSING}:
            raise
        return SequenceProgram([], arguments_of(sequence), sequence, is_open=True)


def program_of(
    made: Configured,
    sequence: Operation,
    scalars: Scalars = NO_SCALARS,
    others: Mapping[str, DeviceDescription] = NO_OTHERS,
    parameters: Parameters = NO_PARAMETERS,
) -> SequenceProgram:
    """The program of a host sequence.

    Args:
        made: the device in its array.
        sequence: ``aie.runtime_sequence``.
        scalars: values of those arguments that are numbers, by position.
        others: the devices of the module, by symbol, that the sequence may load.
        parameters: of the scratchpad, by name, and arguments that are numbers and not among ``scalars``.

    Raises:
        InputFileError: an operation that is not known, or a number that it uses and that only a run has.
    """
    devices = Devices(others, made.array)
    shapes = arguments_of(sequence)
    reader = Reader(made, _run, habits_of(sequence.name), devices, parameters, len(shapes))
    region = OperationForm(sequence).regions[0]
    numbers = [name for name, kind in region.blocks[0].arguments if shaped(kind) is None]
    reader.runtime, reader.shapes = runtime_values(sequence, numbers), shapes
    reader.rolled = is_rolled(sequence, reader.runtime)
    if reader.rolled:
        check_branches(sequence)
    said = dict(parameters)  # a mapping may have a default, which is no value of an argument
    for number, (name, _) in enumerate(region.blocks[0].arguments):
        value = scalars.get(number, said.get(name[1:]))
        if not is_scalar(shapes[number]):
            reader.values[name] = ArgumentView(number, 0, shapes[number])
        elif value is not None:
            reader.values[name] = host_number(number, shapes[number], value)
        else:
            reader.values[name] = MissingNumber(number, name, shapes[number].element, sequence)
    scratchpad_forms.check_names(reader, OperationForm(sequence), [name[1:] for name in numbers])
    if syncs_first(made.device, sequence, scratchpad_forms.SYNC):
        scratchpad_forms.synchronise(reader, OperationForm(sequence))
    _run(reader, region.blocks[0])
    idle = [task for task in reader.tasks if not task.started]
    loads, moves = devices.loaded, tuple(reader.moves.values())
    return SequenceProgram(reader.steps, shapes, sequence, loads, reader.packets, idle=idle, moves=moves)


def arguments_of(sequence: Operation) -> list[Shaped]:
    """Types of the arguments of a host sequence, in order; see ``is_scalar``.

    Raises:
        InputFileError: an argument that is neither a memref nor a number.
    """
    (first, *_) = OperationForm(sequence).regions.first(1)
    return [_argument(sequence, name, kind) for name, kind in first.blocks[0].arguments]


def is_scalar(kind: Shaped) -> bool:
    """Whether an argument is a number: the host passes its value, not memory."""
    return kind.layout == _NUMBER


def _argument(sequence: Operation, name: str, kind: str) -> Shaped:
    found = shaped(kind)
    if found is None and dtype_of(kind) is not None:
        return Shaped((), kind, _NUMBER)
    if found is None:
        raise OperationForm(sequence).error(f"argument {name} is of type {kind}", "memrefs and numbers")
    return found


def _run(reader: Reader, block: OperationBlock) -> None:
    """Do the operations of a block."""
    for operation in block.operations:
        handler = HANDLERS.get(operation.name)
        if handler is None:
            says = "nothing is known of this operation, and it may change what the host does"
            raise OperationForm(operation).error(says, ", ".join(HANDLERS), reason="mlir_unknown")
        with reading(operation):
            handler(reader, Call(operation, reader))
        if len(reader.steps) > MOST_STEPS:
            says = "the sequence does not end"
            raise OperationForm(operation).error(says, f"up to {MOST_STEPS} register accesses")


def ignored(_reader: Reader, _form: Call) -> None:
    """Changes nothing here."""


def noted(reader: Reader, form: Call) -> None:
    """Changes nothing of the data: traces."""
    counts, name = reader.made.device.ignored, form.operation.name
    counts[name] = counts.get(name, 0) + 1


HANDLERS: Mapping[str, Callable[[Reader, Call], None]] = {
    "aiex.npu.dma_memcpy_nd": transfer_forms.memcpy,
    "aiex.npu.dma_wait": transfer_forms.wait_for,
    "aiex.npu.sync": transfer_forms.sync,
    "aiex.npu.write32": accesses.write32,
    "aiex.npu.maskwrite32": accesses.mask_write32,
    "aiex.npu.maskpoll": accesses.mask_poll,
    "aiex.npu.blockwrite": accesses.block_write,
    "aiex.npu.writebd": accesses.raw_bd,
    "aiex.npu.writebd_shimtile": accesses.interface_bd,
    "aiex.npu.shimtile_push_queue": accesses.interface_push,
    "aiex.npu.assert_bd_field": sequence_values.assert_field,
    "aiex.npu.assert_bd_divisible": sequence_values.assert_divisible,
    "aiex.npu.address_patch": accesses.address_patch,
    "aiex.npu.push_queue": accesses.push_queue,
    "aiex.npu.rtp_write": accesses.rtp_write,
    "aiex.npu.create_scratchpad": scratchpad_forms.create,
    "aiex.npu.update_from_scratchpad": scratchpad_forms.update,
    scratchpad_forms.SYNC: scratchpad_forms.synchronise,
    "aiex.npu.preempt": ignored,
    "aiex.npu.load_pdi": loads.load_pdi,
    CONTROL_PACKET: control_packet_forms.control_packet,
    "aiex.configure": loads.configure,
    "aiex.run": loads.run,
    "aie.trace.host_config": noted,
    "aie.trace.start_config": noted,
    "aiex.dma_channel_reset": channel_reset,
    "aiex.dma_channel_reset_for": channel_reset,
    "aiex.core_reset": core_reset,
    "aiex.set_lock": accesses.set_lock,
    "aiex.dma_configure_task": sequence_tasks.configure_task,
    "aiex.dma_configure_task_for": sequence_tasks.configure_task,
    "aiex.dma_start_bd_chain": sequence_tasks.start_chain,
    "aiex.dma_start_bd_chain_for": sequence_tasks.start_chain,
    "aiex.dma_start_task": sequence_tasks.start_task,
    "aiex.dma_await_task": sequence_tasks.await_task,
    "aiex.dma_free_task": sequence_tasks.free_task,
    "aiex.dma_bd_pool_pop": sequence_tasks.draw_bd,
    "aiex.dma_bd_pool_push": sequence_tasks.return_bd,
    "arith.constant": sequence_values.constant,
    "arith.cmpi": sequence_values.compare,
    "arith.select": sequence_values.select,
    **dict.fromkeys(sequence_values.ARITHMETIC, sequence_values.integers),
    "memref.get_global": sequence_values.global_array,
    "memref.assume_alignment": sequence_values.part,
    "memref.subview": sequence_values.part,
    "memref.cast": sequence_values.part,
    "memref.view": sequence_values.part,
    "memref.reinterpret_cast": sequence_values.part,
    "memref.collapse_shape": sequence_values.part,
    "scf.for": sequence_values.loop,
    "scf.if": sequence_values.branch,
    "scf.yield": ignored,
    "aie.end": ignored,
    **dict.fromkeys(("return", "func.return"), ignored),  # of a function that is a host sequence
}
