"""Do the commands answer files with mistakes by an exit code and a sentence, and never by a traceback?

In process: every exception that is no exit is seen, and an alarm ends what takes too long.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from memtile.cli.main import app
from support.mlir.mlir_texts import CALL, PASSTHROUGH
from support.mutated.mutated_bytes import files
from support.mutated.mutated_bytes import mutated as mutated_file
from support.mutated.mutated_texts import mutated

SECONDS = 30
TEXTS = (PASSTHROUGH, CALL)
FILES = files()
FUNCTIONS = "def work(x, y):\n    y[:] = x + 1\n"
OF_TEXTS: dict[str, Sequence[str]] = {
    "run": ("run", "--max-cycles", "3000", "--pad-arguments", "--kernels", "{functions}", "{file}"),
    "run-json": ("run", "--json", "--max-cycles", "3000", "--in", "0={array}", "{file}"),
    "check": ("check", "{file}"),
    "check-sarif": ("check", "--sarif", "{file}"),
    "info": ("info", "{file}"),
    "disasm": ("disasm", "{file}"),
}
OF_FILES: dict[str, Sequence[str]] = {
    "run": ("run", "--max-cycles", "3000", "--pad-arguments", "{file}"),
    "check": ("check", "--json", "{file}"),
    "disasm": ("disasm", "{file}"),
    "disasm-json": ("disasm", "--json", "--summary", "{file}"),
}
TEXTS_OF_EACH, FILES_OF_EACH = 10, 11


@contextmanager
def alarm(seconds: int) -> Iterator[None]:
    """An error of what takes longer."""

    def late(*_: object) -> None:
        raise TimeoutError(f"more than {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def answers(command: Sequence[str], place: Path, make: Callable[[int], Path], many: int) -> set[int]:
    """The exit codes of a command with many files."""
    import numpy as np

    functions, array = place / "functions.py", place / "a.npy"
    functions.write_text(FUNCTIONS)
    np.save(array, np.arange(64, dtype=np.int32))
    codes: set[int] = set()
    for number in range(many):
        file = make(number)
        words = {"file": str(file), "functions": str(functions), "array": str(array)}
        with alarm(SECONDS):
            done = CliRunner().invoke(app, [part.format(**words) for part in command])
        assert isinstance(done.exception, (SystemExit, type(None))), (number, repr(done.exception))
        assert done.exit_code in (0, 1, 2), (number, done.output)
        assert done.exit_code == 0 or (done.stdout + done.stderr).strip(), number
        assert "Traceback" not in done.output, number
        codes.add(done.exit_code)
    return codes


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("command", OF_TEXTS)
def test_commands_on_designs_with_mistakes(command: str, tmp_path: Path) -> None:
    def make(number: int) -> Path:
        file = tmp_path / "design.mlir"
        text = mutated(TEXTS[number % len(TEXTS)], number)
        file.write_bytes(text.encode("utf-8", "surrogatepass"))
        return file

    codes = answers(OF_TEXTS[command], tmp_path, make, TEXTS_OF_EACH)
    assert {1, 2} & codes


@pytest.mark.slow
@pytest.mark.parametrize("command", OF_FILES)
def test_commands_on_files_of_writes_with_mistakes(command: str, tmp_path: Path) -> None:
    names = list(FILES)

    def make(number: int) -> Path:
        file = tmp_path / names[number % len(names)]
        file.write_bytes(mutated_file(FILES[file.name], number))
        return file

    codes = answers(OF_FILES[command], tmp_path, make, FILES_OF_EACH)
    assert {1, 2} & codes


@pytest.mark.slow
def test_a_survey_of_designs_with_mistakes_sorts_them_all(tmp_path: Path) -> None:
    for number in range(TEXTS_OF_EACH):
        folder = tmp_path / "designs" / f"d{number}"
        folder.mkdir(parents=True)
        (folder / "design.mlir").write_text(mutated(TEXTS[number % 2], number), encoding="utf-8")
    with alarm(10 * SECONDS):
        done = CliRunner().invoke(
            app, ["survey", "--json", "--max-cycles", "3000", str(tmp_path / "designs")]
        )
    assert isinstance(done.exception, (SystemExit, type(None))), repr(done.exception)
    assert done.exit_code == 1, done.output
    found = json.loads(done.stdout)
    files = {each["design"].partition("#")[0] for each in found["designs"]}  # a row a device
    assert len(files) + len(found["without_device"]) == TEXTS_OF_EACH
    assert [each for each in found["designs"] if each["bucket"] == "broken"] == []
