"""The engine: a model, its clock loop, the host at its stream ports and the accesses of a host.

The compiled loop runs in slices, so that Ctrl-C keeps what is done, progress can be shown, and sinks are
emptied: the memory it needs does not grow with the cycles simulated. The module has over 600 lines because an
engine is one object: runs, accesses of a host and words at the ports all advance the same clock.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.arch.boards import board_in_force
from memtile.arch.ports import PORTS
from memtile.arch.tiles import S2MM, TILE_KINDS, WORD_BYTES
from memtile.arch.timing import Timing, board_of, looked, timing_in_force
from memtile.errors import DesignError, raise_if
from memtile.jit.structs import at_hand
from memtile.jit.tables import plain
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.dma.channel_registers import OUT_OF_ORDER_MASK
from memtile.model.state.causes import Phase
from memtile.model.state.state import State
from memtile.model.state.state_differences import columns
from memtile.model.state.tile_columns import Placed
from memtile.model.streams.switch_config import OFF, PACKET
from memtile.sim.doors.host_time import HostTime
from memtile.sim.doors.passing_time import ACTED, LATER, READ, PaceColumn, PacedAccesses, Programmed
from memtile.sim.doors.relaxed_model import is_paced, relax
from memtile.sim.doors.tile_door import Door
from memtile.sim.kernels.kernel_core import Kernel
from memtile.sim.kernels.listed_actions import steps_of
from memtile.sim.kernels.running_cores import Cores
from memtile.sim.loop import clock, compiled_model
from memtile.sim.loop.fifo_names import FifoLock
from memtile.sim.loop.memory_pool import make_room, note_new
from memtile.sim.loop.new_state import fresh_state
from memtile.sim.loop.partition import unmodelled
from memtile.sim.loop.timing_only import words_are_gone, words_wanted
from memtile.sim.loop.upsets import Upsets
from memtile.sim.ports import refused_compression
from memtile.sim.ports.collected import Caught, Taken, at_end
from memtile.sim.ports.external_buffers import ExternalMemory
from memtile.sim.ports.feed import AtPorts, Feed, Flags, Offer, Words, no_tlast, whole
from memtile.sim.ports.logic_streams import LogicStreams
from memtile.sim.ports.port_buffers import PortSources, Sinks
from memtile.sim.races.run_checks import Checks
from memtile.sim.skip.fast_forward import FastForward, Skipper

_NOBODY = Caught()  # takes words
OF_HOST, OF_CORES = "a host, which may read them", "kernels, which may look at them"
OF_PACKETS = "packets, whose headers are words"
"""Reasons why a run needs words, which runs of designs without data know better."""
_OF_TILE, _OF_SHIM = ("DMA", "CORE", "FIFO"), ("SOUTH", "FIFO")

Progress = Callable[[int], None]


class Engine:
    """A model of placed tiles and the clock that drives it.

    Args:
        placed: the tiles of the model.
        timing: timing constants; those of the board if omitted.
        switched: wire the channels to their stream switches.
        board: of the device (``arch.boards.BOARDS``), "" = the assumed set.
        booted: start as firmware leaves a partition, see ``sim.loop.partition``; else as after reset.

    Attributes:
        external: the buffers behind the interface tiles.
        upsets: cells of data memory that flip during a run.
        host: the time between memory-mapped accesses.
        lock_names: names that a design gave, by index among all locks of the model.
        channel_names: names that a design gave, by index among all channels.
        fifo_locks: the ends of object FIFOs whose objects locks count, by index among all locks.
        bd_places: where a design says a BD, ``design.py:12``, by model index of the tile and BD number.
        checks: of what runs, for accesses that nothing orders.
        channels: the columns of ``state.channels``, quick to look at from Python.
        tiles: the same of ``spec.tiles``.
        skipper: advances the clock, and skips what repeats.
        words_needed_by: why a run that was to be without words moved them.
        read_by_host: whether a host may read words while the array runs.
        known_doors: what doors of arrays remember, until somebody comes before the doors of tiles.
        left: words that left the array at switch ports, each with its TLAST, by port.
        logic: streams of the programmable logic at switch ports.
    """

    def __init__(
        self,
        placed: Sequence[Placed],
        timing: Timing | None = None,
        *,
        switched: bool = False,
        board: str = "",
        booted: bool = True,
    ) -> None:
        raise_if(list(unmodelled(placed)), DesignError)
        self._usual_board = board_in_force(board)
        self._given_timing, self._timing = timing, timing_in_force(timing, self._usual_board)
        make_room()
        self._state = fresh_state(placed, self._timing, switched=switched, booted=booted)
        note_new(self._state.memory.nbytes)
        self.spec = self._state.spec
        self._unsettled = False  # what rests is booked when somebody looks
        self.external = ExternalMemory()
        self.channels, self.tiles = at_hand(self._state).channels, at_hand(self.spec).tiles
        self.lock_names: dict[int, str] = {}
        self.channel_names: dict[int, str] = {}
        self.fifo_locks: dict[int, FifoLock] = {}
        self.bd_places: dict[tuple[int, int], str] = {}
        self._ports, self._clock = at_hand(self._state).ports, at_hand(self._state).clock
        self._feeds: dict[int, Feed] = {}
        self.logic = LogicStreams(self._state)
        self.cores = Cores(self._state)
        self.upsets = Upsets(self._state)
        self.skipper = Skipper(self.cores, self)
        self.words_needed_by: tuple[str, ...] = ()
        self.read_by_host = False
        self.host = HostTime(self._state, self)
        self._doors: dict[tuple[int, bool], Door] = {}
        self.known_doors: tuple[dict[int, Door], dict[int, Door]] = ({}, {})
        self._sources, self._sinks = PortSources(self._feeds), Sinks()
        self._new_at_ports = False  # what was fed, caught or paced has not been laid out
        self._caught: dict[int, Caught] = {}
        self.left: dict[int, list[tuple[int, int]]] = {}
        self._patterns: dict[int, npt.NDArray[np.int64]] = {}
        self._observer: Callable[[Door, int], Door] | None = None
        self._watcher: Callable[[], None] | None = None
        self.checks = Checks(self, self.cores)
        relax(self)

    @property
    def timing(self) -> Timing:
        """The timing constants of the model."""
        looked()
        return self._timing

    @property
    def timing_in_use(self) -> Timing:
        """:attr:`timing`, for whoever only compares it with that of another model."""
        return self._timing

    @property
    def usual_board(self) -> str:
        """The board whose constants the model has where no others are chosen, "" = none's."""
        return self._usual_board

    @property
    def is_watched(self) -> bool:
        """Whether somebody is called after every cycle, see :meth:`watched`."""
        return self._watcher is not None

    @property
    def board(self) -> str:
        """The board whose measured constants the model has, "" = none's."""
        return board_of(self._timing, self._usual_board)

    @property
    def state(self) -> State:
        """The state of the model, with the cycles of all channels and cores booked."""
        self.cores.look()
        if self._unsettled:
            compiled_model.settle(self._state)
            self._unsettled = self.cores.at_work >= 0  # a kernel looks, and time goes on
        return self._state

    @property
    def present(self) -> State:
        """The state of the model, without the cycles of channels and cores that rest."""
        return self._state

    @property
    def now(self) -> int:
        """Cycles simulated so far."""
        if self.cores.ahead is not None:
            self.cores.ahead()
        return int(self._clock.now[0])

    @property
    def forward(self) -> FastForward:
        """How periods are skipped."""
        return self.skipper.periods

    def door(self, tile: int, *, timed: bool = False) -> Door:
        """The memory-mapped AXI4 port of ``tile``; its accesses take the time of a host if ``timed``."""
        if (tile, timed) not in self._doors:
            host = self.host if timed else None
            looks, filled = self.checks.before_access, self.checks.filled
            self._doors[tile, timed] = Door(self._state, tile, host, filled, looks)
        door = self._doors[tile, timed]
        return self._observer(door, tile) if self._observer else door

    def without_protection(self) -> None:
        """Take ECC and parity away, before the first upset: what memory without check bits would do.

        No register of the chip does this; it is for comparison.

        Raises:
            DesignError: cells are flipped already.
        """
        if self.upsets.struck:
            raise DesignError.of(
                "protection",
                f"after {len(self.upsets.struck)} upsets",
                "before the first upset",
                f"protection cannot be taken away after {len(self.upsets.struck)} upsets, "
                "only before the first one",
                reason="unprotected",
                where=f"engine at cycle {self.now}",
                source="ECC of AM020",
            )
        self._state.guards.enabled[:] = 0

    def observe(self, observer: Callable[[Door, int], Door]) -> None:
        """Hand out what ``observer`` puts before the door of a tile, instead of the door, from now on."""
        self._observer = observer
        for known in self.known_doors:
            known.clear()

    @contextmanager
    def watched(self, watcher: Callable[[], None]) -> Iterator[None]:
        """Context in which ``watcher`` is called after every cycle of a run; its :meth:`run` is slow."""
        self._watcher = watcher
        try:
            yield
        finally:
            self._watcher = None

    def has_clock(self, tile: int) -> bool:
        """Whether the clock of the tile's column is on and its reset off."""
        return not self._state.gates.off[tile]

    def attach_kernel(self, tile: int, kernel: Kernel, *, endless: bool | None = None) -> None:
        """Have the core of compute tile ``tile`` run ``kernel`` from the next cycle on.

        Args:
            tile: model index.
            kernel: generator function over a :class:`~memtile.sim.kernels.kernel_core.Core`.
            endless: True = it serves as long as there is work: a run may end while it waits for a lock. False
                = it has to end. None = a kernel in a loop without end may wait for work that can still come.

        Raises:
            DesignError: the tile has no core, or its core runs a kernel that has not ended.
        """
        self.cores.attach(tile, kernel, endless=endless)

    def feed(self, ch: int, words: Words, tlast: npt.NDArray[np.uint8] | None = None) -> None:
        """Append words for the S2MM channel's stream port to offer; ``tlast``: 1 where a packet ends."""
        last = no_tlast(len(words)) if tlast is None else tlast.astype(np.uint8)
        self._change_ports()
        if words.dtype != np.uint32 or words.strides != (0,):  # one word, again and again, needs no memory
            words = np.ascontiguousarray(words, np.uint32)
        self._feeds.setdefault(ch, Feed()).put(words, last)

    def catch(self, ch: int) -> None:
        """Take every word of the MM2S channel's stream port from now on."""
        self._change_ports()
        self._caught.setdefault(ch, Caught())

    def pace(self, ch: int, pattern: npt.NDArray[np.int64]) -> None:
        """Readiness of the port, cycle by cycle, repeating; 1 = offers or takes a word."""
        if is_paced():
            self._change_ports()
            self._patterns[ch] = pattern

    @property
    def paced(self) -> list[int]:
        """Channels whose ports are not ready in every cycle, see :meth:`pace`."""
        return [ch for ch, pattern in self._patterns.items() if not pattern.all()]

    def _change_ports(self) -> None:
        """Lay the ports out anew before the next cycle, in which words may move."""
        self._new_at_ports, self._clock.quiet[0] = True, 0

    def run(self, until: int, progress: Progress | None = None) -> clock.Stop:
        """Advance to cycle ``until`` or until nothing can move any more; returns why the clock stopped.

        At least one cycle passes, as cycles in which nothing moves are counted anew.

        Raises:
            KeyboardInterrupt: Ctrl-C; the state is that of the last completed slice.
            DesignError: a kernel asks for something that its core does not have or see.
            SimulationError: a channel was to compress in a format that is not public, and is halted.
        """
        stop = self.advance(until, progress)
        refused_compression.refuse_unknown(self._state)
        return stop

    def resume(self, until: int, progress: Progress | None = None) -> clock.Stop:
        """:meth:`run` as one with the last run: no cycle passes where nothing was done since its end."""
        stop = self.advance(until, progress, anew=False)
        refused_compression.refuse_unknown(self._state)
        return stop

    def advance(self, until: int, progress: Progress | None = None, *, anew: bool = True) -> clock.Stop:
        """:meth:`run`, or :meth:`resume` if not ``anew``, for whoever looks at halted channels itself."""
        self.checks.go_on()
        self._choose_words()
        self._attach()
        shown = self.external.shown_to(self._state)
        if anew or shown is not self._state or self._clock.asking[0]:
            self._state, self._clock.quiet[0] = shown, 0
        self.cores.serve()
        self.skipper.begin(self._state, until, watched=self._watcher is not None)
        try:
            while True:
                self.upsets.strike()
                following, self._unsettled = int(self._clock.now[0]) + 1, True
                target = min(until, self.upsets.next_cycle, following if self._watcher else until)
                stop = self.skipper.run(self._state, target)
                if self._watcher is not None and self.now == following:
                    self._watcher()
                self._serve_ports()
                if progress is not None:
                    progress(self.now)
                if stop is clock.Stop.QUIET or (stop is clock.Stop.LIMIT and self.now >= until):
                    return stop
        finally:
            self._serve_ports(all_words=True)

    def make_ready(self) -> None:
        """Do what a run does before its first cycle: choose whether words move, and lay out the ports."""
        self._choose_words()
        self._attach()
        self._state = self.external.shown_to(self._state)

    def wait(self, cycles: int) -> None:
        """Let ``cycles`` cycles pass, whether or not anything can move; timers and counters go on.

        Raises:
            KeyboardInterrupt: Ctrl-C, see :meth:`run`.
            DesignError: a kernel asks for something that its core does not have or see.
            SimulationError: see :meth:`run`.
        """
        self._pass(cycles)
        refused_compression.refuse_unknown(self._state)

    def _pass(self, cycles: int) -> None:
        self._state.clock.passing[0] = 1
        try:
            self.advance(self.now + cycles)
        finally:
            self._state.clock.passing[0] = 0

    @property
    def observed(self) -> bool:
        """Whether somebody stands before the doors, see :meth:`observe`."""
        return self._observer is not None

    def _now_written(self) -> State:
        self._state, self._unsettled = self.external.shown_to(self._state), True
        return self._state

    @property
    def _free(self) -> bool:
        return self._watcher is None and not self._new_at_ports and not self.upsets.scheduled

    def _alone(self, until: int) -> bool:
        return self._watcher is None and not self._new_at_ports and until <= self.upsets.next_cycle

    def pass_to(self, cycle: int) -> None:
        """Let time pass up to a cycle for a host that is busy until then; idle cycles cost nothing.

        Raises:
            KeyboardInterrupt: Ctrl-C, see :meth:`run`.
            DesignError: a kernel asks for something that its core does not have or see.
        """
        state = self._now_written()
        if self._alone(cycle):
            if self.host.jump(cycle):
                return
            there = compiled_model.pass_time(state, cycle)
            self._serve_ports(all_words=True)
            if there:
                return
        before = self.now
        self._pass(cycle - before)
        state.clock.host_waited[0] += self.now - before

    def access(self, tile: int, offset: int, value: int) -> int:
        """Have the host read a word (``value`` is ``READ``) or write it, when it comes to it.

        Args:
            tile: model index.
            offset: byte offset in the tile, a multiple of 4.
            value: the word.

        Returns:
            The word read, 0 for a write, or ``axi.SLAVE_ERROR``.

        Raises:
            KeyboardInterrupt: Ctrl-C, see :meth:`run`.
            DesignError: a kernel asks for something that its core does not have or see.
        """
        cores, answer = self.cores, LATER
        if cores.at_work >= 0 or cores.ahead is not None:
            cores.look()
        if self._free:
            answer = compiled_model.access(self._now_written(), tile, offset, value)
            if 0 <= answer < ACTED:
                return answer
            self._serve_ports(all_words=True)
        while answer == LATER:
            self.host.come_to(tile)
            answer = compiled_model.access(self._now_written(), tile, offset, value)
            self._serve_ports(all_words=True)
        return answer - ACTED if answer >= ACTED else answer

    def perform(self, accesses: PacedAccesses) -> Iterator[int]:
        """Make many accesses in order, each when the host comes to it.

        Args:
            accesses: on this engine; they get their answers.

        Yields:
            The next access to be made, each time that something may have happened that a host is told of.

        Raises:
            KeyboardInterrupt: Ctrl-C, see :meth:`run`.
            DesignError: a kernel asks for something that its core does not have or see.
        """
        counters: Any = memoryview(accesses.counters)  # type: ignore[arg-type]
        cycles, end = counters[PaceColumn.WAIT] + self._timing.access_cycles + 1, counters[PaceColumn.END]
        self.checks.go_on()
        while (left := end - counters[PaceColumn.AT]) > 0:
            made = (
                compiled_model.perform(self._now_written(), accesses)
                if self._alone(self.now + left * cycles)
                else 0
            )
            self._serve_ports(all_words=True)
            if not made:
                self._come_to(accesses)
                counters[PaceColumn.END] = counters[PaceColumn.AT] + 1
                compiled_model.perform(self._now_written(), accesses)
                counters[PaceColumn.END] = end
                self._serve_ports(all_words=True)
            yield counters[PaceColumn.AT]

    def _come_to(self, accesses: PacedAccesses) -> None:
        """Let time pass up to the next access, with all that has a part in it."""
        counters = accesses.counters
        tile, value = (int(column[counters[PaceColumn.AT]]) for column in (accesses.tiles, accesses.values))
        if value == READ and counters[PaceColumn.DUE] < 0:
            counters[PaceColumn.DUE] = self.now + counters[PaceColumn.WAIT]
        if value == READ and counters[PaceColumn.DUE] > self.now:
            self._pass(int(counters[PaceColumn.DUE]) - self.now)
        if tile >= 0:
            self.host.come_to(tile)
        elif value != READ:
            self.host.reach()

    def set_up(self, words: Programmed, end: int) -> int:
        """Write words of a program, each at once when its time has come, as long as that needs no Python.

        Args:
            words: on this engine; something answers each of them, but for clocks that are off.
            end: cycle from which on no word is written.

        Returns:
            How many were written; what is left goes through the doors, one by one.
        """
        costs = words.costs
        until = max(self.now, self.host.free_at) + int(costs[costs > 0].sum())
        if self.observed or not self._alone(until):
            return 0
        written = compiled_model.set_up(self._now_written(), words, end)
        self._serve_ports()
        tiles = plain(self.spec.tiles)
        at, offsets = words.tiles[:written], words.offsets[:written]
        stored = offsets < tiles.memory_words[at] * WORD_BYTES
        self.checks.filled[tiles.memory_base[at[stored]] + offsets[stored] // WORD_BYTES] = True
        return written

    def caught(self, ch: int) -> Words:
        """Words taken from the MM2S channel's port so far; uint32, read-only."""
        return self.taken(ch).words()

    def taken(self, ch: int) -> Taken:
        """What was taken from the MM2S channel's port so far, put together when somebody reads it."""
        return self._caught.get(ch, _NOBODY).so_far()

    def words_caught(self, ch: int) -> int:
        """How many words were taken from there so far, in runs without words too."""
        return len(self._caught.get(ch, _NOBODY))

    def tlasts(self, ch: int) -> Flags:
        """TLAST of each word of :meth:`caught`; uint8."""
        return self.taken(ch).tlasts()

    def tokens(self, tile: int) -> list[int]:
        """What left the tile-control port of a model without switches: task-complete tokens, answers."""
        return [word for word, _ in self.left.get(int(at_hand(self._state).controls.slave_port[tile]), [])]

    def traced(self, tile: int, unit: int = 0) -> list[int]:
        """What left a trace port of a model without switches: packets of ``PACKET_WORDS`` words.

        Args:
            tile: model index.
            unit: of a compute tile: 0 = core module, 1 = memory module.
        """
        first = int(self.tiles.first_unit[tile])
        port = int(at_hand(self.spec).event_units.trace_port[first + unit])
        return [word for word, _ in self.left.get(port, [])]

    def catch_port(self, tile: int, name: str) -> None:
        """Take every word that leaves master port ``name`` of the tile's switch, where no tile is behind it.

        Raises:
            DesignError: the switch has no such port.
        """
        at_hand(self._state).switch.hosted[self._master(tile, name)] = 1
        self._clock.quiet[0] = 0

    def attach_logic(self, tile: int, port: int, *, receives: bool, words: int, period: Fraction) -> int:
        """Have a stream of the programmable logic at a South port of an interface tile.

        Args:
            tile: model index.
            port: number of the South port.
            receives: at a master, from which the logic gets words; else at a slave.
            words: of the stream in one of the PLIO.
            period: of the PLIO's clock, in cycles of the array.

        Returns:
            Model index of the switch port.
        """
        side = self._master if receives else self._slave
        at = side(tile, f"SOUTH{port}")
        self.logic.attach(at, words, period)
        if receives:
            self.catch_port(tile, f"SOUTH{port}")
        return at

    def feed_logic(self, port: int, words: Words, tlast: Flags, stalls: Words) -> None:
        """Append words for the programmable logic to send; see :meth:`LogicStreams.feed`."""
        self._clock.quiet[0] = 0
        self.logic.feed(port, words, tlast, stalls)

    def left_port(self, tile: int, name: str) -> list[tuple[int, int]]:
        """Words that left master port ``name`` after :meth:`catch_port`, each with its TLAST."""
        return list(self.left.get(self._master(tile, name), []))

    def take_left(self, tile: int, name: str, places: Collection[int]) -> None:
        """Have words that left master port ``name`` gone, by their places in :meth:`left_port`."""
        port = self._master(tile, name)
        self.left[port] = [each for n, each in enumerate(self.left[port]) if n not in places]

    def _slave(self, tile: int, name: str) -> int:
        tiles = self.tiles
        return int(tiles.slave_base[tile]) + PORTS[KIND_NAMES[tiles.kind[tile]]].slave(name)

    def _master(self, tile: int, name: str) -> int:
        tiles = self.tiles
        return int(tiles.master_base[tile]) + PORTS[KIND_NAMES[tiles.kind[tile]]].master(name)

    def at_ports(self) -> AtPorts:
        """What waits at the ports and what was taken there, each stream in one piece."""
        self._take_back()
        return AtPorts(
            feeds={ch: whole(feed.offers()) for ch, feed in self._feeds.items()},
            caught={ch: (each.so_far().words(), each.so_far().tlasts()) for ch, each in self._caught.items()},
            left={
                port: (np.array([w for w, _ in words], np.uint32), np.array([e for _, e in words], np.uint8))
                for port, words in self.left.items()
            },
            patterns=dict(self._patterns),
            logic=self.logic.at_ports(),
        )

    def put_at_ports(
        self,
        feeds: Mapping[int, Offer],
        caught: Mapping[int, Offer],
        left: Mapping[int, Offer],
        patterns: Mapping[int, npt.NDArray[np.int64]],
    ) -> None:
        """Let all be at the ports that :meth:`at_ports` found in another engine of the same model."""
        for ch, (words, last) in feeds.items():
            self.feed(ch, words, last)
        for ch, offer in caught.items():
            self.catch(ch)
            self._caught[ch].put(offer)
        self.left = {
            port: list(zip(words.tolist(), last.tolist(), strict=True))
            for port, (words, last) in left.items()
        }
        self._patterns, self._new_at_ports = dict(patterns), True

    def put_state(self, values: Mapping[str, npt.NDArray[Any]]) -> None:
        """Give the state other values, by the names that ``state.compare.columns`` has for its columns."""
        anew: dict[str, Any] = {}
        for name, mine, *_ in columns(self._state):
            if mine.shape == values[name].shape:
                mine[...] = values[name]
            else:  # words of the host, of which there may be any number
                anew[name] = values[name]
        self._state = self.external.shown_to(self._state._replace(**anew))
        self._unsettled = False

    def pending(self, ch: int) -> int:
        """Words fed to the S2MM channel's port that it has not taken."""
        waiting = len(self._feeds[ch]) if ch in self._feeds else 0
        laid = self._ports.source_end[ch] - self._ports.source_position[ch] + self._ports.next_end[ch]
        return waiting + int(laid)

    def channels_in_use(self) -> list[int]:
        """Channels that did or were asked anything, or whose port has words that they have not taken."""
        c, ports = self.channels, self._ports
        asked = (c.bds_done > 0) | (c.phase != Phase.IDLE) | (c.errors != 0) | (c.queue_count > 0)
        asked |= ports.source_end > ports.source_position
        asked |= (c.direction == S2MM) & (at_hand(self._state).fifos.held > 0)
        asked[[ch for ch in self._feeds if self.pending(ch) > 0]] = True
        found: list[int] = np.flatnonzero(asked).tolist()
        return found

    def catches(self, ch: int) -> bool:
        """Whether somebody takes the words of the MM2S channel."""
        return ch in self._caught

    def deliver(self, ch: int, words: Words, tlast: bool) -> None:
        """Record the words of one BD that left the MM2S channel outside the clock loop (untimed run)."""
        self.deliveries(ch).append(words, at_end(len(words), tlast))

    def deliveries(self, ch: int) -> Caught:
        """What left the MM2S channel's port, to be appended to; no one sees it if nobody takes the words."""
        return self._caught.get(ch, Caught())  # a BD of length 0 sends nothing to nobody

    def take(self, ch: int, count: int) -> Words:
        """Take ``count`` of the :meth:`pending` words of the S2MM channel outside the clock loop."""
        return self.supply(ch)(count)

    def supply(self, ch: int) -> Callable[[int], Words]:
        """:meth:`take` of the channel, until the clock loop runs."""
        self._take_back()
        return self._feeds[ch].take if ch in self._feeds else Feed().take

    def peek(self, ch: int, count: int) -> Words:
        """The next :meth:`pending` words of the S2MM channel, ``count`` at most; they stay there."""
        self._take_back()
        return self._feeds[ch].peek(count) if ch in self._feeds else Feed().peek(count)

    def _take_back(self) -> None:
        """Let the words wait that the clock loop has at hand."""
        self._sources.take_back(self._state)
        self._new_at_ports = True

    @property
    def wordless(self) -> bool:
        """Whether runs leave the words where they are, see ``sim.loop.timing_only``."""
        return bool(self._clock.wordless[0])

    def _choose_words(self) -> None:
        """Move words in this run or, if they are not wanted and time does not depend on them, do not.

        Once they were not moved, they never are again.
        """
        leave = self.wordless or not words_wanted()
        still = self.read_by_host or bool(self.cores.running)
        if leave and not self.wordless and self.words_needed_by and still:
            return  # one reason is enough
        self.words_needed_by = tuple(self.needs_words()) if leave else ()
        if self.words_needed_by and self.wordless:
            raise words_are_gone(self.now)
        if leave and not self.words_needed_by and not self.wordless:
            self._take_back()
            self._clock.wordless[0] = 1
            self._sinks.renew(self._state)

    def needs_words(self) -> Iterator[str]:
        """Yield each reason why time may depend on words."""
        control = plain(self.state.channels).control
        if self.read_by_host:
            yield OF_HOST
        if any(steps_of(running.function) is None for running in self.cores.running.values()):
            yield OF_CORES
        if (control & refused_compression.ENABLED).any():
            yield "compression"
        if (control & OUT_OF_ORDER_MASK).any():
            yield "out-of-order reception"
        if (plain(self.state.switch).mode == PACKET).any():
            yield OF_PACKETS
        if self.logic.ports:
            yield "streams of the programmable logic"
        if any(self._control_packets_may_come()):
            yield "control packets"
        if self.upsets.struck or self.upsets.waiting:
            yield "upsets, which are found where words are read"
        if self.checks.watch is not None:
            yield "the check of accesses"

    def data_in_packets(self) -> bool:
        """Whether data comes as packets to switches: from channels, cores, shim channels or the logic.

        Tokens and traces are packets of the hardware, whose headers do not depend on data.
        """
        tiles, modes = plain(self.spec.tiles), plain(self.state.switch).mode
        for kind, base in zip(tiles.kind.tolist(), tiles.slave_base.tolist(), strict=True):
            name = KIND_NAMES[kind]
            sources = _OF_SHIM if TILE_KINDS[name].role == "interface" else _OF_TILE
            names = PORTS[name].slaves if len(modes) and base >= 0 else ()
            if any(port.startswith(sources) and modes[base + n] == PACKET for n, port in enumerate(names)):
                return True
        return False

    def _control_packets_may_come(self) -> Iterator[bool]:
        """Yield for each tile with a control port whether its switch lets words into it."""
        tiles, modes = plain(self.spec.tiles), plain(self.state.switch).mode
        for kind, base in zip(tiles.kind.tolist(), tiles.master_base.tolist(), strict=True):
            name = KIND_NAMES[kind]
            if len(modes) and base >= 0 and "CTRL0" in PORTS[name].masters:
                yield bool(modes[base + PORTS[name].master("CTRL0")] != OFF)

    def _attach(self) -> None:
        """Lay new feeds, sinks and patterns out as the clock loop wants them."""
        if not self._new_at_ports:
            return
        self._new_at_ports = False
        self._sinks.open(self._state, self._caught, sum(map(len, self._feeds.values())))
        self._sources.lay_out(self._state)
        if self._patterns:
            self._state = self._state._replace(pattern=self._lay_out_patterns())

    def _lay_out_patterns(self) -> npt.NDArray[np.int64]:
        ports, at = self._ports, 0
        for ch, pattern in self._patterns.items():
            ports.pattern_base[ch], ports.pattern_length[ch] = at, len(pattern)
            at += len(pattern)
        return np.concatenate(list(self._patterns.values()))

    def _serve_ports(self, *, all_words: bool = False) -> None:
        """Take what the sinks and the list of words for the host have, and lay out more of the sources."""
        full, self._clock.full[0] = int(self._clock.full[0]), 0
        self.checks.flush()
        listed = self._state.host_words
        for port, word, end, cycle in listed[1 : 1 + listed[0, 0]].tolist():
            self.left.setdefault(port, []).append((word, end))
            self.logic.came(port, cycle)
        listed[: 1 + listed[0, 0]] = 0
        if full or all_words:
            self._sinks.take(self._state, self._caught, full=bool(full))
            self._sources.lay_out(self._state)
