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


UNCHANGING = {
    Unchanging(
        "sim/races/vector_clocks.py",
        "join_label",
        "for back in range(1, min(newest, VERSIONS) + 1):",
        "for back in range(1, max(newest, VERSIONS) + 1):",
    ): "the loop ends at the oldest version that is kept",
    Unchanging(
        "iron/helpers/util.py",
        "pack_pad_value",
        "if elem_bytes > 4:",
        "if elem_bytes > 5:",
    ): "no element has five bytes",
    Unchanging(
        "importers/kernels/host_calls.py",
        "_result_kinds",
        "return types_between(form, at + 1, end)",
        "return types_between(form, at + 0, end)",
    ): "an arrow is passed over where types are read",
    Unchanging(
        "importers/mlir/repairs/design_text.py",
        "DesignText._free_name",
        "n = 1",
        "n = 2",
    ): "any name that is free will do in a text that is only tried",
}
