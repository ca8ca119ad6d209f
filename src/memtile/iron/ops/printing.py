"""The text of operations, as MLIR writes it: names of values, forms of operations, regions and blocks."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from memtile.iron.ops.attributes import (
    Attribute,
    DenseI64ArrayAttr,
    IntegerAttr,
    StringAttr,
    TypeAttr,
    named,
    quoted,
    symbol,
)
from memtile.iron.ops.names import Names
from memtile.iron.ops.operation_classes import (
    LayoutAttr,
    LayoutsAttr,
    OperationForm,
    Part,
    forms,
    operands_of,
)
from memtile.iron.ops.operations import (
    Block,
    LocalName,
    Operation,
    Region,
    TextOperation,
    Value,
    print_with,
)
from memtile.iron.ops.program_lines import marked, text_and_places
from memtile.iron.ops.types import FunctionType, IndexType, IntegerType, results_text

_INDENT = "  "
_NO_END = frozenset(
    {
        "aie.device",
        "aie.switchbox",
        "aie.shim_mux",
        "aie.packet_rules",
        "aie.packet_flow",
        "aie.trace",
        "scf.for",
        "scf.if",
    }
)
"""Operations whose last one, if it says nothing, is not written (``SingleBlockImplicitTerminator``)."""


_DEFAULT_DIALECTS = {"func.func": "func."}
"""What is not written of names of operations that are directly in one (``getDefaultDialect``)."""


def text_of(operation: Operation) -> str:
    """The text of an operation and all within it."""
    return _Text(_top(operation)).operation(operation, "")


def text_with_places(operation: Operation) -> tuple[str, tuple[str, ...]]:
    """The text of an operation and all within it, and the place in the program of each of its lines."""
    return text_and_places(_Text(_top(operation), mark=marked).operation(operation, ""))


def name_of(value: Value) -> str:
    """The name of a value in the text of its module, with its percent sign."""
    owner = value.owner
    inside = owner if isinstance(owner, Operation) else owner.owner
    return _Text(_top(inside)).name(value) if inside is not None else "%<unknown>"


def _top(operation: Operation) -> Operation:
    while operation.parent is not None:
        operation = operation.parent
    return operation


class _Text:
    """Writes operations of one tree."""

    def __init__(self, top: Operation, mark: Callable[[str], str] = lambda _: "") -> None:
        self._names, self._mark = Names(top), mark
        self._labels: dict[int, str] = {}

    def name(self, value: Value) -> str:
        found = self._names.names.get(id(value))
        return f"%{found}" if found is not None else "%<elsewhere>"

    def values(self, values: list[Value]) -> str:
        return ", ".join(map(self.name, values))

    def operation(self, operation: Operation, indent: str) -> str:
        results = ""
        if operation.results:
            first = self.name(operation.results[0])
            many = len(operation.results)
            results = f"{first} = " if many == 1 else f"{first.partition('#')[0]}:{many} = "
        body = self._body(operation, indent)
        if operation.parent is not None:
            body = body.removeprefix(_DEFAULT_DIALECTS.get(operation.parent.name, " "))
        return f"{indent}{self._mark(operation.place)}{results}{body}"

    def _body(self, operation: Operation, indent: str) -> str:
        if isinstance(operation, TextOperation):
            return self._verbatim(operation).replace("\n", f"\n{indent}")
        special = _SPECIAL.get(operation.name)
        if special is not None:
            return special(self, operation, indent)
        form = forms().get(operation.name)
        if form is None or not form.form:
            return self.generic(operation, indent)
        custom = _CUSTOM.get(form.form)
        if custom is not None:
            return custom(self, operation, indent)
        pieces = _template(form.form)
        text = "".join(self._pieces(pieces, operation, form, indent))
        kind, content = pieces[0]
        is_part = kind == "field" and not content.startswith(("attributes", "regions"))
        return f"{operation.name}{' ' if is_part else _gap(text)}{text}"

    def _verbatim(self, operation: TextOperation) -> str:
        """A text, with names of its own for values where one outside has the same."""
        outside = set(self._names.names.values())

        def shown(piece: str | Value | LocalName) -> str:
            if isinstance(piece, Value):
                return self.name(piece)
            if isinstance(piece, str):
                return piece
            return f"%{piece.name}{'_own' if piece.name in outside else ''}"

        return "".join(map(shown, operation.pieces))

    def _pieces(self, pieces: Any, operation: Operation, form: OperationForm, indent: str) -> list[str]:
        out = []
        for kind, content in pieces:
            if kind == "text":
                out.append(content)
            elif kind == "group":
                if self._present(content, operation, form):
                    out += self._pieces(content, operation, form, indent)
            else:
                out.append(self._field(content, operation, form, indent))
        return out

    def _present(self, pieces: Any, operation: Operation, form: OperationForm) -> bool:
        """Whether the first part that is named in a group is there."""
        (field,) = [content for kind, content in pieces if kind == "field"][:1]
        name = field.split("|")[0].split(" ")[-1].strip("!")
        dynamic, _, static = name.partition("/")
        if static:
            return bool(operands_of(operation, form)[dynamic]) or static in operation.attributes
        part = form.part(name)
        assert part is not None, name
        if part.is_operand:
            return bool(operands_of(operation, form)[name])
        value = operation.attributes.get(name)
        return value is not None and not _is_default(part, value)

    def _field(self, asked: str, operation: Operation, form: OperationForm, indent: str) -> str:
        if asked == "attributes":
            text = self._dictionary(operation, form)
            return f" {text}" if text else ""
        if asked.startswith("regions"):
            joint = asked.removeprefix("regions") or " "
            return joint.join(self.region(region, indent) for region in operation.regions)
        if asked.startswith("types "):
            return results_text(operation.results.types)
        if asked.startswith("type "):
            return self._type(asked[5:], operation, form)
        name, _, otherwise = asked.partition("|")
        name, typed = name.removesuffix("!"), name.endswith("!")
        dynamic, _, static = name.partition("/")
        if static:
            return self._mixed(operation, form, dynamic, static)
        return self._part(name, otherwise, typed, operation, form)

    def _type(self, name: str, operation: Operation, form: OperationForm) -> str:
        operands = operands_of(operation, form)
        if name in operands:
            return ", ".join(str(value.type) for value in operands[name])
        return str(operation.result.type)

    def _part(self, name: str, otherwise: str, typed: bool, operation: Operation, form: OperationForm) -> str:
        part = form.part(name)
        assert part is not None, f"{form.name}: {name}"
        if part.is_operand:
            return self.values(operands_of(operation, form)[name])
        if part.kind == "block":
            at = [each.name for each in form.parts if each.kind == "block"].index(name)
            return self.label(operation.successors[at])
        value = operation.attributes.get(name)
        if value is None:
            return otherwise
        if part.kind == "symbol":
            return symbol(value.value) if isinstance(value, StringAttr) else str(value)
        return str(value) if typed else value.short()

    def _mixed(self, operation: Operation, form: OperationForm, dynamic: str, static: str) -> str:
        """Numbers with values among them, ``[4, %n]``; or one of both."""
        values = list(operands_of(operation, form)[dynamic])
        given = operation.attributes.get(static)
        part = form.part(dynamic)
        assert part is not None
        if not part.many:
            return self.name(values[0]) if values else given.short() if given is not None else ""
        texts = []
        for number in given if isinstance(given, DenseI64ArrayAttr) else ():
            texts.append(self.name(values.pop(0)) if number == _DYNAMIC else str(number))
        return f"[{', '.join(texts)}]"

    def _dictionary(self, operation: Operation, form: OperationForm) -> str:
        """Attributes that the form does not have, in the order of their names."""
        shown = _shown(form)
        left = {}
        for name, value in operation.attributes.items():
            part = form.part(name)
            if name in shown or (part is not None and part.default and _is_default(part, value)):
                continue
            left[name.rstrip("_")] = value
        if not left:
            return ""
        return f"{{{', '.join(named(name, left[name]) for name in sorted(left))}}}"

    def generic(self, operation: Operation, indent: str) -> str:
        """MLIR's generic form."""
        text = f"{quoted(operation.name)}({self.values(operation.operands)})"
        if operation.successors:
            text += f"[{', '.join(map(self.label, operation.successors))}]"
        if operation.regions:
            text += f" ({', '.join(self.region(region, indent, True) for region in operation.regions)})"
        if operation.attributes:
            entries = sorted(operation.attributes.items())
            text += f" {{{', '.join(named(name, value) for name, value in entries)}}}"
        types = ", ".join(str(value.type) for value in operation.operands)
        return f"{text} : ({types}) -> {results_text(operation.results.types)}"

    def region(self, region: Region, indent: str, arguments: bool = True) -> str:
        """A region in braces."""
        lines = ["{"]
        for at, block in enumerate(region.blocks):
            before = _predecessors(region, block)
            if at or (arguments and block.arguments) or before:
                lines.append(
                    f"{indent}{self._label_line(block)}{self._said_before(before) if at or before else ''}"
                )
            lines += self.block(block, indent + _INDENT)
        return "\n".join([*lines, f"{indent}}}"])

    def block(self, block: Block, indent: str) -> list[str]:
        """The lines of a block."""
        operations = block.operations
        owner = block.owner
        if owner is not None and owner.name in _NO_END and operations and _says_nothing(operations[-1]):
            operations = operations[:-1]
        return [self.operation(each, indent) for each in operations]

    def label(self, block: Block) -> str:
        """``^bb1``."""
        assert block.region is not None
        at = next(at for at, each in enumerate(block.region.blocks) if each is block)
        return f"^bb{at}"

    def _label_line(self, block: Block) -> str:
        arguments = ", ".join(f"{self.name(each)}: {each.type}" for each in block.arguments)
        return f"{self.label(block)}{f'({arguments})' if arguments else ''}:"

    def _said_before(self, blocks: list[Block]) -> str:
        """The comment behind a label: the blocks that may come before."""
        if not blocks:
            return "  // no predecessors"
        names = ", ".join(map(self.label, blocks))
        return f"  // pred: {names}" if len(blocks) == 1 else f"  // {len(blocks)} preds: {names}"


def _predecessors(region: Region, block: Block) -> list[Block]:
    """The blocks of a region that may go on with a block, in order."""
    return [
        each
        for each in region.blocks
        for operation in each.operations
        for after in operation.successors
        if after is block
    ]


_DYNAMIC = -(2**63)


def _gap(text: str) -> str:
    """The space behind the name of an operation."""
    return "" if text[:1] in ("", "(", "<", " ", ":") else " "


def _says_nothing(operation: Operation) -> bool:
    is_end = operation.name in ("aie.end", "scf.yield")
    return is_end and not operation.operands and not operation.attributes


def _is_default(part: Part, value: Attribute) -> bool:
    return bool(part.default) and value.short().strip('"') == part.default


@cache
def _shown(form: OperationForm) -> frozenset[str]:
    """Names of the attributes that a form has somewhere."""
    found = re.findall(r"\{([^{}]+)\}", form.form)
    return frozenset(
        piece.split(" ")[-1].split("|")[0].strip("!") for whole in found for piece in whole.split("/")
    )


@cache
def _template(form: str) -> Any:
    """The pieces of a form: text, fields, groups."""
    pieces, rest = _template_part(form, False)
    assert not rest
    return pieces


def _template_part(text: str, inside: bool) -> tuple[tuple[tuple[str, Any], ...], str]:
    pieces: list[tuple[str, Any]] = []
    while text:
        if inside and text.startswith(">>") and not text.startswith(">>>"):
            return tuple(pieces), text[2:]
        if text.startswith(("{{", "}}")):
            pieces.append(("text", text[0]))
            text = text[2:]
        elif text.startswith("{"):
            field, _, text = text[1:].partition("}")
            pieces.append(("field", field))
        elif text.startswith("<<"):
            group, text = _template_part(text[2:], True)
            pieces.append(("group", group))
        else:
            pieces.append(("text", text[0]))
            text = text[1:]
    return tuple(pieces), text


def _attributes_of(operation: Operation) -> str:
    """Attributes behind their keyword; empty if there are none."""
    each = ", ".join(named(key, value) for key, value in sorted(operation.attributes.items()))
    return f" attributes {{{each}}}" if each else ""


def _module(text: _Text, operation: Operation, indent: str) -> str:
    return f"module{_attributes_of(operation)} {text.region(operation.regions[0], indent)}"


def _constant(text: _Text, operation: Operation, indent: str) -> str:
    return f"arith.constant {_constant_text(operation.attributes['value'])}"


def _constant_text(value: Attribute) -> str:
    if isinstance(value, IntegerAttr) and isinstance(value.type, IntegerType) and value.type.width == 1:
        return "true" if value.value else "false"
    return str(value)


def _for(text: _Text, operation: Operation, indent: str) -> str:
    lower, upper, step, *initial = operation.operands
    (block,) = operation.regions[0].blocks
    first, *inner = block.arguments
    name = text.name
    head = f"scf.for {name(first)} = {name(lower)} to {name(upper)} step {name(step)}"
    if initial:
        pairs = ", ".join(f"{name(a)} = {name(b)}" for a, b in zip(inner, initial, strict=True))
        head += f" iter_args({pairs}) -> ({', '.join(map(str, operation.results.types))})"
    typed = f" : {first.type}" if not isinstance(first.type, IndexType) else ""
    return f"{head} {typed}{text.region(operation.regions[0], indent, False)}"


def _if(text: _Text, operation: Operation, indent: str) -> str:
    (condition,) = operation.operands
    then, otherwise = operation.regions
    types = f" -> ({', '.join(map(str, operation.results.types))})" if operation.results else ""
    head = f"scf.if {text.name(condition)}{types} {text.region(then, indent)}"
    has_else = otherwise.blocks and any(not _says_nothing(each) for each in otherwise.blocks[0].operations)
    return f"{head} else {text.region(otherwise, indent)}" if has_else else head


def _function(text: _Text, operation: Operation, indent: str) -> str:
    attributes = dict(operation.attributes)
    name, type = attributes.pop("sym_name"), attributes.pop("function_type")
    visibility = attributes.pop("sym_visibility", None)
    assert isinstance(name, StringAttr)
    assert isinstance(type, TypeAttr)
    assert isinstance(type.value, FunctionType)
    blocks = operation.regions[0].blocks
    if blocks:
        inputs = ", ".join(f"{text.name(each)}: {each.type}" for each in blocks[0].arguments)
    else:
        inputs = ", ".join(map(str, type.value.inputs))
    shown = f"{visibility.value} " if isinstance(visibility, StringAttr) else ""
    head = f"func.func {shown}{symbol(name.value)}({inputs})"
    if type.value.results:
        head += f" -> {results_text(type.value.results)}"
    if attributes:
        head += f" attributes {{{', '.join(named(key, value) for key, value in sorted(attributes.items()))}}}"
    return f"{head} {text.region(operation.regions[0], indent, False)}" if blocks else head


def _named_body(text: _Text, operation: Operation, indent: str, word: str) -> str:
    name = operation.attributes.get("sym_name")
    block = operation.regions[0].blocks[0] if operation.regions[0].blocks else Block()
    arguments = ", ".join(f"{text.name(each)}: {each.type}" for each in block.arguments)
    form = forms()[operation.name].part("sym_name")
    is_named = isinstance(name, StringAttr) and not (form is not None and _is_default(form, name))
    called = f" {symbol(name.value)}" if is_named and isinstance(name, StringAttr) else ""
    left = {key: value for key, value in sorted(operation.attributes.items()) if key != "sym_name"}
    more = f"{{{', '.join(named(key, value) for key, value in left.items())}}}" if left else ""
    body = text.region(operation.regions[0], indent, False)
    return f"{word}{called}({arguments}) {body}{f' {more}' if more else ''}"


def _sequence(text: _Text, operation: Operation, indent: str) -> str:
    return _named_body(text, operation, indent, "aie.runtime_sequence")


def _chain(text: _Text, operation: Operation, indent: str) -> str:
    return _named_body(text, operation, indent, "aie.bd_chain")


def _fifo(text: _Text, operation: Operation, indent: str) -> str:
    form = forms()[operation.name]
    values = operands_of(operation, form)
    attributes = operation.attributes
    name = attributes["sym_name"]
    assert isinstance(name, StringAttr)
    to, of = attributes.get("dimensionsToStream"), attributes.get("dimensionsFromStreamPerConsumer")
    producer = text.name(values["producerTile"][0])
    if isinstance(to, LayoutAttr) and to.pairs:
        producer += f" dimensionsToStream {to.short()}"
    consumers = []
    for at, value in enumerate(values["consumerTiles"]):
        dims = of.each[at] if isinstance(of, LayoutsAttr) and at < len(of.each) else LayoutAttr([])
        consumers.append(text.name(value) + (f" dimensionsFromStream {dims.short()}" if dims.pairs else ""))
    left = {
        key: value
        for key, value in sorted(attributes.items())
        if key not in _FIFO_SHOWN and not _is_default(form.part(key) or Part(key, ""), value)
    }
    more = f" {{{', '.join(named(key, value) for key, value in left.items())}}}" if left else ""
    tail = ""
    if "consumerElemType" in attributes:
        tail += f" -> {attributes['consumerElemType']}"
    if "initValues" in attributes:
        tail += f" = {attributes['initValues']}"
    depth = attributes["elemNumber"]
    return (
        f"aie.objectfifo {symbol(name.value)}({producer}, {{{', '.join(consumers)}}}, {depth}){more} : "
        f"{attributes['elemType']}{tail}"
    )


_FIFO_SHOWN = frozenset(
    {
        "sym_name",
        "elemNumber",
        "elemType",
        "consumerElemType",
        "dimensionsToStream",
        "dimensionsFromStreamPerConsumer",
        "initValues",
    }
)


def _global(text: _Text, operation: Operation, indent: str) -> str:
    attributes = operation.attributes
    name, visibility = attributes["sym_name"], attributes.get("sym_visibility")
    assert isinstance(name, StringAttr)
    head = "memref.global"
    if isinstance(visibility, StringAttr):
        head += f" {quoted(visibility.value)}"
    if "constant" in attributes:
        head += " constant"
    head += f" {symbol(name.value)} : {attributes['type']}"
    return f"{head} = {attributes['initial_value'].short()}" if "initial_value" in attributes else head


Writer = Callable[[_Text, Operation, str], str]
_SPECIAL: dict[str, Writer] = {"builtin.module": _module}
_CUSTOM: dict[str, Writer] = {
    "{constant}": _constant,
    "{for}": _for,
    "{if}": _if,
    "{function}": _function,
    "{sequence}": _sequence,
    "{chain}": _chain,
    "{fifo}": _fifo,
    "{global}": _global,
}
"""Operations whose texts no form says, by what stands there in the table."""

print_with(text_of, name_of)
