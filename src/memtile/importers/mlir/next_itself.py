"""Descriptors of a text that are followed by others than the next of their chain, or by themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from memtile.arch.tiles import DIRECTIONS
from memtile.explain.bd_findings import line_of
from memtile.explain.findings import CODES, Finding, Side
from memtile.explain.names import called
from memtile.explain.oddities import Suspect
from memtile.importers.kernels.lock_names import lock_name
from memtile.importers.mlir.configure import Configured
from memtile.importers.mlir.description import BdDescription, ChainDescription
from memtile.importers.mlir.forms.memory_forms import bd_of, next_label
from memtile.importers.mlir.tree import Operation, OperationBlock

_CODE = "MT0124"
_MEMORIES = ("aie.mem", "aie.memtile_dma", "aie.shim_dma")
_Blocks = Mapping[str, OperationBlock]


def next_findings(made: Configured) -> Iterator[Finding]:
    """One finding for each BD whose chain leaves out others of its work, or goes on with those of another.

    Either BDs come before it that the chain never comes back to, or there are BDs that lead to it and that
    nothing leads to. A ring of several BDs leaves out those before it only if all do the same work in turn.
    """
    blocks = dict(_blocks(made.device.operation))
    for chain in made.device.chains:
        into = _into_another(made, chain)
        if into is not None:
            yield into
            continue
        last = chain.bds[-1] if chain.bds else None
        if last is None or last.next is None or chain.operation.name != "aie.dma_start":
            continue
        if last.next < len(chain.bds) - 1:
            same = last.next and all(_does_the_same(made, bd, last) for bd in chain.bds)
            if same and _counts_all(made, chain):
                found = _finding(made, chain, last, chain.bds[0])
                yield _suspected(found, made, last)
            continue
        around = blocks.get(id(last.operation.parent), {})
        following = _left_out(last, around, made) if len(chain.bds) == 1 else chain.bds[0]
        if following is not None and (len(chain.bds) == 1 or _alike(made, following, last)):
            yield _finding(made, chain, last, following)


def _into_another(made: Configured, chain: ChainDescription) -> Finding | None:
    """The finding of a chain that goes on with the first BD of a channel of the other direction."""
    others = {
        id(each.bds[0].operation): each
        for each in made.device.chains
        if each.bds and each.tile == chain.tile and each.direction != chain.direction
    }
    for bd, following in pairwise(chain.bds):
        other = others.get(id(following.operation))
        if other is None or id(bd.operation) in {id(each.operation) for each in other.bds}:
            continue
        who, its = _called(made, chain), _called(made, other)
        does = f"BD {bd.number} is followed by the first BD of {its} (aie.next_bd)"
        place, first = _place(bd), line_of(_place(chain.bds[0]))
        message = f"{who}: {does} at {line_of(place)}, and the BD of {first} is never run again."
        fix = f"Let it be followed by the BD of {first}."
        sides = (Side(who, does, place), Side(its, "has that BD", _place(following)))
        return Finding(_CODE, CODES[_CODE].severity, message, sides, fix=fix)
    return None


def _called(made: Configured, chain: ChainDescription) -> str:
    tile, direction = made.tiles[chain.tile], DIRECTIONS.index(chain.direction)
    return called(tile.engine, (tile.s2mm, tile.mm2s)[direction][chain.channel].index)


def _alike(made: Configured, one: BdDescription, other: BdDescription) -> bool:
    """Whether two BDs do the same work in turn: what comes once alone moves something else."""
    buffers = [made.device.buffers.get(bd.buffer) for bd in (one, other)]
    shapes = {None if buffer is None else buffer.shape for buffer in buffers}
    moved = {(bd.offset, bd.length, *bd.levels) for bd in (one, other)}
    return one.acquire == other.acquire or len(shapes) == len(moved) == 1


def _does_the_same(made: Configured, one: BdDescription, other: BdDescription) -> bool:
    """Whether two BDs move as much with the same locks."""
    return (
        one.acquire is not None
        and one.acquire == other.acquire
        and one.release == other.release
        and (_alike(made, one, other) and (one.offset, one.length) == (other.offset, other.length))
    )


def _counts_all(made: Configured, chain: ChainDescription) -> bool:
    """Whether a lock starts with as many buffers as a ring would have with its first BD."""
    uses = [use for use in (chain.bds[0].acquire, chain.bds[0].release) if use is not None]
    locks = [(made.device.locks.get(use.lock), use.value) for use in uses]
    return any(lock is not None and lock.initial == len(chain.bds) * many for lock, many in locks)


def _suspected(finding: Finding, made: Configured, last: BdDescription) -> Suspect:
    """The finding of a ring, which explains waits of its channel and for its locks."""
    locks = [lock_name(made, use.lock) for use in (last.acquire, last.release) if use is not None]
    names = [(each,) for each in (finding.sides[0].who.partition(" '")[0], *locks)]
    return Suspect(
        finding.code,
        finding.severity,
        finding.message,
        finding.sides,
        fix=finding.fix,
        waiting=names,
        by_lock=True,
    )


def _blocks(device: Operation) -> Iterator[tuple[int, _Blocks]]:
    """By each block of the DMA of a tile all blocks of the same region, by their labels."""
    for region in device.regions:
        for block in region.blocks:
            for memory in block.operations:
                for inner in memory.regions if memory.name in _MEMORIES else ():
                    labels = {each.label: each for each in inner.blocks}
                    yield from ((id(each), labels) for each in inner.blocks)


def _left_out(bd: BdDescription, blocks: _Blocks, made: Configured) -> BdDescription | None:
    """The first of the BDs that lead to a BD and that no chain has."""
    used = {id(each.operation.parent) for chain in made.device.chains for each in chain.bds}
    for label, block in blocks.items():
        found = None if id(block) in used else bd_of(block.operations)
        if found is not None and _leads_to(label, bd, blocks):
            return found
    return None


def _leads_to(label: str, bd: BdDescription, blocks: _Blocks) -> bool:
    """Whether one comes from a block to that of a BD."""
    seen = set[str]()
    following: str | None = label
    while following in blocks and following not in seen:
        assert following is not None
        seen.add(following)
        if blocks[following] is bd.operation.parent:
            return True
        following = next_label(blocks[following])
    return False


def _finding(made: Configured, chain: ChainDescription, bd: BdDescription, other: BdDescription) -> Finding:
    who = _called(made, chain)
    place, there = _place(bd), line_of(_place(other))
    itself = bd.next == len(chain.bds) - 1
    following = "itself" if itself else f"BD {chain.bds[bd.next or 0].number} again"
    does = f"BD {bd.number} is followed by {following} (aie.next_bd)"
    why = (
        f"the BD of {there} is never run again"
        if len(chain.bds) > 1
        else f"nothing leads to the BD of {there}"
    )
    fix = f"Let it be followed by the BD of {there}."
    side = Side(who, does, place)
    message = f"{who}: {does} at {line_of(place)}, and {why}."
    return Finding(_CODE, CODES[_CODE].severity, message, (side,), fix=fix)


def _place(bd: BdDescription) -> str:
    tokens = bd.operation.tokens
    return tokens.text.where(tokens.offset(bd.operation.at))
