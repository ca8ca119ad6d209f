"""Do object FIFOs become the buffers, locks, chains and flows that mlir-aie makes of them?

The facts are those of aie-objectFifo-stateful-transform and of its tests (mlir-aie, 2026-08-14); where one of
those tests shows a rule, it is named.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memtile import Status
from memtile.importers.kernels.kernel import FifoPort
from memtile.importers.mlir.description import ChainDescription, DeviceDescription, FlowDescription
from support.commands.lowerings import compare, main
from support.mlir.mlir_designs import NUMBERS, copied, device, host, loaded, ran

WIDE = "%s = aie.tile(1, 0)\n%m = aie.tile(1, 1)\n%c = aie.tile(1, 2)\n%d = aie.tile(2, 3)\n"


def fifo(
    name: str, ends: str, more: str = "", depth: str = "2 : i32", size: str = "16", tail: str = ""
) -> str:
    """An object FIFO of ``memref<SIZExi32>``."""
    kind = f"!aie.objectfifo<memref<{size}xi32>>"
    return f"aie.objectfifo @{name}({ends}, {depth}) {more} : {kind} {tail}"


def core(tile: str, *lines: str) -> str:
    body = "\n".join(lines)
    return f"aie.core({tile}) {{\n{body}\naie.end\n}}"


def passing(source: str, target: str) -> str:
    """A core that passes four objects on."""
    return core(
        "%c",
        f"""%z = arith.constant 0 : index
        %n = arith.constant 4 : index
        %o = arith.constant 1 : index
        %k = arith.constant 16 : index
        scf.for %t = %z to %n step %o {{
          %x = aie.objectfifo.acquire @{source}(Consume, 1) : memref<16xi32>
          %y = aie.objectfifo.acquire @{target}(Produce, 1) : memref<16xi32>
          scf.for %j = %z to %k step %o {{
            %v = memref.load %x[%j] : memref<16xi32>
            memref.store %v, %y[%j] : memref<16xi32>
          }}
          aie.objectfifo.release @{source}(Consume, 1)
          aie.objectfifo.release @{target}(Produce, 1)
        }}""",
    )


def acquire(name: str, port: str, count: int) -> str:
    view = "!aie.objectfifosubview<memref<16xi32>>"
    return f"%v{name}{port}{count} = aie.objectfifo.acquire @{name}({port}, {count}) : {view}"


def release(name: str, port: str, count: int) -> str:
    return f"aie.objectfifo.release @{name}({port}, {count})"


def described(*lines: str, tiles: str = WIDE, chip: str = "npu2") -> DeviceDescription:
    """The device of a text with its object FIFOs lowered."""
    return loaded(device(*lines, tiles=tiles, chip=chip)).configured.device


def chain(found: DeviceDescription, tile: str, direction: str, channel: int = 0) -> ChainDescription:
    """The chain of a channel."""
    wanted = tile, direction, channel
    return next(each for each in found.chains if (each.tile, each.direction, each.channel) == wanted)


def buffers(found: ChainDescription) -> list[str]:
    return [bd.buffer for bd in found.bds]


def parts(found: ChainDescription) -> list[tuple[int, int | None]]:
    return [(bd.offset, bd.length) for bd in found.bds]


def locks(found: ChainDescription) -> list[tuple[Any, ...]]:
    """Of each BD the lock and value that it acquires, and that it releases."""
    return [
        tuple(None if use is None else (use.lock, use.value) for use in (bd.acquire, bd.release))
        for bd in found.bds
    ]


def values(found: DeviceDescription, *names: str) -> list[int]:
    return [found.locks[f"%{name}"].initial for name in names]


def ends(found: FlowDescription) -> tuple[tuple[str, str, int], ...]:
    return tuple(tuple(end) for end in (*found.sources, *found.targets))


@pytest.mark.parametrize(
    ("body", "depth"),
    [
        ([acquire("f", "Consume", 3), release("f", "Consume", 3)], 4),
        ([acquire("f", "Consume", 1), release("f", "Consume", 1)], 2),
        (["scf.if %t {", acquire("f", "Consume", 2), release("f", "Consume", 2), "}"], 3),
        (
            [
                "scf.while : () -> () { scf.condition(%t) } do {",
                acquire("f", "Consume", 4),
                release("f", "Consume", 4),
                "scf.yield }",
            ],
            5,
        ),
        ([], 2),
    ],
)
def test_an_end_has_one_object_more_than_its_core_asks_for(body: list[str], depth: int) -> None:
    """dynamic_runtime_lock_scf_while, dynamic_runtime_lock_multiple_fifos: 4 where 3 are acquired."""
    found = described(fifo("f", "%m, {%c}"), core("%c", "%t = arith.constant false", *body))
    assert buffers(chain(found, "%c", "S2MM")) == [f"%f_cons_buff_{n}" for n in range(depth)]
    assert values(found, "f_cons_prod_lock_0", "f_cons_cons_lock_0") == [depth, 0]
    assert len(chain(found, "%m", "MM2S").bds) == 2


@pytest.mark.parametrize(("depth", "many"), [("1 : i32", 1), ("3 : i32", 2), ("[2, 5]", 5), ("[2, 1]", 1)])
def test_depths_of_an_end_that_holds_one_object(depth: str, many: int) -> None:
    body = acquire("f", "Consume", 1), release("f", "Consume", 1)
    found = described(fifo("f", "%m, {%c}", depth=depth), core("%c", *body))
    assert len(chain(found, "%c", "S2MM").bds) == many


def test_an_explicit_depth_gives_way_where_a_pattern_needs_a_dma() -> None:
    """An end with a pattern is looked at twice, and its own depth is one number then."""
    body = acquire("f", "Consume", 2), release("f", "Consume", 2)
    pattern = "%c dimensionsFromStream [<size = 4, stride = 4>, <size = 4, stride = 1>]"
    found = described(fifo("f", f"%m, {{{pattern}}}", depth="[2, 5]"), core("%c", *body))
    assert len(chain(found, "%c", "S2MM").bds) == 3


def test_parts_of_a_cut_object_end_where_the_next_begins() -> None:
    """link_test_distribute_output_sizes: 64 cut at 0 and 32 for FIFOs of 16."""
    lines = (
        fifo("i", "%s, {%m}", size="64"),
        fifo("a", "%m, {%c}"),
        fifo("b", "%m, {%d}"),
        "aie.objectfifo.link [@i] -> [@a, @b] ([] [0, 40])",
    )
    found = described(*lines)
    assert parts(chain(found, "%m", "S2MM")) == [(0, 40), (40, 24)] * 2
    assert parts(chain(found, "%m", "MM2S", 0)) == [(0, 40)] * 2
    assert parts(chain(found, "%m", "MM2S", 1)) == [(40, 24)] * 2
    assert locks(chain(found, "%m", "MM2S", 1))[0] == (("%i_cons_cons_lock_1", 1), ("%i_cons_prod_lock_1", 1))
    assert parts(chain(found, "%c", "S2MM")) == [(0, 16)] * 2


def test_parts_of_a_joined_object_end_where_the_next_begins() -> None:
    lines = (
        fifo("a", "%c, {%m}", size="16"),
        fifo("b", "%d, {%m}", size="24"),
        fifo("o", "%m, {%s}", size="32"),
        "aie.objectfifo.link [@a, @b] -> [@o] ([0, 16] [])",
    )
    found = described(*lines)
    assert parts(chain(found, "%m", "S2MM", 1)) == [(16, 16)] * 2
    assert parts(chain(found, "%m", "MM2S")) == [(0, 16), (16, 16)] * 2


def test_parts_follow_each_other_where_an_old_text_has_no_offsets() -> None:
    lines = (
        fifo("i", "%s, {%m}", size="40"),
        fifo("a", "%m, {%c}"),
        fifo("b", "%m, {%d}", size="24"),
        "aie.objectfifo.link [@i] -> [@a, @b] ()",
    )
    assert parts(chain(described(*lines), "%m", "S2MM")) == [(0, 16), (16, 24)] * 2


REPEATED = "{repeat_count = 3 : i32}"


def test_a_single_object_is_repeated_by_its_channel() -> None:
    """hw_repeat_optimization_test, repeat_count_test."""
    found = described(fifo("f", "%c, {%m}", REPEATED, "1 : i32"))
    sends = chain(found, "%c", "MM2S")
    assert (sends.repeat, [bd.next for bd in sends.bds]) == (2, [0])
    assert locks(sends) == [(("%f_cons_lock_0", 1), ("%f_prod_lock_0", 1))]
    assert values(found, "f_prod_lock_0", "f_cons_lock_0", "f_cons_prod_lock_0") == [3, 0, 1]


def test_several_objects_are_repeated_by_their_bds() -> None:
    """no_hw_repeat_depth2: each BD has both of its lock actions."""
    found = described(fifo("f", "%c, {%m}", REPEATED))
    sends = chain(found, "%c", "MM2S")
    assert (sends.repeat, buffers(sends)) == (0, ["%f_buff_0"] * 3 + ["%f_buff_1"] * 3)
    assert locks(sends) == [(("%f_cons_lock_0", 1), ("%f_prod_lock_0", 1))] * 6
    assert values(found, "f_prod_lock_0", "f_cons_lock_0") == [6, 0]


@pytest.mark.parametrize("count", [1, 2])
def test_repeat_count_goes_through_streams_even_between_neighbours(count: int) -> None:
    """no_hw_repeat_count1: to say once is to ask for DMAs."""
    found = described(
        "%f = aie.tile(1, 3)", fifo("f", "%c, {%f}", f"{{repeat_count = {count} : i32}}", "1 : i32")
    )
    assert chain(found, "%c", "MM2S").repeat == count - 1


def test_repeats_of_a_link_count_where_objects_come_in() -> None:
    """link_repeat_count_test: the input takes and gives three units, the output one at a time."""
    link = "aie.objectfifo.link [@i] -> [@o] ([] [])"
    found = described(
        fifo("i", "%s, {%m}", depth="1 : i32"), fifo("o", "%m, {%c}", REPEATED, "1 : i32"), link
    )
    assert locks(chain(found, "%m", "S2MM")) == [(("%i_cons_prod_lock_0", 3), ("%i_cons_cons_lock_0", 3))]
    assert locks(chain(found, "%m", "MM2S")) == [(("%i_cons_cons_lock_0", 1), ("%i_cons_prod_lock_0", 1))]
    assert chain(found, "%m", "MM2S").repeat == 2
    assert values(found, "i_cons_prod_lock_0", "i_cons_cons_lock_0") == [3, 0]


@pytest.mark.parametrize("depth", [1, 2])
def test_a_core_gives_as_many_units_as_its_object_is_sent(depth: int) -> None:
    view = "!aie.objectfifosubview<memref<16xi32>>"
    body = (
        "%z = arith.constant 0 : index\n%n = arith.constant 2 : index\n%o = arith.constant 1 : index",
        "%k = arith.constant 16 : index\n%x = arith.constant 5 : i32",
        "scf.for %t = %z to %n step %o {",
        f"%v = aie.objectfifo.acquire @out(Produce, 1) : {view}",
        f"%b = aie.objectfifo.subview.access %v[0] : {view} -> memref<16xi32>",
        "%w = arith.index_cast %t : index to i32",
        "scf.for %j = %z to %k step %o { memref.store %w, %b[%j] : memref<16xi32> }",
        "aie.objectfifo.release @out(Produce, 1)",
        "}",
    )
    line = fifo("out", "%c, {%s}", "{repeat_count = 2 : i32}", f"{depth} : i32")
    text = device(line, core("%c", *body), host(copied("out", "b", 1), "aiex.npu.dma_wait {symbol = @out}"))
    assert ran(loaded(text), NUMBERS, NUMBERS)[1].tolist() == [0] * 32 + [1] * 32


def test_chains_of_a_memory_tile_end_after_their_iterations() -> None:
    """split_with_iterations: iter_count 5 repeats four times, and no BD follows the last."""
    lines = (
        fifo("i", "%s, {%m}"),
        fifo("o", "%m, {%c}", "{iter_count = 5 : i32, repeat_count = 2 : i32}"),
        "aie.objectfifo.link [@i] -> [@o] ([] [])",
    )
    found = described(*lines)
    sends, comes, core_ = (
        chain(found, tile, way) for tile, way in (("%m", "MM2S"), ("%m", "S2MM"), ("%c", "S2MM"))
    )
    assert (sends.repeat, [bd.next for bd in sends.bds]) == (4, [1, 2, 3, None])
    assert (comes.repeat, comes.bds[-1].next, core_.bds[-1].next) == (0, 0, 0)


def test_a_design_waits_for_what_ends_too_early() -> None:
    lines = fifo("in", "%s, {%m}", "{iter_count = 1 : i32}"), fifo("out", "%m, {%s}")
    link = "aie.objectfifo.link [@in] -> [@out] ([] [])"
    wait = "aiex.npu.dma_wait {symbol = @out}"
    text = device(*lines, link, host(copied("out", "b", 1), copied("in", "a", 0), wait))
    assert loaded(text).run(NUMBERS, NUMBERS).result.status is not Status.FINISHED


FILLED = f"= [dense<7> : memref<16xi32>, dense<[{', '.join(map(str, range(16)))}]> : memref<16xi32>]"


def test_values_that_are_sent_again_and_again_need_no_locks() -> None:
    """init_values_no_link_skips_source_locks."""
    found = described(fifo("f", "%m, {%c}", "{iter_count = 2 : i32}", tail=FILLED))
    assert locks(chain(found, "%m", "MM2S")) == [(None, None)] * 2
    assert not [name for name in found.locks if name.startswith("%f_prod")]
    once = described(fifo("f", "%m, {%c}", "{iter_count = 1 : i32}", tail=FILLED))
    assert values(once, "f_prod_lock_0", "f_cons_lock_0") == [0, 2]


def test_initial_values_of_what_goes_out_are_in_the_objects_of_a_link() -> None:
    """init_values_join_output_test: they decide whose objects the link has."""
    lines = (
        fifo("a", "%c, {%m}"),
        fifo("b", "%d, {%m}"),
        fifo("o", "%m, {%s}", size="32", tail="= [dense<3> : memref<32xi32>, dense<4> : memref<32xi32>]"),
        "aie.objectfifo.link [@a, @b] -> [@o] ([0, 16] [])",
    )
    found = described(*lines)
    assert [found.buffers[f"%o_buff_{n}"].initial for n in range(2)] == [[3], [4]]
    assert values(found, "o_prod_lock_0", "o_cons_lock_0", "o_prod_lock_1", "o_cons_lock_1") == [0, 2, 0, 2]
    through = fifo("i", "%s, {%m}"), fifo("o", "%m, {%c}", tail=FILLED)
    found = described(*through, "aie.objectfifo.link [@i] -> [@o] ([] [])")
    assert buffers(chain(found, "%m", "S2MM")) == ["%o_buff_0", "%o_buff_1"]


@pytest.mark.parametrize(
    ("stream", "source", "target"),
    [(0, ("%c", "Core", 0), ("%m", "DMA", 0)), (1, ("%m", "DMA", 0), ("%c", "Core", 0))],
)
def test_an_end_at_a_stream_port_has_neither_dma_nor_buffers(
    stream: int, source: tuple[str, str, int], target: tuple[str, str, int]
) -> None:
    """producer_stream_AIE2 and consumer_stream_AIE2."""
    attributes = f"{{aie_stream = {stream} : i32, aie_stream_port = 0 : i32}}"
    ends_ = "%c, {%m}" if stream == 0 else "%m, {%c}"
    found = described(fifo("f", ends_, attributes))
    assert ends(found.flows[0]) == (source, target)
    assert [each.tile for each in found.chains] == ["%m"]
    assert {buffer.tile for buffer in found.buffers.values()} == {"%m"}


def test_both_ends_at_stream_ports() -> None:
    found = described(fifo("f", "%c, {%d}", "{aie_stream = 2 : i32, aie_stream_port = 0 : i32}"))
    assert ends(found.flows[0]) == (("%c", "Core", 0), ("%d", "Core", 0))
    assert not (found.chains)
    assert not (found.buffers)
    assert not (found.locks)


def test_a_core_sends_to_a_memory_tile_by_its_stream_port() -> None:
    body = """%z = arith.constant 0 : index
      %n = arith.constant 64 : index
      %o = arith.constant 1 : index
      %port = arith.constant 0 : i32
      scf.for %i = %z to %n step %o {
        %v = arith.index_cast %i : index to i32
        aie.put_stream(%port : i32, %v : i32)
      }"""
    stream = fifo("f", "%c, {%m}", "{aie_stream = 0 : i32, aie_stream_port = 0 : i32}")
    link = "aie.objectfifo.link [@f] -> [@out] ([] [])"
    hosts = host(copied("out", "b", 1), "aiex.npu.dma_wait {symbol = @out}")
    text = device(stream, fifo("out", "%m, {%s}"), link, core("%c", body), hosts)
    assert ran(loaded(text), NUMBERS, NUMBERS)[1].tolist() == NUMBERS.tolist()


def test_values_that_are_sent_again_come_as_often_as_they_are_to() -> None:
    """Four turns of two objects without locks: all 64 words of the host, then the chain has ended."""
    values_ = ", ".join(f"dense<{n}> : memref<8xi32>" for n in (3, 4))
    line = fifo("out", "%m, {%s}", "{iter_count = 4 : i32}", size="8", tail=f"= [{values_}]")
    text = device(line, host(copied("out", "b", 1), "aiex.npu.dma_wait {symbol = @out}"))
    assert ran(loaded(text), NUMBERS, NUMBERS)[1].tolist() == ([3] * 8 + [4] * 8) * 4


def test_nothing_guards_objects_without_synchronisation() -> None:
    """disable_synchronization_test_distribute: the owner of a link decides for all of it."""
    lines = (
        fifo("i", "%s, {%m}", "{disable_synchronization = true}", size="32"),
        fifo("a", "%m, {%c}"),
        fifo("b", "%m, {%d}", "{disable_synchronization = true}"),
        "aie.objectfifo.link [@i] -> [@a, @b] ([] [0, 16])",
    )
    found = described(*lines)
    assert locks(chain(found, "%m", "S2MM")) == [(None, None)] * 4
    assert locks(chain(found, "%m", "MM2S", 0)) == [(None, None)] * 2
    assert locks(chain(found, "%c", "S2MM")) != [(None, None)] * 2
    assert locks(chain(found, "%d", "S2MM")) == [(None, None)] * 2


def test_cores_share_the_objects_of_a_link_that_are_allocated() -> None:
    """link_via_shared_mem2: the second FIFO has no DMA; 3: its tile is out of the producer's reach."""
    lines = fifo("i", "%s, {%c}"), fifo("o", "%c, {%f}"), "aie.objectfifo.link [@i] -> [@o] ([] [])"
    tile = "%f = aie.tile(2, 2)"
    shared = described(tile, *lines, "aie.objectfifo.allocate @o (%c)")
    assert [(each.tile, each.direction) for each in shared.chains] == [("%c", "S2MM")]
    apart = described(tile, *lines, "aie.objectfifo.allocate @o (%f)")
    assert [(each.tile, each.direction) for each in apart.chains] == [
        ("%c", "S2MM"),
        ("%c", "MM2S"),
        ("%f", "S2MM"),
    ]


def test_objects_are_allocated_in_the_memory_of_either_neighbour() -> None:
    """allocate_test."""
    line = fifo("o", "%c, {%f}", depth="3 : i32")
    found = described("%f = aie.tile(1, 3)", line, "aie.objectfifo.allocate @o (%f)")
    assert {each.tile for each in (*found.buffers.values(), *found.locks.values())} == {"%f"}
    assert not found.chains


def test_pinned_channels_are_taken_first() -> None:
    """pin_reserves_before_autoassign_AIE2."""
    pins = "{prod_dma_channel = 0 : i32, cons_dma_channels = array<i32: -1, 1>}"
    found = described(fifo("a", "%m, {%c, %d}"), fifo("p", "%m, {%c, %d}", pins))
    assert ends(found.flows[0]) == (("%m", "DMA", 1), ("%c", "DMA", 0), ("%d", "DMA", 0))
    assert ends(found.flows[1]) == (("%m", "DMA", 0), ("%c", "DMA", 1), ("%d", "DMA", 1))


def test_channels_of_allocations_are_in_use_and_those_of_flows_are_not() -> None:
    taken = "aie.shim_dma_allocation @other(%s, MM2S, 0)\naie.flow(%m, DMA : 0, %d, DMA : 0)"
    found = described(taken, fifo("i", "%s, {%m}"))
    assert ends(found.flows[1]) == (("%s", "DMA", 1), ("%m", "DMA", 0))


def test_consumers_take_objects_in_parts() -> None:
    """asymmetric_element_type: the producer's object is four of the consumer's."""
    line = fifo("f", "%m, {%c}", size="64", tail="-> !aie.objectfifo<memref<16xi32>>")
    body = acquire("f", "Consume", 2), release("f", "Consume", 2)
    found = described(line, core("%c", *body))
    assert parts(chain(found, "%m", "MM2S")) == [(0, 64)] * 2
    assert parts(chain(found, "%c", "S2MM")) == [(0, 16)] * 3
    assert found.buffers["%f_cons_buff_0"].shape.elements == 16


PADDED = "{padDimensions = #aie<bd_pad_layout_array[<const_pad_before = 1, const_pad_after = 1>, \
<const_pad_before = 2, const_pad_after = 2>]>}"


def test_padding_is_sent_of_the_smaller_objects_of_a_link() -> None:
    """link_via_shared_mem_padDimensions: the link has the input's objects, the output's length is sent."""
    pattern = "%m dimensionsToStream [<size = 2, stride = 4>, <size = 4, stride = 1>]"
    lines = fifo("i", "%s, {%m}", size="8"), fifo("o", f"{pattern}, {{%c}}", PADDED, size="32")
    found = described(*lines, "aie.objectfifo.link [@i] -> [@o] ([] [])")
    sends = chain(found, "%m", "MM2S")
    assert (buffers(sends)[0], parts(sends)[0], len(sends.bds[0].padding)) == ("%i_cons_buff_0", (0, 32), 2)
    assert parts(chain(found, "%m", "S2MM"))[0] == (0, 8)


LARGE = 96_000  # elements of four bytes: one in a memory tile


def test_objects_that_a_memory_tile_has_no_room_for_are_in_its_neighbours() -> None:
    """onelargefifo_on_3memtile and memtile_spill_order: west first, then the emptier one."""
    lines = (
        fifo("i", "%s, {%m}", depth="3 : i32", size=str(LARGE)),
        fifo("o", "%m, {%c}", depth="[3, 1]", size="8"),
    )
    found = described(lines[0])
    where = [found.tiles[found.buffers[f"%i_cons_buff_{n}"].tile].place for n in range(3)]
    assert where == [(1, 1), (0, 1), (2, 1)]
    assert {lock.tile for name, lock in found.locks.items() if "cons" in name[:7]} <= {"%m", "%s"}


def test_channels_that_reach_neighbours_go_to_objects_that_are_there() -> None:
    """twofifo_on_2memtile: a FIFO that spills has the first channels, and channels are few that reach it."""
    tiles = "%s = aie.tile(0, 0)\n%m = aie.tile(0, 1)\n%n = aie.tile(1, 1)\n%c = aie.tile(0, 2)\n"
    small, large = (
        fifo("x", "%m, {%c}"),
        [fifo("a", "%s, {%m}", size="65000"), fifo("b", "%m, {%s}", size="65000")],
    )
    found = described(small, *large, tiles=tiles)
    assert {name: found.buffers[name].tile for name in ("%a_cons_buff_0", "%b_buff_0")} == {
        "%a_cons_buff_0": "%m",
        "%b_buff_0": "%n",
    }
    assert found.locks["%b_prod_lock_0"].tile == "%m"
    assert [chain(found, "%m", "MM2S", n).name for n in range(2)] == ["b", "x"]


def test_a_text_of_2026_acquires_objects_without_a_subview() -> None:
    """The newest form: results are the objects themselves, one or several."""
    body = """
      %z = arith.constant 0 : index
      %n = arith.constant 2 : index
      %o = arith.constant 1 : index
      %k = arith.constant 16 : index
      scf.for %t = %z to %n step %o {
        %x, %y = aie.objectfifo.acquire @in(Consume, 2) : memref<16xi32>, memref<16xi32>
        %u:2 = aie.objectfifo.acquire @out(Produce, 2) : memref<16xi32>, memref<16xi32>
        scf.for %j = %z to %k step %o {
          %v = memref.load %x[%j] : memref<16xi32>
          %w = memref.load %y[%j] : memref<16xi32>
          memref.store %w, %u#0[%j] : memref<16xi32>
          memref.store %v, %u#1[%j] : memref<16xi32>
        }
        aie.objectfifo.release @in(Consume) [2]
        aie.objectfifo.release @out(Produce, 2)
      }"""
    lines = fifo("in", "%s, {%c}"), fifo("out", "%c, {%s}"), core("%c", body)
    wait = "aiex.npu.dma_wait {symbol = @out}"
    text = device(*lines, host(copied("out", "b", 1), copied("in", "a", 0), wait))
    wanted = NUMBERS.reshape(2, 2, 16)[:, ::-1].reshape(-1)
    assert np.array_equal(ran(loaded(text), NUMBERS, NUMBERS)[1], wanted)


def test_object_fifos_send_packets_where_a_run_line_says_so() -> None:
    """DEV-FIFO-2, packet_id_test: ids begin behind those of packet flows of the text."""
    lines = fifo("in", "%s, {%c}"), fifo("out", "%c, {%s}"), passing("in", "out")
    trace = "aie.packet_flow(1) { aie.packet_source<%d, Trace : 0> aie.packet_dest<%s, DMA : 1> }"
    wait = "aiex.npu.dma_wait {symbol = @out}"
    text = device(*lines, trace, host(copied("out", "b", 1), copied("in", "a", 0), wait))
    design = loaded(f"// RUN: aiecc.py --packet-sw-objFifos %s\n{text}")
    found = design.configured.device
    assert [flow.packet for flow in found.flows][:3] == [1, 2, 3]
    assert [bd.packet for bd in chain(found, "%c", "MM2S").bds] == [(0, 3)] * 2
    assert found.allocations["in"].packet == (0, 2)
    plain = loaded(f"// RUN: aiecc.py --packet-sw-objFifos=false %s\n{text}").configured.device
    assert [flow.packet for flow in plain.flows][:3] == [1, None, None]


def test_what_a_core_gave_back_early_counts_in_units_of_its_locks() -> None:
    """DEV-FIFO-1: with repeat_count 3 the object that is left counts as three, so one more is not taken."""

    class Counting:
        def acquire(self, lock: object, count: int) -> tuple[object, int]:
            return lock, count

        release = acquire

    port = FifoPort(Counting(), ["a", "b", "c"], "take", "give", 3)  # type: ignore[arg-type]
    done = [list(each) for each in (port.acquire(2), port.release(1), port.acquire(2))]
    assert done == [[("take", -6)], [("give", 3)], []]
    assert port.objects(2) == ["b", "c"]


EXPECTATION = """// RUN: aie-opt --aie-objectFifo-stateful-transform %s | FileCheck %s
// CHECK: aie.device(npu1) {
// CHECK:   %[[M:.*]] = aie.tile(0, 1)
// CHECK:   %{{.*}}tile_0_2 = aie.tile(0, 2)
// CHECK:   %[[B:.*]] = aie.buffer(%[[M]]) {sym_name = "other_name"} : memref<16xi32>
// CHECK:   %[[P:.*]] = aie.lock(%[[M]]) {init = FREE : i32}
// CHECK:   %[[C:.*]] = aie.lock(%[[M]]) {init = 0 : i32}
// CHECK:   aie.memtile_dma(%[[M]]) {
// CHECK:     aie.dma_start(MM2S, 0, ^[[BB:bb[0-9]+]], ^bb2)
// CHECK:   ^[[BB]]:
// CHECK:     aie.use_lock(%[[C]], AcquireGreaterEqual, %{{.*}})
// CHECK:     aie.dma_bd(%[[B]] : memref<16xi32> offset = 0 len = LENGTH)
// CHECK:     aie.use_lock(%[[P]], Release, %{{.*}})
// CHECK:     aie.next_bd ^[[BB]]
// CHECK:   ^bb2:
// CHECK:     aie.end
// CHECK:   }
module {
  aie.device(npu1) {
    %m = aie.tile(0, 1)
    %c = aie.tile(0, 2)
    aie.objectfifo @f(%m, {%c}, 1 : i32) : !aie.objectfifo<memref<16xi32>>
  }
}
"""


@pytest.mark.parametrize(
    ("free", "length", "kind", "says"),
    [
        ("1", "16", "same", ""),
        ("2", "16", "differs", "lock %f_prod_lock_0 is LockPart(tile=(0, 1), initial=1), not"),
        ("1", "8", "differs", "(0,1) MM2S 0 BD 0: length is 16, not 8"),
    ],
)
def test_machines_are_compared_with_what_a_test_expects(
    tmp_path: Path, free: str, length: str, kind: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = EXPECTATION.replace("FREE", free).replace("LENGTH", length)
    (tmp_path / "one.mlir").write_text(text)
    (found,) = compare(tmp_path)
    assert found.kind == kind
    assert "".join(found.says).startswith(says)
    assert main([str(tmp_path), "--json", str(tmp_path / "found.json")]) == bool(says)
    assert "1 modules" in capsys.readouterr().out


def test_a_ring_of_copies_is_another_form_of_a_ring_that_is_repeated(tmp_path: Path) -> None:
    text = EXPECTATION.replace("FREE", "2").replace("LENGTH", "16")
    text = text.replace("{%c}, 1 : i32)", "{%c}, 1 : i32) {repeat_count = 2 : i32}")
    again = """// CHECK:     aie.next_bd ^[[DD:bb[0-9]+]]
// CHECK:   ^[[DD]]:
// CHECK:     aie.use_lock(%[[C]], AcquireGreaterEqual, %{{.*}})
// CHECK:     aie.dma_bd(%[[B]] : memref<16xi32> offset = 0 len = 16)
// CHECK:     aie.use_lock(%[[P]], Release, %{{.*}})
// CHECK:     aie.next_bd ^[[BB]]
"""
    text = text.replace("// CHECK:     aie.next_bd ^[[BB]]\n", again).replace("^bb2", "^bb3")
    (tmp_path / "one.mlir").write_text(text)
    (found,) = compare(tmp_path)
    assert found.kind == "another form", found


def test_a_text_that_mlir_aie_refuses_is_to_be_refused(tmp_path: Path) -> None:
    text = (
        "// RUN: aie-opt -split-input-file --verify-diagnostics --aie-objectFifo-stateful-transform %s\n"
        "module { aie.device(npu1) {\n %m = aie.tile(0, 1)\n %c = aie.tile(0, 2)\n"
        " // expected-error@+1 {{no}}\n"
        " aie.objectfifo @f(%m, {%c}, 2 : i32) {MORE} : !aie.objectfifo<memref<16xi32>>\n} }\n// -----\n"
    )
    (tmp_path / "bad.mlir").write_text(
        text.replace("MORE", "iter_count = 300 : i32") + text.replace(" {MORE}", "")
    )
    first, second = compare(tmp_path)
    assert (first.kind, second.kind) == ("refused by both", "accepted")
