"""Bytes and channels that kernels need before anything has a place: buffers, stack, parameters, tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod

from memtile.adf.description import Kernel, Port
from memtile.adf.nets import Wiring
from memtile.adf.objects import BUFFERS, PARAMETERS, Objects
from memtile.adf.rates import Rates
from memtile.arch.core import CORES, DEFAULT_HEAP_BYTES, DEFAULT_STACK_BYTES
from memtile.arch.devices import Device
from memtile.arch.ports import PORTS, port_kind

PING_PONG = 2
_SIDES = [port_kind(name) for name in PORTS["compute"].masters]
WAYS_UP, WAYS_DOWN = _SIDES.count("NORTH"), _SIDES.count("SOUTH")
"""Circuits that the switches of a column of cores lead up and down."""


@dataclass(frozen=True, slots=True)
class Needs:
    """What a kernel takes of a tile: bytes of data memory, channels into it and out of it."""

    nbytes: int = 0
    inputs: int = 0
    outputs: int = 0

    def __add__(self, other: Needs) -> Needs:
        return Needs(self.nbytes + other.nbytes, self.inputs + other.inputs, self.outputs + other.outputs)

    def __sub__(self, other: Needs) -> Needs:
        return Needs(self.nbytes - other.nbytes, self.inputs - other.inputs, self.outputs - other.outputs)

    def at_most(self, other: Needs) -> Needs:
        """The smaller of both, each."""
        return Needs(
            min(self.nbytes, other.nbytes), min(self.inputs, other.inputs), min(self.outputs, other.outputs)
        )

    def positive(self) -> Needs:
        """Without what is below 0."""
        return Needs(max(self.nbytes, 0), max(self.inputs, 0), max(self.outputs, 0))

    def __bool__(self) -> bool:
        return self.nbytes > 0 or self.inputs > 0 or self.outputs > 0


def alignment(device: Device) -> int:
    """Bytes to whose multiples buffers of kernels are aligned: a vector access (DEV-ADF-15)."""
    return CORES[device.generation].vector_bits // 8


def parameter_bytes(port: Port) -> int:
    """Bytes of a parameter's value."""
    return prod(port.dimensions) * port.element_bytes


def block_bytes(port: Port, rates: Rates) -> int:
    """Bytes of one buffer of a kernel's port, margin included."""
    return (rates.blocks.get(port.id, 0) + rates.margins[port.id]) * port.element_bytes


def may_share(objects: Objects, wiring: Wiring, rates: Rates) -> bool:
    """Whether one set of buffers can carry a net between two kernels that reach the same memory (DEV-ADF-11).

    It has one source and one target, with blocks of the same size and without tilings.
    """
    ends = (*wiring.sources, *wiring.targets)
    if len(wiring.sources) != 1 or len(wiring.targets) != 1 or wiring.packets:
        return False
    ports = [objects.ports[end.port] for end in ends]
    if any(port.kind not in BUFFERS or port.read_access or port.write_access for port in ports):
        return False
    return len({rates.elements.get(end) for end in ends}) == 1 and ports[0].owner != ports[1].owner


def stack_bytes(kernels: Iterable[Kernel]) -> int:
    """Bytes of the stack of a core: the largest that its kernels ask for (DEV-ADF-14)."""
    return max((k.stack_size or DEFAULT_STACK_BYTES for k in kernels), default=DEFAULT_STACK_BYTES)


def heap_bytes(kernels: Iterable[Kernel]) -> int:
    """Bytes of the heap of a core: the largest that its kernels ask for (DEV-ADF-14)."""
    return max(
        (DEFAULT_HEAP_BYTES if k.heap_size is None else k.heap_size for k in kernels),
        default=DEFAULT_HEAP_BYTES,
    )


def shared_ends(objects: Objects, wirings: Iterable[Wiring], rates: Rates) -> dict[int, bool]:
    """Ports whose nets memory can carry, and whether they read."""
    ends: dict[int, bool] = {}
    for wiring in wirings:
        if may_share(objects, wiring, rates):
            ends[wiring.sources[0].port] = False
            ends[wiring.targets[0].port] = True
    return ends


def needs_of(objects: Objects, kernel: Kernel, shared: Mapping[int, bool], rates: Rates) -> Needs:
    """What a kernel takes at most: buffers are double unless the user says single.

    What memory may carry (``shared_ends``) counts where it is read, without channels.
    """
    total = Needs(stack_bytes([kernel]) + heap_bytes([kernel]))
    for number in kernel.ports:
        port = objects.ports[number]
        copies = 1 if port.single else PING_PONG
        nbytes = copies * block_bytes(port, rates)
        if port.kind in PARAMETERS:
            total += Needs(copies * parameter_bytes(port))
        elif port.kind in BUFFERS and number in shared:
            total += Needs(nbytes if shared[number] else 0)
        elif port.kind in BUFFERS:
            total += Needs(nbytes, int(port.direction == "in"), int(port.direction == "out"))
    return total + Needs(sum(objects.tables[t].nbytes for t in kernel.tables if t in objects.tables))


def ways_outside(objects: Objects, wirings: Iterable[Wiring]) -> dict[int, tuple[int, int]]:
    """Kernel -> streams that it gets from what is no kernel, and that it sends there."""
    out = {kernel: [0, 0] for kernel in objects.kernels}
    for wiring in wirings:
        for ends, others, which in ((wiring.targets, wiring.sources, 0), (wiring.sources, wiring.targets, 1)):
            if all(objects.ports[end.port].owner in objects.kernels for end in others):
                continue
            for port in (objects.ports[end.port] for end in ends):
                if port.owner in out and port.kind not in PARAMETERS:
                    out[port.owner][which] += 1
    return {kernel: (up, down) for kernel, (up, down) in out.items()}
