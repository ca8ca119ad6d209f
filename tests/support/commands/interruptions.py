"""Ctrl-C at random moments of commands: does each end with 130, in time, with complete files and alone?

``PYTHONPATH=tests python tests/support/commands/interruptions.py --many 200 --seed 1`` prints
what is wrong. A signal goes to the process group, as from a terminal. Moments begin when the process takes
signals: before that Python itself starts.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from places import ROOT

MARK = "MEMTILE_TEST_MARK"  # in the environment of a command and of all that it begins
SECONDS = 180  # that anything may take on a loaded machine
CPU_SECONDS = 1.0  # that a command may work after the signal
KEPT = ("d.py", "in.npy", "designs", "__pycache__")
DESIGN = """\
from typing import Annotated

import numpy as np
from memtile import Array, Range


def design(words: Annotated[int, Range(16, 256, 16)] = 256):
    array = Array("npu1", columns=1)
    near, far = array.memory_tile(0), array.compute_tile(0, 2)
    array.connect(near.mm2s[0], far.s2mm[0])
    read = near.read(near.buffer("a", words, data=np.arange(words)))
    write = far.write(far.buffer("b", words))
    for _ in range(40):
        near.mm2s[0].start(read)
        far.s2mm[0].start(write)
        array.run()
    return array
"""
REPORTS = ("--report", "r.html", "--record", "r.json", "--perfetto", "p.json")
SCALE = ("--kernels", str(ROOT / "examples" / "scale_functions.py"), "--in", "0=in.npy")
COMMANDS: dict[str, tuple[str, ...]] = {
    "run": ("run", str(ROOT / "examples" / "packets.py"), *REPORTS),
    "sweep": ("sweep", "run", "d.py", "--grid", "--workers", "2", "--log", "s.parquet"),
    "mlir": ("run", str(ROOT / "examples" / "scale.mlir"), *SCALE, "--out", "1:int32:4096=o.npy"),
    "plan": ("plan", "gemm", "--m", "64", "--n", "64", "--k", "64", "--workers", "2", "--out", "o.py"),
    "survey": ("survey", "designs"),
    "serve": ("serve", "--port-file", "port", "--record", "r.json"),
}


@dataclass(frozen=True)
class End:
    """How an interrupted command ended.

    Attributes:
        command: its name.
        moment: seconds from when it took signals to the signal.
        code: its exit code.
        late: seconds from the signal to the end.
        cpu: seconds that it worked after the signal.
        wrong: what is wrong; empty = nothing.
        output: what it printed, its end.
    """

    command: str
    moment: float
    code: int
    late: float
    cpu: float
    wrong: tuple[str, ...]
    output: str


def prepare(folder: Path) -> None:
    """Make what the commands read."""
    import numpy as np

    (folder / "d.py").write_text(DESIGN)
    np.save(folder / "in.npy", np.arange(4096, dtype=np.int32))
    (folder / "designs").mkdir()
    for name in ("fifos-in-another-order-fine", "numbers"):
        for path in (ROOT / "tests" / "corpus").glob(f"{name}*"):
            (folder / "designs" / path.name).write_bytes(path.read_bytes())
    for number in range(3):
        text = (ROOT / "tests" / "corpus" / "locks-begin-empty-fine.mlir").read_text()
        (folder / "designs" / f"{number}.mlir").write_text(text)


def begun(name: str, folder: Path, mark: str) -> subprocess.Popen[str]:
    """A command that takes signals, or has ended already."""
    process = subprocess.Popen(
        [sys.executable, "-m", "memtile", *COMMANDS[name]],
        cwd=folder,
        env=os.environ | {MARK: mark},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    while process.poll() is None and not _takes_signals(process.pid):
        time.sleep(0.001)
    return process


def _takes_signals(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    caught = next(line for line in status.splitlines() if line.startswith("SigCgt"))
    return bool(int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1)


def _cpu(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def length(name: str, folder: Path) -> float:
    """Seconds that a command takes from when it takes signals; a server is given two after it listens."""
    process = begun(name, folder, "")
    start = time.monotonic()
    if name == "serve":
        while not (folder / "port").exists():
            time.sleep(0.01)
        time.sleep(2)
        os.killpg(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=SECONDS)
    assert process.returncode in (0, 1), (name, output)
    return time.monotonic() - start


def interrupted(name: str, folder: Path, moment: float) -> End:
    """What becomes of a command that is interrupted at a moment."""
    mark = secrets.token_hex(8)
    process = begun(name, folder, mark)
    time.sleep(moment)
    before = _cpu(process.pid)
    done = process.poll() is not None
    if not done:
        os.killpg(process.pid, signal.SIGINT)
    start, worked = time.monotonic(), before
    while process.poll() is None and time.monotonic() < start + SECONDS:
        worked = max(worked, _cpu(process.pid))
        time.sleep(0.01)
    late = time.monotonic() - start
    if process.poll() is None:
        process.kill()
    output, _ = process.communicate(timeout=SECONDS)
    cpu = worked - before
    wrong = tuple(_wrong(name, folder, process.returncode, output, late, cpu, done=done, mark=mark))
    return End(name, moment, process.returncode, late, cpu, wrong, output[-600:])


def _wrong(
    name: str, folder: Path, code: int, output: str, late: float, cpu: float, *, done: bool, mark: str
) -> Iterator[str]:
    allowed = {0, 1, 130} if done or _finished(output) else {130} | ({0} if name == "serve" else set())
    if code not in allowed:
        yield f"exit code {code}"
    if "Traceback" in output or "Exception ignored" in output or "memtile failed" in output:
        yield "a traceback"
    if cpu > CPU_SECONDS or late >= SECONDS:
        yield f"it works on for {cpu:.1f} s, {late:.1f} s in all"
    yield from (f"{path.name} is half a file" for path in sorted(folder.iterdir()) if not _whole(path))
    if remain := left(mark):
        yield f"processes are left: {remain}"


def _finished(output: str) -> bool:
    """Whether the signal came when the result was there already."""
    return any(text in output for text in ("status: finished", "were tried:", "designs tried", "variants: "))


def _whole(path: Path) -> bool:
    if path.name in KEPT or path.suffix == ".journal":
        return True
    if path.suffix == ".json":
        with suppress(json.JSONDecodeError):
            json.loads(path.read_text())  # a trace of a run that did not begin is an empty list
            return True
        return False
    if path.suffix == ".html":
        return path.read_text().rstrip().endswith("</html>")
    if path.suffix == ".parquet":
        from memtile.explore.sweep.log import Log

        return bool(Log(path).head)
    if path.suffix == ".npy":
        import numpy as np

        return len(np.load(path)) == 4096
    return path.suffix == ".py"  # what else is there, such as a temporary file, is too much


def left(mark: str, seconds: float = 10.0) -> list[str]:
    """Numbers and commands of processes with a mark, after seconds in which they may end."""
    end = time.monotonic() + seconds
    while (found := [*_marked(f"{MARK}={mark}".encode())]) and time.monotonic() < end:
        time.sleep(0.05)
    return found


def _marked(mark: bytes) -> Iterator[str]:
    for each in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if mark in (each / "environ").read_bytes():
                yield f"{each.name} {(each / 'cmdline').read_text(errors='replace')}".replace("\0", " ")


def campaign(many: int, seed: int, names: Sequence[str] = ()) -> Iterator[End]:
    """Interrupt the commands in turn, at moments that follow from the seed."""
    chosen = random.Random(seed)
    commands = list(names or COMMANDS)
    with tempfile.TemporaryDirectory(prefix="interruptions-") as place:
        lengths: dict[str, float] = {}
        for number in range(many):
            name = commands[number % len(commands)]
            if name not in lengths:
                folder = Path(place, name)
                folder.mkdir()
                prepare(folder)
                lengths[name] = length(name, folder)
            folder = Path(place, str(number))
            folder.mkdir()
            prepare(folder)
            yield interrupted(name, folder, chosen.uniform(0, lengths[name]))


def main() -> None:
    """Interrupt as the command line asks; exit code 1 if something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--many", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--command", action="append", default=[], choices=list(COMMANDS))
    asked = parser.parse_args()
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # a shell ignores it for what is in the background
    bad = 0
    codes: dict[str, dict[int, int]] = {}
    latest: dict[str, Any] = {"cpu": 0.0}
    for end in campaign(asked.many, asked.seed, asked.command):
        counts = codes.setdefault(end.command, {})
        counts[end.code] = counts.get(end.code, 0) + 1
        latest["cpu"] = max(latest["cpu"], end.cpu)
        if end.wrong:
            bad += 1
            print(end, flush=True)
    print(f"{asked.many} interruptions, {bad} wrong; exit codes {codes}")
    print(f"at most {latest['cpu']:.2f} s of work after the signal")
    raise SystemExit(bool(bad))


if __name__ == "__main__":
    main()
