"""The options of ``memtile serve`` that are its own, with what ``--help`` says about each."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DeviceName = Annotated[str, typer.Option(help="Device to be, see memtile info.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="TCP port; 0 takes any free one.")]
HostName = Annotated[str, typer.Option(help="Address to listen on; the default is this machine only.")]
Token = Annotated[
    str | None,
    typer.Option(
        metavar="TOKEN",
        envvar="MEMTILE_TOKEN",
        help="What clients must begin with; with --host of other machines one is made.",
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
    bool, typer.Option("--save-memory", help="At the end write each FILE.npy with what its memory holds.")
]
History = Annotated[
    bool, typer.Option("--history", help="Note every cycle, for memtile explain --server --report.")
]
DesignName = Annotated[
    str,
    typer.Option(
        "--design", metavar="DESIGN.py|DESIGN.mlir|BUILD", help="The design that clients run: its names."
    ),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Where it listens as JSON on stdout, in one line; errors too.")
]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Tell every problem instead of the first and a count.")
]
