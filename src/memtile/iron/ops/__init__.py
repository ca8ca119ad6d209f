"""Operations of MLIR as data: what they are made of, and how they are written."""

from memtile.iron.ops import printing as printing  # it writes what str() gives
