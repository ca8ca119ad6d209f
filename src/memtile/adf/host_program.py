"""The user's ``main`` as a program of its own, whose calls of ``adf.h`` come here as requests.

The program is the executable of :mod:`memtile.adf.graph_program`. It gets the numbers of two ends of pipes
in ``MEMTILE_ADF_PIPES`` (requests, answers), and in ``MEMTILE_ADF_FOLDER`` a folder for memory of
``GMIO::malloc``.

**Requests** are one JSON object a line. ``ask`` says what, ``from`` is an address in the statement that asks.
The other keys are the fields of the class below that has this name:

==================  =======================================================================================
``describe``        first of all, and again before an ``init`` when graphs were made since: what was recorded
``init`` ...        ``run``, ``wait``, ``resume``, ``end`` of a graph; -1 iterations or cycles = not said
``update``          values for a port of a parameter, as hexadecimal bytes
``read``            asks for the values of one
``malloc``          memory of ``GMIO::malloc``: a file in the folder, which both sides map
``free``            it is gone
``transfer``        ``gm2aie``, ``aie2gm`` and their ``_nb`` forms of a GMIO
``wait_for``        ``wait()`` of a GMIO, or of a port of an external buffer
``start_transfer``  ``gm2aie_nb(port)`` and ``aie2gm_nb(port)`` of an external buffer's port
``set_address``     ``setAddress`` of an external buffer
``start_profiling`` then ``read_profiling`` and ``stop_profiling`` by its number
``refuse``          the program ends, for this reason
==================  =======================================================================================

**Answers** are one line of words: ``code N`` (a ``return_code``; 0 = ok), ``value N`` (of profiling),
``data HEX`` (of ``read``). Before one, ``peek ADDRESS BYTES ...`` asks for memory, which comes as
``{"ask": "memory", "parts": [HEX, ...]}``; ``stop`` ends the program. Objects are named
by their ``id`` in the description.

Standard output and errors of the program are those of memtile. It ends with memtile.
"""

from __future__ import annotations

import json
import mmap
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from types import TracebackType
from typing import Any

from memtile.errors import InputFileError

_GRACE_SECONDS = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a program asks; ``origin`` is an address in its statement, 0 = none."""

    origin: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Describe(Request):
    """What constructors recorded: ``objects`` by list, and the address that the program is loaded at."""

    objects: dict[str, Any]
    base: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Init(Request):
    """``graph.init()``."""

    graph: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunGraph(Request):
    """``graph.run(iterations)``; -1 = for ever."""

    graph: int
    iterations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait(Request):
    """``graph.wait(cycles)``; -1 = until its iterations are done."""

    graph: int
    cycles: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Resume(Request):
    """``graph.resume()``."""

    graph: int


@dataclass(frozen=True, slots=True, kw_only=True)
class End(Request):
    """``graph.end(cycles)``; -1 = when it is done."""

    graph: int
    cycles: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Update(Request):
    """``graph.update(port, values)``; ``data`` has the bytes of ``count`` elements."""

    port: int
    element: str
    count: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Given:
    """A call of ``update`` that was answered.

    Attributes:
        port: id of the port that is updated.
        element: type of its elements, ``int32``.
        data: bytes of the value.
        line: of the call, ``main.cpp:31``; empty if the program does not say it.
    """

    port: int
    element: str
    data: bytes
    line: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Read(Request):
    """``graph.read(port, values)``; answered by :meth:`HostProgram.give`."""

    port: int
    element: str
    count: int
    nbytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Malloc(Request):
    """``GMIO::malloc(nbytes)``: memory by its number is in :attr:`HostProgram.memories`."""

    memory: int
    nbytes: int
    file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Free(Request):
    """``GMIO::free``."""

    memory: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer(Request):
    """``gm2aie`` (into the array) or ``aie2gm`` of a GMIO; ``waits`` = not the ``_nb`` form."""

    gmio: int
    into_array: bool
    memory: int
    offset: int
    nbytes: int
    waits: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitFor(Request):
    """``wait()`` of a GMIO or of a port of an external buffer."""

    object: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StartTransfer(Request):
    """``gm2aie_nb(port)`` or ``aie2gm_nb(port)`` of an external buffer's port."""

    port: int
    into_array: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAddress(Request):
    """``setAddress`` of an external buffer."""

    buffer: int
    memory: int
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StartProfiling(Request):
    """``event::start_profiling``; ``second`` is -1 where one is profiled. The answer is its number."""

    first: int
    second: int
    event: str
    nbytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadProfiling(Request):
    """``event::read_profiling``."""

    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StopProfiling(Request):
    """``event::stop_profiling``."""

    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Refuse(Request):
    """The program ended itself: ``reason`` says what is wrong in its graph or in a call."""

    reason: str
    base: int


_REQUESTS: dict[str, type[Request]] = {
    "describe": Describe,
    "init": Init,
    "run": RunGraph,
    "wait": Wait,
    "resume": Resume,
    "end": End,
    "update": Update,
    "read": Read,
    "malloc": Malloc,
    "free": Free,
    "transfer": Transfer,
    "wait_for": WaitFor,
    "start_transfer": StartTransfer,
    "set_address": SetAddress,
    "start_profiling": StartProfiling,
    "read_profiling": ReadProfiling,
    "stop_profiling": StopProfiling,
    "refuse": Refuse,
}


class LateHostError(InputFileError):
    """A host program that takes more time than it has."""


class HostProgram:
    """A running host program: a context manager, and an iterator over its requests.

    Each request is answered by one of :meth:`done`, :meth:`give` and :meth:`value` before the next is taken.

    Args:
        program: the executable.
        words: arguments of its ``main``.
        folder: that it runs in; None = the current one.
        stdout: descriptor for its standard output; None = that of memtile.
        stderr: the same of its standard error.
        seconds: of time after which it is ended, with all that it has started; None = never.

    Attributes:
        memories: of ``GMIO::malloc`` by number, writable bytes that the program sees.
        code: its exit code, once it has ended.
    """

    def __init__(
        self,
        program: Path,
        words: Sequence[str] = (),
        folder: Path | None = None,
        stdout: int | None = None,
        stderr: int | None = None,
        seconds: float | None = None,
    ) -> None:
        self.memories: dict[int, mmap.mmap] = {}
        self.code: int | None = None
        self._program = program
        self._latest = "its start"
        self._seconds, self._is_late = seconds, False
        self._place = tempfile.TemporaryDirectory(prefix="memtile-graph-", dir=_shared_folder())
        take, requests = os.pipe()
        answers, give = os.pipe()
        pipes = {"MEMTILE_ADF_PIPES": f"{requests},{answers}", "MEMTILE_ADF_FOLDER": self._place.name}
        try:
            self._child = subprocess.Popen(
                [str(program), *words],
                pass_fds=(requests, answers),
                env={**os.environ, **pipes},
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                process_group=0,  # what it starts ends with it
            )
        finally:
            os.close(requests)
            os.close(answers)
        self._requests = os.fdopen(take, "rb")
        self._answers = os.fdopen(give, "wb", buffering=0)
        self._clock = Timer(seconds or 0.0, self._late)
        if seconds is not None:
            self._clock.start()

    def __enter__(self) -> HostProgram:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __iter__(self) -> Iterator[Request]:
        """The program's requests, up to its end.

        Raises:
            LateHostError: its time is over.
            InputFileError: it crashed.
        """
        while (raw := self._line()) is not None:
            yield self._request(raw)
        self._ended()

    def done(self, code: int = 0) -> None:
        """Answer a request: it is done, with a ``return_code``."""
        self._say(f"code {code}")

    def give(self, data: bytes) -> None:
        """Answer a :class:`Read` with the values' bytes."""
        self._say(f"data {data.hex()}")

    def value(self, number: int) -> None:
        """Answer a request of profiling with a number."""
        self._say(f"value {number}")

    def peek(self, places: Sequence[tuple[int, int]]) -> list[bytes]:
        """Bytes of the program's memory, at addresses with a number of bytes each, while it waits."""
        self._say("peek " + " ".join(f"{address} {size}" for address, size in places))
        raw = self._line()
        if raw is None:
            self._ended()
            raise InputFileError(f"{self._program.name}: the program ended while its graph was read.")
        return [bytes.fromhex(part) for part in raw["parts"]]

    def stop(self) -> None:
        """End the program, which waits for an answer."""
        self._say("stop")
        self._wait()

    def _late(self) -> None:
        """Its time is over: end it at once, from another thread; its requests end with an error."""
        if self._child.returncode is None:
            self._is_late = True
            self._kill()

    def _kill(self) -> None:
        """End the program, whose exit code was not taken yet, and all that it has started."""
        os.killpg(self._child.pid, signal.SIGKILL)

    def close(self) -> None:
        """End the program if it runs, and forget its memory, which lasts as long as an array refers to it."""
        self._clock.cancel()
        if self._child.poll() is None:
            self._kill()
        self._wait()
        self.memories.clear()
        for pipe in (self._requests, self._answers):
            pipe.close()
        self._place.cleanup()

    def _line(self) -> dict[str, Any] | None:
        line = self._requests.readline()
        return json.loads(line) if line.endswith(b"\n") else None

    def _request(self, raw: dict[str, Any]) -> Request:
        self._latest = raw.pop("ask")
        raw["origin"] = raw.pop("from")
        if "data" in raw:
            raw["data"] = bytes.fromhex(raw["data"])
        request = _REQUESTS[self._latest](**raw)
        if isinstance(request, Malloc):
            with Path(request.file).open("r+b") as file:
                self.memories[request.memory] = mmap.mmap(file.fileno(), max(request.nbytes, 1))
        return request

    def _say(self, line: str) -> None:
        try:
            self._answers.write(line.encode() + b"\n")
        except BrokenPipeError:
            self._ended()

    def _wait(self) -> None:
        self.code = self._child.wait()

    def _ended(self) -> None:
        """Take the program's exit code; a signal is an error."""
        try:
            self.code = self._child.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            return
        if self._is_late:
            raise LateHostError(
                f"{self._program.name}: the host program had not ended after {self._seconds:g} s "
                f"(its latest call was {self._latest})."
            )
        if self.code < 0:
            name = signal.Signals(-self.code).name
            raise InputFileError(
                f"{self._program.name}: the host program crashed ({name}) after {self._latest}. "
                "Look at its main with a debugger: it was compiled with -g."
            )


def _shared_folder() -> str | None:
    """A folder in memory where there is one."""
    return next((each for each in ("/dev/shm",) if os.access(each, os.W_OK)), None)
