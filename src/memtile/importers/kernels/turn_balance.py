"""Loops of cores whose turns do not fit what comes through their object FIFOs, and what goes.

In a round of its outermost loop a core takes so many objects of each object FIFO and gives so many. Between
two cores these numbers are equal, or one divides the other; of the object FIFOs of a host they have one
ratio to what it sends and receives in all. Where they have not, and another number of turns of one loop alone
would make all of them fit, that loop is off; a release behind the loop of its acquire is looked at before.
Where no loop would, and another length of the host's transfers through one object FIFO alone would, or
through all that move as much as it does, these are off; else another ``repeat_count`` of one object FIFO
that is linked may.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType

from memtile.arch.tiles import WORD_BYTES
from memtile.explain.bd_findings import line_of as said_line
from memtile.explain.findings import CODES, Finding, Side
from memtile.importers.kernels.lock_names import core_text, line_of, place_of
from memtile.importers.kernels.lock_steps import Branch, Key, Loop, Node, all_steps, known_way
from memtile.importers.kernels.released_behind import released_behind
from memtile.importers.mlir.configure import Configured
from memtile.importers.mlir.description import FifoDescription

UNEVEN, OTHER_LENGTH = "MT0135", "MT0337"
_ENDLESS = 1 << 30  # turns of a loop that is to have no end
_DEEPEST = 4  # links, one behind the other
NO_MENDS: Mapping[tuple[str, int], Finding] = MappingProxyType({})
Counts = Mapping[Key, int]
Sent = Callable[[str], int | None]
"""Bytes that a host moves through the object FIFO of a name; None = it is not known."""
Pushed = Callable[[str], Sequence[str]]
"""Where a host starts its transfers through the object FIFO of a name."""


@dataclass(frozen=True)
class CoreRound:
    """What a core does in a round.

    Attributes:
        tile: value of its tile.
        nodes: steps of a round.
        endless: whether rounds follow each other without an end.
    """

    tile: str
    nodes: Sequence[Node]
    endless: bool

    @classmethod
    def of(cls, tile: str, nodes: Sequence[Node]) -> CoreRound:
        """The round of a text: a turn of its endless loop, also within one of one turn, or all of it."""
        inner = nodes
        while len(inner) == 1 and isinstance(loop := inner[0], Loop):
            inner = loop.steps
            if (loop.turns or _ENDLESS) >= _ENDLESS:
                return cls(tile, inner, True)
            if loop.turns != 1:
                break
        return cls(tile, nodes, False)

    @cached_property
    def loops(self) -> list[Loop]:
        """Loops within a round that turn a known number of times."""
        return [*_loops(self.nodes)]

    def is_even(self, key: Key) -> bool:
        """Whether the text has the same acquires and releases of an end, in number and in objects."""
        steps = [step for step in all_steps(self.nodes) if step.key == key]
        taken, given = ([step.many for step in steps if step.acquires is way] for way in (True, False))
        return taken == given

    def counts(self, other: Loop | None = None, turns: int = 0) -> Counts | None:
        """Objects of a round; with other turns of a loop, if one is given; None if they are not known."""
        found: dict[Key, int] = {}
        return found if _count(self.nodes, 1, found, other, turns) else None


def _loops(nodes: Sequence[Node]) -> Iterator[Loop]:
    for node in nodes:
        if isinstance(node, Loop):
            if node.turns is not None:
                yield node
            yield from _loops(node.steps)
        elif isinstance(node, Branch):
            for way in node.ways:
                yield from _loops(way)


def _count(nodes: Sequence[Node], times: int, found: dict[Key, int], other: Loop | None, turns: int) -> bool:
    """Add what nodes release, so many times; whether all of it is known."""
    for node in nodes:
        if isinstance(node, Loop):
            many = turns if node is other else node.turns
            if many is None or many >= _ENDLESS or not _count(node.steps, times * many, found, other, turns):
                return False
        elif isinstance(node, Branch):
            way = known_way(node)
            if way is None or not _count(way, times, found, other, turns):
                return False
        elif node.many is None:
            return False
        elif not node.acquires and node.key.port:
            found[node.key] = found.get(node.key, 0) + times * node.many
    return True


_Change = tuple[CoreRound, Loop, int, int]
"""A loop of a core, its other turns, and how many more cores run that loop."""


@dataclass(frozen=True)
class _Moved:
    """Another length of a host's transfers with which all object FIFOs fit.

    Attributes:
        core: that the transfers feed, or empty.
        key: end of an object FIFO of that core.
        objects: that the host would move through it.
        names: object FIFOs of the host whose transfers are off.
    """

    core: CoreRound
    key: Key
    objects: int
    names: Sequence[str]


class Balance:
    """The rounds of all cores of a device.

    Attributes:
        cores: those of which it is known what they move in a round.
        counts: objects that each of them releases in a round, by its tile.
        sent: bytes that the host moves through an object FIFO.
    """

    def __init__(self, made: Configured, cores: Sequence[CoreRound], sent: Sent, pushed: Pushed) -> None:
        self._made, self._fifos, self.sent, self._pushed = made, made.device.fifos, sent, pushed
        self._other: Mapping[str, int] = {}  # bytes that the host is thought to move instead
        self._repeats = {name: fifo.repeat for name, fifo in self._fifos.items() if fifo.repeat is not None}
        counted = {core.tile: counts for core in cores if (counts := core.counts()) is not None}
        self.cores = [core for core in cores if core.tile in counted]
        self.counts: dict[str, Counts] = counted
        self._objects: dict[str, int | None] = {}

    def findings(self, mends: Mapping[tuple[str, int], Finding] = NO_MENDS) -> Iterator[Finding]:
        """One finding, if one loop alone makes all uneven.

        Args:
            mends: what a loop has wrong with it besides, by its place and the turns that mend that too: said
                instead, as nothing else would mend both.
        """
        wrong = self._uneven(self.counts)
        if not wrong:
            return
        behind = [*self._released_behind()]
        if len(behind) == 1:
            yield behind[0]
            return
        tried = [
            ((core, loop, turns, 0), {**self.counts, core.tile: counts})
            for core in self.cores
            for loop in core.loops
            for turns in self._other_turns(core, loop)
            if (counts := core.counts(loop, turns)) is not None
        ]
        even: list[tuple[_Change, Mapping[str, Counts]]]
        even = [(change, counts) for change, counts in tried if not self._uneven(counts)]
        moved = self._other_lengths()
        if not even and not moved:
            even = [*self._changes_together()]
        if len(even) > 1:
            even = [(change, counts) for change, counts in even if self._even_in_all(counts)]
        if len(even) == 1:
            _, loop, turns, _ = even[0][0]
            yield mends.get((place_of(loop.operation), turns)) or self._made_of(even[0][0], moved)
        elif not even:
            repeats = [*self._other_repeats().items()]
            if len(moved) == 1:
                found = self._of_transfers(moved[0])
                other = f", or give @{repeats[0][0]} the repeat_count {repeats[0][1]}." if repeats else "."
                yield replace(found, fix=f"{found.fix[:-1]}{other}")
            elif len(repeats) == 1 and not moved:
                yield self._of_repeat(*repeats[0])

    def _released_behind(self) -> Iterator[Finding]:
        """Releases that stand behind the loop of their acquire, and that alone make all uneven."""
        for core in self.cores:
            for found in released_behind(core.nodes):
                own = {**self.counts[core.tile]}
                own[found.key] = own.get(found.key, 0) * found.turns
                if not self._uneven({**self.counts, core.tile: own}):
                    described = next(each for each in self._made.device.cores if each.tile == core.tile)
                    yield found.finding(core_text(self._made, described))

    def _changes_together(self) -> Iterator[tuple[_Change, Mapping[str, Counts]]]:
        """Other turns of a loop that several cores run, as a program wrote their bodies from one."""
        places: dict[tuple[str, int | None], list[tuple[CoreRound, Loop]]] = {}
        for core in self.cores:
            for loop in core.loops:
                places.setdefault((place_of(loop.operation), loop.turns), []).append((core, loop))
        for same in places.values():
            if len({core.tile for core, _ in same}) < len(same) or len(same) < 2:
                continue
            for turns in set[int]().union(*(self._other_turns(*each) for each in same)):
                found = {core.tile: core.counts(loop, turns) or {} for core, loop in same}
                if not self._uneven(counts := {**self.counts, **found}):
                    yield (*same[0], turns, len(same) - 1), counts

    def _other_repeats(self) -> dict[str, int]:
        """Object FIFOs of which another repeat_count alone makes all even, with that one."""
        found: dict[str, int] = {}
        for core in self.cores:
            ratios = self._ratios(self.counts[core.tile])
            for key, own in ratios.items():
                for rounds in {*ratios.values()} - {own} if key.name in self._repeats else ():
                    many = self._repeats[key.name] * rounds / own
                    if many.denominator == 1 and self._is_even_repeated(key.name, int(many)):
                        found[key.name] = int(many)
        return found

    def _is_even_repeated(self, name: str, many: int) -> bool:
        """Whether all object FIFOs fit if one repeats each object so often."""
        before, repeats = self._objects, self._repeats
        self._objects, self._repeats = {}, {**repeats, name: many}
        even = not self._uneven(self.counts)
        self._objects, self._repeats = before, repeats
        return even

    def _other_lengths(self) -> list[_Moved]:
        """Object FIFOs of the host that alone do not fit, else several alike, and the objects that would."""
        return [*self._lengths_of(lambda name: [name])] or [*self._lengths_of(self._alike)]

    def _lengths_of(self, names_of: Callable[[str], list[str]]) -> Iterator[_Moved]:
        tried: set[tuple[str, int]] = set()
        for core in self.cores:
            counts = self.counts[core.tile]
            ratios = self._ratios(counts)
            for key, own in ratios.items():
                if not core.is_even(key):
                    continue  # it may be the core that keeps an object or gives one back too early
                name = self._at_host(key.name)
                for rounds in (set(ratios.values()) if core.endless else {Fraction(1)}) - {own}:
                    moved, objects = Fraction(self.sent(name) or 0) * rounds / own, rounds * counts[key]
                    names = names_of(name)
                    if moved.denominator != 1 or objects.denominator != 1 or (names[0], int(moved)) in tried:
                        continue
                    tried.add((names[0], int(moved)))
                    if self.is_even_with(dict.fromkeys(names, int(moved))):
                        yield _Moved(core, key, int(objects), names)

    def _alike(self, name: str) -> list[str]:
        """The object FIFOs through which the host moves as many bytes, in the same direction."""
        known = self._made.device.allocations
        way = known[name].direction if name in known else ""
        return [
            each
            for each in known
            if each in self._fifos and known[each].direction == way and self.sent(each) == self.sent(name)
        ] or [name]

    def is_even_with(self, lengths: Mapping[str, int]) -> bool:
        """Whether all object FIFOs fit if the host moves so many bytes through some of them.

        Args:
            lengths: bytes, by name of the object FIFO of the host.
        """
        known = {each for core in self.cores for each in self._ratios(self.counts[core.tile])}
        self._other, before = lengths, self._objects
        self._objects = {}
        now = {each for core in self.cores for each in self._ratios(self.counts[core.tile])}
        new = now - known  # of object FIFOs that the host has left out
        even = now >= known and all(self.sent(self._at_host(key.name)) is None for key in new)
        even = even and not self._uneven(self.counts)
        self._other, self._objects = {}, before
        return even

    def _at_host(self, name: str, deep: int = _DEEPEST) -> str:
        """The object FIFO of the host that another one is linked to, or itself."""
        if self.sent(name) is not None or not deep:
            return name
        for link in self._made.device.links:
            for one, other in ((link.sources, link.targets), (link.targets, link.sources)):
                if name in one and len(other) == 1:
                    return self._at_host(other[0], deep - 1)
        return name

    def _uneven(self, counts: Mapping[str, Counts]) -> bool:
        """Whether any object FIFO does not fit."""
        return any(not self._fits_cores(name, counts) for name in self._fifos) or any(
            not self._fits_host(core, counts[core.tile]) for core in self.cores
        )

    def _fits_cores(self, name: str, counts: Mapping[str, Counts]) -> bool:
        """Whether what a core gives in a round and what others take in theirs divide each other."""
        fifo = self._fifos[name]
        gives = counts.get(self._tile(fifo.producer), {}).get(Key(name, "Produce"), 0)
        takes = [counts.get(self._tile(each), {}).get(Key(name, "Consume"), 0) for each in fifo.consumers]
        return all(not gives or not many or not gives % many or not many % gives for many in takes)

    def _fits_host(self, core: CoreRound, counts: Counts) -> bool:
        """Whether what a host sends and receives in all has one ratio to what the core moves in a round.

        A core that ends may do more than one host asks for, and no less.
        """
        ratios = set(self._ratios(counts).values())
        return len(ratios) <= 1 and (core.endless or all(each <= 1 for each in ratios))

    def _ratios(self, counts: Counts) -> dict[Key, Fraction]:
        """Rounds in which a core moves all objects of an object FIFO that a host has the other end of."""
        known = {key: self.of_host(key.name) for key in counts}
        return {key: Fraction(many, counts[key]) for key, many in known.items() if many and counts[key]}

    def rounds(self, core: CoreRound) -> Fraction | None:
        """Rounds in which a core moves all that a host sends and receives; None if they are not known."""
        ratios = set(self._ratios(self.counts[core.tile]).values())
        return min(ratios) if len(ratios) == 1 else None

    def ends_of_host(self, core: CoreRound) -> list[str]:
        """The object FIFOs of a host whose objects a core moves."""
        return [self._at_host(key.name) for key in self._ratios(self.counts[core.tile])]

    def _even_in_all(self, counts: Mapping[str, Counts]) -> bool:
        """Whether cores give each other what they take, in all rounds that a host has objects for."""
        rounds = {core.tile: self._ratios(counts[core.tile]) for core in self.cores}
        return all(
            gives * given == takes * taken
            for name, fifo in self._fifos.items()
            for gives in [counts.get(self._tile(fifo.producer), {}).get(Key(name, "Produce"), 0)]
            for given in rounds.get(self._tile(fifo.producer), {}).values()
            for each in fifo.consumers
            for takes in [counts.get(self._tile(each), {}).get(Key(name, "Consume"), 0)]
            for taken in rounds.get(self._tile(each), {}).values()
        )

    def _other_turns(self, core: CoreRound, loop: Loop) -> set[int]:
        """Numbers of turns with which an object FIFO would fit that does not."""
        assert loop.turns is not None
        counts = self.counts[core.tile]
        ratios = self._ratios(counts)
        rounds = {*ratios.values(), Fraction(1)}
        wanted = [loop.turns * ratio / each for ratio in ratios.values() for each in rounds]
        wanted += [
            Fraction(loop.turns * many, counts[key]) for key, many in self._partners(core) if counts[key]
        ]
        return {int(each) for each in wanted if each.denominator == 1 and each > 0} - {loop.turns}

    def _partners(self, core: CoreRound) -> Iterator[tuple[Key, Fraction]]:
        """What other cores move of the object FIFOs of a core in a round, and for each round of the core."""
        own = set(self._ratios(self.counts[core.tile]).values())
        for key in self.counts[core.tile]:
            fifo = self._fifos.get(key.name)
            if fifo is None:
                continue
            others = fifo.consumers if key.port == "Produce" else [fifo.producer]
            port = "Consume" if key.port == "Produce" else "Produce"
            for other in others:
                counts = self.counts.get(self._tile(other), {})
                many = counts.get(Key(key.name, port), 0)
                if many:
                    yield key, Fraction(many)
                    theirs = set(self._ratios(counts).values())
                    yield from ((key, many * each / mine) for each in theirs for mine in own)

    def of_host(self, name: str) -> int | None:
        """Objects that a host moves through an object FIFO, through links too; None if it is not known."""
        if name not in self._objects:
            fifo = self._fifos.get(name)
            many = self._bytes(name, _DEEPEST) if fifo is not None else None
            size = _size(fifo) if fifo is not None else None
            self._objects[name] = many // size if many and size and not many % size else None
        return self._objects[name]

    def _bytes(self, name: str, deep: int) -> int | None:
        """Bytes that a host moves through an object FIFO."""
        fifo = self._fifos.get(name)
        if fifo is None or not deep or _size(fifo) is None:
            return None
        own = self._other.get(name, self.sent(name))
        if own is not None:
            return None if name in self._repeats else own
        for link in self._made.device.links:
            for one, other in ((link.sources, link.targets), (link.targets, link.sources)):
                if name in one and len(other) == 1:
                    if other is link.targets and other[0] in self._repeats:
                        return None
                    parts = [_size(self._fifos[each]) for each in one if each in self._fifos]
                    total, mine = self._bytes(other[0], deep - 1), _size(fifo)
                    if total is None or mine is None or None in parts:
                        return None
                    whole = sum(part or 0 for part in parts)
                    total *= self._repeats.get(name, 1)
                    return total * mine // whole if whole and not total * mine % whole else None
        return None

    def _tile(self, value: str) -> str:
        return self._made.device.aliases.get(value, value)

    def _of_transfers(self, moved: _Moved, *, apart: bool = False) -> Finding:
        """The transfers that are off; ``apart`` = the fix is to stand without the message."""
        core, key, objects, names = moved.core, moved.key, moved.objects, moved.names
        described = next(each for each in self._made.device.cores if each.tile == core.tile)
        name = self._at_host(key.name)
        places, has = [place for each in names for place in self._pushed(each)], self.of_host(key.name) or 0
        where = " and ".join(dict.fromkeys(map(said_line, places[-2:])))
        others = [each for each in names if each != name]
        more = [*(f"@{each}" for each in others[:2]), *([f"{len(others) - 2} more"] if others[2:] else [])]
        who = f"the transfer{'s' * (len(places) > 1)} of {listed([f'@{name}', *more])} in {where}"
        asks, gives = ("asks for", "gives") if key.port == "Produce" else ("sends", "takes")
        plural = asks if len(places) == 1 else asks.replace("asks", "ask").replace("sends", "send")
        other = "" if key.name == name else f" of @{key.name}"
        other = f" each{other}" if others else other
        does = f"{plural} {many_text(has, 'object')}{other}"
        message = (
            f"{who[0].upper()}{who[1:]} {does}, where {core_text(self._made, described)} {gives} {objects}; "
            f"with {objects} all object FIFOs are even."
        )
        side = Side(f"the host, {who}", does, places[-1] if places else "")
        verb = "ask for" if key.port == "Produce" else "send"
        whose = f"each of {who if apart else 'them'}" if others else who
        fix = f"Let {whose} {verb} {many_text(objects, 'object')}{self._in_words(name, key, objects)}."
        return Finding(OTHER_LENGTH, CODES[OTHER_LENGTH].severity, message, (side,), fix=fix)

    def _of_repeat(self, name: str, many: int) -> Finding:
        """The object FIFO that repeats each object too often, or not often enough."""
        fifo = self._fifos[name]
        tokens = fifo.operation.tokens
        place = tokens.text.where(tokens.offset(fifo.operation.at))
        has, before = self.of_host(name) or 0, self._repeats[name]
        does = f"repeats each object {many_text(before, 'time')} (repeat_count)"
        message = (
            f"@{name} {does} and so brings {many_text(has, 'object')}, "
            f"where {has * many // before} are taken; "
            f"with {many_text(many, 'time')} all object FIFOs are even."
        )
        side = Side(f"object FIFO @{name}", does, place)
        fix = f"Give @{name} the repeat_count {many}."
        return Finding(OTHER_LENGTH, CODES[OTHER_LENGTH].severity, message, (side,), fix=fix)

    def _in_words(self, name: str, key: Key, objects: int) -> str:
        """`` (64 words in all)``, of so many objects."""
        moved, has = self.sent(name) or 0, self.of_host(key.name) or 1
        return f" ({moved * objects // has // WORD_BYTES} words in all)"

    def _made_of(self, change: _Change, moved: Sequence[_Moved]) -> Finding:
        core, loop, turns, others = change
        described = next(each for each in self._made.device.cores if each.tile == core.tile)
        who, where = core_text(self._made, described), line_of(loop.operation)
        now, then = self.counts[core.tile], core.counts(loop, turns) or {}
        key = next(each for each in now if now[each] != then[each])
        verb, come = ("gives", "are taken") if key.port == "Produce" else ("takes", "come")
        does = f"makes {many_text(loop.turns, 'turn')} of its loop in {where}"
        alike = f", as {many_text(others, 'more core')} do{'es' * (others == 1)}," if others else ""
        message = (
            f"{who}{alike} {does} and {verb} {many_text(now[key], 'object')} of @{key.name} in a round, "
            f"where {then[key]} {come}; with {many_text(turns, 'turn')} all object FIFOs are even."
        )
        side = Side(who, does, place_of(loop.operation))
        whose = "these cores" if others else who
        fix = f"Let the loop of {whose} in {where} make {many_text(turns, 'turn')}"
        if loop.turns == 1 and not core.endless and len(core.nodes) == 1:
            endless = "loop without end (in IRON while_true=True of its Worker)"
            fix = f"Let {whose} make {many_text(turns, 'turn')} in {where}, or {endless}"
        sides: tuple[Side, ...] = (side,)
        if len(moved) == 1:  # it may be that as well
            other = self._of_transfers(moved[0], apart=True)
            fix = f"{fix}, or {_begun(other.fix)[:-1]}"
            message = f"One of these two is off: {message[:-1]}, or {_begun(other.message)}"
            sides = (side, *other.sides)
        return Finding(UNEVEN, CODES[UNEVEN].severity, message, sides, fix=f"{fix}.")


def listed(names: Sequence[str]) -> str:
    """``a, b and c``."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _begun(sentence: str) -> str:
    """A sentence within another one."""
    return f"{sentence[0].lower()}{sentence[1:]}"


def many_text(number: int | None, what: str) -> str:
    """``2 turns``."""
    return f"{number} {what}{'s' * (number != 1)}"


def _size(fifo: FifoDescription) -> int | None:
    """Bytes of an object, if each is moved once and as it is; else None."""
    kind = fifo.element.dtype
    odd = fifo.iterations is not None or fifo.padding or fifo.consumer_element
    return (
        None if odd or kind is None or fifo.element.elements <= 0 else fifo.element.elements * kind.itemsize
    )
