"""From accesses that nothing orders to findings: whose they are, and what they are about."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from memtile.arch.tiles import WORD_BYTES
from memtile.explain.bd_chains import BdChains
from memtile.explain.findings import CODES, Finding, Severity, Side, WordRange
from memtile.explain.lock_waits import Swap, swaps
from memtile.explain.race_sides import Sides
from memtile.jit.tables import plain
from memtile.model.checking.notes import HOST
from memtile.sim.kernels.kernel_core import place
from memtile.sim.loop.engine import Engine
from memtile.sim.races.race_book import RaceKind
from memtile.sim.races.race_watch import Race, RaceAccess, RaceWatch

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
        Sides(engine, watch.began, watch.bds.started, watch.host_places),
        _Spots(engine, watch.place_of_external, areas),
    )
    swapped = {swap.gives: swap for swap in swaps(engine, BdChains(engine))}
    groups: dict[tuple[str, frozenset[int]], list[tuple[Race, _Spot]]] = {}
    early: set[frozenset[int]] = set()  # pairs of which the writer was too early already
    waits: dict[Race, bool] = {}  # whether it is the writer that had to wait
    hasty = [one for one in found if one.kind is RaceKind.NEVER_WRITTEN]  # reads that came before any write
    for one in found:
        if (
            one.kind is RaceKind.STALE
            and one.earlier is not None
            and not sides.handed(one.later, one.earlier)
        ):
            continue  # the writer waits for nobody, which is found as such
        waits[one] = _writer_waits(one, sides, hasty)
        code = _code(one, sides, follows=_agents(one) in early, writer_waits=waits[one])
        if code == "MT0204" and not swapped.keys().isdisjoint(sides.room_locks(*_reader_and_writer(one))):
            code = "MT0305"
        if code == "MT0204":
            early.add(_agents(one))
        groups.setdefault((code, _agents(one)), []).append((one, spots.of(one)))
    return [
        _finding(code, ones, sides, writer_waits=waits[ones[0][0]], swapped=swapped, began=watch.host_began)
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


def _writer_waits(one: Race, sides: Sides, hasty: Sequence[Race]) -> bool:
    """Whether it is the writer that had to wait for the reader, and not the reader for the writer.

    ``hasty`` are the reads of words that nobody had written.
    """
    if one.earlier is None or one.kind is RaceKind.WRITE_WRITE:
        return False
    reader, writer = _reader_and_writer(one)
    if one.kind is RaceKind.STALE:
        return sides.too_much_room(reader, writer)
    if (meant := sides.reader_first(reader, writer)) is not None:
        return meant
    if _read_too_early(one, hasty) or _never_waits(one, sides):
        return False
    return one.kind in _TOO_EARLY and not sides.has_data_early(reader, writer)


def _code(one: Race, sides: Sides, *, follows: bool, writer_waits: bool) -> str:
    """Its code; ``follows``: the writer was too early for the reader before."""
    if one.kind in _CODES and not writer_waits:
        return _CODES[one.kind]
    assert one.earlier is not None
    reader, writer = _reader_and_writer(one)
    if one.kind in _TOO_EARLY or writer_waits:
        return "MT0204" if writer_waits and sides.handed(reader, writer) else "MT0201"
    return "MT0204" if follows and sides.handed(writer, reader) else "MT0201"


def _reader_and_writer(one: Race) -> tuple[RaceAccess, RaceAccess]:
    assert one.earlier is not None
    return (one.earlier, one.later) if one.kind is RaceKind.READ_WRITE else (one.later, one.earlier)


def _finding(
    code: str,
    ones: Sequence[tuple[Race, _Spot]],
    sides: Sides,
    *,
    writer_waits: bool,
    swapped: Mapping[int, Swap],
    began: int = 0,
) -> Finding:
    """The finding; a note of what was over when the host ``began``."""
    spots = _together([spot for _, spot in ones])
    one = ones[0][0]
    message, fix = _texts(code, one, spots[0], sides, writer_waits=writer_waits)
    if code == "MT0305":
        locks = sides.room_locks(*_reader_and_writer(one))
        cause, fix = sides.swap_texts(next(swap for gives, swap in swapped.items() if gives in locks))
        message = f"{message.removesuffix('.')}: {cause}"
    return Finding(
        code,
        Severity.NOTE if all(_before_host(each, began) for each, _ in ones) else CODES[code].severity,
        message,
        sides=tuple(_sides(one, spots[0], sides, writer_waits=writer_waits)),
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


def _sides(one: Race, spot: _Spot, sides: Sides, *, writer_waits: bool) -> list[Side]:
    """Both sides, the one first that does not wait for the other: what is wrong is said there."""
    writes = one.kind in (RaceKind.READ_WRITE, RaceKind.WRITE_WRITE)
    found = [_side(one.later, "writes" if writes else "reads", spot, sides)]
    if one.earlier is not None:
        does = "reads" if one.kind is RaceKind.READ_WRITE else "writes"
        found.insert(0, _side(one.earlier, does, spot, sides))
    is_ordered = one.kind in (RaceKind.WRITE_WRITE, RaceKind.STALE)
    if not is_ordered and writer_waits is not (found[0].does == f"writes {spot.text}"):
        found.reverse()
    if one.earlier is not None and sides.host_starts(one.earlier) and sides.host_starts(one.later):
        late = f"{found[0].does}, and the host starts it before {found[1].who} has ended"
        found[0] = replace(found[0], does=late)
    return found


def _side(access: RaceAccess, does: str, spot: _Spot, sides: Sides) -> Side:
    cycle = access.cycle if access.cycle >= 0 else None
    return Side(sides.name(access), f"{does} {spot.text}", sides.place(access), cycle)


def _texts(code: str, one: Race, spot: _Spot, sides: Sides, *, writer_waits: bool) -> tuple[str, str]:
    """Sentence and repair; ``writer_waits``: the writer was too early, not the reader."""
    later, what = sides.text(one.later), "it" if spot.count == 1 else "them"
    if one.earlier is None:
        says = f"{later} reads {spot.text} in cycle {one.later.cycle}, but nothing has written {what}"
        full, fix = sides.full_from_the_start(one.later)
        if full:
            return f"{full}: {says}.", fix
        return f"{says}.", sides.unwritten_fix(one.later)
    earlier = sides.text(one.earlier)
    if code == "MT0205":
        says = f"{later} reads {spot.text} again, as {earlier} wrote {what} for the round before"
        given = "what it should read is in words that nothing reads"
        return (
            f"{says}; {given}.",
            "Let the reader's BDs go through the buffers in the order of the writer's.",
        )
    if code == "MT0202" or one.kind is RaceKind.WRITE_WRITE:
        says = f"{earlier} and {later} both write {spot.text}, and nothing orders the two writes"
        return f"{says}.", sides.apart_fix(one.earlier, one.later)
    reader, writer = _reader_and_writer(one)
    reads, writes = sides.text(reader), sides.text(writer)
    if writer_waits:
        says = f"{writes} writes {spot.text} and does not wait until {reads} has read {what}"
        beside = sides.other_turns(reader, writer) or sides.beside_fifo(reader, writer, spot.text)
        return f"{says}.", beside or sides.room_fix(reader, writer)
    says = f"{reads} reads {spot.text} and does not wait until {writes} has written {what}"
    fix = sides.other_turns(reader, writer) or sides.data_fix(reader, writer)
    return f"{sides.began_text(reader, writer)}{says}.", fix


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
