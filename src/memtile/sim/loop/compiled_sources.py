"""What compiled code is made of, for whoever looks for it in the cache without loading it."""

from __future__ import annotations

PASSING = "sim/loop/clock.py", "sim/doors/passing_time.py", "sim/loop/compiled_model.py"
ENGINE = ("arch", "model", *PASSING, "sim/skip")
"""The cycle engine; the source hash of saved arrays is over these."""
RACES = ("arch", "model", "sim/races")
"""What reads the notes of a run with ``--check``."""
