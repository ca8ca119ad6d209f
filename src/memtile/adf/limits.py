"""What limits the run of a graph, in its words: the work of each kernel, and single buffers that are shared.

A single buffer makes its writer and its reader take turns. Where both wait for it, a second one lets them
work at the same time (UG1603: ``num_buffers``, ``single_buffer``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.results import ChannelUse, CoreUse, Result
from memtile.model.state.causes import Cause, CoreCause

if TYPE_CHECKING:
    from memtile.adf.lowering import Lowered
    from memtile.adf.pools import Pool, User

BUFFER_CODE = "MT0504"
_TENTH = 0.1  # of the run: less is no limit
_LEAST = 64  # cycles: of shorter runs everything is start and end


@dataclass(frozen=True, slots=True)
class KernelWork:
    """What the core of a kernel did.

    Attributes:
        name: of the kernel, or of all kernels of the core.
        calls: of all of them.
        spent: cycles of the core by cause.
    """

    name: str
    calls: int
    spent: Mapping[CoreCause, int]

    @property
    def computing(self) -> int:
        """Cycles in which it computed."""
        return self.spent.get(CoreCause.RUNNING, 0)

    @property
    def text(self) -> str:
        """One line: calls, cycles of a call, and what it waited for."""
        each = f", {self.computing // self.calls:,} cycles each" if self.calls else ""
        waits = (
            f"{cycles:,} {cause.text}"
            for cause, cycles in self.spent.items()
            if cycles and cause not in (CoreCause.RUNNING, CoreCause.DONE, CoreCause.IDLE)
        )
        return ", ".join([f"{self.name}: {self.calls:,} calls{each}, computing {self.computing:,}", *waits])


def kernel_works(lowered: Lowered, cores: Sequence[CoreUse]) -> list[KernelWork]:
    """The work of each core of a graph, most first.

    Args:
        lowered: the graph in the array.
        cores: of the result.
    """
    uses = {use.kernel: use for use in cores}
    found = [
        KernelWork(core.name, sum(core.calls.values()), uses[core.name].spent)
        for core in lowered.cores.values()
        if core.name in uses
    ]
    return sorted(found, key=lambda work: -work.computing)


def single_buffer_findings(lowered: Lowered, result: Result) -> Iterator[Finding]:
    """Notes on single buffers for which a writer and a reader both wait a tenth of the run."""
    if not result.timed or result.cycles < _LEAST:
        return
    channels = {use.label: use for use in result.channels if use.label}
    cores = {use.kernel: use for use in result.cores}
    waits = _Waits(lowered, channels, cores)
    for pool in lowered.pools:
        if len(pool.buffers) != 1:
            continue
        writer = max((waits.of(each) for each in pool.writers), key=lambda each: each[1], default=("", 0))
        reader = max((waits.of(each) for each in pool.readers), key=lambda each: each[1], default=("", 0))
        if min(writer[1], reader[1]) >= _TENTH * result.cycles:
            yield _finding(pool.name, _is_shared(lowered, pool), writer, reader, result.cycles)


def _is_shared(lowered: Lowered, pool: Pool) -> bool:
    return any(pool is each for each in lowered.memories.values())


@dataclass(frozen=True, slots=True)
class _Waits:
    """The cycles that users of buffers waited for locks."""

    lowered: Lowered
    channels: Mapping[str, ChannelUse]
    cores: Mapping[str, CoreUse]

    def of(self, user: User) -> tuple[str, int]:
        """The name of a user, and how long it waited for locks."""
        lookup = self.lowered.lookup
        if not isinstance(user, int):
            name = lookup.label(user.end.port)
            use = self.channels.get(name)
            return name, use.spent.get(Cause.LOCK_ACQUIRE, 0) if use else 0
        kernel = lookup.kernel_at(user)
        assert kernel is not None
        found = (
            self.cores[core.name]
            for core in self.lowered.cores.values()
            if core.name in self.cores and any(each.kernel == kernel.id for each in core.kernels)
        )
        return kernel.name, sum(each.spent.get(CoreCause.LOCK_STALL, 0) for each in found)


def _finding(
    name: str, is_shared: bool, writer: tuple[str, int], reader: tuple[str, int], cycles: int
) -> Finding:
    sides = [Side(who, f"waits {wait:,} of {cycles:,} cycles for it") for who, wait in (writer, reader)]
    fix = (
        f"Give it a second buffer: num_buffers({name}) = 2."
        if is_shared
        else f"Give it a second buffer: leave single_buffer({name}) out."
    )
    waits = " and ".join(f"{who} {wait:,}" for who, wait in (writer, reader))
    message = (
        f"{name} has one buffer, for which its writer and its reader wait: {waits} of {cycles:,} cycles."
    )
    return Finding(BUFFER_CODE, Severity.NOTE, message, sides, cycles=(0, cycles), fix=fix)
