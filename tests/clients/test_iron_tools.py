"""Do tensors, comparisons, clocks, trace readers and the target model of IRON do what their names say?"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from memtile import iron
from memtile.errors import DesignError
from memtile.iron.ops.enums import AIEArch, AIEDevice, AIETileType, WireBundle
from memtile.iron.ops.target_model import get_target_model
from memtile.iron.utils import tensors
from memtile.iron.utils.benchmark import BenchmarkResult, Stats, print_benchmark, run_iters
from memtile.iron.utils.hostruntime import argparse as options
from memtile.iron.utils.hostruntime.cli import run_design_cli
from memtile.iron.utils.trace import utils as traces
from memtile.iron.utils.trace.config import TraceConfig
from memtile.iron.utils.trace.events import CoreEvent, MemTileEvent, MemTilePortEvent, PortEvent
from memtile.iron.utils.verify import assert_close_with_benchmark, assert_pass, count_mismatches, nearly_equal


def _is(made: tensors.Tensor, expected: np.ndarray[Any, Any]) -> None:
    assert made.dtype == expected.dtype
    assert made.shape == expected.shape
    np.testing.assert_array_equal(made.numpy(), expected)


def test_tensors_are_made_as_numpy_makes_arrays() -> None:
    _is(tensors.Tensor((2, 3), np.int16), np.zeros((2, 3), np.int16))
    _is(tensors.tensor([1, 2], dtype=np.int8), np.array([1, 2], np.int8))
    _is(tensors.tensor([1, 2]), np.array([1, 2], np.uint32))
    _is(tensors.tensor(np.array([1.5])), np.array([1.5]))
    _is(tensors.ones(2, 3), np.ones((2, 3), np.uint32))
    _is(tensors.ones((2, 3), dtype=np.int8), np.ones((2, 3), np.int8))
    _is(tensors.zeros([4], dtype=ml_dtypes.bfloat16), np.zeros(4, ml_dtypes.bfloat16))
    _is(tensors.full((2, 2), 7), np.full((2, 2), 7, np.uint32))
    _is(tensors.full(3, -1, dtype=np.int64), np.full(3, -1, np.int64))
    _is(tensors.zeros_like(tensors.ones(2, dtype=np.int16)), np.zeros(2, np.int16))
    _is(tensors.zeros_like(tensors.ones(2, dtype=np.int16), dtype=np.float32), np.zeros(2, np.float32))
    _is(tensors.arange(5), np.arange(5, dtype=np.int64))
    _is(tensors.arange(1, 7, 2), np.arange(1, 7, 2, dtype=np.int64))
    _is(tensors.arange(0, 1, 0.25), np.arange(0, 1, 0.25, dtype=np.float32))
    _is(tensors.arange(6, shape=(2, 3), dtype=np.int8), np.arange(6, dtype=np.int8).reshape(2, 3))
    with pytest.raises(TypeError, match="an array of int64 is no tensor of int32; convert it before"):
        tensors.tensor(np.array([1]), dtype=np.int32)
    assert tensors.ones(2, device="cpu").device == "cpu"


def test_random_tensors_are_in_their_range() -> None:
    made = tensors.randint(3, 6, (1000,))
    assert (made.dtype, made.shape, set(made.numpy().tolist())) == (np.int64, (1000,), {3, 4, 5})
    assert set(tensors.randint(2, (100,), dtype=np.int8).numpy().tolist()) == {0, 1}
    drawn = tensors.rand(10, 10)
    assert (drawn.dtype, drawn.shape) == (np.float32, (10, 10))
    assert 0 <= drawn.numpy().min() < drawn.numpy().max() < 1


def test_a_tensor_is_used_as_an_array() -> None:
    made = tensors.arange(12, shape=(3, 4), dtype=np.int16)
    assert (made.nbytes, made.numel(), made.element_size(), len(made)) == (24, 12, 2, 3)
    assert made[1, 2] == 6
    made[1, 2] = 60
    assert made.data[1, 2] == 60
    assert np.array_equal(np.asarray(made), made.data)
    assert np.asarray(made, np.float64).dtype == np.float64
    assert made.to("cpu") is made
    assert made.device == "cpu"
    made.fill_(9)
    assert (made.numpy() == 9).all()


def test_a_part_of_a_tensor_is_the_same_memory() -> None:
    whole = tensors.arange(12, shape=(3, 4), dtype=np.int16)
    part = whole.subview(2, (2, 3))
    _is(part, np.arange(2, 8, dtype=np.int16).reshape(2, 3))
    part[0, 0] = 99
    assert whole[0, 2] == 99
    words = whole.subview(4, 3, np.int32)
    assert words.numpy().tolist() == [4 | 5 << 16, 6 | 7 << 16, 8 | 9 << 16]
    assert words.device == "npu"


@pytest.mark.parametrize(("a", "b", "up"), [(7, 2, 4), (8, 2, 4), (0, 3, 0), (1, 100, 1)])
def test_a_quotient_is_rounded_up(a: int, b: int, up: int) -> None:
    assert tensors.ceildiv(a, b) == up


def test_what_is_nearly_equal() -> None:
    """``abs(a - b) < max(atol, rtol * (abs(a) + abs(b)))``, or both are the same, infinities too."""
    rng = np.random.default_rng(3)
    a = rng.normal(size=200).astype(np.float32)
    b = (a * rng.uniform(0.5, 1.5, 200)).astype(np.float32)
    for more in ({}, {"rtol": 0.02}, {"rtol": 0.0, "atol": 0.25}):
        rtol, atol = more.get("rtol", 0.128), more.get("atol", float(np.finfo(np.float32).tiny))
        bound = np.maximum(np.float32(atol), np.float32(rtol) * (np.abs(a) + np.abs(b)))
        expected = (np.abs(a - b) < bound) | (a == b)
        assert np.array_equal(nearly_equal(a, b, **more), expected)
        assert count_mismatches(a, b, **more) == (np.count_nonzero(~expected), 200)
    assert nearly_equal([np.inf, -np.inf, np.inf], [np.inf, np.inf, 1.0]).tolist() == [True, False, False]


def test_comparisons_end_at_what_is_not_finite() -> None:
    a, b = [1.0, 2.0, np.nan, 4.0], [1.0, 3.0, 3.0, 9.0]
    assert count_mismatches(a, b) == (1, 2)
    assert count_mismatches(a, b, stop_at_nonfinite=False) == (3, 4)
    assert count_mismatches(np.ones((2, 2)), np.ones(4)) == (0, 4)
    with pytest.raises(ValueError, match="3 and 4 elements cannot be compared"):
        count_mismatches(np.ones(3), np.ones(4))


def test_a_result_passes_or_ends_the_program(capsys: pytest.CaptureFixture[str]) -> None:
    assert_pass(np.arange(4), np.arange(4))
    assert capsys.readouterr().out == "PASS!\n"
    assert_pass(np.arange(4), np.arange(4), print_pass=False)
    assert_pass([1.0, 2.0], [1.0, 2.1], rtol=0.1, print_pass=False)
    assert_pass([1.0, 2.0], [1.0, 2.1], rtol=0.0, atol=0.2, print_pass=False)
    assert capsys.readouterr().out == ""
    with pytest.raises(SystemExit, match=r"^FAIL!$"):
        assert_pass([1.0, 2.0], [1.0, 2.1])
    with pytest.raises(SystemExit, match=r"^FAIL! row 3$"):
        assert_pass([1.0, 2.0], [1.0, 2.1], rtol=0.01, fail_msg="row 3")


def test_times_are_printed_with_a_result(capsys: pytest.CaptureFixture[str]) -> None:
    bench = BenchmarkResult(Stats(20.0, 10.0, 30.0), Stats(2.0, 1.0, 4.0))
    assert_close_with_benchmark(np.arange(4), np.arange(4), bench=bench, ops=8000.0)
    out = capsys.readouterr().out
    assert "NPU time     (avg/min/max us): 2.0 / 1.0 / 4.0\n" in out
    assert "End-to-end   (avg/min/max us): 20.0 / 10.0 / 30.0\n" in out
    assert out.endswith("NPU GFLOPS                    : 4.00\nPASS!\n")
    assert_close_with_benchmark([1.0, 2.0], [1.0, 2.2], bench=BenchmarkResult(bench.e2e, None), ops=1.0)
    out = capsys.readouterr().out
    assert "NPU" not in out
    says = r"FAIL! output mismatch \(first mismatches: \[\[1\], \[3\]\]\)"
    with pytest.raises(SystemExit, match=says):
        assert_close_with_benchmark([0, 9, 2, 9], np.arange(4), bench=bench, mismatch_indices=True)
    with pytest.raises(SystemExit, match=r"^FAIL! rows$"):
        assert_close_with_benchmark([0, 9], np.arange(2), bench=bench, fail_msg="rows")
    with pytest.raises(SystemExit):
        assert_close_with_benchmark([10.0], [20.0], bench=bench)


def test_calls_are_timed_behind_those_that_warm_up(capsys: pytest.CaptureFixture[str]) -> None:
    calls: list[int] = []

    def called(number: int, *, more: int) -> Any:
        calls.append(number + more)
        return None, SimpleNamespace(npu_time=1000.0 * len(calls))

    found = run_iters(called, 1, warmup=2, iters=3, more=4)
    assert calls == [5] * 5
    assert found.npu == Stats(4.0, 3.0, 5.0)
    assert 0 < found.e2e.min_us <= found.e2e.avg_us <= found.e2e.max_us < 1e6
    print_benchmark(run_iters(lambda: None))
    assert capsys.readouterr().out.startswith("End-to-end")
    for wrong in ({"iters": 0}, {"warmup": -1}):
        with pytest.raises(ValueError, match="iters is at least 1 and warmup at least 0"):
            run_iters(lambda: None, **wrong)
    assert run_iters(lambda: SimpleNamespace(npu_time=500)).npu == Stats(0.5, 0.5, 0.5)


def _event(name: str, ph: str, ts: int, pid: int = 1) -> dict[str, Any]:
    return {"name": name, "ph": ph, "ts": ts, "pid": pid}


def _trace(tmp_path: Path, *records: dict[str, Any]) -> str:
    names = [
        {"name": "process_name", "ph": "M", "pid": pid, "args": {"name": f"core {pid}"}} for pid in (1, 2)
    ]
    (tmp_path / "trace.json").write_text(json.dumps([*names, *records]))
    return str(tmp_path / "trace.json")


def test_cycles_of_a_trace(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    begin, end = "INSTR_EVENT_0", "INSTR_EVENT_1"
    path = _trace(
        tmp_path,
        _event(end, "B", 5),
        _event(begin, "B", 10),
        _event(begin, "E", 11),
        _event(begin, "B", 20),
        _event(end, "B", 50),
        _event(end, "E", 51),
        _event(begin, "B", 100, 2),
        _event(end, "B", 170, 2),
        _event(begin, "B", 200),
        _event(end, "B", 300),
    )
    assert traces.get_cycles(path) == 5 - 10
    assert traces.get_cycles_summary(path) == [["core 1", 40, 100], ["core 2", 70]]
    traces.print_cycles_summary(path)
    said = capsys.readouterr().out
    assert "core 1\nTotal number of full kernel invocations is 2\n" in said
    assert "First/Min/Avg/Max cycles is 40/ 40/ 70.0/ 100\n" in said
    assert traces.get_cycles(_trace(tmp_path, _event(begin, "B", 1))) == float("inf")
    traces.print_cycles_summary(_trace(tmp_path))
    assert capsys.readouterr().out.count("invocations is 0\n") == 2


def test_the_share_of_vector_instructions(tmp_path: Path) -> None:
    begin, end, vector = "INSTR_EVENT_0", "INSTR_EVENT_1", "INSTR_VECTOR"
    inside = [_event(vector, ph, ts) for ph, ts in (("B", 100), ("E", 120), ("B", 150), ("E", 155))]
    outside = [_event(vector, "B", 50), _event(vector, "E", 90), _event(vector, "B", 201)]
    records = [_event(begin, "B", 100), *outside, *inside, _event(end, "B", 200)]
    assert traces.get_vector_time(_trace(tmp_path, *records)) == 0.25
    assert traces.get_vector_time(_trace(tmp_path, *records[:-1])) == 0


def test_words_of_a_trace_are_split_at_long_gaps() -> None:
    ones, zeros = ["1", "22"], ["0"] * 8
    assert traces.split_trace_segments([*zeros, *ones, *zeros, "3", *zeros]) == [ones, ["3"]]
    assert traces.split_trace_segments([*ones, *zeros[1:], "3", "", "4"]) == [[*ones, *zeros[1:], "3", "4"]]
    assert traces.split_trace_segments([*ones, "0", "0", "3"], 2) == [ones, ["3"]]
    assert traces.split_trace_segments(zeros) == []


def test_words_of_packets() -> None:
    """As AM020 chapter 2 draws a header: id 4:0, type 14:12, row 20:16, column 27:21, odd parity 31."""
    assert traces.extract_tile(5 << 21 | 3 << 16 | 2 << 12 | 17) == (5, 3, 2, 17)
    assert traces.pack4bytes(0x101, 2, 3, 4) == 0x01020304
    assert [traces.parity(x) for x in (0, 1, 3, 7)] == [0, 1, 0, 1]
    for operation, beats, address, back in ((0, 0, 0x1D200, 28), (1, 3, 0x340D0, 5)):
        word = traces.create_ctrl_pkt(operation, beats, address, back)
        assert word & 0x7FFFFFFF == address | beats << 20 | operation << 22 | back << 24
        assert word.bit_count() % 2 == 1


def test_a_file_of_a_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    config = TraceConfig(32)
    config.write_trace(np.array([1, 0xABC, 0, 5, 0, 0], np.uint32))
    assert Path("trace.txt").read_text() == "00000001\n00000abc\n00000000\n00000005"
    assert config.read_trace().tolist() == [1, 0xABC, 0, 5, 0, 0, 0, 0]
    assert repr(config) == "TraceConfig(trace_size=32)"
    more = TraceConfig(8, "t.txt", True, last_tensor_shape=(4,))
    assert repr(more) == "TraceConfig(trace_size=8, trace_file='t.txt', reuse_output_buffer=True)"
    assert str(more) == f"{more!r}\n  last_tensor_shape=(4,)"
    with pytest.raises(ValueError, match="Invalid trace size: 0"):
        TraceConfig(0)


def test_events_of_ports() -> None:
    event = PortEvent(CoreEvent["PORT_RUNNING_3"], WireBundle["DMA"], 1, False)
    assert (event.code, event.slot, event.channel, event.direction.name) == (
        CoreEvent["PORT_RUNNING_3"],
        3,
        1,
        "MM2S",
    )
    assert event.get_register_writes() == {}
    other = MemTilePortEvent(MemTileEvent["PORT_TLAST_7"], WireBundle["DMA"], 5)
    assert (other.slot, other.direction.name) == (7, "S2MM")
    with pytest.raises(ValueError, match="is no event of a port; those are PORT_IDLE_0 to PORT_TLAST_7"):
        PortEvent(CoreEvent["INSTR_VECTOR"], WireBundle["DMA"], 0)


def test_the_target_model_has_the_numbers_of_the_manuals() -> None:
    """AM020 and AM027 for tiles and memories; mlir-aie's names of what is at a place."""
    phoenix, strix = get_target_model(AIEDevice.npu1), get_target_model(int(AIEDevice.npu2))
    assert (phoenix.columns(), phoenix.rows(), strix.columns(), strix.rows()) == (4, 6, 8, 6)
    assert (phoenix.get_target_arch(), strix.get_target_arch()) == (AIEArch.AIE2, AIEArch.AIE2p)
    assert get_target_model(AIEDevice.xcvc1902).get_target_arch() is AIEArch.AIE1
    assert (phoenix.get_mem_tile_size(), phoenix.get_local_memory_size()) == (512 * 1024, 64 * 1024)
    assert phoenix.get_num_mem_tile_rows() == 1
    assert [phoenix.get_num_locks(0, row) for row in range(3)] == [16, 64, 16]
    assert [phoenix.get_num_bds(0, row) for row in range(3)] == [16, 48, 16]
    assert (phoenix.get_column_shift(), phoenix.get_row_shift()) == (25, 20)
    kinds = [phoenix.get_tile_type(0, row) for row in range(3)]
    assert kinds == [AIETileType.ShimNOCTile, AIETileType.MemTile, AIETileType.CoreTile]
    asked = ("is_shim_noc_tile", "is_mem_tile", "is_core_tile")
    assert [[getattr(phoenix, ask)(0, row) for ask in asked] for row in range(3)] == np.eye(3).tolist()
    versal = get_target_model(AIEDevice.xcve2802)
    assert versal.is_shim_pl_tile(0, 0)
    assert not versal.is_shim_pl_tile(2, 0)
    assert [versal.is_shim_noc_or_pl_tile(0, row) for row in (0, 1)] == [True, False]
    assert phoenix.is_npu()
    assert not versal.is_npu()
    with pytest.raises(DesignError):
        phoenix.get_tile_type(4, 0)
    with pytest.raises(ValueError, match="is of the first generation, which has no memory tiles"):
        get_target_model(AIEDevice.xcvc1902).columns()


def _parsed(words: str, *adders: Any, **more: Any) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    for add in adders:
        add(parser, **more)
    return parser.parse_args(words.split())


def test_options_that_programs_have_in_common() -> None:
    found = vars(_parsed("-d npu2 --xclbin-path a --insts-path b", options.add_compile_args))
    assert found == {"dev": "npu2", "xclbin_path": "a", "insts_path": "b"}
    full = {"with_elf": True, "with_full_elf": True, "with_pdi": True, "with_emit_mlir": True}
    words = "--elf-path c --full-elf-path d --pdi-path e --emit-mlir"
    found = vars(_parsed(words, options.add_compile_args, short_dev=None, default_dev="npu", **full))
    assert found["dev"] == "npu"
    assert [found[f"{name}_path"] for name in ("elf", "full_elf", "pdi")] == ["c", "d", "e"]
    assert found["emit_mlir"] is True
    assert not vars(_parsed("", options.add_compile_args, with_dev=False)).get("dev")
    found = vars(_parsed("", options.add_benchmark_args, options.add_trace_arg))
    assert found == {"warmup": 2, "iters": 5, "trace_size": 0}
    assert vars(_parsed("-w 7 -i 8 -t 9", options.add_benchmark_args, options.add_trace_arg)) == {
        "warmup": 7,
        "iters": 8,
        "trace_size": 9,
    }
    with pytest.raises(SystemExit):
        _parsed("-t 9", options.add_trace_arg, with_short=False)
    found = vars(_parsed("--xclbin a --no-verify", options.add_runtime_args))
    assert (found["instr"], found["kernel"], found["verbosity"], found["ddr_id"]) == (
        "instr.txt",
        "MLIR_AIE",
        0,
        4,
    )
    assert (found["verify"], found["enable_ctrl_pkts"], "in1_size" in found) == (False, False, False)
    found = vars(
        _parsed("--xclbin a --in2-size 8", options.add_runtime_args, with_io_sizes=True, with_benchmark=True)
    )
    assert (found["verify"], found["in1_size"], found["in2_size"], found["warmup"]) == (True, 0, 8, 2)
    with pytest.raises(SystemExit):
        _parsed("", options.add_runtime_args)


@pytest.mark.parametrize(
    ("given", "columns"), [({}, 1), ({"n_cols": 2}, 2), ({"n_cols": None}, 1), ({"n_cols": 4}, 4)]
)
def test_the_device_of_the_options(given: dict[str, Any], columns: int) -> None:
    found = options.device_from_args(argparse.Namespace(dev="npu", **given))
    assert found.cols == columns
    assert options.device_from_args(argparse.Namespace(dev=None, **given)) is None
    assert options.device_from_args(argparse.Namespace(dev="npu", **given), n_cols=3).cols == 3


LINE: Any = np.ndarray[(16,), np.dtype[np.int32]]  # type: ignore[misc]


@iron.jit
def copied(_a: iron.In, _b: iron.Out, *, depth: iron.CompileTime[int] = 2) -> object:
    fifo = iron.ObjectFifo(LINE, depth, name="in")
    out = fifo.cons().forward(name="out")

    def sequence(a: Any, b: Any, fills: Any, drains: Any) -> None:
        fills.fill(a)
        drains.drain(b, wait=True)

    runtime = iron.Runtime(sequence, [LINE, LINE, fifo.prod(), out.cons()])
    return iron.Program(iron.get_current_device(), runtime).resolve_program()


def test_a_program_prints_compiles_or_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[Any] = []

    def call(**given: Any) -> None:
        opts = argparse.Namespace(dev="npu2", depth=3, **given)
        run_design_cli(
            copied,
            opts,
            compile_kwargs=lambda opts: {"depth": opts.depth},
            run_and_verify=seen.append,
            validate=lambda _: seen.append("validated"),
        )

    call(emit_mlir=True)
    said = capsys.readouterr().out
    assert "@in" in said
    assert "3 : i32" in said
    assert "npu2" in said
    paths = {"xclbin_path": str(tmp_path / "a.xclbin"), "insts_path": str(tmp_path / "i.bin")}
    call(**paths)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.xclbin", "i.bin"]
    assert seen == ["validated"] * 2
    call()
    assert (len(seen), seen[-1].depth) == (4, 3)
    with pytest.raises(SystemExit, match="--xclbin-path needs --insts-path"):
        call(xclbin_path="a")
    with pytest.raises(SystemExit, match="--full-elf-path and --xclbin-path exclude each other"):
        call(full_elf_path="a", **paths)
    with pytest.raises(SystemExit, match="this program only compiles: pass --xclbin-path and --insts-path"):
        run_design_cli(copied, argparse.Namespace(), compile_kwargs={})
    own: list[Any] = []
    opts = argparse.Namespace(emit_mlir=True)
    run_design_cli(copied, opts, compile_kwargs={}, emit_mlir=own.append)
    assert own == [opts]
    assert capsys.readouterr().out == ""
