"""Random designs of an entire array as plain data, and what builds the array of one.

A design is a device and some parts. Each part takes the channels, tiles and locks that it needs; parts are
independent, so that a design without one of them is a design too.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, NamedTuple

from adversary.array_hosts import Again, Hosted, Seen
from adversary.array_orders import Asked, Early, Merged, Rewired
from adversary.array_parts import (
    Builder,
    Cascade,
    Control,
    CoreStream,
    Fan,
    Feed,
    Loop,
    Packets,
    Part,
    Relay,
    Work,
)
from memtile import Array
from memtile.arch.devices import device as device_named
from memtile.arch.timing import Timing
from memtile.errors import MemtileError

DEVICES = ("npu1", "npu2", "xcve2802", "xc2ve3858")
TIMINGS: tuple[dict[str, int], ...] = (
    {},
    {"external_latency": 20, "external_write_latency": 10, "external_egress_words": 16},
    {"external_latency": 37, "external_first_read": 90, "external_first_write": 40, "ingress_words": 3},
    {"port_pause": 1, "ingress_latency": 2, "wire_start": 1, "external_latency": 20},
    {"port_pause": 1, "core_lock_wait": 4, "s2mm_lock_wait": 5, "mm2s_lock_wait": 6},
    {"ingress_ahead": 0, "ingress_words": 6, "task_start": 23, "finished_bd_delay": 7},
    {"cascade_latency": 4, "ingress_words": 1, "memory_egress_words": 4, "neighbour_latency": 3},
)
ACCESSES = (0, 1, 20)  # cycles of an access of the host
PARTS: dict[type[Part], int] = {
    Relay: 5, Loop: 4, Work: 5, Cascade: 4, CoreStream: 2, Packets: 4, Fan: 2, Control: 3, Feed: 2,
    Hosted: 5, Seen: 3, Again: 3, Merged: 2, Asked: 2, Rewired: 2, Early: 2,
}  # fmt: skip
"""Kinds of parts, and how often each is drawn."""
_ROUNDS = ("rounds", "again", "values", "times")
_ALIKE = 48
_CUTS = (1, 7, 40, 150, 600, 2500)
_FEW, _MANY = (1, 2, 3, 5, 20), (20, 60, 120)  # rounds; of many, time is skipped
_MOST_PARTS = (1, 1, 2, 2, 3, 4, 6)


class Design(NamedTuple):
    """Everything that a run depends on.

    Attributes:
        device: name of the device.
        columns: columns of the array.
        timing: number of one of ``TIMINGS``.
        access: number of one of ``ACCESSES``.
        parts: of the design.
        stops: cycles of runs before the one to the end, for pairs that cut runs.
    """

    device: str
    columns: int
    timing: int
    access: int
    parts: tuple[Part, ...]
    stops: tuple[int, ...]


def drawn(seed: int) -> Design:
    """Return the design of a seed; all of its parts fit together."""
    return drawn_array(seed)[0]


def drawn_array(seed: int) -> tuple[Design, Array]:
    """Return the design of a seed, and its array before its first cycle.

    Designs of neighbouring seeds have the same device, columns and constants: what is made of these is slow.
    """
    frame, rng = random.Random(seed // _ALIKE), random.Random(seed)
    device = frame.choice(DEVICES)
    columns = frame.choice((1, 1, 2, 2, 3, 4) if device.startswith("npu") else (1, 2, 3, 3, 4, 4))
    timing, is_long = frame.randrange(len(TIMINGS)), rng.random() < 0.4
    space = Space(device, columns, _MANY if is_long else _FEW)
    stops = tuple(rng.choice(_CUTS) + rng.randrange(40) for _ in range(rng.randint(1, 4)))
    kinds = rng.choices(
        [*PARTS], [*PARTS.values()], k=rng.choice(_MOST_PARTS[:3] if is_long else _MOST_PARTS)
    )
    parts = tuple(kind.drawn(rng, space) for kind in kinds)
    found = Design(device, columns, timing, rng.randrange(len(ACCESSES)), parts, stops)
    while True:
        try:
            return found, build(found)
        except MemtileError:
            parts = found.parts[:-1] or (rng.choice([*PARTS]).drawn(rng, space),)
            found = found._replace(parts=parts)


class Space(NamedTuple):
    """Where parts can be.

    Attributes:
        device: name of the device.
        columns: of the array.
        rounds: how often parts may do what they do.
    """

    device: str
    columns: int
    rounds: tuple[int, ...]

    @property
    def memory_rows(self) -> range:
        """Rows of memory tiles."""
        return device_named(self.device).memory_rows

    @property
    def compute_rows(self) -> range:
        """Rows of compute tiles."""
        return device_named(self.device).compute_rows


def empty(design: Design) -> Array:
    """Return the array of a design without its parts."""
    timing = Timing(access_cycles=ACCESSES[design.access], **TIMINGS[design.timing])
    return Array(design.device, design.columns, timing)


def fill(design: Design, array: Array) -> Builder:
    """Add the parts of a design to its array and return what added them."""
    builder = Builder(array)
    for part in design.parts:
        part.add(builder)
    builder.finish()
    array.route()
    return builder


def build(design: Design) -> Array:
    """Return the array of a design, before its first cycle."""
    return fill(design, empty(design)).array


def features(design: Design) -> set[str]:
    """Return names of what a design has."""
    found = {f"device {design.device}", f"{len(design.parts)} parts"}
    rounds = [getattr(part, name, 0) for part in design.parts for name in _ROUNDS]
    if any(isinstance(each, int) and each >= _MANY[0] for each in rounds):
        found.add("many rounds")
    if design.columns > 1:
        found.add("several columns")
    for part in design.parts:
        found |= {type(part).__name__, *part.features()}
    return found


# smaller designs -----------------------------------------------------------------------------------------


def smaller(value: Any) -> Iterator[Any]:
    """Values of the same form that are smaller: fewer parts first, then smaller numbers."""
    if hasattr(value, "_fields"):
        names = sorted(value._fields, key=lambda name: not isinstance(getattr(value, name), tuple))
        for name in names:
            yield from (value._replace(**{name: less}) for less in smaller(getattr(value, name)))
    elif isinstance(value, tuple):
        for n in range(len(value)):
            yield value[:n] + value[n + 1 :]
        for n, each in enumerate(value):
            yield from ((*value[:n], less, *value[n + 1 :]) for less in smaller(each))
    elif value in DEVICES:
        yield from DEVICES[: DEVICES.index(value)]
    elif isinstance(value, bool):
        yield from [False] * value
    elif isinstance(value, int):
        yield from dict.fromkeys(less for less in (0, 1, 2, 4, value // 2, value - 1) if 0 <= less < value)
