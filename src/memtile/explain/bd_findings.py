"""Findings about descriptors that are written while a task may still use them, of checks and of runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from memtile.explain.findings import CODES, Finding, Severity, Side
from memtile.explain.names import called
from memtile.jit.tables import plain
from memtile.model.dma import bd_fields
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.state.causes import Phase
from memtile.sim.loop.engine import Engine
from memtile.sim.races.bd_watch import BdRace

CODE = "MT0207"
_HALTED = "MT0315"
_LINE = re.compile(r":(\d+)(?::\d+)?(?:, [\w.]+)?$")


class BdUser(NamedTuple):
    """A task that may still use a descriptor.

    Attributes:
        ch: model index of its channel.
        place: where the task is started; empty if nobody knows.
        token: it reports its end.
    """

    ch: int
    place: str
    token: bool


def reused(
    engine: Engine,
    user: BdUser,
    tile: int,
    number: int,
    place: str,
    writer: str = "",
    severity: Severity = CODES[CODE].severity,
) -> Finding:
    """The finding about a write to a descriptor that a task may still use.

    Args:
        engine: the model.
        user: the task.
        tile: model index of the tile with the descriptor.
        number: of the descriptor.
        place: where the write is said; empty if nobody knows.
        writer: that writes; empty = a host.
        severity: error, warning or note.
    """
    bd, channel, who = f"BD {number}{_tile(engine, tile)}", called(engine, user.ch), writer or "the host"
    here, there = line_of(place), line_of(user.place)
    task = f"the task of {there}" if there else "a task"
    if here and here == there:
        task = f"the former task of {there}"
    at = f" at {here}" if here else ""
    message = (
        f"{who[0].upper()}{who[1:]} writes {bd}{at} while {task} on {channel} may still use it: "
        "no wait between them proves that the task has ended."
    )
    before = f"before {here}" if here and here != there else "before the write"
    fix = f"Wait for {task} {before} (dma_await_task, dma_wait, npu.sync or host.wait), or use another BD."
    if not user.token:
        fix = f"{fix[:-1]}; it needs issue_token to report its end."
    sides = (
        Side(who, f"writes {bd}", place),
        Side(channel, f"may still use BD {number}", user.place),
    )
    return Finding(CODE, severity, message, sides, fix=fix)


def rewritten(engine: Engine, found: Sequence[BdRace]) -> Iterator[Finding]:
    """The findings of a checked run, one for each descriptor and place; warnings where nothing was lost."""
    told: dict[tuple[object, ...], Finding] = {}
    for one in found:
        task, key = one.task, (one.bd, one.place, one.harmless)
        severity = Severity.WARNING if one.harmless else CODES[CODE].severity
        said = task.place or engine.bd_places.get((one.bd[0], task.bds[0]), "")
        known = told.get(key)
        if known is not None:
            told[key] = replace(known, count=known.count + 1)
            continue
        user = BdUser(task.ch, said, task.token)
        told[key] = reused(engine, user, *one.bd, one.place, severity=severity)
    yield from sorted(told.values(), key=lambda each: each.severity is Severity.WARNING)


def with_rewrites(
    engine: Engine, findings: Sequence[Finding], found: Sequence[BdRace]
) -> tuple[Finding, ...]:
    """The findings of a run, where a channel is halted for want of a BD with what was written instead of it.

    Args:
        engine: the model, stopped.
        findings: of the run.
        found: descriptors that were written while a task may still use them.
    """
    c, others = engine.channels, list(findings)
    for ch in np.flatnonzero(c.phase == Phase.HALTED).tolist() if found else ():
        tile, bd, name = int(c.tile[ch]), int(c.bd[ch]), called(engine, ch)
        race = next((one for one in found if one.bd[0] == tile and one.bd[1] != bd), None)
        halted = next((each for each in others if each.code == _HALTED and each.sides[0].who == name), None)
        if race is None or halted is None or bd_fields.read_field(engine.state, tile, bd, bd_fields.VALID_BD):
            continue
        does, here = f"writes BD {race.bd[1]}{_tile(engine, tile)} again", line_of(race.place)
        at = f" at {here}" if here else ""
        message = f"The host {does}{at}, which a task was given; {name} is halted at BD {bd}: no Valid_BD."
        fix = f"Let {here or 'the host'} write BD {bd}, or use BD {bd} nowhere."
        sides = (Side("the host", does, race.place), *halted.sides)
        made = replace(halted, message=message, fix=fix, sides=sides)
        others[others.index(halted)] = made
    return tuple(others)


def line_of(place: str) -> str:
    """``line 12`` of ``design.mlir:12:7``; a place without a line as it is."""
    found = _LINE.search(place)
    return f"line {found[1]}" if found else place


def line_numbers(place: str) -> list[int]:
    """``[12]`` of ``design.mlir:12:7``; empty for a place without a line."""
    found = _LINE.search(place)
    return [int(found[1])] if found else []


def _tile(engine: Engine, tile: int) -> str:
    """`` of memory(0,1)``; nothing in a model of one tile."""
    tiles = plain(engine.spec.tiles)
    if len(tiles.kind) == 1:
        return ""
    return f" of {KIND_NAMES[int(tiles.kind[tile])]}({tiles.column[tile]},{tiles.row[tile]})"
