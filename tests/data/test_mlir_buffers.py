"""Do buffers of a text get the addresses that mlir-aie gives them?

Facts: mlir-aie, aie-assign-buffer-addresses and its tests in test/assign-buffer-addresses.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import memtile
from memtile import Status
from memtile.errors import MemtileError
from support.mlir.mlir_designs import NUMBERS, TILES, device, host, loaded

_CORE = "aie.core(%c) {{ aie.end }}{0}"


def buffer(name: str, words: int, more: str = "", tile: str = "c") -> str:
    return f'%{name} = aie.buffer(%{tile}) {{sym_name = "{name}"{more}}} : memref<{words}xi32>'


def addresses(*lines: str, before: str = "", tiles: str = TILES) -> dict[str, int]:
    configured = loaded(before + device(*lines, tiles=tiles)).configured
    return {name.removeprefix("%"): found.offset for name, found in configured.buffers.items()}


def test_buffers_go_round_the_banks_the_largest_first() -> None:
    core = _CORE.format("")
    found = addresses(buffer("x", 4), buffer("y", 512), buffer("z", 8), buffer("u", 1), buffer("v", 2), core)
    assert found == {"y": 1024, "z": 0x4000, "x": 0x8000, "v": 0xC000, "u": 1024 + 2048}


def test_buffers_of_one_size_come_in_their_order() -> None:
    """DEV-MLIR-8."""
    found = addresses(*(buffer(f"b{n}", 4) for n in range(20)))
    assert found == {f"b{n}": n % 4 * 0x4000 + n // 4 * 32 for n in range(20)}


def test_a_memory_tile_has_eight_banks() -> None:
    found = addresses(*(buffer(f"m{n}", 100 - n, tile="m") for n in range(9)))
    assert found == {f"m{n}": n * 0x10000 if n < 8 else 400 for n in range(9)}


def test_a_bank_is_one_of_the_four_of_the_compiler() -> None:
    found = addresses(buffer("x", 4, ", mem_bank = 2 : i32"), buffer("y", 4, ", mem_bank = 2 : i32"))
    assert found == {"x": 0x8000, "y": 0x8020}


def test_addresses_are_multiples_of_the_load_width_unless_the_text_says_so() -> None:
    fixed = buffer("x", 1, ", address = 2048 : i32")
    others = buffer("y", 3, ", mem_bank = 0 : i32, aligned = false"), buffer("z", 1, ", mem_bank = 0 : i32")
    core = _CORE.format(" {stack_size = 2048 : i32}")
    assert addresses(fixed, *others, core) == {"x": 2048, "y": 2052, "z": 2080}


def test_buffers_that_the_memory_does_not_hold_are_refused_with_their_sizes() -> None:
    with pytest.raises(MemtileError) as caught:
        addresses(buffer("x", 4), buffer("a_buff_0", 8192), buffer("a_buff_1", 8192), _CORE.format(""))
    says = "buffers of compute tile (0,2) need 66,576 bytes, its memory has 65,536"
    assert f"{says}: a 2 x 32,768, x 1 x 16, stack 1,024" in str(caught.value)


def test_what_fits_no_bank_goes_behind_each_other() -> None:
    assert addresses(buffer("x", 4), buffer("y", 5000), buffer("z", 8)) == {"y": 0, "z": 20000, "x": 20032}


@pytest.mark.parametrize(
    ("tiles", "before"),
    [
        (TILES.replace("(0, 2)", '(0, 2) {allocation_scheme = "basic-sequential"}'), ""),
        (TILES, "// RUN: aiecc --alloc-scheme=basic-sequential %s\n"),
    ],
)
def test_a_tile_or_the_call_of_the_compiler_asks_for_a_scheme(tiles: str, before: str) -> None:
    fixed = buffer("f", 4, ", address = 2080 : i32")
    found = addresses(buffer("x", 4), buffer("y", 512), fixed, _CORE.format(""), tiles=tiles, before=before)
    assert found == {"y": 2112, "x": 4160, "f": 2080}


def test_a_file_beside_the_text_asks_for_a_scheme(tmp_path: Path) -> None:
    """As mlir-aie's test/npu-xrt/add_one_ctrl_packet does, whose host reads a buffer at its address."""
    design = tmp_path / "design.mlir"
    design.write_text(device(buffer("x", 4), buffer("y", 512), _CORE.format("")))
    assert {each.offset for each in memtile.load(design).configured.buffers.values()} == {1024, 0x4000}
    (tmp_path / "run_first.lit").write_bytes(b"\xff")
    (tmp_path / "run.lit").write_text("// RUN: %aiecc --alloc-scheme=basic-sequential design.mlir\n")
    assert {each.offset for each in memtile.load(design).configured.buffers.values()} == {1024, 1024 + 2048}


def test_banks_without_room_are_an_error_where_the_text_insists() -> None:
    tiles = TILES.replace("(0, 2)", '(0, 2) {allocation_scheme = "bank-aware"}')
    with pytest.raises(MemtileError, match="the 4 banks of the compute tile have no room for its buffers"):
        addresses(buffer("y", 5000), tiles=tiles)
    with pytest.raises(MemtileError, match="the allocation scheme is best"):
        addresses(buffer("y", 5), tiles=tiles.replace("bank-aware", "best"))


def test_buffers_of_the_last_object_fifo_come_first() -> None:
    """They are put behind the last tile, in front of those of the FIFO before (mlir-aie)."""
    fifo = "aie.objectfifo @{0}(%s, {{%c}}, 2 : i32) : !aie.objectfifo<memref<16xi32>>"
    found = addresses(*map(fifo.format, "fg"), buffer("x", 16), _CORE.format(""))
    assert found == {
        "g_cons_buff_0": 0x400,
        "g_cons_buff_1": 0x4000,
        "f_cons_buff_0": 0x8000,
        "f_cons_buff_1": 0xC000,
        "x": 0x440,
    }


def test_a_table_need_not_fill_its_last_word() -> None:
    """IRON's edge_detect has 3 x 3 coefficients of 16 bits, which its core passes to a function."""
    core = """aie.core(%c) {
      %k = aie.buffer(%c) {sym_name = "k"} : memref<3x3xi16> = dense<[[1, 2, 3], [4, 5, 6], [7, 8, -9]]>
      func.call @total(%k, %r) : (memref<3x3xi16>, memref<1xi32>) -> ()
      aie.end
    }"""
    lines = ("func.func private @total(memref<3x3xi16>, memref<1xi32>)", buffer("r", 1), core, host())

    def total(table: Any, into: Any) -> None:
        into[0] = int(table.sum(dtype="int32"))

    design = loaded(device(*lines), functions={"total": total})
    assert design.run().result.status is Status.FINISHED
    tile = design.array.tile(0, 2)
    found = {each.name: tile.load(each) for each in design.configured.buffers.values()}
    assert found["r"].tolist() == [27]
    assert found["k"][2].tolist() == [7, 8, -9]


def test_a_core_has_a_table_of_its_own() -> None:
    """As IRON's edge_detect prints it; two cores may call theirs the same."""
    core = """aie.core(%{0}) {{
      %w = aie.buffer(%{0}) {{sym_name = "w{0}"}} : memref<4xi32> = dense<[1, 2, 3, {1}]>
      %z = arith.constant 0 : index
      %t = arith.constant 3 : index
      %v = memref.load %w[%t] : memref<4xi32>
      memref.store %v, %r{0}[%z] : memref<1xi32>
      aie.end
    }}"""
    text = device(
        buffer("rc", 1), buffer("rd", 1, tile="d"), core.format("c", 40), core.format("d", 50), host()
    )
    design = loaded(text)
    design.run(NUMBERS, NUMBERS.copy(), max_cycles=10_000)
    configured = design.configured
    got = [int(configured.tiles[f"%{n}"].load(configured.buffers[f"%r{n}"])[0]) for n in "cd"]
    assert got == [40, 50]


def test_a_buffer_in_a_core_without_contents_is_refused() -> None:
    with pytest.raises(MemtileError, match="buffer w is declared within a core and has no contents"):
        loaded(device('aie.core(%c) { %w = aie.buffer(%c) {sym_name = "w"} : memref<4xi32>\naie.end }'))


def test_a_buffer_may_end_within_a_word() -> None:
    """3 x 3 coefficients of 16 bits (IRON's edge detection): the rest of the last word is free."""
    kernel = 'aie.buffer(%c) {sym_name = "k", address = 1024 : i32} : memref<3x3xi16> = dense<7>'
    core = """aie.core(%c) {
      %two = arith.constant 2 : index
      %x = memref.load %k[%two, %two] : memref<3x3xi16>
      memref.store %x, %k[%two, %two] : memref<3x3xi16>
      aie.end
    }"""
    design = loaded(device(f"%k = {kernel}", buffer("y", 4, ", address = 1044 : i32"), core))
    (found,) = (each for each in design.array.tile(0, 2).buffers if each.name == "k")
    assert (found.offset, found.nbytes) == (1024, 20)
    assert design.array.tile(0, 2).load(found).view(np.int16).tolist() == [7] * 9 + [0]
