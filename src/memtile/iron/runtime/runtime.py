"""``aie.iron.runtime.runtime``: what the host does, built from a function of Python."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, get_origin

import numpy as np

from memtile.iron.configuration import call
from memtile.iron.dataflow import ObjectFifoHandle
from memtile.iron.dialects import aiex
from memtile.iron.dialects.aie import RuntimeSequenceOp
from memtile.iron.helpers.util import flatten_fn_args, try_convert_np_type_to_mlir_type
from memtile.iron.ops.operations import InsertionPoint
from memtile.iron.ops.scalars import constant
from memtile.iron.ops.types import IntegerType
from memtile.iron.resolvable import Resolvable
from memtile.iron.runtime._context import active_sequence, building, maybe_active_sequence
from memtile.iron.runtime.data import RuntimeData
from memtile.iron.runtime.endpoint import RuntimeEndpoint
from memtile.iron.runtime.recorded import RecordedSequence
from memtile.iron.runtime.taskgroup import TaskGroup
from memtile.iron.scratchpad_parameter import ScratchpadParameter


class IronRuntimeError(Exception):
    """A runtime sequence that cannot be built."""


class ActiveSequence:
    """A sequence while it is built: its groups, and what it uses.

    Args:
        runtime: whose it is.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._own = TaskGroup(self.next_group())
        self._open: list[TaskGroup] = []
        self._used = {"own": False, "said": False}

    def next_group(self) -> int:
        """A number for a group."""
        return next(self._runtime._groups)

    def open(self, group: TaskGroup) -> None:
        """A group begins."""
        self._open.append(group)

    def close(self, group: TaskGroup) -> None:
        """A group ends."""
        self.forget(group)
        group.flush()

    def forget(self, group: TaskGroup) -> None:
        """A group ends elsewhere."""
        if group in self._open:
            self._open.remove(group)

    def has(self, data: RuntimeData) -> bool:
        """Whether a buffer is one of the sequence."""
        return any(data is each for each in self._runtime._rt_data)

    def has_flow(self, flow: Any) -> bool:
        """Whether the Runtime has a route, or a worker of its Program."""
        return flow._op is not None or any(flow is each for each in self._runtime._flows)

    def note(self, handle: ObjectFifoHandle) -> None:
        """The sequence fills or drains it."""
        self._runtime._note(handle)

    def note_parameter(self, parameter: ScratchpadParameter) -> None:
        """The sequence uses it."""
        if parameter not in self._runtime._scratchpad_parameters:
            self._runtime._scratchpad_parameters.append(parameter)

    def build_before(self, *parts: Any) -> None:
        """Build buffers and locks that only the sequence uses, in front of it."""
        with InsertionPoint(self._runtime._sequence):
            for each in parts:
                each.resolve()

    def add(self, task: Any, waits: bool, group: TaskGroup | None) -> None:
        """A transfer of a group, or of the sequence's own."""
        self._used["own" if group is None else "said"] = True
        (self._own if group is None else group).add(task, waits)

    def finish(self) -> None:
        """The end of the sequence.

        Raises:
            IronRuntimeError: a group is open, or both kinds of groups are used.
        """
        if self._open:
            raise IronRuntimeError(f"finish() is missing for {', '.join(map(str, self._open))}")
        if self._runtime._strict and all(self._used.values()):
            raise IronRuntimeError(
                "some transfers have a group= and some have none: give all of them one, or "
                "strict_task_groups=False"
            )
        self._own.flush()


class Runtime(RecordedSequence, Resolvable):
    """What the host does.

    Args:
        seq_fn: function that is called once, with ``fn_args``; None = ``with rt.sequence(...)`` records one.
        fn_args: types of NumPy become buffers of the host, or its numbers; whole numbers become constants;
            all else is
            given as it is.
        strict_task_groups: transfers with and without a group are not mixed.
        name: of the sequence.
        implicit_configure: whether a full ELF of mlir-aie begins with a load; memtile has loaded it before.
    """

    def __init__(
        self,
        seq_fn: Callable[..., Any] | None = None,
        fn_args: Sequence[Any] | None = None,
        *,
        strict_task_groups: bool = True,
        name: str = "sequence",
        implicit_configure: bool = True,
    ) -> None:
        super().__init__()
        self._seq_fn, self._fn_args = seq_fn, list(fn_args or ())
        self._strict, self.name = strict_task_groups, name
        self.implicit_configure = implicit_configure
        self.configuration: Any = None
        self._rt_data = [RuntimeData(arg) if _is_type(arg) else None for arg in self._fn_args]
        self._fifos: list[ObjectFifoHandle] = []
        self._flows: list[Any] = []
        self._locks: list[Any] = []
        self._tile_dmas: list[Any] = []
        self._buffers: list[Any] = []
        self._external_buffers: list[Any] = []
        self._scratchpad_parameters: list[ScratchpadParameter] = []
        self._groups = itertools.count()
        self._sequence: Any = None
        for arg in flatten_fn_args(self._fn_args):
            if isinstance(arg, ObjectFifoHandle):
                if arg.endpoint is None:
                    arg.endpoint = RuntimeEndpoint(arg._shim_tile)
                self._note(arg)

    def call(self, *arguments: Any) -> None:
        """Run this sequence from another one, within ``with configuration.configure():``.

        Args:
            arguments: buffers of the host, their windows, or numbers.
        """
        call(self, arguments)

    def _note(self, handle: ObjectFifoHandle) -> None:
        if not any(handle is each for each in self._fifos):
            self._fifos.append(handle)

    def add_flow(self, flow: Any) -> None:
        """A route that the program says itself."""
        self._flows.append(flow)

    def add_lock(self, lock: Any) -> None:
        """A lock that the program says itself."""
        self._locks.append(lock)

    def add_tile_dma(self, tile_dma: Any) -> None:
        """A tile's DMA that the program says itself."""
        self._tile_dmas.append(tile_dma)

    def add_buffer(self, buffer: Any) -> None:
        """A buffer of a tile that only the sequence's tasks use.

        Raises:
            IronRuntimeError: the sequence is being built: buffers are built before.
        """
        if maybe_active_sequence() is not None:
            raise IronRuntimeError(
                f"Cannot register a Buffer after DMA resolution: call rt.add_buffer({buffer.name}) before "
                f"the Program is built, not in its sequence"
            )
        self._buffers.append(buffer)

    def add_external_buffer(self, buffer: Any) -> None:
        """A buffer outside of the array whose address the design says."""
        self._external_buffers.append(buffer)

    @property
    def buffers(self) -> list[Any]:
        """Buffers of tiles that only the sequence uses."""
        return list(self._buffers)

    @property
    def external_buffers(self) -> list[Any]:
        """Buffers outside of the array."""
        return list(self._external_buffers)

    @property
    def flows(self) -> list[Any]:
        """Routes that the program says itself."""
        return list(self._flows)

    @property
    def locks(self) -> list[Any]:
        """Locks that the program says itself."""
        return list(self._locks)

    @property
    def tile_dmas(self) -> list[Any]:
        """Tiles' DMAs that the program says itself."""
        return list(self._tile_dmas)

    @property
    def fifos(self) -> list[ObjectFifoHandle]:
        """Ends of object FIFOs that it fills and drains."""
        return list(self._fifos)

    def resolve(
        self, loc: object = None, ip: Any = None, *, begins: Callable[[], None] | None = None
    ) -> None:
        """Build the sequence; its object FIFOs and workers are built before.

        Args:
            begins: builds what stands at its beginning.

        Raises:
            IronRuntimeError: there is no sequence.
        """
        if self._seq_fn is None:
            raise IronRuntimeError(
                "the Runtime has no sequence: give it a function, Runtime(sequence, [types])"
            )
        types = [
            try_convert_np_type_to_mlir_type(data.arr_type) for data in self._rt_data if data is not None
        ]
        self._sequence = sequence = RuntimeSequenceOp(sym_name=self.name)
        block = sequence.regions[0].blocks.append(*types)
        with InsertionPoint(block):
            arguments = iter(block.arguments)
            for data in self._rt_data:
                if data is not None:
                    data.op = next(arguments)
            if begins is not None:
                begins()
            given = [_given(arg, data) for arg, data in zip(self._fn_args, self._rt_data, strict=True)]
            active = ActiveSequence(self)
            with building(active):
                self._seq_fn(*given)
                active.finish()


def _is_type(arg: Any) -> bool:
    return isinstance(arg, type) or get_origin(arg) is np.ndarray


def _given(arg: Any, data: RuntimeData | None) -> Any:
    """What the function gets for an argument."""
    if data is not None:
        return data.op if data.is_scalar else data
    if isinstance(arg, (int, np.integer)) and not isinstance(arg, bool):
        return constant(int(arg), IntegerType(32))
    return arg


def sync_parameters() -> None:
    """Let the host's parameters reach the workers, within the sequence."""
    active_sequence()
    aiex._OPS["SyncScratchpadParametersFromHostOp"]()
