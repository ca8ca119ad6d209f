"""Graphs of public repositories, and what each must give here; they are run where a user has them, by path.

Folders below the given one: ``vitis-tutorials-2024`` and ``vitis-tutorials-2025`` (Xilinx/Vitis-Tutorials of
these years), ``aie4ml_project1`` (zhenghuama), ``aie4ml`` (projects that aie4ml 0.2.1 generates).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from memtile.adf.program_options import ProgramOptions
from memtile.adf.program_run import ProgramResult, ProgramRun
from memtile.adf.verdict.judge import amd_verdicts

Values = npt.NDArray[np.float64]
Check = Callable[["PublicGraph", ProgramResult, Path, Path], None]

ML = "vitis-tutorials-2024/AI_Engine_Development/AIE-ML"
FIRST = "vitis-tutorials-2024/AI_Engine_Development/AIE/Feature_Tutorials"
TILING = "vitis-tutorials-2025/07-tiling-parameters"
NORMALIZATION = f"{ML}/Feature_Tutorials/13-aie-ml-performance-analysis/normalization"
DIMENSIONS = {"Dim0": 8, "Dim1": 8, "Dim2": 4, "Dim3": 4, "NIterations": 2}


@dataclass(frozen=True)
class PublicGraph:
    """A public graph program and what is expected of it.

    Attributes:
        features: that it covers.
        project: folder that paths of its files are relative to.
        source: of ``main``, below the project.
        check: of its result, the folder of the project and that of the outputs; None = it is not run.
        include: more folders of headers, below the project.
        defines: macros.
        cycles: of calls of kernels.
        refused: numbers of AMD's messages for it.
        finishes: it runs to its end.
    """

    features: tuple[str, ...]
    project: str
    source: str
    check: Check | None = None
    include: tuple[str, ...] = ()
    defines: Mapping[str, int] = field(default_factory=dict)
    cycles: Mapping[str, int] = field(default_factory=dict)
    device: str = "xcve2802"
    refused: tuple[str, ...] = ()
    finishes: bool = True


def numbers(file: Path) -> Values:
    """The values of a PLIO's text file, without times, marks and comments."""
    lines = file.read_text().splitlines()
    kept = [line for line in lines if line.strip() != "TLAST" and not line.startswith(("T ", "#"))]
    return np.array([float(word) for line in kept for word in re.split(r"[\s,]+", line.strip()) if word])


def golden(output: str, file: str, most: float = 0) -> Check:
    """The output file is the published one; values may be apart by ``most``."""

    def check(_: PublicGraph, __: ProgramResult, project: Path, out: Path) -> None:
        got, wanted = numbers(out / output), numbers(project / file)
        assert len(got) == len(wanted) > 0
        assert np.abs(got - wanted).max() <= most

    return check


def computed(output: str, wanted: Callable[[Path], Values]) -> Check:
    """The output file begins with what a function of the project gives."""

    def check(_: PublicGraph, __: ProgramResult, project: Path, out: Path) -> None:
        first = wanted(project)
        assert len(first)
        assert (numbers(out / output)[: len(first)] == first).all()

    return check


def by_itself(_: PublicGraph, result: ProgramResult, __: Path, ___: Path) -> None:
    """``main`` compares the outputs and returns the number of differences."""
    assert result.code == 0


def period(output: str, cycles: int, percent: float) -> Check:
    """Iterations come so many cycles apart."""

    def check(_: PublicGraph, result: ProgramResult, __: Path, ___: Path) -> None:
        assert result.graph is not None
        times = result.graph.outputs[output].cycles
        assert times is not None
        count = max(result.graph.iterations.values())
        each = len(times) // count
        found = (int(times[-1]) - int(times[each - 1])) / (count - 1)
        assert abs(found / cycles - 1) <= percent / 100

    return check


def stuck(*kernels: str) -> Check:
    """The graph hangs, and these kernels do not finish."""

    def check(_: PublicGraph, result: ProgramResult, __: Path, ___: Path) -> None:
        assert result.graph is not None
        assert result.graph.unfinished == kernels

    return check


def sums_of_updates(_: Path) -> Values:
    """Blocks of 256 values 1, 2, ... of 128 each, with the value of each synchronous update added."""
    blocks = np.repeat(np.arange(1, 9), 128).reshape(4, 256) + np.array([[10], [100], [1000], [10000]])
    wanted: Values = blocks.ravel().astype(np.float64)
    return wanted


def quarters(project: Path) -> Values:
    """Test case 2 of the tiling tutorial: 8 rows of 128 in tiles of 4 x 4, dimension 0 first."""
    layers = numbers(project / "data/Input.txt")[:1024].reshape(32, 4, 2, 4)
    return layers.transpose(0, 2, 1, 3).ravel()


def packets_by_way(_: PublicGraph, __: ProgramResult, project: Path, out: Path) -> None:
    """Each way of tutorial 04 adds 1 to 4; packets of the merge come in any order."""
    sent = numbers(project / "data/input.txt").reshape(-1, 9)
    got = numbers(out / "data/output.txt").reshape(-1, 9)
    wanted = [tuple(p[1:] + 1 + n % 4) for n, p in enumerate(sent[:8])]
    assert sorted(tuple(packet[1:]) for packet in got) == sorted(wanted)


PUBLIC_GRAPHS: dict[str, PublicGraph] = {
    "vector addition": PublicGraph(
        ("PLIO",), "aie4ml_project1/vector-addition/vadd-buffer", "src/graph.cpp",
        golden("data/output.txt", "data/correct_output.txt"), ("src/kernels",),
    ),
    "transpose in a memory tile": PublicGraph(
        ("shared buffers", "PLIO"), f"{ML}/Design_Tutorials/02-Prime-Factor-FFT/aie/transpose0",
        "transpose0_app.cpp", golden("data/sig_o.txt", "data/sig_o.txt"),
    ),
    "DFT of 7": PublicGraph(
        ("cascade", "parameters"), f"{ML}/Design_Tutorials/02-Prime-Factor-FFT/aie/dft7", "dft7_app.cpp",
        golden("data/sig_o.txt", "data/sig_o.txt", most=1),
    ),
    "interpolator, clip, classifier": PublicGraph(
        ("margins", "multirate", "PLIO"), f"{ML}/Feature_Tutorials/05-AI-engine-versal-integration",
        "aie/graph.cpp", golden("data/output.txt", "data/golden.txt"),
        ("aie/kernels", "aie/kernels/interpolators", "aie/kernels/classifiers"),
    ),
    "weighted sum": PublicGraph(
        ("GMIO", "margins"), f"{FIRST}/02-using-gmio/single_aie_gmio/step1", "aie/graph.cpp", by_itself,
    ),
    "synchronous updates": PublicGraph(
        ("parameters",), f"{FIRST}/03-rtp-reconfiguration/sync_rtp", "aie/graph.cpp",
        computed("data/output0.txt", sums_of_updates),
    ),
    "packets to buffers": PublicGraph(
        ("packets",), f"{FIRST}/04-packet-switching/buffer_aie", "aie/graph.cpp", packets_by_way,
    ),
    "tiling, test case 2": PublicGraph(
        ("conditional objects", "shared buffers"), TILING, "src_memtile/graph.cpp",
        computed("data/Output_0.txt", quarters), ("src_memtile",),
        DIMENSIONS | {"TC1": 0, "TC2": 1, "TC3": 0, "TC4": 0},
    ),
    "tiling, test case 1": PublicGraph(
        ("conditional objects",), TILING, "src_memtile/graph.cpp", None, ("src_memtile",),
        DIMENSIONS | {"TC1": 1, "TC2": 0, "TC3": 0, "TC4": 0}, refused=("77-4352",),
    ),
    "tiling, test case 4": PublicGraph(
        ("conditional objects",), TILING, "src_memtile/graph.cpp", None, ("src_memtile",),
        DIMENSIONS | {"TC1": 0, "TC2": 0, "TC3": 0, "TC4": 1}, refused=("77-4352",),
    ),
    "tiling, external buffers": PublicGraph(
        ("external buffers",), TILING, "src_extbuf/graph.cpp", by_itself, ("src_extbuf",), DIMENSIONS,
    ),
    "normalization, version 1": PublicGraph(
        ("asynchronous buffers",), f"{NORMALIZATION}_v1", "aie/graph.cpp",
        stuck("gr.k_mean", "gr.k_deviation", "gr.k_norm"), finishes=False,
    ),
    "normalization, version 2": PublicGraph(
        ("asynchronous buffers", "shared buffers"), f"{NORMALIZATION}_v2", "aie/graph.cpp",
        period("gr.out", 180_780, 1.0),
        cycles={"gr.k_mean": 2088, "gr.k_deviation": 4921, "gr.k_norm": 3296},
    ),
    "softmax of aie4ml on AIE-ML v2": PublicGraph(
        ("AIE-ML v2",), "aie4ml/softmax_vek385", "app.cpp", by_itself,
        ("src", "src/kernels", "src/kernels/softmax", "src/weights"),
        device="xc2ve3858",
    ),
}  # fmt: skip
OWN_TESTS = {
    "PLIO": ("data/test_adf_runs.py", "test_versal_devices_run_graphs_with_the_streams_of_their_logic"),
    "GMIO": ("data/test_adf_transfers.py", "test_gmio_moves_what_the_host_asks_for"),
    "parameters": ("data/test_adf_parameters.py", "test_an_asynchronous_parameter_is_the_last_value"),
    "packets": ("data/test_adf_transfers.py", "test_packets_of_the_programmable_logic_are_split_and_merged"),
    "cascade": ("data/test_graph_kernels.py", "test_a_cascade_carries_an_accumulator"),
    "asynchronous buffers": ("data/test_adf_transfers.py", "test_a_kernel_acquires_its_asynchronous_buffers"),
    "margins": ("data/test_adf_transfers.py", "test_the_margin_is_the_end_of_the_block_before"),
    "conditional objects": (
        "data/test_adf_recording.py",
        "test_members_in_containers_behind_pointers_and_in_arrays_have_names",
    ),
    "multirate": ("data/test_adf_runs.py", "test_blocks_of_other_sizes_are_balanced"),
    "AIE-ML v2": ("clients/test_graph_program.py", "test_cores_that_are_taken_for_others_are_said"),
    "shared buffers": ("data/test_adf_runs.py", "test_tiles_of_a_shared_buffer_pass_a_kernel"),
    "external buffers": (
        "data/test_adf_transfers.py",
        "test_external_buffers_are_read_and_written_by_tilings",
    ),
}
"""What graphs are made of -> file and name of a test of the project with an own graph."""


def options_of(graph: PublicGraph, root: Path, folder: Path) -> ProgramOptions:
    """How it is compiled and run; ``main`` runs in ``folder``."""
    project = root / graph.project
    return ProgramOptions(
        device=graph.device,
        include=tuple(project / each for each in graph.include if (project / each).is_dir()),
        defines=graph.defines,
        folder=folder,
        inputs=project,
        cycles=graph.cycles,
    )


def judged(graph: PublicGraph, root: Path, folder: Path) -> list[str]:
    """Numbers of what AMD's compiler refuses of it."""
    run = ProgramRun([root / graph.project / graph.source], options_of(graph, root, folder))
    return [each.number for each in amd_verdicts(run.described(), graph.device)]


def checked(graph: PublicGraph, root: Path, folder: Path) -> None:
    """Run it and compare."""
    assert graph.check is not None
    result = ProgramRun([root / graph.project / graph.source], options_of(graph, root, folder)).run()
    result.write_outputs(folder, timed=False)
    assert result.graph is not None
    assert bool(result.graph.unfinished) != graph.finishes
    graph.check(graph, result, root / graph.project, folder)
