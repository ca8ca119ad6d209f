"""Do runs without words take the cycles of runs with them, whatever the design, and no memory?"""

from __future__ import annotations

import runpy
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from memtile import run
from memtile.bd.descriptor import Descriptor
from memtile.bd.windows import OWN
from memtile.design.memory_tile import MemoryTile
from memtile.errors import DesignError
from memtile.jit.decorators import ENABLED
from memtile.model.state.columns import Kind
from memtile.model.state.compare import columns
from memtile.sim.wordless import moving_words
from memtile.testing.rig import Rig
from repeating_designs import OUTSIDE, Design, build, designs, rings, taken

WORD_BYTES = 4
EXAMPLES = Path(__file__).parents[2] / "examples"
KERNELS = "kernels, which may look at them"


def both(design: Design) -> None:
    """Run the design both ways, and compare all of the states but words wherever it stops."""
    rigs = build(design, forward=True), build(design, forward=True)
    for cycles in design.stops:
        until = rigs[0].now + cycles
        stops = [rigs[0].engine.run(until)]
        with moving_words(False):
            stops.append(rigs[1].engine.run(until))
        assert stops[0] == stops[1]
        assert not differences(*rigs)
    assert rigs[1].engine.wordless


def differences(one: Rig, other: Rig) -> set[str]:
    """Names of what differs, but for words."""
    found = set()
    pairs = zip(columns(one.engine.state), columns(other.engine.state), strict=True)
    for (name, mine, column, _), (_, theirs, *_) in pairs:
        words = column.kind is Kind.DATA or name in OUTSIDE or name == "clock.wordless"
        if not words and not np.array_equal(mine, theirs):
            found.add(name)
    for ch in range(len(one.engine.channels.phase)):
        if (taken(one, ch), one.engine.pending(ch)) != (taken(other, ch), other.engine.pending(ch)):
            found.add("taken")
        if one.engine.words_caught(ch) != other.engine.words_caught(ch):
            found.add("caught")
    return found


@pytest.mark.slow
@given(designs())
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_random_work_takes_the_same_cycles(design: Design) -> None:
    both(design)


@pytest.mark.slow
@given(rings())
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_buffers_between_producers_and_consumers_take_the_same_cycles(design: Design) -> None:
    both(design)


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
    assert "without words: there are no outputs, and nothing is compared" in str(without)


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
    assert f"with words after all: time may depend on {without.words_needed_by[0]}" in str(without)
    assert without.words
    assert without.exact == with_words.exact
    assert plain(without) == plain(with_words)


def test_what_is_missing_is_found_without_words_too() -> None:
    def design() -> MemoryTile:
        tile = MemoryTile()
        tile.mm2s[0].start(tile.read(tile.buffer("b", 300, data=np.arange(300))))
        tile.mm2s[0].expect(np.arange(500))
        return tile

    with_words, without = run(design), run(design, data=False)
    assert without.status == with_words.status != "finished"
    assert plain(without) == plain(with_words)


def of(design: Callable[[MemoryTile], None]) -> Any:
    tile = MemoryTile()
    tile.mm2s[0].start(tile.read(tile.buffer("b", 300, data=np.arange(300))))
    tile.mm2s[0].expect(np.arange(300))
    design(tile)
    return tile.run(data=False)


def test_so_do_hosts() -> None:
    def hosted(tile: MemoryTile) -> None:
        def sequence(host: Any) -> Any:
            yield host.pause(10)

        tile.bench.host(sequence)

    result = of(hosted)
    assert result.exact
    assert result.words_needed_by == ("a host, which may read them",)


def test_no_run_has_words_after_one_without_and_none_is_without_words_and_time() -> None:
    tile = MemoryTile()
    tile.mm2s[0].start(tile.read(tile.buffer("b", 300, data=np.arange(300))))
    tile.mm2s[0].collect()
    with pytest.raises(DesignError, match="an untimed run without words has nothing to do"):
        tile.run(untimed=True, data=False)
    tile.run(100, data=False)
    with pytest.raises(DesignError, match="no words are left to go on with"):
        tile.run()
    assert tile.run(data=False).good


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


def test_many_words_take_no_memory() -> None:
    most = 0
    for words in (1 << 14, 1 << 26) if ENABLED else (1 << 9, 1 << 11):
        rig = lane(words)
        with moving_words(False):
            most = peak(rig, words)
        assert rig.engine.words_caught(rig.mm2s(0)) > words * 9 // 10
    assert most < 1_000_000


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
