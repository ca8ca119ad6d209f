"""Do runs without words take the cycles of runs with them, whatever the design, and no memory?"""

from __future__ import annotations

import ctypes
import gc
import runpy
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memtile import run
from memtile.arch.timing import Timing
from memtile.bd.descriptor import Descriptor
from memtile.bd.windows import OWN
from memtile.design.array import Array
from memtile.design.memory_tile import MemoryTile
from memtile.errors import DesignError
from memtile.jit.decorators import ENABLED
from memtile.kernels import Action, Core
from memtile.model.dma.channel_registers import FOT_LSB
from memtile.sim.loop.engine import Engine
from memtile.sim.loop.timing_only import moving_words
from memtile.sim.ports.refused_compression import ENABLED as COMPRESSED
from memtile.testing.rig import Rig
from support.designs import flowing_designs
from support.designs.control_packet_bench import reachable
from support.designs.runs_without_words import both, ends

WORD_BYTES = 4
CORPUS = Path(__file__).parents[1] / "corpus"
EXAMPLES = Path(__file__).parents[2] / "examples"
KERNELS = "kernels, which may look at them"


def receiving(every: int) -> Engine:
    """A channel whose source has TLAST now and then, and whose buffer is full: others read at its bank."""
    rig = Rig()
    rig.engine.forward.on = True
    rig.memory_control(interleaved=False)
    for n in range(4):
        ch, bd = (rig.mm2s(2 * n - 2), 2 * n) if n else (rig.s2mm(), 0)
        rig.write_bd(bd, Descriptor("memory", 3000, OWN.address(512 * n), next=bd))
        rig.issue(ch, bd)
        if n:
            rig.catch(ch)
    last = np.zeros(60000, np.uint8)
    last[every - 1 :: every] = 1
    rig.engine.feed(rig.s2mm(), np.zeros(60000, np.uint32), last)
    return rig.engine


def sending(every: int) -> Engine:
    """A channel whose BDs end every few words, before a port that is seldom ready."""
    rig = Rig()
    rig.engine.forward.on = True
    rig.write_bd(0, Descriptor("memory", every, OWN.address(0), next=0))
    rig.issue(rig.mm2s(), 0)
    rig.catch(rig.mm2s(), (1, 0, 0, 0, 0))
    return rig.engine


@pytest.mark.parametrize("every", [2, 3, 5])
@pytest.mark.parametrize("make", [receiving, sending])
def test_words_under_way_have_their_tlast(make: Callable[[int], Engine], every: int) -> None:
    engines = make(every), make(every)
    both(engines, (1700, 401, 997))
    assert engines[1].forward.jumped > 1000
    assert any(map(any, ends(engines[1].state.fifos))), "no TLAST is under way"


def test_tasks_that_end_with_tlast_end_where_they_did() -> None:
    """Finish on TLAST, with packets of 1 to 40 words; time is jumped over when they are over."""

    def finishing() -> Engine:
        rig = Rig()
        rig.engine.forward.on = True
        rig.door.write32(rig.kind.control_base, 1 << FOT_LSB)
        rig.write_bd(0, Descriptor("memory", 50, OWN.address(0)))
        rig.issue(rig.s2mm(0), 0, 256)
        rig.write_bd(1, Descriptor("memory", 500, OWN.address(512), next=1))
        rig.issue(rig.mm2s(0), 1)
        rig.catch(rig.mm2s(0))
        last = np.zeros(2000, np.uint8)
        last[np.cumsum(np.random.default_rng(5).integers(1, 41, 90))[:90] % 2000] = 1
        rig.engine.feed(rig.s2mm(), np.zeros(2000, np.uint32), last)
        return rig.engine

    engines = finishing(), finishing()
    both(engines, (700, 801, 1900))
    assert engines[1].channels.bds_done[0] > 50
    assert engines[1].forward.jumped > 500


def test_words_may_be_left_out_from_some_cycle_on() -> None:
    engines = receiving(3), receiving(3)
    for engine in engines:
        engine.run(1100)
    both(engines, (900, 401))


def test_words_that_go_through_switches_have_their_tlast() -> None:
    quick = Timing(external_latency=20, external_write_latency=10, external_egress_words=16)
    design = flowing_designs.Design(quick, 64, 2, (), (), (), 16384, 1, (), 0, 0, ())
    engines = [flowing_designs.build(design, forward=True) for _ in range(2)]
    both(engines, (2500, 801, 797) if ENABLED else (1500, 101))
    assert engines[1].forward.jumped >= engines[0].forward.jumped > 100


def test_words_stay_where_they_are_where_a_run_steps() -> None:
    """No tile's memory and no buffer outside is written, though words come to both all the time."""
    quick = Timing(external_latency=20, external_write_latency=10, external_egress_words=16)
    design = flowing_designs.Design(quick, 64, 2, (), (), (), 16384, 1, (), 0, 0, ())
    engines = [flowing_designs.build(design, forward=False) for _ in range(2)]
    for engine, words in zip(engines, (False, True), strict=True):
        outside = engine.external.buffers["went"].array
        engine.state.memory[:] = outside[:] = 7
        with moving_words(words):
            engine.run(1500)
        left_alone = [bool((place == 7).all()) for place in (engine.state.memory, outside)]
        assert left_alone == [not words, not words]
    assert engines[0].channels.moved.tolist() == engines[1].channels.moved.tolist()


def plain(result: Any) -> dict[str, Any]:
    """A result as data, without what is about words."""
    about_words = ("bit_exact", "checks", "words", "fast_forward")
    return {name: value for name, value in result.as_json().items() if name not in about_words}


WORDLESS = ("halo_tiling", "distribute_join", "transpose", "v2_padding")


@pytest.mark.compiled("all examples")
@pytest.mark.parametrize("name", WORDLESS)
def test_a_design_has_the_same_result_but_outputs(name: str) -> None:
    design = runpy.run_path(str(EXAMPLES / f"{name}.py"))["design"]
    with_words, without = run(design), run(design, data=False)
    assert plain(without) == plain(with_words)
    assert without.good
    assert (without.words, without.exact, without.checks, dict(without.outputs)) == (False, None, (), {})
    assert "The run moved no words: there are no outputs" in str(without)


@pytest.mark.compiled("an example")
def test_outputs_of_a_run_without_words_are_refused() -> None:
    result = run(runpy.run_path(str(EXAMPLES / "halo_tiling.py"))["design"], data=False)
    with pytest.raises(DesignError, match=r"Result\.outputs: .* no words are left for outputs.*Make the des"):
        result.outputs["MM2S 0"]
    assert "MM2S 0" not in result.outputs


@pytest.mark.compiled("all examples")
@pytest.mark.parametrize(
    ("name", "needed_by"),
    [
        ("gemm_tiles", KERNELS),
        ("channel_padding", KERNELS),
        ("packets", "packets, whose headers are words"),
        ("compressed_weights", "compression"),
    ],
)
def test_words_that_time_may_depend_on_are_moved_and_the_result_says_so(name: str, needed_by: str) -> None:
    design = runpy.run_path(str(EXAMPLES / f"{name}.py"))["design"]
    with_words, without = run(design), run(design, data=False)
    assert needed_by in without.words_needed_by
    assert f"The run moved words after all, which {without.words_needed_by[0]}" in str(without)
    assert without.words
    assert without.exact == with_words.exact
    assert plain(without) == plain(with_words)


@pytest.mark.compiled("all designs of the corpus")
def test_findings_that_do_not_hang_on_words_are_the_same() -> None:
    """Those of comparisons, MT04, hang on words."""
    without_words = 0
    for file in sorted(CORPUS.glob("*.py")):
        design = runpy.run_path(str(file))["design"]
        with_words, without = (run(design, max_cycles=100_000, data=data) for data in (True, False))
        one, other = plain(with_words), plain(without)
        if not without.words:
            one["findings"] = [each for each in one["findings"] if not each["code"].startswith("MT04")]
            without_words += 1
        assert one == other, file.name
    assert without_words > 50


def test_what_is_missing_is_found_without_words_too() -> None:
    def design() -> MemoryTile:
        tile = MemoryTile()
        tile.mm2s[0].start(tile.read(tile.buffer("b", 300, data=np.arange(300))))
        tile.mm2s[0].expect(np.arange(500))
        return tile

    with_words, without = run(design), run(design, data=False)
    assert without.status == with_words.status != "finished"
    assert plain(without) == plain(with_words)


def of(design: Callable[[MemoryTile], None], **how: Any) -> Any:
    tile = MemoryTile()
    tile.mm2s[0].start(tile.read(tile.buffer("b", 300, data=np.arange(300))))
    tile.mm2s[0].expect(np.arange(300))
    design(tile)
    return tile.run(data=False, **how)


def hosted(tile: MemoryTile) -> None:
    def sequence(host: Any) -> Any:
        yield host.pause(10)

    tile.bench.host(sequence)


def struck(tile: MemoryTile) -> None:
    tile.upset(tile.buffer("other", 8), 20, 3)


def merging(tile: MemoryTile) -> None:
    tile.s2mm[1].start_out_of_order(tile.write(tile.buffer("merged", 8)), packets=1)
    tile.s2mm[1].feed(np.array([0, *range(8)]))


NEEDED = {
    "a host, which may read them": hosted,
    "upsets, which are found where words are read": struck,
    "out-of-order reception": merging,
}


@pytest.mark.parametrize("needed_by", NEEDED)
def test_so_do_designs_with_these(needed_by: str) -> None:
    result = of(NEEDED[needed_by])
    assert result.exact
    assert result.words
    assert result.words_needed_by == (needed_by,)


def test_so_does_a_run_that_is_checked() -> None:
    assert of(lambda _tile: None, check=True).words_needed_by == ("the check of accesses",)


def compressing() -> Engine:
    rig = Rig()
    rig.door.write32(rig.kind.control_base, COMPRESSED)
    return rig.engine


def computing() -> Engine:
    def kernel(core: Core) -> Iterator[Action]:
        yield core.cycles(3)

    array = Array(columns=1)
    array.compute_tile(0, 2).run_kernel(kernel)
    return array.engine


@pytest.mark.parametrize(
    ("needed_by", "make"),
    [
        ("packets, whose headers are words", lambda: reachable().engine),
        ("control packets", lambda: reachable().engine),
        ("compression", compressing),
        (KERNELS, computing),
    ],
    ids=["packets", "control packets", "compression", "kernels"],
)
def test_so_do_engines_with_these(needed_by: str, make: Callable[[], Engine]) -> None:
    engine = make()
    with moving_words(False):
        engine.run(engine.now + 20)
    assert needed_by in engine.words_needed_by
    assert not engine.wordless


def test_no_run_has_words_after_one_without_and_none_is_without_words_and_time() -> None:
    tile = MemoryTile()
    tile.mm2s[0].start(tile.read(tile.buffer("b", 300, data=np.arange(300))))
    tile.mm2s[0].collect()
    with pytest.raises(DesignError, match="an untimed run without words has nothing to do"):
        tile.run(untimed=True, data=False)
    tile.run(100, data=False)
    for untimed in (False, True):
        with pytest.raises(DesignError, match=r"no words are left for (a|an untimed) run"):
            tile.run(untimed=untimed)
    tile.door.write32(0, 7)  # by a host, whose time passes
    assert tile.run(data=False).good
    hosted(tile)
    with pytest.raises(DesignError, match="no words are left for a run with words"):
        tile.run(data=False)


def test_nobody_looks_at_words_that_were_not_moved(tmp_path: Path) -> None:
    array = Array("npu1", columns=1)
    tile = array.memory_tile(0)
    buffer = tile.buffer("b", 300, data=np.arange(300))
    tile.mm2s[0].start(tile.read(buffer))
    tile.mm2s[0].collect()
    array.run(data=False)
    looks: list[Callable[[], object]] = [
        tile.mm2s[0].output,
        lambda: tile.load(buffer),
        lambda: tile.door.read32(0),
        lambda: array.door.block_read32(array.door.address(0, 1), 4),
        lambda: array.coredump(tmp_path / "core.bin"),
        lambda: array.save(tmp_path / "saved.npz"),
    ]
    for look in looks:
        with pytest.raises(DesignError, match="no words are left for"):
            look()
    assert tile.door.read32(tile.kind.bd_base) == 300  # registers are what they are
    assert not list(tmp_path.iterdir())


def test_schedules_are_compared_by_their_words() -> None:
    def design() -> MemoryTile:
        tile = MemoryTile()
        tile.mm2s[0].start(tile.read(tile.buffer("b", 30, data=np.arange(30))))
        tile.mm2s[0].expect(np.arange(30))
        return tile

    result = run(design, data=False, schedules=1)
    assert result.exact
    assert result.words_needed_by == ("the check of accesses",)


def lane(words: int) -> Rig:
    """A writer and a reader of other words, again and again."""
    rig = Rig()
    rig.engine.forward.on = True
    for ch, bd in ((rig.s2mm(0), 0), (rig.mm2s(0), 1)):
        rig.write_bd(bd, Descriptor("memory", 512, OWN.address(8192 * bd), next=bd))
        rig.issue(ch, bd)
    rig.catch(rig.mm2s(0))
    rig.engine.feed(rig.s2mm(0), np.broadcast_to(np.uint32(7), (words,)))
    return rig


def peak(rig: Rig, until: int) -> int:
    """Bytes that a run takes at most."""
    tracemalloc.start()
    try:
        rig.engine.run(until)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.float32, np.int32, np.int64])
def test_one_element_for_all_is_fed_without_memory_for_the_others(dtype: type[Any]) -> None:
    tile = MemoryTile()
    tracemalloc.start()
    try:
        tile.s2mm[1].feed(np.broadcast_to(dtype(5), (1000, 1000, 1000)))
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()
    elements = 400 // min(np.dtype(dtype).itemsize, WORD_BYTES)
    buffer = tile.buffer("b", elements, np.int32 if dtype is np.int64 else dtype)
    tile.s2mm[0].feed(np.broadcast_to(dtype(5), (elements,)))
    tile.s2mm[0].start(tile.write(buffer))
    tile.run(1000)
    assert tile.load(buffer).tolist() == [5] * elements


def touched(run: Callable[[], object]) -> int:
    """Bytes of memory that a call touches at most at a time, beside those that it finds."""
    clear, status = Path("/proc/self/clear_refs"), Path("/proc/self/status")
    if not clear.exists():
        pytest.skip("only Linux tells the most memory that a process had for a while")
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)  # what tests before have freed would be taken again, and count for nothing
    clear.write_text("5", encoding="ascii")  # the most that it had is what it has now

    def most() -> int:
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024

    before = most()
    run()
    return most() - before


def test_a_thousand_million_words_take_no_memory() -> None:
    few, many = (1 << 14, 10**9) if ENABLED else (1 << 9, 1 << 11)
    for words in (few, many):
        rig = lane(words)
        with moving_words(False):
            most = peak(rig, words)
        assert rig.engine.words_caught(rig.mm2s(0)) > words * 9 // 10
    assert most < 1_000_000
    rig = lane(many)
    with moving_words(False):
        assert touched(lambda: rig.engine.run(many)) < 16_000_000


@pytest.mark.compiled("millions of words")
def test_words_that_are_put_together_take_nine_bytes_at_most() -> None:
    """Nobody knows how many will come, so there are several blocks, and another one for all of them."""
    words, parts = 1 << 20, 16  # the 4 MB that a process takes for itself count little beside them
    rig = lane(0)
    rig.write_bd(1, Descriptor("memory", 512, OWN.address(0), next=1))  # what is written is read
    data = np.arange(words, dtype=np.uint32)

    def deliver() -> None:
        for n in range(1, parts + 1):
            rig.engine.feed(rig.s2mm(0), data)
            rig.engine.run(n * words)
        assert len(rig.engine.caught(rig.mm2s(0))) > parts * words * 9 // 10

    assert 4 * parts * words < touched(deliver) < 9 * parts * words


def test_words_that_are_kept_take_little_more_than_themselves() -> None:
    """Those that come out: with those that are fed, and belong to who feeds them, 9 bytes for each."""
    words = 1 << 20 if ENABLED else 1 << 11
    rig = Rig()
    rig.engine.forward.on = True
    for ch, bd in ((rig.s2mm(0), 0), (rig.mm2s(0), 1)):
        rig.write_bd(bd, Descriptor("memory", 512, OWN.address(256 * bd), next=bd))
        rig.issue(ch, bd)
    rig.catch(rig.mm2s(0))
    rig.engine.feed(rig.s2mm(0), np.arange(words, dtype=np.uint32))
    took = peak(rig, words)
    assert len(rig.engine.caught(rig.mm2s(0))) > words * 9 // 10
    assert took < (9 - WORD_BYTES) * words + 1_000_000
