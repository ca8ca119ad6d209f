"""Waveforms of a run."""
