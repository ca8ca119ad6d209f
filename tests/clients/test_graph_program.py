"""Does a graph in C++ run, get checked and load as other designs do, with every mistake named?"""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner, Result

import memtile
from left_out import needs
from memtile import adf, schema
from memtile.adf.running import GraphRun
from memtile.arch.core_costs import CoreCosts
from memtile.cli.costs import call_costs, costs_of
from memtile.cli.main import app
from memtile.explain.deadlock.graph import PartyKind, Via, WaitEdge, WaitGraph, WaitNode
from memtile.explain.waiting_sentences import named_waits
from support.designs.cpp_designs import FOUND
from support.pages.browser import opened

pytestmark = needs("c++", FOUND)

GRAPH = """
#include <adf.h>
#include <cstdio>
#include <cstdlib>
#ifndef OUT
#define OUT 16
#endif
void twice(adf::input_buffer<int16, adf::extents<16>>& in, adf::output_buffer<int16, adf::extents<16>>& out);
const char* chosen(const char* name, const char* usual) {
    const char* given = std::getenv(name);
    return given == nullptr ? usual : given;
}
class doubling : public adf::graph {
public:
    adf::kernel k;
    adf::input_plio a;
    adf::output_plio z;
    doubling() {
        k = adf::kernel::create(twice);
        adf::source(k) = chosen("SOURCE", "twice.cc");
        adf::runtime<ratio>(k) = 0.5;
        a = adf::input_plio::create("in", adf::plio_32_bits, "data/in.txt");
        z = adf::output_plio::create("out", adf::plio_32_bits, "data/out.txt");
        adf::connect(a.out[0], k.in[0]);
        adf::connect(k.out[0], z.in[0]);
        adf::dimensions(k.in[0]) = {16};
        adf::dimensions(k.out[0]) = {OUT};
    }
};
doubling gr;
int main(int argc, char** argv) {
    std::printf("main says hello\\n");
    std::fflush(stdout);
    gr.init();
    if (std::getenv("ENDLESS") != nullptr) {
        gr.run();
        gr.wait();
    }
    gr.run(2);
    gr.end();
    return std::atoi(chosen("CODE", "0"));
}
"""
KERNEL = """
#include <adf.h>
void twice(adf::input_buffer<int16, adf::extents<16>>& in, adf::output_buffer<int16, adf::extents<16>>& out) {
    for (int i = 0; i < 16; i++) out.data()[i] = 2 * in.data()[i];
}
"""
VALUES = np.arange(-16, 16)


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sources in a folder of their own, so that they are compiled once."""
    folder = tmp_path_factory.mktemp("graph")
    (folder / "graph.cpp").write_text(GRAPH)
    (folder / "twice.cc").write_text(KERNEL)
    return folder


@pytest.fixture
def graph(sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The graph, with a working folder that has its input."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "in.txt").write_text("".join(f"{i} {i + 1}\n" for i in VALUES[::2]))
    monkeypatch.chdir(tmp_path)
    return str(sources / "graph.cpp")


def called(*words: str) -> Result:
    return CliRunner().invoke(app, list(words))


def test_a_graph_is_run_with_its_verdict_first(graph: str, capfd: pytest.CaptureFixture[str]) -> None:
    done = called("run", graph, "--out-folder", "out", "--cost", "gr.k=500")
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0].startswith("good: finished after 1,"), lines
    assert lines[0].endswith(" cycles at 1250 MHz, gr 2 iterations, main returned 0")
    assert lines[1].startswith("gr.z: 16 words, first in cycle ")
    assert re.search(r", [0-9.]+ MB/s, latency [\d,]+ cycles \([\d,.]+ ns\) from gr\.a$", lines[1]), lines[1]
    assert lines[2] == "gr.a: 16 words, first in cycle 0, last in cycle 60, 1,333.33 MB/s"
    assert lines[3].startswith("Limited by gr.k, which "), lines[3]
    assert lines[4:] == ["saved: out/data/out.txt"]
    assert capfd.readouterr().out == "main says hello\n"
    kept = Path("out/data/out.txt").read_text().splitlines()
    numbers = [int(n) for line in kept if line[0] not in "T" for n in line.split()]
    assert numbers == [*(2 * VALUES)]


def test_the_result_as_data_is_alone_on_standard_output(
    graph: str, capfd: pytest.CaptureFixture[str]
) -> None:
    done = called("run", graph, "--json", "--check")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert list(Draft202012Validator(schema("run-graph-output")).iter_errors(found)) == []
    assert (found["status"], found["code"], found["iterations"]) == ("finished", 0, {"gr": 2})
    port, into = found["ports"]
    assert (port["direction"], into["direction"], into["port"]) == ("out", "in", "gr.a")
    (latency,) = found["latencies"]
    assert latency == {"from": "gr.a", "to": "gr.z", "first": port["first"], "last": port["last"] - 60}
    bytes_moved, cycles = 4 * port["words"], port["last"] - port["first"]
    assert port["megabytes_per_second"] == pytest.approx(bytes_moved * 1250 / cycles, abs=1e-3)
    assert found["files"] == ["memtile_output/data/out.txt"]
    streams = capfd.readouterr()
    assert (streams.out, "main says hello" in streams.err) == ("", True)


def test_cores_that_are_taken_for_others_are_said(graph: str) -> None:
    """DEV-ADF-47."""
    done = called("run", graph, "--device", "xc2ve3858", "--top", "1")
    assert done.exit_code == 0, done.output
    assert "1 more ports (--all)" in done.stdout
    assert "note: kernels compute as on AIE-ML, with the widths of AIE-ML v2: what its ar" in done.stdout


def test_an_output_is_compared_with_a_file(graph: str) -> None:
    Path("golden.txt").write_text("".join(f"{2 * i + 7} {2 * i + 9}\n" for i in VALUES[::2]))
    done = called("run", graph, "--expect", "out=golden.txt")
    assert done.exit_code == 1
    lines = done.stdout.splitlines()
    assert lines[0].startswith("not good: finished after ")
    assert lines[1].startswith("wrong: gr.z: 32 wrong, the first is element 0 (-32 came, -25 was expected)")
    assert re.match(r"finding: MT0405 error: gr\.z .* gr\.k\.out\[0\] .* made by gr\.k\.", lines[2]), lines[2]
    found = json.loads(called("run", graph, "--expect", "gr.z=golden.txt", "--json").stdout)
    assert [each["wrong"] for each in found["run"]["checks"]] == [32]


def test_input_that_runs_out_is_said_in_the_names_of_the_graph(graph: str) -> None:
    Path("data/in.txt").write_text("1 1\n" * 8)
    done = called("run", graph)
    assert done.exit_code == 1
    lines = done.stdout.splitlines()
    assert lines[0].startswith("not good: stuck after ")
    assert (
        "missing: gr.a ran out of data: 16 int16 came, the iterations asked for need 32; 16 are missing."
        in lines
    )
    waits = [line for line in lines if line.startswith("waiting: ")]
    assert "unfinished: gr.k" in lines
    assert waits[:2] == [
        "waiting: gr.k waits for data in gr.k.in[0]",
        "waiting: gr.k.in[0] waits for data of gr.a",
    ]
    found = json.loads(called("run", graph, "--json").stdout)
    assert list(Draft202012Validator(schema("run-graph-output")).iter_errors(found)) == []
    assert found["missing"] == [{"port": "gr.a", "element": "int16", "came": 16, "needed": 32}]


def test_what_designs_offer_is_there_for_a_graph(graph: str, tmp_path: Path) -> None:
    """Report, timeline, record, waveform, coredump and questions about cycles, with the user's names."""
    files = ("r.html", "p.json", "rec.json", "w.vcd", "core.bin")
    options = ("--report", "--perfetto", "--record", "--vcd", "--coredump")
    words = [word for pair in zip(options, files, strict=True) for word in pair]
    done = called("run", graph, *words, "--bottleneck", "--check", "--schedules", "1")
    assert done.exit_code == 0, done.output
    assert all(Path(each).stat().st_size > 100 for each in files)
    assert "Limited by " in done.stdout
    inputs = json.loads(Path("rec.json").read_text())["provenance"]["inputs"]
    assert {Path(each).name for each in inputs} == {"graph.cpp", "in.txt", "twice.cc"}
    ports = [line for line in done.stdout.splitlines() if line.startswith(("gr.z: ", "gr.a: "))]
    line = GRAPH.splitlines().index("        adf::connect(a.out[0], k.in[0]);") + 1
    with opened(Path("r.html").resolve(), tmp_path / "profile") as page:
        shown = page.evaluate("document.getElementById('ahead').innerText")
        places = page.evaluate("run.descriptors.map(each => each.place)")
        labels = page.evaluate("tracks.map(each => each.label)")
        assert page.said == []
    assert shown.splitlines()[:2] == ports
    assert any(place.endswith(f"graph.cpp:{line}") for place in places)
    assert {"gr.k.in[0]", "gr.k.out[0]", "gr.k"} <= set(labels)


def test_a_graph_is_explained(graph: str) -> None:
    done = called("explain", graph, "--cost", "gr.k=500")
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0].startswith("good: finished after ")
    assert any(line.startswith("Limited by cores (gr.k): ") for line in lines)
    assert any(line.startswith("cores: cores computed in no time ") for line in lines)
    assert lines[-1].startswith("kernel gr.k: 2 calls, 50")
    assert not Path("memtile_output").exists()
    found = json.loads(called("explain", graph, "--json").stdout)
    assert list(Draft202012Validator(schema("run-graph-output")).iter_errors(found)) == []
    assert [(each["kernel"], each["calls"]) for each in found["kernels"]] == [("gr.k", 2)]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["graph.cpp", "--design", "d.py", "--set", "a=1"], "--design, --set are for dumps and servers"),
        (["core.bin", "-D", "A=1"], "core.bin: -D is for a graph in C"),
    ],
)
def test_options_of_explain_are_for_what_is_explained(words: list[str], says: str) -> None:
    done = called("explain", *words)
    assert done.exit_code == 2
    assert says in done.stderr


def test_main_that_waits_for_ever_has_a_result(graph: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Vitis-Tutorials issue 210: a simulation that never ends, run() without a count."""
    monkeypatch.setenv("ENDLESS", "1")
    done = called("run", graph)
    assert done.exit_code == 1
    first, *rest = done.stdout.splitlines()
    assert first.startswith("not good: finished after ")
    assert "gr 2 iterations, main waits for ever (gr: wait() is called for a run without end" in first
    assert "gr.z: 16 words" in rest[0]
    assert json.loads(called("run", graph, "--json").stdout)["code"] is None


def test_ctrl_c_keeps_what_is_done(graph: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(self: GraphRun, *_: object) -> None:
        self.engine.wait(100)
        raise KeyboardInterrupt

    monkeypatch.setattr(GraphRun, "end", interrupted)
    done = called("run", graph, "--json")
    assert done.exit_code == 130
    found = json.loads(done.stdout)
    assert (found["status"], found["code"], found["cycles"], found["good"]) == (
        "interrupted",
        None,
        100,
        False,
    )
    out, into = (each["words"] for each in found["ports"])
    assert (out < 16, into) == (True, 16)


def unread() -> str:
    """The graph with an output to the host's memory for which ``main`` never waits."""
    changes = (
        ("output_plio z", "output_gmio z"),
        (
            'output_plio::create("out", adf::plio_32_bits, "data/out.txt")',
            'output_gmio::create("out", 64, 1000)',
        ),
        ("gr.init();", "gr.init();\n    gr.z.aie2gm_nb(adf::GMIO::malloc(64), 64);"),
    )
    text = GRAPH
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


@pytest.mark.usefixtures("graph")
@pytest.mark.parametrize("closes", [True, False])
def test_main_that_finds_its_outputs_wrong_has_not_waited_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, closes: bool
) -> None:
    """It returns 1, as its memory was read too early; one that ends before its graph may have given up."""
    monkeypatch.setenv("CODE", "1")
    (tmp_path / "graph.cpp").write_text(unread() if closes else unread().replace("gr.end();", ""))
    (tmp_path / "twice.cc").write_text(KERNEL)
    done = called("check", "graph.cpp")
    assert ("MT0116: gr.z is asked for 64 bytes, and the host never waits" in done.stdout) is closes


@pytest.mark.usefixtures("graph")
@pytest.mark.parametrize("how", ["ends", "waits for ever", "is interrupted"])
def test_only_main_that_has_ended_has_never_waited(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    (tmp_path / "graph.cpp").write_text(unread())
    (tmp_path / "twice.cc").write_text(KERNEL)
    if how == "waits for ever":
        monkeypatch.setenv("ENDLESS", "1")
    elif how == "is interrupted":
        monkeypatch.setattr(GraphRun, "end", interrupted)
    done = called("run", "graph.cpp")
    assert done.exit_code == {"ends": 0, "waits for ever": 1, "is interrupted": 130}[how], done.output
    assert ("the host never waits for them" in done.stdout) is (how == "ends")


def test_the_exit_code_of_main_is_reported(graph: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODE", "3")
    done = called("run", graph)
    assert done.exit_code == 1
    assert done.stdout.splitlines()[0].startswith("not good: finished after ")
    assert done.stdout.splitlines()[0].endswith("main returned 3")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ["-D", "OUT=zero"],
            r"graph\.cpp: the graph does not compile\. .*error: .zero. was not|undeclared identifier .zero",
        ),
        (
            ["--in-folder", "data"],
            r"graph\.cpp:\d+: gr\.a reads data/data/in\.txt, which does not exist\. Its path",
        ),
        (["--in-folder", "nowhere"], r"^error: nowhere: there is no such folder\."),
        (["-I", "nowhere"], r"^error: nowhere: there is no such folder\."),
        (["--device", "vek"], "device is 'vek'; it must be one of xcve2802,"),
        (["--cost", "gr.q=1"], "gr: no kernel is called gr.q; kernels and their functions are gr.k, twice"),
        (["--cost", "gr.k=x"], "--cost is 'gr.k=x'; it must be NAME=CYCLES of a kernel, such as gr.k=2088"),
        (["--cost", "gr.k=1", "--cost", "gr.k=2"], "--cost gives gr.k twice"),
        (["--in", "a=b.npy", "--untimed"], "--in, --untimed are not for a graph in C"),
        (["--report", "r.pdf"], r"r\.pdf: the name of a report must end in \.html or \.txt"),
        (["--kernels", "k.cc"], "--kernels is not for a graph in C"),
    ],
)
def test_what_a_user_can_do_wrong_is_named(words: list[str], says: str, graph: str) -> None:
    done = called("run", graph, *words)
    assert done.exit_code == 2
    assert re.search(says, " ".join(done.stderr.split())), done.stderr


def test_a_missing_kernel_source_is_named(graph: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE", "none.cc")
    done = called("run", graph)
    assert done.exit_code == 2
    assert "none.cc" in done.stderr


def test_costs_are_read_by_name() -> None:
    assert call_costs(["gr.k=2088", "twice=1"]) == {"gr.k": 2088, "twice": 1}
    with pytest.raises(memtile.InputFileError, match=r"--cost gives gr\.k twice"):
        call_costs(["gr.k=1", "gr.k=2"])


def test_whole_costs_may_be_floats_of_json(tmp_path: Path) -> None:
    (file := tmp_path / "costs.json").write_text('{"load": 2.0, "functions": {"f": 7.0}}')
    assert costs_of(file) == CoreCosts(load=2, functions={"f": 7})
    for wrong in ("2.5", "true", "9", "[]"):
        file.write_text(f'{{"load": {wrong}}}')
        with pytest.raises(memtile.DesignError, match=r"load is .* cycles, allowed are 0\.\.8 whole cycles"):
            costs_of(file)


def test_waits_are_said_in_the_users_names() -> None:
    nodes = (
        WaitNode("core 0", PartyKind.CORE, "core (0, 3) (kernel 'gr.k')"),
        WaitNode("lock 1", PartyKind.LOCK, "lock 1 'gr.k.out[0].empty' of tile (0, 3)"),
        WaitNode("channel 2", PartyKind.CHANNEL, "compute(0,3) MM2S 0 'gr.k.out[0]'"),
        WaitNode("port 4", PartyKind.PORT, "slave port SOUTH0 of tile (0, 0)"),
    )
    edges = (
        WaitEdge("core 0", "lock 1", Via.LOCK, ""),
        WaitEdge("lock 1", "channel 2", Via.RELEASE, ""),
        WaitEdge("channel 2", "port 4", Via.ROOM, ""),
    )
    assert list(named_waits(WaitGraph(nodes, edges))) == ["gr.k waits for room in gr.k.out[0]"]


def test_options_of_other_designs_are_refused(tmp_path: Path) -> None:
    source = tmp_path / "graph.cpp"
    source.write_text("")
    done = called("run", str(source), "--in", "a=b.npy", "--untimed")
    assert done.exit_code == 2
    assert "--in, --untimed are not for a graph in C++." in " ".join(done.stderr.split())


def test_a_missing_graph_is_named() -> None:
    done = called("run", "none.cpp")
    assert (done.exit_code, done.stderr) == (
        2,
        "error: none.cpp: there is no such file. Name the source that has main of the graph.\n",
    )


def test_options_of_graphs_are_for_graphs() -> None:
    done = called("run", "design.mlir", "--in-folder", ".")
    assert done.exit_code == 2
    assert "--in-folder and --out-folder are for graphs in C++" in " ".join(done.stderr.split())
    done = called("run", "design.mlir", "--cost", "a.json", "--cost", "b.json")
    assert done.exit_code == 2
    assert "a design takes one file of JSON, and NAME=CYCLES" in done.stderr


def test_check_plans_a_graph_and_says_what_it_chose(graph: str) -> None:
    done = called("check", graph)
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[0] == "gr.k lies in tile(0, 0)."


def test_check_says_what_is_refused_in_the_users_names(graph: str) -> None:
    done = called("check", graph, "-D", "OUT=16*1024*1024")
    assert done.exit_code == 1
    assert "MT01" in done.stdout
    assert "gr.k" in done.stdout
    assert called("check", graph, "--set", "OUT=16*1024*1024").stdout == done.stdout
    done = called("check", graph, "-D", "OUT=3", "--set", "OUT=4")
    assert done.exit_code == 2
    assert "-D and --set both give OUT. Leave one out." in done.stderr


def test_a_graph_in_python(graph: str) -> None:
    found = adf.load(graph, cycles={"twice": 100})
    assert repr(found) == "GraphProgram(graph.cpp, xcve2802)"
    assert repr(adf.load(graph, defines={"A": 1, "B": None})) == "GraphProgram(graph.cpp, xcve2802, A=1, B)"
    assert "<b>Array(xcve2802: 1 x 11 tiles, 2 in use, 0 cycles run)</b>" in found._repr_html_()
    assert found.array().device.name == "xcve2802"
    assert [each.name for each in found.description.kernels] == ["gr.k"]
    assert [each.tile for each in found.plan.kernels] == [(0, 3)]
    assert found.verdicts() == []
    done = found.run(max_cycles=10_000)
    assert (done.good, done.code, done.missing) == (True, 0, ())
    np.testing.assert_array_equal(done.outputs["gr.z"], 2 * VALUES)
    assert done.outputs["gr.z"].dtype == np.int16
    assert repr(done) == f"ProgramResult(good, finished, {done.cycles} cycles, gr.z: 16 words)"
    assert "finished" in (done._repr_html_() or "")
    (times,) = done.times
    assert 100 < times.first < times.last < done.cycles
    assert found.run(max_cycles=10_000).cycles == done.cycles


def test_options_that_mean_nothing_to_a_graph_are_refused(graph: str) -> None:
    with pytest.raises(memtile.DesignError, match="a graph in C\\+\\+ has no use for untimed"):
        adf.load(graph).run(untimed=True)
    with pytest.raises(memtile.InputFileError, match="graph: no source is given"):
        adf.load()
