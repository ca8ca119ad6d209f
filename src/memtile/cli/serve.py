"""``memtile serve``: an array that AMD's open driver programs over its simulator socket.

It also has the options of ``memtile serve`` that are its own, with what ``--help`` says about each.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memtile.cli import run_options as options
from memtile.cli.failure import UsageError
from memtile.cli.run_options import TimingConstants, parse_timing
from memtile.cli.served_files import ServedFiles
from memtile.plain_text import json_text, printable
from memtile.runs.options import USUAL, RunOptions

if TYPE_CHECKING:
    from memtile.design.array import Array
    from memtile.runs.live_run import LiveRun

DeviceName = Annotated[str, typer.Option(help="Device to serve; see memtile info.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="TCP port; 0 takes any free one.")]
HostName = Annotated[str, typer.Option(help="Address to listen on; the default is this machine only.")]
Token = Annotated[
    str | None,
    typer.Option(
        metavar="TOKEN",
        envvar="MEMTILE_TOKEN",
        help="Token that clients must send first; generated if --host admits other machines.",
    ),
]
PortFile = Annotated[
    Path | None,
    typer.Option(help="File for the port number.", show_default="mesim_output/mesimulator_aximm_port"),
]
CyclesPerRead = Annotated[
    int | None, typer.Option(min=0, help="Array cycles before each read.", show_default="200")
]
CyclesPerAccess = Annotated[
    int | None,
    typer.Option(min=0, help="Array cycles between two accesses, as access_cycles.", show_default="20"),
]
Memory = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ADDRESS:SIZE[=FILE.npy]",
        help="External memory of SIZE bytes (K, M, G) at ADDRESS, with what FILE.npy holds or zeros. "
        "Again for more.",
    ),
]
SaveMemory = Annotated[
    bool, typer.Option("--save-memory", help="At the end write each memory to its FILE.npy.")
]
History = Annotated[
    bool, typer.Option("--history", help="Record every cycle, for memtile explain --server --report.")
]
DesignName = Annotated[
    str,
    typer.Option(
        "--design",
        metavar="DESIGN.py|DESIGN.mlir|BUILD",
        help="The design that clients run: its names, and what its cores do once they enable them.",
    ),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print the address it listens on as one line of JSON; errors too.")
]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Report every problem instead of the first and a count.")
]


EXAMPLES = """\b
Examples:
  memtile serve
  memtile serve --device xcve2802 --port 5555
  memtile serve --cycles-per-access 100
  memtile serve --timing external_latency=200
  memtile serve --host 0.0.0.0 --port 5555
  memtile serve --port-file run/mesim_output/mesimulator_aximm_port
  memtile serve --memory 0x100000000:64K --memory 0x200000000:1M=weights.npy
  memtile serve --check --design design.mlir
  memtile serve --design design.mlir --kernels functions.py --memory 0x100000000:1M
  memtile serve --report run.html --record run.json
"""


_NO_FILE = (
    "--save-memory writes each FILE.npy of --memory ADDRESS:SIZE=FILE.npy, and there is none. "
    "Give the memory a file."
)


@options.running("check")
def serve(
    device: DeviceName = "npu1",
    port: Port = 0,
    host: HostName = "",
    token: Token = None,
    port_file: PortFile = None,
    cycles_per_read: CyclesPerRead = None,
    cycles_per_access: CyclesPerAccess = None,
    timing: TimingConstants = None,
    memory: Memory = None,
    save_memory: SaveMemory = False,
    of_run: RunOptions = USUAL,
    history: History = False,
    report: options.ReportFile = None,
    perfetto: options.Perfetto = None,
    record: options.Record = None,
    design: DesignName = "",
    kernels: options.Kernels = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Serve an array to AMD's open driver until Ctrl-C; what happens is logged on stderr.

    Cores of --design run their bodies from when a client enables them; --kernels has functions that they
    call, or kernels by core, as in memtile run.

    Time passes only with accesses: some cycles between any two of them, more before a read.

    Findings about the array, with --check also races, are reported at the end, and when a client disconnects
    or polls a word that cannot change. Files are written at the end; memtile explain --server asks earlier.
    """
    import asyncio

    from memtile.arch.timing import chosen_timing
    from memtile.hosts.address_space import CYCLES_PER_READ, AddressSpace
    from memtile.hosts.admission import check_token
    from memtile.hosts.driver_socket import LOOPBACK, PORT_FILE, DriverServer
    from memtile.hosts.external_memory import parse_memories, served_memory

    cycles = CYCLES_PER_READ if cycles_per_read is None else cycles_per_read
    path = port_file or PORT_FILE
    files = ServedFiles(report, perfetto, record, design, kernels)
    files.refuse()
    known = check_token(token) if token is not None else None
    requests = parse_memories(memory or [])
    if save_memory and not any(request.file for request in requests):
        raise UsageError(_NO_FILE)
    constants = _constants(timing, cycles_per_access)
    with chosen_timing(constants), served_memory(requests, path.parent, _log, keep=save_memory) as memories:

        def act(run: LiveRun) -> None:
            space = AddressSpace(run.array, cycles, memories, run.cores)
            answers, announce = files.answers(run), _announce if as_json else None
            server = DriverServer(
                space, _log, every=verbose, token=known, listening=announce, watched=run, ask=answers
            )
            asyncio.run(server.run(host or LOOPBACK, port, path))
            files.write(answers, _log)

        files.run(_array(device), act, cycles, replace(of_run, history=history))


def _constants(timing: list[str] | None, cycles_per_access: int | None) -> dict[str, int]:
    """The timing constants that are given."""
    constants = parse_timing(timing or ())
    if cycles_per_access is not None:
        if "access_cycles" in constants:
            raise typer.BadParameter("--cycles-per-access is --timing access_cycles. Give one of them.")
        constants["access_cycles"] = cycles_per_access
    return constants


def _array(device: str) -> Array:
    """The array that is served; the log says which of its timing constants are not the defaults."""
    from memtile.arch.timing import as_text, changed
    from memtile.design.array import Array

    array = Array(device)
    if values := changed(array.engine.timing, array.engine.board):
        _log(f"timing changed: {as_text(values, array.engine.board)}")
    return array


def _announce(host: str, port: int, port_file: Path, token_file: Path | None) -> None:
    """For whoever starts the server and waits for it."""
    where = {"host": host, "port": port, "port_file": str(port_file)}
    if token_file is not None:
        where["token_file"] = str(token_file)
    typer.echo(json_text({"listening": where}))
    sys.stdout.flush()


def _log(text: str) -> None:
    typer.echo(f"memtile serve: {printable(text)}", err=True)
