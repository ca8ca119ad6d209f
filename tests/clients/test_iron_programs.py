"""Programs of IRON that run with nothing but memtile: their data, their files, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from memtile import iron
from memtile.errors import InputFileError
from memtile.iron.compiled_design import check_aiecc_flags, read_compiled
from memtile.iron.controlflow import range_
from memtile.iron.running import HostRuntimeError
from memtile.iron.utils import DefaultNPURuntime, NPUKernel

N, TILE = 64, 16
LINE = np.ndarray[(TILE,), np.dtype[np.int32]]
ALL = np.ndarray[(N,), np.dtype[np.int32]]
SOURCE = 'extern "C" void scale(int *a, int *b, int n) {{ for (int i = 0; i < n; i++) b[i] = {} * a[i]; }}'


def _program(kernel: iron.ExternalFunction, *, unused: bool = False) -> object:
    """A core that calls ``kernel`` on each line; the host sequence may take a tensor that it does not use."""
    fifo_in, fifo_out = iron.ObjectFifo(LINE, name="in"), iron.ObjectFifo(LINE, name="out")

    def body(of_in: iron.ObjectFifo, of_out: iron.ObjectFifo, kernel: iron.Kernel) -> None:
        for _ in range_(N // TILE):
            source, target = of_in.acquire(1), of_out.acquire(1)
            kernel(source, target, TILE)
            of_in.release(1)
            of_out.release(1)

    worker = iron.Worker(body, [fifo_in.cons(), fifo_out.prod(), kernel])

    def sequence(a: object, b: object, *rest: object) -> None:
        rest[-2].fill(a)
        rest[-1].drain(b, wait=True)

    tensors = [ALL, ALL, ALL] if unused else [ALL, ALL]
    runtime = iron.Runtime(sequence, [*tensors, fifo_in.prod(), fifo_out.cons()])
    return iron.Program(iron.get_current_device(), runtime, workers=[worker]).resolve_program()


def _scale(factor: int, source: Path | None = None) -> iron.ExternalFunction:
    given = {"source_string": SOURCE.format(factor)} if source is None else {"source_file": str(source)}
    return iron.ExternalFunction("scale", arg_types=[LINE, LINE, np.int32], **given)


@iron.jit
def scaled(_a: iron.In, _b: iron.Out, *, kernel: iron.CompileTime[iron.ExternalFunction]) -> object:
    return _program(kernel)


@iron.jit
def scaled_of_three(_a: iron.In, _b: iron.Out, _c: iron.In, *, kernel: iron.CompileTime[object]) -> object:
    return _program(kernel, unused=True)


def test_each_design_calls_its_own_kernel_of_a_name() -> None:
    a, b = iron.arange(N, dtype=np.int32), iron.zeros(N, dtype=np.int32)
    for factor in (3, 5):
        _, result = scaled(a, b, kernel=_scale(factor))
        assert result.is_success()
        assert result.npu_time > 0
        assert np.array_equal(b.numpy(), factor * np.arange(N))


def test_a_host_program_runs_what_was_compiled(tmp_path: Path) -> None:
    """``--xclbin-path``, ``--insts-path`` of the design; ``--xclbin``, ``--instr`` of the host program."""
    source = tmp_path / "scale.cc"
    source.write_text(SOURCE.format(7))
    design, instructions = tmp_path / "build" / "final.xclbin", tmp_path / "build" / "insts.bin"
    made = scaled.specialize(kernel=_scale(7, source))
    assert made.compile(xclbin_path=design, inst_path=instructions) == (design, instructions)
    a, b = iron.arange(N, dtype=np.int32), iron.zeros(N, dtype=np.int32)
    kernel = NPUKernel(design, instructions)
    assert DefaultNPURuntime.run_test(kernel, [a, b], {1: 7 * np.arange(N, dtype=np.int32)}) == 0
    assert DefaultNPURuntime.run_test(kernel, [a, b], {1: np.arange(N, dtype=np.int32)}) == 1
    source.write_text(SOURCE.format(8))
    with pytest.raises(InputFileError, match=r"scale.cc: this source of kernel scale has changed since"):
        kernel(a, b)


def test_files_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    paths = [(tmp_path / f"{n}.xclbin", tmp_path / f"{n}.bin") for n in range(2)]
    for factor, (design, instructions) in zip((2, 3), paths, strict=True):
        scaled.specialize(kernel=_scale(factor)).compile(design, instructions)
    with pytest.raises(InputFileError, match=r"1.bin: these instructions were not compiled with .*0.xclbin"):
        read_compiled(paths[0][0], paths[1][1])
    (tmp_path / "xrt.xclbin").write_bytes(b"xclbin2\x00")
    with pytest.raises(InputFileError, match=r"xrt\.xclbin: this file was not compiled by memtile"):
        read_compiled(tmp_path / "xrt.xclbin")
    (tmp_path / "other.xclbin").write_text(json.dumps({"format": "another"}))
    with pytest.raises(InputFileError, match="the format is 'another', not 'memtile compiled design 2'"):
        read_compiled(tmp_path / "other.xclbin")


def test_tensors_are_as_many_as_the_host_sequence_uses() -> None:
    a, b = iron.arange(N, dtype=np.int32), iron.zeros(N, dtype=np.int32)
    scaled_of_three(a, b, kernel=_scale(2))  # the third is in no transfer
    assert np.array_equal(b.numpy(), 2 * np.arange(N))
    with pytest.raises(HostRuntimeError, match="takes 2 arguments, 1 were passed"):
        scaled(a, kernel=_scale(2))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"xclbin_path": "a"}, "xclbin_path and inst_path, or neither"),
        ({"xclbin_path": "a", "inst_path": "b", "full_elf_path": "c"}, "not both"),
        ({"elf_path": "a"}, "with xclbin_path and inst_path only"),
    ],
)
def test_paths_that_exclude_each_other(given: dict[str, str], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        scaled.specialize(kernel=_scale(2)).compile(**given)


def test_options_of_aiecc_are_followed_or_refused() -> None:
    check_aiecc_flags(["--alloc-scheme=basic-sequential", "--dynamic-objFifos", "--dynamic-objFifos=false"])
    with pytest.raises(ValueError, match=r"aiecc_flags --placer=sa_placer, --sa-seed=1: memtile has no"):
        check_aiecc_flags(["--placer=sa_placer", "--sa-seed=1"])
    sequential = iron.jit(aiecc_flags=["--alloc-scheme=basic-sequential"])(scaled.mlir_generator)
    made = sequential._compiled(kernel=_scale(2))
    assert made.build_line == "// RUN: aiecc --alloc-scheme=basic-sequential"


def test_a_trace_of_a_host_program_is_refused(tmp_path: Path) -> None:
    design, instructions = tmp_path / "final.xclbin", tmp_path / "insts.bin"
    scaled.specialize(kernel=_scale(2)).compile(design, instructions)
    with pytest.raises(HostRuntimeError, match=r"there is no kernel OTHER in .*; its kernel is MLIR_AIE"):
        DefaultNPURuntime.load(NPUKernel(design, instructions, kernel_name="OTHER"))
    with pytest.raises(HostRuntimeError, match="run it without trace_size"):
        NPUKernel(design, instructions, trace_config=object())(iron.zeros(N), iron.zeros(N))


def test_references_are_compared_by_argument() -> None:
    out = iron.zeros(4, dtype=np.int32)
    assert DefaultNPURuntime.verify_results([out], {0: np.zeros(4, np.int32)}) == 0
    assert DefaultNPURuntime.verify_results([out], {0: np.ones(4, np.int32)}) == 1
    with pytest.raises(HostRuntimeError, match="a reference for argument 1, and there are 1"):
        DefaultNPURuntime.verify_results([out], {1: np.zeros(4, np.int32)})
    with pytest.raises(HostRuntimeError, match=r"argument 0 has shape \(4,\), its reference \(5,\)"):
        DefaultNPURuntime.verify_results([out], {0: np.zeros(5, np.int32)})


def test_a_design_that_does_not_finish_is_an_error_unless_the_host_asks(tmp_path: Path) -> None:
    design, instructions = tmp_path / "final.xclbin", tmp_path / "insts.bin"
    scaled.specialize(kernel=_scale(2)).compile(design, instructions)
    made = json.loads(design.read_text())
    made["text"] = made["text"].replace("aie.objectfifo.release @out(Produce, 1)", "")
    design.write_text(json.dumps(made))
    handle = DefaultNPURuntime.load(NPUKernel(design))
    tensors = [iron.zeros(N, dtype=np.int32), iron.zeros(N, dtype=np.int32)]
    with pytest.raises(HostRuntimeError, match="out"):
        DefaultNPURuntime.run(handle, tensors)
    assert not DefaultNPURuntime.run(handle, tensors, fail_on_error=False).is_success()
