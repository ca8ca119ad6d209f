"""What a device is made of as data that can be compared: buffers, locks, DMA chains, streams, named channels.

One comes from a description that our importer has lowered, one from what a test of mlir-aie expects. What the
test leaves open is None, and names are only what joins a chain to its buffers and locks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

from memtile.importers.mlir.description import BdDescription, DeviceDescription, EndDescription, LockUse
from support.lowering.filecheck import ANY

Place = tuple[int, int] | None


class BufferPart(NamedTuple):
    """A buffer: the place of its tile, its type, the values that it begins with."""

    tile: Place
    kind: str | None
    initial: tuple[float, ...] | None = None


class LockPart(NamedTuple):
    """A lock: the place of its tile and its value at the start."""

    tile: Place
    initial: int | None


class LockAction(NamedTuple):
    """What a BD does to a lock."""

    lock: str
    action: str
    value: int | None


class BdPart(NamedTuple):
    """A BD of a chain; ``following`` is the place of the next one in the chain, -1 at its end."""

    buffer: str
    offset: int | None
    length: int | None
    levels: tuple[tuple[int, int], ...] | None
    padding: tuple[tuple[int, int], ...] | None
    acquire: LockAction | None
    release: LockAction | None
    packet: tuple[int, int] | None
    following: int | None


class ChainPart(NamedTuple):
    """What a channel begins with; ``partly`` if only its first BDs are known."""

    tile: Place
    direction: str
    channel: int | None
    repeat: int
    bds: tuple[BdPart, ...]
    pad_value: int | None = 0
    partly: bool = False


class FlowPart(NamedTuple):
    """A stream from one port to another; ``packet`` is None for a circuit."""

    source: tuple[Place, str, int]
    target: tuple[Place, str, int]
    packet: int | None = None


class ChannelPart(NamedTuple):
    """A channel of an interface tile that a host names."""

    tile: Place
    direction: str
    channel: int
    packet: tuple[int, int] | None = None


@dataclass(slots=True)
class Machine:
    """What a device is made of.

    Attributes:
        buffers: by name.
        locks: by name.
        chains: in order.
        flows: in order.
        channels: by their symbol.
        complete: nothing else may be there.
        given: names that the text itself declares.
    """

    buffers: dict[str, BufferPart] = field(default_factory=dict)
    locks: dict[str, LockPart] = field(default_factory=dict)
    chains: list[ChainPart] = field(default_factory=list)
    flows: list[FlowPart] = field(default_factory=list)
    channels: dict[str, ChannelPart] = field(default_factory=dict)
    complete: bool = True
    given: set[str] = field(default_factory=set)

    @property
    def empty(self) -> bool:
        """Whether there is nothing that could be compared."""
        return not (self.buffers or self.locks or self.chains or self.flows or self.channels)


def own_machine(device: DeviceDescription) -> Machine:
    """The machine of a description whose object FIFOs are lowered."""
    places: dict[str, Place] = {name: tile.place for name, tile in device.tiles.items()}
    made = Machine()
    for name, buffer in device.buffers.items():
        kind = f"memref<{''.join(f'{n}x' for n in buffer.shape.shape)}{buffer.shape.element}>"
        initial = None if buffer.initial is None else tuple(map(float, buffer.initial))
        if initial is not None and len(initial) == 1:
            initial *= buffer.shape.elements
        made.buffers[name] = BufferPart(places.get(buffer.tile), kind, initial)
        made.given |= {name} if "buffer" in buffer.operation.name else set()
    for name, lock in device.locks.items():
        made.locks[name] = LockPart(places[lock.tile], lock.initial)
        made.given |= {name} if lock.operation.name == "aie.lock" else set()
    for chain in device.chains:
        bds = tuple(_bd(device, bd) for bd in chain.bds)
        made.chains.append(
            ChainPart(places[chain.tile], chain.direction, chain.channel, chain.repeat, bds, chain.pad_value)
        )
    for flow in device.flows:
        for source in flow.sources:
            for target in flow.targets:
                made.flows.append(FlowPart(_end(places, source), _end(places, target), flow.packet))
    for name, each in device.allocations.items():
        tile = places[each.tile] if each.tile else (each.column or 0, 0)
        made.channels[name] = ChannelPart(tile, each.direction, each.channel, each.packet)
    return made


def _end(places: dict[str, Place], end: EndDescription) -> tuple[Place, str, int]:
    return places[end.tile], end.bundle, end.channel


def _bd(device: DeviceDescription, bd: BdDescription) -> BdPart:
    length = device.buffers[bd.buffer].shape.elements if bd.length is None else bd.length
    return BdPart(
        bd.buffer,
        bd.offset,
        length,
        tuple(map(tuple, bd.levels)),  # type: ignore[arg-type]
        tuple(map(tuple, bd.padding)),  # type: ignore[arg-type]
        _action(bd.acquire),
        _action(bd.release),
        bd.packet,
        -1 if bd.next is None else bd.next,
    )


def _action(use: LockUse | None) -> LockAction | None:
    return None if use is None else LockAction(use.lock, use.action, use.value)


def expanded(machine: Machine) -> Machine:
    """The same machine in another form: a ring of one BD that is repeated is a ring of copies of it."""
    return replace(machine, chains=[_copies(chain) for chain in machine.chains])


def _copies(chain: ChainPart) -> ChainPart:
    if len(chain.bds) != 1 or chain.bds[0].following != 0 or not chain.repeat:
        return chain
    many = chain.repeat + 1
    bds = tuple(chain.bds[0]._replace(following=(number + 1) % many) for number in range(many))
    return chain._replace(repeat=0, bds=bds)


def differences(expected: Machine, own: Machine) -> list[str]:
    """What is not as expected, a sentence each; none if the machines are the same."""
    return _Comparison(expected, own).done()


class _Comparison:
    def __init__(self, expected: Machine, own: Machine) -> None:
        self.expected, self.own = expected, own
        self.found: list[str] = []
        self.buffers: dict[str, str] = {}
        self.locks: dict[str, str] = {}

    def done(self) -> list[str]:
        self._chains()
        self._rest("buffer", self.expected.buffers, self.own.buffers, self.buffers)
        self._rest("lock", self.expected.locks, self.own.locks, self.locks)
        self._counted("flow", self.expected.flows, self.own.flows)
        self._channels()
        return self.found

    def _chains(self) -> None:
        left = list(self.own.chains)
        for chain in self.expected.chains:
            key = chain.tile, chain.direction, chain.channel
            fitting = [each for each in left if _fits(key, (each.tile, each.direction, each.channel))]
            one = min(fitting, key=partial(self._misfits, chain), default=None)
            if one is None:
                self.found.append(f"{_title(chain)} is not there")
                continue
            left.remove(one)
            self._chain(chain, one)
        for chain in left:
            if self.expected.complete:
                self.found.append(f"{_title(chain)} is there, {len(chain.bds)} BDs")

    def _misfits(self, wanted: ChainPart, chain: ChainPart) -> int:
        """How many differences there would be if this were the chain."""
        trial = _Comparison(self.expected, self.own)
        trial.buffers, trial.locks = dict(self.buffers), dict(self.locks)
        trial._chain(wanted, chain)
        return len(trial.found)

    def _chain(self, wanted: ChainPart, chain: ChainPart) -> None:
        title = _title(chain)
        if wanted.repeat != chain.repeat:
            self.found.append(f"{title} repeats {chain.repeat} times, not {wanted.repeat}")
        if wanted.pad_value not in (None, chain.pad_value):
            self.found.append(f"{title} pads with {chain.pad_value}, not {wanted.pad_value}")
        if len(wanted.bds) != len(chain.bds) and not wanted.partly and wanted.bds:
            self.found.append(f"{title} has {len(chain.bds)} BDs, not {len(wanted.bds)}")
            return
        for number, (one, other) in enumerate(zip(wanted.bds, chain.bds, strict=False)):
            where = f"{title} BD {number}"
            self._same(self.buffers, one.buffer, other.buffer, where)
            self._action(one.acquire, other.acquire, f"{where} acquire")
            self._action(one.release, other.release, f"{where} release")
            for name in ("offset", "length", "levels", "padding", "packet", "following"):
                want, have = getattr(one, name), getattr(other, name)
                if name == "following" and wanted.partly:
                    continue
                if want != have and (want is not None or name == "packet"):
                    self.found.append(f"{where}: {name} is {have}, not {want}")

    def _action(self, wanted: LockAction | None, action: LockAction | None, where: str) -> None:
        if wanted is None or action is None:
            if wanted != action and (self.expected.complete or wanted is not None):
                self.found.append(f"{where} is {action}, not {wanted}")
            return
        self._same(self.locks, wanted.lock, action.lock, where)
        if not _fits((wanted.action, wanted.value), (action.action, action.value)):
            self.found.append(f"{where} is {action[1:]}, not {wanted[1:]}")

    def _same(self, known: dict[str, str], wanted: str, own: str, where: str) -> None:
        """Each expected name stands for one of ours, and no two for the same."""
        if ANY in wanted:
            return
        before = known.setdefault(wanted, own)
        if before != own or (wanted in known and list(known.values()).count(own) > 1):
            self.found.append(f"{where} uses {own}, not {before if before != own else wanted}")

    def _rest(
        self,
        what: str,
        wanted: dict[str, BufferPart] | dict[str, LockPart],
        own: dict[str, BufferPart] | dict[str, LockPart],
        known: dict[str, str],
    ) -> None:
        """Buffers or locks: those that chains have joined, then the others as sets."""
        left: dict[str, tuple[object, ...]] = dict(own)
        open_ = []
        for name, part in wanted.items():
            if name not in known:
                open_.append((name, part))
                continue
            mine = left.pop(known[name], None)
            if mine is None or not _fits(part, mine):
                self.found.append(f"{what} {known[name]} is {mine}, not {part}")
        for name, part in open_:
            same = name if name in left and _fits(part, left[name]) else None
            match = same or next((n for n, mine in left.items() if _fits(part, mine)), None)
            if match is None:
                self.found.append(f"{what} {name}, {part}, is not there")
            else:
                del left[match]
        unknown = [
            name
            for name in left
            if name not in known.values() and name not in self.own.given and not _is_idle(own[name])
        ]
        if self.expected.complete:
            self.found += [f"{what} {name}, {own[name]}, is there" for name in unknown]

    def _counted(self, what: str, wanted: Sequence[FlowPart], own: Sequence[FlowPart]) -> None:
        left = Counter(own)
        for each in wanted:
            one = next((mine for mine, many in left.items() if many and _fits_deep(each, mine)), None)
            if one is None:
                self.found.append(f"{what} {each} is not there")
            else:
                left[one] -= 1
        if self.expected.complete and wanted:
            self.found += [f"{what} {each} is there" for each in left.elements()]

    def _channels(self) -> None:
        for name, part in self.expected.channels.items():
            mine = self.own.channels.get(name)
            if mine is None or not _fits(part[:3], mine[:3]) or part.packet != mine.packet:
                self.found.append(f"channel {name} is {mine}, not {part}")


def _is_idle(part: BufferPart | LockPart) -> bool:
    """Whether it is a lock of an interface tile that nothing can take; tests leave some of these out."""
    return isinstance(part, LockPart) and part.initial == 0 and part.tile is not None and part.tile[1] == 0


def _fits(wanted: Iterable[object], own: Iterable[object]) -> bool:
    """Whether each part is as expected, None for any."""
    return all(one is None or one == other for one, other in zip(wanted, own, strict=True))


def _fits_deep(wanted: FlowPart, own: FlowPart) -> bool:
    return (
        _fits(wanted.source, own.source) and _fits(wanted.target, own.target) and wanted.packet == own.packet
    )


def _title(chain: ChainPart) -> str:
    place = "?" if chain.tile is None else f"{chain.tile[0]},{chain.tile[1]}"
    return f"({place}) {chain.direction} {chain.channel}"
