"""Can a C program that calls the seven ess_* functions be linked, and meet what ``memtile serve`` serves?"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from memtile.cli.main import app
from memtile.hosts.linked import SOURCES
from simulator_client import Server, serving

STRICT = ["-std=c11", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
NAMES = ("Write32", "Read32", "NpiWrite32", "NpiRead32", "WriteGM", "ReadGM", "WriteCmd")


def written(folder: Path) -> Path:
    done = CliRunner().invoke(app, ["host-source", str(folder)])
    assert done.exit_code == 0
    assert done.stdout == "".join(f"{folder / name}\n" for name in SOURCES)
    return folder


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled host program."""
    compiler = shutil.which("cc")
    if compiler is None and "CI" not in os.environ:
        pytest.skip("no cc on the PATH (Debian package gcc); a build server must have it")
    assert compiler is not None, "a C compiler is missing"
    folder = written(tmp_path_factory.mktemp("linked") / "twin")
    host = Path(__file__).with_name("linked_host.c")
    made = folder / "host"
    command = [compiler, *STRICT, str(host), str(folder / "memtile_ess.c"), f"-I{folder}", "-o", str(made)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return made


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with serving(tmp_path, "--memory", "0x100000000:64K", "--memory", "0x100010000:64K") as running:
        yield running


def run(program: Path, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, **environment}
    return subprocess.run([program], cwd=folder, env=env, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("way", ["mapped", "over the socket"])
def test_a_linked_host_moves_data_through_the_array(server: Server, program: Path, way: str) -> None:
    """Without the file of the contents, as on another file system, all of it goes over the socket."""
    folder = server.port_file.parent
    if way == "over the socket":
        (folder / "external_memory.bin").unlink()
    done = run(program, folder.parent)
    assert done.stdout == "all well\n", done
    assert done.returncode == 1
    assert done.stderr == (
        "memtile host: command 1 for tile (2, 3) has no effect here: 0x4 0x5 kernel.elf\n"
        "memtile host: no external memory is at 0x100020000; start memtile serve with --memory ADDRESS:SIZE\n"
    )
    assert server.stop() == 0
    assert ", 0 malformed, 0 refused" in server.log
    reads = int(re.findall(r"([\d,]+) reads", server.log)[-1].replace(",", ""))
    assert (reads > 600) == (way == "over the socket")


def test_the_port_file_may_be_elsewhere(server: Server, program: Path, tmp_path: Path) -> None:
    away = tmp_path / "away"
    away.mkdir()
    assert run(program, away, MEMTILE_PORT_FILE=str(server.port_file)).stdout == "all well\n"


def test_without_a_server_the_host_ends_with_a_message(program: Path, tmp_path: Path) -> None:
    done = run(program, tmp_path)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "memtile host: mesim_output/mesimulator_aximm_port cannot be read: No such file or directory. Start "
        "memtile serve first, in this folder"
    )
    port = tmp_path / "port"
    port.write_text("1")
    refused = run(program, tmp_path, MEMTILE_PORT_FILE=str(port))
    assert refused.returncode == 1
    assert f"no server at port 1, which {port} names: Connection refused" in refused.stderr


def test_the_header_declares_the_seven_functions(tmp_path: Path) -> None:
    header = (written(tmp_path) / "main_rts.h").read_text(encoding="ascii")
    assert sorted(re.findall(r"\bess_(\w+)\(", header)) == sorted(NAMES)


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    done = CliRunner().invoke(app, ["host-source", str(tmp_path / "taken")])
    assert done.exit_code == 2
    assert f"{tmp_path / 'taken'}: the folder cannot be written: " in done.stderr
