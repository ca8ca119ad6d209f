"""Does every object FIFO that mlir-aie refuses get its clear error?

The rules are those of its verifiers and of aie-objectFifo-stateful-transform (2026-08-14).
"""

from __future__ import annotations

import pytest

from memtile.errors import InputFileError
from support.mlir.mlir_designs import device, loaded

VIEW = "!aie.objectfifosubview<memref<16xi32>>"
PATTERN = "dimensionsToStream [<size = 4, stride = 4>, <size = 4, stride = 1>]"
BACK = "dimensionsFromStream [<size = 4, stride = 4>, <size = 4, stride = 1>]"
FILLED = "= [dense<1> : memref<16xi32>, dense<2> : memref<16xi32>]"
STREAM = "aie_stream = {} : i32, aie_stream_port = 0 : i32"
LINKED = "aie.objectfifo.link [@f] -> [@g] ([] [])"
ONE, SENDS, BOTH = (STREAM.format(number) for number in (1, 0, 2))


def fifo(
    ends: str, more: str = "", tail: str = "", name: str = "f", size: int = 16, depth: str = "2 : i32"
) -> str:
    kind = f"!aie.objectfifo<memref<{size}xi32>>"
    return f"aie.objectfifo @{name}({ends}, {depth}) {{{more}}} : {kind} {tail}"


def core(*lines: str) -> str:
    body = "\n".join(lines)
    return (
        f"aie.core(%c) {{\n%z = arith.constant 0 : index\n%o = arith.constant 1 : index\n{body}\naie.end\n}}"
    )


TAKE, GIVE = f"%v = aie.objectfifo.acquire @f(Consume, 1) : {VIEW}", "aie.objectfifo.release @f(Consume, 1)"
ENTER = "scf.for %i = %z to %o step %o {"
CASES = [
    # attributes against tiles
    ([fifo(f"%s {PATTERN}, {{%m}}")], "its producer is an interface tile, and it has dimensionsToStream"),
    ([fifo("%s, {%m}", tail=FILLED)], "its producer is an interface tile, and it has init values"),
    ([fifo("%s, {%m}", "repeat_count = 2 : i32")], "and it has repeat_count"),
    ([fifo(f"%m, {{%c, %s {BACK}}}")], "consumer 1 is an interface tile, and has dimensionsFromStream"),
    ([fifo("%m, {%c}", "padValue = 3 : i32")], "padValue without padDimensions"),
    ([fifo("%m, {%c}", tail=f"{FILLED}", depth="3 : i32")], "2 initial values for 3 objects"),
    ([fifo("%m, {%c}", "iter_count = 0 : i32")], "its iter_count is 0"),
    ([fifo("%m, {%c}", "iter_count = 257 : i32")], "its iter_count is 257"),
    ([fifo("%c, {%d}", "iter_count = 5 : i32")], "none of its ends is in a memory tile"),
    (
        [fifo("%m, {%c}", tail="-> !aie.objectfifo<memref<12xi32>>")],
        "16 i32 in an object, its consumers 12 i32",
    ),
    (
        [fifo("%m, {%c}", tail="-> !aie.objectfifo<memref<16xi16>>")],
        "16 i32 in an object, its consumers 16 i16",
    ),
    ([fifo("%m, {%c}", depth="[2, 2, 2]")], "it has 3 depths and 2 ends"),
    ([fifo("%m dimensionsToStream [<size = 4, stride = 8>], {%c}")], "strides [8] and reaches element 24"),
    ([fifo("%m dimensionsToStream [<size = 4, stride = 0>], {%c}")], "strides [0] and reaches element 0"),
    ([fifo("%m, {%c dimensionsFromStream [<size = 1, stride = 17>]}")], "strides [17] and reaches element 0"),
    # stream ports
    ([fifo("%c, {%d}", "aie_stream_port = 0 : i32")], "aie_stream_port without aie_stream"),
    ([fifo("%c, {%d}", "aie_stream = 1 : i32")], "its aie_stream_port is None"),
    ([fifo("%c, {%d}", "aie_stream = 3 : i32, aie_stream_port = 0 : i32")], "its aie_stream is 3"),
    ([fifo("%c, {%d, %m}", SENDS)], "it has aie_stream and 2 consumers"),
    ([fifo("%m, {%c}", SENDS)], "no memory tile has the stream port of a core"),
    ([fifo("%c, {%s}", BOTH)], "no interface tile has the stream port of a core"),
    ([fifo("%c, {%m}", f"{SENDS}, repeat_count = 2 : i32")], "repeat_count at the end of a stream port"),
    ([fifo("%c, {%m}", SENDS, FILLED)], "init values at the end of a stream port"),
    ([fifo("%c, {%m}", f"{SENDS}, iter_count = 2 : i32")], "iter_count at the end of a stream port"),
    ([fifo(f"%c {PATTERN}, {{%m}}", SENDS)], "dimensionsToStream at the end of a stream port"),
    ([fifo(f"%m, {{%c {BACK}}}", ONE)], "dimensionsFromStream at the end of a stream port"),
    ([fifo("%c, {%m}", f"{SENDS}, prod_dma_channel = 0 : i32")], "a DMA channel at the end of a stream port"),
    (
        [fifo("%m, {%c}", f"{ONE}, cons_dma_channels = array<i32: 0>")],
        "a DMA channel at the end of a stream port",
    ),
    ([fifo("%m, {%c}", ONE), fifo("%s, {%c}", ONE, name="g")], "stream port 0 of its core is in use"),
    ([fifo("%m, {%c}", ONE), core(TAKE)], "the Consume end of f is a stream port"),
    ([fifo("%m, {%c}", ONE), core(GIVE)], "the Consume end of f is a stream port"),
    # allocations
    ([fifo("%c, {%d, %m}"), "aie.objectfifo.allocate @f (%d)"], "f has 2 consumers"),
    ([fifo("%c, {%d}", "via_DMA = true"), "aie.objectfifo.allocate @f (%d)"], "f has via_DMA"),
    ([fifo("%c, {%d}", "repeat_count = 1 : i32"), "aie.objectfifo.allocate @f (%d)"], "f has repeat_count"),
    ([fifo(f"%c {PATTERN}, {{%d}}"), "aie.objectfifo.allocate @f (%d)"], "f has dimensionsToStream"),
    ([fifo("%c, {%d}", BOTH), "aie.objectfifo.allocate @f (%d)"], "f has aie_stream"),
    ([fifo("%c, {%d}"), *["aie.objectfifo.allocate @f (%d)"] * 2], "f is allocated 2 times"),
    ([fifo("%c, {%d}"), "aie.objectfifo.allocate @f (%m)"], "an end of f does not reach its memory"),
    ([fifo("%m, {%c}", "via_shared_mem = 1 : i32")], "via_shared_mem = 1, and its ends do not share"),
    (
        ["%e = aie.tile(1, 2)", fifo("%c, {%e}", "via_shared_mem = 1 : i32")],
        "it has via_shared_mem = 1, and its ends do not share that memory",
    ),
    # links
    (
        [
            fifo("%s, {%c}", size=32),
            fifo("%c, {%m}", name="g"),
            fifo("%c, {%m}", name="h"),
            "aie.objectfifo.link [@f] -> [@g, @h] ([] [0, 16])",
        ],
        "it cuts or joins objects in %c",
    ),
    (
        [
            fifo("%s, {%m}", size=32),
            fifo("%m, {%c}", name="g"),
            fifo("%m, {%d}", name="h"),
            "aie.objectfifo.link [@f] -> [@g, @h] ([0] [16])",
        ],
        "it has 1 offsets for 2 object FIFOs",
    ),
    (
        [
            fifo("%s, {%m}", size=32),
            fifo("%m, {%c}", name="g"),
            fifo("%m, {%d}", name="h"),
            "aie.objectfifo.link [@f] -> [@g, @h] ([] [8, 8])",
        ],
        "its parts @g and @h begin at the same element, 8",
    ),
    (
        [
            fifo("%s, {%m}", size=32),
            fifo("%m, {%c}", name="g"),
            fifo("%m, {%d}", name="h"),
            "aie.objectfifo.link [@f] -> [@g, @h] ([] [24, 0])",
        ],
        "a part of its objects has -24 elements, from 24 to 0; offsets have to rise: [0, 24]",
    ),
    (
        [
            fifo("%s, {%m}", size=32),
            fifo("%m, {%c}", name="g"),
            fifo("%m, {%d}", name="h"),
            "aie.objectfifo.link [@f] -> [@g, @h] ([] [])",
        ],
        "it has 0 and 0 offsets for 2 object FIFOs and one",
    ),
    (
        [
            fifo("%s, {%m}", size=32),
            fifo("%m, {%c}", "repeat_count = 2 : i32", name="g"),
            fifo("%m, {%d}", name="h"),
            "aie.objectfifo.link [@f] -> [@g, @h] ([] [0, 16])",
        ],
        "different repeat_counts",
    ),
    (
        [
            fifo("%c, {%m}"),
            fifo("%d, {%m}", name="h"),
            fifo(f"%m {PATTERN}, {{%s}}", name="g", size=32),
            "aie.objectfifo.link [@f, @h] -> [@g] ([0, 8] [])",
        ],
        "the pattern of g reaches element 15 of a part",
    ),
    (
        [
            fifo("%c, {%m}"),
            fifo("%d, {%m}", name="h"),
            fifo("%m, {%c}", "repeat_count = 2 : i32", name="g", size=32),
            "aie.objectfifo.link [@f, @h] -> [@g] ([0, 16] [])",
        ],
        "its repeat_count is 2, and its objects are joined of 2 parts",
    ),
    ([fifo("%s, {%m}"), fifo("%m, {%c}", name="g"), *[LINKED] * 2], "f is linked 2 times"),
    (
        [fifo("%s, {%c}"), fifo("%c, {%m}", name="g"), LINKED, core(TAKE)],
        "f is linked to others in this tile",
    ),
    (
        [fifo("%s, {%c}"), fifo("%c, {%m}", name="g", depth="3 : i32"), LINKED],
        "it has 3 objects, those that it is linked to 2",
    ),
    ([fifo("%s, {%c}"), core(TAKE.replace("Consume, 1", "1"))], "its port is '1'"),
    # channels
    (
        [fifo("%m, {%c}", "prod_dma_channel = 6 : i32")],
        "the text asks for MM2S channel 6 of the memory tile",
    ),
    (
        [
            fifo("%c, {%m}", "prod_dma_channel = 0 : i32"),
            fifo("%c, {%m}", "prod_dma_channel = 0 : i32", name="g"),
        ],
        "the text asks for MM2S channel 0 of the compute tile",
    ),
    ([fifo("%c, {%c}", "via_DMA = true")], "DMAs move its objects, and %c has both ends"),
    (
        [
            fifo("%m, {%c}"),
            '%x = aie.external_buffer {sym_name = "x"} : memref<16xi32>',
            "aie.objectfifo.register_external_buffers @f (%m, {%x}) : (memref<16xi32>)",
        ],
        "external buffers are registered for f in a memory tile",
    ),
    # accesses
    ([fifo("%m, {%c}"), core(TAKE, GIVE.replace("1", "0"))], "it is for 0 objects"),
    ([fifo("%m, {%c}", size=8), core(TAKE)], "its type is not that of the objects of f"),
    (
        [fifo("%m, {%c}"), f"func.func @g() {{\n{TAKE}\nreturn\n}}", core("func.call @g() : () -> ()")],
        "a function has no ends of object FIFOs",
    ),
    (
        [
            fifo("%m, {%c}"),
            core(TAKE, f"%e = aie.objectfifo.subview.access %v[1] : {VIEW} -> memref<16xi32>"),
        ],
        "it takes object 1 of 1",
    ),
    (
        [
            fifo("%m, {%c}"),
            core(
                TAKE,
                f"%r = scf.for %i = %z to %o step %o iter_args(%w = %v) -> ({VIEW}) {{",
                f"%e = aie.objectfifo.subview.access %w[0] : {VIEW} -> memref<16xi32>",
                f"scf.yield %w : {VIEW}",
                "}",
            ),
        ],
        "%w does not come from aie.objectfifo.acquire at once",
    ),
]


@pytest.mark.parametrize(("lines", "says"), CASES, ids=[says for _, says in CASES])
def test_what_mlir_aie_refuses_of_object_fifos(lines: list[str], says: str) -> None:
    with pytest.raises(InputFileError) as raised:
        loaded(device(*lines, chip="npu1_2col"))
    (problem,) = raised.value.problems
    assert says in str(problem)
    assert problem.where.startswith("d.mlir:")


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (
            [
                "aie.packet_flow(31) { aie.packet_source<%d, Trace : 0> aie.packet_dest<%s, DMA : 1> }",
                fifo("%m, {%c}"),
            ],
            "32 ids of packets are in use before it",
        ),
        (
            [fifo("%m, {%c}", ONE), fifo("%c, {%m}", SENDS, name="g")],
            "it has aie_stream, and object FIFOs send packets",
        ),
    ],
)
def test_what_object_fifos_that_send_packets_lack(lines: list[str], says: str) -> None:
    """packet_id_bad: ids are as many as the header has; a stream port has no packet flow."""
    with pytest.raises(InputFileError, match=says):
        loaded("// RUN: aiecc.py --packet-sw-objFifos %s\n" + device(*lines))


NEWEST = core("%x = aie.objectfifo.acquire @f(Consume, 1) : memref<16xi32>", GIVE)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (fifo("%m, {%c}", "iter_count = 2 : i32"), "it has iter_count,"),
        (fifo("%m, {%c}", "repeat_count = 2 : i32"), "it has repeat_count and several objects,"),
        (fifo(f"%m, {{%c {BACK}}}", depth="[2, 3]"), "it has a depth for each end and a pattern,"),
    ],
)
def test_what_versions_of_mlir_aie_lower_in_several_ways(line: str, says: str) -> None:
    """DEV-FIFO-3: texts whose acquires give objects are of autumn 2026, when these rules changed."""
    assert loaded(device(line, core(TAKE, GIVE)))
    with pytest.raises(InputFileError, match=says):
        loaded(device(line, NEWEST))


def test_a_loop_may_release_what_others_acquire() -> None:
    """Only a loop's own turns decide: an inner loop may take what the outer one gives back."""
    lines = ENTER, "scf.for %j = %z to %o step %o {", TAKE, "}", GIVE, "}"
    assert loaded(device(fifo("%m, {%c}"), core(*lines))).configured.fifos.consumers


@pytest.mark.parametrize(
    ("lines", "many", "step"),
    [
        ((ENTER, TAKE, GIVE, GIVE, "}"), 2, "Release 1 of @f in each turn, or acquire as many."),
        (
            (TAKE, ENTER, GIVE, "}"),
            1,
            "Acquire @f in each turn, or release it after the loop (line 10 acquires it).",
        ),
        ((ENTER, GIVE, "}"), 1, "Acquire @f in each turn, or do not release it."),
    ],
)
def test_a_loop_that_releases_more_than_it_acquires(lines: tuple[str, ...], many: int, step: str) -> None:
    with pytest.raises(InputFileError) as raised:
        loaded(device(fifo("%m, {%c}"), core(*lines)))
    (problem,) = raised.value.problems
    assert f"each turn of the loop releases {many} objects of f" in problem.says
    assert problem.next_step == step
