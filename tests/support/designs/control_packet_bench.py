"""Control packets that a memory tile sends to itself, for tests; see ``memtile.testing.stream_bench``."""

from __future__ import annotations

from collections.abc import Sequence

from memtile.arch.packets import PacketOperation
from memtile.bd.descriptor import Descriptor, Packet
from memtile.bd.windows import OWN
from memtile.testing.stream_bench import Bench

WRITE, READ, INCREMENT, BLOCK = PacketOperation


def reachable(*, drop: bool = False) -> Bench:
    """MM2S 0 sends packets with id 3 to the tile's own control port; its answers go out at South 0."""
    bench = Bench("memory")
    bench.packets("DMA0", (3, 31, 0, 0))
    bench.collects("CTRL0", 0, 0, drop=drop)
    bench.packets("CTRL0", (0, 0, 0, 1))
    bench.collects("SOUTH0", 1, 0)
    bench.engine.catch_port(0, "SOUTH0")
    return bench


def send(bench: Bench, words: Sequence[int], *, tlast: bool = True) -> None:
    """One packet: the stream header is inserted by the channel, ``words`` follow."""
    bench.fill(0x8000, list(words))
    packet = Packet(3)
    bench.write_bd(
        0, Descriptor("memory", len(words), OWN.address(0x8000), packet=packet, tlast_suppress=not tlast)
    )
    bench.issue(bench.mm2s(), 0)
    bench.run()
