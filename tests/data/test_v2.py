"""Does a tile of AIE-ML v2 move what AM027 says: 256-bit banks, 64-bit streams, padding with a constant?"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtile.access.compression import compress
from memtile.access.move import gather, scatter
from memtile.access.walk import Walk
from memtile.arch.packets import PacketOperation, control_header
from memtile.arch.register_map import register_named
from memtile.arch.tiles import MEMORY_V2, WORD_BYTES, TileName
from memtile.bd.codec import encode
from memtile.bd.descriptor import Descriptor, Dim, Packet, Pad
from memtile.bd.windows import DmaAddress
from memtile.design.array import Array
from memtile.errors import DesignError, RegisterError
from memtile.model.state.causes import Cause
from memtile.model.state.tile_columns import Placed
from memtile.sim.doors.event_panel import EventUnit
from memtile.sim.loop.engine import Engine
from memtile.sim.loop.untimed import run_untimed
from memtile.testing.rig import Rig
from memtile.testing.stream_bench import Bench

OWN = MEMORY_V2.own_window_words
BANK_WORDS = MEMORY_V2.bank_bytes // WORD_BYTES


def pad_register(channel: int) -> int:
    return register_named("memory_tile_v2", f"DMA_MM2S_{channel}_Constant_Pad_Value").offset


def descriptor(
    length: int, word: int = 0, dims=(), pad=(), tile: TileName = "memory_v2", **more
) -> Descriptor:
    return Descriptor(tile, length, DmaAddress(OWN + word), dims, pad, **more)


def first_bd(channel: int) -> int:
    return MEMORY_V2.bd_bank(channel)[0] + channel


@pytest.mark.feature("F35")
@pytest.mark.parametrize(("tile", "words"), [("memory", 1), ("memory_v2", 2)])
def test_headline_rate_is_words_of_a_beat_per_channel_and_cycle_both_ways(tile, words):
    """Six channels each way: 24 bytes per cycle and direction in AIE-ML, 48 in AIE-ML v2."""
    rig, count = Rig(tile), 512
    rig.memory_control(interleaved=False)
    bank_words = rig.kind.bank_bytes // WORD_BYTES
    banks = rig.kind.banks
    for n in range(6):  # on v2 twelve channels share eight banks: pairs of one side and the other meet
        rig.write_bd(first_bd(n), descriptor(count, n % banks * bank_words, tile=tile))
        rig.issue(rig.s2mm(n), first_bd(n))
        rig.feed(rig.s2mm(n), count)
        rig.write_bd(first_bd(n) + 6, descriptor(count, (n + 6) % banks * bank_words + count, tile=tile))
        rig.issue(rig.mm2s(n), first_bd(n) + 6)
        rig.catch(rig.mm2s(n))
    rig.engine.run(count // words + 40)
    for ch in range(12):
        assert rig.spent(ch)[Cause.MOVING] == count // words
        assert rig.spent(ch).get(Cause.IDLE, 0) > 0


@pytest.mark.feature("F35")
def test_a_bank_is_256_bits_wide():
    """Eight contiguous words are one access; the next eight are in the next bank, and back after eight."""
    rig = Rig("memory_v2")
    memories, tiles = rig.engine.state.memories, rig.engine.spec.tiles

    def bank(word: int) -> int:
        return int((word >> memories.shift[0]) & memories.mask[0])

    assert [bank(word) for word in range(0, 128, 4)] == [n // 2 % 8 for n in range(32)]
    rig.memory_control(interleaved=False)
    assert [bank(word) for word in (0, BANK_WORDS - 1, BANK_WORDS, 7 * BANK_WORDS)] == [0, 0, 1, 7]
    assert tiles.banks[0] == 8


@pytest.mark.feature("F35")
@pytest.mark.parametrize(("tile", "accesses"), [("memory", 16), ("memory_v2", 8)])
def test_a_transfer_makes_one_access_per_granule(tile, accesses):
    """Cycles in which the channel asks a bank, for 64 contiguous words from a granule's start."""
    rig = Rig(tile)
    rig.write_bd(0, descriptor(64, tile=tile))
    rig.issue(rig.mm2s(), 0)
    rig.catch(rig.mm2s())
    asked = 0
    for _ in range(100):
        rig.step()
        asked += rig.engine.state.granules.port_bank[rig.mm2s()] >= 0
    assert rig.sent(rig.mm2s()) == [0] * 64
    assert asked == accesses


@pytest.mark.feature("F35")
@pytest.mark.parametrize("length", [1, 2, 3, 7, 8, 9])
def test_an_odd_word_count_ends_in_half_a_beat(length):
    rig, data = Rig("memory_v2"), np.arange(100, 100 + length)
    rig.fill(0, data)
    rig.write_bd(0, descriptor(length, next=1))
    rig.write_bd(1, descriptor(length))
    rig.issue(rig.mm2s(), 0)
    rig.catch(rig.mm2s())
    rig.step(80)
    assert rig.sent(rig.mm2s()) == [*data, *data]
    assert rig.spent(rig.mm2s())[Cause.MOVING] == 2 * -(-length // 2)
    lasts = [0] * (length - 1) + [1]
    assert rig.engine.tlasts(rig.mm2s()).tolist() == lasts + lasts


@pytest.mark.feature("F35")
def test_padding_has_the_value_of_the_channels_register():
    rig = Rig("memory_v2")
    rig.fill(0, [11, 12, 13, 14])
    rig.door.write32(pad_register(0), 7)
    rig.door.write32(pad_register(2), 0xFFFF_FFFF)
    padded = descriptor(4 * 4, dims=(Dim(1, 2), Dim(2, 2)), pad=(Pad(1, 1), Pad(1, 1)))
    for channel in (0, 2, 4):
        rig.write_bd(channel, padded)
        rig.issue(rig.mm2s(channel), channel)
        rig.catch(rig.mm2s(channel))
    rig.step(60)
    for channel, p in ((0, 7), (2, 0xFFFF_FFFF), (4, 0)):
        assert rig.sent(rig.mm2s(channel)) == [p] * 5 + [11, 12, p, p, 13, 14] + [p] * 5


def test_a_walk_with_one_access_per_word_moves_one_word_per_cycle():
    rig = Rig("memory_v2")
    strided = (Dim(8, 64),)
    rig.write_bd(0, descriptor(64, dims=strided))
    rig.write_bd(1, descriptor(64, 4096, dims=strided))
    rig.issue(rig.mm2s(), 0)
    rig.issue(rig.s2mm(), 1)
    rig.catch(rig.mm2s())
    rig.feed(rig.s2mm(), 64)
    rig.step(90)
    assert len(rig.sent(rig.mm2s())) == 64
    for ch in (rig.mm2s(), rig.s2mm()):
        moved = rig.cycles(ch, Cause.MOVING)
        assert 60 <= moved[-1] - moved[0] + 1 <= 66


def test_padding_keeps_up_with_the_stream():
    rig = Rig("memory_v2")
    rig.write_bd(0, descriptor(200, dims=(Dim(1, 1), Dim(1, 1)), pad=(Pad(63, 36), Pad(0, 1))))
    rig.issue(rig.mm2s(), 0)
    rig.catch(rig.mm2s())
    rig.step(130)
    assert len(rig.sent(rig.mm2s())) == 200
    assert rig.spent(rig.mm2s())[Cause.MOVING] == 100
    assert rig.spent(rig.mm2s())[Cause.BD_SWITCH] <= 4


@pytest.mark.feature("F35")
def test_a_step_of_zero_sends_the_same_words_again():
    """DEV-V2-8: S2MM knows no step of zero; there it is a step of one."""
    rig = Rig("memory_v2")
    rig.fill(0, range(1, 40))
    again = descriptor(10, dims=(Dim(2, 2), Dim(5, 2), Dim(1, 1), Dim(0)))
    rig.write_bd(0, again)
    rig.issue(rig.mm2s(), 0)
    rig.catch(rig.mm2s())
    rig.step(60)
    assert rig.sent(rig.mm2s()) == [1, 3, 6, 8, 1, 3, 6, 8, 1, 3]
    rig.write_bd(1, descriptor(4, 64, dims=(Dim(1, 1), Dim(1, 1), Dim(1, 1), Dim(0))))
    rig.issue(rig.s2mm(0), 1)
    rig.feed(rig.s2mm(0), 4)
    rig.step(60)
    assert rig.memory(64, 4).tolist() == [1, 2, 3, 4]


def test_what_aie_ml_lacks_is_refused_there():
    with pytest.raises(
        Exception, match=r"D3_Stepsize \(dims\[3\]\.step\) is 0 words, allowed are 1\.\.131072 words"
    ):
        Rig("memory").write_bd(0, descriptor(4, dims=(Dim(1), Dim(1), Dim(1), Dim(0)), tile="memory"))
    with pytest.raises(Exception, match="neither data memory nor a register"):
        Rig("memory").door.write32(pad_register(0), 7)


@pytest.mark.feature("F35")
@pytest.mark.parametrize("length", [256, 255])
def test_two_words_per_cycle_go_through_the_switches(length):
    bench, data = Bench("memory_v2", "memory_v2"), list(range(1, 1 + length))
    bench.circuit("DMA0", "NORTH0")
    bench.circuit("SOUTH0", "DMA0", at=1)
    bench.fill(0, data)
    bench.write_bd(0, descriptor(length))
    bench.write_bd(0, descriptor(length), at=1)
    bench.issue(bench.s2mm(0, 1), 0, at=1)
    bench.issue(bench.mm2s(), 0)
    bench.run(length // 2 + 60)
    assert bench.memory(0, length, at=1) == data
    assert bench.engine.state.spent[bench.mm2s(), Cause.MOVING] == -(-length // 2)


def test_control_ports_take_a_beat_word_by_word():
    """AM027: control ports stay 32 bits wide. A control packet writes three words."""
    bench = Bench("memory_v2")
    bench.packets("DMA0", (3, 31, 0, 0))
    bench.collects("CTRL0", 0, 0)
    bench.fill(0x8000, [control_header(PacketOperation.WRITE, 0x400, 3), 7, 8, 9])
    bench.write_bd(0, descriptor(4, 0x8000, packet=Packet(3)))
    bench.issue(bench.mm2s(), 0)
    bench.run()
    assert bench.memory(0x100, 3) == [7, 8, 9]


def test_a_packet_header_is_in_the_beat_of_the_first_word():
    """DEV-V2-6."""
    rig = Rig("memory_v2")
    rig.fill(0, [5, 6, 7])
    rig.write_bd(0, descriptor(3, packet=Packet(3, 1)))
    rig.issue(rig.mm2s(), 0)
    rig.catch(rig.mm2s())
    rig.step(40)
    header, *data = rig.sent(rig.mm2s())
    assert header & 0x1F == 3
    assert data == [5, 6, 7]
    assert rig.spent(rig.mm2s())[Cause.MOVING] == (1 + 3) / 2


def test_egress_buffers_hold_twice_the_words_and_ingress_buffers_two_beats():
    """DEV-V2-7, DEV-INGRESS-2."""
    ingress, egress = Rig("memory").engine.state.fifos.depth.reshape(2, -1)
    assert set(ingress) == {16}
    assert Rig("memory_v2").engine.state.fifos.depth.tolist() == [4] * 6 + (2 * egress).tolist()


WRAPS = st.integers(1, 5)


@st.composite
def walks(draw: st.DrawFn) -> Descriptor:
    dims = tuple(Dim(draw(st.integers(1, 9)), draw(WRAPS)) for _ in range(3))
    last = Dim(draw(st.sampled_from((0, 1, 30))))
    pads = tuple(Pad(draw(st.integers(0, 3)), draw(st.integers(0, 3))) for _ in range(3))
    return descriptor(draw(st.integers(1, 90)), draw(st.integers(0, 40)), (*dims, last), pads)


@settings(max_examples=25, deadline=None)
@given(d=walks(), pad=st.integers(0, 9), data=st.data())
def test_every_word_is_that_of_the_walk(d: Descriptor, pad: int, data: st.DataObject) -> None:
    """Out of one memory, timed and untimed, and back into another: the walk says where each word goes."""
    memory = np.arange(1000, 1000 + 4096, dtype=np.uint32)
    expected = gather(memory, Walk.of(d).moved(-OWN), pad=pad)
    written = np.zeros(4096, dtype=np.uint32)
    scatter(written, Walk.of(d).unpadded().moved(-OWN), expected)
    pattern = data.draw(st.sampled_from(((), (1, 0, 1), (0, 1))))
    for untimed in (False, True):
        rig = Rig("memory_v2", tiles=2)
        target = rig.beside(1)
        rig.fill(0, memory)
        rig.door.write32(pad_register(0), pad)
        rig.write_bd(0, d)
        target.write_bd(0, d)
        rig.issue(rig.mm2s(), 0)
        target.issue(target.s2mm(), 0)
        rig.catch(rig.mm2s(), pattern)
        rig.feed(target.s2mm(), expected)
        run_untimed(rig.engine) if untimed else rig.engine.run(600)
        assert rig.sent(rig.mm2s()) == expected.tolist()
        assert target.memory(0, 4096).tolist() == written.tolist()


@pytest.mark.parametrize("length", [8, 13, 64])
def test_compressed_streams_carry_the_same_words(length):
    """DEV-V2-9: out compressed, in decompressed; the stream has TLAST on its last word only."""
    rig = Rig("memory_v2", tiles=2)
    target = rig.beside(1)
    data = np.where(np.arange(length) % 3 == 0, 0x1200_0034 + np.arange(length), 0).astype(np.uint32)
    rig.fill(0, data)
    control = register_named("memory_tile_v2", "DMA_MM2S_0_Ctrl")
    rig.door.write32(control.offset, control.field("Compression_Enable").mask)
    control = register_named("memory_tile_v2", "DMA_S2MM_0_Ctrl")
    target.door.write32(control.offset, control.field("Decompression_Enable").mask)
    rig.write_bd(0, descriptor(length, compression=True))
    target.write_bd(0, descriptor(length, compression=True))
    rig.issue(rig.mm2s(), 0)
    rig.catch(rig.mm2s())
    rig.step(length + 60)
    sent = rig.sent(rig.mm2s())
    assert sent == compress(data).tolist()
    assert rig.engine.tlasts(rig.mm2s()).tolist() == [0] * (len(sent) - 1) + [1]
    target.issue(target.s2mm(), 0)
    target.feed(target.s2mm(), sent)
    rig.engine.run(rig.now + 2 * length + 60)
    assert target.memory(0, length).tolist() == data.tolist()


@pytest.mark.feature("F35")
def test_the_interface_tile_reads_and_writes_external_memory() -> None:
    """DEV-V2-5, DEV-V2-9: both channels each way, two words a beat, at the places of AM029."""
    array = Array("xc2ve3858", columns=36)
    moved = []
    for column in (0, 35):
        for number in range(2):
            sent = np.arange(66, dtype=np.int32) + 1000 * column + 100 * number
            back = np.zeros(66, np.int32)
            name = f"{column}_{number}"
            source, sink = array.external(f"in{name}", sent), array.external(f"out{name}", back)
            door, shared = array.interface_tile(column), array.memory_tile(column, 2)
            buffer, full = shared.buffer(name, (66,)), shared.lock(0)
            array.connect(door.mm2s[number], shared.s2mm[number])
            array.connect(shared.mm2s[number], door.s2mm[number])
            door.mm2s[number].start(door.read(source))
            shared.s2mm[number].start(shared.write(buffer).guarded(release=full.release()))
            shared.mm2s[number].start(shared.read(buffer).guarded(acquire=full.acquire()))
            door.s2mm[number].start(door.write(sink))
            moved.append((sent, back))
    result = array.run()
    assert result.good
    for sent, back in moved:
        np.testing.assert_array_equal(back, sent)
    assert {use.spent[Cause.MOVING] for use in result.channels} == {33}


def test_status_of_an_interface_channel_has_the_fields_of_am029() -> None:
    """Cur_BD of MM2S begins one bit higher than that of S2MM."""
    for direction, first in (("S2MM", 24), ("MM2S", 25)):
        array = Array("xc2ve3858", columns=1)
        tile = array.interface_tile(0)
        offset = tile.kind.status_base[direction == "MM2S"]
        queue = tile.kind.queue_base + (direction == "MM2S") * 2 * tile.kind.channel_stride
        words = encode(Descriptor("interface_v2", 8, DmaAddress(0)))
        tile.door.block_write32(tile.kind.bd_base + 5 * tile.kind.bd_stride, words)
        tile.door.write32(queue, 5)
        array.engine.run(20)
        assert tile.door.read32(offset) >> first & 0xF == 5
        status = register_named("noc_v2", f"DMA_{direction}_Status_0")
        assert status.field("Cur_BD").get(tile.door.read32(offset)) == 5


def test_a_model_has_one_generation():
    with pytest.raises(DesignError) as caught:
        Engine([Placed("memory_v2"), Placed("compute_v2"), Placed("compute")])
    assert str(caught.value) == (
        "model, tile 2: kind is compute; it must be one of memory_v2, compute_v2, interface_v2 (tile 0 "
        "is of AIE-ML v2)."
    )


def test_a_memory_tile_has_two_more_counters() -> None:
    older, newer = EventUnit(Rig("memory").door), EventUnit(Rig("memory_v2").door, "memory_tile_v2")
    for unit, last in ((older, 3), (newer, 5)):
        unit.count(last, "PORT_RUNNING_0", "PORT_RUNNING_0")
        with pytest.raises(RegisterError, match=rf"0\.\.{last}"):
            unit.count(last + 1, "PORT_RUNNING_0", "PORT_RUNNING_0")
