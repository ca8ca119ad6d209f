"""From accesses that nothing orders to findings: whose they are, what they are about, and what is missing.

It also has the sides of a race: their names, where they are said, and the locks that they take and give.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from memtile.arch.tiles import TILE_KINDS, WORD_BYTES
from memtile.explain.bd_chains import BdChains, lock_seen
from memtile.explain.findings import CODES, Finding, Severity, Side, WordRange
from memtile.explain.lock_waits import Swap, lock_text, owner, swaps
from memtile.explain.names import called, core_name
from memtile.jit.tables import plain
from memtile.model.checking.notes import FIRST_CHANNEL, HOST
from memtile.model.dma import bd_fields
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.state.columns import Ints
from memtile.sim.kernels.kernel_core import place
from memtile.sim.kernels.kernel_lines import place_said
from memtile.sim.loop.engine import Engine
from memtile.sim.races.race_book import RaceKind
from memtile.sim.races.race_watch import Race, RaceAccess, RaceWatch


class Sides:
    """Those who use memory, of an engine that stands still.

    Args:
        engine: the model.
        began: by lock of the model the value that it began with.
        started: channels and BDs of tasks that hosts have started during the run.
    """

    def __init__(self, engine: Engine, began: Ints, started: Container[tuple[int, int]] = ()) -> None:
        self._engine, self._began, self._started = engine, began, started
        self._channels = len(engine.channels.tile)

    def name(self, access: RaceAccess) -> str:
        """The channel, the core or the host, by the user's name and its place."""
        if access.agent == HOST:
            return "the host"
        if access.agent < FIRST_CHANNEL + self._channels:
            return called(self._engine, access.agent - FIRST_CHANNEL)
        core = access.agent - FIRST_CHANNEL - self._channels
        running = self._engine.cores.running.get(core)
        kernel = f", kernel {running.kernel!r}" if running else ""
        return f"{core_name(self._engine, core)}{kernel}"

    def place(self, access: RaceAccess) -> str:
        """The BD and where the design says it, or the line of the kernel; empty for a host."""
        if access.agent == HOST:
            return ""
        if access.agent < FIRST_CHANNEL + self._channels:
            tile = int(self._engine.channels.tile[access.agent - FIRST_CHANNEL])
            said = self._engine.bd_places.get((tile, access.site))
            return f"BD {access.site}, {said}" if said else f"BD {access.site}"
        running = self._engine.cores.running.get(access.agent - FIRST_CHANNEL - self._channels)
        outside = running.core.outside.place_of(access.site) if running else ""
        return outside or place_said(running.function if running else None, access.site)

    def text(self, access: RaceAccess) -> str:
        """The name, and which of its BDs or lines."""
        is_core = access.agent >= FIRST_CHANNEL + self._channels
        if not is_core:
            return ", ".join(filter(None, [self.name(access), self.place(access).split(",")[0]]))
        running = self._engine.cores.running.get(access.agent - FIRST_CHANNEL - self._channels)
        outside = running.core.outside.place_of(access.site) if running else ""
        place = outside or (f"line {access.site}" if access.site else "")
        return ", ".join(filter(None, [self.name(access), place]))

    def handed(self, giver: RaceAccess, taker: RaceAccess) -> bool:
        """Whether one gives a lock that the other one takes."""
        return bool(self._given(giver) & self._taken(taker))

    def gives_any(self, access: RaceAccess) -> bool:
        """Whether it gives a lock at all."""
        return bool(self._given(access))

    def has_data_early(self, reader: RaceAccess, writer: RaceAccess) -> bool:
        """Whether a lock that the writer gives to the reader says at the start that there is data."""
        return any(self._began[lock] > 0 for lock in self._given(writer) & self._taken(reader))

    def room_locks(self, reader: RaceAccess, writer: RaceAccess) -> set[int]:
        """Locks by which a reader gives room to a writer."""
        return self._given(reader) & self._taken(writer)

    def swap_texts(self, swap: Swap) -> tuple[str, str]:
        """What a release to the wrong lock does, and the repair."""
        giver, given, meant = called(self._engine, swap.giver), self._lock(swap.gives), self._lock(swap.meant)
        waiting = called(self._engine, swap.waiting)
        says = (
            f"{giver} takes what {waiting} gives, and releases {given} instead of {meant}, which nobody does"
        )
        return f"{says}.", f"Let {giver} release {meant}."

    def data_fix(self, reader: RaceAccess, writer: RaceAccess) -> str:
        """A repair that orders a read after a write."""
        common = self._given(writer) & self._taken(reader)
        if not common:
            return self.order_fix(writer, reader, "read")
        lock, reads = self._lock(min(common)), self.text(reader)
        if self._began[min(common)]:
            return f"{lock} lets the reader go before there is data: begin it with 0, or take more of it."
        if self._is_core(reader):
            return f"Let {reads} acquire {lock} before each read, once for each buffer."
        if self._is_core(writer):
            return f"Let {self.text(writer)} release {lock} only after its write, once for each buffer."
        return self._same_order(lock)

    def room_fix(self, reader: RaceAccess, writer: RaceAccess) -> str:
        """A repair that orders a write after a read."""
        common = self._given(reader) & self._taken(writer)
        if not common:
            return self.order_fix(reader, writer, "write")
        number = min(common)
        lock, began, buffers = self._lock(number), int(self._began[number]), self._buffers(number)
        if buffers and began > buffers:
            return f"Begin {lock} with {buffers}, the number of buffers: {began} is more room than there is."
        if self._is_core(writer):
            return f"Let {self.text(writer)} acquire {lock} before each write, once for each buffer."
        if self._is_core(reader):
            return f"Let {self.text(reader)} release {lock} only after its last read, once for each buffer."
        return self._same_order(lock)

    def _same_order(self, lock: str) -> str:
        """A repair of two channels that do wait for each other: of which buffer, they disagree."""
        return f"Let both go through the buffers in one order, with one unit of {lock} for each buffer."

    def _is_core(self, access: RaceAccess) -> bool:
        return access.agent >= FIRST_CHANNEL + self._channels

    def _buffers(self, lock: int) -> int:
        """Units of a lock that BDs of its tile take, each buffer once, or give where none takes any."""
        taken: dict[int, int] = {}
        given: dict[int, int] = {}
        engine, (tile, _) = self._engine, owner(self._engine, lock)
        state, kind = engine.state, TILE_KINDS[KIND_NAMES[int(plain(engine.spec.tiles).kind[tile])]]
        for bd in range(kind.bds):
            read = partial(bd_fields.read_field, state, tile, bd)
            if not read(bd_fields.VALID_BD):
                continue
            base, takes = int(read(bd_fields.BASE_ADDRESS)), bool(read(bd_fields.ACQUIRE_ENABLE))
            if takes and lock_seen(engine, tile, int(read(bd_fields.ACQUIRE_ID))) == lock:
                taken[base] = abs(int(read(bd_fields.ACQUIRE_VALUE)))
            if (
                read(bd_fields.RELEASE_VALUE)
                and lock_seen(engine, tile, int(read(bd_fields.RELEASE_ID))) == lock
            ):
                given[base] = abs(int(read(bd_fields.RELEASE_VALUE)))
        return sum(taken.values()) or sum(given.values())

    def order_fix(self, first: RaceAccess, then: RaceAccess, does: str) -> str:
        """A repair that orders one access before the other."""
        if first.agent == HOST:
            return f"Have the host do this before it starts {self.text(then)}."
        if then.agent == HOST:
            return f"Have the host wait for {self.text(first)} before it {_DOES[does]}."
        if self._by_host(first) and self._by_host(then):
            return f"Have the host wait for the end of {self.text(first)} before it starts {self.text(then)}."
        given = self._given(first) - self._taken(then)
        if given:
            lock = self._lock(min(given))
            return (
                f"Let {self.text(then)} acquire {lock}, which {self.text(first)} releases, before the {does}."
            )
        return f"Let {self.text(first)} release a lock that {self.text(then)} acquires before the {does}."

    def _by_host(self, access: RaceAccess) -> bool:
        """Whether a host has started the task during the run, and its BD has no lock."""
        ch = access.agent - FIRST_CHANNEL
        if not 0 <= ch < self._channels or self._given(access) or self._taken(access):
            return False
        return (ch, access.site) in self._started

    def _given(self, access: RaceAccess) -> set[int]:
        return self._locks(access, bd_fields.RELEASE_VALUE, bd_fields.RELEASE_ID, "released")

    def _taken(self, access: RaceAccess) -> set[int]:
        return self._locks(access, bd_fields.ACQUIRE_ENABLE, bd_fields.ACQUIRE_ID, "taken")

    def _locks(self, access: RaceAccess, enable: int, lock: int, by_kernel: str) -> set[int]:
        """Locks that a BD, or a kernel so far, takes or gives; indices among all of the model."""
        if access.agent == HOST:
            return set()
        ch = access.agent - FIRST_CHANNEL
        if ch >= self._channels:
            running = self._engine.cores.running.get(ch - self._channels)
            return set(getattr(running, by_kernel)) if running else set()
        state, tile = self._engine.state, int(self._engine.channels.tile[ch])
        if int(bd_fields.read_field(state, tile, access.site, enable)) == 0:
            return set()
        seen = lock_seen(self._engine, tile, int(bd_fields.read_field(state, tile, access.site, lock)))
        return set() if seen is None else {seen}

    def _lock(self, lock: int) -> str:
        return lock_text(self._engine, lock)


_DOES = {"read": "reads", "write": "writes"}
_CODES = {RaceKind.NEVER_WRITTEN: "MT0203", RaceKind.STALE: "MT0205", RaceKind.WRITE_WRITE: "MT0202"}
"""The codes of kinds that need no look at who hands words to whom."""
_TOO_EARLY = (RaceKind.READ_WRITE, RaceKind.OVERWRITTEN)  # a write that did not wait for a read


class NamedArea(NamedTuple):
    """A buffer that a design has a name for.

    Attributes:
        name: of the buffer.
        tile: model index.
        first: byte in the tile.
        nbytes: its size.
    """

    name: str
    tile: int
    first: int
    nbytes: int


@dataclass(frozen=True, slots=True)
class _Spot:
    """Words by the names of the design: those of one buffer, or of a memory where no buffer is."""

    memory: str
    first: int
    count: int

    @property
    def text(self) -> str:
        last = self.first + self.count - 1
        words = f"word {self.first}" if self.count == 1 else f"words {self.first} to {last}"
        return f"{words} of {self.memory}"


def race_findings(
    engine: Engine,
    found: Sequence[Race],
    watch: RaceWatch,
    areas: Sequence[NamedArea],
) -> list[Finding]:
    """Findings of a checked run, in the order of their cycles; those of one pair and buffer are one.

    Args:
        engine: the model.
        found: what was found.
        watch: that found it.
        areas: the buffers of the design.
    """
    sides, spots = (
        Sides(engine, watch.began, watch.bds.started),
        _Spots(engine, watch.place_of_external, areas),
    )
    swapped = {swap.gives: swap for swap in swaps(engine, BdChains(engine))}
    groups: dict[tuple[str, frozenset[int]], list[tuple[Race, _Spot]]] = {}
    early: set[frozenset[int]] = set()  # pairs of which the writer was too early already
    hurried: set[Race] = set()
    hasty = [one for one in found if one.kind is RaceKind.NEVER_WRITTEN]  # reads that came before any write
    for one in found:
        if (
            one.kind is RaceKind.STALE
            and one.earlier is not None
            and not sides.handed(one.later, one.earlier)
        ):
            continue  # the writer waits for nobody, which is found as such
        if _read_too_early(one, hasty) or _never_waits(one, sides):
            hurried.add(one)
        code = _code(one, sides, follows=_agents(one) in early, hasty=one in hurried)
        if code == "MT0204" and not swapped.keys().isdisjoint(sides.room_locks(*_reader_and_writer(one))):
            code = "MT0305"
        if code == "MT0204":
            early.add(_agents(one))
        groups.setdefault((code, _agents(one)), []).append((one, spots.of(one)))
    return [
        _finding(code, ones, sides, hasty=ones[0][0] in hurried, swapped=swapped, began=watch.host_began)
        for (code, agents), ones in groups.items()
        if not _follows(code, agents, {spot.memory for _, spot in ones}, groups)
    ]


def _agents(one: Race) -> frozenset[int]:
    return frozenset(access.agent for access in (one.earlier, one.later) if access is not None)


def _follows(
    code: str,
    agents: frozenset[int],
    memories: set[str],
    groups: Mapping[tuple[str, frozenset[int]], Sequence[tuple[Race, _Spot]]],
) -> bool:
    """Whether a finding only follows from another one of the same words.

    Who reads too early may read what nobody has written yet; who reads the wrong words lets the writer into
    them too early.
    """
    if code == "MT0203":
        others = [ones for (other, pair), ones in groups.items() if other != code and agents < pair]
        return any(spot.memory in memories for ones in others for _, spot in ones)
    return any((root, agents) in groups for root in CODES[code].follows)


def _read_too_early(one: Race, hasty: Sequence[Race]) -> bool:
    """Whether the reader of words had read some of them before anybody wrote them."""
    if one.earlier is None or one.kind is not RaceKind.READ_WRITE:
        return False
    reader = one.earlier.agent
    return any(
        each.later.agent == reader and each.first <= one.last and one.first <= each.last for each in hasty
    )


def _never_waits(one: Race, sides: Sides) -> bool:
    """Whether a reader that gives the writer room takes none of the locks by which that gives it data."""
    if one.kind not in _TOO_EARLY:
        return False
    reader, writer = _reader_and_writer(one)
    gives = sides.gives_any(writer) and not sides.handed(writer, reader)
    return gives and sides.handed(reader, writer)


def _code(one: Race, sides: Sides, *, follows: bool, hasty: bool) -> str:
    """Its code; ``follows``: the writer was too early for the reader before, ``hasty``: the reader itself."""
    if one.kind in _CODES:
        return _CODES[one.kind]
    assert one.earlier is not None
    reader, writer = _reader_and_writer(one)
    if hasty:
        return "MT0201"
    if one.kind in _TOO_EARLY:
        early = sides.handed(reader, writer) and not sides.has_data_early(reader, writer)
        return "MT0204" if early else "MT0201"
    return "MT0204" if follows and sides.handed(writer, reader) else "MT0201"


def _reader_and_writer(one: Race) -> tuple[RaceAccess, RaceAccess]:
    assert one.earlier is not None
    return (one.earlier, one.later) if one.kind is RaceKind.READ_WRITE else (one.later, one.earlier)


def _finding(
    code: str,
    ones: Sequence[tuple[Race, _Spot]],
    sides: Sides,
    *,
    hasty: bool,
    swapped: Mapping[int, Swap],
    began: int = 0,
) -> Finding:
    """The finding; a note of what was over when the host ``began``."""
    spots = _together([spot for _, spot in ones])
    one = ones[0][0]
    message, fix = _texts(code, one, spots[0], sides, hasty=hasty)
    if code == "MT0305":
        locks = sides.room_locks(*_reader_and_writer(one))
        cause, fix = sides.swap_texts(next(swap for gives, swap in swapped.items() if gives in locks))
        message = f"{message.removesuffix('.')}: {cause}"
    return Finding(
        code,
        Severity.NOTE if all(_before_host(each, began) for each, _ in ones) else CODES[code].severity,
        message,
        sides=tuple(_sides(one, spots[0], sides)),
        words=tuple(WordRange(spot.memory, spot.first, spot.count) for spot in spots),
        cycles=(min(each.later.cycle for each, _ in ones), max(each.until for each, _ in ones)),
        fix=fix,
        count=sum(each.count for each, _ in ones),
    )


def _before_host(one: Race, began: int) -> bool:
    """Whether a host uses what was used before its first instruction: milliseconds lie between on silicon."""
    return one.later.agent == HOST and one.earlier is not None and 0 <= one.earlier.cycle < began


def _together(spots: Sequence[_Spot]) -> list[_Spot]:
    """Words of each memory as one span, in the order in which they were met."""
    spans: dict[str, _Spot] = {}
    for spot in spots:
        known = spans.get(spot.memory, spot)
        first, end = min(known.first, spot.first), max(known.first + known.count, spot.first + spot.count)
        spans[spot.memory] = _Spot(spot.memory, first, end - first)
    return list(spans.values())


def _sides(one: Race, spot: _Spot, sides: Sides) -> list[Side]:
    writes = one.kind in (RaceKind.READ_WRITE, RaceKind.WRITE_WRITE)
    found = [_side(one.later, "writes" if writes else "reads", spot, sides)]
    if one.earlier is not None:
        does = "reads" if one.kind is RaceKind.READ_WRITE else "writes"
        found.insert(0, _side(one.earlier, does, spot, sides))
    return found


def _side(access: RaceAccess, does: str, spot: _Spot, sides: Sides) -> Side:
    cycle = access.cycle if access.cycle >= 0 else None
    return Side(sides.name(access), f"{does} {spot.text}", sides.place(access), cycle)


def _texts(code: str, one: Race, spot: _Spot, sides: Sides, *, hasty: bool) -> tuple[str, str]:
    """Sentence and repair; ``hasty``: the reader was too early, not the writer."""
    later, what = sides.text(one.later), "it" if spot.count == 1 else "them"
    if one.earlier is None:
        says = f"{later} reads {spot.text} in cycle {one.later.cycle}, and nobody has written {what}"
        return (
            f"{says}.",
            "Give the buffer data, or let who writes it release a lock that the reader acquires.",
        )
    earlier = sides.text(one.earlier)
    if code == "MT0205":
        says = f"{later} reads {spot.text} again, as {earlier} wrote {what} for the round before"
        given = "what it was to read lies in words that nobody reads"
        return (
            f"{says}; {given}.",
            "Let the reader's BDs go through the buffers in the order of the writer's.",
        )
    if code == "MT0202" or one.kind is RaceKind.WRITE_WRITE:
        says = f"{earlier} and {later} both write {spot.text}, and nothing says who comes first"
        return f"{says}.", sides.order_fix(one.earlier, one.later, "write")
    reader, writer = _reader_and_writer(one)
    reads, writes = sides.text(reader), sides.text(writer)
    if one.kind in _TOO_EARLY and not hasty and not sides.has_data_early(reader, writer):
        says = f"{writes} writes {spot.text} and does not wait until {reads} has read {what}"
        return f"{says}.", sides.room_fix(reader, writer)
    says = f"{reads} reads {spot.text} and does not wait until {writes} has written {what}"
    return f"{says}.", sides.data_fix(reader, writer)


class _Spots:
    """Where words are, by the names of the design."""

    def __init__(
        self, engine: Engine, external: Callable[[int], tuple[int, int]], areas: Sequence[NamedArea]
    ) -> None:
        self._engine, self._external, self._areas = engine, external, areas
        self._tiles = plain(engine.spec.tiles)
        self._words = len(engine.state.memory)

    def of(self, one: Race) -> _Spot:
        """The words of what was found, as far as they lie in the buffer, or memory, of the first of them."""
        if one.first >= self._words:
            return self._outside(one)
        tile = int((self._tiles.memory_base <= one.first).nonzero()[0][-1])
        base = int(self._tiles.memory_base[tile])
        first, last = one.first - base, min(one.last - base, int(self._tiles.memory_words[tile]) - 1)
        there = [area for area in self._areas if area.tile == tile and _has(area, first, last)]
        if not there:
            return _Spot(f"the memory of tile {place(self._engine.spec, tile)}", first, last - first + 1)
        begins, ends = there[0].first // WORD_BYTES, -(-(there[0].first + there[0].nbytes) // WORD_BYTES)
        low, high = max(first, begins), min(last, ends - 1)
        return _Spot(f"buffer {there[0].name!r}", low - begins, high - low + 1)

    def _outside(self, one: Race) -> _Spot:
        region, first = self._external(one.first)
        name = list(self._engine.external.buffers)[region]
        return _Spot(f"external buffer {name!r}", first, one.last - one.first + 1)


def _has(area: NamedArea, first: int, last: int) -> bool:
    return area.first < (last + 1) * WORD_BYTES and first * WORD_BYTES < area.first + area.nbytes
