"""Does the abstract run of ``memtile check`` wait where every run waits, and nowhere else?"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from memtile import Array, MemoryTile
from memtile.bd.descriptor import Descriptor
from memtile.check.check import check
from memtile.check.check_result import CheckResult
from memtile.check.checked_program import of_design, of_mlir
from memtile.check.core_turns import CoreText, UndecidedError, cascades_by_text
from memtile.check.play import Counts
from memtile.check.task_list import GivenTask, LockStep, StaticBd
from memtile.cli.check import checked
from memtile.design.host import Host
from memtile.explain.bd_chains import BdChains
from memtile.explain.deadlock.build import Givers
from memtile.explain.deadlock.graph import PartyKind
from memtile.explain.findings import Severity
from memtile.importers.design import load, load_still
from memtile.importers.kernels.core_locks import released_by_cores
from memtile.importers.kernels.missing_programs import program_findings
from memtile.importers.mlir.token_packets import Text
from support.designs.severe import severe
from support.mlir.mlir_designs import device, host, loaded
from support.mlir.mlir_texts import PASSTHROUGH

CORPUS = Path(__file__).parents[1] / "corpus"


def found(make: Callable[[], MemoryTile | Array]) -> CheckResult:
    return check("design.py", lambda: of_design(make()))


def codes(result: CheckResult) -> list[str]:
    return [finding.code for finding in severe(result.findings)]


def mlir(tmp_path: Path, text: str) -> CheckResult:
    file = tmp_path / "design.mlir"
    file.write_text(text)
    return check(str(file), lambda: of_mlir(load_still(file, device="npu1")))


def of_corpus(name: str) -> str:
    return (CORPUS / f"{name}.mlir").read_text(encoding="utf-8")


def through(words: int, rounds: int, *, wait_first: bool = False) -> Array:
    """A block that comes from the host, lies in a memory tile and goes back, round by round."""
    array = Array("npu1", 1)
    interface, tile = array.interface_tile(0), array.memory_tile(0)
    source = array.external("source", np.arange(words * rounds, dtype=np.int32))
    target = array.external("target", np.zeros(words * rounds, np.int32))
    block, empty, full = tile.buffer("block", words), tile.lock(1, "empty"), tile.lock(0, "full")
    array.connect(interface.mm2s[0], tile.s2mm[0])
    array.connect(tile.mm2s[0], interface.s2mm[0])
    tile.s2mm[0].start(tile.write(block).guarded(empty.acquire(), full.release()), repeat=rounds)
    tile.mm2s[0].start(tile.read(block).guarded(full.acquire(), empty.release()), repeat=rounds)

    def sequence(host: Host):  # type: ignore[no-untyped-def]
        back = host.start(interface.s2mm[0], interface.write(target))
        yield back
        if wait_first:
            yield host.wait(back)
        yield host.start(interface.mm2s[0], interface.read(source))
        yield host.wait()

    array.host(sequence)
    return array


def test_a_design_that_comes_to_its_end_has_no_finding() -> None:
    assert codes(found(lambda: through(16, 4))) == []
    assert codes(found(lambda: through(512, 8))) == []  # more than the ports hold at a time


def copied(words: int, rounds: int) -> Array:
    """A block that a host sends through a memory tile, a task a round, and then waits."""
    array = Array("npu1", 1)
    interface, tile = array.interface_tile(0), array.memory_tile(0)
    source = array.external("source", np.arange(words, dtype=np.int32))
    target = array.external("target", np.zeros(words, np.int32))
    block, empty, full = tile.buffer("block", words), tile.lock(1, "empty"), tile.lock(0, "full")
    array.connect(interface.mm2s[0], tile.s2mm[0])
    array.connect(tile.mm2s[0], interface.s2mm[0])
    tile.s2mm[0].start(tile.write(block).guarded(empty.acquire(), full.release()), loop=True)
    tile.mm2s[0].start(tile.read(block).guarded(full.acquire(), empty.release()), loop=True)

    def sequence(host: Host):  # type: ignore[no-untyped-def]
        for _ in range(rounds):
            yield host.start(interface.s2mm[0], interface.write(target))
            yield host.start(interface.mm2s[0], interface.read(source))
        yield host.wait()

    array.host(sequence)
    return array


@pytest.mark.parametrize("cycles", [5, *range(360, 385, 5)])
def test_the_end_of_the_abstract_run_keeps_no_host_from_its_next_task(
    monkeypatch: pytest.MonkeyPatch, cycles: int
) -> None:
    monkeypatch.setattr("memtile.check.play.MOST_CYCLES", cycles)
    result = found(lambda: copied(64, 4))
    assert codes(result) == []
    assert [note.partition(": ")[0] for note in result.notes] == ["undecided whether every run finishes"]


def test_a_host_that_waits_for_what_its_next_step_would_bring_is_a_circle() -> None:
    result = found(lambda: through(16, 4, wait_first=True))
    assert codes(result) == ["MT0106"]
    assert "the host waits for the end of interface(0,0) S2MM 0" in result.findings[0].message


def test_what_the_ports_hold_is_no_hang() -> None:
    """A sender whose words all find room on their way waits for nobody, whoever takes them."""

    def lane(words: int) -> Array:
        array = Array("npu1", 2)
        one, two = array.memory_tile(0), array.memory_tile(1)
        once = two.lock(1, "once")
        one.mm2s[0].start(one.read(one.buffer("a", words, data=np.arange(words))))
        two.s2mm[0].start(two.write(two.buffer("b", 16)).guarded(once.acquire()), loop=True)
        array.connect(one.mm2s[0], two.s2mm[0])
        return array

    assert codes(found(lambda: lane(16 + 8))) == []
    assert codes(found(lambda: lane(16 + 4096))) == ["MT0103"]


@pytest.mark.parametrize(("taken", "expected"), [(1, []), (2, ["MT0122"])])
def test_what_a_core_takes_and_gives_is_counted(tmp_path: Path, taken: int, expected: list[str]) -> None:
    text = of_corpus("acquire-in-a-loop-fine")
    changed = text.replace(
        "aie.use_lock(%xfull, AcquireGreaterEqual, 1)", f"aie.use_lock(%xfull, AcquireGreaterEqual, {taken})"
    )
    assert codes(mlir(tmp_path, changed)) == expected


def test_a_core_that_hangs_on_data_is_not_blamed(tmp_path: Path) -> None:
    """What it gives then, nobody knows: it may give as much as it likes."""
    text = of_corpus("core-ends-early-hangs").replace("(%core) {", "(%core) {\n")
    assert codes(mlir(tmp_path, text)) == ["MT0135"]
    turns = "%turns = arith.constant 3 : index"
    assert text.count(turns) == 1
    read = "%held = memref.load %flag[%c0] : memref<1xindex>\n      %turns = arith.addi %held, %c0 : index"
    flag = "%flag = aie.buffer(%core) : memref<1xindex>\n    %c = aie.core("
    text = text.replace(turns, read).replace("%c = aie.core(", flag)
    assert codes(mlir(tmp_path, text)) == []


def test_a_remainder_by_0_decides_nothing(tmp_path: Path) -> None:
    text = of_corpus("core-ends-early-hangs")
    turns = "%turns = arith.constant 3 : index"
    zero = "%three = arith.constant 3 : index\n      %none = arith.constant 0 : index\n"
    assert (
        codes(mlir(tmp_path, text.replace(turns, f"{zero}%turns = arith.remui %three, %none : index"))) == []
    )


def test_who_takes_first_is_nobody_s_fault() -> None:
    """Two readers take from one lock, one unit each; who is first an abstract run does not say."""
    tile = MemoryTile()
    block, start = tile.buffer("block", 16), tile.lock(1, "start")
    once = tile.lock(0, "once")
    for number, given in ((0, once), (1, start)):
        tile.mm2s[number].start(tile.read(block).guarded(start.acquire(), given.release()))
        tile.mm2s[number].collect()
    assert codes(found(lambda: tile)) == []


def test_to_acquire_objects_is_to_hold_them(tmp_path: Path) -> None:
    """A core that holds one object and acquires two takes one more; there are two."""
    text = of_corpus("core-ends-early-fine").replace("constant 4 : index", "constant 2 : index")
    one = "%s = aie.objectfifo.acquire @in(Consume, 1) : !aie.objectfifosubview<memref<16xi32>>"
    assert text.count(one) == 1
    both = text.replace(one, one + "\n        " + one.replace("%s", "%more").replace("1)", "2)"))
    both = both.replace("(Produce, 1)", "(Produce, 2)").replace(
        "release @in(Consume, 1)", "release @in(Consume, 2)"
    )
    assert codes(mlir(tmp_path, both)) == []


EXACT = """module { aie.device(npu1_1col) {
  %t = aie.tile(0, 2)
  %s = aie.tile(0, 0)
  %b = aie.buffer(%t) {sym_name = "b"} : memref<16xi32>
  %l = aie.lock(%t, 0) {init = 1 : i32}
  %f = aie.lock(%t, 1) {init = 0 : i32}
  aie.flow(%t, DMA : 0, %s, DMA : 0)
  aie.shim_dma_allocation @out(%s, S2MM, 0)
  aie.core(%t) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    scf.for %i = %c0 to %c2 step %c1 {
      aie.use_lock(%l, Acquire, 1)
      aie.use_lock(%f, Release, 1)
    }
    aie.end
  }
  aie.mem(%t) {
    %0 = aie.dma_start(MM2S, 0, ^bd, ^end)
  ^bd:
    aie.use_lock(%f, AcquireGreaterEqual, 1)
    aie.dma_bd(%b : memref<16xi32>, 0, 16)
    aie.next_bd ^bd
  ^end:
    aie.end
  }
  aie.runtime_sequence(%x : memref<32xi32>) {
    aiex.npu.dma_memcpy_nd(%x[0,0,0,0][1,1,1,32][0,0,0,1]) {metadata = @out, id = 0 : i64} : memref<32xi32>
    aiex.npu.dma_wait {symbol = @out}
  }
} }
"""


def test_an_exact_value_is_there_in_each_turn(tmp_path: Path) -> None:
    """A core that waits for it leaves it (DEV-LOCK-3); one that takes it waits in its second turn."""
    assert codes(mlir(tmp_path, EXACT)) == []
    assert codes(mlir(tmp_path, EXACT.replace("%l, Acquire, 1", "%l, AcquireGreaterEqual, 1"))) == ["MT0122"]


def test_the_turns_of_a_core_end_where_the_text_does_not_decide(tmp_path: Path) -> None:
    file = tmp_path / "design.mlir"
    file.write_text(of_corpus("acquire-in-a-loop-fine"))
    made = load_still(file, device="npu1").configured
    (core,) = made.device.cores
    turns = list(CoreText(made, core).turns())
    released = released_by_cores(made)
    assert released is not None
    assert {turn.lock for turn in turns if turn.gives} == released
    assert sum(turn.takes for turn in turns) == sum(turn.gives for turn in turns)
    assert UndecidedError.__mro__[1] is Exception


def test_a_queue_that_is_full_whatever_the_timing_drops(tmp_path: Path) -> None:
    result = mlir(tmp_path, of_corpus("pushes-dropped-hangs"))
    assert codes(result) == ["MT0114"]
    assert "8 tasks are pushed to the full queue of interface(0,0) MM2S 0 'in'" in result.findings[0].message
    assert codes(mlir(tmp_path, of_corpus("pushes-dropped-fine"))) == []


def test_a_queue_that_is_full_because_of_a_hang_drops_too(tmp_path: Path) -> None:
    text = of_corpus("pushes-dropped-hangs")
    released = "aie.use_lock(%free, Release, 1)"
    assert text.count(released) == 1
    assert codes(mlir(tmp_path, text.replace(released, released.replace("1)", "0)")))) == ["MT0122", "MT0114"]


def test_a_core_that_the_host_starts_again_is_not_blamed(tmp_path: Path) -> None:
    """A design is not played where a host does more than to push and to wait."""
    text = of_corpus("core-ends-early-hangs")
    write = "aiex.npu.write32 {address = 0x32000 : ui32, column = 0 : i32, row = 2 : i32, value = 1 : ui32}\n"
    at = text.index("aiex.npu.dma_memcpy_nd")
    assert codes(mlir(tmp_path, text[:at] + write + text[at:])) == []


def test_what_compression_makes_of_words_holds_nobody_up() -> None:
    file = Path(__file__).parents[2] / "examples/compressed_weights.py"
    (result,) = checked([str(file)])
    assert codes(result) == []


def undecided(result: CheckResult) -> list[str]:
    return [note for note in result.notes if note.startswith("undecided whether every run finishes: ")]


def test_what_an_abstract_run_does_not_decide_is_said_with_its_reason(tmp_path: Path) -> None:
    text = of_corpus("gather-with-one-lock-pair-hangs")
    free = re.compile(r"init = 1 : i32, sym_name = \"free")
    (shared,) = undecided(mlir(tmp_path, free.sub('init = 2 : i32, sym_name = "free', text)))
    assert shared.endswith("several channels or cores acquire one lock, and timing decides their order")
    (packets,) = undecided(mlir(tmp_path, of_corpus("arbiter-in-a-pipeline-hangs")))
    assert packets.endswith("several packets share a route, and timing decides their order")
    text = of_corpus("core-ends-early-fine")
    read = "%held = memref.load %flag[%c0] : memref<1xindex>\n      %turns = arith.addi %held, %c0 : index"
    text = re.sub(r"%turns = arith.constant \d+ : index", read, text)
    flag = "%flag = aie.buffer(%core) : memref<1xindex>\n    %c = aie.core("
    (data,) = undecided(mlir(tmp_path, text.replace("%c = aie.core(", flag)))
    assert data.endswith("what core (0, 2) does hangs on data")
    assert undecided(mlir(tmp_path, PASSTHROUGH)) == []


def test_a_release_to_the_wrong_lock_is_found_before_a_run(tmp_path: Path) -> None:
    """A release that nobody takes leaves a core waiting: locks alone, as sums, do not show it."""
    (finding,) = mlir(tmp_path, of_corpus("core-releases-the-wrong-lock-hangs")).findings
    assert finding.code == "MT0122"
    assert finding.sides[0].place.endswith("design.mlir:45")


def test_the_passthrough_is_fine(tmp_path: Path) -> None:
    assert codes(mlir(tmp_path, PASSTHROUGH)) == []


def test_a_core_of_the_text_gives_no_lock_that_it_does_not_name(tmp_path: Path) -> None:
    """In a hang a core is one that may release a lock only if its text does."""
    file = tmp_path / "design.mlir"
    file.write_text(of_corpus("dma-forgets-its-release-hangs"))
    loaded = load(file, device="npu1")
    loaded.run(np.arange(64, dtype=np.int32), max_cycles=20_000)
    engine = loaded.array.engine
    numbers = {name: lock for lock, name in engine.lock_names.items()}
    givers = Givers(engine, BdChains(engine))
    assert givers.of(numbers["y_free"]) == []
    assert [need.of.kind for need in givers.of(numbers["x_free"])] == [PartyKind.CORE]
    assert [need.of.kind for need in givers.of(numbers["x_full"])] == [PartyKind.CHANNEL]


def test_what_was_taken_and_given_is_counted_by_execution() -> None:
    """Of a ring of two descriptors after a first one, and of a chain that is run three times."""

    def made(number: int) -> StaticBd:
        descriptor = Descriptor("memory", 16, 0)
        return StaticBd(number, descriptor, LockStep(number, -1), LockStep(number, 2))

    ring = GivenTask(0, [made(0), made(1), made(2)], True, 1, False, 0, again=1)
    chain = GivenTask(0, [made(3), made(4)], False, 3, False, 0)
    counts = Counts([chain, ring], 6 + 4, running=True)
    assert dict(counts.taken) == {3: 3, 4: 3, 0: 1, 1: 2, 2: 2}
    assert dict(counts.given) == {3: 6, 4: 6, 0: 2, 1: 4, 2: 2}
    begun = Counts([chain, ring], 2, running=True)
    assert dict(begun.taken) == {3: 2, 4: 1}
    assert dict(begun.given) == {3: 2, 4: 2}


@pytest.mark.parametrize(("given", "codes"), [(0, ["MT0106"]), (1, []), (2, [])])
def test_cores_of_a_text_without_host_that_wait_for_each_other_are_found(
    given: int, codes: list[str]
) -> None:
    locks = "\n".join(f"%l{n} = aie.lock(%c, {n}) {{init = 0 : i32}}" for n in (0, 1, 2))
    cores = [
        f"aie.core(%{tile}) {{ aie.use_lock(%l{takes}, AcquireGreaterEqual, 1)\n"
        f"aie.use_lock(%l{gives}, Release, 1)\n aie.end }}"
        for tile, takes, gives in (("c", 0, 1), ("d", 1, given))
    ]
    result = check("d", lambda: of_mlir(loaded(device(locks, *cores))))
    assert [each.code for each in result.findings if each.code in ("MT0103", "MT0106")] == codes


@pytest.mark.parametrize(
    ("steps", "codes"), [(("wait", "put"), ["MT0106"]), (("put", "wait"), []), (("wait", "call"), [])]
)
def test_a_circle_through_a_cascade_is_found(steps: tuple[str, ...], codes: list[str]) -> None:
    """What a function would put, nobody knows: then neither end of the cascade is played."""
    acts = {
        "wait": "aie.use_lock(%back, AcquireGreaterEqual, 1)",
        "put": "aie.put_cascade(%v : vector<16xi32>)",
        "call": "func.call @put() : () -> ()",
    }
    body = "\n".join(acts[step] for step in steps)
    text = device(
        "func.func private @put()\n%back = aie.lock(%c, 0) {init = 0 : i32}\naie.cascade_flow(%d, %c)",
        f"aie.core(%d) {{ %v = arith.constant dense<1> : vector<16xi32>\n{body}\naie.end }}",
        "aie.core(%c) { %v = aie.get_cascade() : vector<16xi32>\n",
        "aie.use_lock(%back, Release, 1)\naie.end }",
    )
    subject = of_mlir(load_still(Text("d.mlir", text)))
    assert (cascades_by_text(subject.made[0]) is None) == ("call" in steps)
    found = check("d", lambda: subject).findings
    assert [each.code for each in found if each.code in ("MT0103", "MT0106")] == codes


@pytest.mark.parametrize(
    ("turns", "takes", "waits"),
    [(4, 4, False), (3, 4, True), (4, 1 << 40, False), (0, 4, True)],
    ids=["even", "less", "endless", "no program"],
)
def test_a_core_of_a_text_without_host_that_others_leave_waiting(turns: int, takes: int, waits: bool) -> None:
    """One whose loop has no end may wait for ever."""
    view = "!aie.objectfifosubview<memref<4xi32>>"
    constants = "%a = arith.constant 0 : index\n%e = arith.constant 1 : index"

    def core(tile: str, port: str, many: int) -> str:
        lines = (
            f"%x{tile} = aie.core(%{tile}) {{\n{constants}",
            f"%b = arith.constant {many} : index\nscf.for %i = %a to %b step %e {{",
            f"%v = aie.objectfifo.acquire @of({port}, 1) : {view}",
            f"aie.objectfifo.release @of({port}, 1)\n}}\naie.end\n}}",
        )
        return "\n".join(lines)

    of = "aie.objectfifo @of(%c, {%d}, 2 : i32) : !aie.objectfifo<memref<4xi32>>"
    text = device(of, *([core("c", "Produce", turns)] if turns else []), core("d", "Consume", takes))
    found = check("d", lambda: of_mlir(loaded(text))).findings
    assert [each.severity for each in found] == [Severity.WARNING] * waits
    line = next(n for n, each in enumerate(text.splitlines(), 1) if "(Consume, 1) :" in each)
    assert all(f"core (0, 3) waits in line {line} for a full object of @of" in each.message for each in found)


@pytest.mark.parametrize("port", ["Produce", "Consume"])
def test_a_core_without_a_program_at_a_fifo_is_found_where_nothing_is_played(port: str) -> None:
    view = "!aie.objectfifosubview<memref<4xi32>>"
    ends = "%d, {%c}" if port == "Produce" else "%c, {%d}"
    text = device(
        f"aie.objectfifo @of({ends}, 2 : i32) : !aie.objectfifo<memref<4xi32>>",
        f"%x = aie.core(%d) {{\n%v = aie.objectfifo.acquire @of({port}, 1) : {view}\naie.end\n}}",
    )
    line = next(n for n, each in enumerate(text.splitlines(), 1) if f"({port}, 1) :" in each)
    subject = of_mlir(load_still(Text("d.mlir", text)))
    (said,) = program_findings(subject.made, played=False)
    waits = f"core (0, 3) waits in line {line} for objects of @of"
    assert said.message == f"core (0, 2) has no program, and {waits}."


CASCADE = """
    aie.cascade_flow(%d, %c)
    %x = aie.core(%d) {
      %v = arith.constant dense<1> : vector<16xi32>
      aie.put_cascade(%v : vector<16xi32>)
      aie.end
    }"""


def test_a_core_without_a_program_at_a_cascade_is_found() -> None:
    (said,) = check("d", lambda: of_mlir(loaded(device(CASCADE, host())))).findings
    assert said.message == "core (0, 2) has no program, and core (0, 3) puts values to it by a cascade."
