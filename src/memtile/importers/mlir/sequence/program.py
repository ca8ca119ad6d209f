"""A sequence from its first operation to its last."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from memtile.importers.mlir.configure import Configured
from memtile.importers.mlir.forms.operands import Form
from memtile.importers.mlir.sequence import accesses, tasks, transfers, values
from memtile.importers.mlir.sequence.reader import Call, Reader, View, habits_of
from memtile.importers.mlir.tree import Block, Operation
from memtile.importers.mlir.types import Shaped, shaped
from memtile.io.program.operations import Operation as Step

_MOST_STEPS = 1 << 20  # of an unrolled sequence


@dataclass(frozen=True, slots=True)
class SequenceProgram:
    """A host sequence as a program.

    Attributes:
        steps: its operations.
        arguments: types of its arguments, in order.
    """

    steps: list[Step]
    arguments: list[Shaped]


def program_of(made: Configured, sequence: Operation) -> SequenceProgram:
    """The program of a host sequence.

    Args:
        made: the device in its array.
        sequence: ``aie.runtime_sequence``.

    Raises:
        InputFileError: an operation that is not known, or a number that is known at run time only.
    """
    reader = Reader(made, _run, habits_of(sequence.name))
    (region,) = sequence.regions
    shapes = []
    for number, (name, kind) in enumerate(region.blocks[0].arguments):
        shape = shaped(kind)
        if shape is None:
            raise Form(sequence).error(f"argument {name} is of type {kind}", "memrefs")
        shapes.append(shape)
        reader.values[name] = View(number, 0, shape)
    _run(reader, region.blocks[0])
    return SequenceProgram(reader.steps, shapes)


def _run(reader: Reader, block: Block) -> None:
    """Do the operations of a block."""
    for operation in block.operations:
        handler = HANDLERS.get(operation.name)
        if handler is None:
            says = "nothing is known of this operation, and it may change what the host does"
            raise Form(operation).error(says, ", ".join(HANDLERS), reason="mlir_unknown")
        handler(reader, Call(operation, reader))
        if len(reader.steps) > _MOST_STEPS:
            says = "the sequence does not end"
            raise Form(operation).error(says, f"up to {_MOST_STEPS} register accesses")


def ignored(_reader: Reader, _form: Call) -> None:
    """Changes nothing here."""


HANDLERS: Mapping[str, Callable[[Reader, Call], None]] = {
    "aiex.npu.dma_memcpy_nd": transfers.memcpy,
    "aiex.npu.dma_wait": transfers.wait_for,
    "aiex.npu.sync": transfers.sync,
    "aiex.npu.write32": accesses.write32,
    "aiex.npu.maskwrite32": accesses.mask_write32,
    "aiex.npu.blockwrite": accesses.block_write,
    "aiex.npu.writebd": accesses.raw_bd,
    "aiex.npu.address_patch": accesses.address_patch,
    "aiex.npu.push_queue": accesses.push_queue,
    "aiex.npu.rtp_write": accesses.rtp_write,
    "aiex.npu.preempt": ignored,
    "aiex.set_lock": accesses.set_lock,
    "aiex.dma_configure_task": tasks.configure_task,
    "aiex.dma_configure_task_for": tasks.configure_task,
    "aiex.dma_start_task": tasks.start_task,
    "aiex.dma_await_task": tasks.await_task,
    "aiex.dma_free_task": tasks.free_task,
    "arith.constant": values.constant,
    **dict.fromkeys(values.ARITHMETIC, values.integers),
    "memref.get_global": values.global_array,
    "memref.assume_alignment": values.part,
    "memref.subview": values.part,
    "memref.cast": values.part,
    "memref.reinterpret_cast": values.part,
    "memref.collapse_shape": values.part,
    "scf.for": values.loop,
    "scf.yield": ignored,
    "aie.end": ignored,
}
