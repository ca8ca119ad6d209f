"""Runs without words: cycles, accounts of causes and findings are those of a run with them.

Jumps over time that repeats then leave all words where they are, sources are counted down and sinks only
counted: a run takes the same memory, however many words it moves. What is in memory and buffers afterwards
means nothing. Where time may depend on words, they are moved all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from memtile.arch.ports import PORTS
from memtile.errors import DesignError
from memtile.jit.tables import plain
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.dma.registers import OUT_OF_ORDER_MASK
from memtile.model.streams.switch_config import OFF, PACKET
from memtile.sim.compression import ENABLED

if TYPE_CHECKING:
    from memtile.sim.engine import Engine

_wanted: ContextVar[bool] = ContextVar("words", default=True)


@contextmanager
def moving_words(on: bool) -> Iterator[None]:
    """Context whose runs move words or, if an outer one or this one says so, do not."""
    before = _wanted.set(on and _wanted.get())
    try:
        yield
    finally:
        _wanted.reset(before)


def words_wanted() -> bool:
    """Whether runs move words."""
    return _wanted.get()


def needed_by(engine: Engine) -> Iterator[str]:
    """What time may depend on words by."""
    control = plain(engine.state.channels).control
    if engine.read_by_host:
        yield "a host, which may read them"
    if engine.cores.running:
        yield "kernels, which may look at them"
    if (control & ENABLED).any():
        yield "compression"
    if (control & OUT_OF_ORDER_MASK).any():
        yield "out-of-order reception"
    if (plain(engine.state.switch).mode == PACKET).any():
        yield "packets, whose headers are words"
    if any(_controlled(engine)):
        yield "control packets"
    if engine.upsets.struck or engine.upsets.waiting:
        yield "upsets, which are found where words are read"
    if engine.checks.watch is not None:
        yield "the check of accesses"


def _controlled(engine: Engine) -> Iterator[bool]:
    """For each tile with a control port, whether its switch lets words into it."""
    tiles, modes = plain(engine.spec.tiles), plain(engine.state.switch).mode
    for kind, base in zip(tiles.kind.tolist(), tiles.master_base.tolist(), strict=True):
        name = KIND_NAMES[kind]
        if len(modes) and base >= 0 and "CTRL0" in PORTS[name].masters:
            yield bool(modes[base + PORTS[name].master("CTRL0")] != OFF)


def no_time() -> DesignError:
    """The error of an untimed run without words."""
    return DesignError.of(
        "data",
        "False of an untimed run",
        "data=False of a run with a clock",
        "an untimed run without words has nothing to do",
        "Leave one of untimed=True and data=False out.",
        reason="no_words",
        where="run",
        source="an untimed run has words and no cycles",
    )


def look_for_words(engine: Engine, where: str, what: str) -> None:
    """Refuse to look at words after a run without them.

    Args:
        engine: that ran.
        where: they are looked for.
        what: is wanted of them.

    Raises:
        DesignError: it ran without words.
    """
    if engine.wordless:
        raise gone(where, what)


def words_are_gone(cycle: int) -> DesignError:
    """The error of a run with words after one without them."""
    return gone(f"engine at cycle {cycle}", "a run with words")


def gone(where: str, what: str) -> DesignError:
    """The error of a look at ``what`` there after a run without words."""
    return DesignError.of(
        "data",
        f"{what} after a run with data=False",
        "further runs with data=False, and their cycles",
        f"a run without words was before this, and no words are left for {what}",
        f"Make the design anew, and run it with words, for {what}.",
        reason="no_words",
        where=where,
        source="a run without words leaves none in memory and at ports",
    )
