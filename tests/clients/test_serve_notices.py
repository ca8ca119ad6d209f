"""Does the server say what went wrong in the array, where a client sees a time-out only?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from memtile.bd.codec import encode
from memtile.bd.descriptor import Descriptor
from memtile.bd.windows import OWN
from memtile.errors import Problem, RegisterError
from memtile.hosts.notices import MOST_ALIKE, Notices, ServerNotice
from memtile.hosts.unanswered import HostAccess, refusal
from support.driver.simulator_client import BASE, Client, Server, serving

MEMORY = 1 << 25 | 1 << 20  # memory tile (1, 1)
COMPUTE = 1 << 25 | 2 << 20
BD, S2MM_QUEUE, MM2S_QUEUE, S2MM_STATUS = 0xA0000, 0xA0604, 0xA0634, 0xA0660
SHIM_BD, SHIM_S2MM_QUEUE, SHIM_MM2S_QUEUE = 0x1D000, 0x1D204, 0x1D214
MM2S_CONTROL = 0xA0630
COMPRESSED = encode(Descriptor("memory_2p", 4, OWN.address(0), compression=True), 0)
VALID, NOWHERE = 1 << 31, 0xDEAD0000


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with serving(tmp_path) as running:
        yield running


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    client = server.client()
    yield client
    client.close()


def words(client: Client, address: int, *values: int) -> None:
    for n, value in enumerate(values):
        client.write32(address + 4 * n, value)


def told(server: Server, client: Client) -> list[str]:
    """The lines about the array, once what was sent has been done."""
    client.read32(MEMORY)
    found = [line.removeprefix("memtile serve: ") for line in server.log.splitlines()]
    return [line for line in found if re.match(r"memory|interface|compute|slave|master|core", line)]


def test_an_interface_dma_at_an_address_without_memory(server: Server, client: Client) -> None:
    words(client, SHIM_BD + 0x20 * 3, 16, NOWHERE & 0xFFFFFFFF, 0, 0, 0, 0, 0, 1 << 25)
    client.write32(SHIM_MM2S_QUEUE, 3)
    assert told(server, client) == [
        "interface(0,0) MM2S 0, BD 3: halted by AXI_MM_Decode_Error, status 0x03090002: no external memory "
        "is at 0xdead0000; serve --memory gives some. To continue, clear the status bits"
    ]


def test_compression_in_a_format_that_is_not_public_halts_its_channel_alone(tmp_path: Path) -> None:
    """DEV-AIE2P-3: to set it up is no reason to tell anything; when the task starts it is told once."""
    with serving(tmp_path, "--device", "npu2") as running:
        client = running.client()
        words(client, MEMORY + BD, *(int(word) for word in COMPRESSED))
        client.write32(MEMORY + MM2S_CONTROL, 1 << 4)
        assert [client.read32(MEMORY + 0x40) for _ in range(12)] == [0] * 12
        assert told(running, client) == []
        client.write32(MEMORY + MM2S_QUEUE, 0)
        assert [client.read32(MEMORY + 0x40) for _ in range(12)] == [0] * 12
        (line,) = told(running, client)
        assert line == (
            "memory_2p(1,1) MM2S 0, BD 0: halted by a compressed format that is not public, status "
            "0x00080002: send the data uncompressed, or try it on npu1. To continue, reset the channel"
        )
        client.write32(MEMORY + MM2S_CONTROL, 2)
        client.write32(MEMORY + MM2S_CONTROL, 0)
        client.write32(MEMORY + MM2S_QUEUE, 0)
        client.read32(MEMORY)
        client.close()
        assert running.stop() == 0
        assert "no findings" not in running.log


def test_the_memories_that_there_are(tmp_path: Path) -> None:
    with serving(tmp_path, "--memory", "0x1000:4K", "--memory", "0x8000:8K") as running:
        client = running.client()
        words(client, SHIM_BD, 1024 + 1, 0x1000, 0, 0, 0, 0, 0, 1 << 25)
        client.write32(SHIM_MM2S_QUEUE, 0)
        client.write32(0x3F000 + 0x30, VALID | 5)  # South 3 goes north
        client.write32(0x3F100 + 0x14, VALID)
        client.write32(0x1F000, 1 << 10)
        client.write32((1 << 20) + 0xB0000, VALID | 7)  # and into the memory tile
        client.write32((1 << 20) + 0xB0100 + 4 * 7, VALID)
        words(client, (1 << 20) + BD, 1024 + 1, 0x20000, 0, 0, 0, 0, 0, VALID)
        client.write32((1 << 20) + S2MM_QUEUE, 0)
        for _ in range(10):
            client.read32(MEMORY)
        (line,) = told(running, client)
        assert "no external memory is at 0x2000; there is 0x1000..0x1fff, 0x8000..0x9fff. To" in line
        client.close()


def test_descriptors_that_a_channel_cannot_run(server: Server, client: Client) -> None:
    words(client, MEMORY + BD + 0x20 * 30, 16, 0x20000, 0, 0, 0, 0, 0, VALID)
    words(client, MEMORY + BD + 0x20 * 2, 16, 0x20000, 0, 0, 0, 0, 0, 0)
    client.write32(MEMORY + S2MM_QUEUE, 30)
    client.write32(MEMORY + S2MM_QUEUE + 16, 2)
    assert told(server, client) == [
        "memory(1,1) S2MM 0, BD 30: halted by Error_BD_Unavailable, status 0x1e080402: the descriptor is one "
        "of those that only channels of the other parity have. To continue, reset the channel",
        "memory(1,1) S2MM 2, BD 2: halted by Error_BD_Invalid, status 0x02080802: the descriptor has no "
        "Valid_BD. To continue, reset the channel",
    ]


def test_memory_and_locks_out_of_reach(server: Server, client: Client) -> None:
    """There is nothing east of the last column; west of the first one there is a memory tile."""
    last = 3 << 25 | 1 << 20
    words(client, last + BD, 16, 0x40000, 0, 0, 0, 0, 0, VALID)
    words(client, last + BD + 0x20, 16, 0x20000, 0, 0, 0, 0, 0, VALID | 1 << 15 | 128)  # lock 0 of the east
    client.write32(last + MM2S_QUEUE, 0)
    client.write32(last + MM2S_QUEUE + 16, 1)
    lines = told(server, client)
    assert [line.partition(", status")[0] for line in lines] == [
        "memory(3,1) MM2S 0, BD 0: halted by Error_DM_Access_to_Unavailable",
        "memory(3,1) MM2S 2, BD 1: halted by Error_Lock_Access_to_Unavailable",
    ]
    assert ": an address is in no memory that the channel reaches. To continue, reset the channel" in lines[0]
    assert ": a lock is out of the channel's reach. To continue, reset the channel" in lines[1]


def test_a_packet_longer_than_its_descriptor(server: Server, client: Client) -> None:
    """Finish on TLAST, 8 words into a descriptor of 4."""
    words(client, MEMORY + BD, 8, 0x20000, 0, 0, 0, 0, 0, VALID)
    words(client, MEMORY + BD + 0x20, 4, 0x21000, 0, 0, 0, 0, 0, VALID)
    client.write32(MEMORY + 0xB0100, VALID)
    client.write32(MEMORY + 0xB0000, VALID)
    client.write32(MEMORY + S2MM_QUEUE - 4, 1 << 16)
    client.write32(MEMORY + S2MM_QUEUE, 1)
    client.write32(MEMORY + MM2S_QUEUE, 0)
    (line,) = told(server, client)
    assert "memory(1,1) S2MM 0, BD 1: halted by Error_FoT_Length_Exceeded, status " in line
    assert "the packet is longer than the descriptor, 4 words" in line


def test_each_halt_is_told_once_and_again_after_a_reset(server: Server, client: Client) -> None:
    for _ in range(12):
        client.write32(MEMORY + S2MM_QUEUE, 2)
        client.read32(MEMORY)
        client.read32(MEMORY)
        client.write32(MEMORY + S2MM_QUEUE - 4, 2)
        client.write32(MEMORY + S2MM_QUEUE - 4, 0)
    lines = told(server, client)
    assert len(lines) == 2
    assert lines[1] == f"{lines[0]} (10 times so far)"
    assert server.stop() == 0
    assert f"memtile serve: 12 times: {lines[0]}\n" in server.log


def test_every_problem_with_verbose(tmp_path: Path) -> None:
    with serving(tmp_path, "--verbose") as running:
        client = running.client()
        for _ in range(25):
            client.write32(COMPUTE + 0x28000, 1)
        client.read32(MEMORY)
        assert running.log.count("refused: neither data memory nor a register of the map is there\n") == 25
        client.close()


def test_lost_pushes(server: Server, client: Client) -> None:
    """Without cycles between the writes one task is about to start and four wait."""
    words(client, MEMORY + BD, 16, 0x20000, 0, 0, 0, 0, 0, VALID)
    client.send(
        b"".join(b"W 0X%016X 0X%08X\n" % (BASE + MEMORY + S2MM_QUEUE, n) for n in (0, 0, 0, 0, 0, 0, 7))
    )
    (line,) = told(server, client)
    assert re.fullmatch(
        r"memory\(1,1\) S2MM 0: (2|a) push(es)? to the full queue lost, Task_Queue_Overflow; "
        r"(the last one|it) would have started BD 7. 4 tasks can wait",
        line,
    )
    client.write32(MEMORY + S2MM_QUEUE, 9)  # the sticky bit is set already
    client.write32(MEMORY + S2MM_QUEUE, 9)
    assert "BD 9" in told(server, client)[-1]


def packet_design(client: Client, slot: int, taken: int) -> None:
    """MM2S 0 sends a packet of stream id 5 into a slave port with one slot."""
    words(client, MEMORY + BD, 1 << 31 | 5 << 23 | 4, 0x20000, 0, 0, 0, 0, 0, VALID)
    client.write32(MEMORY + 0xB0100, 3 << 30)
    client.write32(MEMORY + 0xB0200, slot)
    client.write32(MEMORY + 0xB0000, taken)
    client.write32(MEMORY + MM2S_QUEUE, 0)


def test_a_packet_that_no_slot_matches(server: Server, client: Client) -> None:
    packet_design(client, 3 << 24 | 0x1F << 16 | 1 << 8, 0)
    assert told(server, client) == [
        "slave port DMA0 of tile (1, 1): a packet is stuck, header 0x80210005, stream id 5: no slot matches "
        "it; enabled are id 3 mask 0x1f"
    ]
    for _ in range(5):
        client.read32(MEMORY)
    assert len(told(server, client)) == 1


def test_a_packet_that_no_master_takes(server: Server, client: Client) -> None:
    """Slot: arbiter 2, msel 1; the master of arbiter 2 takes msel 3."""
    packet_design(client, 5 << 24 | 0x1F << 16 | 1 << 8 | 1 << 4 | 2, 3 << 30 | 1 << 6 | 2)
    (line,) = told(server, client)
    assert "stream id 5: no master takes arbiter 2, msel 1" in line


def test_a_circuit_that_the_switch_does_not_have(server: Server, client: Client) -> None:
    """A memory tile's MM2S 1 to S2MM 2: told when it is set up, and again when it is set up again."""
    for _ in range(2):
        client.write32(MEMORY + 0xB0008, VALID | 1)
        client.write32(MEMORY + 0xB0104, VALID)
        client.read32(MEMORY)
        client.write32(MEMORY + 0xB0104, 0)
    (line,) = told(server, client)
    assert line == (
        "master port DMA2 of tile (1, 1): its register names slave DMA1; the switch has no such circuit, "
        "nothing passes. Slaves that reach it are DMA2, SOUTH0, SOUTH1, SOUTH2, SOUTH3, SOUTH4, SOUTH5, "
        "NORTH0, NORTH1, NORTH2, NORTH3"
    )


def test_refused_accesses_say_where_and_what(server: Server, client: Client) -> None:
    client.write32(COMPUTE + 0x28000, 0x1234)
    client.read32(COMPUTE + 0x28004)
    client.read32(MEMORY + 2)
    client.write32((1 << 25) + 0xFFF20, 0)  # the column has no clock from here on
    client.write32(MEMORY + 0x96030, 1)
    client.read32(MEMORY + 0x10)
    client.write32(9 << 25, 1)
    client.close()
    other = server.client(0)
    assert other.read32(0x1000) == 0xFFFFFFFF
    other.close()
    here = BASE + MEMORY
    for line in (
        f"client 1: write of 0x00001234 to compute(1,2) 0x28000 at {BASE + COMPUTE + 0x28000:#x} refused: "
        "neither data memory nor a register of the map is there",
        f"client 1: read of compute(1,2) 0x28004 at {BASE + COMPUTE + 0x28004:#x} refused: neither",
        f"client 1: read of memory(1,1) 0x00002 at {here + 2:#x} refused: it is not the address of a 32-bit ",
        f"client 1: write of 0x00000001 to memory(1,1) Tile_Control 0x96030 at {here + 0x96030:#x} refused: ",
        "while the clock of column 1 is off or its reset is on, only its interface tile does. Write 1 to "
        "Column_Clock_Control and 0 to AIE_Tile_Column_Reset\n",
        f"client 1: read of memory(1,1) 0x00010 at {here + 0x10:#x} refused: ",
        f"client 1: write of 0x00000001 to {BASE + (9 << 25):#x} refused: address 0x12000000 is in column 9",
        "client 2: read of 0x1000 refused: nothing answers at 0x1000; there are the array 0x20000000000..",
        "and no external memory (serve --memory gives some)\n",
    ):
        assert line in server.log


def test_the_same_is_counted_and_keeps_nothing_new_from_being_told(server: Server, client: Client) -> None:
    for n in range(100):
        client.write32(COMPUTE + 0x28000, n)
    for n in range(40):
        client.read32(COMPUTE + 0x29000 + 4 * n)
    client.read32(MEMORY + 0x80000)
    client.close()
    server.stop()
    lines = [line.removeprefix("memtile serve: client 1: ") for line in server.log.splitlines()]
    same = [line for line in lines if "compute(1,2) 0x28000 " in line]
    assert [line.rpartition("there")[2] for line in same] == [
        "",
        " (10 times so far)",
        " (100 times so far)",
        "",
    ]
    assert same[-1].startswith("100 times: write of 0x00000000 to ")
    assert sum("0x29" in line for line in lines) == MOST_ALIKE - 1
    assert "refused accesses to compute(1,2): further ones are only counted; --verbose reports all" in lines
    assert "31 more refused accesses to compute(1,2)" in lines
    assert any(line.startswith("read of memory(1,1) 0x80000 at ") for line in lines)


def test_an_enabled_core_is_told_as_one_that_does_nothing(server: Server, client: Client) -> None:
    for _ in range(2):
        client.write32(COMPUTE + 0x32000, 1)
        client.write32(COMPUTE + 0x32000, 1)
    (line,) = told(server, client)
    assert line == (
        "core (1, 2) was enabled; its program is not simulated: it does nothing, and whatever waits for it "
        "hangs; start memtile serve with --design or --kernels"
    )


def test_hints_for_designs_are_not_for_clients() -> None:
    step = "Start with data in the buffers, or feed a tile alone."
    problem = Problem(
        reason="tile", where="array", field="row", given="0", allowed="1..9", source="device", next_step=step
    )
    notice = refusal(HostAccess(BASE, None), {}, RegisterError(problem))
    assert notice.text == "read of 0x20000000000 refused: row is 0, allowed are 1..9"


def test_what_was_counted_is_told_once() -> None:
    lines: list[str] = []
    notices = Notices(lines.append)
    for n in range(3):
        notices.tell(ServerNotice("things", "a", f"a thing {n}"))
    notices.sum_up()
    notices.sum_up()
    assert lines == ["a thing 0", "3 times: a thing 0"]


LOCK_VALUES, ACQUIRE, ENABLE_ACQUIRE = 0xC0000, 24, 1 << 15  # of word 7 of a memory tile's BD


def test_a_client_that_polls_in_vain_is_told_why_once(server: Server, client: Client) -> None:
    """S2MM 0 waits for lock 3, which nobody releases; the client reads its status again and again."""
    acquire = VALID | (64 + 3) | ENABLE_ACQUIRE | (0x7F << 8)
    words(client, MEMORY + BD, 16, 0, 0, 0, 0, 0, 0, acquire)
    client.write32(MEMORY + S2MM_QUEUE, 0)
    for _ in range(24):
        client.read32(MEMORY + S2MM_STATUS)
    assert "MT03" not in server.log
    for _ in range(40):
        client.read32(MEMORY + S2MM_STATUS)
    (line,) = [line for line in server.log.splitlines() if "MT03" in line]
    assert line.startswith(
        "memtile serve: MT0302 error: memory(1,1) S2MM 0 waits for lock 3 of tile (1, 1) (needs 1, has 0), "
        "and nothing releases it."
    )


def test_a_client_that_polls_what_is_at_work_is_told_nothing(server: Server, client: Client) -> None:
    """The channel waits for words that nobody sends yet: the client reads another register in between."""
    words(client, MEMORY + BD, 16, 0, 0, 0, 0, 0, 0, VALID)
    client.write32(MEMORY + S2MM_QUEUE, 0)
    for _ in range(30):
        client.read32(MEMORY + S2MM_STATUS)
        client.read32(MEMORY + LOCK_VALUES)
    assert "MT03" not in server.log
