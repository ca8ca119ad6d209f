"""Skipped time: cycles that are not stepped, as the model does the same again."""
