"""Does a plan put everything where guides, tutorials and the user say, and keep what no plan may break?"""

from __future__ import annotations

import time
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtile.adf.description import Tiling
from memtile.adf.plan import Plan, PlannedKernel
from memtile.adf.planning import plan_of
from memtile.arch.devices import device
from memtile.errors import DesignError
from support.adf.plan_checks import faults
from support.adf.sketch import (
    Made,
    Sketch,
    address,
    area,
    bank,
    beside,
    buffer,
    cascade,
    dma,
    offset,
    parameter,
    shim,
    stream,
    tile,
)

BIG = "xcve2802"


def planned(sketch: Sketch, name: str = BIG) -> Plan:
    """The plan of a sketch, which breaks nothing."""
    plan = plan_of(sketch.description(), name)
    assert faults(plan) == []
    return plan


def kernel_of(plan: Plan, made: Made) -> PlannedKernel:
    return next(kernel for kernel in plan.kernels if kernel.kernel == made.id)


def net_of(plan: Plan, source: int):  # type: ignore[no-untyped-def]
    return next(net for net in plan.nets if source in [end.port for end in net.sources])


def relay(g: Sketch, name: str, size: int = 64, **more: object) -> Made:
    """A kernel with one buffer in and one out."""
    return g.kernel(name, [buffer("int32", size)], [buffer("int32", size)], **more)


def line(g: Sketch, *kernels: Made) -> None:
    """Kernels one after the other between two PLIO."""
    source = g.plio(f"in{kernels[0].id}")
    for kernel in kernels:
        g.connect(source, kernel.ins[0])
        source = kernel.outs[0]
    g.connect(source, g.plio(f"out{kernels[0].id}", "out"))


def test_rows_count_from_the_first_core_and_the_first_memory_tile() -> None:
    """UG1603: tile(c, 0) is the first row of cores, address(c, r, o) has rows of memory tiles."""
    g = Sketch()
    k, m = relay(g, "k"), g.shared("m", "int32", (64,), 1, 1, num_buffers=2)
    g.connect(g.plio("in"), m.ins[0])
    g.connect(m.outs[0], k.ins[0])
    g.connect(k.outs[0], g.plio("out", "out"))
    g.place(k, tile(6, 2))
    g.place(m, address(6, 1, 0x40000), address(6, 1, 0x10000), what="buffer")
    plan = planned(g)
    assert kernel_of(plan, k).tile == (6, 5)
    assert plan.memories[0].blocks is not None
    assert (plan.memories[0].blocks.tile, plan.memories[0].blocks.offsets) == ((6, 2), (0x40000, 0x10000))
    assert {end.tile[0] for net in plan.nets for end in (*net.sources, *net.targets)} == {6}


def test_buffers_are_double_at_a_dma_and_between_cores_single_within_one() -> None:
    """UG1079, Buffer Allocation Control."""
    g = Sketch()
    a, b, c = (relay(g, name, runtime_ratio=0.4) for name in "abc")
    line(g, a, b, c)
    g.place(a, tile(5, 1))
    g.place(b, tile(5, 1))
    g.place(c, tile(5, 2))
    plan = planned(g)
    ends = [net_of(plan, port).targets[0].blocks for port in (a.outs[0], b.outs[0])]
    assert [len(blocks.offsets) for blocks in ends] == [1, 2]
    assert [net.transport for net in plan.nets] == ["stream", "memory", "memory", "stream"]
    assert [len(net.targets[0].blocks.offsets) for net in plan.nets[:1]] == [2]
    assert (kernel_of(plan, a).order, kernel_of(plan, b).order) == (0, 1)


def test_single_buffer_is_single() -> None:
    g = Sketch()
    k = g.kernel("k", [buffer("int32", 64, single=True)], [buffer("int32", 64)])
    line(g, k)
    plan = planned(g)
    assert len(plan.nets[0].targets[0].blocks.offsets) == 1
    assert len(plan.nets[1].sources[0].blocks.offsets) == 2


@pytest.mark.parametrize(("ratios", "shared"), [((0.4, 0.5), True), ((0.5, 0.5), False), ((0.9, 0.9), False)])
def test_kernels_share_a_core_where_their_ratios_are_below_one(
    ratios: tuple[float, float], shared: bool
) -> None:
    """DEV-ADF-12; UG1603, Runtime Ratio: several kernels in one core if their total is less than one."""
    g = Sketch()
    a, b = (relay(g, f"k{n}", runtime_ratio=ratio) for n, ratio in enumerate(ratios))
    line(g, a, b)
    plan = planned(g)
    assert (kernel_of(plan, a).tile == kernel_of(plan, b).tile) == shared


def test_neighbours_share_one_set_of_buffers() -> None:
    """DEV-ADF-11: no DMA between cores that reach the same memory; in the reader's own, if the writer can."""
    g = Sketch()
    a, b = relay(g, "a"), relay(g, "b")
    line(g, a, b)
    g.place(a, tile(4, 0))
    g.place(b, tile(4, 1))
    plan = planned(g)
    net = net_of(plan, a.outs[0])
    assert (net.transport, net.sources[0].blocks, net.targets[0].blocks.tile) == ("memory", None, (4, 4))
    assert (net.sources[0].channel, net.targets[0].channel) == (-1, -1)


def test_an_eastern_neighbour_reads_what_lies_in_the_west() -> None:
    """AM020 chapter 4: a core of AIE-ML reaches its western neighbour's memory, not the eastern one's."""
    g = Sketch()
    a, b = relay(g, "a"), relay(g, "b")
    line(g, a, b)
    g.place(a, tile(4, 0))
    g.place(b, tile(5, 0))
    assert net_of(planned(g), a.outs[0]).targets[0].blocks.tile == (4, 3)


@pytest.mark.parametrize("way", ["tilings", "multirate", "multicast", "places", "place", "channel", "far"])
def test_what_needs_a_dma_gets_one(way: str) -> None:
    """DEV-ADF-11; UG1079: a DMA is inserted for tilings, multirate and multicast."""
    g = Sketch()
    read = (Tiling((8, 8), (8, 4)),) * 2 if way == "tilings" else ()
    a = relay(g, "a")
    size = 32 if way == "multirate" else 64
    b = g.kernel("b", [buffer("int32", size, read_access=read)], [buffer("int32", size)])
    line(g, a, b)
    g.place(a, tile(4, 0))
    g.place(b, tile(4, 3) if way == "far" else tile(4, 1))
    if way == "multicast":
        c = relay(g, "c")
        g.connect(a.outs[0], c.ins[0])
        g.connect(c.outs[0], g.plio("outc", "out"))
    if way == "place":
        g.place(a.outs[0], address(3, 0, 0), what="buffer")  # b reaches (4, 1), (4, 0), (3, 1) and (4, 2)
    if way == "channel":
        g.place(b.ins[0], dma("aie_tile", 4, 1, 1), what="dma")
    if way == "places":
        g.place(a.outs[0], address(4, 0, 0), what="buffer")
        g.place(b.ins[0], address(4, 1, 0), what="buffer")
    net = net_of(planned(g), a.outs[0])
    assert net.transport == "stream"
    assert net.sources[0].blocks is not None
    assert all(end.channel >= 0 and end.blocks for end in net.targets)


def test_a_chain_of_cascades_goes_east_then_south() -> None:
    """AM020 chapter 4: a cascade goes to the east or to the south."""
    g = Sketch()
    count = 7
    kernels = [
        g.kernel(
            f"k{n}",
            [buffer("int32", 16)] if n == 0 else [cascade()],
            [buffer("int32", 16)] if n == count - 1 else [cascade()],
        )
        for n in range(count)
    ]
    line(g, *kernels)
    plan = planned(g, "npu1")  # four columns, four rows: at most seven in a path
    assert len({kernel.tile for kernel in plan.kernels}) == count


def test_a_cascade_meets_the_place_of_its_last_kernel() -> None:
    g = Sketch()
    first = g.kernel("first", [buffer("int32", 16)], [cascade()])
    middle = g.kernel("middle", [cascade()], [cascade()])
    last = g.kernel("last", [cascade()], [buffer("int32", 16)])
    line(g, first, middle, last)
    g.place(last, tile(3, 0))
    plan = planned(g)
    assert kernel_of(plan, last).tile == (3, 3)


def test_relative_places_move_together() -> None:
    """UG1079, Relative Constraints, with the other kernel placed and with both open."""
    for placed in (True, False):
        g = Sketch()
        a, b = relay(g, "a"), relay(g, "b")
        line(g, a)
        line(g, b)
        g.place(b, beside(a, 2, 1))
        if placed:
            g.place(a, tile(7, 0))
        plan = planned(g)
        one, other = kernel_of(plan, a).tile, kernel_of(plan, b).tile
        assert (other[0] - one[0], other[1] - one[1]) == (2, 1)
        assert not placed or one == (7, 3)


def test_kernels_of_a_graph_lie_in_its_area_and_others_do_not() -> None:
    g = Sketch()
    inner = g.graph("inner")
    inside = [relay(g, f"i{n}", graph=inner) for n in range(3)]
    outside = relay(g, "o")
    for kernel in (*inside, outside):
        line(g, kernel)
    g.place(inner, area(0, 0, 0, 7), what="graph", exclusive=True)
    plan = planned(g)
    spots = [kernel_of(plan, kernel).tile for kernel in inside]
    column = {(0, row) for row in range(3, 11)}
    assert set(spots) < column
    assert kernel_of(plan, outside).tile not in column


def test_not_equal_keeps_kernels_apart() -> None:
    g = Sketch()
    a, b = (relay(g, name, runtime_ratio=0.1) for name in "ab")
    line(g, a, b)
    g.not_equal(a, b)
    plan = planned(g)
    assert kernel_of(plan, a).tile != kernel_of(plan, b).tile


def test_places_of_buffers_stacks_and_parameters_are_kept() -> None:
    """UG1603, Buffer Location Constraints: addresses, a bank of 16 KB, an offset, the place of the kernel."""
    g = Sketch()
    k = g.kernel(
        "k", [buffer("int32", 64), parameter("int32", 8)], [buffer("int32", 64), buffer("int32", 64)]
    )
    g.connect(g.plio("in"), k.ins[0])
    g.connect(g.graph_port("value", "in"), k.ins[1], "parameter")
    for port in k.outs:
        g.connect(port, g.plio(f"out{port}", "out"))
    g.place(k, tile(3, 0))
    g.place(k.ins[0], address(3, 0, 0), address(3, 0, 0x2000), what="buffer")
    g.place(k.outs[0], beside(k), what="buffer")
    g.place(k.outs[1], bank(3, 1, 2), bank(3, 1, 3), what="buffer")
    g.place(k.ins[1], offset(0x600), what="parameter")
    g.place(k, bank(3, 0, 2), what="stack")
    plan = planned(g)
    assert plan.nets[0].targets[0].blocks.offsets == (0, 0x2000)
    assert plan.nets[1].sources[0].blocks.tile == (3, 3)
    there = plan.nets[2].sources[0].blocks
    assert (there.tile, there.offsets) == ((3, 4), (0x8000, 0xC000))
    assert plan.parameters[k.ins[1]].offsets[0] == 0x600
    stack = kernel_of(plan, k).stack
    assert stack is not None
    assert stack.offsets[0] // 0x4000 == 2


def test_ping_pong_that_fills_a_memory_sends_the_stack_next_door() -> None:
    """XD100 tutorial 13: 64 KB of buffers leave no room for the stack (DEV-ADF-15)."""
    g = Sketch()
    k = relay(g, "k", 4096)
    line(g, k)
    g.place(k, tile(3, 1))
    g.place(k.ins[0], address(3, 1, 0), address(3, 1, 0x4000), what="buffer")
    g.place(k.outs[0], address(3, 1, 0x8000), address(3, 1, 0xC000), what="buffer")
    stack = kernel_of(planned(g), k).stack
    assert stack is not None
    assert stack.tile in {(3, 3), (3, 5), (2, 4)}


def test_a_third_input_has_a_channel_of_a_neighbour() -> None:
    """A compute tile has two channels each way; a core reaches the memories of three neighbours."""
    g = Sketch()
    k = g.kernel("k", [buffer("int32", 64)] * 5, [buffer("int32", 64)])
    for n, port in enumerate(k.ins):
        g.connect(g.plio(f"in{n}"), port)
    g.connect(k.outs[0], g.plio("out", "out"))
    g.place(k, tile(3, 1))
    plan = planned(g)
    tiles = [net.targets[0].blocks.tile for net in plan.nets[:5]]
    assert tiles.count((3, 4)) == 2
    assert len(set(tiles)) == 3


def test_channels_are_the_lowest_unless_the_user_says() -> None:
    """XD100 tutorial 07, DMA channels: the first in and the first out get channel 0 (DEV-ADF-18)."""
    g = Sketch()
    m = g.shared("m", "int32", (64,), 2, 2)
    for n, port in enumerate(m.ins):
        g.connect(g.plio(f"in{n}"), port)
    for n, port in enumerate(m.outs):
        g.connect(port, g.plio(f"out{n}", "out"))
    open_ = planned(g)
    assert [net.targets[0].channel for net in open_.nets[:2]] == [0, 1]
    assert [net.sources[0].channel for net in open_.nets[2:]] == [0, 1]
    g.place(m, address(5, 0, 0), what="buffer")
    g.place(m.ins[1], dma("memory_tile", 5, 0, 0), what="dma")
    g.place(m.outs[0], dma("memory_tile", 5, 0, 5), what="dma")
    plan = planned(g)
    assert [net.targets[0].channel for net in plan.nets[:2]] == [1, 0]
    assert [net.sources[0].channel for net in plan.nets[2:]] == [5, 0]


def test_many_descriptors_go_to_the_other_parity() -> None:
    """DEV-ADF-18: even channels have 24 descriptors, odd ones 24 more (AM020 chapter 5)."""
    g = Sketch()
    tilings = [Tiling(tiling_dimension=(4,), offset=(4 * n,)) for n in range(16)]
    m = g.shared("m", "int32", (64,), [tilings], [tilings])
    g.connect(g.plio("in"), m.ins[0])
    g.connect(m.outs[0], g.plio("out", "out"))
    plan = planned(g)
    assert [plan.nets[0].targets[0].channel, plan.nets[1].sources[0].channel] == [0, 1]


@pytest.mark.parametrize(("elements", "buffers", "tiles"), [(65_536, 2, 1), (131_072, 2, 2), (262_144, 1, 2)])
def test_two_buffers_or_a_large_one_take_two_tiles(elements: int, buffers: int, tiles: int) -> None:
    """UG1603 2025.2, Shared Buffer Location: ping and pong in neighbours, at 0; one buffer up to 1 MB."""
    g = Sketch()
    m = g.shared("m", "int32", (elements,), 1, 1, num_buffers=buffers)
    other = g.shared("other", "int32", (1024,), 1, 1)
    g.connect(g.plio("in"), m.ins[0])
    g.connect(m.outs[0], other.ins[0])
    g.connect(other.outs[0], g.plio("out", "out"))
    plan = planned(g)
    blocks = plan.memories[0].blocks
    assert blocks is not None
    if tiles == 1:
        assert (blocks.tiles, blocks.offsets) == ((), (0, 4 * elements))
    elif buffers == 2:
        (column, row), east = blocks.tile, blocks.tiles[1]
        assert (blocks.offsets, east) == ((0, 0), (column + 1, row))
    else:
        assert blocks.nbytes == 1 << 20


def test_gmio_has_columns_with_a_dma_and_plio_the_places_of_its_user() -> None:
    g = Sketch()
    k = relay(g, "k")
    source, sink = g.gmio("in"), g.plio("out", "out", 128)
    g.connect(source, k.ins[0])
    g.connect(k.outs[0], sink)
    g.place(g.owner(sink), shim(9, 4), what="PLIO")
    plan = planned(g)
    assert plan.nets[0].sources[0].tile[0] in device(BIG).noc_columns
    assert (plan.nets[1].targets[0].tile, plan.nets[1].targets[0].shim_port) == ((9, 0), 4)
    assert plan.columns == 10


def test_a_wide_plio_and_a_dma_share_no_port() -> None:
    """DEV-ADF-16: a stream of 128 bits is two of 64 (AM020 chapter 6); port 3 is the DMA's."""
    g = Sketch()
    k = g.kernel("k", [buffer("int32", 8)] * 4, [buffer("int32", 8)])
    sources = [g.gmio("g"), *(g.plio(f"p{n}", width=128) for n in range(3))]
    for source, port in zip(sources, k.ins, strict=True):
        g.connect(source, port)
    g.connect(k.outs[0], g.plio("out", "out"))
    for source in sources:
        g.place(g.owner(source), shim(2), what="GMIO" if source == sources[0] else "PLIO")
    plan = planned(g)
    assert [net.sources[0].shim_port for net in plan.nets[:4]] == [-1, 0, 4, 6]


def test_packets_have_the_numbers_of_their_ways() -> None:
    """DEV-ADF-19: identifiers by index, as in the x86 simulator (UG1603)."""
    g = Sketch()
    split, merge = g.packets("split", "sp", 3), g.packets("merge", "me", 3)
    kernels = [relay(g, f"k{n}") for n in range(3)]
    g.connect(g.plio("in"), split.ins[0])
    for n, kernel in enumerate(kernels):
        g.connect(split.outs[n], kernel.ins[0])
        g.connect(kernel.outs[0], merge.ins[n])
    g.connect(merge.outs[0], g.plio("out", "out"))
    plan = planned(g)
    there, back = plan.nets
    assert [(e.branch, e.packet_id) for e in there.targets] == [(0, 0), (1, 1), (2, 2)]
    assert [(e.branch, e.packet_id) for e in back.sources] == [(0, 0), (1, 1), (2, 2)]
    assert there.sources[0].elements == 3 * 64
    assert (there.packets, back.packets) == ((split.id,), (merge.id,))


def test_a_stream_goes_to_all_its_targets() -> None:
    g = Sketch()
    a = g.kernel("a", [buffer("int32", 64)], [stream()])
    b, c = (g.kernel(name, [stream()], [buffer("int32", 64)]) for name in "bc")
    g.connect(g.plio("in"), a.ins[0])
    for kernel in (b, c):
        g.connect(a.outs[0], kernel.ins[0], fifo_depth=kernel.id)
        g.connect(kernel.outs[0], g.plio(f"out{kernel.id}", "out"))
    net = net_of(planned(g), a.outs[0])
    assert [end.port for end in net.targets] == [b.ins[0], c.ins[0]]
    assert (net.transport, net.fifo_depth) == ("stream", c.id)
    assert {end.channel for end in net.targets} == {-1}


def test_a_column_has_no_more_ways_than_its_switches() -> None:
    """XD100, tutorial 04: 64 kernels between memory tiles. Four circuits lead down a column (AM020)."""
    g = Sketch()
    for n in range(3):
        into = g.shared(
            f"in{n}", "int32", (256,), [[]], [[Tiling((256,), (64,), (64 * k,))] for k in range(4)]
        )
        out = g.shared(
            f"out{n}", "int32", (256,), [[Tiling((256,), (64,), (64 * k,))] for k in range(4)], [[]]
        )
        g.connect(g.plio(f"from{n}"), into.ins[0])
        g.connect(out.outs[0], g.plio(f"to{n}", "out"))
        for k in range(4):
            one = g.kernel(f"k{n}_{k}", [buffer("int32", 64)], [buffer("int32", 64)])
            g.connect(into.outs[k], one.ins[0])
            g.connect(one.outs[0], out.ins[k])
    columns = Counter(each.tile[0] for each in planned(g).kernels)
    assert max(columns.values()) == 4


@pytest.mark.parametrize("is_here", [True, False], ids=["graph", "kernel"])
def test_tables_lie_in_reach_of_each_kernel_that_reads_them(is_here: bool) -> None:
    """Whether the graph's source defines them or a kernel's."""
    g = Sketch()
    table = g.table("lut", "int16", 512, is_here)
    a, b = (relay(g, name, tables=(table,)) for name in "ab")
    line(g, a)
    line(g, b)
    plan = planned(g)
    assert {key: blocks.nbytes for key, blocks in plan.tables.items()} == {
        (a.id, table): 1024,
        (b.id, table): 1024,
    }


def snake(width: int, height: int, *, places: bool = True) -> Sketch:
    """The 400 kernels of the public project aie4ml_project1, basic-data-movement/snake, (50 by 8)."""
    g = Sketch()
    kernels = [
        g.kernel(f"move[{n}]", [buffer("int32", 16, single=True)], [buffer("int32", 16, single=True)])
        for n in range(width * height)
    ]
    line(g, *kernels)
    for n, kernel in enumerate(kernels if places else ()):
        row = height - 1 - n // width
        column = n % width if row % 2 else width - 1 - n % width
        g.place(kernel, tile(column, row))
        g.place(kernel, address(column, row, 24_576), what="stack")
    return g


def test_the_snake_is_refused_where_it_does_not_fit_and_fills_a_device_where_it_does() -> None:
    with pytest.raises(DesignError, match="has no core at \\(38, 7\\)") as info:
        plan_of(snake(50, 8).description(), BIG)
    assert len(info.value.problems) == 12 * 8
    began = time.process_time()
    plan = planned(snake(38, 8))
    assert time.process_time() - began < 5
    assert [net.transport for net in plan.nets[1:-1]] == ["memory"] * (38 * 8 - 1)


def test_a_snake_without_places_finds_its_way() -> None:
    plan = planned(snake(36, 4, places=False), "xc2ve3858")
    assert len({kernel.tile for kernel in plan.kernels}) == 144
    assert [net.transport for net in plan.nets].count("memory") > 100


def test_two_plans_of_one_description_are_equal() -> None:
    """DEV-ADF-13: nothing is drawn."""
    assert planned(snake(6, 4, places=False)) == planned(snake(6, 4, places=False))


@st.composite
def sketches(draw: st.DrawFn) -> Sketch:
    """Graphs without loops: kernels with buffers, streams and shared buffers between PLIO and GMIO."""
    g = Sketch()
    ends: list[int] = [g.plio("in0", width=draw(st.sampled_from([32, 64, 128]))), g.gmio("in1")]
    for n in range(draw(st.integers(1, 8))):
        size = draw(st.sampled_from([16, 32, 48, 512]))
        inputs = draw(st.integers(1, 2))
        single, ratio = draw(st.booleans()), draw(st.sampled_from([0.3, 0.6, 0.9]))
        if draw(st.integers(0, 3)) == 0:
            made = g.shared(f"m{n}", "int32", (size,), 1, draw(st.integers(1, 3)), num_buffers=1 + single)
        else:
            outs = [buffer("int32", size, single=single)] * draw(st.integers(1, 2))
            made = g.kernel(f"k{n}", [buffer("int32", size)] * inputs, outs, runtime_ratio=ratio)
        for port in made.ins:
            source = draw(st.sampled_from(ends)) if n else ends[0]
            g.connect(source, port)
        ends = [*made.outs, ends[1]] if n == 0 else [*ends, *made.outs]
    used = {c.source for c in g.description().connections}
    for number, end in enumerate(ends):
        if end not in used:
            g.connect(end, g.plio(f"out{number}", "out"))
    return g


@settings(max_examples=25, deadline=None)
@given(sketches(), st.sampled_from(["xcve2802", "xcve2302", "xc2ve3858"]))
def test_no_plan_breaks_a_rule(sketch: Sketch, name: str) -> None:
    plan, reasons = outcome(sketch, name)
    assert reasons <= {"unequal_volumes", "no_channel"}
    assert plan is None or faults(plan) == []


def outcome(sketch: Sketch, name: str) -> tuple[Plan | None, set[str]]:
    """The plan of a sketch, or the reasons why there is none."""
    try:
        return plan_of(sketch.description(), name), set()
    except DesignError as error:
        return None, {problem.reason for problem in error.problems}


def test_shared_buffers_lie_relative_to_open_ones() -> None:
    """UG1079, Relative Constraints: shared buffers take steps of columns; chains are found in any order."""
    g = Sketch()
    made = [g.shared(f"m{n}", "int32", (64,), 1, 1) for n in range(3)]
    for m in made:
        g.connect(g.plio(f"in{m.id}"), m.ins[0])
        g.connect(m.outs[0], g.plio(f"out{m.id}", "out"))
    g.place(made[0], beside(made[1], 1, 0, what="buffer"), what="buffer")
    g.place(made[1], beside(made[2], 2, 0, what="buffer"), what="buffer")
    columns = [m.blocks.tile[0] for m in planned(g).memories if m.blocks]
    assert (columns[0] - columns[1], columns[1] - columns[2]) == (1, 2)


def test_buffers_that_not_equal_names_share_no_bank() -> None:
    """In public designs for the sums and factors of a matrix product: not_equal of two inputs' buffers."""
    g = Sketch()
    k = g.kernel("k", [buffer("int32", 256)] * 2, [buffer("int32", 4096)])  # which fills two banks
    for n, port in enumerate(k.ins):
        g.connect(g.plio(f"in{n}"), port)
    g.connect(k.outs[0], g.plio("out", "out"))
    g.place(k, tile(3, 0))
    g.not_equal(*(Made(port) for port in k.ins))
    plan = planned(g)
    blocks = [net.targets[0].blocks for net in plan.nets[:2]]
    banks = [{(b.tile, start // 0x4000) for start in b.offsets} for b in blocks]
    assert not banks[0] & banks[1]


def test_a_buffer_lies_where_another_one_does() -> None:
    g = Sketch()
    k = relay(g, "k")
    line(g, k)
    g.place(k, tile(3, 1))
    g.place(k.ins[0], beside(k.outs[0], what="buffer"), what="buffer")
    g.place(k.outs[0], bank(2, 1, 0), bank(2, 1, 1), what="buffer")
    plan = planned(g)
    assert plan.nets[0].targets[0].blocks.tile == (2, 4)


def test_a_plio_lies_where_another_one_does() -> None:
    g = Sketch()
    k = relay(g, "k")
    source, sink = g.plio("in"), g.plio("out", "out")
    g.connect(source, k.ins[0])
    g.connect(k.outs[0], sink)
    g.place(g.owner(source), beside(g.owner(sink), 3, 0, what="PLIO"), what="PLIO")
    g.place(g.owner(sink), shim(9), what="PLIO")
    plan = planned(g)
    assert plan.nets[0].sources[0].tile == (12, 0)


def test_kernels_of_one_core_share_the_largest_stack() -> None:
    """DEV-ADF-14: the largest stack and the largest heap that one of them asks for."""
    g = Sketch()
    a, b = (relay(g, f"k{n}", runtime_ratio=0.4, stack_size=2048 + 1024 * n, heap_size=256) for n in range(2))
    line(g, a, b)
    plan = planned(g)
    assert {(k.tile, k.stack_bytes) for k in plan.kernels} == {((0, 3), 3072)}
    assert [k.stack.nbytes for k in plan.kernels if k.stack] == [3328, 3328]


def test_doors_are_near_to_what_uses_them() -> None:
    """DEV-ADF-17: in its column, as long as the switch has ways: six into the array, four out of it."""
    g = Sketch()
    kernels = [relay(g, f"k{n}") for n in range(7)]
    for n, kernel in enumerate(kernels):
        line(g, kernel)
        g.place(kernel, tile(9, n))
    plan = planned(g)
    into = [net.sources[0].tile[0] for net in plan.nets if net.sources[0].shim_port >= 0]
    out = [net.targets[0].tile[0] for net in plan.nets if net.targets[0].shim_port >= 0]
    assert (into.count(9), out.count(9)) == (6, 4)
    assert set(into + out) <= {8, 9, 10}


def test_a_shared_buffer_lies_near_its_kernels() -> None:
    """DEV-ADF-21: in their column, in the lower of two rows, the pong behind the ping."""
    g = Sketch()
    k, m = relay(g, "k"), g.shared("m", "int32", (64,), 1, 1, num_buffers=2)
    g.connect(g.plio("in"), m.ins[0])
    g.connect(m.outs[0], k.ins[0])
    g.connect(k.outs[0], g.plio("out", "out"))
    g.place(k, tile(12, 5))
    blocks = planned(g).memories[0].blocks
    assert blocks is not None
    assert (blocks.tile, blocks.offsets) == ((12, 1), (0, 256))


@pytest.mark.parametrize(("single", "copies"), [(False, 2), (True, 1)])
def test_values_of_parameters_are_double(single: bool, copies: int) -> None:
    """DEV-ADF-22; UG1079, Buffer Allocation Control."""
    g = Sketch()
    k = g.kernel("k", [buffer("int32", 64), parameter("int16", 12, single=single)], [buffer("int32", 64)])
    line(g, k)
    g.connect(g.graph_port("value", "in"), k.ins[1], "parameter")
    blocks = planned(g).parameters[k.ins[1]]
    assert (len(blocks.offsets), blocks.nbytes) == (copies, 24)


def test_chains_that_fill_an_area_are_found_by_the_solver() -> None:
    """Two chains of cascades whose members are tied to each other by steps: not one after the other."""
    g = Sketch()
    inner = g.graph("inner")
    chains = []
    for name in "ab":
        first = g.kernel(f"{name}0", [buffer("int32", 16)], [cascade()], graph=inner)
        last = g.kernel(f"{name}1", [cascade()], [buffer("int32", 16)], graph=inner)
        line(g, first, last)
        chains.append((first, last))
    g.place(chains[1][0], beside(chains[0][1], -1, 1))
    g.place(inner, area(4, 0, 5, 2), what="graph")
    plan = planned(g)
    assert len({kernel.tile for kernel in plan.kernels}) == 4


def test_a_buffer_over_two_tiles_has_four_channels() -> None:
    """AM020 chapter 5: channels 0 to 3 reach the neighbours, so that a fifth port does not fit."""
    for ports, fits in ((4, True), (5, False)):
        g = Sketch()
        m = g.shared("m", "int32", (131_072,), 1, ports, num_buffers=2)
        g.connect(g.plio("in"), m.ins[0])
        for port in m.outs:
            g.connect(port, g.plio(f"out{port}", "out"))
        plan, reasons = outcome(g, BIG)
        assert (plan is not None) == fits
        assert reasons == (set() if fits else {"no_channel"})


def test_ports_of_an_external_buffer_have_channels_of_interface_tiles() -> None:
    """UG1603: the interface tile's DMA walks an external buffer; it has two channels each way."""
    g = Sketch()
    tilings = [Tiling(tiling_dimension=(32,), offset=(32 * n,)) for n in range(2)]
    far = g.shared("far", "int32", (64,), 1, [[tilings[0]], [tilings[1]], tilings], external=True)
    kernels = [relay(g, f"k{n}", 32) for n in range(3)]
    g.connect(g.plio("in"), far.ins[0])
    for port, kernel in zip(far.outs, kernels, strict=True):
        g.connect(port, kernel.ins[0])
        g.connect(kernel.outs[0], g.plio(f"out{port}", "out"))
    g.place(far.outs[1], dma("shim_tile", 6, 0, 1), what="dma")
    plan = planned(g)
    ends = [net_of(plan, port).sources[0] for port in far.outs]
    assert {end.tile[0] for end in ends} <= set(device(BIG).noc_columns)
    assert (ends[1].tile, ends[1].channel) == ((6, 0), 1)
    assert [(end.elements, end.turns) for end in ends] == [(32, 1), (32, 1), (64, 1)]
    assert [kernel.repetition for kernel in plan.kernels] == [1, 1, 2]
    assert [(memory.blocks, memory.turns) for memory in plan.memories] == [(None, 1)]


def test_margins_lie_before_each_block() -> None:
    g = Sketch()
    k = g.kernel("k", [buffer("int32", 64, margin=8), buffer("int32", 64)], [buffer("int32", 64)])
    g.connect(g.plio("in"), k.ins[0])
    g.connect(g.plio("in2"), k.ins[1], "window", bytes=256, margin=16)
    g.connect(k.outs[0], g.plio("out", "out"))
    plan = planned(g)
    assert [net.targets[0].blocks.nbytes for net in plan.nets[:2]] == [4 * 72, 4 * 80]
    assert [net.targets[0].elements for net in plan.nets[:2]] == [64, 64]


def test_notes_name_what_was_chosen() -> None:
    g = Sketch()
    a, b = relay(g, "a", 128), g.kernel("b", [buffer("float", 192)], [buffer("float", 192)])
    m = g.shared("m", "float", (384,), 1, 1)
    g.connect(g.plio("in"), a.ins[0])
    g.connect(a.outs[0], b.ins[0])
    g.connect(b.outs[0], m.ins[0])
    g.connect(m.outs[0], g.plio("out", "out"))
    g.place(a, tile(3, 0))
    g.place(a.ins[0], *(address(3, 0, n * 0x1000) for n in range(3)), what="buffer")
    assert planned(g).notes == (
        "gr.a runs 3 times in an iteration of the graph.",
        "gr.b runs 2 times in an iteration of the graph.",
        "gr.b lies in tile(2, 0).",
        "gr.m lies in memory tile (2, 0) at 0x0.",
        "gr.a.out[0] has int32, gr.b.in[0] float: bits pass unchanged.",
        "gr.a.in[0] has 2 of the 3 buffers that its location names.",
    )


def test_an_array_of_a_kernels_class_lies_where_the_user_says() -> None:
    """location<parameter>(k.param[0]) of REGISTER_PARAMETER: a place without a connection, and one copy."""
    g = Sketch()
    k = g.kernel("k", [buffer("int32", 64), parameter("int16", 512, is_member=True)], [buffer("int32", 64)])
    line(g, k)
    g.place(k, tile(3, 0))
    g.place(k.ins[1], bank(3, 1, 2), what="parameter")
    blocks = planned(g).parameters[k.ins[1]]
    assert (blocks.tile, blocks.offsets, blocks.nbytes) == ((3, 4), (0x8000,), 1024)


def test_kernels_whose_buffers_fill_memories_keep_apart() -> None:
    """DEV-ADF-13; XD100 tutorial 13, version 1: 64 KB of ping-pong each, no place given."""
    g = Sketch()
    m = g.shared("m", "bfloat16", (256, 384), 1, 1)
    big, one, two = (buffer("bfloat16", n) for n in (64 * 256, 1, 2))
    mean = g.kernel("mean", [big], [one])
    deviation, norm = g.kernel("deviation", [big, one], [two]), g.kernel("norm", [big, two], [big])
    g.connect(g.plio("in"), m.ins[0])
    for kernel in (mean, deviation, norm):
        g.connect(m.outs[0], kernel.ins[0])
    g.connect(mean.outs[0], deviation.ins[1])
    g.connect(deviation.outs[0], norm.ins[1])
    g.connect(norm.outs[0], g.plio("out", "out"))
    assert [kernel.repetition for kernel in planned(g).kernels] == [6, 6, 6]


def test_a_chain_of_cascades_whose_buffers_fill_memories_lies_inside_the_array() -> None:
    """DEV-ADF-13; XD100 tutorial 13, versions 3 and 4: a core at the edge reaches fewer memories."""
    g = Sketch()
    big = buffer("bfloat16", 64 * 256)
    first, last = g.kernel("first", [big], [cascade(), big]), g.kernel("last", [cascade(), big], [big])
    g.connect(g.plio("in"), first.ins[0])
    g.connect(g.plio("in2"), last.ins[1])
    g.connect(first.outs[0], last.ins[0])
    for kernel, port in ((first, first.outs[1]), (last, last.outs[0])):
        g.connect(port, g.plio(f"out{kernel.id}", "out"))
    plan = planned(g)
    assert all(kernel.tile[0] > 0 and 3 < kernel.tile[1] < 10 for kernel in plan.kernels[:1])
