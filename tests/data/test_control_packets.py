"""Do control packets read and write a tile like its memory-mapped port, and say what is wrong with them?"""

from __future__ import annotations

import pytest

from memtile.arch.packets import PacketOperation, control_header, stream_header
from memtile.bd.codec import encode
from memtile.bd.descriptor import Descriptor, Dim, Packet
from memtile.bd.windows import OWN
from memtile.model.state.causes import Cause
from memtile.model.streams.switch_ports import push
from memtile.testing.stream_bench import Bench
from support.designs.control_packet_bench import BLOCK, INCREMENT, READ, WRITE, reachable, send

HERE = {"column": 1, "row": 1}
STATUS = 0xB0F30
FIRST, SECOND, ACCESS, TLAST = 1, 2, 4, 8
LOCK = 0xC0000
PARITY = 1 << 31


def answers(bench: Bench) -> list[tuple[int, int]]:
    return bench.engine.left_port(0, "SOUTH0")


def errors(bench: Bench) -> int:
    return bench.door().read32(STATUS)


@pytest.mark.feature("F20", "F22")
@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("operation", [WRITE, INCREMENT, BLOCK])
def test_writes_go_to_rising_addresses(operation: PacketOperation, drop: bool) -> None:
    """DEV-CTL-1."""
    bench = reachable(drop=drop)
    send(bench, [control_header(operation, 0x400, 3), 7, 8, 9])
    assert bench.memory(0xFF, 5) == [0, 7, 8, 9, 0]
    assert errors(bench) == 0


@pytest.mark.feature("F22")
def test_a_block_write_goes_on_until_tlast() -> None:
    """DEV-CTL-1."""
    bench = reachable()
    send(bench, [control_header(BLOCK, 0x400), *range(1, 21)])
    assert bench.memory(0x100, 21) == [*range(1, 21), 0]
    assert errors(bench) == 0


@pytest.mark.feature("F22")
def test_a_read_answers_with_a_packet_of_the_response_id() -> None:
    bench = reachable()
    bench.fill(0x100, [11, 12, 13, 14, 15])
    send(bench, [control_header(READ, 0x404, 4, response=21)])
    assert answers(bench) == [(stream_header(21, **HERE), 0), (12, 0), (13, 0), (14, 0), (15, 1)]


@pytest.mark.feature("F22")
def test_reads_have_their_side_effects() -> None:
    """One read of the lock window is one attempt."""
    bench = reachable()
    bench.door().write32(LOCK, 1)
    for granted in (1, 0):
        send(bench, [control_header(READ, 0xD0000 | 0x200 | (0x7F << 2))])
        assert answers(bench)[-1] == (granted, 1)
    assert bench.door().read32(LOCK) == 0


@pytest.mark.feature("F22")
def test_a_task_can_be_started_by_control_packets_alone() -> None:
    """A descriptor in two writes of four words, then the start queue: MM2S 1 runs."""
    bench = reachable()
    words = [int(w) for w in encode(Descriptor("memory", 4, OWN.address(0x40)), 24)]
    bench.fill(0x40, [1, 2, 3, 4])
    ch = bench.mm2s(1)
    bench.engine.catch(ch)
    for half in (0, 1):
        address = 0xA0000 + 24 * 0x20 + 16 * half
        send(bench, [control_header(WRITE, address, 4), *words[4 * half : 4 * half + 4]])
    send(bench, [control_header(WRITE, 0xA0604 + 8 * 7), 24])
    assert bench.engine.caught(ch).tolist() == [1, 2, 3, 4]


@pytest.mark.feature("F22")
def test_an_address_that_nothing_answers_sets_the_slave_error() -> None:
    bench = reachable()
    send(bench, [control_header(WRITE, 0x90000), 5])
    assert errors(bench) == ACCESS
    bench.door().write32(STATUS, ACCESS)
    assert errors(bench) == 0
    send(bench, [control_header(READ, 0x90000, response=4)])
    assert errors(bench) == ACCESS
    assert answers(bench) == [(stream_header(4, **HERE), 0), (0, 1)]


@pytest.mark.feature("F22")
@pytest.mark.parametrize("skew", [1, 2, 3])
def test_an_address_between_words_is_one_that_nothing_answers(skew: int) -> None:
    """DEV-CTL-2."""
    bench = reachable()
    bench.fill(0x100, [7, 7, 7])
    send(bench, [control_header(WRITE, 0x400 + skew, 2), 8, 9])
    assert (errors(bench), bench.memory(0x100, 3)) == (ACCESS, [7, 7, 7])
    bench.door().write32(STATUS, ACCESS)
    send(bench, [control_header(READ, 0x400 + skew, 2, response=4)])
    assert errors(bench) == ACCESS
    assert answers(bench) == [(stream_header(4, **HERE), 0), (0, 0), (0, 1)]
    send(bench, [control_header(WRITE, 0x404), 5])
    assert bench.memory(0x100, 3) == [7, 5, 7]


@pytest.mark.feature("F22")
def test_broken_parity_of_the_control_header_discards_the_packet() -> None:
    """DEV-CTL-2: nothing is written, and the next packet is understood."""
    bench = reachable()
    send(bench, [control_header(WRITE, 0x400, 2) ^ PARITY, 7, 8])
    assert errors(bench) == SECOND
    send(bench, [control_header(WRITE, 0x404), 9])
    assert bench.memory(0x100, 3) == [0, 9, 0]
    assert errors(bench) == SECOND  # sticky


@pytest.mark.feature("F22")
def test_broken_parity_of_the_stream_header_discards_the_packet() -> None:
    """Sent as data over a circuit: a channel does not make such headers."""
    bench = reachable()
    bench.circuit("DMA2", "CTRL0")
    bad = stream_header(3) ^ PARITY
    bench.fill(
        0x40, [bad, control_header(WRITE, 0x400), 7, stream_header(3), control_header(WRITE, 0x404), 8]
    )
    for n in range(2):
        bench.write_bd(2 + n, Descriptor("memory", 3, OWN.address(0x40 + 3 * n)))
        bench.issue(bench.mm2s(2), 2 + n)
    bench.run()
    assert errors(bench) == FIRST
    assert bench.memory(0x100, 2) == [0, 8]


@pytest.mark.feature("F22")
@pytest.mark.parametrize(
    ("words", "written"),
    [
        ([control_header(WRITE, 0x400, 3), 7, 8], [7, 8, 0, 0]),
        ([control_header(WRITE, 0x400), 7, 8, 9], [7, 0, 0, 0]),
        ([control_header(WRITE, 0x400)], [0, 0, 0, 0]),
        ([control_header(READ, 0x400), 1, 2], [0, 0, 0, 0]),
        ([control_header(READ, 0x400), stream_header(3), control_header(WRITE, 0x400), 7], [0, 0, 0, 0]),
    ],
    ids=["write cut", "write too long", "write without data", "read too long", "read with a packet in it"],
)
def test_tlast_at_the_wrong_word(words: list[int], written: list[int]) -> None:
    """DEV-CTL-2: what came before is done, what comes after is thrown away, the next packet is understood."""
    bench = reachable()
    send(bench, words)
    assert errors(bench) == TLAST
    assert bench.memory(0x100, 4) == written
    send(bench, [control_header(WRITE, 0x440), 5])
    assert bench.memory(0x110, 1) == [5]


@pytest.mark.feature("F22")
def test_answers_that_nobody_takes_hold_the_packets_back() -> None:
    """Nothing is lost: the reads go on when the way out is opened."""
    bench = reachable()
    bench.circuit("CTRL0")  # leads nowhere
    bench.fill(0x100, list(range(100)))
    header = control_header(READ, 0x400, 4, response=1)
    bench.fill(0x8000, [header])
    bench.write_bd(0, Descriptor("memory", 1, OWN.address(0x8000), packet=Packet(3)))
    bench.issue(bench.mm2s(), 0, 40)
    bench.run()
    assert bench.engine.state.channels.tasks_done[bench.mm2s()] == 0
    bench.packets("CTRL0", (0, 0, 0, 1))
    bench.run()
    assert bench.engine.state.channels.tasks_done[bench.mm2s()] == 1
    answer = [(stream_header(1, **HERE), 0), (0, 0), (1, 0), (2, 0), (3, 1)]
    assert answers(bench) == answer * 40


def test_data_words_are_taken_one_a_cycle() -> None:
    bench = reachable()
    words = [control_header(BLOCK, 0), *range(1, 401)]
    bench.fill(0x8000, words)
    bench.write_bd(0, Descriptor("memory", 401, OWN.address(0x8000), packet=Packet(3)))
    bench.issue(bench.mm2s(), 0)
    bench.run(100)
    before = sum(word != 0 for word in bench.memory(0, 400))
    bench.run(200)
    assert sum(word != 0 for word in bench.memory(0, 400)) - before == 200


@pytest.mark.feature("F20")
def test_the_trace_port_reaches_the_switch() -> None:
    """Words at the trace slave leave by the circuit that is set, here to S2MM 5."""
    bench = Bench("memory")
    bench.circuit("TRACE0", "DMA5")
    bench.write_bd(24, Descriptor("memory", 3, OWN.address(0)))
    bench.issue(bench.s2mm(5), 24)
    port = int(bench.engine.spec.tiles.slave_base[0]) + 17
    for word in (5, 6, 7):
        push(bench.engine.state, port, word, 0)
    bench.run()
    assert bench.memory(0, 4) == [5, 6, 7, 0]


@pytest.mark.feature("F03")
def test_words_of_one_granule_are_one_access_to_its_bank() -> None:
    """DEV-ARB-2: two requests for each granule of 16 bytes."""
    served = {}
    for first in (0x400, 0x408, 0x40C):
        bench = reachable()
        send(bench, [control_header(WRITE, first, 4), 1, 2, 3, 4])
        assert bench.memory(first // 4, 4) == [1, 2, 3, 4]
        assert errors(bench) == 0
        served[first] = int(bench.engine.state.axi_ports.served[0])
    assert served == {0x400: 2, 0x408: 4, 0x40C: 4}


@pytest.mark.feature("F03")
@pytest.mark.parametrize("operation", [BLOCK, READ])
def test_a_packet_and_a_channel_compete_for_a_bank(operation: PacketOperation) -> None:
    """A block of 20 words, or reads of four, at the bank of a strided reader, and at another one."""
    conflicts = []
    for bank in (5, 6):
        bench = reachable()
        bench.door().write32(0x96048, 0)  # banks one after another
        ch = bench.mm2s(2)
        bench.write_bd(2, Descriptor("memory", 400, OWN.address(5 * 8192), dims=(Dim(2, 0),), next=2))
        bench.engine.catch(ch)
        bench.circuit("DMA2", "SOUTH2")
        bench.engine.catch_port(0, "SOUTH2")
        bench.issue(ch, 2)
        data = range(20) if operation is BLOCK else ()
        send(bench, [control_header(operation, bank * 0x8000 + 0x100, 4), *data])
        assert errors(bench) == 0
        assert bench.engine.state.axi_ports.served[0] == (10 if operation is BLOCK else 2)
        conflicts.append(int(bench.engine.state.spent[ch, Cause.BANK_CONFLICT]))
    assert conflicts[0] > 0
    assert conflicts[1] == 0
