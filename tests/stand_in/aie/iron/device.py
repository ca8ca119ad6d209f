"""Devices by name."""

from __future__ import annotations


def from_name(name: str, *, n_cols: int | None = 1) -> tuple[str, int | None]:
    return name, n_cols
