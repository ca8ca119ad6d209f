"""Matplotlib for texts from outside: names are no formulas, and letters that its font lacks no complaint."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from memtile.errors import MemtileError


@contextmanager
def plain_texts() -> Iterator[None]:
    """A context in which figures are made and saved with texts as they are.

    Raises:
        MemtileError: matplotlib is not installed.
    """
    try:
        from matplotlib import rc_context
    except ImportError:
        raise MemtileError(
            'Pictures need matplotlib, which is not installed: pip install "matplotlib". '
            "An animated picture (.html) does not need it."
        ) from None

    with rc_context({"text.parse_math": False}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from|constrained_layout not applied")
        yield
