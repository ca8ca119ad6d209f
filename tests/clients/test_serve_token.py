"""Does ``memtile serve`` let only those in who know its token, and do all of our clients bring it?"""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from memtile.cli.main import app
from memtile.hosts import admission
from support.driver.linked_programs import compiled
from support.driver.simulator_client import BASE, START_SECONDS, Server, serving

PLACE = BASE + (1 << 25 | 1 << 20)
WRITE = b"W 0X%016X 0X%08X\n" % (PLACE, 5)
READ = b"R 0X%016X\n" % PLACE
TOKEN = "correct-horse-battery-staple"
WARNING = "warning: other machines can reach 0.0.0.0:"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One that other machines reach, with a token of its own making."""
    memories = ["--memory", "0x100000000:64K", "--memory", "0x100010000:64K"]
    with serving(tmp_path_factory.mktemp("serve"), "--host", "0.0.0.0", *memories) as running:
        yield running


def token_file(server: Server) -> Path:
    return server.port_file.with_name(admission.TOKEN_FILE)


def where(server: Server) -> str:
    return f"127.0.0.1:{server.port_file.read_text()}"


def said(server: Server, lines: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", int(server.port_file.read_text())), timeout=60) as client:
        client.sendall(lines)
        client.shutdown(socket.SHUT_WR)
        got = b""
        while more := client.recv(1 << 16):
            got += more
        return got


def test_other_machines_make_a_warning_and_a_token(server: Server) -> None:
    token = token_file(server).read_text()
    assert len(token) == 32
    (line,) = [each for each in server.log.splitlines() if "warning" in each]
    assert WARNING in line
    assert str(admission.TOKEN_FILE) in line
    assert token not in server.log


def test_two_servers_have_two_tokens(server: Server, tmp_path: Path) -> None:
    with serving(tmp_path, "--host", "::") as other:
        assert token_file(other).read_text() != token_file(server).read_text()


def test_with_the_token_first_all_is_as_without_one(server: Server) -> None:
    token = token_file(server).read_text().encode()
    assert said(server, b"T %s\n" % token + WRITE + READ) == b"T 0\n0x00000005\n"
    assert said(server, b"T %s\n" % token + READ) == b"T 0\n0x00000005\n"


@pytest.mark.parametrize("start", [0, 1, 16, 31])
def test_without_the_right_token_nothing_is_obeyed(server: Server, start: int) -> None:
    token = token_file(server).read_text()
    wrong = token[:start] + ("0" if token[start] != "0" else "1") + token[start + 1 :]
    ends = admission.NO_TOKEN.encode()
    write = b"W 0X%016X 0X%08X\n" % (PLACE, 0xBAD)
    for first in (
        f"T {wrong}",
        f"T {token}0",
        f"T {token[:-1]}",
        f"T  {token}",
        f"t {token}",
        f"T {token}\r",
    ):
        assert said(server, first.encode() + b"\n" + write).endswith(ends), first
    for begun in (b"", b"Q result\n", READ, b"POST / HTTP/1.1\r\n", b"T \n"):
        assert said(server, begun + write).endswith(ends), begun
    assert b"0x00000bad" not in said(server, b"T %s\n" % token.encode() + READ)


def test_the_log_shows_no_token_and_nothing_like_it(server: Server) -> None:
    token = token_file(server).read_text()
    said(server, f"T {token[:-1]}x\n".encode())
    said(server, f"token {token}\n".encode())
    assert token[:-1] not in server.log


def test_who_brings_no_token_in_time_is_ended(tmp_path: Path) -> None:
    program = """
import memtile.hosts.admission as admission
from memtile.cli.main import main
admission.TOKEN_SECONDS = 0.3
import sys
sys.argv = ["memtile", "serve", "--host", "0.0.0.0", "--json", "--port-file", "late/port"]
main()
"""
    process = subprocess.Popen(
        [sys.executable, "-c", program], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        port = json.loads(process.stdout.readline())["listening"]["port"]
        with socket.create_connection(("127.0.0.1", port), timeout=START_SECONDS) as silent:
            assert silent.recv(1000).endswith(admission.TOO_LATE.encode())
    finally:
        process.terminate()
        process.communicate(timeout=60)


def test_explain_brings_it(server: Server, tmp_path: Path) -> None:
    token = token_file(server).read_text()
    options = ["explain", "--server", where(server), "--record", str(tmp_path / "record.json")]
    for given, environment in ((["--token", token], {}), ([], {"MEMTILE_TOKEN": token})):
        done = CliRunner().invoke(app, [*options, *given], env=environment)
        assert done.exit_code == 0, done.output
        assert "the server says after" in done.output
    for given in ([], ["--token", "0" * 32]):
        done = CliRunner().invoke(app, [*options, *given])
        assert done.exit_code == 2
        assert admission.NO_TOKEN in done.stderr
        done = CliRunner().invoke(app, [*options[:3], *given])
        assert done.exit_code == 2
        assert admission.NO_TOKEN in done.stderr


@pytest.mark.parametrize("language", ["c", "c++"])
def test_a_linked_host_brings_it(server: Server, tmp_path: Path, language: str) -> None:
    program = compiled(tmp_path, language)
    folder = server.port_file.parent.parent
    done = subprocess.run([program], cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.stdout == "all well\n", done
    environment = {**os.environ, "MEMTILE_TOKEN": "0" * 32}
    done = subprocess.run([program], cwd=folder, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == f"memtile host: the server refuses: {admission.NO_TOKEN}"


def test_a_token_on_this_machine_alone_is_asked_for_too(tmp_path: Path) -> None:
    """By option or by environment; there is no warning."""
    with serving(tmp_path, "--token", TOKEN, "--json") as running:
        assert "warning" not in running.log
        assert TOKEN not in running.log
        assert token_file(running).read_text() == TOKEN
        assert said(running, READ).endswith(admission.NO_TOKEN.encode())
        assert said(running, f"T {TOKEN}\n".encode() + READ) == b"T 0\n0x00000000\n"
        running.stop()
        assert json.loads(running.out)["listening"]["token_file"] == str(
            Path("mesim_output") / admission.TOKEN_FILE
        )
    assert not token_file(running).exists()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.0.0.5"])
def test_an_address_of_this_machine_alone_needs_no_token(tmp_path: Path, host: str) -> None:
    with serving(tmp_path, "--host", host) as running:
        assert not token_file(running).exists()
        assert "warning" not in running.log


@pytest.mark.parametrize(
    "token", ["", "short", "a" * 129, "with a space in it", "pässword-pässword", "a" * 20 + "\n"]
)
def test_a_token_that_cannot_be(tmp_path: Path, token: str) -> None:
    done = CliRunner().invoke(app, ["serve", "--token", token, "--port-file", str(tmp_path / "port")])
    assert done.exit_code == 2
    assert "must be 16 to 128 printable ASCII characters without spaces" in done.stderr
    assert not (tmp_path / "port").exists()


def test_its_files_are_its_users_alone(server: Server) -> None:
    folder = server.port_file.parent
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    names = {path.name for path in folder.iterdir()}
    assert {"mesimulator_aximm_port", "memtile_token", "external_memory.bin", "external_memory.txt"} <= names
    for path in folder.iterdir():
        if path.is_file():
            assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
