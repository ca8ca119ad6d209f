"""TOML text, with errors that name the file and the place."""

from __future__ import annotations

import tomllib
from typing import Any

from memtile.errors import InputFileError


def parse_toml(text: str, name: str) -> dict[str, Any]:
    """The tables in ``text`` of the file ``name``.

    Raises:
        InputFileError: it is not TOML, a number is too long, or it is nested too deeply.
    """
    try:
        return tomllib.loads(text)
    except ValueError as error:  # a number that is too long is no TOMLDecodeError
        raise InputFileError(f"{name}: this is no TOML: {error}.") from None
    except RecursionError:
        raise InputFileError(f"{name}: this TOML cannot be read: it is nested too deeply.") from None
