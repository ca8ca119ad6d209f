"""Do ``memtile run`` and ``memtile disasm`` take what a build leaves: xclbins, PDIs, full ELFs, folders?"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from memtile.cli.main import app
from memtile.programs import MaskWrite, Operation, Transaction, Write, address_of, transaction_bytes
from memtile.runs.operations import Other
from support.designs.core_program import CONTROL, HEADER, WORDS, instructions, setup, write_files
from support.formats.container_files import Code, Elf, Image, Part, full_elf_of, pdi_of, xclbin_of
from support.formats.programs import cdo_of

DATA = np.arange(WORDS, dtype=np.int32)
INIT = [*setup()[0], MaskWrite(CONTROL, 1, 1)]


def call(command: str, *args: object) -> Any:
    done = CliRunner().invoke(app, [command, *map(str, args)], env={"COLUMNS": "150"})
    assert "Traceback" not in done.output
    assert done.exception is None or isinstance(done.exception, SystemExit)
    return done


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """The files of a build in a folder, its arrays and kernels beside it."""
    project = tmp_path / "build" / "aie.mlir.prj"
    project.mkdir(parents=True)
    found = write_files(project)
    for key, name in (("insts", "insts.bin"), ("kernels", "../kernels.py")):
        found[key] = found[key].rename(tmp_path / "build" / name)
    np.save(tmp_path / "in.npy", DATA)
    (project / "input_physical.mlir").write_text("module {\n}\n")
    (project / "main_core_0_2.elf").write_bytes(Elf(system=0, machine=264).bytes())
    (project / "main.pdi").write_bytes(pdi_of(INIT))
    xclbin = tmp_path / "build" / "final.xclbin"
    xclbin.write_bytes(xclbin_of([Image(pdi_of(INIT))]))
    more = {"in": tmp_path / "in.npy", "out": tmp_path / "out.npy", "xclbin": xclbin, "build": xclbin.parent}
    return found | more | {"project": project, "pdi": project / "main.pdi"}


def run(files: dict[str, Path], *args: object) -> Any:
    arrays = ["--in", f"0={files['in']}", "--out", f"2={files['out']}", "--kernels", files["kernels"]]
    done = call("run", *args, *arrays)
    if done.exit_code == 0:
        np.testing.assert_array_equal(np.load(files["out"]), DATA + 1)
    return done


@pytest.mark.parametrize("first", ["xclbin", "pdi"])
def test_a_container_and_instructions_are_a_program(files: dict[str, Path], first: str) -> None:
    cycles = run(files, files["init"], files["enable"], files["insts"]).stdout.splitlines()[0]
    done = run(files, files[first], files["insts"])
    assert done.exit_code == 0, done.output
    assert "note:" not in done.stdout
    assert done.stdout.splitlines()[0] == cycles


def test_the_order_on_the_command_line_does_not_matter(files: dict[str, Path]) -> None:
    done = run(files, files["insts"], files["xclbin"])
    assert done.exit_code == 0, done.output
    assert "final.xclbin (init), " in done.stdout


def test_a_build_folder_is_a_program(files: dict[str, Path]) -> None:
    done = run(files, files["build"])
    assert done.exit_code == 0, done.output
    (note,) = [line for line in done.stdout.splitlines() if line.startswith("note:")]
    assert note == (
        f"note: {files['build']}: runs final.xclbin, insts.bin; not aie.mlir.prj/main.pdi, "
        "aie.mlir.prj/aie_cdo_enable.bin, aie.mlir.prj/aie_cdo_init.bin, "
        "programs of cores aie.mlir.prj/main_core_0_2.elf"
    )


@pytest.mark.parametrize("gone", [["xclbin"], ["xclbin", "pdi"]])
def test_what_is_not_there_is_taken_from_the_next_best(files: dict[str, Path], gone: list[str]) -> None:
    for name in gone:
        files[name].unlink()
    done = run(files, files["build"])
    assert done.exit_code == 0, done.output
    taken = "main.pdi" if gone == ["xclbin"] else "aie_cdo_enable.bin, aie.mlir.prj/aie_cdo_init.bin"
    assert f"runs aie.mlir.prj/{taken}, insts.bin" in done.stdout


def test_the_project_folder_alone_will_do_for_disasm(files: dict[str, Path]) -> None:
    done = call("disasm", "--summary", files["project"])
    assert done.exit_code == 0, done.output
    assert done.stderr.startswith(f"note: {files['project']}: runs main.pdi; not aie_cdo_enable.bin, ")
    assert "cores enabled\n  core (0, 2)" in done.stdout


def test_a_core_without_a_program_is_said_first(files: dict[str, Path]) -> None:
    done = call("run", files["build"], "--in", f"0={files['in']}", "--out", f"2={files['out']}")
    assert done.exit_code == 1
    assert done.stdout.splitlines()[1].startswith("core (0, 2) was enabled; its program is not simulated")


def test_two_configurations_are_refused(files: dict[str, Path]) -> None:
    done = run(files, files["xclbin"], files["init"], files["insts"])
    assert done.exit_code == 2
    assert f"{files['xclbin']} has a whole configuration already (files of a build)." in done.stderr
    assert f"Leave out {files['init']}, or " in done.stderr


def test_the_same_instructions_twice_are_no_question(files: dict[str, Path]) -> None:
    words = struct.unpack(f"<{len(files['insts'].read_bytes()) // 4}I", files["insts"].read_bytes())
    text = files["build"] / "insts.txt"
    text.write_text("".join(f"{word:08X}\n" for word in words))
    assert run(files, files["build"]).exit_code == 0
    text.write_bytes(transaction_bytes(Transaction(HEADER, tuple(instructions(16)))))
    done = run(files, files["build"])
    assert done.exit_code == 2
    assert "the folder has 2 files of instructions: insts.bin, insts.txt (files of a build)" in done.stderr


def test_the_cdo_files_of_several_devices_are_a_question(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}_aie_cdo_init.bin").write_bytes(cdo_of([Write(0x021C0000, len(name))]))
    done = call("disasm", tmp_path)
    assert done.exit_code == 2
    assert "the folder has the CDO files of 2 devices: one, two (files of a build). Name one" in done.stderr
    done = call("disasm", tmp_path, "--kernel", "two")
    assert (done.exit_code, done.stdout.count("operation")) == (0, 1)


def test_a_folder_without_a_program_says_what_it_looks_for(tmp_path: Path) -> None:
    (tmp_path / "README.txt").write_text("nothing here\n")
    done = call("run", tmp_path)
    assert done.exit_code == 2
    assert "the folder has no xclbin, full ELF, PDI, CDO file or instructions" in done.stderr


def test_a_kernel_that_no_file_has_is_refused(files: dict[str, Path]) -> None:
    assert run(files, files["xclbin"], files["insts"], "--kernel", "MLIR_AIE").exit_code == 0
    assert run(files, files["xclbin"], files["insts"], "--kernel", "0x901").exit_code == 0
    done = run(files, files["xclbin"], files["insts"], "--kernel", "other")
    assert done.exit_code == 2
    assert "no program is called 'other': " in done.stderr
    assert "has MLIR_AIE, MLIR_AIE:MLIRAIE, DPU, " in done.stderr


def load(number: int) -> Operation:
    return Other("LOADPDI", struct.pack("<BxHIQ", 8, number, 0, 0))


def full_elf(folder: Path, *text: Operation) -> Path:
    """PDI 1 is the program, PDI 2 a lock; the only instance has ``text``."""
    pdis = {1: pdi_of(INIT), 2: pdi_of([Write(address_of(0, 1, 0xC0000), 1)])}
    code = Code("main", "sequence", transaction_bytes(Transaction(HEADER, text)))
    path = folder / "aie.elf"
    path.write_bytes(full_elf_of(pdis, [code]))
    return path


def test_each_pdi_of_a_full_elf_begins_with_new_cores(files: dict[str, Path], tmp_path: Path) -> None:
    kernel = files["kernels"].read_text().replace("    number = 0\n", "    LOADS.append(1)\n    number = 0\n")
    files["kernels"].write_text("LOADS = []\n" + kernel.replace("+ 1)", "+ len(LOADS))"))
    path = full_elf(tmp_path, load(1), *instructions(), load(2), load(1), *instructions())
    arrays = ["--in", f"0={files['in']}", "--out", f"2={files['out']}", "--kernels", files["kernels"]]
    done = call("run", path, *arrays)
    assert done.exit_code == 0, done.output
    assert "status: finished" in done.stdout
    np.testing.assert_array_equal(np.load(files["out"]), DATA + 2)


def launched(*args: object) -> tuple[dict[str, str], list[str]]:
    """What a result says of its launch, and its notes."""
    done = call("run", "--json", "--pad-arguments", *args)
    told = json.loads(done.stdout)
    return told["launch"], [note for note in told["notes"] if note.startswith("launched")]


def test_files_say_how_they_are_launched_and_the_option_stands_over_it(
    files: dict[str, Path], tmp_path: Path
) -> None:
    """DEV-QUEUE-2; a PDI with instructions is what either may have inside."""
    kernels, insts = ("--kernels", files["kernels"]), files["insts"]
    of_xclbin = {"dispatch": "xclbin", "why": "as the files have an xclbin"}
    assert launched(files["xclbin"], insts, *kernels) == (of_xclbin, [])
    assert launched(files["build"], *kernels) == (of_xclbin, [])
    usual, _ = launched(files["pdi"], insts, *kernels)
    assert usual["dispatch"] == "xclbin"
    assert usual["why"].startswith("as is usual on npu1")
    elf = full_elf(tmp_path, load(1), *instructions())
    told, (note,) = launched(elf, *kernels)
    assert told == {"dispatch": "elf", "why": "as the files have an ELF"}
    assert note.startswith(
        "launched from an ELF, as the files have an ELF; --dispatch xclbin is usual on npu1"
    )
    control = Elf()
    control.add(Part(".ctrltext", 1, transaction_bytes(Transaction(HEADER, instructions()))))
    (both := tmp_path / "insts.elf").write_bytes(control.bytes())
    assert launched(files["xclbin"], both, *kernels)[0] == usual  # they do not say it
    option = {"dispatch": "elf", "why": "as the option says"}
    assert launched(files["xclbin"], insts, *kernels, "--dispatch", "elf") == (option, [])


@pytest.mark.parametrize("loads", [(), (load(2),)], ids=["no load", "load"])
def test_what_memory_tiles_hold_outlives_a_load(tmp_path: Path, loads: tuple[Operation, ...]) -> None:
    """DEV-PDI-1; that locks, channels and cores begin anew, the test above shows."""
    path = full_elf(tmp_path, Write(address_of(0, 1), 7), *loads)
    done = call("run", path, "--out", f"memory(0,1)+0:uint32:1={tmp_path / 'out.npy'}")
    assert done.exit_code == 0, done.output
    assert np.load(tmp_path / "out.npy").tolist() == [7]


def test_a_first_load_keeps_what_the_user_put_into_memories(tmp_path: Path) -> None:
    np.save(tmp_path / "in.npy", np.array([5], np.uint32))
    place = "memory(0,1)+0"
    given = ["--in", f"{place}={tmp_path / 'in.npy'}", "--out", f"{place}:uint32:1={tmp_path / 'out.npy'}"]
    done = call("run", full_elf(tmp_path, load(1), load(1)), *given, "--untimed")
    assert np.load(tmp_path / "out.npy").tolist() == [5]
    assert ".pdi.1 is loaded already; firmware skips it" in done.stdout


def test_a_summary_counts_loads_as_done(tmp_path: Path) -> None:
    done = call("disasm", "--summary", full_elf(tmp_path, load(1), *instructions()))
    assert "LOADPDI" not in done.stdout
    assert "cores enabled\n  core (0, 2)" in done.stdout


def test_a_pdi_that_is_not_there_is_refused(files: dict[str, Path], tmp_path: Path) -> None:
    insts = tmp_path / "loads.bin"
    insts.write_bytes(transaction_bytes(Transaction(HEADER, (load(3), *instructions()))))
    done = run(files, files["xclbin"], insts)
    assert done.exit_code == 2
    assert "the program loads PDI 3, which is not in the files (mlir-aie's npu.load_pdi)." in done.stderr


def test_control_packets_of_an_elf_are_given_to_the_run(files: dict[str, Path], tmp_path: Path) -> None:
    elf = Elf(version=2)
    elf.add(Part(".ctrltext", 1, transaction_bytes(Transaction(HEADER, tuple(instructions())))))
    elf.add(Part(".ctrldata", 1, DATA.tobytes()))
    rows = [("control-packet", 0, 1, 2), ("5", 0, 1, 2)]
    elf.relocations(elf.symbols(".dynsym", 11, rows), [(0x20, 1, 5, 0), (0x60, 2, 5, 0)])
    path = tmp_path / "insts.elf"
    path.write_bytes(elf.bytes())
    args = ["--out", f"2={files['out']}", "--kernels", files["kernels"]]
    done = call("run", files["xclbin"], path, *args)
    assert done.exit_code == 0, done.output
    np.testing.assert_array_equal(np.load(files["out"]), DATA + 1)
    assert f"note: argument 0 of {path} has control packets of section .ctrldata" in done.stdout
