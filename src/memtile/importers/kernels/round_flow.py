"""The loop of a core that makes it stop within a round, behind other cores that did all of theirs.

What a host sends is so many objects, of which each core takes some in a round and gives some. Behind a core
the objects of the next one are known, and so on. A core that has done only a part of a round when they end
may be meant so; where others wait, it is the cause if another number of turns of one loop alone makes all
rounds of all cores whole, and brings what the host receives.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from memtile.explain.findings import CODES, Finding, Side
from memtile.explain.oddities import UNEVEN, Suspect
from memtile.importers.kernels.lock_names import core_text, line_of, place_of
from memtile.importers.kernels.lock_steps import Branch, Key, Loop, Node, known_way
from memtile.importers.kernels.turn_balance import Balance, CoreRound, Counts, many_text
from memtile.importers.mlir.configure import Configured

_MOST_TURNS = 4096  # of loops that are followed turn by turn
Objects = dict[str, Fraction]


def flow_findings(made: Configured, balance: Balance) -> Iterator[Finding]:
    """The one loop whose turns alone leave a round open, if there is one; a cause only of waits.

    Args:
        made: the device in its array.
        balance: of the rounds of all cores.
    """
    if not balance.cores:  # nor is then asked what the host sends
        return
    flow = _Flow(made, balance)
    late = flow.stops_within(balance.counts)
    if late is None or not all(map(_gives_back_all, balance.cores)):
        return
    core, come = late
    tried = [
        (loop, turns)
        for loop in core.loops
        for turns in _turns(core, loop, come)
        if (counts := core.counts(loop, turns)) is not None
        and flow.is_whole({**balance.counts, core.tile: counts})
    ]
    if len(tried) == 1:
        yield _found(made, flow, core, *tried[0])


class _Flow:
    """Objects that come through all object FIFOs, from the host on."""

    def __init__(self, made: Configured, balance: Balance) -> None:
        self._made, self._balance, self._fifos = made, balance, made.device.fifos

    def stops_within(self, counts: Mapping[str, Counts]) -> tuple[CoreRound, Mapping[Key, int]] | None:
        """The one core that does a part of a round though whole objects come to it, and how many do."""
        objects = self._objects(counts)
        parts = [
            (core, {key: int(objects[key.name]) for key in taken})
            for core in self._balance.cores
            if core.endless
            for taken in [_taken(counts[core.tile], objects)]
            if taken and all(objects[key.name].denominator == 1 for key in taken)
            if any((objects[key.name] / counts[core.tile][key]).denominator > 1 for key in taken)
        ]
        return parts[0] if len(parts) == 1 else None

    def is_whole(self, counts: Mapping[str, Counts]) -> bool:
        """Whether all cores do whole rounds, and the host receives what comes."""
        objects = self._objects(counts)
        for core in self._balance.cores:
            own = counts[core.tile]
            rounds = {objects[key.name] / own[key] for key in own if key.name in objects and own[key]}
            if len(rounds) > 1 or any(each.denominator > 1 for each in rounds):
                return False
        return True

    def reached(self, core: CoreRound) -> tuple[set[str], set[str]]:
        """Object FIFOs that hang together with those of a core, by cores and links, and their tiles."""
        moved = {tile: {key.name for key in own if key.port} for tile, own in self._balance.counts.items()}
        links = [{*link.sources, *link.targets} for link in self._made.device.links]
        names, before = {*moved[core.tile]}, 0
        while len(names) > before:
            before = len(names)
            for each in (*moved.values(), *links):
                names |= set() if names.isdisjoint(each) else each
        return names, {tile for tile, own in moved.items() if own & names}

    def _objects(self, counts: Mapping[str, Counts]) -> Objects:
        """Objects that come through each object FIFO in all, as far as they are known.

        Those of a host are known by themselves, and then those behind a core all of whose inputs fit.
        """
        known = {name: self._balance.of_host(name) for name in self._fifos}
        objects = {name: Fraction(many) for name, many in known.items() if many}
        for _ in self._balance.cores:
            for core in self._balance.cores:
                own = counts[core.tile]
                rounds = {objects[key.name] / own[key] for key in _taken(own, objects)}
                for key in own if len(rounds) == 1 else ():
                    if key.port == "Produce" and key.name not in objects:
                        objects[key.name] = own[key] * min(rounds)
        return objects


def _taken(counts: Counts, objects: Objects) -> list[Key]:
    return [key for key in counts if key.port == "Consume" and key.name in objects and counts[key]]


def _turns(core: CoreRound, loop: Loop, come: Mapping[Key, int]) -> set[int]:
    """Turns with which what comes is as many rounds as are nearest."""
    now, more = core.counts() or {}, core.counts(loop, (loop.turns or 0) + 1) or {}
    found = set[int]()
    for key, many in come.items():
        each = more[key] - now[key]
        rounds = max(1, round(Fraction(many, now[key])))
        turns = (loop.turns or 0) + Fraction(many - rounds * now[key], rounds * each) if each else Fraction(0)
        if turns.denominator == 1 and turns > 0:
            found.add(int(turns))
    return found - {loop.turns or 0}


def _gives_back_all(core: CoreRound) -> bool:
    """Whether a core has released at the end of a round what it acquired, of each object FIFO."""
    held: dict[Key, int] = {}
    return _held(core.nodes, held) and not any(held.values())


def _held(nodes: Sequence[Node], held: dict[Key, int]) -> bool:
    """Follow what is held; whether it is known, and nothing is released that is not held."""
    for node in nodes:
        if isinstance(node, Loop):
            turns = _MOST_TURNS + 1 if node.turns is None else node.turns
            if turns > _MOST_TURNS or not all(_held(node.steps, held) for _ in range(turns)):
                return False
        elif isinstance(node, Branch):
            way = known_way(node)
            if way is None or not _held(way, held):
                return False
        elif node.many is None:
            return False
        elif node.key.port:
            has = held.get(node.key, 0)
            held[node.key] = max(has, node.many) if node.acquires else has - node.many
            if held[node.key] < 0:
                return False
    return True


def _found(made: Configured, flow: _Flow, core: CoreRound, loop: Loop, turns: int) -> Finding:
    cores = {each.tile: core_text(made, each) for each in made.device.cores}
    who, where = cores[core.tile], line_of(loop.operation)
    now, then = core.counts() or {}, core.counts(loop, turns) or {}
    key = next(each for each in now if now[each] != then[each] and each.port == "Consume")
    does = f"makes {many_text(loop.turns, 'turn')} of its loop in {where}"
    message = (
        f"{who} {does} and takes {many_text(now[key], 'object')} of @{key.name} in a round, where "
        f"{then[key]} come; with {many_text(turns, 'turn')} all cores do whole rounds."
    )
    fix = f"Let the loop of {who} in {where} make {many_text(turns, 'turn')}."
    fifos, tiles = flow.reached(core)
    names = [[text] for name in sorted(fifos) for text in (f"'{name}'", f"@{name}")]
    side, severity = Side(who, does, place_of(loop.operation)), CODES[UNEVEN].severity
    waiting = [*names, *([cores[tile]] for tile in sorted(tiles))]
    return Suspect(UNEVEN, severity, message, (side,), fix=fix, waiting=waiting, by_lock=True, latent=True)
