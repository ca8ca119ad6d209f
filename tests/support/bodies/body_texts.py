"""Pieces of core bodies as text: one operation each, its operands from memory, its results back to memory.

Operands and indices are read from buffers ``%in_KIND``, so one text serves many cases: another memory is
another case. :class:`Piece` knows which words of memory mean what (``pools``), and what an independent
arithmetic expects, where there is one.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Memory = dict[str, Array]
KINDS: Mapping[str, np.dtype[Any]] = {
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
}
"""Types of elements of memory; other integers are made of the next wider one."""
ELEMENTS = 16
"""Of each buffer."""
BUFFERS = tuple(f"{way}_{kind}" for way in ("in", "out") for kind in KINDS)
FLOATS = ("bf16", "f32", "f64")
INDEX_BITS = 32
"""Of an index on the core."""
CONSTANTS = 17
"""``%c0`` to ``%c16`` are known in every piece."""


def bits_of(kind: str) -> int:
    """Bits of an integer type."""
    return INDEX_BITS if kind == "index" else int(kind[1:])


def memory_kind(kind: str) -> str:
    """The type of the memory that holds values of a type."""
    if kind in KINDS:
        return kind
    return "i64" if kind == "index" else next(f"i{n}" for n in (8, 16, 32, 64) if n >= min(bits_of(kind), 64))


@dataclass
class Piece:
    """Text of one operation, written by one of the makers.

    Attributes:
        number: prefix of its names, which no other piece has.
        generic: whether it is in generic form.
        rng: decides what is open.
        covers: names of the operations in it.
        lines: of the body.
        module: text at module level, outside of the device.
        beside: text in the device, outside of the core.
        alone: whether it cannot be one of several in a switch, as it synchronises or has blocks.
        pools: by buffer and element, which numbers the element may be: name of a pool and its argument.
        expects: from memory to the buffer, the element and the number that it must have at the end, or the
            reason of an error; None where nothing is known.
    """

    number: int
    generic: bool
    rng: random.Random
    covers: set[str] = field(default_factory=set)
    lines: list[str] = field(default_factory=list)
    module: str = ""
    beside: str = ""
    alone: bool = False
    pools: dict[tuple[str, int], tuple[str, int]] = field(default_factory=dict)
    expects: Callable[[Memory], tuple[str, int, Any] | str | None] | None = None
    _taken: dict[str, int] = field(default_factory=dict)
    _names: int = 0

    # names and lines -----------------------------------------------------------------------------------

    def name(self) -> str:
        """A new name of a value."""
        self._names += 1
        return f"%x{self.number}_{self._names}"

    def symbol(self) -> str:
        """A new symbol."""
        self._names += 1
        return f"@s{self.number}_{self._names}"

    def add(self, *lines: str) -> None:
        """Add lines as they are."""
        self.lines += lines

    def op(
        self,
        name: str,
        operands: Sequence[str],
        types: tuple[Sequence[str], Sequence[str]],
        pretty: str | None = None,
        attributes: str = "",
        results: int | None = None,
    ) -> str:
        """Add an operation; the name of its result.

        Args:
            name: of the operation.
            operands: by name.
            types: of the operands and of the results.
            pretty: the text behind the results in pretty form; None = ``name %a, %b : type``.
            attributes: of the generic form, without the brackets.
            results: how many there are; as many as types if omitted.
        """
        self.covers.add(name)
        count = len(types[1]) if results is None else results
        result = self.name() if count else ""
        left = "" if not count else f"{result} = " if count == 1 else f"{result}:{count} = "
        if self.generic:
            given = f" <{{{attributes}}}>" if attributes else ""
            kinds = f"({', '.join(types[0])}) -> ({', '.join(types[1])})"
            self.add(f'{left}"{name}"({", ".join(operands)}){given} : {kinds}')
        elif pretty is not None:
            self.add(f"{left}{pretty}")
        else:
            self.add(f"{left}{name} {', '.join(operands)} : {types[0][0]}")
        return result

    # operands and results -------------------------------------------------------------------------------

    def _slot(self, buffer: str) -> int:
        slot = self._taken.get(buffer, 0)
        self._taken[buffer] = slot + 1
        assert slot < ELEMENTS
        return slot

    def value(self, kind: str, pool: tuple[str, int] | None = None) -> tuple[str, Callable[[Memory], Any]]:
        """A value of a type that comes from memory; its name, and its number in a memory.

        Args:
            kind: its type.
            pool: which numbers it may be; any of its type if omitted.
        """
        of = memory_kind(kind)
        buffer, loaded = f"in_{of}", self.name()
        slot = self._slot(buffer)
        self.pools[buffer, slot] = pool or ("any", 0)
        self.add(f"{loaded} = memref.load %{buffer}[%c{slot}] : memref<{ELEMENTS}x{of}>")

        def number(memory: Memory) -> Any:
            found = memory[buffer][slot]
            return found if kind in FLOATS else wrap(int(found), bits_of(kind))

        if of == kind:
            return loaded, number
        name = self.name()
        cast = "arith.index_cast" if kind == "index" else "arith.trunci"
        if kind != "index" and bits_of(kind) > 64:
            cast = "arith.extsi"
        self.add(f"{name} = {cast} {loaded} : {of} to {kind}")
        return name, number

    def index(self, size: int) -> str:
        """An index into so many elements, or just beside them, or anywhere."""
        return self.value("index", ("place", size))[0]

    def constant(self, number: int, kind: str = "index") -> str:
        """A constant."""
        if kind == "index" and 0 <= number < CONSTANTS:
            return f"%c{number}"
        name = self.name()
        self.add(f"{name} = arith.constant {number} : {kind}")
        return name

    def put(self, value: str, kind: str) -> tuple[str, int]:
        """Store a value; where: the buffer and the element."""
        of = memory_kind(kind)
        buffer, stored = f"out_{of}", value
        slot = self._slot(buffer)
        if of != kind:
            stored = self.name()
            cast = "arith.index_cast" if kind == "index" else "arith.extui" if kind == "i1" else "arith.extsi"
            if kind != "index" and bits_of(kind) > 64:
                cast = "arith.trunci"
            self.add(f"{stored} = {cast} {value} : {kind} to {of}")
        self.add(f"memref.store {stored}, %{buffer}[%c{slot}] : memref<{ELEMENTS}x{of}>")
        return buffer, slot

    def memory(self, kind: str, way: str = "in") -> str:
        """The buffer of a type of elements, which has :data:`ELEMENTS` of them."""
        return f"%{way}_{kind}"

    def shaped(self, kind: str, shape: Sequence[int], way: str = "in") -> str:
        """Memory of a shape, from the beginning of the buffer of its type."""
        name, sizes = self.name(), ", ".join(map(str, shape))
        steps = strides(shape)
        target = memref(shape, kind)
        self.add(
            f"{name} = memref.reinterpret_cast {self.memory(kind, way)} to offset: [0], sizes: [{sizes}], "
            f"strides: [{', '.join(map(str, steps))}] : memref<{ELEMENTS}x{kind}> to {target}"
        )
        return name

    def vector(self, kind: str, shape: Sequence[int]) -> str:
        """A vector of a shape, from the beginning of the buffer of its type."""
        of, count = memory_kind(kind), int(np.prod(shape))
        flat, name = self.name(), self.name()
        self.add(
            f"{flat} = vector.load %in_{of}[%c0] : memref<{ELEMENTS}x{of}>, vector<{count}x{of}>",
            f"{name} = vector.shape_cast {flat} : vector<{count}x{of}> to {vector(shape, of)}",
        )
        if of == kind:
            return name
        cast = self.name()
        step = "arith.index_cast" if kind == "index" else "arith.trunci"
        self.add(f"{cast} = {step} {name} : {vector(shape, of)} to {vector(shape, kind)}")
        return cast

    def put_vector(self, value: str, kind: str, shape: Sequence[int]) -> None:
        """Store a vector of up to :data:`ELEMENTS` elements."""
        of, count = memory_kind(kind), int(np.prod(shape))
        stored = value
        if of != kind:
            stored = self.name()
            cast = "arith.index_cast" if kind == "index" else "arith.extui" if kind == "i1" else "arith.extsi"
            self.add(f"{stored} = {cast} {value} : {vector(shape, kind)} to {vector(shape, of)}")
        flat = self.name()
        self.add(
            f"{flat} = vector.shape_cast {stored} : {vector(shape, of)} to vector<{count}x{of}>",
            f"vector.store {flat}, %out_{of}[%c0] : memref<{ELEMENTS}x{of}>, vector<{count}x{of}>",
        )


Maker = Callable[[Piece], None]
"""Writes a piece."""


def strides(shape: Sequence[int]) -> list[int]:
    """Elements from one place to the next along each dimension, in row-major order."""
    return [int(np.prod(shape[n + 1 :])) for n in range(len(shape))]


def memref(shape: Sequence[int], kind: str) -> str:
    """The type of memory."""
    return f"memref<{''.join(f'{size}x' for size in shape)}{kind}>"


def vector(shape: Sequence[int], kind: str) -> str:
    """The type of a vector."""
    return f"vector<{''.join(f'{size}x' for size in shape)}{kind}>"


def wrap(value: int, bits: int) -> int:
    """An integer as its type holds it: of one bit 0 or 1, else signed."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if bits > 1 and value >> (bits - 1) else value


# numbers in memory -----------------------------------------------------------------------------------------

_EDGES = (31, 32, 63)


def _any_integer(rng: random.Random, kind: str) -> int:
    bits = bits_of(kind)
    edges = [0, 1, -1, 2, -2, 3, 7, bits - 1, bits, 1 << (bits - 1), (1 << (bits - 1)) - 1]
    if bits == 64:
        edges += [sign * (1 << n) + more for n in _EDGES for sign in (1, -1) for more in (-1, 0, 1)]
    chosen = rng.choice(edges) if rng.random() < 0.6 else rng.getrandbits(rng.randint(1, bits))
    return wrap(chosen, bits)


def _any_float(rng: random.Random) -> float:
    edges = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.5, 1e-45, 1e38, -1e38, 2.0**31, -(2.0**31), 2.0**63, 1e300]
    edges += [float("inf"), float("-inf"), float("nan")]
    return rng.choice(edges) if rng.random() < 0.5 else rng.uniform(-100, 100)


def _place(rng: random.Random, size: int) -> int:
    """Mostly inside; else just outside, or where an index wraps."""
    if rng.random() < 0.55:
        return rng.choice((0, size - 1, rng.randrange(size)))
    wide = [sign * (1 << n) + more for n in _EDGES for sign in (1, -1) for more in (-1, 0, 1)]
    return rng.choice([-1, size, size + 1, -size, rng.choice(wide)])


def _small(rng: random.Random, most: int) -> int:
    return rng.randint(0, most)


def drawn(rng: random.Random, pool: tuple[str, int], kind: str) -> Any:
    """A number of a pool, for an element of a type."""
    name, argument = pool
    if name == "any":
        found: Any = _any_float(rng) if kind in FLOATS else _any_integer(rng, kind)
    elif name == "place":
        found = _place(rng, argument)
    elif name == "small":
        found = _small(rng, argument)
    elif name == "near":  # an index near the largest one
        found = rng.choice((0, 1 << 31, 1 << 32, -(1 << 31))) + rng.randint(-argument, argument)
    else:
        raise ValueError(name)
    return found if kind in FLOATS else wrap(found, bits_of(kind))


def memory_for(piece: Piece, rng: random.Random) -> Memory:
    """A memory for a piece: what its pools say, and anything elsewhere; results are zero."""
    found: Memory = {}
    for name in BUFFERS:
        way, _, kind = name.partition("_")
        wide = np.float64 if kind in FLOATS else np.int64
        numbers = [drawn(rng, piece.pools.get((name, n), ("any", 0)), kind) for n in range(ELEMENTS)]
        with np.errstate(all="ignore"):
            found[name] = np.array(numbers if way == "in" else [0] * ELEMENTS, wide).astype(KINDS[kind])
    return found
