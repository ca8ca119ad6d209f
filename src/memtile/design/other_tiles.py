"""The other tiles of an array: compute tiles and interface tiles.

It also has stack and heap of a compute tile's program, which lie in its data memory beside the buffers.

UG1603, AI Engine data memory: stack and heap lie in data memory, 1 KB each by default; the compiler may
compute the heap, and fails when the computed size is larger than the one given explicitly.
"""

from __future__ import annotations

from memtile.arch.core import CASCADE_STEPS, DEFAULT_HEAP_BYTES, DEFAULT_STACK_BYTES
from memtile.arch.pl_interface import DEFAULT_WIDTH
from memtile.arch.register_map import register_named
from memtile.design.arguments import as_truth, instance, refuse, truth, whole
from memtile.design.buffers import Buffer, Reserved
from memtile.design.events import SwitchEnd
from memtile.design.logic_ports import PlioIn, PlioOut, logic_end
from memtile.design.tile import Tile, TileSite
from memtile.errors import DesignError, Problem, raise_if
from memtile.sim.kernels.kernel_core import Kernel

_SOURCE = "UG1603: AI Engine data memory"


def stack_and_heap(
    where: str,
    *,
    stack: int = DEFAULT_STACK_BYTES,
    heap: int | None = None,
    heap_computed: int | None = None,
    stack_at: int | None = None,
    heap_at: int | None = None,
) -> list[Reserved]:
    """What a program takes of its tile's data memory beside the buffers; see ``ComputeTile.reserve``.

    Raises:
        DesignError: a negative size, or a heap that is smaller than computed.
    """
    size = max(DEFAULT_HEAP_BYTES, heap_computed or 0) if heap is None else heap
    raise_if([*_sizes(where, stack, size), *_heap(where, size, heap_computed)], DesignError)
    return [Reserved("stack", stack, stack_at), Reserved("heap", size, heap_at)]


def _sizes(where: str, stack: int, heap: int) -> list[Problem]:
    return [
        Problem(
            name,
            f"{nbytes} bytes",
            "0 bytes or more",
            f"the {name} is {nbytes} bytes; it must be 0 bytes or more",
            reason="size",
            where=where,
            source=_SOURCE,
        )
        for name, nbytes in (("stack", stack), ("heap", heap))
        if nbytes < 0
    ]


def _heap(where: str, given: int, computed: int | None) -> list[Problem]:
    if computed is None or computed <= given:
        return []
    return [
        Problem(
            "heap",
            f"{computed} bytes computed",
            f"at most the {given} bytes given",
            f"the code needs a heap of {computed} bytes; the heap given has {given}",
            f"Give a heap of {computed} bytes, or none.",
            reason="heap_size",
            where=where,
            source=_SOURCE,
        )
    ]


CASCADE_CONTROL = register_named("core", "Accumulator_Control")
_STREAM = "CORE0"
_CASCADES = {side: CASCADE_STEPS[side] for side in ("east", "south")}


class ComputeTile(Tile):
    """A compute tile: 64 KB of data memory, 1 KB each of it for stack and heap; two channels each way.

    Args:
        site: where it is in the array.
    """

    def __init__(self, site: TileSite) -> None:
        super().__init__(site.bench.device.kind("compute"), site)
        self.cascades_to: tuple[int, int] | None = None  # place of the tile that a cascade of it goes to
        self.cascades_from: tuple[int, int] | None = None
        self.reserve()

    @property
    def reserved(self) -> tuple[Buffer, ...]:
        """The bytes of stack and heap."""
        return self._memory.reserved

    def reserve(
        self,
        *,
        stack: int = DEFAULT_STACK_BYTES,
        heap: int | None = None,
        heap_computed: int | None = None,
        stack_at: int | None = None,
        heap_at: int | None = None,
    ) -> None:
        """Set the stack and heap in data memory, instead of 1 KB each at its beginning (UG1603).

        Args:
            stack: stack in bytes; 0 = none.
            heap: heap in bytes; None = the default, or the computed size if that is larger; 0 = none.
            heap_computed: heap size that the compiler computed for the program, in bytes; None = not known.
            stack_at: first byte of the stack; None = the lowest free one.
            heap_at: first byte of the heap; None = the lowest free one.

        Raises:
            DesignError: a negative size, a heap smaller than computed, or a stack or heap that does not fit
                or overlaps.
        """
        sizes = {"heap": heap, "heap_computed": heap_computed, "stack_at": stack_at, "heap_at": heap_at}
        wrong = [whole(name, size, optional=True) for name, size in sizes.items()]
        refuse(f"{self.title}, reserve", whole("stack", stack), *wrong)
        pieces = stack_and_heap(
            self.title,
            stack=stack,
            heap=heap,
            heap_computed=heap_computed,
            stack_at=stack_at,
            heap_at=heap_at,
        )
        self._memory.reserve(pieces)

    def run_kernel(self, kernel: Kernel, *, endless: bool | None = None) -> None:
        """Run a kernel on the core from the next cycle on.

        Args:
            kernel: generator function over a :class:`~memtile.sim.kernels.kernel_core.Core`.
            endless: True = the kernel serves as long as there is work: a run may end while the kernel waits
                for a lock. False = the kernel must finish. None = a kernel in an infinite loop (``while
                True``) may wait for more work, see docs/array.md.

        Raises:
            DesignError: not a function, or the core runs a kernel that has not finished.
        """
        if not callable(kernel):
            raise DesignError.of(
                "kernel",
                repr(kernel),
                "a generator function",
                next_step="Write one such as def kernel(core): yield core.cycles(8).",
                reason="kernel",
                where=self.title,
                source="kernels are Python",
            )
        refuse(f"{self.title}, run_kernel", truth("endless", endless, optional=True))
        self.engine.attach_kernel(self.index, kernel, endless=as_truth(endless))

    @property
    def stream_in(self) -> SwitchEnd:
        """The core's own stream port, as the end of a circuit: ``core.get_stream`` receives the words."""
        return SwitchEnd(self, _STREAM, receives=True)

    @property
    def stream_out(self) -> SwitchEnd:
        """The core's own stream port, as the start of a circuit: ``core.put_stream`` sends the words."""
        return SwitchEnd(self, _STREAM)

    def cascade_to(self, target: ComputeTile) -> None:
        """Connect the cascade output of this core to the core of a neighbour: in the east, or in the south.

        Args:
            target: the neighbour; its core receives the values that this core puts.

        Raises:
            DesignError: not such a neighbour, or an output or input that another cascade uses.
        """
        step = "Give array.compute_tile(column, row)."
        refuse(f"{self.title}, cascade_to", instance("target", target, ComputeTile, "a compute tile", step))
        side = next((s for s, step in _CASCADES.items() if self._place_beside(step) == target.place), None)
        if side is None:
            given, allowed = f"{self.title} to {target.title}", "the compute tile in the east or in the south"
            says = f"a cascade goes to {allowed} of its core's, not from {given}"
            raise self._cascade_error("cascade_side", given, allowed, says)
        taken = [("output", self.cascades_to, target), ("input", target.cascades_from, self)]
        for what, has, wanted in taken:
            if has not in (None, wanted.place):
                owner = self if what == "output" else target
                says = f"the cascade {what} of {owner.title} has tile {has} at its other end already"
                raise self._cascade_error("cascade_taken", f"tile {wanted.place}", f"tile {has}", says)
        self.cascades_to, target.cascades_from = target.place, self.place
        east = int(side == "east")
        for tile, field in ((self, "Output"), (target, "Input")):
            mask = CASCADE_CONTROL.field(field).mask
            tile.post_mask(CASCADE_CONTROL.offset, mask, CASCADE_CONTROL.pack(**{field: east}))

    def _place_beside(self, step: tuple[int, int]) -> tuple[int, int] | None:
        return None if self.place is None else (self.place[0] + step[0], self.place[1] + step[1])

    def _cascade_error(self, reason: str, given: str, allowed: str, says: str) -> DesignError:
        return DesignError.of(
            "cascade",
            given,
            allowed,
            says,
            reason=reason,
            where=self.title,
            source="AM020 chapter 4: cascade stream interface",
        )


class InterfaceTile(Tile):
    """An interface tile: two channels each way between the array and external memory.

    Args:
        site: where it is in the array.
    """

    def __init__(self, site: TileSite) -> None:
        super().__init__(site.bench.device.kind("interface"), site)
        self._logic: dict[tuple[bool, int], str] = {}  # by direction and South port, whose it is

    def plio_in(self, port: int, *, width: int = DEFAULT_WIDTH, mhz: float | None = None) -> PlioIn:
        """Return a stream from the programmable logic at a South slave of the switch, an end of flows.

        Args:
            port: number of the South port, 0 to 7; a width of 128 bits takes an even port and the next one.
            width: of the PLIO: 32, 64 or 128 bits.
            mhz: of its clock; None = a quarter of the array's (UG1702).

        Raises:
            DesignError: no such port, width or clock, a port that another PLIO uses, or a device without
                programmable logic.
        """
        return PlioIn(**logic_end(self, self._logic, port, width, mhz, receives=False))

    def plio_out(self, port: int, *, width: int = DEFAULT_WIDTH, mhz: float | None = None) -> PlioOut:
        """Return a stream to the programmable logic at a South master of the switch, an end of flows.

        Args:
            port: number of the South port, 0 to 5; a width of 128 bits takes an even port and the next one.
            width: of the PLIO: 32, 64 or 128 bits.
            mhz: of its clock; None = a quarter of the array's (UG1702).

        Raises:
            DesignError: as :meth:`plio_in`.
        """
        return PlioOut(**logic_end(self, self._logic, port, width, mhz, receives=True))

    def _is_behind(self, window: str, place: tuple[int, int] | None) -> bool:
        """All interface tiles reach the same external memory; its buffers have no place in the array."""
        return window in self.kind.memory_windows and place in (None, self.place)
