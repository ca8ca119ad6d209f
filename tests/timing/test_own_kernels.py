"""Which kernels have clocks of their own, and is everything as with one clock, errors among it?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import numpy as np
import pytest

from memtile import Array
from memtile.arch.register_map import register_named, tile_register
from memtile.arch.tiles import MM2S, S2MM, WORD_BYTES
from memtile.bd.descriptor import NO_ITERATION, Descriptor, Dim, Iteration
from memtile.bd.windows import OWN
from memtile.errors import DesignError, MemtileError
from memtile.kernels import Action, Core, Kernel, apart, calls
from memtile.model.state.columns import CORE_STEPS
from memtile.model.state.state import State
from memtile.sim.kernels.isolation import tiles_reached
from memtile.sim.kernels.kernel_core import MemoryPiece
from memtile.sim.loop.clock import Stop
from memtile.sim.loop.engine import Engine
from memtile.sim.loop.upsets import Upset
from memtile.sim.skip import own_clocks
from support.designs.core_designs import Piece
from support.designs.flowing_designs import (
    AREA,
    CORE,
    INTERFACE,
    MEM,
    PLACE,
    TIMINGS,
    Design,
    add_area,
    differences,
    kernel_of,
    set_up,
)
from support.designs.interface_bench import Column, side_by_side
from support.designs.separate_designs import ended, parts, sending
from support.mlir.mlir_designs import device, loaded

ROW = 2  # of the compute tiles
CASCADES = register_named("core", "Accumulator_Control")


def worked(waits: tuple[int, ...] = (30,), **given: Any) -> Design:
    """A column with a kernel."""
    what: dict[str, Any] = {
        "timing": TIMINGS[0], "words": 64, "buffers": 2, "sent": (), "came": (), "went": (), "length": 1024,
        "runs": 3, "waits": waits, "moody": 0, "rounds": 0, "stops": (),
    }  # fmt: skip
    return Design(**{**what, **given})


def failing(kernel: Kernel, at: int, error: type[BaseException]) -> Kernel:
    """A kernel that raises instead of its action of this number."""

    def fails(core: Core) -> Iterator[Action]:
        for number, action in enumerate(kernel(core)):
            if number == at:
                core.made.remove(action)
                raise error(at)
            yield action

    return fails


def columns(*kernels: Kernel, designs: tuple[Design, ...] = ()) -> Engine:
    """Columns side by side with these kernels, each with areas of external memory of its own."""
    engine = side_by_side(len(kernels))
    for area in range(2 * len(kernels)):
        add_area(engine, f"area {area}", area)
    for n, kernel in enumerate(kernels):
        each = designs[n] if designs else worked((20 + 17 * n,), words=(64, 96, 32)[n % 3])
        set_up(Column(beside=engine, number=n), each, 2 * n, 2 * n + 1, kernel)
    return engine


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


def alike(make: Callable[[], Engine], *stops: int) -> Engine:
    """The engine with clocks of their own, after runs that were compared with those of one clock."""
    own, one = make(), make()
    own.clocks.on = own.clocks.free = True
    own.forward.on = one.forward.on = one.clocks.on = False
    for until in stops:
        ends = [ended(engine, until) for engine in (own, one)]
        assert ends[0] == ends[1]
        assert own.now == one.now
        assert not differences(own, one)
    assert one.clocks.pieces == 0
    return own


def with_kernels(engine: Engine) -> int:
    found = engine.clocks.parts
    return 1 if found is None else found.kernels


def test_kernels_that_keep_apart_have_clocks_of_their_own() -> None:
    made = [apart(kernel_of(worked((20 + 17 * n,), words=(64, 96, 32)[n]))) for n in range(3)]
    engine = alike(lambda: columns(*made), 300, 500)
    assert (parts(engine), with_kernels(engine)) == (3, 3)


def test_a_kernel_that_asks_at_the_end_of_a_piece_is_asked_after_it() -> None:
    tens, sevens = (apart(pausing(*(cycles,) * 30)) for cycles in (10, 7))
    engine = alike(lambda: cores(side_by_side(3), (0, tens), (2, sevens)), 100, 161, 200)
    assert with_kernels(engine) == 2


def test_others_share_one_clock_with_all_that_writes_outside() -> None:
    own = [kernel_of(worked((20 + 17 * n,), words=(64, 96, 32)[n])) for n in range(3)]
    engine = alike(lambda: columns(apart(own[0]), own[1], own[2]), 400)
    assert parts(engine) == 1


def test_kernels_beside_one_that_does_not_keep_apart_wait_for_it() -> None:
    """What it does beside its core nobody can take back when another one raises an error."""

    def make(first: Kernel) -> Engine:
        engine = cores(side_by_side(7), (1, first), (3, apart(pausing(50))))
        sending(engine, 6, 77)
        return engine

    engine = alike(lambda: make(pausing(77)), 300)
    assert (parts(engine), with_kernels(engine)) == (2, 1)
    assert engine.forward.together.endswith("because not all kernels keep apart")
    assert parts(alike(lambda: make(apart(pausing(77))), 300)) == 3
    # who has ended is not asked any more
    ending = calls(lambda _: None, cycles=5, times=2)
    engine = alike(lambda: cores(make(apart(pausing(77))), (5, ending)), 100, 300)
    assert (parts(engine), with_kernels(engine)) == (3, 2)


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
def test_who_says_to_reach_a_neighbour_has_its_clock(what: str) -> None:
    def make(*kernels: Kernel) -> Engine:
        return cores(side_by_side(6), *zip((0, 2, 3, 5), kernels, strict=True))

    own = apart(pausing(9))
    reaching = apart((2, ROW))(pausing(40, then=REACHING[what]))
    engine = alike(lambda: make(own, own, reaching, own), 300)
    assert parts(engine) == 3
    silent = apart(pausing(40, then=REACHING[what]))
    engine = alike(lambda: make(own, own, silent, own), 300)
    assert (engine.now, parts(engine)) == (40, 4)
    alike(lambda: make(own, own, silent, own), 300, 300, 400)


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
            end = ended(engine, 90)
            assert isinstance(end, Stop) != says
            assert not says or "looks at the model" in str(end)


def test_a_kernel_may_ask_for_the_cycle() -> None:
    seen: list[list[int]] = []

    def make() -> Engine:
        engine, mine = side_by_side(3), list[int]()
        seen.append(mine)

        def asking(core: Core) -> Iterator[Action]:
            for wait in (30, 50, 1000):
                yield core.cycles(wait)
                mine.append(engine.now)

        return cores(engine, (0, apart(asking)), (2, apart(pausing(9))))

    assert parts(alike(make, 300)) == 2
    assert seen == [[30, 80], [30, 80]]


def cascading(number: int, to: str) -> Kernel:
    def puts(core: Core) -> Iterator[Action]:
        for n in count():
            yield core.cycles(5 + number)
            yield core.put_cascade([n] * 16)

    def gets(core: Core) -> Iterator[Action]:
        while True:
            yield core.get_cascade()
            yield core.cycles(7 + number)

    return apart(puts if to == "out" else gets)


def test_cascades_tie_cores_together_and_move_with_their_clock() -> None:
    def make() -> Engine:
        engine = side_by_side(5)
        for number in (0, 3):
            for column, field in ((number, "Output"), (number + 1, "Input")):
                engine.door(3 * column + CORE).write32(CASCADES.offset, CASCADES.pack(**{field: 1}))
            cores(engine, (number, cascading(number, "out")), (number + 1, cascading(number, "in")))
        return engine

    engine = alike(make, 301, 500)
    assert (parts(engine), with_kernels(engine)) == (2, 2)


# errors --------------------------------------------------------------------------------------------------


def of_columns(*fails: tuple[int, type[BaseException]] | None) -> Callable[[], Engine]:
    """Columns that keep apart, some of which raise an error instead of an action."""

    def make() -> Engine:
        made = []
        for n, fail in enumerate(fails):
            kernel = kernel_of(worked((20 + 17 * n,), words=(64, 96, 32)[n % 3]))
            made.append(apart(kernel if fail is None else failing(kernel, *fail)))
        return columns(*made)

    return make


@pytest.mark.parametrize(
    "fails",
    [
        (None, (5, ZeroDivisionError), None),
        ((7, ZeroDivisionError), (5, ValueError), (3, KeyError)),
        (None, None, (4, KeyboardInterrupt)),
        (None, (5, ZeroDivisionError)),
    ],
)
def test_an_error_of_a_kernel_leaves_all_at_its_cycle(fails: tuple[Any, ...]) -> None:
    """Also when it is run on after that: kernels that had gone further are where they would have been."""
    engine = alike(of_columns(*fails), 500, 390, 391, 500, 600)
    assert engine.clocks.pieces > 0


def test_the_core_with_the_lower_number_raises_first_in_a_cycle() -> None:
    """Those behind it have not been asked then."""

    def make() -> Engine:
        same = [pausing(50, 40 - n, n) if n else pausing(50, 40) for n in range(3)]
        return cores(
            side_by_side(5), *((2 * n, apart(failing(same[n], 2 + (n > 0), ValueError(n)))) for n in (1, 2))
        )

    own = alike(make, 200, 200, 200)
    assert own.clocks.pieces > 0


def test_actions_that_were_under_way_are_there_again_after_an_error() -> None:
    def long(core: Core) -> Iterator[Action]:
        piece = Piece("much", 0, (CORE_STEPS + 500,), np.dtype(np.int32))
        yield core.access(core.walk(piece, 32))

    def make() -> Engine:
        failed = failing(pausing(*(90,) * 40), 17, ValueError)
        return cores(
            side_by_side(5), (0, apart(pausing(5, then=long))), (2, apart(failed)), (4, apart(pausing(30)))
        )

    alike(make, 900, 3000, 3000)


def test_what_a_view_was_given_is_there_again_after_an_error() -> None:
    def viewing(core: Core) -> Iterator[Action]:
        kept = core.view(Piece("kept", 512, (8,), np.dtype(np.int32)))
        for n in count(1):
            yield core.cycles(10)
            kept[n % 8] += n
            core.view(Piece("used once", 1024, (4,), np.dtype(np.int32)))[:] = n

    def make() -> Engine:
        failed = failing(pausing(*(10,) * 40), 20, ValueError)
        return cores(side_by_side(3), (0, apart(viewing)), (2, apart(failed)))

    alike(make, 600, 600)


def test_a_model_that_is_changed_after_an_error_is_not_run_on() -> None:
    engine = of_columns(None, None, (3, ValueError))()
    engine.clocks.on = engine.clocks.free = True
    assert ended(engine, 1200)[0] is ValueError  # type: ignore[index]
    engine.present.memory[int(engine.tiles.memory_base[CORE])] ^= 1
    for _ in range(2):
        with pytest.raises(MemtileError, match="had gone on when another one raised an error"):
            engine.run(1200)


def test_words_for_the_host_are_not_taken_twice() -> None:
    made: list[Engine] = []

    def make() -> Engine:
        engine = of_columns(None, (6, ValueError))()
        column = Column(beside=engine, number=0)
        column.circuit(MEM, "DMA2", "SOUTH1")
        column.circuit(INTERFACE, "NORTH1", "SOUTH0")
        column.start(MEM, MM2S, 2, 10, 64, OWN.address(0x4000), next=10)
        engine.catch_port(INTERFACE, "SOUTH0")
        made.append(engine)
        return engine

    alike(make, 700, 900)
    left = [engine.left_port(INTERFACE, "SOUTH0") for engine in made]
    assert len(left[0]) > 200
    assert left[0] == left[1]


def test_an_interrupt_that_is_not_of_a_kernel_comes_after_the_piece() -> None:
    engine = of_columns(None, None)()
    engine.clocks.on = engine.clocks.free = True
    step, interrupts = engine.skipper.step, list[int]()

    def interrupted(st: State, until: int, cycles: int) -> Stop:
        now, mine = int(engine.present.clock.now[0]), engine.cores.mine
        if now > 300 and mine is not None and mine[-1] and not interrupts:  # once, within the second part
            interrupts.append(now)
            raise KeyboardInterrupt
        return step(st, until, min(cycles, 20))

    engine.skipper.step = interrupted  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        engine.run(500)
    assert engine.now == 500 > interrupts[0]
    one = of_columns(None, None)()
    one.clocks.on = False
    one.run(500)
    assert not differences(engine, one)


# what keeps kernels together -----------------------------------------------------------------------------


def test_words_of_the_host_let_kernels_share_a_clock() -> None:
    def make() -> Engine:
        engine = of_columns(None, None)()
        engine.feed(Column(beside=engine, number=1).channel(CORE, S2MM, 1), np.zeros(4, np.uint32))
        return engine

    engine = alike(make, 400)
    assert parts(engine) == 1
    assert "while words come from the host" in engine.forward.together


def test_flipped_cells_let_kernels_share_a_clock() -> None:
    def make() -> Engine:
        engine = of_columns(None, None)()
        engine.upsets.add([Upset(100, CORE, 0x3000, (1,))])
        return engine

    engine = alike(make, 200, 400)
    assert parts(engine) == 1
    assert "where cells are flipped" in engine.forward.together


def test_much_memory_outside_lets_kernels_share_a_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would have to be kept for errors; what is read only need not."""
    for most, many in ((2 * AREA * WORD_BYTES, 2), (2 * AREA * WORD_BYTES - 1, 1)):
        monkeypatch.setattr(own_clocks, "_MOST_OUTSIDE", most)
        engine = of_columns(None, None)()
        engine.clocks.on = engine.clocks.free = True
        engine.run(300)
        assert parts(engine) == many
    assert "outside are written" in engine.forward.together


def test_a_piece_is_as_long_as_what_kernels_do_in_it_can_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_clocks, "_LEAST", 64)
    for name in ("_MOST_DEEDS", "_MOST_WRITTEN"):
        with monkeypatch.context() as patched:
            patched.setattr(own_clocks, name, 4 if name == "_MOST_DEEDS" else 1 << 7)
            patched.setattr(own_clocks, "_PIECE", 300)
            engine = alike(of_columns(None, None), 900)
            assert 4 < engine.clocks.pieces < 15


def test_registers_let_all_have_one_clock() -> None:
    def make() -> Engine:
        engine = of_columns(None, None)()
        engine.door(CORE).write32(tile_register("compute", "Core_Processor_Bus").offset, 1)
        return engine

    engine = alike(make, 300)
    assert parts(engine) == 1


# external memory -----------------------------------------------------------------------------------------


def writing(
    first: int, dims: tuple[Dim, ...], length: int = 512, iteration: Iteration = NO_ITERATION
) -> Callable[[Engine, int], None]:
    """A column that writes into the area of all."""

    def set_column(engine: Engine, number: int) -> None:
        column = Column(beside=engine, number=number)
        column.circuit(1, "DMA0", "SOUTH0")
        column.circuit(0, "NORTH0", "SOUTH2")
        column.start(1, 1, 0, 0, 64, 0x80000 // 4, next=0)
        at = PLACE // WORD_BYTES + first
        column.put(0, 0, Descriptor("interface", length, at, dims=dims, iteration=iteration))
        column.issue(0, S2MM, 0, 0, 3)

    return set_column


ROWS = (Dim(1, 16), Dim(64, 0))
WRITERS: dict[str, tuple[int, tuple[Callable[[Engine, int], None], ...]]] = {
    "rows beside": (2, (writing(0, ROWS), writing(16, ROWS))),
    "a word of each row": (1, (writing(0, ROWS), writing(15, ROWS))),
    "the last word": (1, (writing(0, (), 65), writing(64, ROWS))),
    "behind the last word": (2, (writing(0, (), 64), writing(64, ROWS))),
    "an iteration": (1, (writing(0, (), 64, Iteration(64, 2)), writing(127, ROWS))),
    "behind an iteration": (2, (writing(0, (), 64, Iteration(64, 2)), writing(128, ROWS))),
    "every other word": (2, (writing(0, (Dim(2, 0),)), writing(1, (Dim(2, 0),)))),
    "every other one and every third": (1, (writing(0, (Dim(2, 0),)), writing(1, (Dim(3, 0),)))),
}


def writers_beside_a_sender(what: str) -> Engine:
    engine = side_by_side(3)
    add_area(engine, "all", 0)
    for number, writer in enumerate(WRITERS[what][1]):
        writer(engine, number)
    sending(engine, 2, 77)
    return engine


@pytest.mark.parametrize("what", WRITERS)
def test_who_writes_other_words_has_a_clock_of_its_own(what: str) -> None:
    assert parts(alike(lambda: writers_beside_a_sender(what), 300)) == WRITERS[what][0] + 1


def test_words_that_wait_for_being_written_outside_tie_nobody() -> None:
    engine = alike(lambda: writers_beside_a_sender("rows beside"), 300)
    for until in range(320, 360):
        engine.run(until)
        assert parts(engine) == 3


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
    engine = alike(lambda: of_text(body(0), body(1), body(2, buffer=1), body(3)), 600)
    assert reached(engine) == [1, 1, 2, 1]
    assert (parts(engine), with_kernels(engine)) == (3, 3)


def test_functions_that_bodies_call_may_share_something() -> None:
    assert reached(of_text(body(0, CALLS), body(1), f=bump)) == [None, 1]

    @apart
    def known(memory: np.ndarray) -> None:
        bump(memory)

    engine = alike(lambda: of_text(body(0, CALLS), body(2), f=known), 600)
    assert reached(engine) == [1, 1]
    assert parts(engine) == 2
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
