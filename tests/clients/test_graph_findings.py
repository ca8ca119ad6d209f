"""Does a graph's run say what waits for what, what is missing and how fast its ports are, in its names?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from memtile.adf.graph_result import GraphResult
from memtile.adf.host_waits import HostWaitError
from memtile.adf.planning import plan_of
from memtile.adf.port_times import PortTimes
from memtile.adf.running import GraphRun
from memtile.cli.amd_tools.port_tables import latency_table, profile_table, throughput_table
from memtile.explain.results import Status
from memtile.runs.options import RunOptions
from support.adf.plans import calls, compute
from support.adf.sketch import ROOT, Sketch, buffer, stream

DEVICE = "xcve2802"
BLOCK = 64


def nothing(*_: Any) -> None:
    """A kernel that leaves its outputs as they are."""


def run_of(g: Sketch, given: dict[str, int], iterations: int | None = 1, **more: Any) -> GraphRun:
    """A graph whose kernels compute nothing, begun, with so many words at its inputs."""
    description = g.description()
    bodies = {f"k{each.id}": compute(nothing) for each in description.kernels}
    run = GraphRun(plan_of(description, DEVICE), calls(**bodies), RunOptions(**more))
    for name, words in given.items():
        run.feed(name, np.arange(words, dtype=np.int32))
    run.init(ROOT)
    run.run(ROOT, iterations)
    return run


def normalization(outputs: int) -> Sketch:
    """The graph of XD100 tutorial 13: version 1 has one output of the shared buffer for three kernels.

    The mean needs all blocks before it gives anything, which the others wait for after two blocks.
    """
    g, blocks = Sketch(), 6
    a, z = g.plio("in", width=128), g.plio("out", "out", width=128)
    m = g.shared("mtxA", "int32", (BLOCK, blocks), 1, outputs, num_buffers=1)
    mean = g.kernel("k_mean", [buffer("int32", BLOCK * blocks)], [buffer("int32", blocks)])
    deviation = g.kernel("k_deviation", [buffer("int32", BLOCK), buffer("int32", 1)], [buffer("int32", 2)])
    norm = g.kernel("k_norm", [buffer("int32", BLOCK), buffer("int32", 2)], [buffer("int32", BLOCK)])
    g.connect(a, m.ins[0])
    for number, kernel in enumerate((mean, deviation, norm)):
        g.connect(m.outs[number % outputs], kernel.ins[0])
    g.connect(mean.outs[0], deviation.ins[1])
    g.connect(deviation.outs[0], norm.ins[1])
    g.connect(norm.outs[0], z)
    return g


def passing(**more: Any) -> Sketch:
    """One kernel between two PLIOs."""
    g = Sketch()
    a, z = g.plio("in", **more), g.plio("out", "out", **more)
    k = g.kernel("k", [buffer("int32", BLOCK)], [buffer("int32", BLOCK)])
    g.connect(a, k.ins[0])
    g.connect(k.outs[0], z)
    return g


def ended(run: GraphRun) -> GraphResult:
    run.end(ROOT)
    return run.result()


def test_a_deadlock_is_told_by_the_ports_of_amds_report() -> None:
    """XD100 tutorial 13, version 1: mean.in[0], deviation.in[0], deviation.in[1], mean.out[0]."""
    found = ended(run_of(normalization(outputs=1), {"in": 6 * BLOCK}))
    (finding,) = found.result.findings
    steps = (
        "gr.k_mean waits for data in gr.k_mean.in[0]",
        "gr.k_mean.in[0] gets no data: its stream also goes to gr.k_deviation.in[0], which takes no more",
        "gr.k_deviation.in[0] has no free buffer until gr.k_deviation has emptied one",
        "gr.k_deviation waits for data in gr.k_deviation.in[1]",
        "gr.k_deviation.in[1] waits for data of gr.k_mean.out[0]",
        "gr.k_mean.out[0] has nothing to send until gr.k_mean gives data",
    )
    assert finding.message == f"Deadlock, each waits for the next: {'; '.join(steps)}."
    assert "a port of the shared buffer for each of its readers" in finding.fix
    assert found.waits[:3] == (
        "gr.k_mean waits for data in gr.k_mean.in[0]",
        "gr.k_deviation waits for data in gr.k_deviation.in[1]",
        "gr.k_norm waits for data in gr.k_norm.in[1]",
    )
    assert not found.missing
    places = [side.place for side in finding.sides if "graph.h" in side.place]
    assert places == ["BD 0, graph.h:8", "BD 0, graph.h:8", "BD 2, graph.h:11", "BD 2, graph.h:11"]
    for text in (*found.result.waiting, *(node.name for node in found.result.waits.nodes)):
        assert "compute(" not in text
        assert "core (" not in text


def test_input_that_is_left_over_is_no_failure() -> None:
    """Version 2 has a port for each kernel; its file has more than the iterations need."""
    found = ended(run_of(normalization(outputs=3), {"in": 3 * 6 * BLOCK}))
    assert (found.result.status, found.result.good, found.unfinished) == (Status.FINISHED, True, ())
    assert (
        "768 of 1,152 int32 in the file of gr.in are left over: the iterations asked for need no more"
        in found.notes
    )


def test_throughput_is_that_of_aiesimulator() -> None:
    """512 words of 32 bits at a quarter of the clock: 1252.446184 MBps in XD100's page on multicast."""
    found = ended(run_of(passing(), {"in": 512}, 8))
    (out,), (into,) = found.times, found.input_times
    assert PortTimes("z", 512 * 4, 1000, 1000 + 511 * 4, 1250.0).throughput == pytest.approx(1252.446184)
    assert (into.first, into.last) == (0, 511 * 4)
    assert into.throughput == pytest.approx(1252.446184)
    (latency,) = found.latencies
    assert (latency.source, latency.target) == ("gr.in", "gr.out")
    assert (latency.first, latency.last) == (out.first, out.last - 511 * 4)


def test_tables_are_those_of_aiesimulator() -> None:
    """The form of XD100's printed outputs: logical names, inputs first, six decimals."""
    found = ended(run_of(passing(), {"in": 512}, 8))
    rule, head, _, into, out, last = throughput_table(found)
    assert rule == last == "-" * 98
    assert head == "Port Name           | Type              | Average Throughput"
    assert into == "in                  | IN                | 1252.446184 MBps  "
    assert out.startswith("out                 | OUT               | ")
    (latency,) = found.latencies
    first, late = latency.first / 1.25, latency.last / 1.25
    assert latency_table(found)[3] == f"{'in':20}| {'out':18}| {first:.1f} ns first, {late:.1f} ns last"
    assert profile_table(found)[3].startswith(f"{'gr.k':20}| {'8':18}| ")


def test_a_single_buffer_that_both_ends_wait_for_is_told() -> None:
    """UG1603: num_buffers = 2 makes ping and pong of a shared buffer."""
    for buffers in (1, 2):
        g = Sketch()
        a, z = g.plio("in", width=128), g.plio("out", "out", width=128)
        m = g.shared("m", "int32", (BLOCK,), 1, 1, num_buffers=buffers)
        k = g.kernel("k", [buffer("int32", BLOCK)], [buffer("int32", BLOCK)])
        g.connect(a, m.ins[0])
        g.connect(m.outs[0], k.ins[0])
        g.connect(k.outs[0], z)
        found = ended(run_of(g, {"in": 16 * BLOCK}, 16))
        assert [(each.code, each.fix) for each in found.limits] == (
            [("MT0504", "Give it a second buffer: num_buffers(gr.m) = 2.")] if buffers == 1 else []
        )
    (work,) = found.kernels
    assert (work.name, work.calls) == ("gr.k", 16)
    assert work.text.startswith("gr.k: 16 calls, ")


def test_latency_is_told_between_ports_that_data_go_between() -> None:
    g = Sketch()
    for name in ("p", "q"):
        a, z = g.plio(f"in_{name}"), g.plio(f"out_{name}", "out")
        k = g.kernel(name, [buffer("int32", BLOCK)], [buffer("int32", BLOCK)])
        g.connect(a, k.ins[0])
        g.connect(k.outs[0], z)
    found = ended(run_of(g, {"in_p": BLOCK, "in_q": BLOCK}))
    pairs = [(each.source, each.target) for each in found.latencies]
    assert pairs == [("gr.in_p", "gr.out_p"), ("gr.in_q", "gr.out_q")]


def test_a_stream_that_runs_dry_is_missing_input() -> None:
    g = Sketch()
    a, z = g.plio("in"), g.plio("out", "out")
    k = g.kernel("k", [stream("int32")], [stream("int32")])
    g.connect(a, k.ins[0])
    g.connect(k.outs[0], z)

    def body(core: Any, *_: Any) -> Any:
        for _n in range(8):
            yield core.put_stream((yield core.get_stream()))

    run = GraphRun(plan_of(g.description(), DEVICE), calls(**{f"k{k.id}": body}))
    run.feed("in", np.arange(12, dtype=np.int32))
    run.init(ROOT)
    run.run(ROOT, 2)
    found = ended(run)
    assert [each.message for each in found.missing] == [
        "gr.in ran out of data: 12 int32 came, and its reader waits for more"
    ]


def test_a_wait_for_a_run_without_end_ends_the_run() -> None:
    """UG1079: run() without a count runs for ever."""
    run = run_of(passing(), {"in": 4 * BLOCK}, None)
    with pytest.raises(HostWaitError, match=r"wait\(\) is called for a run without end"):
        run.wait(ROOT)
    found = run.result()
    assert (found.endless, found.iterations, found.result.status) == (("gr",), {"gr": 4}, Status.FINISHED)


def test_a_kernel_that_polls_an_empty_stream_is_told_at_the_limit() -> None:
    for words, more in (
        (4, "; gr.in, which it reads, has no more data: it polls an empty stream"),
        (200, ""),
    ):
        g = Sketch()
        a, z = g.plio("in"), g.plio("out", "out")
        k = g.kernel("k", [stream("int32")], [stream("int32")])
        g.connect(a, k.ins[0])
        g.connect(k.outs[0], z)

        def polls(core: Any, *_: Any) -> Any:
            while True:
                if core.has_word():
                    yield core.put_stream((yield core.get_stream()))
                yield core.cycles(20)

        run = GraphRun(
            plan_of(g.description(), DEVICE), calls(**{f"k{k.id}": polls}), RunOptions(max_cycles=900)
        )
        run.feed("in", np.arange(words, dtype=np.int32))
        run.init(ROOT)
        run.run(ROOT, 1)
        with pytest.raises(HostWaitError):
            run.wait(ROOT)
        (note,) = run.result().notes
        assert note == f"gr.k is in a call at the limit of cycles and waits for nothing{more}"


def test_the_limit_of_cycles_ends_a_call_that_waits() -> None:
    run = run_of(passing(), {"in": 4 * BLOCK}, 4, max_cycles=500)
    with pytest.raises(HostWaitError, match="the limit of 500 cycles is reached while main waits"):
        run.wait(ROOT)
    found = run.result()
    assert (found.result.status, found.result.cycles) == (Status.LIMIT, 500)
