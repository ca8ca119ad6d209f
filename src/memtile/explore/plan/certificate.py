"""What is certain of a planned design: run with data, looked at for races and before its run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from memtile.access.lowering.certificate import proofs
from memtile.check.check import check_design
from memtile.check.result import CheckResult
from memtile.design.array import Array
from memtile.design.memory_tile import MemoryTile
from memtile.design.run import make
from memtile.documents import plain
from memtile.errors import MemtileError
from memtile.explain.results import Result
from memtile.importers.design_file import design_function
from memtile.runs.options import RunOptions


@dataclass(frozen=True, slots=True)
class Proof:
    """What was found out about a design.

    Attributes:
        walks: transfers whose descriptors' walk was compared with what was asked.
        words: of these walks.
        cycles: of the run with data.
        exact: what came out is what was expected, bit by bit.
        findings: of the run, races among them, and of the check before it.
        why: what is wrong; empty = the certificate holds.
    """

    walks: int
    words: int
    cycles: int
    exact: bool
    findings: tuple[str, ...]
    why: str = ""

    @property
    def holds(self) -> bool:
        """Whether all is as it should be."""
        return not self.why

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"holds": self.holds, **plain(self)}

    @property
    def text(self) -> str:
        """One line."""
        if not self.holds:
            return f"no certificate: {self.why}"
        return (
            f"certificate: {self.walks} walks proved over {self.words} words, "
            f"bit-exact in {self.cycles} cycles, no race, no deadlock, no finding"
        )


def prove(file: str, point: Mapping[str, object], cycles: float, options: RunOptions) -> Proof:
    """Find out about a design.

    Args:
        file: of the design.
        point: values of its arguments, without ``data``.
        cycles: of its run without data, which it must take with data too.
        options: of the run.
    """
    function = design_function(file)
    try:
        with proofs() as walks:
            made = make(function, {**point, "data": True}, file)
        result = made.run(options, check=True, data=True)
        checked = check_design(lambda: _made(function, point, file), file)
    except MemtileError as error:
        return Proof(0, 0, 0, False, (), " ".join(str(error).split()))
    findings = tuple(map(str, (*result.findings, *checked.findings)))
    why = "; ".join(_faults(result, checked, cycles, all(each.holds for each in walks)))
    words = sum(each.words for each in walks)
    return Proof(len(walks), words, result.cycles, result.exact is True, findings, why)


def _made(function: Any, point: Mapping[str, object], file: str) -> MemoryTile | Array:
    return make(function, {**point, "data": False}, file)


def _faults(result: Result, checked: CheckResult, cycles: float, walks: bool) -> Iterator[str]:
    if not walks:
        yield "a walk is not what was asked"
    if not result.good:
        yield f"the run with data is {result.status}"
    if result.exact is not True:
        yield "what comes out is not what was expected"
    if result.cycles != cycles:
        yield f"{result.cycles} cycles with data, {cycles:.0f} without"
    yield from map(str, (*result.findings, *checked.findings))
