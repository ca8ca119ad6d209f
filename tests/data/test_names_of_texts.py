"""Do findings about designs of mlir-aie speak by the names and the lines of the text?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import memtile
from memtile import Finding

LOWERED = """module {
  aie.device(npu1_1col) {
    %shim = aie.tile(0, 0)
    %tile = aie.tile(0, 2)
    %in = aie.buffer(%tile) {sym_name = "given"} : memref<16xi32>
    %out = aie.buffer(%tile) {sym_name = "taken"} : memref<16xi32>
    %full = aie.lock(%tile, 0) {init = 0 : i32, sym_name = "full"}
    %done = aie.lock(%tile, 1) {init = 0 : i32, sym_name = "done"}
    aie.flow(%shim, DMA : 0, %tile, DMA : 0)
    aie.flow(%tile, DMA : 0, %shim, DMA : 0)
    aie.shim_dma_allocation @input(%shim, MM2S, 0)
    aie.shim_dma_allocation @output(%shim, S2MM, 0)
    aie.mem(%tile) {
      %0 = aie.dma_start(S2MM, 0, ^come, ^next)
    ^come:
      aie.dma_bd(%in : memref<16xi32>, 0, 16)
      aie.use_lock(%full, Release, 1)
      aie.end
    ^next:
      %1 = aie.dma_start(MM2S, 0, ^go, ^end)
    ^go:
      aie.use_lock(%done, AcquireGreaterEqual, 1)
      aie.dma_bd(%out : memref<16xi32>, 0, 16)
      aie.end
    ^end:
      aie.end
    }
    aie.core(%tile) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = arith.constant 16 : index
      WAIT
      scf.for %i = %c0 to %n step %c1 {
        %v = memref.load %in[%i] : memref<16xi32>
        memref.store %v, %out[%i] : memref<16xi32>
      }
      aie.use_lock(%done, Release, 1)
      aie.end
    }
    aie.runtime_sequence(%a: memref<16xi32>, %b: memref<16xi32>) {
      aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 16][0, 0, 0, 1]) {id = 0 : i64, metadata = @output, issue_token = true} : memref<16xi32>
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 16][0, 0, 0, 1]) {id = 1 : i64, metadata = @input} : memref<16xi32>
      aiex.npu.dma_wait {symbol = @output}
    }
  }
}
"""  # noqa: E501


def findings(tmp_path: Path, wait: str) -> tuple[memtile.Result, tuple[Finding, ...]]:
    path = tmp_path / "design.mlir"
    path.write_text(LOWERED.replace("WAIT", wait))
    done = memtile.load(path).run(np.arange(16, dtype=np.int32), check=True)
    return done.result, done.result.findings


def line(text: str) -> int:
    return LOWERED[: LOWERED.index(text)].count("\n") + 1


def test_a_race_of_a_core_has_its_line_of_the_text(tmp_path: Path) -> None:
    result, found = findings(tmp_path, "")
    assert result.status == "finished"
    (race,) = [each for each in found if each.code == "MT0201"]
    places = {side.who: side.place for side in race.sides}
    core = next(who for who in places if who.startswith("core (0, 2)"))
    assert places[core] == f"{tmp_path / 'design.mlir'}:{line('memref.load')}"
    assert race.message.startswith(f"core (0, 2), kernel 'kernel', line {line('memref.load')} reads words 0")
    channel = next(place for who, place in places.items() if "S2MM 0" in who)
    assert channel.startswith(f"BD 0, {tmp_path / 'design.mlir'}:{line('aie.dma_bd(%in')}:")


def test_a_core_that_waits_for_ever_has_the_line_where_it_waits(tmp_path: Path) -> None:
    result, (hang, *_) = findings(tmp_path, "aie.use_lock(%full, AcquireGreaterEqual, 2)")
    assert result.status == "stuck"
    core = next(side for side in hang.sides if side.who.startswith("core (0, 2)"))
    assert core.place == f"{tmp_path / 'design.mlir'}:{line('WAIT')}"


def test_channels_are_called_as_the_text_calls_them(tmp_path: Path) -> None:
    result, _ = findings(tmp_path, "aie.use_lock(%full, AcquireGreaterEqual, 1)")
    assert {use.name: use.label for use in result.channels} == {
        "interface(0,0) MM2S 0": "input",
        "interface(0,0) S2MM 0": "output",
        "compute(0,2) S2MM 0": "given",
        "compute(0,2) MM2S 0": "taken",
    }


@pytest.mark.parametrize("depth", [1, 2])
def test_channels_of_object_fifos_have_their_names(tmp_path: Path, depth: int) -> None:
    path = tmp_path / "fifos.mlir"
    path.write_text(f"""module {{
  aie.device(npu1_1col) {{
    %shim = aie.tile(0, 0)
    %memory = aie.tile(0, 1)
    aie.objectfifo @come(%shim, {{%memory}}, {depth} : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @go(%memory, {{%shim}}, {depth} : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo.link [@come] -> [@go] ([] [])
  }}
}}
""")
    engine = memtile.load(path).array.engine
    assert sorted(engine.channel_names.values()) == ["come", "come", "go", "go"]


def test_a_core_that_reads_before_it_waits_is_the_one_that_is_too_early(tmp_path: Path) -> None:
    """It takes the lock of what it reads, but for the first of its buffers, and gives both of them back."""
    text = Path(__file__).parents[1] / "corpus" / "acquire-in-a-loop-fine.mlir"
    first = "aie.use_lock(%xfull, AcquireGreaterEqual, 1)"
    late = (
        text.read_text("utf-8").replace(first, "").replace("aie.use_lock(%xfree, Release, 1)", f"{first}\n$&")
    )
    path = tmp_path / "design.mlir"
    path.write_text(late.replace("$&", "aie.use_lock(%xfree, Release, 1)"))
    (found,) = memtile.load(path).run(np.arange(64, dtype=np.int32), check=True).result.findings
    assert found.code == "MT0105"
    assert found.message.startswith(
        "core (0, 2), line 41: buffer 'x' is used before the acquire of lock 1 'x_full'"
    )
    assert found.fix == "Acquire lock 1 'x_full' of tile (0, 2) before line 41."
