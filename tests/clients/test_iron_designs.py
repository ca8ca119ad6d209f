"""Do designs of ``memtile.iron`` take mlir-aie's old names and new ones, and build what they say?"""

import re

import numpy as np
import pytest

from memtile import iron
from memtile.errors import InputFileError
from memtile.iron.compiled_design import CompiledDesign, read_compiled
from memtile.iron.controlflow import range_, yield_
from memtile.iron.device import NPU2, AnyComputeTile, AnyMemTile, NPU1Col1, Tile
from memtile.iron.helpers.taplib import TensorAccessPattern
from memtile.iron.ir import MLIRError
from memtile.iron.running import HostRuntimeError, run_design
from memtile.iron.runtime.endpoint import RuntimeEndpoint
from memtile.iron.utils.npuruntime import DefaultNPURuntime

TILE, TILES = 256, 8
OBJECT = np.ndarray[(TILE,), np.dtype[np.int32]]
ALL = np.ndarray[(TILES * TILE,), np.dtype[np.int32]]
WALK = TensorAccessPattern.full((16, 16)).T
PAIRS = [(16, 1), (16, 16)]


@pytest.fixture(autouse=True)
def device():
    iron.set_current_device(NPU1Col1())
    yield
    iron.set_current_device(None)


def text(fifo, out, *, sequence=None, more=()):
    """The module of a design that copies from one object FIFO to another."""

    def copy(a, b, in_h, out_h):
        in_h.fill(a)
        out_h.drain(b, wait=True)

    runtime = iron.Runtime(sequence or copy, [ALL, ALL, *more, fifo.prod(), out.cons()])
    return str(iron.Program(NPU1Col1(), runtime).resolve_program())


# AMD's migration page of taplib: the old keywords and the new ones are one, and a pattern says the same as
# pairs
@pytest.mark.parametrize("walk", [PAIRS, WALK], ids=["pairs", "pattern"])
def test_new_keywords_build_what_old_ones_built(walk):
    def design(sent, received, *, old):
        to, of = ("dims_to_stream", "dims_from_stream") if old else ("to_stream", "from_stream")
        first = iron.ObjectFifo(OBJECT, name="first", **{to: sent, f"{of}_per_cons": received})
        (middle,) = first.cons(**{of: received}).split([0], names=["middle"], **{to: [sent], of: [received]})
        return text(first, middle.cons().forward(name="last", **{to: sent, of: received}))

    old = design(PAIRS, PAIRS, old=True)
    assert design(walk, walk, old=False) == old
    assert old.count("dimensionsToStream [<size = 16, stride = 1>, <size = 16, stride = 16>]") == 3
    assert old.count("dimensionsFromStream [<size = 16, stride = 1>, <size = 16, stride = 16>]") == 3


def test_join_takes_new_keywords():
    def design(**more):
        out = iron.ObjectFifo(OBJECT, name="out")
        half = np.ndarray[(TILE // 2,), np.dtype[np.int32]]
        parts = out.prod().join([0, TILE // 2], obj_types=[half] * 2, names=["a", "b"], **more)

        def sequence(a, _, a_h, b_h, out_h):
            a_h.fill(a, a[: TILE // 2])
            b_h.fill(a, a[TILE // 2 : TILE])
            out_h.drain(a, wait=True)

        runtime = iron.Runtime(sequence, [ALL, ALL, *(part.prod() for part in parts), out.cons()])
        return str(iron.Program(NPU1Col1(), runtime).resolve_program())

    walk = TensorAccessPattern.full((8, 16)).T
    new = design(to_stream=[walk, walk], from_stream=[walk, walk])
    assert new == design(dims_to_stream=[[(16, 1), (8, 16)]] * 2, dims_from_stream=[[(16, 1), (8, 16)]] * 2)
    assert "offset = 128 len = 128 sizes = [1, 1, 1, 128]" in new


def test_padded_pattern_sets_the_padding():
    walk = TensorAccessPattern.full((2, 3)).pad([(1, 0), (0, 2)])
    small = np.ndarray[(6,), np.dtype[np.int32]]

    def design(**more):
        fifo = iron.ObjectFifo(small, name="in")
        return text(fifo, fifo.cons().forward(name="out", **more))

    given = design(dims_to_stream=[(2, 3), (3, 1)], pad_dimensions=[[1, 0], [0, 2]])
    assert design(to_stream=walk) == given
    assert "padDimensions" in given


@pytest.mark.parametrize(
    ("more", "error", "message"),
    [
        ({"to_stream": WALK, "dims_to_stream": PAIRS}, ValueError, "to_stream= and dims_to_stream= are one"),
        ({"to_stream": WALK[1:]}, ValueError, "to_stream= begins at the first element .* element 1"),
        (
            {"to_stream": TensorAccessPattern.full((4, 4)).tile((2, 2))},
            TypeError,
            "sequence of 4: give grid.tap",
        ),
        (
            {"to_stream": WALK.pad([(1, 0), (0, 0)]), "pad_dimensions": [[1, 0], [0, 0]]},
            ValueError,
            "leave pad_dimensions= out",
        ),
    ],
)
def test_walks_that_no_fifo_has_are_refused(more, error, message):
    with pytest.raises(error, match=f"object FIFO x: .*{message}"):
        iron.ObjectFifo(OBJECT, name="x", **more)


@iron.jit
def copies(
    _a: iron.In, _b: iron.Out, *, count: iron.DispatchTime[np.int32] = 4, start: iron.DispatchTime[np.int32]
):
    fifo = iron.ObjectFifo(OBJECT, name="in")
    chunks = TensorAccessPattern.full((1, TILES * TILE)).partition(TILES)

    def sequence(a, b, first, number, in_h, out_h):
        iron.require(first + number <= TILES, "the buffer has 8 tiles")
        for tile in range_(number):
            group = iron.TaskGroup()
            out_h.drain(b, chunks[first + tile], wait=True, group=group)
            in_h.fill(a, chunks[first + tile], group=group)
            group.finish()

    out = fifo.cons().forward(name="out")
    runtime = iron.Runtime(sequence, [ALL, ALL, start, count, fifo.prod(), out.cons()])
    return iron.Program(NPU1Col1(), runtime).resolve_program()


# AMD's page of dispatch-time scalars: a call's value, else the default; a specialisation fixes it
def test_dispatch_time_numbers_are_those_of_the_call():
    module = copies.as_mlir(start=2)
    assert re.search(r"%c2_i32 = arith.constant 2 : i32\n +%c4_i32 = arith.constant 4", module)
    assert "sizes = [1, 1, 1, 256] strides = [0, 0, 0, 1]" in module
    assert copies.specialize(start=2).as_mlir() == module
    assert "arith.constant 3 : i32" in copies.as_mlir(start=2, count=3)


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ({}, TypeError, "start is a DispatchTime parameter without a default: give start= in the call"),
        ({"start": 2**31}, OverflowError, "start = 2147483648 is outside of int32"),
        ({"start": 1.5}, TypeError, r"start is a whole number \(int32\), not 1.5"),
        ({"start": True}, TypeError, "not True"),
        ({"start": 5}, ValueError, "the buffer has 8 tiles"),
    ],
)
def test_dispatch_time_numbers_are_checked(values, error, message):
    with pytest.raises(error, match=message):
        copies.as_mlir(**values)


def test_dispatch_time_is_of_numpys_whole_numbers_behind_the_star():
    with pytest.raises(TypeError, match=r"DispatchTime\[float\]: it takes a type of NumPy's whole numbers"):
        iron.DispatchTime[float]

    def design(_count: iron.DispatchTime[np.int32]):
        return None

    with pytest.raises(TypeError, match="_count is a DispatchTime parameter: it must come after"):
        iron.jit(design)


def test_a_call_does_not_change_what_a_specialisation_fixes():
    with pytest.raises(TypeError, match=r"start of copies is fixed by specialize\(\); make another one"):
        copies.specialize(start=1)(start=2)


def test_require_refuses_conditions_that_a_loop_decides():
    def sequence(a, b, in_h, out_h):
        for tile in range_(4):
            iron.require(tile < 4, "few tiles")
        in_h.fill(a)
        out_h.drain(b, wait=True)

    fifo = iron.ObjectFifo(OBJECT, name="in")
    with pytest.raises(ValueError, match=r"'few tiles'.*depends on a loop.*Move require.. out of the loop"):
        text(fifo, fifo.cons().forward(name="out"), sequence=sequence)


def test_compileconfig_makes_a_design_of_options_alone():
    design = iron.compileconfig(use_cache=False)(copies.mlir_generator)
    assert design.as_mlir(start=2) == copies.as_mlir(start=2)
    with pytest.raises(TypeError, match="compileconfig has no option count: it has use_cache"):
        iron.compileconfig(count=3)


def test_a_pattern_of_two_dimensions_is_a_task_of_four():
    fifo = iron.ObjectFifo(OBJECT, name="in")

    def sequence(a, b, in_h, out_h):
        in_h.fill(a, TensorAccessPattern.full((8, 256)).T)
        out_h.drain(b, TensorAccessPattern.full((TILE,)).repeat(8), wait=True)

    module = text(fifo, fifo.cons().forward(name="out"), sequence=sequence)
    assert "sizes = [1, 1, 256, 8] strides = [0, 0, 1, 256]" in module
    assert "sizes = [8, 1, 1, 256] strides = [0, 0, 0, 1]" in module


def pipelined(body):
    """The module of a design whose sequence is built by ``body(issue, number)``."""
    chunks = TensorAccessPattern.full((1, TILES * TILE)).partition(TILES)

    def sequence(a, b, number, in_h, out_h):
        def issue(at, *, drains=True):
            group = iron.TaskGroup()
            if drains:
                out_h.drain(b, chunks[at], wait=True, group=group)
            in_h.fill(a, chunks[at], group=group)
            return group

        body(issue, number)

    fifo = iron.ObjectFifo(OBJECT, name="in")
    return text(fifo, fifo.cons().forward(name="out"), sequence=sequence, more=[4])


def test_a_loop_carries_the_transfers_of_a_group():
    def body(issue, number):
        last = None
        for at, held, last in range_(1, number, iter_args=[issue(0)], insert_yield=False):  # noqa: B007
            new = issue(at)
            held.finish()
            yield_([new])
        last.finish()

    module = pipelined(body)
    loop = re.search(r"%(\w+):2 = scf.for .* iter_args\(%(\w+) = %\w+, %(\w+) = %\w+\)", module)
    result, drained, filled = loop.groups()
    ends = [
        f"aiex.dma_await_task(%{drained})",
        f"aiex.dma_free_task(%{drained})",
        f"aiex.dma_free_task(%{filled})",
        "scf.yield",
        f"aiex.dma_await_task(%{result}#0)",
        f"aiex.dma_free_task(%{result}#0)",
        f"aiex.dma_free_task(%{result}#1)",
    ]
    places = [module.index(each, loop.end()) for each in ends]
    assert places == sorted(places)


def test_a_group_that_a_loop_carries_is_spent():
    def body(issue, number):
        group = issue(0)
        for _ in range_(1, number, iter_args=[group], insert_yield=False):
            group.finish()

    with pytest.raises(RuntimeError, match=r"TaskGroup\(1\) was carried into a loop or yielded: it is spent"):
        pipelined(body)


def test_each_turn_carries_the_same_transfers():
    def body(issue, number):
        for at, held, _ in range_(1, number, iter_args=[issue(0)], insert_yield=False):
            held.finish()
            yield_([issue(at, drains=False)])

    with pytest.raises(
        ValueError, match=r"yielded TaskGroup\(\d\) has transfers waited: \[False\].*\[True, False\]"
    ):
        pipelined(body)


@pytest.mark.parametrize("tiles", [(Tile(0, 2),) * 2, (Tile(0, 2), Tile(0, 2))], ids=["one", "two"])
def test_two_cores_on_a_tile_are_refused(tiles):
    fifos = [iron.ObjectFifo(OBJECT, name=name) for name in ("a", "b")]
    workers = [iron.Worker(None, [fifo.cons()], tile=tile) for fifo, tile in zip(fifos, tiles, strict=True)]
    runtime = iron.Runtime(
        lambda a, *ends: [end.fill(a) for end in ends], [ALL, *(fifo.prod() for fifo in fifos)]
    )
    with pytest.raises(MLIRError, match=r"tile \(0, 2\) already has a core, Worker"):
        iron.Program(NPU2(), runtime, workers=workers).resolve_program()


# the words that mlir-aie's own tests look for
def test_causes_have_the_words_of_mlir_aie():
    with pytest.raises(ValueError, match="Worker requires a compute tile, not Tile<MemTile>"):
        iron.Worker(None, tile=AnyMemTile)
    with pytest.raises(ValueError, match="RuntimeEndpoint requires a shim tile"):
        RuntimeEndpoint(tile=AnyComputeTile)
    fifo = iron.ObjectFifo(OBJECT, name="x")
    fifo.prod(tile=Tile(0, 0), channel=0)
    with pytest.raises(ValueError, match=r"x is already pinned to shim tile Tile.0, 0., not Tile.1, 0."):
        fifo.prod(tile=Tile(1, 0))
    with pytest.raises(ValueError, match="x is already pinned to DMA channel 0, not 1"):
        fifo.prod(channel=1)
    with pytest.raises(
        ValueError, match=r"Iter count must be in \[1, 256\] range. Object FIFO x was given 257"
    ):
        fifo.set_iter_count(257)
    buffer = iron.Buffer(OBJECT, name="shared")
    iron.Worker(None, [buffer])
    with pytest.raises(ValueError, match=r"buffer shared is used by two Workers.* has no explicit tile"):
        iron.Worker(None, [buffer])


def copying(body):
    """A module whose core does something with an object of each of two object FIFOs."""
    fifo, out = (iron.ObjectFifo(OBJECT, name=name) for name in ("in", "out"))

    def core(source, target):
        x, y = source.acquire(1), target.acquire(1)
        body(x, y)
        source.release(1)
        target.release(1)

    def sequence(a, b, in_h, out_h):
        in_h.fill(a)
        out_h.drain(b, wait=True)

    worker = iron.Worker(core, [fifo.cons(), out.prod()])
    runtime = iron.Runtime(sequence, [ALL, ALL, fifo.prod(), out.cons()])
    return iron.Program(NPU1Col1(), runtime, workers=[worker]).resolve_program()


def backwards(x, y):
    for i in range_(TILE - 1, -1, -1):
        y[i] = x[i]


def test_what_a_core_cannot_do_is_reported_with_the_programs_line(tmp_path):
    """Not with the line of the MLIR that nobody wrote; from a compiled file too."""
    line = backwards.__code__.co_firstlineno + 1
    CompiledDesign.of(copying(backwards), __file__).write(tmp_path / "final.xclbin")
    array = np.zeros(TILES * TILE, dtype=np.int32)
    with pytest.raises(InputFileError) as refused:
        run_design(read_compiled(tmp_path / "final.xclbin"), [array, array.copy()])
    assert str(refused.value).startswith(f"{__file__}:{line}: scf.for: its step is -1")


def test_an_array_with_gaps_is_read_and_not_written():
    def body(x, y):
        for i in range_(TILE):
            y[i] = x[i]

    design = CompiledDesign.of(copying(body), __file__)
    gaps, plain = (np.arange(many * TILES * TILE, dtype=np.int32) for many in (2, 1))
    target = np.zeros_like(plain)
    run_design(design, [gaps[::2], target])
    np.testing.assert_array_equal(target, gaps[::2])
    with pytest.raises(HostRuntimeError, match="is not contiguous: the design cannot write it"):
        run_design(design, [plain, gaps[::2]])


def counting(_a: iron.In, _b: iron.Out):
    """Adds to each object how many its core has seen."""
    fifo, out = (iron.ObjectFifo(OBJECT, name=name) for name in ("in", "out"))
    seen = iron.Buffer(initial_value=np.zeros(1, dtype=np.int32), name="seen")

    def core(source, target, count):
        x, y = source.acquire(1), target.acquire(1)
        count[0] = count[0] + 1
        for i in range_(TILE):
            y[i] = x[i] + count[0]
        source.release(1)
        target.release(1)

    def sequence(a, b, in_h, out_h):
        in_h.fill(a)
        out_h.drain(b, wait=True)

    worker = iron.Worker(core, [fifo.cons(), out.prod(), seen])
    runtime = iron.Runtime(sequence, [ALL, ALL, fifo.prod(), out.cons()])
    return iron.Program(iron.get_current_device(), runtime, workers=[worker]).resolve_program()


def test_a_design_that_runs_again_finds_its_own_last_state():
    """XRT configures a context once (DEV-HOST-4); cleanup() ends it. The time is that of the one run."""
    design, source, target = iron.jit(counting), iron.zeros(TILES * TILE), iron.zeros(TILES * TILE)
    times = []
    for first in (1, 1 + TILES, 1):
        times.append(design(source, target)[1].npu_time)
        np.testing.assert_array_equal(target.numpy()[::TILE], first + np.arange(TILES))
        if first > 1:
            DefaultNPURuntime.cleanup()
    assert times[0] / 2 < times[1] < times[0] * 1.5
