"""Classes and functions of the operations of both of mlir-aie's dialects, made from their table."""

from __future__ import annotations

from memtile.iron.ops.operation_classes import dialect

AIE = dialect("aie")
AIEX = dialect("aiex")
