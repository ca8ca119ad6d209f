"""The wait of a channel for external memory before its first word, which no design can shorten."""

from __future__ import annotations

from dataclasses import replace

from memtile.arch.timing import default_timing, of_run
from memtile.explain.results import ChannelUse, Result
from memtile.model.state.causes import Cause


def first_wait(result: Result, use: ChannelUse) -> int:
    """Return the cycles that a channel waits for external memory before its first word.

    They come from the timing constants, and are at most all cycles in which it waits for external memory.

    Args:
        result: of the run.
        use: of the channel.
    """
    timing = replace(default_timing(result.board), **of_run(result.board, result.timing))
    reads = timing.external_first_read + timing.external_latency
    writes = timing.external_first_write + timing.external_write_latency
    return min(reads if use.direction == "MM2S" else writes, use.spent.get(Cause.EXTERNAL, 0))
