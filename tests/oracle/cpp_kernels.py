"""Which C++ kernels of mlir-aie compile for the host, and what the others lack.

``python tests/oracle/cpp_kernels.py FOLDER [NAME..] [--json]`` compiles every ``.cc`` and ``.cpp`` below
``aie_kernels``, ``programming_examples`` and ``test`` that is a kernel of AIE-ML or AIE2P, with the
compiler and the options of the project, and prints ``ok`` and the seconds it took, or the first error.
Names choose files by a part of their path. None of the kernels is in the project.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from memtile.cpp.build import Sources, own_options
from memtile.cpp.compilers import compiler

FOLDERS = ("aie_kernels", "programming_examples", "test")
_HOST = re.compile(r"xrt|test_utils|boost|int main|opencv|testbench")
"""What only programs of the host include or are: they are no kernels."""
_FIRST_GENERATION = re.compile(r"aie_kernels/aie1/|unit_tests/(?:aie|chess_compiler_tests)/|_x86|/test\.cpp$")
_DEFINES: tuple[tuple[str, dict[str, str | int | None]], ...] = (
    ("aie2/bitwiseOR.cc", {"BIT_WIDTH": 8}),
    ("aie2/bitwiseAND.cc", {"BIT_WIDTH": 8}),
    ("row_wise_bias_add", {"DIM_m": 64, "DIM_n": 32}),
    ("transposes/", {"DIM_m": 32, "DIM_n": 32, "DTYPE_i8": None}),
    ("block_datatypes/", {"DIM_M": 64, "DIM_K": 64, "DIM_N": 64}),
)
"""Part of a path -> macros that the example's own build gives (its Makefile, or its design in Python)."""
_AIE2P = re.compile(r"aie2p|block_datatypes")


@dataclass(frozen=True)
class Verdict:
    """What came of a kernel.

    Attributes:
        name: its path in the folder.
        seconds: that its compilation took.
        lacks: the first error; empty if it compiled.
    """

    name: str
    seconds: float
    lacks: str


def kernels(folder: Path, names: Sequence[str] = ()) -> Iterator[Path]:
    """The kernels below a folder of mlir-aie whose path has one of the names; all without names."""
    files = (
        file for top in FOLDERS for file in (folder / top).rglob("*.c[cp]*") if file.suffix in (".cc", ".cpp")
    )
    for file in sorted(files):
        path = file.relative_to(folder).as_posix()
        if _FIRST_GENERATION.search(path) or (names and not any(name in path for name in names)):
            continue
        if not _HOST.search(file.read_text("utf-8", "replace")):
            yield file


def verdict(folder: Path, file: Path) -> Verdict:
    """Compile a kernel, and say what came of it."""
    path = file.relative_to(folder).as_posix()
    defines = next((found for part, found in _DEFINES if part in path), {})
    generation = "AIE2P" if _AIE2P.search(path) else "AIE-ML"
    include = (folder / "aie_kernels", folder / "aie_kernels" / generation.lower().replace("-ml", "2"))
    options = Sources((file,), include=include, defines=defines, generation=generation).options()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        used = compiler()
        command = [*used.command, *options, *own_options(used), "-c", str(file)]
        command += ["-o", str(Path(place, "kernel.o"))]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", cwd=folder)
    errors = [line for line in done.stderr.splitlines() if "error" in line]
    lacks = (errors or ["the compiler failed"])[0] if done.returncode else ""
    return Verdict(path, round(time.monotonic() - begun, 1), lacks.replace(f"{folder}/", ""))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="a checkout of mlir-aie")
    parser.add_argument("names", nargs="*", help="parts of paths; all kernels if omitted")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    folder = chosen.folder.resolve()
    with ThreadPoolExecutor(chosen.workers) as pool:
        verdicts = []
        for found in pool.map(lambda file: verdict(folder, file), kernels(folder, chosen.names)):
            verdicts.append(found)
            if not chosen.json:
                print(f"{found.name}: {found.lacks or f'ok, {found.seconds} s'}", flush=True)
    if chosen.json:
        print(json.dumps([asdict(found) for found in verdicts], indent=1))
        return 0
    good = sum(not found.lacks for found in verdicts)
    print(f"{good} of {len(verdicts)} kernels compile")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
