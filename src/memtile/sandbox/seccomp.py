"""Seccomp: a filter in the kernel that refuses system calls by number and arguments.

What is refused: sockets, whatever changes the machine, whatever reaches into other processes, and every call
that is newer than this table. Landlock has the files; the filter closes what it leaves open. Numbers are from
``asm/unistd.h`` of Linux for the two machines, figures of the filter from ``linux/seccomp.h`` and
``linux/bpf_common.h``.
"""

from __future__ import annotations

import ctypes
import errno
import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memtile.sandbox.kernel_features import MACHINE, system_call

_AUDIT = {"x86_64": (3 << 30) + 62, "aarch64": (3 << 30) + 183}  # 64 bits, little-endian, machine of ELF
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_MACHINES = tuple(_AUDIT)
_NEWEST = 462
"""Calls with higher numbers do not exist for who is inside: nobody has judged them."""

_REFUSED = {
    "modules and kernels": "kexec_load 246 104, kexec_file_load 320 294, init_module 175 105, "
    "finit_module 313 273, delete_module 176 106, bpf 321 280, perf_event_open 298 241, "
    "userfaultfd 323 282, lookup_dcookie 212 18, memfd_secret 447 447",
    "mounts and namespaces": "mount 165 40, umount2 166 39, pivot_root 155 41, chroot 161 51, "
    "fsopen 430 430, fsconfig 431 431, fsmount 432 432, fspick 433 433, open_tree 428 428, "
    "move_mount 429 429, mount_setattr 442 442, swapon 167 224, swapoff 168 225, setns 308 268, "
    "unshare 272 97, quotactl 179 60, quotactl_fd 443 443, name_to_handle_at 303 264, "
    "open_by_handle_at 304 265, fanotify_init 300 262, fanotify_mark 301 263",
    "the machine": "sethostname 170 161, setdomainname 171 162, reboot 169 142, settimeofday 164 170, "
    "clock_settime 227 112, clock_adjtime 305 266, adjtimex 159 171, syslog 103 116, acct 163 89, "
    "iopl 172 -, ioperm 173 -, vhangup 153 58, sysfs 139 -, uselib 134 -",
    "keys of the user": "add_key 248 217, request_key 249 218, keyctl 250 219",
    "memory of other processes": "ptrace 101 117, process_vm_readv 310 270, process_vm_writev 311 271, "
    "process_madvise 440 440, kcmp 312 272, pidfd_getfd 438 438, move_pages 279 239, "
    "migrate_pages 256 238, shmget 29 194, shmat 30 196, shmctl 31 195, semget 64 190, semop 65 193, "
    "semctl 66 191, semtimedop 220 192, msgget 68 186, msgsnd 69 189, msgrcv 70 188, msgctl 71 187, "
    "mq_open 240 180, mq_unlink 241 181",
    "sockets": "socket 41 198, connect 42 203, bind 49 200, listen 50 201, accept 43 202, accept4 288 242",
    "calls past the filter": "io_uring_setup 425 425, io_uring_enter 426 426, io_uring_register 427 427",
    "files past Landlock's first version": "truncate 76 45",
}
_ATTRIBUTES = (
    "chmod 90 -, fchmod 91 52, fchmodat 268 53, fchmodat2 452 452, chown 92 -, fchown 93 55, lchown 94 -, "
    "fchownat 260 54, utime 132 -, utimes 235 -, futimesat 261 -, utimensat 280 88, setxattr 188 5, "
    "lsetxattr 189 6, fsetxattr 190 7, removexattr 197 14, lremovexattr 198 15, fremovexattr 199 16"
)
"""What changes a file beside its bytes, which Landlock does not see; needless where mounts are read-only."""
_ABSENT = "clone3 435 435, openat2 437 437"
"""Their arguments lie in memory that a filter cannot read; C libraries then take the older calls."""

_NEW_NAMESPACES = sum(1 << n for n in (17, 25, 26, 27, 28, 29, 30))  # CLONE_NEW* of linux/sched.h
_O_ACCMODE, _O_TRUNC = 3, 1 << 9
_TIOCSTI, _TIOCLINUX = 21522, 21532  # would type into the terminal
_UNIX, _STREAM, _KIND = 1, 1, 15


class _Argument(NamedTuple):
    """Refuse a call by one of its arguments.

    Attributes:
        numbers: of the call on both machines; ``-`` = it is not there.
        place: of the argument, 0 first.
        mask: bits of it that are compared.
        values: of these bits.
        refused: the call is refused with these values; otherwise with all others.
    """

    numbers: str
    place: int
    mask: int
    values: tuple[int, ...]
    refused: bool


_ARGUMENTS = (
    _Argument("open 2 -", 1, _O_TRUNC | _O_ACCMODE, (_O_TRUNC,), True),
    _Argument("openat 257 56", 2, _O_TRUNC | _O_ACCMODE, (_O_TRUNC,), True),
    _Argument("ioctl 16 29", 1, 0xFFFF_FFFF, (_TIOCSTI, _TIOCLINUX), True),
    _Argument("socketpair 53 199", 0, 0xFFFF_FFFF, (_UNIX,), False),
    _Argument("socketpair 53 199", 1, _KIND, (_STREAM,), False),
)
_OTHERS = (
    _Argument("prlimit64 302 261", 0, 0xFFFF_FFFF, (0,), False),
    _Argument("setpriority 141 140", 1, 0xFFFF_FFFF, (0,), False),
    _Argument("ioprio_set 251 30", 1, 0xFFFF_FFFF, (0,), False),
    _Argument("sched_setscheduler 144 119", 0, 0xFFFF_FFFF, (0,), False),
    _Argument("sched_setparam 142 118", 0, 0xFFFF_FFFF, (0,), False),
    _Argument("sched_setaffinity 203 122", 0, 0xFFFF_FFFF, (0,), False),
    _Argument("sched_setattr 314 274", 0, 0xFFFF_FFFF, (0,), False),
)
"""Limits and turns of other processes; without need where there are none to see."""
_LOAD, _EQUAL, _AND, _ABOVE, _RETURN, _ANY_BIT = 32, 21, 84, 37, 6, 69  # operations of the classic BPF
_NUMBER, _MACHINE_AT, _FIRST_ARGUMENT = 0, 4, 16  # bytes in struct seccomp_data
_ALLOW, _ERROR, _KILL = 32_767 << 16, 5 << 16, 1 << 31
_MODE_FILTER, _ON_ALL_THREADS, _ACTION_AVAILABLE = 1, 1, 2


class _FilterProgram(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


Step = tuple[int, int, int, int]
"""An instruction of the filter: operation, steps to skip if true, if false, and a value."""


def is_available() -> bool:
    """Return whether the kernel takes filters, and this machine is in the table."""
    if MACHINE not in _MACHINES:
        return False
    try:
        system_call(_SECCOMP[MACHINE], _ACTION_AVAILABLE, 0, ctypes.byref(ctypes.c_uint32(_ERROR)))
    except OSError:
        return False
    return True


def restrict(*, isolated: bool) -> None:
    """Refuse the calls of the table to this process and its children.

    Args:
        isolated: namespaces hide other processes and protect owners, modes and times of files outside.

    Raises:
        OSError: the kernel refuses it.
    """
    code = b"".join(struct.pack("=HBBI", *step) for step in program(isolated=isolated))
    given = _FilterProgram(len(code) // 8, code)
    system_call(_SECCOMP[MACHINE], _MODE_FILTER, _ON_ALL_THREADS, ctypes.byref(given))


def program(*, isolated: bool) -> Sequence[Step]:
    """Return the filter for this machine, as instructions of the classic BPF."""
    return [
        (_LOAD, 0, 0, _MACHINE_AT),
        (_EQUAL, 1, 0, _AUDIT[MACHINE]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_ABOVE, 0, 1, _NEWEST),
        (_RETURN, 0, 0, _ERROR | errno.ENOSYS),
        *_by_number(_ABSENT, errno.ENOSYS),
        *(step for calls in _REFUSED.values() for step in _by_number(calls, errno.EPERM)),
        *(() if isolated else _by_number(_ATTRIBUTES, errno.EPERM)),
        *(step for rule in _ARGUMENTS + (() if isolated else _OTHERS) for step in _by_argument(rule)),
        *_without_namespaces(),
        (_RETURN, 0, 0, _ALLOW),
    ]


def _numbers(calls: str) -> Iterator[int]:
    """The numbers of calls on this machine."""
    for call in calls.split(","):
        number = call.split()[1 + _MACHINES.index(MACHINE)]
        if number != "-":
            yield int(number)


def _by_number(calls: str, error: int) -> Iterator[Step]:
    for number in _numbers(calls):
        yield _EQUAL, 0, 1, number
        yield _RETURN, 0, 0, _ERROR | error


def _by_argument(rule: _Argument) -> Iterator[Step]:
    for number in _numbers(rule.numbers):
        refuse = (_RETURN, 0, 0, _ERROR | errno.EPERM)
        left, last = len(rule.values) - rule.refused, len(rule.values) - 1
        compared = [
            (_EQUAL, left - n, int(rule.refused and n == last), value) for n, value in enumerate(rule.values)
        ]
        argument = (_LOAD, 0, 0, _FIRST_ARGUMENT + 8 * rule.place)
        yield from _for_call(number, [argument, (_AND, 0, 0, rule.mask), *compared, refuse])


def _without_namespaces() -> Iterator[Step]:
    """``clone`` makes no namespaces; its flags are its first argument."""
    for number in _numbers("clone 56 220"):
        flags = (_LOAD, 0, 0, _FIRST_ARGUMENT)
        refused = (_RETURN, 0, 0, _ERROR | errno.EPERM)
        yield from _for_call(number, [flags, (_ANY_BIT, 0, 1, _NEW_NAMESPACES), refused])


def _for_call(number: int, steps: Sequence[Step]) -> Iterator[Step]:
    """Steps that only one call takes, and the number again for those that follow."""
    yield _EQUAL, 0, len(steps), number
    yield from steps
    yield _LOAD, 0, 0, _NUMBER
