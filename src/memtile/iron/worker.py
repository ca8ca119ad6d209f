"""``aie.iron.worker``: what a core does, built from a function of Python."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from memtile.iron.buffer import Buffer
from memtile.iron.controlflow import range_
from memtile.iron.dataflow import ObjectFifo, ObjectFifoEndpoint, ObjectFifoHandle
from memtile.iron.device import AnyComputeTile, Tile, older_tile
from memtile.iron.dialects.aie import core, lock, use_lock
from memtile.iron.dialects.aiex import set_lock_value
from memtile.iron.helpers.util import flatten_fn_args
from memtile.iron.ops.enums import AIETileType, LockAction
from memtile.iron.ops.operations import InsertionPoint
from memtile.iron.ops.program_lines import program_line


class Worker(ObjectFifoEndpoint):
    """A core.

    Args:
        core_fn: function that is called once with ``fn_args``, to build what the core does; None = nothing,
            for ever.
        fn_args: ends of object FIFOs, buffers, kernels and anything else.
        tile: default = any.
        while_true: for ever; else once.
        stack_size: in bytes.
        allocation_scheme: how the tile's memory is given out.
        trace: above 0 it is traced.
        trace_events: what is traced.
        dynamic_objfifo_lowering: how its loops over objects are lowered.
        placement: the older name of ``tile``.

    Raises:
        ValueError: the tile is no compute tile; an object FIFO is given instead of its end; a buffer
            without a tile
            belongs to two workers.
    """

    def __init__(
        self,
        core_fn: Callable[..., Any] | None,
        fn_args: Sequence[Any] | None = None,
        tile: Tile | None = AnyComputeTile,
        while_true: bool = True,
        stack_size: int | None = None,
        allocation_scheme: str | None = None,
        trace: int | None = None,
        trace_events: list[Any] | None = None,
        dynamic_objfifo_lowering: bool | None = None,
        placement: Tile | None = None,
    ) -> None:
        tile = older_tile(tile, placement, AnyComputeTile)
        if tile.tile_type not in (None, AIETileType.CoreTile):
            raise ValueError(f"Worker requires a compute tile, not {tile}")
        keeps = tile.tile_type is not None and allocation_scheme is None and tile is not AnyComputeTile
        super().__init__(
            tile if keeps else tile.with_type(AIETileType.CoreTile, allocation_scheme=allocation_scheme)
        )
        self.core_fn = core_fn
        self.fn_args = list(fn_args or ())
        self._while_true, self.stack_size, self.allocation_scheme = while_true, stack_size, allocation_scheme
        self._dynamic = dynamic_objfifo_lowering
        self.trace, self.trace_events = trace, trace_events
        self._fifos: list[ObjectFifoHandle] = []
        self._buffers: list[Buffer] = []
        self._barriers: list[WorkerRuntimeBarrier] = []
        self._outgoing_cascades: list[Any] = []
        self._line = program_line()
        for arg in self.flat_fn_args:
            self._take(arg)

    def _take(self, arg: Any) -> None:
        if isinstance(arg, ObjectFifoHandle):
            arg.endpoint = self
            self._fifos.append(arg)
        elif isinstance(arg, Buffer):
            self._take_buffer(arg)
        elif isinstance(arg, ObjectFifo):
            raise ValueError(f"a Worker takes an end of object FIFO {arg.name}: its prod() or cons()")
        elif isinstance(arg, WorkerRuntimeBarrier):
            self._barriers.append(arg)

    def _take_buffer(self, buffer: Buffer) -> None:
        if buffer._owner_worker in (None, self):
            buffer._owner_worker = self
            buffer._tile = self._tile if buffer._tile is None else buffer._tile
        elif not buffer._explicit_tile:
            raise ValueError(
                f"buffer {buffer.name} is used by two Workers, {buffer._owner_worker} and {self}, and "
                f"has no explicit "
                "tile: give it the tile whose memory holds it, Buffer(tile=...)"
            )
        self._buffers.append(buffer)

    @staticmethod
    def grid(rows: int, cols: int, factory: Callable[[int, int], Worker]) -> list[list[Worker]]:
        """Workers in rows and columns."""
        return [[factory(row, col) for col in range(cols)] for row in range(rows)]

    @property
    def tile(self) -> Tile:
        """That it is on."""
        return self._tile  # type: ignore[no-any-return]

    @property
    def flat_fn_args(self) -> list[Any]:
        """Its arguments without the lists around them."""
        return list(flatten_fn_args(self.fn_args))

    @property
    def fifos(self) -> list[ObjectFifoHandle]:
        """Ends of object FIFOs that it uses."""
        return list(self._fifos)

    @property
    def buffers(self) -> list[Buffer]:
        """Buffers that it uses."""
        return list(self._buffers)

    def resolve(self, loc: object = None, ip: Any = None) -> None:
        """Build the core."""
        for barrier in self._barriers:
            barrier._locks.append(lock(self._tile.op))

        begun = core(self._tile.op, stack_size=self.stack_size, dynamic_objfifo_lowering=self._dynamic)
        begun(self._body)

    def _body(self) -> None:
        for _ in range_(sys.maxsize if self._while_true else 1):
            self._place_rounds()
            if self.core_fn is None:
                for _ in range_(sys.maxsize):
                    pass
            else:
                self.core_fn(*self.fn_args)

    def _place_rounds(self) -> None:
        """The loop around all is of the line that makes the Worker, which says how often it turns."""
        point = InsertionPoint.now()
        loop = point.block.region.owner if point is not None and point.block.region is not None else None
        if loop is not None:
            loop.place = self._line or loop.place

    def __str__(self) -> str:
        return f"Worker({getattr(self.core_fn, '__name__', self.core_fn)})"

    __repr__ = __str__


class WorkerRuntimeBarrier:
    """A lock for which workers wait and that the host sets.

    Args:
        initial_value: of the lock.
    """

    def __init__(self, initial_value: int = 0) -> None:
        self.initial_value = initial_value
        self._locks: list[Any] = []

    @property
    def worker_locks(self) -> list[Any]:
        """Its lock in each worker."""
        return self._locks

    def _last(self) -> Any:
        if not self._locks:
            raise ValueError("the barrier belongs to no Worker: give it to one as an argument")
        return self._locks[-1]

    def wait_for_value(self, value: int) -> None:
        """Wait in a worker until it is ``value``."""
        use_lock(self._last(), LockAction.Acquire, value)

    def release_with_value(self, value: int) -> None:
        """Give ``value`` to it in a worker."""
        use_lock(self._last(), LockAction.Release, value)

    def set(self, value: int) -> None:
        """Set it in the runtime sequence."""
        for each in self._locks:
            set_lock_value(each, value)
