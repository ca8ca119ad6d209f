"""Classes of operations from their table: what builders take, and the attributes made of that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np

from memtile.iron.ops import table
from memtile.iron.ops.attributes import (
    ArrayAttr,
    Attribute,
    BoolAttr,
    DenseI32ArrayAttr,
    DenseI64ArrayAttr,
    FlatSymbolRefAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    TypeAttr,
    UnitAttr,
)
from memtile.iron.ops.enums import ENUMS, EnumAttr
from memtile.iron.ops.operations import Block, InsertionPoint, Operation, Region, Value, value_of
from memtile.iron.ops.types import FunctionType, IndexType, IntegerType, Type


@dataclass(frozen=True)
class Part:
    """What an operation is made of.

    Attributes:
        name: of the part.
        kind: ``%`` operand, ``region``, ``block``, or that of an attribute.
        many: any number of them.
        optional: it may be absent.
        default: what absence means; empty if nothing.
    """

    name: str
    kind: str
    many: bool = False
    optional: bool = False
    default: str = ""

    @property
    def is_operand(self) -> bool:
        """Whether it is a value."""
        return self.kind == "%"

    @property
    def is_attribute(self) -> bool:
        """Whether it is an attribute."""
        return self.kind not in ("%", "block", "region", "regions")


@dataclass(frozen=True)
class OperationForm:
    """An operation as the table has it.

    Attributes:
        name: with its dialect.
        parts: in order.
        results: names of its results, or their types where these are always the same.
        form: of its text.
        hint: how its result is called.
    """

    name: str
    parts: tuple[Part, ...]
    results: tuple[str, ...]
    form: str
    hint: str

    @property
    def operands(self) -> list[Part]:
        """The values, in order."""
        return [part for part in self.parts if part.is_operand]

    def part(self, name: str) -> Part | None:
        """A part by its name."""
        return next((part for part in self.parts if part.name == name), None)


@cache
def forms() -> dict[str, OperationForm]:
    """All operations of the table, by name."""
    lines = "\n".join((table.ARRAY, table.HOST, table.BODIES)).split("\n")
    read = (_form(line) for line in lines if line.strip())
    return {form.name: form for form in read}


def _form(line: str) -> OperationForm:
    name, parts, results, rest = (piece.strip(" ") for piece in line.split(" |", 3))
    form, _, hint = rest.rpartition("|")
    return OperationForm(
        name, tuple(map(_part, parts.split())), tuple(results.split()), form.strip(), hint.strip()
    )


def _part(text: str) -> Part:
    name, _, kind = text.partition(":")
    kind, _, default = kind.partition("=")
    optional = kind.endswith("?")
    kind = kind.removesuffix("?")
    many = kind == "%*"
    return Part(name, "%" if many else kind, many, optional, default)


def _plain(type_name: str) -> Callable[[Any], Attribute]:
    def make(value: Any) -> Attribute:
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            raise TypeError(f"{value!r} is no whole number")
        type = IndexType() if type_name == "index" else Type.parse(type_name)
        return IntegerAttr(type, int(value))

    return make


def _strings(value: Any) -> Attribute:
    return ArrayAttr([each if isinstance(each, Attribute) else StringAttr(each) for each in value])


def _name(value: Any) -> str:
    """The name of a symbol: a text, or what has one."""
    if isinstance(value, str):
        return value
    if isinstance(value, StringAttr):
        return value.value
    found = getattr(value, "sym_name", None) or getattr(value, "name", None)
    if found is None:
        raise TypeError(f"{value!r} has no name")
    return _name(found)


def _symbol(value: Any) -> Attribute:
    if isinstance(value, Operation) and "sym_name" in value.attributes:
        value = value.attributes["sym_name"]
    if isinstance(value, (list, tuple)):
        return SymbolRefAttr([_name(each) for each in value])
    return FlatSymbolRefAttr(_name(value))


def layout(pairs: Iterable[Any]) -> Attribute:
    """``#aie<bd_dim_layout_array[<size = 4, stride = 1>]>`` of pairs of size and stride."""
    return Attribute(f"#aie<bd_dim_layout_array[{', '.join(map(dimension, pairs))}]>")


def dimension(pair: Any) -> str:
    """``<size = 4, stride = 1>`` of one pair."""
    if isinstance(pair, Attribute):
        return str(pair).removeprefix("#aie.bd_dim_layout")
    size, stride = pair
    return f"<size = {int(size)}, stride = {int(stride)}>"


class LayoutAttr(Attribute):
    """Sizes and strides of one end of an object FIFO.

    Attributes:
        pairs: texts of the dimensions, the outermost first.
    """

    def __init__(self, pairs: Sequence[Any]) -> None:
        self.pairs = [dimension(pair) for pair in pairs]

    def short(self) -> str:
        """In brackets."""
        return f"[{', '.join(self.pairs)}]"

    def __str__(self) -> str:
        return f"#aie<bd_dim_layout_array{self.short()}>"


class LayoutsAttr(Attribute):
    """Those of all consumers of an object FIFO.

    Attributes:
        each: one for each consumer.
    """

    def __init__(self, each: Sequence[Any]) -> None:
        self.each = [one if isinstance(one, LayoutAttr) else LayoutAttr(one) for one in each]

    def __str__(self) -> str:
        return f"#aie<bd_dim_layout_array_array[{', '.join(one.short() for one in self.each)}]>"


def _pads(value: Any) -> Attribute:
    pairs = (
        str(each).removeprefix("#aie.bd_pad_layout")
        if isinstance(each, Attribute)
        else f"<const_pad_before = {int(each[0])}, const_pad_after = {int(each[1])}>"
        for each in value
    )
    return _ShortAttr("#aie<bd_pad_layout_array", f"[{', '.join(pairs)}]", ">")


class _ShortAttr(Attribute):
    """An attribute of mlir-aie whose short text stands within its whole one.

    Attributes:
        value: what it was made of.
    """

    def __init__(self, before: str, short: str, behind: str, value: Any = None) -> None:
        self._short, self.value = short, value
        super().__init__(f"{before}{short}{behind}")

    def short(self) -> str:
        return self._short


def _packet(value: Any) -> Attribute:
    kind, number = value
    return _ShortAttr(
        "#aie.packet_info", f"<pkt_type = {int(kind)}, pkt_id = {int(number)}>", "", (int(kind), int(number))
    )


def _iteration(value: Any) -> Attribute:
    size, stride, current = value
    return _ShortAttr("#aie.bd_iteration", f"<size = {size}, stride = {stride}, current = {current}>", "")


def _depth(value: Any) -> Attribute:
    if isinstance(value, (list, tuple)):
        return ArrayAttr([KINDS["i32"](each) for each in value])
    return KINDS["i32"](value)


def _trace_event(value: Any) -> Attribute:
    name = value if isinstance(value, str) else getattr(getattr(value, "code", value), "name", None)
    if name is None:
        raise TypeError(f"{value!r} is no event of a trace")
    return _ShortAttr("#aie.trace_event", f'<"{name}">', "")


KINDS: dict[str, Callable[[Any], Attribute]] = {
    **{kind: _plain(kind) for kind in ("i8", "i16", "i32", "i64", "ui8", "ui32", "ui64")},
    "bool": lambda value: BoolAttr(bool(value)),
    "unit": lambda _: UnitAttr(),
    "str": lambda value: StringAttr(str(value)),
    "symbol": lambda value: StringAttr(_name(value)),
    "symbolref": _symbol,
    "symbolrefs": lambda value: ArrayAttr([_symbol(each) for each in value]),
    "i64list": lambda value: ArrayAttr([KINDS["i64"](each) for each in value]),
    "list": _strings,
    "i32s": DenseI32ArrayAttr,
    "i64s": DenseI64ArrayAttr,
    "type": lambda value: TypeAttr(value),
    "dims": LayoutAttr,
    "dimss": LayoutsAttr,
    "pads": _pads,
    "packet": _packet,
    "iteration": _iteration,
    "depth": _depth,
    "traceevent": _trace_event,
}
"""From what a builder is given to the attribute, by kind."""


def attribute_of(kind: str, value: Any) -> Attribute:
    """The attribute of a kind.

    Raises:
        TypeError: it cannot be made of this.
    """
    if isinstance(value, Attribute):
        return value
    if kind in ENUMS:
        if isinstance(value, str):
            return EnumAttr(ENUMS[kind][value])
        return EnumAttr(ENUMS[kind](int(value)))
    make = KINDS.get(kind)
    if make is None:
        raise TypeError(f"{value!r} is no attribute of MLIR")
    return make(value)


_BUILDERS = {
    "PacketInfoAttr": "packet",
    "BDIterationAttr": "iteration",
    "BDDimLayoutArrayAttr": "dims",
    "BDDimLayoutArrayArrayAttr": "dimss",
    "BDPadLayoutArrayAttr": "pads",
    "TraceEventAttr": "traceevent",
    "AIE_ObjectFifo_Depth": "depth",
    "AIEI8Attr": "i8",
    "AIEI32Attr": "i32",
    "AIEI64Attr": "i64",
    "I32Attr": "i32",
    "I64Attr": "i64",
    "StrAttr": "str",
    "BoolAttr": "bool",
    "FlatSymbolRefAttr": "symbolref",
}
"""mlir-aie's names of kinds of attributes, and ours."""


def attribute_builder(name: str) -> Callable[..., Attribute]:
    """The function that makes attributes of a kind, by mlir-aie's name of the kind.

    Raises:
        KeyError: the kind is not known.
    """
    if name not in _BUILDERS:
        raise KeyError(f"no kind of attribute {name!r}; those are {', '.join(sorted(_BUILDERS))}")

    def make(value: Any, context: object = None) -> Attribute:
        return attribute_of(_BUILDERS[name], value)

    return make


class OperationOf(Operation):
    """An operation of the table.

    Builders take the parts that must be there by place, in the order of the table, types of results before
    them; the others by name.
    """

    FORM: ClassVar[OperationForm]

    def __init__(
        self, *given: Any, loc: object = None, ip: InsertionPoint | None = None, **named: Any
    ) -> None:
        form = self.FORM
        results, given = _leading_types(form, given, named)
        parts = _bound(form, given, named)
        operands, groups = _operands(form, parts)
        regions = sum(_region_count(part, parts.get(part.name)) for part in form.parts)
        super().__init__(
            form.name,
            operands,
            results,
            _attributes(form, parts),
            regions,
            [_block(parts[part.name]) for part in form.parts if part.kind == "block"],
            groups,
            ip=ip,
        )

    def __getattr__(self, name: str) -> Any:
        form = type(self).FORM
        part = form.part(name)
        if part is None:
            if len(form.results) == 1 and name == form.results[0]:
                return self.result
            raise AttributeError(f"{form.name} has no {name}")
        return _get(self, form, part)

    def __setattr__(self, name: str, value: Any) -> None:
        part = type(self).FORM.part(name) if not name.startswith("_") else None
        if part is not None and part.is_attribute:
            if value is None:
                self.attributes.pop(name, None)
            else:
                self.attributes[name] = attribute_of(part.kind, value)
        else:
            super().__setattr__(name, value)

    @property
    def body_region(self) -> Region:
        """Its first region."""
        return self.regions[0]


def _get(operation: Operation, form: OperationForm, part: Part) -> Any:
    if part.is_attribute:
        value = operation.attributes.get(part.name)
        return attribute_of(part.kind, _default(part)) if value is None and part.default else value
    if part.kind == "region":
        return operation.regions[[each.name for each in form.parts if each.kind == "region"].index(part.name)]
    if part.kind == "block":
        return operation.successors[
            [each.name for each in form.parts if each.kind == "block"].index(part.name)
        ]
    values = operands_of(operation, form)[part.name]
    return values if part.many else values[0] if values else None


def operands_of(operation: Operation, form: OperationForm) -> dict[str, list[Value]]:
    """The values of each part that is one."""
    at, found = 0, {}
    for part, count in zip(form.operands, operation.groups, strict=True):
        found[part.name] = operation.operands[at : at + count]
        at += count
    return found


def _default(part: Part) -> Any:
    if part.kind == "bool":
        return part.default == "true"
    return int(part.default) if part.default.lstrip("-").isdigit() else part.default


def _leading_types(
    form: OperationForm, given: tuple[Any, ...], named: dict[str, Any]
) -> tuple[list[Type], tuple[Any, ...]]:
    """Types of the results, and what else is given by place."""
    types: list[Type] = []
    if "results" in form.results:
        found = named.pop("results_", None)
        if found is None and given and isinstance(given[0], (list, tuple)) and _all_types(given[0]):
            found, given = given[0], given[1:]
        return list(found or ()), given
    for name in form.results:
        fixed = _fixed(name)
        if given and isinstance(given[0], Type) and not (form.parts and form.parts[0].kind == "type"):
            types.append(given[0])
            given = given[1:]
        elif name in named and not form.part(name):
            types.append(named.pop(name))
        elif "result" in named and not form.part("result"):
            types.append(named.pop("result"))
        elif fixed is not None:
            types.append(fixed)
        else:
            raise TypeError(f"{form.name} needs the type of its result")
    return types, given


def _all_types(given: Sequence[Any]) -> bool:
    return all(isinstance(each, Type) for each in given)


def _fixed(name: str) -> Type | None:
    return IndexType() if name == "index" else IntegerType(1) if name == "i1" else None


def _bound(form: OperationForm, given: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
    """The parts by name."""
    places = [part for part in form.parts if part.kind not in ("region",) and not part.optional]
    if len(given) > len(places):
        raise TypeError(f"{form.name} takes {len(places)} arguments by place, not {len(given)}")
    parts = {part.name: value for part, value in zip(places, given, strict=False)}
    for name, value in named.items():
        part = form.part(name)
        if part is None or part.kind == "region":
            raise TypeError(
                f"{form.name} has no {name}; it has {', '.join(p.name for p in form.parts) or 'nothing'}"
            )
        if name in parts:
            raise TypeError(f"{form.name} is given {name} twice")
        parts[name] = value
    missing = [part.name for part in places if parts.get(part.name) is None and not part.many]
    if missing:
        raise TypeError(f"{form.name} needs {', '.join(missing)}")
    return parts


def _operands(form: OperationForm, parts: dict[str, Any]) -> tuple[list[Value], list[int]]:
    values: list[Value] = []
    groups = []
    for part in form.operands:
        given = parts.get(part.name)
        if part.many:
            these = [value_of(each) for each in (given if given is not None else ())]
        else:
            these = [value_of(given)] if given is not None else []
        values += these
        groups.append(len(these))
    return values, groups


def _attributes(form: OperationForm, parts: dict[str, Any]) -> dict[str, Attribute]:
    found = {}
    for part in form.parts:
        if part.is_attribute and parts.get(part.name) is not None:
            try:
                found[part.name] = attribute_of(part.kind, parts[part.name])
            except (TypeError, ValueError, KeyError) as error:
                raise type(error)(f"{part.name} of {form.name}: {error}") from error
    return found


def _region_count(part: Part, given: Any) -> int:
    if part.kind == "region":
        return 1
    return int(given if given is not None else 1) if part.kind == "regions" else 0


def _block(given: Any) -> Block:
    block = getattr(given, "block", given)
    if not isinstance(block, Block):
        raise TypeError(f"{given!r} is no block")
    return block


_NAMES = {
    "aie.dma_bd": "DMABDOp",
    "aie.dma_bd_packet": "DMABDPACKETOp",
    "aie.dma_start": "DMAStartOp",
    "aie.dma": "DMAOp",
    "aie.next_bd": "NextBDOp",
    "aie.memtile_dma": "MemTileDMAOp",
    "aie.shim_dma": "ShimDMAOp",
    "aie.shim_dma_allocation": "ShimDMAAllocationOp",
    "aie.bd_chain": "BDChainOp",
    "aie.plio": "PLIOOp",
    "aie.amsel": "AMSelOp",
    "aie.masterset": "MasterSetOp",
    "aie.rule": "PacketRuleOp",
    "aie.objectfifo": "ObjectFifoCreateOp",
    "aie.trace.start": "TraceStartEventOp",
    "aie.trace.stop": "TraceStopEventOp",
    "aiex.control_packet": "NpuControlPacketOp",
    "aie.objectfifo.subview.access": "ObjectFifoSubviewAccessOp",
    "aiex.npu.load_pdi": "NpuLoadPdiOp",
    "aiex.npu.writebd": "NpuWriteBdOp",
    "aiex.npu.rtp_write": "NpuWriteRTPOp",
    "aiex.dma_configure_task": "DMAConfigureTaskOp",
    "aiex.dma_configure_task_for": "DMAConfigureTaskForOp",
    "aiex.dma_start_task": "DMAStartTaskOp",
    "aiex.dma_free_task": "DMAFreeTaskOp",
    "aiex.dma_await_task": "DMAAwaitTaskOp",
    "aiex.dma_start_bd_chain": "DMAStartBdChainOp",
    "aiex.dma_start_bd_chain_for": "DMAStartBdChainForOp",
}
"""Names of mlir-aie's classes that do not follow from those of the operations."""


def class_name(name: str) -> str:
    """The name of an operation's class: ``TileOp`` of ``aie.tile``."""
    if name in _NAMES:
        return _NAMES[name]
    words = name.partition(".")[2].replace("objectfifo", "object_fifo").replace(".", "_").split("_")
    return "".join(word[:1].upper() + word[1:] for word in words) + "Op"


def builder_name(name: str) -> str:
    """The name of an operation's function: ``objectfifo_release`` of ``aie.objectfifo.release``."""
    word = name.partition(".")[2].replace(".", "_")
    return (
        f"{word}_"
        if word in ("for", "if", "while", "yield", "return", "and", "or", "not", "global")
        else word
    )


@cache
def operation_class(name: str) -> type[OperationOf]:
    """The class of an operation."""
    form = forms()[name]
    return type(
        class_name(name), (OperationOf,), {"FORM": form, "OPERATION_NAME": name, "__module__": __name__}
    )


def outcome(operation: Operation) -> Any:
    """What a builder's function returns: the result, the results, or the operation if it has none."""
    results = operation.results
    return operation if not results else results[0] if len(results) == 1 else results


def builder(name: str) -> Callable[..., Any]:
    """The function that builds an operation."""

    def build(*given: Any, **named: Any) -> Any:
        return outcome(operation_class(name)(*given, **named))

    build.__name__ = build.__qualname__ = builder_name(name)
    return build


def dialect(prefix: str) -> dict[str, Any]:
    """Classes and functions of all operations of a dialect, by name."""
    names = [name for name in forms() if name.startswith(f"{prefix}.")]
    return {class_name(name): operation_class(name) for name in names} | {
        builder_name(name): builder(name) for name in names
    }


__all__ = ["FunctionType", "OperationOf", "builder", "dialect", "np", "operation_class", "outcome"]
