"""A client of ``memtile serve`` written from the description of the driver's socket back end alone."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.commands import warm

BASE, NPI = 0x20000000000, 0xF70A0000
REPLY = 11
START_SECONDS = 600  # the engine may have to compile, on a busy machine


class Client:
    """The driver's five operations over one connection; offsets are relative to ``base``."""

    def __init__(self, port_file: Path, base: int = BASE) -> None:
        self._base = base
        self.socket = socket.create_connection(("localhost", port_file.read_text()), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, raw: bytes) -> None:
        self.socket.sendall(raw)

    def receive(self) -> str:
        """One read of at most 11 bytes, as the driver does."""
        return self.socket.recv(REPLY).decode()

    def write32(self, address: int, value: int) -> None:
        self.send(b"W 0X%016X 0X%08X\n" % (self._base + address, value))

    def read32(self, address: int) -> int:
        self.send(b"R 0X%016X\n" % (self._base + address))
        answer = self.receive()
        assert len(answer) == REPLY
        assert answer[:2] == "0x"
        assert answer[-1] == "\n"
        return int(answer, 16)

    def mask_write32(self, address: int, mask: int, value: int) -> None:
        """Clears the mask, but does not mask the value."""
        self.write32(address, self.read32(address) & ~mask & 0xFFFF_FFFF | value)

    def mask_poll(self, address: int, mask: int, value: int, tries: int) -> bool:
        return any(self.read32(address) & mask == value for _ in range(tries))

    def close(self) -> None:
        self.socket.close()


class Server:
    """A running ``memtile serve`` and what it left behind.

    Args:
        folder: that it runs in.
        options: of the command.
        cold: whether its process is the one that this class has started.
    """

    def __init__(self, folder: Path, *options: str, cold: bool = False) -> None:
        self.port_file = folder / "mesim_output" / "mesimulator_aximm_port"
        self.log_file, self.out = folder / "log", ""
        own = [sys.executable, "-m", "memtile", "serve", *options]
        command = own if cold else warm.memtile("serve", *options)
        with self.log_file.open("w") as log:
            self.process = subprocess.Popen(command, cwd=folder, stderr=log, stdout=subprocess.PIPE)
        try:
            self._wait()
        except BaseException:
            self.stop()
            raise

    def _wait(self) -> None:
        end = time.monotonic() + START_SECONDS
        while not self.port_file.exists():
            assert self.process.poll() is None, self.log
            assert time.monotonic() < end, self.log
            time.sleep(0.02)

    @property
    def log(self) -> str:
        return self.log_file.read_text()

    def memory_kb(self) -> int:
        """Resident memory of the server."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0])

    def client(self, base: int = BASE) -> Client:
        return Client(self.port_file, base)

    def stop(self, how: int = signal.SIGTERM) -> int:
        """Exit code after a signal."""
        if self.process.poll() is None:
            os.kill(self.process.pid, how)
        out, _ = self.process.communicate(timeout=60)
        self.out += (out or b"").decode()
        return self.process.returncode


@contextmanager
def serving(folder: Path, *options: str, cold: bool = False) -> Iterator[Server]:
    server = Server(folder, *options, cold=cold)
    try:
        yield server
    finally:
        server.stop()
