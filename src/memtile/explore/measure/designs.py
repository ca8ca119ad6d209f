"""All measurements: what each design does, and how its constants follow from its trace (docs/timing.md).

Each constant is a difference of cycles of one trace unit, or a number of words, so that no timers of two
tiles need to agree. A design uses descriptors, locks and streams alone: no core runs a program.
"""

from __future__ import annotations

from memtile.explore.measure.other_designs import BROADCAST, EXTERNAL, FIRMWARE, NEIGHBOUR, ZERO
from memtile.explore.measure.relay_design import RELAY
from memtile.explore.measure.stream_designs import BLOCKED, EGRESS, NORTH, PACKET, PAUSE, STREAM, WIRE

EXPERIMENTS = (
    STREAM, EGRESS, BLOCKED, PAUSE, WIRE, NORTH, PACKET, BROADCAST, FIRMWARE, RELAY, EXTERNAL, ZERO,
    NEIGHBOUR,
)  # fmt: skip
