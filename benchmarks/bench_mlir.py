"""How long do reading and building a design of MLIR text take?

Times are processor times, and ratios within one run: against the words of the same text found by a regular
expression, and against an interpreter that imports NumPy and Numba. Rates are printed only.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from memtile.check.check import check
from memtile.check.checked_program import of_mlir
from memtile.importers.design import load_still
from memtile.importers.mlir.reader import read
from memtile.importers.mlir.token_packets import Text

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
import matmul_16_cores  # an example is no package
from long_sequence import long_sequence

COPIES = 20  # of the example's device, for a text of half a megabyte
ROUNDS = 5
MOST_WORDS = 12  # reading costs less than so many searches for words
COPIES_OF_A_BLOCK = 1000  # by a host; the abstract run of more meets its limit, which would hide some growth
MOST_GROWTH = 5.5  # of four times as many
MOST_STARTS = 12  # building and running, against a start of Python with NumPy and Numba
WORD = re.compile(r"[\w.%@#!-]+|\S")


def seconds(call: Callable[[], object]) -> float:
    """Processor time of a call."""
    began = time.process_time()
    call()
    return time.process_time() - began


def of_process(*command: str) -> float:
    """Processor time of a Python process; the least of some."""
    times = []
    for _ in range(ROUNDS):
        code = (
            "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, capture_output=True);"
            "used = resource.getrusage(resource.RUSAGE_CHILDREN); print(used.ru_utime + used.ru_stime)"
        )
        run = [sys.executable, "-c", code, sys.executable, *command]
        times.append(float(subprocess.run(run, check=True, capture_output=True, text=True).stdout))
    return min(times)


def long_text() -> str:
    text = matmul_16_cores.text()
    inner = text.removeprefix("module {\n").removesuffix("}\n")
    return f"module {{\n{inner * COPIES}}}\n"


def test_reading(benchmark) -> None:
    text = long_text()
    words = min(seconds(lambda: WORD.findall(text)) for _ in range(ROUNDS))
    read_in = min(seconds(lambda: read(Text("d.mlir", text))) for _ in range(ROUNDS))
    benchmark.pedantic(lambda: read(Text("d.mlir", text)), rounds=1)
    benchmark.extra_info["MB/s"] = round(len(text) / read_in / 1e6, 1)
    benchmark.extra_info["times the words"] = round(read_in / words, 1)
    assert read_in < MOST_WORDS * words


def test_a_check_of_many_tasks_is_linear_in_them(benchmark, tmp_path) -> None:
    """Four times as many tasks take four times as long, and no more."""

    def check_of(copies: int) -> float:
        file = tmp_path / f"{copies}.mlir"
        file.write_text(long_sequence(copies))
        return min(seconds(lambda: check(file.name, lambda: of_mlir(load_still(file)))) for _ in range(2))

    check_of(8)  # all modules loaded
    few, many = check_of(COPIES_OF_A_BLOCK), check_of(4 * COPIES_OF_A_BLOCK)
    benchmark.pedantic(lambda: None, rounds=1)
    benchmark.extra_info["s"], benchmark.extra_info["x a quarter"] = round(many, 2), round(many / few, 2)
    assert many < MOST_GROWTH * few


def test_a_whole_run(benchmark) -> None:
    """The second start: import, text, build, run and comparison."""
    program = matmul_16_cores.__file__
    done = subprocess.run([sys.executable, program], check=True, capture_output=True, text=True)
    assert done.stdout.endswith("cycles, exact\n")
    start, whole = of_process("-c", "import numpy, numba"), of_process(program)
    benchmark.pedantic(lambda: of_process(program), rounds=1)
    benchmark.extra_info["s"] = round(whole, 2)
    benchmark.extra_info["starts"] = round(whole / start, 1)
    assert whole < MOST_STARTS * start
