"""Does nothing of an MLIR text become code, whatever stands in its attributes, names, brackets and maps?

Hundreds of texts here; as many as one likes by
``PYTHONPATH=tests python tests/support/bodies/hostile_texts.py --texts 100000``.
"""

from __future__ import annotations

import ast

import pytest

from memtile.importers.mlir.forms import device_forms
from memtile.importers.mlir.sequence import program
from support.bodies.hostile_texts import CANARY, hostile, made, run, seeds, suspicious, watched
from support.mutated.mutated_runs import BAD, ended, table

MANY = 700
STEP = 37  # from one number to the next, so that all kinds of texts come


def test_the_seeds_have_every_operation_of_devices_and_sequences() -> None:
    texts = "\n".join(text for text, _ in seeds())
    assert {name for name in {*device_forms.HANDLERS, *program.HANDLERS} if name not in texts} == set()


def test_the_same_number_makes_the_same_text() -> None:
    assert hostile(7) == hostile(7) != hostile(8)


@pytest.mark.parametrize(
    "source",
    [f"{CANARY}()", "x = __import__('os')", "(lambda: 0)()", "x.__class__", "[y for y in z]", "f'{x}'", "("],
)
def test_code_that_only_a_payload_brings_is_seen(source: str) -> None:
    assert suspicious(source)
    assert suspicious(ast.parse("v_x_1 = w32(v_y[place(v_i, 4, 7)] + 1)")) == ""


def test_what_is_executed_is_seen() -> None:
    with watched() as executed:
        exec(f"{CANARY}()")
        exec(compile(f"x = {CANARY}", "<core>", "exec"))
    assert executed[0] == f"{CANARY} was called"
    assert executed[1].startswith("compiled Name")


@pytest.mark.parametrize("number", ["\u00b2", "\u0661", "9" * 5000, "0" * 5000 + "7"])
def test_what_is_written_for_a_number_in_a_body_is_refused_or_read(number: str) -> None:
    text = seeds()[0][0].replace("%c3 = arith.constant 3 ", f"%c3 = arith.constant {number} ")
    assert ended(0, lambda: run(text)).kind in ("result", "error")


@pytest.mark.chance
def test_no_text_becomes_code() -> None:
    found = [ended(n, made(n)) for n in range(0, MANY * STEP, STEP)]
    assert [each.text for each in found if each.kind in BAD] == [], table(found)
    assert {"result", "error"} == {each.kind for each in found}


@pytest.mark.slow
def test_the_texts_without_payloads_run() -> None:
    assert [run(text) for text, _ in seeds()[-2:]] == ["finished", "finished"]
