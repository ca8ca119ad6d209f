"""Do two servers, a killed one and careless clients leave a server's files and memory alone?"""

from __future__ import annotations

import mmap
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO

import numpy as np
import pytest
from typer.testing import CliRunner

from memtile import InputFileError
from memtile.cli.main import app
from memtile.hosts import own_files
from support.commands import warm
from support.driver.simulator_client import Server, serving

LOW = 0x1_0000_0000
MEMORY = ["--memory", f"{LOW:#x}:64K"]
FILES = ("mesimulator_aximm_port", "external_memory.bin", "external_memory.txt")


def refused(folder: Path, *options: str) -> str:
    """What a server says that does not begin to listen."""
    command = warm.memtile("serve", "--json", *options)
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=folder, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout is not None
        listens = "listening" in process.stdout.readline()
        if listens:
            process.terminate()
        said = process.communicate()[1]
    assert not listens, said
    assert process.returncode == 2
    return said


def contents(server: Server) -> Path:
    return server.port_file.with_name("external_memory.bin")


@pytest.mark.parametrize("options", [[], MEMORY, ["--port-file", "mesim_output/other", *MEMORY]])
def test_a_second_server_in_a_folder_is_refused_and_the_first_one_goes_on(
    tmp_path: Path, options: list[str]
) -> None:
    """By its port file, or by its external memory."""
    with serving(tmp_path, *MEMORY, cold=True) as first:
        before = {name: (first.port_file.parent / name).lstat() for name in FILES}
        said = refused(tmp_path, *options)
        name = "external_memory.bin" if options else "mesimulator_aximm_port"
        assert said.splitlines()[-1] == (
            f"error: memtile serve: mesim_output/{name} is in use by the memtile serve of process "
            f"{first.process.pid}, which is running (the files by which clients find a server). Stop that "
            "server, or start this one in another folder or with another --port-file."
        )
        for name, facts in before.items():
            assert os.path.samestat((first.port_file.parent / name).lstat(), facts)
        client = first.client(0)
        client.write32(LOW, 4)
        assert client.read32(LOW) == 4
        client.close()
        assert first.stop() == 0
    assert list(first.port_file.parent.iterdir()) == []


def test_the_files_of_a_killed_server_do_not_hinder(tmp_path: Path) -> None:
    with serving(tmp_path, "--token", "x" * 20, *MEMORY, cold=True) as first:
        first.stop(signal.SIGKILL)
    assert {path.name for path in first.port_file.parent.iterdir()} >= {*FILES, "memtile_token"}
    first.port_file.unlink()  # for the helper, which waits for it
    with serving(tmp_path, *MEMORY) as second:
        client = second.client(0)
        assert client.read32(LOW) == 0
        client.close()
        assert second.stop() == 0


def test_a_server_whose_folder_was_removed_leaves_the_next_one_alone(tmp_path: Path) -> None:
    with serving(tmp_path, *MEMORY, cold=True) as first:
        shutil.rmtree(first.port_file.parent)
        with serving(tmp_path, *MEMORY, cold=True) as second:
            assert first.stop() == 0
            assert {path.name for path in second.port_file.parent.iterdir()} >= set(FILES)
            client = second.client(0)
            client.write32(LOW, 1)
            assert client.read32(LOW) == 1
            client.close()


def shorten_by_open(path: Path) -> None:
    path.open("wb").close()


def shorten_by_truncate(path: Path) -> None:
    os.truncate(path, 0)


def shorten_mapped(path: Path) -> None:
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0):
        os.ftruncate(file.fileno(), 4096)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has sealed files")
@pytest.mark.parametrize("shorten", [shorten_by_open, shorten_by_truncate, shorten_mapped])
def test_external_memory_cannot_be_shortened_and_nothing_is_lost(tmp_path: Path, shorten: object) -> None:
    saved = tmp_path / "saved.npy"
    with serving(tmp_path, "--memory", f"{LOW:#x}:64K={saved}", "--save-memory") as running:
        client = running.client(0)
        client.write32(LOW + 0xFFFC, 7)
        assert client.read32(LOW + 0xFFFC) == 7
        assert callable(shorten)
        with pytest.raises(PermissionError, match="Operation not permitted"):
            shorten(contents(running))
        with pytest.raises(PermissionError):
            os.truncate(contents(running), 1 << 20)
        client.write32(LOW, 8)
        assert [client.read32(LOW), client.read32(LOW + 0xFFFC)] == [8, 7]
        with contents(running).open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
            assert mapped[:4] == b"\x08\0\0\0"
            mapped[4] = 9
        assert client.read32(LOW + 4) == 9
        client.close()
        assert running.stop() == 0
    assert np.load(saved)[[0, 1, -1]].tolist() == [8, 9, 7]


def test_a_client_that_removes_the_files_takes_nothing_from_the_server(tmp_path: Path) -> None:
    with serving(tmp_path, *MEMORY) as running:
        client = running.client(0)
        client.write32(LOW, 3)
        for name in FILES[1:]:
            (running.port_file.parent / name).unlink()
        assert client.read32(LOW) == 3
        client.close()
        assert running.stop() == 0


def test_files_to_save_to_are_asked_for(tmp_path: Path) -> None:
    for memories in ([], MEMORY):
        options = ["serve", "--save-memory", "--port-file", str(tmp_path / "port"), *memories]
        done = CliRunner().invoke(app, options)
        assert done.exit_code == 2
        flat = " ".join(done.stderr.replace("│", " ").split())
        assert (
            "--save-memory writes each FILE.npy of --memory ADDRESS:SIZE=FILE.npy, and there is none." in flat
        )
        assert not (tmp_path / "port").exists()


def test_a_file_of_another_server_stays_though_it_could_have_the_inode_of_a_removed_one(
    tmp_path: Path,
) -> None:
    path = tmp_path / "port"
    with own_files.placed(path, lambda draft: own_files.write_private(draft, "first")):
        path.unlink()
        path.write_text("next")
    assert path.read_text() == "next"


def test_a_lock_that_cannot_be_written_names_its_file_and_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = tmp_path / "port.lock"

    def full(path: Path, _: object) -> IO[bytes]:
        path.touch()
        return open("/dev/full", "ab", buffering=0)

    monkeypatch.setattr(own_files, "locked_file", full)
    said = "port: the file cannot be written: "
    with pytest.raises(InputFileError, match=said), own_files.claimed(tmp_path / "port"):
        pass
    assert not lock.exists()
