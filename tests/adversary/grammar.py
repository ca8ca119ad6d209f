"""Operations of MLIR in their generic form, made from the table of known operations; right only by chance."""

from __future__ import annotations

import random
import re

from memtile.errors import MemtileError
from memtile.importers.mlir.known_operations import ENUMS, KnownOperation, operations
from support.mutated.mutated_texts import NUMBERS, TYPES

_VALUE, _SYMBOL = re.compile(r"%[\w$.]+"), re.compile(r"@[\w$.]+")
_DEPTH = 3  # regions within each other
_TYPES = (*TYPES, "memref<16xi32>", "memref<?xi8>", "vector<8xi16>", "!aie.objectfifo<memref<16xi32>>", "()")


def with_operation(rng: random.Random, data: bytes) -> bytes:
    """A text with one more operation between two of its lines."""
    lines = data.decode("utf-8", "replace").split("\n")
    values, symbols = (sorted(set(p.findall("\n".join(lines)))) or [""] for p in (_VALUE, _SYMBOL))
    made = _Made(rng, values, symbols).operation(rng.choice([*operations()]), 0)
    lines.insert(rng.randrange(len(lines) + 1), made)
    return "\n".join(lines).encode()


class _Made:
    """Makes operations that use values and symbols of a text."""

    def __init__(self, rng: random.Random, values: list[str], symbols: list[str]) -> None:
        self._rng, self._values, self._symbols = rng, values, symbols

    def operation(self, name: str, depth: int) -> str:
        """An operation with operands, attributes and regions as the table has them."""
        rng, known = self._rng, operations()[name]
        operands = [rng.choice(self._values) for _ in range(rng.choice((0, 1, 1, 2, 3)))]
        results = rng.choice((0, 0, 1, 1, 2))
        given = [each for each in known.attributes if rng.random() < 0.6]
        entries = ", ".join(f"{each} = {self._attribute(known.attributes[each].kind)}" for each in given)
        regions = self._regions(known, depth)
        types = [rng.choice(_TYPES) for _ in range(len(operands) + results)]
        ends = f"({', '.join(types[: len(operands)])}) -> ({', '.join(types[len(operands) :])})"
        result = f"%fuzz{rng.randrange(9)}{f':{results}' if results > 1 else ''} = " if results else ""
        braces = rng.choice((f"<{{{entries}}}>", f"{{{entries}}}")) if entries else ""
        return f'{result}"{name}"({", ".join(operands)}) {braces} {regions} : {ends}'

    def _regions(self, known: KnownOperation, depth: int) -> str:
        if not known.holds or depth == _DEPTH:
            return ""
        rng, every = self._rng, operations()
        held = [name for name in every if any(_fits(name, each) for each in known.holds)]
        inner = [self.operation(rng.choice(held), depth + 1) for _ in range(rng.choice((0, 1, 1, 2)))]
        inner += [self.operation(rng.choice(known.ends), _DEPTH)] if known.ends else []
        block = rng.choice(("", "^bb0(%arg: index):\n", "^end:\n"))
        return f"({{\n{block}{chr(10).join(inner)}\n}})"

    def _attribute(self, kinds: str) -> str:
        rng = self._rng
        kind = rng.choice(kinds.split("|"))
        kind = rng.choice((kind, kind, kind, kind, "str", "i32", "list"))
        if kind.startswith("$") and kind[1:] in ENUMS:
            return rng.choice((rng.choice(ENUMS[kind[1:]]), f'"{rng.choice(ENUMS[kind[1:]])}"'))
        if re.match("[usi]+[0-9]", kind):
            number = rng.choice((*NUMBERS, *map(str, range(6))))
            return f"{number} : {re.match('[a-z]+[0-9]+', kind)[0]}"  # type: ignore[index]
        numbers = ", ".join(rng.choice(NUMBERS) for _ in range(rng.randrange(4)))
        made = {
            "str": (f'"{rng.choice(("x", "", "a.b", "core_0_2.elf"))}"',),
            "bool": ("true", "false", "1", "unit"),
            "unit": ("unit",),
            "sym": self._symbols,
            "list": (f"[{numbers}]", "[[1, 2], [3]]", "[{a = 1}]"),
            "array": (f"array<i64: {numbers}>", f"array<i32: {numbers}>", "array<i32>"),
            "elements": (f"dense<[{numbers}]> : tensor<4xi32>", "dense<7> : memref<16xi32>"),
        }
        compound = f"#aie.x<{rng.choice(('size', 'pkt_id', 'stride'))} = {rng.choice(NUMBERS)}>"
        return rng.choice((*made.get(kind, (compound, *self._symbols)),)) or "unit"


def _fits(name: str, held: str) -> bool:
    return held in ("*", name) or (held.endswith(".*") and name.startswith(held[:-1]))


def with_body(rng: random.Random, data: bytes) -> bytes:
    """A core that does what one operation does; or the operation at the end of the text's core."""
    from support.bodies.body_runs import MAKERS, text_of, written

    name, generic = rng.choice([*MAKERS]), rng.random() < 0.4
    piece = written(name, rng.randrange(1000), generic=generic)
    text = data.decode("utf-8", "replace")
    at = text.rfind("aie.end")
    if "%in_i32" not in text or at < 0 or piece.alone or rng.random() < 0.4:
        return text_of([piece]).encode()
    device = text.find("%tile = aie.tile")
    beside = f"{piece.beside}\n" if piece.beside else ""
    return "\n".join((piece.module, text[:device], beside, text[device:at], *piece.lines, text[at:])).encode()


def with_design(rng: random.Random, data: bytes) -> bytes:
    """Another design: a small one with packets and locks, or what the writer makes of a random array."""
    from memtile import Array
    from memtile.mlir_writer.designs import to_mlir
    from support.designs import small_packets
    from support.designs.ordered_designs import ordered

    number = rng.randrange(1 << 20)
    if rng.random() < 0.5:
        return small_packets.text(small_packets.drawn(number)).encode()
    made = ordered(number)
    try:
        return to_mlir(made).encode() if isinstance(made, Array) else data
    except MemtileError:
        return data  # what no operation says
