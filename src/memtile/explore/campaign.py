"""Fault campaigns: a design runs once as it is and once under upsets, and every upset is accounted for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Literal, Unpack

import numpy as np

from memtile.arch.tiles import WORD_BYTES
from memtile.design.array import Array
from memtile.design.memory_tile import MemoryTile
from memtile.design.tile import Tile
from memtile.errors import DesignError
from memtile.explain.results import Array as Values
from memtile.explain.results import Result, Status
from memtile.explore.campaign_result import CampaignResult, Outcome, outcome_of
from memtile.runs.options import USUAL, RunKeywords, RunOptions
from memtile.sim.upsets import Target, Upset, scattered

Design = MemoryTile | Array
Area = Literal["buffers", "memory"]


def campaign(
    make: Callable[[], Design],
    upsets: int,
    *,
    bits: int = 1,
    seed: int = 0,
    protected: bool = True,
    area: Area = "buffers",
    options: RunOptions = USUAL,
    **more: Unpack[RunKeywords],
) -> CampaignResult:
    """Run a design under upsets at random cycles, each in a word of its own; Ctrl-C keeps what is done.

    The design runs first without upsets, which gives the cycles to choose from and the outputs to compare
    with. After the run under upsets, every word whose upset nobody has looked at is read through the door of
    its tile, so that each upset is seen by somebody.

    Args:
        make: makes the design anew, the same every time.
        upsets: how many.
        bits: cells of a word that flip together.
        seed: of the words, cells and cycles.
        protected: False = memory without check bits.
        area: words to hit: those of the design's buffers, or all data memory of its tiles.
        options: of each of the two runs.
        more: fields of :class:`RunOptions`, which come before those.

    Raises:
        DesignError: not a design, one that does nothing, more upsets than words, or no time or no data.
        KeyboardInterrupt: Ctrl-C in the run without upsets, which says nothing yet.
    """
    options = RunOptions.of(options, more).refuse("a fault campaign", "untimed", "data")
    first = make()
    begin = first.engine.now if tiles_of(first) else 0
    reference = _undisturbed(first, options)
    made = make()
    if not protected:
        made.engine.without_protection()
    targets = list(words_of(made, area))
    cycles = range(begin, first.engine.now)
    made.engine.upsets.add(scattered(targets, cycles, upsets, bits=bits, seed=seed))
    result = made.run(options)
    running, read_back = account(made)
    wrong = tuple(differing(outputs(first, reference), outputs(made, result)))
    return CampaignResult(
        upsets=upsets,
        struck=len(made.engine.upsets.struck),
        bits=bits,
        seed=seed,
        protected=protected,
        words=len(targets),
        area="buffers" if area == "buffers" else "data memory",
        cycles=result.cycles,
        running=running,
        read_back=read_back,
        bit_exact=not wrong and result.exact is reference.exact,
        wrong_outputs=wrong,
        interrupted=result.status is Status.INTERRUPTED,
        timing=result.timing,
    )


def _undisturbed(design: Design, options: RunOptions) -> Result:
    result = design.run(options)
    if result.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return result


def tiles_of(design: Design) -> tuple[Tile, ...]:
    """The tiles that a design uses; raises :class:`DesignError` if it is none."""
    if isinstance(design, Array):
        return design.tiles
    if isinstance(design, Tile):
        return (design,)
    raise DesignError.of(
        "design",
        type(design).__name__,
        "a MemoryTile or an Array",
        f"the design is of type {type(design).__name__}; it must be a MemoryTile or an Array",
        reason="campaign",
        where="fault campaign",
        source="a campaign needs the memories",
    )


def words_of(design: Design, area: Area) -> Iterator[Target]:
    """The words of an area of a design's data memories."""
    for tile in tiles_of(design):
        if area == "memory":
            yield from tile.engine.upsets.targets(tile.index)
        else:
            for buffer in tile.buffers:
                yield from tile.engine.upsets.targets(tile.index, buffer.offset // WORD_BYTES, buffer.words)


def account(design: Design) -> tuple[Counter[Outcome], Counter[Outcome]]:
    """Upsets that struck by outcome: those that somebody has looked at, and those that a read-back shows."""
    upsets = design.engine.upsets
    running, read_back = Counter(dict.fromkeys(Outcome, 0)), Counter(dict.fromkeys(Outcome, 0))
    unseen: list[Upset] = []
    for upset in upsets.struck:
        outcome = outcome_of(upsets.fate(upset))
        if outcome is None:
            unseen.append(upset)
        else:
            running[outcome] += 1
    for upset in unseen:
        design.engine.door(upset.tile).read32(upset.word * WORD_BYTES)
        read_back[outcome_of(upsets.fate(upset)) or Outcome.HARMLESS] += 1
    return running, read_back


def outputs(design: Design, result: Result) -> dict[str, Values]:
    """What came out: by stream port, and in external memory."""
    buffers = design.engine.external.buffers.values()
    return dict(result.outputs) | {f"external {buffer.name}": buffer.array for buffer in buffers}


def differing(wanted: dict[str, Values], got: dict[str, Values]) -> Iterable[str]:
    """Names of the outputs that are not the same, byte by byte."""
    for name, values in wanted.items():
        if name not in got or not np.array_equal(_bytes(values), _bytes(got[name])):
            yield name


def _bytes(values: Values) -> Values:
    return np.ascontiguousarray(values).reshape(-1).view(np.uint8)
