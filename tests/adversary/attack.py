"""``make attack``: random designs through pairs of ways to run them that must agree.

Hypothesis reduces a difference to its smallest design; the test of it is written to ``.cache/attack``.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple

from hypothesis import HealthCheck, Phase, given, seed, settings

from adversary.pairs import PAIRS, Pair
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
        self._pair, self.runs, self.found = pair, 0, list[Difference]()

    def __call__(self, arguments: tuple[Any, ...]) -> None:
        self.runs += 1
        try:
            self._pair.check(*arguments)
        except Exception as error:
            if type(error).__name__ != "UnsatisfiedAssumption":
                self.found[:] = [Difference(arguments, error)]
            raise


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
    of_module.setdefault("adversary.pairs", set()).add("PAIRS")
    imports = [
        f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(of_module.items())
    ]
    arguments = "".join(f"        {literal(each)},\n" for each in difference.arguments)
    title = name.replace("-", "_")
    return (
        f'"""Do both ways of {name} agree on a design that they did not agree on?"""\n\n'
        + "\n".join(imports)
        + f"\n\n\ndef test_{title}_agrees() -> None:\n    PAIRS[{name!r}].check(\n{arguments}    )\n"
    )


def write_test(name: str, difference: Difference) -> str:
    """Write the test of a difference and return its path."""
    WRITTEN.mkdir(parents=True, exist_ok=True)
    path = WRITTEN / f"test_{name.replace('-', '_')}.py"
    path.write_text(text_of(name, difference), encoding="utf-8")
    return str(path)


def attack(names: Sequence[str], number: int, seconds: float) -> int:
    """Run random designs of some pairs for so many seconds; how many pairs had a difference."""
    end, began, ran, bad, turn = time.monotonic() + seconds, time.monotonic(), Counter[str](), set[str](), 0
    while time.monotonic() < end and len(bad) < len(names):
        for name in [each for each in names if each not in bad]:
            if time.monotonic() > end:
                break
            runs, difference = attacked(PAIRS[name], number + 1_000_003 * turn, _AT_ONCE)
            ran[name] += runs
            if difference is not None:
                bad.add(name)
                print(f"{name}: a difference, {write_test(name, difference)}", flush=True)
                traceback.print_exception(difference.error)
        turn += 1
    took, every = time.monotonic() - began, sum(ran.values())
    print(", ".join(f"{name} {count}" for name, count in sorted(ran.items())))
    print(
        f"{every:,} designs in {took:.0f} s ({60 * every / took:.0f} a minute), "
        f"{len(bad)} pairs with a difference"
    )
    return len(bad)


def main() -> None:
    """Attack with all pairs, or with some."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seconds", type=float)
    parser.add_argument("pair", nargs="*", help=f"of {', '.join(PAIRS)}; all of them otherwise")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    wrong = [name for name in given.pair if name not in PAIRS]
    if wrong:
        parser.error(f"no pair is called {', '.join(wrong)}; there are {', '.join(PAIRS)}")
    sys.exit(attack(given.pair or [*PAIRS], given.seed, given.seconds) > 0)


if __name__ == "__main__":
    main()
