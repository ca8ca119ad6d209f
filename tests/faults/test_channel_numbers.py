"""Are a channel number out of range and a kernel's mistakes told with the tile, and with the line?"""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from memtile import Array, DesignError, MemoryTile
from memtile.arch.register_map import tile_register
from memtile.cli.main import app
from memtile.importers.design import load_still
from memtile.importers.mlir.token_packets import Text

DESIGN = """
import numpy as np
from memtile import Array


def design():
    array = Array("npu1", columns=1)
    tile = array.compute_tile(0, 2)
    buffer = tile.buffer("b", (4, 8))

    def kernel(core):
        yield core.cycles(1)
        core.write(buffer, np.zeros((8, 4), np.int32))

    tile.run_kernel(kernel)
    return array
"""


@pytest.mark.parametrize("index", [6, 7, -7])
def test_a_channel_that_is_not_there(index: int) -> None:
    array = Array("npu1", columns=1)
    with pytest.raises(DesignError) as caught:
        array.memory_tile(0).mm2s[index]
    assert str(caught.value) == (
        f"memory tile (0,1): MM2S channel is {index}, allowed are 0..5 (AM020: DMA channels of a tile)."
    )
    with pytest.raises(DesignError, match=r"S2MM channel is 2, allowed are 0\.\.1"):
        array.compute_tile(0, 2).s2mm[2]


def test_channels_are_a_tuple_all_the_same() -> None:
    tile = MemoryTile()
    assert len(tile.s2mm) == 6
    assert tile.s2mm[-1] is tile.s2mm[5]
    assert tile.s2mm[1:3] == (tile.s2mm[1], tile.s2mm[2])
    assert [channel.number for channel in tile.mm2s] == [0, 1, 2, 3, 4, 5]


def test_a_memory_tile_of_an_array_with_linear_banks() -> None:
    array, control = Array("npu1", columns=2), tile_register("memory", "Memory_Control")

    def interleaved(column: int) -> int:
        word = array.memory_tile(column).door.read32(control.offset)
        return control.field("Memory_Interleaving").get(word)

    array.memory_tile(0, interleaved=False)
    assert [interleaved(column) for column in range(2)] == [0, 1]
    array.memory_tile(0, interleaved=True)
    assert interleaved(0) == 1


def test_what_a_kernel_does_wrong_has_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "mm.py"
    path.write_text(DESIGN)
    done = CliRunner().invoke(app, ["run", str(path)])
    assert done.exit_code == 2
    assert f"{path}, line 13, core (0, 2), kernel 'kernel': the values for buffer 'b' are int32 (8, 4)" in (
        done.stderr.replace("\n", " ")
    )


def test_a_channel_that_a_flow_does_not_have_is_told_with_that_flow() -> None:
    """Flows from one port are one circuit, and each has its line."""
    text = """module {
  aie.device(npu1_1col) {
    %m = aie.tile(0, 1)
    %a = aie.tile(0, 2)
    %b = aie.tile(0, 3)
    aie.flow(%m, DMA : 0, %a, DMA : 0)
    aie.flow(%m, DMA : 0, %b, DMA : 2)
  }
}"""
    with pytest.raises(DesignError) as caught:
        load_still(Text("d.mlir", text))
    assert "d.mlir:7:5: compute tile (0,3): S2MM channel is 2" in str(caught.value)


def test_a_destination_of_a_packet_flow_is_told_with_its_own_flow() -> None:
    """Packet flows from one channel have one way, and each destination has the line of its flow."""
    text = """module {
  aie.device(npu1_1col) {
    %m = aie.tile(0, 1)
    %a = aie.tile(0, 2)
    aie.packet_flow(1) {
      aie.packet_source<%m, DMA : 0>
      aie.packet_dest<%a, DMA : 0>
    }
    aie.packet_flow(2) {
      aie.packet_source<%m, DMA : 0>
      aie.packet_dest<%a, DMA : 2>
    }
  }
}"""
    with pytest.raises(DesignError) as caught:
        load_still(Text("d.mlir", text))
    assert "d.mlir:9:5: compute tile (0,2): S2MM channel is 2" in str(caught.value)


@pytest.mark.parametrize(
    ("flow", "step"),
    [
        (
            "aie.flow(%a, DMA : 3, %m, DMA : 0)",
            "Exchange the tiles of the flow: the other one has such a channel.",
        ),
        (
            "aie.flow(%m, DMA : 0, %a, DMA : 3)",
            "Exchange the tiles of the flow: the other one has such a channel.",
        ),
        ("aie.flow(%a, DMA : 3, %m, DMA : 2)", ""),
        ("aie.flow(%a, DMA : 7, %m, DMA : 0)", ""),
    ],
)
def test_a_flow_whose_tiles_are_exchanged_is_told_so(flow: str, step: str) -> None:
    """A memory tile has more channels than others: with its tiles exchanged the flow may be one."""
    text = f"module {{\naie.device(npu1_1col) {{\n%m = aie.tile(0, 1)\n%a = aie.tile(0, 2)\n{flow}\n}}\n}}"
    with pytest.raises(DesignError, match=r"d.mlir:5:1: .* channel is ., allowed are 0\.\.") as caught:
        load_still(Text("d.mlir", text))
    assert [each.next_step for each in caught.value.problems] == [step]
