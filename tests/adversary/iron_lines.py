"""Programs of IRON with other numbers, names and operations in them.

What a program says is run, so nothing comes into it but names that it has, names of operations and numbers.
"""

from __future__ import annotations

import ast
import random
from functools import cache

from memtile.iron.dialects import aie, aiex, arith, memref, scf

PROGRAM = """\
from aie.dialects.aie import *
from aie.dialects.aiex import *
from aie.dialects import arith, memref, scf
from aie.iron.controlflow import range_
from aie.extras.context import mlir_mod_ctx
import aie.extras.types as T
import numpy as np

with mlir_mod_ctx() as ctx:
    @device(AIEDevice.npu1_1col)
    def device_body():
        ty = np.ndarray[(16,), np.dtype[np.int32]]
        shim, mem, core_tile = tile(0, 0), tile(0, 1), tile(0, 2)
        of_in = object_fifo("in", shim, core_tile, 2, ty)
        of_out = object_fifo("out", core_tile, shim, 2, ty)
        full = lock(mem, lock_id=0, init=1)
        held = buffer(mem, ty, "held")
        flow(mem, WireBundle.DMA, 1, shim, WireBundle.DMA, 1)
        @core(core_tile)
        def core_body():
            for _ in range_(4):
                x = of_in.acquire(ObjectFifoPort.Consume, 1)
                y = of_out.acquire(ObjectFifoPort.Produce, 1)
                for i in range_(16):
                    y[i] = x[i]
                of_in.release(ObjectFifoPort.Consume, 1)
                of_out.release(ObjectFifoPort.Produce, 1)
        @runtime_sequence(ty, ty)
        def sequence(a, b):
            npu_dma_memcpy_nd(metadata=of_in, bd_id=1, mem=a, sizes=[1, 1, 1, 16], strides=[0, 0, 0, 1])
            npu_dma_memcpy_nd(metadata=of_out, bd_id=0, mem=b, sizes=[1, 1, 1, 16], strides=[0, 0, 0, 1])
            dma_wait(of_out)
    print(ctx.module)
"""
_MODULES = {"": (aie, aiex), "arith.": (arith,), "memref.": (memref,), "scf.": (scf,)}
_NUMBERS = (
    0,
    1,
    -1,
    2,
    3,
    7,
    16,
    64,
    255,
    1024,
    1 << 16,
    1 << 31,
    1 << 63,
    1 << 200,
    1.5,
    None,
    True,
    "",
    "x",
)
_FORBIDDEN = ("range_", "print", "exec")


@cache
def _names() -> tuple[str, ...]:
    """Functions that build operations."""
    return tuple(
        f"{prefix}{name}"
        for prefix, modules in _MODULES.items()
        for module in modules
        for name, value in vars(module).items()
        if callable(value) and not name.startswith("_") and _is_ours(value) and name not in _FORBIDDEN
    )


def _is_ours(value: object) -> bool:
    return str(getattr(value, "__module__", "")).startswith("memtile.iron.")


def with_line(rng: random.Random, data: bytes) -> bytes:
    """A program with one more operation, another argument, or one line less, more or elsewhere."""
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError):
        return data
    rng.choice((_insert, _insert, _number, _number, _name, _drop, _double))(rng, tree)
    return ast.unparse(tree).encode()


def _bodies(tree: ast.AST) -> list[list[ast.stmt]]:
    """Bodies with operations in them; the imports stay as they are."""
    kinds = (ast.FunctionDef, ast.With, ast.For)
    return [node.body for node in ast.walk(tree) if isinstance(node, kinds) and node.body]


def _used(tree: ast.AST) -> list[str]:
    return sorted({n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)})


def _insert(rng: random.Random, tree: ast.Module) -> None:
    """An operation with some arguments."""
    own = [
        *_used(tree),
        "ty",
        "T.i32()",
        "T.memref(16, T.i32())",
        "[1, 2]",
        "WireBundle.DMA",
        "DMAChannelDir.MM2S",
    ]

    def argument() -> str:
        return rng.choice(own) if rng.random() < 0.6 else repr(rng.choice(_NUMBERS))

    arguments = ", ".join(argument() for _ in range(rng.randrange(7)))
    (made,) = ast.parse(f"v{rng.randrange(4)} = {rng.choice(_names())}({arguments})").body
    body = rng.choice(_bodies(tree))
    body.insert(rng.randrange(len(body) + 1), made)


def _number(rng: random.Random, tree: ast.Module) -> None:
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    if found:
        rng.choice(found).value = rng.choice(_NUMBERS)


def _name(rng: random.Random, tree: ast.Module) -> None:
    """A value that is used in the place of another one."""
    own = _used(tree)
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id in own]
    if found:
        rng.choice(found).id = rng.choice(own)


def _drop(rng: random.Random, tree: ast.Module) -> None:
    body = rng.choice(_bodies(tree))
    if len(body) > 1:
        del body[rng.randrange(len(body))]


def _double(rng: random.Random, tree: ast.Module) -> None:
    body, other = rng.choice(_bodies(tree)), rng.choice(_bodies(tree))
    other.insert(rng.randrange(len(other) + 1), ast.parse(ast.unparse(rng.choice(body))).body[0])
