"""Running the model: the clock loop, the untimed run, and their results."""
