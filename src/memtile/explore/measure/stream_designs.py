"""Measurements of channels, their buffers and stream switches.

Measurement of a relay: where the time goes from a buffer's being full to its first word's leaving.

On Phoenix it is eight cycles longer than the rules of the model (DEV-SILICON-1). No capture that is public
says which of the three parts has them; this design has all of them in one trace.
"""

from __future__ import annotations

from memtile.arch.tiles import TILE_KINDS
from memtile.bd.descriptor import Packet, Release
from memtile.bd.windows import OWN
from memtile.explore.measure.experiment import (
    BACK_PRESSURE,
    COMPUTE,
    FINISHED,
    LOOP,
    MARKS,
    MEMORY,
    PASSES,
    RECEIVER,
    SENT,
    STALL,
    START,
    TAKEN,
    WORDS,
    Constant,
    Experiment,
    Units,
    Values,
    descriptor,
    guarded,
    guarded_steps,
    in_one_bank,
    loop_ports,
    receiver,
    take,
)
from memtile.explore.measure.script import Place, RunningPort, Script, ScriptFlow, Traced


def _span(units: Units, place: Place, stall: str, finished: str, number: int) -> int:
    """From the end of a lock stall to the end of its descriptor, while the stream takes a word a cycle."""
    seen = units[place]
    if place == MEMORY or seen.cycles(_C_BACK_PRESSURE) > _STARTS:
        seen.never(BACK_PRESSURE if place == MEMORY else _C_BACK_PRESSURE)
    return seen.begin(finished, number) - seen.end(stall, number)


def _before_stream(script: Script) -> None:
    loop_ports(script)
    receiver(script, MEMORY)
    guarded(script, MEMORY)


def _before_compute(script: Script) -> None:
    receiver(script, MEMORY)
    guarded(script, COMPUTE)


def _task_start(units: Units, _values: Values) -> int:
    seen = units[MEMORY]
    pushed = 2 * seen.begin("USER_EVENT_0") - seen.begin("USER_EVENT_1")
    return seen.begin(START) - pushed


_EGRESS = "how much sooner FINISHED_BD is than the end of the stream, whole accesses, less a word for each"


def _egress(units: Units, place: Place, stall: str, finished: str) -> int:
    """Beats by which whole accesses run ahead of the stream; single words do not."""
    late = _span(units, place, stall, finished, 0) - WORDS
    beats, seen = WORDS // units[place].stream_words, units[place]
    held = 0
    if place != MEMORY:  # a wire that was idle holds its first word back, and so whole accesses
        held = seen.within(_C_BACK_PRESSURE, seen.end(stall, 1), seen.begin(finished, 1))
    return beats + late - _span(units, place, stall, finished, 1) + held + 1


STREAM = Experiment(
    "stream",
    "a memory tile sends words to itself: after its task begins, it waits for a lock",
    (LOOP,),
    (Traced(MEMORY, "memory_tile", (START, STALL, FINISHED, SENT, TAKEN, BACK_PRESSURE, *MARKS)),),
    _before_stream,
    guarded_steps(MEMORY),
    (
        Constant(
            "task_start",
            "the push, which is as long before USER_EVENT_0 as USER_EVENT_1 is after it, to START_TASK",
            _task_start,
        ),
        Constant(
            "local_slave_latency",
            "STALLED_LOCK ends to PORT_RUNNING of the slave",
            lambda u, _: u[MEMORY].after(SENT, u[MEMORY].end(STALL, 1)) - u[MEMORY].end(STALL, 1) - 2,
        ),
        Constant(
            "local_master_latency",
            "PORT_RUNNING of the slave to that of the master",
            lambda u, _: u[MEMORY].begin(TAKEN) - u[MEMORY].begin(SENT),
        ),
        Constant(
            "finished_bd_delay",
            "STALLED_LOCK ends to FINISHED_BD of a single word, less the cycle of its access",
            lambda u, _: _span(u, MEMORY, STALL, FINISHED, 2) - 1,
        ),
        Constant(
            "memory_egress_words",
            _EGRESS,
            lambda u, _: _egress(u, MEMORY, STALL, FINISHED),
        ),
    ),
)

_STARTS = 3  # cycles: one for each of the descriptors whose wire was idle
_C_BACK_PRESSURE = "DMA_MM2S_0_STREAM_BACKPRESSURE"
_C_STALL, _C_FINISHED = "DMA_MM2S_0_STALLED_LOCK", "DMA_MM2S_0_FINISHED_BD"
EGRESS = Experiment(
    "compute_egress",
    "a compute tile sends words to the memory tile below it when it has a lock",
    (ScriptFlow(COMPUTE, ("DMA", 0), MEMORY, ("DMA", 0)),),
    (Traced(COMPUTE, "memory", (_C_STALL, _C_FINISHED, _C_BACK_PRESSURE)),),
    _before_compute,
    guarded_steps(COMPUTE),
    (
        Constant(
            "compute_egress_words",
            _EGRESS,
            lambda u, _: _egress(u, COMPUTE, _C_STALL, _C_FINISHED),
        ),
    ),
)


def _before_blocked(script: Script) -> None:
    loop_ports(script)
    script.bd(MEMORY, 0, descriptor(script, MEMORY, 4 * WORDS, acquire=take(script, MEMORY, 0)))


def _blocked_steps(script: Script) -> None:
    script.push(MEMORY, "MM2S", 0, 0)
    script.let_pass(5)
    script.lock(MEMORY, 0, 1)
    script.let_pass(PASSES)


def _slave_words(units: Units, values: Values) -> int:
    """What left the channel before it was stopped, less what the buffers behind the slave hold."""
    seen = units[MEMORY]
    seen.once(SENT)
    sent = seen.begin(BACK_PRESSURE) - seen.end(STALL) - 2
    return sent - values["ingress_words"] - values["local_master_words"]


BLOCKED = Experiment(
    "blocked",
    "a memory tile sends words to a channel of its own that has no task",
    (LOOP,),
    (Traced(MEMORY, "memory_tile", (STALL, SENT, TAKEN, BACK_PRESSURE)),),
    _before_blocked,
    _blocked_steps,
    (
        Constant(
            "ingress_words",
            "cycles of PORT_RUNNING of the master",
            lambda u, _: u[MEMORY].cycles(TAKEN),
            narrow=True,
        ),
        Constant(
            "local_master_words",
            "cycles of PORT_RUNNING of the slave, less those of the master",
            lambda u, _: u[MEMORY].cycles(SENT) - u[MEMORY].cycles(TAKEN),
        ),
        Constant(
            "local_slave_words",
            "STALLED_LOCK ends to STREAM_BACKPRESSURE, less ingress_words and local_master_words",
            _slave_words,
        ),
    ),
)

_RING = 16  # words of a descriptor that follows itself


def _before_pause(script: Script) -> None:
    loop_ports(script)
    receiver(script, MEMORY, words=_RING, next=RECEIVER)
    script.bd(MEMORY, 0, descriptor(script, MEMORY, 4 * _RING, dims=in_one_bank(script, MEMORY)))


def _pause_steps(script: Script) -> None:
    script.push(MEMORY, "MM2S", 0, 0)
    script.let_pass(PASSES)


def _pause(units: Units, _values: Values) -> int:
    seen = units[MEMORY]
    first = (seen.end(TAKEN) - seen.begin(TAKEN)) * seen.stream_words
    return seen.begin(TAKEN, 1) - seen.end(TAKEN) if first == _RING else 0


PAUSE = Experiment(
    "pause",
    "a memory tile sends words to a channel of its own whose descriptors are shorter",
    (LOOP,),
    (Traced(MEMORY, "memory_tile", (SENT, TAKEN)),),
    _before_pause,
    _pause_steps,
    (
        Constant(
            "port_pause",
            "PORT_RUNNING of the master ends after the words of a descriptor to its next cycle",
            _pause,
            narrow=True,
        ),
    ),
)

_NORTH = tuple(f"PORT_RUNNING_{n}" for n in range(1, 7))


def _before_north(script: Script) -> None:
    loop_ports(script, *(RunningPort(f"NORTH{n}", master=True) for n in range(6)))
    script.bd(MEMORY, 0, descriptor(script, MEMORY, 4 * WORDS))


def _north(units: Units) -> str:
    """The master port that the compiler chose: the one that runs."""
    return max(_NORTH, key=units[MEMORY].cycles)


NORTH = Experiment(
    "north",
    "a memory tile sends words to a channel of the compute tile above it that has no task",
    (ScriptFlow(MEMORY, ("DMA", 0), COMPUTE, ("DMA", 0)),),
    (Traced(MEMORY, "memory_tile", (SENT, *_NORTH)),),
    _before_north,
    _blocked_steps,
    (
        Constant(
            "external_port_latency",
            "PORT_RUNNING of the slave to that of the master to the north, less wire_start",
            lambda u, v: u[MEMORY].begin(_north(u)) - u[MEMORY].begin(SENT) - v["wire_start"],
        ),
        Constant(
            "external_port_words",
            "cycles of PORT_RUNNING of the slave, less those of the master to the north",
            lambda u, _: u[MEMORY].cycles(SENT) - u[MEMORY].cycles(_north(u)),
        ),
    ),
    needed=("wire_start",),
)

_FEW = 4  # words of the first descriptor: less than the ports in front of the wire hold


def _before_wire(script: Script) -> None:
    loop_ports(script, *(RunningPort(f"NORTH{n}", master=True) for n in range(6)))
    script.bd(MEMORY, 0, descriptor(script, MEMORY, _FEW, acquire=take(script, MEMORY, 0), next=1))
    script.bd(MEMORY, 1, descriptor(script, MEMORY, 2 * _FEW))


def _wire_start(units: Units, _values: Values) -> int:
    """How much of the gap between two descriptors the words behind the first one have caught up with."""
    seen, north = units[MEMORY], _north(units)
    sent = seen.begin(SENT, 1) - seen.end(SENT)
    runs = seen.intervals[north]
    return sent - (seen.begin(north, 1) - seen.end(north) if len(runs) > 1 else 0)


WIRE = Experiment(
    "wire",
    "a memory tile sends two short descriptors to a channel of the compute tile above it that has no task",
    (ScriptFlow(MEMORY, ("DMA", 0), COMPUTE, ("DMA", 0)),),
    (Traced(MEMORY, "memory_tile", (SENT, *_NORTH)),),
    _before_wire,
    _blocked_steps,
    (
        Constant(
            "wire_start",
            "the gap of PORT_RUNNING of the slave between two descriptors, less that of the master",
            _wire_start,
        ),
    ),
)


_OTHER_BD = TILE_KINDS["memory"].bd_bank(1)[0]
_OTHER_START = "DMA_MM2S_SEL1_START_TASK"


def _before_packet(script: Script) -> None:
    loop_ports(script, RunningPort("DMA1"))
    receiver(script, MEMORY)
    script.bd(MEMORY, 0, descriptor(script, MEMORY, packet=Packet(20)))
    script.bd(MEMORY, _OTHER_BD, descriptor(script, MEMORY))


def _packet_steps(script: Script) -> None:
    for channel, bd in ((0, 0), (1, _OTHER_BD)):
        script.push(MEMORY, "MM2S", channel, bd)
        script.let_pass(PASSES)


def _packet_arbitration(units: Units, _values: Values) -> int:
    seen = units[MEMORY]
    as_packet = seen.begin(SENT) - seen.begin(START) - (seen.stream_words - 1)  # a header waits for its beat
    return as_packet - (seen.begin(TAKEN) - seen.begin(_OTHER_START))


PACKET = Experiment(
    "packet",
    "a memory tile sends a packet to itself, then words by another channel",
    (
        ScriptFlow(MEMORY, ("DMA", 0), MEMORY, ("DMA", 0), 20),
        ScriptFlow(MEMORY, ("DMA", 1), MEMORY, ("DMA", 1)),
    ),
    (Traced(MEMORY, "memory_tile", (START, _OTHER_START, SENT, TAKEN)),),
    _before_packet,
    _packet_steps,
    (
        Constant(
            "packet_arbitration",
            "START_TASK to PORT_RUNNING of the packet's slave, less the same of the other channel",
            _packet_arbitration,
        ),
    ),
)


_WORDS = 16  # of the buffer
_FEED, _FULL = 0, 1  # locks
_RECEIVED = "DMA_S2MM_SEL0_FINISHED_BD"
_STALL, _SENT_ALL = "DMA_MM2S_SEL1_STALLED_LOCK", "DMA_MM2S_SEL1_FINISHED_BD"
_RELAYED = "PORT_RUNNING_2"


def _before(script: Script) -> None:
    loop_ports(script, RunningPort("DMA0", master=True), RunningPort("DMA1"))
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
    (LOOP, ScriptFlow(MEMORY, ("DMA", 1), MEMORY, ("DMA", 1))),
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
            "mm2s_lock_wait",
            "the receiver's FINISHED_BD, less its delay, to the end of the sender's lock stall, less a cycle",
            lambda u, v: _handed(u) + v["finished_bd_delay"] - 1,
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
