"""Do commands of AMD's names read what users' Makefiles pass, and refuse by name what they cannot follow?"""

from __future__ import annotations

from pathlib import Path

import pytest

from memtile.cli.amd_tools.command_line import Effect, read_command_line
from memtile.cli.amd_tools.compiler_options import AIECOMPILER, CONFIG, VPP
from memtile.cli.amd_tools.config_file import with_config
from memtile.cli.amd_tools.platforms import OVERRIDE, device_of
from memtile.cli.amd_tools.simulator_options import AIESIMULATOR, X86SIMULATOR
from memtile.cli.amd_tools.work_folder import Compilation, read_work, write_archive, write_work
from memtile.errors import DesignError, InputFileError

# As make passes them to the shell: of tutorials (XD100), aie4ml and others, found in public Makefiles.
TILING = (
    "--compile", "--mode", "aie", "--target", "x86sim", "--include", "./src_memtile", "--aie.workdir",
    "./memtile_WorkX86", "src_memtile/graph.cpp", "--platform", "/p/xilinx_vek280_base_202520_1.xpfm",
    "--aie.output-archive", "libadfx86_memtile.a", "--aie.Xpreproc", "-DDim0=8 -DDim1=8  -DTC1=0 -DTC2=1",
)  # fmt: skip
GENERATED = (
    "--compile", "--config", "aie.cfg", "--mode", "aie", "--target=hw", "--include=src/kernels",
    "--include=src", "--platform=/v/base_platforms/p/p.xpfm", "app.cpp", "--aie.workdir=./Work",
    "--aie.output-archive=libadf.a", "--aie.Xelfgen=-j4", "--aie.Xpreproc=-DAIE_SIM_ONLY",
    "--aie.evaluate-fifo-depth", "--aie.Xrouter=disablePathBalancing",
)  # fmt: skip
OLDER = (
    "-v", "--target=x86sim", "-platform=x.xpfm", "-include=./aie", "-include=aie/kernels", "-workdir=./Work",
    "--stacksize=2000", "--pl-register-threshold=250", "--xlopt=0", "--Xchess=main:bridge.llibs=softfloat m",
    "graph.cpp", "-I.", "-DN=4", "--include=", "lib",
)  # fmt: skip


def test_a_tutorial_compiles_with_its_own_options() -> None:
    line = read_command_line(TILING, VPP)
    assert line.files == ["src_memtile/graph.cpp"]
    assert (line.last("workdir"), line.last("target")) == ("./memtile_WorkX86", "x86sim")
    assert line.last("output-archive") == "libadfx86_memtile.a"
    assert line.all("Xpreproc") == ["-DDim0=8 -DDim1=8  -DTC1=0 -DTC2=1"]
    assert line.without_effect == []


def test_options_of_a_generator_are_used_or_said_to_have_no_effect() -> None:
    line = read_command_line(GENERATED, VPP)
    assert line.all("include") == ["src/kernels", "src"]
    assert line.last("platform").endswith("p.xpfm")
    assert [each.key for each in line.without_effect] == ["Xelfgen", "evaluate-fifo-depth", "Xrouter"]


def test_one_dash_attached_letters_and_a_value_behind_a_blank_are_read() -> None:
    line = read_command_line(OLDER, AIECOMPILER)
    assert line.all("include") == ["./aie", "aie/kernels", ".", "lib"]
    assert line.all("define") == ["N=4"]
    assert (line.last("stacksize"), line.files) == ("2000", ["graph.cpp"])


def test_the_simulators_read_options_of_makefiles() -> None:
    words = "--pkg-dir=./Work --i=.. --profile --online -wdb -text --dump-vcd foo --hang-detect-time=100000"
    line = read_command_line(words.split(), AIESIMULATOR)
    assert (line.last("pkg-dir"), line.last("input-dir"), line.last("hang-detect-time")) == (
        "./Work", "..", "100000",
    )  # fmt: skip
    assert line.files == []
    words = "--pkg-dir=./w --trace --trace-print --output-dir=out -i=data --timeout=60"
    line = read_command_line(words.split(), X86SIMULATOR)
    assert (line.last("output-dir"), line.last("input-dir"), line.last("timeout")) == ("out", "data", "60")


def test_all_options_that_are_not_followed_are_refused_at_once() -> None:
    with pytest.raises(DesignError) as caught:
        read_command_line(["--link", "--stacksiz=4", "--frob", "--workdir"], VPP)
    assert caught.value.messages == [
        "v++: --link is not supported: memtile has the array alone, programmable logic is not linked "
        "(UG1702: AI Engine options).",
        "v++: --stacksiz is no option that memtile knows (UG1702: AI Engine options). "
        "Did you mean --stacksize?",
        "v++: --frob is no option that memtile knows (UG1702: AI Engine options). "
        "Leave it out, or report it with the documentation of the tool.",
        "v++: --workdir has no value (UG1702: AI Engine options).",
    ]


def test_every_option_without_effect_says_what_takes_its_place() -> None:
    for table in (VPP, AIECOMPILER, X86SIMULATOR, AIESIMULATOR):
        for option in table.options.values():
            assert bool(option.why) == (option.effect is not Effect.USED), option


def test_a_configuration_file_comes_before_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "aie.cfg"
    file.write_text(
        "[connectivity]\nnk=mm2s:1\n[aie]\n# note\nkernel-linting=true\nverbose=false\nxlopt=1\n"
        'pl-freq = 312.5\nXchess="main:backend.mist2.maxfoldk=128"\nXmapper=BufferOptLevel8\n'
    )
    line = with_config(read_command_line(["--aie.pl-freq=500", "a.cpp"], VPP), [str(file)], CONFIG)
    assert line.all("pl-freq") == ["312.5", "500"]
    assert line.last("Xchess") == "main:backend.mist2.maxfoldk=128"
    assert not line.has("verbose")
    assert line.files == ["a.cpp"]


def test_an_option_of_a_configuration_file_that_is_not_known_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "aie.cfg"
    file.write_text("[aie]\nstacksiz=8\n")
    with pytest.raises(DesignError, match=r"configuration file: --stacksiz is no option.*--stacksize\?"):
        with_config(read_command_line([], VPP), [str(file)], CONFIG)


@pytest.mark.parametrize(
    ("platform", "part", "device"),
    [
        ("/p/xilinx_vek280_base_202410_1/xilinx_vek280_base_202410_1.xpfm", "", "xcve2802"),
        ("xilinx_vek280_es1_base_202410_1", "", "xcve2802"),
        ("vek385_base_202520_1.xpfm", "", "xc2ve3858"),
        ("vd100-ext-platform.xpfm", "", "xcve2302"),
        ("", "xcve2302-sfva784-1LP-e-S", "xcve2302"),
        ("", "xc2ve3858-ssva2112-2MP-e-S", "xc2ve3858"),
    ],
)
def test_a_platform_or_part_names_its_device(
    platform: str, part: str, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(OVERRIDE, raising=False)
    assert device_of(platform, part).name == device


def test_another_generation_is_refused_unless_a_device_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(OVERRIDE, raising=False)
    with pytest.raises(DesignError, match="xilinx_vck190_base_202410_1 has AI Engines of the first gener"):
        device_of("xilinx_vck190_base_202410_1.xpfm", "")
    with pytest.raises(DesignError, match="the device of design is not known"):
        device_of("design.xsa", "")
    with pytest.raises(DesignError, match="no platform and no part is given"):
        device_of("", "")
    monkeypatch.setenv(OVERRIDE, "xcve2802")
    assert device_of("xilinx_vck190_base_202410_1.xpfm", "").name == "xcve2802"


def test_a_work_folder_gives_back_what_was_compiled(tmp_path: Path) -> None:
    told = Compilation(
        "x86sim", "xcve2802", ("/a/graph.cpp",), ("/a",), ("N=4", "FAST"), 2048, 0, 312.5, "/a"
    )
    write_work(tmp_path / "Work", told, "{}\n")
    assert read_work(tmp_path / "Work", "x86simulator") == told
    assert told.macros() == {"N": "4", "FAST": None}
    with pytest.raises(InputFileError, match=r"with --target=x86sim\. Compile the graph with"):
        read_work(tmp_path / "Work", "aiesimulator")
    with pytest.raises(InputFileError, match=r"was not compiled by memtile\. Compile the graph"):
        read_work(tmp_path, "x86simulator")


def test_a_damaged_work_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "options.json").write_text("{}")
    with pytest.raises(
        InputFileError, match=r"options.json: this is no work folder: .*Compile the graph again"
    ):
        read_work(tmp_path, "x86simulator")


def test_the_archive_is_one_that_ar_reads(tmp_path: Path) -> None:
    write_archive(tmp_path / "libadf.a", {"options.json": b"{}\n", "description": b"ab"})
    assert (tmp_path / "libadf.a").read_bytes() == (
        b"!<arch>\n"
        b"options.json/   0           0     0     644     3         `\n{}\n\n"
        b"description/    0           0     0     644     2         `\nab"
    )
