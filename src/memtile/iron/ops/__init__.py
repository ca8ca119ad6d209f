"""Operations of MLIR as data: what they are made of, and how they are written."""
