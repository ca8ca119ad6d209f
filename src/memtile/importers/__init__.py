"""Designs written elsewhere, read."""
