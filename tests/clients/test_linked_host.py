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

from left_out import need_program
from memtile.cli.main import app
from support.driver.linked_programs import HOST, compiled, compiler, written
from support.driver.simulator_client import Server, serving

NAMES = ("Write32", "Read32", "NpiWrite32", "NpiRead32", "WriteGM", "ReadGM", "WriteCmd")


@pytest.fixture(scope="module", params=["c", "c++"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled host program."""
    return compiled(tmp_path_factory.mktemp("linked") / "twin", request.param)


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


PAGE = (Path(__file__).parents[2] / "docs" / "serve.md").read_text(encoding="utf-8")
COMMANDS = [line[2:] for line in PAGE.splitlines() if line.startswith(("$ cc ", "$ c++ ", "$ make -C "))]

DRIVER_MAKEFILE = """\
all:
\tmkdir -p ../include
\tcp xaiengine.h ../include
\t$(CC) $(CFLAGS) -fPIC -shared -Wl,-soname,libxaiengine.so.3 driver.c -o libxaiengine.so.3.5
\tln -sf libxaiengine.so.3.5 libxaiengine.so.3
\tln -sf libxaiengine.so.3 libxaiengine.so
"""
DRIVER_HEADER = """\
#ifndef __AIESIM__
#error "the driver of a linked host is built with -D__AIESIM__"
#endif
#include <stdint.h>
uint32_t driver_keeps(uint64_t address, uint32_t value);
"""
DRIVER_SOURCE = """\
#include "xaiengine.h"
#include "main_rts.h"
uint32_t driver_keeps(uint64_t address, uint32_t value) {
    ess_Write32(address, value);
    return ess_Read32(address);
}
"""
DRIVER_HOST = """\
#include <stdio.h>
#include <xaiengine.h>
#include "main_rts.h"
int main(void) {
    unsigned word = 7, seen = 0;
    ess_WriteGM(0x100000000, &word, 4);
    ess_ReadGM(0x100000000, &seen, 4);
    printf("%u %u\\n", driver_keeps(0x20000100000, 42), seen);
    return 0;
}
"""


def type_in(command: str, folder: Path) -> None:
    """Run a command of the page in a folder, as somebody types it."""
    done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, (command, done.stderr)


def test_the_commands_of_the_page_can_be_typed_as_they_stand(server: Server, tmp_path: Path) -> None:
    """From one folder, with nothing set; the driver is a stand-in with the folders of the real one."""
    compiler("c"), compiler("c++")
    need_program("make")
    folder = tmp_path / "clean"
    folder.mkdir()
    (folder / "mesim_output").symlink_to(server.port_file.parent)
    plain, plusplus, *driver = COMMANDS
    written(folder / "twin")
    for command, name in ((plain, "host.c"), (plusplus, "host.cpp")):
        shutil.copy(HOST, folder / name)
        type_in(command, folder)
        assert run(folder / "host", folder).stdout == "all well\n"
    sources = folder / "aie-rt" / "driver" / "src"
    sources.mkdir(parents=True)
    (sources / "Makefile.Linux").write_text(DRIVER_MAKEFILE)
    (sources / "xaiengine.h").write_text(DRIVER_HEADER)
    (sources / "driver.c").write_text(DRIVER_SOURCE)
    (folder / "host.c").write_text(DRIVER_HOST)
    assert [command.split()[0] for command in driver] == ["make", "cc"]
    for command in driver:
        type_in(command, folder)
    assert run(folder / "host", folder).stdout == "42 7\n"
