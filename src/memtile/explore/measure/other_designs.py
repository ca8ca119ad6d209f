"""Measurements of what is beside the streams: events, firmware, external memory, zeroisation, neighbours."""

from __future__ import annotations

from memtile.arch.events import EVENTS
from memtile.bd.descriptor import Dim
from memtile.bd.windows import WEST
from memtile.explore.measure.experiment import (
    COMPUTE,
    EAST,
    INTERFACE,
    LOOP,
    MARKS,
    MEMORY,
    PASSES,
    SENT,
    STALL,
    START,
    TAKEN,
    Constant,
    Experiment,
    Units,
    Values,
    apart,
    descriptor,
    guarded_steps,
    loop_ports,
    receiver,
    take,
)
from memtile.explore.measure.script import RunningPort, Script, ScriptFlow, Traced

_BROADCAST, _ANSWER = 3, 4  # broadcast channels


def _before_broadcast(script: Script) -> None:
    heard = EVENTS["core"][f"BROADCAST_{_BROADCAST}"]
    script.register(
        MEMORY, "memory_tile", f"Event_Broadcast{_BROADCAST}", Event=EVENTS["memory_tile"]["USER_EVENT_0"]
    )
    script.register(COMPUTE, "core", f"Event_Broadcast{_ANSWER}", Event=heard)


def _broadcast_steps(script: Script) -> None:
    script.event(MEMORY, "memory_tile", "USER_EVENT_0")
    script.let_pass(PASSES)


BROADCAST = Experiment(
    "broadcast",
    "a memory tile broadcasts an event; the compute tile above it broadcasts another one when it hears it",
    (),
    (Traced(MEMORY, "memory_tile", ("USER_EVENT_0", f"BROADCAST_{_ANSWER}")),),
    _before_broadcast,
    _broadcast_steps,
    (
        Constant(
            "broadcast_hop",
            "half of USER_EVENT_0 to BROADCAST_4",
            lambda u, _: (u[MEMORY].begin(f"BROADCAST_{_ANSWER}") - u[MEMORY].begin("USER_EVENT_0")) // 2,
        ),
    ),
)

_BLOCK = 8


def _before_firmware(script: Script) -> None:
    loop_ports(script)
    receiver(script, MEMORY)
    script.bd(MEMORY, 0, descriptor(script, MEMORY, 4))


def _firmware_steps(script: Script) -> None:
    for _ in range(2):
        script.push(MEMORY, "MM2S", 0, 0)
    for words in (0, _BLOCK):
        script.event(MEMORY, "memory_tile", "USER_EVENT_0")
        if words:
            script.block(words)
        script.event(MEMORY, "memory_tile", "USER_EVENT_1")
    script.let_pass(PASSES)


def _between(units: Units, number: int) -> int:
    seen = units[MEMORY]
    return seen.begin("USER_EVENT_1", number) - seen.begin("USER_EVENT_0", number)


FIRMWARE = Experiment(
    "firmware",
    "the host pushes two tasks, then generates events with and without a block of words between them",
    (LOOP,),
    (Traced(MEMORY, "memory_tile", (START, *MARKS)),),
    _before_firmware,
    _firmware_steps,
    (
        Constant("firmware_access", "USER_EVENT_0 to USER_EVENT_1", lambda u, _: _between(u, 0)),
        Constant(
            "firmware_word",
            "the same with a block of 8 words between them, less a write, for each word",
            lambda u, found: (_between(u, 1) - 2 * found["firmware_access"]) // _BLOCK,
        ),
        Constant(
            "firmware_push",
            "START_TASK to START_TASK",
            lambda u, _: u[MEMORY].begin(START, 1) - u[MEMORY].begin(START),
        ),
    ),
)

_E_STALL, _E_FINISHED = "DMA_MM2S_0_STALLED_LOCK", "DMA_S2MM_0_FINISHED_BD"
_FEW = 16
_BEAT = 4  # words of one access to external memory
_APART = 32  # words between the words of a strided read: each is a burst of its own
_READS = 3  # the first one of the channel, the next one, and the strided one
_WRITES = 2


def _before_external(script: Script) -> None:
    script.select_ports(INTERFACE, "pl", (RunningPort("SOUTH3"), RunningPort("SOUTH2", master=True)))
    for bd in range(_READS):
        more = {"dims": (Dim(_APART, 0),)} if bd == _READS - 1 else {"next": bd + 1}
        script.bd(
            INTERFACE, bd, descriptor(script, INTERFACE, _FEW, acquire=take(script, INTERFACE, bd), **more)
        )
        script.patch(bd, 1)
    script.bd(INTERFACE, _READS, descriptor(script, INTERFACE, _BEAT))
    script.patch(_READS, 2)
    receiver(script, MEMORY)
    script.bd(MEMORY, 0, descriptor(script, MEMORY, _BEAT))
    for _ in range(_WRITES):
        script.push(INTERFACE, "S2MM", 0, _READS)


def _external_steps(script: Script) -> None:
    script.push(INTERFACE, "MM2S", 0, 0)
    script.let_pass(5)
    for number in range(_READS):
        script.lock(INTERFACE, number, 1)
        script.let_pass(PASSES)
    for _ in range(_WRITES):
        script.push(MEMORY, "MM2S", 0, 0)
        script.let_pass(PASSES)


def _asked(units: Units, number: int) -> int:
    """From the end of a lock stall to the first word of that read, and no more."""
    seen = units[INTERFACE]
    begun = seen.end(_E_STALL, number)
    return seen.after(SENT, begun) - begun


def _answered(units: Units, number: int) -> int:
    """From the last word of a write to its FINISHED_BD."""
    seen = units[INTERFACE]
    return seen.begin(_E_FINISHED, number) - seen.end(TAKEN, number)


def _burst_overhead(units: Units, _values: Values) -> int:
    seen = units[INTERFACE]
    first = seen.after(SENT, seen.end(_E_STALL, _READS - 1))
    return (seen.end(SENT, -1) - first - 1) // (_FEW - seen.stream_words) - 1


EXTERNAL = Experiment(
    "external",
    "an interface tile reads external memory when it has a lock, twice in one burst and once in many, and "
    "writes it twice",
    (
        ScriptFlow(INTERFACE, ("DMA", 0), MEMORY, ("DMA", 0)),
        ScriptFlow(MEMORY, ("DMA", 0), INTERFACE, ("DMA", 0)),
    ),
    (Traced(INTERFACE, "pl", (_E_STALL, _E_FINISHED, SENT, TAKEN)),),
    _before_external,
    _external_steps,
    (
        Constant(
            "external_latency",
            "the second STALLED_LOCK ends to PORT_RUNNING of MM2S 0, less external_port_latency",
            lambda u, known: _asked(u, 1) - known["external_port_latency"] - 1,
        ),
        Constant(
            "external_first_read",
            "the same of the first one, less that",
            lambda u, _: _asked(u, 0) - _asked(u, 1),
        ),
        Constant("external_burst_overhead", "cycles from word to word, each a burst", _burst_overhead),
        Constant(
            "external_write_latency",
            "the second PORT_RUNNING of S2MM 0 ends to FINISHED_BD, less the delays of both",
            lambda u, known: _answered(u, 1) - known["finished_bd_delay"] - known["ingress_latency"],
        ),
        Constant(
            "external_first_write",
            "the same of the first one, less that",
            lambda u, _: _answered(u, 0) - _answered(u, 1),
        ),
    ),
    needed=("external_port_latency", "finished_bd_delay", "ingress_latency"),
    arguments=3,
)


def _before_zero(script: Script) -> None:
    loop_ports(script)
    receiver(script, MEMORY)
    script.bd(MEMORY, 0, descriptor(script, MEMORY, acquire=take(script, MEMORY, 0)))


def _zero_steps(script: Script) -> None:
    script.push(MEMORY, "MM2S", 0, 0)
    script.let_pass(5)
    script.event(MEMORY, "memory_tile", "USER_EVENT_0")
    script.register(MEMORY, "memory_tile", "Memory_Control", Memory_Interleaving=1, Memory_Zeroisation=1)
    script.event(MEMORY, "memory_tile", "USER_EVENT_1")
    script.lock(MEMORY, 0, 1)
    script.let_pass(2 * PASSES)


def _zeroisation(units: Units, values: Values) -> int:
    seen = units[MEMORY]
    written = (seen.begin("USER_EVENT_0") + seen.begin("USER_EVENT_1")) // 2
    return seen.begin(SENT) - values["local_slave_latency"] - written - 1


ZERO = Experiment(
    "zeroisation",
    "a memory tile sends words when it has a lock, while its memory is set to zero",
    (LOOP,),
    (Traced(MEMORY, "memory_tile", (*MARKS, STALL, SENT)),),
    _before_zero,
    _zero_steps,
    (
        Constant(
            "zeroisation",
            "the middle of USER_EVENT_0 and USER_EVENT_1 to PORT_RUNNING of the slave",
            _zeroisation,
        ),
    ),
    needed=("local_slave_latency",),
)


def _before_neighbour(script: Script) -> None:
    script.select_ports(EAST, "memory_tile", (RunningPort("DMA0"),))
    script.select_channels(EAST)
    receiver(script, EAST)
    for bd, more in ((0, {"next": 1}), (1, {"address": WEST.address(0)})):
        taken = take(script, EAST, bd)
        script.bd(EAST, bd, descriptor(script, EAST, _FEW, dims=apart(script, EAST), acquire=taken, **more))


NEIGHBOUR = Experiment(
    "neighbour",
    "a memory tile sends words of its own, then words of its western neighbour, each when it has a lock",
    (ScriptFlow(EAST, ("DMA", 0), EAST, ("DMA", 0)),),
    (Traced(EAST, "memory_tile", (STALL, SENT)),),
    _before_neighbour,
    guarded_steps(EAST, 2),
    (
        Constant(
            "neighbour_latency",
            "STALLED_LOCK ends to PORT_RUNNING: of the neighbour's words, less that of its own",
            lambda u, _: (
                u[EAST].after(SENT, u[EAST].end(STALL, 1))
                - u[EAST].end(STALL, 1)
                - u[EAST].begin(SENT)
                + u[EAST].end(STALL)
            ),
        ),
    ),
    columns=2,
)
