"""Data memory: banks, locks, windows to the neighbours, protection (AM020, memory tile memory)."""
