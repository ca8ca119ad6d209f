"""Is the mistake behind wrong words named where it explains all of them, and nothing where none does?"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from memtile import Array, MemoryTile, view
from memtile.explain import slow
from memtile.explain.checks import Check
from memtile.explain.exchanged_outputs import with_exchanges
from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.limit import Lifted, Limit, Resource
from memtile.explain.mismatch_causes import cause_of
from memtile.explain.results import ChannelUse, CoreUse, Result, Status
from memtile.explain.slow import slow_findings
from memtile.explain.uneven import uneven_work
from memtile.explain.word_sources import WordSources
from memtile.explain.wrong_words import with_words, without_followers, wrong_words
from memtile.explore.limit_estimates import host_of_tasks
from memtile.kernels import Action, Core
from memtile.model.state.causes import Cause, CoreCause

DATA = np.arange(1, 65, dtype=np.int32)


@pytest.mark.parametrize(
    ("got", "code", "text"),
    [
        (DATA.reshape(8, 8).T.ravel(), "MT0401", "the expected 8 x 8 elements came column by column"),
        (DATA.reshape(4, 16).T.ravel(), "MT0401", "the expected 4 x 16 elements came column by column"),
        (DATA[::-1], "MT0401", "came backwards"),
        (np.roll(DATA, -5), "MT0402", "rotated by 5 elements"),
        (np.concatenate([[7, 7, 7], DATA[:-3]]).astype(np.int32), "MT0402", "is late by 3 elements"),
        (np.concatenate([DATA[3:], [7, 7, 7]]).astype(np.int32), "MT0402", "is early by 3 elements"),
        (
            np.where(DATA > 40, 0, DATA).astype(np.int32),
            "MT0403",
            "in all 24 elements that are wrong, from element 40",
        ),
        (DATA.byteswap(), "MT0404", "bytes of each element in the other order"),
        (np.tile(DATA[:16], 4), "MT0406", "has its first 16 elements 4 times"),
        (np.concatenate([DATA[1::2], DATA[::2]]), "MT0401", "the expected"),
        (np.concatenate([DATA[3:9], DATA[:3], DATA[9:]]), "MT0401", "the expected elements in another order"),
        (
            np.stack([DATA[:32], 0 * DATA[:32]], axis=1).ravel(),
            "MT0405",
            "of 64 bits went in as two of 32 bits",
        ),
        (
            np.concatenate([DATA[:32], DATA[:16], DATA[48:]]),
            "MT0406",
            "block 0 of 16 elements again as block 2",
        ),
        (np.concatenate([DATA[:32], DATA[:32]]), "MT0406", "has its first 32 elements 2 times"),
        (
            DATA.reshape(4, 2, 8).transpose(0, 2, 1).ravel(),
            "MT0401",
            "dimensions 1 and 2 of the expected (4, 2, 8) elements exchanged",
        ),
        (
            DATA.reshape(2, 2, 16).transpose(1, 0, 2).ravel(),
            "MT0401",
            "dimensions 0 and 1 of the expected (2, 2, 16) elements exchanged",
        ),
        (DATA * -1, "MT0405", "has each element -1 times as large as expected"),
        (np.where(np.arange(64) % 8 < 3, DATA, 0), "MT0403", "has zeros in the last 5 of each 8 elements"),
        (DATA * 2, "MT0405", "has each element 2 times as large as expected"),
        (4 * DATA + DATA % 3, "MT0405", "has each element shifted right by 2 bits too few"),
        (DATA >> 1, "MT0405", "has each element shifted right by 1 bit too many"),
        ((DATA + 1) >> 1, "MT0405", "has each element shifted right by 1 bit too many"),
        (
            np.concatenate([DATA[:56], DATA[56:] * 3]),
            "MT0405",
            "has all 8 elements that are wrong, from element 56 on, 3 times as large as expected",
        ),
        (
            np.where(DATA % 4 == 0, DATA + 20, DATA),
            "MT0405",
            "has all 16 elements that are wrong, from element 3 on, 20 more than expected",
        ),
    ],
)
def test_a_mistake_is_named(got: np.ndarray, code: str, text: str) -> None:
    found = cause_of(got, DATA)
    assert found is not None
    assert found.code == code
    assert text in found.text


@pytest.mark.parametrize("got", [DATA * 4 - 3, DATA * 2 + np.arange(64) % 3 - 1, DATA // 4 + DATA % 2])
def test_what_no_shift_makes_is_not_called_shifted(got: np.ndarray) -> None:
    for came, wanted in ((got, DATA), (DATA, got)):
        found = cause_of(came, wanted)
        assert found is None or "shifted" not in found.text


def test_what_few_wrong_elements_have_in_common_is_no_mistake() -> None:
    assert cause_of(np.concatenate([DATA[:57], DATA[57:] * 3]), DATA) is None


def seconds_for(elements: int) -> float:
    """Processor time to look at an output in which each second block of four comes from elsewhere."""
    expected = np.arange(elements, dtype=np.int32)
    got = expected.reshape(-1, 4).copy()
    got[1::2] = got[0]
    got[-1] = -1  # nowhere: so each block length is tried
    times = []
    for _ in range(3):
        began = time.process_time()
        assert cause_of(got.ravel(), expected) is None
        times.append(time.process_time() - began)
    return min(times)


def test_blocks_that_come_again_are_looked_for_in_time_that_grows_with_the_output() -> None:
    assert seconds_for(1 << 16) < 10 * seconds_for(1 << 14)  # 17 and more if each looks at each


def test_blocks_of_equal_elements_are_not_said_to_come_backwards() -> None:
    """Two packets that come in the other order have no sign of a stride in them."""
    expected = np.repeat(np.arange(1, 5), 16).astype(np.int32)
    found = cause_of(np.repeat([2, 1, 3, 4], 16).astype(np.int32), expected)
    assert found is not None
    assert found.text == "has its blocks of 16 elements in another order: block 1 came as block 0"


def test_zeros_at_the_other_side_of_each_row_are_padding() -> None:
    rows, pads = DATA.reshape(8, 8), np.zeros((8, 2), np.int32)
    got, expected = np.hstack([pads, rows]).ravel(), np.hstack([rows, pads]).ravel()
    found = cause_of(got, expected)
    assert found is not None
    assert found.text == "has 2 zeros of each 10 elements before the others, not at the other side"
    assert found.fix == "Exchange the padding before and after."


def test_a_constant_that_is_added_is_named() -> None:
    found = cause_of((DATA % 7 * 5 + 2).astype(np.int32), (DATA % 7 * 5).astype(np.int32))
    assert found is not None
    assert found.text == "has each element 2 more than expected"


BYTES = np.random.default_rng(3).integers(-128, 128, 96).astype(np.int8)
SUMS = np.cumsum(DATA.reshape(4, 16), axis=0, dtype=np.int32).ravel()
REALS = np.random.default_rng(3).standard_normal(64).astype(np.float32)


@pytest.mark.parametrize(
    ("got", "expected", "code", "text"),
    [
        (
            BYTES * np.int8(2),
            np.clip(BYTES * 2.0, -128, 127).astype(np.int8),
            "MT0411",
            "wraps around at the",
        ),
        (np.clip(BYTES * 2.0, -128, 127).astype(np.int8), BYTES * np.int8(2), "MT0411", "is saturated"),
        ((DATA * 50).astype(np.int8).astype(np.int32), DATA * 50, "MT0411", "only the low 8 bits"),
        (DATA * 99 >> 4, DATA * 99 + 8 >> 4, "MT0411", "is 1 less than expected in 32 of 64 elements, and"),
        (
            (BYTES >> 2).view(np.uint8),
            BYTES.view(np.uint8) >> 2,
            "MT0411",
            "unsigned numbers were taken as signed",
        ),
        (SUMS, DATA, "MT0413", "in each block of 16 elements the sum of it and of the blocks before"),
        (
            REALS.astype("bfloat16").astype(np.float32),
            REALS,
            "MT0411",
            "has each element rounded to bfloat16",
        ),
        (REALS.cumsum(dtype=np.float32), REALS, "MT0413", "in each block of 1 elements the sum"),
    ],
)
def test_what_a_core_does_with_numbers_is_named(
    got: np.ndarray, expected: np.ndarray, code: str, text: str
) -> None:
    cause = cause_of(got, expected)
    assert cause is not None
    assert (cause.code, text in cause.text) == (code, True), cause.text


def test_parts_of_elements_that_are_computed_alone() -> None:
    words = np.random.default_rng(4).integers(-9000, 9000, 64).astype(np.int16)
    cause = cause_of((words.view(np.int8) * np.int8(2)).view(np.int16), words * np.int16(2))
    assert cause is not None
    assert cause.fix == "Take the elements as 16 bits wide: the core computes with parts of 8 bits."


def test_elements_that_are_right_up_to_one_say_where_to_look() -> None:
    expected = np.random.default_rng(5).integers(0, 999, 64).astype(np.int32)
    got = np.concatenate([expected[:32], np.random.default_rng(6).integers(0, 999, 32)]).astype(np.int32)
    sources = SimpleNamespace(
        read_back=lambda *_: "", text=lambda _: "MM2S 0 writes it.", exchanged_ids=lambda _: None
    )
    (finding,) = wrong_words([Check.compare("back", got, expected)], cast(WordSources, sources))
    assert finding.message.endswith("All before element 32 are right. MM2S 0 writes it.")
    assert finding.fix.startswith("Check what makes these words from element 32 on, and what it reads: ")


def test_outputs_that_are_exchanged_name_each_other() -> None:
    one, other = Check.compare("c", DATA, DATA + 3), Check.compare("d", DATA + 3, DATA)
    first, second = with_exchanges([one, other], [(DATA, DATA + 3), (DATA + 3, DATA)])
    assert first.cause is not None
    assert first.cause.text == "has the values expected of d, and vice versa"
    assert second.cause is not None
    (alone, _) = with_exchanges([one, Check.compare("d", DATA, DATA)], [(DATA, DATA + 3), (DATA, DATA)])
    assert alone.cause is not None
    assert alone.cause.fix == "Let what goes to d not come here: look at the transfers of the host."


def test_packets_that_have_the_ids_of_each_other_are_named() -> None:
    array = Array("npu1", columns=1)
    tile, cores = array.memory_tile(0), [array.compute_tile(0, row) for row in (2, 3)]
    bus = array.packet_bus("bus", *((tile.mm2s[0], [core.s2mm[0]]) for core in cores))
    sent = []
    for number, core in enumerate(cores):
        part = tile.buffer(f"part{number}", 8, data=DATA[8 * number :][:8])
        sent.append(bus.streams[1 - number].packets(tile.read(part)))
        core.s2mm[0].start(core.write(kept := core.buffer("kept", 8)))
        core.expect(kept, DATA[8 * number :][:8])
    tile.mm2s[0].start(*sent)
    first, _ = array.run().findings
    assert first.code == "MT0410"
    assert first.sides[0].who == "memory(0,1) MM2S 0"
    assert "MM2S 0, BD 1, sends it with packet id 0, and BD 0 what was expected of it" in first.message
    assert first.fix == "Exchange the packet ids 0 and 1 of the two, or the receivers of their streams."


def test_words_that_nobody_has_written_are_not_rounded() -> None:
    """Sums that go on from words that nobody has written are the reason of that, and come first."""
    unwritten, rounded, sums = (
        Finding(code, severity, code, ())
        for code, severity in (
            ("MT0203", Severity.WARNING),
            ("MT0411", Severity.ERROR),
            ("MT0413", Severity.ERROR),
        )
    )
    assert with_words([unwritten], [rounded]) == (unwritten,)
    assert with_words([], [rounded]) == (rounded,)
    assert with_words([unwritten], [sums]) == (sums, unwritten)


def test_words_of_which_nobody_knows_who_makes_them_come_of_another_error() -> None:
    error = Finding("MT0122", Severity.ERROR, "", ())
    unplaced, placed = (
        Finding("MT0406", Severity.ERROR, "", tuple(Side(who, "") for who in sides))
        for sides in (["out"], ["MM2S 0", "out"])
    )
    assert without_followers([error, unplaced, placed]) == (error, placed)
    assert without_followers([unplaced]) == (unplaced,)


def test_two_buffers_of_one_name_have_writers_of_their_own() -> None:
    array = Array("npu1", columns=1)
    tile = array.memory_tile(0)
    given = tile.buffer("given", (2, 4), data=np.array([[1, 5, 2, 9], [4, 4, 8, 1]]))
    for number in range(2):
        core = array.compute_tile(0, 2 + number)
        taken = core.buffer("taken", 4)
        array.connect(tile.mm2s[number], core.s2mm[0])
        tile.mm2s[number].start(tile.read(given, view((2, 4))[number]))
        core.s2mm[0].start(core.write(taken))
        core.expect(taken, np.array([3, 7, 3, 7]))
    findings = array.run().findings
    assert [finding.message.rpartition(". ")[2] for finding in findings] == [
        f"compute(0,{row}) S2MM 0 writes 4 words with BD 0." for row in (2, 3)
    ]
    assert findings[0].fix == "Check what makes these words, and what it reads."


@pytest.mark.parametrize(
    ("dtype", "unit", "group", "code", "text"),
    [
        (np.int16, 2, 4, "MT0401", "has the 2 elements of each 32-bit word in the other order"),
        (np.int8, 1, 4, "MT0401", "has the 4 elements of each 32-bit word in the other order"),
        (np.int8, 2, 4, "MT0404", "has the 16-bit halves of each 32-bit word in the other order"),
        (np.uint16, 1, 4, "MT0404", "has the bytes of each 32-bit word in the other order"),
        (np.int32, 2, 4, "MT0404", "has the 16-bit halves of each element in the other order"),
        (np.int64, 4, 8, "MT0404", "has the 32-bit halves of each element in the other order"),
        (np.int64, 2, 8, "MT0404", "has the 16-bit parts of each element in the other order"),
    ],
)
def test_parts_of_a_word_in_the_other_order(dtype: type, unit: int, group: int, code: str, text: str) -> None:
    data = np.random.default_rng(3).integers(1, 100, 64).astype(np.uint8)
    came = data.reshape(-1, group // unit, unit)[:, ::-1].ravel()
    found = cause_of(came.view(dtype), data.view(dtype))
    assert found is not None
    assert (found.code, found.text) == (code, text)


def test_what_one_word_more_or_less_does_not_explain_is_not_named() -> None:
    for wrong in (DATA.reshape(8, 8).T.ravel(), np.roll(DATA, 5), np.tile(DATA[:16], 4), DATA.byteswap()):
        spoilt = wrong.copy()
        spoilt[40] = -5
        assert cause_of(spoilt, DATA) is None
    assert cause_of(DATA + 1, DATA) is None or cause_of(DATA + 1, DATA).code == "MT0402"  # type: ignore[union-attr]


@given(arrays(np.int16, st.integers(4, 40)), arrays(np.int16, st.integers(4, 40)))
def test_random_words_are_not_explained_away(got: np.ndarray, expected: np.ndarray) -> None:
    found = cause_of(got, expected)
    if found is not None and found.code in ("MT0401", "MT0404"):
        either = got.byteswap() if found.code == "MT0404" else got
        assert sorted(either.tolist()) == sorted(expected.tolist())


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.float32, np.int64])
def test_all_widths_are_looked_at(dtype: type) -> None:
    data = np.arange(1, 17).astype(dtype)
    found = cause_of(data[::-1].copy(), data)
    assert found is not None
    assert found.text == "came backwards"


def test_a_comparison_carries_its_cause_and_its_data_do_not() -> None:
    check = Check.compare("out", np.roll(DATA, -5), DATA)
    assert check.cause is not None
    assert "cause" not in check.as_json()
    assert Check.compare("out", DATA, DATA).cause is None
    assert Check.compare("out", DATA[:10], DATA).cause is None  # a hang says more


def test_a_finished_run_names_it_as_an_error() -> None:
    tile = MemoryTile()
    tile.mm2s[0].start(tile.read(tile.buffer("a", 64, np.int32, data=np.roll(DATA, -5))))
    tile.mm2s[0].expect(DATA)
    result = tile.run()
    (finding,) = result.findings
    assert (finding.code, finding.severity) == ("MT0402", "error")
    assert finding.message == "MM2S 0 is rotated by 5 elements: it begins with element 5."


def test_a_stride_of_the_reader_is_said_by_the_places_in_its_buffer() -> None:
    tile = MemoryTile()
    data: np.ndarray = DATA
    tile.mm2s[0].start(tile.read(tile.buffer("a", 64, np.int32, data=data), view(64)[:32:2]))
    tile.mm2s[0].expect(data[::4].copy())
    (finding,) = tile.run().findings
    assert finding.code == "MT0405"
    assert "has elements 0, 2, 4, 6, .. of buffer 'a', and 0, 4, 8, 12, .. were expected" in finding.message
    assert finding.fix == "Give it the stride 4 instead of 2 (words)."


def test_who_writes_an_array_and_which_core_makes_its_words() -> None:
    array = Array("npu1", columns=1)
    door, core = array.interface_tile(0), array.compute_tile(0, 2)
    go = array.object_fifo("go", core, door, shape=16).producer

    def kernel(core: Core) -> Iterator[Action]:
        yield core.acquire(go.free)
        core.write(go.buffer(0), np.arange(16) * 2)
        yield core.release(go.full)

    core.run_kernel(kernel)
    back = np.zeros(16, np.int32)
    door.s2mm[0].start(door.write(array.external("back", back)))
    array.expect_array("back", back, np.arange(16) * 3)
    (finding,) = array.run().findings
    assert finding.message == (
        "back has each element 2/3 times as large as expected. "
        "interface(0,0) S2MM 0 'go' writes 16 words with BD 0, made by core (0, 2) (kernel 'kernel')."
    )


def test_a_buffer_that_is_filled_in_part_names_who_fills_it() -> None:
    tile = MemoryTile()
    tile.s2mm[0].start(tile.write(tile.buffer("a", 64), view(64)[:48]))
    tile.s2mm[0].feed(DATA[:48])
    tile.expect(tile.buffers[0], DATA)
    (finding,) = tile.run().findings
    assert finding.code == "MT0403"
    assert finding.message.endswith("from element 48 on. S2MM 0 writes 48 words with BD 0.")


# time ----------------------------------------------------------------------------------------------------


def result(*uses: ChannelUse, cycles: int = 1000, host: int = 0) -> Result:
    return Result(Status.FINISHED, True, cycles, 1250, uses, {}, host_cycles=host)


def use(name: str, direction: str, spent: dict[Cause, int], label: str = "", tasks: int = 1) -> ChannelUse:
    return ChannelUse(f"{direction} {name}", direction, spent, tasks, 10, label=label)


def tried(resource: Resource, cycles: int | None = 800, name: str = "a") -> Lifted:
    return Lifted(f"{resource} cost nothing", cycles, resource, name)


@pytest.mark.parametrize(
    ("cause", "resource", "code", "least"),
    [
        (Cause.BANK_CONFLICT, Resource.BANKS, "MT0501", 100),
        (Cause.BD_SWITCH, Resource.DESCRIPTORS, "MT0502", 50),
        (Cause.EXTERNAL, Resource.EXTERNAL, "MT0506", 100),
    ],
)
def test_what_costs_enough_of_a_run_is_told_if_a_run_without_it_is_shorter(
    cause: Cause, resource: Resource, code: str, least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slow, "first_wait", lambda *_: 0)
    much, less = ({Cause.MOVING: 1000 - lost, cause: lost} for lost in (least, least - 1))
    (finding,) = slow_findings(result(use("0", "MM2S", much)), [tried(resource)])
    assert (finding.code, finding.severity) == (code, "note")
    assert f"loses {least} of 1000 cycles" in finding.message
    assert finding.fix.endswith("Tried: 800 cycles for 1000 (-20 %).")
    assert slow_findings(result(use("0", "MM2S", less)), [tried(resource)]) == ()
    for helps_not in ([], [tried(resource, 951)], [tried(resource, None)], [tried(Resource.CORES)]):
        assert slow_findings(result(use("0", "MM2S", much)), helps_not) == ()


def test_long_transfers_that_wait_for_memory_are_to_be_split_or_started_earlier() -> None:
    spent = {Cause.MOVING: 6000, Cause.EXTERNAL: 4000}
    split = Limit(Resource.CHANNELS, "MM2S 0", "two channels", 10000, 7000, estimated=True)

    def told(tasks: int, split: Limit | None) -> list[str]:
        run = result(use("0", "MM2S", spent, tasks=tasks), cycles=10000)
        return [each.fix for each in slow_findings(run, [tried(Resource.EXTERNAL, 6000)], split=split)]

    (fix,) = told(1, split)
    assert "over two channels" in fix
    assert fix.endswith("Estimated, not tried: 7000 cycles for 10000 (-30 %).")
    assert told(1, None) == []  # no second channel is free
    assert told(1, replace(split, name="MM2S 1")) == []
    assert told(1, replace(split, cycles=9600)) == []
    (fix,) = told(2, None)
    assert "start the next transfer" in fix


@pytest.mark.parametrize("slack", [0, 20])
def test_a_wait_before_the_first_word_has_no_advice(slack: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMTILE_TIMING", raising=False)
    spent = {Cause.MOVING: 3600, Cause.EXTERNAL: 1255 + 322 + slack}
    once = replace(use("0", "MM2S", spent, tasks=2), bds=2)
    on_phoenix = replace(result(once, cycles=5200), board="phoenix")
    assert slow_findings(on_phoenix, [tried(Resource.EXTERNAL, 4000)]) == ()
    more = replace(once, spent=spent | {Cause.EXTERNAL: 2200})
    (finding,) = slow_findings(replace(on_phoenix, channels=(more,)), [tried(Resource.EXTERNAL, 4000)])
    assert "loses 622 of 5200 cycles after its first word" in finding.message


def test_one_descriptor_is_as_long_as_it_can_be() -> None:
    spent = {Cause.MOVING: 100, Cause.EXTERNAL: 6000}
    once, twice = (replace(use("0", "MM2S", spent, tasks=1), bds=bds) for bds in (1, 2))
    helps = [tried(Resource.EXTERNAL, 6000)]
    assert slow_findings(result(once, cycles=10000), helps) == ()
    (finding,) = slow_findings(result(twice, cycles=10000), helps)
    assert "a BD moves 50 words" in finding.fix


def test_short_tasks_are_told_of_the_channel_that_moves_longest() -> None:
    idle, helps = {Cause.MOVING: 400, Cause.IDLE: 600}, [tried(Resource.HOST)]
    (finding,) = slow_findings(result(use("0", "MM2S", idle, tasks=8)), helps)
    assert finding.code == "MT0503"
    assert "8 tasks of 50 words" in finding.message
    assert slow_findings(result(use("0", "MM2S", idle, tasks=7)), helps) == ()
    assert slow_findings(result(use("0", "MM2S", idle, tasks=8)), []) == ()
    busy = use("1", "MM2S", {Cause.MOVING: 1000})
    assert slow_findings(result(use("0", "MM2S", idle, tasks=8), busy), helps) == ()


def test_a_second_channel_costs_a_host_as_many_tasks_as_the_first() -> None:
    uses = [use(name, "MM2S", {}, tasks=tasks) for name, tasks in (("a", 1), ("b", 3), ("inside", 9))]
    run = result(*uses, host=800)
    assert [host_of_tasks(run, ("MM2S a", "MM2S b"), each) for each in uses] == [200, 600, 0]


def test_a_busy_host_is_told() -> None:
    moving, helps = use("0", "MM2S", {Cause.MOVING: 1000}, tasks=2), [tried(Resource.HOST)]
    (finding,) = slow_findings(result(moving, host=500), helps)
    assert finding.code == "MT0505"
    assert slow_findings(result(moving, host=499), helps) == ()
    assert slow_findings(result(moving, host=500), []) == ()
    once = use("0", "MM2S", {Cause.MOVING: 1000})
    assert slow_findings(result(once, host=500), helps) == ()  # a task for each channel is what it needs


def test_a_buffer_is_advised_if_it_saves_a_twentieth() -> None:
    turns = {Cause.MOVING: 500, Cause.LOCK_ACQUIRE: 480, Cause.BD_SWITCH: 20}
    both = use("0", "S2MM", turns, "a"), use("0", "MM2S", turns, "a")
    more = Lifted("there was a second buffer for 'a'", 950, Resource.BUFFERS, "'a'")
    (finding,) = slow_findings(result(*both), [more])
    assert finding.code == "MT0504"
    assert finding.message == (
        "'a' has too few buffers: S2MM 0 'a' waits 480 and MM2S 0 'a' waits 480 of 1000 cycles for a lock."
    )
    assert finding.fix == (
        "Give 'a' a second buffer, and count it in the lock of the free ones. "
        "Tried: 950 cycles for 1000 (-5 %)."
    )
    assert slow_findings(result(*both), [replace(more, cycles=951)]) == ()


def computing(**cycles: int) -> Result:
    """A run of cores, whose names are ``cCOLUMN_ROW``."""
    names = (f"core ({name[1:].replace('_', ', ')})" for name in cycles)
    work = zip(names, cycles.values(), strict=True)
    cores = tuple(CoreUse(name, "work", {CoreCause.RUNNING: each}) for name, each in work)
    return replace(result(use("0", "MM2S", {Cause.MOVING: 10})), cores=cores)


def test_a_column_with_most_of_the_work_is_told() -> None:
    def told(*cycles: int) -> tuple[Finding, ...]:
        done = computing(**{f"c{column}_2": each for column, each in enumerate(cycles)})
        return slow_findings(done, [], uneven=uneven_work(done))

    (finding,) = told(900, 300, 300)
    assert (finding.code, finding.severity) == ("MT0507", "note")
    assert finding.message == "Column 0 has 60% of the work of 3 columns; the others wait."
    assert finding.fix == "Split the work evenly. Estimated, not tried: 600 cycles for 1000 (-40 %)."
    assert told(690, 100) == ()  # it is no limit
    assert told(900, 702) == ()  # an even split saves less than a tenth
    assert told(900, 0) == ()  # the other has no part in it


def test_one_core_beside_others_that_are_alike_is_no_matter_of_columns() -> None:
    assert uneven_work(computing(c0_2=900, c0_3=300, c1_2=300, c1_3=300)) is None
    of_column = uneven_work(computing(c0_2=900, c0_3=900, c1_2=300, c1_3=300))
    assert of_column is not None
    assert of_column.text == "column 0 has 75% of the work of 2 columns"


def test_without_time_and_of_a_few_cycles_nothing_is_said() -> None:
    lost = use("0", "MM2S", {Cause.MOVING: 30, Cause.BD_SWITCH: 30})
    assert slow_findings(result(lost, cycles=60), [tried(Resource.DESCRIPTORS, 30)]) == ()
