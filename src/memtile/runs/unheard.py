"""What a program asks for and the array does not do, though the program goes on: what a run says of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from memtile.errors import Problem
from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.results import Result
from memtile.runs.operation_table import Code, OperationTable
from memtile.runs.operations import Other

_FIX = "Take the write out of the program, or run it on the device that it is for."
_NOTES: Mapping[str, str] = MappingProxyType(
    {
        "READ_REGS": "hand words of registers to the runtime",
        "MERGE_SYNC": "have firmware gather the tokens of several columns",
    }
)
"""Operations that change no register, and what firmware would do for them."""


def with_dropped(result: Result, missed: Sequence[Problem]) -> Result:
    """The result with a finding for each tile to which writes went that nothing answered (DEV-TXN-3).

    Args:
        result: of the run.
        missed: the writes, in order.
    """
    return replace(result, findings=(*result.findings, *_findings(missed)))


def _findings(missed: Sequence[Problem]) -> Iterator[Finding]:
    tiles: dict[str, list[Problem]] = {}
    for problem in missed:
        tiles.setdefault(problem.given.partition(" of ")[2], []).append(problem)
    for found in tiles.values():
        first = found[0]
        more = f"; {len(found) - 1:,} more writes to the tile went the same way" if len(found) > 1 else ""
        text = (
            f"A write met nothing and was dropped, as the tile answers it with an error: {first.says}{more}."
        )
        side = Side("the program", "writes it", first.where)
        yield Finding("MT0319", Severity.WARNING, text, (side,), fix=_FIX, count=len(found))


def left_out(operations: OperationTable) -> Iterator[str]:
    """A line for each kind of operation that firmware would carry out without touching a register."""
    others = Counter(each.name for each in operations.of_code(Code.OTHER) if isinstance(each, Other))
    for name, does in _NOTES.items():
        if others[name]:
            yield f"left out: {others[name]:,} {name}, which {does}"
