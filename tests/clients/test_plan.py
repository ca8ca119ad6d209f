"""Does ``memtile plan`` find designs for layers that are proved, and better than those of the examples?"""

from __future__ import annotations

import importlib.util
import json
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

import memtile
from memtile import Array, Attention, Convolution, DesignError, Gemm, InputFileError, RowReduction, schema
from memtile.arch.devices import device
from memtile.cli.main import app
from memtile.explore.plan.budgets import Machine
from memtile.explore.plan.convolution_rounds import ConvolutionRounds, _served
from memtile.explore.plan.designs.attention import attention
from memtile.explore.plan.designs.attention import begin as begin_one
from memtile.explore.plan.designs.convolution import ImageLayer as Made
from memtile.explore.plan.designs.convolution import design as convolution_design
from memtile.explore.plan.designs.convolution_rounds import design as rounds_design
from memtile.explore.plan.designs.gemm import begin
from memtile.explore.plan.gemm import _cuts
from memtile.explore.plan.plan_result import filled, prove
from memtile.explore.plan.planner import PlannedLayer
from memtile.explore.sweep.variant_figures import before_run
from memtile.importers.design_file import design_function
from support.pages import fence

EXAMPLES = Path(__file__).parents[2] / "examples"


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.compiled("a product of 512 x 512 x 512")
def test_a_planned_gemm_is_exact_and_takes_less_than_the_example() -> None:
    hand = example("gemm").design(columns=4).run().cycles
    found = memtile.plan(Gemm(512, 512, 512, "int8"), device="npu1", columns=4, tried=2, proved=0)
    assert found.ranked[0].figures["cycles"] <= 0.2 * hand
    alike = memtile.plan(
        Gemm(512, 512, 512, "int32", macs=64), columns=4, tried=1, proved=0
    )  # as the example
    assert alike.ranked[0].figures["cycles"] <= 0.8 * hand
    less = memtile.plan(Gemm(128, 128, 128, "int8"), device="npu1", columns=4, tried=1)
    (proof,) = less.proofs.values()
    assert (proof.holds, proof.exact, proof.findings) == (True, True, ())


@pytest.mark.parametrize(("padding", "width"), [("memory tile", 10), ("core", 8)])
def test_who_pads_rows_decides_how_long_they_are_in_cores(padding: Any, width: int) -> None:
    made = convolution_design(images=1, height=4, width=8, layers=1, cores=2, size=3, padding=padding)
    rows = [each for each in made.compute_tile(0, 2).buffers if each.name.startswith("in.")]
    assert {each.shape for each in rows} == {(1, width, 8)}


def test_a_planned_convolution_takes_fewer_descriptors_and_cycles_than_the_example() -> None:
    made = example("convolution").design()
    bds, hand = before_run(made)["bds"], made.run().cycles
    found = memtile.plan(Convolution(images=3, layers=2), tried=1)
    figures = found.ranked[0].figures
    assert found.proofs
    assert figures["bds"] < bds
    assert figures["cycles"] < 0.5 * hand


LAYERS: list[tuple[PlannedLayer, int]] = [
    (Gemm(64, 64, 64), 2),
    (Gemm(32, 32, 32, "int16"), 1),
    (Gemm(32, 32, 16, "int32"), 1),
    (Gemm(64, 32, 32, "bfloat16"), 2),
    (Gemm(50, 40, 36), 2),
    (Gemm(25, 12, 100), 1),
    (Gemm(44, 36, 20, "int16"), 2),
    (Gemm(10, 20, 30, "bfloat16"), 1),
    (Convolution(height=8, width=8), 1),
    (Convolution(images=2, height=8, width=8, layers=2, channels=16), 2),
    (Convolution(height=8, width=8, size=1, features=16), 1),
    (Convolution(height=8, width=8, size=5, depthwise=True), 1),
    (Convolution(height=8, width=12, stride=2), 1),
    (Convolution(height=8, width=8, pool=2, layers=2, images=2), 2),
    (Convolution(height=12, width=12, size=1, stride=3, pool=2, pooling="mean"), 1),
    (Convolution(height=8, width=8, stride=2, pool=2, size=5, depthwise=True), 1),
    (Attention(heads=2, length=32, size=16), 2),
    (RowReduction(32, 16, what="max"), 2),
    (RowReduction(16, 16, "float32", "normalise"), 1),
]


@pytest.mark.parametrize(("layer", "columns"), LAYERS, ids=lambda each: getattr(each, "title", ""))
def test_what_is_planned_is_exact_and_without_a_finding(layer: PlannedLayer, columns: int) -> None:
    found = memtile.plan(layer, columns=columns, tried=1)  # other choices are taken below
    assert [row.why for row in found.failed if row.state.value != "beaten"] == []
    assert len(found.proofs) == len(found.ranked) >= 1
    for row in found.ranked:
        proof = found.proofs[row.key]
        assert proof.holds, proof.why
        assert proof.cycles == row.figures["cycles"]
        assert proof.walks >= row.figures["bds"] / 2 > 0


@pytest.mark.parametrize(
    ("device", "stride", "padding"),
    [("npu1", 1, "core"), ("npu2", 2, "core"), ("xcve2802", 1, "core"), ("npu1", 1, "memory tile")],
)
def test_weights_in_rounds_make_what_numpy_makes(
    device: str, stride: int, padding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside: dict[str, Any] = {}
    external = Array.external
    monkeypatch.setattr(
        Array, "external", lambda self, name, array: external(self, name, outside.setdefault(name, array))
    )
    sizes: Any = {"height": 4, "width": 6, "channels": 8, "features": 16, "deep": 4, "panel": 8, "wide": 4}
    array = rounds_design(device=device, stride=stride, padding=padding, columns=1, cores=2, depth=2, **sizes)
    packed = outside["weights0"].reshape(2, 2, 2, 9, 4, 4)
    weights = packed.transpose(3, 1, 4, 0, 2, 5).reshape(3, 3, 8, 16)  # round, chunk, core, place, deep, wide
    image = np.pad(outside["images"][0], ((1, 1), (1, 1), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3), axis=(0, 1))[::stride, ::stride]
    sums = np.einsum("yxcij,ijcf->yxf", windows.astype(int), weights.astype(int))
    result = array.run()
    assert result.exact
    assert (outside["features"][0] == np.clip((sums + 128) >> 8, 0, 127)).all()


@pytest.mark.parametrize(("name", "columns"), [("npu1", 4), ("npu2", 8), ("xcve2802", 38)])
def test_late_layers_of_resnet_have_their_weights_in_rounds(name: str, columns: int) -> None:
    machine = Machine(device(name), columns)
    for layer in (
        Convolution(height=14, width=14, channels=256),
        Convolution(height=28, width=28, channels=256, stride=2),
        Convolution(height=7, width=7, channels=512),
        Convolution(height=14, width=14, channels=512, stride=2),
    ):
        cut = layer.on(machine)
        assert isinstance(cut, ConvolutionRounds)
        assert layer.products == cut.products == 115_605_504
        assert any(cut.candidates(machine))
    assert isinstance(Convolution().on(machine), Convolution) == (0 in machine.device.noc_columns)


def test_a_plan_says_what_its_products_need_at_least() -> None:
    found = memtile.plan(Convolution(height=4, width=4, channels=32, features=16, weights="rounds"), tried=1)
    (proof,) = found.proofs.values()
    cores, work = proof.cores, found.work
    assert work.products == 4 * 4 * 32 * 16 * 9
    assert f"{work.products:,} products need {-(-work.products // (256 * cores)):,} at least" in str(found)
    assert f"on all {work.cores}" in str(found)
    assert proof.limit.split(":")[0] in str(found)


def test_ways_of_weights_serve_as_many_cores_each() -> None:
    assert _served(4, 4, 2) == [3, 3, 2, 2, 2, 2, 2]
    assert _served(2, 4, 1) == [4, 4]


def test_a_plan_leaves_stack_and_heap_to_cores() -> None:
    tile, room = Array("npu1", 1).compute_tile(0, 2), Machine(device("npu1"), 1).l1
    with pytest.raises(DesignError, match="allowed are"):
        tile.buffer("more", room + 4, np.int8)
    assert tile.buffer("all", room, np.int8).nbytes == room


CHOICES: list[tuple[PlannedLayer, int, dict[str, Any]]] = [
    (Gemm(64, 128, 64), 2, {"keep": "a", "ways": 1, "wide": 16}),
    (Gemm(128, 64, 64), 2, {"keep": "b", "ways": 1, "tall": 16}),
    (Gemm(64, 64, 64), 2, {"keep": "none", "spread": "columns", "ways": 1}),
    (Gemm(256, 32, 32), 1, {"keep": "none", "tall": 8, "rows": 4}),  # more tasks than a queue holds
    (Gemm(60, 80, 36), 2, {"keep": "a", "ways": 2, "zero_rows": 1, "zero_columns": 4, "zero_depth": 4}),
    (Gemm(60, 40, 36), 1, {"keep": "b", "rows": 4, "zero_columns": 0, "zero_depth": 4}),
    (Gemm(36, 24, 72), 2, {"keep": "none", "spread": "columns", "zero_depth": 4}),
    (Convolution(height=8, width=8, channels=16), 1, {"padding": "memory tile", "split": "rows", "tall": 4}),
    (Convolution(height=8, width=8, channels=16), 1, {"split": "channels", "tall": 8}),
    (Convolution(height=8, width=10), 1, {"split": "columns", "cores": 4, "padding": "memory tile"}),
    (Convolution(height=8, width=10, layers=2), 2, {"split": "columns", "cores": 4, "padding": "core"}),
    (Convolution(height=8, width=28, stride=2, pool=2), 1, {"split": "columns", "cores": 4}),
    (Convolution(height=16, width=8, stride=2), 1, {"split": "rows", "cores": 4, "tall": 8}),
    (Convolution(height=8, width=8, channels=16, stride=2), 1, {"split": "channels", "tall": 4}),
    (ConvolutionRounds(2, 4, 4, 32, 32, 3, 1), 2, {"ways": 2, "cores": 2, "together": 1, "depth": 2}),
    (
        ConvolutionRounds(2, 6, 6, 32, 16, 3, 2),
        1,
        {"wide": 4, "panel": 32, "deep": 16, "padding": "memory tile"},
    ),
    (ConvolutionRounds(2, 3, 5, 32, 16, 3, 1), 1, {"cores": 2, "wide": 4, "panel": 16, "together": 2}),
    (Attention(heads=1, length=32, size=16), 1, {"keep": True, "depth": 2}),
    (Attention(heads=6, length=16, size=8), 1, {"keep": False, "deep": 8}),
    (RowReduction(32, 16), 1, {"links": "packets", "cores": 4}),
]


@pytest.mark.parametrize(("layer", "columns", "wanted"), CHOICES, ids=lambda each: str(each)[:40])
def test_every_choice_of_a_plan_makes_an_exact_design(
    layer: PlannedLayer, columns: int, wanted: dict[str, Any], tmp_path: Path
) -> None:
    machine = Machine(device("npu1"), columns)
    found = [c for c in layer.candidates(machine) if wanted.items() <= c.point.items()]
    assert found, "no such way"
    best = min(found, key=lambda each: each.cycles)
    text = filled(layer.template, {})
    (tmp_path / "design.py").write_text(text)
    point = {**layer.fixed(machine), **best.point}
    cycles = memtile.run(_design(tmp_path / "design.py"), set={**point, "data": False}).cycles
    assert prove(str(tmp_path / "design.py"), point, cycles, 1_000_000).why == ""


def _design(path: Path) -> Any:
    return design_function(str(path))


def test_what_strides_and_pooling_make() -> None:
    image = np.arange(36, dtype=np.int8).reshape(6, 6, 1)
    one = np.full((1, 1, 1, 1), 64, np.int8)  # a quarter of each, as sums are divided by 256
    quarter = (image[..., 0].astype(int) + 2) // 4
    assert Made(3).features(image, one)[..., 0].tolist() == quarter[::3, ::3].tolist()
    squares = quarter.reshape(3, 2, 3, 2)
    assert Made(1, 2).features(image, one)[..., 0].tolist() == squares.max(axis=(1, 3)).tolist()
    mean = (squares.sum(axis=(1, 3)) + 2) // 4
    assert Made(1, 2, "mean").features(image, one)[..., 0].tolist() == mean.tolist()
    assert [Made(stride, pool).step for stride, pool in ((1, 1), (2, 1), (1, 3), (2, 3))] == [1, 2, 3, 6]


def test_attention_is_softmax() -> None:
    random = np.random.default_rng(5)
    q, k, v = (random.normal(size=(32, 16)) for _ in range(3))
    found = attention(q, k, v, tall=8, deep=16).astype(np.float64)
    scores = np.exp(q @ k.T / 4)
    assert np.abs(found - scores / scores.sum(axis=1, keepdims=True) @ v).max() < 0.02


@pytest.mark.parametrize(("deep", "hosts"), [(4, 0), (1, 1)])
def test_a_host_starts_what_the_queues_do_not_hold(deep: int, hosts: int) -> None:
    array = Array("npu1", 1)
    tile = array.interface_tile(0)
    work = [tile.read(array.external("data", np.zeros(64, np.int32)))] * 2
    tile.kind = replace(tile.kind, queue_depth=deep)
    begin(array, [(tile.mm2s[0], each, 1) for each in work])
    assert len(array.hosts) == hosts
    begin_one(array, tile.mm2s[1], work, 1)
    assert len(array.hosts) == 2 * hosts


def test_parts_that_move_alone_have_nobody_at_the_other_end() -> None:
    array = Array("npu1", 1)
    shared, core = array.memory_tile(0), array.compute_tile(0, 2)
    come = array.object_fifo("in", core, shared, shape=(4, 8))
    part = memtile.view((4, 8), np.int32)[:2]
    with pytest.raises(DesignError, match=r"filled is a part.*other end of FIFO again has buffers"):
        come.split("again", [array.compute_tile(0, 3)], filled=part)
    go = array.object_fifo("out", shared, core, shape=(4, 8))
    with pytest.raises(DesignError, match="taken is a part"):
        go.gather("parts", [array.compute_tile(0, 4)], taken=part)


def test_what_is_beyond_the_matrices_never_moves() -> None:
    found = memtile.plan(Gemm(25, 12, 100), columns=1, tried=1)
    result = found.design(data=False).run()
    words = {use.name: use.words for use in result.channels if use.name.startswith("interface")}
    point = found.values()
    assert point["zero_depth"] or point["zero_columns"]
    loads_b = -(-25 // (int(point["tall"]) - int(point["zero_rows"]))) if point["keep"] != "b" else 1
    assert words["interface(0,0) S2MM 0"] == 25 * 12
    assert min(words.values()) >= 100 * 12 // 4
    assert words["interface(0,0) MM2S 1"] == loads_b * 100 * 12 // 4, words


def test_a_kept_design_is_a_file_of_its_own(tmp_path: Path) -> None:
    found = memtile.plan(Gemm(64, 64, 64), columns=2, tried=2)
    found.save(tmp_path / "kept.py")
    text = (tmp_path / "kept.py").read_text()
    assert list(fence.beyond_the_fence(text)) == []
    done = memtile.run(_design(tmp_path / "kept.py"))
    assert done.exact
    assert done.cycles == found.ranked[0].figures["cycles"] == found.design().run().cycles
    assert found.design(data=False).run().cycles == done.cycles
    assert found.values().items() <= done.parameters.items()
    assert "# Planned by memtile" in text
    with pytest.raises(InputFileError, match=r"must end in \.py"):
        found.save(tmp_path / "kept.txt")
    with pytest.raises(DesignError, match="number is 99"):
        found.source(99)


RACE = """
import numpy as np
from memtile import MemoryTile


def design(data: bool = True) -> MemoryTile:
    tile = MemoryTile()
    kept, values = tile.buffer("kept", 64), np.arange(64, dtype=np.int32)
    tile.s2mm[0].feed(values)
    tile.s2mm[0].start(tile.write(kept))
    tile.mm2s[0].start(tile.read(kept))
    tile.expect(kept, values)
    return tile
"""


def test_a_race_or_other_cycles_are_no_certificate(tmp_path: Path) -> None:
    (tmp_path / "race.py").write_text(RACE)
    cycles = memtile.run(_design(tmp_path / "race.py")).cycles
    proof = prove(str(tmp_path / "race.py"), {}, cycles, 10_000)
    assert not proof.holds
    assert "MT0201" in proof.why
    assert proof.walks >= 2
    assert proof.words >= 128
    other = prove(str(tmp_path / "race.py"), {}, cycles + 1, 10_000)
    assert f"{cycles} cycles with data, {cycles + 1} without" in other.why
    assert "no certificate" in other.text


@pytest.mark.parametrize(
    ("layer", "options", "says"),
    [
        (Gemm(m=0), {}, "m is 0; it must be 1 or more"),
        (Gemm(n=50), {}, "n is 50; it must be a multiple of 16.*in every column.*zeros to 64"),
        (Gemm(n=500), {}, "n is 500.*zeros to 512, or give it 1 column"),
        (Gemm(k=30), {}, "k is 30; it must be a multiple of 4.*whole words"),
        (Gemm(dtype="int4"), {}, "dtype is 'int4'"),  # type: ignore[arg-type]
        (Convolution(size=4), {}, "size is 4; it must be an odd number"),
        (Convolution(layers=5), {}, "layers is 5, allowed are 1..4"),
        (Convolution(channels=6), {}, "channels is 6; it must be a multiple of 4"),
        (Convolution(depthwise=True, features=16), {}, "features is 16; it must be 8"),
        (Convolution(weights="here"), {}, "weights is 'here'; it must be any, kept, rounds"),  # type: ignore[arg-type]
        (Convolution(layers=2, weights="rounds"), {}, "weights come in rounds of one layer, not depthwise"),
        (Convolution(height=14, width=14, channels=256, weights="kept"), {}, "no way to cut"),
        (Convolution(height=0), {}, "height is 0; it must be 1 or more"),
        (Convolution(stride=0), {}, "stride is 0; it must be 1 or more"),
        (Convolution(width=33, stride=2), {}, "width is 33; it must be a multiple of 2.*zeros to 34"),
        (Convolution(pool=2, layers=2, height=30), {}, "height is 30; it must be a multiple of 4"),
        (Convolution(pooling="least"), {}, "pooling is 'least'"),  # type: ignore[arg-type]
        (Attention(heads=3), {}, "heads is 3; it must be a multiple of 4"),
        (Attention(length=63), {}, "length is 63; it must be an even number"),
        (RowReduction(rows=6), {}, "rows is 6; it must be a multiple of 4"),
        (RowReduction(what="normalise"), {}, "dtype is int32; it must be float32"),
        (Attention(heads=6), {}, "a multiple of 4, the columns.*Give it 3 columns, or 8 heads"),
        (Attention(heads=0), {}, "heads is 0; it must be 1 or more"),
        (RowReduction(rows=0), {}, "rows is 0; it must be 1 or more"),
        (RowReduction(width=0), {}, "width is 0; it must be 1 or more"),
        (RowReduction(rows=4, width=1 << 20), {}, "no way to cut.*63488 bytes for a core.*smaller layers"),
        (
            Convolution(height=256, width=256, channels=1024),
            {},
            "no way to cut.*63488 bytes for a core.*524288 for a memory tile",
        ),
        (Gemm(), {"columns": 9}, "npu1: columns is 9, allowed are 1..4"),
        (Gemm(), {"device": "npu9"}, "npu9"),
        (Gemm(), {"objectives": "speed"}, "no objective 'speed'"),
    ],
)
def test_what_cannot_be_planned_says_why(layer: PlannedLayer, options: dict[str, Any], says: str) -> None:
    with pytest.raises(DesignError, match=says):
        memtile.plan(layer, **options)


@pytest.mark.parametrize("device", ["npu1", "npu2"])
def test_plans_count_the_buffers_of_every_generation(device: str) -> None:
    found = memtile.plan(RowReduction(16, 16), device=device, columns=1, tried=1)
    design = found.design()
    wanted = {
        "l2": sum(
            buffer.nbytes for tile in design.tiles if tile.kind.role == "memory" for buffer in tile.buffers
        ),
        "l1": sum(
            buffer.nbytes for tile in design.tiles if tile.kind.role == "compute" for buffer in tile.buffers
        ),
    }
    assert {name: found.ranked[0].figures[name] for name in wanted} == wanted
    assert min(wanted.values()) > 0


def test_all_commands_have_the_same_options_and_their_own_first() -> None:
    shared = None
    for name, own in (
        ("gemm", "--macs"),
        ("conv", "--macs"),
        ("attention", "--macs"),
        ("rows", "--per-cycle"),
    ):
        said = cli(name, "--help")
        options = [line.split()[0] for line in said.splitlines() if line.strip().startswith("--")]
        behind = options[options.index(own) + 1 :]
        assert shared in (None, behind)
        shared = behind
    assert shared is not None
    assert {"--device", "--columns", "--tried", "--out", "--json"} <= set(shared)


def cli(*args: object, code: int = 0) -> str:
    done = CliRunner().invoke(app, ["plan", *map(str, args)], env={"COLUMNS": "150"})
    assert done.exit_code == code, done.output
    return done.stdout


def test_the_command_ranks_and_keeps(tmp_path: Path) -> None:
    small = ("conv", "--height", 8, "--width", 8, "--tried", 3, "--device", "npu1")
    found = json.loads(cli(*small, "--json", "--out", tmp_path / "kept.py", "--pick", 1))
    assert list(Draft202012Validator(schema("plan-output")).iter_errors(found)) == []
    assert found["designs"][0]["certificate"]["holds"] is True
    cycles = [each["figures"]["cycles"] for each in found["designs"]]
    assert cycles == sorted(cycles)
    assert memtile.run(_design(tmp_path / "kept.py")).cycles == cycles[1]
    table = cli(*small, "--proved", 0)
    assert "were tried: 3 good" in table
    assert "certificate" not in table
    assert cli(*small, "--max-cycles", 20, code=1).count("limit") >= 1
    for args in (("gemm", "--m", "64", "--n", "32", "--k", "32", "--columns", 1), ("rows", "--rows", 16)):
        assert "certificate: " in cli(*args, "--tried", 1)
    assert "no such command" in CliRunner().invoke(app, ["plan", "gem"]).output.lower()
    cli(*small, "--out", tmp_path / "kept.txt", code=2)


@pytest.mark.parametrize(
    ("most", "sizes"), [(11, [(4, 2)]), (12, [(4, 2), (12, 10)]), (None, [(4, 2), (12, 10)])]
)
def test_parts_that_are_filled_up_may_be_as_large_as_the_largest(
    most: int | None, sizes: list[tuple[int, int]]
) -> None:
    assert [*_cuts(10, 4, 2, exact=False, most=most)] == sizes
