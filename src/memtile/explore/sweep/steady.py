"""Whether a kernel asks for the same in each run: by its code, nothing that a run changes comes into it.

What it reads of memory, of registers and of the clock is not seen here, but when it does so (``sim.tapes``).
"""

from __future__ import annotations

import dis
from collections.abc import Iterator
from types import CodeType

from memtile.design.buffers import Buffer
from memtile.design.locks import Lock
from memtile.design.object_fifo import End, ObjectFifo

STEADY = (Buffer, End, Lock, ObjectFifo)
"""What kernels have of a design that is as it was made, but for ``_LIVELY``."""
_LIVELY = {"channel", "design", "flow", "forward", "gather", "open_ends", "split", "tile"}
"""Attributes by which kernels come from there to things that a run changes."""
_OUTSIDE = {"eval", "exec", "getattr", "globals", "input", "locals", "open", "print", "setattr", "vars"}
"""Names by which code does what cannot be seen, or what is seen outside."""
_STORES = {"STORE_ATTR", "DELETE_ATTR", "STORE_GLOBAL", "DELETE_GLOBAL"}
_CELLS = {"STORE_DEREF", "DELETE_DEREF"}


def looks_away(code: CodeType) -> bool:
    """Whether a function changes nothing that lasts, and comes to nothing that may change by itself."""
    return all(_harmless(each, code) for each in _instructions(code))


def _harmless(instruction: dis.Instruction, code: CodeType) -> bool:
    name = str(instruction.argval)
    if instruction.opname in _STORES or (instruction.opname in _CELLS and name in code.co_freevars):
        return False
    if "ATTR" in instruction.opname or "METHOD" in instruction.opname:
        return name not in _LIVELY and not name.startswith("_")
    return not (instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME") and name in _OUTSIDE)


def _instructions(code: CodeType) -> Iterator[dis.Instruction]:
    """Those of a function and of the ones within it."""
    yield from dis.get_instructions(code)
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _instructions(part)
