"""Do designs that run side by side give what they give one after another?"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

from memtile import DesignError, MemoryTile, Result, input_files, run, run_many
from memtile.arch.timing import chosen_timing


def copying(words: int, value: int) -> Callable[[], MemoryTile]:
    def design() -> MemoryTile:
        tile = MemoryTile("npu1")
        store = tile.buffer("store", words, np.int32)
        empty, full = tile.lock(1, "empty"), tile.lock(0, "full")
        tile.s2mm[0].start(tile.write(store).guarded(empty.acquire(), full.release()))
        tile.mm2s[0].start(tile.read(store).guarded(full.acquire(), empty.release()))
        data = np.arange(words, dtype=np.int32) + value
        tile.s2mm[0].feed(data)
        tile.mm2s[0].expect(data)
        return tile

    return design


def facts(result: Result) -> tuple[object, ...]:
    outputs = {name: words.tolist() for name, words in result.outputs.items()}
    return result.status, result.cycles, result.exact, outputs, str(result)


DESIGNS = [copying(words, 1000 * words) for words in (16, 700, 64, 2000, 5, 900, 33, 1200)]


@pytest.mark.parametrize("threads", [1, 3, None])
def test_results_are_those_of_one_after_another(threads: int | None) -> None:
    alone = [facts(run(design)) for design in DESIGNS]
    assert len({cycles for _, cycles, *_ in alone}) == len(DESIGNS)
    assert [facts(result) for result in run_many(DESIGNS, threads=threads)] == alone


def test_options_and_what_surrounds_the_call_hold_for_all() -> None:
    with chosen_timing({"task_start": 40}):
        later = [result.cycles for result in run_many(DESIGNS[:3], threads=2)]
        assert later == [run(design).cycles for design in DESIGNS[:3]]
    assert later != [result.cycles for result in run_many(DESIGNS[:3], threads=2)]
    limited = run_many(DESIGNS[:3], threads=2, max_cycles=20)
    assert [facts(result) for result in limited] == [facts(run(d, max_cycles=20)) for d in DESIGNS[:3]]


def test_the_first_error_in_the_order_given_is_raised() -> None:
    def broken(text: str) -> Callable[[], MemoryTile]:
        def design() -> MemoryTile:
            raise ValueError(text)

        return design

    with pytest.raises(ValueError, match="first"):
        run_many([DESIGNS[3], broken("first"), broken("second"), *DESIGNS], threads=2)


def test_no_thread_is_refused() -> None:
    with pytest.raises(DesignError) as caught:
        run_many(DESIGNS, threads=0)
    assert str(caught.value) == (
        "run_many: threads is 0; it must be 1 or more, or None (the cores of the machine)."
    )
    assert run_many([]) == []


def test_one_thread_at_a_time_is_in_the_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    inside = []

    def parse(source: str, _name: str) -> str:
        inside.append(source)
        time.sleep(0.01)
        assert inside == [source]
        return inside.pop()

    monkeypatch.setattr(input_files, "ast", SimpleNamespace(parse=parse))
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(input_files.syntax_tree, "abcd")) == [*"abcd"]
