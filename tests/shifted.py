"""pytest plugin (``-p shifted``): what a period moves meets what it does not only where a guard says so.

A jump over n periods (``docs/speed.md``) is right as long as no step compares something that the period moves
with something that it does not move, but for the places that have a guard. So in the interpreter
(``MEMTILE_JIT=0``) each number read from the state knows by what it moves, as the class of its column says:
time, the place of a walk, a count, the head of a ring, or words. Sums and differences keep account of that.
Where the model compares two that move differently, takes bits of one, looks something up by it or writes it
where nothing may move, the place has to be in ``guarded_places``; else the test fails there.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import memtile
from memtile.jit.cache import files_of
from memtile.jit.decorators import ENABLED
from memtile.model.state.columns import Column, Motion, columns_of, fields_of
from memtile.model.state.state import State, StateTables
from memtile.sim.loop import compiled_model, new_state
from support.engine.guarded_places import PLACES

PACKAGE = Path(memtile.__file__).parent
STEPS = frozenset(map(str, files_of(compiled_model.COMPILED)))
TIME, WORDS = "time", "words"
Moves = dict[str, int]
met: Counter[str] = Counter()
"""How often each place was come to: ``file function what``."""


class UnguardedError(AssertionError):
    """The model does with numbers that move what has no guard."""


def place(what: str, frame: Any) -> None:
    """Note where the model, and nobody else, does ``what`` with a number that moves.

    Raises:
        UnguardedError: the place has no guard.
    """
    file = frame.f_code.co_filename
    if file not in STEPS or "/sim/skip/" in file:
        return
    name = f"{Path(file).relative_to(PACKAGE).as_posix()} {frame.f_code.co_name} {what}"
    met[name] += 1
    if name not in PLACES:
        raise UnguardedError(f"{name} (line {frame.f_lineno}): no guard is named for it")


class Moving(int):
    """A number that a period moves.

    Attributes:
        moves: by what, and how many times by it.
    """

    moves: Moves
    __array_ufunc__ = None  # numbers of NumPy leave sums with it to it

    def __add__(self, other: int) -> int:
        return together(int(self).__add__(int(other)), self, other, 1)

    __radd__ = __add__

    def __sub__(self, other: int) -> int:
        return together(int(self).__sub__(int(other)), self, other, -1)

    def __rsub__(self, other: int) -> int:
        return together(int(self).__rsub__(int(other)), self, other, 1, -1)

    def __neg__(self) -> int:
        return moving(int.__neg__(self), {unit: -n for unit, n in self.moves.items()})

    def __mul__(self, other: int) -> int:
        if isinstance(other, Moving) and WORDS not in self.moves:
            place("multiplies", sys._getframe(1))
        return moving(int(self).__mul__(int(other)), {unit: n * int(other) for unit, n in self.moves.items()})

    __rmul__ = __mul__

    def __bool__(self) -> bool:
        place("compares", sys._getframe(1))
        return int.__bool__(self)

    __hash__ = int.__hash__


def moving(value: int, moves: Moves) -> int:
    """The value as one that moves so; a plain number where it does not move."""
    moves = {unit: n for unit, n in moves.items() if n}
    if not moves:
        return int(value)
    found = Moving(value)
    found.moves = {WORDS: 1} if WORDS in moves else moves
    return found


def moves_of(value: object) -> Moves:
    """By what a number moves; nothing for a plain one."""
    return value.moves if isinstance(value, Moving) else {}


def together(value: int, one: int, other: int, sign: int, first: int = 1) -> int:
    """A sum or difference."""
    moves = {unit: first * n for unit, n in moves_of(one).items()}
    for unit, n in moves_of(other).items():
        moves[unit] = moves.get(unit, 0) + sign * n
    return moving(value, moves)


def _comparing(name: str) -> Any:
    method = getattr(int, name)

    def compare(self: Moving, other: int) -> Any:
        if WORDS in self.moves or self.moves != moves_of(other):
            place("compares", sys._getframe(1))
        return method(int(self), int(other))

    return compare


def _taking_bits(name: str) -> Any:
    method = getattr(int, name)

    def take(self: Moving, other: int) -> Any:
        if WORDS in self.moves or WORDS in moves_of(other):
            return moving(method(int(self), int(other)), {WORDS: 1})
        if all(unit.startswith("ring") for unit in self.moves):
            return moving(method(int(self), int(other)), self.moves)
        place("takes bits", sys._getframe(1))
        return method(int(self), int(other))

    return take


for _name in ("lt", "le", "eq", "ne", "gt", "ge"):
    setattr(Moving, f"__{_name}__", _comparing(f"__{_name}__"))
for _name in ("floordiv", "mod", "and", "or", "xor", "lshift", "rshift"):
    setattr(Moving, f"__{_name}__", _taking_bits(f"__{_name}__"))
    setattr(Moving, f"__r{_name}__", _taking_bits(f"__r{_name}__"))


class Watched(np.ndarray):
    """A column, or an array, whose elements are numbers that move as its class says.

    Attributes:
        kind: the class of the column; None = constants.
        column: its name.
    """

    kind: Motion | None = None
    column = ""

    def __array_finalize__(self, other: object) -> None:
        self.kind, self.column = getattr(other, "kind", None), getattr(other, "column", "")

    def __getitem__(self, index: Any) -> Any:
        moved = [one for one in parts(index) if isinstance(one, Moving)]
        if moved and not (self.kind is Motion.DATA or all(ring(one) for one in moved)):
            place("looks up", sys._getframe(1))
        found = super().__getitem__(index)
        return found if isinstance(found, np.ndarray) else self._as_it_moves(index, int(found))

    def _as_it_moves(self, index: Any, value: int) -> int:
        at = ",".join(str(int(one)) for one in parts(index))
        match self.kind:
            case Motion.STAMP:
                return moving(value, {TIME: 1} if value >= 0 else {})
            case Motion.COUNT | Motion.PLACE:
                return moving(value, {f"{self.column}[{at}]": 1})
            case Motion.RING:
                return moving(value, {f"ring {self.column}[{at}]": 1})
            case Motion.DATA:
                return moving(value, {WORDS: 1})
        return value

    def __setitem__(self, index: Any, value: Any) -> None:
        moved = [one for one in parts(index) if isinstance(one, Moving)]
        if moved and not (self.kind is Motion.DATA or all(ring(one) for one in moved)):
            place("writes at", sys._getframe(1))
        if isinstance(value, Moving) and not self._takes(value):
            place(f"writes {self.column}", sys._getframe(1))
        super().__setitem__(index, int(value) if isinstance(value, int) else value)

    def _takes(self, value: Moving) -> bool:
        match self.kind:
            case Motion.STAMP | Motion.DUE:
                return value.moves == {TIME: 1}
            case Motion.COUNT | Motion.PLACE:
                return TIME not in value.moves and WORDS not in value.moves
            case Motion.RING:
                return ring(value)
        return self.kind is Motion.DATA


def parts(index: Any) -> tuple[Any, ...]:
    """What an index is made of."""
    return index if isinstance(index, tuple) else (index,)


def ring(value: Moving) -> bool:
    """Whether it is a position in a ring."""
    return all(unit.startswith("ring") for unit in value.moves)


def watched(values: Any, kind: Motion | None, column: str) -> Watched:
    """The same array, watched; it shares its elements with the given one."""
    found: Watched = np.asarray(values).view(Watched)
    found.kind, found.column = kind, column
    return found


def constants(fields: Any) -> Any:
    """The same tuple of arrays, or of such tuples, watched as what does not move; views stay as they are."""
    if isinstance(fields, SimpleNamespace):
        return fields
    if isinstance(fields, tuple):
        return type(fields)(*map(constants, fields))
    return watched(fields, None, "")


def watched_state(state: State) -> State:
    """The same state, with all its columns watched."""
    new: dict[str, Any] = {"spec": constants(state.spec)}
    for name, (what, _owner) in fields_of(StateTables).items():
        values = getattr(state, name)
        if isinstance(what, Column):
            new[name] = watched(values, what.kind, name)
            continue
        columns = columns_of(what)
        new[name] = what(
            **{
                column: watched(getattr(values, column), declared.kind, f"{name}.{column}")
                for column, declared in columns.items()
            }
        )
    return _REPLACE(state, **new)


_REPLACE = State._replace


def kept_int(value: Any = 0, *base: int) -> int:
    """``int`` of the model, that keeps account of what moves."""
    return value if isinstance(value, Moving) else int(value, *base)


@pytest.fixture(autouse=True, scope="session")
def _every_state_is_watched() -> Iterator[None]:
    assert not ENABLED, "the interpreter keeps account: MEMTILE_JIT=0"
    made = new_state.fresh_state  # a model that is made again is a copy of the first one
    with pytest.MonkeyPatch.context() as patch:
        for module in list(sys.modules.values()):
            if getattr(module, "fresh_state", None) is made:
                patch.setattr(module, "fresh_state", lambda *args, **more: watched_state(made(*args, **more)))
            if (file := getattr(module, "__file__", None)) in STEPS and "/arch/" not in file:  # a type there
                patch.setattr(module, "int", kept_int, raising=False)
        patch.setattr(State, "_replace", lambda state, **new: watched_state(_REPLACE(state, **new)))
        yield


def pytest_sessionfinish() -> None:
    """Write the places that were met to the file that ``SHIFTED_MET`` names."""
    if "SHIFTED_MET" in os.environ:
        Path(os.environ["SHIFTED_MET"]).write_text("\n".join(sorted(met)) + "\n", encoding="utf-8")
