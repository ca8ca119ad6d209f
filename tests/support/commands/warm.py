"""Commands of memtile without the time to start: children of one process that has loaded everything already.

``warm.memtile("run", ...)`` is a command for ``subprocess``. It does what ``python -m memtile run ...`` does,
in a process of its own, for a third of the processor time: ``stand_in_command`` has it made by a process that
this module starts when it is first asked. Tests of how a command starts take Python itself.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import io
import marshal
import os
import pkgutil
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import warnings
from functools import cache
from pathlib import Path
from typing import Any

from places import TESTS
from support.commands.stand_in_command import PASSED, once_seen

STAND_IN = Path(__file__).with_name("stand_in_command.py")
WARM = hasattr(os, "pidfd_open")
"""Whether this system has what the warm process waits with: Linux. Elsewhere commands are Python's own."""
LATER = {"mcp": ("mcp.server", "mcp.server.stdio"), "distributed": ("distributed",)}
"""What is loaded when a command first needs it, as it is slow."""


@cache
def folder() -> Path:
    """The folder of a warm process, which ends with this one: ``python`` and ``memtile`` for a ``PATH``."""
    place = Path(tempfile.mkdtemp(prefix="warm-"))
    if WARM:
        code = f"import sys; sys.path[0] = {str(TESTS)!r}; from support.commands.warm import serve; serve()"
        command = [sys.executable, "-c", code, str(place)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()  # it listens
        atexit.register(end, process)  # it removes the folder, however this process ends
    else:
        atexit.register(shutil.rmtree, place)
    for name, first in (("python", ""), ("memtile", "memtile" if WARM else "-m memtile")):
        script = place / name
        script.write_text(f'#!/bin/sh\nexec {" ".join(python_at(place))} {first} "$@"\n')
        script.chmod(0o755)
    return place


def end(process: subprocess.Popen[bytes]) -> None:
    """End a warm process."""
    for stream in (process.stdin, process.stdout):
        assert stream is not None
        stream.close()
    process.wait()


def python_at(place: Path) -> list[str]:
    """The beginning of a command for a warm process."""
    return [sys.executable, *(["-I", "-S", str(STAND_IN), str(place / "socket")] if WARM else [])]


def python() -> list[str]:
    """``python``, as the beginning of a command; ``-m NAME`` or ``-c CODE`` follows."""
    return python_at(folder())


def memtile(*arguments: object) -> list[str]:
    """``python -m memtile ARGUMENT...`` as a command."""
    return [*python(), "-m", "memtile", *map(str, arguments)]


class Server:
    """The warm process: makes a child for each connection, and says how it ended."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.seen = once_seen(dict(os.environ))
        self.listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listening.bind(str(place / "socket"))
        self.listening.listen(64)
        self.waits = selectors.DefaultSelector()
        self.links: dict[int, socket.socket] = {}  # by process
        self.waits.register(self.listening, selectors.EVENT_READ, self.accept)
        self.waits.register(0, selectors.EVENT_READ, self.leave)

    def run(self) -> None:
        """Serve until the standard input ends."""
        print("listening", flush=True)
        while True:
            for key, _ in self.waits.select():
                key.data(key.fileobj)

    def leave(self, _: Any) -> None:
        """End, with all children and the folder."""
        for process in self.links:
            os.kill(process, signal.SIGKILL)
        shutil.rmtree(self.place, ignore_errors=True)
        os._exit(0)

    def accept(self, _: Any) -> None:
        """Read what is asked, and begin it."""
        link, _ = self.listening.accept()
        length, streams, *_ = socket.recv_fds(link, 4, 3)
        asked = b""
        while len(asked) < int.from_bytes(length, "little"):
            asked += link.recv(1 << 16)
        arguments, where, variables, ignored = marshal.loads(asked)
        if len(streams) != 3 or once_seen(variables) != self.seen:
            link.close()  # then it starts Python itself
        else:
            self.begin(link, streams, arguments, (where, variables, ignored))
        for stream in streams:
            os.close(stream)

    def begin(self, link: socket.socket, streams: list[int], arguments: list[str], around: Any) -> None:
        """Make the child."""
        for command, modules in LATER.items():
            if command in arguments:
                for name in modules:
                    importlib.import_module(name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # CPython 3.12, of the threads of a library
            process = os.fork()
        if not process:
            self.waits.close()
            for other in (self.listening, link, *self.links.values()):
                other.close()
            be(streams, arguments, *around)
        handle = os.pidfd_open(process)
        self.links[process] = link
        self.waits.register(link, selectors.EVENT_READ, lambda _: self.pass_on(process, link))
        self.waits.register(handle, selectors.EVENT_READ, lambda _: self.answer(process, handle))

    def pass_on(self, process: int, link: socket.socket) -> None:
        """Hand a signal to the child, which ends with who has asked for it."""
        got = link.recv(1)
        os.kill(process, got[0] if got else signal.SIGKILL)
        if not got:
            self.waits.unregister(link)

    def answer(self, process: int, handle: int) -> None:
        """The child has ended: say how."""
        self.waits.unregister(handle)
        os.close(handle)
        link = self.links.pop(process)
        if link in self.waits.get_map():
            self.waits.unregister(link)
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        with contextlib.suppress(OSError):
            link.sendall(code.to_bytes(4, "little", signed=True))
        link.close()


def be(streams: list[int], arguments: list[str], where: str, variables: dict[str, str], ignored: Any) -> None:
    """Do in a child what Python does with these arguments, and end."""
    code = 1
    try:
        os.setpgid(0, 0)
        for number in PASSED:
            signal.signal(number, signal.SIG_IGN if number in ignored else signal.SIG_DFL)
        if signal.SIGINT not in ignored:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.chdir(where)
        os.environ.clear()
        os.environ.update(variables)
        sys.stdin, sys.stdout, sys.stderr = opened(0, "r"), opened(1, "w"), opened(2, "w")
        sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
        code = done(arguments)
    finally:
        os._exit(code)


def opened(number: int, mode: str) -> Any:
    """A standard stream as Python opens it."""
    raw = open(number, f"{mode}b", closefd=False)  # noqa: SIM115 - the stream is the process's
    encoding = sys.__stdout__.encoding if sys.__stdout__ else None
    errors = "backslashreplace" if number == 2 else "strict"
    lines = number == 2 or raw.isatty()
    return io.TextIOWrapper(raw, encoding, errors, line_buffering=lines)


def done(arguments: list[str]) -> int:
    """Run a module, code, or the command itself; the exit code."""
    import runpy

    how, *rest = arguments
    try:
        if how == "-m":
            sys.path.insert(0, os.getcwd())
            sys.argv = rest
            runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
        elif how == "-c":
            sys.path.insert(0, "")
            sys.argv = ["-c", *rest[1:]]
            exec(compile(rest[0], "<string>", "exec"), sys.modules["__main__"].__dict__)
        else:
            from memtile.__main__ import main

            sys.argv = ["memtile", *rest]
            main()
    except SystemExit as end:
        code = end.code
        if not isinstance(code, int | None):
            print(code, file=sys.stderr)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    else:
        code = 0
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
    return code if isinstance(code, int) else 0 if code is None else 1


def load() -> None:
    """Import all of memtile that its commands may need, and the compiled engine."""
    import memtile
    from memtile.model.build.model import build
    from memtile.model.state.tile_columns import Placed
    from memtile.sim.loop.engine_warmup import warm_up

    for found in pkgutil.walk_packages(memtile.__path__, "memtile."):
        if not found.name.endswith("__main__"):
            with contextlib.suppress(ImportError):
                importlib.import_module(found.name)
    warm_up(build([Placed("memory")]))
    atexit._clear()  # what ends with a child is its own
    gc.freeze()


def serve() -> None:
    """Be a warm process for the folder that the command names."""
    sys.path.pop(0)
    load()
    Server(Path(sys.argv[1])).run()
