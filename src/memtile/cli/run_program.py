"""Files of register writes for ``memtile run``: read, run on the device that they are for, shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from memtile.cli.array_file import parse_wanted, read_given, save
from memtile.cli.program_files import ProgramFiles, read_programs
from memtile.cli.studies import Studies
from memtile.cli.waveform_file import WaveformFile
from memtile.plain_text import json_text

if TYPE_CHECKING:
    from memtile.explain.results import Result
    from memtile.importers.bodies.container import Container
    from memtile.io.program.array_names import Wanted
    from memtile.io.program.run import ProgramResult
    from memtile.runs.options import RunOptions

Format = Literal["auto", "txn", "cdo", "dump", "asm", "xclbin", "pdi", "elf"]


@dataclass(frozen=True, slots=True)
class ProgramOptions:
    """The options of ``memtile run`` that are for files of register writes."""

    given: Sequence[str] = ()
    wanted: Sequence[str] = ()
    device: str | None = None
    format: Format = "auto"
    base: int = 0
    kernels: str | None = None
    keep_order: bool = False
    kernel: str | None = None


def run_files(
    files: Sequence[str],
    options: ProgramOptions,
    of_run: RunOptions,
    dump: WaveformFile,
    *,
    schedules: int,
    as_json: bool,
    draw: Callable[[Result], None],
    studies: Studies,
) -> Result:
    """Run files one after another as one program, save the wanted arrays, draw, and show what happened."""
    from memtile.cli.progress import run_progress
    from memtile.importers.design_file import guarded
    from memtile.io.program.brought import brought

    wanted = [parse_wanted(text) for text in options.wanted]
    form = None if options.format == "auto" else options.format
    read = read_programs(files, form, options.base, options.kernel)

    def run_it(found: Container, how: RunOptions) -> ProgramResult:
        given = [read_given(text) for text in options.given]
        taken = [each for each, _ in wanted]
        return guarded(options.kernels or "", lambda: found.run(given, taken, options=how))

    def again(how: RunOptions) -> ProgramResult:
        return run_it(container_of(read, options), how)

    found, once_more = container_of(read, options), of_run.run_again()
    with run_progress(untimed=of_run.untimed) as progress, dump.recorded(found.array.engine):
        done = run_it(found, replace(of_run, progress=progress))
    done = scheduled(done, lambda: again(replace(once_more, check=True)), schedules)
    inputs = [*map(str, read.paths), *(text.partition("=")[2] for text in options.given)]
    result = studies.of(
        done.result,
        found.array.engine,
        lambda: again(once_more).result,
        inputs,
        device=found.array.device,
    )
    given = [read_given(text) for text in options.given]
    said = [*read.notes, *found.notes, *brought(read.programs, given)[1]]
    finish(replace(done, result=result), wanted, said, found.device.name, as_json=as_json, draw=draw)
    return result


def scheduled(done: ProgramResult, again: Callable[[], ProgramResult], schedules: int) -> ProgramResult:
    """What a program left, with what so many more schedules of it have found."""
    from memtile.design.run import with_schedules

    def once() -> tuple[Result, Mapping[str, Any]]:
        found = again()
        return found.result, found.arrays

    return replace(done, result=with_schedules(done.result, done.arrays, once, schedules))


def finish(
    done: ProgramResult,
    wanted: Sequence[tuple[Wanted, Path]],
    notes: Sequence[str],
    device: str,
    *,
    as_json: bool,
    draw: Callable[[Result], None],
) -> None:
    """Save the wanted arrays, draw, and show what happened."""
    paths = {each.name: path for each, path in wanted}
    for name, path in paths.items():
        save(path, done.arrays[name])
    draw(done.result)
    show_program(done, notes, paths, device, as_json=as_json)


def container_of(read: ProgramFiles, options: ProgramOptions) -> Container:
    """The files in order, with the kernels that the user gave, else with bodies of MLIR text."""
    from memtile.cli.kernels_file import KernelsFile, load_kernels
    from memtile.importers.bodies.container import container
    from memtile.importers.bodies.texts import beside, check_text

    text = options.kernels if options.kernels and Path(options.kernels).suffix == ".mlir" else None
    if text:
        check_text(Path(text))
    texts = [Path(text)] if text else beside(read.paths)
    given = KernelsFile({}, {})
    if options.kernels and not text:
        given = load_kernels(options.kernels, with_text=bool(texts))
    return container(
        read.programs,
        texts,
        device=options.device,
        functions=given.functions,
        kernels=given.kernels,
        names=[*filter(None, [options.kernel]), *read.names],
        keep_order=options.keep_order,
    )


def show_program(
    done: ProgramResult, notes: Sequence[str], paths: dict[str, Path], device: str, *, as_json: bool
) -> None:
    """Show what a program left: notes first, then what became of its buffers and where arrays are."""
    done = replace(done, notes=(*notes, *done.notes))
    if as_json:
        typer.echo(json_text(_json(done, paths, device), indent=2))
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
