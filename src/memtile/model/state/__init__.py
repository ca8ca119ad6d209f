"""The state of the model: every column, declared once, with what resets, pauses and saving do to it."""
