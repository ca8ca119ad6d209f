"""Can an agent check, run, explain and sweep a graph in C++, with answers in the graph's names?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from left_out import needs
from memtile.cli.agents import tools
from memtile.cli.agents.tool_arguments import check_arguments
from memtile.errors import InputFileError
from support.commands.agent_session import Answers, ask
from support.designs.cpp_designs import FOUND

pytestmark = [pytest.mark.slow, needs("c++", FOUND)]  # a server, and a graph that is compiled
GRAPH = """
#include <adf.h>
#ifndef OUT
#define OUT 16
#endif
void twice(adf::input_buffer<int16>& in, adf::output_buffer<int16>& out);
class doubling : public adf::graph {
public:
    adf::kernel k = adf::kernel::create(twice);
    adf::input_plio a = adf::input_plio::create("in", adf::plio_32_bits, "in.txt");
    adf::output_plio z = adf::output_plio::create("out", adf::plio_32_bits, "out.txt");
    doubling() {
        adf::source(k) = "twice.cc";
        adf::runtime<adf::ratio>(k) = 0.5;
        adf::connect(a.out[0], k.in[0]);
        adf::connect(k.out[0], z.in[0]);
        adf::dimensions(k.in[0]) = {16};
        adf::dimensions(k.out[0]) = {OUT};
    }
};
doubling gr;
int main() {
    gr.init();
    gr.run(2);
    gr.end();
    return 0;
}
"""
KERNEL = """
#include <adf.h>
void twice(adf::input_buffer<int16>& in, adf::output_buffer<int16>& out) {
    for (int i = 0; i < 16; i++) out.data()[i] = 2 * in.data()[i];
}
"""
OF = {"settings": {"OUT": 16}, "costs": {"gr.k": 500}}
SWEPT = {"vary": {"OUT": "16", "timing.task_start": "2,4"}, "costs": {"gr.k": 500}}
SHORT = {"graph": "graph.cpp", **OF, "in_folder": "short"}
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "check": ("check", {"path": "graph.cpp", "settings": {"OUT": 16}}),
    "run": ("run", {"path": "graph.cpp", **OF}),
    "explain": ("explain", {"graph": "graph.cpp", **OF}),
    "short": ("explain", SHORT),
    "late": ("explain", {"graph": "graph.cpp", **OF, "seconds": 0}),
    "sweep": ("sweep", {"path": "graph.cpp", **SWEPT}),
    "no macro": ("sweep", {"path": "graph.cpp", "vary": {"NOPE": "1,2"}}),
    "no kernel": ("run", {"path": "graph.cpp", "settings": {"OUT": 16}, "costs": {"gr.x": 3}}),
    "outside": ("explain", {"graph": "/etc/graph.cpp"}),
    "far input": ("explain", {"graph": "graph.cpp", "in_folder": ".."}),
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the graph, its input, and in ``short`` an input that ends early."""
    folder = tmp_path_factory.mktemp("doubling")
    (folder / "short").mkdir()
    (folder / "graph.cpp").write_text(GRAPH)
    (folder / "twice.cc").write_text(KERNEL)
    for place, words in ((folder, 16), (folder / "short", 8)):
        (place / "in.txt").write_text("".join(f"{2 * n} {2 * n + 1}\n" for n in range(words)))
    return folder


@pytest.fixture(scope="module")
def answers(root: Path) -> dict[str, dict[str, Any]]:
    """By name the answers of one conversation; without a sandbox, which has a cache of its own."""
    found: Answers = ask(*CALLS.values(), root=root, options=["--no-sandbox"])
    return dict(zip(CALLS, found, strict=True))


def test_a_run_is_said_in_the_names_of_the_graph(answers: dict[str, dict[str, Any]]) -> None:
    checked, found = answers["check"], answers["run"]
    assert checked["good"], checked
    assert (found["good"], found["status"], found["code"]) == (True, "finished", 0)
    assert found["outputs"]["gr.z"]["first"] == [2 * n for n in range(16)]
    assert [port["port"] for port in found["ports"]] == ["gr.z", "gr.a"]
    assert [(each["kernel"], each["calls"]) for each in found["kernels"]] == [("gr.k", 2)]
    assert found["kernels"][0]["cycles"].keys() == {"running", "lock_stall", "done"}
    assert found["lines"][0].startswith("good: finished after 1,")
    assert found["bound"]["resource"] == "gr.k"
    assert found["lifted"] == []
    said = json.dumps({**found, "assumed": []})
    assert not [name for name in ("compute(", "core (", "lock 0", "tile (") if name in said]


def test_what_limits_a_graph_is_explained(answers: dict[str, dict[str, Any]]) -> None:
    found = answers["explain"]
    cycles = {each["resource"]: each["cycles"] for each in found["lifted"]}
    assert cycles["cores"] < 200 < 1000 < cycles["buffers"] <= found["cycles"]
    assert found["lines"][-1].startswith("kernel gr.k: 2 calls, ")
    assert any(line.startswith("cores: cores computed in no time ") for line in found["lines"])


def test_a_graph_that_is_stuck_is_explained_with_what_is_missing(answers: dict[str, dict[str, Any]]) -> None:
    found = answers["short"]
    assert not found["good"]
    (missing,) = found["missing"]
    assert (missing["port"], missing["came"], missing["needed"]) == ("gr.a", 16, 32)
    assert found["unfinished"]
    assert found["waits"][0] == "gr.k waits for data in gr.k.in[0]"


def test_runs_that_would_take_longer_than_the_call_are_left_out(answers: dict[str, dict[str, Any]]) -> None:
    found = answers["late"]
    assert found["lifted"] == []
    assert found["lines"][-1] == (
        "what the run would be without each limit is left out: it takes 16 runs; give more seconds"
    )


def test_variants_of_a_graph_are_compared(answers: dict[str, dict[str, Any]]) -> None:
    found = answers["sweep"]
    assert (found["good"], found["size"], found["counts"]["good"]) == (True, 2, 2), found
    best, other = found["variants"]
    assert best["point"] == {"OUT": 16, "timing.task_start": 2}
    assert best["figures"]["cycles"] <= other["figures"]["cycles"]
    assert found["front"][0] == best["point"]
    assert found["infeasible"] == []


def test_what_is_refused_of_a_graph_is_an_answer(answers: dict[str, dict[str, Any]]) -> None:
    says = {name: answers[name]["error"]["message"] for name in ("no macro", "no kernel", "outside")}
    assert "no source of the graph uses the macro NOPE" in says["no macro"]
    assert says["no kernel"].startswith(
        "gr: no kernel is called gr.x; kernels and their functions are gr.k, "
    )
    assert "graph is '/etc/graph.cpp'" in says["outside"]
    assert "in_folder is '..'" in answers["far input"]["error"]["message"]


@pytest.mark.parametrize(
    ("tool", "arguments", "says"),
    [
        ("run", {"path": "g.cpp", "kernels": "k.py", "inputs": {"0": "a"}}, "kernels and inputs"),
        ("run", {"path": "d.py", "costs": {"k": 1}}, "a design in Python has no use for costs"),
        ("run", {"path": "d.mlir", "in_folder": "."}, "a design in MLIR has no use for in_folder"),
        ("sweep", {"path": "d.py", "device": "npu2"}, "a design in Python has no use for device"),
        ("explain", {}, "give dump or graph, one of them"),
        ("explain", {"dump": "d.bin", "graph": "g.cpp"}, "give dump or graph, one of them"),
        ("explain", {"graph": "g.py"}, "graph is 'g.py'; it must be a C++ source"),
        ("explain", {"graph": "g.cpp", "design": "d.py"}, "a graph in C++ has no use for design"),
        ("explain", {"dump": "d.bin", "include": "."}, "a dump has no use for include"),
    ],
)
def test_arguments_that_mean_nothing_are_refused(tool: str, arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(InputFileError) as refused:
        getattr(tools, tool)(**arguments)
    assert says in str(refused.value)


@pytest.mark.parametrize("name", ["graph", "in_folder"])
def test_files_of_a_graph_lie_below_the_root(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match=f"{name} is '/etc'"):
        check_arguments(tmp_path, {name: "/etc"})
