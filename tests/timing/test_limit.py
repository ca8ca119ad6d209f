"""Is the resource named that makes a design slow, with what its twin without it really saves?"""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import memtile
from memtile import MemoryTile
from memtile.explain.limit import Lifted, Limit, Resource, best_of, limit_of, table_lines
from memtile.explain.results import Status
from memtile.explore.fifo_names import fifo_of
from memtile.explore.relaxed import with_limit
from memtile.explore.trial import Trial
from memtile.importers.design import load
from memtile.importers.mlir.token_packets import Text
from support.designs.slow_designs import SLOW, SlowDesign, padding

TOLERATED = 0.1  # of the real gain


@pytest.mark.parametrize("design", SLOW.values(), ids=SLOW)
def test_the_planted_limit_is_named_with_its_gain(design: SlowDesign) -> None:
    twin = design.make(False).run()
    slow = memtile.bottleneck(lambda: design.make(True).run())
    assert twin.findings == ()
    assert slow.limit is not None
    assert slow.limit.cycles is not None
    assert slow.limit.resource == design.resource
    assert design.name in slow.limit.name
    real = slow.cycles - twin.cycles
    assert abs(slow.limit.cycles - twin.cycles) <= TOLERATED * real
    assert slow.limit.estimated == (design.make is padding)  # whose words leave the array
    assert [finding.code for finding in slow.findings] == [design.code] * bool(design.code)


@pytest.mark.parametrize("name", ["one_buffer_of_a_memory_tile", "shared_link", "uneven_columns"])
def test_a_design_without_the_limit_has_no_advice(name: str) -> None:
    fine = memtile.bottleneck(lambda: SLOW[name].make(False).run())
    assert fine.findings == ()


def test_the_verdict_comes_first_and_is_in_the_data() -> None:
    slow = memtile.bottleneck(lambda: SLOW["ping_pong"].make(True).run())
    status, _, first, _, head, row, *_ = str(slow).splitlines()
    assert status.startswith("status: finished in 494 cycles")
    assert first == (
        "Limited by buffers: 333 cycles instead of 494 (-33 %) if there was a second buffer for 'ring'."
    )
    assert head.split() == ["without", "cycles", "saves"]
    assert row.split()[-2:] == ["333", "33%"]
    data = json.loads(json.dumps(slow.as_json()["limit"]))
    assert (data["resource"], data["name"], data["cycles"], data["elapsed"]) == (
        "buffers",
        "'ring'",
        333,
        494,
    )


def test_a_stride_that_comes_back_to_a_bank_is_no_matter_of_interleaving() -> None:
    slow = memtile.bottleneck(lambda: SLOW["stride_conflicts"].make(True).run())
    (finding,) = slow.findings
    assert "the stride of 128 words (512 bytes) of MM2S 3 comes back to bank 0" in finding.fix
    assert "interleave" not in finding.fix


def test_buffers_of_a_neighbour_go_into_the_own_tile_only_if_they_fit() -> None:
    slow = memtile.bottleneck(lambda: SLOW["neighbour_interface"].make(True).run())
    (finding,) = slow.findings
    assert finding.fix.startswith("Reach the neighbour with fewer channels, or put")
    assert "if they fit there. Tried:" in finding.fix


def test_a_shared_link_is_named_by_its_ends_and_its_senders() -> None:
    slow = memtile.bottleneck(lambda: SLOW["shared_link"].make(True).run())
    (finding,) = slow.findings
    senders = ", ".join(f"memory(0,1) MM2S {n}" for n in range(3))
    link = f"link from tile (0, 1) to tile (0, 2): up to 903 words of {senders}"
    assert finding.message == f"Packets share one {link} in {slow.cycles} cycles."
    assert finding.fix.startswith("Give the streams circuits of their own, or packets over different links.")


def test_a_run_of_which_words_are_written_over_says_nothing_of_words() -> None:
    """The run with one more buffer has wrong words; the result is that of the run itself."""
    slow = memtile.bottleneck(lambda: SLOW["one_buffer_of_a_memory_tile"].make(True).run())
    assert slow.exact
    assert slow.good


def test_unknown_cost_comes_right_behind_the_verdict() -> None:
    slow = memtile.bottleneck(lambda: SLOW["slow_core"].make(True).run())
    second = str(replace(slow, cost_unknown=("mine",))).splitlines()[1]
    assert second == "Cost unknown, counted as 0 cycles: mine. Give it with cycles= or --cost."


def test_a_host_with_less_to_do_is_tried_with_twice_as_much_where_queues_overflow() -> None:
    run = SLOW["host_starts_rows"].make(True).run()
    stuck, done = replace(run, status=Status.STUCK), replace(run, cycles=50)
    answers = iter([stuck, done])
    trial = Trial(Resource.HOST, "the host", "fast", instead=Trial(Resource.HOST, "the host", "slower"))
    assert trial.done(run, lambda: next(answers)) == Lifted("slower", 50, Resource.HOST, "the host")
    tried = memtile.bottleneck(lambda: SLOW["host_starts_rows"].make(True).run()).lifted
    assert "the host had one task for each 32" in [each.what for each in tried]


PIECES = """module {{ aie.device(npu1_1col) {{
%shim = aie.tile(0, 0)
%store = aie.tile(0, 1)
aie.objectfifo @in(%shim, {{%store}}, 2 : i32) : !aie.objectfifo<memref<64xi32>>
aie.objectfifo @out(%store, {{%shim}}, 2 : i32) : !aie.objectfifo<memref<64xi32>>
aie.objectfifo.link [@in] -> [@out] ([] [])
aie.runtime_sequence(%a: memref<16384xi32>, %b: memref<16384xi32>) {{
{moves}}} }} }}"""
MOVE = (
    "aiex.npu.dma_memcpy_nd(%{0}[0, 0, 0, {1}][1, 1, 1, {2}][0, 0, 0, 1]) "
    "{{id = {3} : i64, metadata = @{4}, issue_token = true}} : memref<16384xi32>\n"
)


def pieces(count: int) -> memtile.Result:
    """A copy in so many pieces, the next of which the host starts when the one before it has come."""
    size, moves = 16384 // count, ""
    for number in range(count):
        moves += MOVE.format("b", number * size, size, 1, "out") + MOVE.format(
            "a", number * size, size, 0, "in"
        )
        moves += "aiex.npu.dma_wait {symbol = @out}\naiex.npu.dma_wait {symbol = @in}\n"
    text = Text("pieces.mlir", PIECES.format(moves=moves))
    return memtile.bottleneck(lambda: load(text).run(np.arange(16384, dtype=np.int32)).result)


def test_of_one_task_for_many_a_host_waits_for_one_end() -> None:
    slow, twin = pieces(16), pieces(1)
    assert slow.limit is not None
    assert slow.limit.cycles is not None
    assert slow.limit.resource == Resource.HOST
    assert abs(slow.limit.cycles - twin.cycles) <= TOLERATED / 3 * (slow.cycles - twin.cycles)


def test_an_untimed_run_has_no_limit() -> None:
    tile = MemoryTile()
    tile.mm2s[0].start(tile.read(tile.buffer("a", 16, np.int32, data=np.arange(16, dtype=np.int32))))
    tile.mm2s[0].expect(np.arange(16, dtype=np.int32))
    result = tile.run(untimed=True)
    assert with_limit(result, lambda: result) is result


def test_a_run_that_is_stuck_is_not_slow() -> None:
    tile = MemoryTile()
    tile.mm2s[0].start(tile.read(tile.buffer("a", 16)).guarded(tile.lock(0, "never").acquire()))
    result = tile.run()
    assert result.status == "stuck"
    assert with_limit(result, lambda: result) is result


def lifted(resource: Resource, cycles: int | None, name: str = "a") -> Lifted:
    return Lifted(f"{resource} cost nothing", cycles, resource, name)


def test_what_the_work_waits_for_comes_before_the_work() -> None:
    waits, work = lifted(Resource.BANKS, 900), lifted(Resource.CORES, 500)
    assert limit_of(1000, [work, waits], "core (0, 2)", 0.8, computes=True).resource == Resource.BANKS
    less = replace(waits, cycles=901)
    assert limit_of(1000, [work, less], "core (0, 2)", 0.8, computes=True).resource == Resource.CORES
    moves = lifted(Resource.CHANNELS, 500)
    assert limit_of(1000, [moves, less], "a", 0.6, computes=False).resource == Resource.CHANNELS
    assert limit_of(1000, [moves, less], "a", 0.5, computes=False).resource == Resource.BANKS
    busy = limit_of(1000, [work, lifted(Resource.BANKS, 960)], "core (0, 2)", 0.9, computes=True)
    assert (busy.resource, busy.name) == (Resource.CORES, "core (0, 2)")
    uneven = lifted(Resource.SLOWEST, 899)
    assert limit_of(1000, [waits, uneven], "core (0, 2)", 0.5, computes=True).resource == Resource.SLOWEST
    start = [lifted(Resource.START, 500), waits]
    assert limit_of(1000, start, "a", 0.2, computes=False).resource == Resource.BANKS
    little = [start[0], lifted(Resource.BANKS, 951)]
    assert limit_of(1000, little, "a", 0.2, computes=False).resource == Resource.START
    nothing = limit_of(1000, [lifted(Resource.BANKS, 990)], "core (0, 2)", 0.9, computes=True)
    assert nothing == Limit(Resource.CORES, "core (0, 2)", "", 1000, None)
    assert nothing.text == "Limited by core (0, 2): no resource that was removed saves 2% of the cycles."


@pytest.mark.parametrize("resource", [Resource.BUFFERS, Resource.DESCRIPTORS])
@pytest.mark.parametrize(("work", "computes"), [(Resource.CORES, True), (Resource.CHANNELS, False)])
def test_what_a_design_chooses_comes_before_work_that_waits_for_it(
    resource: Resource, work: Resource, *, computes: bool
) -> None:
    does, chosen = lifted(work, 400 if computes else 850), lifted(resource, 950)
    assert limit_of(1000, [does, chosen], "a", 0.66, computes=computes).resource == resource
    assert limit_of(1000, [does, replace(chosen, cycles=951)], "a", 0.66, computes=computes).resource == work
    uneven = lifted(Resource.SLOWEST, 940)
    assert limit_of(1000, [uneven, chosen], "a", 0.66, computes=True).resource == Resource.SLOWEST


def test_a_host_that_has_few_tasks_is_limited_by_its_waits() -> None:
    no_time, waits = lifted(Resource.HOST, 500), lifted(Resource.WAITS, 900)
    assert limit_of(1000, [no_time, waits], "a", 0.3, computes=False).resource == Resource.WAITS
    fewer = lifted(Resource.HOST, 600)
    assert limit_of(1000, [no_time, fewer, waits], "a", 0.3, computes=False).resource == Resource.HOST
    less = replace(waits, cycles=901)
    assert limit_of(1000, [no_time, less], "a", 0.3, computes=False).resource == Resource.HOST


def test_of_runs_that_save_the_same_the_most_special_one_is_chosen() -> None:
    everywhere, alone = lifted(Resource.BUFFERS, 500, "a and b"), lifted(Resource.BUFFERS, 510, "b")
    assert best_of([everywhere, alone], 1000) == alone
    assert best_of([everywhere, less := replace(alone, cycles=620)], 1000) == less
    assert best_of([everywhere, replace(alone, cycles=640)], 1000) == everywhere
    assert best_of([lifted(Resource.BUFFERS, None)], 1000) is None


def test_pieces_that_a_host_starts_are_a_matter_of_the_host() -> None:
    pieces, host = lifted(Resource.PIECES, 100), lifted(Resource.HOST, 325)
    of_host = limit_of(1000, [pieces, host], "a", 0.2, computes=False)
    assert (of_host.resource, of_host.what, of_host.cycles) == (Resource.HOST, pieces.what, 100)
    of_memory = limit_of(1000, [pieces, replace(host, cycles=326)], "a", 0.2, computes=False)
    assert of_memory.resource == Resource.PIECES


@pytest.mark.parametrize(
    ("lock", "fifo"),
    [
        ("in_prod_lock_0", "in"),
        ("in_cons_prod_lock_0", "in"),
        ("in_1_cons_prod_lock_0", "in"),
        ("act_02_cons_prod_lock_0", "act_02"),
        ("x_free", ""),
    ],
)
def test_a_lock_of_mlir_is_called_after_its_object_fifo(lock: str, fifo: str) -> None:
    assert fifo_of(lock, {"in", "act_02"}) == fifo


def test_what_saves_nothing_is_in_one_line() -> None:
    rows = [lifted(Resource.BANKS, 1000), lifted(Resource.HOST, 600), lifted(Resource.BUFFERS, None)]
    lines = list(table_lines(rows, 1000))
    assert lines[1].split()[-2:] == ["600", "40%"]
    assert lines[2].endswith("the run does not end as it did")
    assert lines[3] == "saves less than 1%: memory banks"
