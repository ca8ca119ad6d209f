"""``aie.utils.hostruntime.argparse``: options that programs have in common."""

from __future__ import annotations

import argparse
from typing import Any

DEFAULT_DEV_CHOICES: tuple[str, ...] = ("npu", "npu2")


def add_compile_args(
    parser: argparse.ArgumentParser,
    *,
    with_dev: bool = True,
    dev_choices: tuple[str, ...] = DEFAULT_DEV_CHOICES,
    default_dev: str | None = None,
    short_dev: str | None = "-d",
    with_elf: bool = False,
    with_full_elf: bool = False,
    with_pdi: bool = False,
    with_emit_mlir: bool = False,
) -> None:
    """The device, and the files that mlir-aie would write."""
    if with_dev:
        names = ["--dev"] if short_dev is None else [short_dev, "--dev"]
        parser.add_argument(*names, type=str, choices=list(dev_choices), default=default_dev, help="device")
    if with_emit_mlir:
        parser.add_argument("--emit-mlir", action="store_true", help="print the design's MLIR")
    files = ["--xclbin-path", "--insts-path"]
    files += ["--elf-path"] * with_elf + ["--full-elf-path"] * with_full_elf + ["--pdi-path"] * with_pdi
    for name in files:
        parser.add_argument(name, type=str, default=None, help="file of mlir-aie's compiler")


def add_benchmark_args(
    parser: argparse.ArgumentParser, *, default_warmup: int = 2, default_iters: int = 5
) -> None:
    """How often the design is called."""
    parser.add_argument("-w", "--warmup", type=int, default=default_warmup, help="calls that are not timed")
    parser.add_argument("-i", "--iters", type=int, default=default_iters, help="calls that are timed")


def add_trace_arg(parser: argparse.ArgumentParser, *, with_short: bool = True, default: int = 0) -> None:
    """The size of the trace."""
    names = ["-t", "--trace_size"] if with_short else ["--trace_size"]
    parser.add_argument(*names, type=int, default=default, help="bytes of the trace; 0 = none")


def add_runtime_args(
    parser: argparse.ArgumentParser, *, with_io_sizes: bool = False, with_benchmark: bool = False
) -> None:
    """What programs take that run a compiled design."""
    parser.add_argument("--xclbin", type=str, required=True, help="compiled design")
    parser.add_argument("--instr", type=str, default="instr.txt", help="its instructions")
    parser.add_argument("-k", "--kernel", type=str, default="MLIR_AIE", help="kernel of the design")
    parser.add_argument("-v", "--verbosity", type=int, default=0, help="how much is printed")
    parser.add_argument(
        "--verify", action=argparse.BooleanOptionalAction, default=True, help="compare the result"
    )
    add_trace_arg(parser)
    parser.add_argument("--trace-file", type=str, default="trace.txt", help="where the trace goes")
    parser.add_argument("--ddr-id", type=int, default=4, help="buffer of the trace")
    parser.add_argument("--enable-ctrl-pkts", action="store_true", help="with control packets")
    for name in ("--in1-size", "--in2-size", "--out-size") if with_io_sizes else ():
        parser.add_argument(name, type=int, default=0, help="bytes of a buffer")
    if with_benchmark:
        add_benchmark_args(parser)


def device_from_args(args: Any, *, dev_attr: str = "dev", n_cols: Any = "auto") -> Any:
    """The device of the options; None if they leave it open."""
    from memtile.iron.device import from_name

    name = getattr(args, dev_attr)
    if name is None:
        return None
    columns = (getattr(args, "n_cols", None) or 1) if n_cols == "auto" else n_cols
    return from_name(name, n_cols=columns)
