"""Does ``memtile check`` say what is wrong in every form, and end as scripts expect?"""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner, Result

from memtile.cli.main import app
from support.mlir.mlir_texts import CALL, PASSTHROUGH

RING = """from memtile import MemoryTile


def design(free=0):
    tile = MemoryTile()
    buffer, empty, full = tile.buffer("a", 16), tile.lock(free, "empty"), tile.lock(0, "full")
    tile.s2mm[0].start(tile.write(buffer).guarded(empty.acquire(), full.release()))
    tile.mm2s[0].start(tile.read(buffer).guarded(full.acquire(), empty.release()))
    tile.s2mm[0].feed(range(16))
    tile.mm2s[0].collect()
    return tile
"""


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ring.py").write_text(RING)
    (tmp_path / "fine.mlir").write_text(PASSTHROUGH)


def check(*args: str) -> Result:
    return CliRunner().invoke(app, ["check", *args])


def test_the_line_of_the_design_is_named_as_compilers_do() -> None:
    done = check("ring.py")
    assert done.exit_code == 1
    assert done.stdout.startswith(
        "ring.py:7: error MT0106: Deadlock, each waits for a lock that only the next one"
    )
    assert "  and MM2S 0 (BD 1) waits for lock 1 'full' (needs 1) (ring.py:8)" in done.stdout
    assert done.stdout.endswith("ring.py: 2 tasks checked, 1 error\n")


def test_parameters_of_the_design_can_be_set() -> None:
    done = check("ring.py", "--set", "free=1")
    assert (done.exit_code, done.stdout) == (
        0,
        "ring.py: 2 tasks checked, nothing found, finishes whatever the timing\n",
    )


MOVED = """aiex.scratchpad_parameter @p : i32 {state_table_idx = 0 : ui8}
module {
  aie.device(npu1_1col) {
    %s = aie.tile(0, 0)
    %m = aie.tile(0, 1)
    %b = aie.buffer(%m) {address = 0 : i32} : memref<8xi32>
    aie.flow(%s, DMA : 0, %m, DMA : 0)
    aie.flow(%m, DMA : 0, %s, DMA : 0)
    aie.shim_dma_allocation @in(%s, MM2S, 0)
    aie.shim_dma_allocation @out(%s, S2MM, 0)
    aie.memtile_dma(%m) {
      %0 = aie.dma_start(S2MM, 0, ^bd, ^end)
    ^bd:
      aie.dma_bd(%b : memref<8xi32>, 0, 8)
      aie.next_bd ^end
    ^end:
      aie.end
    }
    aiex.runtime_sequence(%a: memref<8xi32>) {
      aiex.npu.create_scratchpad {size = 8 : ui32}
      aiex.npu.write32 {address = 0xA0020 : ui32, column = 0 : i32, row = 1 : i32, value = 8 : ui32}
      aiex.npu.write32 {address = 0xA0024 : ui32, column = 0 : i32, row = 1 : i32, value = 0x20000 : ui32}
      aiex.npu.write32 {address = 0xA003C : ui32, column = 0 : i32, row = 1 : i32, value = 0x80000000 : ui32}
      aiex.npu.update_from_scratchpad <mul> {state_table_idx = 0 : ui8, func_arg = 32 : ui32,
        address = 0x1A0024 : ui32}
      aiex.npu.write32 {address = 0xA0634 : ui32, column = 0 : i32, row = 1 : i32, value = 1 : ui32}
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 8][0, 0, 0, 1]) {id = 0 : i64, metadata = @in}
        : memref<8xi32>
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 8][0, 0, 0, 1]) {id = 1 : i64, metadata = @out,
        issue_token = true} : memref<8xi32>
      aiex.npu.dma_wait {symbol = @out}
    }
  }
}
"""
"""A task reads what another one writes at any time, or 8 words behind it for each one of the scratchpad."""


def test_parameters_of_a_scratchpad_can_be_set(tmp_path: Path) -> None:
    (tmp_path / "moved.mlir").write_text(MOVED)
    without, one = check("moved.mlir"), check("moved.mlir", "--set", "0=1")
    assert (without.exit_code, one.exit_code) == (1, 0), without.output + one.output
    assert "MT0105" in without.stdout
    given = check("moved.mlir", "--set", "0=0").stdout
    assert given.replace(", finishes whatever the timing", "") == without.stdout


@pytest.mark.parametrize(
    ("file", "setting", "code", "says"),
    [
        ("moved.mlir", "q=1", 1, "the module has no parameter q"),
        ("moved.mlir", "0=much", 2, "for MLIR it must be NAME=NUMBER"),
        ("alone.mlir", "p=1", 1, "nothing takes the parameter p: there is no host sequence"),
        ("numbers.mlir", "0=1", 1, "nothing takes the parameter 0: the host sequence depends on numbers"),
        ("writes.txn", "p=1", 2, "a program of register writes has no parameters"),
    ],
)
def test_parameters_that_nothing_takes_are_told(
    tmp_path: Path, file: str, setting: str, code: int, says: str
) -> None:
    (tmp_path / "moved.mlir").write_text(MOVED)
    (tmp_path / "alone.mlir").write_text("module { aie.device(npu1_1col) { %t = aie.tile(0, 2) } }")
    (tmp_path / "numbers.mlir").write_text(
        MOVED.replace(
            "(%a: memref<8xi32>) {", "(%a: memref<8xi32>, %n: i32) {\n    %q = arith.addi %n, %n : i32"
        )
    )
    (tmp_path / "writes.txn").write_bytes(b"")
    done = check(file, "--set", setting)
    assert done.exit_code == code, done.output
    assert says in done.output


def test_several_designs_are_told_one_after_another() -> None:
    done = check("fine.mlir", "ring.py")
    assert done.exit_code == 1
    assert done.stdout.startswith("fine.mlir: ")


def test_several_devices_of_a_file_are_designs_of_their_own(tmp_path: Path) -> None:
    second = PASSTHROUGH.removeprefix("module {").replace("aie.device(npu1_1col)", "aie.device(npu1_1col) @b")
    text = PASSTHROUGH.replace("aie.device(npu1_1col)", "aie.device(npu1_1col) @a").rstrip()[:-1] + second
    (tmp_path / "two.mlir").write_text(text)
    done = check("two.mlir")
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == ["two.mlir (a)", "two.mlir (b)"]


def test_sarif_has_rules_places_and_both_sides() -> None:
    written = json.loads(check("ring.py", "--sarif").stdout)
    assert (written["version"], len(written["runs"])) == ("2.1.0", 1)
    (run,) = written["runs"]
    (rule,), (result,) = run["tool"]["driver"]["rules"], run["results"]
    assert rule["id"] == result["ruleId"] == "MT0106"
    assert (result["ruleIndex"], result["level"]) == (0, "error")
    (first,), (other,) = result["locations"], result["relatedLocations"]
    places = [each["physicalLocation"] for each in (first, other)]
    assert [place["artifactLocation"]["uri"] for place in places] == ["ring.py", "ring.py"]
    assert [place["region"] for place in places] == [{"startLine": 7}, {"startLine": 8}]


def test_junit_has_a_case_for_each_design() -> None:
    suite = ElementTree.fromstring(check("fine.mlir", "ring.py", "--junit").stdout)[0]
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    fine, ring = suite
    assert fine.find("failure") is None
    failure = ring.find("failure")
    assert failure is not None
    assert failure.get("type") == "MT0106"


def test_a_file_that_is_not_there_and_two_forms_are_usage_errors() -> None:
    assert check("gone.py").exit_code == 2
    assert check("ring.py", "--json", "--sarif").exit_code == 2


def test_a_design_that_fails_is_a_finding_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("def design():\n    return 1 / 0\n")
    (tmp_path / "bad.mlir").write_text("module { aie.device(npu1) { %t = aie.tile(9, 9) } }")
    done = check("bad.py", "bad.mlir")
    assert done.exit_code == 1
    assert done.stdout.count("MT0100") == 2
    assert "bad.py" in done.stdout
    assert "bad.mlir:1:34: error MT0100: " in done.stdout


def test_functions_of_the_user_come_before_those_of_the_library(tmp_path: Path) -> None:
    """NPU_FDTD's passThrough takes three arrays; mlir-aie's takes two."""
    text = CALL.replace("@work", "@passthrough").replace(
        "(memref<16xi32>, memref<16xi32>)\n    %shim",
        "(memref<16xi32>, memref<16xi32>, memref<16xi32>)\n    %shim",
    )
    text = text.replace(
        "(%x, %y) : (memref<16xi32>, memref<16xi32>)",
        "(%x, %x, %y) : (memref<16xi32>, memref<16xi32>, memref<16xi32>)",
    )
    (tmp_path / "design.mlir").write_text(text)
    (tmp_path / "own.py").write_text("def passthrough(a, b, c):\n    c[...] = a\n")
    refused = check(str(tmp_path / "design.mlir"))
    assert refused.exit_code == 1
    assert "the text declares passthrough(memref<16xi32>, memref<16xi32>, memref<16xi32>)" in refused.output
    assert "def passthrough(a0, a1, a2)" in check("--json", str(tmp_path / "design.mlir")).output
    assert check(str(tmp_path / "design.mlir"), "--kernels", str(tmp_path / "own.py")).exit_code == 0


def test_a_warning_about_a_function_is_a_note_of_the_check(tmp_path: Path) -> None:
    text = CALL.replace("@work", "@passthrough").replace(
        "aie.end\n    }", 'aie.end\n    } {link_with = "theirs.o"}'
    )
    (tmp_path / "design.mlir").write_text(text)
    assert "passthrough(a, c, *sizes) is that of passThrough.o" in check(str(tmp_path / "design.mlir")).output


def test_a_device_without_a_name_beside_one_of_its_chip_is_checked(tmp_path: Path) -> None:
    """As Triton-XDNA prints them: one device with a name, and one without that configures it."""
    inner = (
        PASSTHROUGH.removeprefix("module {\n").rpartition("}\n")[0].replace("npu1_1col)", "npu1_1col) @one")
    )
    host = "aie.runtime_sequence @go() {\n      aiex.configure @one {\n      }\n    }"
    outer = f"  aie.device(npu1_1col) {{\n    {host}\n  }}\n"
    (tmp_path / "design.mlir").write_text(f"module {{\n{inner}{outer}}}\n")
    done = check(str(tmp_path / "design.mlir"))
    assert done.exit_code == 0, done.output
    assert "(one): " in done.output
    assert "(npu1_1col): " in done.output
    assert "none of them" not in done.output
