"""Does the page of findings have every code, with the message that the corpus gives?"""

from __future__ import annotations

from pathlib import Path

from memtile.explain.findings import CODES
from support.pages import findings_table

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")


def test_the_table_is_the_present_one() -> None:
    assert PAGE.count(findings_table.TABLE.mark) == 1
    assert findings_table.TABLE.in_page(PAGE) == PAGE, "make docs writes it anew"


def test_every_way_to_hang_has_an_example() -> None:
    lacks = {code for code in CODES if code.startswith("MT03")} - findings_table.examples().keys()
    # no design of files turns a clock off, and no run of a design leaves a lock unknown: tests/faults/
    # test_deadlock.py and tests/clients/test_cli_explain.py; what a program drops is in tests/faults/
    # test_missing_dma.py; two lengths of which one is off stand in no design of the corpus,
    # nor does a wait that one of several could end, or a lock whose releaser is unknown:
    # test_deadlock.py; an object that is held on one way alone: test_imbalance.py;
    # only some schedules end otherwise: tests/data/test_every_timing.py;
    # no design of the corpus meets its limit: tests/faults/test_standstill.py;
    # no host of the corpus asks for less than cores give, or sets a lock instead of another one:
    # tests/faults/test_turn_balance.py and test_host_writes.py
    # nor is a packet flow of tokens of another id: tests/faults/test_token_flows.py
    lacking = "MT0316 MT0317 MT0319 MT0321 MT0322 MT0324 MT0326 MT0327 MT0330 MT0337 MT0338 MT0339 MT0340"
    # nor does a core of the corpus take more objects than come: tests/faults/test_turn_rates.py
    lacking += " MT0341 MT0342"
    assert lacks == set(lacking.split())


def test_another_table_is_found_and_replaced() -> None:
    old = PAGE.replace("| MT0303 |", "| MT9999 |")
    assert old != PAGE == findings_table.TABLE.in_page(old)


def test_make_docs_writes_it() -> None:
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").partition("docs: $(SETUP)")[2]
    assert "tests/support/pages/findings_table.py docs/findings.md\n" in recipe
