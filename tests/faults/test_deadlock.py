"""Does a hang have its root named: the circle, its order, its repair, and nobody else?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtile import Array, MemoryTile, Status
from memtile.cli.design_file import load_design
from memtile.explain.bd_chains import BdChains
from memtile.explain.deadlock.build import EngineWaits
from memtile.explain.deadlock.circles import _short
from memtile.explain.deadlock.find import Open, hang
from memtile.explain.deadlock.graph import PartyKind, Via, WaitEdge, WaitGraph, WaitNode
from memtile.explain.deadlock.roots import circle, roots, strong_components
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


def needs(*pairs: tuple[Party, Party, Via]) -> dict[Party, list[Need]]:
    found: dict[Party, list[Need]] = {}
    for one, other, via in pairs:
        found.setdefault(one, []).append(Need(other, via))
        found.setdefault(other, [])
    return found


def test_a_circle_is_one_component_and_what_leads_to_it_is_none() -> None:
    waits = needs((A, B, Via.WORDS), (B, C, Via.WORDS), (C, B, Via.WORDS), (D, A, Via.WORDS))
    assert sorted(map(sorted, strong_components(list(waits), waits))) == [[A], [B, C], [D]]
    (root,) = roots(list(waits), waits, mild=())
    assert sorted(root) == [B, C]
    assert circle(root, waits) == [B, C]


def test_the_shortest_circle_is_named_and_what_only_may_help_is_used_last() -> None:
    waits = needs(
        (A, B, Via.WORDS),
        (B, C, Via.WORDS),
        (C, A, Via.WORDS),
        (B, A, Via.MAY_RELEASE),
        (CORE, A, Via.WORDS),
        (A, CORE, Via.WORDS),
    )
    assert circle([A, B, C], waits) == [A, B, C]
    assert circle([A, B, C, CORE], waits) == [CORE, A]


def test_a_channel_that_may_be_done_is_a_root_only_where_nobody_else_can_help() -> None:
    both = needs((A, B, Via.WORDS), (A, C, Via.WORDS), (C, D, Via.ROOM))
    assert roots(list(both), both, mild={B}) == [[D]]
    alone = needs((A, B, Via.WORDS), (A, C, Via.WORDS), (C, D, Via.ROOM), (CORE, B, Via.WORDS))
    assert sorted(roots(list(alone), alone, mild={B})) == [[B], [D]]


def test_words_are_taken_by_all_and_brought_by_one() -> None:
    """One receiver at work does not help a broadcast; one sender at work helps who waits for words."""
    assert not EngineWaits.is_helped(A, [Need(B, Via.ROOM), Need(C, Via.ROOM)], {B})
    assert EngineWaits.is_helped(A, [Need(B, Via.ROOM), Need(C, Via.ROOM)], {B, C})
    assert EngineWaits.is_helped(A, [Need(B, Via.WORDS), Need(C, Via.WORDS)], {B})


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
        "Nobody can begin: S2MM 0 ('block') waits until lock 0 'empty' is at least 1 (it is 0), which MM2S 0 "
        "('block') would release; MM2S 0 ('block') waits until lock 1 'full' is at least 1 (it is 0), which "
        "S2MM 0 ('block') would release."
    )
    assert [side.who for side in finding.sides] == ["S2MM 0 ('block')", "MM2S 0 ('block')"]
    assert [side.place.split(":")[0] for side in finding.sides] == [
        "BD 0, tests/faults/test_deadlock.py",
        "BD 1, tests/faults/test_deadlock.py",
    ]
    assert finding.fix.startswith("Begin with lock 0 'empty' at the number of free buffers")
    assert finding.cycles == (None if untimed else (result.cycles, result.cycles))


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


@pytest.mark.parametrize(("kernel", "codes"), [(gives_late, []), (spins, []), (None, ["MT0311"])])
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
    slow.run_kernel(spins)
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
    assert (found.code, found.message) == ("MT0316", "Column 0 stands still: its clock is off.")
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
    assert (found.code, found.message) == ("MT0316", f"Column {column} stands still: its clock is off.")


def test_a_column_whose_reset_is_held_is_named() -> None:
    array = sending(3)
    reset(array, 1, on=True)
    (found,) = array.run().findings
    assert found.message == "Column 1 stands still: its reset is held."


def test_a_program_that_has_met_its_waits_has_no_findings_though_a_core_waits_for_more() -> None:
    case = corpus.CORPUS / "core-releases-the-wrong-lock-fine.mlir"
    five = case.read_text("utf-8").replace("%turns = arith.constant 4", "%turns = arith.constant 5")
    done = load(Text(case.name, five)).run(np.arange(64, dtype=np.int32), None, pad_arguments=True)
    assert done.result.status is Status.FINISHED
    assert any("kernel 'kernel': waits until lock 1 'x_full'" in line for line in done.result.resting)
    assert not severe(done.result.findings)
    assert not done.result.waits


def test_words_that_another_program_may_send_are_not_missed() -> None:
    case = corpus.CORPUS / "fifo-never-released-fine.mlir"
    short = case.read_text("utf-8").replace("(%a[0, 0, 0, 0][1, 1, 1, 64]", "(%a[0, 0, 0, 0][1, 1, 1, 56]")
    assert short != case.read_text("utf-8")
    three = short.replace("1, 64][0, 0, 0, 1]) {id = 1", "1, 48][0, 0, 0, 1]) {id = 1")
    done = load(Text(case.name, three)).run(np.arange(64, dtype=np.int32), None, pad_arguments=True)
    assert done.result.status is Status.FINISHED
    assert any("word 8 of 16: no input word" in line for line in done.result.resting)
    assert not severe(done.result.findings)


def cascade(giver: Kernel) -> Array:
    """Two cores side by side, the left one's cascade going to the right one, which waits for a value."""
    array = Array("npu1", columns=2)
    for column, sides in ((0, 2), (1, 1)):  # to the east, from the west
        array.door.at_once().write32(array.door.address(column, 3, ACCUMULATORS), sides)
    array.compute_tile(0, 3).run_kernel(giver)
    array.compute_tile(1, 3).run_kernel(gets)
    return array


def gets(core: Core) -> Iterator[Action]:
    yield core.get_cascade()


def waits_first(core: Core) -> Iterator[Action]:
    yield core.acquire(3)


def test_a_core_at_its_cascade_waits_for_the_core_at_the_other_end() -> None:
    (ended,) = cascade(ends_at_once).run().findings
    assert (ended.code, ended.sides[0].who) == ("MT0309", "core (0, 3) (kernel 'ends_at_once')")
    (waits,) = cascade(waits_first).run().findings  # the other core reaches the lock and may release it
    assert (waits.code, waits.sides[0].who) == ("MT0301", "core (0, 3) (kernel 'waits_first')")
    assert (
        "core (1, 3) (kernel 'gets') waits for words of core (0, 3) (kernel 'waits_first')" in waits.message
    )


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


def test_a_circle_of_channels_lacks_units_in_registers_too() -> None:
    """What a core has taken no register shows; of channels all is there."""
    tile = starving(0)
    tile.run()
    waits = EngineWaits(tile.engine, BdChains(tile.engine), (), quiet=True, of_registers=True)
    receiver, sender = Party(PartyKind.CHANNEL, 0), Party(PartyKind.CHANNEL, 6)
    way = [receiver, Party(PartyKind.LOCK, 0), sender, Party(PartyKind.LOCK, 1)]
    waits.reach([receiver])
    assert _short(way, waits) == (receiver, 0)
    assert _short([CORE, *way], waits) is None


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
