"""An engine as data: its state and what waits at its ports, to be saved and put back in another process.

A snapshot holds arrays and plain JSON data, nothing that runs. What is going on inside a kernel is a Python
generator, which cannot be saved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

from memtile.errors import DesignError, Problem, raise_if
from memtile.model.state.causes import CorePhase
from memtile.model.state.compare import columns
from memtile.sim.engine import Engine
from memtile.sim.upsets import Upset
from memtile.sim.wordless import look_for_words

Array = npt.NDArray[Any]


@dataclass(slots=True)
class Snapshot:
    """What there is to know of an engine.

    Attributes:
        arrays: by name.
        facts: plain data, as JSON has it.
    """

    arrays: dict[str, Array] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)

    def under(self, prefix: str) -> dict[str, Array]:
        """The arrays whose names begin with ``prefix``, by the rest of their names."""
        return {n.removeprefix(prefix): a for n, a in self.arrays.items() if n.startswith(prefix)}


def take(engine: Engine) -> Snapshot:
    """The engine between two runs.

    Raises:
        DesignError: a kernel has not ended; names all such kernels. After a run without words.
    """
    look_for_words(engine, f"engine at cycle {engine.now}", "saved arrays")
    raise_if(_unfinished(engine), DesignError)
    made, ports = Snapshot(), engine.at_ports()  # what the clock loop has at hand waits again
    for name, values, *_ in columns(engine.state):
        made.arrays[f"state/{name}"] = values
    for what, streams in (("feed", ports.feeds), ("caught", ports.caught), ("left", ports.left)):
        for number, (words, last) in streams.items():
            made.arrays[f"{what}/{number}/words"], made.arrays[f"{what}/{number}/last"] = words, last
    for ch, pattern in ports.patterns.items():
        made.arrays[f"pattern/{ch}"] = pattern
    for name, buffer in engine.external.buffers.items():
        made.arrays[f"external/{name}"] = buffer.array
    made.facts = {
        "locks": {str(lock): name for lock, name in engine.lock_names.items()},
        "channels": {str(ch): name for ch, name in engine.channel_names.items()},
        "external": {n: [b.address, b.writable] for n, b in engine.external.buffers.items()},
        "upsets": [list(upset) for upset in engine.upsets.waiting],
        "struck": [list(upset) for upset in engine.upsets.struck],
        "kernels": {
            str(core): [ended.kernel, ended.declared, sorted(ended.released)]
            for core, ended in engine.cores.running.items()
        },
    }
    return made


def put_back(engine: Engine, snapshot: Snapshot) -> None:
    """Bring a new engine of the same model to where the one of the snapshot was."""
    facts = snapshot.facts
    for name, (address, writable) in facts["external"].items():
        array = snapshot.arrays[f"external/{name}"]
        array.flags.writeable = writable
        engine.external.add(name, array, address)
    engine.lock_names.update({int(lock): name for lock, name in facts["locks"].items()})
    engine.channel_names.update({int(ch): name for ch, name in facts["channels"].items()})
    for core, (kernel, endless, released) in facts["kernels"].items():
        engine.cores.resume_ended(int(core), kernel, endless=endless, released=released)
    engine.upsets.waiting = [_upset(given) for given in facts["upsets"]]
    engine.upsets.struck = [_upset(given) for given in facts["struck"]]
    engine.put_at_ports(
        feeds=_streams(snapshot, "feed"),
        caught=_streams(snapshot, "caught"),
        left=_streams(snapshot, "left"),
        patterns={int(ch): array for ch, array in snapshot.under("pattern/").items()},
    )
    engine.put_state(snapshot.under("state/"))


def _upset(given: list[Any]) -> Upset:
    cycle, tile, word, bits = given
    return Upset(cycle, tile, word, tuple(bits))


def _streams(snapshot: Snapshot, what: str) -> Mapping[int, tuple[Array, Array]]:
    arrays = snapshot.under(f"{what}/")
    numbers = dict.fromkeys(int(name.partition("/")[0]) for name in arrays)
    return {n: (arrays[f"{n}/words"], arrays[f"{n}/last"]) for n in numbers}


def _unfinished(engine: Engine) -> list[Problem]:
    return [
        Problem(
            reason="save_kernel",
            where=running.core.name,
            field="kernel",
            given=f"{running.kernel!r} has not ended",
            allowed="kernels that have ended",
            source="a Python generator cannot be saved",
            next_step="Run on until it ends, or save before it is attached.",
            says=f"kernel {running.kernel!r} has not ended",
        )
        for core, running in engine.cores.running.items()
        if engine.state.cores.phase[core] not in (CorePhase.IDLE, CorePhase.DONE)
    ]
