"""Does a finding about a descriptor that a host writes, or about a wait of a host, point to its line?"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from memtile.check.check import check
from memtile.check.checked_program import of_mlir
from memtile.explain.findings import Finding, Severity
from memtile.importers.design import load, load_still
from memtile.importers.mlir.token_packets import Text
from support.mlir.mlir_designs import FLOWS, NUMBERS, WAIT, copied, device, host

_WRITE = (
    "aiex.npu.writebd {{bd_id = {bd} : i32, buffer_length = {length} : i32, column = 0 : i32, row = 1 : i32,"
    " valid_bd = 1 : i32, lock_acq_enable = 1 : i32, lock_acq_id = {takes} : i32, lock_acq_val = 127 : i32,"
    " lock_rel_id = {gives} : i32, lock_rel_val = 1 : i32}}"
)
OUT = copied("out", "b", 1).replace("{id", "{issue_token = true, id")
IN = copied("in", "a", 0)


def ring(read: int = 64, full: int = 0) -> str:
    """A memory tile whose two descriptors a host writes."""
    return device(
        f'%free = aie.lock(%m, 0) {{init = 1 : i32, sym_name = "free"}}\n'
        f'%full = aie.lock(%m, 1) {{init = {full} : i32, sym_name = "full"}}',
        "aie.flow(%s, DMA : 0, %m, DMA : 0) aie.flow(%m, DMA : 0, %s, DMA : 0)" + FLOWS.rstrip(),
        host(
            _WRITE.format(bd=0, length=64, takes=64, gives=65),
            _WRITE.format(bd=1, length=read, takes=65, gives=64),
            "aiex.npu.push_queue(0, 1, S2MM:0) bd_id 0 repeat 0 {issue_token = false}",
            "aiex.npu.push_queue(0, 1, MM2S:0) bd_id 1 repeat 0 {issue_token = false}",
            OUT,
            IN,
            WAIT,
        ),
    )


def run(text: str, expected: Sequence[int] | None = None) -> list[Finding]:
    done = load(Text("d.mlir", text)).run(NUMBERS + 1, check=True, max_cycles=20_000)
    wanted = {} if expected is None else {"1": np.array(expected, np.int32)}
    return [*done.against(wanted).result.findings]


def checked(text: str) -> list[Finding]:
    return [*check("d.mlir", lambda: of_mlir(load_still(Text("d.mlir", text)))).findings]


def test_a_ring_that_a_host_writes_is_fine() -> None:
    assert [*run(ring()), *checked(ring())] == []


@pytest.mark.parametrize("look", [run, checked])
def test_a_descriptor_points_to_the_line_that_writes_it(look: Callable[[str], list[Finding]]) -> None:
    found = look(ring(read=32))[0]
    line = next(n for n, each in enumerate(ring().splitlines(), 1) if "bd_id = 1" in each)
    assert found.code == "MT0323"
    assert found.sides[0].place.startswith(f"BD 1, d.mlir:{line}:"), found


def test_a_lock_that_lets_the_reader_go_first_is_named_first() -> None:
    found = next(each for each in run(ring(full=1)) if each.code == "MT0201")
    assert found.message.startswith(
        "lock 1 'full' of tile (0, 1) starts at 1: memory(0,1) MM2S 0, BD 1 reads"
    )


def test_a_wait_that_finds_its_token_taken_names_the_wait_that_took_it() -> None:
    text = ring().replace(WAIT, f"{WAIT}\n{WAIT}")
    (found,) = run(text)
    line = text.splitlines().index(WAIT) + 1
    assert f"waits for token 2 of interface(0,0) S2MM 0 'out'; the wait at d.mlir:{line}:" in found.message
    assert found.fix.startswith("Let one of these wait for another channel")


LOOSE = device(
    *(f'%{name} = aie.buffer(%m) {{sym_name = "{name}"}} : memref<64xi32>' for name in "xy"),
    "aie.flow(%s, DMA : 0, %m, DMA : 0) aie.flow(%m, DMA : 0, %s, DMA : 0)" + FLOWS.rstrip(),
    "aie.memtile_dma(%m) {\n%0 = aie.dma(S2MM, 1) [{ aie.dma_bd(%x : memref<64xi32>) }]\n"
    "%1 = aie.dma(MM2S, 0) [{ aie.dma_bd(%y : memref<64xi32>) }]\naie.end\n}",
    host(OUT, IN, WAIT),
)


def test_a_task_without_a_stream_is_named_though_the_host_has_met_its_waits() -> None:
    """A test of the words that come out would say that a core has to add something."""
    first = next(each for each in run(LOOSE, [1] * 64) if each.code != "MT0203")
    assert (first.code, first.severity) == ("MT0312", Severity.WARNING)
    assert "memory(0,1) S2MM 1 has a task, and no stream leads to it" in first.message


ENDS = device(
    "aie.objectfifo @of_in(%s, {%c}, 1 : i32) : !aie.objectfifo<memref<64xi32>>\n"
    "aie.objectfifo @of_out(%c, {%s}, 1 : i32) : !aie.objectfifo<memref<64xi32>>\n"
    "%core = aie.core(%c) {\n%i = arith.constant 0 : index\n%n = arith.constant 2 : index\n"
    "%one = arith.constant 1 : index\nscf.for %k = %i to %n step %one {\n"
    "%p = aie.objectfifo.acquire @of_in(Consume, 1) : !aie.objectfifosubview<memref<64xi32>>\n"
    "%q = aie.objectfifo.acquire @of_out(Produce, 1) : !aie.objectfifosubview<memref<64xi32>>\n"
    "%r = aie.objectfifo.subview.access %q[0] : !aie.objectfifosubview<memref<64xi32>> -> memref<64xi32>\n"
    "%v = arith.constant 7 : i32\nmemref.store %v, %r[%i] : memref<64xi32>\n"
    "aie.objectfifo.release @of_in(Consume, 1)\naie.objectfifo.release @of_out(Produce, 1)\n}\naie.end\n}",
    host(OUT.replace("@out", "@of_out"), IN.replace("@in", "@of_in")),
)


def test_a_core_that_could_do_more_is_not_blamed_beside_a_wait_that_is_missing() -> None:
    assert {each.code for each in run(ENDS) if each.severity is Severity.ERROR} == {"MT0318"}


def test_a_part_of_an_array_that_ends_within_a_bd_of_the_other_end_is_named_before_a_run() -> None:
    """What a core does hangs on data, so that no abstract run says what becomes of the words."""
    half = ENDS.replace("[1, 1, 1, 64][0, 0, 0, 1]) {issue", "[1, 1, 1, 32][0, 0, 0, 1]) {issue")
    unknown = half.replace("%n = arith.constant 2 : index", "%n = memref.load %q0[%i] : memref<1xindex>")
    design = unknown.replace("%core =", "%q0 = aie.buffer(%c) : memref<1xindex>\n%core =")
    (found,) = (each for each in checked(design) if each.code == "MT0323")
    assert found.message == (
        "interface(0,0) S2MM 0 'of_out' takes 32 of the 64 elements of argument 1, and compute(0,2) MM2S 0 "
        "'of_out' sends 64 words with each BD."
    )
    assert found.fix == "Receive all 64 elements."
    assert not [each for each in checked(design.replace("1, 32]", "1, 64]")) if each.code == "MT0323"]
