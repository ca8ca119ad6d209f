"""The registers that AMD's open driver knows, and which of them it uses: ``driver_registers*.txt``.

They are facts to compare our tables with, and not made from them. AM025 names no register that is not among
them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import product
from types import MappingProxyType

from memtile.arch.registers import ModuleName

_LINE = re.compile(
    r"(?P<used>\*)? *(?P<name>\w[\w#]*) (?P<offset>0x[0-9a-f]+)(?P<axes>( \d+\.\.\d+/0x[0-9a-f]+)*)"
)
_FILES = ("driver_registers.txt", "driver_registers_2p.txt")
_AXIS = re.compile(r"(\d+)\.\.(\d+)/(0x[0-9a-f]+)")


@dataclass(frozen=True, slots=True)
class DriverRegister:
    """One register of the driver's header.

    Attributes:
        name: the header's spelling, without the module.
        offset: first byte inside the tile's address space.
        used: whether the driver's sources or register tables name it, or its family.
    """

    name: str
    offset: int
    used: bool


@cache
def driver_registers(module: ModuleName) -> tuple[DriverRegister, ...]:
    """The registers of a module, in the order of its list; empty for one that the driver has no header of."""
    return _lists().get(module, ())


@cache
def _lists() -> Mapping[str, tuple[DriverRegister, ...]]:
    found: dict[str, tuple[DriverRegister, ...]] = {}
    module = ""
    texts = [files("memtile.arch").joinpath(name).read_text() for name in _FILES]
    for line in "".join(texts).splitlines():
        if line.startswith("["):
            module = line.strip("[]")
            found[module] = ()
        elif not line.startswith("#"):
            found[module] += tuple(_family(line))
    return MappingProxyType(found)


def _family(line: str) -> Iterator[DriverRegister]:
    """The registers of one line."""
    parts = _LINE.fullmatch(line.strip())
    if parts is None:
        raise ValueError(f"a list of the driver's registers: {line!r} is no register")
    axes = [(int(a), int(b), int(s, 16)) for a, b, s in _AXIS.findall(parts["axes"])]
    pattern, base = parts["name"].replace("#", "{}"), int(parts["offset"], 16)
    for index in product(*(range(first, last + 1) for first, last, _ in axes)):
        steps = zip(index, axes, strict=True)
        offset = base + sum((n - first) * stride for n, (first, _, stride) in steps)
        yield DriverRegister(pattern.format(*index), offset, parts["used"] is not None)
