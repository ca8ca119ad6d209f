"""Names of values in the text of a module, as MLIR and mlir-aie give them."""

from __future__ import annotations

import re

from memtile.iron.ops.attributes import IntegerAttr, StringAttr
from memtile.iron.ops.operation_classes import OperationForm, forms, operands_of
from memtile.iron.ops.operations import Block, Operation, Region, Value
from memtile.iron.ops.target_model import tile_type_of
from memtile.iron.ops.types import IndexType, IntegerType


class Names:
    """Names of values: those of a region, then those of the regions within its operations.

    Numbers go on from a region into those within it, and are the same in regions beside each other, as MLIR
    does it; a name that is taken gets a number behind it.
    """

    def __init__(self, top: Operation) -> None:
        self.names: dict[int, str] = {}
        self._kept: list[Value] = []  # their identities are the keys
        waiting: list[tuple[Region, int, int, int, frozenset[str]]] = []
        start = (0, 0, 0, frozenset[str]())
        value, argument, conflict, taken = self._results(top, *start)
        waiting += [(region, value, argument, conflict, taken) for region in top.regions]
        while waiting:
            region, *state = waiting.pop()
            after = self._region(region, *state)  # type: ignore[arg-type]
            waiting += [
                (inner, *after)
                for block in region.blocks
                for each in block.operations
                for inner in each.regions
            ]

    def _region(
        self, region: Region, value: int, argument: int, conflict: int, taken: frozenset[str]
    ) -> tuple[int, int, int, frozenset[str]]:
        used = set(taken)
        for block in region.blocks:
            for each in block.arguments:
                self._give(each, f"arg{argument}")
                argument += 1
            for operation in block.operations:
                for result in operation.results[:1]:
                    hint = _hint(operation)
                    if not hint:
                        hint, value = str(value), value + 1
                    elif hint in used:
                        while f"{hint}_{conflict}" in used:
                            conflict += 1
                        hint, conflict = f"{hint}_{conflict}", conflict + 1
                    used.add(hint)
                    self._give(result, hint)
                    for at, more in enumerate(operation.results[1:], 1):
                        self._give(more, f"{hint}#{at}")
                    if len(operation.results) > 1:
                        self._give(result, f"{hint}#0")
        return value, argument, conflict, frozenset(used)

    def _results(
        self, top: Operation, value: int, argument: int, conflict: int, taken: frozenset[str]
    ) -> tuple[int, int, int, frozenset[str]]:
        for result in top.results:
            self._give(result, str(value))
            value += 1
        return value, argument, conflict, taken

    def _give(self, value: Value, name: str) -> None:
        self.names[id(value)] = name
        self._kept.append(value)


def _hint(operation: Operation) -> str:
    """How the result of an operation is called; empty = by number."""
    if operation.name == "arith.constant":
        return _constant_hint(operation)
    form = forms().get(operation.name)
    if form is None or not form.hint:
        return ""
    return next(filter(None, (_filled(operation, form, each) for each in form.hint.split(" or "))), "")


def _filled(operation: Operation, form: OperationForm, hint: str) -> str:
    """A hint with its parts put in; empty if one of them is not known."""
    words = []
    for piece in re.split(r"(\{[^}]*\})", hint):
        if not piece.startswith("{"):
            words.append(piece)
            continue
        word = _hint_word(operation, form, piece[1:-1])
        if word is None:
            return ""
        words.append(word)
    return re.sub(r"[^A-Za-z0-9_$.-]", "_", "".join(words))


def _hint_word(operation: Operation, form: OperationForm, asked: str) -> str | None:
    name, _, place = asked.partition(".")
    if place:
        return _place(operands_of(operation, form)[name][0].owner)
    if name == "kind":
        return _tile_kind(operation)
    value = operation.attributes.get(name)
    if value is None:
        return None
    if name == "tile_type":
        return _KIND_NAMES[value.short()].removesuffix("_") or "core"
    return value.value if isinstance(value, StringAttr) else value.short()


def _place(tile: Operation | Block) -> str | None:
    """Column and row of a tile; None if one is not known."""
    if not isinstance(tile, Operation) or not {"col", "row"} <= tile.attributes.keys():
        return None
    return "_".join(tile.attributes[each].short() for each in ("col", "row"))


def _tile_kind(tile: Operation) -> str:
    """How the name of a tile begins: by what is at its place of the device."""
    kind = tile_type_of(tile)
    return "" if kind is None else _KIND_NAMES[kind.name]


_KIND_NAMES = {"CoreTile": "", "MemTile": "mem_", "ShimNOCTile": "shim_noc_", "ShimPLTile": "shim_pl_"}


def _constant_hint(operation: Operation) -> str:
    value = operation.attributes["value"]
    if not isinstance(value, IntegerAttr):
        if str(value) in ("true", "false"):
            return str(value)
        return "cst"
    if isinstance(value.type, IndexType):
        return f"c{value.value}"
    if isinstance(value.type, IntegerType) and value.type.width == 1:
        return "true" if value.value else "false"
    return f"c{value.value}_{value.type}"
