"""Is a text of mlir-aie decided for every timing where host, cores and streams allow it, and only there?"""

from __future__ import annotations

import numpy as np
import pytest

from memtile.arch.packets import PacketOperation, control_header
from memtile.check.check import check
from memtile.check.checked_program import of_mlir
from memtile.explain.orders.proof import Proof
from memtile.importers.design import load_still
from memtile.importers.mlir.token_packets import Text
from support.mlir.mlir_designs import FLOWS, NUMBERS, WAIT, copied, device, host, loaded

LOCKS = """
%empty = aie.lock(%c, 0) {init = 1 : i32}
%full = aie.lock(%c, 1) {init = 0 : i32}
%free = aie.lock(%c, 2) {init = 1 : i32}
%done = aie.lock(%c, 3) {init = 0 : i32}
%x = aie.buffer(%c) : memref<64xi32>
%y = aie.buffer(%c) : memref<64xi32>
aie.flow(%s, DMA : 0, %c, DMA : 0)
aie.flow(%c, DMA : 0, %s, DMA : 0)
"""
DMAS = """
aie.mem(%c) {
  %0 = aie.dma_start(S2MM, 0, ^in, ^next)
^in:
  aie.use_lock(%empty, AcquireGreaterEqual, 1)
  aie.dma_bd(%x : memref<64xi32>, 0, 64)
  aie.use_lock(%full, Release, 1)
  aie.next_bd ^in
^next:
  %1 = aie.dma_start(MM2S, 0, ^out, ^end)
^out:
  aie.use_lock(%done, AcquireGreaterEqual, 1)
  aie.dma_bd(%y : memref<64xi32>, 0, 64)
  aie.use_lock(%free, Release, 1)
  aie.next_bd ^out
^end:
  aie.end
}
"""
COPY = """
aie.core(%c) {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %end = arith.constant 64 : index
  %more = arith.constant 1 : i32
  {before}
  aie.use_lock(%full, AcquireGreaterEqual, 1)
  aie.use_lock(%free, AcquireGreaterEqual, 1)
  scf.for %i = %zero to %end step %one {{
    %v = memref.load %x[%i] : memref<64xi32>
    memref.store %v, %y[%i] : memref<64xi32>
  }}
  aie.use_lock(%empty, Release, 1)
  {last}
  {after}
  aie.end
}}
"""
LAST = "aie.use_lock(%done, Release, 1)"
BOTH = (
    copied("in", "a", 0),
    copied("out", "b", 1).replace("id = 1 : i64", "id = 1 : i64, issue_token = true"),
)


def proof(*lines: str, sequence: tuple[str, ...] = (*BOTH, WAIT)) -> Proof:
    design = loaded(device(LOCKS, FLOWS, *lines, host(*sequence)))
    done = design.run(NUMBERS, np.zeros_like(NUMBERS), check=True, max_cycles=100_000)
    found: Proof | None = done.result.proved
    assert found is not None
    return found


def copying(before: str = "", last: str = LAST, after: str = "") -> str:
    return COPY.format(before=before, last=last, after=after)


def test_a_host_that_chooses_what_is_traced_changes_no_stream() -> None:
    chooses = (
        "%at = arith.constant 261888 : i32\n%what = arith.constant 289 : i32\n"
        "aiex.npu.write32(%at, %what) {column = 0 : i32, row = 2 : i32} : i32, i32"
    )
    found = proof(DMAS, copying(), sequence=(chooses, *BOTH, WAIT))
    assert found.text == "proved for every timing: it finishes, with these words"


@pytest.mark.parametrize(("began", "proved"), [(0, True), (1, False)])
def test_a_value_of_the_host_is_a_release_of_a_lock_that_is_0(began: int, proved: bool) -> None:
    """A lock that has something left may be at 1 or at 0 when the value comes."""
    lock = f"%go = aie.lock(%c, 5) {{init = {began} : i32}}"
    waits = "aie.use_lock(%go, AcquireGreaterEqual, 1)"
    found = proof(lock, DMAS, copying(waits), sequence=("aiex.set_lock(%go, 1)", *BOTH, WAIT))
    assert found.ends_proved is proved, found


_LOOKS = "%w = memref.load %y[%zero] : memref<64xi32>"
_ACTS = f"""{_LOOKS}
  %same = arith.cmpi eq, %w, %more : i32
  scf.if %same {{
    aie.use_lock(%full, AcquireGreaterEqual, 1)
  }}"""


@pytest.mark.parametrize(("reads", "proved"), [(_LOOKS, True), (_ACTS, False)])
def test_words_without_an_order_decide_words_alone_if_no_core_acts_upon_them(
    reads: str, proved: bool
) -> None:
    found = proof(DMAS, copying(reads))
    assert found.ends_proved is proved, found
    assert "finding MT0203" in (found.of_words if proved else found.reasons)


_RESET = "aiex.dma_channel_reset(%c, MM2S, 0)"


@pytest.mark.parametrize("closed", [True, False])
def test_a_reset_of_a_task_that_only_the_host_can_let_begin_is_no_matter_of_timing(closed: bool) -> None:
    """The task waits for a lock that the host alone gives; or for one that the core may have given."""
    again = (
        "%bd = arith.constant 1 : i32\n%no = arith.constant 0 : i32\n"
        "aiex.npu.push_queue (0, 2, MM2S:0) bd_id %bd repeat %no {issue_token = false} : i32, i32"
    )
    ending = "" if closed else LAST
    core = copying(last=ending)
    # BD 0 is that of S2MM, BD 1 that of MM2S
    go = ("aiex.set_lock(%done, 1)",) if closed else ()
    found = proof(DMAS, core, sequence=(_RESET, again, *go, *BOTH, WAIT))
    assert found.ends_proved is closed, found


_CORE_RESET = """
%cc = arith.constant 204800 : i32
%on = arith.constant 2 : i32
%off = arith.constant 0 : i32
aiex.npu.maskwrite32(%cc, %on, %on) {column = 0 : i32, row = 2 : i32} : i32, i32, i32
aiex.npu.maskwrite32(%cc, %off, %on) {column = 0 : i32, row = 2 : i32} : i32, i32, i32
"""
_AGAIN = tuple(line.replace("id = 0 :", "id = 2 :").replace("id = 1 :", "id = 3 :") for line in BOTH)


@pytest.mark.parametrize("over", [True, False])
def test_a_reset_of_a_core_that_has_ended_is_no_matter_of_timing(over: bool) -> None:
    """The last word that comes back says that the core has released its lock, if that is the last it does."""
    after = "" if over else "memref.store %more, %x[%zero] : memref<64xi32>"
    found = proof(DMAS, copying(after=after), sequence=(*BOTH, WAIT, _CORE_RESET, *_AGAIN, WAIT))
    assert ("the host stops or resets cores" in found.reasons) is not over, found
    assert found.ends_proved is over


@pytest.mark.parametrize("longer", [True, False])
def test_words_that_are_left_of_a_block_under_way_are_no_matter_of_room(longer: bool) -> None:
    """A channel sends its block again; or has ended one thanks to room alone, and released a lock."""
    words = 64 if longer else 8
    ring = f"""
aie.mem(%c) {{
  %0 = aie.dma_start(MM2S, 0, ^out, ^end)
^out:
  aie.dma_bd(%y : memref<64xi32>, 0, {words})
  aie.use_lock(%free, Release, 1)
  aie.next_bd ^out
^end:
  aie.end
}}
"""
    found = proof(ring, sequence=(BOTH[1], WAIT))
    assert bool([each for each in found.reasons if "nothing takes fit" in each]) is not longer, found


_PACKETS = """
%room = aie.lock(%c, 0) {{init = {room} : i32}}
%came = aie.lock(%c, 1) {{init = 0 : i32}}
%sent = aie.buffer(%m) : memref<64xi32>
%x = aie.buffer(%c) : memref<64xi32>
aie.packet_flow(1) {{
  aie.packet_source<%m, DMA : 0>
  aie.packet_dest<%c, DMA : 0>
}}
aie.packet_flow(2) {{
  aie.packet_source<%m, DMA : 1>
  aie.packet_dest<%c, DMA : 0>
}}
aie.memtile_dma(%m) {{
  %0 = aie.dma_start(MM2S, 0, ^one, ^next)
^one:
  aie.dma_bd(%sent : memref<64xi32>, 0, 8) {{packet = #aie.packet_info<pkt_type = 0, pkt_id = 1>}}
  aie.next_bd ^end
^next:
  %1 = aie.dma_start(MM2S, 1, ^two, ^end)
^two:
  aie.dma_bd(%sent : memref<64xi32>, 8, 8) {{packet = #aie.packet_info<pkt_type = 0, pkt_id = 2>}}
  aie.next_bd ^end
^end:
  aie.end
}}
aie.mem(%c) {{
  %0 = aie.dma_start(S2MM, 0, ^in, ^end)
^in:
  aie.use_lock(%room, AcquireGreaterEqual, 1)
  aie.dma_bd(%x : memref<64xi32>, 0, 8)
  aie.use_lock(%came, Release, 1)
  aie.next_bd ^in
^end:
  aie.end
}}
aie.core(%c) {{
  aie.use_lock(%came, AcquireGreaterEqual, 1)
  aie.use_lock(%room, Release, 1)
  aie.use_lock(%came, AcquireGreaterEqual, 1)
  aie.end
}}
"""


@pytest.mark.parametrize(("room", "proved"), [(2, True), (1, False)])
def test_packets_that_meet_are_decided_if_their_receivers_are_ready(room: int, proved: bool) -> None:
    """With room for one packet the receiver waits for the core, which could wait for the other packet."""
    design = loaded(device(_PACKETS.format(room=room), host()))
    found: Proof | None = design.run(check=True, max_cycles=100_000).result.proved
    assert found is not None
    assert found.ends == "finishes"
    assert found.ends_proved is proved, found
    if proved:
        assert any("packets come first" in reason for reason in found.of_words)
    else:
        assert any("meet at arbiter" in reason for reason in found.reasons)


_CONTROL = """
%go = aie.lock(%c, 5) {{init = {began} : i32}}
aie.packet_flow(1) {{
  aie.packet_source<%s, DMA : 0>
  aie.packet_dest<%c, TileControl : 0>
}}
aie.core(%c) {{
  aie.use_lock(%go, AcquireGreaterEqual, 1)
  aie.use_lock(%done, Release, 1)
  aie.end
}}
"""
_LOCK_5, _BD_5 = 0x1F050, 0x1D0A0
_PACKET = copied("in", "a", 0, "[0, 0, 0, 0][1, 1, 1, 2][0, 0, 0, 1], packet = <pkt_id = 1, pkt_type = 0>")


def controlled(began: int, address: int, *after: str) -> Proof:
    """The core waits for a lock to which a control packet gives a value, and lets a block go to the host."""
    locks = LOCKS.replace("aie.flow(%s, DMA : 0, %c, DMA : 0)", "")
    design = loaded(
        device(locks, FLOWS, DMAS, _CONTROL.format(began=began), host(BOTH[1], _PACKET, WAIT, *after))
    )
    words = NUMBERS.copy()
    words[:2] = np.array([control_header(PacketOperation.WRITE, address), 1], np.uint32).view(np.int32)
    found: Proof | None = design.run(
        words, np.zeros_like(words), check=True, max_cycles=100_000
    ).result.proved
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("began", "address", "reason"),
    [
        (0, _LOCK_5, ""),
        (1, _LOCK_5, "a control packet sets lock 5 'go' of tile (0, 2) while others use it"),
        (1, _BD_5, "control packets use registers other than those of locks"),
    ],
)
def test_a_value_of_a_control_packet_is_a_release_of_a_lock_that_is_0(
    began: int, address: int, reason: str
) -> None:
    found = controlled(began, address)
    assert found.ends == "finishes"
    assert found.reasons == ((reason,) if reason else ())
    assert found.ends_proved is any("control packets" in each for each in found.of_words)


def test_what_a_control_packet_does_says_nothing_of_what_came_before() -> None:
    """No token of the packet's task comes, and the core could have gone on without it."""
    found = controlled(0, _LOCK_5, _PACKET)
    assert "BD 0 is written while a task of interface(0,0) MM2S 0 'in' may still use it" in found.reasons


_TWO = """
aie.mem(%c) {{
  %0 = aie.dma_start(S2MM, 0, ^in, ^next)
^in:
  aie.dma_bd(%x : memref<64xi32>, 0, 64)
  aie.use_lock(%full, Release, {given})
  aie.next_bd ^end
^next:
  %1 = aie.dma_start(MM2S, 0, ^out, ^end)
^out:
  aie.use_lock(%full, Acquire, 1)
  aie.dma_bd(%y : memref<64xi32>, 0, 64)
  aie.next_bd ^end
^end:
  aie.end
}}
"""


@pytest.mark.parametrize(("given", "proved"), [(1, True), (2, False)])
def test_a_check_proves_nothing_of_a_wait_for_a_value_that_it_let_go_on(given: int, proved: bool) -> None:
    """The lock comes from 0 to 2 at once: the abstract run goes on as if it had been 1 in between."""
    text = device(LOCKS, FLOWS, _TWO.format(given=given), host(*BOTH, WAIT))
    result = check("d.mlir", lambda: of_mlir(load_still(Text("d.mlir", text))))
    assert result.proved is not None
    assert result.proved.ends_proved is proved, result.proved


@pytest.mark.parametrize("streams", [False, True])
def test_a_check_proves_nothing_of_cores_at_a_stream(streams: bool) -> None:
    """An abstract run leaves their words out: here the core waits for one that never comes."""
    flow = "aie.flow(%d, Core : 0, %c, Core : 0)" if streams else ""
    wait = "%p = arith.constant 0 : i32\n%w = aie.get_stream(%p : i32) : i32" if streams else ""
    text = device(LOCKS, FLOWS, flow, DMAS, copying(before=wait), host(*BOTH, WAIT))
    result = check("d.mlir", lambda: of_mlir(load_still(Text("d.mlir", text))))
    assert result.proved is not None
    assert result.proved.ends_proved is not streams
    assert ("what cores do to their streams is not checked" in result.proved.reasons) is streams
