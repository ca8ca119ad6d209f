"""What the cores of compiled programs do, from the MLIR text that lies beside them."""
