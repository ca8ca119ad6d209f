"""Calls of tools in a process of their own: a design that never ends, or ends its process, ends alone."""

from __future__ import annotations

import asyncio
import os
import queue
import signal
import sys
import sysconfig
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, TextIO

from memtile.cli.agents.lookup_tools import SECONDS, Answer
from memtile.cli.agents.page_search import places
from memtile.cli.agents.tool_arguments import RefusedError, as_text, check_arguments, refused
from memtile.cli.agents.tools import MODELS, TOOLS
from memtile.cli.failure import UsageError, expected_end
from memtile.cli.sandboxed import sandbox_policy
from memtile.errors import MemtileError
from memtile.explore.line_answers import answer_lines
from memtile.explore.line_process import LineProcess, NoAnswerError
from memtile.sandbox.policy import GIGABYTE, PROCESSES, environment
from memtile.sandbox.start import ProcessStart, confined

GRACE = 20.0
"""Seconds that a call may take beside those that a run is given, where code of memtile takes them."""
LATE = 0.25
"""Seconds after which code of a user is ended, beside those that a run is given."""
_COMPILING = 600.0  # seconds for the engine, once
_AGAIN = 0.1  # seconds until a process is ended again
_CODE = "from memtile.cli.agents.tool_worker import serve; serve({memory!r})"
_OURS = (
    str(Path(__file__).parents[2]),
    *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
    "<",  # made at run time, as dataclasses do
)
"""Where code is that is no user's."""
_BY_NAME = {tool.__name__: tool for tool in TOOLS}


class ToolWorker:
    """Tools, called one after another in a process that is begun again after it was lost.

    Args:
        root: folder that it works in, resolved; files of arguments are below it.
        memory: gigabytes that the process may have.
        sandbox: confine it; otherwise it has limits alone, and none of the server's secrets.
    """

    def __init__(self, root: Path, memory: float, *, sandbox: bool) -> None:
        self._root, self._memory, self._sandbox = root, memory, sandbox
        code = _CODE.format(memory=memory)
        self._process = LineProcess(code, self._confined, str(root), follows=not sandbox)
        self._ready = False

    def _confined(self, command: Sequence[str]) -> ProcessStart:
        """The command of the process with what it may do; Python looks for no modules in the root."""
        command = (command[0], "-P", *command[1:])
        if not self._sandbox:
            return ProcessStart(command, environment(os.environ))
        policy = sandbox_policy(self._root, self._memory, places())
        return confined(policy._replace(parent=os.getpid()), command)

    def call(self, tool: str, arguments: dict[str, Any]) -> tuple[Answer, bool]:
        """The answer, and whether the input was refused.

        Args:
            tool: its name.
            arguments: by name.

        Raises:
            RuntimeError: the tool itself failed.
        """
        try:
            check_arguments(self._root, arguments)
        except MemtileError as error:
            return {"error": refused(error)}, True
        limit = max(arguments.get("seconds", SECONDS), 0.0) + GRACE
        try:
            if tool in MODELS and not self._ready:
                self._process.ask({}, _COMPILING)
                self._ready = True
            found = self._process.ask([tool, arguments], limit)
        except NoAnswerError as error:
            self._ready = False
            return _lost(error, limit), True
        if "failed" in found:
            raise RuntimeError(found["failed"])
        return found["answer"], found["refused"]

    async def answer(self, tool: str, arguments: dict[str, Any]) -> tuple[Answer, bool]:
        """As :meth:`call`; when nobody waits for it any more its process ends, and the call with it."""
        from anyio import CancelScope

        running = asyncio.ensure_future(asyncio.to_thread(self.call, tool, arguments))
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            with CancelScope(shield=True):
                while not running.done():  # the process may be about to begin
                    await asyncio.to_thread(self._process.end)
                    await asyncio.wait([running], timeout=_AGAIN)
            raise


def _lost(error: NoAnswerError, limit: float) -> Answer:
    """The answer to a call that ended its process, or never ended."""
    says = f"the call did not end within {limit:g} s, nor did its design; a design must return"
    if not error.late:
        says = f"the code of the design ended its process ({error}); a design must return"
    return {"error": {"reason": "input_file", "field": "", "message": says}}


class TimeOverError(BaseException):
    """Code of a user runs after the time of its call; no ``except Exception`` of his catches it."""


@contextmanager
def _ending_user_code(seconds: float) -> Iterator[None]:
    """End code of a user that runs within this once the time is over; code of memtile ends by itself."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def look(_number: int, frame: FrameType | None) -> None:
        while frame is not None:
            if not frame.f_code.co_filename.startswith(_OURS):
                raise TimeOverError
            frame = frame.f_back

    before = signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.0) + LATE, LATE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def tried(name: str, arguments: dict[str, Any]) -> tuple[Answer, bool]:
    """The answer, and whether the input was refused; the errors are those of ``--json`` of the commands."""
    try:
        with _ending_user_code(arguments.get("seconds", SECONDS)):
            return _BY_NAME[name](**arguments), False
    except RefusedError as error:
        return {"error": error.answer}, True
    except (MemtileError, UsageError) as error:
        return {"error": refused(error)}, True
    except TimeOverError:
        given = arguments.get("seconds", SECONDS)
        says = f"the code of the design did not return within {max(given, 0.0):g} s; a design must return"
        return {"error": {"reason": "input_file", "field": "", "message": says}}, True
    except SystemExit as error:
        says = f"the code of the design left its process ({error!r}); a design must return"
        return {"error": {"reason": "input_file", "field": "", "message": says}}, True
    except Exception as error:
        if (end := expected_end(error, [name])) is None:
            raise
        return {"error": {"reason": end[1], "field": "", "message": end[0]}}, True


def serve(memory: float) -> None:
    """Answer calls until there are no more; what designs print or read is no part of that.

    Args:
        memory: gigabytes that this process may have.
    """
    from memtile.sim.loop.engine_warmup import ready

    if sys.platform == "linux":
        from memtile.sandbox.policy import limit_resources

        limit_resources(int(memory * GIGABYTE), PROCESSES, alone=False)
    sys.dont_write_bytecode = True  # a design that changes twice in a second is compiled twice
    answer_lines(lambda given: as_text(_answer(*given) if given else {"seconds": ready().seconds}), _taken)


def _taken(asked: TextIO) -> Iterator[str]:
    """Questions, read by a thread that notices when the pipe closes."""
    lines: queue.Queue[str] = queue.Queue()
    threading.Thread(target=_read, args=(asked, lines), daemon=True).start()
    while True:
        yield lines.get()


def _read(asked: TextIO, lines: queue.Queue[str]) -> None:
    """Hand over what is asked; when nobody asks any more, the process ends, whatever a design does in it."""
    for line in asked:
        lines.put(line)
    os._exit(0)


def _answer(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        answer, was_refused = tried(name, arguments)
    except Exception as error:
        traceback.print_exc()
        return {"failed": f"{type(error).__name__}: {error}"}
    return {"answer": answer, "refused": was_refused}
