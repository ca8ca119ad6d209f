"""Do descriptors give the register words that AMD's driver and compiled programs give?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memtile.bd.codec import decode, encode, used_bits
from memtile.bd.descriptor import Acquire, Descriptor, Dim, Packet
from memtile.bd.descriptor_cases import case_of, hex_words, parse_case, words_of_case
from memtile.bd.legality import check
from memtile.bd.windows import EAST, OWN, WEST, DmaAddress
from memtile.errors import DescriptorError

TILES = ("memory", "compute", "interface")
CASES = json.loads((Path(__file__).parents[1] / "oracle/bd_words.json").read_text())["cases"]


def cases(expect: str, tile: str | None = None) -> list[dict[str, Any]]:
    return [c for c in CASES if c["expect"] == expect and tile in (None, c["tile"])]


def answer(case: dict[str, Any]) -> list[str]:
    """The words of a case, or the reasons why there are none."""
    try:
        return hex_words(words_of_case(case))
    except DescriptorError as error:
        return [problem.reason for problem in error.problems]


def test_the_oracle_is_whole() -> None:
    assert [len(cases(expect)) for expect in ("words", "error", "differs")] == [1059, 160, 64]
    assert [len(cases("words", tile)) for tile in TILES] == [764, 283, 12]


@pytest.mark.feature("F36")
@pytest.mark.parametrize("tile", TILES)
def test_every_accepted_case_gives_its_words(tile: str) -> None:
    wrong = {c["id"]: (answer(c), c["words"]) for c in cases("words", tile) if answer(c) != c["words"]}
    assert wrong == {}


@pytest.mark.parametrize("tile", TILES)
def test_the_words_of_every_accepted_case_decode_to_it(tile: str) -> None:
    for case in cases("words", tile):
        bd, descriptor = parse_case(case)
        words = [int(word, 16) for word in case["words"]]
        assert decode(descriptor.tile, words, bd) == descriptor, case["id"]
        assert parse_case(case_of(descriptor, bd)) == (bd, descriptor), case["id"]


@pytest.mark.parametrize("tile", TILES)
def test_every_refused_case_is_refused_for_its_reasons(tile: str) -> None:
    wrong = {
        c["id"]: (answer(c), c["reason"]) for c in cases("error", tile) if set(answer(c)) != set(c["reason"])
    }
    assert wrong == {}


# What the driver stores truncated or out of range although the fields of the case cannot hold it.
def test_what_the_driver_truncates_is_refused_by_name() -> None:
    truncated = [c for c in cases("differs") if c["driver"] == "accepts"]
    named = [c for c in truncated if c["fields"] != ["next_bd_set_but_disabled"]]
    assert len(named) == 40
    assert {c["id"]: answer(c) for c in named} == {c["id"]: c["fields"] for c in named}


# Steps of a full power of two and iteration wrap 64 fit, stored minus one.
def test_what_the_registers_hold_is_accepted_though_the_driver_is_stricter() -> None:
    rejected = [c for c in cases("differs") if c["driver"] == "rejects"]
    assert len(rejected) == 23
    for case in rejected:
        bd, descriptor = parse_case(case)
        assert decode(descriptor.tile, encode(descriptor, bd)) == descriptor, case["id"]


def test_a_disabled_next_bd_does_not_survive_decoding() -> None:
    (case,) = (c for c in CASES if c.get("fields") == ["next_bd_set_but_disabled"])
    words = [int(word, 16) for word in case["words"]]
    descriptor = decode("memory", words)
    assert descriptor.next is None
    assert encode(descriptor) == (words[0], words[1] & used_bits("memory")[1] & ~(63 << 20), *words[2:])


@pytest.mark.feature("F41")
@pytest.mark.parametrize(
    ("tile", "step_bits", "wrap_bits"), [("compute", 13, 8), ("memory", 17, 10), ("interface", 20, 10)]
)
def test_step_and_wrap_are_checked_against_the_register_widths(
    tile: Any, step_bits: int, wrap_bits: int
) -> None:
    def reasons(step: int, wrap: int) -> list[str]:
        d = Descriptor(tile, 1, DmaAddress(0), dims=(Dim(step, wrap), Dim(step, wrap)))
        return [problem.reason for problem in check(d)]

    assert reasons(1 << step_bits, (1 << wrap_bits) - 1) == []
    assert reasons((1 << step_bits) + 1, (1 << wrap_bits) - 1) == ["step_d0", "step_d1"]
    assert reasons(1 << step_bits, 1 << wrap_bits) == ["wrap_d0", "wrap_d1"]
    assert reasons(0, -1) == ["step_d0", "wrap_d0", "step_d1", "wrap_d1"]


# UG1603: buffer {32, 32, 32, 16} of 32-bit words, stride 8 on dimension 3: a step of 8 * 32 * 32 * 32 = 2^18.
@pytest.mark.feature("F41")
def test_the_step_of_ug1603_fits_the_interface_tile_only() -> None:
    dims = (Dim(1, 32), Dim(32, 32), Dim(8 * 32**3))
    assert check(Descriptor("interface", 2048, DmaAddress(0), dims)) == []
    assert [p.reason for p in check(Descriptor("memory", 2048, DmaAddress(0), dims))] == ["step_d2"]
    assert [p.reason for p in check(Descriptor("compute", 2048, DmaAddress(0), dims))] == ["step_d2"]


def test_windows_keep_addresses_and_locks_of_three_tiles_apart() -> None:
    assert [w.address(7) for w in (WEST, OWN, EAST)] == [7, 0x20007, 0x40007]
    assert [w.lock(5) for w in (WEST, OWN, EAST)] == [5, 69, 133]


def test_a_descriptor_shows_what_was_said_and_nothing_else() -> None:
    d = Descriptor(
        "memory", 8, OWN.address(0), dims=(Dim(4, 2), Dim(1)), acquire=Acquire(OWN.lock(1), -1, True)
    )
    assert repr(d) == (
        "Descriptor(tile='memory', length=8, address=131072, dims=(Dim(step=4, wrap=2),), "
        "acquire=Acquire(id=65, value=-1, enable=True))"
    )
    assert d.but(packet=Packet(3)).packet == (3, 0)
    assert d.but(dims=()) != d
