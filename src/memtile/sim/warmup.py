"""Compiling the engine ahead of its first use: ``python -m memtile.sim.warmup``.

Everything that a run and the door need is compiled here and nowhere else, so that nobody waits twice.
"""

from __future__ import annotations

import time
from functools import cache

from memtile.arch.tiles import MEMORY
from memtile.jit import decorators as jit
from memtile.jit.cache import cache_directory
from memtile.model.build.model import build
from memtile.model.state.tiles import Placed
from memtile.sim import machine


@cache
def warm_up() -> float:
    """Compile or load the engine, once per process; says so on stderr if it compiles. Seconds it took."""
    if not jit.ENABLED:
        return 0.0
    start = time.perf_counter()
    state = build([Placed(MEMORY.name)])
    with jit.compiling(jit.to_stderr, machine.COMPILED):
        machine.run(state, 1)
    return time.perf_counter() - start


def main() -> None:
    """Warm up and say how long it took."""
    if jit.ENABLED:
        print(f"engine ready after {warm_up():.1f} s, kept in {cache_directory(machine.COMPILED)}")
    else:
        print("MEMTILE_JIT=0: the engine runs in the interpreter, nothing to compile")


if __name__ == "__main__":
    main()
