"""What compiled code is made of, for whoever looks for it in the cache without loading it."""

from __future__ import annotations

PASSING = "sim/clock.py", "sim/passing.py", "sim/machine.py"
ENGINE = ("arch", "model", *PASSING, "sim/forward", "sim/skip/compiled.py")
"""The cycle engine; the source hash of saved arrays is over these."""
RACES = ("arch", "model", "sim/races")
"""What reads the notes of a run with ``--check``."""
