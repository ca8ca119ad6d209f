"""Is a stream that leads to the wrong place named first, and nothing blamed that only waits because of it?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from memtile import Array
from memtile.check.check import check
from memtile.check.checked_program import of_mlir
from memtile.errors import DesignError, InputFileError
from memtile.explain.findings import Finding, Severity
from memtile.importers.design import load, load_still
from support.mlir.mlir_designs import device, loaded

FIFOS = """module {
  aie.device(npu1_1col) {
    %s = aie.tile(0, 0)
    %m = aie.tile(0, 1)
    %c = aie.tile(0, 2)
    %d = aie.tile(0, 3)
    aie.objectfifo @whole(%s, {%m}, 2 : i32) : !aie.objectfifo<memref<32xi32>>
    aie.objectfifo @left(%m, {%c}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @right(%m, {%d}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo.link [@whole] -> [@left, @right] ([] [0, 16])
    aie.objectfifo @out(%c, {%s}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
    %x = aie.core(%c) {
      %z = arith.constant 0 : index
      %o = arith.constant 1 : index
      %n = arith.constant 16 : index
      %a = aie.objectfifo.acquire @left(Consume, 1) : !aie.objectfifosubview<memref<16xi32>>
      %b = aie.objectfifo.subview.access %a[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
      %e = aie.objectfifo.acquire @out(Produce, 1) : !aie.objectfifosubview<memref<16xi32>>
      %f = aie.objectfifo.subview.access %e[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
      scf.for %i = %z to %n step %o {
        %v = memref.load %b[%i] : memref<16xi32>
        memref.store %v, %f[%i] : memref<16xi32>
      }
      aie.objectfifo.release @left(Consume, 1)
      aie.objectfifo.release @out(Produce, 1)
      aie.end
    }
    aie.runtime_sequence(%a: memref<32xi32>, %b: memref<16xi32>) {
      aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 16][0, 0, 0, 1])
        {id = 1 : i64, metadata = @out} : memref<16xi32>
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 32][0, 0, 0, 1])
        {id = 0 : i64, metadata = @whole} : memref<32xi32>
      aiex.npu.dma_wait {symbol = @out}
    }
  }
}
"""
OFFSETS = "([] [0, 16])"

CONTROL = """module {
  aie.device(npu1_1col) {
    %s = aie.tile(0, 0)
    %c = aie.tile(0, 2)
    %go = aie.lock(%c, 0) {init = 0 : i32, sym_name = "go"}
    %full = aie.lock(%c, 1) {init = 0 : i32, sym_name = "full"}
    %free = aie.lock(%c, 2) {init = 1 : i32, sym_name = "free"}
    %a = aie.buffer(%c) {sym_name = "words"} : memref<8xi32>
    aie.packet_flow(0x3) {
      aie.packet_source<%s, DMA : 0>
      aie.packet_dest<%c, TileControl : 0>
    }
    aie.flow(%c, DMA : 0, %s, DMA : 0)
    %x = aie.core(%c) {
      aie.use_lock(%go, AcquireGreaterEqual, 1)
      aie.use_lock(%free, AcquireGreaterEqual, 1)
      aie.use_lock(%full, Release, 1)
      aie.end
    }
    %y = aie.mem(%c) {
      %0 = aie.dma_start(MM2S, 0, ^one, ^end)
    ^one:
      aie.use_lock(%full, AcquireGreaterEqual, 1)
      aie.dma_bd(%a : memref<8xi32>, 0, 8)
      aie.use_lock(%free, Release, 1)
      aie.next_bd ^one
    ^end:
      aie.end
    }
    aie.shim_dma_allocation @packets(%s, MM2S, 0)
    aie.shim_dma_allocation @out(%s, S2MM, 0)
    aie.shim_dma_allocation @spare(%s, S2MM, 1)
    aie.runtime_sequence(%p: memref<2xi32>, %b: memref<8xi32>) {
      aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 8][0, 0, 0, 1])
        {id = 0 : i64, metadata = @out} : memref<8xi32>
      aiex.npu.dma_memcpy_nd(%p[0, 0, 0, 0][1, 1, 1, 2][0, 0, 0, 1], packet = <pkt_id = 3, pkt_type = 1>)
        {id = 1 : i64, metadata = @packets} : memref<2xi32>
      aiex.npu.dma_wait {symbol = @out}
    }
  }
}
"""
PACKETS, DATA = "interface(0,0) MM2S 0 'packets'", "interface(0,0) S2MM 0 'out'"
WAIT = "      aiex.npu.dma_wait {symbol = @out}\n"
SPARE = (
    "      aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 8][0, 0, 0, 1]) "
    "{id = 2 : i64, metadata = @spare} : memref<8xi32>\n"
)

CHANNELS = """module {
  aie.device(npu1_1col) {
    %s = aie.tile(0, 0)
    %m = aie.tile(0, 1)
    %e = aie.lock(%m, 0) {init = 1 : i32, sym_name = "free"}
    %f = aie.lock(%m, 1) {init = 0 : i32, sym_name = "full"}
    %a = aie.buffer(%m) {sym_name = "words"} : memref<8xi32>
    aie.flow(%s, DMA : 0, %m, DMA : 0)
    aie.flow(%m, DMA : 0, %s, DMA : 0)
    %y = aie.memtile_dma(%m) {
      %0 = aie.dma_start(S2MM, 0, ^in, ^next)
    ^in:
      aie.use_lock(%e, AcquireGreaterEqual, 1)
      aie.dma_bd(%a : memref<8xi32>, 0, 8)
      aie.use_lock(%f, Release, 1)
      aie.next_bd ^in
    ^next:
      %1 = aie.dma_start(MM2S, 0, ^out, ^end)
    ^out:
      aie.use_lock(%f, AcquireGreaterEqual, 1)
      aie.dma_bd(%a : memref<8xi32>, 0, 8)
      aie.use_lock(%e, Release, 1)
      aie.next_bd ^out
    ^end:
      aie.end
    }
    aie.shim_dma_allocation @in(%s, MM2S, 0)
    aie.shim_dma_allocation @out(%s, S2MM, 0)
    aie.runtime_sequence(%p: memref<8xi32>, %b: memref<8xi32>) {
      aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 8][0, 0, 0, 1])
        {id = 0 : i64, metadata = @out} : memref<8xi32>
      aiex.npu.dma_memcpy_nd(%p[0, 0, 0, 0][1, 1, 1, 8][0, 0, 0, 1])
        {id = 1 : i64, metadata = @in} : memref<8xi32>
      aiex.npu.dma_wait {symbol = @out}
    }
  }
}
"""
IN, OUT = "aie.flow(%s, DMA : 0, %m, DMA : 0)", "aie.flow(%m, DMA : 0, %s, DMA : 0)"


def changed(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1
    return text.replace(old, new)


def of_check(tmp_path: Path, text: str) -> list[Finding]:
    file = tmp_path / "design.mlir"
    file.write_text(text)
    return list(check(str(file), lambda: of_mlir(load_still(file, device="npu1"))).findings)


def of_run(tmp_path: Path, text: str) -> list[Finding]:
    file = tmp_path / "design.mlir"
    file.write_text(text)
    return list(load(file, device="npu1").run(max_cycles=20_000).result.findings)


def errors(findings: list[Finding]) -> list[str]:
    return [f"{each.code} {each.message}" for each in findings if each.severity is Severity.ERROR]


@pytest.mark.parametrize("text", [FIFOS, CHANNELS])
def test_the_designs_are_right(tmp_path: Path, text: str) -> None:
    assert errors(of_check(tmp_path, text)) == errors(of_run(tmp_path, text)) == []


# links of object FIFOs ------------------------------------------------------------------------------------


def test_a_link_names_the_fifo_whose_part_is_not_as_large_as_its_objects(tmp_path: Path) -> None:
    text = changed(FIFOS, OFFSETS, "([] [0, 15])")
    line = text[: text.index("[0, 15]")].count("\n") + 1
    (before,), during = of_check(tmp_path, text), of_run(tmp_path, text)
    assert before.message == (
        f"The link in line {line} gives @left 15 elements of each object of @whole, from offset 0 to 15; an "
        "object of @left has 16."
    )
    assert before.fix == "Write the offsets [0, 16]."
    assert before.sides[0].place.endswith(f"design.mlir:{line}")
    assert errors(during) == [f"MT0120 {before.message}"]


def test_a_part_of_several_objects_is_no_fault(tmp_path: Path) -> None:
    """The larger part comes as two objects, of which the other end takes one after the other."""
    text = changed(
        FIFOS,
        "@right(%m, {%d}, 2 : i32) : !aie.objectfifo<memref<16xi32>>",
        "@right(%m, {%d}, 2 : i32) : !aie.objectfifo<memref<8xi32>>",
    )
    assert "MT0120" not in {each.code for each in of_check(tmp_path, text)}


def test_a_fifo_with_its_ends_swapped_is_named_and_not_its_link() -> None:
    lines = [
        "aie.objectfifo @f(%s, {%m}, 2 : i32) : !aie.objectfifo<memref<16xi32>>",
        "aie.objectfifo @g(%c, {%m}, 2 : i32) : !aie.objectfifo<memref<16xi32>>",
        "aie.objectfifo.link [@f] -> [@g] ([] [])",
    ]
    with pytest.raises(InputFileError) as caught:
        loaded(device(*lines))
    (problem,) = caught.value.problems
    assert "@g goes from %c to %m, but line" in problem.message
    assert "links it to @f in %m" in problem.message
    assert problem.next_step == "Swap producer and consumer of @g."


# control packets ------------------------------------------------------------------------------------------


def test_a_lock_that_only_control_packets_can_release_names_their_sender(tmp_path: Path) -> None:
    """The packet has the words 0 and 0: it writes the first word of the tile's memory, and no lock."""
    (finding,) = of_run(tmp_path, CONTROL)
    assert finding.message == (
        "core (0, 2) waits for lock 0 'go' of tile (0, 2) (needs 1, has 0); only control packets "
        f"could release it, and {PACKETS} has sent all that were asked for."
    )
    assert finding.sides[0].who == PACKETS


def test_answers_to_control_packets_without_a_task_are_named_instead(tmp_path: Path) -> None:
    flow = "aie.packet_flow(9) { aie.packet_source<%c, TileControl : 0> aie.packet_dest<%s, DMA : 1> }"
    at = "    aie.runtime_sequence"
    (finding,) = of_run(tmp_path, changed(CONTROL, at, f"    {flow}\n{at}"))
    assert finding.code == "MT0312"
    assert finding.sides[0].who.startswith("interface(0,0) S2MM 1")
    assert " gets the answers of the control port of tile (0, 2) and never had a task; " in finding.message


def test_a_lost_control_packet_is_named_and_no_core_that_waits_for_it(tmp_path: Path) -> None:
    text = changed(CONTROL, "pkt_id = 3", "pkt_id = 4")
    (finding,) = of_run(tmp_path, text)
    assert finding.code == "MT0306"
    assert finding.message.startswith(f"{PACKETS} ")
    assert "packets of id 4" in finding.message


def test_a_control_packet_that_was_not_sent_yet_keeps_a_core_out_of_it(tmp_path: Path) -> None:
    """The host waits first for what the packet would set going; what the packet says is not known."""
    first = CONTROL[CONTROL.index("      aiex.npu.dma_memcpy_nd(%p") : CONTROL.index(WAIT)]
    (finding,) = of_run(tmp_path, changed(CONTROL, first + WAIT, WAIT + first))
    assert (finding.code, finding.severity) == ("MT0322", Severity.WARNING)
    assert f"whether {PACKETS} does is not known" in finding.message


def test_control_packets_write_as_many_locks_as_they_have_words_for_before_a_run(tmp_path: Path) -> None:
    assert of_check(tmp_path, CONTROL) == []
    lock = '    %more = aie.lock(%c, 3) {init = 0 : i32, sym_name = "more"}\n'
    acquire = "      aie.use_lock(%free, AcquireGreaterEqual, 1)\n      aie.use_lock(%full"
    text = changed(CONTROL, "    %a = aie", f"{lock}    %a = aie")
    text = changed(text, acquire, f"      aie.use_lock(%more, AcquireGreaterEqual, 1)\n{acquire}")
    (finding,) = of_check(tmp_path, text)
    assert (finding.code, finding.severity) == ("MT0103", Severity.WARNING)
    assert "for lock 3 'more' of tile (0, 2) (needs 1, has 0); only control packets" in finding.message
    more = text.replace("[1, 1, 1, 2]", "[1, 1, 1, 4]").replace("2xi32", "4xi32")
    assert of_check(tmp_path, more) == []


def test_a_core_that_waits_for_what_it_alone_releases_afterwards(tmp_path: Path) -> None:
    text = changed(CONTROL, "aie.use_lock(%go", "aie.use_lock(%full")
    for finding in (of_check(tmp_path, text)[0], of_run(tmp_path, text)[0]):
        assert finding.sides[0].who == "core (0, 2)"
        assert finding.message == (
            "core (0, 2) waits for lock 1 'full' of tile (0, 2) (needs 1, has 0); only core (0, 2) "
            "itself could release it, after this wait."
        )


@pytest.mark.parametrize("endless", [True, False])
def test_the_core_that_was_to_release_a_lock_is_named_before_a_run(tmp_path: Path, endless: bool) -> None:
    text = changed(CONTROL, "aie.use_lock(%full, Release", "aie.use_lock(%free, Release")
    if not endless:
        text = changed(text, "      aie.next_bd ^one\n", "      aie.next_bd ^end\n")
    finding = of_check(tmp_path, text)[0]
    severity = Severity.WARNING if endless else Severity.ERROR
    assert (finding.code, finding.severity, finding.sides[0].who) == ("MT0103", severity, "core (0, 2)")
    assert "core (0, 2) releases lock 2 'free' of tile (0, 2) instead" in finding.message


def test_a_channel_that_is_sent_nothing_and_that_nothing_waits_for_comes_last(tmp_path: Path) -> None:
    findings = of_run(tmp_path, changed(CONTROL, WAIT, SPARE + WAIT))
    assert [each.code for each in findings] == ["MT0302", "MT0312"]
    assert {each.severity for each in findings} == {Severity.WARNING}  # what the packets wrote is not known
    assert findings[-1].message.startswith("interface(0,0) S2MM 1 'spare' waits for words")


# flows and channels ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            IN,
            IN.replace("%m, DMA : 0", "%m, DMA : 1"),
            "memory(0,1) S2MM 0 has a task, and no stream leads to it; interface(0,0) MM2S 0 'in' sends to "
            "memory(0,1) S2MM 1, which has no task.",
        ),
        (
            "aie.dma_start(MM2S, 0",
            "aie.dma_start(MM2S, 2",
            "memory(0,1) MM2S 2 has a task, and its stream leads nowhere; a stream begins at memory(0,1) "
            "MM2S 0, which has no task.",
        ),
        (
            OUT,
            "",
            "memory(0,1) MM2S 0 has a task, and its stream leads nowhere; interface(0,0) S2MM 0 'out' has a "
            "task, and no stream leads to it.",
        ),
    ],
)
def test_both_ends_of_a_wrong_flow_are_one_error(tmp_path: Path, old: str, new: str, said: str) -> None:
    text = changed(CHANNELS, old, new)
    assert errors(of_check(tmp_path, text)) == [f"MT0109 {said}"]
    assert errors(of_run(tmp_path, text)) == [f"MT0312 {said}"]


def test_a_task_that_a_host_waits_for_and_never_starts_is_no_wrong_flow(tmp_path: Path) -> None:
    """The task beside it on a channel without a stream is another matter."""
    begin = CHANNELS.index("      aiex.npu.dma_memcpy_nd(%b")
    start = CHANNELS[begin : CHANNELS.index("      aiex.npu", begin + 1)]
    allocated = "    aie.shim_dma_allocation @out"
    text = changed(CHANNELS, start, SPARE)
    text = changed(text, allocated, f"    aie.shim_dma_allocation @spare(%s, S2MM, 1)\n{allocated}")
    for found in (of_check(tmp_path, text), of_run(tmp_path, text)):
        first = found[0]
        assert "interface(0,0) S2MM 0 'out'" in first.message
        assert "Let the flow end" not in first.fix
        assert not any("no stream leads to it" in each.message for each in found)


def test_a_wait_for_a_channel_to_which_nothing_sends_names_the_one_in_the_other_direction(
    tmp_path: Path,
) -> None:
    allocated = "    aie.shim_dma_allocation @packets"
    text = changed(CONTROL, "<%s, DMA : 0>", "<%s, DMA : 1>")
    text = changed(text, f"{allocated}(%s, MM2S, 0)", f"{allocated}(%s, MM2S, 1)")
    text = changed(text, WAIT, f"{SPARE}{WAIT.replace('@out', '@spare')}")
    file = tmp_path / "design.mlir"
    file.write_text(text)
    packet = np.array([0x80000003, 1], np.uint32)
    (first, *_) = load(file, device="npu1").run(packet, max_cycles=20_000).result.findings
    assert first.code == "MT0312"
    assert first.message.endswith(
        "waits for interface(0,0) S2MM 1 'spare', to which nothing sends; interface(0,0) MM2S 1 'packets' "
        "has had tasks."
    )
    assert first.fix == (
        "Let it wait for interface(0,0) MM2S 1 'packets', or connect interface(0,0) S2MM 1 'spare'."
    )


def test_two_tasks_of_one_channel_are_named_with_the_idle_one_beside_it(tmp_path: Path) -> None:
    """Which of the two tasks was meant for the other channel the text does not say."""
    chain = CHANNELS[CHANNELS.index("      %1 = aie.dma_start") : CHANNELS.index("    ^end:")]
    more = chain.replace("%1", "%2").replace("^out", "^more").replace("MM2S, 0", "MM2S, {}")
    first = chain.replace("^end", "^last")
    own = OUT.replace("%m, DMA : 0, %s, DMA : 0", "%m, DMA : 1, %s, DMA : 1")
    base = changed(CHANNELS, OUT, f"{OUT}\n    {own}")
    right, wrong = (changed(base, chain, f"{first}    ^last:\n{more.format(number)}") for number in (1, 0))
    task = SPARE.replace("spare", "second")
    right, wrong = (
        changed(
            changed(text, WAIT, task + WAIT),
            "    aie.shim_dma_allocation @out",
            "    aie.shim_dma_allocation @second(%s, S2MM, 1)\n    aie.shim_dma_allocation @out",
        )
        for text in (right, wrong)
    )
    assert not [each for each in of_check(tmp_path, right) if each.code == "MT0109"]
    found = errors(of_check(tmp_path, wrong))
    assert found == [
        "MT0109 memory(0,1) MM2S 0 has several tasks; interface(0,0) S2MM 1 'second' gets its words from "
        "memory(0,1) MM2S 1, which has none."
    ]


def test_packets_of_another_id_than_leads_to_a_channel_are_named_by_both(tmp_path: Path) -> None:
    flows = "".join(
        f"aie.packet_flow({number}) {{\naie.packet_source<%s, DMA : 0>\naie.packet_dest<%m, DMA : {to}>\n}}\n"
        for number, to in ((1, 0), (2, 1))
    )
    text = changed(CHANNELS, IN, flows)
    second = """    ^end:
      %2 = aie.dma_start(S2MM, 1, ^other, ^last)
    ^other:
      aie.dma_bd(%o : memref<8xi32>, 0, 8)
      aie.next_bd ^other
    ^last:
"""
    text = changed(text, "    ^end:\n", second)
    text = changed(
        text, "    %a = ", '    %o = aie.buffer(%m) {sym_name = "others"} : memref<8xi32>\n    %a = '
    )
    send = "[0, 0, 0, 1])\n        {id = 1"
    text = changed(text, send, send.replace("1])", "1], packet = <pkt_id = {}, pkt_type = 0>)"))
    assert errors(of_run(tmp_path, text.replace("pkt_id = {}", "pkt_id = 1"))) == []
    text = text.replace("pkt_id = {}", "pkt_id = 2")
    for findings in (of_check(tmp_path, text), of_run(tmp_path, text)):
        (message,) = errors(findings)
        assert message.endswith(
            "interface(0,0) MM2S 0 'in' has sent packets of id 2, and those of id 1 lead there."
        )


def test_two_flows_to_one_channel_are_named_by_both_lines(tmp_path: Path) -> None:
    more = f"{IN}\n    aie.flow(%m, DMA : 1, %m, DMA : 0)"
    text = changed(CHANNELS, IN, more)
    line = text[: text.index(IN)].count("\n") + 1
    (finding,) = of_check(tmp_path, text)
    assert finding.code == "MT0102"
    assert (
        f"design.mlir:{line + 1}:5: aie.flow: memory(0,1) S2MM 0 gets the stream of memory(0,1) MM2S 1 here"
        in finding.message
    )
    assert f"design.mlir:{line}:5 that of interface(0,0) MM2S 0" in finding.message


def test_a_flow_without_a_way_has_its_line(tmp_path: Path) -> None:
    ends = "aie.packet_source<%s, Trace : 0>\n      aie.packet_dest<%m, DMA : 3>"
    flow = f"aie.packet_flow(0x1) {{\n      {ends}\n    }}"
    text = changed(CHANNELS, IN, f"{IN}\n    {flow}")
    line = text[: text.index("aie.packet_flow")].count("\n") + 1
    file = tmp_path / "design.mlir"
    file.write_text(text)
    with pytest.raises(DesignError, match=rf"design\.mlir:{line}:5: router: .*finds no free ports"):
        load_still(file, device="npu1")


def test_words_that_never_come_blame_no_sender_that_has_sent_all() -> None:
    """One of two inputs has no stream; the other one has done its round and waits for the next."""
    array = Array("npu1", 2)
    one, two = array.memory_tile(0), array.memory_tile(1)
    array.connect(one.mm2s[0], two.s2mm[0])
    array.connect(two.mm2s[0], one.s2mm[0])
    b, c = two.buffer("b", 8), two.buffer("c", 8)
    has_b, has_c = two.lock(0, "has b"), two.lock(0, "has c")
    one.mm2s[0].start(one.read(one.buffer("a", 8, data=np.arange(8))))
    two.s2mm[0].start(two.write(b).guarded(None, has_b.release()), repeat=2)
    two.s2mm[1].start(two.write(c).guarded(None, has_c.release()))
    two.mm2s[0].start(two.read(b).guarded(has_b.acquire()), two.read(c).guarded(has_c.acquire()))
    one.s2mm[0].start(one.write(one.buffer("d", 16)))
    (finding,) = array.run().findings
    assert (finding.code, finding.sides[0].who) == ("MT0312", "memory(1,1) S2MM 1 ('c')")


def test_a_ring_between_two_rounds_is_a_warning_beside_another_fault() -> None:
    """It has done all rounds that were sent, and waits where it may wait for ever."""
    array = Array("npu1", 2)
    one, two = array.memory_tile(0), array.memory_tile(1)
    array.connect(one.mm2s[0], two.s2mm[0])
    one.mm2s[0].start(one.read(one.buffer("a", 8, data=np.arange(8))))
    two.s2mm[0].start(two.write(two.buffer("b", 8)), repeat=2)
    never = two.lock(0, "never")
    array.connect(two.mm2s[1], one.s2mm[1])
    two.mm2s[1].start(two.read(two.buffer("c", 8)).guarded(never.acquire()))
    one.s2mm[1].start(one.write(one.buffer("d", 8)))
    findings = array.run().findings
    assert [(each.code, each.severity) for each in findings] == [
        ("MT0302", Severity.ERROR),
        ("MT0304", Severity.WARNING),
    ]
