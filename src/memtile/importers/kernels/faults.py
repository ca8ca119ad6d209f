"""What goes wrong while a core body runs: an error of the operation that its line of Python came from.

Generated lines end with the number of their operation (``source.Lines``). Functions of ``arithmetic`` that
may fail get that number, so that compiled code, which knows no lines, can say it too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from types import TracebackType

from memtile.errors import InputFileError
from memtile.importers.kernels.arithmetic import ENDLESS, NUMBER, OUTSIDE, SHIFT, STEP, ZERO, BodyError
from memtile.importers.mlir.forms.faults import operation_error
from memtile.importers.mlir.tree import Operation
from memtile.sim.kernel_lines import Said

_SITE = re.compile(r"# at (\d+)$")
_LONGEST = 100  # characters of a Python message that are shown
_USERS = "timed"  # function that calls those of the user

Source = Mapping[str, str]
"""Generated Python by the name of its file."""


class UntypedError(Exception):
    """A piece has no types that a compiler finds.

    Args:
        file: its name.
        line: of its source; 0 if nobody knows.
        says: what the compiler found.
    """

    def __init__(self, file: str, line: int, says: str) -> None:
        super().__init__(says)
        self.file, self.line = file, line


@contextmanager
def told(sources: Source, sites: Sequence[Operation]) -> Iterator[None]:
    """What fails within, in generated lines, is an error of the operation that they came from.

    Args:
        sources: of the body and of its pieces.
        sites: operations by their number.

    Raises:
        InputFileError: in the place of what was raised. What functions of the user raise passes.
    """
    try:
        yield
    except BodyError as error:
        site, code, one, other = error.args
        says, allowed, reason = _FAULTS[code](one, other)
        raise operation_error(sites[site], says, allowed, reason=reason) from error
    except UntypedError as error:
        operation = _at(sources, sites, error.file, error.line)
        says = f"its types do not fit each other: {str(error)[:_LONGEST]}"
        raise _body_error(operation, says) from error
    except (ArithmeticError, LookupError, NameError, TypeError, ValueError, AttributeError) as error:
        found = _line_of(sources, error.__traceback__)
        if found is None:
            raise
        operation = _at(sources, sites, *found)
        says = f"it cannot be computed: {_cause(error)}"
        raise _body_error(operation, says) from error


def said_in(source: str, sites: Sequence[Operation]) -> Said:
    """The text that generated Python was made of.

    Args:
        source: of the body, or of a piece of it.
        sites: operations by their number; the first one is the core.
    """
    lines, text = source.split("\n"), sites[0].tokens.text

    @cache
    def line_of(line: int) -> int:
        operation = _nearest(lines, sites, line)
        tokens = operation.tokens
        return tokens.text.place(tokens.offset(operation.at))[0]

    return Said(text.name, line_of)


def _body_error(operation: Operation, says: str) -> InputFileError:
    return operation_error(operation, says, "values of the types that it needs", reason="mlir_body")


def _cause(error: Exception) -> str:
    if isinstance(error, NameError):
        return "a value that it uses has not been computed yet"
    return f"{type(error).__name__}: {str(error)[:_LONGEST]}".rstrip(".")


def _line_of(sources: Source, traceback: TracebackType | None) -> tuple[str, int] | None:
    """File and line of the generated code that failed; None if a function of the user did."""
    found = None
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code.co_filename in sources:
            found = code.co_filename, traceback.tb_lineno
        elif code.co_name == _USERS:
            found = None
        traceback = traceback.tb_next
    return found


def _at(sources: Source, sites: Sequence[Operation], file: str, line: int) -> Operation:
    """The operation of a line: its own, else of the nearest line before it that has one."""
    return _nearest(sources.get(file, "").split("\n"), sites, line)


def _nearest(lines: Sequence[str], sites: Sequence[Operation], line: int) -> Operation:
    for text in reversed(lines[:line]):
        number = _SITE.search(text)
        if number:
            return sites[int(number[1])]
    return sites[0]


Says = tuple[str, str, str]
_FAULTS: Mapping[int, Callable[[int, int], Says]] = {
    OUTSIDE: lambda index, size: (
        f"index {index} is outside of {size} elements",
        f"0..{size - 1}",
        "mlir_index",
    ),
    ZERO: lambda number, _: (f"{number} is divided by zero", "another number than 0", "mlir_division"),
    SHIFT: lambda count, bits: (f"it shifts by {count}", f"0..{bits - 1}", "mlir_shift"),
    NUMBER: lambda _, __: (
        "a number that is infinite or none is made whole",
        "finite numbers",
        "mlir_number",
    ),
    STEP: lambda step, _: (f"its step is {step}", "1 or more", "mlir_loop"),
    ENDLESS: lambda cycles, most: (
        f"{cycles} cycles pass in it without an end",
        f"up to {most} cycles between two synchronisations",
        "mlir_endless",
    ),
}
