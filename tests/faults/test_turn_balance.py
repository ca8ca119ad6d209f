"""Is the loop of a core named whose turns do not fit the objects that come and go?"""

from __future__ import annotations

import numpy as np
import pytest

from memtile.check.check import check
from memtile.check.checked_program import of_mlir
from memtile.explain.findings import Severity
from memtile.importers.design import load, load_still
from memtile.importers.mlir.token_packets import Text
from support.designs.turning_cores import all_findings, checked, core, fifo, line, loop, use
from support.mlir.mlir_designs import WAIT, copied, device, host

UNEVEN = "MT0135"


def text(first: int = 4, second: int = 4, guard: str = "eq") -> str:
    """A core that takes parts of an array and gives them to the next one, each with one word of a host."""
    word = "scf.if %go {{\n{}\n}}".format(use("mid", "Consume", 8))
    return device(
        fifo("part", "s", "c", 16),
        fifo("factor", "s", "c", 64),
        fifo("mid", "c", "d", 8),
        fifo("result", "d", "s", 64),
        core(
            "c",
            loop(
                9,
                use("factor", "Consume", 64),
                loop(first, use("part", "Consume", 16), use("mid", "Produce", 8)),
            ),
        ),
        core(
            "d",
            loop(
                9,
                loop(1, f'%go = arith.cmpi "{guard}", %i1, %k0 : index', loop(second, word)),
                use("result", "Produce", 64),
            ),
        ),
        host(
            copied("result", "b", 0).replace("{id", "{issue_token = true, id"),
            copied("part", "a", 1),
            copied("factor", "a", 2),
            WAIT.replace("out", "result"),
        ),
    )  # fmt: skip


def test_loops_that_fit_have_no_finding() -> None:
    assert checked(text()) == []
    more = text(first=8).replace(use("factor", "Consume", 64), "").replace("to %k9", "to %k1")
    assert checked(more, UNEVEN) == []  # cores that end, and could do more
    assert checked(text(guard="sgt")) == []  # of which nobody knows whether it takes any


@pytest.mark.parametrize(
    ("first", "second", "turns", "says"),
    [
        (
            3,
            4,
            3,
            "core (0, 2) makes 3 turns of its loop in line {} and takes 3 objects of @part in a round, ",
        ),
        (
            4,
            3,
            3,
            "core (0, 3) makes 3 turns of its loop in line {} and takes 3 objects of @mid in a round, ",
        ),
        (
            5,
            4,
            5,
            "core (0, 2) makes 5 turns of its loop in line {} and takes 5 objects of @part in a round, ",
        ),
    ],
)
def test_the_loop_that_alone_does_not_fit_is_named(first: int, second: int, turns: int, says: str) -> None:
    design = text(first, second)
    (found,) = checked(design)
    where = line(design, turns)
    assert found.message == f"{says.format(where)}where 4 come; with 4 turns all object FIFOs are even."
    assert (found.severity, found.sides[0].place) == (Severity.WARNING, f"d.mlir:{where}")
    assert found.fix.endswith(f"in line {where} make 4 turns.")


def test_a_worker_that_makes_one_turn_may_go_on_for_ever() -> None:
    """As a Worker of IRON with while_true=False is."""
    design = device(
        fifo("x", "s", "c", 16),
        fifo("m", "c", "d", 16),
        fifo("y", "d", "s", 16),
        core("c", loop(9, use("x", "Consume", 16), use("m", "Produce", 16))),
        core("d", loop(1, use("m", "Consume", 16), use("y", "Produce", 16))),
        host(
            copied("y", "b", 0).replace("{id", "{issue_token = true, id"),
            copied("x", "a", 2),
            WAIT.replace("out", "y"),
        ),
    )
    (found,) = checked(design)
    assert found.code == UNEVEN
    where = line(design, 1)
    assert found.fix.startswith(
        f"Let core (0, 3) make 4 turns in line {where}, or loop without end (in IRON while_true=True of its "
        "Worker), or let"
    )
    assert found.message.startswith("One of these two is off: core (0, 3) makes 1 turn of its loop")
    assert found.sides[1].who.startswith("the host, the transfer")


def test_where_two_loops_could_be_off_none_is_named() -> None:
    """Nothing but the two tells how many objects there are to be."""
    design = text(4, 3).replace(use("part", "Consume", 16), "").replace(use("factor", "Consume", 64), "")
    assert checked(design) == []
    assert checked(text(3, 3)) == []  # nor is one where both are


@pytest.mark.parametrize(("first", "second"), [(3, 4), (4, 3), (3, 2)])
def test_of_two_loops_the_one_is_named_that_what_a_host_sends_and_receives_rules_out(
    first: int, second: int
) -> None:
    """An object that is sent gives four that are received, in one round or in two."""
    design = device(
        fifo("factor", "s", "c", 64),
        fifo("mid", "c", "d", 8),
        fifo("result", "d", "s", 16),
        core("c", loop(9, use("factor", "Consume", 64), loop(first, use("mid", "Produce", 8)))),
        core("d", loop(9, loop(second, use("mid", "Consume", 8), use("result", "Produce", 16)))),
        host(
            copied("result", "b", 0).replace("{id", "{issue_token = true, id"),
            copied("factor", "a", 2),
            WAIT.replace("out", "result"),
        ),
    )
    (found,) = checked(design)
    assert f"3 turns of its loop in line {line(design, 3)} " in found.message
    assert found.message.endswith("with 4 turns all object FIFOs are even.")


def test_a_run_that_hangs_names_the_loop_instead_of_waits() -> None:
    done = load(Text("d.mlir", text(3))).run(np.arange(64, dtype=np.int32), max_cycles=20_000)
    errors = [each for each in done.result.findings if each.severity is Severity.ERROR]
    assert [each.code for each in errors] == [UNEVEN]
    again = done.against({"1": np.zeros(64, np.int32)})
    assert again.result.findings[0].severity is Severity.ERROR


ONE = "[0, 0, 0, 0][1, 1, 1, 16][0, 0, 0, 1]"
PART, THREE = "[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]", "[0, 0, 0, 0][1, 1, 1, 48][0, 0, 0, 1]"


@pytest.mark.parametrize(
    ("turns", "sent", "taken", "says"),
    [
        (4, PART, PART, ""),
        (
            4,
            THREE,
            PART,
            "The transfer of @in in line 29 sends 3 objects, where core (0, 2) takes 4; with 4 ",
        ),
        (4, PART, THREE, "The transfer of @out in line 28 asks for 3 objects, where core (0, 2) gives 4; "),
        (9, THREE, PART, ""),  # one of these two
        (2, THREE, PART, ""),  # and here both
        (-4, PART, THREE, ""),  # of a core that keeps an object
    ],
)
def test_the_transfer_that_alone_does_not_fit_is_named(turns: int, sent: str, taken: str, says: str) -> None:
    out = use("out", "Produce", 16)
    out = out if turns > 0 else out.replace("acquire @out(Produce, 1)", "acquire @out(Produce, 2)")
    design = device(
        fifo("in", "s", "c", 16),
        fifo("out", "c", "s", 16),
        core("c", loop(abs(turns), use("in", "Consume", 16), out)),
        host(
            copied("out", "b", 0, taken).replace("{id", "{issue_token = true, id"),
            copied("in", "a", 1, sent),
            WAIT,
        ),
    )
    found = check("d.mlir", lambda: of_mlir(load_still(Text("d.mlir", design)))).findings
    messages = [(each.message, each.fix) for each in found if each.code in ("MT0337", UNEVEN)]
    assert [message.startswith(says) for message, _ in messages] == [True] * bool(says)
    assert all(fix.endswith(" 4 objects (64 words in all).") for _, fix in messages)


@pytest.mark.parametrize("second", [THREE, PART])
def test_transfers_that_are_alike_are_named_together(second: str) -> None:
    """Two inputs of one loop in a program, each too short by one object; or one of them alone."""
    design = device(
        fifo("in", "s", "c", 16),
        fifo("other", "s", "c", 16),
        fifo("out", "c", "s", 16),
        core("c", loop(4, *(use(*each) for each in (("in", "Consume", 16), ("other", "Consume", 16))),
                       use("out", "Produce", 16))),
        host(
            copied("out", "b", 0, PART).replace("{id", "{issue_token = true, id"),
            copied("in", "a", 1, THREE),
            copied("other", "a", 2, second),
            WAIT,
        ),
    )  # fmt: skip
    (found,) = [each for each in check("d.mlir", lambda: of_mlir(load_still(Text("d.mlir", design)))).findings
                if each.code in ("MT0337", UNEVEN)]  # fmt: skip
    assert found.code == "MT0337"
    both = second is THREE
    assert ("@in and @other" in found.message) is both
    assert ("send 3 objects each, where core (0, 2) takes 4" in found.message) is both
    assert ("each of them send 4 objects (64 words in all)." in found.fix) is both


def test_transfers_that_may_be_off_instead_of_a_loop_are_named_in_its_fix() -> None:
    design = device(
        fifo("in", "s", "c", 16),
        fifo("other", "s", "c", 16),
        fifo("out", "c", "s", 16),
        core("c", loop(9, loop(3, use("in", "Consume", 16), use("other", "Consume", 16)),
                       use("out", "Produce", 16))),
        host(
            copied("out", "b", 0, ONE).replace("{id", "{issue_token = true, id"),
            copied("in", "a", 1, PART),
            copied("other", "a", 2, PART),
            WAIT,
        ),
    )  # fmt: skip
    (found,) = checked(design)
    first, second = (n for n, each in enumerate(design.splitlines(), 1) if "memcpy_nd(%a" in each)
    assert found.fix == (
        f"Let the loop of core (0, 2) in line {line(design, 3)} make 4 turns, or let each of the transfers "
        f"of @in and @other in line {first} and line {second} send 3 objects (48 words in all)."
    )


@pytest.mark.parametrize(("turns", "codes"), [(3, ["MT0337"]), (2, ["MT0323", "MT0323"])])
def test_a_loop_of_several_cores_is_not_off_where_transfers_of_the_host_may_be(
    turns: int, codes: list[str]
) -> None:
    """Cores of one function that give an object for a few that they take; the host receives one of each."""
    names = [(f"x{n}", f"y{n}", tile) for n, tile in enumerate("cd")]
    takes = [
        copied(other, "b", n, ONE.replace("0]", f"{16 * n}]", 1)) for n, (_, other, _) in enumerate(names)
    ]
    design = device(
        *(fifo(one, "s", tile, 16) for one, _, tile in names),
        *(fifo(other, tile, "s", 16) for _, other, tile in names),
        *(core(tile, loop(9, loop(turns, use(one, "Consume", 16)), use(other, "Produce", 16)))
          for one, other, tile in names),
        host(*(each.replace("{id", "{issue_token = true, id") for each in takes),
             *(copied(one, "a", n, PART) for n, (one, *_) in enumerate(names, 2)),
             *(WAIT.replace("out", other) for _, other, _ in names)),
    )  # fmt: skip
    places = tuple(
        "p.py:7" if f"to %k{turns} " in each else f"p.py:{n}"
        for n, each in enumerate(design.splitlines(), 90)
    )
    assert [each.code for each in all_findings(design, places)] == codes


def repeated(repeat: int, turns: int = 8, sent: str = "weight") -> str:
    """A core that takes a weight with each part, and a memory tile that repeats each weight."""
    kind = "!aie.objectfifo<memref<8xi32>>"
    many = {"part": 64, "result": 64, sent: 16}
    moves = [
        copied(name, "b" if name == "result" else "a", n).replace("1, 1, 64]", f"1, 1, {many[name]}]")
        for n, name in enumerate(many)
    ]
    moves[1] = moves[1].replace("{id", "{issue_token = true, id")
    return device(
        fifo("part", "s", "c", 8),
        fifo("result", "c", "s", 8),
        fifo("weight", "s", "m", 8).replace("2 : i32", "1 : i32"),
        f"aie.objectfifo @again(%m, {{%c}}, 1 : i32) {{repeat_count = {repeat} : i32}} : {kind}",
        "aie.objectfifo.link [@weight] -> [@again] ([] [])",
        core("c", loop(turns, *(use(n, p, 8) for n, p in REPEATED))),
        host(*moves, WAIT.replace("out", "result")),
    )


REPEATED = (("part", "Consume"), ("again", "Consume"), ("result", "Produce"))


@pytest.mark.parametrize("turns", [8, 9])
def test_an_object_fifo_that_repeats_its_objects_too_seldom_is_named(turns: int) -> None:
    assert not checked(repeated(4, turns), "MT0337")
    (found,) = checked(repeated(3, turns), "MT0337")
    assert found.message == (
        "@again repeats each object 3 times (repeat_count) and so brings 6 objects, where 8 are taken; "
        "with 4 times all object FIFOs are even."
    )
    assert found.fix == "Give @again the repeat_count 4."
    (found,) = checked(repeated(2, turns), "MT0337")
    assert found.fix == (
        "Let the transfer of @weight in line 35 send 8 objects (32 words in all), "
        "or give @again the repeat_count 4."
    )


def behind(*inside: str) -> str:
    """A core that makes four objects of four, and releases what it makes behind its loop."""
    take, give = use("y", "Produce", 16).split("\n")
    return device(
        fifo("x", "s", "c", 16),
        fifo("y", "c", "s", 16),
        core("c", loop(9, loop(4, take, *inside, use("x", "Consume", 16)), give)),
        host(
            copied("y", "b", 0).replace("{id", "{issue_token = true, id"),
            copied("x", "a", 1),
            WAIT.replace("out", "y"),
        ),
    )


def test_a_release_behind_the_loop_of_its_acquire_is_named() -> None:
    (found,) = checked(behind())
    assert found.message.startswith("core (0, 2) acquires @y in each of the 4 turns of its loop in line ")
    assert found.fix == "Release @y in the loop, in each turn."


def test_a_release_behind_a_loop_that_releases_too_is_none_of_it() -> None:
    """Each object is given back twice, which is another mistake."""
    found = checked(behind(use("y", "Produce", 16).split("\n")[1]))
    assert not [each for each in found if each.fix == "Release @y in the loop, in each turn."]
