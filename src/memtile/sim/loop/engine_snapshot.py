"""An engine as data: its state and what waits at its ports, to be saved and put back in another process.

A snapshot holds arrays and plain JSON data, nothing that runs. What is going on inside a kernel is a Python
generator, which cannot be saved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.arch.tiles import MM2S, S2MM
from memtile.errors import DesignError, InputFileError, Problem, raise_if
from memtile.model.checking.saved import ArrayForm, Fault, faults, wrong
from memtile.model.state.causes import CorePhase
from memtile.model.state.state_differences import columns
from memtile.sim.loop.engine import Engine
from memtile.sim.loop.timing_only import look_for_words
from memtile.sim.loop.upsets import Upset
from memtile.sim.ports.feed import AtLogic

Array = npt.NDArray[Any]
_FACTS = "header.engine"  # where a file has what is no array
_AT_PORTS = ("feed", "caught", "left", "logic")
_TIMES, _STALLS = "times", "stalls"  # of streams of the programmable logic
_ALONE = {"pattern": np.int64, _TIMES: np.int64, _STALLS: np.uint32}
_PARTS = {"words": np.uint32, "last": np.uint8}


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
    for name, values, *_ in columns(engine.external.shown_to(engine.state)):
        made.arrays[f"state/{name}"] = values
    logic = ports.logic
    streams_of = {"feed": ports.feeds, "caught": ports.caught, "left": ports.left, "logic": logic.sources}
    for what, streams in streams_of.items():
        for number, (words, last) in streams.items():
            made.arrays[f"{what}/{number}/words"], made.arrays[f"{what}/{number}/last"] = words, last
    made.arrays |= {f"{_TIMES}/{port}": cycles for port, cycles in logic.times.items()}
    made.arrays |= {f"{_STALLS}/{port}": periods for port, periods in logic.stalls.items()}
    for ch, pattern in ports.patterns.items():
        made.arrays[f"pattern/{ch}"] = pattern
    for name, buffer in engine.external.buffers.items():
        made.arrays[f"external/{name}"] = buffer.array
    made.facts = {
        "locks": {str(lock): name for lock, name in engine.lock_names.items()},
        "channels": {str(ch): name for ch, name in engine.channel_names.items()},
        "logic": {str(port): name for port, name in engine.logic.names.items()},
        "external": {n: [b.address, b.writable] for n, b in engine.external.buffers.items()},
        "upsets": [list(upset) for upset in engine.upsets.waiting],
        "struck": [list(upset) for upset in engine.upsets.struck],
        "kernels": {
            str(core): [ended.kernel, ended.declared, sorted(ended.released)]
            for core, ended in engine.cores.running.items()
        },
    }
    return made


def form_of_port(engine: Engine, name: str) -> ArrayForm | None:
    """The form of an array that waits at a port of the engine, by its name; None if there is none of it."""
    what, _, rest = name.partition("/")
    number, _, part = rest.partition("/")
    is_port = what in ("left", "logic", _TIMES, _STALLS)
    rows = len(engine.state.switch.held) if is_port else len(engine.channels.phase)
    if number not in map(str, range(rows)):
        return None
    if what in _ALONE:
        return ArrayForm(np.dtype(_ALONE[what]), (-1,)) if not part else None
    if what not in _AT_PORTS or part not in _PARTS:
        return None
    direction = {"feed": S2MM, "caught": MM2S}.get(what)
    if direction is not None and engine.channels.direction[int(number)] != direction:
        return None
    return ArrayForm(np.dtype(_PARTS[part]), (-1,))


def put_back(engine: Engine, snapshot: Snapshot) -> None:
    """Bring a new engine of the same model to where the one of the snapshot was.

    Raises:
        InputFileError: a value that no run leaves there; names the first one.
        LookupError: an array is missing, or a lock, channel or core that the model does not have.
    """
    facts = snapshot.facts
    for name, (address, writable) in facts["external"].items():
        array = snapshot.arrays[f"external/{name}"]
        array.flags.writeable = writable
        engine.external.add(name, array, address)
    raise_if(_damaged(engine, snapshot), InputFileError)
    engine.lock_names.update({int(lock): name for lock, name in facts["locks"].items()})
    engine.channel_names.update({int(ch): name for ch, name in facts["channels"].items()})
    for core, (kernel, endless, released) in facts["kernels"].items():
        engine.cores.resume_ended(int(core), kernel, endless=endless, released=released)
    engine.upsets.struck = [_upset(given) for given in facts["struck"]]
    engine.put_at_ports(
        feeds=_streams(snapshot, "feed"),
        caught=_streams(snapshot, "caught"),
        left=_streams(snapshot, "left"),
        patterns={int(ch): array for ch, array in snapshot.under("pattern/").items()},
    )
    engine.put_state(snapshot.under("state/"))
    stalls, times = (_by_port(snapshot, what) for what in (_STALLS, _TIMES))
    engine.logic.put_back(AtLogic(dict(_streams(snapshot, "logic")), stalls, times))
    engine.logic.names.update({int(port): name for port, name in facts["logic"].items()})
    engine.upsets.add(_upset(given) for given in facts["upsets"])


def _damaged(engine: Engine, snapshot: Snapshot) -> list[Problem]:
    """What no run leaves behind, the first such value."""
    built = engine.external.shown_to(engine.state)
    found = [*faults(built, snapshot.under("state/")), *_faults_at_ports(snapshot)]
    found += _faults_of_facts(engine, snapshot.facts)
    return [
        Problem(
            f"{fault.name}{list(fault.place) or ''}",
            str(fault.given),
            fault.allowed,
            next_step="The file is damaged or was changed: save the array again.",
            reason="saved_state",
            where=f"member {_member_of(fault.name)!r}",
            source="what a run of this model leaves there",
        )
        for fault in found[:1]
    ]


def _member_of(name: str) -> str:
    """The member of a file that has a value: a column of the state, a part of the header, or its own name."""
    if name.startswith(f"{_FACTS}."):
        return _FACTS.partition(".")[0]
    return name if "/" in name else f"state/{name}"


def _faults_at_ports(snapshot: Snapshot) -> Iterator[Fault]:
    """Streams whose flags are not those of their words, and patterns that are none."""
    for what in _AT_PORTS:
        for number, (words, last) in _streams(snapshot, what).items():
            name = f"{what}/{number}/last"
            if len(words) != len(last):
                yield Fault(name, (0,), len(last), f"{len(words)} flags, as there are words")
            yield from wrong(name, last > 1, last, "0..1")
    sending = snapshot.arrays["state/logic.sending"]
    stalls = _by_port(snapshot, _STALLS)
    sources = {port for port, (words, _) in _streams(snapshot, "logic").items() if len(words)}
    for port, (words, _) in _streams(snapshot, "logic").items():
        if len(stalls.get(port, ())) != len(words):
            yield Fault(
                f"{_STALLS}/{port}", (0,), len(stalls.get(port, ())), f"{len(words)}, as there are words"
            )
    stored = snapshot.arrays["state/logic.stored"]
    held = {port: len(words) for port, (words, _) in _streams(snapshot, "logic").items()}
    most = np.array([held.get(port, 0) for port in range(len(stored))])
    yield from wrong("logic.stored", stored > most, stored, "at most the words of the file")
    has_words = np.isin(np.arange(len(sending)), list(sources))
    yield from wrong("logic.sending", sending != has_words, sending, "1 where the file has words to send")
    patterns = snapshot.under("pattern/")
    for ch, pattern in patterns.items():
        yield from wrong(f"pattern/{ch}", (pattern < 0) | (pattern > 1), pattern, "0..1")
        if not pattern.any():
            yield Fault(f"pattern/{ch}", (0,), 0, "a cycle in which the port is ready")
    length = snapshot.arrays["state/ports.pattern_length"]
    wanted = np.array([len(patterns.get(str(ch), ())) for ch in range(len(length))])
    differs = (length > 0) & (length != wanted)
    yield from wrong("ports.pattern_length", differs, length, "the length of the pattern of the channel")


def _faults_of_facts(engine: Engine, facts: Mapping[str, Any]) -> Iterator[Fault]:
    """Numbers of what the model does not have, in the header."""
    locks, ports = len(engine.state.locks.value), len(engine.state.switch.held)
    for key, most in (("locks", locks), ("channels", len(engine.channels.phase)), ("logic", ports)):
        for number in facts[key]:
            if int(number) >= most:
                yield Fault(f"{_FACTS}.{key}", (), int(number), f"0..{most - 1}")
    cores = len(engine.state.cores.phase)
    for number, (_, _, released) in facts["kernels"].items():
        if int(number) >= cores:
            yield Fault(f"{_FACTS}.kernels", (), int(number), f"0..{cores - 1}")
        if beyond := [lock for lock in released if lock >= locks]:
            yield Fault(f"{_FACTS}.kernels", (), beyond[0], f"locks 0..{locks - 1}")
    words = engine.spec.tiles.memory_words.tolist()
    for _, tile, word, _ in facts["struck"]:
        if tile >= len(words) or word >= words[tile]:
            yield Fault(f"{_FACTS}.struck", (), word, "a word of a tile of the model")


def _upset(given: list[Any]) -> Upset:
    cycle, tile, word, bits = given
    return Upset(cycle, tile, word, tuple(bits))


def _streams(snapshot: Snapshot, what: str) -> Mapping[int, tuple[Array, Array]]:
    arrays = snapshot.under(f"{what}/")
    numbers = dict.fromkeys(int(name.partition("/")[0]) for name in arrays)
    return {n: (arrays[f"{n}/words"], arrays[f"{n}/last"]) for n in numbers}


def _by_port(snapshot: Snapshot, what: str) -> dict[int, Array]:
    return {int(port): values for port, values in snapshot.under(f"{what}/").items()}


def _unfinished(engine: Engine) -> list[Problem]:
    return [
        Problem(
            "kernel",
            f"{running.kernel!r} has not ended",
            "kernels that have ended",
            f"kernel {running.kernel!r} has not ended",
            "Run on until it ends, or save before it is attached.",
            reason="save_kernel",
            where=running.core.name,
            source="a Python generator cannot be saved",
        )
        for core, running in engine.cores.running.items()
        if CorePhase(int(engine.state.cores.phase[core])).has_kernel
    ]
