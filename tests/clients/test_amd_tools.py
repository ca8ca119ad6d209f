"""Do commands of AMD's names compile and run a graph as a Makefile asks, with its files and exit codes?"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from memtile.cli.amd_tools.__main__ import main
from memtile.cli.amd_tools.launchers import TOOLS, write_tools

GRAPH = """
#include <adf.h>
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


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "graph.cpp").write_text(GRAPH)
    (tmp_path / "scale.cc").write_text(KERNEL)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "in.txt").write_text("".join(f"{i}\n" for i in range(32)))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def numbers(file: Path) -> list[int]:
    """Values of a file of a PLIO."""
    return [int(each) for each in file.read_text().split() if each != "TLAST"]


def test_a_graph_is_compiled_and_run_with_the_files_of_amds_tools(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["v++", *COMPILE]) == 0
    assert (project / "lib.a").read_bytes().startswith(b"!<arch>\n")
    log = (project / "AIECompiler.log").read_text().splitlines()
    assert "INFO: [aiecompiler 77-5917] Repetition count for gr.k is 1." in log
    assert "note: --verbose has no effect: memtile prints what it found, and nothing else." in log
    assert log[-2] == "Compilation Complete"
    assert main(["x86simulator", "--pkg-dir=w"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "Simulation completed successfully returning zero"
    out = project / "x86simulator_output" / "data" / "out.txt"
    assert numbers(out) == [3 * i for i in range(32)]
    assert main(["aiesimulator", "--pkg-dir=w"]) == 2
    assert "was compiled with --target=x86sim" in capsys.readouterr().err


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
