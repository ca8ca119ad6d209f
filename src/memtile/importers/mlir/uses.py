"""Is every value that an operation uses defined somewhere around it?"""

from __future__ import annotations

from collections.abc import Iterator

from memtile.errors import InputFileError
from memtile.importers.mlir.tree import Operation, Region

_DEVICE = "aie.device"


def check_uses(top: Region) -> None:
    """Look for values that nothing defines, in devices: what is beside them may be of any dialect.

    Args:
        top: the tree of a text.

    Raises:
        InputFileError: the first use of a value that neither the operation's own regions nor those around it
            define; MLIR's rule, but for the order.
    """
    for device in _devices(top):
        for operation in device.walk():
            _check(operation)


def _devices(top: Region) -> Iterator[Operation]:
    for block in top.blocks:
        for outermost in block.operations:
            yield from (each for each in outermost.walk() if each.name == _DEVICE)


def _check(operation: Operation) -> None:
    if operation.name == "func.func":  # a declaration may name its arguments
        return
    words = operation.tokens.words
    for first, end in operation.spans:
        for at in range(first, end):
            if words[at][0] == "%" and not _defined(operation, words[at]):
                raise _undefined(operation, at)


def _defined(operation: Operation, name: str) -> bool:
    """Whether a value is there; one of several results, ``%0#1``, by all of them too."""
    around = operation.parent.region if operation.parent else None
    return any(name in region.values for region in operation.regions) or (
        around is not None and around.find(name) is not None
    )


def _undefined(operation: Operation, at: int) -> InputFileError:
    tokens = operation.tokens
    name = tokens.words[at]
    return tokens.text.error(
        tokens.offset(at),
        f"{operation.name} uses the value {name}, which nothing around it defines",
        given=name,
        allowed="values that are defined",
        step="Look for its name where it should be defined.",
    )
