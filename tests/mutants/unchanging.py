"""Random mutants that change nothing that a user or a test could see, each with the reason.

Named by their text, so that lines may move; ``tests/faults/test_random_mutants.py`` says which of them are of
a text that is gone.
"""

from __future__ import annotations

from typing import NamedTuple


class Unchanging(NamedTuple):
    """A change.

    Attributes:
        file: path below the package.
        function: its name, with those around it.
        before: the lines that are changed, as they are.
        after: those lines then.
    """

    file: str
    function: str
    before: str
    after: str


UNCHANGING: dict[Unchanging, str] = {}
