"""Do tasks come as a launch brings them, and does each published design end or hang as it did on silicon?"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import pytest

from memtile import Status, Timing
from memtile.arch.devices import DEVICES
from memtile.arch.dispatch import Dispatch
from memtile.arch.timing import chosen_timing
from memtile.check.check import check
from memtile.check.check_result import CheckResult
from memtile.check.checked_program import of_mlir
from memtile.errors import DesignError
from memtile.importers.design import load, load_still
from memtile.importers.mlir.token_packets import Text
from memtile.runs.options import RunOptions
from memtile.runs.program import Run
from support.silicon.dispatch_designs import blocked, channel_by_channel, passed_on, weights
from support.silicon.silicon_hosts import numbered_beyond

ELF, XCLBIN = Dispatch.ELF, Dispatch.XCLBIN


@pytest.fixture(autouse=True)
def timing_of_boards(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was measured of Strix is of its board."""
    monkeypatch.delenv("MEMTILE_TIMING")


def run(
    text: str,
    dispatch: Dispatch | None = None,
    *,
    untimed: bool = False,
    timing: Mapping[str, int] = MappingProxyType({}),
) -> Run:
    with chosen_timing(timing):
        options = RunOptions(pad_arguments=True, dispatch=dispatch, untimed=untimed)
        return load(Text("d.mlir", text)).run(options=options)


def ends(text: str, dispatch: Dispatch | None = None, **timing: int) -> bool:
    status = run(text, dispatch, timing=timing).result.status
    assert status in (Status.FINISHED, Status.STUCK)
    return status is Status.FINISHED


FOURTEEN = passed_on(14)


def test_fourteen_pushes_time_out() -> None:
    """mlir-aie PR 3734: ERT_CMD_STATE_TIMEOUT in 5 of 5 runs on Strix; with polls in between none."""
    done = run(FOURTEEN)
    assert done.result.status is Status.STUCK
    assert [finding.code for finding in done.result.findings] == ["MT0308"]
    assert done.notes[-1] == (
        "on a board the driver ends this launch after some 6.1 s with ERT_CMD_STATE_TIMEOUT; what it has "
        "written by then stays (mlir-air PR 1826)"
    )
    assert ends(passed_on(14, polled=range(4, 14)))
    assert ends(passed_on(4))


def test_the_driver_ends_nothing_that_finishes() -> None:
    assert not any("driver" in note for note in run(passed_on(2, 256)).notes)


HEAD_AND_WEIGHTS = [4096, *[65536] * 6]  # 16 KB, and six times 256 KB as in the report


def test_seven_tasks_hang_by_an_elf_and_run_by_an_xclbin() -> None:
    """mlir-air PR 1604: a head and six chunks of weights; folded into two tasks they run both ways."""
    text = weights(HEAD_AND_WEIGHTS, 4096)
    assert not ends(text, ELF)
    done = run(text, XCLBIN)
    assert done.result.status is Status.FINISHED
    assert done.notes[-1].startswith(
        "launched from an xclbin: firmware waited for room in a task queue before 2 pushes; launched from an "
        "ELF it loses such tasks (--dispatch elf, DEV-QUEUE-2)"
    )
    folded = weights([HEAD_AND_WEIGHTS[0], sum(HEAD_AND_WEIGHTS[1:])], 4096)
    assert ends(folded, ELF)
    assert ends(folded, XCLBIN)


@pytest.mark.parametrize("words", [64, 4608])  # 4,608 words: a chunk of the report
@pytest.mark.parametrize("dispatch", [ELF, XCLBIN])
def test_six_chunks_in_flight_end_and_seven_hang(dispatch: Dispatch, words: int) -> None:
    """DEV-QUEUE-1; mlir-air issue 1822 and PR 1826, on Strix, and its table: 1 and 4 end, 16 hang."""
    assert [ends(channel_by_channel(n, words), dispatch) for n in (1, 4, 6, 7, 16)] == [
        *[True] * 3,
        *[False] * 2,
    ]


def test_a_firmware_that_waits_for_ever_says_for_what() -> None:
    done = run(channel_by_channel(7, 64), XCLBIN)
    says = "firmware waits to push a task to interface_2p(0,0) MM2S 0, whose queue never has room again"
    assert says in done.stopped
    assert "Start what takes the words of the tasks before it first" in done.stopped
    assert not any(finding.code == "MT0308" for finding in done.result.findings)
    assert any("waits to push" in line for line in done.result.waiting)
    (circle,) = done.result.findings
    assert "waits for a place in the queue of interface_2p(0,0) MM2S 0" in circle.message


def test_an_untimed_push_waits_as_no_pace_makes_it_early() -> None:
    assert run(FOURTEEN, ELF, untimed=True).result.status is Status.FINISHED
    assert run(channel_by_channel(7, 64), ELF, untimed=True).result.status is Status.STUCK


def test_the_other_structure_can_be_chosen() -> None:
    """DEV-QUEUE-1, DEV-QUEUE-2: both launches lose pushes, and the running task has no place."""
    assert not ends(FOURTEEN, XCLBIN, firmware_room=0, firmware_push=1500)
    assert ends(FOURTEEN, XCLBIN, firmware_room=0)
    assert ends(channel_by_channel(7, 64), ELF, queue_running=0)
    assert not ends(channel_by_channel(8, 64), ELF, queue_running=0)


@pytest.mark.parametrize(
    ("pace", "verdicts"), [(1350, (False, False)), (1375, (True, False)), (1600, (True, False))]
)
def test_published_verdicts_bound_the_pace_of_an_elf(pace: int, verdicts: tuple[bool, bool]) -> None:
    """From 1,375 on six chunks of 18 KB pass, up to 1,600 fourteen tasks hang: the default is between."""
    given = (
        ends(channel_by_channel(6, 4608), ELF, firmware_push_elf=pace),
        ends(FOURTEEN, ELF, firmware_push_elf=pace),
    )
    assert given == verdicts
    assert 1375 <= Timing().firmware_push_elf <= 1600


def test_eight_tasks_each_way_end_and_sixteen_wedge() -> None:
    """The wedge map of Phoenix (cases ``wedge-8``, ``wedge-16``)."""
    assert numbered_beyond(8)["completed"] == 1
    assert numbered_beyond(16)["completed"] == 0


def test_each_device_has_its_usual_launch() -> None:
    """ELFs are built for npu2 alone (mlir-air PR 1946), and that is the launch that loses pushes."""
    assert {device.dispatch for name, device in DEVICES.items() if name.startswith("npu2")} == {ELF}
    assert {device.dispatch for name, device in DEVICES.items() if not name.startswith("npu2")} == {XCLBIN}


def test_phoenix_has_its_pace_by_default() -> None:
    assert ends(passed_on(14, device="npu1_1col"))  # Phoenix' pace, as measured (GT-21)
    assert not ends(passed_on(14, device="npu1_1col"), ELF)


def test_a_launch_that_there_is_not_is_refused() -> None:
    with pytest.raises(DesignError, match=r"dispatch.*'txn'.*xclbin or elf"):
        RunOptions(dispatch="txn")  # type: ignore[arg-type]


# tokens ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("words", "finishes"), [(96, True), (1500, True), (1700, False)])
def test_words_that_an_interface_tile_has_accepted_are_done_for_the_host(words: int, finishes: bool) -> None:
    """DEV-EXT-6: on Strix a token comes while up to some 1,580 words have not left the tile."""
    assert ends(blocked(words)) is finishes
    assert not ends(blocked(words), external_ahead=0)


def test_a_token_waits_for_the_last_descriptor_of_its_task() -> None:
    assert ends(blocked(16, 700))
    assert not ends(blocked(1000, 1000))


def test_a_task_ends_with_one_token() -> None:
    """The token that left early is not sent again: a second wait has none to take."""
    text = blocked(96).replace("init = 0", "init = 1")
    assert ends(text)
    wait = "      aiex.dma_await_task(%one)\n"
    assert not ends(
        text.replace(
            wait,
            wait + "      aiex.npu.sync {channel = 0 : i32, column = 0 : i32, "
            "column_num = 1 : i32, direction = 1 : i32, row = 0 : i32, row_num = 1 : i32}\n",
        )
    )


# before a run ----------------------------------------------------------------------------------------------


def checked(text: str) -> CheckResult:
    return check("d.mlir", lambda: of_mlir(load_still(Text("d.mlir", text))))


def test_check_says_which_push_may_be_lost() -> None:
    (finding,) = checked(FOURTEEN).findings
    assert finding.code == "MT0117"
    assert finding.message == (
        "Push 5 to interface_2p(0,0) MM2S 0 may find its task queue full, with 4 tasks open: it is lost "
        "then, as 9 more may be, and whatever waits for its words hangs. How fast firmware pushes decides."
    )
    line = next(n for n, line in enumerate(FOURTEEN.splitlines(), 1) if "dma_start_task(%task4)" in line)
    assert finding.sides[0].place == f"d.mlir:{line}:7, aiex.dma_start_task"
    assert finding.fix.startswith(
        "Wait for a task of this channel before push 5 (dma_await_task, dma_wait), or "
    )


def test_check_says_so_where_cores_have_their_kernels_already() -> None:
    """As those of IRON programs do, whose generators cannot be copied."""
    head, _, rest = FOURTEEN.partition("{\n")[2].partition("{\n")
    core = "    %core = aie.tile(0, 5)\n    aie.core(%core) {\n      aie.end\n    }\n"
    text = Text("d.mlir", f"module {{\n{head}{{\n{core}{rest}")
    (finding,) = check("d.mlir", lambda: of_mlir(load(text))).findings
    assert finding.code == "MT0117"


def test_check_says_nothing_of_queues_that_no_pace_fills() -> None:
    """Four tasks; pushes behind polls; and inputs whose output the host has waited for."""
    assert checked(passed_on(4)).findings == ()
    assert checked(passed_on(14, polled=range(4, 14))).findings == ()
    rounds = FOURTEEN.replace("28672xi32", "2048xi32").replace("0, 28672", "0, 2048")
    begin = rounds.index("      %all = ")
    once = rounds[begin : rounds.index("      %task1 = ")]
    each = "".join(
        once.replace("%all", f"%all{n}").replace("%task0", f"%in{n}")
        + f"      aiex.dma_await_task(%all{n})\n      aiex.dma_free_task(%in{n})\n"
        for n in range(8)
    )
    proved = (
        rounds[:begin] + each + rounds[rounds.index("      aiex.dma_await_task(%all)\n") :].split("\n", 1)[1]
    )
    assert proved.count("dma_start_task") == 16
    assert checked(proved).findings == ()
    assert ends(proved)


def test_a_poll_saves_one_push_alone() -> None:
    (finding,) = checked(passed_on(6, 256, polled=[4])).findings
    assert finding.message.startswith("Push 6 to interface_2p(0,0) MM2S 0 may find its task queue full")
    assert ends(passed_on(5, 256, polled=[4]))


def test_check_knows_a_queue_that_no_pace_saves() -> None:
    assert "MT0114" in [finding.code for finding in checked(channel_by_channel(7)).findings]
    assert [finding.code for finding in checked(channel_by_channel(6)).findings] == ["MT0117", "MT0117"]


BUILDS = "// RUN: %aiecc --get-npu-insts --get-xclbin --xclbin-name=aie.xclbin %S/d.mlir"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (BUILDS, XCLBIN),
        ("// RUN: %aiecc --device-name=main \\\n// RUN:   --get-full-elf %S/d.mlir", ELF),
        ("// RUN: %aiecc --get-elf --elf-name=aie.elf %S/d.mlir", ELF),
        ("// RUN: %python aiecc.py --aie-generate-xclbin --xclbin-name=aie.xclbin %S/d.mlir", XCLBIN),
        (f"{BUILDS}\n// RUN: %aiecc --get-full-elf %S/d.mlir", None),
        ("// RUN: %aiecc --get-core-elfs %S/d.mlir", None),
        ("// RUN: %aiecc --get-xclbin=false %S/d.mlir", None),
        ("// as --get-xclbin says", None),
        ("", None),
    ],
)
def test_lines_that_build_a_text_say_how_it_is_launched(lines: str, said: Dispatch | None) -> None:
    """DEV-QUEUE-2: what is asked for once, not what two builds of a text differ in."""
    made = load(Text("d.mlir", f"{lines}\n{weights(HEAD_AND_WEIGHTS, 16)}"))
    assert made.said == (said and (said, "as RUN: lines of the text say"))


@pytest.mark.parametrize(
    ("lines", "launch"),
    [(BUILDS, (XCLBIN, "as RUN: lines of the text say")), ("", (ELF, "as is usual on npu2_1col"))],
)
def test_what_they_say_decides_whether_it_ends(lines: str, launch: tuple[Dispatch, str]) -> None:
    done = load(Text("d.mlir", f"{lines}\n{weights(HEAD_AND_WEIGHTS, 4096)}")).run(pad_arguments=True)
    assert done.launch == launch
    assert (done.result.status is Status.FINISHED) is bool(lines)
    told = "launched from an xclbin, as RUN: lines of the text say; --dispatch elf is usual on npu2_1col"
    assert (told in done.notes) is bool(lines)


@pytest.mark.parametrize("dispatch", [ELF, XCLBIN])
def test_the_option_stands_over_what_builds_a_text(dispatch: Dispatch) -> None:
    made = load(Text("d.mlir", f"{BUILDS}\n{weights(HEAD_AND_WEIGHTS, 16)}"))
    done = made.run(pad_arguments=True, dispatch=dispatch, max_cycles=100)
    assert done.launch == (dispatch, "as the option says")
    assert not any("RUN: lines" in note for note in done.notes)
