"""The start of a command inside a sandbox, and whether this system has one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from memtile.errors import InputFileError
from memtile.sandbox.policy import Policy, environment, installation

_LAUNCH = """\
import sys
sys.path.append({!r})
try:
    from memtile.sandbox.launch import main
except KeyboardInterrupt:
    print("memtile: interrupted before the command began", file=sys.stderr)
    sys.exit(130)
main()
"""
_PACKAGE = str(Path(__file__).resolve().parents[2])
_NEEDED = "Linux 5.13 or newer with Landlock and seccomp, on x86-64 or AArch64"


class ProcessStart(NamedTuple):
    """How a confined process is started.

    Attributes:
        command: program and arguments.
        environment: its variables; None = those of this process.
    """

    command: tuple[str, ...]
    environment: Mapping[str, str] | None


def confined(
    policy: Policy, command: Sequence[str], variables: Mapping[str, str] = os.environ
) -> ProcessStart:
    """Return how a command is started so that it keeps to a policy.

    Args:
        policy: what it may do.
        command: program and arguments; none = the layers in force are printed as JSON.
        variables: of which the command gets those that are known and no secrets.
    """
    policy = policy._replace(reads=(*policy.reads, *installation()))
    launch = (sys.executable, "-I", "-S", "-c", _LAUNCH.format(_PACKAGE))
    return ProcessStart((*launch, policy.as_text(), *command), environment(variables))


@cache
def missing() -> str:
    """Return in one sentence why this system has no sandbox; empty = it has one."""
    if sys.platform != "linux":
        return f"{sys.platform} has no sandbox for memtile"
    from memtile.sandbox import landlock, seccomp

    if not landlock.version():
        return "the kernel has no Landlock, or it is switched off (kernel parameter lsm=)"
    if not seccomp.is_available():
        return "the kernel has no seccomp filters, or memtile no table of system calls for this processor"
    return ""


def require(where: str) -> None:
    """Refuse to go on where there is no sandbox.

    Raises:
        InputFileError: this system has none.
    """
    if missing():
        raise InputFileError.of(
            "--sandbox",
            "asked for",
            "left out on this system",
            missing(),
            "Leave --sandbox out, or run in a container or virtual machine.",
            reason="sandbox",
            where=where,
            source=f"the sandbox needs {_NEEDED}",
        )


def layers() -> dict[str, Any]:
    """Return the layers that work here: ``landlock`` (its version), ``seccomp``, ``namespaces``.

    Without a sandbox there is only ``missing``, why.
    """
    if missing():
        return {"missing": missing()}
    start = confined(Policy(root=os.devnull), ())
    done = subprocess.run(start.command, env=start.environment, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"missing": done.stderr.strip().removeprefix("memtile: ")}
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def sentences(found: Mapping[str, Any]) -> list[str]:
    """Return layers as sentences, with what is left open where one is missing."""
    if "missing" in found:
        return [f"sandbox: not available here: {found['missing']}. It needs {_NEEDED}."]
    spaces = "others cannot be seen or signalled, and all end with the command"
    if not found["namespaces"]:
        spaces = "not available here; processes that a design leaves behind may outlive the command"
    if not found["namespaces"] and found["landlock"] < 6:
        spaces += ", and it can send signals to other processes of its user"
    return [
        "sandbox: available",
        f"  landlock (version {found['landlock']}): writes below the root, reads there and where Python is",
        "  seccomp: no sockets, no access to other processes, no mounts",
        f"  namespaces: {spaces}",
        "  limits: memory of each process, and their number",
    ]
