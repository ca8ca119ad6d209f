"""What do C++ kernels cost: a product by ``aie::mmul`` against plain C, and a GEMM against library functions?

Ratios are taken within one run and asserted.
"""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memtile.cpp.build import Sources, built
from memtile.cpp.compilers import candidates, compiler, tried
from memtile.importers.design import load
from memtile.kernels import cpp
from processor_time import processor_time

pytestmark = pytest.mark.skipif(not any(map(tried, candidates())), reason="no compiler of C++20 is here")
SIDE, TILE, SIZE = 4, 64, 512  # cores of a row, numbers of a tile, numbers of a matrix
M, K, N = 4, 8, 8  # a block of int8 on AIE-ML
STEPS, PARTS = SIZE // TILE, SIZE // (SIDE * TILE)
IN, OUT = f"memref<{TILE}x{TILE}xi8>", f"memref<{TILE}x{TILE}xi32>"
JOINED, MATRIX = f"memref<{SIDE * TILE}x{TILE}xi32>", f"memref<{SIZE * SIZE}x"
ROUNDS = 5
BLOCKS = {"int8": (M, K, N), "int16": (4, 4, 4)}
DEVICES = {"npu1": (M, K, N), "npu2": (8, 8, 8)}
"""Blocks of int8 that the library multiplies."""


def mmul(kind: str, block: tuple[int, int, int] | None = None) -> str:
    """Kernels that zero a tile and multiply two, by blocks of a type."""
    return f"""
#include <aie_api/aie.hpp>
using Block = aie::mmul<{", ".join(map(str, block or BLOCKS[kind]))}, {kind}, {kind}>;
constexpr int side = {TILE}, down = side / Block::M, inner = side / Block::K, across = side / Block::N;
extern "C" void zero_i32(int32_t *c) {{
  for (int at = 0; at < side * side; at += 16) aie::store_v(c + at, aie::zeros<int32_t, 16>());
}}
extern "C" void matmul_i8_i32(const {kind} *a, const {kind} *b, int32_t *c) {{
  for (int i = 0; i < down; i++)
    for (int j = 0; j < across; j++) {{
      int32_t *place = c + (i * across + j) * Block::size_C;
      Block sum(aie::load_v<Block::size_C>(place));
      for (int k = 0; k < inner; k++)
        sum.mac(aie::load_v<Block::size_A>(a + (i * inner + k) * Block::size_A),
                aie::load_v<Block::size_B>(b + (k * across + j) * Block::size_B));
      aie::store_v(place, sum.to_vector<int32_t>());
    }}
}}
"""


def plain_loop(kind: str) -> str:
    """The same product in three lines of C."""
    return f"""
#include <cstdint>
extern "C" void plain(const {kind}_t *a, const {kind}_t *b, int32_t *c) {{
  for (int i = 0; i < {TILE}; i++)
    for (int j = 0; j < {TILE}; j++) {{
      int32_t sum = c[i * {TILE} + j];
      for (int k = 0; k < {TILE}; k++) sum += a[i * {TILE} + k] * b[k * {TILE} + j];
      c[i * {TILE} + j] = sum;
    }}
}}
"""


def least(*prepared: Callable[[], Callable[[], object]]) -> list[float]:
    """Seconds of the fastest of some calls of each, made in turns: a machine that slows down slows all.

    Preparation is not in the time.
    """
    spent: list[list[float]] = [[] for _ in prepared]
    for _ in range(ROUNDS):
        for times, prepare in zip(spent, prepared, strict=True):
            call = prepare()
            began = processor_time()
            call()
            times.append(processor_time() - began)
    return [min(times) for times in spent]


def order(*pairs: tuple[int, int]) -> str:
    return ", ".join(f"<size = {size}, stride = {stride}>" for size, stride in pairs)


def blocks(rows: int, columns: int) -> str:
    """A row-major tile in blocks, each row-major."""
    return order((TILE // rows, rows * TILE), (TILE // columns, columns), (rows, TILE), (columns, 1))


def fifo(name: str, source: str, targets: str, depth: int, kind: str, dims: str = "") -> str:
    to_stream = f" dimensionsToStream [{dims}]" if dims else ""
    return (
        f"aie.objectfifo @{name}({source}{to_stream}, {{{targets}}}, {depth} : i32) : !aie.objectfifo<{kind}>"
    )


def wires(block: tuple[int, int, int]) -> Iterator[str]:
    """Rows of a go to rows of cores, columns of b to columns; columns of c come back."""
    high, deep, wide = block
    for n in range(SIDE):
        yield from (f"%shim{n} = aie.tile({n}, 0)", f"%mem{n} = aie.tile({n}, 1)")
        yield from (f"%core{n}{row} = aie.tile({n}, {row + 2})" for row in range(SIDE))
    rows = order((TILE // high, high * TILE), (high, wide), (TILE // wide, high * wide), (wide, 1))
    for n in range(SIDE):
        targets = {
            "a": (", ".join(f"%core{column}{n}" for column in range(SIDE)), blocks(high, deep)),
            "b": (", ".join(f"%core{n}{row}" for row in range(SIDE)), blocks(deep, wide)),
        }
        for name, (cores, dims) in targets.items():
            yield fifo(f"{name}{n}_in", f"%shim{n}", f"%mem{n}", 2, IN)
            yield fifo(f"{name}{n}", f"%mem{n}", cores, 2, IN, dims)
            yield f"aie.objectfifo.link [@{name}{n}_in] -> [@{name}{n}]([] [])"
        yield from (fifo(f"c{n}{m}", f"%core{n}{m}", f"%mem{n}", 1, OUT) for m in range(SIDE))
        yield fifo(f"c{n}_out", f"%mem{n}", f"%shim{n}", 1, JOINED, rows)
        parts = ", ".join(f"@c{n}{m}" for m in range(SIDE))
        starts = ", ".join(str(m * TILE * TILE) for m in range(SIDE))
        yield f"aie.objectfifo.link [{parts}] -> [@c{n}_out]([{starts}] [])"


def acquired(value: str, name: str, port: str, kind: str) -> str:
    view = f"!aie.objectfifosubview<{kind}>"
    return (
        f"%{value}s = aie.objectfifo.acquire @{name}({port}, 1) : {view}\n"
        f"%{value} = aie.objectfifo.subview.access %{value}s[0] : {view} -> {kind}"
    )


def body(column: int, row: int) -> str:
    return f"""%done{column}{row} = aie.core(%core{column}{row}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %steps = arith.constant {STEPS} : index
  %always = arith.constant {(1 << 63) - 1} : index
  scf.for %i = %c0 to %always step %c1 {{
    {acquired("c", f"c{column}{row}", "Produce", OUT)}
    func.call @zero_i32(%c) : ({OUT}) -> ()
    scf.for %k = %c0 to %steps step %c1 {{
      {acquired("a", f"a{row}", "Consume", IN)}
      {acquired("b", f"b{column}", "Consume", IN)}
      func.call @matmul_i8_i32(%a, %b, %c) : ({IN}, {IN}, {OUT}) -> ()
      aie.objectfifo.release @a{row}(Consume, 1)
      aie.objectfifo.release @b{column}(Consume, 1)
    }}
    aie.objectfifo.release @c{column}{row}(Produce, 1)
  }}
  aie.end
}}"""


def copied(number: int, name: str, part: str, kind: str) -> str:
    token = "true" if name.startswith("c") else "false"
    more = f"{{id = {number} : i64, metadata = @{name}, issue_token = {token}}}"
    return f"aiex.npu.dma_memcpy_nd({part}) {more} : {MATRIX}{kind}>"


def host() -> Iterator[str]:
    """A quarter of c after another."""
    yield f"aie.runtime_sequence(%a: {MATRIX}i8>, %b: {MATRIX}i8>, %c: {MATRIX}i32>) {{"
    side = SIDE * TILE
    tiles = f"[1, {STEPS}, {TILE}, {TILE}]"
    for down, across in np.ndindex(PARTS, PARTS):
        for n in range(SIDE):
            at = side * SIZE * down + side * across + TILE * n
            out = f"%c[0, 0, 0, {at}][1, 1, {side}, {TILE}][0, 0, {SIZE}, 1]"
            left = f"%a[0, 0, 0, {SIZE * (side * down + TILE * n)}]{tiles}[0, {TILE}, {SIZE}, 1]"
            right = f"%b[0, 0, 0, {side * across + TILE * n}]{tiles}[0, {SIZE * TILE}, {SIZE}, 1]"
            yield copied(0, f"c{n}_out", out, "i32")
            yield copied(1, f"a{n}_in", left, "i8")
            yield copied(2, f"b{n}_in", right, "i8")
        yield from (f"aiex.npu.dma_wait {{symbol = @c{n}_out}}" for n in range(SIDE))
    yield "}"


def design(device: str = "npu1") -> str:
    """The product on sixteen cores of a device, as mlir-aie's own product on the whole array is laid out."""
    declared = f"func.func private @zero_i32({OUT})\nfunc.func private @matmul_i8_i32({IN}, {IN}, {OUT})"
    cores = (body(column, row) for column, row in np.ndindex(SIDE, SIDE))
    return "\n".join(
        [f"module {{ aie.device({device}) {{", declared, *wires(DEVICES[device]), *cores, *host(), "} }"]
    )


@pytest.mark.parametrize("kind", BLOCKS)
def test_a_product_by_mmul_against_plain_c(benchmark: Any, tmp_path: Path, kind: str) -> None:
    """64 x 64 x 64: the plain loop is three lines of C at -O2."""
    blocked, plain = tmp_path / "mmul.cc", tmp_path / "plain.cc"
    blocked.write_text(mmul(kind))
    plain.write_text(plain_loop(kind))
    words = ["-O2", "-shared", "-fPIC", str(plain), "-o", str(library := tmp_path / "plain.so")]
    subprocess.run([*compiler().command, *words], check=True)
    ours, theirs = ctypes.CDLL(str(built(Sources((blocked,))))), ctypes.CDLL(str(library))
    a, b = np.random.default_rng(1).integers(-128, 128, (2, TILE, TILE)).astype(kind)
    c = np.zeros((TILE, TILE), np.int32)

    def repeated(function: Any) -> Callable[[], None]:
        places = [ctypes.c_void_p(array.ctypes.data) for array in (a, b, c)]

        def call() -> None:
            for _ in range(100):
                function(*places)

        return call

    benchmark.pedantic(repeated(ours.matmul_i8_i32), rounds=3)
    mine, other = least(lambda: repeated(ours.matmul_i8_i32), lambda: repeated(theirs.plain))
    benchmark.extra_info["us"] = round(mine * 1e4)
    benchmark.extra_info["x of plain C"] = round(mine / other, 2)
    assert mine <= 3 * other


def test_a_gemm_with_cpp_kernels_against_library_functions(benchmark: Any, tmp_path: Path) -> None:
    """512 x 512 x 512 int8 on sixteen cores, with data; nothing is compiled in what is measured."""
    (file := tmp_path / "design.mlir").write_text(design())
    (source := tmp_path / "mm.cc").write_text(mmul("int8"))
    a, b = np.random.default_rng(1).integers(-128, 128, (2, SIZE, SIZE)).astype(np.int8)
    expected = a.astype(np.int32) @ b.astype(np.int32)

    def loaded(functions: Any) -> Callable[[], None]:
        made = load(file, functions=functions)

        def call() -> None:
            done = made.run(a, b)
            np.testing.assert_array_equal(done.arrays["2"].reshape(SIZE, SIZE), expected)

        return call

    for functions in ({}, cpp(source)):
        loaded(functions)()
    benchmark.pedantic(loaded(cpp(source)), rounds=1)
    other, mine = least(lambda: loaded({}), lambda: loaded(cpp(source)))
    benchmark.extra_info["s"] = round(mine, 2)
    benchmark.extra_info["x of library functions"] = round(mine / other, 2)
    assert mine <= 2 * other
