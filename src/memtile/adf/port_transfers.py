"""Tilings of a port as descriptors: what one turn of a buffer moves, under its locks.

A list of tilings is one turn: the first descriptor takes the lock, the last one gives it (XD100,
tutorial 07). A descriptor gives one lock: where a turn gives several, descriptors without words follow
(DEV-BD-3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from memtile.access.lowering.lower import Access
from memtile.access.tiling import NO_PORT, TilingParameters, TraversingParameters
from memtile.adf.buffer_turns import Turn
from memtile.adf.description import Tiling
from memtile.bd.descriptor import Descriptor, Packet
from memtile.design.buffers import Buffer
from memtile.design.channels import Channel
from memtile.design.packet_bus import PacketStream
from memtile.design.tile import Tile
from memtile.design.transfers import Transfer
from memtile.errors import DesignError


def tiling_of(tiling: Tiling) -> TilingParameters:
    """A tiling of a graph as the package has it, of elements."""
    return TilingParameters(
        tiling.buffer_dimension,
        tiling.tiling_dimension,
        tiling.offset,
        tuple(TraversingParameters(each.dimension, each.stride, each.wrap) for each in tiling.tile_traversal),
        tiling.packet_port_id,
        tiling.boundary_dimension,
        tiling.repetition,
        tiling.phase,
    )


def descriptor_tiling(tiling: Tiling, words: int) -> TilingParameters:
    """``buffer_descriptor`` as a tiling of the ``words`` of a buffer: its last step goes on to the length."""
    loops, inner, steps = [], 1, tiling.steps or ((1, 0),)
    for number, (stride, wrap) in enumerate(steps):
        is_last = number == len(steps) - 1
        times = -(-tiling.length // inner) if is_last and tiling.length else wrap
        loops.append(TraversingParameters(0, stride, times))
        inner *= times
    return TilingParameters(
        buffer_dimension=(words,),
        tiling_dimension=(1,),
        offset=tiling.offset[:1],
        tile_traversal=tuple(loops),
        packet_port_id=tiling.packet_port_id,
        repetition=tiling.repetition,
    )


def turn_transfers(
    tile: Tile, buffer: Buffer, tilings: Sequence[Tiling], access: Access
) -> tuple[Transfer, ...]:
    """What a port moves in one turn of a buffer: a chain of one run.

    Args:
        tile: whose DMA moves it.
        buffer: of this tile, or of a neighbour that it reaches.
        tilings: of the port; empty = the buffer in a row.
        access: ``read`` or ``write``.

    Raises:
        TransferError: a tiling that no descriptors can express.
    """
    move = tile.read if access == "read" else tile.write
    if not tilings:
        return (move(buffer, None, iteration=False),)
    in_words = replace(buffer, shape=(buffer.words,), dtype=np.dtype(np.uint32))
    return tuple(
        move(in_words, descriptor_tiling(each, buffer.words), iteration=False)
        if each.is_older
        else move(buffer, tiling_of(each), iteration=False)
        for each in tilings
    )


def guarded(tile: Tile, transfers: Sequence[Transfer], turn: Turn) -> tuple[Transfer | Descriptor, ...]:
    """The transfers of one turn, with what they do with locks.

    Args:
        tile: whose DMA makes them.
        transfers: in order.
        turn: the lock operations.
    """
    found = list(transfers)
    if turn.acquire is not None:
        found[0] = found[0].guarded(acquire=tile.seen(turn.acquire).acquire(turn.count))
    releases = [tile.seen(lock).release() for lock in turn.releases]
    if releases:
        found[-1] = found[-1].guarded(release=releases[0])
    last = found[-1].descriptors[-1]
    more = [Descriptor(last.tile, 0, last.address, release=release) for release in releases[1:]]
    return (*found, *more)


def start_ring(channel: Channel, name: str, turns: Sequence[Sequence[Transfer | Descriptor]]) -> None:
    """Start the turns of all buffers of a port, without end.

    Args:
        channel: that moves the port's data.
        name: of the port, for messages.
        turns: per buffer what :func:`guarded` made.

    Raises:
        DesignError: the channel has too few free descriptors.
    """
    work = [piece for turn in turns for piece in turn]
    bds = sum(len(_descriptors(piece)) for piece in work)
    free = channel.tile.bd_pool.free(channel.number)
    if bds > free:
        banks = len(channel.tile.kind.bd_banks)
        raise DesignError.of(
            "descriptors",
            f"{bds} descriptors",
            f"{free} free",
            f"its {len(turns)} buffer{'s' * (len(turns) != 1)} need {bds} descriptors of {channel.name}, "
            f"of which {free} are free",
            "Use another DMA channel" + (", of the other parity," * (banks > 1)) + " or fewer tilings.",
            reason="adf_descriptors",
            where=name,
            source=f"AM020: {len(channel.tile.kind.bd_bank(channel.number))} descriptors for this channel",
        )
    channel.start(*work, loop=True)
    channel.named(name)


def _descriptors(piece: Transfer | Descriptor) -> Sequence[Descriptor]:
    return piece.descriptors if isinstance(piece, Transfer) else (piece,)


def as_packet(stream: PacketStream, transfer: Transfer) -> Transfer:
    """The transfer as one packet: a header before its first word, TLAST after its last one.

    Args:
        stream: of the packet bus.
        transfer: of one run.
    """
    *before, last = transfer.descriptors
    pieces = [*(each.but(tlast_suppress=True) for each in before), last]
    pieces[0] = pieces[0].but(packet=Packet(stream.id))
    return replace(transfer, descriptors=tuple(pieces), port=NO_PORT)
