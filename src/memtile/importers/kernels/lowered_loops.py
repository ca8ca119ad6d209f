"""Loops of lowered text, which are a block that compares and one that counts and goes back to it.

They take what the loops take that they were, ``scf.for``: ``CoreCosts.integer`` to begin, and
``CoreCosts.loop`` for each turn. The same program is as fast in either spelling: compilers make the same
of both.
"""

from __future__ import annotations

from collections.abc import Iterator

from memtile.importers.mlir.tree import Block, Operation, Region

FREE, BEGIN, TURN = "", "integer", "loop"
_BRANCHES, _CHOICES = ("cf.br", "br"), ("cf.cond_br", "cond_br")
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


def _choice(head: Block) -> list[Operation]:
    """The comparison and the branch of a block that has nothing else; empty for others."""
    working = [each for each in head.operations if each.name != _CONSTANT]
    if [each.name for each in working[:1]] != ["arith.cmpi"] or len(working) != 2:
        return []
    compared, branch = working
    arguments = {name for name, _ in head.arguments}
    fits = branch.name in _CHOICES and compared.results[:1] == _values(branch)[:1]
    return working if fits and arguments & set(_values(compared)) else []


def _backs(region: Region, head: Block) -> Iterator[tuple[Operation, Operation]]:
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


def _before(region: Region, head: Block) -> Iterator[Block]:
    """The blocks that always go on with a block."""
    for block in region.blocks:
        last = block.operations[-1] if block.operations else None
        if last is not None and last.name in _BRANCHES and head.label and head.label in last.words:
            yield block


def _values(operation: Operation) -> list[str]:
    return [word for word in operation.words if word[:1] == "%"]
