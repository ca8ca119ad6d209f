"""What was measured of boards: constants of their timing, spreads, shared memory, clocks.

docs/silicon.md has the measurements.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from memtile.errors import DesignError

_STRIX_NPU: Mapping[str, int] = {
    "external_ahead": 1,
    "firmware_room": 1,
    "queue_running": 1,
    "core_lock_wait": 5,
    "s2mm_lock_wait": 4,
    "mm2s_lock_wait": 5,
}
BOARDS: Mapping[str, Mapping[str, int]] = {
    "phoenix": {
        "task_load": 12,
        "external_latency": 323,
        "external_write_latency": 171,
        "external_egress_words": 384,
        "external_first_read": 1255,
        "external_first_write": 358,
        "port_pause": 1,
        "ingress_latency": 2,
        "wire_start": 1,
        "core_lock_wait": 4,
        "s2mm_lock_wait": 5,
        "mm2s_lock_wait": 6,
    },
    "strix": {
        "external_latency": 265,
        "external_egress_words": 384,
        "external_burst_overhead": 4,
        **_STRIX_NPU,
    },
    "strix_halo": {
        "external_latency": 206,
        "external_egress_words": 384,
        "external_burst_overhead": 0,
        "external_beside": 14,
        **_STRIX_NPU,
    },
}
"""Constants of ``arch.timing.Timing`` that were measured on a board and are not those of the assumed set.

Of Strix the rates of a column, 10.16 GB/s by one MM2S and 14.35 GB/s by two at 1.76 GHz (mlir-air PR 1786):
as many words on their way as on Phoenix give the first one with this latency, bursts of 64 bytes the second
one with this overhead. First accesses, ports and several columns on one controller were not measured there.

Of Strix Halo those of one page (hipfire, ``r1/README.md``): 7.44 bytes a cycle by one MM2S of one column give
the latency with as many words on their way, and two of one column take all 16 bytes of their master, so that
bursts cost nothing. Each of four columns at a time reads 6.19, as if the reads of each took 14 cycles longer
for each of the three others. Tokens, queues and locks are of the NPU, which is that of Strix.
"""
ASSUMED = "assumed"
"""The set that no board has, by the name that ``--timing`` and ``MEMTILE_TIMING`` take for it."""
SPREAD: Mapping[str, Mapping[str, tuple[int, int]]] = {
    "phoenix": {
        "external_latency": (216, 421),
        "external_write_latency": (133, 173),
        "external_egress_words": (384, 384),
    },
    "strix": {"external_egress_words": (384, 384)},
    "strix_halo": {"external_latency": (206, 216), "external_egress_words": (384, 384)},
}
"""Where runs of a board had a constant, by board: tasks of 64 words after the first one of their channel.

On Strix Halo one column's port was busy for 89 to 93 % of a feed, at 8 bytes a cycle.
"""
OF_OTHERS: Mapping[str, Mapping[str, tuple[int, int]]] = {
    name: {"firmware_access": (50, 200), "firmware_word": (6, 26), "firmware_push": (1525, 6100)}
    for name in ("strix", "strix_halo")
}
"""Constants that were measured on another board alone, by board: assumed there, half to twice as long.

Eight block writes of 512 bytes took less than the noise of a launch on Strix (mlir-air PR 1568), which fits
Phoenix's 1,764 cycles for each and says no more.
"""
SHARED_BYTES: Mapping[str, tuple[float, float]] = {
    "phoenix": (21.6, 31.2),
    "strix": (24.4, 32.6),
    "strix_halo": (30.0, 31.3),
}
"""Bytes a cycle, both ways together, at which external memory stood still for all columns, by board.

Phoenix: 38.9 GB/s by eight channels each way and 56.2 GB/s by four, at 1.80 GHz (cases ddr-8-reads, ddr-4).
Strix: 44.0 GB/s at 1.80 GHz (case marginal-base-bfp16), 47 (lpddr-read), and 57.4 at 1.76 GHz (mlir-air PR
1786: two channels in each of four columns). They are of different memories, so there is no constant.
Strix Halo: 54 to 56.3 GB/s at 1.80 GHz by one channel in each of eight columns (hipfire, ``r1/README.md``).
"""
SHARED_CHANNELS: Mapping[str, int] = {"phoenix": 8, "strix": 8, "strix_halo": 8}
"""Channels, both ways together, by which a board reached the higher rate of ``SHARED_BYTES``.

Phoenix reached the lower one by sixteen; Strix by a product on 32 cores, whose channels are not published.
"""
CLOCK_MHZ: Mapping[str, int] = {"strix": 1760, "strix_halo": 1800}
"""Clock of the array where it was measured, by board; elsewhere ``ARRAY_CLOCK_MHZ``, the manual's.

No public page has 1,760 MHz itself: it is between 4 bytes a cycle and what one channel of a column was seen
to read. AMD's driver has 1,800 MHz as its highest step (xdna-driver, npu4_regs.c), a traced product 1,808 MHz
(case gemm-clock). GB/s of an npu2 are 2 to 3 % low where those hold. Of Strix Halo it was published.
"""


def board(name: str) -> Mapping[str, int]:
    """The constants of a board that are not those of the assumed set, by their names.

    Raises:
        DesignError: no such board.
    """
    if name in BOARDS:
        return BOARDS[name]
    if name in ("", ASSUMED):
        return {}
    raise DesignError.of(
        "board",
        repr(name),
        " or ".join((*BOARDS, ASSUMED)),
        reason="timing",
        where="timing constants",
        source="docs/silicon.md",
    )


def board_in_force(device_board: str) -> str:
    """The board whose constants a device has by default; "" with ``MEMTILE_TIMING=assumed``: none's."""
    return "" if os.environ.get("MEMTILE_TIMING") == ASSUMED else device_board
