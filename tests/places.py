"""Where the tests and the repository are, whatever folder a helper is in."""

from __future__ import annotations

from pathlib import Path

TESTS = next(folder for folder in Path(__file__).resolve().parents if folder.name == "tests")
ROOT = TESTS.parent
