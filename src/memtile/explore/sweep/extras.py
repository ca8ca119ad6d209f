"""Packages that sweeps use and memtile does not need: imported when they are, and missed in one sentence."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from memtile.errors import InputFileError

_ELSE = {"pyarrow": "; or sweep with --no-log, which needs no package"}
_WHAT = {
    "pyarrow": ("pyarrow", "logs of sweeps are Parquet files"),
    "pandas": ("pandas", "a data frame is asked for"),
    "xarray": ("xarray", "a dataset is asked for"),
    "optuna": ("optuna", "it chooses what --optimise tries next"),
    "distributed": ("distributed", "it talks to the --scheduler"),
}


def extra(module: str) -> Any:
    """A module of an optional package.

    Raises:
        InputFileError: it is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        package, what = _WHAT[module.split(".")[0]]
        raise InputFileError.of(
            package,
            "not installed",
            "the package",
            f"the package {package} cannot be imported ({error})",
            f"Install it: pip install {package}, or memtile with its extra explore{_ELSE.get(package, '')}.",
            reason="missing_package",
            where="sweep",
            source=what,
        ) from None
