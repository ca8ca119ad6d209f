"""``aie.utils.compile.jit.compileconfig``: options of a design, without values of its parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from memtile.iron.utils.callabledesign import CONFIG, CallableDesign


def compileconfig(mlir_generator: Callable[..., Any] | None = None, **config: Any) -> Any:
    """Make a design of a function; with or without options of mlir-aie's compiler.

    Raises:
        TypeError: another option; values of parameters belong to ``iron.jit`` or ``CompilableDesign``.
    """
    unknown = [name for name in config if name not in CONFIG]
    if unknown:
        raise TypeError(
            f"compileconfig has no option {', '.join(unknown)}: it has {', '.join(CONFIG)}; values of "
            f"parameters are "
            "given to iron.jit or CompilableDesign"
        )
    if mlir_generator is None:
        return lambda function: compileconfig(function, **config)
    return CallableDesign(mlir_generator, **config)
