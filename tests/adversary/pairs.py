"""Pairs of ways to run a random design that must agree, and the designs of each."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from hypothesis import reject
from hypothesis import strategies as st

from adversary.conversation import answers
from adversary.interpreter import digests, interpreted
from memtile import Array, run, run_many
from memtile.arch.timing import Timing
from memtile.errors import DesignError, MemtileError
from memtile.hosts.address_space import AddressSpace
from memtile.mlir_writer.designs import to_mlir
from support.designs import flowing_designs, repeating_designs, runs_without_words, small_packets
from support.designs.host_looks import Hosted, hosted_designs, went
from support.designs.interrupted_runs import interrupted
from support.designs.makers import MAKERS, cut, stepped
from support.designs.observed_designs import Observation, observations, observed
from support.designs.ordered_designs import ordered
from support.designs.random_designs import designs as memory_designs
from support.engine.states import arrays
from support.mlir.mlir_designs import loaded
from support.mlir.round_trip import differences as written_differences
from support.streams.accesses import accesses

_CUTS = st.lists(st.one_of(st.integers(1, 40), st.integers(1, 2000)), min_size=1, max_size=8)
_SEEDS = st.integers(0, 1 << 30)
_INTERPRETED = 250  # cycles
_OF_THE_CLOCK = {"clock.quiet", "clock.locks_changed"}
_DEVICES = ("npu1", "npu2", "xcve2802")


class Pair(NamedTuple):
    """Two ways to run a design.

    Attributes:
        designs: draws the arguments of the check.
        check: runs them both ways; raises AssertionError if there is a difference.
    """

    designs: st.SearchStrategy[tuple[Any, ...]]
    check: Callable[..., object]


def _skipped(kind: str, design: Any) -> None:
    jumping, stepping = (MAKERS[kind].build(design, on) for on in (True, False))
    unlike = partial(flowing_designs.differences, jumping, stepping)
    stepped(design, jumping, stepping, lambda: unlike() - repeating_designs.OUTSIDE)


def _observed(design: repeating_designs.Design, seen: Observation) -> None:
    jumping, stepping = (observed(design, seen, forward=on) for on in (True, False))
    unlike = partial(repeating_designs.differences, jumping, stepping)
    stepped(design, jumping.engine, stepping.engine, unlike)
    assert jumping.engine.left == stepping.engine.left


def _hosted(design: Hosted) -> None:
    (some, said, seen), (every, all_said, all_seen) = (went(design, every=on) for on in (False, True))
    assert some.did == every.did
    assert said == all_said
    assert not flowing_designs.differences(some.array.engine, every.array.engine)
    assert set(seen) <= set(all_seen)


def _pieces(kind: str, design: Any, cuts: list[int], skips: bool) -> None:
    cut(MAKERS[kind], design, cuts, skips)


def _wordless(kind: str, design: Any) -> None:
    if kind == "cores" and design.waits:
        reject()  # its kernel works with words
    runs_without_words.both([MAKERS[kind].build(design, True) for _ in range(2)], design.stops)


def _compiled(kind: str, design: Any, cycles: int) -> None:
    mine, its = digests(kind, design, cycles), interpreted(kind, design, cycles)
    assert {name for name in mine if mine[name] != its[name]} == set()


def _facts(result: Any) -> tuple[Any, ...]:
    outputs = {name: words.tolist() for name, words in result.outputs.items()}
    return result.status, result.cycles, outputs, [str(each) for each in result.findings]


def _threads(seeds: list[int]) -> None:
    made = [partial(ordered, seed) for seed in seeds]
    alone = [_facts(run(each)) for each in made]
    assert [_facts(each) for each in run_many(made, threads=2)] == alone


def _saved(seed: int, moment: int) -> None:
    saved, whole = ordered(seed), ordered(seed)
    if not isinstance(saved, Array):
        reject()  # a tile alone is not saved
    for array in (saved, whole):
        array.run(moment)  # type: ignore[union-attr]
    with tempfile.TemporaryDirectory() as folder:
        try:
            saved.save(Path(folder) / "saved")  # type: ignore[union-attr]
        except DesignError:
            reject()  # a kernel is at work
        again = Array.load(Path(folder) / "saved")
    assert _facts(again.run()) == _facts(whole.run())  # type: ignore[union-attr]
    assert not again.diff(whole)  # type: ignore[arg-type]


def _written(seed: int) -> None:
    made = ordered(seed)
    if not isinstance(made, Array):
        reject()  # no device of mlir-aie is a tile alone
    try:
        text = to_mlir(made)  # type: ignore[arg-type]
    except MemtileError:
        reject()  # what no operation says
    with tempfile.TemporaryDirectory() as folder:
        assert written_differences(ordered(seed), text, Path(folder) / "d.mlir") == []  # type: ignore[arg-type]


def _read_again(seed: int) -> None:
    """A text with packets, cores and a host, and what it is written as: words, cycles and findings."""
    small = small_packets.drawn(seed)
    text = small_packets.text(small)
    written = to_mlir(loaded(text))
    found = []
    for each in (text, written):
        arrays_of_host = small_packets.words(small), np.zeros(64, np.int32)
        result = loaded(each).run(*arrays_of_host, max_cycles=100_000).result
        found.append((result.status, result.cycles, [finding.code for finding in result.findings]))
    assert found[0] == found[1]


def _live(device: str, columns: int, seed: int, count: int, access_cycles: int) -> None:
    """Lines of a client, and the same accesses one after the other."""
    one, other = (Array(device, columns, Timing(access_cycles=access_cycles)) for _ in range(2))
    made = list(accesses(one, random.Random(seed), count))
    lines = [f"R 0X{at:016X}\n" if value is None else f"W 0X{at:016X} 0X{value:08X}\n" for at, value in made]
    given = answers("".join(lines).encode(), one)
    space = AddressSpace(other)
    wanted = [answer for access in made for piece in space.carry_out([access]) for answer in piece]
    reads = [word for word, (_, value) in zip(wanted, made, strict=True) if value is None]
    assert given.decode().split() == [f"0x{_word(word):08x}" for word in reads]
    assert one.engine.now == other.engine.now
    mine, its = arrays(one.engine.state), arrays(other.engine.state)
    assert {name for name in mine if mine[name] != its[name]} <= _OF_THE_CLOCK


def _word(answer: Any) -> int:
    return answer if isinstance(answer, int) else int(np.uint32(0xFFFF_FFFF))


def _of(kind: str, *more: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.tuples(MAKERS[kind].designs, *more)


STOPPING = ("work", "special", "rings", "cores")  # kinds whose designs say where they stop
PAIRS: dict[str, Pair] = {
    **{f"skipped-{kind}": Pair(_of(kind), partial(_skipped, kind)) for kind in STOPPING},
    "skipped-events": Pair(st.tuples(repeating_designs.designs(), observations()), _observed),
    "skipped-hosts": Pair(st.tuples(hosted_designs()), _hosted),
    **{f"pieces-{kind}": Pair(_of(kind, _CUTS, st.booleans()), partial(_pieces, kind)) for kind in MAKERS},
    **{
        f"wordless-{kind}": Pair(_of(kind), partial(_wordless, kind))
        for kind in STOPPING
        if kind != "special"
    },
    **{
        f"compiled-{kind}": Pair(_of(kind, st.integers(1, _INTERPRETED)), partial(_compiled, kind))
        for kind in MAKERS
    },
    "threads": Pair(st.tuples(st.lists(_SEEDS, min_size=2, max_size=6)), _threads),
    "saved-engines": Pair(
        st.tuples(memory_designs(), st.lists(st.integers(0, 400), min_size=1, max_size=3)), interrupted
    ),
    "saved-arrays": Pair(st.tuples(_SEEDS, st.integers(0, 600)), _saved),
    "written": Pair(st.tuples(_SEEDS), _written),
    "read-again": Pair(st.tuples(_SEEDS), _read_again),
    "live": Pair(
        st.tuples(
            st.sampled_from(_DEVICES),
            st.integers(1, 3),
            _SEEDS,
            st.integers(1, 300),
            st.sampled_from([0, 1, 3, 20]),
        ),
        _live,
    ),
}
"""All pairs, by name."""
