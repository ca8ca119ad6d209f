"""What limits a run: a bound that no run goes below, its name, and what lifting it saves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from memtile import Array, MemoryTile, Timing
from memtile.arch.timing import chosen_timing, constants, likely
from memtile.explain.bound import Bound, Cost, ResourceUse, bound_of
from memtile.explain.outcome import outcome
from memtile.explain.record import IGNORED, RunVerdict, judged, record, text_of
from memtile.explain.results import Result
from memtile.explore.relaxed import lifted
from memtile.explore.rerun import band
from memtile.runs.operations import Write, address_of
from memtile.runs.session import run_program
from memtile.sim.kernels.kernel_core import Core
from memtile.sim.loop.clock import Stop
from support.designs.random_designs import Design, build, designs


def slow_core(cycles: int = 400) -> Array:
    """A compute tile whose core works on each of four objects for a while."""
    array = Array("npu1", 1)
    core = array.compute_tile(0, 2)
    buffer, empty, full = core.buffer("a", 16), core.lock(1, "empty"), core.lock(0, "full")
    write = core.write(buffer).guarded(empty.acquire(), full.release())
    core.s2mm[0].start(write, repeat=4)
    core.s2mm[0].feed(np.arange(64))

    def work(at: Core) -> Iterator[Any]:
        for _ in range(4):
            yield at.acquire(full, -1)
            yield at.cycles(cycles)
            yield at.release(empty, 1)

    core.run_kernel(work)
    return array


def test_the_busiest_resource_is_the_bound() -> None:
    uses = [ResourceUse("a", "moving", 10, {"x": 5, "y": 9, "z": 0}), ResourceUse("b", "computing", 9, {})]
    assert bound_of(20, uses) == Bound(10, 20, "a", "moving", (Cost("y", 9), Cost("x", 5)))
    assert bound_of(20, []) is None
    assert bound_of(0, uses) is None


def test_what_is_busy_half_of_the_time_limits_and_less_does_not() -> None:
    half, less = (
        bound_of(20, [ResourceUse("a", "moving", 10, {"x": 10})]),
        bound_of(21, [ResourceUse("a", "moving", 10, {})]),
    )
    assert half is not None
    assert less is not None
    assert half.text == "Limited by a, which moves data in 50 % of cycles (10); otherwise 10 x."
    assert less.text == "No resource is saturated; the busiest is a, which moves data in 48 % of cycles (10)."


def test_a_core_that_works_is_what_limits() -> None:
    result = slow_core().run()
    assert result.bound is not None
    assert result.bound.resource == "core (0, 2), kernel 'work'"
    assert result.bound.text in str(result)
    assert 4 * 400 <= result.as_json()["bound"]["cycles"] == result.bound.cycles <= result.cycles


@settings(deadline=None, max_examples=30)
@given(designs())
def test_no_run_is_below_its_bound(design: Design) -> None:
    rig = build(design)
    rig.engine.run(2000)
    result = outcome(rig.engine, Stop.LIMIT, {}, ())
    if result.bound is not None:
        assert 0 < result.bound.cycles <= result.cycles
        assert result.bound.cycles + sum(cost.cycles for cost in result.bound.costs) == result.cycles


def test_lifting_the_limit_is_a_run_of_its_own() -> None:
    result = slow_core().run()
    found = {each.what: each.cycles for each in lifted(result, lambda: slow_core().run())}
    assert found["cores computed in no time"] == slow_core(cycles=1).run().cycles < result.cycles - 1500
    assert "external memory answered at once" not in found  # it costs this run nothing


def test_a_band_has_both_ends_of_each_assumed_constant() -> None:
    def again() -> Result:
        return slow_core().run()

    result = again()
    found = band(result, again)
    (ends,) = found.constants
    assert (ends.name, ends.value, ends.low, ends.high) == ("task_start", 4, *likely("task_start"))
    assert (ends.cycles_low, ends.cycles_high) == (result.cycles - 3, result.cycles + 12)
    assert (found.low, found.cycles, found.high) == (result.cycles - 3, result.cycles, result.cycles + 12)
    assert found.lines[0] == (
        f"Run with both ends of each assumed constant: {found.low:,} to {found.high:,} cycles; "
        "most of the range is due to task_start."
    )


def test_the_estimate_of_a_run_that_hangs_on_task_starts_is_what_reruns_give() -> None:
    def again() -> Result:
        return slow_core().run()

    result = again()
    found = band(result, again)
    assert result.estimate == (found.low, found.high)
    assert result.estimate is not None
    low, high = result.estimate
    assert f"Estimate: {low:,} to {high:,} cycles, because " in str(result)
    assert result.as_json()["estimate"] == {"low": low, "high": high}
    assert "elsewhere" not in str(replace(result, band=found))


@pytest.mark.parametrize("words", [16, 1024])
def test_the_estimate_of_reads_of_external_memory_holds_what_reruns_give(words: int) -> None:
    def again() -> Result:
        array = Array("npu1", 1)
        door, tile = array.interface_tile(0), array.memory_tile(0)
        come = array.external("in", np.arange(words, dtype=np.int32))
        go = array.external("out", np.zeros(words, np.int32))
        fifo = array.object_fifo("come", door, tile, shape=16)
        back = fifo.forward("go", door)
        fifo.producer.channel.start(door.read(come))
        back.consumers[0].channel.start(door.write(go))
        return array.run()

    result = again()
    assert result.estimate is not None
    low, high = result.estimate
    for other in ({"external_latency": 50}, {"external_latency": 400}, {"task_start": 16}):
        with chosen_timing(other):
            assert low <= again().cycles <= high
    with chosen_timing({"external_latency": 400}):
        assert again().cycles > result.cycles + 250


def test_an_estimate_does_not_take_the_first_access_for_many() -> None:
    """What it takes longer hangs on no latency: the band is as wide as without it."""

    def width(first: int) -> int:
        array = Array("npu1", 1, Timing(external_first_read=first))
        door, tile = array.interface_tile(0), array.memory_tile(0)
        door.mm2s[0].start(door.read(array.external("in", np.arange(64, dtype=np.int32))))
        tile.s2mm[0].start(tile.write(tile.buffer("kept", 64)))
        array.connect(door.mm2s[0], tile.s2mm[0])
        low, high = array.run().estimate or (0, 0)
        return high - low

    assert width(2000) == width(0) > 0


def test_the_time_of_firmware_has_its_measured_spread() -> None:
    array = Array("npu1", 1)
    steps = [Write(address_of(0, 1), 1, firmware=True)] * 11
    result = run_program(steps, array).result
    assert result.host_cycles == 1000
    assert result.estimate == (result.cycles - 130, result.cycles + 140)
    slow = run_program([replace(step, firmware=False) for step in steps], Array("npu1", 1)).result
    assert slow.estimate == (slow.cycles - 150, slow.cycles + 800)


def test_a_run_that_hangs_on_nothing_has_no_estimate() -> None:
    tile = MemoryTile()
    assert tile.run(untimed=True).estimate is None


def test_every_assumed_constant_has_a_likely_range_around_its_value() -> None:
    for each in constants():
        if each["grade"] == "assumed":
            low, high = likely(str(each["name"]))
            assert each["lowest"] <= low <= each["default"] <= high <= each["highest"]  # type: ignore[operator]
            assert low < high
    assert likely("core_lock") == (Timing().core_lock,) * 2


# records -------------------------------------------------------------------------------------------------


def copied(words: int = 16, expected: int = 16) -> MemoryTile:
    tile = MemoryTile()
    buffer = tile.buffer("a", words, data=np.arange(words))
    tile.mm2s[0].start(tile.read(buffer))
    if expected:
        tile.mm2s[0].expect(np.arange(expected, dtype=np.int32))
    else:
        tile.mm2s[0].collect()
    return tile


@pytest.mark.parametrize(
    ("expected", "verdict", "why"),
    [
        (16, RunVerdict.PASS, "1 comparisons are bit-exact"),
        (17, RunVerdict.FAIL, "the run ended as stuck"),
        (0, RunVerdict.UNKNOWN, "nothing was compared"),
    ],
)
def test_a_verdict_says_why(expected: int, verdict: RunVerdict, why: str) -> None:
    found, reasons = judged(copied(expected=expected).run())
    assert found is verdict
    assert why in reasons[0]


def test_what_only_stores_is_never_a_pass() -> None:
    tile = copied()
    tile.door.write32(0x96000, 1)  # SPARE_REG
    found = record(tile.run(), tile.engine)
    stored = found["stored_registers"]
    assert (found["verdict"], len(stored)) == ("unknown", 1), stored


def test_the_same_run_gives_the_same_bytes() -> None:
    one, two = copied(), copied()
    texts = [text_of(record(tile.run(), tile.engine, inputs={"b": "2", "a": "1"})) for tile in (one, two)]
    assert texts[0] == texts[1]
    assert all(path.split(".")[1] in json.loads(texts[0])["provenance"] for path in IGNORED)


def test_bytes_are_counted_by_level_and_streams_say_whether_they_leave_the_chip() -> None:
    array = Array("npu1", 1)
    memory, core, shim = array.memory_tile(0), array.compute_tile(0, 2), array.interface_tile(0)
    out = np.zeros(8, dtype=np.int32)
    memory.mm2s[0].start(memory.read(memory.buffer("a", 16)))
    core.s2mm[0].start(core.write(core.buffer("b", 16)))
    memory.mm2s[1].start(memory.read(memory.buffer("c", 8)))
    shim.s2mm[0].start(shim.write(array.external("o", out)))
    array.connect(memory.mm2s[0], core.s2mm[0])
    array.connect(memory.mm2s[1], shim.s2mm[0])
    found = record(array.run(), array.engine)
    assert found["bytes"] == {
        "external": {"read": 0, "written": 32},
        "memory tile": {"read": 96, "written": 0},
        "compute tile": {"read": 0, "written": 64},
    }
    assert [(each["from"], each["to"], each["on_chip"]) for each in found["streams"]] == [
        ("memory(0,1) MM2S 0", ["compute(0,2) S2MM 0"], True),
        ("memory(0,1) MM2S 1", ["interface(0,0) S2MM 0"], False),
    ]
