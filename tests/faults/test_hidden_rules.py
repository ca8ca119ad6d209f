"""Are hidden packet rules, streams to the wrong side and rings that leave out descriptors named?"""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from memtile.check.check import check
from memtile.check.checked_program import of_mlir
from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.oddities import Oddities, Suspect, instead_of_waits
from memtile.importers.design import load_still
from memtile.importers.mlir.token_packets import Text
from support.mlir.mlir_designs import FLOWS, WAIT, copied, device, host


def found(code: str, *lines: str) -> list[Finding]:
    design = load_still(Text("d.mlir", device(*lines)))
    return [each for each in check("d.mlir", lambda: of_mlir(design)).findings if each.code == code]


def switch(*rules: str) -> str:
    """A switch that leads packets to the tile's DMA and on to the north."""
    return "\n".join(
        [
            "aie.switchbox(%c) {",
            "%me = aie.amsel<0> (0)",
            "%up = aie.amsel<1> (0)",
            "aie.masterset(DMA : 0, %me)",
            "aie.masterset(North : 0, %up)",
            "aie.packet_rules(South : 0) {",
            *(f"aie.rule({rule})" for rule in rules),
            "}\n}",
        ]
    )


def test_the_rule_that_takes_the_packets_of_a_later_one_is_named() -> None:
    (one,) = found("MT0140", switch("30, 0, %me", "31, 1, %up"))
    line = int(one.sides[0].place.split(":")[1])
    assert one.message == (
        f"The packet rule in line {line} (South : 0 of compute tile (0,2)) takes packets of id 1 too, "
        f"with mask 30 and id 0: the rule in line {line + 1}, which leads them elsewhere, gets none."
    )
    assert (
        one.fix == f"Give the rule in line {line} the mask 31, or put the one in line {line + 1} before it."
    )


@pytest.mark.parametrize(
    "rules",
    [
        ("31, 0, %me", "31, 1, %up"),
        ("31, 1, %up", "30, 0, %me"),  # the narrow one first: the wide one takes the rest
        ("30, 0, %me", "31, 1, %me"),
        ("29, 0, %me", "31, 1, %up"),
        ("31, 0, %me", "30, 0, %up"),
        ("29, 2, %me", "28, 0, %up"),
    ],
)
def test_rules_that_leave_something_to_later_ones_are_fine(rules: tuple[str, ...]) -> None:
    assert not found("MT0140", switch(*rules))


def ring(back: int, first: int = 16, lock: str = "full", free: int = 3) -> list[str]:
    """An MM2S of a memory tile with three descriptors, of which the last goes on with another one."""
    lines = [f'%b{n} = aie.buffer(%m) {{sym_name = "b{n}"}} : memref<16xi32>' for n in range(3)]
    lines += [
        f'%{n} = aie.lock(%m, {k}) {{init = {k * free} : i32, sym_name = "{n}"}}'
        for k, n in enumerate(("full", "free"))
    ]
    lines += ["aie.memtile_dma(%m) {", "%0 = aie.dma_start(MM2S, 0, ^o0, ^end)"]
    for n in range(3):
        lines += [
            f"^o{n}:",
            f"aie.use_lock(%{lock if not n else 'full'}, AcquireGreaterEqual, 1)",
            f"aie.dma_bd(%b{n} : memref<16xi32>, 0, {first if not n else 16})",
            "aie.use_lock(%free, Release, 1)",
            f"aie.next_bd ^o{n + 1 if n < 2 else back}",
        ]
    return [*lines, "^end:", "aie.end", "}"]


WAY = """
aie.shim_mux(%s) {
aie.connect<DMA : 0, North : 3>
}
aie.switchbox(%s) {
aie.connect<South : 3, North : 0>
}
aie.switchbox(%m) {
aie.connect<South : 0, North : 0>
}
"""


@pytest.mark.parametrize(("way", "who"), [(WAY, [("compute(0,2) S2MM 0",)]), ("", [])])
def test_only_who_would_get_the_packets_of_a_hidden_rule_waits_for_it(
    way: str, who: list[tuple[str]]
) -> None:
    (one,) = found("MT0140", way, switch("30, 0, %up", "31, 1, %me"))
    assert isinstance(one, Suspect)
    assert one.waiting == who


def test_what_explains_no_wait_stays_behind_it() -> None:
    words, lock, other = (
        Finding(
            "MT0302",
            Severity.ERROR,
            f"compute(0,{row}) S2MM 0 waits for {what}",
            (Side(f"core (0, {row})", ""),),
        )
        for row, what in ((2, "words"), (2, "a lock 1 'x'"), (21, "words"))
    )
    one = Suspect("MT0140", Severity.WARNING, "hidden", waiting=[("compute(0,2) S2MM 0", "core (0, 2)")])
    assert instead_of_waits([one], [words]) == (replace(one, severity=Severity.ERROR),)
    for each in (lock, other):
        assert instead_of_waits([one], [each]) == (each, one)
    assert instead_of_waits([replace(one, by_lock=True)], [lock])[0].code == "MT0140"
    late = Suspect("MT0140", Severity.WARNING, "hidden", waiting=[("core (0, 2",)])
    assert instead_of_waits([late], [other]) == (other, late)
    words_are_wrong = Finding("MT0405", Severity.ERROR, "wrong")
    assert Oddities((), (one,)).before((words_are_wrong,), finished=True) == (one, words_are_wrong)


def test_a_mask_is_offered_only_if_other_packets_keep_their_rule() -> None:
    (one,) = found("MT0140", switch("0, 0, %me", "31, 5, %up"))
    assert re.fullmatch(r"Put the one in line \d+ before that in line \d+.", one.fix)


def test_rules_to_the_same_port_hide_nothing() -> None:
    text = switch("30, 0, %up", "31, 1, %u2").replace("North : 0, %up", "North : 0, %up, %u2")
    assert not found("MT0140", text.replace("aie.masterset(DMA", "%u2 = aie.amsel<1> (1)\naie.masterset(DMA"))


def test_a_ring_that_goes_on_with_its_second_descriptor_leaves_the_first_out() -> None:
    (one,) = found("MT0124", *ring(1))
    assert "BD 2 is followed by BD 1 again (aie.next_bd)" in one.message
    assert one.fix.startswith("Let it be followed by the BD of line ")
    assert isinstance(one, Suspect)
    assert [*one.waiting] == [
        ("memory(0,1) MM2S 0",),
        ("lock 0 'full' of tile (0, 1)",),
        ("lock 1 'free' of tile (0, 1)",),
    ]


def test_a_ring_may_begin_with_what_comes_once() -> None:
    assert not found("MT0124", *ring(0))
    assert not found("MT0124", *ring(1, free=2))  # buffers of the ring alone
    assert not found("MT0124", *ring(1, first=8))
    assert not found("MT0124", *ring(1, lock="free"))


def circuits(*lines: str) -> str:
    inside = "\n".join(f"aie.connect<{line}>" for line in lines)
    return f"aie.switchbox(%c) {{\n{inside}\n}}"


BESIDE = """
aie.shim_mux(%s) {
aie.connect<North : 2, DMA : 0>
}
aie.switchbox(%s) {
aie.connect<North : 0, South : 2>
}
aie.switchbox(%m) {
aie.connect<North : 0, South : 0>
}
"""
SENDS = """
%x = aie.buffer(%c) {sym_name = "x"} : memref<64xi32>
aie.mem(%c) {
%0 = aie.dma_start(MM2S, 0, ^send, ^end)
^send:
aie.dma_bd(%x : memref<64xi32>, 0, 64)
aie.next_bd ^end
^end:
aie.end
}
"""


@pytest.mark.parametrize(("way", "many"), [("North : 0", 1), ("South : 0", 0)])
def test_a_stream_that_leaves_its_switch_on_the_wrong_side(way: str, many: int) -> None:
    taken = host(copied("out", "b", 0).replace("{id", "{issue_token = true, id"), WAIT)
    every = found("MT0109", FLOWS, BESIDE, circuits(f"DMA : 0, {way}"), SENDS, taken)
    assert [each.message for each in every] == many * [
        "compute(0,2) MM2S 0 has a task, and its stream leads nowhere: it ends at slave port SOUTH0 "
        "of tile (0, 3); interface(0,0) S2MM 0 'out' has a task, and no stream leads to it."
    ]
    fix = "Lead the stream to master port SOUTH0 of tile (0, 2), from where interface(0,0) S2MM 0 'out' is "
    assert [each.fix for each in every] == many * [f"{fix}fed."]


def both_ways(last: str, second: str) -> list[str]:
    """A channel that writes two buffers and one that reads them, and what the last BDs of both go on with."""
    lines = [f'%b{n} = aie.buffer(%m) {{sym_name = "b{n}"}} : memref<16xi32>' for n in range(2)]
    lines += [
        f'%{n} = aie.lock(%m, {k}) {{init = {2 * k} : i32, sym_name = "{n}"}}'
        for k, n in enumerate(("full", "free"))
    ]
    lines += ["aie.memtile_dma(%m) {", "%0 = aie.dma_start(S2MM, 0, ^w0, ^next)"]
    for way, take, give, behind in (("w", "free", "full", last), ("r", "full", "free", second)):
        for n in range(2):
            lines += [
                f"^{way}{n}:",
                f"aie.use_lock(%{take}, AcquireGreaterEqual, 1)",
                f"aie.dma_bd(%b{n} : memref<16xi32>, 0, 16)",
                f"aie.use_lock(%{give}, Release, 1)",
                f"aie.next_bd ^{behind if n else way + '1'}",
            ]
        if way == "w":
            lines += ["^next:", "%1 = aie.dma_start(MM2S, 0, ^r0, ^end)"]
    return [*lines, "^end:", "aie.end", "}"]


def test_a_chain_that_goes_on_with_the_descriptors_of_another_channel() -> None:
    (one,) = found("MT0124", *both_ways("r0", "r0"))
    assert one.message.startswith(
        "memory(0,1) S2MM 0: BD 1 is followed by the first BD of memory(0,1) MM2S 0 (aie.next_bd) at line "
    )
    assert not isinstance(one, Suspect)
    (one,) = found("MT0124", *both_ways("w0", "w0"))
    assert one.sides[0].who == "memory(0,1) MM2S 0"
    assert not found("MT0124", *both_ways("w0", "r0"))


@pytest.mark.parametrize(("waiting", "is_why"), [("MM2S 0", True), ("MM2S 1", False)])
def test_a_core_that_no_text_has_is_no_cause_where_chains_are_mixed_up(waiting: str, is_why: bool) -> None:
    sides = (Side("compute(0,2) S2MM 0", "goes on"), Side("compute(0,2) MM2S 0", "has that BD"))
    mixed = Finding("MT0124", Severity.WARNING, "mixed up", sides)
    who = Side(f"compute(0,2) {waiting} ('a')", "waits for a lock")
    no_program = Finding("MT0311", Severity.ERROR, "no program", (who, Side("core (0, 2)", "has no program")))
    expected = (replace(mixed, severity=Severity.ERROR),) if is_why else (mixed, no_program)
    assert instead_of_waits([mixed], [no_program]) == expected
    alone = replace(mixed, sides=sides[:1])
    assert instead_of_waits([alone], [no_program]) == (alone, no_program)
