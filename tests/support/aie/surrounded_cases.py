"""Functions of mlir-aie's public C++ kernels that need something around their file.

Locks and buffers that a core has as globals, templates and inline functions that nothing in their file
calls. The C++ around them is ours.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from support.aie import plain_references as plain
from support.aie.kernel_cases import AIE2, AIE2P, CONTRACT, NPU, Buffer, Case, args, buffer
from support.aie.lone_kernels import ASKS
from support.aie.plain_references import Function

_UNIT = "test/unit_tests/"
_OLD = f"{_UNIT}chess_compiler_tests_aie2/"
_FIRST_LOCK = 48  # of the core's own tile, as a core numbers them
_GREATER, _EQUAL, _RELEASE, _EVENT = map(
    ASKS.index, ("acquire_greater_equal", "acquire_equal", "release", "event")
)


def _wrapped(number: int) -> int:
    return (number + 2**31) % 2**32 - 2**31


def _globals(*names: str) -> tuple[Buffer, ...]:
    return tuple(Buffer("i32", 256, "global", place=name) for name in names)


def _asked(*requests: tuple[int, int, int]) -> plain.Array:
    """Requests of locks: what, which one of the tile's own, value."""
    return np.array([(what, _FIRST_LOCK + lock, value) for what, lock, value in requests]).reshape(-1)


def _once(a: plain.Array, b: plain.Array, asked: plain.Array) -> None:
    b[5] = _wrapped(5 * int(a[3]))
    asked[...] = _asked((_GREATER, 3, 1), (_RELEASE, 5, 1))


def _in_turns(
    a_ping: plain.Array, a_pong: plain.Array, b_ping: plain.Array, b_pong: plain.Array, asked: plain.Array
) -> None:  # fmt: skip
    """Both halves of two buffers, each between its locks, and the lock of the end."""
    b_ping[5], b_pong[5] = _wrapped(5 * int(a_ping[3])), _wrapped(5 * int(a_pong[3]))
    turn = ((_GREATER, 4, 1), (_GREATER, 5, 1), (_RELEASE, 3, 1), (_RELEASE, 6, 1))
    asked[...] = _asked(*turn, *turn, (_EQUAL, 7, 1))


def _nothing(*_: plain.Array) -> None:
    """The body of the function is a comment: it changes nothing and asks for nothing."""


def _locks() -> list[Case]:
    two, four = ("a", "b"), ("a_ping", "a_pong", "b_ping", "b_pong")
    found = [
        Case(f"{_OLD}02_precompiled_kernel/kernel.cc", "core_1_3",
             (*_globals(*two), Buffer("i32", 6, "asked")), _once, before=_declared(two), library=""),
        Case(f"{_OLD}04_shim_dma_kernel/kernel.cc", "core_7_3",
             (*_globals(*four), Buffer("i32", 27, "asked")), _in_turns, before=_declared(four), library=""),
    ]  # fmt: skip
    for folder in (f"{_UNIT}aie2/", _OLD):
        for name in ("08_tile_locks", "09_memtile_locks"):
            arguments = (*_globals(*four), Buffer("i32", 0, "asked"))
            found.append(Case(f"{folder}{name}/kernel.cc", "core_7_3", arguments, _nothing,
                              before=_declared(four), library=""))  # fmt: skip
    return found


def _events() -> list[Case]:
    """Marks for a trace: which events the core raises."""

    def raised(*numbers: int) -> Function:
        def run(asked: plain.Array) -> None:
            asked[...] = np.array([(_EVENT, number, 0) for number in numbers]).reshape(-1)

        return run

    marks = {"event_0": (0,), "event_1": (1,), "flush_trace": (0, 1) * 32}
    return [
        Case(f"{NPU}matrix_multiplication_using_cascade/mm.cc", name,
             (Buffer("i32", 3 * len(numbers), "asked"),), raised(*numbers))
        for name, numbers in marks.items()
    ]  # fmt: skip


def _declared(names: tuple[str, ...]) -> str:
    return "#include <cstdint>\n" + "\n".join(
        f"extern std::int32_t {each}[256]; std::int32_t {each}[256];" for each in names
    )


_ZEROS = """
extern "C" void {name}_scalar({type} *c) {{ zero_scalar<{type}, 32, 16>(c); }}
extern "C" void {name}_vectorized({type} *c) {{ zero_vectorized<{type}, 32, 16>(c); }}
"""
_TYPES = {"i8": "int8", "i16": "int16", "i32": "int32", "bf16": "bfloat16", "f32": "float"}


def _zeros() -> list[Case]:
    """The templates of ``zero.cc`` for every type that files which include it use."""
    after = "".join(_ZEROS.format(name=name, type=kind) for name, kind in _TYPES.items())
    return [
        Case(f"{folder}zero.cc", f"{kind}_{way}", args(f"{kind}:512:both"), plain.zero, {}, generation,
             library="", before="#include <aie_api/aie.hpp>", after=after)
        for generation, folder in (("AIE-ML", AIE2), ("AIE2P", AIE2P))
        for kind in _TYPES for way in ("scalar", "vectorized")
    ]  # fmt: skip


_LOOKUPS = """
#include <aie_api/aie.hpp>
extern "C" void exps(bfloat16 *a, bfloat16 *c) {
  for (int i = 0; i < 1024; i += 16)
    aie::store_v(c + i, aie::vector<bfloat16, 16>(to_v16bfloat16(getExpBf16(aie::load_v<16>(a + i)))));
}
extern "C" void tanhs(bfloat16 *a, bfloat16 *c) {
  for (int i = 0; i < 1024; i += 16)
    aie::store_v(c + i, aie::vector<bfloat16, 16>(getTanhBf16(aie::load_v<16>(a + i))));
}
extern "C" void inverses(float *a, bfloat16 *c) {
  for (int i = 0; i < 1024; ++i) c[i] = getInvBf16(a[i]);
}
"""


def _tanh(a: plain.Array, c: plain.Array) -> None:
    c[...] = np.tanh(a.astype(np.float64)).astype(c.dtype)


def _inverse(a: plain.Array, c: plain.Array) -> None:
    """The sign does not count, and 0 is as small as an exponent can be."""
    c[...] = (1 / np.maximum(np.abs(a.astype(np.float64)), 2.0**-127)).astype(c.dtype)


def _lookups() -> list[Case]:
    """``dut_simple.cc`` only includes mlir-aie's ``lut_based_ops``: its three functions."""
    make = partial(Case, f"{_UNIT}aievec_tests/aie2/bf16_exp_lut/dut_simple.cc", after=_LOOKUPS, library="",
                   tolerance=CONTRACT)  # fmt: skip
    wide, out = buffer("bf16:1024", 1.0), buffer("bf16:1024:out")
    return [
        make("exps", (wide, out), plain.exp),
        make("tanhs", (wide, out), _tanh, floor=2**-6),
        make("inverses", (buffer("f32:1024", 1.0), out), _inverse),
    ]


MAKERS: tuple[Callable[[], list[Case]], ...] = (_locks, _events, _zeros, _lookups)
