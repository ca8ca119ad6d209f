"""Runs in which a host makes every look, and random designs with hosts, for tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from hypothesis import strategies as st

from memtile import Array, Host, HostAction, pad, view
from memtile.arch.register_map import register_named
from memtile.arch.timing import Timing
from memtile.errors import DesignError
from memtile.kernels import apart
from memtile.sim.doors import polling
from memtile.sim.loop.clock import Stop
from memtile.sim.loop.engine import Engine, Progress
from support.designs.repeating_designs import EAGER

_CALLERS = ("memtile.runs.design_run", "memtile.sim.doors.polling")
SIZE = 9000  # words of a buffer at most
TILE = 1 << 20  # bytes from row to row
_CONTROL = register_named("memory_tile", "DMA_S2MM_1_Ctrl")
CONTROL, RESET = _CONTROL.offset, _CONTROL.field("Reset").mask
ON_TLAST = 1 << _CONTROL.field("FoT_Mode").lsb
LOW, HIGH = (
    register_named("memory_tile", f"Timer_Trig_Event_{half}_Value").offset for half in ("Low", "High")
)


@contextmanager
def looks(*, every: bool) -> Iterator[list[int]]:
    """Context in which a host makes every look or leaves some out; the cycles behind which it looks."""
    seen: list[int] = []

    right = polling.run_to_poll

    def run(engine: Engine, end: int, polled: int, progress: Progress | None, in_vain: int) -> Stop:
        stop = right(engine, end, polled, progress, 0 if every else in_vain)
        seen.append(engine.now)
        return stop

    with ExitStack() as stack:
        for module in _CALLERS:
            stack.enter_context(patch(f"{module}.run_to_poll", run))
        yield seen


class Step(NamedTuple):
    """What a sequence does: a kind, and a number whose meaning depends on it."""

    kind: str
    number: int
    words: int
    repeat: int


class Hosted(NamedTuple):
    """Everything that a run depends on, and the cycles at which it stops."""

    access: int
    words: int
    free: int
    kernel: str
    compares: int
    sequences: tuple[tuple[Step, ...], ...]
    stops: tuple[int, ...]


_USUAL = ("through", "loop", "padded", "wait", "pause", "many")
_KINDS = 4 * _USUAL + ("wait", "wait", "wait", "lost", "reset", "tlast")
_STEPS = st.builds(
    Step,
    st.sampled_from(_KINDS),
    st.integers(0, 3),
    st.sampled_from([16, 200, 600, 1000, 1500, 3000, 9000]),
    st.integers(1, 3),
)
_SEQUENCES = st.lists(_STEPS, min_size=3, max_size=8).map(tuple)


def hosted_designs() -> st.SearchStrategy[Hosted]:
    """Sequences beside a ring through a memory tile, a loop in it, and a kernel that may write registers."""
    return st.builds(
        Hosted,
        st.sampled_from([0, 1, 20, 77]),
        st.sampled_from([8, 100, 128, 333]),
        st.sampled_from([0, 1, 1, 2, 2, 2]),
        st.sampled_from(["", "", "", "apart", "apart", "looks", "pushes"]),
        st.sampled_from([0, 0, 0, 0, 1500, 6000]),
        st.lists(_SEQUENCES, min_size=1, max_size=2).map(tuple),
        st.lists(st.integers(1, 9000), max_size=3).map(tuple),
    )


class Built:
    """A design before its first cycle.

    Attributes:
        array: of the design.
        did: when its hosts did what, and how many tasks had ended then.
    """

    def __init__(self, design: Hosted) -> None:
        self.array, self.did = Array("npu1", 1, Timing(access_cycles=design.access)), list[Any]()
        self.io, self.tile = self.array.interface_tile(0), self.array.memory_tile(0)
        self.chunk, io, tile = design.words, self.io, self.tile
        ring, free, full = tile.buffer("ring", design.words), tile.lock(design.free), tile.lock(0)
        tile.s2mm[0].start(tile.write(ring).guarded(free.acquire(), full.release()), loop=True)
        tile.mm2s[0].start(tile.read(ring).guarded(full.acquire(), free.release()), loop=True)
        for sender, receiver in ((io.mm2s[0], tile.s2mm[0]), (tile.mm2s[0], io.s2mm[0])):
            self.array.connect(sender, receiver)
        self.array.connect(tile.mm2s[1], tile.s2mm[1])
        self.here = tile.buffer("here", SIZE, data=np.arange(SIZE))
        self.small = tile.buffer("small", 992, data=np.arange(992))
        self.there = tile.buffer("there", SIZE)
        self.inputs = self.array.external("in", np.arange(SIZE, dtype=np.int32))
        self.outputs = self.array.external("out", np.zeros(SIZE, np.int32))
        if design.kernel:
            kernels = {"apart": apart(_idles), "looks": _idles, "pushes": self._pushes}
            self.array.compute_tile(0, 2).run_kernel(kernels[design.kernel])
        if design.compares:
            tile.own_door.write32(HIGH, 0)
            tile.own_door.write32(LOW, design.compares)
        for steps in design.sequences:
            self.array.host(self._sequence(steps))

    def _sequence(self, steps: tuple[Step, ...]) -> Callable[[Host], Iterator[HostAction]]:
        def run(host: Host) -> Iterator[HostAction]:
            for step in steps:
                for action in getattr(self, f"_{step.kind}")(host, step):
                    yield action
                    ended = sum(task.done for task in host.tasks)
                    self.did.append((self.array.engine.now, step.kind, ended))

        return run

    def _through(self, host: Host, step: Step) -> Iterator[HostAction]:
        whole, io = max(step.words // self.chunk, 1) * self.chunk, self.io
        ends = [n * whole // (3 if step.number == 2 else 2) for n in range(4 if step.number == 2 else 3)]
        parts = [view(SIZE)[first:end] for first, end in pairwise(ends)]
        to = [io.write(self.outputs, part) for part in parts]
        yield host.start(io.s2mm[0], *to, repeat=step.repeat, token=step.number == 3)
        yield host.start(io.mm2s[0], io.read(self.inputs, view(SIZE)[:whole]), repeat=step.repeat)

    def _loop(self, host: Host, step: Step) -> Iterator[HostAction]:
        part, tile = view(SIZE)[: step.words], self.tile
        yield host.start(tile.mm2s[1], tile.read(self.here, part), repeat=step.repeat)
        to = tile.write(self.there, part)
        yield host.start(tile.s2mm[1], to, repeat=step.repeat, token=step.number == 3)

    def _many(self, host: Host, step: Step) -> Iterator[HostAction]:
        """More tasks than a queue has places, or than its tile has BDs."""
        for _ in range(4 + step.number):
            yield from (self._through, self._loop)[step.number % 2](host, step)

    def _padded(self, host: Host, _step: Step) -> Iterator[HostAction]:
        tile = self.tile
        yield host.start(tile.mm2s[1], tile.read(self.small, pad(view((124, 8)), ((1, 0), (0, 0)))))
        yield host.start(tile.s2mm[1], tile.write(self.there, view(SIZE)[:1000]))

    def _lost(self, host: Host, step: Step) -> Iterator[HostAction]:
        if step.number == 3:
            yield host.start(self.io.s2mm[0], self.io.write(self.outputs, view(SIZE)[: step.words]))

    def _wait(self, host: Host, step: Step) -> Iterator[HostAction]:
        which = (self.tile.s2mm[1], self.tile.mm2s[1], self.io.s2mm[0])[step.number : step.number + 1]
        if not which or which[0] in [
            task.channel for task in host.tasks
        ]:  # else there is nothing to wait for
            yield host.wait(*which)

    def _pause(self, host: Host, step: Step) -> Iterator[HostAction]:
        yield host.pause(step.words // step.repeat)

    def _reset(self, host: Host, step: Step) -> Iterator[HostAction]:
        for word in (RESET, 0) if step.number > 1 else ():
            self.array.door.write32(TILE + CONTROL, word)
            yield host.pause(1)

    def _tlast(self, host: Host, step: Step) -> Iterator[HostAction]:
        self.array.door.write32(TILE + CONTROL, ON_TLAST if step.number > 1 else 0)
        yield host.pause(1)

    def _pushes(self, core: Any) -> Iterator[Any]:
        """A kernel that looks around: it gives a channel another task."""
        yield core.cycles(900)
        for word in (RESET, 0):
            self.tile.own_door.write32(CONTROL, word)
        self.tile.s2mm[1].start(self.tile.write(self.there, view(SIZE)[:3]))
        yield core.cycles(700)


def _idles(core: Any) -> Iterator[Any]:
    for _ in range(30):
        yield core.cycles(97)


ENOUGH = 60_000  # cycles


def went(design: Hosted, *, every: bool) -> tuple[Built, list[Any], list[int]]:
    """The design after its stops, what its runs said, and the cycles behind which the host looked."""
    with looks(every=every) as seen:
        built = Built(design)
        built.array.engine.forward.on, built.array.engine.forward.free = not every, EAGER
        said = []
        for cycles in (*design.stops, ENOUGH):
            try:
                result = built.array.run(cycles).as_json()
            except DesignError as error:  # nobody gives back the BDs that a sequence needs
                said.append(str(error))
                break
            said.append({name: value for name, value in result.items() if name != "fast_forward"})
    return built, said, seen
