"""How many of the functions that designs declare the library has.

``PYTHONPATH=tests python tests/support/mlir/library_reach.py DIR...`` prints it.

Reads each ``*.mlir`` below the folders for ``func.func private @name``; a file counts a name once.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from memtile.kernels import aie

_DECLARED = re.compile(r'func\.func\s+private\s+@"?([\w.$-]+)')


def declared(folders: Iterable[Path]) -> Counter[str]:
    """Each name and the number of files that declare it."""
    found: Counter[str] = Counter()
    for folder in folders:
        for path in sorted(folder.rglob("*.mlir")):
            found.update(set(_DECLARED.findall(path.read_text(encoding="utf-8", errors="replace"))))
    return found


def report(names: Counter[str]) -> str:
    """Shares by frequency and by name, and the names that are missing, the most frequent first."""
    own = aie.library()
    known = {name: count for name, count in names.items() if name in own}
    missing = [f"{count:4}  {name}" for name, count in names.most_common() if name not in own]
    share = sum(known.values()) / max(names.total(), 1)
    return "\n".join(
        [
            f"answered: {sum(known.values())} of {names.total()} declarations ({share:.0%}), "
            f"{len(known)} of {len(names)} names",
            *missing,
        ]
    )


if __name__ == "__main__":
    print(report(declared(map(Path, sys.argv[1:]))))
