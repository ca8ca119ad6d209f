"""What compiled code is made of, for whoever looks for it in the cache without loading it."""

from __future__ import annotations

ENGINE = ("arch", "model", "sim/clock.py", "sim/forward", "sim/passing.py", "sim/machine.py")
"""The cycle engine; the source hash of saved arrays is over these."""
RACES = ("arch", "model", "sim/races")
"""What reads the notes of a run with ``--check``."""
