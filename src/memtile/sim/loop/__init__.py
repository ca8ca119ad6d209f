"""The loop of the engine: its clock, the compiled model, and runs of it."""
