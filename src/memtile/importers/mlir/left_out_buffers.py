"""Descriptors of a text that move the wrong buffer: another one of the same kind is left out.

A buffer that is filled and never read, or read and never filled, was meant by a descriptor of the other
direction that uses the same locks. One that a core uses and no descriptor moves may be the core's own; it was
meant only where a descriptor of the tile moves what another one moves already, or what nothing else uses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from memtile.arch.tiles import DIRECTIONS
from memtile.explain.bd_findings import line_of
from memtile.explain.findings import CODES, Finding, Side
from memtile.explain.names import called
from memtile.importers.kernels.body_operations import LOADS, STORES
from memtile.importers.kernels.lock_names import core_text
from memtile.importers.kernels.lock_users import locks_written
from memtile.importers.mlir.configure import Configured
from memtile.importers.mlir.description import BdDescription, ChainDescription

LEFT_OUT = "MT0126"


class _Use(NamedTuple):
    """A descriptor of a chain."""

    chain: ChainDescription
    bd: BdDescription

    @property
    def locks(self) -> frozenset[str]:
        """The locks that it takes and gives."""
        return frozenset(use.lock for use in (self.bd.acquire, self.bd.release) if use is not None)

    @property
    def moved(self) -> tuple[object, ...]:
        """What it moves of a buffer."""
        return self.bd.buffer, self.bd.offset, self.bd.length, *self.bd.levels

    def is_beside(self, other: _Use) -> bool:
        """Whether another one of its chain moves the same and is counted by the same locks."""
        mine = self.chain is other.chain and self.bd is not other.bd
        return mine and self.moved == other.moved and self.locks == other.locks != frozenset()


class _Wrong(NamedTuple):
    """A descriptor, the buffer that it was to move, and why its own is not that.

    Attributes:
        use: the descriptor.
        meant: value of the buffer that is left out.
        why: what is odd about its own, as a clause.
        left: what is odd about the one that is left out.
        twin: one that moves the same, so that either has the wrong one.
    """

    use: _Use
    meant: str
    why: str
    left: str
    twin: _Use | None = None


def buffer_findings(made: Configured) -> Iterator[Finding]:
    """One finding for each descriptor with the wrong buffer.

    Args:
        made: the device in its array.
    """
    buffers = _Buffers(made)
    told = set[int]()
    for name in buffers.free:
        wrong = buffers.wrong_for(name)
        if wrong is not None and id(wrong.use.bd) not in told:
            told.add(id(wrong.use.bd))
            yield buffers.finding(wrong)


class _Buffers:
    """The buffers of a device and who uses them."""

    def __init__(self, made: Configured) -> None:
        self._made, self._known = made, made.device.buffers
        self._uses: dict[str, list[_Use]] = {}
        for chain in made.device.chains:
            for bd in chain.bds:
                self._uses.setdefault(bd.buffer, []).append(_Use(chain, bd))

    @cached_property
    def _cores(self) -> Mapping[str, str]:
        """By buffer the first core that uses it, as findings name it."""
        found: dict[str, str] = {}
        for core in self._made.device.cores:
            for operation in core.operation.walk() if core.has_body else ():
                for name in self._known.keys() & set(operation.words):
                    found.setdefault(name, core_text(self._made, core))
        return found

    @cached_property
    def free(self) -> Sequence[str]:
        """The buffers that only chains and cores use; a host may make BDs for others."""
        taken, symbols = set[str](), {f"@{each.name}": name for name, each in self._known.items()}
        for sequence in self._made.device.sequences.values():
            for operation in sequence.walk():
                words = set(operation.words)
                taken |= (self._known.keys() & words) | {symbols[word] for word in symbols.keys() & words}
                locks = locks_written(self._made, operation)
                tiles = {self._made.device.locks[lock].tile for lock in locks}
                taken |= {name for name, each in self._known.items() if each.tile in tiles}
        return [name for name in self._known if name not in taken]

    def wrong_for(self, meant: str) -> _Wrong | None:
        """The descriptor that was to move a buffer; None if there is not one alone."""
        uses = self._uses.get(meant, [])
        ways = {use.chain.direction for use in uses}
        if len(ways) == 1 and meant not in self._cores:
            found = list(self._other_way(meant, uses))
        elif not uses and meant in self._cores:
            found = list(self._for_core(meant))
        else:
            return None
        return found[0] if len(found) == 1 else None

    def _like(self, meant: str) -> Iterator[_Use]:
        """Descriptors of other buffers of the same type in the same tile."""
        buffer = self._known[meant]
        for name in self.free:
            other = self._known[name]
            if name != meant and (other.tile, other.shape) == (buffer.tile, buffer.shape):
                yield from self._uses.get(name, ())

    def _other_way(self, meant: str, uses: Sequence[_Use]) -> Iterator[_Wrong]:
        """Of a buffer that descriptors of one direction move: one of the other that has the same locks."""
        way, locks = uses[0].chain.direction, _locks(uses)
        if way == "MM2S" and self._known[meant].initial is not None:
            return
        who, verb = self._name(uses[0].chain), _verb(way)
        buffer = f"buffer {self._buffer(meant)}"
        left = f"nothing {_verb(_other(way))} {buffer}, which {who} {verb} with the same locks"
        for use in self._like(meant):
            others = [each for each in self._uses[use.bd.buffer] if each.bd is not use.bd]
            across = [each for each in others if each.chain.direction == way]
            if use.chain.direction == way or not use.locks or any(map(use.is_beside, others)):
                continue  # of a ring that moves a buffer twice see ``check.ring_turns``
            if across and use.locks <= locks and not use.locks <= _locks(across):
                why = f"which {self._name(across[0].chain)} {verb} with other locks"
                yield _Wrong(use, meant, why, left)

    def _for_core(self, meant: str) -> Iterator[_Wrong]:
        """Of a buffer that a core uses and no descriptor moves."""
        core = self._cores[meant]
        left = f"no BD moves buffer {self._buffer(meant)}, which {core} uses"
        after = list(self._known).index(meant)
        for use in self._like(meant):
            own, others = use.bd.buffer, [each for each in self._uses[use.bd.buffer] if each.bd is not use.bd]
            twins = [each for each in others if use.is_beside(each)]
            if own not in self._cores:
                if not others and self._known[own].initial is None:
                    yield _Wrong(use, meant, "which nothing else uses", left)
                continue
            pair = [use, *twins] if twins else [use, *others]
            if len(pair) != 2 or not (self._has_room(use) if twins else self._clash(*pair)):
                continue
            way = self._way(meant)
            if way and not twins:
                if use.chain.direction == way:
                    other = next(each for each in pair if each is not use)
                    yield _Wrong(use, meant, f"which {self._bd(other)} moves with other locks", left)
                continue
            first, last = sorted(pair, key=lambda each: each.bd.operation.at)
            if use is not (first if after < list(self._known).index(own) else last):
                continue  # buffers mostly stand in the order of their descriptors
            other = last if use is first else first
            does = f"{_verb(other.chain.direction)} too" if twins else "moves with other locks"
            yield _Wrong(use, meant, f"which {self._bd(other)} {does}", left, other)

    def _way(self, meant: str) -> str:
        """The direction of the channel that cores need for a buffer; empty if they do both, or pass it on."""
        bodies = [core.operation for core in self._made.device.cores if core.has_body]
        named = {each.name for body in bodies for each in body.walk() if meant in each.words}
        return "S2MM" if named <= LOADS else "MM2S" if named <= STORES else ""

    def _has_room(self, use: _Use) -> bool:
        """Whether the locks of a chain count as many buffers as it has descriptors."""
        locks = self._made.device.locks
        units = [each.value for each in (use.bd.acquire, use.bd.release) if each is not None]
        begin = sum(locks[lock].initial for lock in use.locks if lock in locks)
        return len(use.locks) == 2 and begin >= len(use.chain.bds) * max(units)

    def _clash(self, one: _Use, other: _Use) -> bool:
        """Whether two that fill and empty a buffer do not know of each other."""
        ways = {one.chain.direction, other.chain.direction}
        return len(ways) == 2 and bool(one.locks and other.locks) and one.locks.isdisjoint(other.locks)

    def finding(self, wrong: _Wrong) -> Finding:
        """The finding about a descriptor."""
        use, buffer = wrong.use, self._buffer(wrong.use.bd.buffer)
        who, place = self._name(use.chain), _place(use.bd)
        does = f"{_verb(use.chain.direction)} buffer {buffer}"
        message = f"{who}, {self._bd(use)}, {does}, {wrong.why}, and {wrong.left}."
        sides = [Side(who, does, place)]
        fix = f"Let BD {use.bd.number} use buffer {self._buffer(wrong.meant)}."
        if wrong.twin is not None:
            other = wrong.twin
            sides.append(Side(self._name(other.chain), f"moves buffer {buffer}", _place(other.bd)))
            fix = f"Let one of these two BDs use buffer {self._buffer(wrong.meant)}."
        return Finding(LEFT_OUT, CODES[LEFT_OUT].severity, message, sides, fix=fix)

    def _buffer(self, name: str) -> str:
        return repr(self._known[name].name)

    def _bd(self, use: _Use) -> str:
        return f"BD {use.bd.number} ({line_of(_place(use.bd))})"

    def _name(self, chain: ChainDescription) -> str:
        tile, way = self._made.tiles[chain.tile], DIRECTIONS.index(chain.direction)
        return called(tile.engine, (tile.s2mm, tile.mm2s)[way][chain.channel].index)


def _locks(uses: Iterable[_Use]) -> frozenset[str]:
    """All that some use."""
    return frozenset[str]().union(*(use.locks for use in uses))


def _verb(direction: str) -> str:
    return "writes" if direction == "S2MM" else "reads"


def _other(direction: str) -> str:
    return "MM2S" if direction == "S2MM" else "S2MM"


def _place(bd: BdDescription) -> str:
    tokens = bd.operation.tokens
    return tokens.text.where(tokens.offset(bd.operation.at))
