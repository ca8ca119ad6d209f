"""Changes of an MLIR text that may repair its design, and the text with such a change."""
