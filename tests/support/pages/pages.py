"""Pages whose blocks run: ``python`` and ``console`` blocks in order, and what the page shows as output.

A ``python`` block is a notebook cell: the blocks of a page share their names, the value of a last
expression is shown, and a ``text`` block right after it holds the output. A ``console`` block holds commands
after ``$`` and their output. ``<!-- not run: reason -->`` in the line before a block leaves it out. In shown
output ``...`` stands for anything.

``PYTHONPATH=tests python tests/support/pages/pages.py PAGE...`` writes the present outputs into pages.
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from places import ROOT
from support.commands import warm

WIDTH = "100"  # columns of the terminal that the pages show
_BLOCK = re.compile(
    r"(?:^<!-- not run: (?P<reason>.+?) -->\n)?"
    r"^```(?P<language>python|console)\n(?P<body>.*?)^```\n"
    r"(?:\n*^```text\n(?P<text>.*?)^```\n)?",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """One block of a page.

    Attributes:
        line: line of the page where its code begins.
        language: ``python`` or ``console``.
        code: what is run.
        shown: the output that the page shows.
        place: where in the page that output stands; None = nowhere.
        reason: why it is not run; empty = it is.
    """

    line: int
    language: str
    code: str
    shown: str
    place: tuple[int, int] | None
    reason: str


def blocks(page: str) -> Iterator[Block]:
    """All blocks of a page's text, in order."""
    for match in _BLOCK.finditer(page):
        language, body = match["language"], match["body"]
        place = None if match["text"] is None else match.span("text")
        code, shown = body, match["text"] or ""
        if language == "console":
            lines = body.splitlines(keepends=True)
            commands = [line for line in lines if line.startswith("$ ")]
            code = "".join(line[2:] for line in commands)
            shown = "".join(line for line in lines if line not in commands)
            place = (match.end("body") - len(shown), match.end("body"))
        line = page.count("\n", 0, match.start("body")) + 1
        yield Block(line, language, code, shown, place, match["reason"] or "")


def outputs(name: str, page: str) -> Iterator[tuple[Block, str]]:
    """Run the blocks of a page in an empty directory that has ``examples``; each one with its output."""
    names: dict[str, Any] = {"__name__": "__main__"}
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        Path("examples").symlink_to(ROOT / "examples")
        for block in blocks(page):
            if block.reason:
                print(f"{name}:{block.line}: not run: {block.reason}")
            elif block.language == "python":
                yield block, _trimmed(_cell(f"{name}:{block.line}", block.code, names))
            else:
                yield block, _trimmed(_console(block.code))


def same(block: Block, output: str) -> bool:
    """Whether the page shows this output."""
    return doctest.OutputChecker().check_output(_trimmed(block.shown), output, doctest.ELLIPSIS)


def rewritten(name: str, page: str) -> str:
    """The page with the present outputs in the places where it shows outputs."""
    for block, output in reversed(list(outputs(name, page))):
        if block.place and not same(block, output):
            if page[slice(*block.place)] != block.shown:
                raise ValueError(
                    f"{name}:{block.line}: write the new output by hand: commands stand between outputs"
                )
            page = page[: block.place[0]] + output + page[block.place[1] :]
    return page


def _cell(title: str, code: str, names: dict[str, Any]) -> str:
    tree = ast.parse(code, title)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, title, "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), title, "eval"), names)
            if value is not None:
                print(repr(value))
    return printed.getvalue()


def _console(commands: str) -> str:
    path = os.pathsep.join([str(warm.folder()), str(Path(sys.executable).parent), os.environ["PATH"]])
    run = subprocess.run(
        ["bash", "-c", commands],
        env={**os.environ, "PATH": path, "COLUMNS": WIDTH},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return run.stdout


def _trimmed(text: str) -> str:
    """Without spaces at line ends and empty lines at the end, which no page shows."""
    lines = "\n".join(line.rstrip() for line in text.splitlines()).rstrip("\n")
    return f"{lines}\n" if lines else ""


def main() -> None:
    """Write the present outputs into the pages named on the command line."""
    for name in sys.argv[1:]:
        path = Path(name)
        before = path.read_text(encoding="utf-8")
        after = rewritten(name, before)
        if after != before:
            path.write_text(after, encoding="utf-8")
            print(f"{name}: outputs rewritten")


if __name__ == "__main__":
    main()
