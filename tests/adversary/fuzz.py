"""``make fuzz``: look for inputs that a reader of outside data does not survive, guided by coverage.

Each reader has a process of its own. Without a number of seconds each one reads as many inputs as the table
of readers says, from the same seed: ``.ci/run`` then fails for a change of the source alone. With seconds it
goes on from what earlier searches kept. What is found goes to ``.cache/fuzz``; a defect that is mended leaves
its input in ``found``, which ``tests/faults/test_fuzz.py`` reads again. ``tally`` keeps account of searches.

The search is ours (``search``) and not Atheris: its wheels are for Linux on x86-64 alone and have 35 MB, and
libFuzzer decides by itself what follows. Ours repeats itself, and its changes know what they change.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

from adversary.lines import SOURCE, covered
from adversary.readers import READERS
from adversary.search import Search, Searched, most_memory
from adversary.tally import note
from places import ROOT

FOUND = Path(__file__).with_name("found")
"""Inputs of defects that are mended, in a folder for each reader."""
WORK = ROOT / ".cache" / "fuzz"
_GRACE = 300.0  # seconds for the last input, traced, again and reduced
_BUSY = 30  # times as long as its seconds of the processor a process may take beside others
_WHOLE = 3600.0  # seconds of a process that counts inputs
_AGAIN = 400  # inputs of earlier searches that a search begins with
_SEEDS = 24  # of a reader that a search of so many inputs begins with
_SHOWN = 12  # functions of a reader that never began


def found_by(reader: str) -> list[bytes]:
    """The inputs that this reader once did not survive."""
    return [path.read_bytes() for path in sorted((FOUND / reader).glob("*"))]


def fuzz(name: str, seconds: float | None, seed: int, *, missed: bool = False) -> int:
    """Search with one reader and print what was found; the number of failures.

    Args:
        name: of the reader.
        seconds: to search; None = as many inputs as the table of readers says.
        seed: of the random numbers.
        missed: print the functions of the reader that never began.
    """
    reader, work = READERS[name], WORK / name
    (work / "kept").mkdir(parents=True, exist_ok=True)
    seeds = [*reader.seeds()]
    if not seeds:
        print(f"{name:12} left out: it needs a C++ compiler", flush=True)
        return 0
    if seconds is None:
        seeds = random.Random(seed).sample(seeds, min(len(seeds), _SEEDS))
    else:
        seeds += [*found_by(name), *_earlier(work / "kept", seed)]
    last = work / f"last.{os.getpid()}"  # says which input it was if the process ends
    search = Search(reader.read, reader.changes, str(SOURCE), reader.allowed, last.write_bytes)
    began = time.process_time()
    found = search.run(
        seeds,
        seed,
        _WHOLE if seconds is None else seconds,
        len(seeds) + reader.inputs if seconds is None else 1 << 60,
    )
    last.unlink()
    took = time.process_time() - began
    lines = covered(reader.modules, found.ways.lines)
    print(
        f"{name:12} {took:6.0f} s {found.inputs:8,} inputs, {found.accepted:7,} accepted, "
        f"{len(found.ways.seen):7,} ways, {lines.share:4.0%} of {lines.lines:6,} lines, "
        f"{most_memory() >> 20:5,} MB, {len(found.failures)} failures",
        flush=True,
    )
    if missed:
        print("\n".join(f"  never: {each}" for each in lines.missed[:_SHOWN]), flush=True)
    if seconds is not None:
        _keep(work / "kept", found)
    _write_failures(work, found)
    note(name, took, found.inputs, len(found.failures))
    return len(found.failures)


def _earlier(kept: Path, seed: int) -> list[bytes]:
    """Some of the inputs that earlier searches kept."""
    paths = sorted(kept.iterdir())
    return [path.read_bytes() for path in random.Random(seed).sample(paths, min(len(paths), _AGAIN))]


def _keep(kept: Path, found: Searched) -> None:
    for data in found.kept:
        path = kept / sha256(data).hexdigest()[:16]
        if not path.exists():
            path.write_bytes(data)


def _write_failures(work: Path, found: Searched) -> None:
    for failure in found.failures.values():
        path = work / sha256(failure.data).hexdigest()[:16]
        path.write_bytes(failure.data)
        path.with_suffix(".txt").write_text(failure.text, encoding="utf-8", errors="replace")
        print(f"  {failure.says}\n    {path}", flush=True)


def _one(name: str, seconds: float | None, seed: int, more: Sequence[str]) -> tuple[int, str]:
    """Search with a reader in a process of its own: its exit code, and what it printed."""
    command = [sys.executable, "-m", "adversary.fuzz", name, "--seed", str(seed), *more]
    command += [] if seconds is None else ["--seconds", str(seconds)]
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    limit = _WHOLE if seconds is None else _BUSY * seconds + _GRACE
    try:
        done = subprocess.run(
            command, timeout=limit, check=False, stdout=subprocess.PIPE, text=True, env=environment
        )
    except subprocess.TimeoutExpired:
        return -1, f"{name:12} the process did not end; its input is {WORK / name}/last.*\n"
    if done.returncode not in (0, 1):
        says = f"{name:12} the process ended ({done.returncode}); its input is {WORK / name}/last.*\n"
        return done.returncode, done.stdout + says
    return done.returncode, done.stdout


def all_of(
    names: Sequence[str], seconds: float | None, seed: int, workers: int, more: Sequence[str] = ()
) -> int:
    """Search with several readers, each in a process of its own; how many failed."""
    failed, each = 0, None if seconds is None else seconds * workers / len(names)
    with ThreadPoolExecutor(workers) as pool:
        for code, text in pool.map(lambda name: _one(name, each, seed, more), names):
            print(text, end="", flush=True)
            failed += code != 0
    return failed


def main() -> None:
    """Search with one reader or with several."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("reader", nargs="*", choices=[[], *READERS], help="by name; all of them otherwise")
    parser.add_argument("--seconds", type=float, help="of the processor for all together, not fixed inputs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1, help="processes at once")
    parser.add_argument("--missed", action="store_true", help="print functions that never began")
    given = parser.parse_args()
    if len(given.reader) == 1 and os.environ.get("PYTHONHASHSEED") == "0":
        sys.exit(fuzz(given.reader[0], given.seconds, given.seed, missed=given.missed) > 0)
    more = ["--missed"] if given.missed else []
    sys.exit(all_of(given.reader or [*READERS], given.seconds, given.seed, given.workers, more) > 0)


if __name__ == "__main__":
    main()
