"""Are the instructions of a design those of its host sequence, and do they do the same in a build?"""

from __future__ import annotations

import struct

import numpy as np
import pytest

from memtile import Array, Status
from memtile.importers.design import load
from memtile.importers.mlir.token_packets import Text
from memtile.programs import (
    Given,
    Header,
    Transaction,
    Wanted,
    read_transaction,
    run_program,
    transaction_bytes,
)
from memtile.runs.operations import Operation, Other
from support.mlir.mlir_builds import configuration
from support.mlir.mlir_designs import NUMBERS
from support.mlir.mlir_texts import PASSTHROUGH

SIX = PASSTHROUGH.replace("%unused: memref<64xi32>", ", ".join(f"%u{n}: memref<64xi32>" for n in range(5)))


def design_instructions(text: str) -> bytes:
    return load(Text("d.mlir", text)).instructions()


def said(operation: Operation) -> object:
    """An operation without its bytes."""
    if isinstance(operation, Other):
        return operation.name, {pair for pair in operation.details if pair[0] != "action"}
    return operation


@pytest.mark.parametrize("version", [(0, 1), (1, 0)])
def test_instructions_read_back_are_the_steps(version: tuple[int, int]) -> None:
    design = load(Text("d.mlir", PASSTHROUGH))
    assert design.sequence is not None
    steps = design.sequence.steps
    read = read_transaction(transaction_bytes(Transaction(Header(version, 3, 6, 1, 1), tuple(steps))), "x")
    assert list(map(said, read.operations)) == list(map(said, steps))
    assert any(isinstance(step, Other) for step in steps)


def test_a_build_of_the_instructions_does_the_same() -> None:
    steps = read_transaction(design_instructions(PASSTHROUGH), "insts.bin")
    assert steps.header == Header((1, 0), 3, 6, 1, 1)
    before = configuration(PASSTHROUGH, chip="npu1_1col")
    wanted = Wanted("2", np.dtype(np.int32), (64,))
    operations = [*before, *steps.operations]
    done = run_program(operations, Array("npu1_1col"), [Given("0", NUMBERS)], [wanted], launch=len(before))
    np.testing.assert_array_equal(done.arrays["2"], NUMBERS)
    text = load(Text("d.mlir", PASSTHROUGH)).run(NUMBERS)
    assert done.result.status is Status.FINISHED
    assert done.result.cycles == text.result.cycles


def test_words_are_those_that_mlir_aie_writes() -> None:
    """mlir-aie's ``AIETargetNPU``: a token wait has 4 words, a short pointer patch 6."""
    words = [word for (word,) in struct.iter_unpack("<I", design_instructions(PASSTHROUGH))]
    assert words[-4:] == [0x80, 16, 0, 0x00010100]
    patch = words.index(0x81)
    assert words[patch : patch + 6] == [0x81, 24, words[patch + 2], 0, 0, 0]
    assert words[patch + 2] & ~0x1E0 == 0x1D004


def test_the_compiler_adds_what_firmware_does_not() -> None:
    """DEV-TXN-2: of arguments from the sixth on the offset has the start of the host's memory in it."""
    read = read_transaction(design_instructions(SIX), "x").operations
    offsets = {
        dict(each.details)["argument"]: dict(each.details)["offset"]
        for each in read
        if isinstance(each, Other) and each.name == "DDR_PATCH"
    }
    assert offsets == {0: 0, 6: 0x80000000}


def test_what_a_load_brings_is_not_in_the_instructions() -> None:
    inner = PASSTHROUGH.removeprefix("module {\n").removesuffix("}\n").replace("npu1_1col)", "npu1) @one")
    inner = inner.replace("runtime_sequence(", "runtime_sequence @part(")
    kinds = "(memref<64xi32>, memref<64xi32>, memref<64xi32>)"
    main = (
        "aie.device(npu1) @main {\naie.runtime_sequence(%a: memref<64xi32>, %b: memref<64xi32>) {\n"
        f"aiex.configure @one {{\naiex.run @part(%a, %b, %b) : {kinds}\n}}\n}}\n}}\n"
    )
    steps = load(Text("d.mlir", f"module {{\n{main}{inner}}}\n"), name="main").instructions()
    names = [each.name for each in read_transaction(steps, "x").operations if isinstance(each, Other)]
    assert names == ["LOADPDI", "DDR_PATCH", "DDR_PATCH", "TOKEN_WAIT"]
    first = read_transaction(steps, "x").operations[0]
    assert isinstance(first, Other)
    assert dict(first.details)["id"] == 0
    assert len(steps) == 16 + 16 + len(design_instructions(PASSTHROUGH)) - 16
