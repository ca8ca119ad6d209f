"""Does docs/timing.md say what the engine does: every constant, every cause, every diagram cycle by cycle?"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from memtile.arch.timing import Timing, chosen_timing
from memtile.bd.descriptor import Acquire, Descriptor, Release
from memtile.bd.windows import EAST, OWN
from memtile.model.state.causes import Cause, CoreCause
from memtile.testing.rig import Rig

PAGE = (Path(__file__).parents[2] / "docs" / "timing.md").read_text(encoding="utf-8")
DIAGRAMS = dict(re.findall(r"^```timing ([\w-]+)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))
TAKE = Acquire(OWN.lock(0), -1, True)
GIVE = Release(OWN.lock(0), 1)


def words(length: int, first: int = 0, **more: object) -> Descriptor:
    return Descriptor("memory", length, OWN.address(first), **more)  # type: ignore[arg-type]


def started(*work: tuple[str, int, Descriptor], rig: Rig | None = None) -> tuple[Rig, list[int]]:
    """A rig whose channels have one BD each to run, with ports that are always ready."""
    rig = rig or Rig()
    channels = []
    for bd, (direction, number, descriptor) in enumerate(work):
        ch = rig.s2mm(number) if direction == "S2MM" else rig.mm2s(number)
        if direction == "MM2S":
            rig.catch(ch)
        rig.write_bd(bd, descriptor)
        rig.issue(ch, bd)
        channels.append(ch)
    return rig, channels


def task_start() -> dict[str, str]:
    rig, (s, m) = started(("S2MM", 0, words(8)), ("MM2S", 0, words(8, 64)))
    rig.feed(s, 8)
    rig.step(16)
    return {"S2MM 0": rig.timeline(s), "MM2S 0": rig.timeline(m)}


def bd_boundary() -> dict[str, str]:
    rig, (s, m) = started(("S2MM", 0, words(4, next=0)), ("MM2S", 0, words(4, 64, next=1)))
    rig.feed(s, 20)
    rig.step(22)
    return {"S2MM 0": rig.timeline(s), "MM2S 0": rig.timeline(m)}


def lock_hand_over() -> dict[str, str]:
    rig, (s, m) = started(("S2MM", 0, words(4, release=GIVE)), ("MM2S", 0, words(4, acquire=TAKE)))
    rig.feed(s, 4)
    rig.step(18)
    return {"S2MM 0": rig.timeline(s), "MM2S 0": rig.timeline(m)}


def lock_wait() -> dict[str, str]:
    with chosen_timing({"mm2s_lock_wait": 6}):
        rig, (s, m) = started(("S2MM", 0, words(4, release=GIVE)), ("MM2S", 0, words(4, acquire=TAKE)))
        rig.feed(s, 4)
        rig.step(24)
        return {"S2MM 0": rig.timeline(s), "MM2S 0": rig.timeline(m)}


def lock_rotation() -> dict[str, str]:
    rig, channels = started(*(("S2MM", n, words(2, 64 * n, acquire=TAKE)) for n in (0, 2, 4)))
    rig.set_lock(0, 3)
    for ch in channels:
        rig.feed(ch, 2)
    rig.step(11)
    return {f"S2MM {n}": rig.timeline(ch) for n, ch in zip((0, 2, 4), channels, strict=True)}


def bank_conflict() -> dict[str, str]:
    rig, (a, b) = started(*(("MM2S", n, words(6, 64 * n, dims=((2, 0),))) for n in (0, 2)))
    rig.memory_control(interleaved=False)
    rig.step(20)
    return {"MM2S 0": rig.timeline(a), "MM2S 2": rig.timeline(b)}


def host_access() -> dict[str, str]:
    rig, (ch,) = started(("MM2S", 0, words(10, dims=((2, 0),))))
    rig.memory_control(interleaved=False)
    rig.step(8)
    rig.engine.door(0, timed=True).read32(0x400)
    rig.step(12)
    return {"MM2S 0": rig.timeline(ch)}


def granules() -> dict[str, str]:
    rig, (a, b) = started(*(("MM2S", n, words(12, 64 * n)) for n in (0, 2)))
    rig.memory_control(interleaved=False)
    rig.step(20)
    return {"MM2S 0": rig.timeline(a), "MM2S 2": rig.timeline(b)}


def neighbour() -> dict[str, str]:
    rig = Rig(tiles=2, at=0)
    rig.beside(1).memory_control(interleaved=False)
    for n in (0, 2):
        rig.write_bd(n, Descriptor("memory", 6, EAST.address(n * 8192), dims=((2, 0),)))
        rig.catch(rig.mm2s(n))
        rig.issue(rig.mm2s(n), n)
    rig.step(20)
    return {f"MM2S {n}": rig.timeline(rig.mm2s(n)) for n in (0, 2)}


def ingress(timing: Timing | None = None) -> dict[str, str]:
    rig, (s,) = started(("S2MM", 0, words(4, acquire=TAKE)), rig=Rig(timing=timing))
    rig.feed(s, 24)
    rig.step(20)
    rig.set_lock(0, 1)
    rig.step(8)
    entered = "".join("+" if cycle in rig.entered(s) else "." for cycle in range(28))
    return {"S2MM 0": rig.timeline(s), "enters": entered}


def port_pause() -> dict[str, str]:
    return ingress(Timing(port_pause=1))


def egress() -> dict[str, str]:
    rig = Rig()
    m = rig.mm2s()
    rig.write_bd(0, words(12, 1))
    rig.catch(m, [0] * 12 + [1] * 20)
    rig.issue(m, 0)
    rig.step(25)
    return {"MM2S 0": rig.timeline(m), "held": "".join(f"{n:x}" for n in rig.held(m))}


def compression() -> dict[str, str]:
    rig = Rig()
    s, m = rig.s2mm(), rig.mm2s()
    dense = [0x01010101] * 8
    rig.fill(64, dense)
    rig.catch(m)
    rig.feed(s, [0xFFFFFFFF, *dense, 0])
    for bd, ch in enumerate((s, m)):
        rig.write_bd(bd, words(16, 64 * bd, compression=True))
        rig.door.write32(rig.kind.control_base + ch * rig.kind.channel_stride, 1 << 4)
        rig.issue(ch, bd)
    rig.step(22)
    return {"S2MM 0": rig.timeline(s), "MM2S 0": rig.timeline(m)}


def ports() -> dict[str, str]:
    rig, (s,) = started(("S2MM", 0, words(4)))
    m = rig.mm2s()
    rig.write_bd(1, words(4, 64))
    rig.issue(m, 1)
    rig.catch(m, [0, 1])
    rig.feed(s, 4, [0, 0, 1])
    rig.step(16)
    return {"S2MM 0": rig.timeline(s), "MM2S 0": rig.timeline(m)}


def external(first_read: int = 0, first_write: int = 0, cycles: int = 20) -> dict[str, str]:
    timing = Timing(
        external_latency=5,
        external_write_latency=5,
        external_first_read=first_read,
        external_first_write=first_write,
    )
    rig = Rig("interface", timing=timing)
    buffer = rig.engine.external.add("buffer", np.zeros(16, np.uint32))
    s, m = rig.s2mm(), rig.mm2s()
    rig.catch(m)
    rig.feed(s, 6)
    for bd, ch in enumerate((m, s)):
        rig.write_bd(bd, Descriptor("interface", 6, buffer.at(8 * bd)))
        rig.issue(ch, bd)
    rig.step(cycles)
    return {"MM2S 0": rig.timeline(m), "S2MM 0": rig.timeline(s)}


def first_access() -> dict[str, str]:
    return external(first_read=5, first_write=7, cycles=25)


def zeroisation() -> dict[str, str]:
    rig, (m,) = started(("MM2S", 0, words(4)), rig=Rig(timing=Timing(zeroisation=10)))
    rig.memory_control(zeroise=True)
    rig.step(18)
    return {"MM2S 0": rig.timeline(m)}


SCENARIOS: dict[str, Callable[[], dict[str, str]]] = {
    "task-start": task_start,
    "bd-boundary": bd_boundary,
    "lock-hand-over": lock_hand_over,
    "lock-wait": lock_wait,
    "lock-rotation": lock_rotation,
    "bank-conflict": bank_conflict,
    "host-access": host_access,
    "granules": granules,
    "neighbour": neighbour,
    "ingress": ingress,
    "egress": egress,
    "compression": compression,
    "ports": ports,
    "external": external,
    "first-access": first_access,
    "port-pause": port_pause,
    "zeroisation": zeroisation,
}


def drawn(rows: dict[str, str]) -> str:
    """The diagram as it stands on the page."""
    length = max(map(len, rows.values()))
    ruler = {"cycle": "".join(f"{n:<10}" for n in range(0, length, 10)).rstrip()}
    digits = {"": ("0123456789" * length)[:length]}
    return "".join(f"{name:<8}{row}\n" for name, row in {**ruler, **digits, **rows}.items())


@pytest.mark.parametrize("name", SCENARIOS)
def test_diagram_is_what_the_engine_does(name: str) -> None:
    assert DIAGRAMS[name] == drawn(SCENARIOS[name]())


def test_every_diagram_is_tested() -> None:
    assert DIAGRAMS.keys() == SCENARIOS.keys()


def test_page_lists_every_constant_as_the_tables_have_it() -> None:
    expected = [
        (f.name, str(f.default), f"{m['low']}..{m['high']}", m["unit"], m["source"].grade, m["source"].text)
        for f in fields(Timing)
        if (m := f.metadata)
    ]
    found = re.findall(r"^\| `(\w+)` \| (.+?) \| (.+?) \| (.+?) \| (.+?) \| (.+?) \|$", PAGE, re.MULTILINE)
    assert found == expected


def test_page_defines_every_cause_with_its_letter() -> None:
    found = re.findall(r"^\| `([A-Z_0-9]+)` \| `(.)` \| .{20,} \|$", PAGE, re.MULTILINE)
    assert found == [(cause.name, cause.letter) for cause in Cause]


def test_causes_differ_in_text_letter_and_colour() -> None:
    for causes in (Cause, CoreCause):
        for shown in ("text", "letter", "colours"):
            assert len({getattr(cause, shown) for cause in causes}) == len(causes)
