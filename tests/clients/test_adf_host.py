"""Does the user's main run as written: is each call a request, and does each answer come back?"""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from left_out import needs
from memtile.adf import host_program as asked
from memtile.adf.description import Description
from memtile.adf.graph_file import load
from memtile.adf.graph_program import graph_program
from memtile.adf.host_program import Describe, HostProgram, Request
from memtile.adf.record import description_of
from memtile.arch.tiles import Generation
from memtile.errors import InputFileError
from support.designs.cpp_designs import FOUND

pytestmark = needs("c++", FOUND)
SOURCE = Path(__file__).parents[1] / "support" / "adf" / "breadth.cpp"


@pytest.fixture(scope="module")
def program() -> Path:
    return graph_program([SOURCE])


def answered(host: HostProgram) -> Iterator[Request]:
    """Requests of the program, each answered after it was seen."""
    for request in host:
        yield request
        if isinstance(request, asked.Read):
            host.give((321).to_bytes(request.nbytes, "little"))
        elif isinstance(request, asked.StartProfiling):
            host.value(6)
        elif isinstance(request, asked.ReadProfiling):
            host.value(1 << 40)
        elif not isinstance(request, asked.Refuse):
            host.done()


@pytest.fixture(scope="module")
def graph(program: Path) -> Description:
    with HostProgram(program) as host:
        for request in host:
            assert isinstance(request, Describe)
            return description_of(request, program, host.peek, "breadth.cpp")
    raise AssertionError("the program described nothing")


def ids(graph: Description) -> dict[str, int]:
    groups = (graph.graphs, graph.kernels, graph.memories, graph.gmios, graph.ports)
    return {each.name: each.id for group in groups for each in group}


def test_main_asks_in_its_order(program: Path, graph: Description) -> None:
    named = ids(graph)
    with HostProgram(program) as host:
        seen = list(answered(host))
    assert [type(each).__name__ for each in seen] == [
        *("Describe", "Malloc", "Malloc", "SetAddress", "Init", "Update", "Update", "StartProfiling"),
        *(
            "Transfer",
            "StartTransfer",
            "WaitFor",
            "RunGraph",
            "Transfer",
            "WaitFor",
            "Wait",
            "Resume",
            "Read",
            "ReadProfiling",
        ),
        *("StopProfiling", "Free", "End"),
    ]
    by: dict[str, Any] = {type(each).__name__: each for each in seen}
    assert (by["RunGraph"].graph, by["RunGraph"].iterations) == (named["gr"], 2)
    assert (by["Wait"].graph, by["Wait"].cycles, by["End"].cycles) == (named["gr"], 1000, -1)
    assert (by["SetAddress"].buffer, by["SetAddress"].memory, by["SetAddress"].offset) == (
        named["gr.outside"],
        0,
        16,
    )
    assert (by["StartProfiling"].first, by["StartProfiling"].second) == (named["gr.to_memory"], -1)
    assert by["StartProfiling"].event == "io_stream_start_to_bytes_transferred_cycles"
    assert (by["ReadProfiling"].number, by["StopProfiling"].number) == (6, 6)
    assert by["WaitFor"].object == named["gr.to_memory"]
    started, waits = by["StartTransfer"], [each for each in seen if isinstance(each, asked.WaitFor)]
    assert (started.port, started.into_array) == (named["gr.outside.out[0]"], True)
    assert [each.object for each in waits] == [named["gr.outside.out[0]"], named["gr.to_memory"]]


def test_updates_carry_values_and_types(program: Path, graph: Description) -> None:
    named = ids(graph)
    with HostProgram(program) as host:
        scalar, array = (each for each in answered(host) if isinstance(each, asked.Update))
    assert (scalar.port, scalar.element, scalar.count) == (named["gr.gain"], "int32", 1)
    assert scalar.data == (5).to_bytes(4, "little")
    assert (array.port, array.element, array.count) == (named["gr.with.first.in[2]"], "int16", 3)
    assert np.frombuffer(array.data, np.int16).tolist() == [1, -1, 2]


def test_main_without_a_model_says_what_it_gives_parameters(graph: Description) -> None:
    """Two updates before its first run; of the array it gets zeros."""
    ports = {each.id: each.name for each in graph.ports}
    found = load(SOURCE).updates()
    assert [(ports[each.port], len(each.data), each.runs) for each in found] == [
        ("gr.with.first.in[1]", 4, 0),
        ("gr.with.first.in[2]", 6, 0),
    ]


def test_memory_is_shared_both_ways(
    program: Path, graph: Description, capfd: pytest.CaptureFixture[str]
) -> None:
    named = ids(graph)
    with HostProgram(program) as host:
        for request in answered(host):
            if isinstance(request, asked.Transfer) and request.into_array:
                assert (request.gmio, request.memory, request.offset) == (named["gr.from_memory"], 0, 0)
                assert (request.nbytes, request.waits) == (64, False)
                sent = np.frombuffer(host.memories[0][:64], np.int32)
                np.testing.assert_array_equal(sent, 3 * np.arange(16))
            elif isinstance(request, asked.Transfer):
                assert (request.gmio, request.memory, request.nbytes) == (named["gr.to_memory"], 1, 32)
                host.memories[1][:32] = np.arange(100, 108, dtype=np.int32).tobytes()
                external = np.frombuffer(host.memories[1], np.int32)  # as setAddress keeps it
    assert host.code == 0
    assert external[0] == 100
    assert capfd.readouterr().out == (
        f"began with 1 words\ngot 100 107, level 321, {1 << 40} cycles\n"
    )  # what main prints passes through


def test_words_and_exit_code_are_those_of_main(program: Path) -> None:
    with HostProgram(program, ["more"]) as host:
        list(answered(host))
    assert host.code == 3


def test_a_crash_is_said_in_a_sentence(program: Path) -> None:
    with HostProgram(program, ["crash"]) as host, pytest.raises(InputFileError) as error:
        list(answered(host))
    assert str(error.value) == (
        "graph: the host program crashed (SIGSEGV) after describe. "
        "Look at its main with a debugger: it was compiled with -g."
    )


def test_a_transfer_past_the_end_is_refused(program: Path) -> None:
    with HostProgram(program, ["past"]) as host:
        refused = list(answered(host))[-1]
    assert isinstance(refused, asked.Refuse)
    assert refused.reason == (
        "a transfer of 64 bytes goes past the end of memory of GMIO::malloc, which has 32 bytes from there"
    )
    assert host.code == 1


def test_no_program_outlives_its_host(program: Path) -> None:
    with HostProgram(program) as host:
        assert isinstance(next(iter(host)), Describe)  # it waits for an answer
    assert host.code == -signal.SIGKILL


def test_a_program_by_itself_says_who_runs_it(program: Path) -> None:
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (
        1,
        "This program is the host side of a graph. Run it with memtile.\n",
    )


@pytest.mark.parametrize(("generation", "number"), [("AIE-ML", 20), ("AIE2P", 21), ("AIE-ML v2", 22)])
def test_a_graph_is_compiled_for_its_cores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, generation: Generation, number: int
) -> None:
    """UG1076, Macro for Device Architectures; AMD's guide to custom operations, AIE Kernel Programming."""
    monkeypatch.setattr("memtile.adf.graph_program.built", lambda sources, _product: sources)
    sources: Any = graph_program([tmp_path / "graph.cpp"], generation=generation)
    assert f"-D__AIE_ARCH__={number}" in sources.options()
    assert "-fno-sanitize=all" in sources.options()  # ziglang checks what is not optimised


def test_a_graph_may_say_vector_stringstream_and_endl_alone(tmp_path: Path) -> None:
    """As MaxEVA, demosaicing of Vitis Libraries and XUP's training do; in kernels a vector is that of aie.

    Files without fstream: nasa-jpl/versal-sar-backprojection-design. Architectures: UG1529. Loads: AM027.
    """
    source = tmp_path / "graph.cpp"
    source.write_text(
        "#include <adf.h>\nusing namespace adf;\n"
        "vector<kernel> several;\nstd::stringstream name;\nint main() { std::cout << 1 << endl; }\n"
        'std::ifstream file("samples.csv");\nusing aie::arch;\n'
        "relative_coordinate steps[] = {{.col_offset = -1, .row_offset = 1}};\n"
        "static_assert(arch::version == arch::AIE_MLv2 && arch::generation == arch::Gen2);\n"
        "static_assert(arch::is(arch::XDNA2, arch::AIE_MLv2) && !arch::is(arch::AIE, arch::AIE_ML));\n"
        "static_assert(arch::is(arch::Gen1, arch::Gen2) && aie::vector_decl_align == 64);\n"
    )
    assert graph_program([source], generation="AIE-ML v2").is_file()
