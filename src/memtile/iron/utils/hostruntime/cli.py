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
    """Print the design's MLIR (``--emit-mlir``), compile it (``--xclbin-path``), or run it and verify.

    Args:
        design: of ``iron.jit``.
        opts: the program's options.
        compile_kwargs: parameters of the design, or a function of the options that gives them.
        run_and_verify: function of the options.
        device: that the design is for, or a function of the options.
        emit_mlir: instead of printing the design.
        validate: function of the options that is called before.

    Raises:
        SystemExit: one of two paths is missing, or nothing can be run.
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
    if paths := _paths(opts):
        design.specialize(**_of(compile_kwargs, opts)).compile(**paths)
        return
    if run_and_verify is None and active():
        design.specialize(**_of(compile_kwargs, opts)).generate()
    if run_and_verify is None:
        sys.exit(
            "this program only compiles: pass --xclbin-path and --insts-path (memtile writes what it runs "
            "there), and run its host program; or pass --emit-mlir. An option before the program's name runs "
            "its design: memtile run --bottleneck"
        )
    run_and_verify(opts)


def _paths(opts: Any) -> dict[str, Any]:
    """The paths of compiled files that were asked for, as parameters of ``compile``."""
    names = {"inst_path": "insts_path"} | {
        name: name for name in ("xclbin_path", "elf_path", "full_elf_path", "pdi_path")
    }
    found = {name: getattr(opts, option, None) for name, option in names.items()}
    given = {name: path for name, path in found.items() if path is not None}
    if "full_elf_path" in given and "xclbin_path" in given:
        sys.exit(
            "--full-elf-path and --xclbin-path exclude each other: a full ELF has everything in one file"
        )
    if "xclbin_path" in given and "inst_path" not in given:
        sys.exit("--xclbin-path needs --insts-path: a design is run with its instructions")
    return given if "xclbin_path" in given or "full_elf_path" in given else {}


def _of(given: Any, opts: Any) -> Any:
    return given(opts) if callable(given) else given


def _device(device: Any, opts: Any) -> Any:
    from memtile.iron.device import from_name
    from memtile.iron.utils import get_current_device

    found = _of(device, opts) if device is not None else None
    if found is not None:
        return found
    name = getattr(opts, "dev", None)
    return from_name(name) if name else get_current_device()
