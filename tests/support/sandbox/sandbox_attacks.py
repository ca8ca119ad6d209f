"""What a hostile design tries in a sandbox, each attack by itself: it succeeds, or the kernel refuses it.

``PLACE`` names files and processes outside. The module is the design: its attacks run when it is loaded.
"""

from __future__ import annotations

import ctypes
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PLACE: dict[str, Any] = json.loads((HERE / "place.json").read_text())
OUTSIDE, VICTIM = Path(PLACE["outside"]), PLACE["victim"]
SECRET = OUTSIDE / "secret.txt"
LIBC = ctypes.CDLL(None, use_errno=True)
NUMBERS = {"io_uring_setup": (425, 425), "bpf": (321, 280), "keyctl": (250, 219), "ptrace": (101, 117)}
NUMBERS |= {"process_vm_readv": (310, 270), "openat2": (437, 437), "clone3": (435, 435), "shmget": (29, 194)}
NUMBERS |= {"perf_event_open": (298, 241), "userfaultfd": (323, 282), "socket": (41, 198), "mount": (165, 40)}
NUMBERS |= {"pidfd_getfd": (438, 438), "newest": (468, 468), "chroot": (161, 51), "setns": (308, 268)}
ATTACKS: dict[str, Callable[[], object]] = {}


def attack(function: Callable[[], object]) -> Callable[[], object]:
    ATTACKS[function.__name__] = function
    return function


def call(name: str, *arguments: int, offset: int = 0) -> None:
    number = NUMBERS[name][os.uname().machine == "aarch64"] + offset
    done(LIBC.syscall(ctypes.c_long(number), *map(ctypes.c_long, arguments)))


def done(result: int) -> None:
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")


def opens(flags: int, path: Path | str) -> None:
    os.close(os.open(path, flags))


for name, flags in (("trunc", os.O_TRUNC), ("append", os.O_WRONLY | os.O_APPEND), ("both", os.O_RDWR)):
    ATTACKS[f"open_{name}"] = lambda flags=flags: opens(flags, SECRET)  # type: ignore[misc]
for name, path in (
    ("file", OUTSIDE / "new.txt"),
    ("tmp", Path("/tmp") / f"memtile-attack-{os.getpid()}"),
    ("home", Path.home() / "memtile-attack"),
    ("shm", Path("/dev/shm/memtile-attack")),
    ("cache", Path(PLACE["cache"]) / "attack.object"),
    ("python", Path(PLACE["package"]) / "attack.py"),
    ("sysctl", Path("/proc/sys/kernel/core_pattern")),
):
    ATTACKS[f"write_{name}"] = lambda path=path: path.write_text("x")  # type: ignore[misc]
for name, path in (
    ("secret", SECRET),
    ("accounts", Path("/etc/passwd")),
    ("hosts", Path("/etc/hosts")),
    ("by_link", HERE / "link"),
    ("by_own_root", Path(f"/proc/self/root{SECRET}")),
    ("by_root_of_first", Path(f"/proc/1/root{SECRET}")),
    ("environment", Path(f"/proc/{VICTIM}/environ")),
    ("memory", Path(f"/proc/{VICTIM}/mem")),
):
    ATTACKS[f"read_{name}"] = lambda path=path: path.open("rb").read(1) or done(-1)  # type: ignore[misc]
for name, path in (("home", Path.home()), ("outside", OUTSIDE), ("root", Path("/")), ("etc", Path("/etc"))):
    ATTACKS[f"list_{name}"] = lambda path=path: os.listdir(path)  # type: ignore[misc]
for name, kind in (("inet", (2, 1)), ("inet6", (10, 1)), ("udp", (2, 2)), ("unix", (1, 1)), ("log", (1, 2))):
    ATTACKS[f"socket_{name}"] = lambda kind=kind: socket.socket(*kind)  # type: ignore[misc]
for name, kind in (("netlink", (16, 3)), ("packet", (17, 3)), ("raw", (2, 3)), ("vsock", (40, 1))):
    ATTACKS[f"socket_{name}"] = lambda kind=kind: socket.socket(*kind)  # type: ignore[misc]
for number in (0, 1, 9, 15):
    ATTACKS[f"kill_{number}"] = lambda number=number: os.kill(VICTIM, number)  # type: ignore[misc]
for name, arguments in (
    ("io_uring_setup", (8, 0)),
    ("bpf", (0, 0, 0)),
    ("keyctl", (0, -3, 0)),
    ("ptrace", (16, VICTIM, 0, 0)),
    ("process_vm_readv", (VICTIM, 0, 0, 0, 0, 0)),
    ("perf_event_open", (0, 0, -1, -1, 0)),
    ("userfaultfd", (1,)),
    ("shmget", (0, 4096, 0o1600)),
    ("pidfd_getfd", (0, 0, 0)),
    ("clone3", (0, 0)),
    ("openat2", (-100, 0, 0, 0)),
    ("newest", (0, 0)),
    ("setns", (0, 0)),
):
    ATTACKS[f"call_{name}"] = lambda name=name, arguments=arguments: call(name, *arguments)  # type: ignore[misc]


@attack
def call_of_another_machine() -> None:
    call("socket", 2, 1, 0, offset=1 << 30)


@attack
def datagrams_of_a_pair() -> None:
    socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b"x", PLACE["socket"])


@attack
def connect_by_a_pair() -> None:
    socket.socketpair()[0].connect(PLACE["socket"])


@attack
def connect_abroad() -> None:
    socket.create_connection(("127.0.0.1", PLACE["port"]), 1)


@attack
def type_into_the_terminal() -> None:
    done(LIBC.ioctl(0, ctypes.c_ulong(21522), ctypes.byref(ctypes.c_char(b"x"))))


@attack
def new_namespace_of_users() -> None:
    done(LIBC.unshare(1 << 28))


@attack
def mount_over_home() -> None:
    done(LIBC.mount(b"none", os.fsencode(HERE), b"tmpfs", 0, None))


@attack
def remount_writable() -> None:
    done(LIBC.mount(b"none", b"/", b"", ctypes.c_ulong(32 | 4096), None))


@attack
def another_root() -> None:
    os.chroot(HERE)


@attack
def become_root() -> None:
    said = subprocess.run(["su", "-c", "id -u"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if os.getuid() == 0 or said.stdout.strip() != "0":
        raise OSError("root already, or not made root")


@attack
def remove() -> None:
    SECRET.unlink()


@attack
def rename_away() -> None:
    SECRET.rename(HERE / "taken")


@attack
def rename_over() -> None:
    (HERE / "mine").write_text("x")
    (HERE / "mine").rename(SECRET)


@attack
def hard_link() -> None:
    os.link(SECRET, HERE / "hard")


@attack
def write_by_link() -> None:
    (HERE / "link").write_text("x")


@attack
def make_folder() -> None:
    (OUTSIDE / "folder").mkdir()


@attack
def make_link() -> None:
    (OUTSIDE / "made").symlink_to(SECRET)


@attack
def make_device() -> None:
    os.mknod(HERE / "null", 0o20666, os.makedev(1, 3))


@attack
def truncate() -> None:
    os.truncate(SECRET, 0)


@attack
def change_mode() -> None:
    SECRET.chmod(0o777)


@attack
def change_owner() -> None:
    os.chown(SECRET, os.getuid(), os.getgid())


@attack
def change_times() -> None:
    os.utime(SECRET, (0, 0))


@attack
def change_attributes() -> None:
    os.setxattr(SECRET, "user.attack", b"x")


@attack
def slow_down_another() -> None:
    os.setpriority(os.PRIO_PROCESS, VICTIM, 19)


@attack
def pin_another() -> None:
    os.sched_setaffinity(VICTIM, {0})


@attack
def limit_another() -> None:
    import resource

    resource.prlimit(VICTIM, resource.RLIMIT_NOFILE, (3, 3))


@attack
def raise_memory() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


@attack
def take_memory() -> None:
    bytearray(5 << 30)


@attack
def secret_in_environment() -> None:
    texts = [*os.environ.values(), Path("/proc/self/environ").read_text("utf-8", "replace")]
    if not any("hunter2" in text for text in texts):
        raise OSError("no secret")


@attack
def secret_of_first_process() -> None:
    if "hunter2" not in Path("/proc/1/environ").read_text("utf-8", "replace"):
        raise OSError("no secret")


def result(function: Callable[[], object]) -> str:
    """Why an attack failed; empty = it did not."""
    try:
        function()
    except (OSError, MemoryError, ValueError) as error:
        return type(error).__name__ + ": " + str(error)
    return ""


def attack_all() -> None:
    found = {name: result(function) for name, function in ATTACKS.items()}
    (HERE / "found.json").write_text(json.dumps(found))


attack_all()
sys.path.insert(0, str(HERE))
from sandbox_design import design  # noqa: E402, F401
