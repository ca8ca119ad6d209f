"""All measurements: what each design does, and how its constants follow from its trace (docs/timing.md).

Each constant is a difference of cycles of one trace unit, or a number of words, so that no timers of two
tiles need to agree. A design uses descriptors, locks and streams alone: no core runs a program.
"""

from __future__ import annotations

from collections.abc import Callable

from memtile.arch.events import EVENTS
from memtile.bd.descriptor import Acquire, Descriptor, Dim, Packet
from memtile.bd.windows import OWN, WEST, DmaAddress, DmaLock
from memtile.explore.measure.experiment import Constant, Experiment, Units, Values
from memtile.explore.measure.script import Flow, Place, Port, Script, Traced

INTERFACE, MEMORY, COMPUTE, EAST = (0, 0), (0, 1), (0, 2), (1, 1)
WORDS = 64
_START, _STALL = "DMA_MM2S_SEL0_START_TASK", "DMA_MM2S_SEL0_STALLED_LOCK"
_FINISHED = "DMA_MM2S_SEL0_FINISHED_BD"
_BACK_PRESSURE, _STARVED = "DMA_MM2S_SEL0_STREAM_BACKPRESSURE", "DMA_MM2S_SEL0_MEMORY_STARVATION"
_SENT, _TAKEN = "PORT_RUNNING_0", "PORT_RUNNING_1"
_MARKS = ("USER_EVENT_0", "USER_EVENT_1")
_LOOP = Flow(MEMORY, ("DMA", 0), MEMORY, ("DMA", 0))
_BROADCAST, _ANSWER = 3, 4  # broadcast channels
_GUARDED = 3  # descriptors
_PASSES = 40  # accesses after the last step: some thousand cycles


def _descriptor(script: Script, place: Place, words: int = WORDS, **more: object) -> Descriptor:
    name = script.device.tile(*place)
    at = OWN.address(0) if script.kind(place).role == "memory" else DmaAddress(0)
    return Descriptor(name, words, **({"address": at} | more))  # type: ignore[arg-type]


def _take(script: Script, place: Place, number: int) -> Acquire:
    lock = OWN.lock(number) if script.kind(place).role == "memory" else DmaLock(number)
    return Acquire(lock, -1, enable=True)


def _in_one_bank(script: Script, place: Place) -> tuple[Dim, ...]:
    """Granule after granule of one bank of a memory tile."""
    kind = script.kind(place)
    return (Dim(1, kind.granule_words), Dim(kind.banks * kind.granule_words, 0))


def _apart(script: Script, place: Place) -> tuple[Dim, ...]:
    """A word for each access, all of them in one bank of a memory tile."""
    kind = script.kind(place)
    return (Dim(kind.banks * kind.granule_words, 0),)


def _receiver(script: Script, place: Place, bd: int = 8) -> None:
    """A task of S2MM 0 that takes whatever comes; in a memory tile into the bank in the middle alone."""
    kind = script.kind(place)
    middle = kind.banks // 2 * kind.granule_words
    dims = _in_one_bank(script, place)
    at = OWN.address(kind.memory_words // 2 + middle)
    script.bd(place, bd, _descriptor(script, place, 8 * WORDS, address=at, dims=dims))
    script.push(place, "S2MM", 0, bd)


def _loop_ports(script: Script, *more: Port) -> None:
    script.select_channels(MEMORY)
    script.select_ports(MEMORY, "memory_tile", (Port("DMA0"), *(more or (Port("DMA0", master=True),))))


def _guarded(script: Script, place: Place) -> None:
    """Three descriptors, each with its lock: a word for each access, whole accesses, and a single word."""
    for bd, dims, words in ((0, _apart, WORDS), (1, _in_one_bank, WORDS), (2, _apart, 1)):
        taken, following = _take(script, place, bd), bd + 1 if bd < _GUARDED - 1 else None
        walk = dims(script, place)
        made = _descriptor(script, place, words, dims=walk, acquire=taken, next=following)
        script.bd(place, bd, made)


def _guarded_steps(place: Place, locks: int = _GUARDED) -> Callable[[Script], None]:
    def steps(script: Script) -> None:
        script.push(place, "MM2S", 0, 0)
        if place == MEMORY:
            script.event(place, "memory_tile", "USER_EVENT_0")
            script.event(place, "memory_tile", "USER_EVENT_1")
        script.let_pass(5)
        for number in range(locks):
            script.lock(place, number, 1)
            script.let_pass(_PASSES)

    return steps


def _span(units: Units, place: Place, stall: str, finished: str, number: int) -> int:
    """From the end of a lock stall to the end of its descriptor, while the stream takes a word a cycle."""
    seen = units[place]
    seen.never(_BACK_PRESSURE if place == MEMORY else _C_BACK_PRESSURE)
    return seen.begin(finished, number) - seen.end(stall, number)


def _before_stream(script: Script) -> None:
    _loop_ports(script)
    _receiver(script, MEMORY)
    _guarded(script, MEMORY)


def _before_compute(script: Script) -> None:
    _receiver(script, MEMORY)
    _guarded(script, COMPUTE)


def _task_start(units: Units, _values: Values) -> int:
    seen = units[MEMORY]
    pushed = 2 * seen.begin("USER_EVENT_0") - seen.begin("USER_EVENT_1")
    return seen.begin(_START) - pushed


_EGRESS = "how much sooner FINISHED_BD is than the end of the stream, whole accesses, less a word for each"


def _egress(units: Units, place: Place, stall: str, finished: str) -> int:
    """Beats by which whole accesses run ahead of the stream; single words do not."""
    late = _span(units, place, stall, finished, 0) - WORDS
    beats = WORDS // units[place].stream_words
    return beats + late - _span(units, place, stall, finished, 1) + 1


STREAM = Experiment(
    "stream",
    "a memory tile sends words to itself: after its task begins, it waits for a lock",
    (_LOOP,),
    (Traced(MEMORY, "memory_tile", (_START, _STALL, _FINISHED, _SENT, _TAKEN, _BACK_PRESSURE, *_MARKS)),),
    _before_stream,
    _guarded_steps(MEMORY),
    (
        Constant(
            "task_start",
            "the push, which is as long before USER_EVENT_0 as USER_EVENT_1 is after it, to START_TASK",
            _task_start,
        ),
        Constant(
            "local_slave_latency",
            "STALLED_LOCK ends to PORT_RUNNING of the slave",
            lambda u, _: u[MEMORY].after(_SENT, u[MEMORY].end(_STALL, 1)) - u[MEMORY].end(_STALL, 1) - 2,
        ),
        Constant(
            "local_master_latency",
            "PORT_RUNNING of the slave to that of the master",
            lambda u, _: u[MEMORY].begin(_TAKEN) - u[MEMORY].begin(_SENT),
        ),
        Constant(
            "finished_bd_delay",
            "STALLED_LOCK ends to FINISHED_BD of a single word, less the cycle of its access",
            lambda u, _: _span(u, MEMORY, _STALL, _FINISHED, 2) - 1,
        ),
        Constant(
            "memory_egress_words",
            _EGRESS,
            lambda u, _: _egress(u, MEMORY, _STALL, _FINISHED),
        ),
    ),
)

_C_BACK_PRESSURE = "DMA_MM2S_0_STREAM_BACKPRESSURE"
_C_STALL, _C_FINISHED = "DMA_MM2S_0_STALLED_LOCK", "DMA_MM2S_0_FINISHED_BD"
EGRESS = Experiment(
    "compute_egress",
    "a compute tile sends words to the memory tile below it when it has a lock",
    (Flow(COMPUTE, ("DMA", 0), MEMORY, ("DMA", 0)),),
    (Traced(COMPUTE, "memory", (_C_STALL, _C_FINISHED, _C_BACK_PRESSURE)),),
    _before_compute,
    _guarded_steps(COMPUTE),
    (
        Constant(
            "compute_egress_words",
            _EGRESS,
            lambda u, _: _egress(u, COMPUTE, _C_STALL, _C_FINISHED),
        ),
    ),
)


def _before_blocked(script: Script) -> None:
    _loop_ports(script)
    script.bd(MEMORY, 0, _descriptor(script, MEMORY, 4 * WORDS, acquire=_take(script, MEMORY, 0)))


def _blocked_steps(script: Script) -> None:
    script.push(MEMORY, "MM2S", 0, 0)
    script.let_pass(5)
    script.lock(MEMORY, 0, 1)
    script.let_pass(_PASSES)


def _slave_words(units: Units, values: Values) -> int:
    """What left the channel before it was stopped, less what the buffers behind the slave hold."""
    seen = units[MEMORY]
    seen.once(_SENT)
    sent = seen.begin(_BACK_PRESSURE) - seen.end(_STALL) - 2
    return sent - values["ingress_words"] - values["local_master_words"]


BLOCKED = Experiment(
    "blocked",
    "a memory tile sends words to a channel of its own that has no task",
    (_LOOP,),
    (Traced(MEMORY, "memory_tile", (_STALL, _SENT, _TAKEN, _BACK_PRESSURE)),),
    _before_blocked,
    _blocked_steps,
    (
        Constant(
            "ingress_words", "cycles of PORT_RUNNING of the master", lambda u, _: u[MEMORY].cycles(_TAKEN)
        ),
        Constant(
            "local_master_words",
            "cycles of PORT_RUNNING of the slave, less those of the master",
            lambda u, _: u[MEMORY].cycles(_SENT) - u[MEMORY].cycles(_TAKEN),
        ),
        Constant(
            "local_slave_words",
            "STALLED_LOCK ends to STREAM_BACKPRESSURE, less ingress_words and local_master_words",
            _slave_words,
        ),
    ),
)

_NORTH = tuple(f"PORT_RUNNING_{n}" for n in range(1, 7))


def _before_north(script: Script) -> None:
    _loop_ports(script, *(Port(f"NORTH{n}", master=True) for n in range(6)))
    script.bd(MEMORY, 0, _descriptor(script, MEMORY, 4 * WORDS))


def _north(units: Units) -> str:
    """The master port that the compiler chose: the one that runs."""
    return max(_NORTH, key=units[MEMORY].cycles)


NORTH = Experiment(
    "north",
    "a memory tile sends words to a channel of the compute tile above it that has no task",
    (Flow(MEMORY, ("DMA", 0), COMPUTE, ("DMA", 0)),),
    (Traced(MEMORY, "memory_tile", (_SENT, *_NORTH)),),
    _before_north,
    _blocked_steps,
    (
        Constant(
            "external_port_latency",
            "PORT_RUNNING of the slave to that of the master to the north",
            lambda u, _: u[MEMORY].begin(_north(u)) - u[MEMORY].begin(_SENT),
        ),
        Constant(
            "external_port_words",
            "cycles of PORT_RUNNING of the slave, less those of the master to the north",
            lambda u, _: u[MEMORY].cycles(_SENT) - u[MEMORY].cycles(_north(u)),
        ),
    ),
)


_OTHER_BD = 24  # the first one of odd channels
_OTHER_START = "DMA_MM2S_SEL1_START_TASK"


def _before_packet(script: Script) -> None:
    _loop_ports(script, Port("DMA1"))
    _receiver(script, MEMORY)
    script.bd(MEMORY, 0, _descriptor(script, MEMORY, packet=Packet(20)))
    script.bd(MEMORY, _OTHER_BD, _descriptor(script, MEMORY))


def _packet_steps(script: Script) -> None:
    for channel, bd in ((0, 0), (1, _OTHER_BD)):
        script.push(MEMORY, "MM2S", channel, bd)
        script.let_pass(_PASSES)


def _packet_arbitration(units: Units, _values: Values) -> int:
    seen = units[MEMORY]
    as_packet = seen.begin(_SENT) - seen.begin(_START)
    return as_packet - (seen.begin(_TAKEN) - seen.begin(_OTHER_START))


PACKET = Experiment(
    "packet",
    "a memory tile sends a packet to itself, then words by another channel",
    (Flow(MEMORY, ("DMA", 0), MEMORY, ("DMA", 0), 20), Flow(MEMORY, ("DMA", 1), MEMORY, ("DMA", 1))),
    (Traced(MEMORY, "memory_tile", (_START, _OTHER_START, _SENT, _TAKEN)),),
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


def _before_broadcast(script: Script) -> None:
    heard = EVENTS["core"][f"BROADCAST_{_BROADCAST}"]
    script.register(
        MEMORY, "memory_tile", f"Event_Broadcast{_BROADCAST}", Event=EVENTS["memory_tile"]["USER_EVENT_0"]
    )
    script.register(COMPUTE, "core", f"Event_Broadcast{_ANSWER}", Event=heard)


def _broadcast_steps(script: Script) -> None:
    script.event(MEMORY, "memory_tile", "USER_EVENT_0")
    script.let_pass(_PASSES)


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
    _loop_ports(script)
    _receiver(script, MEMORY)
    script.bd(MEMORY, 0, _descriptor(script, MEMORY, 4))


def _firmware_steps(script: Script) -> None:
    for _ in range(2):
        script.push(MEMORY, "MM2S", 0, 0)
    for words in (0, _BLOCK):
        script.event(MEMORY, "memory_tile", "USER_EVENT_0")
        if words:
            script.block(words)
        script.event(MEMORY, "memory_tile", "USER_EVENT_1")
    script.let_pass(_PASSES)


def _between(units: Units, number: int) -> int:
    seen = units[MEMORY]
    return seen.begin("USER_EVENT_1", number) - seen.begin("USER_EVENT_0", number)


FIRMWARE = Experiment(
    "firmware",
    "the host pushes two tasks, then generates events with and without a block of words between them",
    (_LOOP,),
    (Traced(MEMORY, "memory_tile", (_START, *_MARKS)),),
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
            lambda u, _: u[MEMORY].begin(_START, 1) - u[MEMORY].begin(_START),
        ),
    ),
)

_E_STALL, _E_FINISHED = "DMA_MM2S_0_STALLED_LOCK", "DMA_S2MM_0_FINISHED_BD"
_FEW = 16
_BEAT = 4  # words of one access to external memory
_APART = 32  # words between the words of a strided read: each is a burst of its own


def _before_external(script: Script) -> None:
    script.select_ports(INTERFACE, "pl", (Port("SOUTH3"), Port("SOUTH2", master=True)))
    for bd, argument, more in (
        (0, 1, {"acquire": _take(script, INTERFACE, 0), "next": 1}),
        (1, 1, {"acquire": _take(script, INTERFACE, 1), "dims": (Dim(_APART, 0),)}),
        (2, 2, {}),
    ):
        words = _BEAT if argument == 2 else _FEW
        script.bd(INTERFACE, bd, _descriptor(script, INTERFACE, words, **more))
        script.patch(bd, argument)
    _receiver(script, MEMORY)
    script.bd(MEMORY, 0, _descriptor(script, MEMORY, _BEAT))
    script.push(INTERFACE, "S2MM", 0, 2)


def _external_steps(script: Script) -> None:
    script.push(INTERFACE, "MM2S", 0, 0)
    script.let_pass(5)
    for number in range(2):
        script.lock(INTERFACE, number, 1)
        script.let_pass(_PASSES)
    script.push(MEMORY, "MM2S", 0, 0)
    script.let_pass(_PASSES)


EXTERNAL = Experiment(
    "external",
    "an interface tile reads external memory when it has a lock, in one burst and in many, and writes",
    (
        Flow(INTERFACE, ("DMA", 0), MEMORY, ("DMA", 0)),
        Flow(MEMORY, ("DMA", 0), INTERFACE, ("DMA", 0)),
    ),
    (Traced(INTERFACE, "pl", (_E_STALL, _E_FINISHED, _SENT, _TAKEN)),),
    _before_external,
    _external_steps,
    (
        Constant(
            "external_latency",
            "STALLED_LOCK ends to PORT_RUNNING of MM2S 0, less external_port_latency",
            lambda u, known: (
                u[INTERFACE].begin(_SENT) - u[INTERFACE].end(_E_STALL) - known["external_port_latency"] - 1
            ),
        ),
        Constant(
            "external_burst_overhead",
            "cycles from word to word, each a burst",
            lambda u, _: (
                (u[INTERFACE].end(_SENT, -1) - u[INTERFACE].after(_SENT, u[INTERFACE].end(_E_STALL, 1)) - 1)
                // (_FEW - 1)
                - 1
            ),
        ),
        Constant(
            "external_write_latency",
            "PORT_RUNNING of S2MM 0 ends to FINISHED_BD, less finished_bd_delay",
            lambda u, known: (
                u[INTERFACE].begin(_E_FINISHED)
                - u[INTERFACE].end(_TAKEN, -1)
                - known["finished_bd_delay"]
                - 1
            ),
        ),
    ),
    needed=("external_port_latency", "finished_bd_delay"),
    arguments=3,
)


def _before_zero(script: Script) -> None:
    _loop_ports(script)
    _receiver(script, MEMORY)
    script.bd(MEMORY, 0, _descriptor(script, MEMORY, acquire=_take(script, MEMORY, 0)))


def _zero_steps(script: Script) -> None:
    script.push(MEMORY, "MM2S", 0, 0)
    script.let_pass(5)
    script.event(MEMORY, "memory_tile", "USER_EVENT_0")
    script.register(MEMORY, "memory_tile", "Memory_Control", Memory_Interleaving=1, Memory_Zeroisation=1)
    script.event(MEMORY, "memory_tile", "USER_EVENT_1")
    script.lock(MEMORY, 0, 1)
    script.let_pass(2 * _PASSES)


def _zeroisation(units: Units, _values: Values) -> int:
    seen = units[MEMORY]
    written = (seen.begin("USER_EVENT_0") + seen.begin("USER_EVENT_1")) // 2
    return seen.end(_STARVED) - written - 1


ZERO = Experiment(
    "zeroisation",
    "a memory tile sends words when it has a lock, while its memory is set to zero",
    (_LOOP,),
    (Traced(MEMORY, "memory_tile", (*_MARKS, _STALL, _STARVED)),),
    _before_zero,
    _zero_steps,
    (
        Constant(
            "zeroisation",
            "the middle of USER_EVENT_0 and USER_EVENT_1 to the end of MEMORY_STARVATION",
            _zeroisation,
        ),
    ),
)


def _before_neighbour(script: Script) -> None:
    script.select_ports(EAST, "memory_tile", (Port("DMA0"),))
    script.select_channels(EAST)
    _receiver(script, EAST)
    for bd, more in ((0, {"next": 1}), (1, {"address": WEST.address(0)})):
        taken = _take(script, EAST, bd)
        script.bd(EAST, bd, _descriptor(script, EAST, _FEW, dims=_apart(script, EAST), acquire=taken, **more))


NEIGHBOUR = Experiment(
    "neighbour",
    "a memory tile sends words of its own, then words of its western neighbour, each when it has a lock",
    (Flow(EAST, ("DMA", 0), EAST, ("DMA", 0)),),
    (Traced(EAST, "memory_tile", (_STALL, _SENT)),),
    _before_neighbour,
    _guarded_steps(EAST, 2),
    (
        Constant(
            "neighbour_latency",
            "STALLED_LOCK ends to PORT_RUNNING: of the neighbour's words, less that of its own",
            lambda u, _: (
                u[EAST].after(_SENT, u[EAST].end(_STALL, 1))
                - u[EAST].end(_STALL, 1)
                - u[EAST].begin(_SENT)
                + u[EAST].end(_STALL)
            ),
        ),
    ),
    columns=2,
)

EXPERIMENTS = (
    STREAM, EGRESS, BLOCKED, NORTH, PACKET, BROADCAST, FIRMWARE, EXTERNAL, ZERO, NEIGHBOUR,
)  # fmt: skip
