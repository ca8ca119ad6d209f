"""What AMD's compiler would say of a graph: counts and refusals by published rules, beside our own answer."""
