"""Kernels for the cores of a program: each begins when its core is enabled, and again after a reset of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import wraps
from types import MappingProxyType

import numpy as np

from memtile.arch.tiles import TILE_KINDS, WORD_BYTES
from memtile.errors import Problem
from memtile.runs.machine import ArrayMachine
from memtile.runs.operation_table import Bools, OperationTable, core_controls, table_of
from memtile.runs.operations import ArrayShape, Operation, locate, words_written
from memtile.sim.kernels.actions import Action
from memtile.sim.kernels.core_control import control_register, enabled_cores, held_cores
from memtile.sim.kernels.kernel_core import Core, Kernel
from memtile.sim.loop.engine import Engine

Place = tuple[int, int]
Kernels = Mapping[Place, Kernel]
WITHOUT_WORDS = "__without_words__"
"""Attribute of a kernel: a function that raises why words decide what it does."""


class NamedKernels(dict[Place, Kernel]):
    """Kernels by column and row that a load brings, and what their design calls locks and channels.

    Attributes:
        engine: of an array of the same size that has the design, with its names.
    """

    def __init__(self, kernels: Kernels, engine: Engine) -> None:
        super().__init__(kernels)
        self.engine = engine

    def name(self, engine: Engine) -> None:
        """Have results of an engine use these names, and no others."""
        for known, names in (
            (engine.lock_names, self.engine.lock_names),
            (engine.channel_names, self.engine.channel_names),
        ):
            known.clear()
            known.update(names)
        engine.fifo_locks.clear()
        engine.fifo_locks.update(self.engine.fifo_locks)


def attached(engine: Engine) -> dict[Place, Kernel]:
    """The kernels that a design has given its cores, by column and row, each ``endless`` as it was said."""
    tiles, owners = engine.spec.tiles, engine.state.cores.tile
    found = dict[Place, Kernel]()
    for core, running in engine.cores.running.items():
        if running.function is not None:
            place = int(tiles.column[owners[core]]), int(tiles.row[owners[core]])
            found[place] = _declared(running.function, running.declared)
    return found


def _declared(kernel: Kernel, endless: bool | None) -> Kernel:
    """A kernel that brings what ``run_kernel`` was told of it."""
    if endless is None:
        return kernel

    @wraps(kernel)
    def run(core: Core) -> Iterator[Action]:
        return iter(kernel(core))

    run.endless = endless  # type: ignore[attr-defined]
    return run


NO_KERNELS: Kernels = MappingProxyType({})
_SOURCE = "aie-rt: Core_Control.Enable starts a core"


def enabled_by(operations: Sequence[Operation], shape: ArrayShape) -> list[Place]:
    """Column and row of each core that the operations enable, in their order."""
    found: dict[Place, None] = {}
    table = table_of(operations)
    for operation in map(table.__getitem__, np.flatnonzero(table.writing(shape, core_controls)).tolist()):
        for word in words_written(operation):
            column, row, offset = locate(word.address)
            kind = shape.tile(column, row)
            if kind is None or TILE_KINDS[kind].role != "compute":
                continue
            register = control_register(kind)
            if offset == register.offset and register.field("Enable").get(word.value & word.mask):
                found[column, row] = None
    return list(found)


class CoreKernels:
    """Has the cores of an array run kernels from when they are enabled.

    A kernel that runs begins anew by itself after a reset of its core (DEV-CORE-6).

    Args:
        array: the model.
        kernels: by column and row of the tile.
        running: those that run already.
        programs: those that loads bring, by number.
        strict: no kernel begins while Core_Control holds its core in reset. Files of programs may lack the
            write that ends the reset of power-up, hosts cannot.
    """

    def __init__(
        self,
        array: ArrayMachine,
        kernels: Kernels,
        running: Kernels = NO_KERNELS,
        programs: Sequence[Kernels] = (),
        *,
        strict: bool = False,
    ) -> None:
        self._array, self._waiting, self._programs = array, dict(kernels), programs
        self._strict = strict
        self._all = {**running, **kernels}
        self._held = set(self._places(held_cores(array.engine)))  # when we last looked
        self._ended: set[Place] = set()  # by a reset that is on

    def follow(self) -> None:
        """Act on what was written to the control registers of cores."""
        held = set(self._places(held_cores(self._array.engine)))
        self._ended = (self._ended | (held - self._held)) & held
        self._held = held
        self.attach()

    def problems(self, operations: Sequence[Operation] | None, shape: ArrayShape) -> Iterator[Problem]:
        """Kernels of cores that are not there, or that no operation enables; None = a live host may."""
        there = [*enabled_by(operations or (), shape), *self._enabled()]
        for column, row in self._waiting:
            kind = shape.tile(column, row)
            if kind is None or TILE_KINDS[kind].role != "compute":
                rows = f"columns 0..{shape.columns - 1}, rows {shape.compute_rows.start}..{shape.rows - 1}"
                given = f"a {TILE_KINDS[kind].title}" if kind else "no tile"
                says = f"({column}, {row}) is {given}; compute tiles are in {rows}"
                yield _problem("kernel_tile", column, row, given, rows, says, "")
            elif operations is not None and (column, row) not in there:
                listed = ", ".join(f"({c}, {r})" for c, r in there)
                says = f"the program never enables this core; it enables {listed or 'none'}"
                step = (
                    f"Call the kernel core_{there[0][0]}_{there[0][1]}, if it is meant for that core."
                    if there
                    else "Give the file that enables the cores too, such as aie_cdo_enable.bin."
                )
                yield _problem("kernel_core", column, row, "not enabled", listed or "none", says, step)

    def attach(self) -> None:
        """Start the kernels of those cores that have been enabled since the last call."""
        for place in self._enabled():
            kernel = self._waiting.pop(place, None)
            if kernel is not None:
                self._begin(place, kernel)

    def _begin(self, place: Place, kernel: Kernel) -> None:
        """Have a core run its kernel; a mistake in its first lines is one of the kernel, as later on."""
        tile, cores = self._array.compute_tile(*place), self._array.engine.cores
        try:
            tile.run_kernel(kernel, endless=getattr(kernel, "endless", None))
        except Exception as error:
            if not cores.stop_failed(int(self._array.engine.spec.tiles.core[tile.index]), error):
                raise

    def restart(self, program: int | None = None) -> None:
        """Have kernels wait until their cores are enabled: the array was reset, or loaded anew."""
        if program is not None:
            chosen = self._programs[program]
            self._all = dict(chosen)
            if isinstance(chosen, NamedKernels):
                chosen.name(self._array.engine)
        self._waiting = dict(self._all)
        self._held, self._ended = set(self._places(held_cores(self._array.engine))), set()

    def starting(self, table: OperationTable, shape: ArrayShape) -> Bools:
        """Which operations may enable or reset a core that has a kernel, or gets one with a load."""
        if not self._all and not self._programs:
            return np.zeros(len(table), np.bool_)
        return table.writing(shape, core_controls)

    def started_by(self, address: int, words: int) -> bool:
        """Whether a write of so many words may have enabled or reset a core that has a kernel."""
        if not self._all:
            return False
        column, row, offset = locate(address)
        if row < self._array.device.compute_rows.start:
            return False
        control = control_register(self._array.device.tile(column, row)).offset
        return offset <= control < offset + words * WORD_BYTES

    def is_held(self, core: int) -> bool:
        """Whether a core, by its model index, has a kernel that begins only when its reset is over."""
        (place,) = self._places([core])
        return self._strict and place in self._waiting and core in held_cores(self._array.engine)

    def _enabled(self) -> list[Place]:
        kept = self._held if self._strict else self._ended
        return [place for place in self._places(enabled_cores(self._array.engine)) if place not in kept]

    def _places(self, cores: Iterable[int]) -> list[Place]:
        engine = self._array.engine
        tiles, owners = engine.spec.tiles, engine.state.cores.tile
        numbers = [int(owners[core]) for core in cores]
        return [(int(tiles.column[tile]), int(tiles.row[tile])) for tile in numbers]


def _problem(reason: str, column: int, row: int, given: str, allowed: str, says: str, step: str) -> Problem:
    return Problem(
        "core",
        given,
        allowed,
        says,
        step,
        reason=reason,
        where=f"kernel of core ({column}, {row})",
        source=_SOURCE,
    )
