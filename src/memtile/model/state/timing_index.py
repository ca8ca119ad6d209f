"""Positions of the timing constants in ``Spec.timing``, in the order of ``arch.timing.Timing``."""

from __future__ import annotations

from dataclasses import fields

from memtile.arch.timing import Timing

_ORDER = tuple(f.name for f in fields(Timing))

TASK_START = _ORDER.index("task_start")
FINISHED_BD_DELAY = _ORDER.index("finished_bd_delay")
NEIGHBOUR_LATENCY = _ORDER.index("neighbour_latency")
COUNT_FIFO_WORDS = _ORDER.index("count_fifo_words")
PACKET_ARBITRATION = _ORDER.index("packet_arbitration")
ZEROISATION = _ORDER.index("zeroisation")
SCRUB_GRANULES = _ORDER.index("scrub_granules")
CORE_LOCK = _ORDER.index("core_lock")
BROADCAST_HOP = _ORDER.index("broadcast_hop")
TOKEN_WORDS = _ORDER.index("token_words")
EXTERNAL_LATENCY = _ORDER.index("external_latency")
EXTERNAL_WRITE_LATENCY = _ORDER.index("external_write_latency")
EXTERNAL_EGRESS_WORDS = _ORDER.index("external_egress_words")
EXTERNAL_BURST_OVERHEAD = _ORDER.index("external_burst_overhead")
