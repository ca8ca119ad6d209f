"""Is what several share named as such: one stream for cores, one lock for descriptors?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
import pytest

from memtile import Array, Lock
from memtile.arch.packets import is_stream_header, stream_header
from memtile.check.check import check
from memtile.check.checked_program import of_mlir
from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.packet_headers import without_waits_of
from memtile.kernels import Action, Core
from support.mlir.mlir_designs import loaded


def dealt(turns: int) -> Array:
    """A memory tile that deals two objects to each of two cores, which take so many."""
    array = Array("npu1", columns=1)
    door, shared = array.interface_tile(0), array.memory_tile(0)
    array.connect(door.mm2s[0], shared.s2mm[0])
    parts = []
    for n in range(2):
        tile = array.compute_tile(0, 2 + n)
        array.connect(shared.mm2s[n], tile.s2mm[0])
        half, free, full = shared.buffer(f"half{n}", 16), shared.lock(1), shared.lock(0)
        parts.append(shared.write(half).guarded(free.acquire(), full.release()))
        shared.mm2s[n].start(shared.read(half).guarded(full.acquire(), free.release()), loop=True)
        box, room, there = tile.buffer("box", 16), tile.lock(1, "room"), tile.lock(0, "there")
        tile.s2mm[0].start(tile.write(box).guarded(room.acquire(), there.release()), loop=True)

        def kernel(core: Core, room: Lock = room, there: Lock = there) -> Iterator[Action]:
            for _ in range(turns):
                yield core.acquire(there)
                yield core.release(room)

        tile.run_kernel(kernel)
    shared.s2mm[0].start(*parts, loop=True)
    door.mm2s[0].start(door.read(array.external("x", np.arange(64, dtype=np.int32))))
    return array


def test_cores_that_take_more_than_is_sent_are_named_before_who_passes_it_on() -> None:
    assert dealt(2).run().findings == ()
    (finding,) = dealt(3).run().findings
    assert [side.who[:11] for side in finding.sides][:2] == ["core (0, 2)", "core (0, 3)"]
    assert "as other cores do, waits for lock 1 'there'" in finding.message
    assert finding.fix.startswith("Let each of these cores take less in its turns, or send")


SENT_ONCE = """module {
  aie.device(npu1_1col) {
    %a = aie.tile(0, 2)
    %b = aie.tile(0, 3)
    aie.flow(%a, DMA : 0, %b, DMA : 0)
    %from = aie.buffer(%a) {sym_name = "from"} : memref<16xi32>
    %to = aie.buffer(%b) {sym_name = "to"} : memref<16xi32>
    %made = aie.lock(%a, 0) {init = 0 : i32}
    %sent = aie.lock(%a, 1) {init = 0 : i32}
    %free = aie.lock(%b, 0) {init = 1 : i32}
    %full = aie.lock(%b, 1) {init = 0 : i32}
    %core = aie.core(%a) {
      %z = arith.constant 0 : index
      %one = arith.constant 1 : i32
      memref.store %one, %from[%z] : memref<16xi32>
      aie.use_lock(%made, Release, 1)
      aie.end
    }
    aie.mem(%a) {
      %0 = aie.dma_start(MM2S, 0, ^send, ^end)
    ^send:
      aie.use_lock(%made, AcquireGreaterEqual, 1)
      aie.dma_bd(%from : memref<16xi32>, 0, 16)
      aie.use_lock(%sent, Release, 1)
      aie.next_bd ^end
    ^end:
      aie.end
    }
    aie.mem(%b) {
      %0 = aie.dma_start(S2MM, 0, ^take, ^end)
    ^take:
      aie.use_lock(%free, AcquireGreaterEqual, 1)
      aie.dma_bd(%to : memref<16xi32>, 0, 16)
      aie.use_lock(%full, Release, 1)
      aie.next_bd ^end
    ^end:
      aie.end
    }
  }
}
"""


@pytest.mark.parametrize(("begins", "code"), [(0, ""), (1, "MT0122")])
def test_a_lock_that_lets_data_go_before_it_is_written_begins_with_too_much(begins: int, code: str) -> None:
    """No core acquires the other lock of the pair, as the data is sent once."""
    text = SENT_ONCE.replace("%a, 0) {init = 0", f"%a, 0) {{init = {begins}")
    found = check("d", lambda: of_mlir(loaded(text))).findings
    assert [each.code for each in found] == [code] * bool(code)
    for each in found:
        assert "starts at 1: compute(0,2) MM2S 0 sends from before core (0, 2) has written it" in each.message
        assert each.sides[0].place.endswith(":8")


WITH_HEADER = """module {
  aie.device(npu1_1col) {
    %s = aie.tile(0, 0)
    %a = aie.tile(0, 2)
    aie.shim_dma_allocation @in(%s, MM2S, 0)
    aie.packet_flow(1) {
      aie.packet_source<%s, DMA : 0>
      aie.packet_dest<%a, DMA : 0>
    } {keep_pkt_header = true}
    %to = aie.buffer(%a) {sym_name = "to"} : memref<32xi32>
    aie.mem(%a) {
      %0 = aie.dma_start(S2MM, 0, ^take, ^end)
    ^take:
      aie.dma_bd(%to : memref<32xi32>, 0, 17)
      aie.next_bd ^end
    ^end:
      aie.end
    }
    aie.runtime_sequence(%x : memref<16xi32>) {
      %t = aiex.dma_configure_task_for @in {
        aie.dma_bd(%x : memref<16xi32>, 0, 16) {packet = #aie.packet_info<pkt_type = 0, pkt_id = 1>}
        aie.end
      } {issue_token = true}
      aiex.dma_start_task(%t)
      aiex.dma_await_task(%t)
    }
  }
}
"""


@pytest.mark.parametrize(
    ("kept", "taken", "fix"),
    [
        ("true", 17, ""),
        ("true", 16, "Let BD 0 take 17 words, or write keep_pkt_header = false in the packet flow."),
        ("false", 17, "Let BD 0 take 16 words, or write keep_pkt_header = true in the packet flow."),
        ("false", 16, ""),
    ],
)
def test_a_header_that_is_kept_or_dropped_against_what_its_receiver_counts(
    kept: str, taken: int, fix: str
) -> None:
    text = WITH_HEADER.replace("header = true", f"header = {kept}").replace("0, 17)", f"0, {taken})")
    found = check("d", lambda: of_mlir(loaded(text))).findings
    assert [(each.code, each.fix) for each in found] == ([("MT0340", fix)] if fix else [])
    done = loaded(text).run(np.ones(16, np.int32), max_cycles=20_000).result
    assert [each.code for each in done.findings] == (["MT0340"] if fix else [])


TWO_SENDERS = """module {
  aie.device(npu1_1col) {
    %s = aie.tile(0, 0)
    %m = aie.tile(0, 1)
    aie.shim_dma_allocation @out(%s, S2MM, 0)
    aie.flow(%m, DMA : 0, %s, DMA : 0)
    %kept = aie.buffer(%m) {sym_name = "kept"} : memref<34xi32>
    %full = aie.lock(%m, 0) {init = 0 : i32, sym_name = "full"}
    aie.memtile_dma(%m) {
      %0 = aie.dma_start(S2MM, 0, ^take, ^next)
    ^take:
      aie.dma_bd(%kept : memref<34xi32>, 0, 34)
      aie.use_lock(%full, Release, 1)
      aie.next_bd ^end
    ^next:
      %1 = aie.dma_start(MM2S, 0, ^send, ^end)
    ^send:
      aie.use_lock(%full, AcquireGreaterEqual, 1)
      aie.dma_bd(%kept : memref<34xi32>, 0, 34)
      aie.next_bd ^end
    ^end:
      aie.end
    }
SENDERS
    aie.runtime_sequence(%x : memref<34xi32>) {
      %t = aiex.dma_configure_task_for @out {
        aie.dma_bd(%x : memref<34xi32>, 0, 34)
        aie.end
      } {issue_token = true}
      aiex.dma_start_task(%t)
      aiex.dma_await_task(%t)
    }
  }
}
"""
SENDER = """    %cROW = aie.tile(0, ROW)
    aie.packet_flow(ROW) {
      aie.packet_source<%cROW, DMA : 0>
      aie.packet_dest<%m, DMA : 0>
    } {keep_pkt_header = KEPT}
    %bROW = aie.buffer(%cROW) {sym_name = "bROW"} : memref<16xi32>
    aie.mem(%cROW) {
      %0 = aie.dma_start(MM2S, 0, ^send, ^end)
    ^send:
      aie.dma_bd(%bROW : memref<16xi32>, 0, 16) {packet = #aie.packet_info<pkt_type = 0, pkt_id = ROW>}
      aie.next_bd ^end
    ^end:
      aie.end
    }
"""


@pytest.mark.parametrize("kept", [("true", "true"), ("true", "false")])
def test_all_whose_headers_are_lost_are_named_and_no_length_is_off(kept: tuple[str, str]) -> None:
    """One packet flow of two to a channel drops headers: the port of the channel drops all."""
    senders = "".join(SENDER.replace("ROW", str(2 + n)).replace("KEPT", each) for n, each in enumerate(kept))
    text = TWO_SENDERS.replace("SENDERS", senders)
    checked = check("d", lambda: of_mlir(loaded(text))).findings
    done = loaded(text).run(np.zeros(34, np.int32), max_cycles=20_000).result.findings
    for found in (checked, done):
        assert [each.code for each in found] == ["MT0340"] * ("false" in kept)
        for each in found:
            assert "packets of compute(0,2) MM2S 0 and compute(0,3) MM2S 0 lose" in each.message


def test_headers_count_where_one_of_several_descriptors_leaves_its_own_out() -> None:
    """The one that is a word too short, and none of those that take the packet with its header."""
    rows = range(2, 6)
    senders = "".join(SENDER.replace("ROW", str(row)).replace("KEPT", "true") for row in rows)
    chain = "".join(
        f"""    ^take{n if n else ""}:
      aie.dma_bd(%kept : memref<34xi32>, {17 * n}, {16 if n == 2 else 17})
      aie.use_lock(%full, Release, 1)
      aie.next_bd {f"^take{n + 1}" if n < 3 else "^end"}
"""
        for n in range(4)
    )
    first, end = TWO_SENDERS.index("    ^take:"), TWO_SENDERS.index("    ^next:")
    text = f"{TWO_SENDERS[:first]}{chain}{TWO_SENDERS[end:]}".replace("GreaterEqual, 1)", "GreaterEqual, 4)")
    text = text.replace("SENDERS", senders).replace("34xi32", "68xi32").replace("0, 34)", "0, 68)")
    for short, fix in ((True, "Give BD 2 a length of 17 words."), (False, "")):
        given = text if short else text.replace("34, 16)", "34, 17)")
        checked = check("d", partial(of_mlir, loaded(given))).findings
        done = loaded(given).run(np.zeros(68, np.int32), max_cycles=20_000).result.findings
        for found in (checked, done):
            assert [(each.code, each.fix) for each in found][:1] == ([("MT0323", fix)] if short else [])


PACKETS = """module {
  aie.device(npu1_1col) {
    %s = aie.tile(0, 0)
    %c = aie.tile(0, 2)
    %d = aie.tile(0, 3)
    aie.shim_dma_allocation @out(%s, S2MM, 0)
    aie.packet_flow(2) {
      aie.packet_source<%c, DMA : 0>
      aie.packet_dest<%TO, DMA : 0>
    } {keep_pkt_header = true}
SEND
TAKE
    aie.runtime_sequence(%x : memref<64xi32>) {
HOST
    }
  }
}
"""
CHAIN = """    %bTILE = aie.buffer(%TILE) : memref<WORDSxi32>
    aie.mem(%TILE) {
      %0 = aie.dma_start(DIR, 0, ^bd0, ^end)
BDS    ^end:
      aie.end
    }
"""


def chained(tile: str, direction: str, lengths: Sequence[int], packet: str = "") -> str:
    """The DMA of a tile with descriptors that follow each other in one buffer."""
    bds = "".join(
        f"""    ^bd{n}:
      aie.dma_bd(%b{tile} : memref<{sum(lengths)}xi32>, {sum(lengths[:n])}, {words}){packet}
      aie.next_bd {f"^bd{n + 1}" if n + 1 < len(lengths) else "^end"}
"""
        for n, words in enumerate(lengths)
    )
    text = CHAIN.replace("TILE", tile).replace("WORDS", str(sum(lengths)))
    return text.replace("DIR", direction).replace("BDS", bds)


def packets(sent: Sequence[int], taken: Sequence[int] | int) -> str:
    """A core that sends packets whose headers are kept to another one, or to a host that takes so many."""
    home = isinstance(taken, int)
    text = PACKETS.replace("%TO", "%s" if home else "%d")
    text = text.replace("<64xi32>", f"<{taken}xi32>") if home else text
    text = text.replace("SEND", chained("c", "MM2S", sent, " {packet = <pkt_type = 0, pkt_id = 2>}"))
    task = f"""      %t = aiex.dma_configure_task_for @out {{
        aie.dma_bd(%x : memref<{taken}xi32>, 0, {taken})
        aie.end
      }} {{issue_token = true}}
      aiex.dma_start_task(%t)
      aiex.dma_await_task(%t)"""
    return text.replace("TAKE", "" if isinstance(taken, int) else chained("d", "S2MM", taken)).replace(
        "HOST", task if home else ""
    )


@pytest.mark.parametrize(
    ("sent", "taken", "fix"),
    [
        ((16, 16, 12), 51, "Give BD 2 a length of 16 words."),  # the host says nothing of three packets
        ((16, 16, 16), 51, ""),
        ((16, 8), 26, ""),
        ((16, 16, 16), (17, 17, 14), "Give BD 2 a length of 17 words."),  # as many words without headers
        ((16, 18), (17, 17), "Give BD 1 a length of 16 words."),
        ((16, 16), (34,), ""),
    ],
)
def test_kept_headers_are_words_of_the_lengths_at_the_other_end(
    sent: Sequence[int], taken: Sequence[int] | int, fix: str
) -> None:
    found = check("d", lambda: of_mlir(loaded(packets(sent, taken)))).findings
    assert [(each.code, each.fix) for each in found] == ([("MT0323", fix)] if fix else [])


@pytest.mark.parametrize("acquired", [1, 11])
def test_one_descriptor_may_take_several_packets_with_their_headers(acquired: int) -> None:
    """What is wrong is what a lock counts, and no length."""
    senders = "".join(SENDER.replace("ROW", str(2 + n)).replace("KEPT", "true") for n in range(2))
    text = TWO_SENDERS.replace("SENDERS", senders).replace("GreaterEqual, 1)", f"GreaterEqual, {acquired})")
    checked = check("d", partial(of_mlir, loaded(text))).findings
    done = loaded(text).run(np.zeros(34, np.int32), max_cycles=20_000).result.findings
    assert bool(checked) == bool(done) == (acquired > 1)
    assert not any(each.code in ("MT0323", "MT0324") for each in (*checked, *done))


def test_a_descriptor_without_a_header_in_a_packet_flow_is_named() -> None:
    senders = "".join(SENDER.replace("ROW", str(2 + n)).replace("KEPT", "true") for n in range(2))
    packet = " {packet = #aie.packet_info<pkt_type = 0, pkt_id = 3>}"
    text = TWO_SENDERS.replace("SENDERS", senders.replace(packet, ""))
    found = loaded(text).run(np.zeros(34, np.int32), max_cycles=20_000).result.findings[0]
    assert found.code == "MT0306"
    assert found.message == (
        "compute(0,3) MM2S 0 adds no packet header with BD 0: slave port DMA0 of tile (0, 3) reads the first "
        "word of its data as one."
    )
    assert found.fix == "Give BD 0 packet id 3."


def with_first_word(word: int) -> str:
    """Packets of the first sender whose first word is data of its buffer."""
    senders = "".join(SENDER.replace("ROW", str(2 + n)).replace("KEPT", "true") for n in range(2))
    packet = " {packet = #aie.packet_info<pkt_type = 0, pkt_id = 3>}"
    signed = word - (word >> 31 << 32)
    words = f"dense<[{', '.join(map(str, [signed, *[0] * 15]))}]>"
    memory = '{sym_name = "b3"} : memref<16xi32>'
    return TWO_SENDERS.replace("SENDERS", senders.replace(packet, "").replace(memory, f"{memory} = {words}"))


@pytest.mark.parametrize(
    ("word", "is_header"), [(stream_header(5), True), (5, False), (1 << 30, False), (1 << 11, False)]
)
def test_data_may_bring_their_own_headers(word: int, is_header: bool) -> None:
    assert is_stream_header(word) is is_header
    found = loaded(with_first_word(word)).run(np.zeros(34, np.int32), max_cycles=20_000).result.findings[0]
    assert found.code == "MT0306"
    assert ("adds no packet header" in found.message) is not is_header
    assert ("has sent a packet of id 5" in found.message) is is_header


def test_words_that_a_header_takes_are_no_wait_of_their_own() -> None:
    header, wait, other = (
        Finding(code, Severity.ERROR, "", (Side(who, ""),))
        for code, who in (("MT0340", "S2MM 0"), ("MT0304", "S2MM 0 ('to')"), ("MT0304", "S2MM 1"))
    )
    assert without_waits_of([header], [wait, other]) == [other]
