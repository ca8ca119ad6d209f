"""Do packets of a graph arrive where and when its text says, through merges, splits and tilings?"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

import numpy as np
import pytest

from memtile.adf.description import Tiling
from memtile.adf.kernel_calls import StreamPort
from memtile.adf.running import GraphRun
from memtile.adf.verdict.judge import amd_verdicts
from memtile.design.merge_order import merge_arbiters, positions
from memtile.design.packet_switches import Hop, PacketSwitch, packet_switch
from memtile.design.router import GraphPort
from memtile.errors import DesignError
from memtile.sim.kernels.actions import Action
from memtile.sim.kernels.kernel_core import Core
from support.adf.plans import Body, compute, ended, ints, started
from support.adf.sketch import Made, Sketch, buffer, port

BLOCK = 8
DEVICE = "xcve2302"


def copy(x: Any, y: Any) -> None:
    """A kernel that passes its block on."""
    ints(y)[:] = ints(x)


def merging(
    cycles: tuple[int, ...], kind: str = "ordered_merge", packets: tuple[int, ...] = ()
) -> tuple[Sketch, Made, dict[Made, Body]]:
    """Kernels of so many cycles into a merge; ``packets`` of each in a round."""
    g, bodies = Sketch(), dict[Made, Body]()
    merge = g.packets(kind, "mg", len(cycles), packets=packets)
    for n, each in enumerate(cycles):
        k = g.kernel(f"k{n}", [buffer("int32", BLOCK)], [buffer("int32", BLOCK)])
        g.connect(g.plio(f"in{n}"), k.ins[0])
        g.connect(k.outs[0], merge.ins[n])
        bodies[k] = compute(copy, each)
    return g, merge, bodies


def fed(run: GraphRun, ways: int, blocks: int) -> Any:
    """Blocks of numbers for each of several inputs: way, block, element."""
    data = np.arange(ways * blocks * BLOCK, dtype=np.int32).reshape(ways, blocks, BLOCK)
    for n in range(ways):
        run.feed(f"in{n}", data[n])
    return data


@pytest.mark.parametrize("cycles", [(900, 5, 5), (5, 300, 60, 5)], ids=["first is slow", "second is slow"])
def test_an_ordered_merge_lets_no_fast_source_pass_a_slow_one(cycles: tuple[int, ...]) -> None:
    """UG1603: from packet 0 to n - 1, again and again (DEV-ADF-100)."""
    g, merge, bodies = merging(cycles)
    g.connect(merge.outs[0], g.plio("out", "out"))
    run, ways = started(g, bodies, DEVICE), len(cycles)
    data = fed(run, ways, 4)
    found = ended(run, 4).outputs["gr.out"].words.reshape(4 * ways, 1 + BLOCK)
    assert (found[:, 0] & 31).tolist() == [*range(ways)] * 4
    assert (found[:, 1:] == data.transpose(1, 0, 2).reshape(-1, BLOCK)).all()


def test_an_ordered_merge_takes_as_many_packets_as_packet_count_says() -> None:
    g, merge, bodies = merging((60, 5, 5), packets=(1, 3, 2))
    g.connect(merge.outs[0], g.plio("out", "out"))
    for k, count in zip(bodies, (1, 3, 2), strict=True):
        g.repeat(k, count)
    run = started(g, bodies, DEVICE)
    data = [np.arange(2 * n * BLOCK, dtype=np.int32) + 1000 * n for n in (1, 3, 2)]
    for n, each in enumerate(data):
        run.feed(f"in{n}", each)
    found = ended(run, 2).outputs["gr.out"].words.reshape(-1, 1 + BLOCK)
    assert (found[:, 0] & 31).tolist() == [0, 1, 1, 1, 2, 2] * 2
    for n, each in enumerate(data):
        assert (found[found[:, 0] & 31 == n, 1:].ravel() == each).all()


def named(order: tuple[int, ...], elements: int = BLOCK) -> list[Tiling]:
    """Tilings that store what comes by each input in the piece of its number."""
    size = elements * len(order)
    return [Tiling((size,), (elements,), (elements * n,), packet_port_id=n) for n in order]


@pytest.mark.parametrize("kind", ["ordered_merge", "merge"])
@pytest.mark.parametrize("order", [(0, 1, 2, 3), (2, 0, 3, 1)])
def test_a_merge_stores_packets_where_the_tiling_of_their_input_says(
    kind: str, order: tuple[int, ...]
) -> None:
    """UG1603, Deterministic Merge to Memory Tile; of a pktmerge in the order of its tilings (DEV-ADF-101)."""
    g, merge, bodies = merging((5, 400, 5, 60), kind)
    m = g.shared("m", "int32", (4 * BLOCK,), [named(order)], 1, num_buffers=2)
    g.connect(merge.outs[0], m.ins[0])
    g.connect(m.outs[0], g.plio("out", "out"))
    run = started(g, bodies, DEVICE)
    data = fed(run, 4, 3)
    found = ended(run, 3).outputs["gr.out"].words
    assert (found == data.transpose(1, 0, 2).ravel()).all()


def test_a_tiling_takes_several_packets_of_its_input() -> None:
    g, merge, bodies = merging((5, 90), packets=(2, 1))
    tilings = [Tiling((3 * BLOCK,), (2 * BLOCK,), (BLOCK,), packet_port_id=0)]
    tilings.append(Tiling((3 * BLOCK,), (BLOCK,), (0,), packet_port_id=1))
    m = g.shared("m", "int32", (3 * BLOCK,), [tilings], 1)
    g.connect(merge.outs[0], m.ins[0])
    g.connect(m.outs[0], g.plio("out", "out"))
    run = started(g, bodies, DEVICE)
    assert [each.repetition for each in run.lowered.plan.kernels] == [2, 1]
    first, second = np.arange(6 * BLOCK).reshape(3, 2 * BLOCK), np.arange(3 * BLOCK).reshape(3, BLOCK) + 500
    run.feed("in0", first.astype(np.int32))
    run.feed("in1", second.astype(np.int32))
    found = ended(run, 3).outputs["gr.out"].words.reshape(3, 3 * BLOCK)
    assert (found == np.concatenate([second, first], axis=1)).all()


@pytest.mark.parametrize("kind", ["merge", "ordered_merge"])
def test_what_comes_in_by_input_i_of_a_merge_leaves_by_output_i_of_the_split_behind_it(kind: str) -> None:
    """UG1603, Packet Split and Merge Connections: the last output is broadcast to two kernels."""
    g, merge, bodies = merging((5, 60, 200), kind)
    split = g.packets("split", "sp", 3)
    g.connect(merge.outs[0], split.ins[0])
    for n, way in enumerate((0, 1, 2, 2)):
        k = g.kernel(f"j{n}", [buffer("int32", BLOCK)], [buffer("int32", BLOCK)])
        g.connect(split.outs[way], k.ins[0])
        g.connect(k.outs[0], g.plio(f"out{n}", "out"))
        bodies[k] = compute(copy, 30)
    run = started(g, bodies, DEVICE)
    data = fed(run, 3, 4)
    found = ended(run, 4).outputs
    for n, way in enumerate((0, 1, 2, 2)):
        assert (found[f"gr.out{n}"].words == data[way].ravel()).all()


def header(number: int) -> int:
    """Of a packet that a core or the programmable logic sends: source -1, -1 (UG1603, Packet Processing)."""
    word = number | 31 << 16 | 127 << 21
    return word | (~word.bit_count() & 1) << 31


def packet(words: Any, number: int) -> Any:
    """Words with their header."""
    return np.concatenate([[header(number)], np.asarray(words).astype(np.uint32)]).astype(np.uint32)


def unpacked(core: Core, source: StreamPort, y: Any) -> Generator[Action, Any, None]:
    """A kernel that gets a packet of a block, checks its header, and passes the block on."""
    words = np.array((yield core.get_stream(1 + BLOCK)))
    assert words[0] & 31 == source.packet_ids[0]
    ints(y)[:] = words[1:]
    yield core.cycles(5)


def test_a_split_leads_to_a_buffer_a_stream_a_shared_buffer_and_out_of_the_array() -> None:
    """Headers end at buffers and stay in streams (UG1603, Packet Processing)."""
    g = Sketch()
    split = g.packets("split", "sp", 4)
    g.connect(g.plio("in"), split.ins[0])
    k = g.kernel("k", [buffer("int32", BLOCK)], [buffer("int32", BLOCK)])
    j = g.kernel("j", [port("packet_stream")], [buffer("int32", BLOCK)])
    m = g.shared("m", "int32", (BLOCK,), 1, 1, num_buffers=2)
    for n, (into, out) in enumerate(((k.ins[0], k.outs[0]), (j.ins[0], j.outs[0]), (m.ins[0], m.outs[0]))):
        g.connect(split.outs[n], into)
        g.connect(out, g.plio(f"out{n}", "out"))
    g.connect(split.outs[3], g.plio("out3", "out"))
    run = started(g, {k: compute(copy), j: unpacked}, DEVICE)
    data = np.arange(3 * 4 * BLOCK).reshape(3, 4, BLOCK)
    last = np.eye(1, 1 + BLOCK, BLOCK, dtype=np.uint8)[0]
    for turn in data:
        for n in (2, 0, 3, 1):
            run.feed("in", packet(turn[n], n), last)
    found = ended(run, 3).outputs
    for n in range(3):
        assert (found[f"gr.out{n}"].words == data[:, n].ravel()).all()
    assert (found["gr.out3"].words == np.concatenate([packet(each, 3) for each in data[:, 3]])).all()


@pytest.mark.parametrize("way", [0, 1])
def test_a_way_of_a_split_leads_into_an_ordered_merge(way: int) -> None:
    """One kernel sends its packets to the programmable logic and, in its turn, into a merge with others."""
    g = Sketch()
    split, merge = g.packets("split", "sp", 2), g.packets("ordered_merge", "mg", 3)
    g.connect(split.outs[way], merge.ins[0])
    senders = [g.kernel(f"k{n}", [buffer("int32", BLOCK)], [port("packet_stream")]) for n in range(3)]
    for n, k in enumerate(senders):
        g.connect(g.plio(f"in{n}"), k.ins[0])
        g.connect(k.outs[0], merge.ins[n] if n else split.ins[0])
    g.connect(split.outs[1 - way], g.plio("tap", "out"))
    j = g.kernel("j", [port("packet_stream")], [buffer("int32", 3 * BLOCK)])
    g.connect(merge.outs[0], j.ins[0])
    g.connect(j.outs[0], g.plio("out", "out"))

    def sender(core: Core, x: Any, out: StreamPort) -> Generator[Action, Any, None]:
        assert len(out.packet_ids) == 1 or out.packet_ids[way] == 1
        for number in out.packet_ids:
            yield core.put_stream(packet(ints(x) + 1000 * number, number), last=True)

    def reducer(core: Core, source: StreamPort, y: Any) -> Generator[Action, Any, None]:
        assert source.packet_ids == (1, 2, 3)
        for n, number in enumerate(source.packet_ids):
            words = np.array((yield core.get_stream(1 + BLOCK)))
            assert words[0] & 31 == number
            ints(y)[n * BLOCK : (n + 1) * BLOCK] = words[1:]

    run = started(g, {j: reducer, **dict.fromkeys(senders, sender)}, DEVICE)
    data = fed(run, 3, 2)
    found = ended(run, 2).outputs
    wanted = data.transpose(1, 0, 2) + 1000 * np.array([1, 2, 3])[:, None]
    assert (found["gr.out"].words == wanted.ravel()).all()
    taps = np.concatenate([packet(each, 0) for each in data[0]])
    assert (found["gr.tap"].words.view(np.uint32) == taps).all()


def test_packets_reach_several_splits_at_once() -> None:
    """Output i of each split gets the packets with identifier i."""
    g, bodies = Sketch(), dict[Made, Body]()
    source = g.plio("in")
    for s in (0, 1):
        split = g.packets("split", f"sp{s}", 2)
        g.connect(source, split.ins[0])
        for n in (0, 1):
            k = g.kernel(f"k{s}{n}", [buffer("int32", BLOCK)], [buffer("int32", BLOCK)])
            g.connect(split.outs[n], k.ins[0])
            g.connect(k.outs[0], g.plio(f"out{s}{n}", "out"))
            bodies[k] = compute(copy, 5 + 100 * s)
    run = started(g, bodies, DEVICE)
    data = np.arange(2 * 3 * BLOCK).reshape(3, 2, BLOCK)
    last = np.eye(1, 1 + BLOCK, BLOCK, dtype=np.uint8)[0]
    for turn in data:
        for n in (1, 0):
            run.feed("in", packet(turn[n], n), last)
    found = ended(run, 3).outputs
    for s in (0, 1):
        for n in (0, 1):
            assert (found[f"gr.out{s}{n}"].words == data[:, n].ravel()).all()


@pytest.mark.parametrize("kind", ["merge", "ordered_merge"])
def test_a_merge_takes_buffers_streams_shared_buffers_and_the_programmable_logic(kind: str) -> None:
    g = Sketch()
    merge = g.packets(kind, "mg", 4)
    k = g.kernel("k", [buffer("int32", BLOCK)], [buffer("int32", BLOCK)])
    j = g.kernel("j", [buffer("int32", BLOCK)], [port("packet_stream")])
    m = g.shared("m", "int32", (BLOCK,), 1, 1, num_buffers=2)
    for n, (into, out) in enumerate(((k.ins[0], k.outs[0]), (j.ins[0], j.outs[0]), (m.ins[0], m.outs[0]))):
        g.connect(g.plio(f"in{n}"), into)
        g.connect(out, merge.ins[n])
    g.connect(g.plio("in3"), merge.ins[3])
    g.connect(merge.outs[0], g.plio("out", "out"))

    def packed(core: Core, x: Any, out: StreamPort) -> Generator[Action, Any, None]:
        yield core.put_stream(packet(ints(x), out.packet_ids[0]), last=True)

    run = started(g, {k: compute(copy, 100), j: packed}, DEVICE)
    data = fed(run, 3, 2)
    last = np.eye(1, 1 + BLOCK, BLOCK, dtype=np.uint8)[0]
    for _ in range(2):
        run.feed("in3", packet(range(BLOCK), 3), last)
    found = ended(run, 2).outputs["gr.out"].words.reshape(8, 1 + BLOCK)
    ids = (found[:, 0] & 31).tolist()
    assert ids == [0, 1, 2, 3] * 2 if kind == "ordered_merge" else sorted(ids) == [0, 0, 1, 1, 2, 2, 3, 3]
    for n in range(3):
        assert (found[np.array(ids) == n, 1:] == data[n]).all()
    assert (found[np.array(ids) == 3, 1:] == np.arange(BLOCK)).all()


def stored(order: tuple[int, ...], elements: int = BLOCK, kind: str = "ordered_merge") -> GraphRun:
    """Two kernels, merged into a shared buffer of two or more pieces."""
    g, merge, bodies = merging((5, 5), kind)
    m = g.shared("m", "int32", (elements * len(order),), [named(order, elements)], 1)
    g.connect(merge.outs[0], m.ins[0])
    g.connect(m.outs[0], g.plio("out", "out"))
    return started(g, bodies, DEVICE)


def test_tilings_that_no_order_of_packets_fills_are_refused_by_name() -> None:
    with pytest.raises(
        DesignError,
        match=r"gr\.m\.in\[0\]: packets arrive in rounds of 1 of input 0, 1 of input 1, and the tilings of "
        r"gr\.m\.in\[0\] cannot be filled so, one after the other \(UG1603: Deterministic Merge to Memory "
        r"Tile\)\. Let each tiling take the packets that one input sends in a row, and a turn whole rounds\.",
    ):
        stored((0, 1), 2 * BLOCK)
    with pytest.raises(DesignError, match=r"in rounds of 1 of input 0, 1 of input 1, and the tilings of"):
        stored((0, 1, 0))
    with pytest.raises(
        DesignError,
        match=r"the tiling with packet_port_id 0 takes 12 elements; a packet of gr\.k0\.out\[0\] has 8",
    ):
        stored((0, 1), 12)
    with pytest.raises(
        DesignError,
        match=r"a merge of inputs 0, 1 leads to gr\.m\.in\[0\]; each of its tilings must name one of them",
    ):
        stored((0, 1, 2), BLOCK, "merge")


def test_more_sources_than_a_switch_has_positions_meet_in_several_switches() -> None:
    g, merge, bodies = merging((5, 90, 5, 5, 60, 5))
    j = g.kernel("j", [buffer("int32", 6 * BLOCK)], [buffer("int32", 6 * BLOCK)])
    g.connect(merge.outs[0], j.ins[0])
    g.connect(j.outs[0], g.plio("out", "out"))
    (verdict,) = amd_verdicts(g.description(), "xcve2302")
    assert verdict.text.startswith(
        "graph.h:1, gr.mg: aiecompiler refuses this: the merge has 6 inputs; users"
    )
    run = started(g, bodies | {j: compute(copy)}, DEVICE)
    data = fed(run, 6, 2)
    assert (ended(run, 2).outputs["gr.out"].words == data.transpose(1, 0, 2).ravel()).all()


def switch_of(slaves: Sequence[str], arbiters: Sequence[int]) -> tuple[list[Hop], PacketSwitch]:
    """Streams of so many slaves of a memory tile into one master."""
    port = GraphPort("memory", 1, 1, False, "")
    master = port._replace(is_master=True, name="DMA0")
    hops = [Hop(port._replace(name=name), n, master) for n, name in enumerate(slaves)]
    return hops, packet_switch(hops, arbiters, "bus", {}, joins=True)


def test_an_order_that_one_switch_does_not_have_is_refused_by_the_tile() -> None:
    hops, switch = switch_of(["NORTH0", "NORTH1", "SOUTH0", "SOUTH1", "DMA0"], [0, 1])
    served = positions(hops[:3], switch, [(0, 70), (1, 2), (2, 1)])
    assert served == {0: [("NORTH0", 63), ("NORTH0", 7), ("NORTH1", 2), ("SOUTH0", 1)]}
    with pytest.raises(
        DesignError,
        match=r"memory\(1,1\) would merge packets in an order of 5 positions: NORTH0 1, NORTH1 1, SOUTH0 1, "
        r"SOUTH1 1, DMA0 1 \(AM020 chapter 2: packet-switched streams\)\. Merge at most 4 sources, and",
    ):
        positions(hops, switch, [(n, 1) for n in range(5)])
    with pytest.raises(
        DesignError,
        match=r"arbiters 0 and 1 of memory\(1,1\), which can merge packets in a fixed order",
    ):
        merge_arbiters([2, 5], "memory(1,1)")
