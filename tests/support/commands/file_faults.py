"""Every command that writes, with a fault at each of its file operations: is each file old or new?

``PYTHONPATH=tests python tests/support/commands/file_faults.py`` tries the first 200 operations of every case
with every kind of fault and prints what is wrong; ``--most N``, ``--case NAME`` and ``--fault NAME`` try
less. A process with ``file_faults.c`` before its C library loads the commands once; each fault then has a
fork of it, in a folder of its own.
"""

from __future__ import annotations

import argparse
import ctypes
import errno
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from places import ROOT, TESTS

OLD = b"OLD GOOD FILE"
SECONDS = 120  # for a command with a fault
DESIGN = """\
import numpy as np
from memtile import Array


def design(words: int = 64):
    array = Array("npu1", columns=1)
    near, far = array.memory_tile(0), array.compute_tile(0, 2)
    array.connect(near.mm2s[0], far.s2mm[0])
    near.mm2s[0].start(near.read(near.buffer("a", words, data=np.arange(words))))
    far.s2mm[0].start(far.write(far.buffer("b", words)))
    far.expect(far.buffers[0], np.arange(words))
    return array
"""
TILING = '{"buffer_dimension": [8, 4], "tiling_dimension": [4, 2], "offset": [0, 0], "element_bits": 32}'


@dataclass(frozen=True)
class Fault:
    """What happens at an operation: the error, whether all behind it fail too, whether half is written."""

    name: str
    error: int
    lasting: bool = False
    partial: bool = False


FAULTS = (
    Fault("disk full", errno.ENOSPC, lasting=True),
    Fault("disk full in the middle of a write", errno.ENOSPC, lasting=True, partial=True),
    Fault("input/output error", errno.EIO),
    Fault("quota", errno.EDQUOT),
)


@dataclass(frozen=True)
class Case:
    """A command that writes; of several words each attribute is a line.

    Attributes:
        name: of the case.
        line: its command line.
        outputs: files that it writes, in its folder.
        options: names of the parameters of the command that these are for.
        prepare: makes its inputs in the folder.
        left: files that a command that failed may leave beside them, since they hold what was done.
    """

    name: str
    line: str
    outputs: str
    options: str
    prepare: Callable[[Path], None]
    left: str = ""


def _design(folder: Path) -> None:
    (folder / "d.py").write_text(DESIGN)


def _baseline(folder: Path) -> None:
    _design(folder)
    (folder / "b.toml").write_text("[cycles]\nother = 7\n")


def _tiling(folder: Path) -> None:
    (folder / "t.json").write_text(TILING)


def _mlir(folder: Path) -> None:
    import numpy as np

    shutil.copy(ROOT / "examples" / "scale.mlir", folder)
    shutil.copy(ROOT / "examples" / "scale_functions.py", folder)
    np.save(folder / "in.npy", np.arange(4096, dtype=np.int32))


def _trace(folder: Path) -> None:
    captures = json.loads((TESTS / "oracle" / "trace_captures.json").read_text())
    (folder / "trace.txt").write_text("\n".join([*captures["core"]["words"], *64 * ["00000000"]]) + "\n")


def _calls(folder: Path) -> None:
    """A trace with one call, from event 0 to event 1 of a core."""
    marks = (("INSTR_EVENT_0", 10), ("INSTR_EVENT_1", 5010))
    events = [{"name": name, "ph": ph, "ts": at + (ph == "E"), "pid": 0} for name, at in marks for ph in "BE"]
    (folder / "c.json").write_text(json.dumps(events))


def _log(folder: Path) -> None:
    """The log of a sweep, made by the case itself without a fault."""
    _design(folder)
    _quietly(["sweep", "run", "d.py", "--vary", "words=8,16", "--workers", "0", "--log", "s.parquet"], folder)


def _measured(folder: Path) -> None:
    _quietly(["measure", "write", "m", "--constant", "packet_arbitration"], folder)
    for path in (folder / "m").glob("*.mlir"):
        _quietly(["run", f"m/{path.name}", "--out", f"0:uint32:4096=m/{path.stem}.npy"], folder)


def _memory(folder: Path) -> None:
    """An array in a form of files that is read and not written, so that its file differs from the new one."""
    import numpy as np

    with (folder / "w.npy").open("wb") as file:
        np.lib.format.write_array(file, np.arange(64, dtype=np.uint32), version=(2, 0))


def _nothing(folder: Path) -> None:
    assert folder.is_dir()


_SWEPT = "sweep run d.py --vary words=8,16,24 --workers 0 --log s.parquet"
_PLANNED = "--tried 1 --proved 0 --workers 0 --out o.py"
_OUT = "--in 0=in.npy --out 1:int32:4096=o.npy"
_DECODED = "trace decode trace.txt --perfetto"
_REPORTS = "--report r.html --perfetto p.json --record r.json"
CASES = (
    Case(
        "run",
        f"run d.py {_REPORTS} --picture c.svg --vcd v.vcd --coredump d.core",
        "r.html p.json r.json c.svg v.vcd d.core",
        "report record perfetto picture vcd coredump",
        _design,
    ),
    Case(
        "run, the other forms",
        "run d.py --report r.txt --perfetto p.pftrace --picture c.png --coredump d.elf",
        "r.txt p.pftrace c.png d.elf",
        "report perfetto picture coredump",
        _design,
    ),
    Case("program", f"run scale.mlir --kernels scale_functions.py {_OUT}", "o.npy", "wanted", _mlir),
    Case("export", "export scale.mlir --mlir -o o.mlir", "o.mlir", "output", _mlir),
    Case(
        "test",
        "test d.py --junit j.xml --sarif s.json --markdown m.md --baseline b.toml --update-baseline",
        "j.xml s.json m.md b.toml",
        "junit sarif markdown baseline",
        _baseline,
    ),
    Case("lower to svg", "lower t.json --picture o.svg", "o.svg", "picture", _tiling),
    Case("lower to png", "lower t.json --picture o.png", "o.png", "picture", _tiling),
    Case("a pasted tiling to html", "bd tiling t.json --picture o.html", "o.html", "picture", _tiling),
    Case("lower to html", "lower t.json --picture o.html", "o.html", "picture", _tiling),
    Case(
        "trace",
        "trace decode trace.txt --perfetto p.json --vcd v.vcd",
        "p.json v.vcd",
        "perfetto vcd",
        _trace,
    ),
    Case("trace 2", "trace decode trace.txt --perfetto p.pftrace", "p.pftrace", "perfetto", _trace),
    Case("sweep", _SWEPT, "s.parquet", "log", _log, left="s.parquet.journal"),
    Case("sweep anew", f"{_SWEPT} --restart", "s.parquet", "log", _log, left="s.parquet.journal"),
    Case(
        "sweep show",
        "sweep show s.parquet --picture o.svg --page o.html",
        "o.svg o.html",
        "picture page",
        _log,
    ),
    Case(
        "measure write",
        "measure write m --constant packet_arbitration",
        "m/measure.json m/packet.mlir m/packet.bin",
        "folder",
        _nothing,
    ),
    Case(
        "measure read",
        "measure read m --source S --address https://s.org --out o.json",
        "o.json",
        "out",
        _measured,
    ),
    Case("measure calls", "measure calls c.json --function f --out o.json", "o.json", "out", _calls),
    Case("plan gemm", f"plan gemm --m 32 --n 32 --k 32 {_PLANNED}", "o.py", "out", _nothing),
    Case("plan conv", f"plan conv {_PLANNED}", "o.py", "out", _nothing),
    Case("plan attention", f"plan attention {_PLANNED}", "o.py", "out", _nothing),
    Case("plan rows", f"plan rows {_PLANNED}", "o.py", "out", _nothing),
    Case("export", "export d.py --mlir -o o.mlir", "o.mlir", "output", _design),
    Case("host-source", "host-source h", "h/memtile_ess.c h/main_rts.h", "folder", _nothing),
    Case(
        "serve",
        f"serve --port-file port --memory 0x100000000:4096=w.npy --save-memory {_REPORTS}",
        "w.npy r.html p.json r.json",
        "port_file memory report perfetto record",
        _memory,
    ),
    Case(
        "explain a server",
        f"explain --server SERVER {_REPORTS}",
        "r.html p.json r.json",
        "report perfetto record",
        _nothing,
    ),
)
_INPUTS = ("w.npy", "s.parquet", "b.toml")
"""Outputs that are inputs too: the old file is a good one of its kind."""


_SAID: dict[str, Callable[[str], None]] = {}


def _quietly(args: Sequence[str], folder: Path) -> None:
    """Run a command in this process, for what it writes."""
    from typer.testing import CliRunner

    from memtile.cli.main import app

    before = Path.cwd()
    os.chdir(folder)
    try:
        done = CliRunner().invoke(app, list(args))
    finally:
        os.chdir(before)
    assert done.exit_code == 0, (args, done.output, done.exception)


@dataclass(frozen=True)
class End:
    """How a command ended: its exit code, what it said, its file operations."""

    code: int
    out: str
    err: str
    operations: int


class Trials:
    """A process that has the commands loaded, and forks for each fault."""

    def __init__(self, case: Case, place: Path, library: ctypes.CDLL, args: Sequence[str]) -> None:
        self.case, self._place, self._library, self._args = case, place, library, list(args)
        self._base = place / "base"
        self._base.mkdir()
        case.prepare(self._base)
        for name in case.outputs.split():
            if name not in _INPUTS:
                (self._base / name).parent.mkdir(exist_ok=True)
                (self._base / name).write_bytes(OLD)
        self._old = {name: (self._base / name).read_bytes() for name in case.outputs.split()}
        self._there = {path.relative_to(self._base) for path in self._base.rglob("*")}
        _load(self._args, shutil.copytree(self._base, place / "load"))
        self.good = self._end(0, FAULTS[0], "good")
        self._new = {name: (place / "good" / name).read_bytes() for name in case.outputs.split()}

    def wrong(self, most: int, faults: Sequence[Fault] = FAULTS) -> Iterator[str]:
        """What is wrong after a fault at each of the first operations."""
        if self.good.code not in (0, 1) or any(self._new[name] == self._old[name] for name in self._new):
            yield f"without a fault: {self.good}"
            return
        for fault in faults:
            for at in range(1, min(most, self.good.operations) + 1):
                end = self._end(at, fault, "fault")
                for text in self._faulty(end):
                    yield f"{fault.name} at operation {at}: {text}: code {end.code}, {end.err[-300:]!r}"

    @property
    def tried(self) -> int:
        """File operations of the command without a fault."""
        return self.good.operations

    def _faulty(self, end: End) -> Iterator[str]:
        folder = self._place / "fault"
        made = 0
        for name, old in self._old.items():
            content = (folder / name).read_bytes() if (folder / name).exists() else b""
            if content == old:
                continue
            made += 1
            if content != self._new[name] and not _is_whole(folder / name):
                yield f"{name} is neither the old file nor the new one ({len(content)} bytes)"
        strays = {path.relative_to(folder) for path in folder.rglob("*")} - self._there
        strays -= {
            Path(name) for name in (*self.case.left.split(), *self.case.outputs.split(), "out", "err", "tmp")
        }
        if strays:
            yield f"left behind: {sorted(map(str, strays))}"
        if "Traceback" in end.err + end.out or "memtile failed" in end.err:
            yield "a traceback"
        said = [line for line in end.err.splitlines() if line.startswith("error: ")]
        if end.code == self.good.code:
            if made < len(self._old):
                yield "no error, but not all files are new"
        elif end.code != 2 or len(said) != 1:
            yield "not one sentence and exit code 2"

    def _end(self, at: int, fault: Fault, name: str) -> End:
        folder = self._place / name
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self._base, folder)
        (folder / "tmp").mkdir()
        child = os.fork()
        if child == 0:
            self._run(folder, at, fault)
        _, status = os.waitpid(child, 0)
        about = [(folder / each).read_text(errors="replace") for each in ("out", "err")]
        count = folder.with_suffix(".count")
        operations = int(count.read_text()) if count.exists() else 0
        count.unlink(missing_ok=True)
        return End(os.waitstatus_to_exitcode(status), *about, operations)

    def _run(self, folder: Path, at: int, fault: Fault) -> None:
        """In the child: the command with a fault; never returns."""
        code = 99
        try:
            signal.alarm(SECONDS)
            os.chdir(folder)
            tempfile.tempdir = str(folder / "tmp")
            for number, stream in ((1, "out"), (2, "err")):
                opened = os.open(stream, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
                os.dup2(opened, number)
            sys.stdout, sys.stderr = (io.TextIOWrapper(io.FileIO(number, "w")) for number in (1, 2))
            self._library.file_faults_arm(at, fault.error, fault.lasting, fault.partial)
            try:
                code = _command(self._args)
            finally:
                operations = self._library.file_faults_count()
                self._library.file_faults_arm(0, 0, 0, 0)
            folder.with_suffix(".count").write_text(str(operations))
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)


def _load(args: list[str], folder: Path) -> None:
    """Run a command here, so that each fork of this process has its modules."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        _command(args)
    finally:
        os.chdir(before)


def _command(args: list[str]) -> int:
    from memtile.cli import serve
    from memtile.cli.main import app

    said = _SAID.setdefault("log", serve._log)

    def log(text: str) -> None:
        said(text)
        if text.startswith("listening"):
            os.kill(os.getpid(), signal.SIGINT)  # a server ends by Ctrl-C

    serve._log = log
    sys.argv = ["memtile", *args]
    try:
        app()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def _is_whole(path: Path) -> bool:
    """Whether a file, whose content differs from run to run, is complete."""
    if path.suffix == ".parquet":
        from memtile.explore.sweep.log import Log

        return len(Log(path).rows) == 3
    if path.suffix in {".svg", ".xml"}:
        return ElementTree.parse(path).getroot() is not None
    if path.suffix == ".json":  # a server that is asked twice is at another cycle
        return bool(json.loads(path.read_bytes()))
    return path.suffix == ".html" and path.read_text().rstrip().endswith(("</html>", "</svg>"))


def library(folder: Path) -> Path:
    """The compiled faults."""
    made = folder / "file_faults.so"
    source = Path(__file__).with_suffix(".c")
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", made, source, "-ldl"], check=True)
    return made


def campaign(most: int, names: Sequence[str] = (), faults: Sequence[str] = ()) -> dict[str, Any]:
    """Run the cases in a process that has the faults before its C library: what is wrong, and how many."""
    with tempfile.TemporaryDirectory(prefix="file-faults-") as folder:
        environment = os.environ | {"LD_PRELOAD": str(library(Path(folder))), "FILE_FAULTS": folder}
        environment["PYTHONDONTWRITEBYTECODE"] = "1"  # Python itself keeps half a file of its bytecode
        environment["PYTHONPATH"] = os.pathsep.join(sys.path)
        words = [
            *(f"--case={name}" for name in names),
            *(f"--fault={each}" for each in faults),
        ]
        done = subprocess.run(
            [sys.executable, __file__, f"--most={most}", *words],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _try_all(place: Path, most: int, names: Sequence[str], faults: Sequence[str]) -> dict[str, Any]:
    loaded = ctypes.CDLL(str(place / "file_faults.so"))
    chosen = [fault for fault in FAULTS if not faults or fault.name in faults]
    wrong, tried = dict[str, list[str]](), dict[str, int]()
    for number, case in enumerate(case for case in CASES if not names or case.name in names):
        here = place / str(number)
        here.mkdir()
        with _Served(case) as args, redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            trials = Trials(case, here, loaded, args)
            found = list(trials.wrong(most, chosen))
        tried[case.name] = min(most, trials.tried) * len(chosen)
        if found:
            wrong[case.name] = found
        about = f"{trials.tried} operations, {tried[case.name]} faults, {len(found)} wrong"
        print(f"{case.name}: {about}", file=sys.stderr, flush=True)
        shutil.rmtree(here)
    return {"wrong": wrong, "tried": tried, "faults": sum(tried.values())}


class _Served:
    """A context with the command line of a case, and the server that it asks if it asks one."""

    def __init__(self, case: Case) -> None:
        self._case, self._server = case, None
        self._folder = tempfile.mkdtemp(prefix="file-faults-server-")

    def __enter__(self) -> list[str]:
        args = self._case.line.split()
        if "SERVER" not in args:
            return args
        environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
        port = Path(self._folder, "port")
        self._server = subprocess.Popen(
            [sys.executable, "-m", "memtile", "serve", "--json", "--history", "--port-file", str(port)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._server.stdout is not None
        where = json.loads(self._server.stdout.readline())["listening"]
        return [f"127.0.0.1:{where['port']}" if each == "SERVER" else each for each in args]

    def __exit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.send_signal(signal.SIGINT)
            self._server.wait(SECONDS)
        shutil.rmtree(self._folder)


def main() -> None:
    """Try what the command line asks for; exit code 1 if something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=200, help="of the file operations of a command")
    parser.add_argument("--case", action="append", default=[], help="name of a case; repeat")
    parser.add_argument("--fault", action="append", default=[], help="name of a fault; repeat")
    asked = parser.parse_args()
    sys.dont_write_bytecode = True
    if "FILE_FAULTS" in os.environ:
        print(json.dumps(_try_all(Path(os.environ["FILE_FAULTS"]), asked.most, asked.case, asked.fault)))
        return
    found = campaign(asked.most, asked.case, asked.fault)
    print(json.dumps(found, indent=2))
    raise SystemExit(bool(found["wrong"]))


if __name__ == "__main__":
    main()
