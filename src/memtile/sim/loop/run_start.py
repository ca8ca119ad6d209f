"""A model before its first cycle, as digests: everything that decides what a run of it does.

Models of equal digests have runs of equal cycles and equal states at their ends, words aside. That holds for
models of which all is known: no words wait at their ports, their kernels are lists of actions, and nobody
looks on. Of any other model there is no start.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.jit.tables import plain
from memtile.model.state.causes import CorePhase
from memtile.model.state.state_differences import columns
from memtile.sim.doors.relaxed_model import hosts_wait, is_paced
from memtile.sim.kernels.isolation import REACHES
from memtile.sim.kernels.listed_actions import plain_steps, steps_of
from memtile.sim.loop import other_schedules
from memtile.sim.loop.engine import Engine

_BYTES = 16  # of a digest
Digests = Mapping[str, str]


def digest(*parts: Any) -> str:
    """A digest of plain data: numbers, texts, lists, and None."""
    return blake2b(repr(parts).encode(), digest_size=_BYTES).hexdigest()


def start_of(engine: Engine) -> dict[str, Any] | None:
    """What decides about a run of a model, by name; None if not all of it is known.

    ``state`` has the digests of :func:`column_digests`, the others are one digest each.

    Args:
        engine: that is ready to run (``Engine.make_ready``).
    """
    if not _is_new(engine) or any(_outside(engine)):
        return None
    kernels = list(_kernels(engine))
    if not kernels or None in kernels:
        return None
    return {
        "spec": _spec_digest(engine),
        "timing": digest(engine.timing_in_use, engine.usual_board),
        "kernels": digest(kernels),
        "state": column_digests(engine),
    }


def column_digests(engine: Engine) -> dict[str, str]:
    """A digest of each column of the state that means the same in another process."""
    shown = engine.external.shown_to(engine.state)
    return {name: _array_digest(values) for name, values, *_ in columns(shown)}


def _is_new(engine: Engine) -> bool:
    """Whether no cycle has passed and no kernel has begun."""
    phases = plain(engine.state.cores).phase
    kernels = engine.cores.running
    begun = any(
        phases[core] != CorePhase.NEXT or each.released or each.taken for core, each in kernels.items()
    )
    return not (engine.now or engine.host.free_at or engine.skipper.account.stepped or begun)


def _outside(engine: Engine) -> Iterator[object]:
    """Yield what stands outside of a model and may change its run, or look at it."""
    ports = engine.at_ports()
    yield from (ports.feeds, ports.caught, ports.left, ports.patterns, engine.logic.ports)
    yield from (engine.upsets.waiting, engine.upsets.struck, engine.cores.failed, engine.cores.at_work >= 0)
    yield from (engine.checks.watch, engine.checks.recorder, engine.checks.between_runs)
    yield from (engine.observed, engine.is_watched, engine.read_by_host)
    yield from (not hosts_wait(), not is_paced(), other_schedules.present(), engine.checks.scheduled)


def _kernels(engine: Engine) -> Iterator[list[Any] | None]:
    """Yield what each kernel does, in the order of the cores; None for one that is no list."""
    for core, running in sorted(engine.cores.running.items()):
        steps = steps_of(running.function)
        reaches: frozenset[tuple[int, int]] | None = getattr(running.function, REACHES, None)
        said = [core, running.declared, running.enabled, reaches if reaches is None else sorted(reaches)]
        yield None if steps is None else [*said, plain_steps(steps, core)]


def _spec_digest(engine: Engine) -> str:
    """A digest of all that was fixed when the model was built, timing constants among it."""
    found = blake2b(digest_size=_BYTES)
    for name in engine.spec._fields:
        table = getattr(engine.spec, name)
        for values in table if isinstance(table, tuple) else (table,):
            found.update(f"{name} {_array_digest(values)}".encode())
    return found.hexdigest()


def _array_digest(values: npt.NDArray[Any]) -> str:
    """A digest of an array; most are zeros, whose bytes need not be gone through."""
    found = blake2b(repr((values.dtype, values.shape)).encode(), digest_size=_BYTES)
    if values.dtype.names is not None or values.any():
        found.update(np.ascontiguousarray(values).view(np.uint8).data if values.size else b"")
    return found.hexdigest()
