"""The sequence of IRON until June 2026, ``with rt.sequence(types) as (a, b):``, whose calls are recorded.

mlir-aie 1.0 to 1.3 had this in place of the function that ``Runtime`` takes now. Names and defaults are
those of its main of 2026-03-14; what is recorded runs when the program is built.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from memtile.iron.ops.program_lines import as_recorded, program_line
from memtile.iron.runtime.data import RuntimeData
from memtile.iron.runtime.endpoint import RuntimeEndpoint
from memtile.iron.runtime.taskgroup import TaskGroup


class RecordedGroup:
    """A group of transfers that :meth:`RecordedSequence.task_group` gives."""

    def __init__(self) -> None:
        self._group: TaskGroup | None = None

    def now(self) -> TaskGroup:
        """The group that is built."""
        if self._group is None:
            self._group = TaskGroup()
        return self._group

    def finish(self) -> None:
        """Wait for its transfers, and free them."""
        self.now().finish()
        self._group = None


class RecordedSequence(ABC):
    """What the host does, call by call; the base of ``Runtime``."""

    _seq_fn: Callable[..., Any] | None
    _fn_args: list[Any]
    _rt_data: list[RuntimeData | None]

    def __init__(self) -> None:
        self._actions: list[tuple[str, Callable[[], Any]]] | None = None
        self._started: list[Any] = []
        self._trace: dict[str, Any] = {}

    @contextmanager
    def sequence(self, *input_types: Any) -> Iterator[Any]:
        """Record what the host does within ``with``.

        Args:
            input_types: NumPy's types of the host's buffers, which ``as`` gives; of one alone no tuple.

        Raises:
            ValueError: the Runtime has a sequence already.
        """
        if self._seq_fn is not None:
            raise ValueError("a Runtime has one sequence, and this one has it: make another Runtime")
        self._actions = []
        self._fn_args = list(input_types)
        data = [RuntimeData(each) for each in input_types]
        self._rt_data = [*data]
        self._seq_fn = self._replay
        yield data[0] if len(data) == 1 else tuple(data)

    def _replay(self, *_data: Any) -> None:
        for place, action in self._actions or ():
            with as_recorded(place):
                action()

    def _record(self, action: Callable[[], Any], who: str) -> None:
        if self._actions is None:
            raise ValueError(f"rt.{who}() belongs into `with rt.sequence(...) as (...):` of its Runtime")
        self._actions.append((program_line(), action))

    def start(self, *workers: Any) -> None:
        """Start workers: those are in the program."""
        self._record(lambda: None, "start")
        self._started += workers

    @property
    def workers(self) -> list[Any]:
        """Those that are started."""
        return list(self._started)

    def fill(
        self,
        in_fifo: Any,
        source: RuntimeData,
        tap: Any = None,
        task_group: RecordedGroup | None = None,
        wait: bool = False,
        placement: Any = None,
    ) -> None:
        """Send a buffer of the host into an object FIFO.

        Args:
            in_fifo: its producer.
            source: the buffer.
            tap: pattern of the buffer; default = all of it.
            task_group: awaits and frees it; default = that of the sequence.
            wait: with a token.
            placement: the interface tile; default = any.
        """
        self._transfer("fill", in_fifo, source, tap, task_group, wait, placement)

    def drain(
        self,
        out_fifo: Any,
        dest: RuntimeData,
        tap: Any = None,
        task_group: RecordedGroup | None = None,
        wait: bool = False,
        placement: Any = None,
    ) -> None:
        """Receive a buffer of the host from an object FIFO; arguments as those of :meth:`fill`."""
        self._transfer("drain", out_fifo, dest, tap, task_group, wait, placement)

    def _transfer(
        self,
        who: str,
        handle: Any,
        data: Any,
        tap: Any,
        group: RecordedGroup | None,
        wait: bool,
        placement: Any,
    ) -> None:
        from memtile.iron.runtime.transfers import transfer

        if handle.endpoint is None:
            handle.endpoint = RuntimeEndpoint(placement or handle._shim_tile)
        self._note(handle)
        self._record(
            lambda: transfer(handle, data, tap, wait=wait, group=None if group is None else group.now()), who
        )

    @abstractmethod
    def _note(self, handle: Any) -> None: ...

    def task_group(self) -> RecordedGroup:
        """A group of transfers that :meth:`finish_task_group` awaits and frees."""
        self._record(lambda: None, "task_group")
        return RecordedGroup()

    def finish_task_group(self, task_group: RecordedGroup) -> None:
        """Wait for the transfers of a group that have ``wait=True``, then free all of it."""
        self._record(task_group.finish, "finish_task_group")

    def inline_ops(self, inline_func: Callable[..., Any], inline_args: list[Any]) -> None:
        """Build operations of the sequence by a function of the program."""
        self._record(lambda: inline_func(*inline_args), "inline_ops")

    def set_barrier(self, barrier: Any, value: int) -> None:
        """Set a barrier of workers."""
        self._record(lambda: barrier.set(value), "set_barrier")

    def enable_trace(
        self,
        trace_size: int | None = None,
        trace_offset: int | None = None,
        workers: list[Any] | None = None,
        ddr_id: int | None = None,
        coretile_events: list[Any] | None = None,
        memtile_events: list[Any] | None = None,
        shimtile_events: list[Any] | None = None,
        **more: Any,
    ) -> None:
        """Trace workers; the newer place of this is ``Program.enable_trace``.

        Args:
            trace_size: bytes.
            trace_offset: 0 alone.
            workers: default = those with ``trace``.
            ddr_id: -1 = behind the last buffer of the host; else a buffer of its own.
            coretile_events: of cores.
            memtile_events: of memory tiles.
            shimtile_events: of interface tiles.
            more: keywords of ``Program.enable_trace``.

        Raises:
            ValueError: an offset.
        """
        if trace_offset:
            raise ValueError(
                f"trace_offset={trace_offset}: memtile writes a trace at the start of its buffer"
            )
        self._trace = {
            "trace_size": trace_size,
            "workers": workers,
            "reuse_output_buffer": ddr_id == -1,
            "coretile_events": coretile_events,
            "memtile_events": memtile_events,
            "shimtile_events": shimtile_events,
        } | more
