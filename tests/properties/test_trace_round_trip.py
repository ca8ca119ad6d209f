"""Does every stream of events come back from its trace packets with the same cycle stamps?"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtile.io.trace.decoder import SegmentOrigin, decode
from memtile.testing.trace_encoder import TraceEncoder, encode_trace

MASKS = st.integers(1, 255)
GAPS = st.one_of(
    st.just(0), st.integers(0, 40), st.sampled_from([15, 16, 1023, 1024, 2**18 - 1, 2**18, 2**19 + 3, 10**6])
)
HOLDS = st.one_of(
    st.just(1), st.integers(1, 40), st.sampled_from([2, 15, 16, 17, 18, 1023, 1024, 1025, 2050])
)
STARTS = st.one_of(st.just(0), st.integers(0, 2**40), st.just(2**56 - 10**9))
LEVELS = st.lists(st.tuples(GAPS, MASKS, HOLDS), max_size=30)


def recorded(start, levels):
    """cycle -> mask of a list of (cycles of silence, mask, cycles held)."""
    cycle, found = start + 1, {}
    for gap, mask, held in levels:
        cycle += gap
        found |= dict.fromkeys(range(cycle, cycle + held), mask)
        cycle += held
    return found


def pulses(start, period, times, mask):
    return {start + 1 + n * period: mask for n in range(times)}


def masks(unit):
    return {
        cycle: run.slots
        for segment in unit.segments
        for run in segment.runs
        for cycle in range(run.begin, run.end)
    }


def flat(packets):
    return [word for packet in packets for word in packet]


@pytest.mark.slow
@given(STARTS, LEVELS)
@settings(max_examples=150)
def test_levels_and_pulses_come_back(start, levels):
    given_ = recorded(start, levels)
    trace = decode(flat(encode_trace(given_, start)))
    assert trace.problems == ()
    (unit,) = trace.units
    (segment,) = unit.segments
    assert (segment.origin, segment.start, segment.stopped, segment.exact) == (
        SegmentOrigin.START,
        start,
        True,
        True,
    )
    assert masks(unit) == given_
    assert sorted(unit.events()) == [
        (cycle, slot) for cycle, mask in given_.items() for slot in range(8) if mask >> slot & 1
    ]


@given(st.integers(1, 3000), st.integers(1, 2100), MASKS)
@settings(max_examples=40)
def test_regular_pulses_come_back(period, times, mask):
    given_ = pulses(100, period, times, mask)
    (unit,) = decode(flat(encode_trace(given_, 100))).units
    assert masks(unit) == given_


@given(LEVELS, st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 5000)), max_size=3))
@settings(max_examples=60)
def test_an_overrun_loses_what_it_lost_and_no_more(levels, widths):
    given_, pieces, at = recorded(10, levels), [], 10
    for before, length in widths:
        pieces.append((at + 1 + before, at + 1 + before + length))
        at = pieces[-1][1]
    trace = decode(flat(encode_trace(given_, 10, pieces)))
    (unit,) = trace.units
    kept = {c: m for c, m in given_.items() if not any(first <= c <= last for first, last in pieces)}
    found = masks(unit)
    assert found.items() <= kept.items()
    # Only a repeat that was pending when the overrun began is lost beside it.
    assert all(kept[c] == kept.get(c - 1) or c - 1 not in found for c in kept.keys() - found.keys())
    assert [s.origin for s in unit.segments] == [SegmentOrigin.START, *[SegmentOrigin.OVERRUN] * len(pieces)]
    assert [s.start for s in unit.segments] == [10, *(last for _, last in pieces)]
    assert [p.reason for p in trace.problems] == ["trace_overrun"] * len(pieces)


@given(st.lists(LEVELS, min_size=2, max_size=5), st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_interleaved_units_do_not_disturb_each_other(units, random):
    given_ = {}
    queues = []
    for n, levels in enumerate(units):
        sender = {"column": n % 3, "row": n // 3, "packet_type": n % 4, "stream_id": n}
        given_[tuple(sender.values())] = recorded(7 * n, levels)
        queues.append(encode_trace(given_[tuple(sender.values())], 7 * n, **sender))
    stream = []
    while any(queues):
        queue = random.choice([q for q in queues if q])
        stream += queue.pop(0)
    trace = decode(stream)
    assert trace.problems == ()
    assert {tuple(unit.sender): masks(unit) for unit in trace.units} == given_


@given(LEVELS, st.lists(st.integers(0, 2**30), min_size=1, max_size=20), st.integers(1, 30))
@settings(max_examples=100)
def test_garbage_between_packets_costs_nothing_before_it_and_is_told(levels, noise, place):
    garbage = [word | 1 << 30 for word in noise]  # no header has this bit
    packets = encode_trace(recorded(5, levels), 5, column=3, stream_id=9)
    place = min(place, len(packets))
    trace = decode([*flat(packets[:place]), *garbage, *flat(packets[place:])])
    (clean,), (found,) = decode(flat(packets[:place])).units, trace.units
    assert found.segments[0].runs == clean.segments[0].runs
    assert all(segment.origin is SegmentOrigin.LOSS and not segment.exact for segment in found.segments[1:])
    assert found.packets == len(packets)
    assert trace.problems[0].where == f"trace, word {8 * place}"
    assert trace.problems[0].next_step.startswith(
        f"{len(garbage)} word{'' if len(garbage) == 1 else 's'} skipped"
    )


@given(st.lists(st.integers(0, 2**32 - 1), max_size=60))
@settings(max_examples=200)
def test_any_words_are_decoded_or_reported(words):
    unit = TraceEncoder()
    unit.start(0)
    unit.record(4, 1)
    unit.fill()
    trace = decode([*flat(unit.packets()), *words])
    assert trace.units[0].segments[0].runs
    for item in trace.units:
        for segment in item.segments:
            ends = [segment.start, *(run.end for run in segment.runs)]
            assert ends == sorted(ends)


@given(LEVELS, st.integers(0, 100))
@settings(max_examples=60)
def test_a_cut_stream_gives_what_is_left(levels, cut):
    given_ = recorded(0, levels)
    stream = flat(encode_trace(given_, 0, stream_id=1))
    left = stream[: max(4, len(stream) - cut)]
    trace = decode(left)
    assert masks(trace.units[0]).items() <= given_.items()
    if len(left) % 8 and left[-1]:
        assert trace.problems[0].reason == "trace_packet_cut"
        assert trace.problems[0].where == f"trace, word {len(left) // 8 * 8}"
