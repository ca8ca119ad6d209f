"""The form of the header of a saved array: what ``saving.save`` writes, as ``forms`` wants it."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

import numpy as np

from memtile.arch.ports import PORTS
from memtile.arch.timing import Timing
from memtile.design.archive import MOST_DIMENSIONS
from memtile.forms import Each, Either, Form, NamedForms, Such, misfit

_DTYPE = re.compile(r"[<>|=][biufcV][0-9]{1,3}")
_COUNT = range(1 << 53)
_NUMBER = range(1 << 10)  # of a lock, BD, channel or stream
_LINE = range(1 << 8)  # a column or row of the array


def _is_number(text: str) -> bool:
    """Whether a key is a number of the model: digits, as few as that takes."""
    return text.isascii() and text.isdigit() and len(text) <= len(str(_COUNT[-1])) and text == str(int(text))


def _is_dtype(value: Any) -> bool:
    if not isinstance(value, str) or not _DTYPE.fullmatch(value):
        return False
    try:
        return np.dtype(value).itemsize > 0
    except TypeError:
        return False


_TYPE = Such(_is_dtype, "the type of a plain number, such as '<i4'")
_PLACE: Form = (_LINE, _LINE)
_SHAPE = Each(_COUNT, MOST_DIMENSIONS)
_PORT_NAMES = {kind: {*ports.slaves, *ports.masters} for kind, ports in PORTS.items()}
_PORT = Such(
    lambda port: (
        misfit(port, (str, _LINE, _LINE, bool, str)) is None and port[4] in _PORT_NAMES.get(port[0], ())
    ),
    "a port: kind of tile, column, row, true for a master, name",
)
_TEXT_OR_NONE = Either((str, None))
_FLOW: Form = (str, _PORT, Each(_PORT), _TEXT_OR_NONE, Each(_NUMBER))
_END: Form = (_PLACE, bool, Either((_NUMBER, str)))
_BUFFERS = Each((str, _COUNT, Each(range(1, _COUNT.stop), MOST_DIMENSIONS), _TYPE))
_UPSETS = Each((_COUNT, _COUNT, _COUNT, Each(range(64))))
_CHANNEL: Form = {
    "claimed": bool,
    "begun": bool,
    "packets": Each(Either((_NUMBER, None))),
    "moves": Each((str, _TYPE)),
    "shapes": Each(_SHAPE),
    "dtype": _TYPE,
    "taken": bool,
    "fed": bool,
}
_TILE: Form = {
    "memory": {"buffers": _BUFFERS, "reserved": _BUFFERS},
    "locks": Each((_NUMBER, str)),
    "bds": Each((_NUMBER, str)),
    "channels": Each(_CHANNEL),
}
_FIFO: Form = {
    "name": str,
    "depths": Each(_COUNT),
    "repeat": _COUNT,
    "shape": _SHAPE,
    "dtype": _TYPE,
    "ends": Each((_END, Each(str), Either(((), (_NUMBER, _NUMBER))))),
    "flow": _FLOW,
}
HEADER: Form = {
    "format": str,
    "sources": str,
    "device": str,
    "columns": range(1, 1 << 8),
    "timing": {field.name: _COUNT for field in fields(Timing)},
    "engine": {
        "locks": NamedForms(str, _is_number),
        "channels": NamedForms(str, _is_number),
        "external": NamedForms((range(1 << 48), bool)),
        "upsets": _UPSETS,
        "struck": _UPSETS,
        "kernels": NamedForms((str, Either((bool, None)), Each(_COUNT)), _is_number),
    },
    "tiles": Each((_PLACE, _TILE)),
    "circuits": {
        "trees": Each((_FLOW, Each((_PORT, _PORT)))),
        "taken": Each((_PORT, str)),
        "drivers": Each((_PORT, _PORT)),
        "arbiters": Each((_PLACE, Each(str))),
    },
    "buses": Each((str, bool, Each((_NUMBER, _END, Each(_END), _FLOW)))),
    "fifos": Each(_FIFO),
    "fifo_names": Each(str),
    "configured": _COUNT,
    "run_until": _COUNT,
    "listening": Each(_COUNT),
    "expected": Each((_PLACE, str)),
    "compared": Each((str, str)),
}
