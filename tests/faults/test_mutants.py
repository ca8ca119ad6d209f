"""Can every listed mutant still be made, and is its test still there? ``make mutants`` runs them."""

from __future__ import annotations

from pathlib import Path

import pytest

from mutants.listed import MUTANTS, PACKAGE, SOURCE, Mutant

ROOT = Path(__file__).parents[2]


def test_names_are_told_apart() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_its_text_stands_once_and_its_test_exists(mutant: Mutant) -> None:
    text = (SOURCE / PACKAGE / mutant.file).read_text(encoding="utf-8")
    assert text.count(mutant.old) == 1, f"{mutant.file} has changed"
    assert mutant.applied() != text
    if mutant.file.endswith(".py"):
        compile(mutant.applied(), mutant.file, "exec")
    file, _, name = mutant.test.partition("::")
    assert f"\ndef {name.partition('[')[0]}(" in (ROOT / file).read_text(encoding="utf-8")
