"""Candidates that change a value that cores compute with, by how much too large or too small an output is."""

from __future__ import annotations

from collections.abc import Iterator

from memtile.explain.evidence import Evidence
from memtile.explain.findings import Finding
from memtile.explain.off_by import other_values
from memtile.explain.repairs import Candidate
from memtile.importers.mlir.repairs.design_text import DesignText, owner
from memtile.importers.mlir.repairs.releases import Found
from memtile.importers.mlir.tree import Operation

_CONSTANT, _PARAMETER = "arith.constant", "aiex.npu.rtp_write"
_COMPUTES = ("arith.", "func.call", "call", "math.", "vector.", "memref.store")
_UNLIKELY = 0.3


def value_candidates(design: DesignText, finding: Finding | None) -> Iterator[Found]:
    """The value of a constant or a runtime parameter with which the words of a finding would be right.

    Args:
        design: the text.
        finding: the first one; candidates are only made of one that says how far words are off.
    """
    if finding is None:
        return
    for constant in design.named(_CONSTANT):
        if _is_computed_with(constant):
            for _, at, value in [*design.numbers(constant)][:1]:
                yield from _others(design, constant, at, value, finding.evidence)
    for write in design.named(_PARAMETER):
        for _, at, value in [*design.numbers(write)][-1:]:
            yield from _others(design, write, at, value, finding.evidence)


def _others(
    design: DesignText, operation: Operation, at: int, value: int, evidence: Evidence
) -> Iterator[Found]:
    for n, other in enumerate(other_values(value, evidence)):
        says = f"line {operation.line}: the value {other} instead of {value}"
        unlikely = _UNLIKELY + 0.1 * n
        yield operation, Candidate("value", says, design.with_number(operation, at, other), unlikely)


def _is_computed_with(constant: Operation) -> bool:
    """Whether an operation of its core takes a constant that is neither a loop nor a place in memory."""
    core = owner(constant, "aie.core")
    if core is None or not constant.results:
        return False
    name = constant.results[0]
    users = (each for each in core.walk() if each.name.startswith(_COMPUTES) and each is not constant)
    return any(name in each.words for each in users)
