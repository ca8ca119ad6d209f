"""Do traces recorded on silicon decode to the published stamps, and do these events give their words?"""

from __future__ import annotations

import pytest

from memtile.io.trace.decoder import Run, decode
from memtile.testing.trace_encoder import TraceEncoder, encode_trace
from support.formats.oracle_files import load

CAPTURES = load("trace_captures")
MODULES = ("core", "memory")


def words(module):
    return [int(word, 16) for word in CAPTURES[module]["words"]]


def trace(module):
    found = decode(words(module), module)
    assert found.problems == ()
    return found.units[0]


def intervals(module):
    """slot -> [begin, end) after the start cycle."""
    found: dict[int, list[list[int]]] = {}
    for item in trace(module).intervals():
        start = CAPTURES[module]["start"]
        found.setdefault(item.slot, []).append([item.begin - start, item.end - start])
    return found


def masks(unit):
    runs = [run for segment in unit.segments for run in segment.runs]
    return {cycle: run.slots for run in runs for cycle in range(run.begin, run.end)}


@pytest.mark.parametrize("module", MODULES)
def test_stamps_are_the_published_ones(module):
    found = intervals(module)
    for slot, published in CAPTURES[module]["intervals"].items():
        mine = found[int(slot)]
        still = CAPTURES[module].get("open", {}).get(slot)
        assert mine[: len(published)] == published
        assert [begin for begin, _ in mine[len(published) :]] == ([still] if still else [])
    assert trace(module).segments[0].start == CAPTURES[module]["start"]


def test_pulses_in_repeat_frames_are_the_published_ones():
    begins = [begin for begin, _ in intervals("core")[2]]
    summary = CAPTURES["core"]["vector_begins"]
    assert (len(begins), begins[0], begins[-1]) == (summary["count"], summary["first"], summary["last"])


def test_the_same_events_give_the_captured_words_bit_for_bit():
    unit = trace("core")
    packets = encode_trace(masks(unit), unit.segments[0].start, **unit.sender._asdict())
    assert [word for packet in packets for word in packet] == words("core")


def test_a_trace_that_is_not_stopped_ends_in_fillers():
    unit = trace("memory")
    encoder = TraceEncoder(**unit.sender._asdict())
    encoder.start(unit.segments[0].start)
    for cycle, slots in masks(unit).items():
        encoder.record(cycle, slots)
    encoder.fill()
    assert [word for packet in encoder.packets() for word in packet] == words("memory")
    assert not unit.segments[0].stopped


def test_dev_trace_1_four_bytes_dc_stand_at_the_end_of_the_capture_only():
    """DEV-TRACE-1: a Stop frame, 0 in its other bits."""
    assert trace("core").segments[0].stopped
    assert [word for word in words("core") if word >> 26 == 0b110111] == [0b110111 << 26]


def unit_of(*frames):
    """Decoded payload bytes after a Start frame at cycle 10."""
    data = bytes([0b11110000, 0, 0, 0, 0, 0, 0, 10]) + b"".join(frames)
    data += bytes([0b11111110]) * (28 - len(data))
    header = TraceEncoder()._header
    return decode([header, *(int.from_bytes(data[at : at + 4], "big") for at in range(0, 28, 4))])


def test_dev_trace_2_a_start_without_stop_tells_an_overrun():
    """DEV-TRACE-2."""
    again = bytes([0b11110000, 0, 0, 0, 0, 0, 1, 0])
    found = unit_of(bytes([0b0001_0000, *3 * [0b11111110]]), again, bytes([0]))
    assert [p.message for p in found.problems] == [
        "trace, word 4: events were lost between cycles 11 and 256 (mlir-aie's decoder). Trace fewer "
        "events, or give the packets a faster route."
    ]
    assert [s.runs for s in found.units[0].segments] == [[Run(11, 1, 2)], [Run(257, 1, 1)]]


def test_dev_trace_3_a_sync_frame_is_two_to_the_18_cycles():
    """DEV-TRACE-3."""
    (segment,) = unit_of(bytes([0b1111_1111, 0b0001_0010])).units[0].segments
    assert segment.runs == [Run(10 + 2**18 + 1 + 2, 1, 2)]


def test_dev_trace_4_repeats_repeat_every_event_of_a_frame():
    """DEV-TRACE-4: events 0 and 1 every third cycle."""
    (segment,) = unit_of(bytes([0b1100_0000, 0b0011_0010, 0b1110_0010])).units[0].segments
    assert segment.runs == [Run(13, 1, 3), Run(16, 1, 3), Run(19, 1, 3)]
