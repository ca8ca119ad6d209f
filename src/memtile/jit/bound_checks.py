"""Code that checks indices, in the build that has it; see ``settings``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from numba.core import cgutils

from memtile.jit.settings import BOUNDS, SYMBOL, install

_ERROR = ir.Constant(ir.IntType(32), -1)
"""What a function returns in the place of its result; its callers pass it on."""


_NUMBERS = ("", "second ", "third ", "fourth ", "fifth ")
_BLOCK = ("start of a block", "length of a block", "end of a block")
Checks = Sequence[tuple[Any, Any]]


def check_indices(context: Any, builder: Any, column: str, checks: Checks, names: Sequence[str] = ()) -> None:
    """Emit checks of indices against lengths; nothing without ``MEMTILE_BOUNDS=1``.

    Args:
        context: of Numba.
        builder: of the function that has the indices.
        column: name of the column or array.
        checks: an index and a length for each dimension.
        names: what the indices are called in messages; ``index``, ``second index`` ... if omitted.
    """
    if not BOUNDS or not checks:
        return
    install()
    outside = [builder.icmp_unsigned(">=", index, length) for index, length in checks]
    some = outside[0]
    for one in outside[1:]:
        some = builder.or_(some, one)
    with builder.if_then(some, likely=False):
        found = [cgutils.intp_t(len(checks) - 1), *checks[-1]]
        for n in reversed(range(len(checks) - 1)):
            here = [cgutils.intp_t(n), *checks[n]]
            found = [builder.select(outside[n], a, b) for a, b in zip(here, found, strict=True)]
        called = names or [f"{number}index" for number in _NUMBERS[: len(checks)]]
        place = "\n".join((column, f"{context.fndesc.modname}.{context.fndesc.qualname}", *called))
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, *[cgutils.intp_t] * 3])
        report: Any = cgutils.get_or_insert_function(  # type: ignore[no-untyped-call]
            builder.module, kind, SYMBOL
        )
        builder.call(report, [context.insert_const_string(builder.module, place), *found])
        builder.ret(_ERROR)


def check_block(context: Any, builder: Any, column: str, block: tuple[Any, Any], size: Any) -> None:
    """Check a block of elements: where it begins, how many it has, and the size of the array."""
    at, count = block
    room = builder.add(size, cgutils.intp_t(1))  # a block may begin, and ends, behind the last element
    check_indices(context, builder, column, [(n, room) for n in (at, count, builder.add(at, count))], _BLOCK)
