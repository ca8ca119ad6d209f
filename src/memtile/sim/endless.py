"""Whether a kernel can still come to its end, read from the code that it has not run yet.

``while True`` without a way out never returns, and neither does what delegates to it with ``yield from``.
Only the instructions that can follow the present one count: a kernel that has work to do before its loop is
endless from the loop on.
"""

from __future__ import annotations

import dis
from bisect import bisect_left, bisect_right
from functools import lru_cache
from types import CodeType, GeneratorType
from typing import Any

_JUMPS = frozenset((*dis.hasjrel, *dis.hasjabs))
_NO_NEXT = frozenset(("JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT", "JUMP_ABSOLUTE"))
_RAISES = frozenset(("RAISE_VARARGS", "RERAISE"))
_RETURNS = frozenset(("RETURN_VALUE", "RETURN_CONST"))


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
