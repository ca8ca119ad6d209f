"""Is a graph that contradicts itself or the device refused by name, with the user's lines and all at once?"""

from __future__ import annotations

import pytest

from memtile.adf.planning import plan_of
from memtile.errors import DesignError
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
    packet_stream,
    parameter,
    shim,
    stream,
    tile,
)


def messages(sketch: Sketch, device: str = "xcve2802") -> list[str]:
    with pytest.raises(DesignError) as info:
        plan_of(sketch.description(), device)
    return info.value.messages


def relay(g: Sketch, name: str = "k", size: int = 64, **more: object) -> Made:
    return g.kernel(name, [buffer("int32", size)], [buffer("int32", size)], **more)


def single(size: int = 64, **more: object) -> tuple[Sketch, Made]:
    """A kernel between two PLIO."""
    g = Sketch()
    k = relay(g, "k", size, **more)
    g.connect(g.plio("in"), k.ins[0])
    g.connect(k.outs[0], g.plio("out", "out"))
    return g, k


def shared(**more: object) -> tuple[Sketch, Made]:
    """A shared buffer between two PLIO."""
    g = Sketch()
    m = g.shared("m", "int32", (64,), 1, 1, **more)
    g.connect(g.plio("in"), m.ins[0])
    g.connect(m.outs[0], g.plio("out", "out"))
    return g, m


def test_ports_without_a_connection_are_named() -> None:
    g = Sketch()
    relay(g)
    inner = g.graph_port("entry", "in")
    g.connect(g.plio("in"), inner)
    assert messages(g) == [
        "graph.h:4, gr.in.out[0]: the port leads to no input (UG1603: connections of a graph). Connect it, "
        "or leave it out of the graph.",
        "graph.h:1, gr.k.in[0]: the port is not connected (UG1603: connections of a graph). Connect it, or "
        "leave it out of the graph.",
        "graph.h:1, gr.k.out[0]: the port is not connected (UG1603: connections of a graph). Connect it, or "
        "leave it out of the graph.",
    ]


def test_a_port_of_a_graph_that_nothing_feeds() -> None:
    g = Sketch()
    k = relay(g)
    g.connect(g.graph_port("entry", "in"), k.ins[0])
    g.connect(k.outs[0], g.plio("out", "out"))
    assert messages(g) == [
        "graph.h:3, entry.in[0]: the port has no source (UG1603: connections of a graph). Connect it, or "
        "leave it out of the graph."
    ]


def test_two_sources_of_one_port() -> None:
    g, k = single()
    g.connect(g.plio("other"), k.ins[0])
    assert messages(g) == [
        "graph.h:7, gr.k.in[0]: the port has 2 sources: gr.in.out[0] (graph.h:3), gr.other.out[0] "
        "(graph.h:7) (UG1603: connections of a graph). Connect one of them, or merge them with pktmerge."
    ]


def test_a_connection_the_wrong_way_round() -> None:
    g = Sketch()
    k = relay(g)
    g.connect(k.ins[0], g.plio("out", "out"))
    g.connect(g.plio("in"), k.outs[0])
    assert messages(g) == [
        "graph.h:3, gr.k.in[0]: gr.k.in[0] is the source of a connection, but it is an input (UG1603: "
        "connections of a graph). Swap the two ports of connect.",
        "graph.h:5, gr.k.out[0]: gr.k.out[0] is the target of a connection, but it is an output (UG1603: "
        "connections of a graph). Swap the two ports of connect.",
    ]


@pytest.mark.parametrize(
    ("source", "target", "sentence"),
    [
        (cascade(), stream(), "gr.a.out[0] is a cascade, gr.b.in[0] a stream"),
        (parameter(), buffer("int32", 1), "gr.a.out[0] is a parameter, gr.b.in[0] a buffer"),
        (packet_stream(), stream(), "gr.a.out[0] is a packet stream, gr.b.in[0] a stream"),
    ],
)
def test_kinds_that_do_not_match(source: dict[str, object], target: dict[str, object], sentence: str) -> None:
    g = Sketch()
    g.connect(g.kernel("a", [], [source]).outs[0], g.kernel("b", [target]).ins[0])
    found = messages(g)
    assert len(found) == 1
    assert found[0].startswith(f"graph.h:3, gr.b.in[0]: the two ports do not match: {sentence} (UG1603")


def test_a_parameter_between_kernels() -> None:
    g = Sketch()
    g.connect(g.kernel("a", [], [parameter()]).outs[0], g.kernel("b", [parameter()]).ins[0])
    assert messages(g) == [
        "graph.h:3, gr.b.in[0]: a parameter comes from gr.a.out[0]; parameters pass between the host and "
        "kernels only (UG1603: connections of a graph). Use a buffer or a stream between kernels."
    ]


def test_elements_of_different_sizes() -> None:
    """DEV-ADF-10: types of one size may meet, as streams of 32 bits do."""
    g = Sketch()
    a, b = g.kernel("a", [], [buffer("int16", 64)]), g.kernel("b", [buffer("int32", 64)])
    g.connect(a.outs[0], b.ins[0])
    assert messages(g) == [
        "graph.h:3, gr.b.in[0]: elements differ: gr.a.out[0] has int16 (2 bytes), gr.b.in[0] int32 (4 "
        "bytes) (UG1603: connections of a graph). Use one element type at both ends."
    ]
    g = Sketch()
    a, b = g.kernel("a", [], [buffer("cint16", 64)]), g.kernel("b", [buffer("int32", 64)])
    g.connect(a.outs[0], b.ins[0])
    assert plan_of(g.description(), "xcve2802").nets[0].element_bytes == 4


def test_a_buffer_without_a_size() -> None:
    g = Sketch()
    k = g.kernel("k", [buffer("int32")])
    g.connect(g.plio("in"), k.ins[0])
    assert messages(g) == [
        "graph.h:1, gr.k.in[0]: the size of the buffer is not given (UG1603: Buffer Port Attributes). Give "
        "dimensions(gr.k.in[0]) = {N}, or extents in the kernel's parameter."
    ]


def test_volumes_that_differ() -> None:
    g = Sketch()
    a = relay(g, "a", 128, repetition=2)
    b = relay(g, "b", 192, repetition=2)
    g.connect(g.plio("in"), a.ins[0])
    g.connect(a.outs[0], b.ins[0])
    g.connect(b.outs[0], g.plio("out", "out"))
    assert messages(g) == [
        "graph.h:5, gr.b.in[0]: gr.a.out[0] passes 256 elements in an iteration (2 x 128), gr.b.in[0] "
        "passes 384 elements in an iteration (2 x 192): the volumes of both ends differ (UG1603: "
        "Multi-Level Data Access). Change the dimensions, the tilings or the repetition counts so that both "
        "are equal."
    ]


def test_a_count_that_makes_others_broken() -> None:
    g = Sketch()
    a, b = relay(g, "a", 128, repetition=1), relay(g, "b", 256)
    g.connect(g.plio("in"), a.ins[0])
    g.connect(a.outs[0], b.ins[0])
    g.connect(b.outs[0], g.plio("out", "out"))
    assert messages(g) == [
        "graph.h:2, gr.b: gr.b would run 0.5 times in an iteration, from the given counts: gr.a 1 (UG1079: "
        "Multirate). Set repetition_count(gr.a) = 2, or leave the counts out: memtile computes the smallest "
        "ones."
    ]


def test_many_counts_that_make_others_broken_have_no_names() -> None:
    g = Sketch()
    a, b = relay(g, "a", 128, repetition=1), relay(g, "b", 256)
    g.connect(g.plio("in"), a.ins[0])
    g.connect(a.outs[0], b.ins[0])
    g.connect(b.outs[0], g.plio("out", "out"))
    for n in range(4):
        other = relay(g, f"c{n}", 16, repetition=1)
        g.connect(g.plio(f"in{n}"), other.ins[0])
        g.connect(other.outs[0], g.plio(f"out{n}", "out"))
    (message,) = messages(g)
    assert "from the given counts: those of 5 kernels and buffers (" in message
    assert "Set 2 times the given counts, or leave" in message


def test_packets_behind_packets_and_beside_data() -> None:
    g = Sketch()
    one, other = g.packets("split", "one", 2), g.packets("split", "other", 2)
    kernels = [relay(g, f"k{n}") for n in range(3)]
    source = g.plio("in")
    g.connect(source, one.ins[0])
    g.connect(one.outs[0], other.ins[0])
    for port, kernel in zip((one.outs[1], *other.outs), kernels, strict=True):
        g.connect(port, kernel.ins[0])
        g.connect(kernel.outs[0], g.plio(f"out{kernel.id}", "out"))
    extra = relay(g, "extra")
    g.connect(source, extra.ins[0])
    g.connect(extra.outs[0], g.plio("outx", "out"))
    merge, more = g.packets("merge", "mg", 2), g.packets("split", "more", 3)
    for n in (0, 1):
        g.connect(g.plio(f"in{n}"), merge.ins[n])
    g.connect(merge.outs[0], more.ins[0])
    for n in range(3):
        g.connect(more.outs[n], g.plio(f"way{n}", "out"))
    assert messages(g) == [
        "graph.h:7, gr.in.out[0]: gr.in.out[0] leads to several targets, and one of them takes packets: "
        "gr.one.in[0], gr.extra.in[0] (UG1603: Packet Processing). Connect the packet object alone.",
        "graph.h:8, gr.one.out[0]: gr.one.out[0] leads into gr.other; headers have one identifier, so no "
        "split can follow a split (UG1603: Packet Processing). Use one split or merge with more ways.",
        "graph.h:28, gr.mg.out[0]: gr.mg has 2 inputs, gr.more 3 outputs; packets of input i leave by output "
        "i (UG1603: Packet Processing). Give both the same number of ways; an output may have several "
        "targets.",
    ]


def test_places_that_the_device_does_not_have() -> None:
    g, k = single()
    m = g.shared("m", "int32", (64,), 1, 1)
    g.connect(g.plio("in2"), m.ins[0])
    g.connect(m.outs[0], g.plio("out2", "out"))
    g.place(k, tile(17, 2))
    found = messages(g, "xcve2302")
    assert found == [
        "graph.h:11, gr.k: xcve2302 has no core at (17, 2); its cores have columns 0 to 16 and rows 0 to 1 "
        "(UG1603: Location Constraints). Change the location, or choose a larger device."
    ]
    g, m = shared()
    g.place(m, address(3, 1, 0), what="buffer")
    g.place(2, shim(20), what="PLIO")
    assert messages(g, "xcve2302") == [
        "graph.h:6, gr.m: xcve2302 has no memory tile at (3, 1); its memory tiles have columns 0 to 16 and "
        "rows 0 to 0 (UG1603: Shared Buffers Constraint). Change the location, or choose a larger device.",
    ]


def test_ratios_above_one_in_one_core() -> None:
    """DEV-ADF-12: exactly 1 is allowed where the user places the kernels."""
    for ratio, fits in ((0.5, True), (0.6, False)):
        g = Sketch()
        a, b = (relay(g, name, runtime_ratio=ratio) for name in "ab")
        g.connect(g.plio("in"), a.ins[0])
        g.connect(a.outs[0], b.ins[0])
        g.connect(b.outs[0], g.plio("out", "out"))
        g.place(a, tile(3, 0))
        g.place(b, tile(3, 0))
        if fits:
            assert plan_of(g.description(), "xcve2802")
        else:
            assert messages(g) == [
                "graph.h:9, gr.b: the runtime ratios of the kernels in tile(3, 0) add up to 1.2, at most 1 "
                "is allowed: gr.a 0.6, gr.b 0.6 (UG1603: Runtime Ratio). Lower the ratios, or place a "
                "kernel elsewhere."
            ]


def test_two_streams_into_one_core() -> None:
    g = Sketch()
    a, b = (g.kernel(name, [stream()], [buffer("int32", 8)], runtime_ratio=0.4) for name in "ab")
    for kernel in (a, b):
        g.connect(g.plio(f"in{kernel.id}"), kernel.ins[0])
        g.connect(kernel.outs[0], g.plio(f"out{kernel.id}", "out"))
        g.place(kernel, tile(3, 0))
    assert messages(g) == [
        "graph.h:2, gr.b.in[0]: the core in tile(3, 0) has 1 stream input, and 2 are asked for: gr.a.in[0], "
        "gr.b.in[0] (UG1603: Stream-Based Access; aiecompiler 77-4280). Use buffers or packets, or place a "
        "kernel elsewhere."
    ]


def test_a_cascade_that_goes_nowhere() -> None:
    g = Sketch()
    a, b = g.kernel("a", [buffer("int32", 8)], [cascade()]), g.kernel("b", [cascade()], [buffer("int32", 8)])
    g.connect(g.plio("in"), a.ins[0])
    g.connect(a.outs[0], b.ins[0])
    g.connect(b.outs[0], g.plio("out", "out"))
    g.place(a, tile(3, 1))
    g.place(b, tile(2, 1))
    assert messages(g) == [
        "graph.h:5, gr.b.in[0]: the cascade of gr.a in tile(3, 1) goes to tile(4, 1) or tile(3, 0), but "
        "gr.b lies in tile(2, 1) (AM020 chapter 4: cascade). Change one of the locations."
    ]


def test_a_chain_of_cascades_longer_than_any_path() -> None:
    g = Sketch()
    count = 8
    kernels = [
        g.kernel(
            f"k{n}",
            [buffer("int32", 8)] if n == 0 else [cascade()],
            [buffer("int32", 8)] if n == count - 1 else [cascade()],
        )
        for n in range(count)
    ]
    source = g.plio("in")
    for kernel in kernels:
        g.connect(source, kernel.ins[0])
        source = kernel.outs[0]
    g.connect(source, g.plio("out", "out"))
    assert messages(g, "npu1") == [
        "graph.h:1, gr.k0: no core is left for gr.k0, gr.k1, gr.k2 and 5 more: npu1 has 16 cores for 8 "
        "kernels; a chain of 8 cascades goes east or south at each step (mlir-aie device model). Choose a "
        "larger device, smaller runtime ratios, or other locations."
    ]


def test_more_kernels_than_an_area_has_cores() -> None:
    g = Sketch()
    inner = g.graph("inner")
    for n in range(3):
        k = relay(g, f"k{n}", graph=inner)
        g.connect(g.plio(f"in{n}"), k.ins[0])
        g.connect(k.outs[0], g.plio(f"out{n}", "out"))
    g.place(inner, area(2, 0, 3, 0), what="graph")
    assert messages(g) == [
        "graph.h:11, gr.k2: no core is left for gr.k2: xcve2802 has 304 cores for 3 kernels, 2 of them in "
        "the area (mlir-aie device model; AM020 chapter 1). Choose a larger device, smaller runtime ratios, "
        "or other locations."
    ]


def test_places_that_contradict_each_other() -> None:
    g = Sketch()
    kernels = [relay(g, name) for name in "ab"]
    for kernel in kernels:
        g.connect(g.plio(f"in{kernel.id}"), kernel.ins[0])
        g.connect(kernel.outs[0], g.plio(f"out{kernel.id}", "out"))
    a, b = kernels
    g.place(a, tile(3, 0))
    g.place(b, tile(5, 0))
    g.place(b, beside(a, 1, 0))
    found = messages(g)
    assert len(found) == 1
    assert found[0].startswith(
        "graph.h:13, gr.b: two locations contradict each other: one gives column 5, the"
    )


@pytest.mark.parametrize(
    ("places", "message"),
    [
        (
            [address(5, 0, 0)],
            "graph.h:7, gr.k.in[0]: tile (5, 0) is out of reach; the buffer may lie in tile (3, 1), tile "
            "(3, 0), tile (2, 1), tile (3, 2) (UG1603: Buffer Location Constraints). Move the kernel or the "
            "buffer.",
        ),
        (
            [bank(3, 1, 4)],
            "graph.h:7, gr.k.in[0]: bank is 4, allowed are 0..3 (UG1603: Buffer Location Constraints). "
            "Change the bank.",
        ),
        (
            [address(3, 1, 0xFF80)],
            "graph.h:7, gr.k.in[0]: the buffer of 256 bytes at 0xff80 must begin at a word and end below "
            "0x10000 (UG1603: Buffer Location Constraints). Change the address.",
        ),
        (
            [address(3, 1, 0), address(3, 1, 0x80)],
            "graph.h:7, gr.k.in[0]: bytes 0x80..0x17f of tile (3, 1) overlap gr.k.in[0], which has "
            "0x0..0xff (UG1603: Buffer Location Constraints). Change one of the two addresses.",
        ),
    ],
    ids=["reach", "bank", "end", "overlap"],
)
def test_places_of_buffers(places: list[object], message: str) -> None:
    g, k = single()
    g.place(k, tile(3, 1))
    g.place(k.ins[0], *places, what="buffer")  # type: ignore[arg-type]
    assert messages(g) == [message]


def test_buffers_that_no_memory_in_reach_holds() -> None:
    g, k = single(20_000)
    g.place(k, tile(3, 0))
    found = messages(g)
    assert len(found) == 2
    assert found[0] == (
        "graph.h:1, gr.k.in[0]: 2 x 80,000 bytes find no room; the largest free pieces in reach are: tile "
        "(3, 0) 63,488 bytes, tile (2, 0) 65,536 bytes, tile (3, 1) 65,536 bytes (AM020 chapter 4: data "
        "memory and DMA of a compute tile). Use single_buffer, smaller blocks, or a place with free "
        "neighbours."
    )


def test_a_channel_of_another_tile() -> None:
    g, k = single()
    g.place(k, tile(3, 0))
    g.place(k.ins[0], dma("aie_tile", 3, 0, 2), what="dma")
    assert messages(g) == [
        "graph.h:1, gr.k.in[0]: S2MM 2 of tile (3, 0) cannot move the buffer; channels 0 to 1 of tile (3, "
        "0), tile (2, 0), tile (3, 1) can (UG1603: DMA Channel Constraint). Change the channel or its tile."
    ]


def test_more_channels_than_a_memory_tile_has() -> None:
    g = Sketch()
    m = g.shared("m", "int32", (64,), 7, 1)
    for n, port in enumerate(m.ins):
        g.connect(g.plio(f"in{n}"), port)
    g.connect(m.outs[0], g.plio("out", "out"))
    assert messages(g) == [
        "graph.h:1, gr.m: it needs 7 S2MM and 1 MM2S channels, and no memory tile with room for it has them "
        "free (AM020 chapter 5: DMA of the memory tile). Use fewer ports, other channels, or several shared "
        "buffers."
    ]


def test_a_shared_buffer_that_no_two_tiles_hold() -> None:
    g, _ = shared()
    big = g.shared("big", "int32", (262_145,), 1, 1)
    g.connect(g.plio("in2"), big.ins[0])
    g.connect(big.outs[0], g.plio("out2", "out"))
    found = messages(g)
    assert found == [
        "graph.h:6, gr.big: 1 x 1,048,592 bytes find no room in one memory tile or in two beside each "
        "other; the largest free piece has 524,288 bytes (AM020 chapter 5: DMA of the memory tile). Use "
        "fewer buffers (num_buffers), or several shared buffers."
    ]


def test_two_buffers_in_tiles_that_are_not_neighbours() -> None:
    g, m = shared(num_buffers=2)
    g.place(m, address(3, 0, 0), address(5, 0, 0), what="buffer")
    assert messages(g) == [
        "graph.h:6, gr.m: its buffers lie in memory tile (3, 0), memory tile (5, 0); one DMA reaches two "
        "tiles beside each other in a row (UG1603: Shared Buffer Location). Put both in one tile, or in two "
        "neighbours of the same row."
    ]


def test_a_gmio_where_there_is_no_dma() -> None:
    g = Sketch()
    k, source = relay(g), g.gmio("in")
    g.connect(source, k.ins[0])
    g.connect(k.outs[0], g.plio("out", "out"))
    g.place(g.owner(source), shim(4), what="GMIO")
    assert messages(g, "xcve2302") == [
        "graph.h:6, gr.in: column 4 of xcve2302 has no DMA to external memory (AM020 chapter 6: interface "
        "tile). Choose one of columns 2, 3, 6, 7, 10, 11."
    ]


def test_more_plio_than_a_column_has() -> None:
    g = Sketch()
    k = g.kernel("k", [buffer("int32", 8)] * 5, [buffer("int32", 8)])
    for n, port in enumerate(k.ins):
        source = g.plio(f"in{n}", width=128)
        g.connect(source, port)
        g.place(g.owner(source), shim(3), what="PLIO")
    g.connect(k.outs[0], g.plio("out", "out"))
    assert messages(g) == [
        "graph.h:16, gr.in4: column 3 has 8 streams into the array, 0 to 7, and no free one is as asked; "
        "one of 128 bits takes two, from an even one on (AM020 chapter 6: interface tile). Choose another "
        "column."
    ]


def test_all_problems_of_connections_are_told_at_once() -> None:
    g, k = single()
    relay(g, "lost")
    g.connect(g.plio("other"), k.ins[0])
    a, b = relay(g, "a", 128, repetition=2), relay(g, "b", 192, repetition=2)
    g.connect(g.plio("in2"), a.ins[0])
    g.connect(a.outs[0], b.ins[0])
    g.connect(b.outs[0], g.plio("out2", "out"))
    g.place(k, tile(99, 0))
    assert len(messages(g)) == 5


def test_an_unknown_port() -> None:
    g, k = single()
    g.connect(k.outs[0], 999)
    assert messages(g) == [
        "graph.h:6: connection 10 ends at 999, which is no port of the description (format of descriptions)."
    ]


def test_buffers_that_the_user_puts_into_one_bank_against_not_equal() -> None:
    g = Sketch()
    k = g.kernel("k", [buffer("int32", 8)] * 2, [buffer("int32", 8)])
    for n, port in enumerate(k.ins):
        g.connect(g.plio(f"in{n}"), port)
        g.place(port, bank(3, 0, 1), bank(3, 0, 1), what="buffer")
    g.connect(k.outs[0], g.plio("out", "out"))
    g.place(k, tile(3, 0))
    g.not_equal(*(Made(port) for port in k.ins))
    assert messages(g) == [
        "graph.h:4, gr.k.in[0]: it shares bank 1 of tile (3, 0) with gr.k.in[1], but not_equal keeps them "
        "apart (UG1603: Buffer Location Constraints). Change one of the locations, or make the buffers "
        "smaller."
    ]


def test_a_place_of_the_wrong_kind() -> None:
    g, k = single()
    g.place(k, shim(3))
    assert messages(g) == [
        "graph.h:6, gr.k: location<kernel> takes tile or same, not shim (UG1603: Location Constraints)."
    ]
