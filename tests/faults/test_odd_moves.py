"""Does a check, or a run with wrong words, name the offset, stride or next descriptor that is off?"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest

from memtile import Array, Host, HostAction, view
from memtile.check.check import check
from memtile.check.checked_program import of_mlir
from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.moves import Move, move_findings
from memtile.explain.oddities import Oddities, instead_of_waits
from memtile.importers.design import load, load_still
from memtile.importers.mlir.token_packets import Text

ODD = frozenset(("MT0125", "MT0123", "MT0124"))
ROWS = Move(
    who="memory(0,1) MM2S 0",
    number=0,
    memory="buffer 'a'",
    key=0,
    elements=64,
    rows=(8, 1),
    offset=0,
    sizes=(8, 2),
    strides=(8, 1),
    writes=False,
    place="a.mlir:1:1",
)


def columns(count: int = 4) -> list[Move]:
    """Moves of two columns each, which share a matrix of eight rows of eight."""
    return [replace(ROWS, number=n, offset=2 * n, place=f"a.mlir:{n + 1}:1") for n in range(count)]


def runs(*offsets: int, size: int = 16, elements: int = 64, loose: bool = False) -> list[Move]:
    """Moves of elements one after the other."""
    made = replace(ROWS, sizes=(size,), strides=(1,), elements=elements, loose=loose)
    return [replace(made, number=n, offset=each) for n, each in enumerate(offsets)]


def test_a_move_of_nothing_is_left_out() -> None:
    assert said([replace(ROWS, sizes=(0,), strides=(1,))]) == []
    assert said([*columns(), replace(ROWS, number=4, length=0)]) == said(columns())


def said(moves: Sequence[Move]) -> list[tuple[str, str]]:
    return [(each.code, each.fix) for each in move_findings(moves)]


@pytest.mark.parametrize(
    "moves",
    [
        columns(),
        columns(3),
        runs(0, 16, 32, 48),
        runs(0, 16, 32),
        runs(16, 32, 48),
        runs(0, 14, 28),  # each needs two of the one before
        runs(0, 32),  # every other one
        runs(0, 8, 64, size=8, elements=128),
        runs(0, 16, size=32, elements=48),
        runs(0, 0, 16, 16, elements=32),
        runs(0, 12),  # two that need a border
        runs(0, 20, elements=48),  # two with a gap, in more than they fill
        runs(0, 8, 28),  # three of them
        runs(0, 16, 32, 48, 20),  # one more than there is room for
        [*runs(0, 16), *runs(32, size=8), *runs(48)],  # of which one is too short
        [replace(ROWS, sizes=(4, 64), strides=(0, 1))],  # four times
        runs(64, elements=64, loose=True),  # of an array that is larger than its type
        runs(0, 2, 4, 6, 10, 12, 14, size=2, elements=8, loose=True),  # of one of which a part is left out
        [replace(ROWS, elements=-1, offset=4)],
        runs(0, 16, 1 << 70),  # numbers that no array has
        [replace(ROWS, strides=(1 << 70, 1))],
        [replace(ROWS, sizes=(1, 64), strides=(1 << 70, 1))],
    ],
)
def test_ways_to_share_a_memory_that_are_meant(moves: list[Move]) -> None:
    assert not said(moves)


def test_the_offset_of_one_of_several_moves() -> None:
    assert said(runs(0, 20, 32, 48)) == [("MT0123", "Give it offset 16.")]
    assert said(runs(4, 16, 32, 48)) == [("MT0123", "Give it offset 0.")]
    assert said(runs(0, 16, 36)) == [("MT0123", "Give it offset 32.")]
    assert said(runs(16, 36, 48)) == [("MT0123", "Give it offset 32.")]
    (found,) = move_findings(runs(0, 20, 32, 48))
    assert found.message == (
        "BD 1 of memory(0,1) MM2S 0 (line 1) reads buffer 'a' with offset 20: with 16 it would touch the "
        "elements that the other 3 that do so leave out, and no others."
    )


WHOLE = replace(ROWS, who="memory(0,1) S2MM 0", writes=True, sizes=(64,), strides=(1,))
"""What fills all of a memory."""


def test_moves_that_are_all_too_near_or_too_far_apart() -> None:
    assert said([WHOLE, *runs(0, 8, 16, 24)]) == [("MT0123", "Let their offsets be 16 apart.")]
    halves = [replace(WHOLE, sizes=(32,), offset=each) for each in (32, 0)]
    assert said([*runs(0, 8, 16, 24), *halves]) == [("MT0123", "Let their offsets be 16 apart.")]
    assert said(runs(0, 32, 64, elements=48)) == [("MT0123", "Let their offsets be 16 apart.")]
    (found,) = move_findings([WHOLE, *runs(0, 8, 16, 24)])
    assert found.message == (
        "BD 0 of memory(0,1) MM2S 0 (line 1) reads buffer 'a', and 3 more read it 8 elements apart: each "
        "moves 16, and with 16 each element would be moved once."
    )


@pytest.mark.parametrize(
    "moves",
    [
        runs(0, 16, 32, size=16, elements=48),
        runs(0, 8, 16, size=16, elements=32),  # windows that overlap, up to the end
        [WHOLE, *runs(0, 8, 16)],  # in more than they would fill
        runs(8, 16, 24, size=16, elements=48),
        runs(0, 8, size=16, elements=32),  # two that need a border
        runs(0, 8, 16, 24),  # in a memory of which nobody knows who fills it
        [replace(WHOLE, sizes=(52,)), *runs(0, 12, 24, 36)],  # of all that was written
        [replace(WHOLE, loose=True), *runs(0, 8, 16, 24, loose=True)],  # of an array that has one use more
        runs(0, 32, 64, elements=48, loose=True),  # which may be larger than its type
        [WHOLE, *runs(0, 16, 16, 16)],
        [WHOLE, *runs(0, 0, 0, 0)],
        [WHOLE, *runs(0, -8, -16, -24)],
        [WHOLE, *runs(0, 8, 16), *runs(24, size=8)],  # of which one is shorter
    ],
)
def test_moves_may_overlap(moves: list[Move]) -> None:
    assert not any("apart" in fix for _, fix in said(moves))


def test_a_move_that_is_made_twice_where_another_one_is_missing() -> None:
    assert said(runs(0, 16, 16, 48)) == [("MT0123", "Give it offset 32.")]
    assert said(runs(0, 0, 32, 48)) == [("MT0123", "Give it offset 16.")]
    assert said(runs(0, 16, 16)) == said(runs(0, 16, 48, 16)) == said(runs(0, 0, 16, 16)) == []


def seconds_for(count: int) -> float:
    """Processor time to look at so many moves of one array, of which none is made twice."""
    moves = [replace(each, writes=True) for each in runs(*range(count), elements=count, loose=True)]
    times = []
    for _ in range(3):
        began = time.process_time()
        [*move_findings(moves)]
        times.append(time.process_time() - began)
    return min(times)


def test_many_moves_of_an_array_are_looked_at_in_time_that_grows_with_them() -> None:
    assert seconds_for(4000) < 10 * seconds_for(1000)  # 16 and more if each looks at each


def test_the_stride_of_one_of_several_moves() -> None:
    moves = [replace(each, rows=(1,)) for each in columns()]  # as a memory of one dimension has it
    moves[2] = replace(moves[2], strides=(12, 1))
    assert said(moves) == [("MT0123", "Give it stride 8.")]
    (found,) = move_findings(moves)
    assert found.sides[0].place == "a.mlir:3:1"


def test_a_move_as_long_as_its_array_lies_in_it() -> None:
    assert said(runs(20, elements=16, loose=True)) == [("MT0123", "Give it offset 0.")]
    written_too = [replace(each, writes=True) for each in runs(0, elements=16, loose=True)]
    assert said([*runs(20, elements=16, loose=True), *written_too]) == []


def test_a_move_that_ends_beyond_its_memory() -> None:
    assert said(runs(4, size=64)) == [("MT0123", "Give it offset 0.")]
    assert said([replace(ROWS, sizes=(8, 8), strides=(12, 1))]) == [("MT0123", "Give it stride 8.")]
    assert said(runs(64)) == [("MT0123", "Give it offset 0.")]
    (found,) = move_findings(runs(0, size=66))
    assert (found.code, found.message) == (
        "MT0125",
        "BD 0 of memory(0,1) MM2S 0 (line 1) reads elements 0 to 65 of buffer 'a', which has 64.",
    )
    assert found.fix == "Check its offset (0), sizes and strides: it ends 2 elements beyond buffer 'a'."


@pytest.mark.parametrize(
    ("stride", "fix"),
    [(17, ["Give it stride 16."]), (33, ["Give it stride 32."]), (16, []), (24, []), (18, []), (15, [])],
)
def test_a_stride_that_misses_the_rows_of_its_memory(stride: int, fix: list[str]) -> None:
    part = replace(ROWS, elements=256, rows=(16, 1), sizes=(3, 2), strides=(stride, 1))
    part = replace(part, sizes=(3, 15)) if stride == 15 else part  # its own rows are so long
    found = [each for each in move_findings([part]) if each.code == "MT0129"]
    assert [each.fix for each in found] == fix
    assert all(f"with stride {stride}: rows of buffer 'a' have 16, so" in each.message for each in found)
    assert not [*move_findings([replace(part, rows=(1,))])]  # an array without rows


def test_races_of_a_channel_whose_moves_are_off_are_left_out_where_words_are_wrong() -> None:
    off = Finding("MT0123", Severity.WARNING, "off", (Side("memory(0,1) MM2S 0", "reads"),))
    mine, others = (
        Finding("MT0202", Severity.ERROR, who, (Side("memory(0,1) S2MM 2, BD 1", ""), Side(who, "")))
        for who in ("memory(0,1) MM2S 0, BD 3", "memory(0,1) MM2S 1, BD 3")
    )
    wrong = Finding("MT0405", Severity.ERROR, "wrong words")
    found = Oddities((), (off,)).before((mine, others, wrong), finished=True)
    assert found == (replace(off, severity=Severity.ERROR), others, wrong)
    assert Oddities((), (off,)).before((mine, others), finished=True) == (off, mine, others)


def test_moves_in_both_directions_are_told_apart() -> None:
    there = [replace(each, writes=True) for each in runs(0, 16, 32, 48)]
    assert not said([*runs(0, 16, 32, 48), *there])
    assert said([*runs(0, 16, 32, 48), *there[:3], replace(there[3], offset=44)]) == [
        ("MT0123", "Give it offset 48.")
    ]


TEXT = """\
module {{
  aie.device(npu1) {{
    %host = aie.tile(0, 0)
    %tile = aie.tile(0, 1)
    %free = aie.lock(%tile, 0) {{init = 2 : i32, sym_name = "free"}}
    %full = aie.lock(%tile, 1) {{init = 0 : i32, sym_name = "full"}}
    %a = aie.buffer(%tile) {{sym_name = "a"}} : memref<16xi32>
    %b = aie.buffer(%tile) {{sym_name = "b"}} : memref<16xi32>
    %c = aie.buffer(%tile) {{sym_name = "c"}} : memref<16xi32>
    aie.flow(%host, DMA : 0, %tile, DMA : 0)
    aie.flow(%tile, DMA : 0, %host, DMA : 0)
    aie.shim_dma_allocation @in(%host, MM2S, 0)
    aie.shim_dma_allocation @out(%host, S2MM, 0)
    %dma = aie.memtile_dma(%tile) {{
      %0 = aie.dma_start(S2MM, 0, ^w0, ^next)
    ^w0:
      aie.use_lock(%free, AcquireGreaterEqual, 1)
      aie.dma_bd(%{buffer} : memref<16xi32>, {a}, 16)
      aie.use_lock(%full, Release, 1)
      aie.next_bd ^{w0}
    ^w1:
      aie.use_lock(%free, AcquireGreaterEqual, 1)
      aie.dma_bd(%b : memref<16xi32>, 0, {length})
      aie.use_lock(%full, Release, 1)
      aie.next_bd ^{w1}
    ^next:
      %1 = aie.dma_start(MM2S, 0, ^r0, ^end)
    ^r0:
      aie.use_lock(%full, AcquireGreaterEqual, 1)
      aie.dma_bd(%a : memref<16xi32>, 0, 16)
      aie.use_lock(%free, Release, 1)
      aie.next_bd ^r1
    ^r1:
      aie.use_lock(%full, AcquireGreaterEqual, 1)
      aie.dma_bd(%b : memref<16xi32>, 0, 16)
      aie.use_lock(%free, Release, 1)
      aie.next_bd ^r0
    ^end:
      aie.end
    }}
    aie.runtime_sequence(%x : memref<64xi32>, %y : memref<64xi32>) {{
      aiex.npu.dma_memcpy_nd(%y[0, 0, 0, {y}][1, 1, 1, {many}][0, 0, 0, 1]) {{id = 0 : i64, metadata = @out, issue_token = true}} : memref<64xi32>
      aiex.npu.dma_memcpy_nd(%x[0, 0, 0, {x}][1, 1, {rows}, 16][0, 0, {step}, 1]) {{id = 1 : i64, metadata = @in}} : memref<64xi32>
      aiex.npu.dma_wait {{symbol = @out}}
    }}
  }}
}}
"""  # noqa: E501
LINES = {"y": 42, "x": 43, "step": 43, "a": 18, "w0": 20, "w1": 25}
GOOD: dict[str, int | str] = {"y": 0, "x": 0, "step": 16, "a": 0, "length": 16, "buffer": "a"}
GOOD |= {"w0": "w1", "w1": "w0", "many": 64, "rows": 4}
WORDS = np.arange(1, 65, dtype=np.int32)
ROOM = np.zeros(128, np.int32)  # more than the text says, as hosts may pass it


def written(**changes: int | str) -> str:
    return TEXT.format(**{**GOOD, **changes})


def checked(text: str) -> list[Finding]:
    return [*check("odd.mlir", lambda: of_mlir(load_still(Text("odd.mlir", text)))).findings]


def run(text: str, expected: bool = True) -> list[Finding]:
    arrays = np.concatenate([WORDS, WORDS]), ROOM.copy()
    done = load(Text("odd.mlir", text)).run(*arrays, check=True)
    wanted = np.concatenate([WORDS, ROOM[64:]])
    return [*(done.against({"1": wanted}) if expected else done).result.findings]


CHANGES: list[dict[str, int | str]] = [{"x": 4}, {"y": 4}, {"step": 20}, {"a": 4}, {"w0": "w0"}, {"w1": "w1"}]


def test_a_good_design_has_no_oddity() -> None:
    assert ODD.isdisjoint({each.code for each in (*checked(written()), *run(written()))})


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_a_check_warns_of_the_line(change: dict[str, int | str]) -> None:
    (found,) = (each for each in checked(written(**change)) if each.code in ODD)
    line = LINES[next(iter(change))] - 2 * (found.code == "MT0124")
    assert found.severity is Severity.WARNING
    assert found.sides[0].place.startswith(f"odd.mlir:{line}:")


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_a_run_with_wrong_words_names_the_line_first(change: dict[str, int | str]) -> None:
    first = run(written(**change))[0]
    line = LINES[next(iter(change))] - 2 * (first.code == "MT0124")
    assert first.code in ODD
    assert first.severity is Severity.ERROR
    assert first.sides[0].place.startswith(f"odd.mlir:{line}:")


def test_a_channel_that_reads_beyond_its_memory_has_no_races_beside_wrong_words() -> None:
    name = "memory(0,1) MM2S 4"
    beyond = Finding("MT0125", Severity.WARNING, "beyond", (Side(name, ""),))
    race, wrong = (
        Finding(code, Severity.ERROR, code, (Side(who, ""),))
        for code, who in (("MT0201", f"{name}, BD 5"), ("MT0405", "back"))
    )
    odd = Oddities(chained=[beyond])
    assert odd.before((race, wrong), finished=True) == (beyond, wrong)
    assert race in odd.before((race,), finished=True)


def test_a_run_without_expected_words_has_the_warning_last() -> None:
    last = run(written(x=4), expected=False)[-1]
    assert (last.code, last.severity) == ("MT0123", Severity.WARNING)


def test_words_that_come_out_right_disprove_an_oddity() -> None:
    done = load(Text("odd.mlir", written(x=4))).run(np.concatenate([WORDS, WORDS]), ROOM.copy())
    wanted = np.concatenate([WORDS[4:], WORDS[:4], ROOM[64:]])
    assert not done.against({"1": wanted}).result.findings


def test_a_descriptor_that_is_followed_by_itself() -> None:
    (found,) = (each for each in checked(written(w0="w0")) if each.code == "MT0124")
    assert found.message == (
        "memory(0,1) S2MM 0: BD 0 is followed by itself (aie.next_bd) at line 18, and nothing leads to "
        "the BD of line 23."
    )
    assert found.fix == "Let it be followed by the BD of line 23."
    (found,) = (each for each in checked(written(w1="w1")) if each.code == "MT0124")
    assert "the BD of line 18 is never run again" in found.message


def test_a_descriptor_with_the_wrong_buffer_is_why_words_are_unwritten() -> None:
    first = run(written(buffer="b"))[0]
    assert first.code == "MT0209"
    assert first.message == (
        "memory(0,1) S2MM 0, BD 0 writes buffer 'b', as another BD of its chain does, but memory(0,1) MM2S "
        "0, BD 2, which waits for it by lock 1 'full' of tile (0, 1), reads buffer 'a', which nothing has "
        "written."
    )
    assert first.fix == "Let BD 0 of memory(0,1) S2MM 0 use buffer 'a'."
    assert first.sides[0].place == "BD 0, odd.mlir:18:7"


def test_where_nobody_else_uses_either_buffer_both_are_named() -> None:
    first = run(written(buffer="c"))[0]
    assert first.code == "MT0203"
    assert first.message == (
        "memory(0,1) S2MM 0, BD 0 writes buffer 'c', but memory(0,1) MM2S 0, BD 2, which waits for it by "
        "lock 1 'full' of tile (0, 1), reads buffer 'a', which nothing has written."
    )
    assert first.fix == "Let both use the same buffer; one of these two has the wrong one."


def test_a_descriptor_that_writes_a_part_is_why_words_are_unwritten() -> None:
    first = run(written(length=8))[0]
    assert first.code == "MT0203"
    assert first.message == (
        "memory(0,1) S2MM 0, BD 1 (line 23), writes 8 of the 16 words of buffer 'b', and memory(0,1) MM2S 0, "
        "BD 3 (line 35), reads words 8 to 15 of buffer 'b', which nothing ever writes."
    )
    assert first.fix == "Let BD 1 of memory(0,1) S2MM 0 write them too, or do not read them."


def halves(second: str) -> str:
    """The design with two descriptors that write a buffer which one reads whole; the second moves this."""
    text = written()
    writers, readers = text.split("    ^next:")
    writers = writers.replace('"a"} : memref<16xi32>', '"a"} : memref<32xi32>')
    writers = writers.replace("%a : memref<16xi32>", "%a : memref<32xi32>")
    writers = writers.replace("%b : memref<16xi32>, 0, 16", second)
    left = readers.index("    ^r1:"), readers.index("    ^end:")
    readers = readers[: left[0]] + readers[left[1] :]
    readers = readers.replace("Equal, 1)", "Equal, 2)").replace("Release, 1)", "Release, 2)")
    readers = readers.replace("%a : memref<16xi32>, 0, 16", "%a : memref<32xi32>, 0, 32")
    return f"{writers}    ^next:{readers.replace('^r1', '^r0')}"


def test_one_of_two_that_write_for_a_reader_has_another_buffer() -> None:
    fine = [each for each in run(halves("%a : memref<32xi32>, 16, 16")) if each.severity is not Severity.NOTE]
    assert fine == []
    first = run(halves("%c : memref<16xi32>, 0, 16"))[0]
    assert (first.code, first.severity) == ("MT0209", Severity.WARNING)  # there is no race
    assert first.message == (
        "memory(0,1) S2MM 0, BD 1 writes buffer 'c', but memory(0,1) MM2S 0, BD 2, which waits for it by "
        "lock 1 'full' of tile (0, 1), reads buffer 'a', which nothing has written."
    )
    assert first.fix == "Let BD 1 of memory(0,1) S2MM 0 use buffer 'a'."


def test_wrong_words_of_a_known_cause_are_a_note() -> None:
    (words,) = (each for each in run(written(x=4)) if each.code.startswith("MT04"))
    assert words.severity is Severity.NOTE
    pair = run(written(buffer="c"))[0]
    traced = replace(words, severity=Severity.ERROR, sides=(pair.sides[0], *words.sides))
    assert Oddities().causes_first((pair, traced))[1].severity is Severity.NOTE
    assert Oddities().causes_first((replace(pair, sides=pair.sides[:1]), traced))[1] is traced


def test_a_length_that_does_not_divide_what_is_sent_is_named() -> None:
    """The words of a descriptor that is cut short by the end of the stream are nobody's walk."""
    first = run(written(length=12))[0]
    assert (first.code, first.sides[0].place) == ("MT0323", "BD 1, odd.mlir:23:7")
    assert first.fix == "Give BD 1 a length of 16 words."


def test_a_length_is_why_words_are_unwritten() -> None:
    done = load(Text("odd.mlir", written(length=8, rows=3))).run(WORDS, ROOM[:64].copy(), check=True)
    first = done.result.findings[0]
    assert (first.code, first.fix) == ("MT0323", "Give BD 1 a length of 16 words.")


def test_what_comes_once_alone_may_move_something_else() -> None:
    other = written(w1="w1").replace("^w1:\n      aie.use_lock(%free", "^w1:\n      aie.use_lock(%full")
    assert "MT0124" in {each.code for each in checked(other)}  # as long as the one before
    once = other.replace("aie.dma_bd(%b : memref<16xi32>, 0, 16)", "aie.dma_bd(%b : memref<16xi32>, 0, 8)")
    assert "MT0124" not in {each.code for each in checked(once)}


def test_who_waits_for_a_descriptor_that_is_followed_by_itself_is_not_named() -> None:
    stays, far = Finding("MT0124", Severity.WARNING, "stays"), Finding("MT0123", Severity.WARNING, "far")
    waits, other = Finding("MT0302", Severity.ERROR, "waits"), Finding("MT0308", Severity.ERROR, "lost")
    found = instead_of_waits([far, stays], [waits, other])
    assert found == (replace(stays, severity=Severity.ERROR), far, other)
    assert instead_of_waits([far], [waits]) == (far, waits)
    unfit = Finding("MT0122", Severity.ERROR, "a lock for which there are fewer buffers")
    assert instead_of_waits([far, stays], [unfit, other]) == found
    text = Oddities((), (stays,))
    assert text.before((unfit, other), finished=True) == (other, stays)
    assert text.before((unfit,), finished=False) == (replace(stays, severity=Severity.ERROR),)


@pytest.mark.parametrize("ring", [{"w0": "w0"}, {"w1": "w1"}])
def test_locks_are_not_blamed_beside_a_descriptor_that_is_followed_by_itself(ring: dict[str, str]) -> None:
    codes = {each.code for each in checked(written(**ring).replace("init = 2", "init = 3"))}
    assert codes & {"MT0122", "MT0124"} == {"MT0124"}


def test_a_check_sees_words_that_stay_behind() -> None:
    (found,) = (each for each in checked(written(many=32)) if each.code == "MT0323")
    assert found.message.startswith(
        "When all waits of the host are met, words are left over: interface(0,0) S2MM 0 'out' takes 32 of "
        "the 64 elements of argument 1, and more are sent to it: "
    )
    assert (found.severity, found.fix) == (Severity.WARNING, "Receive all 64 elements.")
    assert found.sides[0].place.startswith("odd.mlir:42:")


NO_CORE = """\
module {
  aie.device(npu1) {
    %tile = aie.tile(0, 2)
    %host = aie.tile(0, 0)
    %full = aie.lock(%tile, 0) {init = 0 : i32, sym_name = "full"}
    %a = aie.buffer(%tile) {sym_name = "a"} : memref<16xi32>
    aie.flow(%tile, DMA : 0, %host, DMA : 0)
    aie.shim_dma_allocation @out(%host, S2MM, 0)
    %dma = aie.mem(%tile) {
      %0 = aie.dma_start(MM2S, 0, ^r0, ^end)
    ^r0:
      aie.use_lock(%full, AcquireGreaterEqual, 1)
      aie.dma_bd(%a : memref<16xi32>, 0, 16)
      aie.next_bd ^r0
    ^end:
      aie.end
    }
    aie.runtime_sequence(%x : memref<16xi32>) {
      aiex.npu.dma_memcpy_nd(%x[0, 0, 0, 0][1, 1, 1, 16][0, 0, 0, 1])
        {id = 0 : i64, metadata = @out, issue_token = true} : memref<16xi32>
      aiex.npu.dma_wait {symbol = @out}
    }
  }
}
"""


def test_a_check_names_the_core_that_has_no_program() -> None:
    (found,) = (each for each in checked(NO_CORE) if each.code == "MT0103")
    assert found.message.endswith("it starts at 0, nothing releases it, and core (0, 2) has no program.")
    assert found.fix.startswith(
        "Give core (0, 2) a program that releases it, or lock 0 'full' of tile (0, 2)"
    )


def test_a_check_says_how_much_of_an_array_is_sent_where_more_is_waited_for() -> None:
    (found,) = checked(written(rows=2))
    assert found.message.endswith("interface(0,0) MM2S 0 'in' has sent 32 of the 64 elements of argument 0.")
    assert (found.code, found.severity) == ("MT0108", Severity.ERROR)
    assert found.fix == "Send all 64 elements."


def test_what_follows_from_a_chain_is_left_out_of_a_run_that_hangs_with_races() -> None:
    stays, race = Finding("MT0124", Severity.WARNING, "stays"), Finding("MT0201", Severity.ERROR, "race")
    waits = [Finding(code, Severity.ERROR, "waits") for code in ("MT0309", "MT0321")]
    found = Oddities((), (stays,)).before((race, *waits), finished=False)
    assert found == (replace(stays, severity=Severity.ERROR), race)


def test_one_of_two_that_write_the_same_half_is_off() -> None:
    twice = runs(0, 0, size=32, loose=True)
    assert said(twice) == []  # what is read may be read again
    writes = [replace(each, writes=True) for each in twice]
    assert said(writes) == [("MT0123", "Give it offset 32.")]
    assert next(iter(move_findings(writes))).message.startswith("BD 1 of ")
    late = [replace(each, offset=32) for each in writes]
    assert next(iter(move_findings(late))).message.startswith("BD 0 of ")
    assert said([*writes, replace(writes[0], number=2)]) == []


def awaiting(name: str) -> str:
    """The design with a task to which no stream leads, and a wait at its end for a transfer."""
    text = written().replace("metadata = @in}", "metadata = @in, issue_token = true}")
    text = text.replace("{symbol = @out}", f"{{symbol = @{name}}}")
    lines = text.splitlines()
    flow = next(n for n, line in enumerate(lines) if "@out(%host" in line)
    lines.insert(flow + 1, "    aie.shim_dma_allocation @spare(%host, S2MM, 1)")
    start = next(n for n, line in enumerate(lines) if "metadata = @out" in line)
    spare = (
        lines[start]
        .replace("@out", "@spare")
        .replace("id = 0", "id = 2")
        .replace("%y[0, 0, 0, 0]", "%y[0, 0, 0, 64]")
    )
    return "\n".join([*lines[:start], spare, *lines[start:]])


def test_a_task_without_a_stream_hides_no_wait_that_is_missing() -> None:
    for text, codes in ((awaiting("out"), set()), (awaiting("in"), {"MT0116", "MT0318"})):
        found = [each for each in (*checked(text), *run(text)) if each.code in ("MT0116", "MT0318")]
        assert {each.code for each in found} == codes
        assert not any("'spare'" in each.message for each in found)
        assert all("'out'" in each.message for each in found)


def test_what_an_earlier_task_wrote_is_not_said_to_be_written_by_nobody() -> None:
    """A host fills a buffer by two tasks of one channel, the first of which is a word short."""
    array, back, half = Array("npu1", columns=1), np.zeros(64, np.int32), view(64)
    door, tile = array.interface_tile(0), array.memory_tile(0)
    buffer, free, full = tile.buffer("b", 64), tile.lock(2, "free"), tile.lock(0, "full")
    data, out = array.external("data", np.arange(1, 65, dtype=np.int32)), array.external("back", back)
    array.connect(door.mm2s[0], tile.s2mm[0])
    array.connect(tile.mm2s[0], door.s2mm[0])

    def host(steps: Host) -> Iterator[HostAction]:
        reader = tile.read(buffer).guarded(full.acquire(2), free.release(2))
        yield steps.start(tile.mm2s[0], reader)
        for part in (half[:31], half[32:]):
            yield steps.start(door.mm2s[0], door.read(data, part))
            writer = tile.write(buffer, part).guarded(free.acquire(1), full.release(1))
            task = steps.start(tile.s2mm[0], writer)
            yield task
            yield steps.wait(task)
        task = steps.start(door.s2mm[0], door.write(out))
        yield task
        yield steps.wait(task)

    array.host(host)
    (found,) = array.run(check=True).findings
    assert found.code == "MT0203"
    assert "word 31 of buffer 'b'" in found.message
    assert "nothing ever writes" not in found.message
