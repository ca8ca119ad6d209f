"""Does a hang have its root named: the circle, its order, its repair, and nobody else?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtile import Array, Lock, MemoryTile, Status
from memtile.cli.design_file import load_design
from memtile.explain.bd_chains import BdChains
from memtile.explain.deadlock.build import EngineWaits
from memtile.explain.deadlock.circles import Knot, _short
from memtile.explain.deadlock.find import Open, hang
from memtile.explain.deadlock.graph import PartyKind, Via, WaitEdge, WaitGraph, WaitNode
from memtile.explain.deadlock.knots import is_helped, roots
from memtile.explain.deadlock.switch_waits import Need, Party
from memtile.importers.design import load
from memtile.importers.mlir.token_packets import Text
from memtile.kernels import Action, Core, Kernel
from support.designs.paused_columns import clock, reset, sending
from support.designs.severe import severe
from support.pages import corpus_scores as corpus

ACCUMULATORS = 0x36060  # Accumulator_Control of AM025
A, B, C, D = (Party(PartyKind.CHANNEL, n) for n in range(4))
LOCK, CORE = Party(PartyKind.LOCK, 0), Party(PartyKind.CORE, 0)


Waits = dict[Party, list[Need]]
Order = tuple[Lock | None, Lock | None]


def needs(all_of: bool = False, **ways: str) -> Waits:
    """``A="BC"``: A waits for any of B and C, or for all of them."""
    parties = {"A": A, "B": B, "C": C, "D": D, "E": CORE, "L": LOCK}
    found: Waits = {party: [] for party in parties.values()}
    for one, others in ways.items():
        found[parties[one]] = [
            Need(parties[other], Via.WORDS, 0 if all_of else n) for n, other in enumerate(others)
        ]
    return found


def roots_of(waits: Waits, mild: str = "", wanted: str = "ACDE") -> list[list[Party]]:
    parties = {"A": A, "B": B, "C": C, "D": D, "E": CORE}
    dead = [
        party
        for party in waits
        if waits[party] or any(n.of == party for each in waits.values() for n in each)
    ]
    return roots(dead, waits, [parties[each] for each in mild], [parties[each] for each in wanted])


def test_a_circle_is_a_root_and_what_leads_to_it_is_none() -> None:
    assert roots_of(needs(A="B", B="C", C="B", D="A")) == [[B, C]]


def test_a_wait_that_one_of_several_can_end_is_a_root_with_all_of_them() -> None:
    """The circle of A and B is none as long as C may go on; if that waits for A, too, all are stuck."""
    assert roots_of(needs(A="BC", B="A", C="D")) == [[D]]
    assert roots_of(needs(A="BC", B="A", C="A")) == [[A, B, C]]


def test_of_a_wait_for_all_the_one_that_is_stuck_is_named() -> None:
    assert roots_of(needs(all_of=True, A="BC", B="A", C="D", D="B")) == [[A, B]]
    assert roots_of(needs(all_of=True, A="BC", B="D", C="A", D="D")) == [[D]]


def test_a_guess_is_part_of_a_root_only_where_there_is_none_without_it() -> None:
    waits = needs(all_of=True, A="BC", B="A", C="A")
    waits[C] = [Need(A, Via.MAY_RELEASE)]
    assert roots_of(waits) == [[A, B]]
    waits[B] = [Need(A, Via.MAY_RELEASE)]
    waits[C] = [Need(A, Via.RELEASE)]
    assert roots_of(waits) == [[A, C]]


def test_a_channel_that_may_be_done_is_a_root_only_where_nobody_else_can_help() -> None:
    assert roots_of(needs(A="BC", C="D"), mild="B") == [[D]]
    assert roots_of(needs(A="BC", C="D", E="B"), mild="B") == [[B], [D]]
    assert roots_of(needs(A="BC", C="D", E="B"), mild="B", wanted="A") == [[D]]


def test_one_way_is_enough_and_all_of_it_is_needed() -> None:
    """One receiver at work does not help a broadcast; one sender at work helps who waits for words."""
    assert not is_helped([Need(B, Via.ROOM), Need(C, Via.ROOM)], {B})
    assert is_helped([Need(B, Via.ROOM), Need(C, Via.ROOM)], {B, C})
    assert is_helped([Need(B, Via.WORDS, 0), Need(C, Via.WORDS, 1)], {B})


def stuck_for_ever(waits: Waits, moving: set[Party]) -> set[Party]:
    """By trying: who never goes on, if each goes on as soon as all of one of its ways have."""
    left, before = set(waits) - moving, -1
    while len(left) != before:
        before = len(left)
        for party, each in waits.items():
            ways = {need.way for need in each}
            if any(all(n.of not in left for n in each if n.way == way) for way in ways):
                left.discard(party)
    return left


@st.composite
def wait_graphs(draw: st.DrawFn) -> Waits:
    """Small graphs of waits with AND and OR; some parties have no way."""
    parties = [Party(PartyKind.CHANNEL, n) for n in range(draw(st.integers(1, 6)))]
    ways = st.lists(st.sets(st.sampled_from(parties), min_size=1, max_size=3), max_size=3)
    return {
        party: [Need(of, Via.WORDS, n) for n, way in enumerate(draw(ways)) for of in sorted(way)]
        for party in parties
    }


@settings(max_examples=60)
@given(waits=wait_graphs(), data=st.data())
def test_there_is_a_root_if_anybody_is_stuck_and_each_is_stuck_alone_and_no_part_of_it(
    waits: Waits, data: st.DataObject
) -> None:
    dead = stuck_for_ever(waits, data.draw(st.sets(st.sampled_from(list(waits)))))
    found = roots(list(dead), waits, (), list(waits))
    assert bool(found) == bool(dead)
    for root in found:
        assert is_stuck(set(root), waits)
        assert not any(is_stuck(set(root) - {party}, waits, whole=False) for party in root if len(root) > 1)


def is_stuck(parties: set[Party], waits: Waits, *, whole: bool = True) -> bool:
    """Whether each way of each of them, or of some of them, leads to one of them."""
    while parties:
        free = {
            party
            for party in parties
            for way in {need.way for need in waits[party]}
            if not any(need.of in parties for need in waits[party] if need.way == way)
        }
        if whole or not free:
            return not free
        parties = parties - free
    return False


def starving(free: int) -> MemoryTile:
    tile = MemoryTile()
    block = tile.buffer("block", 16)
    empty, full = tile.lock(free, "empty"), tile.lock(0, "full")
    tile.s2mm[0].start(tile.write(block).guarded(empty.acquire(), full.release()), repeat=4)
    tile.mm2s[0].start(tile.read(block).guarded(full.acquire(), empty.release()), repeat=4)
    tile.s2mm[0].feed(np.arange(64))
    tile.mm2s[0].expect(np.arange(64))
    return tile


@pytest.mark.parametrize("untimed", [False, True])
def test_a_finding_has_the_circle_in_order_and_a_repair(untimed: bool) -> None:
    result = starving(0).run(untimed=untimed)
    (finding,) = result.findings
    assert (finding.code, result.status) == ("MT0303", Status.STUCK)
    assert finding.message == (
        "Deadlock before the first transfer: S2MM 0 ('block') waits for lock 0 'empty' (needs 1, has 0), "
        "released only by MM2S 0 ('block'); MM2S 0 ('block') waits for lock 1 'full' (needs 1, has 0), "
        "released only by S2MM 0 ('block')."
    )
    assert [side.who for side in finding.sides] == ["S2MM 0 ('block')", "MM2S 0 ('block')"]
    assert [side.place.split(":")[0] for side in finding.sides] == [
        "BD 0, tests/faults/test_deadlock.py",
        "BD 1, tests/faults/test_deadlock.py",
    ]
    assert finding.fix.startswith("Initialise lock 0 'empty' to the number of free buffers")
    assert finding.cycles == (None if untimed else (result.cycles, result.cycles))


@pytest.mark.parametrize("held", [0, 1])
def test_who_would_release_only_what_it_waits_for_is_no_help(held: int) -> None:
    tile = MemoryTile()
    turn = tile.lock(held, "turn")
    tile.s2mm[2].start(tile.write(tile.buffer("block", 16)).guarded(turn.acquire(), turn.release()))
    tile.s2mm[2].feed(np.arange(16))
    found = severe(tile.run().findings)
    assert [finding.code for finding in found] == ["MT0302"] * (1 - held)
    assert all(
        "waits for lock 0 'turn'" in each.message and "nothing releases it" in each.message for each in found
    )


@pytest.mark.parametrize(
    ("names_it", "says"),
    [
        (False, ", and core (0, 3) (kernel 'idles') has ended before it did anything"),
        (True, "; core (0, 2) (kernel 'works') has ended and never released it"),
    ],
)
def test_a_neighbour_that_has_ended_is_blamed_only_for_a_lock_that_it_names(
    names_it: bool, says: str
) -> None:
    array = Array("npu1", columns=1)
    tile, below = array.compute_tile(0, 3), array.compute_tile(0, 2)
    full, own, rounds = tile.lock(0, "full"), below.lock(1, "own"), 0

    def works(core: Core) -> Iterator[Action]:
        yield core.acquire(own)
        for _ in range(rounds):
            yield core.release(full)

    def rests(core: Core) -> Iterator[Action]:
        yield core.acquire(own)

    def idles(core: Core) -> Iterator[Action]:
        yield core.cycles(1)

    array.connect(tile.mm2s[0], array.interface_tile(0).s2mm[0])
    tile.mm2s[0].start(tile.read(tile.buffer("block", 16)).guarded(full.acquire()))
    below.run_kernel(works if names_it else rests)
    tile.run_kernel(idles)
    assert says in severe(array.run(1000).findings)[0].message


@pytest.mark.parametrize(("fed", "code"), [(0, "MT0312"), (4, "MT0304"), (16, "MT0304"), (20, "MT0304")])
def test_a_channel_that_got_words_once_waits_for_more(fed: int, code: str) -> None:
    """At the begin of its second BD it has no word of that, in its first no BD has ended."""
    tile = MemoryTile()
    tile.s2mm[0].start(tile.write(tile.buffer("block", 16)), repeat=2)
    if fed:
        tile.s2mm[0].feed(np.arange(fed))
    assert [finding.code for finding in severe(tile.run().findings)] == [code]


def test_the_graph_has_who_waits_for_whom_and_marks_the_root() -> None:
    graph = starving(0).run().waits
    assert {(edge.waits, edge.via, edge.gives) for edge in graph.edges} == {
        ("channel 0", "lock", "lock 0"),
        ("lock 0", "release", "channel 6"),
        ("channel 6", "lock", "lock 1"),
        ("lock 1", "release", "channel 0"),
    }
    assert all(edge.root for edge in graph.edges)
    assert all(node.root for node in graph.nodes)
    assert [node.name for node in graph.nodes if node.kind is PartyKind.LOCK] == [
        "lock 0 'empty'",
        "lock 1 'full'",
    ]


def test_a_finished_run_has_no_findings_and_no_graph() -> None:
    result = starving(1).run()
    assert (result.status, severe(result.findings), bool(result.waits)) == (Status.FINISHED, (), False)


def test_a_graph_is_drawn_as_dot_and_as_mermaid() -> None:
    nodes = (
        WaitNode("lock 0", PartyKind.LOCK, "lock 0 'a\"b'", "is 0", root=True),
        WaitNode("core 1", PartyKind.CORE, "k"),
    )
    graph = WaitGraph(nodes, (WaitEdge("core 1", "lock 0", Via.LOCK, "waits", root=True),))
    assert graph.dot() == (
        'digraph waits {\n  node [shape=box, fontname="sans-serif"];\n'
        '  "lock 0" [label="lock 0 \'a\\"b\'\\nis 0", shape=ellipse, color=red];\n'
        '  "core 1" [label="k"];\n  "core 1" -> "lock 0" [label="lock", color=red];\n}\n'
    )
    assert graph.mermaid() == (
        'flowchart LR\n  n0(["lock 0 \'a#quot;b\'<br/>is 0"]):::root\n  n1["k"]\n  n1 -->|lock| n0\n'
        "  classDef root stroke:#c00,stroke-width:3px\n"
    )


def test_a_label_says_whether_one_of_several_edges_is_enough_or_all_are_needed() -> None:
    def labels(*ways: int) -> list[str]:
        edges = [WaitEdge("a", f"b{n}", Via.WORDS, "", way=way) for n, way in enumerate(ways)]
        return WaitGraph((), edges).labels()

    assert labels(0) == ["words"]
    assert labels(0, 1) == ["or words", "or words"]
    assert labels(0, 0) == ["and words", "and words"]
    assert labels(0, 2, 2) == ["way 1: words", "way 2: words", "way 2: words"]


def relay(rows: Sequence[int], knows: bool = True) -> Array:
    """Cores in a column: each waits for a permit of the one below, the first one for a word of the last."""
    array = Array("npu1", columns=1)
    tiles = [array.compute_tile(0, row) for row in rows]
    permits = [tile.lock(0, f"permit {row}") for tile, row in zip(tiles[1:], rows[1:], strict=True)]
    home = array.object_fifo("home", tiles[-1], tiles[0], shape=8)

    def kernel(number: int) -> Kernel:
        waits_for = permits[number - 1] if number else home.consumers[0].full
        gives = [*permits, home.producer.full][number]

        def passes(core: Core) -> Iterator[Action]:
            yield core.acquire(waits_for)
            yield core.release(gives)

        def hides(core: Core) -> Iterator[Action]:
            yield core.acquire(waits_for)
            yield core.release(max([gives], key=id))

        return passes if knows else hides

    for number, tile in enumerate(tiles):
        tile.run_kernel(kernel(number))
    return array


def test_all_cores_of_a_circle_are_named_and_no_core_that_only_sees_a_lock() -> None:
    array = relay((2, 3, 4))
    array.compute_tile(0, 5).run_kernel(spins_once)
    (finding,) = array.run().findings
    assert finding.code == "MT0301"
    cores = [side.who for side in finding.sides if side.who.startswith("core")]
    assert cores == [f"core (0, {row}) (kernel 'passes')" for row in (2, 4, 3)]
    assert not finding.fix  # all wait for data: more room helps nobody


def test_an_object_fifo_that_is_full_while_its_reader_waits_for_another_one_is_named() -> None:
    array = Array("npu1", columns=1)
    low, high = array.compute_tile(0, 2), array.compute_tile(0, 3)
    rows, mean = (array.object_fifo(name, low, high, shape=64) for name in ("rows", "mean"))

    def gives(core: Core) -> Iterator[Action]:
        for fifo in (rows, rows, rows, rows, rows, mean):
            yield core.acquire(fifo.producer.free)
            yield core.release(fifo.producer.full)

    def takes(core: Core) -> Iterator[Action]:
        yield core.acquire(mean.consumers[0].full)
        for _ in range(5):
            yield core.acquire(rows.consumers[0].full)
            yield core.release(rows.consumers[0].free)

    low.run_kernel(gives)
    high.run_kernel(takes)
    (finding,) = array.run().findings
    early = "let core (0, 3) (kernel 'takes') take from @rows before it waits for @mean."
    assert finding.fix == f"Give @rows a larger depth at its consumer end in core (0, 3), or {early}"


def spins_once(core: Core) -> Iterator[Action]:
    yield core.cycles(100)


def test_who_may_release_a_lock_is_a_guess_where_no_text_says_it_and_an_error_about_nobody() -> None:
    (finding,) = relay((2, 3, 4), knows=False).run().findings
    assert (finding.code, finding.severity) == ("MT0322", "warning")
    assert (
        "waits for lock 0 'permit 3' of tile (0, 3) (needs 1, has 0); no known code releases it, "
        "and whether core (0, 2) (kernel 'hides') does is not known"
    ) in finding.message  # core (0, 4) sees the lock, and its kernel cannot come to it


def test_a_receiver_of_two_senders_is_stuck_with_the_one_that_has_not_ended() -> None:
    """mlir-air issue 1713: the sender that has done all its work is no way out, and no root."""
    array = Array("npu1", columns=1)
    shared, sender, collector = array.memory_tile(0), array.compute_tile(0, 2), array.compute_tile(0, 4)
    bus = array.packet_bus("in", (shared.mm2s[0], [collector.s2mm[0]]), (sender.mm2s[0], [collector.s2mm[0]]))
    back = array.object_fifo("more", collector, sender, shape=4)
    room, here, go = collector.lock(1, "room"), collector.lock(0, "here"), sender.lock(0, "go")
    write = collector.write(collector.buffer("box", 16))
    collector.s2mm[0].start(write.guarded(room.acquire(), here.release()), loop=True)
    shared.mm2s[0].start(bus.streams[0].packets(shared.read(shared.buffer("head", 16))))
    part = sender.read(sender.buffer("part", 16)).guarded(go.acquire(), None)
    sender.mm2s[0].start(bus.streams[1].packets(part))

    def collects(core: Core) -> Iterator[Action]:
        for _ in range(2):
            yield core.acquire(here)
            yield core.release(room)
        yield core.release(back.producer.full)

    def sends(core: Core) -> Iterator[Action]:
        yield core.acquire(back.consumers[0].full)
        yield core.release(go)

    collector.run_kernel(collects)
    sender.run_kernel(sends)
    (finding,) = array.run().findings
    assert finding.code == "MT0301"
    assert {side.who for side in finding.sides if side.who.startswith("core")} == {
        "core (0, 2) (kernel 'sends')",
        "core (0, 4) (kernel 'collects')",
    }
    assert not any("memory" in side.who for side in finding.sides)


def idle(core: Core) -> Iterator[Action]:
    """Waits for more work for ever."""
    while True:
        yield core.acquire(15)


def test_rings_that_wait_for_more_work_have_no_part_in_a_hang() -> None:
    array = Array("npu1", columns=2)
    shared, other = array.memory_tile(0), array.memory_tile(1)
    ring, free, full = other.buffer("ring", 8), other.lock(1, "room"), other.lock(0, "data")
    other.s2mm[0].start(other.write(ring).guarded(free.acquire(), full.release()), loop=True)
    other.mm2s[0].start(other.read(ring).guarded(full.acquire(), free.release()), loop=True)
    never = shared.lock(0, "never")
    shared.mm2s[0].start(shared.read(shared.buffer("b", 8)).guarded(never.acquire(), None))
    result = array.run()
    (finding,) = result.findings
    assert finding.code == "MT0302"
    assert {node.name for node in result.waits.nodes} == {
        "memory(0,1) MM2S 0 ('b')",
        "lock 0 'never' of tile (0, 1)",
    }


def spins(core: Core) -> Iterator[Action]:
    while True:
        yield core.cycles(10)


def gives_late(core: Core) -> Iterator[Action]:
    yield core.cycles(5000)
    yield core.release(0)


@pytest.mark.parametrize(("kernel", "codes"), [(gives_late, []), (spins, ["MT0302"]), (None, ["MT0311"])])
def test_at_the_limit_only_what_nobody_can_help_is_named(kernel: Kernel | None, codes: list[str]) -> None:
    """Channel 1 waits for a lock of a core that is at work, or that has no program; channel 0 goes on."""
    array = Array("npu1", columns=1)
    tile, spinning = array.compute_tile(0, 2), array.compute_tile(0, 5)
    lock = tile.lock(0, "given")
    tile.mm2s[0].start(tile.read(tile.buffer("b", 8)).guarded(lock.acquire(), None))
    tile.mm2s[0].collect()
    spinning.run_kernel(spins)
    if kernel is not None:
        tile.run_kernel(kernel)
    result = array.run(1000)
    assert result.status is Status.LIMIT
    assert [finding.code for finding in severe(result.findings)] == codes


FINE = [case for case in corpus.cases() if case.kind == "fine" and case.file.suffix == ".py"]


@settings(max_examples=25)
@given(case=st.sampled_from(FINE), cycles=st.integers(1, 3000))
def test_a_good_design_that_is_cut_off_has_no_finding(case: corpus.Case, cycles: int) -> None:
    assert severe(load_design(str(case.file)).run(cycles).findings) == ()


@pytest.mark.parametrize("cycles", [76, 78, 121])
def test_a_core_whose_lock_was_given_right_now_waits_for_nobody(cycles: int) -> None:
    """The lock has its value, and the core takes it in the next cycle."""
    design = load_design(str(corpus.designs()["kernel-gives-back-before-it-reads-fine"]))
    assert severe(design.run(cycles).findings) == ()


def test_a_host_in_the_middle_of_a_push_waits_for_no_room() -> None:
    design = load_design(str(corpus.designs()["inputs-before-outputs-fine"]))
    assert severe(design.run(1).findings) == ()


HANGS = [case for case in corpus.cases() if case.kind == "hangs" and case.file.suffix == ".py"]


@settings(max_examples=25)
@given(case=st.sampled_from(HANGS), cycles=st.integers(1, 3000))
def test_a_hang_that_is_cut_off_has_no_other_findings_than_at_its_end(case: corpus.Case, cycles: int) -> None:
    early = {finding.code for finding in severe(load_design(str(case.file)).run(cycles).findings)}
    assert early <= case.codes


def test_a_stream_that_one_of_two_receivers_does_not_take_is_blocked_while_the_other_is_at_work() -> None:
    """A broadcast waits for all; what is at work in one of them does not help."""
    array = Array("npu1", columns=1)
    source, slow, never = array.memory_tile(0), array.compute_tile(0, 2), array.compute_tile(0, 5)
    source.mm2s[0].start(source.read(source.buffer("source", 256)))
    lock, forever = slow.lock(0, "slow"), never.lock(0, "forever")
    slow.s2mm[0].start(slow.write(slow.buffer("a", 256)).guarded(lock.acquire(), None))
    never.s2mm[0].start(never.write(never.buffer("a", 256)).guarded(forever.acquire(), None))
    array.connect(source.mm2s[0], slow.s2mm[0], never.s2mm[0])
    slow.run_kernel(gives_late)
    never.run_kernel(ends_at_once)
    result = array.run(2000)
    assert result.status is Status.LIMIT
    (finding,) = result.findings
    assert (finding.code, finding.sides[0].who) == ("MT0309", "core (0, 5) (kernel 'ends_at_once')")


def ends_at_once(core: Core) -> Iterator[Action]:
    yield core.cycles(1)


def test_a_column_without_clock_is_the_root_of_what_waits_for_it() -> None:
    array = sending()
    array.run(20)
    clock(array, 0, on=False)
    result = array.run()
    assert result.status is not Status.FINISHED
    assert {finding.code for finding in severe(result.findings)} == {"MT0316"}


def test_a_channel_whose_column_alone_has_no_clock_is_named() -> None:
    array = sending(2)
    array.run(20)
    clock(array, 0, on=False)
    (found,) = array.run().findings
    assert (found.code, found.message) == ("MT0316", "Column 0 is stopped: its clock is off.")
    assert "memory(0,1) MM2S 0 ('out')" in {side.who for side in found.sides}


@pytest.mark.parametrize("cycles", [0, 20, 40, 120])
@pytest.mark.parametrize("column", [0, 1, 2])
def test_of_a_column_without_clock_nobody_else_is_blamed_whether_it_sends_passes_on_or_receives(
    column: int, cycles: int
) -> None:
    array = sending(3)
    array.engine.wait(cycles)
    clock(array, column, on=False)
    result = array.run()
    assert result.status is Status.STUCK
    (found,) = result.findings
    assert (found.code, found.message) == ("MT0316", f"Column {column} is stopped: its clock is off.")


def test_a_column_whose_reset_is_held_is_named() -> None:
    array = sending(3)
    reset(array, 1, on=True)
    (found,) = array.run().findings
    assert found.message == "Column 1 is stopped: its reset is held."


def test_a_program_that_has_met_its_waits_has_no_findings_though_a_core_waits_for_more() -> None:
    case = corpus.CORPUS / "core-releases-the-wrong-lock-fine.mlir"
    five = case.read_text("utf-8").replace("%turns = arith.constant 4", "%turns = arith.constant 5")
    done = load(Text(case.name, five)).run(np.arange(64, dtype=np.int32), None, pad_arguments=True)
    assert done.result.status is Status.FINISHED
    assert any("kernel 'kernel': waits for lock 1 'x_full'" in line for line in done.result.resting)
    assert not severe(done.result.findings)
    assert not done.result.waits


def test_words_that_another_program_may_send_are_not_missed() -> None:
    case = corpus.CORPUS / "fifo-never-released-fine.mlir"
    short = case.read_text("utf-8").replace("(%a[0, 0, 0, 0][1, 1, 1, 64]", "(%a[0, 0, 0, 0][1, 1, 1, 56]")
    assert short != case.read_text("utf-8")
    three = short.replace("1, 64][0, 0, 0, 1]) {id = 1", "1, 48][0, 0, 0, 1]) {id = 1")
    done = load(Text(case.name, three)).run(np.arange(64, dtype=np.int32), None, pad_arguments=True)
    assert done.result.status is Status.FINISHED
    assert any("word 8 of 16: stream starved" in line for line in done.result.resting)
    assert not severe(done.result.findings)


def cascade(giver: Kernel, getter: Kernel | None = None) -> Array:
    """Two cores side by side, the left one's cascade going to the right one, which waits for a value."""
    array = Array("npu1", columns=2)
    for column, sides in ((0, 2), (1, 1)):  # to the east, from the west
        array.door.at_once().write32(array.door.address(column, 3, ACCUMULATORS), sides)
    array.compute_tile(0, 3).run_kernel(giver)
    array.compute_tile(1, 3).run_kernel(getter or gets)
    return array


def gets(core: Core) -> Iterator[Action]:
    yield core.get_cascade()


def gets_and_gives(core: Core) -> Iterator[Action]:
    yield core.get_cascade()
    yield core.release(3, tile=(0, 3))


def waits_first(core: Core) -> Iterator[Action]:
    yield core.acquire(3)


def test_a_core_at_its_cascade_waits_for_the_core_at_the_other_end() -> None:
    (ended,) = cascade(ends_at_once).run().findings
    assert (ended.code, ended.sides[0].who) == ("MT0309", "core (0, 3) (kernel 'ends_at_once')")
    assert ended.fix.startswith("Let core (1, 3) (kernel 'gets') get as many values as core (0, 3)")
    (waits,) = cascade(waits_first).run().findings  # the other core reaches the lock, and releases none
    assert (waits.code, waits.sides[0].who) == ("MT0302", "core (0, 3) (kernel 'waits_first')")
    (waits,) = cascade(waits_first, gets_and_gives).run().findings
    assert (waits.code, waits.sides[0].who) == ("MT0301", "core (0, 3) (kernel 'waits_first')")
    assert (
        "core (1, 3) (kernel 'gets_and_gives') waits for words of core (0, 3) (kernel 'waits_first')"
        in waits.message
    )
    assert re.match(r"Let core \(1, 3\).* release lock 3 .* before it gets these values", waits.fix)


def test_a_core_that_ends_at_once_is_named_and_not_the_channel_whose_words_it_did_not_take() -> None:
    array = Array("npu1", columns=1)
    tile = array.compute_tile(0, 2)
    done, full = tile.lock(0, "done"), tile.lock(0, "full")
    tile.s2mm[0].start(tile.write(tile.buffer("in", 8)).guarded(None, full.release()), loop=True)
    tile.mm2s[0].start(tile.read(tile.buffer("out", 8)).guarded(done.acquire(), None))
    tile.run_kernel(ends_at_once)
    (finding,) = array.run().findings
    assert (finding.code, finding.sides[0].who) == ("MT0309", "core (0, 2) (kernel 'ends_at_once')")


def test_a_kernel_in_python_that_keeps_its_buffer_is_named_with_the_lock_that_it_should_release() -> None:
    array = Array("npu1", columns=1)
    tile = array.compute_tile(0, 2)
    free, full = tile.lock(1, "free"), tile.lock(0, "full")

    def keeps(core: Core) -> Iterator[Action]:
        for _ in range(2):
            yield core.acquire(full)

    write = tile.write(tile.buffer("in", 8)).guarded(free.acquire(), full.release())
    tile.s2mm[0].start(write, repeat=2)
    tile.s2mm[0].feed(np.arange(16, dtype=np.int32))
    tile.run_kernel(keeps)
    (finding,) = array.run().findings
    assert finding.code == "MT0302"
    assert finding.message.endswith(
        "core (0, 2) (kernel 'keeps') has taken lock 1 'full' of tile (0, 2) before, waits for it again "
        "and has never released lock 0 'free' of tile (0, 2)."
    )


def test_an_mlir_design_names_its_locks_and_its_place() -> None:
    design = load(str(corpus.CORPUS / "wait-before-start-hangs.mlir"))
    result = design.run(np.arange(64, dtype=np.int32), None).result
    (finding,) = result.findings
    assert "lock 1 'full' of tile (0, 1)" in finding.message
    assert "wait-before-start-hangs.mlir:" in finding.sides[0].who
    assert finding.message.endswith("starts a task.")


def test_a_channel_whose_tasks_were_too_short_comes_before_the_host_that_has_more_for_it(
    tmp_path: Path,
) -> None:
    """The host starts its next task behind the wait that the first one was too short for."""
    text = (corpus.CORPUS / "wait-before-start-hangs.mlir").read_text(encoding="utf-8")
    (late,) = (line for line in text.splitlines() if "metadata = @in" in line)
    half = late.replace("1, 64]", "1, 32]")
    file = tmp_path / "half.mlir"
    file.write_text(
        text.replace("      aiex.npu.dma_wait", f"{half}\n      aiex.npu.dma_wait"), encoding="utf-8"
    )
    finding = load(str(file)).run(np.arange(64, dtype=np.int32), None).result.findings[0]
    assert finding.message.startswith("Deadlock: interface(0,0) MM2S 0 'in' waits until the program")
    assert finding.fix.startswith("Let the program")


def test_a_circle_of_channels_lacks_units_in_registers_too() -> None:
    """What a core has taken no register shows; of channels all is there."""
    tile = starving(0)
    tile.run()
    waits = EngineWaits(tile.engine, BdChains(tile.engine), (), quiet=True, of_registers=True)
    receiver, sender = Party(PartyKind.CHANNEL, 0), Party(PartyKind.CHANNEL, 6)
    way = [receiver, Party(PartyKind.LOCK, 0), sender, Party(PartyKind.LOCK, 1)]
    waits.reach([receiver])
    assert _short(Knot(way, waits), waits) == (receiver, 0)
    waits.needs[CORE] = []
    assert _short(Knot([CORE, *way], waits), waits) is None


def test_a_channel_that_waits_for_words_wants_no_lock() -> None:
    """The lock that its BD took is still in its registers."""
    tile = MemoryTile()
    empty = tile.lock(1, "empty")
    tile.s2mm[0].start(tile.write(tile.buffer("block", 16)).guarded(empty.acquire()))
    tile.run()
    waits = EngineWaits(tile.engine, BdChains(tile.engine), (), quiet=True)
    assert waits.lock_wanted(Party(PartyKind.CHANNEL, 0)) == -1


def test_a_finding_can_be_asked_for_of_any_engine_that_stands_still() -> None:
    tile = starving(0)
    tile.run()
    found = hang(tile.engine, BdChains(tile.engine), Open(channels=[0]), {}, quiet=True, timed=True)
    assert [finding.code for finding in severe(found.findings)] == ["MT0303"]


def test_a_wait_for_exactly_a_value_that_is_passed_is_told_to_wait_for_at_least_it() -> None:
    array = Array("npu1", columns=1)
    outside, tile = array.interface_tile(0), array.compute_tile(0, 2)
    end = array.object_fifo("come", outside, tile, shape=8).consumers[0]

    def exactly(core: Core) -> Iterator[Action]:
        yield core.cycles(2000)  # in which both buffers are filled
        for _ in range(3):
            yield core.acquire(end.full, 1)
            yield core.release(end.free)

    tile.run_kernel(exactly)
    outside.mm2s[0].start(outside.read(array.external("x", np.arange(24, dtype=np.int32))))
    finding = severe(array.run().findings)[0]
    wait = "Let core (0, 2) (kernel 'exactly') wait for at least 1 (acquire(lock, -1))"
    assert finding.fix == f"{wait}: the lock has more already."


def test_a_sender_whose_packets_stand_before_those_that_free_them_is_named() -> None:
    array = Array("npu1", columns=1)
    shared, low, mid = array.memory_tile(0), array.compute_tile(0, 2), array.compute_tile(0, 3)
    bus = array.packet_bus("bus", (shared.mm2s[0], [low.s2mm[0]]), (shared.mm2s[0], [mid.s2mm[0]]))
    box = shared.buffer("box", 16, data=np.arange(16))
    shared.mm2s[0].start(*(bus.streams[n].packets(shared.read(box)) for n in (0, 0, 0, 1)))
    done = mid.lock(0, "done")
    for tile, order in ((low, (done, None)), (mid, (None, done))):
        free, full = tile.lock(1, "free"), tile.lock(0, "full")
        tile.s2mm[0].start(
            tile.write(tile.buffer("box", 16)).guarded(free.acquire(), full.release()), loop=True
        )

        def takes(core: Core, full: Lock = full, free: Lock = free, order: Order = order) -> Iterator[Action]:
            yield core.acquire(full)
            if order[0] is not None:
                yield core.acquire(order[0])
            yield core.release(free)
            if order[1] is not None:
                yield core.release(order[1])

        tile.run_kernel(takes)
    (finding,) = array.run().findings
    assert "Let memory(0,1) MM2S 0 ('box') send to compute(0,3) S2MM 0" in finding.fix


CONTROLLED = """
aie.device(npu1_1col) {
  %%m = aie.tile(0, 1)
  %%c = aie.tile(0, 2)
  %%packet = aie.buffer(%%m) {sym_name = "packet"} : memref<2xi32> = dense<[%d, 1]>
  %%back = aie.buffer(%%m) {sym_name = "back"} : memref<4xi32>
  %%sum = aie.buffer(%%c) {sym_name = "sum"} : memref<4xi32>
  %%took = aie.lock(%%m, 0) {init = 0 : i32, sym_name = "took"}
  %%go = aie.lock(%%c, 0) {init = 0 : i32, sym_name = "go"}
  %%gone = aie.lock(%%c, 1) {init = 0 : i32, sym_name = "gone"}
  aie.packet_flow(5) {
    aie.packet_source<%%m, DMA : 0>
    aie.packet_dest<%%c, TileControl : 0>
  }
  aie.flow(%%c, DMA : 0, %%m, DMA : 0)
  aie.memtile_dma(%%m) {
    %%0 = aie.dma_start(MM2S, 0, ^send, ^next)
  ^send:
    aie.use_lock(%%took, AcquireGreaterEqual, 1)
    aie.dma_bd(%%packet : memref<2xi32>, 0, 2) {packet = #aie.packet_info<pkt_type = 0, pkt_id = 5>}
    aie.next_bd ^end
  ^next:
    %%1 = aie.dma_start(S2MM, 0, ^take, ^end)
  ^take:
    aie.dma_bd(%%back : memref<4xi32>, 0, 4)
    aie.use_lock(%%took, Release, 1)
    aie.next_bd ^end
  ^end:
    aie.end
  }
  aie.mem(%%c) {
    %%0 = aie.dma_start(MM2S, 0, ^send, ^end)
  ^send:
    aie.use_lock(%%gone, AcquireGreaterEqual, 1)
    aie.dma_bd(%%sum : memref<4xi32>, 0, 4)
    aie.next_bd ^end
  ^end:
    aie.end
  }
  aie.core(%%c) {
    aie.use_lock(%%go, AcquireGreaterEqual, 1)
    aie.use_lock(%%gone, Release, 1)
    aie.end
  }
}
"""
LOCKS = 0x1F000  # Lock0_value of AM025


@pytest.mark.parametrize(("address", "fix"), [(LOCKS, "before it waits for lock 0 'took'"), (LOCKS + 32, "")])
def test_a_control_packet_behind_a_wait_that_needs_it_is_part_of_the_circle(address: int, fix: str) -> None:
    (finding, *_) = load(Text("d.mlir", CONTROLLED % address)).run().result.findings
    assert (finding.code, fix in finding.fix) == ("MT0301" if fix else "MT0302", True)
