"""Ways to run the array of a design that must agree with one run of it: a check for each."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from adversary.array_designs import Design, build, empty, features, fill
from adversary.array_hosts import Again, Hosted
from adversary.array_orders import Rewired
from adversary.array_parts import Cascade, CoreStream, Feed, Packets
from adversary.conversation import answers
from adversary.interpreter import digests, interpreted
from memtile import Array, RunOptions, run_many
from memtile.arch.devices import ARRAY_BASE
from memtile.arch.tiles import WORD_BYTES
from memtile.errors import DesignError, MemtileError
from memtile.explain.results import Status
from memtile.mlir_writer.designs import kernel_functions, to_mlir
from memtile.programs import (
    ArrayShape,
    BlockWrite,
    MaskWrite,
    Operation,
    Write,
    apply,
    read_program,
    record,
)
from support.designs import flowing_designs, runs_without_words
from support.designs.host_looks import looks
from support.designs.repeating_designs import EAGER
from support.formats.programs import cdo_of
from support.mlir.mlir_designs import loaded
from support.mlir.round_trip import differences as written_differences

MOST = 20_000  # cycles of a phase
INTERPRETED = 150  # cycles
_END_OF_HOST, _LEFT_OUT = "MT0318", "MT0304"  # the latter is left out beside the former
_NOT_SAVED = "a saved array does not hold its kernel"
_OF_ENDS = (_END_OF_HOST, _LEFT_OUT)
_NEEDS_WORDS = {"kernels", "hosts", "packets", "compression", "out of order"}
_OF_CUTS = ("fast_forward", "cycles_before", "limit")
_OF_WORDS = ("words", "checks", "compared", "bit_exact", "needed")


class NotApplicableError(Exception):
    """A pair that a design has nothing for; the text says why."""


class Ended(NamedTuple):
    """A run.

    Attributes:
        array: at its end.
        facts: what the results of its phases say.
    """

    array: Array
    facts: list[dict[str, Any]]


def ended(design: Design, *, skips: bool = True, cuts: Iterable[int] = (), data: bool = True) -> Ended:
    """Run a design, with a look for periods wherever one is possible, or cycle by cycle.

    Args:
        design: what runs.
        skips: whether time is skipped.
        cuts: cycles of runs before the last one.
        data: whether words move.
    """
    array = build(design)
    return Ended(array, played(array, design, skips=skips, cuts=cuts, data=data))


def played(
    array: Array,
    design: Design,
    *,
    skips: bool = True,
    cuts: Iterable[int] = (),
    data: bool = True,
    most: int = MOST,
) -> list[dict[str, Any]]:
    """Run all phases of an array, the first one for so many cycles, and return what the results say."""
    array.engine.forward.free = EAGER
    options = RunOptions(fast_forward=skips, data=data)
    facts, left = list[dict[str, Any]](), most
    try:
        for cycles in cuts:
            array.run(replace(options, max_cycles=cycles))
            left -= cycles
        facts.append(_facts(array.run(replace(options, max_cycles=left))))
        for part in design.parts:
            if isinstance(part, Again):
                part.act(array)
                facts.append(_facts(array.run(replace(options, max_cycles=MOST))))
    except MemtileError as error:  # of a design, or of a host whose access nothing answers
        facts.append({"error": str(error)})
    return facts


def _facts(result: Any) -> dict[str, Any]:
    found = {name: value for name, value in result.as_json().items() if name not in _OF_CUTS}
    outputs = {name: words.tobytes() for name, words in result.outputs.items()}
    said = {code: [str(each) for each in result.findings if each.code == code] for code in _OF_ENDS}
    others = [str(each) for each in result.findings if each.code not in _OF_ENDS]
    return {**found, "needed": [*result.words_needed_by], "findings": others, **said, "outputs": outputs}


class Trial:
    """A design, and its usual run, which is run once for all pairs.

    Args:
        design: the design.
        array: of the design, before its first cycle; None = it is not built yet.
    """

    def __init__(self, design: Design, array: Array | None = None) -> None:
        self.design, self._array = design, array

    @cached_property
    def usual(self) -> Ended:
        """The run in one piece, with words and with time skipped."""
        array = self._array or build(self.design)
        return Ended(array, played(array, self.design))

    def has(self, kind: type) -> bool:
        """Whether the design has a part of a class."""
        return any(isinstance(part, kind) for part in self.design.parts)


def _agree(one: Ended, other: Ended, without: Iterable[str] = (), *, cut: bool = False) -> None:
    for number, (mine, its) in enumerate(zip(one.facts, other.facts, strict=True)):
        unlike = {name for name in {*mine, *its} if mine.get(name) != its.get(name)} - {*without}
        if cut and _END_OF_HOST in unlike:  # only the run that had the host says it
            unlike -= {*_OF_ENDS}
        said = {name: (str(mine.get(name))[:200], str(its.get(name))[:200]) for name in sorted(unlike)}
        assert said == {}, f"phase {number}"
    assert one.array.engine.now == other.array.engine.now


def skipped(trial: Trial) -> None:
    """Time and polls of hosts skipped, and every cycle stepped and every poll made."""
    with looks(every=True):
        stepped = ended(trial.design, skips=False)
    _agree(trial.usual, stepped)
    assert stepped.array.engine.forward.jumps == 0
    assert flowing_designs.differences(trial.usual.array.engine, stepped.array.engine) == set()


def pieces(trial: Trial) -> None:
    """One run, and runs one after the other."""
    cut = ended(trial.design, cuts=trial.design.stops, skips=len(trial.design.stops) % 2 == 0)
    _agree(trial.usual, cut, cut=True)
    assert flowing_designs.differences(trial.usual.array.engine, cut.array.engine) == set()


def wordless(trial: Trial) -> None:
    """With words and without."""
    if features(trial.design) & _NEEDS_WORDS:
        raise NotApplicableError("its time depends on words")
    without = ended(trial.design, data=False)
    _agree(trial.usual, without, (*_OF_WORDS, "outputs"))
    assert runs_without_words.differences(trial.usual.array.engine, without.array.engine) == set()


def compiled(trial: Trial) -> None:
    """Compiled functions and the same functions in the interpreter."""
    mine, its = digests("array", trial.design, INTERPRETED), interpreted("array", trial.design, INTERPRETED)
    assert {name for name in {*mine, *its} if mine.get(name) != its.get(name)} == set()


def threads(trial: Trial) -> None:
    """One after the other and two at a time."""
    if trial.has(Again):
        raise NotApplicableError("run_many has one phase")
    if "error" in trial.usual.facts[-1]:
        raise NotApplicableError("run_many raises the error of a design")
    made = [partial(_eager, trial.design) for _ in range(3)]
    found = [_facts(each) for each in run_many(made, threads=2, max_cycles=MOST)]
    assert found == trial.usual.facts * 3


def _eager(design: Design) -> Array:
    array = build(design)
    array.engine.forward.free = EAGER
    return array


def saved(trial: Trial) -> None:
    """Undisturbed, and through a file in between."""
    array, design = build(trial.design), trial.design
    with tempfile.TemporaryDirectory() as folder:
        path, cuts = Path(folder) / "saved", 0
        for cycles in (0, *design.stops, MOST - sum(design.stops)):
            try:
                array.run(cycles)
                cuts += cycles
                array.save(path)
            except DesignError:
                continue  # a kernel or a host is at work
            break
        else:
            raise NotApplicableError("kernels or hosts are at work to the end")
        again = Array.load(path)
    assert not array.diff(again)
    one, other = (Ended(each, played(each, design, most=MOST - cuts)) for each in (array, again))
    if any(_NOT_SAVED in fact.get("error", "") for fact in other.facts):
        raise NotApplicableError("a core is reset whose kernel was not saved")
    _agree(one, other, cut=True)  # a file has no hosts
    assert not one.array.diff(other.array)
    if cuts < MOST:
        _agree(trial.usual, other, cut=True)
        assert not trial.usual.array.diff(other.array)


def written(trial: Trial) -> None:
    """A design, the text that it is written as, and the text of that one."""
    made = build(trial.design)
    arguments = [buffer.array.copy() for buffer in made.engine.external.buffers.values()]
    try:
        text = to_mlir(made)
    except MemtileError as error:
        raise NotApplicableError(f"not written: {str(error)[-120:]}") from None
    if trial.has(Cascade) or trial.has(CoreStream):
        return  # functions of a text put nothing on a cascade or a stream
    with tempfile.TemporaryDirectory() as folder:
        hosts = trial.has(Hosted)
        found = written_differences(build(trial.design), text, Path(folder) / "d.mlir", hosts=hosts)
    assert found == []
    again = to_mlir(loaded(text, kernel_functions(build(trial.design))))
    ran = [_ran(each, trial.design, [array.copy() for array in arguments]) for each in (text, again)]
    assert ran[0] == ran[1]


def _ran(text: str, design: Design, arguments: list[Any]) -> Any:
    """What a text does with arrays of the host."""
    read = loaded(text, kernel_functions(build(design)))
    if read.sequence is None:
        result = read.array.run(max_cycles=MOST)
    else:
        result = read.run(*arguments, max_cycles=MOST).result
    facts = result.status, result.cycles, [each.code for each in result.findings]
    return facts, [array.tobytes() for array in arguments], read.array.engine.state.memory.tobytes()


def live(trial: Trial) -> None:
    """Registers written through the socket of a server, from a file, and by the design."""
    design = trial.design._replace(access=0)
    if trial.has(Hosted) or trial.has(Feed) or "traces" in features(design):
        raise NotApplicableError("its host is a function in Python, or the test bench")
    direct = empty(design)
    recording = record(direct)
    builder = fill(design, direct)
    operations, memory = recording.operations, list(direct.engine.external.buffers.values())
    arrays = []
    for _ in range(2):
        array = empty(design)
        for buffer in memory:
            array.external(buffer.name, buffer.array.copy(), buffer.address)
        arrays.append(array)
    served, filed = arrays
    assert not answers("".join(_lines(operations, empty(design))).encode(), served)
    shape = ArrayShape(filed.columns, filed.rows, filed.device.memory_tile_rows)
    apply(read_program(cdo_of(operations), "d.cdo").operations, filed.door.at_once(), shape)
    for place, kernel in builder.kernels.items():  # cores begin when all is written
        for array in arrays:
            array.compute_tile(*place).run_kernel(kernel)
    direct_end, served_end, filed_end = (array.run(MOST).status for array in (direct, served, filed))
    assert filed_end == direct_end
    assert direct.engine.now == filed.engine.now
    assert flowing_designs.differences(direct.engine, filed.engine) == set()
    hangs_on_time = trial.has(Rewired) or any(isinstance(p, Packets) and p.senders > 1 for p in design.parts)
    if direct_end is Status.LIMIT or hangs_on_time:
        return  # what is done by the limit, and when a packet comes, hangs on the time that a client takes
    assert served_end == direct_end
    assert np.array_equal(direct.engine.state.memory, served.engine.state.memory)
    for name, buffer in direct.engine.external.buffers.items():
        assert np.array_equal(buffer.array, served.engine.external.buffers[name].array), name


def _lines(operations: Iterable[Operation], shadow: Array) -> Iterator[str]:
    """Lines of a client that writes what operations do to an array; a client knows what it has written."""
    door = shadow.door.at_once()
    for each in operations:
        match each:
            case Write(address, value):
                door.write32(address, value)
                yield _line(address, value)
            case BlockWrite(address, words):
                door.block_write32(address, words)
                yield from (_line(address + WORD_BYTES * n, word) for n, word in enumerate(words))
            case MaskWrite(address, mask, value):
                yield _line(address, door.read32(address) & ~mask | value & mask)
                door.mask_write32(address, mask, value)
            case _:
                raise AssertionError(each)


def _line(address: int, value: int) -> str:
    return f"W 0X{ARRAY_BASE + address:016X} 0X{int(value):08X}\n"


class ArrayPair(NamedTuple):
    """A way to run a design that must agree with its usual run.

    Attributes:
        way: raises AssertionError if it does not.
        every: of so many designs one is run this way.
    """

    way: Callable[[Trial], None]
    every: int

    def check(self, design: Design) -> None:
        """Raise AssertionError if a design does not agree."""
        self.way(Trial(design))


ARRAY_PAIRS: dict[str, ArrayPair] = {
    "array-skipped": ArrayPair(skipped, 1),
    "array-pieces": ArrayPair(pieces, 1),
    "array-wordless": ArrayPair(wordless, 1),
    "array-live": ArrayPair(live, 5),
    "array-written": ArrayPair(written, 6),
    "array-threads": ArrayPair(threads, 10),
    "array-compiled": ArrayPair(compiled, 15),
    "array-saved": ArrayPair(saved, 15),
}
