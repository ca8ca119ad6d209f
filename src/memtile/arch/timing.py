"""Timing constants of the model, each with unit, range, source and grade; users may replace any of them.

``docs/timing.md`` defines the phases of a cycle that these numbers refer to.

It also has timing constants that the user of a design chooses over those of the design.

They are in force where they are asked for and nowhere else: ``memtile run --timing`` and
``memtile.run(design, timing=...)`` have each model that is made inside take them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from enum import Enum, IntFlag, auto
from functools import cache, lru_cache, partial
from typing import Any, SupportsIndex

from memtile.arch.boards import ASSUMED, BOARDS, OF_OTHERS, SPREAD, board
from memtile.arch.grades import Grade, Source
from memtile.errors import DesignError, Problem, raise_if


class Unlimited(IntFlag):
    """Resources that a run may have without limit, to find what they cost (``Timing.unlimited``).

    No chip has them; the words of a run are the same, for as long as nothing depends on its timing.
    """

    BANKS = 1  # each bank serves all of its requests in the cycle in which they come
    NEIGHBOURS = 2  # each access to a neighbour's memory goes to its bank at once
    PACKETS = 4  # packets to one receiver take the way to it without arbiters and wires in between
    DESCRIPTORS = 8  # a BD whose lock is free begins in the cycle in which the one before it ends


class Used(Enum):
    """When the model uses a constant."""

    SET_UP = auto()  # also while it is built or configured: another value needs a new model
    RUNNING = auto()  # only once its clock runs


def _constant(
    default: int,
    low: int,
    high: int,
    unit: str,
    source: str,
    grade: Grade,
    likely: tuple[int, int] | None = None,
    *,
    shown_by: tuple[str, ...] = (),
    used: Used,
) -> Any:
    """A constant with all that is known of it.

    Args:
        default: value.
        low: lowest value with which the model is meaningful.
        high: highest one.
        unit: of the value.
        source: of the default.
        grade: of the source.
        likely: range in which it is expected or was measured to be; None = no spread.
        used: when the model uses it.
        shown_by: of a constant that is assumed, what shows that a run depended on it: causes of channels or
            cores on which cycles were spent, ``table.column`` of the state with a value above that at rest.

    Raises:
        ValueError: nothing shows that a run depended on an assumed constant.
    """
    if (grade is Grade.ASSUMED) != bool(shown_by):
        raise ValueError(f"{source}: shown_by belongs to assumed constants, and to all of them")
    meta = {"low": low, "high": high, "unit": unit, "source": Source(source, grade), "likely": likely}
    return field(default=default, metadata={**meta, "used": used, "shown_by": shown_by})


_at_set_up, _in_runs = partial(_constant, used=Used.SET_UP), partial(_constant, used=Used.RUNNING)

WIRE_IDLE = 8
"""Cycles without a word after which a wire between tiles is idle; assumed: 1 is too few, 1,000 are enough."""


@dataclass(frozen=True, slots=True)
class Timing:
    """Every latency and buffer depth that the cycle engine uses.

    No constant explains some measurements: the rest of a relay's first word (DEV-SILICON-1), how often two
    sides meet in a bank (DEV-SILICON-3), on which side of a port its events are (DEV-SILICON-4), descriptors
    that transactions use twice (DEV-SILICON-5), a cycle between a core's stream and its sender
    (DEV-SILICON-6), when a waiting task is reported to start (DEV-SILICON-7), and how far a sender
    fetches ahead (DEV-SILICON-8).

    Raises:
        DesignError: a value is outside the range in which the model is meaningful.
    """

    ingress_words: int = _at_set_up(
        16, 1, 32, "words", "GT-6: full 15 cycles after the lock stall starts; a lower bound", Grade.SILICON
    )
    port_pause: int = _in_runs(
        0, 0, 1, "cycles", "cases relay-received-*: 1 on Phoenix: none after a BD's last", Grade.SILICON
    )
    ingress_latency: int = _in_runs(
        1,
        1,
        2,
        "cycles",
        "case back-pressure-cycles: word enters to its S2MM taking it; 2 on Phoenix",
        Grade.SILICON,
    )
    ingress_ahead: int = _in_runs(
        1, 0, 1, "rule", "DEV-INGRESS-2: 32-bit streams; 0: ports take what a BD needs", Grade.SILICON
    )
    ingress_beats: int = _at_set_up(
        2, 1, 32, "beats", "GT-31: 64-bit streams, a channel that waits for its lock", Grade.SILICON
    )
    ingress_bds: int = _in_runs(
        0,
        0,
        8,
        "BDs",
        "GT-31: BDs ahead whose words bound what such a channel takes; 0: ingress_beats alone does",
        Grade.SILICON,
    )
    memory_egress_words: int = _at_set_up(
        8, 4, 32, "words", "GT-3: span 251 contiguous against 258 strided", Grade.SILICON
    )
    compute_egress_words: int = _at_set_up(
        15, 4, 32, "words", "GT-1: span 244 of 256 contiguous words", Grade.SILICON
    )
    finished_bd_delay: int = _in_runs(
        2, 0, 16, "cycles", "GT-3: last access granted to FINISHED_BD, span 258 strided", Grade.SILICON
    )
    task_start: int = _at_set_up(
        4,
        1,
        64,
        "cycles",
        "push to first lock request of an idle channel",
        Grade.ASSUMED,
        likely=(1, 16),
        shown_by=("Cause.TASK_START",),
    )
    task_load: int = _in_runs(
        0, 0, 64, "cycles", "case drain-starved: START_TASK to lock request; 12 on Phoenix", Grade.SILICON
    )
    zeroisation: int = _at_set_up(
        2048,
        1,
        1 << 20,
        "cycles",
        "one 128-bit write per bank and cycle",
        Grade.ASSUMED,
        likely=(1024, 4096),
        shown_by=(
            "Cause.MEMORY_BUSY",
            "CoreCause.MEMORY_BUSY",
        ),
    )
    scrub_granules: int = _at_set_up(
        1,
        1,
        1 << 15,
        "accesses",
        "what one occurrence of the scrubbing event has read",
        Grade.ASSUMED,
        likely=(1, 8),
        shown_by=("guards.steps",),
    )
    neighbour_latency: int = _in_runs(
        0,
        0,
        16,
        "cycles",
        "an access to a neighbour's memory asks so much later",
        Grade.ASSUMED,
        likely=(0, 4),
        shown_by=("interfaces.served",),
    )
    core_lock: int = _in_runs(
        1,
        0,
        16,
        "cycles",
        "case core-lock-stall: a core's lock operation, also when uncontended",
        Grade.SILICON,
    )
    core_lock_wait: int = _in_runs(
        0,
        0,
        16,
        "cycles",
        "case eights-full-to-core: grant to the end of its wait; 4 on Phoenix",
        Grade.SILICON,
    )
    s2mm_lock_wait: int = _in_runs(
        0, 0, 16, "cycles", "case eights-freed-to-port: the same of an S2MM; 5 on Phoenix", Grade.SILICON
    )
    mm2s_lock_wait: int = _in_runs(
        0, 0, 16, "cycles", "case eights-given-to-port: the same of an MM2S; 6 on Phoenix", Grade.SILICON
    )
    cascade_latency: int = _in_runs(
        2,
        2,
        16,
        "cycles",
        "value put on a cascade to the neighbour's getting it",
        Grade.ASSUMED,
        likely=(2, 4),
        shown_by=("cascades.in_taken",),
    )

    external_latency: int = _in_runs(
        100,
        1,
        1 << 16,
        "cycles",
        "external read granted to its words at the stream; varies",
        Grade.ASSUMED,
        likely=(50, 400),
        shown_by=("Cause.EXTERNAL",),
    )
    external_write_latency: int = _in_runs(
        100,
        1,
        1 << 16,
        "cycles",
        "external write granted to its response; varies",
        Grade.ASSUMED,
        likely=(50, 400),
        shown_by=("Cause.EXTERNAL",),
    )
    external_egress_words: int = _in_runs(
        128,
        8,
        384,
        "words",
        "enough to cover external_latency at one word a cycle",
        Grade.ASSUMED,
        likely=(64, 256),
        shown_by=("Cause.EXTERNAL",),
    )
    external_ahead: int = _in_runs(
        0, 0, 1, "rule", "DEV-EXT-6: 1 on Strix: tiles read ahead, tokens leave then", Grade.SILICON
    )
    external_beside: int = _in_runs(
        0, 0, 256, "cycles", "case halo-feed-4: a read, for each other tile that reads; 14", Grade.SILICON
    )
    external_first_read: int = _in_runs(
        0,
        0,
        1 << 16,
        "cycles",
        "case chain-1-mm2s: a channel's first read so much later, 1,255 on Phoenix; 0 leaves it out",
        Grade.SILICON,
        likely=(0, 1713),
    )
    external_first_write: int = _in_runs(
        0,
        0,
        1 << 16,
        "cycles",
        "case chain-1-s2mm: a channel's first answer so much later, 358 on Phoenix; 0 leaves it out",
        Grade.SILICON,
        likely=(321, 692),
    )
    external_burst_overhead: int = _in_runs(
        1,
        0,
        64,
        "cycles",
        "AXI master busy for each burst beside its beats",
        Grade.ASSUMED,
        likely=(0, 4),
        shown_by=("Cause.EXTERNAL",),
    )

    external_port_latency: int = _at_set_up(
        2, 1, 8, "cycles", "AM020 chapter 2: stream switch, external master and slave ports", Grade.MANUAL
    )
    external_port_words: int = _at_set_up(4, 2, 16, "words", "AM020 chapter 2: stream switch", Grade.MANUAL)
    local_slave_latency: int = _at_set_up(2, 1, 8, "cycles", "AM020 chapter 2: stream switch", Grade.MANUAL)
    local_slave_words: int = _at_set_up(4, 2, 16, "words", "AM020 chapter 2: stream switch", Grade.MANUAL)
    local_master_latency: int = _at_set_up(1, 1, 8, "cycles", "AM020 chapter 2: stream switch", Grade.MANUAL)
    local_master_words: int = _at_set_up(2, 2, 16, "words", "AM020 chapter 2: stream switch", Grade.MANUAL)

    wire_start: int = _in_runs(
        0,
        0,
        1,
        "cycles",
        "case relay-first-sent-run: 1 on Phoenix: first word over a wire that was idle; 0 leaves it out",
        Grade.SILICON,
    )
    packet_arbitration: int = _in_runs(
        1,
        0,
        8,
        "cycles",
        "header at the front of its port to header moving; once a packet",
        Grade.ASSUMED,
        likely=(0, 4),
        shown_by=("arbiters.packets",),
    )

    token_words: int = _in_runs(
        16,
        1,
        64,
        "words",
        "tokens and answers that a tile holds; GT-16: eight never stall",
        Grade.ASSUMED,
        likely=(8, 32),
        shown_by=("Cause.TOKEN_BLOCKED",),
    )
    count_fifo_words: int = _in_runs(
        8,
        1,
        16,
        "words",
        "finish-on-TLAST counts that a channel holds",
        Grade.ASSUMED,
        likely=(4, 16),
        shown_by=("Cause.TOKEN_BLOCKED",),
    )

    broadcast_hop: int = _at_set_up(
        2,
        1,
        7,
        "cycles",
        "cases broadcast-*: 4 cycles a column, 2 a row, 2 from core to memory",
        Grade.SILICON,
    )

    unlimited: int = _in_runs(
        0, 0, 15, "bits", "AM020 has no such mode; for --bottleneck, see ``Unlimited``", Grade.MANUAL
    )

    access_cycles: int = _at_set_up(
        20,
        0,
        1 << 16,
        "cycles",
        "from one memory-mapped access of a host to its next one",
        Grade.ASSUMED,
        likely=(5, 100),
        shown_by=("clock.host_waited",),
    )
    firmware_access: int = _at_set_up(
        100,
        0,
        1 << 16,
        "cycles",
        "GT-20: a write of a transaction, 87 and 114 by turns",
        Grade.SILICON,
        likely=(87, 114),
    )
    firmware_word: int = _at_set_up(
        13, 0, 1 << 12, "cycles", "GT-20: each word of a block write of a transaction", Grade.SILICON
    )
    firmware_push: int = _at_set_up(
        3050,
        0,
        1 << 20,
        "cycles",
        "GT-21: from one queue push of a transaction to the next",
        Grade.SILICON,
        likely=(2871, 3198),
    )
    firmware_push_elf: int = _at_set_up(
        1500, 0, 1 << 20, "cycles", "GT-32: the same from an ELF", Grade.SILICON, likely=(1375, 1600)
    )
    firmware_room: int = _at_set_up(
        0, 0, 1, "rule", "GT-32: 1 on Strix: a push of an xclbin waits for room; 0: lost", Grade.SILICON
    )
    queue_running: int = _in_runs(
        0, 0, 1, "rule", "GT-32: 1 on Strix: the running task is one of the queue's four", Grade.SILICON
    )

    @classmethod
    def of_board(cls, name: str) -> Timing:
        """The constants of a board: "phoenix", "strix", "strix_halo", or the set "assumed" of none.

        An array uses those of its device's board unless others are given: of an npu1 "phoenix", of an npu2
        "strix". See docs/silicon.md for the measurements and docs/timing.md for their definitions.

        Raises:
            DesignError: no such board.
        """
        return cls(**board(name))

    def __post_init__(self) -> None:
        """Check every constant: a whole number, within its range."""
        problems = []
        for f in fields(self):
            value, low, high = getattr(self, f.name), f.metadata["low"], f.metadata["high"]
            whole = type(value) is int or (isinstance(value, SupportsIndex) and not isinstance(value, bool))
            if whole and low <= value <= high:
                continue
            problems.append(
                Problem(
                    f.name,
                    f"{value} {f.metadata['unit']}" if whole else repr(value),
                    f"{low}..{high} {f.metadata['unit']}",
                    "" if whole else f"{f.name} is {value!r}; it must be a whole number of {low}..{high}",
                    reason="timing",
                    where="timing constants",
                    source=f.metadata["source"].text,
                )
            )
        raise_if(problems, DesignError)


@cache
def sets() -> Mapping[str, Mapping[str, int]]:
    """What ``--timing NAME`` chooses, by name: of each board all constants that differ on any."""
    names = dict.fromkeys(name for measured in BOARDS.values() for name in measured)
    made = {each: Timing.of_board(each) for each in (*BOARDS, ASSUMED)}
    return {each: {name: getattr(timing, name) for name in names} for each, timing in made.items()}


@lru_cache
def board_of(timing: Timing, usual: str) -> str:
    """The board that a model is of: the one all of whose constants were chosen, else the usual one.

    Args:
        timing: constants of the model; those that are alike on all boards do not matter.
        usual: board of the device.
    """
    for name, values in sets().items():
        if name != ASSUMED and all(getattr(timing, each) == value for each, value in values.items()):
            return name
    return usual


def of_run(board: str, changes: Mapping[str, int]) -> dict[str, int]:
    """The constants of a run, to have them again whatever is chosen then.

    Args:
        board: that its model was of.
        changes: constants that had another value than on that board, see :func:`changed`.
    """
    return {**(sets()[board] if board else _NONE), **changes}


def constants() -> list[dict[str, int | str | list[int] | None]]:
    """Every timing constant as plain data: name, default, ranges, unit, grade and source."""
    return [
        {
            "name": f.name,
            "default": int(str(f.default)),
            "lowest": f.metadata["low"],
            "highest": f.metadata["high"],
            "likely": None if f.metadata["likely"] is None else list(f.metadata["likely"]),
            "unit": f.metadata["unit"],
            "grade": str(f.metadata["source"].grade),
            "source": f.metadata["source"].text,
        }
        for f in fields(Timing)
    ]


def likely(name: str, board: str = "", value: int | None = None) -> tuple[int, int]:
    """The range in which a constant is expected to be or was measured; without a spread its value twice.

    Args:
        name: of the constant.
        board: whose spread counts, if there is one.
        value: that the constant has; outside the spread of the board it is not of that board.
    """
    low, high = {**OF_OTHERS.get(board, {}), **SPREAD.get(board, {})}.get(name, (1, 0))
    if low <= (low if value is None else value) <= high:
        return low, high
    (found,) = (f for f in fields(Timing) if f.name == name)
    default = int(str(found.default))
    return found.metadata["likely"] or (default, default)


def is_measured(name: str, board: str, value: int) -> bool:
    """Whether a value of a constant is the one that was measured on a board."""
    return BOARDS.get(board, _NONE).get(name) == value


def sources() -> dict[str, Source]:
    """Source and grade of every timing constant, by name."""
    return {f.name: f.metadata["source"] for f in fields(Timing)}


def names_used(when: Used) -> frozenset[str]:
    """Names of the constants that the model uses then."""
    return frozenset(f.name for f in fields(Timing) if f.metadata["used"] is when)


ARRAY_CLOCK_MHZ = 1250  # clock at which the manual's 30 GB/s per direction is 24 bytes a cycle (AM020)
LAUNCH_CYCLES = 10_000  # that cores have had when a host begins, if they need them: assumed (DEV-HOST-3)


_NONE: Mapping[str, int] = {}
_DEFAULTS = Timing()
_LOOKS: ContextVar[list[None] | None] = ContextVar("looks at the constants of models", default=None)
_CHOSEN: ContextVar[Mapping[str, int]] = ContextVar("timing constants chosen for all models", default=_NONE)


@contextmanager
def chosen_timing(constants: Mapping[str, int]) -> Iterator[None]:
    """Have all models that are made inside take these constants.

    Args:
        constants: values by the names of :class:`Timing`.

    Raises:
        DesignError: names that are no constants, values outside their ranges; all at once.
    """
    names = [f.name for f in fields(Timing)]
    raise_if([_unknown(name, names) for name in constants if name not in names], DesignError)
    _with(_DEFAULTS, constants)
    token = _CHOSEN.set({**_CHOSEN.get(), **constants})
    try:
        yield
    finally:
        _CHOSEN.reset(token)


def timing_in_force(timing: Timing | None = None, board: str = "") -> Timing:
    """The constants of a model that is made here: those given or its board's, but for the chosen ones."""
    return _with(timing or default_timing(board), _CHOSEN.get())


@lru_cache
def default_timing(board: str) -> Timing:
    """The constants of a device with this board when nobody gives others; the assumed set without one."""
    return Timing.of_board(board)


def _with(timing: Timing, chosen: Mapping[str, int]) -> Timing:
    """The constants with others in their places; to check them takes longer than to find what is known."""
    if all(type(value) is int for value in chosen.values()):
        return _known_with(timing, tuple(chosen.items()))
    return replace(timing, **chosen)


@lru_cache
def _known_with(timing: Timing, chosen: tuple[tuple[str, int], ...]) -> Timing:
    return replace(timing, **dict(chosen))


@contextmanager
def noting_looks() -> Iterator[list[None]]:
    """Context with a list that has an entry for each look at the constants of a model made in it."""
    looks: list[None] = []
    token = _LOOKS.set(looks)
    try:
        yield looks
    finally:
        _LOOKS.reset(token)


def looked() -> None:
    """Somebody looks at the constants of a model: what it does then may hang on them."""
    looks = _LOOKS.get()
    if looks is not None:
        looks.append(None)


def changed(timing: Timing, board: str = "") -> dict[str, int]:
    """The constants that differ from the defaults of a device with this board, by name."""
    usual = default_timing(board)
    values = {f.name: getattr(timing, f.name) for f in fields(timing)}
    return {name: value for name, value in values.items() if value != getattr(usual, name)}


def as_text(values: Mapping[str, int], board: str = "") -> str:
    """Constants with their values and defaults, in one line."""
    usual = default_timing(board)
    return ", ".join(f"{name} = {at} (default {getattr(usual, name)})" for name, at in values.items())


def as_json(values: Mapping[str, int], board: str = "") -> list[dict[str, int | str]]:
    """Constants with their values and defaults, as plain data."""
    usual = default_timing(board)
    return [{"name": n, "value": value, "default": getattr(usual, n)} for n, value in values.items()]


def _unknown(name: str, names: list[str]) -> Problem:
    near = get_close_matches(name, names, 1)
    return Problem(
        name,
        repr(name),
        ", ".join(names),
        f"there is no constant {name!r}; there are {', '.join(names)}",
        f"Did you mean {near[0]}?" if near else "",
        reason="timing",
        where="timing constants",
        source="docs/timing.md",
    )
