"""Is what a design is written as the same machine when read again, in the forms that mlir-aie prints?

The forms are those of mlir-aie's tests (2026-08-14): test/create-flows, test/create-packet-flows,
test/dialect/AIE, test/python/static_bd_config.py.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import memtile
from memtile import Array, TilingParameters, TraversingParameters
from memtile.adf.lowering import Lowered, lower
from memtile.adf.planning import plan_of
from memtile.adf.plio_ports import plio_ports_of
from memtile.cli.main import app
from memtile.errors import DesignError
from memtile.importers.design import ReadText, load_still, sequence_names
from memtile.importers.design_file import design_function
from memtile.mlir_writer.graphs import module_of_graph
from support.adf.sketch import Sketch, buffer
from support.mlir.machines import machine

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "tests" / "corpus"
EXAMPLES = int(os.environ.get("MEMTILE_WRITTEN", "4"))
"""Random designs; 500 in a deep run."""


def again(text: str, folder: Path) -> Array:
    """The array of a text."""
    path = folder / "written.mlir"
    path.write_text(text, encoding="utf-8")
    return load_still(path).array


@pytest.mark.parametrize(
    "name", ["chain-lock-and-arbiter", "packets-share-a-route", "two-locks-two-orders", "fifo-never-released"]
)
def test_a_text_that_is_written_again_is_the_same_machine(name: str, tmp_path: Path) -> None:
    path = tmp_path / "again.mlir"
    read = load_still(CORPUS / f"{name}-fine.mlir")
    path.write_text(memtile.to_mlir(read), encoding="utf-8")
    made = load_still(path)
    assert machine(made.array) == machine(read.array)
    assert (made.sequence is None) == (read.sequence is None)
    if read.sequence is not None:
        assert made.instructions() == read.instructions()


def test_it_runs_in_the_same_cycles_to_the_same_data(tmp_path: Path) -> None:
    source, path = CORPUS / "flow-missing-fine.mlir", tmp_path / "again.mlir"
    path.write_text(memtile.to_mlir(load_still(source)), encoding="utf-8")
    words = np.arange(64, dtype=np.int32)
    one, other = (memtile.load(each).run(words, np.zeros(64, np.int32)) for each in (source, path))
    assert one.result.cycles == other.result.cycles
    assert np.array_equal(one.arrays["1"], words)
    assert np.array_equal(other.arrays["1"], words)


def test_an_array_in_python_is_the_same_machine(tmp_path: Path) -> None:
    made = design_function(str(ROOT / "examples" / "packets.py"))()
    assert machine(again(memtile.to_mlir(made), tmp_path)) == machine(made)


def moves() -> Array:
    """A buffer with contents that a memory tile sends in tiles, with padding, locks and iterations."""
    array = Array("npu1", columns=1)
    shared, core = array.memory_tile(0), array.compute_tile(0, 2)
    source = shared.buffer("8 x 8", (8, 8), np.int32, at=0x100, data=np.arange(64).reshape(8, 8))
    free, full = core.lock(1, "free"), core.lock(0, "full")
    target = core.buffer("target", 64, np.int32, at=0x800)
    array.connect(shared.mm2s[0], core.s2mm[0])
    shared.mm2s[0].start(
        shared.read(source, TilingParameters((8, 8), (2, 8), (0, 0), (TraversingParameters(0, 2, 4),)))
    )
    core.s2mm[0].start(core.write(target).guarded(free.acquire(), full.release()), loop=True)
    return array


def test_the_forms_are_those_that_mlir_aie_prints() -> None:
    lines = [line.strip() for line in memtile.to_mlir(moves()).split("\n")]
    for wanted in (
        "aie.device(npu1_1col) {",
        "%mem_tile_0_1 = aie.tile(0, 1)",
        '%free = aie.lock(%tile_0_2, 0) {init = 1 : i32, sym_name = "free"}',
        "%switchbox_0_1 = aie.switchbox(%mem_tile_0_1) {",
        "aie.connect<DMA : 0, North : 0>",
        "%memtile_dma_0_1 = aie.memtile_dma(%mem_tile_0_1) {",
        "aie.use_lock(%free, AcquireGreaterEqual, %c1_i32)",
        "aie.dma_bd(%target : memref<64xi32> len = 64) {bd_id = 0 : i32}",
        "aie.next_bd ^bb1",
    ):
        assert wanted in lines, wanted
    (bd,) = [line for line in lines if line.startswith("aie.dma_bd(%_8_x_8")]
    assert "len = 64 sizes = [4, 8, 2] strides = [2, 8, 1]) {bd_id = 0 : i32}" in bd


def graph() -> Lowered:
    """A graph of a kernel with two buffers at each side."""
    made = Sketch()
    source, drain = made.plio("in"), made.plio("out", "out")
    each = made.kernel("k", [buffer("int32", 16)], [buffer("int32", 16)])
    made.connect(source, each.ins[0])
    made.connect(each.outs[0], drain)
    plan = plan_of(made.description(), "xcve2802")
    lowered = lower(plan, lambda *_: pytest.fail("nothing runs"), plio_ports_of(plan.device))
    lowered.array.route()
    return lowered


def test_a_graph_is_the_same_machine_and_its_core_a_loop_of_calls(tmp_path: Path) -> None:
    lowered = graph()
    text = str(module_of_graph(lowered))
    made = machine(again(text, tmp_path), addresses=False)
    assert made == machine(lowered.array, addresses=False)
    body = [line.strip() for line in text.partition("aie.core(")[2].split("\n")]
    steps = [line.split(", ")[1] for line in body if line.startswith("aie.use_lock(")]
    assert steps == 2 * (["AcquireGreaterEqual"] * 2 + ["Release"] * 2)
    calls = [line for line in body if line.startswith("func.call @k_function(")]
    assert [name.split("(")[1].split(",")[0].rpartition("_")[2] for name in calls] == ["ping", "pong"]
    assert '} {link_with = "k.o", stack_size = 2048 : i32}' in text


DTYPES = (np.int8, np.int16, np.int32, np.uint32, np.float32)


@st.composite
def designs(draw: st.DrawFn) -> Array:
    """Circuits between tiles of a column, with tilings, locks, types and places of any kind."""
    array = Array("npu1", columns=1)
    shared = array.memory_tile(0)
    for number in range(draw(st.integers(1, 3))):
        core = array.compute_tile(0, 2 + number)
        width, height = draw(st.sampled_from((4, 8, 16))), draw(st.integers(1, 6))
        dtype = np.dtype(draw(st.sampled_from(DTYPES)))
        part = draw(st.sampled_from((4, width)))
        data = draw(st.none() | st.integers(1, 100))
        contents = None if data is None else np.full((height, width), data, dtype)
        source = shared.buffer(f"in {number}", (height, width), dtype, data=contents)
        target = core.buffer(
            f"out {number}", height * width, dtype, at=draw(st.sampled_from((0x800, 0x1000)))
        )
        tiling = TilingParameters(
            (width, height), (part, height), (0, 0), (TraversingParameters(0, part, width // part),)
        )
        array.connect(shared.mm2s[number], core.s2mm[0])
        loop = draw(st.booleans())
        guard = shared.lock(draw(st.integers(0, 63)), f"lock {number}")
        work = shared.read(source, tiling, iteration=False)
        taken = guard.acquire(draw(st.integers(1, 3)))
        shared.mm2s[number].start(work.guarded(taken, guard.release()), loop=loop)
        core.s2mm[0].start(core.write(target), repeat=draw(st.integers(1, 256)))
    return array


@settings(max_examples=EXAMPLES)
@given(made=designs())
def test_random_arrays_are_the_same_machine(made: Array, tmp_path_factory: pytest.TempPathFactory) -> None:
    text = memtile.to_mlir(made)
    assert machine(again(text, tmp_path_factory.mktemp("written"))) == machine(made)


def faulty(what: str) -> Array:
    """An array with something that MLIR does not have."""
    array = moves()
    if what == "run":
        array.run(10)
    elif what == "fed":
        array.memory_tile(0).s2mm[1].feed(np.arange(4, dtype=np.int32))
    return array


FAULTS = {
    "run": "the array has run 10 cycles, and memories and locks have changed",
    "fed": "is fed with words by the test bench, which MLIR does not have",
}


@pytest.mark.parametrize("what", FAULTS)
def test_what_mlir_does_not_have_is_refused_by_name(what: str) -> None:
    with pytest.raises(DesignError) as error:
        memtile.to_mlir(faulty(what))
    assert FAULTS[what] in str(error.value)


def test_the_command_writes_a_file(tmp_path: Path) -> None:
    path = tmp_path / "out.mlir"
    source = CORPUS / "two-locks-two-orders-fine.mlir"
    done = CliRunner().invoke(app, ["export", str(source), "--mlir", "-o", str(path)])
    assert (done.exit_code, done.output) == (0, "")
    assert machine(load_still(path).array) == machine(load_still(source).array)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["d.mlir"], "say in which form: --mlir"),
        (["d.mlir", "--mlir", "--set", "a=1"], "--set is not for MLIR text"),
        (["d.py", "--mlir", "--functions", "f"], "--functions is not for a design in Python"),
        (["d.py", "e.py", "--mlir"], "give one design, or the C++ sources of one graph"),
    ],
)
def test_a_command_that_means_nothing_is_refused(words: list[str], says: str) -> None:
    done = CliRunner().invoke(app, ["export", *words])
    assert done.exit_code == 2
    assert says in " ".join(done.output.replace("│", " ").split())


@pytest.mark.parametrize("name", ["npu.square", "npu.air"])
def test_devices_of_a_text_keep_their_names_and_those_that_are_loaded(name: str, tmp_path: Path) -> None:
    source, path = ROOT / "examples" / "compilers" / f"{name}.mlir", tmp_path / "again.mlir"
    read = load_still(source)
    path.write_text(memtile.to_mlir(read), encoding="utf-8")
    made = load_still(path)
    assert sequence_names(ReadText.of(path)) == sequence_names(ReadText.of(source))
    assert read.sequence is not None
    assert made.sequence is not None
    assert len(made.sequence.steps) == len(read.sequence.steps)
