"""Core bodies run interpreted with checked indices and compiled, from the same memory: do both do the same?

By hand: ``PYTHONPATH=tests python tests/support/bodies/body_runs.py --cases 10000``.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from memtile.corelib.rounding import Modes
from memtile.errors import MemtileError
from memtile.importers.design import load
from memtile.importers.kernels import body_segments
from memtile.importers.mlir.token_packets import Text
from support.bodies import body_aievec, body_control, body_memory, body_numbers, body_vectors
from support.bodies.body_texts import (
    BUFFERS,
    CONSTANTS,
    ELEMENTS,
    KINDS,
    Array,
    Maker,
    Memory,
    Piece,
    memory_for,
)
from support.bodies.checked_indices import CheckedArray

MAKERS: Mapping[str, Maker] = {
    **body_numbers.MAKERS,
    **body_memory.MAKERS,
    **body_vectors.MAKERS,
    **body_aievec.MAKERS,
    **body_control.MAKERS,
}
"""What writes a piece with an operation, by the name of the operation."""
IN_A_BODY = 25
"""Pieces that one text has, in a switch; the compiler takes them all at once."""
_GUARD = 4096  # bytes before and behind each buffer that must stay as they are
_FILLED = 0xA5
_SWITCH = "%s = memref.load %chosen[%c0] : memref<1xi32>\n%k = arith.index_cast %s : i32 to index"


class Outcome(NamedTuple):
    """What a run of a body leaves.

    Attributes:
        memory: all buffers, as bytes.
        actions: what the core did that others see, cycles among them.
        error: message of the error that ended it, or empty.
        bad: what must not be: a traceback, a byte outside of the buffers that changed, or a piece that the
            compiler does not take.
    """

    memory: bytes
    actions: tuple[Any, ...]
    error: str
    bad: str


def written(operation: str, number: int, *, generic: bool) -> Piece:
    """The piece of a number with an operation."""
    piece = Piece(number, generic, random.Random(f"{operation} {number}"))
    MAKERS[operation](piece)
    return piece


def text_of(pieces: Sequence[Piece]) -> str:
    """A device whose core does the piece that ``%chosen`` says."""
    buffers = [
        f'%{name} = aie.buffer(%tile) {{sym_name = "{name}"}} : memref<{ELEMENTS}x{name.partition("_")[2]}>'
        for name in BUFFERS
    ]
    buffers.append('%chosen = aie.buffer(%tile) {sym_name = "chosen"} : memref<1xi32>')
    constants = [f"%c{n} = arith.constant {n} : index" for n in range(CONSTANTS)]
    if len(pieces) == 1 and pieces[0].alone:
        body = list(pieces[0].lines)
    else:
        body = [_SWITCH, "scf.index_switch %k"]
        for n, piece in enumerate(pieces):
            body += [f"case {n} {{", *piece.lines, "scf.yield", "}"]
        body += ["default {", "scf.yield", "}"]
    lines = [*(piece.module for piece in pieces), "aie.device(npu1) {", "%tile = aie.tile(0, 2)"]
    lines += ["%other = aie.tile(0, 3)", *(piece.beside for piece in pieces), *buffers]
    lines += ["%core = aie.core(%tile) {", *constants, *body, "aie.end", "}", "}"]
    return "\n".join(line for line in lines if line)


class Stub:
    """A core that gives back what it is asked for; the buffers are arrays of the test."""

    def __init__(self, buffers: Mapping[str, Array]) -> None:
        self._buffers = buffers
        self.modes = Modes()

    def view(self, piece: Any) -> Array:
        """The buffer of a piece, in its type and shape."""
        if piece.name not in self._buffers:  # of an object FIFO
            return np.zeros(piece.shape, piece.dtype)
        found: Array = self._buffers[piece.name].view(piece.dtype).reshape(piece.shape)
        return found

    def __getattr__(self, name: str) -> Any:
        return lambda *given: (name, *(getattr(each, "name", each) for each in given))


def _answer(action: tuple[Any, ...]) -> Any:
    """What the core gets for an action: words of the cascade and of its stream."""
    if action[0] == "get_cascade":
        return np.arange(16, dtype=np.uint32) * np.uint32(0x01234567)
    if action[0] == "get_stream":
        return np.arange(1, 1 + action[1], dtype=np.uint32) * np.uint32(0x89ABCDEF)
    return None


def actions_of(kernel: Any, core: Stub) -> Iterator[tuple[Any, ...]]:
    """What a kernel does with a core, which gets words where it asks for some."""
    steps, answer = kernel(core), None
    while True:
        try:
            action = steps.send(answer)
        except StopIteration:
            return
        yield action
        answer = _answer(action)


def _plain(action: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(each.tobytes() if isinstance(each, np.ndarray) else str(each) for each in action)


def _noting(untyped: list[str]) -> Callable[..., Any]:
    """The call of a piece, which notes when it runs interpreted because the compiler takes it not."""
    call = body_segments.BodySegment.__call__

    def noting(segment: Any, *values: Any) -> Any:
        try:
            return call(segment, *values)
        finally:
            if segment._compiled is segment._function:
                untyped.append(segment.file)

    return noting


class Body:
    """A text with its pieces, ready to run."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self.pieces = pieces
        (self._kernel,) = load(Text("body.mlir", text_of(pieces))).kernels.values()

    def run(self, memory: Memory, chosen: int, *, compiled: bool) -> Outcome:
        """Run one piece on a copy of a memory."""
        given = {**memory, "chosen": np.array([chosen], np.int32)}
        room, buffers = (
            _guarded(given) if compiled else ({}, {n: a.copy().view(CheckedArray) for n, a in given.items()})
        )
        actions, error, bad, untyped = list[tuple[Any, ...]](), "", "", list[str]()
        with (
            patch.object(body_segments, "COMPILED_FROM", -1),
            patch.object(body_segments, "ENABLED", compiled),
            patch.object(body_segments.BodySegment, "__call__", _noting(untyped)),
        ):
            try:
                actions += map(_plain, actions_of(self._kernel, Stub(buffers)))
            except MemtileError as failed:
                error = str(failed)
            except Exception as failed:  # what must not be
                bad = f"{type(failed).__name__}: {failed}"
        if any(_touched(block, given[name].nbytes) for name, block in room.items()):
            bad = bad or "it has written outside of its memory"
        if compiled and untyped:
            bad = bad or f"the compiler does not take it: {untyped[0]}"
        left = b"".join(np.ascontiguousarray(buffers[name]).tobytes() for name in given)
        return Outcome(left, tuple(actions), error, bad)


def _guarded(given: Memory) -> tuple[dict[str, Array], Memory]:
    """The arrays in the middle of larger ones."""
    room, buffers = {}, {}
    for name, array in given.items():
        block = np.full(2 * _GUARD + array.nbytes, _FILLED, np.uint8)
        buffers[name] = block[_GUARD : _GUARD + array.nbytes].view(array.dtype)
        buffers[name][:] = array
        room[name] = block
    return room, buffers


def _touched(block: Array, size: int) -> bool:
    return bool((block[:_GUARD] != _FILLED).any() or (block[_GUARD + size :] != _FILLED).any())


# comparing -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Difference:
    """A case in which something is not as it should be.

    Attributes:
        operation: of the piece.
        kind: ``both ways`` differ, ``wrong`` by MLIR, or ``bad``: a traceback, or a write outside.
        says: what.
        text: of the piece.
    """

    operation: str
    kind: str
    says: str
    text: str


def unclear(piece: Piece, error: str) -> bool:
    """Whether a message names an exception of Python, or an operation around that of the piece."""
    around = "scf.index_switch:" in error and "scf.index_switch" not in piece.covers
    return "cannot be computed" in error or "types do not fit" in error or around


def check(body: Body, chosen: int, memory: Memory, *, compiled: bool) -> Iterator[Difference]:
    """What is wrong with a case.

    Args:
        body: that runs.
        chosen: number of the piece.
        memory: that it starts from.
        compiled: run it compiled as well.
    """
    piece = body.pieces[chosen]
    operation, text = min(piece.covers), "\n".join((piece.beside + piece.module, *piece.lines)).strip()
    one = body.run(memory, chosen, compiled=False)
    ways = [one, body.run(memory, chosen, compiled=True)] if compiled else [one]
    for outcome, way in zip(ways, ("interpreted", "compiled"), strict=False):
        bad = outcome.bad or (outcome.error if unclear(piece, outcome.error) else "")
        if bad:
            yield Difference(operation, "bad", f"{way}: {bad}", text)
    yield from (Difference(operation, "wrong", says, text) for says in _wrong(piece, memory, one))
    if compiled and not any(outcome.bad for outcome in ways):
        for field, a, b in zip(Outcome._fields, *ways, strict=True):
            if a != b:
                shown = f"{a!r} interpreted, {b!r} compiled" if field != "memory" else _memories(a, b)
                yield Difference(operation, "both ways", f"{field}: {shown}", text)


def _memories(one: bytes, other: bytes) -> str:
    names = [f"{name}[{n}]" for name in BUFFERS for n in range(ELEMENTS)]
    sizes = [KINDS[name.partition("_")[2]].itemsize for name in BUFFERS for _ in range(ELEMENTS)]
    found, at = [], 0
    for name, size in zip(names, sizes, strict=True):
        if one[at : at + size] != other[at : at + size]:
            found.append(
                f"{name}: {one[at : at + size].hex()} interpreted, {other[at : at + size].hex()} compiled"
            )
        at += size
    return "; ".join(found[:4])


def _wrong(piece: Piece, memory: Memory, outcome: Outcome) -> Iterator[str]:
    """What an independent arithmetic says of a run."""
    expected = piece.expects(memory) if piece.expects is not None else None
    if expected is None or outcome.bad:
        return
    if isinstance(expected, str):
        if not outcome.error:
            yield f"it must end with {expected}"
        return
    if outcome.error:
        yield f"it must not end with {outcome.error}"
        return
    buffer, slot, number = expected
    names, at = list(memory), 0
    for name in names[: names.index(buffer)]:
        at += memory[name].nbytes
    kind = buffer.partition("_")[2]
    (found,) = np.frombuffer(outcome.memory, KINDS[kind], 1, at + slot * KINDS[kind].itemsize)
    given = {f"{b}[{n}]": memory[b][n].item() for b, n in piece.pools}
    if not (found == number or (found != found and number != number)):
        yield f"{buffer}[{slot}] is {found}, not {number}; {given}"


class Batch(NamedTuple):
    """A body that runs, or a piece that is refused when it is read.

    Attributes:
        body: that runs; None if the piece is refused.
        pieces: of it.
        refused: message of the error.
    """

    body: Body | None
    pieces: Sequence[Piece]
    refused: str = ""


def batches(pieces: Sequence[Piece]) -> Iterator[Batch]:
    """Bodies of many pieces each; pieces that cannot be with others come alone."""
    together = [piece for piece in pieces if not piece.alone]
    groups = [together[n : n + IN_A_BODY] for n in range(0, len(together), IN_A_BODY)]
    for group in [*groups, *([piece] for piece in pieces if piece.alone)]:
        found = _batch(group)
        if len(group) == 1 or found.body is not None:
            yield found
        else:
            yield from map(_batch, ([piece] for piece in group))


def _batch(pieces: Sequence[Piece]) -> Batch:
    try:
        body = Body(pieces)
    except MemtileError as refused:
        return Batch(None, pieces, str(refused))
    if len(pieces) > 1:  # one that uses a value that is not there ends them all
        error = body.run(memory_for(pieces[0], random.Random(0)), -1, compiled=False).error
        if error:
            return Batch(None, pieces, error)
    return Batch(body, pieces)


class Campaign(NamedTuple):
    """How many cases ended.

    Attributes:
        counts: of cases that did the ``same``, something ``wrong``, or were ``refused``.
        found: what is wrong.
        read: operations whose pieces were read, and whether in generic form.
        refused: messages of pieces that were not, by operation and whether in generic form.
    """

    counts: Counter[str]
    found: list[Difference]
    read: set[tuple[str, bool]]
    refused: dict[tuple[str, bool], str]


def campaign(
    names: Sequence[str], cases: int, seed: int, memories: int, *, compiled: bool = True
) -> Campaign:
    """Run at least so many cases, which cover all of the operations in turn."""
    done, rng, turn = Campaign(Counter(), [], set(), {}), random.Random(seed), 0
    while sum(done.counts.values()) < cases:
        first = (seed * 1000 + turn) * len(names)
        pieces = [
            written(name, n, generic=(n - first + turn) % 2 == 1) for n, name in enumerate(names, first)
        ]
        turn += 1
        for batch in batches(pieces):
            _run_batch(batch, done, rng, memories, compiled)
            if sum(done.counts.values()) >= cases:
                break
    return done


def _run_batch(batch: Batch, done: Campaign, rng: random.Random, memories: int, compiled: bool) -> None:
    covered = {(name, piece.generic) for piece in batch.pieces for name in piece.covers}
    if batch.body is None:
        done.counts["refused"] += 1
        done.refused.update(dict.fromkeys(covered, batch.refused))
        return
    done.read.update(covered)
    for chosen, piece in enumerate(batch.pieces):
        for _ in range(memories):
            wrong = list(check(batch.body, chosen, memory_for(piece, rng), compiled=compiled))
            done.counts["wrong" if wrong else "same"] += 1
            done.found.extend(wrong)


def main() -> int:
    """Run a campaign; 0 if nothing is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--memories", type=int, default=8, help="cases of one text")
    parser.add_argument("--interpreted", action="store_true", help="leave the compiler out")
    given = parser.parse_args()
    done = campaign(list(MAKERS), given.cases, given.seed, given.memories, compiled=not given.interpreted)
    seen: set[tuple[str, str, str]] = set()
    for each in done.found:
        key = each.operation, each.kind, each.says[:30]
        if key not in seen:
            seen.add(key)
            print(f"--- {each.operation}: {each.kind}: {each.says}\n{each.text}")
    print(dict(done.counts), f"{len(seen)} kinds of differences")
    return 1 if done.found else 0


if __name__ == "__main__":
    sys.exit(main())
