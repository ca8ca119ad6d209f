"""Are object FIFOs named that a host leaves out, and loops that stop within a round behind other cores?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.oddities import Oddities, Suspect, instead_of_waits
from memtile.importers.design import load, load_still
from memtile.importers.mlir.token_packets import Text
from memtile.importers.repairs import is_same
from memtile.iron.program_design import ProgramDesign
from support.designs.turning_cores import all_findings, checked, core, fifo, line, loop, use
from support.mlir.mlir_designs import WAIT, copied, device, host

UNMOVED, UNEVEN = "MT0141", "MT0135"
PAIR = (("one", "Consume", 16), ("two", "Consume", 16), ("sum", "Produce", 16))


def left_out(*sent: str, sizes: tuple[int, int] = (16, 16)) -> str:
    """A core that takes objects of two object FIFOs, and a host that fills some, each with all its words."""
    uses = [(name, port, sizes[1] if name == "two" else 16) for name, port, _ in PAIR]
    moved = [copied(name, "a", number) for number, name in enumerate(sent, 1)]
    received = copied("sum", "b", 0).replace("{id", "{issue_token = true, id")
    return device(
        fifo("one", "s", "c", sizes[0]),
        fifo("two", "s", "c", sizes[1]),
        fifo("sum", "c", "s", 16),
        core("c", loop(9, *(use(*each) for each in uses))),
        host(received, *moved, WAIT.replace("out", "sum")),
    )


def test_a_host_that_fills_all_has_no_finding() -> None:
    assert not checked(left_out("one", "two"), UNMOVED)


def test_an_object_fifo_that_another_one_was_filled_for_is_named() -> None:
    design = left_out("one", "one")
    (found,) = checked(design, UNMOVED)
    acquired = next(n for n, each in enumerate(design.splitlines(), 1) if "acquire @two" in each)
    first, second = (n for n, each in enumerate(design.splitlines(), 1) if "metadata = @one" in each)
    assert found.message == (
        f"The host fills @one 2 times (line {first} and line {second}) and never fills @two; core (0, 2) "
        f"waits for objects of it in line {acquired}."
    )
    assert found.fix == "Let one of these transfers fill @two."
    assert (found.severity, found.sides[0].place) == (
        Severity.ERROR,
        f"d.mlir:{second}:1, aiex.npu.dma_memcpy_nd",
    )


@pytest.mark.parametrize("design", [left_out("one"), left_out(*["one"] * 4)])
def test_an_object_fifo_that_nothing_is_filled_for_is_named_alone(design: str) -> None:
    """Nothing was sent for it, or so much that it does not fit shared out."""
    (found,) = checked(design, UNMOVED)
    assert found.message.startswith("The host never fills @two; core (0, 2) waits for objects of it in line ")
    assert found.fix == "Fill @two in the sequence of the host."


def test_an_object_fifo_with_other_objects_was_not_meant() -> None:
    (found,) = checked(left_out("one", "one", sizes=(16, 32)), UNMOVED)
    assert found.message.startswith("The host never fills @two")


def test_an_object_fifo_that_is_not_drained_is_named_instead_of_its_stream() -> None:
    received = copied("left", "b", 0).replace("{id", "{issue_token = true, id")
    design = device(
        fifo("in", "s", "c", 16),
        fifo("left", "c", "s", 16),
        fifo("right", "c", "s", 64),
        core("c", loop(9, use("in", "Consume", 16), use("left", "Produce", 16), use("right", "Produce", 64))),
        host(received, copied("in", "a", 1), WAIT.replace("out", "left")),
    )
    (found,) = [each for each in all_findings(design) if each.severity is Severity.ERROR]
    assert found.message.startswith(
        "The host never drains @right; core (0, 2) waits for objects of it in line "
    )
    assert found.fix == "Drain @right in the sequence of the host."


def test_a_run_that_hangs_names_the_object_fifo_and_keeps_it_when_compared() -> None:
    done = load(Text("d.mlir", left_out("one", "one"))).run(np.arange(64, dtype=np.int32), max_cycles=20_000)
    assert [each.code for each in done.result.findings if each.severity is Severity.ERROR] == [UNMOVED]
    again = done.against({"1": np.ones(64, np.int32)})
    assert [each.code for each in again.explained().result.findings][:1] == [UNMOVED]


def test_what_may_be_meant_is_a_finding_only_where_it_explains_a_wait() -> None:
    late = Suspect(UNMOVED, Severity.WARNING, "left out", waiting=[("@two",)], latent=True)
    assert instead_of_waits([late], []) == ()


def window(turns: int) -> str:
    """A core that passes objects on, and one that holds three of them at once, for windows of a picture."""
    acquires, releases = ("aie.objectfifo.acquire @mid(Consume, {}) : !aie.objectfifosubview<memref<16xi32>>",
                          "aie.objectfifo.release @mid(Consume, {})")  # fmt: skip
    first, inner, last = (use("out", "Produce", 16).replace("%vout", f"%v{n}") for n in range(3))
    return device(
        fifo("in", "s", "c", 16),
        fifo("mid", "c", "d", 16).replace("2 : i32", "4 : i32"),
        fifo("out", "d", "s", 16),
        core("c", loop(9, use("in", "Consume", 16), use("mid", "Produce", 16))),
        core("d", loop(1, loop(9, f"%a = {acquires.format(2)}", first,
                               loop(turns, f"%b = {acquires.format(3)}", inner, releases.format(1)),
                               f"%e = {acquires.format(2)}", last, releases.format(2)))),
        host(copied("out", "b", 0).replace("{id", "{issue_token = true, id"), copied("in", "a", 1), WAIT),
    )  # fmt: skip


def test_a_window_that_takes_one_object_more_than_comes_is_named() -> None:
    """The core before it waits for more too, and did all of its rounds."""
    assert not checked(window(2), UNEVEN)
    design = window(3)
    (found,) = checked(design, UNEVEN)
    where = line(design, 3)
    assert found.message == (
        f"core (0, 3) makes 3 turns of its loop in line {where} and takes 5 objects of @mid in a round, "
        "where 4 come; with 2 turns all cores do whole rounds."
    )
    assert found.fix == f"Let the loop of core (0, 3) in line {where} make 2 turns."
    assert found.severity is Severity.ERROR


def test_a_core_that_keeps_an_object_is_not_off_by_a_turn() -> None:
    last = use("out", "Produce", 16).replace("%vout", "%v2")
    design = window(4).replace(last, "").replace("release @mid(Consume, 2)", "release @mid(Consume, 1)")
    assert last in window(4)
    assert UNEVEN not in {each.code for each in load_still(Text("d.mlir", design)).oddities.chained}


def test_the_loop_that_several_cores_run_is_named_once() -> None:
    """As workers of IRON that have one function; each place of the text is that of its program."""
    names = [(f"x{n}", f"y{n}", tile) for n, tile in enumerate("cd")]
    design = device(
        *(fifo(one, "s", tile, 16) for one, _, tile in names),
        *(fifo(other, tile, "s", 16) for _, other, tile in names),
        *(core(tile, loop(3, use(one, "Consume", 16), use(other, "Produce", 16)))
          for one, other, tile in names),
        host(*(copied(other, "b", n).replace("{id", "{issue_token = true, id")
               for n, (_, other, _) in enumerate(names)),
             *(copied(one, "a", n) for n, (one, *_) in enumerate(names, 2)),
             *(WAIT.replace("out", other) for _, other, _ in names)),
    )  # fmt: skip
    assert not checked(design, UNEVEN)  # two lines of which both are off
    places = tuple(
        "p.py:7" if "to %k3" in each else f"p.py:{n}" for n, each in enumerate(design.splitlines(), 90)
    )
    (found,) = checked(design, UNEVEN, places)
    assert found.message.startswith(
        "core (0, 2), as 1 more core does, makes 3 turns of its loop in p.py:7 and"
    )
    assert found.fix.startswith("Let the loop of these cores in p.py:7 make 4 turns")


def barrier(sets: int, *, changes: bool = True) -> str:
    """A core that waits for a lock of the host before each two of four objects that come in two transfers."""
    setting = "aiex.set_lock(%go, 1)"
    parts = [f"[0, 0, 0, {first}][1, 1, 1, 32][0, 0, 0, 1]" for first in (0, 32)]
    turns = [
        line
        for number, part in enumerate(parts)
        for line in (
            *([setting] if number < sets else []),
            copied("out", "b", 2 * number, part).replace("{id", "{issue_token = true, id"),
            copied("in", "a", 2 * number + 1, part),
            WAIT,
        )
    ]
    waits, gives = "aie.use_lock(%go, Acquire, 1)", "aie.use_lock(%go, Release, 1)"
    return device(
        '%go = aie.lock(%c, 9) {init = 0 : i32, sym_name = "go"}',
        fifo("in", "s", "c", 16),
        fifo("out", "c", "s", 16),
        core("c", loop(9, waits, loop(2, use("in", "Consume", 16), use("out", "Produce", 16)),
                       *([gives] if changes else []))),
        host(*turns),
    )  # fmt: skip


def test_a_barrier_that_is_not_set_for_each_round_is_named() -> None:
    design = barrier(1)
    lines = design.splitlines()
    waits, gives, sets = (
        next(n for n, each in enumerate(lines, 1) if text in each)
        for text in ("use_lock(%go, Acquire", "use_lock(%go, Release", "set_lock(%go")
    )
    late = [n for n, each in enumerate(lines, 1) if "metadata = @in" in each][1]
    (found,) = checked(design, "MT0142")
    assert found.message == (
        f"core (0, 2) waits in line {waits} until lock 9 'go' of tile (0, 2) is 1, in each of 2 rounds, and "
        f"changes it in line {gives}; the host sets it once (line {sets})."
    )
    assert found.fix == (
        f"Set it to 1 again before the transfers of line {late} (aiex.set_lock, WorkerRuntimeBarrier.set)."
    )
    done = load(Text("d.mlir", design)).run(np.arange(64, dtype=np.int32), max_cycles=20_000)
    assert {each.code for each in done.result.findings} == {"MT0142"}
    assert done.result.findings[0].severity is Severity.ERROR
    assert not checked(barrier(2), "MT0142")


def test_a_barrier_that_a_core_leaves_as_it_is_need_be_set_once() -> None:
    assert not checked(barrier(1, changes=False), "MT0142")


GO, BACK, TAKE = (
    f"aie.use_lock(%{lock})" for lock in ("go, Release, 1", "back, Release, 1", "go, AcquireGreaterEqual, 1")
)


@pytest.mark.parametrize(
    ("own", "other", "initial", "sets"),
    [
        ([GO.replace(", 1)", ", 0)")], [], 0, 1),
        ([GO, TAKE], [], 0, 1),
        ([GO, BACK], [BACK.replace("Release", "AcquireGreaterEqual"), TAKE], 0, 1),
        ([GO], [], 1, 0),
    ],
)
def test_a_barrier_that_is_moved_otherwise_or_never_by_the_host_is_none(
    own: list[str], other: list[str], initial: int, sets: int
) -> None:
    """Of the last one the host knows nothing: the value is given at the start."""
    design = barrier(sets).replace(GO, "\n".join(own)).replace("init = 0", f"init = {initial}")
    back = '%back = aie.lock(%c, 10) {init = 0 : i32, sym_name = "back"}'
    design = design.replace("%go = aie.lock", f"{back}\n%go = aie.lock", 1)
    more = core("d", loop(9, *other))
    design = design.replace("aie.runtime_sequence", f"{more}\naie.runtime_sequence") if other else design
    assert not checked(design, "MT0142")
    done = load(Text("d.mlir", design)).run(np.arange(64, dtype=np.int32), max_cycles=20_000)
    assert {each.code for each in done.result.findings} == (set() if sets else {"MT0302"})


def test_a_barrier_is_no_finding_of_a_run_that_finished() -> None:
    one = Suspect("MT0142", Severity.WARNING, "seldom", waiting=[("core (0, 2)",)])
    assert Oddities((), (one,)).before((), finished=True) == ()
    assert Oddities((), (one,)).before((), finished=False) == (one,)


X = 'aie.lock(%{}, 9) {{init = 0 : i32, sym_name = "x"}}'
HANGS = "aie.use_lock(%x, AcquireGreaterEqual, 1)"


def test_a_core_of_another_path_that_waits_for_a_lock_is_named_itself() -> None:
    """The core of this path that stops within a round has nothing to do with it, and is no finding alone."""
    small = "[0, 0, 0, 0][1, 1, 1, 16][0, 0, 0, 1]"
    own = ["%e = aie.tile(0, 4)", "%x = " + X.format("e"), fifo("r", "e", "s", 16)]
    hangs = core("e", HANGS, use("r", "Produce", 16))
    more = [copied("r", "b", 2, small).replace("{id", "{issue_token = true, id")]

    def design(*, alone: bool) -> str:
        return device(
            *([] if alone else own),
            fifo("in", "s", "c", 16),
            fifo("mid", "c", "d", 16),
            fifo("out", "d", "s", 16),
            core("c", loop(9, use("in", "Consume", 16), use("mid", "Produce", 16))),
            core("d", loop(9, loop(3, use("mid", "Consume", 16)), use("out", "Produce", 16))),
            *([] if alone else [hangs]),
            host(copied("out", "b", 0, small).replace("{id", "{issue_token = true, id"),
                 copied("in", "a", 1), *([] if alone else more), WAIT,
                 *([] if alone else [WAIT.replace("out", "r")])),
        )  # fmt: skip

    assert not [each for each in all_findings(design(alone=True)) if each.severity is Severity.ERROR]
    (found,) = [each for each in all_findings(design(alone=False)) if each.severity is Severity.ERROR]
    assert found.code == "MT0103"
    assert found.message.startswith("core (0, 4) waits for lock 9 'x' of tile (0, 4)")


def test_a_suspect_leaves_waits_that_it_does_not_explain() -> None:
    def wait(who: str, code: str = "MT0302") -> Finding:
        return Finding(code, Severity.ERROR, f"{who} waits for words", (Side(who, ""),))

    own, other = wait("core (0, 2)"), wait("core (0, 4)")
    one = Suspect(UNMOVED, Severity.WARNING, "left out", waiting=[("core (0, 2)",)], latent=True)
    assert instead_of_waits([one], [own, other]) == (replace(one, severity=Severity.ERROR), other)
    sure = Finding("MT0126", Severity.WARNING, "a BD is left out", (Side("memory(0,1) MM2S 0", ""),))
    chained = replace(sure, code="MT0124")
    assert instead_of_waits([chained], [own, other]) == (replace(chained, severity=Severity.ERROR),)
    faults = wait("core (0, 4)", "MT0110"), wait("core (0, 4)", "MT0322")
    assert instead_of_waits([chained], [own, *faults])[1:] == faults
    assert instead_of_waits([one], [own, *faults])[1:] == faults
    assert instead_of_waits([one], [own, wait("core (0, 2)", "MT0110")])[1:] == ()
    unknown = replace(wait("core (0, 2)", "MT0322"), severity=Severity.NOTE)  # whose releaser is
    assert instead_of_waits([one], [unknown]) == (replace(one, severity=Severity.ERROR),)


def never(body: str) -> str:
    """A core that takes objects of a second object FIFO on a way that is never gone, and waits for a lock."""
    return device(
        "%x = " + X.format("c"),
        *(fifo(name, "s", "c", 16) for name in ("in", "two")),
        fifo("out", "c", "s", 16),
        core("c", loop(9, use("in", "Consume", 16), body, HANGS, use("out", "Produce", 16))),
        host(copied("out", "b", 0).replace("{id", "{issue_token = true, id"), copied("in", "a", 1), WAIT),
    )


@pytest.mark.parametrize(
    ("body", "codes"),
    [
        (f"%f = arith.constant false\nscf.if %f {{\n{use('two', 'Consume', 16)}\n}}", []),
        (loop(0, use("two", "Consume", 16)), []),
        (use("two", "Consume", 16), [UNMOVED]),
    ],
)
def test_an_object_fifo_that_no_way_comes_to_is_not_left_out(body: str, codes: list[str]) -> None:
    design = never(body)
    assert [each.code for each in load_still(Text("d.mlir", design)).oddities.chained] == codes
    errors = [each.code for each in all_findings(design) if each.severity is Severity.ERROR]
    assert errors == (codes or ["MT0103"])


def test_a_loop_that_is_off_is_suspected_beside_an_object_fifo_that_may_be_left_out() -> None:
    """Which of them it is the run tells: that of the core apart may be meant so, and be no finding."""
    apart = (
        f"%e = aie.tile(0, 4)\n{fifo('two', 's', 'e', 16)}\n{core('e', loop(9, use('two', 'Consume', 16)))}"
    )
    design = window(3).replace("aie.runtime_sequence", f"{apart}\naie.runtime_sequence")
    assert [each.code for each in load_still(Text("d.mlir", design)).oddities.chained] == [UNMOVED, UNEVEN]
    assert len(checked(design, UNEVEN)) == 1


def test_what_is_left_out_takes_the_place_of_what_is_uneven_only_where_it_stays() -> None:
    wait = Finding("MT0302", Severity.ERROR, "it waits for @two", (Side("core (0, 2)", ""),))
    late = Suspect(UNMOVED, Severity.WARNING, "left out", waiting=[("@two",)], latent=True)
    uneven = Finding(UNEVEN, Severity.WARNING, "a loop", (Side("core (0, 2)", ""),))
    assert instead_of_waits([late, uneven], [wait]) == (replace(late, severity=Severity.ERROR),)
    assert instead_of_waits([late, uneven], []) == (uneven,)


@pytest.mark.parametrize("kind", ["V2", np.uint16])
def test_words_are_the_same_whatever_type_a_file_has(kind: npt.DTypeLike) -> None:
    """A file of NumPy has bfloat16 as two bytes without a meaning."""
    words = np.arange(8, dtype=np.uint16)
    assert is_same(words, words.copy().view(kind))
    assert not is_same(words, words[::-1].copy().view(kind))
    assert not is_same(None, words)


PROGRAM = """import numpy as np
import aie.iron as iron
from aie.iron import ObjectFifo, Program, Runtime, Worker

LINE = np.ndarray[(16,), np.dtype[np.int32]]
ALL = np.ndarray[(64,), np.dtype[np.int32]]

@iron.jit
def design(x: iron.In, y: iron.Out):
    one, other = ObjectFifo(LINE, name="x"), ObjectFifo(LINE, name="y")

    def copies(into, out):
        taken, given = into.acquire(1), out.acquire(1)
        given[0] = taken[0]
        into.release(1)
        out.release(1)

    def sequence(x, y, into, out):
        into.fill(x)
        out.drain(y, wait=True)

    worker = Worker(copies, [one.cons(), other.prod()], while_true=False)
    runtime = Runtime(sequence, [ALL, ALL, one.prod(), other.cons()])
    return Program(iron.get_current_device(), runtime, workers=[worker]).resolve_program()

design(iron.zeros(64, dtype=np.int32), iron.zeros(64, dtype=np.int32))
"""


def test_a_worker_that_runs_once_has_the_line_that_makes_it(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    (found,) = ProgramDesign(str(file))().run().findings
    line_made = next(n for n, each in enumerate(PROGRAM.splitlines(), 1) if "while_true" in each)
    assert found.code == UNEVEN
    assert f"makes 1 turn of its loop in line {line_made} " in found.message
