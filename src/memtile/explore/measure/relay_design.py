"""Measurement of a relay: where the time goes from a buffer's being full to its first word's leaving.

On Phoenix it is 15 cycles longer than the rules of the model (DEV-SILICON-1). No capture that is public says
which of the three parts has them; this design has all of them in one trace.
"""

from __future__ import annotations

from memtile.arch.tiles import TILE_KINDS
from memtile.bd.descriptor import Release
from memtile.bd.windows import OWN
from memtile.explore.measure.experiment import Constant, Experiment, Units
from memtile.explore.measure.parts import (
    LOOP,
    MEMORY,
    PASSES,
    SENT,
    TAKEN,
    descriptor,
    in_one_bank,
    loop_ports,
    receiver,
    take,
)
from memtile.explore.measure.script import Flow, Port, Script, Traced

_WORDS = 16  # of the buffer
_FEED, _FULL = 0, 1  # locks
_OTHER_BD = TILE_KINDS["memory"].bd_bank(1)[0]
_RECEIVED = "DMA_S2MM_SEL0_FINISHED_BD"
_STALL, _SENT_ALL = "DMA_MM2S_SEL1_STALLED_LOCK", "DMA_MM2S_SEL1_FINISHED_BD"
_RELAYED = "PORT_RUNNING_2"


def _before(script: Script) -> None:
    loop_ports(script, Port("DMA0", master=True), Port("DMA1"))
    receiver(script, MEMORY, _WORDS, release=Release(OWN.lock(_FULL), 1))
    dims = in_one_bank(script, MEMORY)
    script.bd(MEMORY, 0, descriptor(script, MEMORY, _WORDS, dims=dims, acquire=take(script, MEMORY, _FEED)))
    place = OWN.address(script.kind(MEMORY).memory_words // 2)
    taken = take(script, MEMORY, _FULL)
    script.bd(MEMORY, _OTHER_BD, descriptor(script, MEMORY, _WORDS, address=place, acquire=taken))


def _steps(script: Script) -> None:
    script.push(MEMORY, "MM2S", 1, _OTHER_BD)
    script.push(MEMORY, "MM2S", 0, 0)
    script.let_pass(5)
    script.lock(MEMORY, _FEED, 1)
    script.let_pass(PASSES)


def _written(units: Units) -> int:
    """From the cycle in which the last word entered to FINISHED_BD."""
    return units[MEMORY].begin(_RECEIVED) - units[MEMORY].end(TAKEN) + 1


def _handed(units: Units) -> int:
    """The end of the sender's lock stall, from the receiver's FINISHED_BD; before it below 0."""
    return units[MEMORY].end(_STALL) - units[MEMORY].begin(_RECEIVED)


RELAY = Experiment(
    "relay",
    "a channel of a memory tile fills a buffer of 16 words; another one waits for its lock and sends it",
    (LOOP, Flow(MEMORY, ("DMA", 1), MEMORY, ("DMA", 1))),
    (Traced(MEMORY, "memory_tile", (SENT, TAKEN, _RELAYED, _RECEIVED, _STALL, _SENT_ALL)),),
    _before,
    _steps,
    (
        Constant(
            "ingress_latency",
            "the last word enters the receiver to its FINISHED_BD, less its write and finished_bd_delay",
            lambda u, v: _written(u) - v["finished_bd_delay"] - 1,
        ),
        Constant(
            "relay_written",
            "the last word enters the receiver's port to its FINISHED_BD",
            lambda u, _: _written(u),
            model=4,
        ),
        Constant(
            "relay_handed",
            "the receiver's FINISHED_BD to the end of the sender's lock stall",
            lambda u, _: _handed(u),
            model=-1,
        ),
        Constant(
            "relay_sent",
            "the sender's lock stall ends to the first word at its slave port",
            lambda u, _: u[MEMORY].begin(_RELAYED) - u[MEMORY].end(_STALL),
            model=4,
        ),
        Constant(
            "relay_finished",
            "FINISHED_BD of the receiver to that of the sender, 16 words",
            lambda u, _: u[MEMORY].begin(_SENT_ALL) - u[MEMORY].begin(_RECEIVED),
            model=10,
        ),
    ),
    needed=("finished_bd_delay",),
)
