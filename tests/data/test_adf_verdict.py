"""Is AMD's verdict on a graph the published one, with the published counts?"""

from __future__ import annotations

import json
from typing import Any

import pytest

from memtile.adf.description import Description, Loop, Place, Tiling
from memtile.adf.verdict.descriptors import compiler_bds
from memtile.adf.verdict.judge import amd_verdicts
from memtile.adf.verdict.verdicts import Verdict, verdicts_text
from memtile.errors import DesignError
from support.adf.sketch import Sketch, address, buffer, dma, stream, tile
from support.formats.oracle_files import load

STRIDES = 4  # of a memory tile's descriptor
Loops = tuple[tuple[int, int, int], ...]


def tiling(buffer_: tuple[int, ...], tile_: tuple[int, ...], offset: tuple[int, ...], *loops: Any) -> Tiling:
    """A tiling with its loops as (dimension, stride, wrap)."""
    return Tiling(buffer_, tile_, offset, tuple(Loop(*each) for each in loops))


def quarters(layers: int) -> Tiling:
    """Test case 1 of XD100's tiling tutorial: layers of 8 x 8 in quarters."""
    return tiling((8, 8, layers), (4, 4, 1), (0, 0, 0), (0, 4, 2), (1, 4, 2), (2, 1, layers))


def columns(width: int) -> Tiling:
    """Test case 4 there: 64 x 512 with a border of 4 above and below, in columns of tiles."""
    return tiling((64, 512), (width, 4), (0, -4), (1, 4, 130), (0, width, 64 // width))


PUBLISHED = [
    ("test case 1", quarters(16), 32),
    ("test case 1 with 12 layers", quarters(12), 24),
    ("test case 2", tiling((8, 128), (4, 4), (0, 0), (0, 4, 2), (1, 4, 32)), 2),
    ("test case 3, layers", tiling((8, 8, 16), (8, 8, 1), (0, 0, 0), (2, 1, 16)), 2),
    ("test case 3, padded quarters", tiling((8, 8), (6, 6), (-1, -1), (0, 4, 2), (1, 4, 2)), 8),
    ("test case 4", columns(8), 48),
    ("test case 4 with tiles of 16", columns(16), 24),
    ("write of a buffer", tiling((1024,), (1024,), (0,)), 2),
    ("zeros on both sides of one tile", tiling((16, 8), (24, 1), (-4, 0), (1, 1, 8)), 2),
    ("zeros on the sides of three tiles", tiling((24, 8), (8, 8), (-4, 0), (0, 12, 3)), 6),
    ("strides over whole dimensions", tiling((8, 16, 16), (1, 1, 1), (0, 0, 0), (0, 144, 7), (1, 112, 9)), 2),
]


@pytest.mark.parametrize(
    ("access", "count"), [each[1:] for each in PUBLISHED], ids=[each[0] for each in PUBLISHED]
)
def test_descriptors_are_as_many_as_published(access: Tiling, count: int) -> None:
    """Strides over whole dimensions: DEV-ADF-171."""
    assert compiler_bds([access], (), STRIDES) == count


def test_each_count_of_the_oracle_is_reproduced() -> None:
    counted = 0
    for case in load("tilings")["tilings"]:
        published = (case.get("compiler") or {}).get("bds_for_this_port")
        if published is None:
            continue
        loops = tuple(Loop(**each) for each in case["tile_traversal"])
        boundary = case["boundary_dimension"]
        access = Tiling(
            tuple(case["buffer_dimension"]),
            tuple(case["tiling_dimension"]),
            tuple(case["offset"]),
            loops,
            boundary_dimension=tuple(boundary) if boundary else None,
        )
        counted += 1
        assert compiler_bds([access], (), STRIDES) == published, case["id"]
    assert counted == 4


def test_a_list_of_tilings_and_the_older_form_are_counted() -> None:
    halves = [tiling((32, 1), (16, 1), (16, 0)), tiling((32, 1), (16, 1), (0, 0))]
    assert compiler_bds(halves, (), STRIDES) == 4
    assert compiler_bds([], (64,), STRIDES) == 2
    older = Tiling(steps=((1, 8), (16, 4), (128, 2), (8, 2), (512, 3)))
    assert compiler_bds([older], (), STRIDES) == 6
    assert compiler_bds([Tiling(steps=((1, 8), (8, 4), (32, 2)))], (), 1) == 2


def test_loops_of_one_dimension_that_go_on_are_one() -> None:
    """DEV-ADF-60."""
    far = tiling((64, 8), (4, 2), (0, 0), (0, 4, 4), (0, 16, 4), (1, 2, 2), (1, 4, 2))
    assert compiler_bds([far], (), STRIDES) == 2
    apart = tiling((64, 8), (4, 2), (0, 0), (0, 4, 4), (0, 32, 2), (1, 2, 2), (1, 4, 2))
    assert compiler_bds([apart], (), STRIDES) == 8


def graph(access: Tiling, *channels: int) -> Sketch:
    """PLIO, shared buffer, kernel, PLIO: each test case of the tutorial; channels of the buffer's ports."""
    g = Sketch()
    count = 1
    for size in access.buffer_dimension:
        count *= size
    first, last = g.plio("in"), g.plio("out", "out")
    shared = g.shared("mtxin", "int32", (count,), [[tiling((count,), (count,), (0,))]], [[access]])
    part = access.tiling_dimension[0] * access.tiling_dimension[1]
    k1 = g.kernel("k1", [buffer("int32", part)], [buffer("int32", part)])
    for ends in ((first, shared.ins[0]), (shared.outs[0], k1.ins[0]), (k1.outs[0], last)):
        g.connect(*ends)
    g.place(shared, address(10, 0, 0), what="buffer")
    for port, channel in zip((*shared.ins, *shared.outs), channels, strict=False):
        g.place(port, dma("memory_tile", 10, 0, channel), what="dma")
    return g


def judged(g: Sketch, device: str = "xcve2802") -> list[Verdict]:
    return amd_verdicts(g.description(), device)


@pytest.mark.parametrize(
    ("access", "channels", "needed"),
    [
        (quarters(16), (), 34),
        (quarters(16), (0, 1), 32),
        (quarters(12), (0, 1), 0),
        (quarters(12), (), 0),
        (quarters(12), (0, 2), 26),
        (columns(8), (), 50),
        (columns(16), (), 0),
        (PUBLISHED[2][1], (), 0),
        (PUBLISHED[4][1], (), 0),
    ],
)
def test_the_tutorial_is_refused_and_accepted_as_published(
    access: Tiling, channels: tuple[int, ...], needed: int
) -> None:
    """DEV-ADF-61: without a location a port takes the channel that has descriptors left."""
    found = judged(graph(access, *channels))
    assert [(each.number, each.counts["needed"], each.counts["available"]) for each in found] == (
        [("77-4352", needed, 24)] if needed else []
    )


def test_the_verdict_is_said_in_the_words_of_the_graph() -> None:
    (found,) = judged(graph(quarters(16)))
    assert found.text == (
        "graph.h:3, gr.mtxin: aiecompiler 77-4352 refuses this: the buffers of the tile need 34 descriptors "
        "of 24 that channels 0, 2, 4 reach: gr.mtxin.in[0] 2 on S2MM 0, gr.mtxin.out[0] 32 on MM2S 0 "
        "(XD100, tiling parameters: BD counting; Memory Tiles, test cases 1 and 4; manual). "
        "memtile needs 2 descriptors for gr.mtxin. Traverse fewer dimensions or larger tiles."
    )
    assert json.loads(json.dumps(found.as_json()))["counts"] == {"needed": 34, "available": 24}
    assert verdicts_text([found]) == found.text
    assert verdicts_text([]) == "AMD's compiler: no refusal by the rules that are public"


def kernels(*pairs: tuple[list[Any], list[Any]]) -> Sketch:
    """Kernels between PLIO, each with its ports."""
    g = Sketch()
    for n, (ins, outs) in enumerate(pairs):
        made = g.kernel(f"k{n}", ins, outs)
        for i, port in enumerate(made.ins):
            g.connect(g.plio(f"in{n}_{i}"), port)
        for i, port in enumerate(made.outs):
            g.connect(port, g.plio(f"out{n}_{i}", "out"))
    return g


def test_a_core_has_one_stream_each_way() -> None:
    """With the numbers of published logs: DEV-ADF-62."""
    found = judged(kernels(([stream()] * 3, [stream()] * 2)))
    assert [(each.number, each.counts["needed"]) for each in found] == [("77-4280", 3), ("77-4281", 2)]
    assert judged(kernels(([stream()], [stream()]))) == []
    (two,) = judged(kernels(([stream()] * 2, [stream()])))
    assert two.next_step == (
        "Cores of the first generation have 2; for AIE-ML, use buffers, or packets on one stream."
    )
    assert found[0].next_step == "Use buffers, or packets on one stream."


def test_kernels_with_equally_many_streams_are_one_verdict() -> None:
    """A public graph of the first generation has 72 such kernels."""
    pairs = ([stream()] * 2, [stream()])
    first, second = judged(kernels(pairs, ([stream()] * 3, [stream()]), pairs, pairs))
    assert first.says == "the kernel has 2 input streams, as have 2 other kernels; an AIE-ML core has 1"
    assert (first.counts["kernels"], second.counts["kernels"]) == (3, 1)
    assert first.where.endswith("gr.k0")


def test_a_buffer_is_whole_words() -> None:
    (found,) = judged(kernels(([buffer("int8", 30)], [buffer("int8", 32)])))
    assert (found.number, found.counts["needed"], found.where) == ("77-23295", 30, "graph.h:1, gr.k0.in[0]")


def test_kernels_that_share_a_memory_may_pass_halves_of_words() -> None:
    """XD100, tutorial 13: its mean is one bfloat16, which AMD's compiler accepts."""
    g = Sketch()
    first = g.kernel("mean", [buffer("int32", 8)], [buffer("bfloat16", 1)])
    second = g.kernel("norm", [buffer("bfloat16", 1)], [buffer("int32", 8)])
    for ends in ((g.plio("in"), first.ins[0]), (first.outs[0], second.ins[0])):
        g.connect(*ends)
    g.connect(second.outs[0], g.plio("out", "out"))
    assert judged(g) == []


def test_an_open_port_is_no_matter_of_the_verdict() -> None:
    g = graph(quarters(16))
    g.kernel("spare", [buffer("int32", 8)])
    assert [each.number for each in judged(g)] == ["77-4352"]


def two_buffers(*places: Place, size: int = 64) -> Sketch:
    """Two shared buffers, one behind the other."""
    g = Sketch()
    whole = [[tiling((size,), (size,), (0,))]]
    made = [g.shared(f"m{n}", "int32", (size,), whole, whole) for n in range(2)]
    ends = [
        g.plio("in"),
        made[0].ins[0],
        made[0].outs[0],
        made[1].ins[0],
        made[1].outs[0],
        g.plio("out", "out"),
    ]
    for source, target in zip(ends[::2], ends[1::2], strict=True):
        g.connect(source, target)
    for one, place in zip(made, places, strict=False):
        g.place(one, place, what="buffer")
    return g


def test_buffers_may_not_overlap() -> None:
    (found,) = judged(two_buffers(address(3, 0, 0), address(3, 0, 252)))
    assert (found.number, found.where) == ("77-23879", "graph.h:2, gr.m1")
    for second in (address(3, 0, 256), address(3, 1, 0), address(4, 0, 0)):
        assert judged(two_buffers(address(3, 0, 0), second)) == []


def test_buffers_of_a_tile_are_at_most_two_tiles() -> None:
    (found,) = judged(two_buffers(address(3, 0, 0), Place("bank", 3, 0, 1), size=1 << 18))
    assert (found.number, found.counts) == ("", {"needed": 1 << 21, "available": 1 << 20})
    assert judged(two_buffers(address(3, 0, 0), Place("bank", 3, 0, 1), size=1 << 17)) == []


@pytest.mark.parametrize(
    ("column", "row", "channel", "refused"),
    [
        (10, 0, 5, False),
        (11, 0, 3, False),
        (9, 0, 0, False),
        (11, 0, 4, True),
        (12, 0, 0, True),
        (10, 1, 0, True),
    ],
)
def test_channels_reach_their_neighbours(column: int, row: int, channel: int, refused: bool) -> None:
    g = graph(PUBLISHED[2][1])
    reads = next(port.id for port in g.description().ports if port.name == "gr.mtxin.out[0]")
    g.place(reads, dma("memory_tile", column, row, channel), what="dma")
    assert [each.number for each in judged(g)] == (["77-5767"] if refused else [])


def test_a_channel_has_one_port() -> None:
    g = two_buffers(address(3, 0, 0), address(3, 0, 512))
    for name in ("gr.m0.out[0]", "gr.m1.out[0]"):
        port = next(each.id for each in g.description().ports if each.name == name)
        g.place(port, dma("memory_tile", 3, 0, 2), what="dma")
    (found,) = judged(g)
    assert found.says == "gr.m1.out[0] and gr.m0.out[0] are on channel 2 of one tile and direction"


def test_runtime_ratios_add_up_to_one() -> None:
    g = Sketch()
    last = g.plio("in")
    for n in range(2):
        k = g.kernel(f"k{n}", [buffer("int32", 8)], [buffer("int32", 8)], runtime_ratio=0.6)
        g.connect(last, k.ins[0])
        g.place(k, tile(3, 1))
        last = k.outs[0]
    g.connect(last, g.plio("out", "out"))
    (found,) = judged(g)
    assert "core (3, 1) add up to 1.2; at most 1 is allowed" in found.says


def test_unequal_volumes_are_refused() -> None:
    g = graph(tiling((8, 8), (4, 4), (0, 0), (0, 4, 2), (1, 4, 2)))
    found = judged(g)
    assert found == []
    g = Sketch()
    shared = g.shared(
        "m", "int32", (64,), [[tiling((64,), (48,), (0,))]], [[tiling((64,), (64,), (0,))]], repetition=1
    )
    k = g.kernel("k", [buffer("int32", 64)], [buffer("int32", 64)], repetition=1)
    other = g.kernel("o", [buffer("int32", 32)], [buffer("int32", 32)], repetition=1)
    for ends in ((g.plio("in"), other.ins[0]), (other.outs[0], shared.ins[0]), (shared.outs[0], k.ins[0])):
        g.connect(*ends)
    g.connect(k.outs[0], g.plio("out", "out"))
    (said,) = judged(g)
    assert said.source == "UG1603: Multi-Level Data Access"
    assert "the volumes of both ends differ" in said.says


def test_a_border_of_too_many_tiles_is_refused_by_its_loop() -> None:
    wide = tiling((8,), (1,), (-1,), (0, 1, 2_000_000))
    with pytest.raises(DesignError, match="more than 1,048,576 tiles along dimension 0, some of them padded"):
        compiler_bds([wide], (), STRIDES)


def test_a_graph_that_contradicts_itself_is_no_graph() -> None:
    with pytest.raises(DesignError):
        amd_verdicts(Description(connections=graph(quarters(2)).description().connections), "xcve2802")
