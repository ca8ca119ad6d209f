"""``aie.extras.context``: the module that a program builds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from memtile.iron.ops.operations import InsertionPoint, Module


@dataclass
class MLIRContext:
    """What ``with mlir_mod_ctx() as ctx`` gives.

    Attributes:
        module: what is built.
    """

    module: Module
    context: object = None

    def __str__(self) -> str:
        return str(self.module)


@contextmanager
def mlir_mod_ctx(
    src: str | None = None,
    context: object = None,
    location: object = None,
    allow_unregistered_dialects: bool = False,
) -> Iterator[MLIRContext]:
    """Build into a new module.

    Raises:
        ValueError: a text is to be read.
    """
    if src is not None:
        raise ValueError("mlir_mod_ctx(src) reads a text of MLIR; give the text to memtile.load")
    module = Module.create()
    with InsertionPoint(module.body):
        yield MLIRContext(module)
