"""MLIR files for ``memtile run``: loaded, compared with a build, run, shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtile.cli.array_file import parse_wanted, read_given
from memtile.cli.run_program import ProgramOptions, finish, scheduled
from memtile.cli.studies import Studies
from memtile.cli.waveform_file import WaveformFile
from memtile.errors import InputFileError
from memtile.input_files import read_text
from memtile.io.formats.json_text import parse_json

if TYPE_CHECKING:
    from memtile.arch.core_costs import CoreCosts
    from memtile.explain.results import Result
    from memtile.importers.loaded import Loaded
    from memtile.io.program.run import ProgramResult
    from memtile.runs.options import RunOptions

SUFFIX = ".mlir"


def run_mlir(
    file: str,
    options: ProgramOptions,
    of_run: RunOptions,
    dump: WaveformFile,
    *,
    against: Path | None,
    costs: Path | None,
    settings: Sequence[str],
    schedules: int,
    as_json: bool,
    draw: Callable[[Result], None],
    studies: Studies,
) -> Result:
    """Load a design, run its host sequence, save the wanted arrays, and show what happened.

    Raises:
        InputFileError: the text, the functions, the costs or the build.
    """
    from memtile.cli.progress import run_progress
    from memtile.importers.design_file import guarded

    wanted = [parse_wanted(text) for text in options.wanted]
    made = _maker(file, options, settings, costs)

    def run_it(design: Loaded, how: RunOptions) -> ProgramResult:
        given = [read_given(text) for text in options.given]
        taken = [each for each, _ in wanted]
        return guarded(options.kernels or "", lambda: design.run_with(given, taken, options=how))

    design = made()
    notes: list[str] = []
    if against is not None:
        from memtile.importers.against import compare

        notes.append(compare(design, against).text)
    with run_progress(untimed=of_run.untimed) as progress, dump.recorded(design.array.engine):
        done = run_it(design, replace(of_run, progress=progress))
    again = of_run.run_again()
    done = scheduled(done, lambda: run_it(made(), replace(again, check=True)), schedules)
    inputs = [file, *filter(None, [options.kernels]), *(text.partition("=")[2] for text in options.given)]
    result = studies.of(
        done.result,
        design.array.engine,
        lambda: run_it(made(), again).result,
        inputs,
        design.notes,
        device=design.array.device,
    )
    done = replace(done, result=result)
    finish(done, wanted, notes, design.array.device.name, as_json=as_json, draw=draw)
    return result


def _maker(
    file: str, options: ProgramOptions, settings: Sequence[str], costs: Path | None
) -> Callable[[], Loaded]:
    """What loads the design, each time anew."""
    from memtile.cli.kernels_file import load_functions
    from memtile.importers.design import load

    functions = load_functions(options.kernels) if options.kernels else {}
    parameters, known = parameters_of(settings), _costs(costs)
    return lambda: load(file, device=options.device, functions=functions, parameters=parameters, costs=known)


def parameters_of(texts: Sequence[str]) -> dict[str, float]:
    """Parameters of the scratchpad, ``NAME=NUMBER``.

    Raises:
        InputFileError: a text of another form, a name given twice.
    """
    found: dict[str, float] = {}
    for text in texts:
        name, _, value = text.partition("=")
        if name in found:
            raise InputFileError(f"command line: --set gives the parameter {name} twice.")
        try:
            found[name] = int(value, 0)
        except ValueError:
            try:
                found[name] = float(value)
            except ValueError:
                says = f"--set is {text!r}; for MLIR it must be NAME=NUMBER, a parameter"
                raise InputFileError(f"command line: {says}.") from None
    return found


def _costs(file: Path | None) -> CoreCosts | None:
    """Cycles of operations from a JSON file, by class."""
    if file is None:
        return None
    from memtile.arch.core_costs import CoreCosts

    given: Any = parse_json(read_text(file), str(file))
    known = [each.name for each in fields(CoreCosts)]
    wrong = [name for name in given if name not in known] if isinstance(given, dict) else ["no object"]
    if wrong:
        raise InputFileError(f"{file}: {', '.join(wrong)}; classes of operations are {', '.join(known)}.")
    return CoreCosts(**given)
