"""Does a short run load what it needs, and nothing else?"""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console
from rich.segment import Segment

from memtile import sheet
from memtile.sheet import Sheet, SheetColumn
from memtile.testing.rig import Rig

DESIGN = """
import numpy as np
from memtile import Array

def design():
    array = Array("npu1", columns=1)
    near, far = array.memory_tile(0), array.compute_tile(0, 2)
    array.connect(near.mm2s[0], far.s2mm[0])
    near.mm2s[0].start(near.read(near.buffer("a", 64, data=np.arange(64))))
    far.s2mm[0].start(far.write(far.buffer("b", 64)))
    far.expect(far.buffers[0], np.arange(64))
    return array
"""
RUN = """
import sys
sys.argv = ["memtile", *sys.argv[1:]]
from memtile.__main__ import main
try:
    main()
except SystemExit as left:
    assert not left.code, left.code
heavy = {"numpy.ma", "numpy.testing", "matplotlib", "pandas", "hypothesis", "ortools", "mcp", "asyncio"}
heavy.add("memtile.importers.kernels.body" if sys.argv[1] == "check" else "memtile.check")
print("loaded:", *sorted(heavy & set(sys.modules)))
"""
SCALE = Path(__file__).parents[2] / "examples/scale.mlir"


@pytest.mark.parametrize(
    ("command", "file"), [("run", "design.py"), ("check", "design.py"), ("check", SCALE)]
)
def test_a_command_imports_nothing_that_it_does_not_need(tmp_path: Path, command: str, file: str) -> None:
    """Each of these takes a tenth of the time of a short command, or more."""
    Rig()  # now the engine is compiled
    (tmp_path / "design.py").write_text(DESIGN)
    run = subprocess.run(
        [sys.executable, "-c", RUN, command, file], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert ("bit-exact: yes" if command == "run" else "nothing found") in run.stdout
    assert run.stdout.splitlines()[-1] == "loaded:"


def all_lines(console: Console, report: object) -> int:
    """The longest of all lines, each laid out."""
    lines = Segment.split_lines(console.render(report))  # type: ignore[arg-type]
    return max(map(Segment.get_line_length, lines))


def some_sheet(seed: int) -> Sheet:
    chance = random.Random(seed)

    def text(words: int) -> str:
        return " ".join("x" * chance.randint(1, 9) for _ in range(chance.randint(1, words)))

    columns = [
        SheetColumn(text(4), right=chance.random() < 0.5, one_line=chance.random() < 0.4)
        for _ in range(chance.randint(1, 9))
    ]
    rows = [tuple(text(chance.choice((1, 3, 8))) for _ in columns) for _ in range(chance.randint(0, 4))]
    return Sheet(tuple(columns), tuple(rows), title=text(30) if seed % 2 else "")


def test_one_line_of_a_table_is_as_long_as_any(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table is as wide as its lines make it; to find that out takes one of them."""
    sheets = [some_sheet(seed) for seed in range(60)]
    found = [str(each) for each in sheets]
    monkeypatch.setattr(sheet, "_longest_line", all_lines)
    assert found == [str(each) for each in sheets]
    assert max(len(line) for text in found for line in text.splitlines()) > sheet._TEXT_WIDTH
