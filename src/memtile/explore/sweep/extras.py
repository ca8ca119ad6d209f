"""Packages that sweeps use and memtile does not need: imported when they are, and missed in one sentence."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from memtile.errors import InputFileError

_WHAT = {
    "pyarrow": ("pyarrow", "the log of a sweep is a Parquet file"),
    "pandas": ("pandas", "a data frame is asked for"),
    "xarray": ("xarray", "a dataset is asked for"),
    "optuna": ("optuna", "it chooses what --optimise tries next"),
    "distributed": ("distributed", "it talks to the --scheduler"),
}


_INSTEAD = {"pyarrow": "; or sweep with --no-log, which stores no log"}


def extra(module: str) -> Any:
    """A module of an optional package.

    Raises:
        InputFileError: it is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        package, what = _WHAT[module.split(".")[0]]
        instead = _INSTEAD.get(package, "")
        raise InputFileError.of(
            package,
            "not installed",
            "the package",
            f"the package {package} cannot be imported ({error}): {what}",
            f"Install it: pip install {package}, or memtile with its extra explore{instead}.",
            reason="missing_package",
            where="sweep",
            source="an optional package",
        ) from None
