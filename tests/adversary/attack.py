"""``make attack``: random designs through pairs of ways to run them that must agree.

Hypothesis reduces a difference to its smallest design; the test of it is written to ``.cache/attack``.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import os
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum
from typing import Any, NamedTuple

from hypothesis import HealthCheck, Phase, given, seed, settings

from adversary.array_designs import Design, build, drawn_array, features, smaller
from adversary.array_pairs import ARRAY_PAIRS, NotApplicableError, Trial
from adversary.pairs import PAIRS, Pair
from adversary.tally import ARRAYS, note
from adversary.tally import PAIRS as OTHERS
from memtile.errors import MemtileError
from places import ROOT

WRITTEN = ROOT / ".cache" / "attack"
_AT_ONCE = 10  # designs of a pair before the next one has its turn
_PLAIN = (int, float, str, bytes, bool, type(None))
_PHASES = (Phase.generate, Phase.target, Phase.shrink)


class Difference(NamedTuple):
    """A design that two ways to run do not agree on.

    Attributes:
        arguments: of the check of the pair, reduced.
        error: what the check raised.
    """

    arguments: tuple[Any, ...]
    error: BaseException


class _Unlike:
    """The last arguments with which a check failed: when Hypothesis ends, the smallest ones."""

    def __init__(self, pair: Pair) -> None:
        self._pair, self._held, self.found = pair, set[int](), list[Difference]()

    @property
    def runs(self) -> int:
        """Different designs that ran both ways."""
        return len(self._held)

    def __call__(self, arguments: tuple[Any, ...]) -> None:
        try:
            self._pair.check(*arguments)
        except Exception as error:
            if type(error).__name__ != "UnsatisfiedAssumption":
                self._held.add(hash(repr(arguments)))
                self.found[:] = [Difference(arguments, error)]
            raise
        self._held.add(hash(repr(arguments)))


def attacked(pair: Pair, number: int, designs: int) -> tuple[int, Difference | None]:
    """Run so many random designs of a pair; how many ran, and the difference that was found.

    Args:
        pair: of ways to run a design.
        number: seed of the designs.
        designs: how many at most.
    """
    unlike = _Unlike(pair)

    @seed(number)
    @settings(
        max_examples=designs,
        database=None,
        deadline=None,
        phases=_PHASES,
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
    @given(pair.designs)
    def held(arguments: tuple[Any, ...]) -> None:
        unlike(arguments)

    try:
        held()
    except Exception as error:
        if not unlike.found:
            unlike.found.append(Difference((), error))
    return unlike.runs, next(iter(unlike.found), None)


def _classes(value: Any) -> Iterator[type]:
    """The classes whose names a literal of a value has."""
    if isinstance(value, Enum):
        yield type(value)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield type(value)
        for each in dataclasses.fields(value):
            yield from _classes(getattr(value, each.name))
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from (*_classes(key), *_classes(each))
    elif not isinstance(value, _PLAIN) and isinstance(value, Sequence):
        if type(value) not in (tuple, list):
            yield type(value)
        for each in value:
            yield from _classes(each)
    elif type(value) not in _PLAIN:
        yield type(value)  # a number that has a type of its own


def literal(value: Any) -> str:
    """Return Python text of a value, by its classes."""
    kind = type(value)
    if isinstance(value, Enum):
        return f"{kind.__name__}.{value.name}"
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        given = ", ".join(
            f"{f.name}={literal(getattr(value, f.name))}" for f in dataclasses.fields(value) if f.init
        )
        return f"{kind.__name__}({given})"
    if hasattr(value, "_fields"):
        given = ", ".join(f"{n}={literal(v)}" for n, v in zip(value._fields, value, strict=True))
        return f"{kind.__name__}({given})"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{literal(k)}: {literal(v)}' for k, v in value.items())}}}"
    if kind in (tuple, list):
        inner = ", ".join(map(literal, value))
        return f"[{inner}]" if kind is list else f"({inner}{',' if len(value) == 1 else ''})"
    plain = next((each for each in (int, float, str) if isinstance(value, each) and kind is not each), None)
    if plain is not None and kind is not bool:
        return f"{kind.__name__}({plain(value)!r})"
    return repr(value)


def text_of(name: str, difference: Difference) -> str:
    """Return the text of a test that shows a difference of the pair of a name."""
    of_module: dict[str, set[str]] = {}
    for each in _classes(difference.arguments):
        of_module.setdefault(each.__module__, set()).add(each.__qualname__)
    module, table = ("array_pairs", "ARRAY_PAIRS") if name in ARRAY_PAIRS else ("pairs", "PAIRS")
    of_module.setdefault(f"adversary.{module}", set()).add(table)
    imports = [
        f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(of_module.items())
    ]
    arguments = "".join(f"        {literal(each)},\n" for each in difference.arguments)
    title = name.replace("-", "_")
    return (
        f'"""Do both ways of {name} agree on a design that they did not agree on?"""\n\n'
        + "\n".join(imports)
        + f"\n\n\ndef test_{title}_agrees() -> None:\n    {table}[{name!r}].check(\n{arguments}    )\n"
    )


def write_test(name: str, difference: Difference) -> str:
    """Write the test of a difference and return its path."""
    WRITTEN.mkdir(parents=True, exist_ok=True)
    path = WRITTEN / f"test_{name.replace('-', '_')}.py"
    path.write_text(text_of(name, difference), encoding="utf-8")
    return str(path)


class Ledger:
    """What an attack has done so far.

    Attributes:
        designs: how many ran; each counts once, however many pairs it went through.
        pairs: how many designs went through each pair.
        seconds: processor time of each pair, and of drawing designs.
        bad: pairs with a difference.
    """

    def __init__(self) -> None:
        self.designs, self.bad = 0, set[str]()
        self.pairs, self.seconds = Counter[str](), Counter[str]()

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Context whose processor time counts for a pair."""
        began = _cpu()
        try:
            yield
        finally:
            self.seconds[name] += _cpu() - began

    @contextmanager
    def tallied(self, what: str) -> Iterator[None]:
        """Context whose designs and differences count for the tally."""
        began, designs, bad = _cpu(), self.designs, len(self.bad)
        yield
        note(what, _cpu() - began, self.designs - designs, len(self.bad) - bad)

    def have_their_share(self, names: Iterable[str], others: Sequence[str]) -> bool:
        """Whether pairs have had half of the processor time that they share with others, if there are any."""
        return bool(others) and sum(self.seconds[n] for n in names) > sum(self.seconds[n] for n in others)

    def note(self, name: str, difference: Difference) -> None:
        """Write the test of a difference and say where it is."""
        self.bad.add(name)
        print(f"{name}: a difference, {write_test(name, difference)}", flush=True)
        traceback.print_exception(difference.error)

    def table(self) -> str:
        """A line for each pair: designs, and designs a second of processor time."""
        lines = [f"{'pair':18} {'designs':>9} {'designs/s':>10}"]
        for name, count in sorted(self.pairs.items()):
            lines.append(f"{name:18} {count:9,} {count / max(self.seconds[name], 1e-9):10.1f}")
        return "\n".join(lines)


def _cpu() -> float:
    return sum(os.times()[:2])


def attack_arrays(names: Sequence[str], seeds: Iterable[int], ledger: Ledger) -> None:
    """Run the designs of some seeds through pairs, each through all cheap ones and some of the others."""
    for each in seeds:
        with ledger.timed("drawing"):
            trial = Trial(*drawn_array(each))
        ledger.designs += 1
        for name in names:
            pair = ARRAY_PAIRS[name]
            if name in ledger.bad or (len(names) > 1 and each % pair.every):
                continue
            with ledger.timed(name):
                difference = disagreement(name, trial)
            ledger.pairs[name] += not isinstance(difference, NotApplicableError)
            if difference is not None and not isinstance(difference, NotApplicableError):
                ledger.note(name, reduced(name, trial.design, difference))


def attack_pair(name: str, number: int, ledger: Ledger) -> None:
    """Run some designs of a pair with a generator of its own."""
    with ledger.timed(name):
        runs, difference = attacked(PAIRS[name], number, _AT_ONCE)
    ledger.pairs[name] += runs
    ledger.designs += runs
    if difference is not None:
        ledger.note(name, difference)


def disagreement(name: str, trial: Trial) -> Exception | None:
    """Return what the way of a pair raises for a design; None = it agrees."""
    try:
        ARRAY_PAIRS[name].way(trial)
    except Exception as error:
        return error
    return None


def reduced(name: str, design: Design, error: Exception, seconds: float = 120.0) -> Difference:
    """Return the smallest design with the same kind of difference that so many seconds find."""
    end, kind = time.monotonic() + seconds, type(error)
    found = Difference((design,), error)
    while time.monotonic() < end:
        for less in smaller(found.arguments[0]):
            its = _error_of(name, less) if time.monotonic() < end else None
            if type(its) is kind:
                found = Difference((less,), its)
                break
        else:
            break
    return found


def _error_of(name: str, design: Design) -> Exception | None:
    try:
        trial = Trial(design, build(design))
    except MemtileError:
        return None  # its parts do not fit any more
    return disagreement(name, trial)


def attack(names: Sequence[str], number: int, seconds: float) -> int:
    """Run random designs of some pairs for so many seconds; how many pairs had a difference."""
    ledger, turn, end = Ledger(), 0, time.monotonic() + seconds
    arrays, others = ([n for n in names if (n in ARRAY_PAIRS) is on] for on in (True, False))
    following = itertools.cycle(others)
    while time.monotonic() < end and len(ledger.bad) < len(names):
        first = number + _AT_ONCE * turn * 5
        if arrays:
            with ledger.tallied(ARRAYS):
                attack_arrays(arrays, range(first, first + 5 * _AT_ONCE), ledger)
        for n, name in enumerate(itertools.islice(following, len(others))):
            if time.monotonic() > end or ledger.have_their_share(others, arrays):
                break
            if name not in ledger.bad:
                with ledger.tallied(OTHERS):
                    attack_pair(name, number + 1_000_003 * turn + n, ledger)
        turn += 1
    print(ledger.table())
    print(f"{ledger.designs:,} designs, {len(ledger.bad)} pairs with a difference")
    return len(ledger.bad)


def feature_table(number: int, designs: int) -> str:
    """Return how many of the designs from a seed on have each feature.

    Of every tenth one it also says whether time is skipped, and which pairs it goes through.
    """
    found, ways = Counter[str](), Counter[str]()
    for each in range(number, number + designs):
        trial = Trial(*drawn_array(each))
        found.update(features(trial.design))
        if each % 10 == 0:
            ways["time is skipped"] += trial.usual.array.engine.forward.jumps > 0
            ways.update(
                name for name in ARRAY_PAIRS if not isinstance(disagreement(name, trial), NotApplicableError)
            )
    counted = sorted(found.items(), key=lambda each: -each[1])
    lines = [f"{name:32} {count:5}" for name, count in counted]
    return "\n".join([*lines, f"\nof {designs // 10}:", *(f"{n:32} {c:5}" for n, c in ways.items())])


def main() -> None:
    """Attack with all pairs, or with some."""
    every = [*ARRAY_PAIRS, *PAIRS]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seconds", type=float)
    parser.add_argument("pair", nargs="*", help=f"of {', '.join(every)}; all of them otherwise")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--features", type=int, help="only count the features of so many designs")
    given = parser.parse_args()
    wrong = [name for name in given.pair if name not in every]
    if wrong:
        parser.error(f"no pair is called {', '.join(wrong)}; there are {', '.join(every)}")
    if given.features:
        print(feature_table(given.seed, given.features))
        return
    sys.exit(attack(given.pair or every, given.seed, given.seconds) > 0)


if __name__ == "__main__":
    main()
