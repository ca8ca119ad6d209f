"""The published cycle counts of kernels: are they the list that was split before a rule was chosen?"""

from __future__ import annotations

import hashlib

import numpy as np

from memtile.arch.kernel_cycles import cycle_counts
from memtile.corelib.call_costs import predicted

ROWS = cycle_counts()


def figures(errors: list[float]) -> tuple[str, str]:
    """Median and 90th percentile, as docs/silicon.md has them."""
    return f"{np.median(errors):.1%}", f"{np.percentile(errors, 90):.1%}"


def test_the_rows_are_those_of_the_split() -> None:
    """A row that is added later says so here, and calibrates or validates as its id has it."""
    text = "\n".join(f"{row.id} {row.cycles} {'v' if row.validates else 'c'}" for row in ROWS)
    assert len({row.id for row in ROWS}) == len(ROWS) == 376
    assert sum(row.validates for row in ROWS) == 192
    assert hashlib.sha1(text.encode()).hexdigest() == "eed5489d6c76bd827b7ce45bdc41beeb31544a50"


def test_the_rule_is_as_exact_as_the_page_says() -> None:
    """Rows that validate, from rows that calibrate alone; the page has these numbers (docs/kernels.md)."""
    known = [row for row in ROWS if not row.validates]
    kept = [row for row in ROWS if row.validates]
    found = [(row, predicted(row, known)) for row in kept]
    errors = [abs(cycles - row.cycles) / row.cycles for row, cycles in found if cycles is not None]
    assert len(errors) == 100
    assert figures(errors) == ("2.5%", "13.5%")


def test_the_rule_was_chosen_by_the_other_half() -> None:
    """Each row that calibrates from the others that do: what the rule's author could see."""
    known = [row for row in ROWS if not row.validates]
    found = [(row, predicted(row, [each for each in known if each is not row])) for row in known]
    errors = [abs(cycles - row.cycles) / row.cycles for row, cycles in found if cycles is not None]
    assert len(errors) == 81
    assert figures(errors) == ("1.9%", "11.3%")


def test_every_row_with_loops_is_predicted_and_no_old_one_without() -> None:
    known = [row for row in ROWS if not row.validates]
    for row in ROWS:
        if row.validates:
            found = predicted(row, known)
            assert (found is not None) >= bool(row.loops), row.id
            assert found is None or row.loops or not row.state.startswith("before"), row.id


def test_no_loop_takes_longer_than_its_call() -> None:
    """But for what a hardware loop's last trip saves: one cycle of two old rows."""
    loops = {row: sum(each.trips * each.interval for each in row.loops) for row in ROWS}
    assert [row.id for row in ROWS if loops[row] > row.cycles + 1] == []
