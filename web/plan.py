"""What is on the site and where: the pages by what they are for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Part(NamedTuple):
    """Pages of one purpose.

    Attributes:
        title: above them.
        about: for ``llms.txt``: what they are for.
        pages: their names without ending, in order.
    """

    title: str
    about: str
    pages: tuple[str, ...]


PARTS = (
    Part(
        "Tutorial",
        "to learn, from nothing, in order",
        ("readme", "tutorial", "notebooks/first_steps", "notebooks/tune_gemm", "notebooks/find_hang"),
    ),
    Part(
        "How to",
        "one task each",
        (
            "tilings",
            "array",
            "allocation",
            "mlir",
            "compilers",
            "check",
            "findings",
            "explain",
            "report",
            "record",
            "diff",
            "sweep",
            "plan",
            "notebooks",
            "agents",
            "sandbox",
            "files",
            "trace",
            "events",
            "serve",
            "protection",
            "measure",
        ),
    ),
    Part(
        "Explanation",
        "why it is as it is, and how far to trust it",
        ("architecture", "timing", "races", "speed", "silicon", "deviations"),
    ),
    Part(
        "Reference",
        "to look up",
        (
            "reference",
            "kernels",
            "registers",
            "lookup",
            "stability",
            "glossary",
            "features",
            "changelog",
            "contributing",
        ),
    ),
    Part("Gallery", "designs with their runs and reports", ("gallery/index",)),
    Part("Playground", "programs of IRON, tilings, descriptors and words in the browser", ("playground",)),
)
"""Where pages are; one that is in none of them is found at the end of the second."""


def parts(pages: Iterable[str]) -> tuple[Part, ...]:
    """The parts with every page in one of them.

    Args:
        pages: the names of all that there are.
    """
    known = {page for part in PARTS for page in part.pages}
    rest = sorted({*pages} - known - {"index"})
    return tuple(
        part._replace(pages=(*part.pages, *rest)) if n == 1 else part for n, part in enumerate(PARTS)
    )
