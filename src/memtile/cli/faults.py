"""``memtile faults``: flip bits of data memory while a design runs, and say what became of each upset."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from memtile.cli.result_output import leave, show_result
from memtile.cli.run_options import EachMaxCycles, TimingConstants, running, with_timing
from memtile.runs.options import USUAL, RunOptions

if TYPE_CHECKING:
    from collections.abc import Callable

    from memtile.design.array import Array
    from memtile.design.memory_tile import MemoryTile
    from memtile.explore.campaign import CampaignResult

EXAMPLES = """\b
Examples:
  memtile faults design.py
  memtile faults --upsets 1000 --bits 2 --seed 7 design.py
  memtile faults --no-ecc --json design.py
"""


class HitArea(StrEnum):
    """Which words are hit."""

    BUFFERS = "buffers"
    MEMORY = "memory"


@running(max_cycles=EachMaxCycles)
def faults(
    file: Annotated[str, typer.Argument(metavar="DESIGN.py", help="A design, deterministic when rebuilt.")],
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Parameter of the design; repeat."),
    ] = None,
    timing: TimingConstants = None,
    of_run: RunOptions = USUAL,
    upsets: Annotated[int, typer.Option(min=1, help="Number of upsets, each in a different word.")] = 1000,
    bits: Annotated[int, typer.Option(min=1, help="Bits of a word that flip together.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the words, bits and cycles.")] = 0,
    ecc: Annotated[bool, typer.Option("--ecc/--no-ecc", help="ECC and parity, or neither.")] = True,
    area: Annotated[
        HitArea, typer.Option(help="Words to hit: those of the design's buffers, or all memory of its tiles.")
    ] = HitArea.BUFFERS,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Name every output that differs.")] = False,
) -> None:
    """Run a design under upsets of its data memory, and count their effects.

    The design runs once without upsets, for its cycles and outputs, and once with them. Words that nothing
    has read by then are read back, so that every upset is accounted for. The same seed gives the same
    upsets.

    Ends with exit code 1 when wrong data was delivered as if it were right. Ctrl-C ends the run with upsets
    and shows what was done until then, marked as interrupted.
    """
    from memtile.cli.design_file import load_design
    from memtile.sheet import print_whole, stdout_console

    make = partial(load_design, file, settings or ())
    with with_timing(timing):
        result = _campaign(file, make, upsets, bits, seed, ecc, area, of_run)
    if as_json or not everything:
        show_result(result, as_json=as_json)
    else:
        print_whole(stdout_console(), result.sheet(None))
    leave(interrupted=result.interrupted, good=result.good)


def _campaign(
    file: str,
    make: Callable[[], MemoryTile | Array],
    upsets: int,
    bits: int,
    seed: int,
    ecc: bool,
    area: HitArea,
    of_run: RunOptions,
) -> CampaignResult:
    from memtile.cli.progress import run_progress
    from memtile.explore.campaign import campaign
    from memtile.importers.design_file import guarded

    try:
        with run_progress() as progress:
            options = replace(of_run, progress=progress)
            run = partial(campaign, make, upsets, area=area.value, options=options)
            return guarded(file, partial(run, bits=bits, seed=seed, protected=ecc))
    except KeyboardInterrupt:
        raise KeyboardInterrupt("interrupted before the first upset: nothing to show") from None
