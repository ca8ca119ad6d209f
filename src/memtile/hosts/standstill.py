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
from memtile.hosts.address_space import POLLS
from memtile.hosts.notices import Notice
from memtile.model.state.causes import Phase
from memtile.runs.waits import polled_channel
from memtile.sim.engine import Engine


def why_nothing_changes(engine: Engine, address: int) -> Iterator[Notice]:
    """The notices for a client that has read ``POLLS`` times the same at an absolute byte address."""
    if not 0 <= address - ARRAY_BASE < ARRAY_BYTES:
        return
    channels = tuple(polled_channel(engine, address - ARRAY_BASE))
    if not channels or engine.channels.phase[channels[0]] == Phase.IDLE:
        return
    text = f"the client: has read {address:#x} {POLLS} times, and nothing changes"
    client = HostWaiting("the client", text, channels, Via.END, frozenset())
    found = hang(engine, BdChains(engine), Open(hosts=[client]), {}, quiet=False, timed=True)
    for finding in found.findings:
        yield Notice("hangs", finding.message, str(finding))
