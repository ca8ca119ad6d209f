"""``aie.iron.dataflow.cascadeflow``: a cascade from one worker to another."""

from __future__ import annotations

from typing import Any

from memtile.iron.dialects.aie import _OPS
from memtile.iron.resolvable import Resolvable


class CascadeFlow(Resolvable):
    """A cascade; the program of the first worker builds it.

    Args:
        src: worker that sends.
        dst: worker that receives, at its side.
    """

    def __init__(self, src: Any, dst: Any) -> None:
        self._src, self._dst = src, dst
        src._outgoing_cascades.append(self)

    def resolve(self, loc: object = None, ip: Any = None) -> None:
        """Build it."""
        _OPS["CascadeFlowOp"](self._src.tile.op, self._dst.tile.op)
