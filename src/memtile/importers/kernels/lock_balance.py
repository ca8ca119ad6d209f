"""Whether the cores of an MLIR design release what they acquire, by their text alone.

To acquire n objects is to hold n. So an end of an object FIFO that a loop acquires and does not release gives
the same object in each turn, and its other side gets none back. Of other locks see ``lock_discipline``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.imbalance import Imbalance
from memtile.importers.kernels.alike_cores import turn_faults
from memtile.importers.kernels.body_operations import ENDLESS_TURNS
from memtile.importers.kernels.core_locks import released_by_core
from memtile.importers.kernels.lock_faults import lock_faults
from memtile.importers.kernels.lock_names import (
    core_text,
    line_of,
    lock_name,
    number_of,
    place_of,
    tile_of,
)
from memtile.importers.kernels.lock_steps import (
    Branch,
    Key,
    Loop,
    Node,
    Step,
    all_steps,
    loop_without_release,
    one_sided_branch,
    passes_on,
    steps_of,
)
from memtile.importers.kernels.turn_rates import rate_faults
from memtile.importers.mlir.configure import Configured
from memtile.importers.mlir.description import CoreDescription
from memtile.importers.mlir.fifos import FifoEnd

NEVER, DEPTH, HELD = "MT0118", "MT0119", "MT0325"
_ENDS = {"Produce": "producer", "Consume": "consumer"}
_MOST_HELD = 1 << 12  # objects or units that are followed


def imbalances(made: Configured) -> dict[str, list[Imbalance]]:
    """What the cores of a device release otherwise than they acquire, by the value of their tile.

    What is wrong with the locks of all is with each of the cores, and under an empty name.
    """
    texts = {core.tile: steps_of(made.device, core) for core in made.device.cores if core.has_body}
    cores = (core for core in made.device.cores if core.tile in texts)
    faults = [*lock_faults(made, texts), *turn_faults(made, texts), *rate_faults(made, texts)]
    return {"": faults} | {core.tile: [*faults, *_of_core(made, core, texts[core.tile])] for core in cores}


def _of_core(made: Configured, core: CoreDescription, nodes: Sequence[Node]) -> Iterator[Imbalance]:
    """What one core releases of object FIFOs otherwise than it acquires."""
    if released_by_core(made, core) is None:
        return  # a function of another file is given a lock
    keys = dict.fromkeys(step.key for step in all_steps(nodes))
    for key in keys:
        end = _end(made, core, key) if key.port else None
        if end is not None:
            yield from _OfFifo(made, core, key, end, nodes).found()
        elif not key.port:
            yield from _of_mutex(made, core, key, nodes)


def _of_mutex(
    made: Configured, core: CoreDescription, key: Key, nodes: Sequence[Node]
) -> Iterator[Imbalance]:
    """A lock that a core acquires and releases again, but not on one of the ways of a branch."""
    steps = [step for step in all_steps(nodes) if step.key == key]
    taken = next((step for step in steps if step.acquires), None)
    given = [step for step in steps if not step.acquires]
    branch = one_sided_branch(nodes, key)
    if taken is None or branch is None or any(step.many != taken.many for step in steps):
        return
    if not held_at_the_end(nodes, key):
        return
    who, name, other = core_text(made, core), lock_name(made, key.name), line_of(branch.operation)
    where = ", ".join(dict.fromkeys(line_of(step.operation) for step in given))
    says = f"is released in {where}, and stays held on the other way of the branch in {other}"
    side = Side(who, f"{name} {says}", place_of(taken.operation))
    message = f"{who}, {line_of(taken.operation)}: {name} {says}."
    fix = f"Release it on both ways of the branch in {other}."
    lock = number_of(made, key.name)
    yield Imbalance(Finding(HELD, Severity.ERROR, message, (side,), fix=fix), lock, certain=False)


def _end(made: Configured, core: CoreDescription, key: Key) -> FifoEnd | None:
    tile = made.device.aliases.get(core.tile, core.tile)
    if key.port == "Produce":
        return made.fifos.producers.get(key.name)
    return made.fifos.consumers.get((key.name, tile))


@dataclass(frozen=True, slots=True)
class _OfFifo:
    """A core at one end of an object FIFO."""

    made: Configured
    core: CoreDescription
    key: Key
    end: FifoEnd
    nodes: Sequence[Node]

    def found(self) -> Iterator[Imbalance]:
        steps = [step for step in all_steps(self.nodes) if step.key == self.key]
        acquires = [step for step in steps if step.acquires]
        yield from self._too_many(acquires)
        if not acquires or any(step.many is None for step in steps):
            return
        releases = [step for step in steps if not step.acquires]
        loop = loop_without_release(self.nodes, self.key, self.key)
        if not releases:
            first = loop[1] if loop is not None else acquires[0]
            certain = loop is not None or self.key.port == "Produce"
            yield self._made(first, "is acquired and never released", certain=certain, once=loop is None)
        elif loop is not None:
            says = (
                f"is acquired in each turn of the loop in {line_of(loop[0].operation)} and not released in it"
            )
            yield self._made(loop[1], says, certain=False)
        elif left := held_at_the_end(self.nodes, self.key):
            yield self._left(acquires, releases, left)

    def _left(self, acquires: Sequence[Step], releases: Sequence[Step], left: set[int]) -> Imbalance:
        """A body that ends, or turns, with objects that it still holds."""
        most = max(step.many or 0 for step in acquires)
        where = ", ".join(dict.fromkeys(line_of(step.operation) for step in releases))
        objects = "1 object" if max(left) == 1 else f"{max(left)} objects"
        at = next(step for step in acquires if step.many == most)
        way = "" if 0 not in left else " on one way through the body"
        branch = one_sided_branch(self.nodes, self.key) if way else None
        if branch is not None:
            other = line_of(branch.operation)
            says = (
                f"is released in {where}, and not on the other way of the branch in {other}: {objects} of it"
            )
            made = self._made(at, f"{says} stays held", certain=False)
            fix = made.finding.fix.replace("after its last use", f"on both ways of the branch in {other}")
            again = self.key.port == "Consume" and passes_on(self.nodes, self.key, branch)
            return replace(made, finding=replace(made.finding, fix=fix), again=again)
        if len(acquires) == len(releases) == 1 and most > (releases[0].many or 0) and not way:
            says = (
                f"is acquired by {most} and released by {releases[0].many} in {where}: {objects} stays held"
            )
            made = self._made(acquires[0], says, certain=False)
            return self._window(made, most - (releases[0].many or 0), releases[0].many or 0)
        return self._made(at, f"is released in {where}, and {objects} of it stays held{way}", certain=False)

    def _window(self, made: Imbalance, kept: int, released: int) -> Imbalance:
        """A fact with what to do where turns are meant to share objects, of which the end then lacks some."""
        if self.key.port != "Consume":
            return made
        many = _times(self.nodes, next(s for s in all_steps(self.nodes) if s.key == self.key), 1)
        if many is None:
            send = f"{kept} more, if turns share objects"
        else:
            send = f"{many * released + kept} objects in all, which {many} turns take that share objects"
        window = f"Or let it make fewer turns, or send {send} (a sliding window)."
        return replace(made, finding=replace(made.finding, fix=f"{made.finding.fix} {window}"))

    def _too_many(self, acquires: Sequence[Step]) -> Iterator[Imbalance]:
        deep = len(self.end.buffers)
        step = max(acquires, key=lambda each: each.many or 0, default=None)
        if step is None or not deep or (step.many or 0) <= deep:
            return
        objects = "1 object" if deep == 1 else f"{deep} objects"
        core = f"{core_text(self.made, self.core)}, {line_of(step.operation)}"
        says = f"Object FIFO @{self.key.name} has {objects}, and {core} holds {step.many} at once."
        side = Side(
            core_text(self.made, self.core), f"acquires {step.many} objects", place_of(step.operation)
        )
        fix = f"Give @{self.key.name} a depth of {step.many} or more at its {_ENDS[self.key.port]} end."
        lock = number_of(self.made, self._locks()[0])
        yield Imbalance(Finding(DEPTH, Severity.ERROR, says, (side,), fix=fix), lock)

    def _locks(self) -> tuple[str, str]:
        """The lock that it takes, and the one that it gives."""
        return (self.end.free, self.end.full)[:: 1 if self.key.port == "Produce" else -1]  # type: ignore

    def _made(self, step: Step, says: str, *, certain: bool, once: bool = False) -> Imbalance:
        name, who = f"@{self.key.name}", core_text(self.made, self.core)
        lock = self.made.locks.get(self._locks()[1])
        given = "" if lock is None else f"; {lock_name(self.made, self._locks()[1])}"
        message = f"{who}, {line_of(step.operation)}: {name} {says} ({_ENDS[self.key.port]} end{given})."
        text = f"aie.objectfifo.release {name}({self.key.port}, {step.many})"
        written = f"release({step.many}) of its {_ENDS[self.key.port]} end"
        fix = f"Release {name} after its last use: {written if step.operation.tokens.text.places else text}."
        side = Side(who, f"{name} {says}", place_of(step.operation))
        found = Finding(NEVER if certain else HELD, Severity.ERROR, message, (side,), fix=fix)
        take, give = (number_of(self.made, each) for each in self._locks())
        return Imbalance(found, give, certain, tile_of(self.made, self.core) if once else -1, take)


def _times(nodes: Sequence[Node], step: Step, times: int) -> int | None:
    """How often a step is done, if it is in loops alone that turn a known number of times."""
    for node in nodes:
        if node is step:
            return times
        if isinstance(node, Loop) and 0 < (node.turns or 0) < ENDLESS_TURNS:
            found = _times(node.steps, step, times * (node.turns or 0))
            if found is not None:
                return found
    return None


def held_at_the_end(nodes: Sequence[Node], key: Key) -> set[int]:
    """How many objects of an end may be held when a body has ended, or its outermost loop has turned.

    Empty if none are held on any way, or the counts grow without an end.
    """
    held = {0}
    for node in nodes:
        held = _after(node, key, held)
    return held if any(held) and max(held) < _MOST_HELD else set()


def _after(node: Node, key: Key, held: set[int]) -> set[int]:
    if isinstance(node, Step):
        if node.key != key or node.many is None:
            return held
        count = node.many
        return {max(each, count) if node.acquires else max(each - count, 0) for each in held}
    if isinstance(node, Branch):
        return {each for way in node.ways for each in _through(way, key, held)}
    found = held if node.turns is None else set[int]()
    turned = held
    while not (turned := _through(node.steps, key, turned)) <= found:
        found = found | turned
        if node.turns == 1:
            break
    return found


def _through(nodes: Sequence[Node], key: Key, held: set[int]) -> set[int]:
    for node in nodes:
        held = _after(node, key, held)
    return held
