"""Do commands of AMD's names compile and run a graph as a Makefile asks, with its files and exit codes?"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from left_out import needs
from memtile.adf.output_files import carries_buffers
from memtile.adf.plan import Plan
from memtile.adf.planning import plan_of
from memtile.adf.verdict.verdicts import Grade, Verdict
from memtile.cli.amd_tools import amd_verdict, launchers
from memtile.cli.amd_tools.__main__ import main
from memtile.cli.amd_tools.amd_verdict import report_verdicts
from memtile.cli.amd_tools.command_line import Effect, Table
from memtile.cli.amd_tools.compiler_options import AIECOMPILER, CONFIG, VPP
from memtile.cli.amd_tools.deadline import Deadline
from memtile.cli.amd_tools.launchers import TOOLS, write_tools
from memtile.cli.amd_tools.report import Report
from memtile.cli.amd_tools.simulator_options import AIESIMULATOR, X86SIMULATOR
from support.adf.sketch import Sketch, buffer, stream
from support.designs.cpp_designs import FOUND

GRAPH = """
#include <adf.h>
#include <fstream>
void scale(adf::input_buffer<int32, adf::extents<16>>& in, adf::output_buffer<int32, adf::extents<16>>& out);
class scaling : public adf::graph {
public:
    adf::kernel k;
    adf::input_plio a;
    adf::output_plio z;
    scaling() {
        k = adf::kernel::create(scale);
        adf::source(k) = "scale.cc";
        adf::runtime<ratio>(k) = 0.5;
        a = adf::input_plio::create("in", adf::plio_32_bits, "data/in.txt");
        z = adf::output_plio::create("out", adf::plio_32_bits, "data/out.txt");
        adf::connect(a.out[0], k.in[0]);
        adf::connect(k.out[0], z.in[0]);
    }
};
scaling gr;
#if defined(__X86SIM__)
int main() {
    gr.init();
    gr.run(TIMES);
    gr.end();
    std::ifstream left("x86simulator_output/data/out.txt");
    std::cout << std::count(std::istreambuf_iterator<char>(left), {}, '\\n') << " lines after end()\\n";
    return 0;
}
#endif
"""
KERNEL = """
#include <adf.h>
void scale(adf::input_buffer<int32, adf::extents<16>>& in, adf::output_buffer<int32, adf::extents<16>>& out) {
    for (int i = 0; i < 16; i++) out.data()[i] = FACTOR * in.data()[i];
}
"""
COMPILE = (
    "-c", "--mode", "aie", "--target=x86sim", "--platform=xilinx_vek280_base_202520_1.xpfm", "graph.cpp",
    "--aie.Xpreproc", "-DTIMES=2 -DFACTOR=3", "--aie.workdir=w", "--aie.output-archive=lib.a",
    "--aie.verbose",
)  # fmt: skip


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graph and its input in a folder that tests share, so that it is compiled once."""
    folder = tmp_path_factory.mktemp("scaling")
    (folder / "graph.cpp").write_text(GRAPH)
    (folder / "scale.cc").write_text(KERNEL)
    (folder / "data").mkdir()
    (folder / "data" / "in.txt").write_text("".join(f"{i}\n" for i in range(32)))
    return folder


@pytest.fixture
def project(sources: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The working folder; what a test leaves there is removed."""
    monkeypatch.chdir(sources)
    before = set(sources.iterdir())
    yield sources
    for each in set(sources.iterdir()) - before:
        if each.is_dir():
            shutil.rmtree(each)
        else:
            each.unlink()


def numbers(file: Path) -> list[int]:
    """Values of a file of a PLIO."""
    return [int(each) for each in file.read_text().split() if each != "TLAST"]


def test_a_graph_is_compiled_and_run_with_the_files_of_amds_tools(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["v++", *COMPILE]) == 0
    assert (project / "lib.a").read_bytes().startswith(b"!<arch>\n")
    log = (project / "AIECompiler.log").read_text().splitlines()
    assert "INFO: [aiecompiler 77-5917] Repetition count for gr.k is 1." in log
    assert "note: --verbose has no effect: memtile prints what it found, and nothing else." in log
    assert log[-2] == "Compilation Complete"
    assert main(["x86simulator", "--pkg-dir=w"]) == 0
    said = capfd.readouterr().out.splitlines()
    assert "32 lines after end()" in said
    assert said[-1] == "Simulation completed successfully returning zero"
    out = project / "x86simulator_output" / "data" / "out.txt"
    assert out.read_text().split() == [str(3 * i) for i in range(32)]  # no TLAST (DEV-ADF-57)
    assert main(["aiesimulator", "--pkg-dir=w"]) == 2
    assert "was compiled with --target=x86sim" in capfd.readouterr().err


def test_a_graph_for_the_second_version_of_the_array_runs(project: Path) -> None:
    """Without a compiler's macro of its own it is compiled as for AIE-ML."""
    assert main(["v++", *(each.replace("xilinx_vek280_base", "vek385_base") for each in COMPILE)]) == 0
    assert main(["x86simulator", "--pkg-dir=w"]) == 0
    assert numbers(project / "x86simulator_output" / "data" / "out.txt") == [3 * i for i in range(32)]


def test_input_that_ends_too_early_is_no_success(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["v++", *COMPILE]) == 0
    (project / "more").mkdir()
    (project / "more" / "data").mkdir()
    (project / "more" / "data" / "in.txt").write_text("1\n" * 16)
    assert main(["x86simulator", "--pkg-dir=w", "--i=more", "--o=left"]) == 1
    text = capsys.readouterr().out
    assert "ERROR: gr.a ran out of data: 16 int32 came, the iterations asked for need 32; 16 are" in text
    assert numbers(project / "left" / "data" / "out.txt") == [3] * 16


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["v++", "-c", "-k", "mm2s", "mm2s.cpp"], "-k is not supported: memtile has the array alone"),
        (["v++", "-c", "--mode", "hls"], "--mode hls builds programmable logic, which memtile does not have"),
        (["aiecompiler", "--platform=vek280"], "aiecompiler: no source is given"),
        (["aiecompiler", "--part=xcve2802-x", "none.cpp"], "none.cpp: there is no such file"),
        (
            ["aiecompiler", "--target=sw_emu"],
            "aiecompiler: target is 'sw_emu'; it must be hw, hw_emu or x86sim",
        ),
        (
            ["aiecompiler", "--constraints=c.json", "x.cpp"],
            "--constraints is not supported: constraints are those in the graph, location<> and the like",
        ),
        (["vitis", "-s", "x.py"], "memtile has no vitis; it is here so that Makefiles find their folder"),
        (["x86simulator"], "x86simulator: Work has no options.json: it was not compiled by memtile."),
    ],
)
def test_what_cannot_be_done_is_refused_by_name(
    words: list[str],
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    assert says in capsys.readouterr().err


def test_help_says_what_each_option_does(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["v++", "--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines.index("used:") < lines.index("accepted without effect:") < lines.index("refused:")
    assert any(line.split()[:2] == ["--xlopt", "VALUE"] for line in lines)


@needs("c++", FOUND)
def test_the_folder_has_launchers_and_what_makefiles_look_for(tmp_path: Path) -> None:
    binaries = write_tools(tmp_path / "vitis")
    assert sorted(each.name for each in binaries.iterdir()) == sorted(TOOLS)
    assert all(os.access(each, os.X_OK) for each in binaries.iterdir())
    name = "xilinx_vek280_base_202520_1"
    assert (binaries.parent / "base_platforms" / name / f"{name}.xpfm").is_file()
    script = f'. {binaries.parent}/settings64.sh; basename "$XILINX_VITIS"; command -v v++; v++ --version'
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        ["sh", "-c", script], capture_output=True, text=True, check=True, env=environment, cwd=tmp_path
    )
    lines = done.stdout.splitlines()
    assert lines[:2] == ["2025.2", str(binaries / "v++")]
    assert lines[2].startswith("v++ of memtile ")


MEMORY_TILE = """
#include <adf.h>
class retiling : public adf::graph {
public:
    adf::shared_buffer<int32> tiles;
    adf::input_plio a;
    adf::output_plio z;
    retiling() {
        a = adf::input_plio::create("in", adf::plio_32_bits, "data/in.txt");
        z = adf::output_plio::create("out", adf::plio_32_bits, "data/out.txt");
        tiles = adf::shared_buffer<int32>::create({1024}, 1, 1);
        adf::num_buffers(tiles) = 1;
        adf::connect(a.out[0], tiles.in[0]);
        adf::connect(tiles.out[0], z.in[0]);
        adf::write_access(tiles.in[0]) = adf::tiling(
            {.buffer_dimension = {1024}, .tiling_dimension = {1024}, .offset = {0}, .tile_traversal = {}});
        adf::read_access(tiles.out[0]) = adf::tiling(
            {.buffer_dimension = {8, 8, 16}, .tiling_dimension = {4, 4, 1}, .offset = {0, 0, 0},
             .tile_traversal = {{.dimension = 0, .stride = 4, .wrap = 2},
                                {.dimension = 1, .stride = 4, .wrap = 2},
                                {.dimension = 2, .stride = 1, .wrap = 16}}});
    }
};
retiling gr;
int main() {
    gr.init();
    gr.run(1);
    gr.end();
    return 0;
}
"""


def test_what_amds_compiler_refuses_is_refused_and_runs_when_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """XD100, tutorial 07, test case 1: 32 descriptors at one port."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "graph.cpp").write_text(MEMORY_TILE)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "in.txt").write_text("".join(f"{i}\n" for i in range(1024)))
    words = ["aiecompiler", "--part=xcve2802-vsvh1760-2MP-e-S", "graph.cpp"]
    assert main(words) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(
        "ERROR: [aiecompiler 77-4352] graph.cpp:11, gr.tiles: the buffers of the tile need"
    )
    assert lines[1].startswith("note: memtile needs 2 descriptors for gr.tiles.")
    assert lines[2] == "note: memtile runs this graph. To keep this setup, compile with MEMTILE_VERDICT=note."
    assert lines[-2:] == ["Compilation Failed", "(WARNING:0, CRITICAL-WARNING:0, ERROR:1)"]
    assert not (tmp_path / "libadf.a").exists()
    monkeypatch.setenv("MEMTILE_VERDICT", "go")
    assert main(words) == 2
    assert "aiecompiler: MEMTILE_VERDICT is 'go'; it must be stop or note" in capsys.readouterr().err
    monkeypatch.setenv("MEMTILE_VERDICT", "note")
    assert main(words) == 0
    assert "note: graph.cpp:11, gr.tiles: aiecompiler 77-4352 refuses this" in capsys.readouterr().out
    assert main(["aiesimulator", "--o=timed"]) == 0
    assert main(["aiesimulator", "--o=bare", "--output-time-stamp=no"]) == 0
    assert main(["aiesimulator", "--output-time-stamp=never"]) == 2
    timed, bare = ((tmp_path / name / "data" / "out.txt").read_text() for name in ("timed", "bare"))
    assert sum(line.startswith("T ") for line in timed.splitlines()) == 1024
    assert [line for line in timed.splitlines() if not line.startswith("T ")] == bare.splitlines()
    assert bare.splitlines()[-2] == "TLAST"
    matrix = np.arange(1024).reshape(16, 2, 4, 2, 4).transpose(0, 1, 3, 2, 4)
    assert numbers(tmp_path / "bare" / "data" / "out.txt") == matrix.ravel().tolist()


@pytest.mark.parametrize(
    ("grade", "functional", "errors"),
    [("manual", False, 1), ("report", False, 1), ("assumed", False, 0), ("manual", True, 0)],
)
def test_only_what_is_known_of_amds_compiler_stops_a_compile_for_hardware(
    grade: Grade, functional: bool, errors: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    verdict = Verdict("77-4352", "gr.k", "it needs 20", "needs 2", "Use less.", "UG1603", grade)
    monkeypatch.setattr(amd_verdict, "amd_verdicts", lambda *_: [verdict])
    report = Report(tmp_path / "log", "aiecompiler")
    plan = Plan(Sketch().description(), "xcve2802", 1, (), (), ())
    assert report_verdicts(plan, report, functional=functional) == errors
    report.close()
    begins = "ERROR: [aiecompiler 77-4352] gr.k: " if errors else "note: gr.k: aiecompiler 77-4352 "
    assert (tmp_path / "log").read_text().startswith(begins)


@pytest.mark.parametrize(("port", "has_tlast"), [(buffer("int32", 8), False), (stream(), True)])
def test_a_file_has_tlast_in_the_functional_simulator_where_the_graph_sets_it(
    port: dict[str, Any], has_tlast: bool
) -> None:
    """DEV-ADF-57."""
    g = Sketch()
    k = g.kernel("k", [buffer("int32", 8)], [port])
    g.connect(g.plio("in"), k.ins[0])
    g.connect(k.outs[0], g.plio("out", "out"))
    plan = plan_of(g.description(), "xcve2802")
    assert carries_buffers(plan, plan.description.plios[1]) is not has_tlast


def test_a_run_ends_at_its_time_limit(tmp_path: Path) -> None:
    report, codes = Report(tmp_path / "log", "x86simulator"), list[int]()
    with Deadline(0.01, report, codes.append):
        time.sleep(0.3)
    assert codes == [1]
    assert "did not end within 0.01 s of wall-clock time (--timeout)" in (tmp_path / "log").read_text()
    with Deadline(0.05, report, codes.append):
        pass
    with Deadline(0, report, codes.append):
        time.sleep(0.1)
    assert codes == [1]


READERS = ("__main__", "compiler", "simulator")


@pytest.mark.parametrize(
    "table", [VPP, AIECOMPILER, CONFIG, X86SIMULATOR, AIESIMULATOR], ids=lambda t: t.tool
)
def test_every_option_that_is_used_is_read_by_code(table: Table) -> None:
    folder = Path(launchers.__file__).parent
    trees = [ast.parse((folder / f"{name}.py").read_text()) for name in READERS]
    read = {node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    keys = {option.key for option in table.options.values() if option.effect is Effect.USED}
    assert {"--help" if key == "help" else key for key in keys} <= read


def test_a_compile_does_not_load_the_simulator() -> None:
    script = (
        "import sys, memtile.cli.amd_tools.graph_stages as _; print('memtile.adf.running' in sys.modules)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment
    )
    assert done.stdout == "False\n"
