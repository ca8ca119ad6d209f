"""Changes of the Python source of a design that may repair it, and runs of the design with them."""
