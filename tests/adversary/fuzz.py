"""``make fuzz``: look for inputs that a reader of outside data does not survive, guided by coverage.

Readers come one after another, each in a process of its own. What is found goes to ``.cache/fuzz``; a
defect that is mended leaves its input in ``found``, which ``tests/faults/test_fuzz.py`` reads again.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from adversary.readers import READERS
from adversary.search import Search, most_memory
from places import ROOT

FOUND = Path(__file__).with_name("found")
"""Inputs of defects that are mended, in a folder for each reader."""
KEPT = ROOT / ".cache" / "fuzz"
PACKAGE = str(ROOT / "src" / "memtile")
_GRACE = 300.0  # seconds that a process may take longer than its last input, traced, again and reduced


def found_by(reader: str) -> list[bytes]:
    """The inputs that this reader once did not survive."""
    return [path.read_bytes() for path in sorted((FOUND / reader).glob("*"))]


def fuzz(name: str, seconds: float, seed: int) -> int:
    """Search with one reader and print what was found; the number of failures."""
    reader, kept = READERS[name], KEPT / name
    kept.mkdir(parents=True, exist_ok=True)
    last = kept / "last"  # tells which input it was if the process ends
    seeds = [*reader.seeds()]
    if not seeds:
        print(f"{name:12} left out: it needs a C++ compiler", flush=True)
        return 0
    search = Search(reader.read, reader.changes, PACKAGE, reader.allowed, last.write_bytes)
    began = time.monotonic()
    found = search.run([*seeds, *found_by(name)], seed, seconds)
    took = time.monotonic() - began
    print(
        f"{name:12} {took:6.0f} s {found.inputs:8,} inputs, {found.accepted:7,} accepted, "
        f"{found.ways:7,} ways, {most_memory() >> 20:5,} MB, {len(found.failures)} failures",
        flush=True,
    )
    for failure in found.failures.values():
        path = kept / sha256(failure.data).hexdigest()[:16]
        path.write_bytes(failure.data)
        path.with_suffix(".txt").write_text(failure.text, encoding="utf-8", errors="replace")
        print(f"  {failure.says}\n    {path}", flush=True)
    return len(found.failures)


def all_of(names: Sequence[str], seconds: float, seed: int) -> int:
    """Search with several readers, each in a process of its own; how many failed."""
    failed = 0
    for name in names:
        command = [
            sys.executable,
            "-m",
            "adversary.fuzz",
            str(seconds / len(names)),
            name,
            "--seed",
            str(seed),
        ]
        try:
            code = subprocess.run(command, timeout=seconds / len(names) + _GRACE, check=False).returncode
        except subprocess.TimeoutExpired:
            code = -1
        if code < 0 or code > 1:
            print(f"{name:12} the process ended ({code}) at the input {KEPT / name / 'last'}", flush=True)
        failed += code != 0
    return failed


def main() -> None:
    """Search with one reader or with all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seconds", type=float, help="for all readers together")
    parser.add_argument("reader", nargs="*", choices=[[], *READERS], help="by name; all of them otherwise")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if len(given.reader) == 1:
        sys.exit(fuzz(given.reader[0], given.seconds, given.seed) > 0)
    sys.exit(all_of(given.reader or [*READERS], given.seconds, given.seed) > 0)


if __name__ == "__main__":
    main()
