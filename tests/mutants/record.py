"""Which tests run which functions? ``make mutants-map`` records it, and writes ``reached.txt`` from it.

The tests run in the interpreter with a copy of the source in which each function marks a byte when it begins.
The bytes are a file that all processes share, so that what a command does counts for the test that began it.
Tests that fail, take long or draw by chance are left out.
"""

from __future__ import annotations

import argparse
import ast
import compileall
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from zlib import crc32

from alike import FOLDERS
from listed import PACKAGE, SOURCE
from random_mutants import ROOMS
from reached import MAP, write
from run import copied

ROOT = SOURCE.parent
TESTS = ROOT / "tests"
PLACE = ROOT / ".cache" / "mutants"
LEFT_OUT = (  # what starts processes, or a compiler, for each test
    "faults/test_mutants.py",
    *(f"data/test_{name}_*" for name in ("aie_api", "adf", "cpp", "graph", "library")),
)
MARKS, RECORD = "MEMTILE_MARKS", "MEMTILE_RECORD"  # as in marks_plugin.py
MARKED = "not slow and not chance and not interpreter and not compiled"
MODULE = """
import mmap, os
try:
    with open(os.environ["MEMTILE_MARKS"], "r+b") as file:
        SEEN = mmap.mmap(file.fileno(), 0)
except (KeyError, OSError):
    SEEN = bytearray({size})
"""


def bodies(tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    """Functions by name, and their first statements behind a docstring."""

    def walk(node: ast.AST, name: str) -> Iterator[tuple[str, ast.stmt]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                inner = f"{name}.{child.name}".lstrip(".")
                if not isinstance(child, ast.ClassDef):
                    first = child.body[ast.get_docstring(child) is not None :]
                    if first and first[0].lineno > child.lineno:
                        yield inner, first[0]
                yield from walk(child, inner)
            else:
                yield from walk(child, name)

    yield from walk(tree, "")


def marked(text: str, begin: int) -> tuple[str, list[str]]:
    """A module whose functions mark bytes from ``begin`` on, and the names of those functions."""
    tree = ast.parse(text)
    lines, names = text.split("\n"), list[str]()
    added: dict[int, str] = {}
    for name, first in bodies(tree):
        line = min([first.lineno, *(each.lineno for each in getattr(first, "decorator_list", []))])
        added[line] = f"{' ' * first.col_offset}_MARKED[{begin + len(names)}] = 1"
        names.append(name)
    start = [each for each in tree.body if isinstance(each, ast.ImportFrom) and each.module == "__future__"]
    if not names or not start:
        return text, []
    for line in sorted(added, reverse=True):
        lines.insert(line - 1, added[line])
    lines.insert(start[0].end_lineno or 0, f"from {PACKAGE}._marks import SEEN as _MARKED")
    return "\n".join(lines), names


def mark_all(source: Path) -> list[tuple[str, str]]:
    """Change a copy of the source, and say which function has which byte."""
    functions: list[tuple[str, str]] = []
    for room in ROOMS:
        for file in sorted((source / PACKAGE / room).rglob("*.py")):
            text, names = marked(file.read_text(encoding="utf-8"), len(functions))
            file.write_text(text, encoding="utf-8")
            functions += [(file.relative_to(source / PACKAGE).as_posix(), name) for name in names]
    (source / PACKAGE / "_marks.py").write_text(MODULE.format(size=len(functions)), encoding="utf-8")
    return functions


def record(place: Path, workers: int, tests: Sequence[str] = ()) -> None:
    """Run all tests or some more; ``place`` has ``functions.json`` and ``reached-*.jsonl`` then."""
    with tempfile.TemporaryDirectory() as folder:
        source = copied(Path(folder))
        functions = mark_all(source)
        compileall.compile_dir(source, quiet=2, workers=workers)
        (place / "functions.json").write_text(json.dumps(functions), encoding="utf-8")
        pytest = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        files = [Path(test) for test in tests] or [
            file
            for folder in FOLDERS
            for file in (TESTS / folder).glob("test_*.py")
            if not any(file.match(pattern) for pattern in LEFT_OUT)
        ]
        files.sort(key=lambda file: crc32(file.name.encode()))
        running = []
        for number in range(1, workers + 1):
            marks, written = Path(folder) / f"marks{number}", place / f"reached-{number}.jsonl"
            marks.write_bytes(bytes(len(functions)))
            environment = os.environ | {"PYTHONPATH": f"{source}:{TESTS}", "MEMTILE_JIT": "0"}
            environment |= {MARKS: str(marks), RECORD: str(written), "PYTHONDONTWRITEBYTECODE": ""}
            command = [*pytest, "-p", "mutants.marks_plugin", "-m", MARKED, "--tb=no"]
            command += map(str, files[number - 1 :: workers])
            log = (place / f"log-{number}.txt").open("w", encoding="utf-8")
            running.append(subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log))
        for each in running:
            each.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tests", nargs="*", help="files to record; all if omitted")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--enough", type=int, default=4, help="tests for each function")
    parser.add_argument("--again", action="store_true", help="write the map of what is recorded already")
    parser.add_argument("--more", action="store_true", help="go on where a recording of this source ended")
    chosen = parser.parse_args()
    if not chosen.again:
        if not chosen.more:
            shutil.rmtree(PLACE, ignore_errors=True)
        PLACE.mkdir(parents=True, exist_ok=True)
        record(PLACE, chosen.workers, chosen.tests)
    functions = json.loads((PLACE / "functions.json").read_text(encoding="utf-8"))
    lines = "".join(path.read_text(encoding="utf-8") for path in sorted(PLACE.glob("reached-*.jsonl")))
    MAP.write_text(write(functions, map(json.loads, lines.splitlines()), chosen.enough), encoding="utf-8")


if __name__ == "__main__":
    main()
