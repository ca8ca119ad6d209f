"""Does every task that asks for a token issue one, in order, with the word that the waiting side expects?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from memtile.arch.packets import token
from memtile.arch.timing import Timing
from memtile.bd.descriptor import Descriptor
from memtile.bd.windows import OWN
from memtile.importers.design import load
from memtile.model.state.causes import Cause
from memtile.sim.loop.untimed import run_untimed
from memtile.testing.stream_bench import Bench
from support.designs.packet_bench import fetch

STALLED = 1 << 5


@pytest.mark.feature("F12")
@pytest.mark.parametrize("number", range(6))
def test_the_word_names_the_channel_and_its_controller(number: int) -> None:
    bench = Bench("memory", switched=False)
    ch = bench.mm2s(number)
    bench.control(ch, Controller_ID=0xA5)
    fetch(bench, number)
    bench.run()
    actor = (16, 17, 18, 19, 20, 22)[number]
    word = 0xA5 | actor << 8 | 6 << 12 | 1 << 16 | 1 << 21
    assert [w & ~(1 << 31) for w in bench.engine.tokens(0)] == [word]
    assert bench.engine.tokens(0)[0].bit_count() % 2 == 1
    assert bench.engine.tokens(0) == [token("memory", 6 + number, 0xA5, column=1, row=1)]
    assert token("memory_v2", 6 + number, 1) == token("memory", 6 + number, 1)


@pytest.mark.feature("F12")
def test_one_token_a_task_and_only_if_asked() -> None:
    """A task of five runs is one task."""
    bench = Bench("memory", switched=False)
    fetch(bench, 0, 5)
    fetch(bench, 0, 2, asked=False)
    fetch(bench, 0)
    bench.run()
    assert bench.engine.state.channels.tasks_done[bench.mm2s()] == 3
    assert len(bench.engine.tokens(0)) == 2


@pytest.mark.feature("F12")
def test_s2mm_issues_when_its_last_word_is_in_memory() -> None:
    bench = Bench("memory", switched=False)
    ch = bench.s2mm(1)
    bench.control(ch, Controller_ID=3)
    bench.write_bd(24, Descriptor("memory", 4, OWN.address(0)))
    bench.issue(ch, 24, token=True)
    bench.engine.feed(ch, np.arange(3, dtype=np.uint32))
    bench.run()
    assert bench.engine.tokens(0) == []
    bench.engine.feed(ch, np.arange(1, dtype=np.uint32))
    bench.run()
    assert bench.engine.tokens(0) == [token("memory", 1, 3, column=1, row=1)]


@pytest.mark.feature("F12")
def test_tokens_are_routed_as_packets_by_their_controller_id() -> None:
    """The low five bits of Controller_ID are the stream id."""
    bench = Bench("memory")
    bench.packets("CTRL0", (3, 31, 0, 0), (4, 31, 1, 0))
    bench.collects("DMA0", 0, 0)
    bench.collects("SOUTH0", 0, 1)
    bench.engine.catch_port(0, "SOUTH0")
    bench.write_bd(1, Descriptor("memory", 1, OWN.address(0x100)))
    bench.issue(bench.s2mm(), 1)
    for number, controller in ((0, 3), (1, 0xE4)):
        bench.control(bench.mm2s(number), Controller_ID=controller)
        fetch(bench, number)
    bench.run()
    assert bench.memory(0x100, 1) == [token("memory", 6, 3, column=1, row=1)]
    assert bench.engine.left_port(0, "SOUTH0") == [(token("memory", 7, 0xE4, column=1, row=1), 1)]


@pytest.mark.feature("F12")
def test_channels_with_tokens_take_turns() -> None:
    """Held up until all channels have tasks that wait to end: none sends two while another has a token."""
    bench = Bench("memory", timing=Timing(token_words=1))
    for _ in range(4):
        for number in range(3):
            fetch(bench, number, words=1)
        bench.run()
    bench.engine.catch_port(0, "SOUTH0")
    bench.packets("CTRL0", (0, 0, 0, 0))
    bench.collects("SOUTH0", 0, 0)
    bench.run()
    actors = [word >> 8 & 31 for word, _ in bench.engine.left_port(0, "SOUTH0")]
    assert actors == [16, 17, 18] * 4


@pytest.mark.feature("F12")
def test_a_channel_stalls_when_nobody_takes_its_tokens_and_loses_none() -> None:
    """DEV-TOK-1: one token in the channel, ``token_words`` in the tile, what the port holds; then bit 5."""
    timing = Timing(token_words=2)
    bench = Bench("memory", timing=timing)
    ch = bench.mm2s()
    held = 1 + timing.token_words + timing.local_slave_words
    for _ in range(3):
        for _ in range(4):
            fetch(bench, 0, words=1)
        bench.run()
    assert bench.engine.state.channels.tasks_done[ch] == held
    assert bench.status(ch) & STALLED
    assert bench.engine.state.spent[ch, Cause.TOKEN_BLOCKED] > 0
    bench.engine.catch_port(0, "SOUTH0")
    bench.packets("CTRL0", (0, 0, 0, 0))
    bench.collects("SOUTH0", 0, 0)
    bench.run()
    issued = int(bench.engine.state.channels.tasks_done[ch])
    assert len(bench.engine.left_port(0, "SOUTH0")) == issued > held
    assert not bench.status(ch) & STALLED


@pytest.mark.feature("F12")
def test_eight_short_tasks_never_stall() -> None:
    """GT-16: nothing is dropped, no stall, though nobody waits for a token."""
    bench = Bench("memory")
    for _ in range(2):
        for _ in range(4):
            fetch(bench, 0, words=16)
        bench.run()
    spent = bench.engine.state.spent[bench.mm2s(), Cause.TOKEN_BLOCKED]
    assert bench.engine.state.channels.tasks_done[bench.mm2s()] == 8
    assert spent == 0


def test_more_tokens_than_the_host_list_holds() -> None:
    bench = Bench("memory", switched=False)
    for number in range(6):
        fetch(bench, number, words=1)
    for _ in range(100):
        for number in range(6):
            for _ in range(3):
                fetch(bench, number, words=1)
        bench.run(200)
    assert len(bench.engine.tokens(0)) == 6 * 301


def test_the_untimed_run_issues_the_same_tokens() -> None:
    tokens = []
    for run in (lambda bench: bench.run(), lambda bench: run_untimed(bench.engine)):
        bench = Bench("memory", switched=False)
        for number in range(6):
            for _ in range(4):
                fetch(bench, number, words=8)
        run(bench)
        tokens.append(sorted(bench.engine.tokens(0)))
    assert tokens[0] == tokens[1]
    assert len(tokens[0]) == 24


PART, PARTS = 4096, 3
WHOLE = f"memref<{PART * PARTS}xi32>"


def again() -> str:
    """Parts of an array go to a memory tile and back by the same descriptors, one after another."""
    parts = "\n".join(
        f"""aiex.npu.dma_memcpy_nd(%a[0, 0, 0, {at}][1, 1, 1, {PART}][0, 0, 0, 1])
              {{id = 0 : i64, metadata = @in}} : {WHOLE}
            aiex.npu.dma_memcpy_nd(%b[0, 0, 0, {at}][1, 1, 1, {PART}][0, 0, 0, 1])
              {{id = 1 : i64, metadata = @out, issue_token = true}} : {WHOLE}
            aiex.npu.dma_wait {{symbol = @out}}"""
        for at in range(0, PART * PARTS, PART)
    )
    return f"""module {{ aie.device(npu1_1col) {{
      %shim = aie.tile(0, 0)
      %memory = aie.tile(0, 1)
      aie.objectfifo @in(%shim, {{%memory}}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
      aie.objectfifo @out(%memory, {{%shim}}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
      aie.objectfifo.link [@in] -> [@out]([] [])
      aie.runtime_sequence(%a: {WHOLE}, %b: {WHOLE}) {{ {parts} }}
    }} }}"""


def test_tokens_of_a_run_are_none_of_the_next_one(tmp_path: Path) -> None:
    """A wait that is over too early lets descriptors be written anew that are still to be used."""
    (file := tmp_path / "design.mlir").write_text(again())
    design, cycles = load(file), set[int]()
    for run in range(2):
        given = np.arange(PART * PARTS, dtype=np.int32) + run
        done = design.run(given)
        np.testing.assert_array_equal(done.arrays["1"], given)
        cycles.add(done.result.cycles - done.result.before)
    assert max(cycles) - min(cycles) < PART // 50
