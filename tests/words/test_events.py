"""Are event numbers, groups and the bits of the group registers those of the driver and of AM025?"""

from __future__ import annotations

import re

import pytest

from memtile.arch.events import BROADCAST_CHANNELS, EVENT_UNITS, EVENTS, GROUPS, NO_EVENT, PORT_SELECTORS
from memtile.arch.register_map import register_map, register_named
from support.formats.oracle_files import load

ORACLE = load("events")
MODULES = {
    "memory_tile": "memory_tile",
    "memory": "memory",
    "pl": "interface",
    "core": "core",
}  # ours: theirs

# Where AM025 names a group's bit otherwise than the driver names the event.
SYNONYMS = {
    "-": "RESERVED",
    "AXI_MM_SLAVE_TILE_ERROR": "AXI_MM_SLAVE_ERROR",
    "DEBUG_HALTED": "DEBUG",
    "DISABLED": "DISABLE",
    "INSTR_DECOMPRSN_ERROR": "INSTRUCTION_DECOMPRESSION_ERROR",
    "INT_FP_0": "INT_FP_ZERO",
    "STREAM_PKT_ERROR": "STREAM_PKT_PARITY_ERROR",
    "STREAM_SWITCH_PARITY_ERROR": "STREAM_SWITCH_PORT_PARITY_ERROR",
}
SPELLINGS = (
    (r"PERF_CNT_?(\d)(_EVENT)?", r"PERF_CNT\1"),
    (r"STALLED_LOCK_ACQUIRE", "STALLED_LOCK"),
    (r"LOCK_(SEL)?(\d)", r"LOCK\2"),
    (r"BROADCAST_(A_)?(\d+)", r"BROADCAST\2"),
)


def plain(name: str) -> str:
    name = SYNONYMS.get(name.upper(), name.upper())
    for pattern, replacement in SPELLINGS:
        name = re.sub(pattern, replacement, name)
    return name


def crossed_bits(module: str) -> dict[str, list[int]]:
    """Group -> bits whose AM025 name is not that of the event they gate."""
    crossed = {}
    for group in GROUPS[module]:
        bits = reversed(register_map(module)[group.register].fields)
        pairs = zip(bits, group.members, strict=True)
        wrong = [n for n, (bit, event) in enumerate(pairs) if plain(bit.name) != plain(event)]
        if wrong:
            crossed[group.name] = wrong
    return crossed


def test_modules_with_events():
    assert set(EVENTS) == set(GROUPS) == set(EVENT_UNITS) == set(MODULES)
    assert set(ORACLE["modules"]) == set(ORACLE["groups"]) == set(MODULES.values())


@pytest.mark.parametrize("module", MODULES)
def test_every_event_has_the_drivers_number(module):
    assert dict(EVENTS[module]) == ORACLE["modules"][MODULES[module]]


@pytest.mark.parametrize("module", MODULES)
def test_groups_are_the_drivers(module):
    ours = [
        {"event": g.event, "name": g.name, "register": g.register, "mask": g.mask, "reset": g.mask}
        for g in GROUPS[module]
    ]
    assert ours == ORACLE["groups"][MODULES[module]]


@pytest.mark.parametrize("module", MODULES)
def test_members_follow_their_group(module):
    events = EVENTS[module]
    for group in GROUPS[module]:
        assert events[group.name] == group.event
        for bit, name in enumerate(group.members):
            expected = None if name == NO_EVENT else group.first + bit
            assert events.get(name) == expected


@pytest.mark.parametrize("module", MODULES)
def test_numbers_are_unique_and_fit(module):
    numbers = list(EVENTS[module].values())
    assert len(numbers) == len(set(numbers))
    assert max(numbers) < 1 << EVENT_UNITS[module].number_bits
    assert register_named(module, "Event_Generate").fields[0].maximum >= max(numbers)


@pytest.mark.parametrize("module", MODULES)
def test_every_event_has_a_status_bit(module):
    status = [name for name in (r.name for r in register_map(module).values()) if "Event_Status" in name]
    assert len(status) == EVENT_UNITS[module].status_words
    assert max(EVENTS[module].values()) < 32 * len(status)


@pytest.mark.parametrize(
    ("module", "crossed"),
    [
        ("memory_tile", {}),
        ("memory", {"GROUP_DMA_ACTIVITY": [18, 19, 20, 21]}),  # DEV-EVT-1
        ("pl", {"GROUP_DMA_ACTIVITY": [18, 19, 20, 21]}),  # DEV-EVT-2
        ("core", {"GROUP_STALL": [7, 8]}),  # DEV-EVT-3
    ],
)
def test_group_bits_are_named_after_their_events(module, crossed):
    assert crossed_bits(module) == crossed


@pytest.mark.parametrize(
    ("module", "infix"), [("memory_tile", ""), ("memory", ""), ("pl", "A_"), ("core", "")]
)
def test_broadcast_and_port_events_are_complete(module, infix):
    events = EVENTS[module]
    first = events[f"BROADCAST_{infix}0"]
    assert [events[f"BROADCAST_{infix}{n}"] - first for n in range(BROADCAST_CHANNELS)] == list(range(16))
    if module != "memory":
        ports = [events[f"PORT_RUNNING_{n}"] for n in range(PORT_SELECTORS)]
        assert ports == [ports[0] + 4 * n for n in range(8)]
