"""A host sequence beside the rounds of cores: what it moves through each object FIFO, and where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from memtile.arch.tiles import WORD_BYTES, TileKind
from memtile.explain.findings import Finding
from memtile.importers.kernels.cascade_counts import cascade_mends
from memtile.importers.kernels.lock_names import number_of
from memtile.importers.kernels.lock_steps import steps_of
from memtile.importers.kernels.round_flow import flow_findings
from memtile.importers.kernels.turn_balance import Balance, CoreRound
from memtile.importers.kernels.unmoved_fifos import unmoved_findings
from memtile.importers.kernels.unset_locks import unset_findings
from memtile.importers.mlir.configure import Configured
from memtile.importers.mlir.sequence.program import SequenceProgram
from memtile.runs.channel_addresses import channel_addresses
from memtile.runs.operations import MaskWrite, Operation, Write, locate
from memtile.runs.sent_words import sent_words
from memtile.runs.waits import pushed_channels
from memtile.sim.kernels.core_control import control_register


def uneven_findings(made: Configured, sequence: SequenceProgram) -> Iterator[Finding]:
    """What does not fit the objects that a host sequence sends and receives, or other cores.

    It is an object FIFO that the sequence leaves out, a loop, or transfers of the host.

    Args:
        made: the device in its array.
        sequence: its host sequence.
    """
    engine, kinds = made.array.engine, {tile.place: tile.kind for tile in made.array.tiles}
    if sequence.is_open or sequence.loads or any(_starts_core(kinds, step) for step in sequence.steps):
        return
    words: dict[int, int | None] = {}

    def sent(name: str) -> int | None:
        allocation = made.device.allocations.get(name)
        if allocation is None or not allocation.tile:
            return None
        if not words:
            words.update({-1: None, **sent_words(engine, kinds, sequence.steps)})
        tile = made.tiles[allocation.tile]
        channel = (tile.s2mm if allocation.direction == "S2MM" else tile.mm2s)[allocation.channel]
        many = words.get(channel.index)
        return None if many is None else many * WORD_BYTES

    def pushed(name: str) -> Sequence[str]:
        allocation = made.device.allocations[name]
        tile = made.tiles[allocation.tile]
        channel = (tile.s2mm if allocation.direction == "S2MM" else tile.mm2s)[allocation.channel]
        return [step.place for step in sequence.steps if channel.index in pushed_channels(engine, step)]

    def sets(name: str, value: int) -> Sequence[str]:
        lock = number_of(made, name)
        known = channel_addresses(engine).locks
        writes = [step for step in sequence.steps if isinstance(step, Write) and step.value == value]
        return [step.place for step in writes if known.get(step.address, -1) == lock]

    texts = {core.tile: steps_of(made.device, core) for core in made.device.cores if core.has_body}
    balance = Balance(made, [CoreRound.of(tile, nodes) for tile, nodes in texts.items()], sent, pushed)
    yield from unmoved_findings(made, texts, balance, pushed)
    yield from unset_findings(made, texts, balance, sets, pushed)
    turns = [*balance.findings(cascade_mends(made))]
    yield from turns or flow_findings(made, balance)


def _starts_core(kinds: Mapping[tuple[int, int] | None, TileKind], step: Operation) -> bool:
    """Whether a step may start a core again."""
    if not isinstance(step, Write | MaskWrite):
        return False
    at = locate(step.address)
    kind = kinds.get((at.column, at.row))
    return kind is not None and kind.role == "compute" and at.offset == control_register(kind.name).offset
