"""Traces: set up, recorded, decoded, exported."""
