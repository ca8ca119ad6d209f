"""Does npu2 move data as its tables say: wide banks and ports, padding values, bursts, and no compression?"""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import memtile
from memtile.access.views import view
from memtile.arch.core import CORES
from memtile.arch.register_map import register_named
from memtile.arch.tiles import COMPUTE_2P, MEMORY_2P, WORD_BYTES, TileName
from memtile.bd.codec import encode
from memtile.bd.descriptor import Axi, Descriptor, Dim, Pad
from memtile.bd.windows import OWN
from memtile.design.array import Array
from memtile.design.memory_tile import MemoryTile
from memtile.design.transfers import Transfer
from memtile.errors import MemtileError, SimulationError
from memtile.io.program.device_detection import device_of
from memtile.io.program.program_formats import read_program
from memtile.io.program.recorder import record
from memtile.io.program.transaction import Transaction, transaction_bytes
from memtile.io.program.transaction_format import Header
from memtile.model.state.causes import Cause
from memtile.model.state.tile_columns import Placed
from memtile.report.disassembly import disassembly_lines
from memtile.runs.array_names import Given, Wanted
from memtile.runs.session import run_program
from memtile.sim.loop.clock import Stop
from memtile.sim.loop.engine import Engine
from memtile.sim.loop.untimed import run_untimed
from memtile.testing.rig import Rig

EXAMPLES = Path(__file__).parents[2] / "examples"
CONTROL = 1 << 4  # Compression_Enable and Decompression_Enable


def refused(call: Callable[[], object], error: type[MemtileError] = MemtileError) -> str:
    with pytest.raises(error) as caught:
        call()
    return str(caught.value)


def test_a_bank_is_256_bits_wide_and_there_are_eight() -> None:
    rig = Rig("memory_2p")
    memories = rig.engine.state.memories

    def bank(word: int) -> int:
        return int((word >> memories.shift[0]) & memories.mask[0])

    assert [bank(word) for word in range(0, 128, 4)] == [n // 2 % 8 for n in range(32)]
    rig.memory_control(interleaved=False)
    words = MEMORY_2P.bank_bytes // WORD_BYTES
    assert [bank(word) for word in (0, words - 1, words, 7 * words)] == [0, 0, 1, 7]


def test_padding_has_the_value_of_the_channels_register() -> None:
    rig = Rig("memory_2p")
    rig.fill(0, [11, 12, 13, 14])
    rig.write_bd(0, Descriptor("memory_2p", 6, OWN.address(0), (Dim(1, 4),), (Pad(1, 1),)))
    value = register_named("memory_tile_2p", "DMA_MM2S_0_Constant_Pad_Value")
    rig.door.write32(value.offset, 77)
    rig.catch(rig.mm2s())
    rig.issue(rig.mm2s(), 0)
    assert rig.engine.run(200) is Stop.QUIET
    assert rig.sent(rig.mm2s()) == [77, 11, 12, 13, 14, 77]


def test_pad_with_works_in_a_design() -> None:
    tile = MemoryTile("npu2")
    data = np.arange(1, 5, dtype=np.int32)
    buffer = tile.buffer("b", (4,), np.int32)
    tile.store(buffer, data)
    tile.mm2s[0].pad_with(9)
    tile.mm2s[0].start(tile.read(buffer, np.pad(view((4,)), 1)))
    tile.mm2s[0].expect(np.array([9, 1, 2, 3, 4, 9], np.int32))
    assert tile.run().good


@pytest.mark.parametrize("columns", range(1, 9))
def test_every_partition_of_npu2_moves_words_by_its_interface_tiles(columns: int) -> None:
    """From external memory through each column's memory tile and back, two words a beat."""
    array = Array(f"npu2_{columns}col" if columns < 8 else "npu2")
    assert array.columns == columns
    moved = []
    for column in range(columns):
        sent, back = np.arange(64, dtype=np.int32) + 1000 * column, np.zeros(64, np.int32)
        source, sink = array.external(f"in{column}", sent), array.external(f"out{column}", back)
        shared, door = array.memory_tile(column), array.interface_tile(column)
        buffer = shared.buffer(f"b{column}", (64,), np.int32)
        full = shared.lock(0, name=f"full{column}")
        array.connect(door.mm2s[0], shared.s2mm[0])
        array.connect(shared.mm2s[0], door.s2mm[0])
        door.mm2s[0].start(door.read(source))
        shared.s2mm[0].start(shared.write(buffer).guarded(release=full.release()))
        shared.mm2s[0].start(shared.read(buffer).guarded(acquire=full.acquire()))
        door.s2mm[0].start(door.write(sink))
        moved.append((sent, back))
    result = array.run()
    assert result.good
    for sent, back in moved:
        np.testing.assert_array_equal(back, sent)
    assert len(result.channels) == 4 * columns
    assert {(use.words, use.spent[Cause.MOVING]) for use in result.channels} == {(64, 32)}


@pytest.mark.parametrize("tile", ["memory_2p", "compute_2p"])
@pytest.mark.parametrize("reads", [True, False])
@pytest.mark.parametrize("timed", [True, False])
def test_a_run_that_would_need_the_compressed_format_is_refused(
    tile: TileName, reads: bool, timed: bool
) -> None:
    """DEV-AIE2P-3: by its name and the channel's, in both runs."""
    rig = Rig(tile)
    ch = rig.mm2s() if reads else rig.s2mm()
    base = OWN.address(0) if tile == "memory_2p" else 0
    rig.write_bd(0, Descriptor(tile, 8, base, compression=True))  # type: ignore[arg-type]
    rig.door.write32(rig.kind.control_base + ch * rig.kind.channel_stride, CONTROL)
    rig.issue(ch, 0)
    text = refused(
        lambda: rig.engine.run(100) if timed else run_untimed(rig.engine),
        SimulationError,
    )
    assert text == (
        f"{rig.kind.title} (0,0), {'MM2S' if reads else 'S2MM'} 0: the channel is to "
        f"{'compress' if reads else 'decompress'}, but the format of AIE2P is not public (the compressed "
        "bytes of AIE2P differ from those of AIE-ML: mlir-aie, dma_compression). Send the data uncompressed, "
        "or try it on npu1."
    )


def test_a_channel_that_is_only_set_up_to_compress_harms_nobody() -> None:
    """DEV-AIE2P-3: others move their words; when its task starts the channel halts, and they go on."""
    array = Array("npu2", 1)
    tile, door = array.memory_tile(0), array.door.at_once()
    rig, place = MEMORY_2P, 1 << 20
    words = encode(Descriptor("memory_2p", 8, OWN.address(0x100), compression=True), 9)
    door.block_write32(place + rig.bd_base + 9 * rig.bd_stride, words)
    door.write32(place + rig.control_base + 6 * rig.channel_stride, CONTROL)
    array.connect(tile.mm2s[1], tile.s2mm[1])
    for _ in range(2):
        sink = tile.buffer(f"sink{_}", 16)
        tile.s2mm[1].start(tile.write(sink))
        tile.mm2s[1].start(tile.read(tile.buffer(f"source{_}", 16, data=np.arange(16))))
        array.route()
        array.engine.wait(300)
        assert tile.load(sink).tolist() == list(range(16))
        if _ == 0:
            door.write32(place + rig.queue_base + 6 * rig.channel_stride, 9)
            with pytest.raises(SimulationError, match=r"MM2S 0: the channel is to compress, but the format"):
                array.engine.wait(20)
            assert door.read32(place + rig.status_base[1]) & 0xFF << 8 == 0
            door.write32(place + rig.control_base + 6 * rig.channel_stride, 2)
    door.write32(place + rig.control_base + 6 * rig.channel_stride, 0)
    door.write32(place + rig.queue_base + 6 * rig.channel_stride, 9)
    array.engine.wait(100)
    assert door.read32(place + rig.status_base[1]) >> 24 == 9  # without compression it has run


def test_one_half_of_the_switch_compresses_nothing_and_is_let_through() -> None:
    """DEV-AIE2P-3: hardware compresses if both the descriptor and the channel say so."""
    for in_bd in (True, False):
        rig = Rig("memory_2p")
        rig.fill(0, range(8))
        rig.write_bd(0, Descriptor("memory_2p", 8, OWN.address(0), compression=in_bd))
        if not in_bd:
            rig.door.write32(rig.kind.control_base + rig.mm2s() * rig.kind.channel_stride, CONTROL)
        rig.catch(rig.mm2s())
        rig.issue(rig.mm2s(), 0)
        assert rig.engine.run(100) is Stop.QUIET
        assert rig.sent(rig.mm2s()) == list(range(8))


def test_a_compressed_transfer_of_npu2_is_refused_when_it_is_declared() -> None:
    tile = MemoryTile("npu2")
    buffer = tile.buffer("b", (8,), np.int32)
    assert refused(lambda: tile.read(buffer).compressed()) == (
        "AIE2P memory tile, transfer: the format of compressed streams of AIE2P is not public (DEV-AIE2P-3). "
        "Send it uncompressed, or try the design on npu1."
    )
    assert MemoryTile("npu1").buffer("b", (8,), np.int32) is not None


@pytest.mark.slow
@pytest.mark.compiled("whole designs take minutes in the interpreter")
@pytest.mark.parametrize("name", ["distribute_join.py", "transpose.py", "packets.py", "gemm.py"])
def test_examples_of_npu1_run_on_npu2(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Designs do not know the generation: their own checks of the data hold."""
    made: list[Array] = []

    def array(_device: str = "npu1", columns: int | None = None) -> Array:
        made.append(Array("npu2", columns))
        return made[-1]

    monkeypatch.setattr(memtile, "Array", array)
    design = runpy.run_path(str(EXAMPLES / name))["design"]()
    result = design.run() if hasattr(design, "run") else made[0].run()
    assert result.good
    assert made[0].device.name == "npu2"
    assert {use.name.partition("_")[2][:2] for use in result.channels} == {"2p"}


def test_a_core_has_ports_of_512_bits() -> None:
    """DEV-AIE2P-2."""
    assert CORES["AIE2P"].vector_bits == 512 == 8 * 2 * COMPUTE_2P.granule_bytes
    assert CORES["AIE2P"].memory_windows == CORES["AIE-ML"].memory_windows


@pytest.mark.parametrize(
    ("device", "clock", "reset"),
    [
        ("npu1", 0xFFF20, 0xFFF28),
        ("npu2", 0xFFF20, 0xFFF28),
        ("xc2ve3858", 0xFFF20, 0xFFF28),
        ("xc2ve3858", 0x7FF20, 0x7FF28),  # as the driver has them for AIE2PS: DEV-V2-2
    ],
)
def test_row_0_holds_the_clock_and_the_reset_of_its_column(device: str, clock: int, reset: int) -> None:
    """Memory tiles of AIE2P and v2 have their isolation where interface tiles have the column's clock."""
    array = Array(device, columns=2)
    for column in range(2):
        for off, on in (((clock, 0), (clock, 1)), ((reset, 1), (reset, 0))):
            array.door.write32(array.door.address(column, 0, off[0]), off[1])
            for row in range(1, array.rows):
                with pytest.raises(MemtileError):
                    array.door.read32(array.door.address(column, row, 0))
            assert array.door.read32(array.door.address(1 - column, 1, 0)) == 0
            array.door.write32(array.door.address(column, 0, on[0]), on[1])
            assert array.door.read32(array.door.address(column, 1, 0)) == 0


def test_generations_do_not_mix() -> None:
    text = refused(lambda: Engine([Placed("memory_2p"), Placed("compute")]))
    assert (
        "kind is compute; it must be one of memory_2p, compute_2p, interface_2p (tile 0 is of AIE2P)" in text
    )


def test_check_bit_errors_have_a_bit_for_each_of_eight_words() -> None:
    """The driver's header: LANE0 to LANE7."""
    rig = Rig("memory_2p")
    rig.door.write32(register_named("memory_tile_2p", "CHECKBIT_ERROR_GENERATION").offset, 1 << 6)
    rig.door.block_write32(0, list(range(16)))
    flips = np.flatnonzero(np.asarray(rig.engine.state.flips)[:16]).tolist()
    assert flips == [6, 14]


@pytest.mark.parametrize("version", [(0, 1), (1, 0)])
@pytest.mark.parametrize("generation", [4, 9])
def test_a_file_for_npu2_runs_on_it_by_its_header(version: tuple[int, int], generation: int) -> None:
    """Bursts of 512 bytes and both ends in the columns that npu1 does not have."""
    array = Array("npu2")
    recording = record(array)
    sent, back = np.arange(256, dtype=np.int32), np.zeros(256, np.int32)
    source, sink = array.external("in", sent), array.external("out", back)
    first, last, shared = array.interface_tile(6), array.interface_tile(7), array.memory_tile(7)
    buffer, full = shared.buffer("b", (256,)), shared.lock(0)
    array.connect(first.mm2s[0], shared.s2mm[0])
    array.connect(shared.mm2s[0], last.s2mm[0])
    wide = first.read(source)
    first.mm2s[0].start(*(Transfer((d.but(axi=Axi(burst=512)),)) for d in wide.descriptors))
    shared.s2mm[0].start(shared.write(buffer).guarded(release=full.release()))
    shared.mm2s[0].start(shared.read(buffer).guarded(acquire=full.acquire()))
    last.s2mm[0].start(last.write(sink))
    assert array.run().good
    data = transaction_bytes(Transaction(Header(version, generation, 6, 8, 1), recording.operations))
    program = read_program(data, "design.bin")
    device, shape = device_of([program])
    assert (device.name, shape.columns) == ("npu2", 8)
    lines = "\n".join(disassembly_lines(program, program.shape or shape))
    assert "bursts of 512 bytes" in lines
    done = run_program(
        program.operations,
        Array(device.name, shape.columns),
        [Given("0", sent)],
        [Wanted("1", np.dtype(np.int32), (256,))],
    )
    assert done.result.good
    np.testing.assert_array_equal(done.arrays["1"], sent)
