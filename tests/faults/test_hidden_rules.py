"""Are packet rules named that hide others, and rings of descriptors that leave some out?"""

from __future__ import annotations

import pytest

from memtile.check.check import check
from memtile.check.checked_program import of_mlir
from memtile.explain.findings import Finding
from memtile.importers.design import load_still
from memtile.importers.mlir.token_packets import Text
from support.mlir.mlir_designs import device


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


def ring(back: int, first: int = 16, lock: str = "full") -> list[str]:
    """An MM2S of a memory tile with three descriptors, of which the last goes on with another one."""
    lines = [f'%b{n} = aie.buffer(%m) {{sym_name = "b{n}"}} : memref<16xi32>' for n in range(3)]
    lines += [
        f'%{n} = aie.lock(%m, {k}) {{init = 0 : i32, sym_name = "{n}"}}'
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


def test_a_ring_that_goes_on_with_its_second_descriptor_leaves_the_first_out() -> None:
    (one,) = found("MT0124", *ring(1))
    assert "BD 2 is followed by BD 1 again (aie.next_bd)" in one.message
    assert one.fix.startswith("Let it be followed by the BD of line ")


def test_a_ring_may_begin_with_what_comes_once() -> None:
    assert not found("MT0124", *ring(0))
    assert not found("MT0124", *ring(1, first=8))
    assert not found("MT0124", *ring(1, lock="free"))
