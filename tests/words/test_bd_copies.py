"""Is a copy of a descriptor with changes the one that its constructor makes of them?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest

from memtile import Descriptor
from memtile.bd.copies import with_changes
from memtile.bd.descriptor import Acquire, Axi, Iteration, Packet, Release
from memtile.bd.windows import OWN
from memtile.errors import DescriptorError

FULL = Descriptor(
    "memory",
    64,
    OWN.address(4),
    dims=((2, 8), (1, 4)),
    pad=((1, 1),),
    iteration=(8, 2),
    acquire=(70, -1, True),
    packet=(3, 1),
)
CHANGES: tuple[dict[str, Any], ...] = (
    {"next": 5},
    {"length": 32, "address": OWN.address(8)},
    {"acquire": (65, -2, True), "release": (66, 1)},
    {"acquire": Acquire(), "release": Release()},
    {"iteration": (4, 3, 1), "packet": None, "axi": (128,)},
    {"packet": (1, 2)},
    {"dims": ((2, 8), (1, 0)), "pad": ((0, 0),), "next": 1},
    {"tile": "compute", "pad": ()},
    {},
)


@pytest.mark.parametrize("changes", CHANGES, ids=lambda changes: ",".join(changes) or "none")
def test_changes_are_held_as_the_constructor_holds_them(changes: dict[str, Any]) -> None:
    made = FULL.but(**changes)
    assert made == replace(FULL, **changes)
    assert repr(made) == repr(replace(FULL, **changes))
    assert hash(made) == hash(replace(FULL, **changes))
    held = (made.iteration, made.acquire, made.release, made.axi)
    assert [type(each) for each in held] == [Iteration, Acquire, Release, Axi]
    assert made.packet is None or type(made.packet) is Packet


def test_what_a_descriptor_lacks_and_a_tile_that_is_none_are_refused() -> None:
    with pytest.raises(TypeError, match="Descriptor has no attribute lock, wrap"):
        FULL.but(wrap=1, next=2, lock=3)
    with pytest.raises(DescriptorError, match="tile"):
        FULL.but(tile="none")


@dataclass(frozen=True)
class Other:
    """A dataclass without slots."""

    one: int
    two: int = 2


def test_any_dataclass_is_copied_and_the_first_one_stays() -> None:
    first = Other(1)
    assert with_changes(first, two=5) == Other(1, 5)
    assert first == Other(1, 2)
