"""A program of IRON as a design with parameters: options of its command line, and ``CompileTime`` values."""

from __future__ import annotations

import argparse
import contextlib
import inspect
import io
import os
import sys
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from traceback import walk_tb
from types import MappingProxyType
from typing import Any, Literal, cast

import numpy as np

from memtile.arch.devices import device as find_device
from memtile.design.run_design import make
from memtile.errors import InputFileError, MemtileError
from memtile.importers.design_file import aside, design_function, is_program
from memtile.importers.hosted_array import HostedArray, Verdict
from memtile.importers.loaded import Loaded
from memtile.importers.text_design import SUFFIX, TextDesign
from memtile.iron.aie_names import only_ours
from memtile.iron.comparisons import expected_of
from memtile.iron.kernel import ExternalFunction
from memtile.iron.program_file import run
from memtile.iron.taking import DesignTakenError, Taking, taking
from memtile.runs.program import Run

_DEVICE = "MEMTILE_DEVICE"
_DEVICES = ("device", "dev")
"""Options by which programs are told their device."""
_OF_DEVICE = inspect.Parameter("device", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=str | None)
_KINDS = (int, float, str)
_DEVICE_OPERATION = "aie.device"


class ProgramDesign:
    """A program as a design function: its parameters are named arguments, and it gives an array.

    Args:
        file: of the program.
        arguments: of its command line, that are there whatever the parameters are.
        device: for a program that chooses none; empty = as the environment says.
        loading: what is said of its kernels, see ``Taking``.

    Attributes:
        varied_by_name: a sweep varies what it is told to; choices of an option are no range to search.

    Raises:
        InputFileError: the file cannot be read or is not Python.
    """

    varied_by_name = True

    def __init__(
        self,
        file: str,
        arguments: Sequence[str] = (),
        device: str = "",
        loading: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self.file, self.arguments, self.device = file, list(arguments), device
        self.loading = loading
        self.__name__ = Path(file).stem
        found = Taking(loading=loading)
        try:
            with _silent(), contextlib.redirect_stderr(io.StringIO()):  # the run that counts says it again
                self._taken({}, found, device)
        except MemtileError:
            if not found.options and not found.designs:
                raise  # else it has told its options by then, and may need values for them
        own = list(_parameters(found))
        self._has_device = any(each.name in _DEVICES for each in own)
        self.__signature__ = inspect.Signature(own if self._has_device else [*own, _OF_DEVICE])

    def __call__(self, **values: Any) -> HostedArray:
        """The array of the design that the program runs first, or builds last if it runs none.

        memtile's own IRON builds it, also where mlir-aie is installed.

        Args:
            values: of parameters; those that are as the program has them are left to it.

        Raises:
            InputFileError: the program fails, or has no design; a value that it does not take; a device for
                a program that chooses another.
            MemtileError: a design that the array cannot hold.
        """
        known = self.__signature__.parameters
        chosen = {name: value for name, value in values.items() if value != known[name].default}
        asked = "" if self._has_device else chosen.pop(_OF_DEVICE.name, "")
        device = asked or self.device
        found = self._taken(chosen, Taking(loading=self.loading), device)
        made = taken_array(self.file, found)
        if asked and find_device(asked).generation != made.device.generation:
            raise InputFileError(
                f"{self.file}: device is {asked}, and the program chooses {made.device.name} itself. Leave "
                f"it out, or have the program call iron.get_current_device()."
            )
        if found.loaded is not None:
            made.verdict = lambda done: self._verdict(chosen, found, done, device)
        return made

    def _verdict(self, values: Mapping[str, Any], found: Taking, done: Run, device: str) -> Verdict:
        """What the program says of a run of its design, and the words that it expected where it says no.

        The program runs again, and gets the run as the answer of its design.
        """
        again = Taking(compiled=found.compiled, arguments=found.arguments, answer=done, loading=self.loading)
        try:
            with only_ours(), _chosen(device), taking(values, again), _silent():
                run(self.file, self.arguments)
        except SystemExit as end:
            if end.code:
                return Verdict(f"the program ends with {end.code!r}", expected_of(done, end))
        except MemtileError as error:
            return Verdict(str(error), expected_of(done, error))
        return Verdict()

    def _taken(self, values: Mapping[str, Any], found: Taking, device: str) -> Taking:
        """Run the program until its design is there; ``found`` has what is known where it fails."""
        prints = contextlib.redirect_stdout(_WithoutModules(sys.stdout))
        with only_ours(), _chosen(device), taking(values, found), prints:
            _run_until_taken(self.file, self.arguments, found)
        return found


def _run_until_taken(file: str, arguments: Sequence[str], found: Taking) -> None:
    ExternalFunction._instances.clear()  # those of a program before, which may have the same names
    try:
        run(file, arguments)
    except DesignTakenError:
        pass
    except SystemExit as end:
        if not found.modules:
            raise InputFileError(f"{file}: {_ended(end)}{_to_set(found)}") from None


class _WithoutModules(io.TextIOBase):
    """Passes on what a program prints, but for its module, which is taken and may have thousands of lines.

    Args:
        below: what gets the rest.
    """

    def __init__(self, below: typing.TextIO) -> None:
        self._below, self._after_module = below, False

    def write(self, text: str) -> int:
        """Write what is not a module, nor the end of its last line."""
        is_module = text.lstrip().startswith("module") and _DEVICE_OPERATION in text
        if not is_module and not (self._after_module and text == "\n"):
            self._below.write(text)
        self._after_module = is_module
        return len(text)

    def flush(self) -> None:
        """Flush what was passed on."""
        self._below.flush()


def _silent() -> contextlib.AbstractContextManager[Any]:
    return contextlib.redirect_stdout(io.StringIO())


@contextlib.contextmanager
def _chosen(device: str) -> Iterator[None]:
    """Within ``with`` programs that do not choose a device are for this one; empty = as before."""
    if not device:
        yield
        return
    before = os.environ.get(_DEVICE)
    os.environ[_DEVICE] = find_device(device).name
    try:
        yield
    finally:
        os.environ.pop(_DEVICE)
        if before is not None:
            os.environ[_DEVICE] = before


def function_of(file: str, device: str = "") -> Callable[..., Any]:
    """The function that makes a design: ``design()``, a program of IRON with its options, or a text of MLIR.

    Args:
        file: of the design.
        device: for a program of IRON that chooses none; empty = as the environment says.

    Raises:
        InputFileError: the file cannot be read, is not Python or MLIR, or fails.
    """
    if file.endswith(SUFFIX):
        return TextDesign(file)
    return aside(lambda: ProgramDesign(file, device=device)) if is_program(file) else design_function(file)


def load_iron(file: str | Path, *arguments: str, **values: Any) -> Loaded:
    """Return the design of an IRON program: the first one it runs, or the last one it builds if it runs none.

    Args:
        file: of the program.
        arguments: of its command line.
        values: of its parameters: options, and ``CompileTime`` parameters of the design.

    Raises:
        InputFileError: the file cannot be read, is not Python, or has no design; or the program fails.
        MemtileError: names of unknown parameters, or a design that the array cannot hold.
    """
    made = aside(lambda: make(ProgramDesign(str(file), arguments), values, str(file)))
    return cast(HostedArray, made).loaded


def load_iron_still(file: str, arguments: Sequence[str] = ()) -> tuple[Loaded, Taking]:
    """The design of a program as it stands before it runs, and what was found on the way to it.

    The program runs once. Nothing is compiled: kernels of its cores have names only.

    Args:
        file: of the program.
        arguments: of its command line.

    Raises:
        InputFileError: as :func:`load_iron`.
        MemtileError: as :func:`load_iron`.
    """
    found = Taking(still=True)
    with only_ours(), taking({}, found):
        _run_until_taken(file, arguments, found)
        return found.loaded or _last_built(file, found), found


def taken_array(file: str, found: Taking) -> HostedArray:
    """The array of what was taken out of a program.

    Raises:
        InputFileError: the program runs no design and builds none.
    """
    if found.loaded is not None:
        return HostedArray.of(found.loaded, [_copy(each) for each in found.arguments])
    return HostedArray.of(_last_built(file, found))


def _last_built(file: str, found: Taking) -> Loaded:
    """The design of the last module that a program builds."""
    from memtile.iron.compiled_design import CompiledDesign
    from memtile.iron.running import load_design

    designs = [
        each for each in found.modules if any(op.name == _DEVICE_OPERATION for op in each.body.operations)
    ]
    if not designs:
        raise InputFileError(f"{file}: the program builds no design: no aie.device is in what it makes.")
    return load_design(CompiledDesign.of(designs[-1], file), found.loading)


def _copy(argument: Any) -> Any:
    """An argument as it is now: a run writes into a copy."""
    return argument.copy() if isinstance(argument, np.ndarray) else argument


def _ended(end: SystemExit) -> str:
    """Why there is no design where a program ends by itself."""
    if isinstance(end.code, str):
        return f"the program ends with {end.code!r} before its design is there."
    why = f" ({said})" if (said := _argparse_error(end)) else ""
    return f"the program ends with code {end.code or 0} before its design is there{why}."


def _to_set(found: Taking) -> str:
    """How the options are given that a program requires and was not given."""
    lacking = [f"--set {name}=VALUE" for name, action in found.options.items() if action.required]
    return f" Give them behind its name in memtile run, or with {' '.join(lacking)}." if lacking else ""


def _argparse_error(end: SystemExit) -> str:
    """What argparse says is wrong with a command line, which it only prints; empty if it did not end this."""
    frames = (frame for frame, _ in walk_tb(end.__traceback__))
    told = (
        each.f_locals.get("message")
        for each in frames
        if each.f_code is argparse.ArgumentParser.error.__code__
    )
    return next(filter(None, told), "")


def _parameters(found: Taking) -> Iterator[inspect.Parameter]:
    """Options of a program, then ``CompileTime`` parameters that are no options."""
    named = {
        name: (_option_kind(action), found.given.get(name, action.default))
        for name, action in found.options.items()
    }
    for design, values in found.designs[:1]:
        hints = typing.get_type_hints(design.mlir_generator, include_extras=False)
        signature = design.parameters.signature.parameters
        for name in design.parameters.compile:
            default = values.get(name, signature[name].default)
            named.setdefault(name, (hints.get(name, Any), default))
    for name, (kind, default) in named.items():
        yield inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _option_kind(action: argparse.Action) -> Any:
    """The type of an option's values; None too where nothing is its default."""
    if action.nargs == 0 or isinstance(action, argparse.BooleanOptionalAction):
        return bool
    kind: Any = action.type if action.type in _KINDS else str if action.type is None else Any
    if action.choices is not None:
        kind = Literal[tuple(action.choices)]
    return kind if action.default is not None else kind | None if kind is not Any else Any
