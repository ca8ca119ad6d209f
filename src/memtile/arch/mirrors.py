"""Registers that change another one: written ones set or clear bits of a value that is read elsewhere.

AM025 pairs them by name: ``..._Set`` and ``..._Clr`` change ``..._Value`` (event broadcast blocking),
``..._set`` and ``..._clear`` change ``..._value``, ``..._enable`` and ``..._disable`` change ``..._mask``
(interrupt controllers; DEV-REG-10).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from memtile.arch.registers import Access, Register

_WORDS: Mapping[str, tuple[str, bool]] = MappingProxyType(
    {
        "Set": ("Value", True),
        "Clr": ("Value", False),
        "set": ("value", True),
        "clear": ("value", False),
        "enable": ("mask", True),
        "disable": ("mask", False),
    }
)


class Mirror(NamedTuple):
    """What a write to a register does to another one.

    Attributes:
        register: the one that is written.
        value: the one whose bits change.
        sets: a written 1 sets the bit there; else it clears it.
    """

    register: Register
    value: Register
    sets: bool


def mirrors(registers: Iterable[Register]) -> Iterator[Mirror]:
    """Every write-only register of one tile kind that changes another one of them."""
    found = list(registers)
    named = {register.name: register for register in found}
    for register in found:
        for name, sets in _partners(register):
            if name in named:
                yield Mirror(register, named[name], sets)


def _partners(register: Register) -> Iterator[tuple[str, bool]]:
    if register.access is not Access.WO:
        return
    parts = register.name.split("_")
    for n, part in enumerate(parts):
        if part in _WORDS:
            word, sets = _WORDS[part]
            yield "_".join((*parts[:n], word, *parts[n + 1 :])), sets
