"""``aie.extras.util``: finding operations, and blocks that follow each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from memtile.iron.ops.operations import Block, InsertionPoint, Operation


def find_ops(operation: Any, does: Callable[[Operation], bool], single: bool = False) -> Any:
    """The operations within one for which a function is true; the first alone if ``single``."""
    found: list[Operation] = []
    operation.walk(lambda each: found.append(each) if does(each) else None)
    return (found[0] if found else None) if single else found


def find_parent_of_type(does: Callable[[Operation], bool]) -> Operation:
    """The innermost operation around the current insertion point for which a function is true.

    Raises:
        RuntimeError: there is none.
    """
    owner = InsertionPoint.current.block.owner
    while owner is not None:
        if does(owner):
            return owner  # type: ignore[no-any-return]
        owner = owner.parent
    raise RuntimeError("no operation around this place is what is looked for")


def get_user_code_loc(*_: Any, **__: Any) -> None:
    """Nothing: places in the program are not kept."""
    return


class Successor:
    """A block that an operation goes on with.

    Attributes:
        op: the operation.
        block: the block.
        pos: its place among the operation's successors.
    """

    def __init__(self, op: Operation, block: Block, pos: int) -> None:
        self.op, self.block, self.pos = op, block, pos

    def __enter__(self) -> Block:
        self._point = InsertionPoint(self.block)
        self._point.__enter__()
        return self.block

    def __exit__(self, *given: object) -> None:
        self._point.__exit__(*given)
