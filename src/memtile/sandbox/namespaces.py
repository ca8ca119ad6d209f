"""Namespaces: a process that sees no other processes and no network, and for whom mounts are read-only.

Figures are from ``linux/sched.h`` and ``linux/mount.h``.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from memtile.sandbox.kernel_features import checked, libc, system_call

_MOUNTS, _UTS, _IPC, _USER, _PIDS, _NETWORK = (1 << n for n in (17, 26, 27, 28, 29, 30))
_MOUNT_SETATTR = 442
_HERE, _RECURSIVE = -100, 1 << 15
_READ_ONLY = 1
_BIND, _WITH_ALL_BELOW, _PRIVATE = 1 << 12, 1 << 14, 1 << 18
_NO_SUID, _NO_DEVICES, _NO_PROGRAMS = 2, 4, 8
PROCESSES = Path("/proc")


class _MountAttributes(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "user"))


def enter() -> bool:
    """Move this process into new namespaces, its children also into one of processes; whether that worked.

    Root does it by its rights, everybody else by a namespace of users, where the system allows it. Some
    systems allow that and then refuse the mounts, so a child tries first.
    """
    child = os.fork()
    if not child:
        code = 1
        try:
            if _unshared():
                mount_read_only((), ())
                code = 0
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1] == 0 and _unshared()


def _unshared() -> bool:
    """Enter the namespaces; False = the system refuses it."""
    user, group = os.getuid(), os.getgid()
    wanted = _MOUNTS | _UTS | _IPC | _PIDS | _NETWORK
    for extra in (0, _USER):
        try:
            checked(libc().unshare(wanted | extra))
        except OSError:
            continue
        if extra:
            _same_user(user, group)
        return True
    return False


def _same_user(user: int, group: int) -> None:
    Path("/proc/self/setgroups").write_text("deny", "ascii")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1", "ascii")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1", "ascii")


def is_original_user() -> bool:
    """Return whether rights of root are those over the machine: no namespace of users is between."""
    return Path("/proc/self/uid_map").read_text("ascii").split() == ["0", "0", str((1 << 32) - 1)]


def mount_read_only(writable: Sequence[str], protected: Sequence[str]) -> None:
    """Make all mounts read-only but some folders, and have ``/proc`` show the processes of this namespace.

    Args:
        writable: folders that stay as they are.
        protected: folders that are read-only even below writable ones.

    Raises:
        OSError: the kernel refuses it.
    """
    folder = Path.cwd()
    _mount("none", "/", "", _PRIVATE | _WITH_ALL_BELOW)
    for path in writable:
        _mount(path, path, "", _BIND | _WITH_ALL_BELOW)
    _attributes("/", _RECURSIVE, set_=_READ_ONLY)
    for path in writable:
        try:
            _attributes(path, _RECURSIVE, clear=_READ_ONLY)
        except OSError:  # a mount below was read-only before
            _attributes(path, 0, clear=_READ_ONLY)
    for path in protected:
        if any(Path(path).is_relative_to(each) for each in writable):
            _mount(path, path, "", _BIND | _WITH_ALL_BELOW)
            _attributes(path, _RECURSIVE, set_=_READ_ONLY)
    with suppress(OSError):  # refused in containers that hide parts of it
        _mount("proc", str(PROCESSES), "proc", _NO_SUID | _NO_DEVICES | _NO_PROGRAMS)
    os.chdir(folder)


def _mount(source: str, target: str, kind: str, flags: int) -> None:
    texts = (os.fsencode(text) for text in (source, target, kind))
    checked(libc().mount(*texts, ctypes.c_ulong(flags), None))


def _attributes(path: str, how: int, *, set_: int = 0, clear: int = 0) -> None:
    wanted = _MountAttributes(set_, clear, 0, 0)
    name = ctypes.create_string_buffer(os.fsencode(path))
    system_call(_MOUNT_SETATTR, _HERE, name, how, ctypes.byref(wanted), ctypes.sizeof(wanted))


def is_own_process_table() -> bool:
    """Return whether ``/proc`` shows the processes of this namespace alone: this one is its first."""
    return os.getpid() == 1 and os.readlink(PROCESSES / "self") == "1"
