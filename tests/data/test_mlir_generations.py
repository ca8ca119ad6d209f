"""Do designs of other years and other tools mean what they meant: 2023's names, IREE's, emptied cores?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memtile import Status, load
from memtile.errors import InputFileError
from memtile.importers.bodies import texts
from memtile.importers.mlir.forms.device_forms import devices
from memtile.importers.mlir.reader import read
from memtile.importers.mlir.token_packets import Text
from support.mlir.mlir_designs import FLOWS, NUMBERS, TILES, WAIT, copied, device, host, loaded, ran

LOOP = "%z = arith.constant 0 : index\n%n = arith.constant 4 : index\n%w = arith.constant 16 : index\n"
OLD = """
module { AIE.device(ipu) {
  %s = AIE.tile(0, 0)
  %c = AIE.tile(0, 2)
  %rtp = AIE.buffer(%c) {sym_name = "rtp"} : memref<16xi32>
  AIE.objectFifo @in(%s, {%c}, 2 : i32) : !AIE.objectFifo<memref<16xi32>>
  AIE.objectFifo @out(%c, {%s}, 2 : i32) : !AIE.objectFifo<memref<16xi32>>
  %core = AIE.core(%c) {
    %z = arith.constant 0 : index
    %o = arith.constant 1 : index
    %two = arith.constant 2 : index
    %w = arith.constant 16 : index
    %n = arith.constant 0xFFFFFFFF : index
    scf.for %t = %z to %n step %o {
      %0 = AIE.objectFifo.acquire @in(Consume, 1) : !AIE.objectFifoSubview<memref<16xi32>>
      %x = AIE.objectFifo.subview.access %0[0] : !AIE.objectFifoSubview<memref<16xi32>> -> memref<16xi32>
      %1 = AIE.objectFifo.acquire @out(Produce, 1) : !AIE.objectFifoSubview<memref<16xi32>>
      %y = AIE.objectFifo.subview.access %1[0] : !AIE.objectFifoSubview<memref<16xi32>> -> memref<16xi32>
      %k = memref.load %rtp[%two] : memref<16xi32>
      scf.for %i = %z to %w step %o {
        %v = memref.load %x[%i] : memref<16xi32>
        %r = arith.addi %v, %k : i32
        memref.store %r, %y[%i] : memref<16xi32>
      }
      AIE.objectFifo.release @in(Consume, 1)
      AIE.objectFifo.release @out(Produce, 1)
    }
    AIE.end
  } {link_with = "add.o"}
  func.func @sequence(%a : memref<64xi32>, %b : memref<64xi32>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    AIEX.ipu.rtp_write(0, 2, 2, 7) { buffer_sym_name = "rtp" }
    @MOVES@
    AIEX.ipu.sync { column = 0 : i32, row = 0 : i32, direction = 0 : i32, channel = 0 : i32, @MORE@ }
    return
  }
} }
""".replace("@MORE@", "column_num = 1 : i32, row_num = 1 : i32")
_TYPES = "(i32, i32, memref<64xi32>, [i32,i32,i32,i32], [i32,i32,i32,i32], [i32,i32,i32])"
_LISTS = "offsets = [0 : i32, 0 : i32, 0 : i32, 0 : i32], lengths = [1 : i32, 1 : i32, 1 : i32, 64 : i32]"
MOVES = {
    "values": (
        "AIEX.ipu.dma_memcpy_nd (%c0, %c0, %{}[%c0,%c0,%c0,%c0][%c1,%c1,%c1,%c64][%c0,%c0,%c0]) "
        "{{ metadata = @{}, id = {} : i32 }} : " + _TYPES
    ),
    "numbers": (
        "aiex.ipu.dma_memcpy_nd(0, 0, %{}[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0]) "
        "{{metadata = @{}, id = {} : i64}} : memref<64xi32>"
    ),
    "attributes": (
        "AIEX.ipu.dma_memcpy_nd(0, 0, %{} : memref<64xi32>) {{ " + _LISTS + ", "
        "strides = [0 : i32, 0 : i32, 0 : i32], metadata = @{}, id = {} : i32 }}"
    ),
}


@pytest.mark.parametrize("spelling", MOVES)
def test_a_design_of_2023(spelling: str) -> None:
    moves = "\n".join(MOVES[spelling].format(*each) for each in (("b", "out", 1), ("a", "in", 0)))
    design = loaded(OLD.replace("@MOVES@", moves))
    assert design.array.device.name == "npu1"
    np.testing.assert_array_equal(ran(design, NUMBERS)[1], NUMBERS + 7)


def test_the_dialects_lost_their_capitals_before_object_fifos_did() -> None:
    moves = "\n".join(MOVES["numbers"].format(*each) for each in (("b", "out", 1), ("a", "in", 0)))
    text = OLD.replace("@MOVES@", moves).replace("AIEX.", "aiex.").replace("AIE.", "aie.")
    np.testing.assert_array_equal(ran(loaded(text), NUMBERS)[1], NUMBERS + 7)


def test_locks_by_the_numbers_that_cores_have_for_them() -> None:
    """Own locks from 48 on, those of the tile in the south from 0 (mlir-aie, AIELocalizeLocks)."""
    turn = """aie.core(%{}) {{
      %wait = arith.constant {} : index
      %give = arith.constant {} : index
      %v = arith.constant {} : i32
      %at = arith.constant 0 : index
      aie.use_lock(%wait, AcquireGreaterEqual, 1)
      memref.store %v, %buf[%at] : memref<64xi32>
      aie.use_lock(%give, Release, 1)
      aie.end
    }}"""
    sends = """aie.mem(%c) {
      %0 = aie.dma_start(MM2S, 0, ^send, ^end)
    ^send:
      aie.use_lock(%last, AcquireGreaterEqual, 1)
      aie.dma_bd(%buf : memref<64xi32>, 0, 64)
      aie.next_bd ^end
    ^end:
      aie.end
    }"""
    text = device(
        "%buf = aie.buffer(%c) : memref<64xi32>",
        "%first = aie.lock(%c, 5) {init = 1 : i32}",
        "%middle = aie.lock(%c, 6)",
        "%last = aie.lock(%c, 7)",
        turn.format("c", 53, 54, 11),
        turn.format("d", "0x6", 7, 12),
        sends,
        "aie.flow(%c, DMA : 0, %s, DMA : 0)",
        FLOWS,
        host(copied("out", "b", 0), WAIT),
    )
    assert ran(loaded(text), NUMBERS)[1][0] == 12
    for number in ("56", "-1", "64"):
        with pytest.raises(InputFileError, match="%wait is no lock of the device"):
            loaded(text.replace("constant 53", f"constant {number}"))


def test_lowered_text_of_2023() -> None:
    """BDs in angle brackets, channels in one word, and names with capitals within."""
    text = """
      AIE.device(ipu) {
        %s = AIE.tile(0, 0)
        %m = AIE.tile(0, 1)
        %buf = AIE.buffer(%m) {sym_name = "buf"} : memref<64xi32>
        %free = AIE.lock(%m, 0) {init = 1 : i32}
        %full = AIE.lock(%m, 1) {init = 0 : i32}
        AIE.flow(%s, "DMA" : 0, %m, "DMA" : 0)
        AIE.flow(%m, "DMA" : 0, %s, "DMA" : 0)
        AIE.shimDMAAllocation @in(MM2S, 0, 0)
        AIE.shimDMAAllocation @out(S2MM, 0, 0)
        %d = AIE.memTileDMA(%m) {
          %0 = AIE.dmaStart("S2MM0", ^one, ^next)
        ^one:
          AIE.useLock(%free, "AcquireGreaterEqual", 1)
          AIE.dmaBd(<%buf : memref<64xi32>, 0, 64>, 0)
          AIE.useLock(%full, "Release", 1)
          AIE.nextBd ^one
        ^next:
          %1 = AIE.dmaStart("MM2S0", ^two, ^end)
        ^two:
          AIE.useLock(%full, "AcquireGreaterEqual", 1)
          AIE.dmaBd(<%buf : memref<64xi32>, 32, 32>, 0)
          AIE.useLock(%free, "Release", 1)
          AIE.nextBd ^two
        ^end:
          AIE.end
        }
        func.func @host(%a: memref<64xi32>, %b: memref<32xi32>) {
          AIEX.ipu.dma_memcpy_nd(0, 0, %b[0,0,0,0][1,1,1,32][0,0,0]) {metadata = @out, id = 1 : i64} : memref<32xi32>
          AIEX.ipu.dma_memcpy_nd(0, 0, %a[0,0,0,0][1,1,1,64][0,0,0]) {metadata = @in, id = 0 : i64} : memref<64xi32>
          AIEX.ipu.sync {column = 0 : i32, row = 0 : i32, direction = 0 : i32, channel = 0 : i32,
                         column_num = 1 : i32, row_num = 1 : i32}
          return
        }
      }"""  # noqa: E501
    np.testing.assert_array_equal(ran(loaded(text), NUMBERS)[1], NUMBERS[32:])


@pytest.mark.parametrize(("said", "device_"), [("ipu", "npu1"), ("npu", "npu1"), ("npu4", "npu2")])
def test_devices_by_their_other_names(said: str, device_: str) -> None:
    (found,) = devices(read(Text("d.mlir", f"aie.device({said}) {{ %s = aie.tile(0, 0) }}")))
    assert found.device == device_


def test_a_fifo_whose_one_consumer_links_it_on() -> None:
    """The memory tile sends on what a core gets too, with as many buffers as its own end says."""
    view = "!aie.objectfifosubview<memref<16xi32>>"
    text = device(
        "aie.objectfifo @in(%s, {%c, %m}, [2, 2, 3]) : !aie.objectfifo<memref<16xi32>>",
        "aie.objectfifo @out(%m, {%s}, 2 : i32) : !aie.objectfifo<memref<16xi32>>",
        "aie.objectfifo.link [@in] -> [@out] ([] [])",
        '%sum = aie.buffer(%c) {sym_name = "sum"} : memref<16xi32> = dense<0>',
        f"""aie.core(%c) {{
          {LOOP} %o = arith.constant 1 : index
          scf.for %t = %z to %n step %o {{
            %0 = aie.objectfifo.acquire @in(Consume, 1) : {view}
            %x = aie.objectfifo.subview.access %0[0] : {view} -> memref<16xi32>
            scf.for %i = %z to %w step %o {{
              %v = memref.load %x[%i] : memref<16xi32>
              %k = memref.load %sum[%i] : memref<16xi32>
              %r = arith.addi %v, %k : i32
              memref.store %r, %sum[%i] : memref<16xi32>
            }}
            aie.objectfifo.release @in(Consume, 1)
          }}
          aie.end
        }}""",
        host(copied("out", "b", 1), copied("in", "a", 0), WAIT),
    )
    design = loaded(text)
    pool = [buffer for buffer in design.configured.buffers.values() if buffer.place == (0, 1)]
    assert [buffer.name for buffer in pool] == [f"in_1_cons_buff_{n}" for n in range(3)]
    np.testing.assert_array_equal(ran(design, NUMBERS)[1], NUMBERS)
    (total,) = (each for each in design.configured.buffers.values() if each.name == "sum")
    read_back = design.array.compute_tile(0, 2).own_door.block_read32(total.offset, 16)
    np.testing.assert_array_equal(read_back, NUMBERS.reshape(4, 16).sum(axis=0))


def test_links_that_meet_nowhere_are_told() -> None:
    text = device(
        "aie.objectfifo @in(%s, {%c}, 2 : i32) : !aie.objectfifo<memref<16xi32>>",
        "aie.objectfifo @out(%m, {%s}, 2 : i32) : !aie.objectfifo<memref<16xi32>>",
        "aie.objectfifo.link [@in] -> [@out] ([] [])",
    )
    with pytest.raises(InputFileError, match="its FIFOs meet in 2 tiles: %c, %m"):
        loaded(text)


def test_a_fifo_in_one_memory_has_as_many_buffers_as_the_text_says() -> None:
    """Its consumer may hold more than its producer ever does."""
    text = device(
        "aie.objectfifo @in(%c, {%d}, 4 : i32) : !aie.objectfifo<memref<16xi32>>",
        """aie.core(%c) {
          %0 = aie.objectfifo.acquire @in(Produce, 1) : !aie.objectfifosubview<memref<16xi32>>
          aie.objectfifo.release @in(Produce, 1)
          aie.end
        }""",
    )
    assert len(loaded(text).configured.buffers) == 4


ROUTED = f"""
  %free = aie.lock(%m, 0) {{init = 1 : i32}}
  %full = aie.lock(%m, 1) {{init = 0 : i32}}
  %buf = aie.buffer(%m) {{address = 0 : i32, sym_name = "buf"}} : memref<64xi32>
  aie.switchbox(%s) {{ aie.connect<South : 3, North : 1>  aie.connect<North : 0, South : 2> }}
  aie.shim_mux(%s) {{ aie.connect<DMA : 0, North : 3>  aie.connect<North : 2, DMA : 0> }}
  aie.switchbox(%m) {{ aie.connect<South : 1, DMA : 0>  aie.connect<DMA : 0, South : 0> }}
  aie.memtile_dma(%m) {{
    %0 = aie.dma_start(S2MM, 0, ^one, ^next)
  ^one:
    aie.use_lock(%free, AcquireGreaterEqual, 1)
    aie.dma_bd(%buf : memref<64xi32>, 0, 64)
    aie.use_lock(%full, Release, 1)
    aie.next_bd ^one
  ^next:
    %1 = aie.dma_start(MM2S, 0, ^two, ^end)
  ^two:
    aie.use_lock(%full, AcquireGreaterEqual, 1)
    aie.dma_bd(%buf : memref<64xi32>, 0, 64)
    aie.use_lock(%free, Release, 1)
    aie.next_bd ^two
  ^end:
    aie.end
  }}
  {FLOWS}
"""


def test_tokens_of_a_routed_text_without_a_way_for_them_reach_the_firmware() -> None:
    """DEV-MLIR-2."""
    text = device(ROUTED, host(copied("out", "b", 1), copied("in", "a", 0), WAIT))
    np.testing.assert_array_equal(ran(loaded(text), NUMBERS)[1], NUMBERS)


def test_values_in_braces_are_operands_of_operations_that_nobody_knows() -> None:
    text = """module {
      %0 = other.thing %a, {%b, %c} : i32
      %1 = other.flow({%b} -> {%c}) {kind = true}
      aie.device(npu1_1col) { %s = aie.tile(0, 0) }
    }"""
    (found,) = devices(read(Text("d.mlir", text)))
    assert list(found.tiles) == ["%s"]


def test_what_is_beside_a_device_may_use_values_that_only_its_dialect_defines() -> None:
    text = "air.launch (%x) in (%n = %m) { air.herd tile (%x) { } }\n" + device(ROUTED, host())
    assert loaded(text).sequence is not None
    with pytest.raises(InputFileError, match="uses the value %nowhere"):
        loaded(device("%l = aie.lock(%nowhere, 0)"))


_BODY = """
  %core = aie.core(%c) {
    %z = arith.constant 0 : index
    %k = arith.constant 9 : i32
    memref.store %k, %own[%z] : memref<16xi32>
    aie.use_lock(%done, Release, 1)
    aie.end
  }"""
_EMPTIED = '%core = aie.core(%c) { aie.end } {elf_file = "core_0_2.elf"}'
_CORE = """
  %own = aie.buffer(%c) {address = 1024 : i32, sym_name = "own"} : memref<16xi32>
  %done = aie.lock(%c, 3) {init = 0 : i32, sym_name = "done"}
"""


def test_an_emptied_core_has_the_body_of_the_text_beside_it(tmp_path: Path) -> None:
    (tmp_path / "input_physical_with_elfs.mlir").write_text(device(_CORE, _EMPTIED, host()))
    (tmp_path / "input_with_addresses.mlir").write_text(device(_CORE, _BODY, host()))
    design = load(tmp_path / "input_physical_with_elfs.mlir")
    assert any("are those of" in note and "input_with_addresses.mlir" in note for note in design.notes)
    done = design.run()
    assert done.result.status is Status.FINISHED
    assert design.array.compute_tile(0, 2).own_door.read32(1024) == 9


@pytest.mark.parametrize(
    "other", ["", device(_CORE.replace("1024", "2048"), _BODY), device(_CORE.replace("%c", "%d"), _BODY)]
)
def test_an_emptied_core_without_a_text_that_fits_has_no_program(tmp_path: Path, other: str) -> None:
    (tmp_path / "with_elfs.mlir").write_text(device(_CORE, _EMPTIED, host()))
    if other:
        (tmp_path / "input_with_addresses.mlir").write_text(other)
    design = load(tmp_path / "with_elfs.mlir")
    assert design.kernels == {}
    assert any("cores (0, 2)" in note and "machine code" in note for note in design.notes)


def test_one_of_several_devices_by_its_place() -> None:
    text = "\n// -----\n".join(device("%b = aie.buffer(%m) : memref<" + f"{n}xi32>") for n in (4, 8))
    assert [loaded(text, name=f"#{n}").configured.device.buffers["%b"].shape.shape for n in (1, 2)] == [
        (4,),
        (8,),
    ]
    with pytest.raises(InputFileError, match="by name or as #1 to #2"):
        loaded(text)
    assert TILES in text


def test_the_device_that_configures_the_others_is_meant() -> None:
    """Also where those that it configures have host sequences of their own."""
    inner = [device(host(copied("out", "b", 1)), ROUTED, name=f"@{name}") for name in ("one", "two")]
    main = device(host("aiex.configure @one { }", "aiex.npu.load_pdi {device_ref = @two}"), name="@main")
    assert loaded("\n".join([*inner, main])).configured.device.name == "main"


def test_ports_in_capitals() -> None:
    """As IREE prints them; a way for tokens that the text has is not made again."""
    lines = "aie.flow(%s, DMA : 0, %m, DMA : 0)", "aie.flow(%s, CTRL : 0, %s, SOUTH : 0)"
    flows = loaded(device(*lines)).configured.device.flows
    assert flows[1].sources[0].bundle == "TileControl"
    assert flows[1].targets[0].bundle == "South"


def _emptied(folder: Path, name: str = "with_elfs.mlir") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(device(_CORE, _EMPTIED, host()))
    return folder / name


@pytest.mark.parametrize(
    ("emptied", "own"),
    [
        ("a.mlir.prj/input_physical_with_elfs.mlir", "a.mlir.prj/input_physical.mlir"),
        ("a.mlir.prj/npu_insts.mlir", "a.mlir.prj/input_with_addresses.mlir"),
        ("a.mlir.prj/anything.mlir", "a.mlir"),
        ("b.prj/physical_with_elfs.mlir", "b.mlir"),
        ("main_physical_with_elfs.mlir", "main_input_with_addresses.mlir"),
    ],
)
def test_bodies_are_those_of_the_text_that_aiecc_names_so(tmp_path: Path, emptied: str, own: str) -> None:
    file = tmp_path / emptied
    _emptied(file.parent, file.name)
    (tmp_path / own).write_text(device(_CORE, _BODY, host()))
    (tmp_path / "another.mlir").write_text(device(_CORE, _BODY.replace("9 :", "8 :"), host()))
    (file.parent / "a_first_one.mlir").write_text(device(_CORE, _BODY.replace("9 :", "7 :"), host()))
    design = load(file)
    design.run()
    assert design.array.compute_tile(0, 2).own_door.read32(1024) == 9


@pytest.mark.parametrize("many", [1, 2])
def test_bodies_of_a_text_that_only_lies_there_are_asked_for(tmp_path: Path, many: int) -> None:
    file = _emptied(tmp_path)
    for n in (7, 9)[:many]:
        (tmp_path / f"add_{n}.mlir").write_text(device(_CORE, _BODY.replace("9 :", f"{n} :"), host()))
    with pytest.raises(InputFileError, match=r"cores \(0, 2\) have ELF files") as caught:
        load(file)
    assert str(caught.value).count("add_") == many + 1
    assert str(caught.value).endswith(f"such as --kernels {tmp_path / 'add_7.mlir'}.")
    design = load(file, bodies=tmp_path / "add_7.mlir")
    design.run()
    assert design.array.compute_tile(0, 2).own_door.read32(1024) == 7
    (tmp_path / "other.mlir").write_text(device(_CORE.replace("1024", "2048"), _BODY, host()))
    with pytest.raises(InputFileError, match="the buffers and locks of cores"):
        load(file, bodies=tmp_path / "other.mlir")


def test_a_folder_of_thousands_of_texts_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = _emptied(tmp_path)
    for n in range(20):
        (tmp_path / f"t{n}.mlir").write_text(device(_CORE.replace("%own", "%b"), host()))
    monkeypatch.setattr(texts, "read", lambda *_: pytest.fail("a text was read that has no such buffer"))
    assert texts._alike(*_described(file), texts.beside([file])) == [file]
    monkeypatch.setattr(texts, "MOST_TEXTS", 10)
    assert texts.beside([file]) == [file]


def _described(file: Path) -> tuple[Any, Any]:
    (found,) = devices(read(Text(file.name, file.read_text())))
    return found, found.cores
