"""Files of register writes for ``memtile run``: read, run on the device that they are for, shown."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from memtile.cli.array_file import parse_wanted, read_given, save
from memtile.cli.program_files import brought, read_programs
from memtile.cli.waveform_file import WaveformFile

if TYPE_CHECKING:
    from memtile.explain.results import Result
    from memtile.io.program.run import ProgramResult

Format = Literal["auto", "txn", "cdo", "dump", "xclbin", "pdi", "elf"]


@dataclass(frozen=True, slots=True)
class ProgramOptions:
    """The options of ``memtile run`` that are for files of register writes."""

    given: Sequence[str] = ()
    wanted: Sequence[str] = ()
    device: str | None = None
    format: Format = "auto"
    base: int = 0
    kernels: str | None = None
    pad_arguments: bool = False
    keep_order: bool = False
    kernel: str | None = None


def run_files(
    files: Sequence[str],
    options: ProgramOptions,
    dump: WaveformFile,
    *,
    max_cycles: int,
    untimed: bool,
    as_json: bool,
    draw: Callable[[Result], None],
) -> Result:
    """Run files one after another as one program, save the wanted arrays, draw, and show what happened."""
    from memtile.cli.design_file import guarded
    from memtile.cli.kernels_file import load_kernels
    from memtile.cli.progress import run_progress
    from memtile.design.array import Array
    from memtile.io.program.device import device_of
    from memtile.io.program.file_order import ordered
    from memtile.io.program.run import run_program

    wanted = [parse_wanted(text) for text in options.wanted]
    given = [read_given(text) for text in options.given]
    form = None if options.format == "auto" else options.format
    programs, notes = read_programs(files, form, options.base, options.kernel)
    more, said = brought(programs, given)
    kernels = load_kernels(options.kernels) if options.kernels else {}
    device, shape = device_of(programs, options.device)
    programs, order = (programs, "") if options.keep_order else ordered(programs, shape)
    operations = [operation for program in programs for operation in program.operations]
    array = Array(device.name, shape.columns)
    with run_progress(untimed=untimed) as progress, dump.recorded(array.engine):
        done = guarded(
            options.kernels or "",
            lambda: run_program(
                operations,
                array,
                [*given, *more],
                [each for each, _ in wanted],
                kernels=kernels,
                pad_arguments=options.pad_arguments,
                max_cycles=max_cycles,
                untimed=untimed,
                progress=progress,
            ),
        )
    said = [*notes, *filter(None, [order]), *said]
    paths = {each.name: path for each, path in wanted}
    for name, path in paths.items():
        save(path, done.arrays[name])
    draw(done.result)
    show_program(done, said, paths, device.name, as_json=as_json)
    return done.result


def show_program(
    done: ProgramResult, notes: Sequence[str], paths: dict[str, Path], device: str, *, as_json: bool
) -> None:
    """Show what a program left: notes first, then what became of its buffers and where arrays are."""
    done = replace(done, notes=(*notes, *done.notes))
    if as_json:
        typer.echo(json.dumps(_json(done, paths, device), indent=2))
    else:
        _show(done, paths)


def _show(done: ProgramResult, paths: dict[str, Path]) -> None:
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


def _json(done: ProgramResult, paths: dict[str, Path], device: str) -> dict[str, Any]:
    return done.result.as_json() | {
        "device": device,
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
