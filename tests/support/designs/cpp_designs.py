"""Designs whose cores call one C++ function, and the compilers of this machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memtile.cpp.compilers import Compiler, candidates, tried
from memtile.importers.design import load
from memtile.kernels import CppKernels, cpp

WORDS = 16
_PROGRAMS = {os.path.realpath(each[0]) if len(each) == 1 else each: each for each in [*candidates()][::-1]}
FOUND = [found for found in map(tried, [*_PROGRAMS.values()][::-1]) if found is not None]
"""The compilers of C++20 that this machine has, each once: the system's, and that of ``ziglang``."""


def through_core(call: str, declared: str, *, words: int = WORDS, core: str = "", more: str = "") -> str:
    """A design whose core takes an object from ``in``, calls, and gives one to ``out``.

    Args:
        call: operation on ``%a`` and ``%b``, the objects, and ``%n``, their words.
        declared: declaration of the function.
        words: 32-bit words of an object.
        core: attributes of the core.
        more: operations of the device.
    """
    object_ = f"memref<{words}xi32>"
    return f"""module {{ aie.device(npu1_1col) {{
  %t00 = aie.tile(0, 0)
  %t02 = aie.tile(0, 2)
  aie.objectfifo @in(%t00, {{%t02}}, 2 : i32) : !aie.objectfifo<{object_}>
  aie.objectfifo @out(%t02, {{%t00}}, 2 : i32) : !aie.objectfifo<{object_}>
  {declared}
  {more}
  aie.core(%t02) {{
    %n = arith.constant {words} : i32
    %sa = aie.objectfifo.acquire @in(Consume, 1) : !aie.objectfifosubview<{object_}>
    %a = aie.objectfifo.subview.access %sa[0] : !aie.objectfifosubview<{object_}> -> {object_}
    %sb = aie.objectfifo.acquire @out(Produce, 1) : !aie.objectfifosubview<{object_}>
    %b = aie.objectfifo.subview.access %sb[0] : !aie.objectfifosubview<{object_}> -> {object_}
    {call}
    aie.objectfifo.release @in(Consume, 1)
    aie.objectfifo.release @out(Produce, 1)
    aie.end
  }} {core}
  aie.runtime_sequence(%x : {object_}, %y : {object_}) {{
    aiex.npu.dma_memcpy_nd(%y[0,0,0,0][1,1,1,{words}][0,0,0,1]) {{metadata = @out, id = 1 : i64}} : {object_}
    aiex.npu.dma_memcpy_nd(%x[0,0,0,0][1,1,1,{words}][0,0,0,1]) {{metadata = @in, id = 0 : i64}} : {object_}
    aiex.npu.dma_wait {{symbol = @out}}
  }}
}} }}"""


TWO = f"func.func private @f(memref<{WORDS}xi32>, memref<{WORDS}xi32>, i32)"
CALL = f"func.call @f(%a, %b, %n) : (memref<{WORDS}xi32>, memref<{WORDS}xi32>, i32) -> ()"


def calling(name: str, *, core: str = "") -> str:
    """The design that calls the function of another name than ``f``; ``core`` as for :func:`through_core`."""
    return through_core(CALL.replace("@f", f"@{name}"), TWO.replace("@f", f"@{name}"), core=core)


class Kernel:
    """A C++ kernel in a folder of its own, and a design that calls it.

    Args:
        folder: for both.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.design, self.source = folder / "design.mlir", folder / "kernel.cc"
        self.design.write_text(through_core(CALL, TWO))

    def write(self, source: str) -> Path:
        """Have this C++ text as its source."""
        self.source.write_text(source)
        return self.source

    def cpp(self, source: str, **options: Any) -> CppKernels:
        """The kernel of a C++ text."""
        return cpp(self.write(source), **options)

    def run(self, source: str, given: Sequence[int] | None = None, **options: Any) -> Any:
        """The run of the design with the kernel of a C++ text."""
        return self.loaded(source, **options).run(*self.arrays(given))

    def loaded(self, source: str, **options: Any) -> Any:
        """The design with the kernel of a C++ text."""
        return load(self.design, functions=self.cpp(source, **options))

    @staticmethod
    def arrays(given: Sequence[int] | None = None) -> tuple[Any, Any]:
        """Its input and its output."""
        values = np.arange(WORDS) if given is None else np.array(given)
        return values.astype(np.int32), np.zeros(WORDS, np.int32)


def compilers() -> Callable[[Any], Any]:
    """A test for each compiler of this machine; one that is skipped, with the reason, where there is none."""
    if not FOUND:
        skipped = pytest.param(None, marks=pytest.mark.skip("no compiler of C++20 is here"))
        return pytest.mark.parametrize("compiler", [skipped])
    return pytest.mark.parametrize("compiler", FOUND, ids=_name)


def _name(found: Compiler) -> str:
    return Path(found.command[-1]).name if len(found.command) == 1 else "zig"
