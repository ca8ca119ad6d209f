"""What goes wrong inside of a served array, seen between accesses: who only has registers sees a time-out.

It also says what a client is told, once, that polls a channel which nothing can help any more.

Who only has registers sees a time-out. When the status of a channel has been read ``POLLS`` times in a row
and was always the same, the waits of the channel are followed; what is at work is left out, so that what is
named would be so for ever if the client went on reading.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from memtile.arch.devices import ARRAY_BASE, ARRAY_BYTES
from memtile.arch.tiles import WORD_BYTES
from memtile.explain.bd_chains import BdChains
from memtile.explain.channel_view import CAUSES, ChannelView
from memtile.explain.core_view import failure_text, idle_text
from memtile.explain.deadlock.context import HostWaiting
from memtile.explain.deadlock.find import Open, hang
from memtile.explain.deadlock.graph import Via
from memtile.explain.names import core_name
from memtile.explain.stream_waits import stuck_text
from memtile.explain.switch_ways import barred_text
from memtile.hosts.address_space import POLLS
from memtile.hosts.notices import ServerNotice
from memtile.jit.tables import cells, plain
from memtile.model.dma.channel_registers import ERROR_QUEUE_OVERFLOW, QUEUE_START_BD_MASK
from memtile.model.state.causes import Phase
from memtile.runs.core_kernels import CoreKernels
from memtile.runs.waits import polled_channel
from memtile.sim.kernels.core_control import ENABLE, control_places
from memtile.sim.loop import compiled_model
from memtile.sim.loop.engine import Engine

_STOPPING = ~(1 << ERROR_QUEUE_OVERFLOW)
_HELD = (
    "Core_Control holds it in reset, so its program does not begin: write Reset = 0 too, "
    "as XAie_CoreUnreset does"
)
_CAUSES = {**CAUSES, "AXI_MM_Decode_Error": "no external memory is at {byte:#x}; {memories}"}


class Witness:
    """Finds what is new each time it looks: halted channels, lost pushes, stuck packets, circuits, cores.

    Args:
        engine: what it looks at.
        memories: the external memories, in words for a person; empty = there is none.
        cores: kernels that begin when their cores are enabled; None = there are none.
    """

    def __init__(self, engine: Engine, memories: str = "", cores: CoreKernels | None = None) -> None:
        self._engine, self._memories, self._cores = engine, memories, cores
        self._failed = dict[int, Exception]()
        self._alarms, self._seen = cells(engine.state.clock).alarms, -1
        self._errors = engine.channels.errors.copy()
        self._lost = engine.channels.pushes_lost.copy()
        self._switch = plain(engine.state.switch)
        self._stuck = self._switch.unrouted.copy()
        self._controls = control_places(engine)
        self._enabled = np.zeros(len(self._controls), dtype=bool)
        self._barred = self._switch.barred.copy()

    def look(self) -> Iterator[ServerNotice]:
        """A notice for each thing that was not there when it looked last."""
        c = self._engine.channels
        if self._alarms[0] == self._seen:
            return
        self._seen = self._alarms[0]
        if not np.array_equal(c.errors, self._errors):
            new = c.errors & ~self._errors & _STOPPING
            self._errors = c.errors.copy()
            for ch in np.flatnonzero(new).tolist():
                yield self._halted(ch)
        if not np.array_equal(c.pushes_lost, self._lost):
            lost = c.pushes_lost - self._lost
            self._lost = c.pushes_lost.copy()
            for ch in np.flatnonzero(lost).tolist():
                yield self._overflow(ch, int(lost[ch]))
        yield from self._in_switches()
        yield from self._in_cores()

    def _in_cores(self) -> Iterator[ServerNotice]:
        """Cores that are enabled and do nothing, and those whose kernel failed."""
        engine = self._engine
        enabled = engine.state.registers[self._controls] & ENABLE != 0
        new, self._enabled = enabled & ~self._enabled, enabled
        for core in np.flatnonzero(new).tolist():
            if text := self._idle(core):
                yield ServerNotice(f"enabled cores {core}", text, text)
        for core, error in (engine.cores.failed or {}).items():
            if self._failed.get(core) is not error:
                self._failed[core] = error
                text = failure_text(engine, core, error)
                yield ServerNotice(f"failed cores {core}", text, text)

    def _idle(self, core: int) -> str:
        """Why a core that is enabled does nothing; empty = it runs a kernel."""
        if self._cores is not None and self._cores.is_held(core):
            return f"{core_name(self._engine, core)} was enabled; {_HELD}"
        cores = self._engine.cores
        runs = core in cores.running or core in (cores.failed or ())
        return "" if runs else idle_text(self._engine, core)

    def _in_switches(self) -> Iterator[ServerNotice]:
        """Packets that are stuck, and circuits that a switch does not have."""
        if not np.array_equal(self._switch.unrouted, self._stuck):
            new = self._switch.unrouted & ~self._stuck
            self._stuck = self._switch.unrouted.copy()
            for port in np.flatnonzero(new).tolist():
                text = stuck_text(self._engine, port)
                yield ServerNotice(f"stuck packets at port {port}", text, text)
        if not np.array_equal(self._switch.barred, self._barred):
            new = self._switch.barred & ~self._barred
            self._barred = self._switch.barred.copy()
            for port in np.flatnonzero(new).tolist():
                text = barred_text(self._engine, port)
                yield ServerNotice("circuits that a switch does not have", text, text)

    def _halted(self, ch: int) -> ServerNotice:
        view, c = ChannelView(self._engine, ch, BdChains(self._engine)), self._engine.channels
        offset = view.kind.status_base[c.direction[ch]] + int(c.number[ch]) * WORD_BYTES
        status = compiled_model.read(self._engine.state, view.tile, offset)
        names = [name for name in view.errors if name in _CAUSES]
        length, byte = int(c.length[ch]), view.external_byte if view.kind.axi_masters else 0
        memories = f"there is {self._memories}" if self._memories else "serve --memory gives some"
        cause = ", ".join(_CAUSES[name] for name in names).format(length=length, byte=byte, memories=memories)
        text = (
            f"{view.name}, BD {c.bd[ch]}: halted by {', '.join(names)}, status {status:#010x}: {cause}. "
            f"To continue, {view.way_out}"
        )
        return ServerNotice(f"halts of {view.name}", text, text)

    def _overflow(self, ch: int, lost: int) -> ServerNotice:
        view = ChannelView(self._engine, ch, BdChains(self._engine))
        bd = int(self._engine.channels.lost_push[ch]) & QUEUE_START_BD_MASK
        pushes = "a push" if lost == 1 else f"{lost} pushes"
        last = "it" if lost == 1 else "the last one"
        text = (
            f"{view.name}: {pushes} to the full queue lost, Task_Queue_Overflow; {last} would have started "
            f"BD {bd}. {view.kind.queue_depth} tasks can wait"
        )
        return ServerNotice(f"lost pushes of {view.name}", f"BD {bd}", text)


def why_nothing_changes(engine: Engine, address: int) -> Iterator[ServerNotice]:
    """The notices for a client that has read ``POLLS`` times the same at an absolute byte address."""
    if not 0 <= address - ARRAY_BASE < ARRAY_BYTES:
        return
    channels = tuple(polled_channel(engine, address - ARRAY_BASE))
    if not channels or engine.channels.phase[channels[0]] == Phase.IDLE:
        return
    text = f"the client: has read {address:#x} {POLLS} times, and nothing changes"
    client = HostWaiting("the client", text, channels, Via.END, frozenset())
    found = hang(engine, BdChains(engine), Open(hosts=[client]), {}, quiet=False, timed=True)
    for finding in found.findings:
        yield ServerNotice("hangs", finding.message, str(finding))
