"""The published cycle counts of kernels: is the list the one that was split before a rule was chosen from it?"""

from __future__ import annotations

import hashlib

from memtile.arch.kernel_cycles import cycle_counts

ROWS = cycle_counts()


def test_the_rows_are_those_of_the_split() -> None:
    """A row that is added later says so here, and calibrates or validates as its id has it."""
    text = "\n".join(f"{row.id} {row.cycles} {'v' if row.validates else 'c'}" for row in ROWS)
    assert len({row.id for row in ROWS}) == len(ROWS) == 376
    assert sum(row.validates for row in ROWS) == 192
    assert hashlib.sha1(text.encode()).hexdigest() == "eed5489d6c76bd827b7ce45bdc41beeb31544a50"
