"""The processes of a sandbox that are inside: the door, the first one, and the command.

The *door* enters the namespaces, has a session of its own, and waits. The *first* process takes all
restrictions on itself, counts processes, and all others end with it. The *command* is what runs. Where there
are no namespaces, door and first process are one.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple, NoReturn

from memtile.sandbox import landlock, namespaces, seccomp
from memtile.sandbox.kernel_features import (
    CAP_DAC_OVERRIDE,
    adopt_orphans,
    drop_capabilities,
    end_with_parent,
    forgo_privileges,
)
from memtile.sandbox.policy import CONFINED, DEVICES, SYSTEM, Policy, limit_resources

END = signal.SIGUSR1
"""Has the first process end all others, then itself."""
_NOT_FOUND = 127
_ARENAS = "2"  # each reserves 64 MB of address space, on large machines one for each thread
_POLL = 0.05  # seconds between two counts of the processes
_SOON = -10  # priority of the first process, where it may have one


class KeeperPipes(NamedTuple):
    """What the keeper hands over.

    Attributes:
        folder: temporary, removed at the end.
        mask: signals that were blocked before.
        priority: of the command.
        notes: pipe to the keeper.
    """

    folder: str
    mask: frozenset[int]
    priority: int
    notes: int

    def say(self, kind: str, value: object) -> None:
        """Note something for the keeper."""
        os.write(self.notes, f"{json.dumps([kind, value])}\n".encode())


def enter(policy: Policy, command: Sequence[str], ends: KeeperPipes) -> NoReturn:
    """Be the door, and start the first process."""
    try:
        os.setsid()
        signal.pthread_sigmask(signal.SIG_BLOCK, {END})
        isolated = namespaces.enter()
        end_with_parent(signal.SIGKILL if isolated else END)
        first = os.fork() if isolated else 0
        if first:
            ends.say("first", first)
            os.waitpid(first, 0)
            os._exit(0)
        _be_first(policy, command, ends, isolated)
    except BaseException as error:
        ends.say("refused", f"the sandbox cannot be set up: {error}")
    finally:
        os._exit(1)


def _be_first(policy: Policy, command: Sequence[str], ends: KeeperPipes, isolated: bool) -> None:
    """Restrict this process, start the command, and end with it."""
    if isolated:
        end_with_parent(signal.SIGKILL)
        namespaces.mount_read_only((policy.root, ends.folder), policy.protected)
    counted = isolated and namespaces.is_own_process_table()
    _restrict(policy, ends.folder, isolated)
    if not command:
        ends.say("layers", {"landlock": landlock.version(), "seccomp": True, "namespaces": isolated})
        return
    process = os.fork()
    if not process:
        _be_command(policy, command, ends)
    for status in _statuses(process):
        if status is not None:
            ends.say("status", status)
            break
        if counted and len(_processes()) > policy.processes + 1:
            ends.say("refused", f"more than {policy.processes} processes at a time; all were ended")
            break
    if not isolated and landlock.version() >= landlock.SCOPES:
        os.kill(-1, signal.SIGKILL)  # Landlock lets it reach what is inside alone


def _restrict(policy: Policy, folder: str, isolated: bool) -> None:
    limit_resources(policy.memory, policy.processes, alone=isolated and not namespaces.is_original_user())
    adopt_orphans()
    rights = [
        *((path, landlock.READ) for path in (*SYSTEM, *policy.reads)),
        *((path, landlock.USE) for path in DEVICES),
        *((path, landlock.WRITE) for path in (policy.root, folder)),
    ]
    if isolated and namespaces.is_own_process_table():
        rights.append((str(namespaces.PROCESSES), landlock.READ))
    with suppress(OSError):  # root alone may, and root alone has no limit of processes from the kernel
        os.setpriority(os.PRIO_PROCESS, 0, _SOON)
    drop_capabilities(CAP_DAC_OVERRIDE)
    forgo_privileges()
    landlock.restrict(rights)
    seccomp.restrict(isolated=isolated)


def _processes() -> list[str]:
    return [name for name in os.listdir(namespaces.PROCESSES) if name.isdigit()]


def _statuses(process: int) -> Iterator[int | None]:
    """The status of the process once it has ended; until then, None every now and then."""
    while True:
        found = signal.sigtimedwait({signal.SIGCHLD, END}, _POLL)
        if found is not None and found.si_signo == END:
            return
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == process:
                    yield ended[1]
        yield None


def _be_command(policy: Policy, command: Sequence[str], ends: KeeperPipes) -> NoReturn:
    end_with_parent(signal.SIGKILL)
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, ends.priority)
    os.environ |= {name: os.path.join(ends.folder, place) for name, place in policy.variables}
    os.environ |= {"TMPDIR": ends.folder, CONFINED: "1", "MALLOC_ARENA_MAX": _ARENAS}
    signal.pthread_sigmask(signal.SIG_SETMASK, ends.mask)
    try:
        os.execvp(command[0], [*command])
    except OSError as error:
        print(f"memtile: {command[0]} cannot be started: {error.strerror}", file=sys.stderr, flush=True)
    finally:
        os._exit(_NOT_FOUND)
