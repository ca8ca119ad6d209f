"""Experiments: many runs of one design."""
