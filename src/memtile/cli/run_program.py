"""What a program left, shown: its arrays saved, then its result and what became of its buffers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from memtile.cli.array_file import save
from memtile.plain_text import json_text

if TYPE_CHECKING:
    from memtile.runs.array_names import Wanted
    from memtile.runs.program import Run


def save_arrays(done: Run, wanted: Sequence[tuple[Wanted, Path]]) -> dict[str, Path]:
    """Save the wanted arrays; their files by name."""
    paths = {each.name: path for each, path in wanted}
    for name, path in paths.items():
        save(path, done.arrays[name])
    return paths


def show_program(
    done: Run, notes: Sequence[str], paths: dict[str, Path], device: str, *, as_json: bool
) -> None:
    """Show what a program left: notes first, then what became of its buffers and where arrays are."""
    done = replace(done, notes=(*notes, *done.notes))
    if as_json:
        typer.echo(json_text(_json(done, paths, device), indent=2))
    else:
        _show(done, paths)


def _show(done: Run, paths: dict[str, Path]) -> None:
    from memtile.sheet import print_whole, stdout_console

    print_whole(stdout_console(), done.result)
    for note in done.notes:
        typer.echo(f"note: {note}")
    for buffer in done.buffers:
        contents = "given" if buffer.given else "zeros at first"
        typer.echo(f"buffer {buffer.name}: {buffer.region.text}; {contents}")
    for name, path in paths.items():
        array = done.arrays[name]
        typer.echo(f"saved {name}: {path}, {array.dtype} {_text(array.shape)}")
    for buffer in done.buffers:
        if buffer.region.writes and buffer.name not in paths:
            typer.echo(f"not saved: {buffer.name}, give --out {_option(buffer.name)}=FILE.npy")
    if done.stopped:
        typer.echo(f"stopped: {done.stopped}")


def _option(name: str) -> str:
    return name.removeprefix("argument ")


def _text(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape))


def launch_data(done: Run) -> dict[str, str] | None:
    """How a program was launched, and who says so."""
    return done.launch and {"dispatch": str(done.launch.dispatch), "why": done.launch.why}


def _json(done: Run, paths: dict[str, Path], device: str) -> dict[str, Any]:
    return done.result.as_json() | {
        "device": device,
        "launch": launch_data(done),
        "stopped": done.stopped or None,
        "notes": list(done.notes),
        "buffers": [
            {
                "name": buffer.name,
                "argument": buffer.region.argument,
                "address": None if buffer.region.argument is not None else f"{buffer.region.first:#x}",
                "bytes": buffer.words.nbytes,
                "touched": buffer.region.needed,
                "given": buffer.given,
                "read_by": buffer.region.reads,
                "written_by": buffer.region.writes,
            }
            for buffer in done.buffers
        ],
        "saved": [
            {
                "name": name,
                "file": str(path),
                "dtype": str(done.arrays[name].dtype),
                "shape": list(done.arrays[name].shape),
            }
            for name, path in paths.items()
        ],
    }
