"""MLIR's memrefs as tilings: an offset, sizes and strides in elements, outermost axis first.

What stands in the way of one is said in its own terms: ``sizes[i]``, ``strides[i]``, ``offset``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from math import prod

from memtile.access.element_types import mlir_bits
from memtile.access.lowering.fit import Fields
from memtile.access.request import WORD_BITS
from memtile.access.tiling import TilingParameters, TraversingParameters
from memtile.arch.tiles import TileKind
from memtile.errors import Problem, TransferError, raise_if

SOURCE = "MLIR, memref with strided layout"
_problem = partial(Problem, reason="memref", where="memref", source=SOURCE)
_FORM = "memref<4x8xi32, strided<[16, 1], offset: 3>>"
_TEXT = re.compile(
    r"\s*memref\s*<\s*((?:\d+\s*x\s*)*)([a-zA-Z]\w*)\s*"
    r"(?:,\s*strided\s*<\s*\[([-\d,\s]*)\]\s*(?:,\s*offset\s*:\s*(-?\d+)\s*)?>\s*)?(?:,[^>]*)?>\s*"
)


@dataclass(frozen=True, slots=True)
class Memref:
    """Elements ``offset + sum(index[i] * strides[i])`` for ``index[i]`` in 0..sizes[i]-1, the last fastest.

    Attributes:
        sizes: elements per axis, outermost first.
        strides: distance of neighbours in elements, per axis.
        offset: first element.
    """

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0

    @property
    def covered(self) -> int:
        """Elements from the first of the buffer to the last that it names."""
        return self.offset + sum((n - 1) * s for n, s in zip(self.sizes, self.strides, strict=True)) + 1

    def tiling(self, capacity: int | None = None) -> TilingParameters:
        """A tiling of a flat buffer of ``capacity`` elements; None = as many as it covers.

        Raises:
            TransferError: lists of different lengths, sizes below 1, strides below 0, an offset below 0, or
                elements beyond the buffer; all problems at once.
        """
        raise_if(list(self._wrong(capacity)), TransferError)
        loops = list(zip(self.sizes, self.strides, strict=True))
        run = loops.pop()[0] if loops and loops[-1][1] == 1 else 1
        return TilingParameters(
            buffer_dimension=(self.covered if capacity is None else capacity,),
            tiling_dimension=(run,),
            offset=(self.offset,),
            tile_traversal=tuple(TraversingParameters(0, stride, size) for size, stride in reversed(loops)),
        )

    def _wrong(self, capacity: int | None) -> Iterator[Problem]:
        if len(self.sizes) != len(self.strides):
            says = (
                f"strides has {len(self.strides)} numbers, sizes has {len(self.sizes)}; each size needs one"
            )
            yield _problem("strides", f"{len(self.strides)} numbers", f"{len(self.sizes)} numbers", says=says)
            return
        for name, values, low in (("sizes", self.sizes, 1), ("strides", self.strides, 0)):
            for n, value in enumerate(values):
                if value < low:
                    step = "The hardware only steps forward." if name == "strides" else ""
                    yield _problem(f"{name}[{n}]", str(value), f"{low} or more", next_step=step)
        if self.offset < 0:
            yield _problem("offset", str(self.offset), "0 or more")
        elif capacity is not None and self.covered > capacity and min((*self.strides, 0)) == 0:
            says = f"the memref covers elements {self.offset}..{self.covered - 1}, "
            says += f"the buffer has 0..{capacity - 1}"
            yield _problem("memref", f"elements up to {self.covered - 1}", f"0..{capacity - 1}", says=says)

    def in_its_words(self, error: TransferError, bits: int, kind: TileKind) -> TransferError:
        """``error`` with what is wrong about words and steps said of offset, sizes and strides."""
        named = [*self._fractions(bits), *self._steps(bits, kind)]
        rest = [p for p in error.problems if p.reason not in ("word_alignment", "step")]
        replaced = len(rest) < len(error.problems)
        return TransferError([*named, *rest]) if named and replaced else error

    def _fractions(self, bits: int) -> Iterator[Problem]:
        """Numbers that are no whole words, of the innermost run and of what is around it."""
        group = WORD_BITS // bits
        if group <= 1:
            return
        rule, source = (
            f"a multiple of {group} elements, one {WORD_BITS}-bit word",
            "AM020 ch. 5: 32-bit words",
        )
        if self.offset % group:
            yield _problem("offset", f"{self.offset} elements", rule, source=source)
        run, inside = 1, True
        moving = [n for n in range(len(self.sizes)) if self.sizes[n] > 1]
        for place, n in reversed(list(enumerate(moving))):
            inside = inside and self.strides[n] == run
            run *= self.sizes[n] if inside else 1
            if not inside and place == len(moving) - 1:
                yield _problem(
                    f"strides[{n}]", f"{self.strides[n]} elements", "1 on the innermost axis", source=source
                )
            elif not inside and self.strides[n] % group:
                yield _problem(f"strides[{n}]", f"{self.strides[n]} elements", rule, source=source)
        if run % group and (not moving or self.strides[moving[-1]] == 1):
            n = moving[-1] if moving else len(self.sizes) - 1
            given = f"{self.sizes[n]} elements" if moving else "one element"
            yield _problem(f"sizes[{n}]", given, rule, source=source)

    def _steps(self, bits: int, kind: TileKind) -> Iterator[Problem]:
        limit = max(Fields(kind).step)
        for n, (size, stride) in enumerate(zip(self.sizes, self.strides, strict=True)):
            words = stride * bits // WORD_BITS
            if size > 1 and words > limit:
                field = kind.bd_fields["D0_Stepsize"]
                yield _problem(
                    f"strides[{n}]",
                    f"{stride} elements, {words} words",
                    f"at most {limit} words",
                    source=f"AM025: Dn_Stepsize has {field.bits} bits",
                )


def parse_memref(text: str) -> tuple[Memref, int]:
    """MLIR's text of a memref type, ``memref<4x8xi32, strided<[16, 1], offset: 3>>``, and its element's bits.

    Without a layout the strides are those of a contiguous array.

    Raises:
        TransferError: it is none, has dynamic sizes, or an element type without a size.
    """
    found = _TEXT.fullmatch(text)
    if found is None:
        raise TransferError(_problem("memref", repr(text), f"such as {_FORM}, with numbers alone"))
    bits = mlir_bits(found[2])
    if bits is None:
        allowed = "i8, i16, i32, f32, bf16 and the like"
        raise TransferError(_problem("memref", f"element type {found[2]}", allowed))
    sizes = tuple(int(size) for size in re.findall(r"\d+", found[1]))
    contiguous = tuple(prod(sizes[n + 1 :]) for n in range(len(sizes)))
    strides = contiguous if found[3] is None else tuple(int(n) for n in re.findall(r"-?\d+", found[3]))
    return Memref(sizes, strides, int(found[4] or 0)), bits
