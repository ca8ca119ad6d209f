"""Findings about functions of cores that write into none of their arguments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.names import core_name
from memtile.sim.kernels.listed_actions import steps_of
from memtile.sim.kernels.lost_results import LOST, LostResult, lost_by
from memtile.sim.loop.engine import Engine

_ANEW = "rebinds {name!r} instead of writing into it"
_FIX = "Write into the array: {name}[...] = what it computes."
_NONE = "writes into none of its arguments"
_FIX_NONE = "Write into the argument that is the output, or call no function there."


def lost_findings(engine: Engine, more: Iterable[tuple[str, LostResult]] = ()) -> Iterator[Finding]:
    """What functions of cores compute and lose, each function once, with the cores that it is of.

    A kernel that is a list of actions computes nothing.

    Args:
        engine: whose cores run.
        more: others, each with the name of its core.
    """
    found = dict[LostResult, list[str]]()
    for core in sorted(engine.cores.running):
        function = engine.cores.running[core].function
        known = () if steps_of(function) is not None else getattr(function, LOST, None)
        for lost in lost_by([function] if function is not None else ()) if known is None else known:
            found.setdefault(lost, []).append(core_name(engine, core))
    for name, lost in more:
        found.setdefault(lost, []).append(name)
    for lost, cores in found.items():
        does = _ANEW.format(name=lost.name) if lost.name else _NONE
        text = f"Function {lost.function!r} of {', '.join(cores)} {does}, so what it computes is lost."
        fix = _FIX.format(name=lost.name) if lost.name else _FIX_NONE
        side = Side(f"function {lost.function!r}", does, lost.place)
        yield Finding("MT0407", Severity.WARNING, text, (side,), fix=fix)
