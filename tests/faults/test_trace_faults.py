"""Does every broken trace file get its message, with the word, and is the rest decoded?"""

from __future__ import annotations

import io

import numpy as np
import pytest

from memtile.errors import InputFileError
from memtile.io.trace.decoder import SegmentOrigin, decode
from memtile.io.trace.trace_packets import read_words
from memtile.testing.trace_encoder import TraceEncoder

FILL = 0b11111110


def packet(*data, start=True):
    """Header and 28 bytes; unless told otherwise a Start frame at cycle 0 comes first."""
    data = [*([0b11110000, *7 * [0]] if start else []), *data]
    data += [FILL] * (28 - len(data))
    header = int(TraceEncoder()._header)
    return [header, *(int.from_bytes(bytes(data[at : at + 4]), "big") for at in range(0, 28, 4))]


def messages(words):
    return [problem.message for problem in decode(words, "t").problems]


PULSE = (0b0000_0001, FILL, FILL, FILL)  # slot 0 after one cycle
FRAMES = "(AM020, trace; frames as decoded by mlir-aie)"
SKIPPED = "The rest of the word is skipped; times after it are lower bounds."


def test_a_byte_that_begins_no_frame():
    words = packet(*PULSE, 0b11110111, 1, 1, 1, *PULSE)
    assert messages(words) == [
        f"t, word 4: no frame of event-time mode begins with byte 0xf7 {FRAMES}. {SKIPPED}"
    ]
    first, second = decode(words).units[0].segments
    assert (first.exact, second.exact, second.origin) == (True, False, SegmentOrigin.LOSS)
    assert [(run.begin, run.slots) for s in (first, second) for run in s.runs] == [(2, 1), (4, 1)]


def test_a_frame_across_words():
    words = packet(FILL, FILL, 0b10100000, 1, 1, FILL, FILL, FILL)
    assert messages(words) == [
        "t, word 3: a Single2 frame of 3 bytes crosses the end of its word, which is 2 bytes away "
        f"{FRAMES}. {SKIPPED}"
    ]


def test_a_start_frame_that_is_cut():
    words = packet(*5 * PULSE, 0b11110000, 0, 0, 0, start=False)[:7]
    assert messages(words)[-1] == (
        f"t, word 6: the trace ends within a Start frame: 4 of its 8 bytes are there {FRAMES}."
    )


def test_a_repeat_of_nothing():
    assert messages(packet(0b1110_0011)) == [
        "t, word 3: a Repeat frame has no frame before it that it could repeat (mlir-aie's decoder). "
        "Times after it are lower bounds."
    ]


def test_frames_without_a_start():
    found = decode(packet(*PULSE, start=False), "t")
    assert [p.message for p in found.problems] == [
        "t, word 1: there are frames with no Start frame before them (mlir-aie's decoder). Times are "
        "counted from 0 on and are lower bounds."
    ]
    (segment,) = found.units[0].segments
    assert (segment.origin, segment.exact, segment.runs[0].begin) == (SegmentOrigin.MIDDLE, False, 2)


def test_event_pc_mode_is_told_once():
    words = [*packet(0, *7 * [0b11110001], start=False), *packet(*PULSE, start=False)]
    words[1] = 0b11110001 << 24
    assert messages(words) == [
        f"t, word 1: trace mode is event-PC; it must be event-time {FRAMES}. Nothing of this unit is "
        "decoded from here on. Set mode 0 in Trace_Control0."
    ]
    assert decode(words).units[0].segments == []


def test_a_stop_frame_with_something_in_it():
    assert messages(packet(0b11011100, 0, 0, 7)) == [
        "t, word 3: a Stop frame has 0x7 in the bits after its opcode, where all known traces have "
        "0x0, see DEV-TRACE-1 (mlir-aie's decoder)."
    ]


def test_a_packet_cut_at_the_end_keeps_its_events():
    found = decode(packet(*PULSE)[:5], "t")
    assert [p.message for p in found.problems] == [
        "t, word 0: the stream ends within a packet: 5 of its 8 words are there (AM020, stream packet "
        "header). A larger trace buffer keeps the rest."
    ]
    assert list(found.units[0].events()) == [(2, 0)]


def test_a_bad_header_is_skipped_with_its_packet():
    good, bad = packet(*PULSE), packet(*PULSE)
    bad[0] ^= 1 << 31
    found = decode([*good, *bad, *good], "t")
    assert [p.message for p in found.problems] == [
        f"t, word 8: the word {bad[0]:#010x} is not a packet header, which has odd parity and 0 in the "
        "bits without a field (AM020, stream packet header). 8 words skipped; times after that are "
        "lower bounds."
    ]
    assert [s.origin for s in found.units[0].segments] == [
        SegmentOrigin.START,
        SegmentOrigin.LOSS,
        SegmentOrigin.START,
    ]
    assert found.packets == 2


def test_zeros_between_packets_are_memory_nobody_wrote():
    words = [*packet(*PULSE), *16 * [0], *packet(0b11011100, 0, 0, 0), *100 * [0]]
    assert [p.reason for p in decode(words).problems] == ["trace_overrun"]


@pytest.mark.parametrize(
    ("words", "given"), [([], "0 words, none"), ([0] * 9, "9 words, none"), ([5], "1 word, 1")]
)
def test_no_packet_at_all(words, given):
    with pytest.raises(InputFileError) as caught:
        decode(words, "t")
    assert str(caught.value) == (
        f"t: nothing was traced: in {given} of them not 0, there is no trace packet (mlir-aie's "
        "decoder). Check the start event, the route of the packets and the trace buffer."
    )


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


WORDS = np.array([0x220001, 0xF0000000, 0xFFFFFFFF], dtype=np.uint32)


@pytest.mark.parametrize(
    "data",
    [
        b"00220001\nf0000000\nffffffff\n",
        b"0x220001 0xF0000000\r\n\r\nFFFFFFFF",
        WORDS.tobytes(),
        npy(WORDS),
        npy(WORDS.view(np.int32).reshape(3, 1)),
    ],
)
def test_formats_are_told_apart(data):
    assert read_words(data, "t").tolist() == WORDS.tolist()
    assert read_words(data, "t").dtype == np.uint32


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            b"1\nxyz\n\n123456789",
            (
                "t, line 2: word is 'xyz'; it must be one to eight hexadecimal digits (trace file "
                "conventions of mlir-aie).\n"
                "t, line 4: word is '123456789'; it must be one to eight hexadecimal digits (trace file "
                "conventions of mlir-aie)."
            ),
        ),
        (
            b"\0\0\0\0\0",
            (
                "t: the file has 5 bytes; it must have whole words of 4 bytes (trace file conventions "
                "of mlir-aie)."
            ),
        ),
        (
            npy(np.zeros(3)),
            (
                "t: the array is of float64; it must be of uint32 or int32 (trace file conventions of "
                "mlir-aie)."
            ),
        ),
    ],
)
def test_files_that_are_no_words(data, message):
    with pytest.raises(InputFileError) as caught:
        read_words(data, "t")
    assert str(caught.value) == message


def test_a_broken_numpy_array():
    with pytest.raises(InputFileError, match=r"^t: the file is not a NumPy file of numbers: "):
        read_words(npy(WORDS)[:40], "t")
