"""Programs of IRON for tests: what they do with tensors and kernels, whoever brings ``aie.utils``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from support.mlir import mlir_texts

DATA = np.arange(1, 65, dtype=np.int32)
NUMBERED = mlir_texts.PASSTHROUGH.replace("%unused: memref<64xi32>", "%n: i32").replace(
    "[0, 0, 0, 0][1, 1, 1, 64]", "[0, 0, 0, 0][1, 1, 1, %n]"
)
"""The second argument says how many words are copied."""
_BODY = (
    mlir_texts.CALL.index("        func.call @work"),
    mlir_texts.CALL.index("        aie.objectfifo.release"),
)
COUNTING = (
    mlir_texts.CALL[: _BODY[0]]
    + """        %old = memref.load %count[%c0] : memref<1xi32>
        %new = arith.addi %old, %one : i32
        memref.store %new, %count[%c0] : memref<1xi32>
        scf.for %j = %c0 to %c16 step %c1 {
          %v = memref.load %x[%j] : memref<16xi32>
          %w = arith.addi %v, %new : i32
          memref.store %w, %y[%j] : memref<16xi32>
        }
"""
    + mlir_texts.CALL[_BODY[1] :]
)
COUNTING = COUNTING.replace(
    "    %body = aie.core",
    '    %count = aie.buffer(%core) {sym_name = "count"} : memref<1xi32>\n    %body = aie.core',
).replace(
    "      %c4 = arith.constant 4 : index\n",
    "      %c4 = arith.constant 9223372036854775807 : index\n      %c16 = arith.constant 16 : index\n"
    "      %one = arith.constant 1 : i32\n",
)
"""Adds to each object how many there have been; the core counts them in its memory."""


def cache(folder: Path, **texts: str) -> Path:
    """A folder as IRON's cache has it for a kernel."""
    folder.mkdir(exist_ok=True)
    for name in ("final.xclbin", "insts.bin"):
        (folder / name).write_bytes(b"compiled")
    for name, text in texts.items():
        (folder / f"{name}.mlir").write_text(text)
    return folder


def kernel(utils: Any, folder: Path, **more: Any) -> Any:
    """A kernel of the files of a folder."""
    return utils.NPUKernel(folder / "final.xclbin", folder / "insts.bin", **more)


def counted(first: int) -> Any:
    """What ``COUNTING`` makes of ``DATA`` when so many objects were there before."""
    return DATA + np.repeat(np.arange(first + 1, first + 5), 16)


def tensors_of_all_kinds(utils: Any, folder: Path) -> None:
    """From shapes, lists, arrays and factories, of several types, changed in place and by slices."""
    run = kernel(utils, cache(folder, aie=mlir_texts.PASSTHROUGH))
    zeros = utils.zeros(64, dtype=np.int32)
    bf16 = utils.arange(128, dtype=ml_dtypes.bfloat16)
    changed = utils.zeros((4, 16), dtype=np.int32)
    changed[1:3, ::2] = 7
    changed[0] = np.arange(16)
    filled = utils.ones(64, dtype=np.float32)
    filled.fill_(2.5)
    for given in (
        utils.tensor(list(range(64)), dtype=np.int32),
        utils.tensor(DATA[::-1].copy(), dtype=np.int32),
        utils.tensor(np.arange(64, dtype=np.int32).reshape(8, 8).T, dtype=np.int32),
        utils.tensor(DATA.astype(np.uint8).repeat(4), dtype=np.uint8),
        utils.full((64,), -3, dtype=np.int32),
        utils.arange(64, dtype=np.int32),
        utils.randint(-9, 9, (64,), dtype=np.int32),
        utils.rand(64, dtype=np.float32),
        utils.rand(128, dtype=ml_dtypes.bfloat16),
        bf16,
        changed,
        filled,
    ):
        out = utils.zeros_like(given)
        _, done = run(given, zeros, out)
        assert done.is_success()
        assert (out.shape, out.dtype) == (given.shape, given.dtype)
        assert out.numpy().tobytes() == given.numpy().tobytes()
        np.testing.assert_array_equal(np.array(out), np.array(given))
    assert (out[3], len(out)) == (2.5, 64)
    assert changed.numpy()[1, 2:4].tolist() == [7, 0]
    np.testing.assert_array_equal(bf16.numpy().astype(int)[:9], np.arange(9))


def residency(utils: Any, folder: Path) -> None:
    """What the host wrote is there after ``to('npu')``, what the device wrote after ``to('cpu')``."""
    run = kernel(utils, cache(folder, aie=mlir_texts.PASSTHROUGH))
    given, out = utils.tensor(DATA.copy(), dtype=np.int32), utils.zeros(64, dtype=np.int32)
    run(given, utils.zeros(64, dtype=np.int32), out)
    assert out.device == "npu"
    assert not out.data.any()
    assert out.to("cpu") is out
    np.testing.assert_array_equal(out.data, DATA)
    out[:16] = 0
    out.to("npu")
    run(out, utils.zeros(64, dtype=np.int32), given)
    np.testing.assert_array_equal(given.numpy(), np.where(np.arange(64) < 16, 0, DATA))


def state_persists(utils: Any, folder: Path) -> None:
    """Memory, locks and cores of a program are as its last run left them; other programs have their own."""
    one, other = (kernel(utils, cache(folder / name, aie=COUNTING)) for name in ("one", "other"))
    given, out = utils.tensor(DATA.copy(), dtype=np.int32), utils.zeros(64, dtype=np.int32)
    times = []
    for run, before in ((one, 0), (one, 4), (other, 0), (one, 8), (other, 4)):
        times.append(run(given, out)[1].npu_time)
        np.testing.assert_array_equal(out.numpy(), counted(before))
    assert max(times) < 1.2 * min(times)  # of each run, not of all together
    utils.DefaultNPURuntime.evict_context(folder / "one" / "final.xclbin")
    for run, before in ((one, 0), (other, 8)):
        run(given, out)
        np.testing.assert_array_equal(out.numpy(), counted(before))
    utils.DefaultNPURuntime.cleanup()
    other(given, out)
    np.testing.assert_array_equal(out.numpy(), counted(0))


def numbers(utils: Any, folder: Path) -> None:
    """A host sequence that takes a number gets it as one."""
    run = kernel(utils, cache(folder, aie=NUMBERED))
    for number in (16, np.int32(32), 48.0):
        given, out = utils.tensor(DATA.copy(), dtype=np.int32), utils.zeros(64, dtype=np.int32)
        run(given, number, out)
        np.testing.assert_array_equal(out.numpy(), np.where(np.arange(64) < number, DATA, 0))
    tensor = utils.zeros(64, dtype=np.int32)
    for arguments, says in (
        ((given, 2.5, out), r"argument 1: number is 2\.5; it must be a whole number"),
        ((given, float("nan"), out), "number is nan"),
        ((given, 1 << 40, out), "number is 1099511627776"),
        ((given, tensor, out), "argument 1 is a number of type i32, and a tensor was given"),
        ((given, 16, 5), "argument 2 is memory, and the number 5 was given"),
        ((given, DATA, out), r"one is a ndarray\. Make a tensor of it"),
        ((given, "16", out), "one is a str"),
    ):
        with pytest.raises(Exception, match=says) as error:
            run(*arguments)
        assert type(error.value).__name__ == "HostRuntimeError"
