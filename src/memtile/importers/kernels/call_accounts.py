"""What the calls of one run leave in its result: functions without a known cost, and compared calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from memtile.cpp.comparison import Reference
from memtile.importers.kernels.user_functions import FREE_CALLS
from memtile.runs.core_kernels import Kernels
from memtile.runs.program import Run


class CallAccounts:
    """The calls of a run that is about to begin.

    Args:
        references: what calls are compared with, by name; they count on from run to run.
    """

    def __init__(self, references: Mapping[str, Reference]) -> None:
        self._references = references
        self._before = {name: each.calls for name, each in references.items()}

    def settled(self, done: Run, *kernels: Kernels) -> Run:
        """The run with the functions whose cycles nobody says, and the calls that were compared.

        Args:
            done: the run, which has ended.
            kernels: of its cores, and of the devices that it loaded.
        """
        every = [kernel for each in kernels for kernel in each.values()]
        free = {name for kernel in every for name in getattr(kernel, FREE_CALLS, ())}
        counted = {name: each.calls - self._before[name] for name, each in self._references.items()}
        result = replace(done.result, cost_unknown=tuple(sorted(free)), compared=counted or None)
        return replace(done, result=result)
