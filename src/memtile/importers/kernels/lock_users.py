"""Who acquires and releases which locks in each turn, by the text alone: cores and chains of BDs.

A turn is a pass through a loop of a core, or through the BDs of a chain. Not all users are known of a lock
that a host sequence, a function of another file, or one way through a body uses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memtile.arch.register_map import register_at
from memtile.arch.tiles import COLUMN_SHIFT, ROW_SHIFT
from memtile.explain.evidence import AdvisedUnits, Evidence
from memtile.explain.names import channel_name
from memtile.importers.kernels.core_locks import released_by_core
from memtile.importers.kernels.lock_names import core_text, tile_of
from memtile.importers.kernels.lock_steps import Branch, Loop, Node, Step, all_steps
from memtile.importers.mlir.configure import Configured
from memtile.importers.mlir.description import BdDescription, ChainDescription, DeviceDescription
from memtile.importers.mlir.forms.operands import OperationForm, constant
from memtile.importers.mlir.tree import Operation

_HOST_WRITES = ("aiex.npu.writebd", "aiex.npu.blockwrite", "aiex.npu.write32", "aiex.npu.maskwrite32")
_OF_LOCKS = ("Lock", "DMA_BD")
"""Parts of the names of registers that change a lock, or make a BD that may use one."""

_CONTROL = "TileControl"

Texts = Mapping[str, Sequence[Node]]
"""Steps of cores, by the value of their tile."""


class Act(NamedTuple):
    """An acquire or a release.

    Attributes:
        lock: name of its value.
        acquires: whether it is an acquire.
        many: units.
        operation: that says it: of a BD the BD itself.
        buffer: of a BD.
    """

    lock: str
    acquires: bool
    many: int
    operation: Operation
    buffer: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """What is done to locks in a turn of a loop or a chain, loops within left out.

    Attributes:
        acts: in order.
        again: whether there is more than one turn.
        often: how many turns there are in all; None = the text does not say it.
        bds: of a chain.
    """

    acts: tuple[Act, ...]
    again: bool
    often: int | None = None
    bds: Sequence[BdDescription] = ()


@dataclass(frozen=True, slots=True)
class LockUser:
    """A core or a chain.

    Attributes:
        name: as findings have it.
        turns: of its loops, outermost first.
        direction: of a chain; empty of a core.
        ended: model index of the tile of a core; -1 of a chain.
    """

    name: str
    turns: tuple[Turn, ...]
    direction: str = ""
    ended: int = -1


def lock_users(made: Configured, texts: Texts) -> tuple[list[LockUser], set[str]]:
    """The users of all locks that the text declares, and the locks that have others which are not known.

    Args:
        made: the device in its array.
        texts: steps of all cores, by tile.
    """
    device = made.device
    unknown = {name for name, lock in device.locks.items() if lock.operation.name != "aie.lock"}
    controlled = _controlled(device)
    unknown |= {name for name, lock in device.locks.items() if lock.tile in controlled}  # by packets
    users = [_chain(made, chain) for chain in device.chains]
    for core in device.cores:
        if core.tile not in texts or released_by_core(made, core) is None:
            return [], set(device.locks)
        nodes = texts[core.tile]
        unknown |= _not_followed(nodes)
        turns = tuple(_turns(nodes, again=False, often=1))
        users.append(LockUser(core_text(made, core), turns, "", tile_of(made, core)))
    said = {each for chain in device.chains for bd in chain.bds for each in _block(bd)}
    for sequence in device.sequences.values():
        for operation in sequence.walk():
            if operation.name == "aie.use_lock" and operation not in said:
                unknown |= set(operation.words) & device.locks.keys()
            else:
                unknown |= locks_written(made, operation)
    return users, unknown


def units_of(act: Act) -> Evidence:
    """Return the units of an act as what a finding advises of it.

    Args:
        act: with the units that it should have.
    """
    return Evidence(units=AdvisedUnits(act.operation.line, act.lock, act.acquires, act.many))


def _controlled(device: DeviceDescription) -> set[str]:
    """The tiles whose registers packets may write: flows or switch settings lead to their control port."""
    found = {end.tile for flow in device.flows for end in flow.targets if end.bundle == _CONTROL}
    for switch in device.switches:
        masters = [bundle for bundle, *_ in switch.masters] + [bundle for *_, bundle, _ in switch.circuits]
        if _CONTROL in masters:
            found.add(switch.tile)
    return found


def locks_written(made: Configured, operation: Operation) -> set[str]:
    """Locks of the tile whose registers a host writes, which may change them or make a BD that uses them."""
    if operation.name not in _HOST_WRITES and not operation.name.endswith("set_lock"):
        return set()
    form = OperationForm(operation)
    given = form.attributes
    if "buffer" in given:
        return set()  # data memory
    address: object = given.get("address")
    if address is None and operation.name != "aiex.npu.writebd" and form.values:
        address = constant(operation, form.values[0])
    place = given.get("column"), given.get("row")
    if not isinstance(address, int):
        address = None
    elif None in place:
        place = address >> COLUMN_SHIFT, address >> ROW_SHIFT & (1 << COLUMN_SHIFT - ROW_SHIFT) - 1
    if None in place:
        return set(made.device.locks)
    tile = next((each for each in made.tiles.values() if each.place == place), None)
    if tile is not None and address is not None:
        register = register_at(tile.kind.name, address & (1 << ROW_SHIFT) - 1)
        if register is not None and not any(part in register.name for part in _OF_LOCKS):
            return set()
    return {name for name, lock in made.locks.items() if lock.place == place}


def _chain(made: Configured, chain: ChainDescription) -> LockUser:
    tile = made.tiles[chain.tile]
    channel = (tile.s2mm if chain.direction == "S2MM" else tile.mm2s)[chain.channel]
    acts: list[Act] = []
    for bd in chain.bds:
        for use, acquires in ((bd.acquire, True), (bd.release, False)):
            if use is not None:
                acts.append(Act(use.lock, acquires, use.value, bd.operation, bd.buffer))
    rings = any(bd.next is not None and bd.next <= number for number, bd in enumerate(chain.bds))
    turn = Turn(tuple(acts), rings or chain.repeat > 0, None if rings else chain.repeat + 1, chain.bds)
    return LockUser(channel_name(tile.engine, channel.index), (turn,), chain.direction)


def _block(bd: BdDescription) -> Sequence[Operation]:
    return bd.operation.parent.operations if bd.operation.parent is not None else ()


def _not_followed(nodes: Sequence[Node]) -> set[str]:
    """Locks that a body uses on some of its ways alone, or by an amount that only a run knows."""
    found = {step.key.name for step in all_steps(nodes) if step.many is None}
    for node in nodes:
        if isinstance(node, Branch):
            found |= {step.key.name for way in node.ways for step in all_steps(way)}
        elif isinstance(node, Loop):
            found |= _not_followed(node.steps)
    return found


def _turns(nodes: Sequence[Node], *, again: bool, often: int | None) -> Iterator[Turn]:
    steps = [node for node in nodes if isinstance(node, Step) and not node.key.port]
    acts = tuple(Act(each.key.name, each.acquires, each.many or 0, each.operation) for each in steps)
    if acts:
        yield Turn(acts, again, often)
    for node in nodes:
        if isinstance(node, Loop):
            total = None if often is None or node.turns is None else often * node.turns
            yield from _turns(node.steps, again=again or node.turns != 1, often=total)
