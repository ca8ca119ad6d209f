"""Why an object FIFO is too deep: which channel lacks descriptors, and who has them."""

from __future__ import annotations

from memtile.design.channels import Channel
from memtile.errors import Problem


def too_deep(name: str, depth: int, channel: Channel, bds: int, others: int) -> Problem:
    """The problem of a ring that has no place.

    Args:
        name: of the FIFO.
        depth: of its end.
        channel: that the ring is for.
        bds: that it needs.
        others: BDs of the same half that other rings of the same step need.
    """
    tile, number = channel.tile, channel.number
    half = tile.kind.bd_bank(number)
    free = max(tile.bd_pool.free(number) - others, 0)
    taken = tile.bd_pool.holders(number) | ({"other rings of this step": others} if others else {})
    has = ", ".join(f"{who} has {count}" for who, count in taken.items())
    whose = "for channels of its parity" if len(tile.kind.bd_banks) > 1 else "for all channels"
    return Problem(
        "depth",
        f"depth {depth}, which needs {bds} BDs",
        f"{free} BDs",
        f"depth {depth} needs {bds} BDs for {channel.port} of the {tile.title}, "
        f"of which {free} {'is' if free == 1 else 'are'} free",
        f"{has[:1].upper()}{has[1:]}. Give less depth, or fewer parts." if has else "Give less depth.",
        reason="object_fifo",
        where=f"object FIFO {name}",
        source=f"AM020: {len(half)} BDs {whose}",
    )
