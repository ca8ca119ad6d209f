"""What changed between two runs or two sets of registers."""
