"""What does a kernel promise that keeps to itself, and is what it does beside that refused?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from memtile import Array
from memtile.errors import DesignError
from memtile.kernels import Action, Core, Kernel, apart, calls
from memtile.sim.kernels.isolation import tiles_reached
from memtile.sim.kernels.kernel_core import MemoryPiece
from memtile.sim.loop.engine import Engine
from support.designs.flowing_designs import CORE
from support.designs.interface_bench import side_by_side
from support.mlir.mlir_designs import device, loaded

ROW = 2  # of the compute tiles


def pausing(*waits: int, then: Callable[[Core], Iterator[Action]] | None = None) -> Kernel:
    """A kernel that waits, then does something, then waits for ever."""

    def kernel(core: Core) -> Iterator[Action]:
        for wait in waits:
            yield core.cycles(wait)
        if then is not None:
            yield from then(core)
        while True:
            yield core.cycles(77)

    return kernel


def cores(engine: Engine, *kernels: tuple[int, Kernel]) -> Engine:
    """Kernels in columns of an engine."""
    for number, kernel in kernels:
        engine.attach_kernel(3 * number + CORE, kernel, endless=True)
    return engine


def lock_of_the_west(core: Core) -> Iterator[Action]:
    yield core.release(3, tile=core.tile - 3)


def memory_of_the_west(core: Core) -> Iterator[Action]:
    core.write(MemoryPiece("there", 64, (4,), np.dtype(np.int32), (core.tile // 3 - 1, ROW)), [1, 2, 3, 4])
    yield core.cycles(3)


def banks_of_the_west(core: Core) -> Iterator[Action]:
    piece = MemoryPiece("there", 64, (64,), np.dtype(np.int32), (core.tile // 3 - 1, ROW))
    yield core.access(core.walk(piece))


REACHING = {"a lock": lock_of_the_west, "memory": memory_of_the_west, "banks": banks_of_the_west}


@pytest.mark.parametrize("what", REACHING)
def test_what_a_kernel_did_not_name_is_refused(what: str) -> None:
    engine = cores(side_by_side(3), (1, apart((0, ROW))(pausing(2, then=REACHING[what]))))
    engine.run(100)
    engine = cores(side_by_side(3), (2, apart((2, ROW))(pausing(2, then=REACHING[what]))))
    with pytest.raises(DesignError, match=r"keeps apart and comes to .* of tile \(1, 2\); it said"):
        engine.run(100)


def test_addresses_of_a_neighbour_are_refused_too() -> None:
    def there(core: Core) -> Iterator[Action]:
        west = core.walk(MemoryPiece("there", 0, (64,), np.dtype(np.int32), (0, ROW)))
        core.keeps_to = frozenset({core.tile})
        yield core.access(west)

    engine = cores(side_by_side(2), (1, apart((0, ROW))(pausing(2, then=there))))
    with pytest.raises(DesignError, match="comes to address 0x"):
        engine.run(100)


def test_a_kernel_that_keeps_apart_does_not_look_at_the_model() -> None:
    def make(kernel: Kernel) -> Engine:
        return cores(side_by_side(3), (0, kernel), (2, apart(pausing(9))))

    def looks(engine: Engine) -> list[Callable[[], object]]:
        doors = engine.door(2), engine.door(2, timed=True).at_once()
        reads = [lambda door=door: door.read32(0) for door in doors]
        writes = [lambda door=door: door.write32(0, 1) for door in doors]
        blocks = [lambda door=door: door.block_write32(0, [1, 2]) for door in doors]
        return [lambda: engine.state, *reads, *writes, *blocks]

    for number in range(7):
        for says, keeps in ((False, lambda kernel: kernel), (True, apart)):
            found: list[Callable[[], object]] = []

            def looking(core: Core, look: list[Callable[[], object]] = found) -> Iterator[Action]:
                look[0]()
                yield core.cycles(1)

            engine = make(keeps(pausing(40, then=looking)))
            found.append(looks(engine)[number])
            if says:
                with pytest.raises(DesignError, match="looks at the model"):
                    engine.run(90)
            else:
                engine.run(90)


# bodies of MLIR designs ----------------------------------------------------------------------------------


def body(column: int, call: str = "", buffer: int | None = None) -> str:
    """A compute tile whose core counts in a buffer, of its own tile or of another one, under a lock."""
    of = column if buffer is None else buffer
    return f"""
    %t{column} = aie.tile({column}, 2)
    %b{column} = aie.buffer(%t{column}) {{sym_name = "b{column}"}} : memref<16xi32>
    %l{column} = aie.lock(%t{column}, 0) {{init = 1 : i32}}
    aie.core(%t{column}) {{
      %n0 = arith.constant 0 : index
      %n1 = arith.constant 1 : index
      %n9 = arith.constant 9000 : index
      scf.for %i = %n0 to %n9 step %n1 {{
        aie.use_lock(%l{of}, AcquireGreaterEqual, 1)
        %v = memref.load %b{of}[%n{column % 2}] : memref<16xi32>
        %w = arith.addi %v, %v : i32
        memref.store %w, %b{of}[%n1] : memref<16xi32>
        {call}
        aie.use_lock(%l{of}, Release, 1)
      }}
      aie.end
    }}"""


CALLS = "func.call @f(%b0) : (memref<16xi32>) -> ()"
DECLARED = "func.func private @f(memref<16xi32>)"


def bump(memory: np.ndarray) -> None:
    memory[3] += 7


def of_text(*bodies: str, **functions: Any) -> Engine:
    design = loaded(device(DECLARED, *bodies, tiles="", chip="npu1"), functions=functions)
    engine: Engine = design.array.engine
    return engine


def reached(engine: Engine) -> list[int | None]:
    """How many tiles the kernel of each column says to reach."""
    known = [running.core.keeps_to for running in engine.cores.running.values()]
    return [None if each is None else len(each) for each in known]


def test_bodies_of_mlir_reach_what_they_name() -> None:
    assert reached(of_text(body(0), body(1), body(2, buffer=1), body(3))) == [1, 1, 2, 1]


def test_functions_that_bodies_call_may_share_something() -> None:
    assert reached(of_text(body(0, CALLS), body(1), f=bump)) == [None, 1]

    @apart
    def known(memory: np.ndarray) -> None:
        bump(memory)

    assert reached(of_text(body(0, CALLS), body(2), f=known)) == [1, 1]
    design = device(
        *(each.replace("@f", "@zero_i32") for each in (DECLARED, body(0, CALLS))), tiles="", chip="npu1"
    )
    assert reached(loaded(design).array.engine) == [1]


def test_both_ends_of_a_fifo_in_neighbours_are_reached() -> None:
    fifo = "aie.objectfifo @f(%t0, {%t1}, 2 : i32) : !aie.objectfifo<memref<16xi32>>"
    engine = of_text(body(0), body(1), body(2), fifo)
    assert sorted(filter(None, reached(engine))) == [1, 1, 2]


# the promise ---------------------------------------------------------------------------------------------


class Worker:
    """A kernel that is a method."""

    def kernel(self, core: Core) -> Iterator[Action]:
        yield core.cycles(5)


def test_what_can_be_said_to_be_reached() -> None:
    array = Array("npu1", 3)
    tile, other = array.compute_tile(0, 2), array.compute_tile(1, 2)
    fifo = array.object_fifo("f", array.memory_tile(0), other, shape=(16,))
    lock, buffer = other.lock(), other.buffer("b", 4)

    for thing in (other, fifo.consumers[0], lock, buffer, (1, 2)):

        @apart(thing)
        def kernel(core: Core) -> Iterator[Action]:
            yield core.cycles(1)

        assert tiles_reached(kernel, array.engine.spec, tile.index) == {tile.index, other.index}
    both = apart((2, 2))(apart((1, 2))(pausing(1)))
    assert len(tiles_reached(both, array.engine.spec, tile.index) or ()) == 3
    method = Worker().kernel
    assert tiles_reached(method, array.engine.spec, 2) is None
    assert tiles_reached(apart(method), array.engine.spec, 2) == {2}
    assert tiles_reached(calls(apart(lambda _: None), cycles=1), array.engine.spec, 2) == {2}
    assert tiles_reached(calls(lambda _: None, cycles=1), array.engine.spec, 2) is None
    with pytest.raises(DesignError, match="7 is in no tile"):
        apart(7)
