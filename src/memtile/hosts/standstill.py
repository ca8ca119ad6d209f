"""A client that polls a channel which nobody can help any more: it is told why, once.

Who only has registers sees a time-out. When the status of a channel has been read ``POLLS`` times in a row
and was always the same, the waits of the channel are followed; what is at work is left out, so that what is
named would be so for ever if the client went on reading.
"""

from __future__ import annotations

from collections.abc import Iterator

from memtile.arch.address_map import ARRAY_BASE, ARRAY_BYTES
from memtile.explain.bd_chains import BdChains
from memtile.explain.deadlock.find import Open, hang
from memtile.explain.deadlock.graph import Via
from memtile.explain.deadlock.hosts import HostWaiting
from memtile.hosts.notices import Notice
from memtile.io.program.host_waits import polled_channel
from memtile.model.state.causes import Phase
from memtile.sim.engine import Engine

POLLS = 25
"""Equal reads in a row after which a client waits: at 200 cycles each beyond all latencies of the array."""


class Standstill:
    """Watches the reads of clients.

    Args:
        engine: of the array.

    Attributes:
        stands: whether the last read was the one after which a client waits.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._last, self._times, self.stands = (-1, -1), 0, False

    def read(self, address: int, value: int) -> Iterator[Notice]:
        """The notices that a read of ``value`` at an absolute byte address leads to, most often none."""
        self._times = self._times + 1 if (address, value) == self._last else 1
        self._last, self.stands = (address, value), self._times == POLLS
        if self._times == POLLS and 0 <= address - ARRAY_BASE < ARRAY_BYTES:
            yield from self._why(address)

    def _why(self, address: int) -> Iterator[Notice]:
        channels = tuple(polled_channel(self._engine, address - ARRAY_BASE))
        if not channels or self._engine.channels.phase[channels[0]] == Phase.IDLE:
            return
        text = f"the client: has read {address:#x} {POLLS} times, and nothing changes"
        client = HostWaiting("the client", text, channels, Via.END, frozenset())
        work = Open(hosts=[client])
        found = hang(self._engine, BdChains(self._engine), work, {}, quiet=False, timed=True)
        for finding in found.findings:
            yield Notice("hangs", finding.message, str(finding))
