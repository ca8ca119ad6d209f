"""From a request to the fewest descriptors: clip at the boundary, merge by address, fit the fields, chain."""
