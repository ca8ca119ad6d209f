"""The record of a run: a verdict with its reasons, what it hung on, what moved where, what went in.

The same run gives the same bytes. A verdict is ``pass`` only if something was compared and nothing was
touched that is not modelled; what nobody can judge is ``unknown``, not a pass.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

from memtile.arch.registers import Acts
from memtile.arch.tiles import S2MM, TILE_KINDS, WORD_BYTES
from memtile.explain.findings import Severity
from memtile.explain.names import channel_name
from memtile.explain.results import Result, Status
from memtile.explain.switch_ways import configured_ways, reached
from memtile.jit.tables import plain
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.register_tables import registers_of
from memtile.sim.kernels.kernel_core import place
from memtile.sim.loop.engine import Engine

FORMAT, VERSION = "memtile-record", 1
IGNORED = ("provenance.python", "provenance.numpy", "provenance.numba", "provenance.memtile")
"""What a comparison of two records leaves out: where they ran, not what they did."""
_LEVELS = {"interface": "external", "memory": "memory tile", "compute": "compute tile"}


class RunVerdict(StrEnum):
    """What can be said of a run."""

    PASS = "pass"  # it ended, everything expected came out, and all that it touched is modelled
    FAIL = "fail"  # it did not end, or something is wrong
    UNKNOWN = "unknown"  # nobody compared, or it touched what is not modelled


def record(
    result: Result,
    engine: Engine,
    *,
    inputs: Mapping[str, str] | None = None,
    ignored: Sequence[str] = (),
) -> dict[str, Any]:
    """The record of a run as plain data.

    Args:
        result: of the run.
        engine: that it ran on, as it is at the end.
        inputs: SHA-256 of the files and arrays that went in, by name.
        ignored: operations that were read and change nothing, a line each.
    """
    stored = list(stored_registers(engine))
    verdict, why = judged(result, stored)
    return {
        "format": FORMAT,
        "version": VERSION,
        "verdict": verdict.value,
        "why": why,
        "result": result.as_json(),
        "stored_registers": stored,
        "ignored_operations": list(ignored),
        "bytes": _bytes(result, engine),
        "streams": list(_streams(engine)),
        "provenance": {"inputs": dict(sorted((inputs or {}).items())), **_versions()},
        "comparisons_ignore": list(IGNORED),
    }


def text_of(found: Mapping[str, Any]) -> str:
    """A record as the bytes of a file: keys in order, one form for every number."""
    return json.dumps(found, indent=1, sort_keys=True, ensure_ascii=True) + "\n"


def judged(result: Result, stored: Sequence[str] = ()) -> tuple[RunVerdict, list[str]]:
    """The verdict, and why.

    Args:
        result: of the run.
        stored: registers that software wrote and that only store.
    """
    wrong = list(_wrong(result))
    if wrong:
        return RunVerdict.FAIL, wrong
    open_ = list(_open(result, stored))
    if open_:
        return RunVerdict.UNKNOWN, open_
    return RunVerdict.PASS, [f"finished, and {len(result.checks)} comparisons are bit-exact"]


def _wrong(result: Result) -> Iterator[str]:
    if result.status is not Status.INTERRUPTED and result.status is not Status.FINISHED:
        yield f"the run ended as {result.status}"
    yield from (check.text for check in result.checks if not check.exact)
    yield from result.errors
    yield from (str(each) for each in result.findings if each.severity is Severity.ERROR)


def _open(result: Result, stored: Sequence[str]) -> Iterator[str]:
    if result.status is Status.INTERRUPTED:
        yield "the run was interrupted"
    if not result.checks:
        yield "nothing was compared with what was expected"
    yield from result.unsimulated
    if stored:
        yield f"{len(stored)} registers were written that only store here, such as {stored[0]}"


def stored_registers(engine: Engine) -> Iterator[str]:
    """Registers that have not their reset value and that only store it, ``tile (0, 1) NAME = 0x1``."""
    tiles, index = plain(engine.spec.tiles), engine.spec.register_index
    for tile, kind in enumerate(tiles.kind.tolist()):
        base = int(tiles.register_base[tile])
        for offset, name, reset in _keeping(kind):
            at = int(index[kind, offset // WORD_BYTES])
            value = int(engine.state.registers[base + at]) if at >= 0 else reset
            if value != reset:
                yield f"tile {place(engine.spec, tile)} {name} = {value:#x}"


def _keeping(kind: int) -> list[tuple[int, str, int]]:
    """Offset, name and reset value of the registers of a kind that only store."""
    found = registers_of(TILE_KINDS[KIND_NAMES[kind]].name)
    return [(each.offset, each.name, each.reset) for each in found if each.acts is Acts.KEEPS]


def _bytes(result: Result, engine: Engine) -> dict[str, dict[str, int]]:
    """Bytes that channels moved, by level of memory: read from it (MM2S) and written to it (S2MM)."""
    found = {level: {"read": 0, "written": 0} for level in _LEVELS.values()}
    level_of = {channel_name(engine, ch): _level(engine, ch) for ch in engine.channels_in_use()}
    for use in result.channels:
        level = level_of.get(use.name)
        if level is not None:
            found[level]["written" if use.direction == "S2MM" else "read"] += use.words * WORD_BYTES
    return found


def _level(engine: Engine, ch: int) -> str:
    kind = int(plain(engine.spec.tiles).kind[engine.channels.tile[ch]])
    return _LEVELS[TILE_KINDS[KIND_NAMES[kind]].role]


def _streams(engine: Engine) -> Iterator[dict[str, Any]]:
    """Where the words of each sending channel may go, and whether they stay on the chip all the way."""
    switch = plain(engine.state.switch)
    for ch in engine.channels_in_use():
        port = int(engine.channels.switch_port[ch])
        if engine.channels.direction[ch] == S2MM or port < 0:
            continue
        ways = reached([port], lambda at: configured_ways(engine, at))
        ends = sorted({int(switch.channel[at]) for at in ways if switch.is_master[at]} - {-1})
        levels = {_level(engine, end) for end in (ch, *ends)}
        yield {
            "from": channel_name(engine, ch),
            "to": [channel_name(engine, end) for end in ends],
            "on_chip": bool(ends) and "external" not in levels,
        }


def _versions() -> dict[str, str]:
    from importlib.metadata import version

    return {
        "memtile": version("memtile"),
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "numba": version("numba"),
    }
