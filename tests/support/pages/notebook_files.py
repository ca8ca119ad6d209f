"""The notebooks, run as people run them.

``PYTHONPATH=tests python tests/support/pages/notebook_files.py FILE...`` keeps what they show.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

from places import ROOT

FOLDER = ROOT / "notebooks"
SECONDS = 120
_KEY = re.compile("data-variant='[0-9a-f]{16}'")


def notebooks() -> list[Path]:
    """Their files."""
    return sorted(FOLDER.glob("*.ipynb"))


def ran(path: Path) -> Any:
    """A notebook with what its cells show now, run in a kernel of its own in its folder.

    Raises:
        CellExecutionError: a cell fails.
    """
    book: Any = nbformat.read(path, as_version=4)
    client: Any = NotebookClient(
        book, timeout=SECONDS, kernel_name="python3", resources={"metadata": {"path": FOLDER}}
    )
    client.execute()
    return bare(book)


def bare(book: Any) -> Any:
    """The notebook without what differs from run to run, or with memtile's sources.

    Those are times, versions, that something was compiled, and the keys of variants, which are hashes of
    the sources among others: they are written as numbers.
    """
    keys: dict[str, str] = {}

    def number_of(key: re.Match[str]) -> str:
        return keys.setdefault(key[0], f"data-variant='{len(keys)}'")

    book.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for number, cell in enumerate(book.cells):
        cell.metadata, cell.id = {}, f"cell-{number}"
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if not _compiles(output)]
            for output in cell.outputs:
                if output.output_type != "stream":
                    output.metadata = {}
                    for kind, text in output.get("data", {}).items():
                        if isinstance(text, str):
                            output.data[kind] = _KEY.sub(number_of, text)
    return book


def _compiles(output: Any) -> bool:
    """Whether it is the line that the first run on a machine writes to standard error."""
    return output.output_type == "stream" and output.text.startswith("memtile: compiling the engine")


def shown(book: Any) -> Iterator[tuple[int, str, str]]:
    """What its cells show: number of the cell, kind (a MIME type, or ``stdout``), text."""
    for number, cell in enumerate(book.cells):
        for output in cell.get("outputs", ()):
            if output.output_type == "stream":
                yield number, output.name, output.text
            else:
                yield from ((number, kind, text) for kind, text in sorted(output.data.items()))


def pictures(book: Any) -> list[str]:
    """The drawings that are shown inline."""
    texts = [text for _, kind, text in shown(book) if kind in ("image/svg+xml", "text/html")]
    return [svg for text in texts for svg in re.findall(r"<svg.*?</svg>", text, re.DOTALL)]


if __name__ == "__main__":
    for name in sys.argv[1:]:
        nbformat.write(ran(Path(name).resolve()), name)
