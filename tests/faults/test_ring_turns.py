"""Does a check find the descriptor of a ring that has the wrong buffer?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from memtile import Array, ComputeTile, Host, HostAction, view
from memtile.check.check import check, check_design
from memtile.check.checked_program import of_mlir
from memtile.check.ring_turns import ring_findings
from memtile.explain.findings import Finding
from memtile.importers.design import load_still
from memtile.importers.mlir.token_packets import Text

RING = """\
module {{
  aie.device(npu1) {{
    %host = aie.tile(0, 0)
    %tile = aie.tile(0, 1)
    %free = aie.lock(%tile, 0) {{init = {room} : i32, sym_name = "free"}}
    %full = aie.lock(%tile, 1) {{init = 0 : i32, sym_name = "full"}}
    %a = aie.buffer(%tile) {{sym_name = "a"}} : memref<16xi32>
    %b = aie.buffer(%tile) {{sym_name = "b"}} : memref<16xi32>
    %c = aie.buffer(%tile) {{sym_name = "c"}} : memref<16xi32>
    aie.flow(%host, DMA : 0, %tile, DMA : 0)
    aie.flow(%tile, DMA : 0, %host, DMA : 0)
    %dma = aie.memtile_dma(%tile) {{
      %0 = aie.dma_start(S2MM, 0, ^w0, ^next)
    ^w0:
      aie.use_lock(%free, AcquireGreaterEqual, 1)
      aie.dma_bd(%{writes[0]} : memref<16xi32>, 0, 16)
      aie.use_lock(%full, Release, {gives})
      aie.next_bd ^w1
    ^w1:
      aie.use_lock(%free, AcquireGreaterEqual, 1)
      aie.dma_bd(%{writes[1]} : memref<16xi32>, 0, 16)
      aie.use_lock(%full, Release, {gives})
      aie.next_bd ^w0
    ^next:
      %1 = aie.dma_start(MM2S, 0, ^r0, ^end)
    ^r0:
      aie.use_lock(%full, AcquireGreaterEqual, 1)
      aie.dma_bd(%{reads[0]} : memref<16xi32>, 0, 16)
      aie.use_lock(%free, Release, 1)
      aie.next_bd ^r1
    ^r1:
      aie.use_lock(%full, AcquireGreaterEqual, 1)
      aie.dma_bd(%{reads[1]} : memref<16xi32>, 0, 16)
      aie.use_lock(%free, Release, 1)
      aie.next_bd ^r0
{more}
    ^end:
      aie.end
    }}
  }}
}}
"""


OTHER = """\
    ^more:
      %2 = aie.dma_start(S2MM, 1, ^o0, ^end)
    ^o0:
      aie.dma_bd(%c : memref<16xi32>, 0, 16)
      aie.next_bd ^o0
"""


def ring(writes: str, reads: str, room: int = 2, gives: int = 1, more: str = "") -> Text:
    text = RING.format(writes=writes, reads=reads, room=room, gives=gives, more=more)
    return Text("ring.mlir", text.replace("^r0, ^end)", "^r0, ^more)") if more else text)


def found(writes: str, reads: str, room: int = 2, gives: int = 1, more: str = "") -> list[Finding]:
    text = ring(writes, reads, room, gives, more)
    checked = check("ring.mlir", lambda: of_mlir(load_still(text)))
    return [each for each in checked.findings if each.code in ("MT0209", "MT0126")]


def test_a_writer_that_has_a_buffer_twice_is_named_with_the_line_of_its_descriptor() -> None:
    (wrong,) = found("bb", "ab")
    assert wrong.message == (
        "memory(0,1) S2MM 0 (BD 0) writes words 0 to 15 of buffer 'b', but memory(0,1) MM2S 0 (BD 2), "
        "which takes turns with it by lock 1 'full' of tile (0, 1), reads words 0 to 15 of buffer 'a': "
        "they have no word in common."
    )
    assert wrong.sides[0].place == "ring.mlir:16:7"
    assert wrong.fix == "Let memory(0,1) S2MM 0 (BD 0) use the buffer of memory(0,1) MM2S 0 (BD 2)."


def test_a_reader_that_has_a_buffer_twice_is_named() -> None:
    (wrong,) = found("ab", "aa")
    assert wrong.sides[0].who == "memory(0,1) MM2S 0 (BD 3)"
    assert wrong.severity == "error"


def test_of_two_orders_neither_is_an_error() -> None:
    (wrong,) = found("ab", "ba")
    assert wrong.severity == "warning"
    assert "one of these two has the wrong one" in wrong.fix


def test_a_reader_is_named_of_a_buffer_that_another_ring_writes() -> None:
    (wrong,) = ring_findings(of_mlir(load_still(ring("ab", "ac", more=OTHER))))
    assert wrong.sides[0].who == "memory(0,1) MM2S 0 (BD 3)"
    (wrong,) = found("ab", "ac", more=OTHER)  # of a text more is known
    assert (wrong.code, wrong.fix) == ("MT0126", "Let BD 3 use buffer 'b'.")


def test_one_that_gives_several_units_is_held_against_all_readers() -> None:
    (wrong,) = found("ab", "ac", gives=2)
    assert wrong.message == (
        "memory(0,1) S2MM 0 (BD 1) writes words 0 to 15 of buffer 'b', but memory(0,1) MM2S 0 (BD 3), which "
        "takes turns with it by lock 1 'full' of tile (0, 1), reads words 0 to 15 of buffer 'c': they have "
        "no word in common."
    )
    assert not found("ab", "ab", gives=2)


def test_a_buffer_that_is_written_again_before_a_read_is_overwritten() -> None:
    (wrong,) = found("aa", "aa")
    assert "BD 0 of its ring does, and lock 0 'free' of tile (0, 1) starts at 2" in wrong.message
    assert [side.place for side in wrong.sides] == ["ring.mlir:21:7", "ring.mlir:16:7"]
    (wrong,) = found("bb", "bb")  # a is free, and comes before b
    assert [side.place for side in wrong.sides] == ["ring.mlir:16:7", "ring.mlir:21:7"]


@pytest.mark.parametrize(
    ("writes", "reads", "room", "gives"),
    [("ab", "ab", 2, 1), ("aa", "aa", 1, 1), ("ab", "ba", 2, 2)],
    ids=["in turn", "one buffer at a time", "several for one"],
)
def test_rings_that_go_through_the_same_buffers_are_fine(
    writes: str, reads: str, room: int, gives: int
) -> None:
    assert not found(writes, reads, room, gives)


def turning(wraps: tuple[int, int], room: int = 4) -> Array:
    """A channel that writes positions of a buffer in turn, and one that reads them."""
    array = Array("npu1", columns=1)
    door, tile = array.interface_tile(0), array.memory_tile(0)
    box, free, full = tile.buffer("box", 16), tile.lock(room, "free"), tile.lock(0, "full")
    first = view((16,))[:4]
    ends = (tile.write(box, first).guarded(free.acquire(), full.release()), tile.s2mm[0])
    for (transfer, channel), wrap in zip(
        (ends, (tile.read(box, first).guarded(full.acquire(), free.release()), tile.mm2s[0])),
        wraps,
        strict=True,
    ):
        channel.start(replace(transfer.descriptors[0], iteration=(4, wrap)), repeat=12)
    array.connect(door.mm2s[0], tile.s2mm[0])
    array.connect(tile.mm2s[0], door.s2mm[0])
    out = array.external("out", np.zeros(48, np.int32))

    def host(host: Host) -> Iterator[HostAction]:
        yield host.start(door.mm2s[0], door.read(array.external("in", np.arange(48, dtype=np.int32))))
        yield host.pause(400)
        yield (task := host.start(door.s2mm[0], door.write(out)))
        yield host.wait(task)

    array.host(host)
    return array


@pytest.mark.parametrize(
    ("wraps", "room", "odd"), [((4, 4), 4, ""), ((3, 4), 4, "S2MM 0 4"), ((3, 4), 3, "MM2S 0 3")]
)
def test_iterations_that_begin_again_after_other_numbers_of_runs(
    wraps: tuple[int, int], room: int, odd: str
) -> None:
    codes = ("MT0201", "MT0204", "MT0209")
    checked = check_design(lambda: turning(wraps, room)).findings
    found = [
        each for each in (*checked, *turning(wraps, room).run(check=True).findings) if each.code in codes
    ]
    fixes = [re.sub(r".*memory\(0,1\) (\w+ \d).* wrap of (\d+).*", r"\1 \2", each.fix) for each in found]
    assert fixes == [odd, odd] if odd else not found


def frames(written: int, read: int, *, cores: bool = False) -> Array:
    """Rings of so many buffers in a memory tile, or in a compute tile with a core that may take part."""
    array = Array("npu1", columns=1)
    gate, store = array.interface_tile(0), array.compute_tile(0, 2) if cores else array.memory_tile(0)
    ring = [store.buffer(f"frame {n}", 16) for n in range(max(written, read))]
    free, full = store.lock(written, "free"), store.lock(0, "full")
    writes = [store.write(each).guarded(free.acquire(), full.release()) for each in ring[:written]]
    store.s2mm[0].start(*writes, loop=True)
    reads = [store.read(each).guarded(full.acquire(), free.release()) for each in ring[:read]]
    store.mm2s[0].start(*reads, loop=True)
    array.connect(gate.mm2s[0], store.s2mm[0])
    array.connect(store.mm2s[0], gate.s2mm[0])
    gate.mm2s[0].start(gate.read(array.external("sent", np.arange(96, dtype=np.int32))))
    gate.s2mm[0].start(gate.write(array.external("came", np.zeros(96, np.int32))))
    if cores and isinstance(store, ComputeTile):
        store.run_kernel(lambda core: iter([core.cycles(1)]))
    return array


def test_a_ring_of_fewer_buffers_than_the_one_that_fills_them_is_named_in_python_too() -> None:
    assert check_design(lambda: frames(3, 3)).findings == ()
    (found,) = check_design(lambda: frames(3, 2)).findings
    assert found.code == "MT0209"
    assert found.sides[0].who == "memory(0,1) MM2S 0 (BD 3)"
    assert found.fix == (
        "Let memory(0,1) MM2S 0 (BD 3) go through 3 buffers in turn, as the other does, and not 2."
    )
    (other,) = check_design(lambda: frames(2, 3)).findings
    assert (other.code, other.sides[0].who) == ("MT0209", "memory(0,1) S2MM 0 (BD 0)")


def test_a_core_that_reaches_the_lock_may_take_part() -> None:
    assert not [
        each for each in check_design(lambda: frames(3, 2, cores=True)).findings if each.code == "MT0209"
    ]


@pytest.mark.parametrize("steps", ["writer", "reader"])
def test_a_descriptor_that_steps_through_the_buffers_takes_turns_with_a_ring(steps: str) -> None:
    """One of the two is a single descriptor whose iteration goes through the halves of a buffer."""
    array = Array("npu1", columns=1)
    gate, store = array.interface_tile(0), array.memory_tile(0)
    box, free, full = store.buffer("box", 32), store.lock(2, "free"), store.lock(0, "full")
    halves = [view((32,))[:16], view((32,))[16:]]
    writes = [store.write(box, half).guarded(free.acquire(), full.release()) for half in halves]
    reads = [store.read(box, half).guarded(full.acquire(), free.release()) for half in halves]
    for channel, ring, name in ((store.s2mm[0], writes, "writer"), (store.mm2s[0], reads, "reader")):
        stepping = replace(ring[0].descriptors[0], iteration=(16, 2))
        channel.start(*([stepping] if name == steps else ring), loop=True)
    array.connect(gate.mm2s[0], store.s2mm[0])
    array.connect(store.mm2s[0], gate.s2mm[0])
    gate.mm2s[0].start(gate.read(array.external("sent", np.arange(96, dtype=np.int32))))
    gate.s2mm[0].start(gate.write(array.external("came", np.zeros(96, np.int32))))
    assert check_design(lambda: array).findings == ()
