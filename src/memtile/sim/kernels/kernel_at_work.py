"""A kernel at work, and whether it can still end, read from the code that it has not run yet.

``while True`` without a way out never returns, and neither does what delegates to it with ``yield from``.
Only the instructions that can follow the present one count: a kernel that has work to do before its loop is
endless from the loop on.
"""

from __future__ import annotations

import dis
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from types import CodeType, GeneratorType
from typing import Any

from memtile.model.state.causes import CorePhase
from memtile.sim.kernels.actions import Action, Ints
from memtile.sim.kernels.core_links import Exchange
from memtile.sim.kernels.kernel_core import Core, Kernel

_JUMPS = frozenset((*dis.hasjrel, *dis.hasjabs))
_NO_NEXT = frozenset(("JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT", "JUMP_ABSOLUTE"))
_RAISES = frozenset(("RAISE_VARARGS", "RERAISE"))
_RETURNS = frozenset(("RETURN_VALUE", "RETURN_CONST"))


@dataclass(slots=True)
class Running:
    """A kernel at work.

    Attributes:
        core: what the kernel sees.
        actions: what it still asks for.
        kernel: its name.
        declared: whether it serves as long as there is work, as its design says; None = it does not say.
        steps: accesses that the core was not given yet.
        function: what makes its actions; None where only its end is known.
        enabled: whether Core_Control enabled the core when it began; a kernel from Python needs no such.
        released: the locks it has released so far, as indices among all locks of the model.
        taken: the locks it has acquired so far.
        asked: the lock that its last action acquires; -1 = that was no acquire.
        exchange: the action on the cascade or the stream that it is at.
        links: phases of the actions on these that have ended so far.
        handed_back: an action that the kernel has given, and that its core was not set to work on yet.
        accessed: bytes of memory that the accesses it has asked for so far read and write.
    """

    core: Core
    actions: Iterator[Action]
    kernel: str
    declared: bool | None
    steps: Ints
    function: Kernel | None = None
    enabled: bool = True
    released: set[int] = field(default_factory=set)
    taken: set[int] = field(default_factory=set)
    asked: int = -1
    exchange: Exchange | None = None
    links: set[CorePhase] = field(default_factory=set)
    handed_back: list[Action | None] = field(default_factory=list)
    accessed: int = 0

    @property
    def endless(self) -> bool:
        """Whether it is said never to end, or cannot end any more by its code."""
        return is_endless(self.actions) if self.declared is None else self.declared


def is_endless(actions: object) -> bool:
    """Whether a suspended generator cannot return any more; other iterators are taken to end.

    Args:
        actions: what a kernel has returned.
    """
    generator: Any = actions
    while isinstance(generator, GeneratorType):
        frame = generator.gi_frame
        if frame is not None and not _can_return(frame.f_code, frame.f_lasti):
            return True
        generator = generator.gi_yieldfrom
    return False


@lru_cache(maxsize=1024)
def _can_return(code: CodeType, at: int) -> bool:
    """Whether an instruction that returns can follow the one at byte ``at``; exceptions are no way out."""
    instructions = list(dis.get_instructions(code))
    offsets = [instruction.offset for instruction in instructions]
    seen: set[int] = set()
    ahead = [bisect_right(offsets, at)]
    while ahead:
        number = ahead.pop()
        if number in seen or number >= len(instructions):
            continue
        seen.add(number)
        instruction = instructions[number]
        if instruction.opname in _RETURNS:
            return True
        if instruction.opcode in _JUMPS:
            ahead.append(bisect_left(offsets, instruction.argval))
        if instruction.opname not in _NO_NEXT | _RAISES:
            ahead.append(number + 1)
    return False
