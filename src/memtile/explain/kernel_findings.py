"""Findings about the functions of cores, known before a core runs."""

from __future__ import annotations

from collections.abc import Iterator

from memtile.explain.findings import Finding
from memtile.explain.lost_results import lost_findings
from memtile.sim.loop.engine import Engine

FINDINGS = "__findings__"
"""Attribute of a kernel: what was found about the functions that it calls, as ``Finding``."""


def function_findings(engine: Engine) -> Iterator[Finding]:
    """What is wrong with the functions of cores: results that they lose, and what calls pass to them."""
    yield from lost_findings(engine)
    functions = (engine.cores.running[core].function for core in sorted(engine.cores.running))
    yield from once(each for function in functions for each in getattr(function, FINDINGS, ()))


def once(findings: Iterator[Finding]) -> Iterator[Finding]:
    """Findings without those that say what another has said."""
    return iter({each.message: each for each in findings}.values())
