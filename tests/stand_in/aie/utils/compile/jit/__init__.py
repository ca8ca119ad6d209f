"""Designs with parameters."""
