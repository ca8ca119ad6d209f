"""What goes wrong while a core body runs: an error of the operation that its line of Python came from.

A generated line is the number of its operation, and one (``quote.Lines``). Functions of ``arithmetic`` that
may fail get that number, so that compiled code, which knows no lines, can say it too.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from types import TracebackType

from memtile.importers.kernels.arithmetic import (
    AMOUNT,
    DIVISOR,
    ENDLESS,
    GAPS,
    NUMBER,
    OUTSIDE,
    OVERFLOW,
    QUOTIENT,
    SHIFT,
    SIZE,
    STEP,
    ZERO,
    BodyError,
)
from memtile.importers.mlir.forms.faults import operation_error
from memtile.importers.mlir.tree import Operation
from memtile.sim.kernel_lines import Said

_LONGEST = 100  # characters of a Python message that are shown
_USERS = "timed"  # function that calls those of the user


@contextmanager
def told(files: Container[str], sites: Sequence[Operation]) -> Iterator[None]:
    """What fails within, in generated lines, is an error of the operation that they came from.

    Args:
        files: names of the body and of its pieces in tracebacks.
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
    except (ArithmeticError, LookupError, NameError, TypeError, ValueError, AttributeError) as error:
        line = _line_of(files, error.__traceback__)
        if line is None:
            raise
        says, allowed = f"it cannot be computed: {_cause(error)}", "values of the types that it needs"
        raise operation_error(sites[line - 1], says, allowed, reason="mlir_body") from error


def said_in(sites: Sequence[Operation]) -> Said:
    """The text that generated Python was made of.

    Args:
        sites: operations by their number; the first one is the core.
    """
    text = sites[0].tokens.text

    @cache
    def line_of(line: int) -> int:
        operation = sites[line - 1]
        tokens = operation.tokens
        return tokens.text.place(tokens.offset(operation.at))[0]

    return Said(text.name, line_of)


def _cause(error: Exception) -> str:
    if isinstance(error, NameError):
        return "a value that it uses has not been computed yet"
    return f"{type(error).__name__}: {str(error)[:_LONGEST]}".rstrip(".")


def _line_of(files: Container[str], traceback: TracebackType | None) -> int | None:
    """Line of the generated code that failed; None if a function of the user did."""
    found = None
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code.co_filename in files:
            found = traceback.tb_lineno
        elif code.co_name == _USERS:
            found = None
        traceback = traceback.tb_next
    return found


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
    OVERFLOW: lambda number, bits: (
        f"a result of {number} and another number does not fit {bits} bits, which the text says it does",
        f"results of {bits} bits",
        "mlir_overflow",
    ),
    QUOTIENT: lambda number, bits: (
        f"the quotient of {number} and -1 does not fit {bits} bits",
        f"results of {bits} bits",
        "mlir_overflow",
    ),
    DIVISOR: lambda number, _: (f"an index is divided by {number}", "1 or more", "mlir_division"),
    SIZE: lambda size, wanted: (
        f"memory that it uses has {size} elements in a dimension where its type has {wanted}",
        f"{wanted} elements",
        "mlir_type",
    ),
    AMOUNT: lambda size, wanted: (
        f"{size} elements get a shape of {wanted}",
        "as many elements",
        "mlir_type",
    ),
    GAPS: lambda _, __: ("its memory has gaps", "elements that follow each other", "mlir_type"),
    STEP: lambda step, _: (f"its step is {step}", "1 or more", "mlir_loop"),
    ENDLESS: lambda cycles, most: (
        f"{cycles} cycles pass in it without an end",
        f"up to {most} cycles between two synchronisations",
        "mlir_endless",
    ),
}
