"""The public modules and their names, and who imports what: for tests and for the reference page."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator

from support.pages import pages

MODULES = (
    "memtile",
    "memtile.bd",
    "memtile.access",
    "memtile.adf",
    "memtile.kernels",
    "memtile.kernels.aie",
    "memtile.trace",
    "memtile.programs",
    "memtile.hosts.iron",
    "memtile.testing",
)
"""What users import; everything else is internal."""

_MENTIONED = re.compile(r"`(memtile(?:\.\w+)+)\b")


def public_names(module: str) -> list[str]:
    """The names that a public module offers."""
    return list(importlib.import_module(module).__all__)


def beyond_the_fence(code: str) -> Iterator[str]:
    """Each import in Python code of something of ours that is not public."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (f"import {a.name}" for a in node.names if _ours(a.name) and a.name not in MODULES)
        elif isinstance(node, ast.ImportFrom) and _ours(node.module or ""):
            yield from (
                f"from {node.module} import {alias.name}"
                for alias in node.names
                if not _public(f"{node.module}.{alias.name}")
            )


def mentioned_beyond_the_fence(page: str) -> Iterator[str]:
    """Each dotted name of ours in the text of a page that is not public; attributes of public names are."""
    prose = page
    for block in re.findall(r"^```.*?^```", page, re.MULTILINE | re.DOTALL):
        prose = prose.replace(block, "")
    for name in _MENTIONED.findall(prose):
        parents = {name.rsplit(".", cut)[0] for cut in range(1, name.count("."))} - {*MODULES}
        if not any(map(_public, {name, *parents})):
            yield name


def python_of(page: str) -> str:
    """The Python blocks of a page as one module, in order."""
    return "\n".join(block.code for block in pages.blocks(page) if block.language == "python")


def _ours(module: str) -> bool:
    return module.split(".")[0] == "memtile"


def _public(name: str) -> bool:
    """Whether a dotted name is a public module, or a name in one."""
    module, _, last = name.rpartition(".")
    return name in MODULES or (module in MODULES and last in public_names(module))
