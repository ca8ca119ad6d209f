"""Ways to change an input of a reader: bytes, text, JSON, TOML, members of archives, operations of MLIR."""

from __future__ import annotations

import io
import json
import random
import re
import struct
import tempfile
import tomllib
import zlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from adversary.search import Change
from support.mutated import mutated_arrays, mutated_bytes, mutated_dumps, mutated_texts

_NUMBER = re.compile(r"(?<![\w.])-?\d+(?![\w.])")
_LONG = ("9" * 5000, "1e999", "-1e999", "NaN", "Infinity", "0" * 400 + "1", "٣", "²", "1_0", "+1", "0b1")
"""Numbers that Python reads otherwise than most formats, or not at all."""


@cache
def folder() -> Path:
    """A folder of this process for readers that want a path."""
    made = tempfile.TemporaryDirectory(prefix="memtile-fuzz-")
    _FOLDERS.append(made)
    return Path(made.name)


_FOLDERS: list[tempfile.TemporaryDirectory[str]] = []  # they go when the process ends


def placed(data: bytes, name: str) -> Path:
    """A file with an input."""
    path = folder() / name
    path.write_bytes(data)
    return path


def _repaired(_rng: random.Random, data: bytes) -> bytes:
    return mutated_bytes.repaired(data)


def _of_text(change: mutated_texts.Mutation) -> Change:
    return lambda rng, data: change(rng, data.decode("utf-8", "replace")).encode("utf-8", "replace")


def _long_number(rng: random.Random, text: str) -> str:
    found = list(_NUMBER.finditer(text))
    if not found:
        return text
    chosen = rng.choice(found)
    return text[: chosen.start()] + rng.choice(_LONG) + text[chosen.end() :]


def _of_json(rng: random.Random, data: bytes) -> bytes:
    try:
        read = json.loads(data)
    except (ValueError, RecursionError):
        return data
    return json.dumps(mutated_arrays.change(rng, read)).encode()


def _of_rows(rng: random.Random, data: bytes) -> bytes:
    """A line of JSON changed, of several."""
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    lines[at] = _of_json(rng, lines[at])
    return b"\n".join(lines)


def _of_toml(rng: random.Random, data: bytes) -> bytes:
    try:
        read = tomllib.loads(data.decode())
    except (ValueError, RecursionError):
        return data
    changed = mutated_arrays.change(rng, read)
    if not isinstance(changed, dict):
        return data
    return "".join(f"{json.dumps(key)} = {_toml(each)}\n" for key, each in changed.items()).encode()


def _toml(value: Any) -> str:
    """A value as TOML has it in one line; null is an empty text."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return '""' if value is None else json.dumps(value, default=str)


def _of_members(rng: random.Random, data: bytes) -> bytes:
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            members = {name: file[name] for name in file.files}
        rng.choice(mutated_arrays.MUTATIONS)(rng, members)
        return mutated_arrays.packed(members)
    except Exception:  # what is no archive any more, or has nothing left to change
        return mutated_bytes.MUTATIONS[0](rng, data)


def _of_log(rng: random.Random, data: bytes) -> bytes:
    from support.mutated import mutated_logs

    path = folder() / "changed.parquet"
    try:
        mutated_logs.parts_of.cache_clear()
        mutated_logs.mutated(placed(data, "before.parquet"), rng.getrandbits(32), path)
    except Exception:  # what is no log any more
        return mutated_bytes.MUTATIONS[0](rng, data)
    return path.read_bytes()


def _of_dump(rng: random.Random, data: bytes) -> bytes:
    path = folder() / "changed.dump"
    if len(data) < 1 << 16 or len(data) % 4:
        return mutated_bytes.MUTATIONS[0](rng, data)
    mutated_dumps.mutated(placed(data, "before.dump"), rng.getrandbits(32), path, _places())
    return path.read_bytes()


_places = cache(mutated_dumps.register_places)


def _of_field(rng: random.Random, data: bytes) -> bytes:
    """A field of a header, of a table or of a record, where a container has one, and right sums behind it."""
    places = list(range(0, min(len(data), 0x400) - 3, 4))
    words = [at for at in places if 0 < struct.unpack_from("<I", data, at)[0] < 1 << 20]
    if not words:
        return data
    at = rng.choice(words)
    (word,) = struct.unpack_from("<I", data, at)
    other = rng.choice((word - 1, word + 1, word ^ 1 << rng.randrange(20), len(data) - word, word << 2, 0, 1))
    changed = data[:at] + struct.pack("<I", other & 0xFFFF_FFFF) + data[at + 4 :]
    return mutated_bytes.repaired(changed)


def _of_stream(rng: random.Random, data: bytes) -> bytes:
    """Another operation of a transaction or of a CDO, taken from within it: a record twice or elsewhere."""
    if len(data) < 64:
        return data
    at, to = (rng.randrange(16, len(data), 4) for _ in range(2))
    size = rng.choice((4, 8, 12, 16, 24, 48, 64))
    record = data[at : at + size]
    inserted = rng.random() < 0.5
    return mutated_bytes.repaired(data[:to] + record + data[to if inserted else to + size :])


def crc_of_members(rng: random.Random, data: bytes) -> bytes:
    """A byte of a stored member of an archive, with its checksum made right."""
    at = data.rfind(b"PK\1\2")
    if at < 0 or len(data) < at + 46:
        return data
    offset, size = struct.unpack_from("<I", data, at + 42)[0], struct.unpack_from("<I", data, at + 20)[0]
    if data[offset : offset + 4] != b"PK\3\4" or not size:
        return data
    name, extra = struct.unpack_from("<HH", data, offset + 26)
    begin = offset + 30 + name + extra
    changed = bytearray(data)
    changed[begin + rng.randrange(min(size, 128))] ^= 1 << rng.randrange(8)
    total = struct.pack("<I", zlib.crc32(bytes(changed[begin : begin + size])))
    changed[at + 16 : at + 20] = changed[offset + 14 : offset + 18] = total
    return bytes(changed)


BYTES: Sequence[Change] = (*mutated_bytes.MUTATIONS, _repaired, _repaired)
CONTAINER: Sequence[Change] = (*BYTES, *[_of_field] * 6, *[_of_stream] * 6)
TEXT: Sequence[Change] = tuple(_of_text(each) for each in (*mutated_texts.MUTATIONS, _long_number))
JSON: Sequence[Change] = (*[_of_json] * 16, *TEXT)
ROWS: Sequence[Change] = (*[_of_rows] * 16, *TEXT)
TOML: Sequence[Change] = (*[_of_toml] * 12, *TEXT)
ARCHIVE: Sequence[Change] = (*[_of_members] * 4, crc_of_members)
LOG: Sequence[Change] = (*[_of_log] * 10, *BYTES)
DUMP: Sequence[Change] = (_of_dump,)
