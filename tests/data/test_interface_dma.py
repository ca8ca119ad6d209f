"""Does the interface tile move what its descriptors say between external memory and the array?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from memtile.arch.packets import STREAM_HEADER
from memtile.arch.register_map import register_named
from memtile.arch.registers import field_of
from memtile.arch.tiles import INTERFACE, MM2S, S2MM
from memtile.arch.timing import Timing
from memtile.bd.descriptor import Acquire, Descriptor, Dim, Iteration, Packet, Release
from memtile.bd.windows import OWN, DmaAddress, DmaLock
from memtile.errors import DesignError, InputFileError, RegisterError
from memtile.explain.outcome import outcome
from memtile.explain.results import Status
from memtile.model.state.causes import Cause, Phase
from memtile.model.state.tile_columns import Placed
from memtile.sim.loop.clock import Stop
from memtile.sim.loop.engine import Engine
from memtile.sim.loop.untimed import run_untimed
from support.designs.interface_bench import DEMUX, LIMIT, MUX, Column, caught, counting, fed


@pytest.mark.feature("F36")
def test_words_go_from_external_memory_through_all_three_levels_and_back() -> None:
    column = Column()
    given, taken = counting(500), np.zeros(500, np.uint32)
    source = column.engine.external.add("source", given)
    target = column.engine.external.add("target", taken)
    column.up()
    column.down()
    column.circuit(1, "DMA1", "NORTH1")
    column.circuit(2, "SOUTH1", "DMA0")
    column.circuit(2, "DMA0", "SOUTH2")
    column.circuit(1, "NORTH2", "DMA2")
    lock = [Acquire(OWN.lock(n), -1, True) for n in range(2)]
    done = [Release(OWN.lock(n), 1) for n in range(2)]
    column.start(0, MM2S, 0, 0, 500, source.at())
    column.start(1, S2MM, 0, 0, 500, OWN.address(0), release=done[0])
    column.start(1, MM2S, 1, 24, 500, OWN.address(0), acquire=lock[0])
    column.start(2, S2MM, 0, 0, 500, 0, release=Release(DmaLock(0), 1))
    column.start(2, MM2S, 0, 1, 500, 0, acquire=Acquire(DmaLock(0), -1, True))
    column.start(1, S2MM, 2, 1, 500, OWN.address(1000), release=done[1])
    column.start(1, MM2S, 0, 2, 500, OWN.address(1000), acquire=lock[1])
    column.start(0, S2MM, 0, 1, 500, target.at())
    assert column.engine.run(LIMIT) is Stop.QUIET
    np.testing.assert_array_equal(taken, given)
    np.testing.assert_array_equal(column.doors[1].block_read32(0, 500), given)
    np.testing.assert_array_equal(column.doors[2].block_read32(0, 500), given)


def test_a_three_dimensional_read_takes_its_words_in_order() -> None:
    column, ch = caught()
    matrix = np.arange(6 * 8 * 10, dtype=np.uint32).reshape(6, 8, 10)
    source = column.engine.external.add("matrix", matrix)
    column.start(0, MM2S, 0, 3, 3 * 4 * 2, source.at(20), dims=(Dim(2, 3), Dim(10, 4), Dim(80)))
    column.engine.run(LIMIT)
    np.testing.assert_array_equal(column.engine.caught(ch), matrix[0:2, 2:6, 0:6:2].reshape(-1))


def test_a_three_dimensional_write_puts_its_words_in_order() -> None:
    column, _ = fed(24)
    matrix = np.zeros((3, 4, 8), np.uint32)
    target = column.engine.external.add("matrix", matrix)
    column.start(0, S2MM, 0, 3, 24, target.at(1), dims=(Dim(8, 4), Dim(1, 2), Dim(32)))
    column.engine.run(LIMIT)
    expected = np.zeros_like(matrix)
    expected[:, :, 1:3] = counting(24).reshape(3, 2, 4).transpose(0, 2, 1)
    np.testing.assert_array_equal(matrix, expected)


def test_an_execution_is_one_iteration() -> None:
    """GT-19: two overlapping iterations, one execution: exactly the inner 32 words are written."""
    column, _ = fed(64)
    target = column.engine.external.add("target", memory := np.zeros(64, np.uint32))
    descriptor = Descriptor("interface", 32, target.at(), iteration=Iteration(16, 2))
    column.put(0, 0, descriptor)
    column.issue(0, S2MM, 0, 0)
    column.engine.run(LIMIT)
    np.testing.assert_array_equal(memory, [*range(1, 33), *[0] * 32])
    column.issue(0, S2MM, 0, 0)
    column.engine.run(LIMIT)
    np.testing.assert_array_equal(memory, [*range(1, 17), *range(33, 65), *[0] * 16])


def test_repeats_walk_through_the_iterations_and_wrap() -> None:
    column, ch = caught()
    source = column.engine.external.add("source", counting(100, 0))
    column.put(0, 5, Descriptor("interface", 4, source.at(), iteration=Iteration(10, 3)))
    column.issue(0, MM2S, 0, 5, runs=4)
    column.engine.run(LIMIT)
    expected = [first + n for first in (0, 10, 20, 0) for n in range(4)]
    assert column.engine.caught(ch).tolist() == expected
    assert column.engine.tlasts(ch).tolist() == [0, 0, 0, 1] * 4


def test_the_release_of_a_write_comes_after_its_words_are_there() -> None:
    column, _ = fed(64)
    reader = column.channel(0, MM2S)
    column.engine.catch(reader)
    shared = column.engine.external.add("shared", np.zeros(64, np.uint32))
    column.start(0, S2MM, 0, 0, 64, shared.at(), release=Release(DmaLock(3), 1))
    column.start(0, MM2S, 0, 1, 64, shared.at(), acquire=Acquire(DmaLock(3), -1, True))
    column.engine.run(LIMIT)
    np.testing.assert_array_equal(column.engine.caught(reader), counting(64))


def test_a_file_is_read_and_written(tmp_path: Path) -> None:
    path, other = tmp_path / "in.bin", tmp_path / "out.bin"
    counting(300).tofile(path)
    np.zeros(300, np.uint32).tofile(other)
    column = Column(rows=2)
    source = column.engine.external.add_file("in", path, writable=False)
    target = column.engine.external.add_file("out", str(other), np.int16)
    assert (target.words, target.array.dtype) == (300, np.int16)
    column.up()
    column.down()
    column.start(0, MM2S, 0, 0, 300, source.at())
    column.start(1, S2MM, 0, 0, 300, OWN.address(0), release=Release(OWN.lock(0), 1))
    column.start(1, MM2S, 0, 1, 300, OWN.address(0), acquire=Acquire(OWN.lock(0), -1, True))
    column.start(0, S2MM, 0, 1, 300, target.at())
    column.engine.run(LIMIT)
    np.testing.assert_array_equal(np.fromfile(other, np.uint32), counting(300))


def test_arrays_are_used_where_they_are_and_never_copied(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Half of a transfer is in the array itself while the run goes on, and no file is flushed."""
    (path := tmp_path / "out.bin").write_bytes(bytes(400))
    column, _ = fed(100)
    target = column.engine.external.add_file("out", path)
    monkeypatch.setattr(np.memmap, "flush", lambda _: pytest.fail("a run flushes nothing"))
    column.start(0, S2MM, 0, 0, 100, target.at())
    seen: list[int] = []
    with column.engine.watched(lambda: seen.append(int(np.count_nonzero(target.array)))):
        column.engine.run(LIMIT)
    assert {0, 48, 52, 100} <= set(seen)
    np.testing.assert_array_equal(np.fromfile(path, np.uint32), counting(100))


@pytest.mark.parametrize("skipped", [0, 1, 2, 3])
def test_an_array_of_bytes_may_begin_anywhere(skipped: int) -> None:
    column, ch = caught()
    memory = np.zeros(84, np.uint8)
    memory[skipped : skipped + 80] = np.arange(80)
    source = column.engine.external.add("bytes", memory[skipped : skipped + 80])
    column.start(0, MM2S, 0, 0, 20, source.at())
    column.engine.run(LIMIT)
    assert column.engine.caught(ch).tobytes() == bytes(range(80))


def test_a_run_costs_the_same_however_large_external_arrays_are() -> None:
    """A gigabyte that nobody has touched stays untouched: its pages are never asked of the system."""

    def touched(words: int) -> int:
        column, _ = caught()
        target = column.engine.external.add("large", np.zeros(words, np.uint32))
        column.engine.run(LIMIT)
        resident = Path("/proc/self/statm").read_text().split()[1]
        assert target.words == words
        return int(resident)

    if not Path("/proc/self/statm").exists():
        pytest.skip("the system does not say how much memory a process has")
    touched(1 << 10)
    before = touched(1 << 10)
    pages = (1 << 30) // 4096
    assert touched(1 << 28) - before < pages // 16


def test_a_file_that_cannot_be_mapped_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match=r"absent\.bin: the file cannot be mapped: "):
        Column(rows=1).engine.external.add_file("a", tmp_path / "absent.bin")


def test_buffers_may_change_between_runs() -> None:
    column, ch = caught()
    source = column.engine.external.add("source", data := counting(8))
    column.start(0, MM2S, 0, 0, 8, source.at())
    column.engine.run(LIMIT)
    data += 100
    late = column.engine.external.add("late", counting(4, 50))
    column.issue(0, MM2S, 0, 0)
    column.start(0, MM2S, 0, 1, 4, late.at())
    column.engine.run(LIMIT)
    assert column.engine.caught(ch).tolist() == [*range(1, 9), *range(101, 109), *range(50, 54)]


# addresses -----------------------------------------------------------------------------------------------


def test_buffers_get_pages_of_their_own_or_the_address_asked_for() -> None:
    memory = Column(rows=1).engine.external
    high = (1 << 48) - 16
    given = [memory.add("a", np.zeros(3, np.uint32)), memory.add("b", np.zeros(5000, np.uint8), 0x10000)]
    given += [memory.add("c", np.zeros(1, np.uint32)), memory.add("d", np.zeros(4, np.float32), high)]
    assert [buffer.address for buffer in given] == [0x1000, 0x10000, 0x12000, high]
    assert given[3].at(3) == (1 << 46) - 1
    assert list(memory.buffers) == ["a", "b", "c", "d"]
    with pytest.raises(DesignError, match=r"external buffer a.*word.*3.*0\.\.2"):
        given[0].at(3)


def test_the_last_word_below_48_bits_is_reached() -> None:
    column, ch = caught()
    source = column.engine.external.add("top", counting(4), (1 << 48) - 16)
    column.start(0, MM2S, 0, 0, 4, source.at())
    column.engine.run(LIMIT)
    assert column.engine.caught(ch).tolist() == [1, 2, 3, 4]


def test_bad_buffers_are_refused_with_all_their_problems() -> None:
    memory = Column(rows=1).engine.external
    memory.add("a", np.zeros(16, np.uint32), 0x2000)
    with pytest.raises(DesignError) as caught_error:
        memory.add("a", np.zeros((8, 3), np.uint16)[:, :2][:, ::2], 0x2001)
    reasons = [problem.reason for problem in caught_error.value.problems]
    assert reasons == ["external_name", "external_layout", "external_address", "external_overlap"]
    assert "overlap a, which has 0x2000..0x203f" in str(caught_error.value)
    with pytest.raises(DesignError, match=r"7 bytes.*whole 32-bit words"):
        memory.add("b", np.zeros(7, np.uint8))
    with pytest.raises(DesignError, match=r"0x1000000000000; it must be a multiple of 0x4"):
        memory.add("b", np.zeros(1, np.uint32), 1 << 48)


@pytest.mark.parametrize("beyond", [0, 1, 10])
def test_an_address_that_nobody_answers_is_a_decode_error(beyond: int) -> None:
    """DEV-EXT-3: the channel halts until the bit is cleared; its task is lost, its queue is not."""
    column, ch = caught()
    source = column.engine.external.add("source", counting(8))
    column.start(0, MM2S, 0, 0, 4, DmaAddress(source.at() + 8 - 3 + beyond))
    column.start(0, MM2S, 0, 1, 4, source.at(4))
    assert column.engine.run(LIMIT) is Stop.QUIET
    assert column.status(MM2S, 0, "AXI_MM_Decode_Error") == 1
    result = outcome(column.engine, Stop.QUIET, {}, [])
    assert result.status is Status.HALTED
    beat = max(source.at() + 8 - 3 + beyond, source.at() + 8)  # the first of 128 bits outside
    where = f"at byte {4 * beat:#x} of external memory"
    assert f"halted by AXI_MM_Decode_Error {where}; clear the status bits" in result.waiting[0]
    status = register_named("noc", "DMA_MM2S_Status_0")
    column.doors[0].write32(status.offset, status.field("AXI_MM_Decode_Error").mask)
    column.engine.run(2 * LIMIT)
    assert column.status(MM2S, 0, "AXI_MM_Decode_Error") == 0
    assert column.engine.caught(ch).tolist() == [5, 6, 7, 8]


@pytest.mark.parametrize("others", [0, 1])
def test_a_read_under_way_whose_buffer_is_dropped_is_a_decode_error(others: int) -> None:
    """All beats were requested while the buffer was there, so that no request finds it missing."""
    column, ch = caught()
    memory = column.engine.external
    for number in range(others):
        memory.add(f"other {number}", counting(8))
    source = memory.add("source", counting(8))
    column.start(0, MM2S, 0, 0, 8, source.at())
    column.engine.run(Timing().external_latency)
    assert column.engine.state.externals.held.max() == 2
    memory.drop("source")
    assert column.engine.run(LIMIT) is Stop.QUIET
    assert column.engine.caught(ch).tolist() == []
    result = outcome(column.engine, Stop.QUIET, {}, [])
    where = f"at byte {source.address:#x} of external memory"
    assert f"halted by AXI_MM_Decode_Error {where}; clear the status bits" in result.waiting[0]
    status = register_named("noc", "DMA_MM2S_Status_0")
    column.doors[0].write32(status.offset, status.field("AXI_MM_Decode_Error").mask)
    column.start(0, MM2S, 0, 1, 8, memory.add("again", counting(8), source.address).at())
    column.engine.run(2 * LIMIT)
    assert column.engine.caught(ch).tolist() == counting(8).tolist()


def test_a_buffer_that_must_not_change_answers_writes_with_a_slave_error() -> None:
    column, ch = fed(8)
    data = np.zeros(8, np.uint32)
    data.flags.writeable = False
    column.start(0, S2MM, 0, 0, 8, column.engine.external.add("fixed", data).at())
    column.engine.run(LIMIT)
    assert column.status(S2MM, 0, "AXI_MM_Slave_Error") == 1
    assert column.engine.state.channels.phase[ch] == Phase.HALTED
    assert not data.any()


def test_writes_before_an_address_out_of_reach_are_made() -> None:
    column, _ = fed(16)
    memory = np.zeros(8, np.uint32)
    column.start(0, S2MM, 0, 0, 16, column.engine.external.add("short", memory).at())
    column.engine.run(LIMIT)
    assert memory.tolist() == list(range(1, 9))
    assert column.status(S2MM, 0, "AXI_MM_Decode_Error") == 1


# registers -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("register", [MUX, DEMUX])
def test_ports_lead_to_the_dma_only_when_the_registers_say_so(register: int) -> None:
    column = Column(rows=2)
    column.up()
    column.down()
    given, taken = counting(100), np.zeros(100, np.uint32)
    source = column.engine.external.add("source", given)
    target = column.engine.external.add("target", taken)
    kept = column.doors[0].read32(register)
    column.doors[0].write32(register, 0)
    column.start(0, MM2S, 0, 0, 100, source.at())
    column.start(1, S2MM, 0, 0, 100, OWN.address(0), release=Release(OWN.lock(0), 1))
    column.start(1, MM2S, 0, 1, 100, OWN.address(0), acquire=Acquire(OWN.lock(0), -1, True))
    column.start(0, S2MM, 0, 1, 100, target.at())
    column.engine.run(LIMIT)
    assert not taken.any()
    column.doors[0].write32(register, kept)
    column.engine.run(2 * LIMIT)
    np.testing.assert_array_equal(taken, given)


def test_the_second_channels_have_their_own_ports() -> None:
    column = Column(rows=2)
    column.circuit(0, "SOUTH7", "NORTH2")
    column.circuit(1, "SOUTH2", "DMA1")
    column.circuit(1, "DMA1", "SOUTH3")
    column.circuit(0, "NORTH3", "SOUTH3")
    given, taken = counting(100), np.zeros(100, np.uint32)
    source = column.engine.external.add("source", given)
    target = column.engine.external.add("target", taken)
    column.start(0, MM2S, 1, 0, 100, source.at())
    column.start(1, S2MM, 1, 24, 100, OWN.address(0), release=Release(OWN.lock(0), 1))
    column.start(1, MM2S, 1, 25, 100, OWN.address(0), acquire=Acquire(OWN.lock(0), -1, True))
    column.start(0, S2MM, 1, 1, 100, target.at())
    column.engine.run(LIMIT)
    np.testing.assert_array_equal(taken, given)


def test_an_interface_tile_without_dma_does_not_answer_for_it() -> None:
    engine = Engine([Placed("interface", has_dma=False), Placed("interface")])
    switch = register_named("pl", "Stream_Switch_Master_Config_South0").offset
    for offset in (INTERFACE.queue_base, INTERFACE.bd_base, INTERFACE.lock_value_base, MUX):
        with pytest.raises(RegisterError, match="slave error"):
            engine.door(0).write32(offset, 0)
        engine.door(1).write32(offset, 0)
    engine.door(0).write32(switch, 0)


def test_the_start_queue_has_four_bits_for_the_descriptor() -> None:
    column, ch = caught()
    source = column.engine.external.add("source", counting(4))
    column.put(0, 2, Descriptor("interface", 4, source.at()))
    column.issue(0, MM2S, 0, INTERFACE.bds + 2)
    column.engine.run(LIMIT)
    assert column.engine.caught(ch).tolist() == [1, 2, 3, 4]


PAUSE_MEMORY, PAUSE_STREAM = (
    register_named("noc", "DMA_S2MM_0_Ctrl").field(name).mask for name in ("Pause_Mem", "Pause_Stream")
)


@pytest.mark.parametrize("pause", [PAUSE_MEMORY, PAUSE_STREAM])
def test_a_paused_reader_goes_on_where_it_was(pause: int) -> None:
    """DEV-EXT-4: no bit of the control register resets an interface channel."""
    column, ch = caught(timing=Timing(external_egress_words=8))
    source = column.engine.external.add("source", counting(200))
    column.start(0, MM2S, 0, 0, 200, source.at())
    column.engine.run(400)
    column.control(MM2S, 0, pause)
    assert column.engine.run(5000) is Stop.QUIET
    before = len(column.engine.caught(ch))
    assert 0 < before < 200
    column.control(MM2S, 0, 0)
    column.engine.run(LIMIT)
    assert column.engine.caught(ch).tolist() == list(range(1, 201))


@pytest.mark.parametrize("pause", [PAUSE_MEMORY, PAUSE_STREAM])
def test_a_paused_writer_goes_on_where_it_was(pause: int) -> None:
    column, _ = fed(200)
    memory = np.zeros(200, np.uint32)
    column.start(0, S2MM, 0, 0, 200, column.engine.external.add("target", memory).at())
    column.engine.run(100)
    column.control(S2MM, 0, pause)
    assert column.engine.run(5000) is Stop.QUIET
    assert 0 < np.count_nonzero(memory) < 150
    column.control(S2MM, 0, 0)
    column.engine.run(LIMIT)
    assert memory.tolist() == list(range(1, 201))


def test_the_untimed_run_moves_external_words_too() -> None:
    column = Column(rows=2)
    column.up()
    source = column.engine.external.add("source", counting(100))
    column.start(0, MM2S, 0, 0, 100, source.at())
    column.start(1, S2MM, 0, 0, 100, OWN.address(0))
    run_untimed(column.engine)
    np.testing.assert_array_equal(column.doors[1].block_read32(0, 100), counting(100))


def test_a_descriptor_without_words_only_moves_its_locks() -> None:
    column, ch = caught()
    writer = column.channel(0, S2MM)
    for direction, bd in ((MM2S, 0), (S2MM, 1)):
        column.start(0, direction, 0, bd, 0, 0, release=Release(DmaLock(2), 3))
    column.engine.run(LIMIT)
    assert column.doors[0].read32(INTERFACE.lock_value_base + 2 * INTERFACE.lock_value_stride) == 6
    spent = column.engine.state.spent
    assert not spent[[ch, writer], Cause.EXTERNAL].any()


def test_a_reader_sends_its_packet_header_first() -> None:
    column, ch = caught()
    source = column.engine.external.add("source", counting(4))
    column.start(0, MM2S, 0, 0, 4, source.at(), packet=Packet(7, 2))
    column.engine.run(LIMIT)
    header, *words = column.engine.caught(ch).tolist()
    assert field_of(STREAM_HEADER, "Stream_ID").get(header) == 7
    assert field_of(STREAM_HEADER, "Packet_Type").get(header) == 2
    assert words == [1, 2, 3, 4]


FINISH_ON_TLAST = register_named("noc", "DMA_S2MM_0_Ctrl").field("FoT_Mode")
BY_REGISTER = 3


def test_a_writer_finishes_on_tlast_and_counts() -> None:
    column = Column(rows=1, attached=False)
    last = np.zeros(20, np.uint8)
    last[[5, 19]] = 1
    column.engine.feed(column.channel(0, S2MM), counting(20), last)
    memory = np.zeros(64, np.uint32)
    target = column.engine.external.add("target", memory)
    column.control(S2MM, 0, BY_REGISTER << FINISH_ON_TLAST.lsb)
    for bd in (0, 1):
        column.start(0, S2MM, 0, bd, 32, target.at(32 * bd))
    column.engine.run(LIMIT)
    assert memory.tolist() == [*range(1, 7), *[0] * 26, *range(7, 21), *[0] * 18]
    pop = register_named("noc", "DMA_S2MM_FoT_Count_FIFO_Pop_0")
    counts = [column.doors[0].read32(pop.offset) for _ in range(3)]
    assert [pop.field("Write_Count").get(word) for word in counts] == [6, 14, 0]


def test_a_writer_whose_counts_nobody_takes_waits_without_keeping_the_clock_busy() -> None:
    column = Column(Timing(count_fifo_words=1), rows=1, attached=False)
    ch = column.channel(0, S2MM)
    column.engine.feed(ch, counting(8), np.array([0, 0, 0, 1] * 2, np.uint8))
    target = column.engine.external.add("target", np.zeros(8, np.uint32))
    column.control(S2MM, 0, BY_REGISTER << FINISH_ON_TLAST.lsb)
    for bd in (0, 1):
        column.start(0, S2MM, 0, bd, 4, target.at(4 * bd))
    assert column.engine.run(LIMIT) is Stop.QUIET
    assert column.engine.now < 1000
    assert column.engine.state.channels.why[ch] == Cause.TOKEN_BLOCKED
    column.doors[0].read32(register_named("noc", "DMA_S2MM_FoT_Count_FIFO_Pop_0").offset)
    column.engine.run(LIMIT)
    assert column.engine.state.channels.tasks_done[ch] == 2
