"""Bodies of several blocks: branches become a number that says which block is next.

Blocks that only turn in circles without synchronising are pieces of their own, so that lowered loops are
compiled as structured ones are.

Loops of lowered text, which are a block that compares and one that counts and goes back to it.

They take what the loops take that they were, ``scf.for``: ``CoreCosts.integer`` to begin, and
``CoreCosts.loop`` for each turn. The same program is as fast in either spelling: compilers make the same
of both.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from memtile.importers.kernels.body_operands import number_of
from memtile.importers.kernels.body_operations import is_idle
from memtile.importers.kernels.emitter import last_kind
from memtile.importers.kernels.expressions import bits_of, called, held
from memtile.importers.kernels.quote import number as constant_of
from memtile.importers.kernels.quote import statement
from memtile.importers.mlir.attributes import Compound
from memtile.importers.mlir.forms.operand_faults import operation_error, reading
from memtile.importers.mlir.forms.operands import OperationForm, constant, shown
from memtile.importers.mlir.tree import Operation, OperationBlock, Region
from memtile.importers.mlir.types import shaped

if TYPE_CHECKING:
    from memtile.importers.kernels.body import Writer

FREE, BEGIN, TURN = "", "integer", "loop"
_JUMPS, _CHOICES = ("cf.br", "br"), ("cf.cond_br", "cond_br")
_CONSTANT = "arith.constant"


def classes(region: Region) -> dict[Operation, str]:
    """The class of the cost of each operation that only makes a loop turn; empty for those that are free.

    Args:
        region: with several blocks.
    """
    found: dict[Operation, str] = {}
    for head in region.blocks:
        choice = _choice(head)
        backs = list(_backs(region, head)) if choice else []
        if not backs:
            continue
        found |= dict.fromkeys(choice, FREE)
        found |= {block.operations[-1]: BEGIN for block in _before(region, head)}
        for count, back in backs:
            found |= {count: FREE, back: TURN}
    return found


def _choice(head: OperationBlock) -> list[Operation]:
    """The comparison and the branch of a block that has nothing else; empty for others."""
    working = [each for each in head.operations if each.name != _CONSTANT]
    if [each.name for each in working[:1]] != ["arith.cmpi"] or len(working) != 2:
        return []
    compared, branch = working
    arguments = {name for name, _ in head.arguments}
    fits = branch.name in _CHOICES and compared.results[:1] == _values(branch)[:1]
    return working if fits and arguments & set(_values(compared)) else []


def _backs(region: Region, head: OperationBlock) -> Iterator[tuple[Operation, Operation]]:
    """What counts the turns of a loop, and the branch that goes back to its head."""
    arguments = {name for name, _ in head.arguments}
    for block in _before(region, head):
        back = block.operations[-1]
        for value in _values(back):
            count = region.values.get(value)
            if (
                isinstance(count, Operation)
                and count.name == "arith.addi"
                and count.parent is block
                and arguments & set(_values(count))
            ):
                yield count, back


def _before(region: Region, head: OperationBlock) -> Iterator[OperationBlock]:
    """The blocks that always go on with a block."""
    for block in region.blocks:
        last = block.operations[-1] if block.operations else None
        if last is not None and last.name in _JUMPS and head.label and head.label in last.words:
            yield block


def _values(operation: Operation) -> list[str]:
    return [word for word in operation.words if word[:1] == "%"]


NAMES = frozenset(("cf.br", "cf.cond_br", "cf.switch", "br", "cond_br", "cf.assert"))
RETURNS = ("return", "func.return")
_BRANCHES = {"cf.br": 1, "br": 1, "cf.cond_br": 2, "cond_br": 2}  # and how many blocks they name
_LAST = frozenset((*_BRANCHES, "cf.switch", *RETURNS, "aie.end"))
Leave = Callable[[Operation], None]
_UNKNOWN_TURNS = 16
_MOST_TURNS = 1 << 20


def machine(writer: Writer, region: Region, leave: Leave | None = None) -> None:
    """Write all blocks of a region.

    Args:
        writer: that writes them.
        region: of a core, or of a function that is written in the place of its call.
        leave: writes what a function answers; None for a core.
    """
    _check(region)
    writer.program.turns |= classes(region)
    numbers, around = {block.label: n for n, block in enumerate(region.blocks)}, writer.labels
    known = set(writer.defined)
    writer.labels = {block.label: block for block in region.blocks}
    for block in region.blocks:
        for name, kind in block.arguments:
            writer.define(name, kind)
    _constants(writer, region)
    circles = _circles(writer, region, numbers) if writer.is_host else []  # a piece has no pieces
    lines, around_body, first = writer.lines, writer.lines.body, len(writer.lines.body)
    lines.add("bb = 0")
    done: set[int] = set()
    taken: dict[str, None] = {}
    with lines.within("while True: pass"):
        writer.check_end(region.operation or region.blocks[0].operations[0])
        for number, block in enumerate(region.blocks):
            circle = next((c for c in circles if number in c), None)
            if circle is None:
                with lines.within("if bb == _number: pass", _number=number):
                    _block(writer, block, numbers, leave)
            elif number not in done:
                done |= circle
                with lines.within(
                    "if bb in (*_circle,): pass", _circle=[constant_of(n) for n in sorted(circle)]
                ):
                    taken |= _piece(writer, region, circle, numbers)
    # a piece of several blocks takes what any of them uses, set already or not
    made = [key for key in writer.defined if key not in known and (key in taken or not writer.is_host)]
    around_body[first:first] = [line for key in made for line in _preset(writer, key)]
    writer.labels = around


def _constants(writer: Writer, region: Region) -> None:
    """Let all blocks know the whole numbers of each, in whatever order they are written."""
    for operation in (each for block in region.blocks for each in block.operations):
        is_whole = operation.results and isinstance(constant(operation, operation.results[0]), int)
        kind = (
            last_kind(OperationForm(operation)) if is_whole and operation.name == "arith.constant" else "f32"
        )
        if bits_of(kind or "index") is not None:
            writer.operation(operation)


def _check(region: Region) -> None:
    """Each block has a label of its own and something in it."""
    found: set[str] = set()
    for block in region.blocks:
        first = next((each for other in (block, *region.blocks) for each in other.operations), None)
        owner = first if block.operations else region.operation or first
        if owner is not None and not block.operations:
            says = f"block {block.label} has no operation that ends it"
            raise operation_error(owner, says, "blocks that end in a branch or a return", reason="mlir_block")
        if owner is not None and block.label in found:
            says = f"it is in the second block with the label {block.label}"
            raise operation_error(owner, says, "a label for each block", reason="mlir_block")
        found.add(block.label)


def _block(
    writer: Writer, block: OperationBlock, numbers: dict[str, int], leave: Leave | None = None
) -> None:
    for operation in block.operations:
        if leave is not None and operation.name in RETURNS:
            writer.lines.book()
            leave(operation)
            writer.lines.add("break")
        elif operation.name in NAMES:
            writer.lines.cost += writer.cost(operation)
            writer.lines.book()
            with reading(operation):
                _leave(writer, operation, numbers)
        else:
            writer.operation(operation)
    last = block.operations[-1]
    if last.name not in _LAST:
        says = f"it is the last operation of block {block.label or 'one'} and does not end it"
        raise operation_error(last, says, "a branch or a return", reason="mlir_block")


def _leave(writer: Writer, operation: Operation, numbers: dict[str, int]) -> None:
    targets = targets_of(operation)
    if operation.name == "cf.assert":
        return
    wanted = _BRANCHES.get(operation.name, len(targets) or 1)
    if len(targets) != wanted:
        says = f"it names {len(targets)} blocks where it must name {wanted}"
        raise operation_error(operation, says, f"{wanted} of them", reason="mlir_block")
    if len(targets) == 1:
        _goto(writer, OperationForm(operation), targets[0], numbers)
        return
    if operation.name == "cf.switch":
        _switch(writer, operation, targets, numbers)
        return
    condition = OperationForm(operation).values[0]
    with writer.lines.within(
        "if _condition: pass", _condition=number_of(writer, OperationForm(operation), condition)
    ):
        _goto(writer, OperationForm(operation), targets[0], numbers)
    with writer.lines.otherwise():
        _goto(writer, OperationForm(operation), targets[1], numbers)


def _switch(
    writer: Writer, operation: Operation, targets: list[tuple[str, list[str]]], numbers: dict[str, int]
) -> None:
    """``cf.switch %f : i32, [default: ^bb1, 42: ^bb2(%b : i32)]``; the first target is for all others."""
    form = OperationForm(operation)
    given = form.attributes.get("case_values")
    if isinstance(given, Compound):
        cases = form.integers("case_values")
    else:
        words = operation.words
        names = [words[at - 2] for at, word in enumerate(words) if word[:1] == "^" and words[at - 1] == ":"]
        cases = [form.whole(name) for name in names if name != "default"]
    if len(cases) != len(targets) - 1:
        says = f"it has {len(cases)} cases for {len(targets)} blocks"
        raise form.error(says, "a block for each case, and one for the others", reason="mlir_block")
    value = number_of(writer, form, form.values[0])
    kind = writer.types.get(form.values[0], "")
    for case, target in zip(cases, targets[1:], strict=True):
        with writer.lines.within("if _value == _case: pass", _value=value, _case=held(case, kind)):
            _goto(writer, form, target, numbers)
    _goto(writer, form, targets[0], numbers)


def _goto(
    writer: Writer, form: OperationForm, target: tuple[str, Sequence[str]], numbers: dict[str, int]
) -> None:
    label, values = target
    if label not in writer.labels:
        raise form.error(f"no block has the label {label}", "labels of the region", reason="mlir_block")
    arguments = writer.labels[label].arguments
    if len(arguments) != len(values):
        says = f"{len(values)} values go to block {label}, which takes {len(arguments)}"
        raise form.error(says, "a value for each argument", reason="mlir_block")
    if arguments:
        right = [writer.use(value) for value in values]
        left = [writer.define(name, kind) for name, kind in arguments]
        writer.lines.add("(*_left,) = (*_right,)", _left=left, _right=right)
    writer.lines.add("bb = _number", _number=numbers[label])
    writer.lines.add("continue")


def targets_of(operation: Operation) -> list[tuple[str, list[str]]]:
    """Where a branch goes, with the values that it hands over.

    Raises:
        InputFileError: in generic form, its segments are not those of its operands.
    """
    tokens, found = operation.tokens, list[tuple[str, list[str]]]()
    for first, end in operation.spans:
        for at in range(first, end):
            if tokens.words[at][:1] == "^":
                values = []
                if tokens.words[at + 1] == "(":
                    inside = tokens.words[at + 2 : tokens.close[at + 1]]
                    values = [word for word in inside if word[:1] == "%"]
                found.append((tokens.words[at], values))
    form = OperationForm(operation)
    if not form.generic or not found:
        return found
    labels = [label for label, _ in found]
    return list(zip(labels, _segments(form, len(labels)), strict=True))


def _segments(form: OperationForm, many: int) -> list[list[str]]:
    """The operands for each block of a branch in generic form."""
    before = form.operation.name not in ("cf.br", "br")  # the condition, or the flag
    sizes = form.integers("operandSegmentSizes") if before else [len(form.values)]
    if form.operation.name == "cf.switch":
        sizes = [*sizes[:2], *form.integers("case_operand_segments")]
    ends = [*accumulate(sizes, initial=0)]
    if min(sizes, default=0) < 0 or ends[-1] != len(form.values) or len(sizes) != before + many:
        says = f"its operands are {len(form.values)}, the segments for its {many} blocks {shown(sizes)}"
        raise form.error(says, "a segment for each block", reason="mlir_operands")
    return [form.values[first:end] for first, end in pairwise(ends[before:])]


def _circles(writer: Writer, region: Region, numbers: dict[str, int]) -> list[set[int]]:
    """Blocks that lead to each other and do not synchronise."""
    after: dict[int, set[int]] = {}
    for number, block in enumerate(region.blocks):
        quiet = not any(writer.program.syncs(operation) for operation in block.operations)
        last = block.operations[-1] if block.operations else None
        ends = last is None or last.name not in NAMES
        if quiet and not ends and last is not None:
            after[number] = {numbers[label] for label, _ in targets_of(last) if label in numbers}
    reach = {number: _reached(number, after) for number in after}
    found: list[set[int]] = []
    for number in after:
        circle = {other for other in reach[number] if other in after and number in reach[other]}
        if number in reach[number] and circle not in found:
            found.append(circle)
    return found


def _reached(start: int, after: dict[int, set[int]]) -> set[int]:
    """Blocks that come after one, through blocks that do not synchronise."""
    found: set[int] = set()
    rest = list(after.get(start, ()))
    while rest:
        number = rest.pop()
        if number not in found:
            found.add(number)
            rest += after.get(number, ())
    return found


def _piece(writer: Writer, region: Region, circle: set[int], numbers: dict[str, int]) -> dict[str, None]:
    """Write blocks that turn in circles as a piece, and its call; what it takes."""
    inside = [each for number in circle for each in region.blocks[number].operations]
    targets = {numbers.get(label) for each in inside if each.name in NAMES for label, _ in targets_of(each)}
    if targets <= circle and all(each.name in _JUMPS or is_idle(each) for each in inside):
        writer.rest()
        return {}
    inner = writer.inner()
    entries = [n for n in circle if _entered(region, n, circle, numbers)]
    for number in sorted(circle):
        for name, kind in region.blocks[number].arguments:
            inner.types[name] = kind
            if number in entries:
                inner.free.setdefault(inner.prefix + name)
    lines = inner.lines
    with lines.within("while True: pass"):
        with lines.within("if cycles > MOST_CYCLES: pass"):
            lines.add("endless(cycles, SITE)")
        for number in sorted(circle):
            with lines.within("if bb == _number: pass", _number=number):
                _block(inner, region.blocks[number], numbers)
        lines.add("break")
    crossing = _crossing(region, circle)  # between turns the piece is left and entered again
    inner.free |= dict.fromkeys(
        key for key in inner.defined if key.removeprefix(inner.prefix) in crossing and key not in inner.free
    )
    defined = [key for key in inner.defined if key not in inner.free]
    inner.lines.body[:0] = [line for key in defined for line in _preset(inner, key)]
    used = _used_outside(region, circle) | crossing
    results = [key for key in inner.defined if key.removeprefix(inner.prefix) in used]
    for key in results:
        name = key.removeprefix(inner.prefix)
        writer.define(name, inner.types[name])
    writer.call(inner, results, _work(region, circle), state="bb")
    writer.lines.add("continue")
    return inner.free


def _preset(inner: Writer, key: str) -> list[ast.stmt]:
    """A first value of the right type, so that compiled code knows it."""
    name = key.removeprefix(inner.prefix)
    kind = inner.types.get(name, "")
    memory = shaped(kind)
    if not kind or key in inner.numbers or (memory is not None and not inner.is_host):
        return []
    if memory is not None:  # nothing yet
        return [inner.lines.placed(statement("_name = ()", _name=inner.define(name, kind)))]
    value = constant_of(0) if bits_of(kind) is not None else constant_of(0.0)
    if bits_of(kind) is None and kind != "f64":
        value = called("f32", value)
    return [inner.lines.placed(statement("_name = _value", _name=inner.define(name, kind), _value=value))]


def _entered(region: Region, number: int, circle: set[int], numbers: dict[str, int]) -> bool:
    """Whether a block of a circle is come to from outside."""
    for other, block in enumerate(region.blocks):
        last = block.operations[-1] if block.operations and other not in circle else None
        if last is not None and last.name in NAMES:
            entered = {numbers.get(label) for label, _ in targets_of(last)}
            if number in entered:
                return True
    return False


def _used_outside(region: Region, circle: set[int]) -> set[str]:
    found: set[str] = set()
    for number, block in enumerate(region.blocks):
        if number not in circle:
            found |= {name for name, _ in block.arguments}
            found |= _used(block)
    return found


def _crossing(region: Region, circle: set[int]) -> set[str]:
    """Values of one block of a circle that another block of it uses."""
    used = {number: _used(region.blocks[number]) for number in circle}
    found: set[str] = set()
    for number in circle:
        block = region.blocks[number]
        own = {name for name, _ in block.arguments} | {r for each in block.operations for r in each.results}
        for other in circle:
            if other != number:
                found |= own & used[other]
    return found


def _used(block: OperationBlock) -> set[str]:
    """The values that a block uses."""
    inside = (inner for operation in block.operations for inner in operation.walk())
    return {word for inner in inside for word in inner.words if word[:1] == "%"}


def _work(region: Region, circle: set[int]) -> int:
    """Operations that a circle will do: as often as the largest constants that it compares with say."""
    turns, operations = 1, 0
    for number in circle:
        for operation in region.blocks[number].operations:
            operations += 1
            if operation.name == "arith.cmpi":
                form = OperationForm(operation)
                turns *= _bound(form)
    return operations * min(turns, _MOST_TURNS)


def _bound(form: OperationForm) -> int:
    found = [constant(form.operation, value) for value in form.values]
    known = [int(value) for value in found if isinstance(value, int)]
    return max(known, default=_UNKNOWN_TURNS)
