"""Control packets: whether they do the same in every order.

A tile's handler does one packet after another, in the order of its stream. So it does the same in every order
if the words of its stream are the same: one channel sends them, out of external memory that nobody of the
array writes. What it does then is that of a host that waits for nothing: a value for a lock is as good as a
release if the lock is 0 and gets nothing else; a word of data memory that it reads or writes is a matter of
words. All else is outside, as it would change the parts themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from memtile.arch.tiles import MM2S
from memtile.explain.names import called
from memtile.explain.orders.stream_orders import StreamOrders
from memtile.explain.switch_ways import configured_ways, reached
from memtile.jit.tables import plain
from memtile.model.checking.notes import FIRST_CHANNEL
from memtile.sim.kernels.kernel_core import place
from memtile.sim.loop.engine import Engine
from memtile.sim.races.order_book import OrderBook


class PacketOrders:
    """Looks at the control packets of a run that came to rest.

    Args:
        engine: the model.
        book: what the run did.
        streams: of the run.
    """

    def __init__(self, engine: Engine, book: OrderBook, streams: StreamOrders) -> None:
        self._engine, self._book, self._streams = engine, book, streams

    def reasons(self) -> Iterator[str]:
        """What control packets could do otherwise in another order, so that the run may end otherwise."""
        packets = self._book.packets
        if packets.pauses:
            yield "the run was paused"
        if packets.unknown:
            yield "control packets use registers other than those of locks"
        if packets:
            yield from self._made()
        if packets.words:
            yield from self._answers()

    def of_words(self) -> Iterator[str]:
        """What hangs on when they act, for words alone."""
        if self._book.packets:
            yield "nothing is known of what control packets and others do to the same words"

    def _made(self) -> Iterator[str]:
        """Control packets that the run itself makes, or changes."""
        c, written = self._engine.channels, {agent for pair in self._book.shared_outside() for agent in pair}
        outside = np.flatnonzero((c.direction == MM2S) & (c.external >= 0)).tolist()
        senders = {int(c.switch_port[ch]): ch for ch in outside}
        for port in self._ports("master_port"):
            for source in self._streams.sources(port):
                ch = senders.get(source)
                if ch is None:
                    yield f"control packets of {self._place(port)} come out of the array"
                elif FIRST_CHANNEL + ch in written:
                    yield f"the run writes words that {called(self._engine, ch)} may send as control packets"

    def _answers(self) -> Iterator[str]:
        """Tiles whose answers to reads share their way with tokens, or are left on it."""
        c, switch = self._engine.channels, plain(self._engine.state.switch)
        asked = {int(switch.tile[port]) for port in self._ports("master_port")}
        for port in (each for each in self._ports("slave_port") if switch.tile[each] in asked):
            tokens = bool(c.task_token[c.tile == switch.tile[port]].any())
            if tokens or len(self._streams.ends([port])) > 1:
                yield f"answers to control packets and tokens of {self._place(port)} leave by the same port"
            elif switch.held[reached([port], partial(configured_ways, self._engine))].any():
                yield f"answers to control packets of {self._place(port)} are left on their way"

    def _ports(self, which: str) -> list[int]:
        """The tile-control ports that words came through."""
        ports = np.asarray(getattr(plain(self._engine.state.controls), which))
        return [int(port) for port in ports if port >= 0 and self._streams.is_live(int(port))]

    def _place(self, port: int) -> str:
        tile = int(plain(self._engine.state.switch).tile[port])
        return f"tile {place(self._engine.spec, tile)}"
