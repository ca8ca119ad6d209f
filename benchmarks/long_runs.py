"""Long runs: is memory flat, is nothing lost, and does nothing run twice?

``python benchmarks/long_runs.py words`` passes 10^9 words through twelve channels of a memory tile,
``clients`` has 10^5 clients connect to ``memtile serve`` one after another, ``variants`` tries 10^4 variants
on two Dask workers, of which one is killed each minute. Each prints the resident memory at 10, 50 and 100 %;
the exit code is 1 if memory grew, or if something was lost or repeated.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from memtile import Array
from memtile.arch.tiles import MEMORY
from memtile.design.buffers import Buffer
from memtile.design.memory_tile import MemoryTile
from support.driver.simulator_client import Server, serving

Figures = dict[str, Any]
SHARES = (10, 50, 100)
GROWTH_MB = 32
"""Memory that may come between a tenth of a run and its end: garbage that waits for its collection."""
BLOCK = 4096  # words of a buffer
SLICES = 100  # of a run, between which memory is looked at
REGISTER = 1 << 25 | 1 << 20 | 0xA0000  # the first BD of a memory tile
SECONDS_TO_START = 120


class Marks(NamedTuple):
    """Resident memory when so many per cent of a run are done.

    Attributes:
        resident: measures it, in MB.
        found: by share.
    """

    resident: Callable[[], float]
    found: dict[int, float]

    def note(self, done: int, total: int) -> None:
        """Note the memory, and print it, if a share is done for the first time."""
        for share in SHARES:
            if share not in self.found and 100 * done >= share * total:
                self.found[share] = self.resident()
                print(f"{share:4} %: {self.found[share]:7.1f} MB", flush=True)

    def figures(self) -> Figures:
        """The memory by share, and what came between the first one and the last."""
        grown = self.found[SHARES[-1]] - self.found[SHARES[0]]
        return {**{f"MB at {share} %": mb for share, mb in self.found.items()}, "MB grown": grown}


def resident_mb(process: int | str = "self") -> float:
    """Resident memory of a process."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def circling() -> tuple[Array, MemoryTile, list[tuple[Buffer, npt.NDArray[np.int32]]]]:
    """Six lanes of a memory tile, in each of which an MM2S and an S2MM carry a block from buffer to buffer.

    Returns:
        The array, its memory tile, and each buffer with the words that it has once they came round.
    """
    array, rng = Array("npu1", 1), np.random.default_rng(37)
    tile, buffers = array.memory_tile(0), []
    for lane in range(MEMORY.channels):
        data = rng.integers(0, 1 << 31, BLOCK).astype(np.int32)
        here, there = tile.buffer(f"here {lane}", BLOCK, data=data), tile.buffer(f"there {lane}", BLOCK)
        full, empty = tile.lock(1, f"full here {lane}"), tile.lock(0, f"empty here {lane}")
        came, free = tile.lock(0, f"full there {lane}"), tile.lock(1, f"empty there {lane}")
        tile.mm2s[lane].start(
            tile.read(here).guarded(full.acquire(), empty.release()),
            tile.read(there).guarded(came.acquire(), free.release()),
            loop=True,
        )
        tile.s2mm[lane].start(
            tile.write(there).guarded(free.acquire(), came.release()),
            tile.write(here).guarded(empty.acquire(), full.release()),
            loop=True,
        )
        array.connect(tile.mm2s[lane], tile.s2mm[lane])
        buffers += [(here, data), (there, data)]
    return array, tile, buffers


def words(total: int, *, fast_forward: bool) -> Figures:
    """Pass so many words through twelve channels; all must be where they belong at the end."""
    array, tile, buffers = circling()
    cycles = -(-total // (2 * MEMORY.channels * SLICES))
    moved, marks, began = 0, Marks(resident_mb, {}), time.process_time()
    while moved < total:
        result = array.run(cycles, fast_forward=fast_forward)
        moved = sum(channel.words for channel in result.channels)
        marks.note(moved, total)
    lost = sum(not np.array_equal(tile.load(buffer), data) for buffer, data in buffers)
    seconds = time.process_time() - began
    return {"words": moved, "cycles": result.cycles, "seconds": seconds, **marks.figures(), "lost": lost}


def clients(total: int) -> Figures:
    """Connect so many clients one after another; each writes a register, reads it and leaves."""
    wrong, began = 0, time.monotonic()
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder), cold=True) as server:
        marks = Marks(lambda: server.memory_kb() / 1024, {})
        for number in range(total):
            client = server.client()
            client.write32(REGISTER, number)
            wrong += client.read32(REGISTER) != number
            client.close()
            marks.note(number + 1, total)
        found = _served(server)
    return {"clients": total, "seconds": time.monotonic() - began, **marks.figures(), **found, "lost": wrong}


def _served(server: Server) -> Figures:
    """What the server counted, and how many files it had open beside those that it has without a client."""
    deadline = time.monotonic() + SECONDS_TO_START
    while "gone" not in server.log.splitlines()[-1] and time.monotonic() < deadline:
        time.sleep(0.05)
    opened = len(list(Path(f"/proc/{server.process.pid}/fd").iterdir()))
    server.stop()
    if "Traceback" in server.log:
        raise RuntimeError(server.log[server.log.index("Traceback") :])
    return {"open files": opened, "server": server.log.splitlines()[-1].partition("ended after ")[2]}


VARIANT = '''\
"""Words that leave a memory tile; each variant that is made is noted."""
import os
from typing import Annotated

import numpy as np
from memtile import MemoryTile, Range


def design(
    lanes: Annotated[int, Range(1, 4)] = 1,
    words: Annotated[int, Range(16, 400, 16)] = 16,
    gap: Annotated[int, Range(0, 99)] = 0,
    note: str = "",
):
    with open(note, "a") as file:  # a line of this size is appended at once
        file.write(f"{lanes} {words} {gap}\\n")
    tile = MemoryTile()
    for lane in range(lanes):
        data = np.arange(words + gap, dtype=np.int32) + lane
        tile.mm2s[lane].start(tile.read(tile.buffer(f"data {lane}", words + gap, data=data)))
        tile.mm2s[lane].expect(data)
    return tile
'''


class Cluster:
    """A Dask scheduler and its workers, each a process.

    Args:
        folder: of their files.
    """

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self.address, self._folder = f"tcp://127.0.0.1:{self._port}", folder
        self.environment = os.environ | {"XDG_CACHE_HOME": str(folder / "cache")}
        options = ("--host", "127.0.0.1", "--port", str(self._port), "--no-dashboard")
        self._scheduler = self._begin("dask_scheduler", *options)
        self.workers = [self._worker(), self._worker()]
        self.killed = 0

    def _worker(self) -> subprocess.Popen[bytes]:
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", "dask")
        return self._begin("dask_worker", self.address, *options)

    def _begin(self, module: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.{module}", *arguments]
        with (self._folder / f"{module}.log").open("ab") as log:
            return subprocess.Popen(command, cwd=self._folder, env=self.environment, stdout=log, stderr=log)

    def kill_one(self) -> None:
        """Kill the worker that has been there for longest, and start another one."""
        oldest = self.workers.pop(0)
        oldest.kill()
        oldest.wait()
        self.workers.append(self._worker())
        self.killed += 1

    def end(self) -> None:
        """End all processes."""
        for process in (*self.workers, self._scheduler):
            process.kill()
            process.wait()


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """A cluster while the context lasts."""
    made = Cluster(folder)
    try:
        yield made
    finally:
        made.end()


def variants(total: int, *, kill_seconds: float) -> Figures:
    """Try so many variants on two workers, of which one is killed from time to time; count rows and runs."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as place, cluster(Path(place)) as running:
        folder = Path(place)
        (folder / "copies.py").write_text(VARIANT)
        (note := folder / "made.txt").touch()
        command = [sys.executable, "-m", "memtile", "sweep", "--json", "--set", f"note={note}"]
        command += ["--random", str(total), "--scheduler", running.address, "copies.py"]
        with (folder / "rows.json").open("wb") as out:
            sweep = subprocess.Popen(command, cwd=folder, env=running.environment, stdout=out)
        try:
            marks = _watched(sweep, note, total, running, kill_seconds)
        finally:
            sweep.kill()
            sweep.wait()
        made = note.read_text().splitlines()
        found = json.loads((folder / "rows.json").read_text())
    return {
        "variants": total,
        "seconds": time.monotonic() - began,
        **marks.figures(),
        "workers killed": running.killed,
        **_accounts(found["rows"], made, total, running.killed),
    }


def _accounts(rows: Sequence[Mapping[str, Any]], made: Sequence[str], total: int, killed: int) -> Figures:
    """What the rows of a sweep lack, and what was made more often than kills account for.

    Args:
        rows: of the sweep.
        made: a line for each time that a variant was made.
        total: how many variants there are.
        killed: workers that were killed, each of which may have begun a variant that another one made again.
    """
    good = {row["key"] for row in rows if row["state"] == "good"}
    again = len(made) - len(set(made))
    repeated = len(rows) - len({row["key"] for row in rows}) + max(again - killed, 0)
    return {"begun again": again, "repeated": repeated, "lost": total - len(good)}


def _watched(
    sweep: subprocess.Popen[bytes], note: Path, total: int, running: Cluster, kill_seconds: float
) -> Marks:
    """Kill workers until the sweep has ended; its memory at each share of the variants that were made."""
    seen = [0.0]
    marks, due = Marks(lambda: seen[0], {}), time.monotonic() + kill_seconds
    while sweep.poll() is None:
        if "VmRSS" in Path(f"/proc/{sweep.pid}/status").read_text():  # it has not ended meanwhile
            seen[0] = resident_mb(sweep.pid)
        marks.note(note.read_bytes().count(b"\n"), total)
        if time.monotonic() > due:
            running.kill_one()
            due += kill_seconds
        time.sleep(0.2)
    marks.note(total, total)
    return marks


RUNS: dict[str, tuple[int, Callable[..., Figures]]] = {
    "words": (10**9, lambda total, given: words(total, fast_forward=not given.stepped)),
    "clients": (10**5, lambda total, _: clients(total)),
    "variants": (10**4, lambda total, given: variants(total, kill_seconds=given.kill_seconds)),
}


def faults(found: Figures) -> list[str]:
    """What of a run's figures must not be: memory that grew, and something lost or repeated."""
    limits = {"MB grown": GROWTH_MB, "lost": 0, "repeated": 0}
    return [
        f"{name}: {found[name]:g}, allowed {most}"
        for name, most in limits.items()
        if found.get(name, 0) > most
    ]


def main() -> int:
    """Make the runs that are asked for; 1 if one of them has a fault."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", nargs="*", choices=[*RUNS, []], help="all if none is named")
    parser.add_argument(
        "--share", type=float, default=1.0, help="of the words, clients or variants; default 1"
    )
    parser.add_argument("--stepped", action="store_true", help="words: simulate every cycle")
    parser.add_argument("--kill-seconds", type=float, default=60.0, help="variants: between two kills")
    parser.add_argument("--json", type=Path, help="file to write the figures to")
    given = parser.parse_args()
    figures: dict[str, Figures] = {}
    wrong: list[str] = []
    for name in given.runs or RUNS:
        total, run = RUNS[name]
        figures[name] = run(round(total * given.share), given)
        wrong += [f"{name}: {each}" for each in faults(figures[name])]
        shown = (
            f"   {key} {value if isinstance(value, str) else format(value, ',.6g')}"
            for key, value in figures[name].items()
        )
        print(name, *shown, flush=True)
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    print(*wrong, sep="\n", file=sys.stderr)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
