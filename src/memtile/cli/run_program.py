"""What a program left, shown: its arrays saved, then its result and what became of its buffers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from memtile.cli.array_file import save
from memtile.cli.screen import SCREEN, Shown, show_run
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
    done: Run,
    notes: Sequence[str],
    paths: dict[str, Path],
    device: str,
    *,
    as_json: bool,
    shown: Shown = SCREEN,
) -> None:
    """Show what a program left: its run, where its arrays are, notes, and what became of its buffers."""
    done = replace(done, notes=(*notes, *done.notes))
    if as_json:
        typer.echo(json_text(_json(done, paths, device), indent=2))
    else:
        show_run(done.result, shown, [*_lines(done, paths)], [*_buffer_lines(done)])


def _lines(done: Run, paths: dict[str, Path]) -> Iterator[str]:
    """What stopped the program, where its arrays are, and what is noted of it; what matters most first."""
    if done.stopped:
        yield f"stopped: {done.stopped}"
    for name, path in paths.items():
        array = done.arrays[name]
        yield f"saved {name}: {path}, {array.dtype} {_text(array.shape)}"
    for buffer in done.buffers:
        if buffer.region.writes and buffer.name not in paths:
            yield f"not saved: {buffer.name}, give --out {_option(buffer.name)}=FILE.npy"
    yield from (f"note: {note}" for note in sorted(done.notes, key=lambda note: "warning" not in note))


def _buffer_lines(done: Run) -> Iterator[str]:
    for buffer in done.buffers:
        contents = "given" if buffer.given else "zeros at first"
        yield f"buffer {buffer.name}: {buffer.region.text}; {contents}"


def _option(name: str) -> str:
    return name.removeprefix("argument ")


def _text(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape))


def launch_data(done: Run) -> dict[str, str] | None:
    """How a program was launched, and the source of that."""
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
