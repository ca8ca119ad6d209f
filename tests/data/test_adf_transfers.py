"""Do packets, transfers of the host, margins and asynchronous buffers of a graph bring every element?"""

from __future__ import annotations

import re
from collections.abc import Generator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from memtile.adf.description import Loop, Tiling
from memtile.adf.host_check import HostAccount
from memtile.adf.host_program import RunGraph, Transfer, Wait
from memtile.adf.kernel_calls import PortMemory, StreamPort
from memtile.adf.planning import plan_of
from memtile.adf.run_end import Missing
from memtile.adf.running import GraphRun
from memtile.adf.volumes import with_counts
from memtile.errors import DesignError
from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.results import Status
from memtile.runs.options import RunOptions
from memtile.sim.kernels.actions import Action
from memtile.sim.kernels.kernel_core import Core
from support.adf.plans import (
    Blocks,
    Body,
    End,
    Net,
    Plan,
    PlannedKernel,
    calls,
    compute,
    ended,
    ints,
    started,
)
from support.adf.sketch import ROOT, Made, Sketch, buffer, port


def plus(number: int) -> Body:
    def body(x: Any, y: Any) -> None:
        ints(y)[:] = ints(x) + number

    return compute(body)


def test_a_tiling_of_a_shared_buffer_names_the_way_of_a_split() -> None:
    g = Sketch()
    tilings = [Tiling((64,), (16,), (16 * n,), packet_port_id=n % 2) for n in range(4)]
    a, split = g.plio("in"), g.packets("split", "sp", 2)
    m = g.shared("m", "int32", (64,), [[]], [tilings], num_buffers=2)
    g.connect(a, m.ins[0])
    g.connect(m.outs[0], split.ins[0])
    bodies = {}
    for n in (0, 1):
        k = g.kernel(f"k{n}", [buffer("int32", 16)], [buffer("int32", 16)])
        g.connect(split.outs[n], k.ins[0])
        g.connect(k.outs[0], g.plio(f"out{n}", "out"))
        bodies[k] = plus(100 * (n + 1))
    run = started(g, bodies)
    data = np.arange(3 * 64, dtype=np.int32)
    run.feed("in", data)
    found = ended(run, 3)
    blocks = data.reshape(3, 2, 2, 16)
    for n in (0, 1):
        assert (found.outputs[f"gr.out{n}"].words == blocks[:, :, n].ravel() + 100 * (n + 1)).all()


@pytest.mark.parametrize(("element", "count"), [("uint8", 64), ("int32", 16), ("cint32", 8)])
def test_an_older_descriptor_walks_over_words(element: str, count: int) -> None:
    """``buffer_descriptor``: AMD's vision library (transpose) divides sizes of uint8 by 4."""
    g = Sketch()
    write = Tiling(offset=(0,), steps=((1, 0),), length=16)
    first = Tiling(offset=(0,), length=4)
    columns = Tiling(offset=(4,), steps=((1, 1), (4, 3), (1, 0)), length=12)
    m = g.shared("m", element, (count,), [[write]], [[first], [columns]], num_buffers=2)
    g.connect(g.plio("in"), m.ins[0])
    for n in (0, 1):
        g.connect(m.outs[n], g.plio(f"out{n}", "out"))
    run = started(g, {})
    data = np.arange(2 * 16, dtype=np.int32)
    run.feed("in", data)
    found = ended(run, 2)
    turns = data.reshape(2, 4, 4)
    assert (found.outputs["gr.out0"].words == turns[:, 0].ravel()).all()
    assert (found.outputs["gr.out1"].words == turns[:, 1:].swapaxes(1, 2).ravel()).all()


def test_a_packet_of_several_descriptors_has_one_header() -> None:
    """Tiles of 2 x 2 with a row of zeros around need several descriptors; what leaves is one packet each."""
    g = Sketch()
    tilings = [Tiling((4, 4), (6, 6), (-1, -1), boundary_dimension=(4, 4), packet_port_id=n) for n in (1, 0)]
    loops = (Loop(0, 2, 2), Loop(1, 2, 2))
    tilings = [replace(each, tiling_dimension=(4, 4), tile_traversal=loops) for each in tilings]
    split = g.packets("split", "sp", 2)
    m = g.shared("m", "int32", (4, 4), 1, [tilings], num_buffers=1)
    g.connect(g.plio("in"), m.ins[0])
    g.connect(m.outs[0], split.ins[0])
    for n in (0, 1):
        g.connect(split.outs[n], g.plio(f"out{n}", "out"))
    run = started(g, {})
    data = np.arange(1, 17, dtype=np.int32).reshape(4, 4)
    run.feed("in", data)
    found = run.result().outputs
    padded = np.pad(data, 1)
    wanted = [padded[y : y + 4, x : x + 4].ravel() for y in (0, 2) for x in (0, 2)]
    for n in (0, 1):
        words = found[f"gr.out{n}"].words
        assert words[0] & 31 == n
        assert (words[1:] == np.concatenate(wanted)).all()


def headed(words: npt.NDArray[np.int32], number: int) -> npt.NDArray[np.uint32]:
    """A packet of the programmable logic: source -1, -1 (UG1603, Packet Processing)."""
    header = number | 31 << 16 | 127 << 21
    header |= (~header.bit_count() & 1) << 31
    return np.concatenate([np.array([header], np.uint32), words.view(np.uint32)])


def test_packets_of_the_programmable_logic_are_split_and_merged() -> None:
    g = Sketch()
    a, z = g.plio("in"), g.plio("out", "out")
    split, merge = g.packets("split", "sp", 2), g.packets("merge", "mg", 2)
    g.connect(a, split.ins[0])
    g.connect(merge.outs[0], z)
    bodies = {}
    for n in (0, 1):
        k = g.kernel(f"k{n}", [buffer("int32", 16)], [buffer("int32", 16)])
        g.connect(split.outs[n], k.ins[0])
        g.connect(k.outs[0], merge.ins[n])
        bodies[k] = plus(1000 * n)
    run = started(g, bodies)
    data = np.arange(64, dtype=np.int32).reshape(2, 2, 16)
    for turn in data:
        for n in (0, 1):
            run.feed("in", headed(turn[n], n), np.eye(1, 17, 16, dtype=np.uint8)[0])
    packets = ended(run, 2).outputs["gr.out"].words.reshape(4, 17)
    ids = packets[:, 0] & 31
    assert sorted(ids.tolist()) == [0, 0, 1, 1]
    for n in (0, 1):
        assert (packets[ids == n, 1:] == data[:, n] + 1000 * n).all()


def test_a_kernel_writes_the_headers_of_its_packet_stream() -> None:
    g = Sketch()
    a, split = g.plio("in"), g.packets("split", "sp", 2)
    k = g.kernel("k", [buffer("int32", 16)], [port("packet_stream", "int32")])
    g.connect(a, k.ins[0])
    g.connect(k.outs[0], split.ins[0], "pktstream")
    seen: list[tuple[int, ...]] = []

    def sender(core: Core, x: Any, out: StreamPort) -> Generator[Action, Any, None]:
        seen.append(out.packet_ids)
        for half, number in zip(ints(x).reshape(2, 8), out.packet_ids, strict=True):
            yield core.put_stream(headed(half, number), last=True)

    bodies: dict[Made, Body] = {k: sender}
    for n in (0, 1):
        j = g.kernel(f"j{n}", [buffer("int32", 8)], [buffer("int32", 8)])
        g.connect(split.outs[n], j.ins[0])
        g.connect(j.outs[0], g.plio(f"out{n}", "out"))
        bodies[j] = plus(0)
    run = started(g, bodies)
    data = np.arange(32, dtype=np.int32)
    run.feed("in", data)
    found = ended(run, 2)
    assert seen == [(0, 1), (0, 1)]
    for n in (0, 1):
        assert (found.outputs[f"gr.out{n}"].words == data.reshape(2, 2, 8)[:, n].ravel()).all()


@pytest.mark.parametrize("device", ["npu1", "xc2ve3858"])
def test_gmio_moves_what_the_host_asks_for(device: str) -> None:
    g = Sketch()
    a, z = g.gmio("in", burst_bytes=256), g.gmio("out", "out")
    k = g.kernel("k", [buffer("int32", 16)], [buffer("int32", 16)])
    g.connect(a, k.ins[0])
    g.connect(k.outs[0], z)
    run = started(g, {k: plus(5)}, device)
    source, target = g.owner(a), g.owner(z)
    data = np.arange(64 * 12, dtype=np.int32).reshape(12, 64)
    got = []
    run.run(ROOT, 48)
    for piece in data:  # more than the queue and the descriptors hold
        run.send(source, piece.tobytes())
        got.append(run.receive(target, piece.nbytes))
    run.wait_transfers(target)
    assert b"".join(each.data() for each in got) == (data + 5).tobytes()
    run.end(ROOT)
    assert run.result().result.status is Status.FINISHED


@pytest.mark.parametrize("waits", [True, False])
def test_data_that_the_host_never_waits_for_are_named(waits: bool) -> None:
    g = Sketch()
    a, z = g.gmio("in"), g.gmio("out", "out")
    k = g.kernel("k", [buffer("int32", 16)], [buffer("int32", 16)])
    g.connect(a, k.ins[0])
    g.connect(k.outs[0], z)
    run = started(g, {k: plus(5)})
    run.run(ROOT, 2)
    for _ in range(2):
        run.send(g.owner(a), bytes(64))
        run.receive(g.owner(z), 64)
    if waits:
        run.wait_transfers(g.owner(z))
    run.end(ROOT)
    found = [(each.code, each.message) for each in run.result().result.findings]
    message = (
        "gr.out is asked for 128 bytes, and the host never waits for them: its memory may not have them when "
        "the host reads it."
    )
    assert found == ([] if waits else [("MT0318", message)])


@pytest.mark.parametrize("ends", [True, False])
def test_a_host_that_hangs_may_wait_for_other_data_later(ends: bool) -> None:
    g, bodies, nets = Sketch(), {}, []
    for name in ("1", "2"):
        a, z = g.gmio(f"in{name}"), g.gmio(f"out{name}", "out")
        k = g.kernel(f"k{name}", [buffer("int32", 16)], [buffer("int32", 16)])
        g.connect(a, k.ins[0])
        g.connect(k.outs[0], z)
        bodies[k] = plus(5)
        nets.append((g.owner(a), g.owner(z)))
    run = started(g, bodies)
    run.run(ROOT, 2)
    for (source, target), sent in zip(nets, (64, 128), strict=True):
        run.send(source, bytes(sent))
        run.receive(target, 128)
    with pytest.raises(DesignError, match=r"gr\.out1: transfer is waiting for ever"):
        run.wait_transfers(nets[0][1])
    found = [(each.code, each.sides[0].who) for each in run.result(ends=ends).result.findings]
    assert found == [("MT0318", "gr.out2")] * ends + [("MT0304", "gr.k1")]


def test_outputs_of_a_host_that_profiles_are_no_warning() -> None:
    g = Sketch()
    a, z = g.plio("in"), g.gmio("out", "out")
    k = g.kernel("k", [buffer("int32", 16)], [buffer("int32", 16)])
    g.connect(a, k.ins[0])
    g.connect(k.outs[0], z)
    run = started(g, {k: plus(5)})
    run.start_profiling(g.owner(a), -1, "io_stream_running_event_count")
    run.run(ROOT, 1)
    run.feed("gr.in", np.arange(16, dtype=np.int32))
    run.receive(g.owner(z), 64)
    run.end(ROOT)
    found = run.result().result
    assert [(each.code, each.severity) for each in found.findings] == [("MT0318", Severity.NOTE)]
    assert found.good


def test_what_an_input_gmio_lacks_is_counted() -> None:
    g = Sketch()
    a, z = g.gmio("in"), g.plio("out", "out")
    k = g.kernel("k", [buffer("int32", 16)], [buffer("int32", 16)])
    g.connect(a, k.ins[0])
    g.connect(k.outs[0], z)
    run = started(g, {k: plus(5)})
    run.run(ROOT, 4)
    run.send(g.owner(a), bytes(128))
    run.end(ROOT)
    found = run.result()
    assert [each.message for each in found.missing] == [
        "gr.in ran out of data: 32 int32 came, the iterations asked for need 64; 32 are missing"
    ]
    assert [each.fix for each in found.result.findings] == [
        "Let gr.in bring 64 int32, or run the graph for fewer iterations."
    ]


@pytest.mark.parametrize("rows", [1, 2])
def test_a_tiling_that_reads_half_of_its_buffer_lacks_input_and_no_length_is_off(rows: int) -> None:
    """A kernel takes two tiles in an iteration, of one turn of the buffer or of two."""
    g = Sketch()
    a, z = g.gmio("in"), g.plio("out", "out")
    written, read = Tiling((32,), (32,), (0,)), Tiling((32,), (16,), (0,), (Loop(0, 16, rows),))
    m = g.shared("m", "int32", (32,), [[written]], [[read]])
    k = g.kernel("k", [buffer("int32", 16)], [buffer("int32", 16)], repetition=2)
    g.connect(a, m.ins[0])
    g.connect(m.outs[0], k.ins[0])
    g.connect(k.outs[0], z)
    run = started(g, {k: plus(5)})
    run.run(ROOT, 2)
    run.send(g.owner(a), bytes(4 * 64))
    run.end(ROOT)
    found = [(each.code, each.message) for each in run.result().result.findings]
    message = (
        "gr.m.out[0] reads 16 of the 32 elements that are written to gr.m in a turn, and "
        "gr.in ran out of data: 64 int32 came, the iterations asked for need 128; 64 are missing."
    )
    assert found == ([("MT0304", message)] if rows == 1 else [])
    assert bool(run.lowered.unread) is (rows == 1)


@pytest.mark.parametrize("is_cropped", [False, True])
def test_a_buffer_that_no_short_input_reaches_may_be_cropped(is_cropped: bool) -> None:
    g, bodies, ends = Sketch(), {}, []
    for name, rows in (("A", 2), ("B", 1 if is_cropped else 2)):
        a, z = g.gmio(f"in{name}"), g.plio(f"out{name}", "out")
        written, read = Tiling((32,), (32,), (0,)), Tiling((32,), (16,), (0,), (Loop(0, 16, rows),))
        m = g.shared(f"m{name}", "int32", (32,), [[written]], [[read]])
        k = g.kernel(f"k{name}", [buffer("int32", 16)], [buffer("int32", 16)], repetition=2)
        g.connect(a, m.ins[0])
        g.connect(m.outs[0], k.ins[0])
        g.connect(k.outs[0], z)
        bodies[k] = plus(5)
        ends.append(g.owner(a))
    run = started(g, bodies)
    run.run(ROOT, 2)
    run.send(ends[0], bytes(4 * 32))
    run.send(ends[1], bytes(4 * (128 if is_cropped else 64)))
    run.end(ROOT)
    (found,) = run.result().result.findings
    says = "gr.inA ran out of data: 32 int32 came, the iterations asked for need 64; 32 are missing."
    assert found.code == "MT0304"
    assert found.message == f"gr.kA waits for data in gr.kA.in[0], and {says}"
    assert found.fix == "Let gr.inA bring 64 int32, or run the graph for fewer iterations."


def test_a_buffer_that_is_cropped_on_purpose_is_no_finding_of_a_run() -> None:
    g = Sketch()
    a, z = g.gmio("in"), g.plio("out", "out")
    written, read = Tiling((32,), (32,), (0,)), Tiling((32,), (16,), (0,))
    m = g.shared("m", "int32", (32,), [[written]], [[read]])
    k = g.kernel("k", [buffer("int32", 16)], [buffer("int32", 16)])
    g.connect(a, m.ins[0])
    g.connect(m.outs[0], k.ins[0])
    g.connect(k.outs[0], z)
    run = started(g, {k: plus(5)})
    run.run(ROOT, 2)
    run.send(g.owner(a), bytes(4 * 64))
    run.end(ROOT)
    found = run.result().result
    assert (found.good, found.findings) == (True, ())
    assert run.lowered.unread


def test_lengths_of_streams_that_no_short_input_reaches_stay() -> None:
    g = Sketch()
    a, b = g.gmio("a"), g.gmio("b")
    for n, each in enumerate((a, b)):
        k = g.kernel(f"k{n}", [buffer("int32", 16)], [buffer("int32", 16)])
        g.connect(each, k.ins[0])
        g.connect(k.outs[0], g.plio(f"out{n}", "out"))
    run = started(g, {})
    result = run.result().result
    lengths = [
        Finding("MT0323", Severity.ERROR, "", (Side(f"gr.k{n}.in[0]", "takes 32 words"),)) for n in range(2)
    ]
    short = [Missing("gr.a", 16, 32, "int32")]
    found = with_counts(replace(result, findings=tuple(lengths)), short, run.lowered).findings
    assert [each.code for each in found] == ["MT0304", "MT0323"]
    assert found[1] == lengths[1]


@pytest.mark.parametrize(("name", "is_first"), [("x", True), ("x", False), ("y", True)])
def test_of_two_inputs_of_one_name_the_one_that_lacks_data_is_meant(name: str, *, is_first: bool) -> None:
    """``main`` waits for a graph whose buffers have a fixed volume; those of a kernel beside it have none."""
    g = Sketch()
    number = 0
    for n, is_fixed in enumerate((is_first, not is_first)):
        a = g.gmio("x" if is_fixed else name, graph=g.graph(f"g{n}"))
        more = {} if is_fixed else {"kind": "async_buffer", "is_async": True}
        k = g.kernel(f"k{n}", [buffer("int32", 16) | more], [buffer("int32", 16)])
        g.connect(a, k.ins[0])
        g.connect(k.outs[0], g.plio(f"out{n}", "out"))
        number = g.owner(a) if is_fixed else number
    account = HostAccount(started(g, {}).lowered)
    send = Transfer(gmio=number, into_array=True, memory=0, offset=0, nbytes=64, waits=False)
    for request in (RunGraph(graph=ROOT, iterations=2), send, Wait(graph=ROOT, cycles=-1)):
        account.goes_on(request)
    assert [each.message for each in account.findings] == [
        "main waits for the graph, and gr.x runs out of data: 16 int32 come, "
        "the iterations asked for need 32; 16 are missing."
    ]


@pytest.mark.parametrize(
    ("needed", "rest"),
    [(32, "the iterations asked for need 32; 16 are missing"), (None, "and its reader waits for more")],
)
def test_what_an_input_is_called_does_not_change_with_the_tense(needed: int | None, rest: str) -> None:
    """A PLIO may have any name."""
    short = Missing("all that came, ran out of data", 16, needed, "int32")
    assert short.message == f"{short.name} ran out of data: 16 int32 came, {rest}"
    assert short.will_run_out == f"{short.name} runs out of data: 16 int32 come, {rest}"


def test_a_transfer_that_never_ends_is_said() -> None:
    g = Sketch()
    k = g.kernel("k", [buffer("int32", 16)], [buffer("int32", 16)])
    z = g.gmio("out", "out")
    g.connect(g.gmio("in"), k.ins[0])
    g.connect(k.outs[0], z)
    run = started(g, {k: plus(5)})
    run.receive(g.owner(z), 64)
    with pytest.raises(DesignError, match=r"gr\.out: transfer is waiting for ever for 1 of 1 transfers"):
        run.wait_transfers(g.owner(z))
    with pytest.raises(DesignError, match=r"gr\.out: transfer is 6 bytes; it must be whole 32-bit words"):
        run.receive(g.owner(z), 6)
    with pytest.raises(DesignError, match=r"gr\.out: transfer is gm2aie; it must be the other direction"):
        run.send(g.owner(z), bytes(64))


def test_external_buffers_are_read_and_written_by_tilings() -> None:
    g = Sketch()
    tiles = Tiling((8, 8), (4, 4), (0, 0), (Loop(0, 4, 2), Loop(1, 4, 2)))
    e = g.shared("e", "int32", (8, 8), [], [[tiles]], external=True)
    f = g.shared("f", "int32", (8, 8), [[tiles]], [], external=True)
    k = g.kernel("k", [buffer("int32", 16)], [buffer("int32", 16)])
    g.connect(e.outs[0], k.ins[0])
    g.connect(k.outs[0], f.ins[0])
    run = started(g, {k: plus(3)})
    data, back = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    with pytest.raises(DesignError, match=r"gr\.e\.out\[0\]: transfer is without memory"):
        run.start(e.outs[0])
    with pytest.raises(DesignError, match=r"gr\.e: data is 128 bytes; it must be 256 bytes"):
        run.set_address(e.id, np.zeros(32, np.int32))
    run.set_address(e.id, data)
    run.set_address(f.id, back)
    run.run(ROOT, 2)
    for turn in (0, 1):
        data += 100 * turn
        run.start(e.outs[0])
        run.start(f.ins[0])
        run.wait_transfers(f.ins[0])
        assert (back == data + 3).all()
    run.end(ROOT)
    assert run.result().result.status is Status.FINISHED


def test_a_buffer_that_no_port_writes_is_filled_by_the_host() -> None:
    g = Sketch()
    first = np.arange(32, dtype=np.int32)
    m = g.shared("m", "int32", (32,), [], [[]], initial=first.tobytes().hex())
    k = g.kernel("k", [buffer("int32", 16)], [buffer("int32", 16)])
    g.connect(m.outs[0], k.ins[0])
    g.connect(k.outs[0], g.plio("out", "out"))
    run = started(g, {k: plus(1)})
    run.run(ROOT, 3)
    run.wait(ROOT)
    run.fill(m.id, (first * 2).tobytes())
    found = ended(run, 2)
    wanted = np.concatenate([first] * 3 + [first * 2] * 2) + 1
    assert (found.outputs["gr.out"].words == wanted).all()


@pytest.mark.parametrize("single", [False, True])
def test_the_margin_is_the_end_of_the_block_before(single: bool) -> None:
    """DEV-ADF-31: zeros before the first block."""
    g = Sketch()
    k = g.kernel("k", [buffer("int32", 16, margin=4, single=single)], [buffer("int32", 16)])
    g.connect(g.plio("in"), k.ins[0])
    g.connect(k.outs[0], g.plio("out", "out"))

    def sliding(x: Any, y: Any) -> None:
        ints(y)[:] = np.convolve(ints(x), np.ones(5, np.int32), "valid")

    run = started(g, {k: compute(sliding)})
    data = np.arange(1, 65, dtype=np.int32)
    run.feed("in", data)
    found = ended(run, 4).outputs["gr.out"].words
    assert (
        found == np.convolve(np.concatenate([np.zeros(4, np.int32), data]), np.ones(5, np.int32), "valid")
    ).all()


def test_a_kernel_acquires_its_asynchronous_buffers() -> None:
    """It takes one block and gives two, in the order of the turns."""
    g = Sketch()
    k = g.kernel(
        "k",
        [port("async_buffer", "int32", 16, is_async=True)],
        [port("async_buffer", "int32", 16, is_async=True, repetition=2)],
    )
    g.connect(g.plio("in"), k.ins[0])
    g.connect(k.outs[0], g.plio("out", "out"))
    turn = {"in": 0, "out": 0}

    def body(core: Core, x: PortMemory, y: PortMemory) -> Generator[Action, Any, None]:
        assert x.locks is not None
        assert y.locks is not None
        slot = turn["in"] % len(x.buffers)
        take, give = x.locks[slot]
        yield core.acquire(take.lock, take.value)
        for half in (0, 1):
            there = turn["out"] % len(y.buffers)
            take_out, give_out = y.locks[there]
            yield core.acquire(take_out.lock, take_out.value)
            ints(y.buffers[there])[:] = ints(x.buffers[slot]) + 100 * half
            yield core.release(give_out.lock, give_out.value)
            turn["out"] += 1
        yield core.release(give.lock, give.value)
        turn["in"] += 1

    run = started(g, {k: body})
    data = np.arange(80, dtype=np.int32).reshape(5, 1, 16)
    run.feed("in", data)
    assert (ended(run, 5).outputs["gr.out"].words == np.concatenate([data, data + 100], 1).ravel()).all()


def test_an_asynchronous_buffer_waits_for_all_its_readers() -> None:
    """Its release gives each reader a token of its own, so that the slow one loses no block (DEV-ADF-30)."""
    g = Sketch()
    k = g.kernel("k", [buffer("int32", 16)], [port("async_buffer", "int32", 16, is_async=True)])
    readers = [g.kernel(f"j{n}", [buffer("int32", 16)], [buffer("int32", 16)]) for n in (0, 1)]
    shared, at = Blocks((0, 3), (1024, 2048), 64), {k.id: (0, 3)}
    ends, nets = [], []

    def stream_net(name: str, source: End, target: End) -> None:
        nets.append(Net(name, "stream", (source,), (target,), 4))

    stream_net("in", End(g.plio("in"), (0, 0), shim_port=0), End(k.ins[0], (0, 3), 0, at_3(4096), 16))
    for n, each in enumerate(readers):
        place = at[each.id] = (0, 2 + 2 * n)
        ends.append(End(each.ins[0], place, -1, shared, 16))
        out = End(each.outs[0], place, 0, replace(at_3(8192), tile=place), 16)
        stream_net(f"j{n}", out, End(g.plio(f"out{n}", "out"), (0, 0), shim_port=n))
    nets.append(Net("k", "memory", (End(k.outs[0], (0, 3), elements=16),), tuple(ends), 4))
    kernels = tuple(PlannedKernel(number, tile, 1) for number, tile in at.items())

    def body(core: Core, x: Any, y: PortMemory) -> Generator[Action, Any, None]:
        assert y.locks is not None
        slot = int(ints(x)[0]) // 16 % 2
        take, *give = y.locks[slot]
        yield core.acquire(take.lock, take.value)
        ints(y.buffers[slot])[:] = ints(x)
        for use in give:
            yield core.release(use.lock, use.value)

    bodies = {f"k{k.id}": body} | {
        f"k{each.id}": compute(passed, cycles) for each, cycles in zip(readers, (5, 300), strict=True)
    }
    run = GraphRun(Plan(g.description(), "npu1", 1, kernels, (), tuple(nets)), calls(**bodies))
    run.init(ROOT)
    data = np.arange(16 * 6, dtype=np.int32)
    run.feed("in", data)
    found = ended(run, 6).outputs
    for n in (0, 1):
        assert (found[f"gr.out{n}"].words == data).all()


def at_3(offset: int) -> Blocks:
    """Ping and pong of 16 elements in the tile (0, 3)."""
    return Blocks((0, 3), (offset, offset + 64), 64)


def passed(x: Any, y: Any) -> None:
    """What a kernel does that passes its block on."""
    ints(y)[:] = ints(x)


def through(written: Tiling, read: Tiling, dimensions: tuple[int, ...]) -> GraphRun:
    """In -> shared buffer -> out, with no kernel; two buffers."""
    g = Sketch()
    m = g.shared("m", "int32", dimensions, [[written]], [[read]], num_buffers=2)
    g.connect(g.plio("in"), m.ins[0])
    g.connect(m.outs[0], g.plio("out", "out"))
    run = GraphRun(plan_of(g.description(), "npu1"), calls(), RunOptions(max_cycles=2_000))
    run.init(ROOT)
    return run


def test_a_side_of_a_shared_buffer_may_pass_more_than_the_other() -> None:
    """UG1603, Tiling Parameters Specification: 72 of 96 elements are written, 84 read, as tiles overlap."""
    written = Tiling((12, 8), (4, 3), (0, 0), (Loop(1, 3, 2), Loop(0, 4, 3)))
    read = Tiling((12, 8), (7, 2), (0, 0), (Loop(0, 5, 2), Loop(1, 2, 3)))
    run = through(written, read, (12, 8))
    data = np.arange(1, 73, dtype=np.int32)
    run.feed("in", data)
    found = ended(run, 1)
    memory, blocks = np.zeros((8, 12), np.int32), data.reshape(3, 2, 3, 4)
    for x in range(3):
        for y in range(2):
            memory[3 * y : 3 * y + 3, 4 * x : 4 * x + 4] = blocks[x, y]
    wanted = [memory[y : y + 2, x : x + 7].ravel() for y in (0, 2, 4) for x in (0, 5)]
    assert (found.outputs["gr.out"].words == np.concatenate(wanted)).all()
    assert not found.notes


def test_what_is_read_without_being_written_is_noted_and_what_goes_on_to_the_limit() -> None:
    """A tiling without traversal is one tile a turn (XD100: permute_i, which its page calls impossible)."""
    run = through(Tiling((8,), (1,), (0,)), Tiling((8,), (1,), (0,), (Loop(0, 3, 4),)), (8,))
    run.feed("in", np.arange(3_000, dtype=np.int32))
    run.run(ROOT, 8)
    run.end(ROOT)
    found = run.result()
    assert found.result.status is Status.LIMIT
    (surplus,), unwritten = found.notes, found.result.findings[0]
    assert (unwritten.code, unwritten.severity) == ("MT0136", Severity.WARNING)
    assert unwritten.sides[0].place == "graph.h:1"
    assert unwritten.message == (
        "gr.m.out[0] reads 2 elements of gr.m that no port writes, from number 3 on: in a turn 1 of its 8 "
        "elements are written."
    )
    assert re.fullmatch(
        r"the limit of cycles ended the run, and gr\.out got [\d,]+ elements, where the iterations asked for "
        r"give 32: gr\.m\.out\[0\] passes 4 in each turn, as long as there is input",
        surplus,
    )


def shared_by_two(first: Tiling, second: Tiling) -> GraphRun:
    """Two inputs -> shared buffer of 8 -> out, with no kernel."""
    g = Sketch()
    m = g.shared("m", "int32", (8,), [[first], [second]], [[Tiling((8,), (8,), (0,))]], num_buffers=2)
    for number, end in enumerate(m.ins):
        g.connect(g.plio(f"in{number}"), end)
    g.connect(m.outs[0], g.plio("out", "out"))
    return GraphRun(plan_of(g.description(), "npu1"), calls(), RunOptions(max_cycles=2_000))


def test_a_tiling_that_writes_elements_twice_is_named_where_others_are_not_written() -> None:
    twice = Tiling((8,), (4,), (0,), (Loop(0, 2, 2),))
    (found,) = through(twice, Tiling((8,), (8,), (0,)), (8,)).lowered.findings
    assert found.sides[0].who == "gr.m.in[0]"
    assert found.message.endswith(
        "6 of its 8 elements are written; gr.m.in[0] writes 2 elements more than once."
    )


def test_two_ports_that_write_the_same_elements_are_both_named() -> None:
    half = Tiling((8,), (4,), (0,))
    (found,) = shared_by_two(half, half).lowered.findings
    assert [each.who for each in found.sides] == ["gr.m.in[0]", "gr.m.in[1]", "gr.m.out[0]"]
    assert found.message.endswith("gr.m.in[0] and gr.m.in[1] write the same 4 elements.")
    assert not shared_by_two(half, Tiling((8,), (4,), (4,))).lowered.findings


def test_elements_that_are_written_twice_are_fine_where_none_is_left_out() -> None:
    over = Tiling((8,), (4,), (0,), (Loop(0, 2, 3),))
    assert not through(over, Tiling((8,), (8,), (0,)), (8,)).lowered.findings


def test_a_margin_of_no_whole_words_is_refused() -> None:
    g = Sketch()
    k = g.kernel("k", [buffer("int16", 16, margin=3)], [buffer("int16", 16)])
    g.connect(g.plio("in"), k.ins[0])
    g.connect(k.outs[0], g.plio("out", "out"))
    message = (
        r"gr\.k\.in\[0\]: margin is 6 bytes; it must be whole 32-bit words.* Make it a multiple of 2 elements"
    )
    with pytest.raises(DesignError, match=message):
        GraphRun(plan_of(g.description(), "npu1"), calls())
