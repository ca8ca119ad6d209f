"""Notes on a run that ended at its limit of cycles: cores that wait for nothing, PLIOs with extra data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memtile.adf.core_loop import CoreState
from memtile.adf.lookup import Lookup
from memtile.adf.lowering import Lowered
from memtile.arch.tiles import WORD_BYTES
from memtile.model.state.causes import LINKS, CorePhase


def busy_cores(lowered: Lowered, lookup: Lookup, cores: Iterable[CoreState]) -> dict[str, list[str]]:
    """Those of some cores that wait for nothing, by name, with the empty streams that they read."""
    engine = lowered.array.engine
    found = {}
    for core in cores:
        place = next(each for each, other in lowered.cores.items() if other is core)
        number = int(engine.spec.tiles.core[lowered.array.compute_tile(*place).index])
        if engine.state.cores.phase[number] not in (CorePhase.ACQUIRE, *LINKS):
            found[core.name] = list(_empty_streams(lowered, lookup, {each.kernel for each in core.kernels}))
    return found


def _empty_streams(lowered: Lowered, lookup: Lookup, kernels: set[int]) -> Iterator[str]:
    """Names of PLIOs that have sent all their words and whose streams kernels read."""
    for net in lowered.plan.nets:
        plio = lookup.plio_at(net.sources[0].port)
        readers = (lookup.kernel_at(target.port) for target in net.targets if target.channel < 0)
        if plio is None or not any(each is not None and each.id in kernels for each in readers):
            continue
        port = lowered.inputs[plio.id]
        if port.entered == port.fed:
            yield plio.name


def surplus(lowered: Lowered, lookup: Lookup, iterations: int) -> Iterator[str]:
    """Sentences on output PLIOs that got more than the iterations give."""
    for net in lowered.plan.nets:
        source = net.sources[0]
        plio = lookup.plio_at(net.targets[0].port)
        if plio is None or not source.elements or net.packets:
            continue
        got = lowered.outputs[plio.id].collected().words.size * WORD_BYTES // net.element_bytes
        given = source.elements * source.turns * iterations
        if got > given:
            yield (
                f"the limit of cycles ended the run, and {plio.name} got {got:,} elements, where the "
                f"iterations asked for give {given:,}: {lookup.label(source.port)} passes "
                f"{source.elements:,} in each turn, as long as there is input"
            )
