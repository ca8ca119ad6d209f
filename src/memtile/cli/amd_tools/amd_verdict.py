"""What AMD's compiler would say of a graph, in the compile stage.

What it refuses stops a compile for hardware as AMD's does, with our own answer beside it; what is only
assumed of it does not. Its x86 simulator has no tiles, so nothing of this stops a compile for that one.
"""

from __future__ import annotations

import os

from memtile.adf.plan import Plan
from memtile.adf.verdict.judge import amd_verdicts
from memtile.adf.verdict.verdicts import Verdict
from memtile.cli.amd_tools.report import Report
from memtile.errors import DesignError

VERDICT = "MEMTILE_VERDICT"
"""Environment variable: ``stop`` as AMD's compiler does (usual), or ``note`` and go on."""
_STOP, _NOTE = "stop", "note"
_TOOL = "aiecompiler"


def report_verdicts(plan: Plan, report: Report, *, functional: bool) -> int:
    """Report what AMD's compiler would refuse; how many errors stop the compile.

    Args:
        plan: of the graph, which memtile runs.
        report: gets the lines.
        functional: the graph is for the x86 simulator.

    Raises:
        DesignError: the environment asks for something else than there is.
    """
    goes_on = _asked() == _NOTE or functional
    errors = 0
    for verdict in amd_verdicts(plan.description, plan.device):
        if goes_on or verdict.grade == "assumed":
            report.line(f"note: {verdict.text}")
        else:
            errors += 1
            _report_error(verdict, report)
    if errors:
        report.line(f"note: memtile runs this graph. To keep this setup, compile with {VERDICT}={_NOTE}.")
    return errors


def _asked() -> str:
    chosen = os.environ.get(VERDICT) or _STOP
    if chosen not in (_STOP, _NOTE):
        raise DesignError.of(
            VERDICT, repr(chosen), f"{_STOP} or {_NOTE}",
            reason="tool_verdict", where=_TOOL, source="docs/adf.md",
        )  # fmt: skip
    return chosen


def _report_error(verdict: Verdict, report: Report) -> None:
    """A line as AMD's compiler has it, and what to do."""
    number = f" {verdict.number}" if verdict.number else ""
    report.line(f"ERROR: [{_TOOL}{number}] {verdict.where}: {verdict.says} ({verdict.source}).")
    report.line(f"note: memtile {verdict.ours}. {verdict.next_step}")
