"""Does a design with a length that is off name the descriptor that is off, in a run and before it?"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from memtile import Array, MemoryTile, check_design, view
from memtile.bd import Descriptor, Packet, encode
from memtile.check.check import check
from memtile.check.checked_program import of_mlir
from memtile.explain.deadlock.planned_words import PlannedBd, PlannedWords
from memtile.explain.deadlock.word_balance import WordBalance
from memtile.explain.findings import Finding, Severity
from memtile.explain.partly_written import NamedBd, Part, ends_at, partly_written
from memtile.explain.race_findings import NamedArea
from memtile.importers.design import load_still


def ring(
    sends: Sequence[int] = (16, 16),
    *,
    takes: Sequence[int] = (16, 16),
    stores: Sequence[int] = (16, 16),
    part: int = 64,
) -> Array:
    """From the host by a ring in the memory tile to a core, and straight back; words of each BD."""
    array = Array("npu1", columns=1)
    door, shared, worker = array.interface_tile(0), array.memory_tile(0), array.compute_tile(0, 2)
    array.connect(door.mm2s[0], shared.s2mm[0])
    array.connect(shared.mm2s[0], worker.s2mm[0])
    array.connect(worker.mm2s[0], door.s2mm[0])
    kept = [shared.buffer(f"kept{n}", 16) for n in range(len(sends))]
    free, full = shared.lock(2, "kept free"), shared.lock(0, "kept full")
    writes = (shared.write(b, view(16)[:n]) for b, n in zip(kept, stores, strict=True))
    shared.s2mm[0].start(*(each.guarded(free.acquire(), full.release()) for each in writes), loop=True)
    reads = (shared.read(b, view(16)[:n]) for b, n in zip(kept, sends, strict=True))
    shared.mm2s[0].start(*(each.guarded(full.acquire(), free.release()) for each in reads), loop=True)
    given = [worker.buffer(f"given{n}", 16) for n in range(len(takes))]
    room, here = worker.lock(2, "room"), worker.lock(0, "here")
    writes = (worker.write(b, view(16)[:n]) for b, n in zip(given, takes, strict=True))
    worker.s2mm[0].start(*(each.guarded(room.acquire(), here.release()) for each in writes), loop=True)
    made, empty, done = worker.buffer("made", 16), worker.lock(1, "empty"), worker.lock(0, "done")
    worker.mm2s[0].start(worker.read(made).guarded(done.acquire(), empty.release()), loop=True)
    door.mm2s[0].start(door.read(array.external("there", np.arange(64, dtype=np.int32)), view(64)[:part]))
    door.s2mm[0].start(door.write(array.external("back", np.zeros(64, np.int32))))

    def adds(core: Any) -> Generator[Any, Any, None]:
        while True:
            yield core.acquire(here)
            yield core.acquire(empty)
            yield core.release(room)
            yield core.release(done)

    worker.run_kernel(adds)
    return array


def stuck(array: Array) -> Finding:
    """The only finding of a run that is stuck."""
    result = array.run(untimed=True)
    assert str(result.status) == "stuck"
    (finding,) = result.findings
    return finding


def crossed(*, exchanged: bool) -> Array:
    """Two cores that send 8 and 24 words to a memory tile, which sends both on."""
    array = Array("npu1", columns=1)
    door, shared, cores = (
        array.interface_tile(0),
        array.memory_tile(0),
        [array.compute_tile(0, n) for n in (2, 3)],
    )
    box, full, ends = shared.buffer("box", 32), shared.lock(0, "full"), shared.s2mm[1:3]
    for core, words, end in zip(cores, (8, 24), ends[::-1] if exchanged else ends, strict=True):
        core.mm2s[0].start(core.read(core.buffer("part", words)))
        array.connect(core.mm2s[0], end)
    parts = view(32)[:8], view(32)[8:]
    for channel, part in zip(ends, parts, strict=True):
        channel.start(shared.write(box, part).guarded(None, full.release()))
    shared.mm2s[0].start(shared.read(box, parts[0]).guarded(full.acquire(2)), shared.read(box, parts[1]))
    array.connect(shared.mm2s[0], door.s2mm[0])
    door.s2mm[0].start(door.write(array.external("back", np.zeros(32, np.int32))))
    return array


def test_two_flows_with_each_others_receivers_are_named() -> None:
    found = stuck(crossed(exchanged=True))
    assert (found.code, found.severity) == ("MT0139", Severity.ERROR)
    assert found.message == (
        "compute(0,2) MM2S 0 sends 8 words in a round to memory(0,1) S2MM 2, which takes 24, and "
        "compute(0,3) MM2S 0 sends 24 words in a round to memory(0,1) S2MM 1, which takes 8: "
        "their flows are exchanged."
    )
    assert found.fix == (
        "Let compute(0,2) MM2S 0 send to memory(0,1) S2MM 1, and compute(0,3) MM2S 0 to memory(0,1) S2MM 2."
    )
    assert "MT0139" in {each.code for each in check_design(lambda: crossed(exchanged=True)).findings}
    assert not check_design(lambda: crossed(exchanged=False)).findings


def test_exchanged_receivers_are_named_though_all_words_find_room() -> None:
    """One object for three BDs, and three BDs for one object: each core gets the words of the other one."""

    def split(*, exchanged: bool) -> Array:
        array = Array("npu1", columns=1)
        shared, cores = array.memory_tile(0), [array.compute_tile(0, n) for n in (2, 3)]
        ends = cores[::-1] if exchanged else cores
        for channel, core, end, words in zip(shared.mm2s, cores, ends, (8, 24), strict=False):
            channel.start(shared.read(shared.buffer(f"part{words}", words)), repeat=3)
            core.s2mm[0].start(core.write(core.buffer("got", words)), loop=True)
            array.connect(channel, end.s2mm[0])
        return array

    (found,) = check_design(lambda: split(exchanged=True)).findings
    assert (found.code, found.severity) == ("MT0139", Severity.WARNING)
    assert found.fix.startswith(
        "Let memory(0,1) MM2S 0 send to compute(0,2) S2MM 0, and memory(0,1) MM2S 1 to"
    )
    assert not check_design(lambda: split(exchanged=False)).findings


def test_rings_of_more_buffers_at_one_end_are_not_exchanged() -> None:
    """Object FIFOs between the same tiles, with depths [2, 1] and [1, 2]: each BD moves as many words."""

    def rings() -> Array:
        array = Array("npu1", columns=1)
        first, second = array.compute_tile(0, 2), array.compute_tile(0, 3)
        for n, (sends, takes) in enumerate(((2, 1), (1, 2))):
            for channel, verb, many in (
                (first.mm2s[n], first.read, sends),
                (second.s2mm[n], second.write, takes),
            ):
                tile = first if verb == first.read else second
                channel.start(*(verb(tile.buffer(f"{n}{k}", 8)) for k in range(many)), loop=True)
            array.connect(first.mm2s[n], second.s2mm[n])
        return array

    assert "MT0139" not in {each.code for each in check_design(rings).findings}


def test_lengths_that_agree_have_no_finding() -> None:
    result = ring().run(untimed=True)
    assert (str(result.status), result.findings) == ("finished", ())
    assert check_design(ring).findings == ()


@pytest.mark.parametrize(
    ("changed", "message", "fix"),
    [
        pytest.param(
            {"sends": (14, 14)},
            "memory(0,1) MM2S 0 sends 14 of 16 words with each of BDs 2 and 3: memory(0,1) S2MM 0 writes 16 "
            "words of 'kept0' and compute(0,2) S2MM 0 takes 16 with each BD.",
            "Give each of BDs 2 and 3 a length of 16 words.",
            id="a whole chain sends too little",
        ),
        pytest.param(
            {"sends": (16, 8)},
            "memory(0,1) MM2S 0 sends 8 of 16 words with BD 3: BD 2 of the same chain moves 16, memory(0,1) "
            "S2MM 0 writes 16 words of 'kept1', and compute(0,2) S2MM 0 takes 16 with each BD.",
            "Give BD 3 a length of 16 words.",
            id="one BD of a chain sends too little",
        ),
        pytest.param(
            {"takes": (16, 12)},
            "compute(0,2) S2MM 0 takes 12 of 16 words with BD 1: BD 0 of the same chain moves 16, buffer "
            "'given1' has 16 words, and memory(0,1) MM2S 0 sends 16 with each BD.",
            "Give BD 1 a length of 16 words.",
            id="a core takes too little",
        ),
    ],
)
def test_the_descriptor_that_is_off_is_named_in_a_run_and_before_it(
    changed: dict[str, Any], message: str, fix: str
) -> None:
    found = stuck(ring(**changed))
    assert (found.code, found.severity, found.message, found.fix) == ("MT0323", Severity.ERROR, message, fix)
    before = check_design(lambda: ring(**changed)).findings
    assert [(each.code, each.message, each.fix) for each in before] == [("MT0323", message, fix)]


def test_a_host_that_sends_a_part_of_its_array_is_named_with_both_numbers() -> None:
    found = stuck(ring(part=32))
    says = (
        "memory(0,1) S2MM 0 ('kept0', 'kept1') waits for words at word 0 of 16 of BD 0; interface(0,0) "
        "MM2S 0 ('there') has sent 32 of the 64 words of 'there'."
    )
    assert (found.code, found.message, found.fix) == ("MT0304", says, "Send all 64 words.")
    assert found.sides[0].who == "interface(0,0) MM2S 0 ('there')"


PACKET = (
    "memory(0,1) MM2S 0 sends packets of id 4 with BD 0, and no slot of slave port DMA0 of tile (0, 1) "
    "takes them; it takes id 3, which no descriptor sends to it."
)


def packets(sent: int) -> Array:
    """Two packets from one memory tile to the next; slots take id 3."""
    array = Array("npu1", 2)
    one, two = array.memory_tile(0), array.memory_tile(1)
    array.packet_bus("bus", (one.mm2s[0], [two.s2mm[0]]), ids=[3])
    array.route()
    block = one.buffer("a", 16)
    one.mm2s[0].start(Descriptor("memory", 16, block.dma_address, packet=Packet(3)))
    one.write_bd(0, Descriptor("memory", 16, block.dma_address, packet=Packet(sent)))
    two.s2mm[0].start(two.write(two.buffer("b", 16)))
    return array


def test_a_packet_that_no_slot_takes_has_its_sender_and_the_id_that_was_meant() -> None:
    found = stuck(packets(4))
    fix = "Give BD 0 packet id 3, or the packet flow id 4."
    assert (found.code, found.message, found.fix) == ("MT0306", PACKET, fix)
    assert (found.sides[0].who, found.sides[0].place[:5]) == ("memory(0,1) MM2S 0", "BD 0,")
    (before,) = check_design(lambda: packets(4)).findings
    assert (before.code, before.message, before.fix) == ("MT0111", PACKET, fix)


def pointed(*, valid: bool) -> MemoryTile:
    """A chain of two descriptors; the second one need not be valid."""
    tile = MemoryTile()
    block = tile.buffer("a", 16)
    tile.s2mm[0].start(
        Descriptor("memory", 16, block.dma_address), Descriptor("memory", 16, block.dma_address)
    )
    second = Descriptor("memory", 16, block.dma_address, valid=valid)
    tile.door.block_write32(tile.kind.bd_base + tile.kind.bd_stride, encode(second, 1))
    tile.s2mm[0].feed(np.arange(32))
    return tile


def test_a_chain_that_comes_to_an_invalid_descriptor_names_the_one_that_points_to_it() -> None:
    assert check_design(lambda: pointed(valid=True)).findings == ()
    (found,) = pointed(valid=False).run(untimed=True).findings
    fix = "BD 0 points to BD 1 (Next_BD): set its Valid_BD, or end the chain before it."
    assert (found.code, found.fix) == ("MT0315", fix)
    (before,) = check_design(lambda: pointed(valid=False)).findings
    says = "S2MM 0 (BD 0) points to BD 1 (Next_BD), which is not valid: the channel halts."
    assert (before.code, before.message) == ("MT0115", says)


UNFED = """module { aie.device(npu1) {
  %c = aie.tile(0, 2)
  %x = aie.buffer(%c) {sym_name = "x"} : memref<16xi32>
  aie.switchbox(%c) { aie.connect<South : 1, DMA : 0> }
  aie.mem(%c) {
    %0 = aie.dma_start(S2MM, 0, ^in, ^end)
  ^in:
    aie.dma_bd(%x : memref<16xi32>, 0, 16)
    aie.next_bd ^in
  ^end:
    aie.end
  }
  aie.runtime_sequence() { }
} }"""


@pytest.mark.parametrize(("following", "severity"), [("^in", Severity.WARNING), ("^end", Severity.ERROR)])
def test_a_ring_whose_stream_begins_where_nothing_sends_is_seen_before_a_run(
    tmp_path: Path, following: str, severity: Severity
) -> None:
    """A ring is there for whoever sends; a task that is to end is an error."""
    file = tmp_path / "unfed.mlir"
    file.write_text(UNFED.replace("next_bd ^in", f"next_bd {following}"))
    (finding,) = check(str(file), lambda: of_mlir(load_still(file))).findings
    port = "master port NORTH1 of tile (0, 1)"
    says = f"compute(0,2) S2MM 0 has a task, and its stream comes from {port}, to which nothing sends."
    assert (finding.code, finding.severity, finding.message) == ("MT0109", severity, says)


def balance(lengths: Mapping[str, Sequence[int]], words: int = 16) -> WordBalance:
    """Of channels by row, direction and number, as ``1 w0``: BDs one behind the other in a buffer."""
    array = Array("npu1", columns=1)
    present, areas = [], []
    for name, many in lengths.items():
        tile = array.memory_tile(0) if name[0] == "1" else array.compute_tile(0, int(name[0]))
        channel = (tile.s2mm if name[2] == "w" else tile.mm2s)[int(name[3])]
        kind: Literal["memory", "compute"] = "memory" if name[0] == "1" else "compute"
        base = 1 << 17 if name[0] == "1" else 0  # own words in the window of a memory tile
        areas.append(NamedArea("b", tile.index, 0, 4 * words))
        for n, length in enumerate(many):
            at = base + sum(many[:n]) + words // 2 * int(name[3])
            present.append((channel.index, n, Descriptor(kind, length, address=at), ""))
    return WordBalance(PlannedWords(array.engine, present), areas)


def off(found: WordBalance) -> list[tuple[int, int, int]]:
    return [(each.bd.length, each.length, each.sure) for each in found.off]


def test_a_buffer_that_several_fill_and_one_empties() -> None:
    fill = {"1 w0": [8], "1 w1": [8]}
    assert not off(balance({**fill, "1 r0": [16]}))
    short = balance({**fill, "1 r0": [8]})
    assert off(short) == [(8, 16, 2)]
    assert not short.receives(short.off[0].bd.ch)  # the second half is in the same buffer


@pytest.mark.parametrize("runs", [1, 2])
def test_a_block_for_several_rounds_of_a_receiver_is_not_too_long(runs: int) -> None:
    """A channel that is repeated too seldom lacks a run, not words of its descriptor."""

    def made() -> Array:
        array = Array("npu1", columns=1)
        door, shared, worker = array.interface_tile(0), array.memory_tile(0), array.compute_tile(0, 2)
        array.connect(shared.mm2s[0], worker.s2mm[0])
        array.connect(worker.mm2s[0], door.s2mm[0])
        block = shared.buffer("block", 128)
        shared.mm2s[0].start(shared.read(block, view(128)[64:]), repeat=runs)
        array.connect(shared.mm2s[1], door.s2mm[1])
        shared.mm2s[1].start(shared.read(block, view(128)[:64]), repeat=2)
        door.s2mm[1].start(door.write(array.external("first", np.zeros(128, np.int32))))
        given, room, here = worker.buffer("given", 32), worker.lock(1, "room"), worker.lock(0, "here")
        result, empty, done = worker.buffer("result", 32), worker.lock(1, "empty"), worker.lock(0, "done")
        worker.s2mm[0].start(worker.write(given).guarded(room.acquire(), here.release()), loop=True)
        worker.mm2s[0].start(worker.read(result).guarded(done.acquire(), empty.release()), loop=True)
        door.s2mm[0].start(door.write(array.external("back", np.zeros(128, np.int32))))

        def passes(core: Any) -> Generator[Any, Any, None]:
            while True:
                yield core.acquire(here)
                yield core.acquire(empty)
                yield core.release(room)
                yield core.release(done)

        worker.run_kernel(passes)
        return array

    findings = made().run(untimed=True).findings
    assert bool(findings) is (runs == 1)
    assert not {each.code for each in findings} & {"MT0323", "MT0324"}


def test_other_tiles_that_work_alike_say_how_long_a_descriptor_is() -> None:
    alike = {f"{row} r0": [16] for row in (3, 4, 5)}
    assert not off(balance({"2 r0": [16], **alike}))
    (found,) = balance({"2 r0": [8], **alike}).off
    assert (found.bd.length, found.length, found.sure) == (8, 16, 3)
    assert found.reasons[-1].text == "compute(0,3) MM2S 0 and 2 more move 16 there"
    assert off(balance({"2 r0": [8], "3 r0": [16]})) == [(8, 16, 2)]  # one other tile says nothing


def test_of_a_ring_without_room_the_one_that_is_to_begin_comes_first() -> None:
    array = Array("npu1", columns=1)
    door, worker = array.interface_tile(0), array.compute_tile(0, 2)
    array.connect(door.mm2s[0], worker.s2mm[0])
    free, full = worker.lock(0, "free"), worker.lock(0, "full")
    write = worker.write(worker.buffer("given", 16)).guarded(free.acquire(), full.release())
    worker.s2mm[0].start(write, loop=True)
    door.mm2s[0].start(door.read(array.external("there", np.arange(64, dtype=np.int32))))

    def takes(core: Any) -> Generator[Any, Any, None]:
        while True:
            yield core.acquire(full)
            yield core.release(free)

    worker.run_kernel(takes)
    found = stuck(array)
    assert (found.code, found.sides[0].who) == ("MT0303", "compute(0,2) S2MM 0 ('given')")
    assert found.message.startswith(
        "Deadlock before the first transfer: compute(0,2) S2MM 0 ('given') waits for lock 0 'free'"
    )


def test_a_gap_is_of_the_descriptor_that_ends_before_it() -> None:
    lacking = Part("buffer 'kept'", 0, 12, np.array([3]))
    writers = [
        PlannedBd(0, n, Descriptor("memory", 4 * n, 4), 0, np.arange(4 * n, 4 * n + (3 if n == 0 else 4)))
        for n in range(3)
    ]
    assert ends_at(lacking, writers) is writers[0]
    assert ends_at(lacking._replace(words=np.array([12])), writers[::-1]) is writers[2]


@pytest.mark.parametrize("parts", [((0, 16), (20, 16), (32, 16)), ((0, 16), (24, 8), (32, 16))])
def test_a_gap_is_of_the_descriptor_behind_it_where_that_before_it_is_as_long_as_others(
    parts: tuple[tuple[int, int], ...],
) -> None:
    lacking = Part("buffer 'kept'", 0, 48, np.arange(16, parts[1][0]))
    writers = [
        PlannedBd(0, n, Descriptor("memory", first, many), 0, np.arange(first, first + many))
        for n, (first, many) in enumerate(parts)
    ]
    assert ends_at(lacking, writers) is writers[1]
    again = replace(writers[0], number=3)
    assert ends_at(lacking, [*writers, again]).number == 0
    reader = PlannedBd(1, 8, Descriptor("memory", 0, 48), 0, np.arange(48))
    made = partly_written("MT0203", lacking, NamedBd("in", writers[1]), NamedBd("out", reader))
    assert made.fix == "Let BD 1 of in begin at word 16 of buffer 'kept', or do not read them."
