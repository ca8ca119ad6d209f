"""``aie.utils.hostruntime.cli``: what a program does with its options."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from memtile.iron.taking import active
from memtile.iron.utils.hostruntime import set_current_device


def run_design_cli(
    design: Any,
    opts: Any,
    *,
    compile_kwargs: Any,
    run_and_verify: Callable[[Any], None] | None = None,
    device: Any = None,
    emit_mlir: Callable[[Any], None] | None = None,
    validate: Callable[[Any], None] | None = None,
) -> None:
    """Print the design's MLIR (``--emit-mlir``), or run it and verify the result.

    Args:
        design: of ``iron.jit``.
        opts: the program's options.
        compile_kwargs: parameters of the design, or a function of the options that gives them.
        run_and_verify: function of the options.
        device: that the design is for, or a function of the options.
        emit_mlir: instead of printing the design.
        validate: function of the options that is called before.

    Raises:
        SystemExit: files of mlir-aie's compiler are asked for, or nothing can be run.
    """
    set_current_device(_device(device, opts))
    if validate is not None:
        validate(opts)
    if getattr(opts, "emit_mlir", False):
        if emit_mlir is not None:
            emit_mlir(opts)
        else:
            print(design.specialize(**_of(compile_kwargs, opts)).as_mlir())
        return
    for name in ("xclbin_path", "full_elf_path"):
        if getattr(opts, name, None) is not None:
            sys.exit(f"--{name.replace('_', '-')}: compiled files are mlir-aie's; memtile runs the design itself")
    if run_and_verify is None and active():
        design.specialize(**_of(compile_kwargs, opts)).generate()
    if run_and_verify is None:
        sys.exit("the program has nothing to run: it compiles only")
    run_and_verify(opts)


def _of(given: Any, opts: Any) -> Any:
    return given(opts) if callable(given) else given


def _device(device: Any, opts: Any) -> Any:
    from memtile.iron.device import from_name  # noqa: PLC0415
    from memtile.iron.utils import get_current_device  # noqa: PLC0415

    found = _of(device, opts) if device is not None else None
    if found is not None:
        return found
    name = getattr(opts, "dev", None)
    return from_name(name) if name else get_current_device()
