"""A product of two 256 x 256 matrices on sixteen cores, as a program that prints MLIR for mlir-aie.

Tiles of a go to rows of cores, tiles of b to columns; memory tiles bring them into blocks, and join the tiles
of c. ``--text`` prints the design; else it is run and compared with NumPy.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import memtile
from memtile.programs import Run

SIZE, SIDE, TILE, BLOCK = 256, 4, 64, 4  # numbers of a matrix, cores, numbers of a tile and of a block
STEPS = SIZE // TILE  # products that a core adds up
TYPE_IN, TYPE_OUT = f"memref<{TILE}x{TILE}xi16>", f"memref<{TILE}x{TILE}xi32>"
TYPE_JOINED = f"memref<{SIZE}x{TILE}xi32>"


def fifo(name: str, source: str, targets: str, depth: int, kind: str, dims: str = "") -> str:
    """A line of an object FIFO."""
    order = f" dimensionsToStream [{dims}]" if dims else ""
    return f"aie.objectfifo @{name}({source}{order}, {{{targets}}}, {depth} : i32) : !aie.objectfifo<{kind}>"


def dimensions(*pairs: tuple[int, int]) -> str:
    """Sizes and strides of a FIFO, the outermost first."""
    return ", ".join(f"<size = {size}, stride = {stride}>" for size, stride in pairs)


def blocked() -> str:
    """A row-major tile in blocks, each row-major, as the library's products want them."""
    many = TILE // BLOCK
    return dimensions((many, BLOCK * TILE), (many, BLOCK), (BLOCK, TILE), (BLOCK, 1))


def rows() -> str:
    """Blocks of a tile as rows; each of the joined tiles is one part, with a BD of its own."""
    many = TILE // BLOCK
    return dimensions((many, BLOCK * TILE), (BLOCK, BLOCK), (many, BLOCK * BLOCK), (BLOCK, 1))


def wires() -> Iterator[str]:
    """Tiles and FIFOs: rows of a go to rows of cores, columns of b to columns, columns of c come back."""
    for column in range(SIDE):
        yield f"%shim{column} = aie.tile({column}, 0)"
        yield f"%mem{column} = aie.tile({column}, 1)"
        for row in range(SIDE):
            yield f"%core{column}{row} = aie.tile({column}, {row + 2})"
    for n in range(SIDE):
        across = ", ".join(f"%core{column}{n}" for column in range(SIDE))
        down = ", ".join(f"%core{n}{row}" for row in range(SIDE))
        yield fifo(f"a{n}_in", f"%shim{n}", f"%mem{n}", 2, TYPE_IN)
        yield fifo(f"a{n}", f"%mem{n}", across, 2, TYPE_IN, blocked())
        yield f"aie.objectfifo.link [@a{n}_in] -> [@a{n}]([] [])"
        yield fifo(f"b{n}_in", f"%shim{n}", f"%mem{n}", 2, TYPE_IN)
        yield fifo(f"b{n}", f"%mem{n}", down, 2, TYPE_IN, blocked())
        yield f"aie.objectfifo.link [@b{n}_in] -> [@b{n}]([] [])"
        for m in range(SIDE):
            yield fifo(f"c{n}{m}", f"%core{n}{m}", f"%mem{n}", 1, TYPE_OUT)
        yield fifo(f"c{n}_out", f"%mem{n}", f"%shim{n}", 1, TYPE_JOINED, rows())
        parts = ", ".join(f"@c{n}{m}" for m in range(SIDE))
        starts = ", ".join(str(m * TILE * TILE) for m in range(SIDE))
        yield f"aie.objectfifo.link [{parts}] -> [@c{n}_out]([{starts}] [])"


def body(column: int, row: int) -> Iterator[str]:
    """What a core does: for ever, a tile of c from four tiles of a and b each."""
    yield f"%done{column}{row} = aie.core(%core{column}{row}) {{"
    for name, value in (("c0", 0), ("c1", 1), ("steps", STEPS), ("always", (1 << 63) - 1)):
        yield f"%{name} = arith.constant {value} : index"
    yield "scf.for %i = %c0 to %always step %c1 {"
    yield from acquired("c", f"c{column}{row}", "Produce", TYPE_OUT)
    yield f"func.call @zero_i32(%c) : ({TYPE_OUT}) -> ()"
    yield "scf.for %k = %c0 to %steps step %c1 {"
    yield from acquired("a", f"a{row}", "Consume", TYPE_IN)
    yield from acquired("b", f"b{column}", "Consume", TYPE_IN)
    yield f"func.call @matmul_i16_i32(%a, %b, %c) : ({TYPE_IN}, {TYPE_IN}, {TYPE_OUT}) -> ()"
    yield f"aie.objectfifo.release @a{row}(Consume, 1)"
    yield f"aie.objectfifo.release @b{column}(Consume, 1)"
    yield "}"
    yield f"aie.objectfifo.release @c{column}{row}(Produce, 1)"
    yield "}"
    yield "aie.end"
    yield "}"


def acquired(value: str, name: str, port: str, kind: str) -> Iterator[str]:
    """The next object of a FIFO."""
    yield f"%{value}s = aie.objectfifo.acquire @{name}({port}, 1) : !aie.objectfifosubview<{kind}>"
    yield f"%{value} = aie.objectfifo.subview.access %{value}s[0] : !aie.objectfifosubview<{kind}> -> {kind}"


def host() -> Iterator[str]:
    """Tiles of a along its rows, of b along its columns, columns of c."""
    whole = SIZE * SIZE
    matrices = f"%a: memref<{whole}xi16>, %b: memref<{whole}xi16>, %c: memref<{whole}xi32>"
    yield f"aie.runtime_sequence({matrices}) {{"
    for n in range(SIDE):
        tiles, along = f"[1, {STEPS}, {TILE}, {TILE}]", f"[0, {TILE}, {SIZE}, 1]"
        down = f"[0, {SIZE * TILE}, {SIZE}, 1]"
        out = f"[1, 1, {SIZE}, {TILE}][0, 0, {SIZE}, 1]"
        yield copied(0, f"c{n}_out", f"%c[0, 0, 0, {TILE * n}]{out}", f"memref<{whole}xi32>")
        yield copied(1, f"a{n}_in", f"%a[0, 0, 0, {SIZE * TILE * n}]{tiles}{along}", f"memref<{whole}xi16>")
        yield copied(2, f"b{n}_in", f"%b[0, 0, 0, {TILE * n}]{tiles}{down}", f"memref<{whole}xi16>")
    yield from (f"aiex.npu.dma_wait {{symbol = @c{n}_out}}" for n in range(SIDE))
    yield "}"


def copied(number: int, name: str, part: str, kind: str) -> str:
    """A copy between a part of a matrix and a FIFO; only those that come back ask for a token."""
    token = "true" if name.startswith("c") else "false"
    more = f"{{id = {number} : i64, metadata = @{name}, issue_token = {token}}}"
    return f"aiex.npu.dma_memcpy_nd({part}) {more} : {kind}"


def text() -> str:
    """The design as mlir-aie reads it."""
    lines = [
        "module {",
        "aie.device(npu1) {",
        f"func.func private @zero_i32({TYPE_OUT})",
        f"func.func private @matmul_i16_i32({TYPE_IN}, {TYPE_IN}, {TYPE_OUT})",
        *wires(),
        *(line for column in range(SIDE) for row in range(SIDE) for line in body(column, row)),
        *host(),
        "}",
        "}",
    ]
    return "\n".join(lines) + "\n"


def run() -> tuple[Run, bool]:
    """The result of a run, and whether it is NumPy's."""
    random = np.random.default_rng(1)
    a, b = random.integers(-100, 100, (2, SIZE, SIZE)).astype(np.int16)
    with tempfile.TemporaryDirectory() as folder:
        (file := Path(folder, "design.mlir")).write_text(text())
        done = memtile.load(file).run(a, b)
    exact = np.array_equal(done.arrays["2"].reshape(SIZE, SIZE), a.astype(np.float64) @ b.astype(np.float64))
    return done, exact


if __name__ == "__main__":
    if "--text" in sys.argv:
        print(text(), end="")
    else:
        done, exact = run()
        print(f"{done.result.cycles} cycles, {'exact' if exact else 'wrong'}")
