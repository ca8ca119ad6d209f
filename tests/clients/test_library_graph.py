"""Does a graph with a kernel of DSPLib's name take that library's published cycles, and say so as a band?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from left_out import needs
from memtile import adf, schema
from memtile.adf.cost_ends import cost_band
from memtile.arch.library_cycles import KernelShape, cycle_band
from memtile.cli.run_graph import ShownRun
from memtile.explain.results import Status
from memtile.plain_text import json_text
from memtile.sim.loop.engine import Engine
from support.designs.cpp_designs import FOUND

pytestmark = needs("c++", FOUND)
HEADER = """#pragma once
#include <adf.h>
using input_stream_cacc48 = adf::input_cascade<cacc64>;  // as libraries declare it for AIE-ML
namespace xf::dsp::aie::sample_delay {
template <typename T, unsigned N, unsigned Streams, unsigned Most>
class sample_delay {
  public:
    void run(adf::input_buffer<T>& in, adf::output_buffer<T>& out);
    static void registerKernelClass() { REGISTER_FUNCTION(sample_delay::run); }
};
}
"""
KERNEL = """#include "delay.h"
namespace xf::dsp::aie::sample_delay {
template <typename T, unsigned N, unsigned Streams, unsigned Most>
void sample_delay<T, N, Streams, Most>::run(adf::input_buffer<T>& in, adf::output_buffer<T>& out) {
    ::aie::random_circular_iterator<T, N> from(in.data());
    ::aie::vector_circular_iterator<T, 8, N> vectors(in.data());
    from -= 1;
    vectors += N / 8 + 1;
    out.data()[0] = *from;
    out.data()[1] = (*vectors).get(0);
    for (unsigned i = 2; i < N; ++i)
        chess_prepare_for_pipelining
        chess_pipeline_non_leaf_loop_solution(4) { out.data()[i] = in.data()[i]; }
}
}
"""
GRAPH = """#include "delay.h"
using namespace adf;
struct part : graph {
    kernel k;
    input_port in;
    output_port out;
    part() {
        using Kernel = xf::dsp::aie::sample_delay::sample_delay<int32, 256, 0, 16>;
        k = kernel::create_object<Kernel>();
        source(k) = "delay.cc";
        runtime<ratio>(k) = 0.8;
        connect(in, k.in[0]);
        connect(k.out[0], out);
        dimensions(k.in[0]) = {256};
        dimensions(k.out[0]) = {256};
    }
};
struct top : graph {
    input_plio in;
    output_plio out;
    top() {
        part inner;  // gone when the constructor ends; its kernels stay
        in = input_plio::create("in", plio_64_bits, "in.txt", 625);
        out = output_plio::create("out", plio_64_bits, "out.txt", 625);
        connect(in.out[0], inner.in);
        connect(inner.out, out.in[0]);
    }
};
top gr;
int main() { gr.init(); gr.run(4); gr.end(); }
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> adf.GraphProgram:
    """The graph."""
    folder: Path = tmp_path_factory.mktemp("library")
    for name, text in (("delay.h", HEADER), ("delay.cc", KERNEL), ("graph.cpp", GRAPH)):
        (folder / name).write_text(text)
    lines = (f"{2 * number} {2 * number + 1}" for number in range(512))
    (folder / "in.txt").write_text("\n".join(lines) + "\n")
    return adf.load(folder / "graph.cpp", folder=folder)


def test_its_calls_take_the_published_cycles_and_its_run_is_a_band(program: adf.GraphProgram) -> None:
    wanted = cycle_band(KernelShape("sample_delay", "int32", "int32", False, (0, 0, 1, 1, 0), 256, 256))
    assert wanted is not None
    done = program.run()
    assert done.good
    assert str(done.costs["gr.kernel0"]) == f"{wanted.cycles} (range {wanted.least} to {wanted.most})"
    assert f"cycles of a call of gr.kernel0: {done.costs['gr.kernel0']}" in done.cautions
    band = cost_band(program, done)
    assert band is not None
    assert band.low < band.cycles == done.cycles < band.high
    assert band.high - band.low == pytest.approx(4 * (wanted.most - wanted.least), abs=40)
    (port,) = band.ports
    assert port.low < port.likely < port.high
    assert port.latest - port.earliest == pytest.approx(wanted.most - wanted.least, abs=10)
    (latency,) = band.latencies
    assert (latency.source, latency.target) == ("gr.in", "gr.out")
    assert done.graph is not None
    assert latency.likely == done.graph.latencies[0].last
    assert latency.high - latency.low >= wanted.most - wanted.least
    shown = ShownRun("xcve2802", done, (), band)
    said = f"gr.in to gr.out: last word out after {latency.likely:,} cycles ({latency.low:,} to "
    assert any(said in line for line in shown.lines())
    assert f"{band.low:,} to {band.high:,} cycles over the costs of gr.kernel0" in [*shown.lines()]
    found = json.loads(json_text(shown.as_json()))
    assert list(Draft202012Validator(schema("run-graph-output")).iter_errors(found)) == []
    assert (found["costs"][0]["most"], found["band"]["high"]) == (wanted.most, band.high)
    assert found["band"]["latencies"][0]["high"] == latency.high


def test_runs_for_a_band_are_not_recorded_and_may_be_interrupted(
    program: adf.GraphProgram,
) -> None:
    begun = []

    @contextmanager
    def watched(engine: Engine) -> Iterator[None]:
        begun.append(engine)
        yield

    graph = adf.GraphProgram(program.files, replace(program.options, watch=watched))
    done = graph.run()
    assert cost_band(graph, done) is not None
    assert len(begun) == 1
    assert done.graph is not None
    result = replace(done.graph.result, status=Status.INTERRUPTED)
    stopped = replace(done, graph=replace(done.graph, result=result))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(adf.GraphProgram, "run_again", lambda *_: stopped)
        assert cost_band(graph, done) is None


def test_the_kernels_of_a_local_graph_belong_to_the_graph_around_it(program: adf.GraphProgram) -> None:
    done = program.run()
    assert done.graph is not None
    assert done.graph.iterations == {"gr": 4}
    assert [*done.outputs["gr.out"][:5]] == [255, 8, 2, 3, 4]
    assert len(done.outputs["gr.out"]) == 1024


def test_the_users_cycles_come_first(program: adf.GraphProgram) -> None:
    files, options = program.files, program.options
    stated = adf.load(*files, folder=options.folder, cycles={"gr.kernel0": 1000}).run()
    assert str(stated.costs["gr.kernel0"]) == "1,000 (given)"
    assert stated.cycles > 4000
