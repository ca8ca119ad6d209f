"""Does an explanation say what the descriptor does, and does the picture show it?"""

from __future__ import annotations

import pytest

from memtile.access.drawing import memory_grid, stream_grid
from memtile.bd.codec import encode
from memtile.bd.descriptor import Acquire, Axi, Descriptor, Dim, Iteration, Packet, Pad, Release
from memtile.bd.explain import explain, explain_words
from memtile.bd.windows import EAST, OWN, DmaAddress, DmaLock

TRANSPOSE = Descriptor("memory", 128, OWN.address(0), dims=(Dim(16, 8), Dim(1, 16)))
HALO = Descriptor(
    "memory",
    length=60,
    address=OWN.address(0),
    dims=(Dim(1, 4), Dim(32, 3), Dim(128, 2)),
    pad=(Pad(1, 1), Pad(1, 1)),
)


def said(d: Descriptor, topic: str, bd: int | None = None) -> list[str]:
    return [line.text for line in explain(d, bd).lines if line.topic.startswith(topic)]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-1, "waits until lock 65 (own lock 1) >= 1, then takes 1"),
        (-3, "waits until lock 65 (own lock 1) >= 3, then takes 3"),
        (2, "waits until lock 65 (own lock 1) == 2, then takes 2"),
        (0, "waits until lock 65 (own lock 1) == 0"),
    ],
)
def test_both_kinds_of_acquire(value: int, text: str) -> None:
    assert said(TRANSPOSE.but(acquire=Acquire(OWN.lock(1), value, True)), "acquire") == [text]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "at the end gives 1 to lock 130 (east lock 2)"),
        (-1, "at the end takes 1 from lock 130 (east lock 2) without waiting"),
        (0, "at the end releases no lock"),
    ],
)
def test_release(value: int, text: str) -> None:
    assert said(TRANSPOSE.but(release=Release(EAST.lock(2), value)), "release") == [text]


def test_locks_of_tiles_without_windows_go_by_their_number() -> None:
    d = Descriptor("compute", 8, DmaAddress(4), acquire=Acquire(DmaLock(3), -1, True))
    assert said(d, "acquire") == ["waits until lock 3 >= 1, then takes 1"]
    assert said(d, "transfer") == ["moves 8 words (32 bytes) per execution, from word 4 on, byte 0x10"]
    assert said(Descriptor("compute", 8, DmaAddress(0)), "acquire") == ["starts without waiting for a lock"]


def test_the_order_is_told_loop_by_loop() -> None:
    assert said(TRANSPOSE, "transfer") == [
        "moves 128 words (512 bytes) per execution, from word 131072 (own word 0) on, byte 0x80000"
    ]
    assert said(TRANSPOSE, "order") == ["8 words 16 words apart", "16 rows 1 word apart"]
    assert said(TRANSPOSE.but(length=100), "order")[1] == "16 rows 1 word apart, until the length is used up"
    assert said(TRANSPOSE.but(dims=()), "order") == ["128 words in a row, until the length is used up"]
    assert said(TRANSPOSE.but(length=6), "order") == ["8 words 16 words apart, until the length is used up"]
    assert said(HALO, "order") == ["4 words in a row", "3 rows 32 words apart", "2 planes 128 words apart"]


def test_padding_iteration_and_chain() -> None:
    assert said(HALO, "padding D1") == [
        "1 zero row before, 1 zero row after (MM2S only; the length counts them)"
    ]
    assert said(HALO.but(pad=(Pad(0, 2),)), "padding") == [
        "0 zero words before, 2 zero words after (MM2S only; the length counts them)"
    ]
    assert said(HALO.but(iteration=Iteration(1024, 4, 2)), "iteration") == [
        "each execution starts 1024 words further, 4 positions in turn; next is 2, at word 133120"
    ]
    assert said(HALO.but(iteration=Iteration(7, 1, 0)), "iteration") == [
        "every execution starts at the same address (iteration wrap 1)"
    ]
    assert said(HALO.but(iteration=Iteration(7, 1, 3)), "iteration") == [
        "each execution starts 7 words further, 1 position in turn; next is 3, at word 131093, "
        "beyond them, then 0"
    ]
    assert said(HALO, "iteration") == []
    assert [said(HALO.but(next=n), "chain", 5)[0] for n in (None, 6, 5)] == [
        "then the task ends",
        "then BD 6",
        "then BD 5 again: a task without end",
    ]


def test_what_goes_on_the_stream_and_on_axi() -> None:
    d = HALO.but(packet=Packet(3, 1), ooo_id=9, compression=True, tlast_suppress=True, valid=False)
    assert said(d, "packet") == ["sends a packet header first: id 3, type 1, out-of-order id 9 (MM2S)"]
    assert said(d, "compression") == [
        "compresses (MM2S) or decompresses (S2MM) if the channel is set to do so"
    ]
    assert said(d, "TLAST") == ["the last word carries no TLAST (MM2S)"]
    assert said(d, "valid") == ["Valid_BD is 0: a channel that executes this BD stops with an error"]
    d = Descriptor("interface", 8, DmaAddress(0), axi=Axi(256, qos=1, cache=2, smid=3, secure=True))
    assert said(d, "AXI") == ["bursts of 256 bytes, QoS 1, cache 2, SMID 3, secure"]


# Next_BD 18 with Use_Next_BD off; lock 200 does not exist.
def test_idle_fields_and_illegal_values_are_pointed_out() -> None:
    words = [16, 18 << 20 | 0x20000, 0, 0, 0, 0, 0, 1 << 31 | 1 << 15 | 200]
    explanation = explain_words("memory", words, 0)
    assert ("without effect", "Next_BD holds 18, but Use_Next_BD is 0") in explanation.lines
    assert ("acquire", "waits until lock 200 (beyond every window) == 0") in explanation.lines
    assert [p.reason for p in explanation.problems] == ["acquire_id"]


def test_words_are_explained_as_the_descriptor_they_hold() -> None:
    assert explain_words("memory", encode(HALO), 3) == explain(HALO, 3)


def text(lines: str) -> list[str]:
    return [line.strip() for line in lines.strip().splitlines()]


@pytest.mark.feature("F26")
def test_the_stream_picture_shows_rows_blocks_and_zeros() -> None:
    assert [line.strip() for line in stream_grid(HALO).lines()] == text(
        """
        .   .   .   .   .   .
        .   0   1   2   3   .
        .  32  33  34  35   .
        .  64  65  66  67   .
        .   .   .   .   .   .

        .   .   .   .   .   .
        . 128 129 130 131   .
        . 160 161 162 163   .
        . 192 193 194 195   .
        .   .   .   .   .   .
        """
    )


def test_the_memory_picture_shows_when_a_word_is_touched() -> None:
    d = Descriptor("memory", 6, OWN.address(0), dims=(Dim(8, 3), Dim(2, 2)))
    grid = memory_grid(d)
    assert grid.title == "memory: rows of 8 words, numbers are stream positions, . = not touched"
    assert list(grid.lines()) == ["0 . 3 . . . . .", "1 . 4 . . . . .", "2 . 5 . . . . ."]


def test_what_does_not_fit_a_picture_is_counted() -> None:
    wide = stream_grid(Descriptor("memory", 1000, OWN.address(0), dims=(Dim(1, 40), Dim(100))))
    lines = list(wide.lines())
    assert lines[0].split() == [*(str(n) for n in range(16)), "..."]
    assert lines[-1] == "... 13 more rows"
    tall = list(memory_grid(Descriptor("memory", 16 * 30, OWN.address(0))).lines())
    assert (len(tall), tall[-1]) == (13, "... 18 more rows")


def test_a_descriptor_that_moves_nothing_has_an_empty_picture() -> None:
    nothing = Descriptor("memory", 0, OWN.address(0))
    assert list(stream_grid(nothing).lines()) == list(memory_grid(nothing).lines()) == []
