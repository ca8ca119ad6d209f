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
        "Start",
        "install, and learn from nothing, in order",
        ("readme", "tutorial", "notebooks/first_steps", "notebooks/tune_gemm", "notebooks/find_hang"),
    ),
    Part(
        "Your job",
        "a whole job in one sitting",
        ("adf", "iron", "compilers", "board", "tilings", "design_space", "gotchas"),
    ),
    Part(
        "How to",
        "one task each",
        (
            "array",
            "allocation",
            "mlir",
            "check",
            "ci",
            "findings",
            "explain",
            "report",
            "record",
            "diff",
            "sweep",
            "plan",
            "cpp",
            "files",
            "serve",
            "trace",
            "events",
            "protection",
            "notebooks",
            "agents",
            "sandbox",
            "measure",
        ),
    ),
    Part(
        "Reference",
        "to look up",
        (
            "reference",
            "kernels",
            "aie_api",
            "registers",
            "lookup",
            "races",
            "glossary",
            "stability",
            "architecture",
            "features",
            "changelog",
            "contributing",
        ),
    ),
    Part("Gallery", "designs with their runs and reports", ("gallery/index",)),
    Part("Playground", "programs of IRON, tilings, descriptors and words in the browser", ("playground",)),
    Part(
        "Laboratory",
        "how far to trust it: measurements, choices, rules of time",
        ("silicon", "deviations", "timing", "speed", "claims"),
    ),
)
"""The order of the menu, in this one list; a page that is in none of them is at the end of the third."""


def parts(pages: Iterable[str]) -> tuple[Part, ...]:
    """The parts with every page in one of them.

    Args:
        pages: the names of all that there are.
    """
    known = {page for part in PARTS for page in part.pages}
    rest = sorted({*pages} - known - {"index"})
    return tuple(
        part._replace(pages=(*part.pages, *rest)) if n == 2 else part for n, part in enumerate(PARTS)
    )
