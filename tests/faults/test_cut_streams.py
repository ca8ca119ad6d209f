"""Hosts that wait for the channel of the other direction, and streams that end within a descriptor."""

from __future__ import annotations

import re
from pathlib import Path

from memtile.check.check import check
from memtile.check.checked_program import of_mlir
from memtile.explain.findings import Finding
from memtile.importers.design import load_still

OF_BD = [f"d{n}_{what}" for n in range(3) for what in ("size", "stride", "zero_before", "zero_after")]
OF_BD += ["enable_packet", "iteration_current", "iteration_size", "iteration_stride", "lock_acq_enable"]
OF_BD += ["lock_acq_id", "lock_acq_val", "lock_rel_id", "lock_rel_val", "next_bd", "out_of_order_id"]
OF_BD += ["packet_id", "packet_type", "use_next_bd", "buffer_offset", "column"]
S2MM, MM2S = 0x1D204, 0x1D214  # task queues of channel 0 of an interface tile
TOKEN = 1 << 31
OWN_ID = """%r = arith.constant 0x1d200 : i32
%v = arith.constant 0xf00 : i32
aiex.npu.maskwrite32(%r, %v, %v) {column = 0 : i32, row = 0 : i32} : i32, i32, i32
"""
"""Tokens of S2MM channel 0 carry the id that the flow of the interface tile has."""


def written(number: int, length: int, argument: int, row: int = 0) -> str:
    """A descriptor of an interface tile."""
    zeros = ", ".join(f"{name} = 0 : i32" for name in OF_BD)
    own = f"bd_id = {number} : i32, buffer_length = {length} : i32, valid_bd = 1 : i32, row = {row} : i32"
    patch = f"%p{number} = arith.constant 0 : i32\naiex.npu.address_patch(%p{number} : i32) "
    at = 0x1D004 + 0x20 * number
    return f"aiex.npu.writebd {{{own}, {zeros}}}\n{patch}{{addr = {at} : ui32, arg_idx = {argument} : i32}}\n"


def pushed(queue: int, word: int) -> str:
    names = f"%q{queue}, %w{queue}"
    constants = f"%q{queue} = arith.constant {queue} : i32\n%w{queue} = arith.constant {word} : i32\n"
    return f"{constants}aiex.npu.write32({names}) {{column = 0 : i32, row = 0 : i32}} : i32, i32\n"


def awaited(direction: int) -> str:
    numbers = (0, 0, direction, 0, 1, 1)
    constants = "\n".join(f"%s{n} = arith.constant {number} : i32" for n, number in enumerate(numbers))
    names = ", ".join(f"%s{n}" for n in range(len(numbers)))
    return f"{constants}\naiex.npu.sync({names}) : {', '.join(['i32'] * len(numbers))}\n"


def first(tmp_path: Path, host: str, more: str = "") -> tuple[Finding, list[str]]:
    """The first finding of a check, and the lines of the text."""
    text = f"""module {{
  aie.device(npu1_1col) {{
    %door = aie.tile(0, 0)
    %store = aie.tile(0, 1)
    aie.flow(%door, DMA : 0, {"%store, DMA : 0" if more else "%door, DMA : 0"})
    {more}
    aie.runtime_sequence(%there : memref<64xi32>, %back : memref<64xi32>) {{
{OWN_ID}{host}
    }}
  }}
}}
"""
    file = tmp_path / "design.mlir"
    file.write_text(text)
    return check(str(file), lambda: of_mlir(load_still(file))).findings[0], text.splitlines()


def lines_of(finding: Finding) -> list[int]:
    return [int(each[1]) for side in finding.sides if (each := re.search(r"mlir:(\d+)", side.place))]


def test_a_wait_for_the_other_direction_of_a_channel(tmp_path: Path) -> None:
    host = written(0, 64, 1) + written(1, 64, 0) + pushed(S2MM, TOKEN) + pushed(MM2S, 1)
    found, lines = first(tmp_path, host + awaited(1))
    assert (found.code, found.message, found.fix) == (
        "MT0112",
        "The host waits for token 1 of interface(0,0) MM2S 0, of which 0 are started before that; the task "
        "on interface(0,0) S2MM 0 asks for a token, and nothing waits for it.",
        "Let it wait for interface(0,0) S2MM 0 there. If it is to wait for interface(0,0) MM2S 0: let the "
        f"task started in line {lines_of(found)[1] + 3} ask for a token (issue_token).",
    )
    assert "npu.sync" in lines[lines_of(found)[0] - 1]


def test_a_result_that_is_asked_for_after_a_wait_is_not_what_it_means(tmp_path: Path) -> None:
    host = written(0, 64, 1) + written(1, 64, 0) + pushed(MM2S, 1) + awaited(1)
    found, lines = first(tmp_path, host + pushed(S2MM, TOKEN))
    assert found.fix.endswith("ask for a token (issue_token).")
    assert "%q119316" in lines[lines_of(found)[0] - 1]
    found, _ = first(tmp_path, host.replace(pushed(MM2S, 1), "") + pushed(S2MM, TOKEN) + pushed(MM2S, 1))
    assert found.fix == "Start a task with a token before the wait, or wait for another channel."


def test_each_wait_means_a_result_of_its_own(tmp_path: Path) -> None:
    """A second round's wait is right, and takes the token of the first one where that is not waited for."""
    both = pushed(S2MM, TOKEN) + pushed(MM2S, 1)
    host = written(0, 64, 1) + written(1, 64, 0) + both
    again = host + awaited(1) + both.replace("%q", "%r").replace("%w", "%x")
    right, wrong = (awaited(direction).replace("%s", "%t") for direction in (0, 1))
    found, lines = first(tmp_path, again + right)
    assert [lines[line - 1].split("%")[1][0] for line in lines_of(found)] == ["s", "q"]  # the first round's
    file = tmp_path / "design.mlir"
    first(tmp_path, host + awaited(1) + wrong)
    one, two = check(str(file), lambda: of_mlir(load_still(file))).findings
    assert one.fix.startswith("Let it wait for interface(0,0) S2MM 0 there.")
    assert two.fix.startswith("Let the task started in")


def test_a_token_of_an_id_that_no_port_takes(tmp_path: Path) -> None:
    """The id that a channel has when it gets its task; another one later may come before its end or after."""
    host = written(0, 64, 1) + written(1, 64, 0) + pushed(S2MM, TOKEN) + pushed(MM2S, 1)
    other = OWN_ID.replace(
        "%v = arith.constant 0xf00", "%u = arith.constant 0x700\n%v = arith.constant 0xf00"
    )
    other = re.sub("%([ruv])", r"%\1s", other.replace("(%r, %v, %v)", "(%r, %u, %v)"))
    other = other.replace("0x700\n", "0x700 : i32\n")
    found, _ = first(tmp_path, other + host + awaited(0))
    assert (found.code, "its controller id is 7, and the port takes 15" in found.message) == ("MT0112", True)
    file = tmp_path / "design.mlir"
    file.write_text(file.read_text().replace(host, host + other.replace("%", "%o")).replace(other, "", 1))
    assert "MT0112" not in [
        each.code for each in check(str(file), lambda: of_mlir(load_still(file))).findings
    ]


def test_a_wait_for_a_task_that_asks_for_no_token_where_the_other_one_is_waited_for(tmp_path: Path) -> None:
    host = written(0, 64, 1) + written(1, 64, 0) + pushed(S2MM, TOKEN) + pushed(MM2S, 1)
    for one, two in ((0, 1), (1, 0)):
        waits = awaited(one) + awaited(two).replace("%s", "%t")
        found, _ = first(tmp_path, host + waits)
        assert found.fix.startswith("Let the task started in")


def test_two_ends_of_different_length_are_told_where_their_descriptors_are_written(tmp_path: Path) -> None:
    host = written(0, 64, 1) + written(1, 60, 0) + pushed(S2MM, TOKEN) + pushed(MM2S, 1)
    found, lines = first(tmp_path, host + awaited(0))
    assert found.code == "MT0108"
    assert ["writebd" in lines[line - 1] for line in lines_of(found)] == [True, True]


RING = """aie.flow(%store, DMA : 0, %door, DMA : 0)
    %kept = aie.buffer(%store) {sym_name = "kept"} : memref<64xi32>
    %free = aie.lock(%store, 0) {init = 1 : i32}
    %full = aie.lock(%store, 1) {init = 0 : i32}
    %dma = aie.memtile_dma(%store) {
      %s = aie.dma_start(S2MM, 0, ^in, ^then)
    ^in:
      aie.use_lock(%free, AcquireGreaterEqual, 1)
      aie.dma_bd(%kept : memref<64xi32>, 0, 64)
      aie.use_lock(%full, Release, 1)
      aie.next_bd ^in
    ^then:
      %m = aie.dma_start(MM2S, 0, ^out, ^end)
    ^out:
      aie.use_lock(%full, AcquireGreaterEqual, 1)
      aie.dma_bd(%kept : memref<64xi32>, 0, 64)
      aie.use_lock(%free, Release, 1)
      aie.next_bd ^out
    ^end:
      aie.end
    }"""


def test_a_stream_that_ends_within_a_descriptor_is_told_at_its_sender(tmp_path: Path) -> None:
    """Where it ends between two of them, nothing says that the sender is off, and who waits comes first."""
    host = written(0, 128, 1) + written(1, 124, 0) + pushed(S2MM, TOKEN) + pushed(MM2S, 1) + awaited(0)
    found, lines = first(tmp_path, host, RING)
    who, others = found.sides[0].who, [side.who for side in found.sides[1:]]
    assert (found.code, who) == ("MT0108", "interface(0,0) MM2S 0")
    assert "memory(0,1) S2MM 0" in others[0]
    assert "bd_id = 1" in lines[lines_of(found)[0] - 1]
    found, _ = first(tmp_path, host.replace("buffer_length = 124", "buffer_length = 64"), RING)
    assert (found.code, "interface(0,0) MM2S 0" in found.sides[0].who) == ("MT0108", False)


def test_a_stream_that_ends_early_with_each_number_is_one_finding(tmp_path: Path) -> None:
    """Which descriptor is the last one hangs on the number, and who lacks its words does not."""
    start = written(0, 128, 1)
    parts = (
        written(2, 64, 0)
        + written(3, 60, 0)
        + pushed(MM2S, 2)
        + pushed(MM2S, 3).replace("%q", "%r").replace("%w", "%x")
    )
    either = f"scf.if %is {{\n{parts}}} else {{\n{written(1, 124, 0) + pushed(MM2S, 1)}}}\n"
    number = "%k = arith.constant 3 : i32\n%is = arith.cmpi sge, %go, %k : i32\n"
    first(tmp_path, start + pushed(S2MM, TOKEN) + number + either + awaited(0), RING)
    file = tmp_path / "design.mlir"
    file.write_text(file.read_text().replace("%back : memref<64xi32>)", "%back : memref<64xi32>, %go : i32)"))
    found = check(str(file), lambda: of_mlir(load_still(file))).findings
    assert [(each.code, each.severity) for each in found] == [("MT0108", "warning")]
