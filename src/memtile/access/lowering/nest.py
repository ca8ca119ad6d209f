"""Loop nests with box padding, and the rewrites that keep their walk: merging by address, changing the unit.

Loops are those of ``access.walk``, innermost first. A nest is what one descriptor can say if its loops fit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from memtile.access.walk import Loop, turn_words


@dataclass(frozen=True, slots=True)
class Nest:
    """A box of accesses: ``base`` is the address of the first data unit."""

    base: int
    loops: tuple[Loop, ...] = ()

    @property
    def size(self) -> int:
        """Stream units, padding included."""
        return turn_words(self.loops)

    def moved(self, distance: int) -> Nest:
        """This nest, ``distance`` units further up in memory."""
        return replace(self, base=self.base + distance)

    def inside(self, loop: Loop) -> Nest:
        """This nest repeated by an outer ``loop``, merged where the addresses allow."""
        return replace(self, loops=merged([*self.loops, loop]))


@dataclass(frozen=True, slots=True)
class Zeros:
    """``size`` stream units of padding."""

    size: int

    def moved(self, distance: int) -> Zeros:  # noqa: ARG002 - zeros have no address
        """These zeros: they have no address."""
        return self


@dataclass(frozen=True, slots=True)
class Repeat:
    """``count`` turns of several items, each ``step`` further up in memory."""

    count: int
    step: int
    items: tuple[Item, ...]

    @property
    def size(self) -> int:
        """Stream units of all turns."""
        return self.count * total_size(self.items)

    def moved(self, distance: int) -> Repeat:
        """These turns, ``distance`` units further up in memory."""
        return replace(self, items=tuple(item.moved(distance) for item in self.items))


Item = Nest | Zeros | Repeat


def total_size(items: Iterable[Item]) -> int:
    """Stream units of ``items``."""
    return sum(item.size for item in items)


def joined(items: Sequence[Item]) -> list[Item]:
    """``items`` with neighbouring padding in one piece."""
    out: list[Item] = []
    for item in items:
        last = out[-1] if out else None
        if isinstance(item, Zeros) and isinstance(last, Zeros):
            out[-1] = Zeros(last.size + item.size)
        elif item.size:
            out.append(item)
    return out


def merged(loops: Sequence[Loop]) -> tuple[Loop, ...]:
    """The fewest loops with the walk of ``loops``: neighbours that continue each other become one."""
    nest: list[Loop] = []
    for loop in loops:
        both = _join(nest[-1], loop) if nest else None
        if both:
            nest[-1] = both
        elif loop.units > 1:
            nest.append(loop)
    return tuple(nest)


def _join(inner: Loop, outer: Loop) -> Loop | None:
    """One loop for two, if there is one."""
    if inner.plain and (outer.wrap == 1 or outer.step == inner.wrap * inner.step):
        return Loop(outer.before * inner.wrap, outer.wrap * inner.wrap, outer.after * inner.wrap, inner.step)
    if outer.wrap == 1:
        units = inner.units
        before, after = outer.before * units + inner.before, inner.after + outer.after * units
        return Loop(before, inner.wrap, after, inner.step)
    return None


def rescaled(items: Sequence[Item], group: int, spread: int) -> tuple[Item, ...] | None:
    """``items`` in units of ``group`` old ones, or of a ``spread``-th of an old one; None if not whole."""
    out: list[Item] = []
    for item in items:
        scaled = _rescale(item, group, spread)
        if scaled is None:
            return None
        out.append(scaled)
    return tuple(out)


def _rescale(item: Item, group: int, spread: int) -> Item | None:
    if isinstance(item, Zeros):
        return Zeros(item.size // group * spread) if item.size % group == 0 else None
    if isinstance(item, Repeat):
        items = rescaled(item.items, group, spread)
        whole = items is not None and item.step % group == 0
        return Repeat(item.count, item.step // group * spread, items or ()) if whole else None
    if group == 1:
        return _spread(item, spread)
    return _grouped(item, group)


def _spread(nest: Nest, spread: int) -> Nest:
    loops = [loop._replace(step=loop.step * spread) for loop in nest.loops]
    return Nest(nest.base * spread, merged([Loop(0, spread, 0, 1), *loops]))


def _grouped(nest: Nest, group: int) -> Nest | None:
    """Divide the innermost run and every step by ``group``; the run must be contiguous."""
    if not nest.loops or nest.loops[0].step != 1:
        return None
    run, *outer = nest.loops
    numbers = [nest.base, run.before, run.wrap, run.after, *(loop.step for loop in outer)]
    if any(number % group for number in numbers):
        return None
    inner = Loop(run.before // group, run.wrap // group, run.after // group, 1)
    return Nest(nest.base // group, merged([inner, *(o._replace(step=o.step // group) for o in outer)]))
