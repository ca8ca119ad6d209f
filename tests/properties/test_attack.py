"""Is a planted difference between two ways to run a design found, reduced, and written as a test?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from adversary import array_designs, attack, tally
from adversary.array_pairs import ARRAY_PAIRS, ArrayPair, Trial
from adversary.array_parts import Cascade, Loop
from adversary.attack import attacked, literal, write_test
from adversary.pairs import PAIRS, Pair
from memtile.bd.codec import decode, encode
from memtile.bd.descriptor import Acquire, Descriptor, Dim, Release
from memtile.bd.windows import OWN
from memtile.sim.loop.clock import Stop
from memtile.sim.loop.engine import Engine
from support.designs.random_designs import TIMINGS, Design, Work, descriptors

BD = Descriptor(
    "memory",
    40,
    OWN.address(5),
    dims=(Dim(3, 0),),
    acquire=Acquire(OWN.lock(1), -1, False),
    release=Release(OWN.lock(2), 1),
)
DESIGN = Design(TIMINGS[1], True, False, (1, 2, 0), (Work(True, 1, (BD,), 20, 800, ()),))


def planted(change: Callable[[Descriptor], Descriptor]) -> Pair:
    """Descriptors written as words and read again; what is written has a change."""

    def check(descriptor: Descriptor) -> None:
        whole, changed = (decode("memory", encode(bd, 0), 0) for bd in (descriptor, change(descriptor)))
        assert whole == changed

    return Pair(st.tuples(descriptors(receives=False)), check)


def test_a_planted_difference_is_found_reduced_and_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(attack, "WRITTEN", tmp_path)
    forgets = planted(lambda bd: bd.but(acquire=bd.acquire._replace(enable=False)))
    runs, found = attacked(forgets, 1, 30)
    assert runs > 1
    assert found is not None
    (descriptor,) = found.arguments
    assert descriptor.acquire.enable
    assert (descriptor.length, descriptor.dims, descriptor.pad) == (0, (), ())
    names: dict[str, Any] = {}
    exec(Path(write_test("planted", found)).read_text("utf-8"), names)
    monkeypatch.setitem(PAIRS, "planted", forgets)
    with pytest.raises(AssertionError):
        names["test_planted_agrees"]()
    monkeypatch.setitem(PAIRS, "planted", planted(lambda bd: bd))
    names["test_planted_agrees"]()


def test_the_command_attacks_with_all_pairs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.argv", ["attack", "1", "--seed", "3"])
    monkeypatch.setattr(tally, "LEDGER", tmp_path / "searches.tsv")
    with pytest.raises(SystemExit) as ended:
        attack.main()
    assert ended.value.code == 0
    assert capsys.readouterr().out.endswith(" designs, 0 pairs with a difference\n")
    sums = {each.what: each for each in tally.counted(tally.searches(tally.LEDGER))}
    assert sums[tally.ARRAYS].inputs == 50
    assert sums[tally.PAIRS].inputs >= 0


def test_a_cycle_that_a_cut_loses_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Engine.resume

    def wrong(engine: Engine, end: int, *more: Any, **named: Any) -> Stop:
        return right(engine, end - (0 < engine.now < end), *more, **named)

    cuts = st.lists(st.integers(1, 40), min_size=1, max_size=8)
    pair = Pair(st.tuples(st.just(DESIGN), cuts, st.booleans()), PAIRS["pieces-memory"].check)
    assert attacked(pair, 1, 2) == (2, None)
    monkeypatch.setattr(Engine, "resume", wrong)
    _, found = attacked(pair, 1, 10)
    assert found is not None
    assert found.arguments[1] == [1, 1]


def test_a_literal_is_the_value_again() -> None:
    names = {each.__name__: each for each in attack._classes((DESIGN, [1.5, None, {"a": b"x"}]))}
    assert eval(literal(DESIGN), names) == DESIGN


def test_a_difference_of_an_array_is_reduced_to_one_part(monkeypatch: pytest.MonkeyPatch) -> None:
    def differs(trial: Trial) -> None:
        assert not any(isinstance(part, Cascade) and part.values > 2 for part in trial.design.parts)

    monkeypatch.setitem(ARRAY_PAIRS, "array-planted", ArrayPair(differs, 1))
    parts = Loop(0, 0, 8, 0, False, 0, 0), Cascade(0, 1, (False,), 4, ())
    design = array_designs.Design("npu1", 1, 0, 0, parts, ())
    error = attack.disagreement("array-planted", Trial(design))
    assert error is not None
    found = attack.reduced("array-planted", design, error, seconds=1e9)
    least = array_designs.Design("npu1", 1, 0, 0, (Cascade(0, 0, (), 3, ()),), ())
    assert found.arguments == (least,)
    text = attack.text_of("array-planted", found)
    names: dict[str, Any] = {}
    exec(text, names)
    with pytest.raises(AssertionError):
        names["test_array_planted_agrees"]()
    assert array_designs.drawn(7) == array_designs.drawn(7)
