"""Saved arrays with mistakes in them, and hostile ones; the same ones for the same number.

By hand, ten thousand of them in two processes, from the folder of the checkout::

    PYTHONPATH=src:tests .venv/bin/python tests/support/mutated/mutated_arrays.py 10000

With ``MEMTILE_JIT=0`` the same in the interpreter, where every index of the model is checked: what compiled
code would not notice is a traceback there.
"""

from __future__ import annotations

import io
import json
import random
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile import Array
from memtile.jit.settings import ENABLED
from places import ROOT
from support.bodies.checked_indices import checked
from support.mutated.mutated_runs import followed, run_all

Members = dict[str, npt.NDArray[Any]]
MAX_CYCLES = 20_000 if ENABLED else 300
SECONDS = 300.0  # on a machine that others use too
WORDS = 64
HEADER = "header"
NUMBERS = (0, 1, -1, 2, 3, 4, 5, 7, 8, 15, 16, 63, 64, 127, 128, 255, 256, 1 << 16, 1 << 31, (1 << 32) - 1)
EXTREMES = (1 << 40, 1 << 52, 1 << 62, (1 << 63) - 1, -(1 << 63), -(1 << 40), -2, -16)


def _chains() -> Array:
    """External memory, two memory tiles, a core's tile, locks, padding and a packet bus."""
    array = Array("npu1", columns=2)
    shared, interface, compute = array.memory_tile(0), array.interface_tile(0), array.compute_tile(0, 2)
    sent = np.arange(4 * WORDS, dtype=np.int32)
    back = np.zeros_like(sent)
    source, target = array.external("sent", sent), array.external("back", back)
    fifo = array.object_fifo("into", interface, shared, shape=WORDS)
    (out,) = fifo.split("out", [interface])
    interface.mm2s[fifo.producer.channel.number].start(interface.read(source))
    out.consumers[0].channel.start(interface.write(target))
    array.expect_array("back", back, sent)
    other = array.memory_tile(1)
    array.connect(other.mm2s[0], compute.s2mm[0])
    other.mm2s[0].start(other.read(other.buffer("a", WORDS, data=np.arange(WORDS))), repeat=9)
    compute.s2mm[0].start(compute.write(compute.buffer("b", WORDS)), repeat=9)
    free = next(c for c in shared.mm2s if not c.claimed)
    extra = shared.buffer("extra", WORDS, data=np.arange(WORDS))
    free.start(shared.read(extra), repeat=3)
    free.expect(np.tile(np.arange(WORDS, dtype=np.int32), 3), pattern=[1, 0, 1])
    return array


def _example(name: str) -> Array:
    import runpy

    made: Array = runpy.run_path(str(ROOT / "examples" / f"{name}.py"))["design"]()
    return made


DESIGNS: Mapping[str, Callable[[], Array]] = {
    "chains": _chains,
    "distribute_join": partial(_example, "distribute_join"),
    "packets": partial(_example, "packets"),
}
MOMENTS = (0, 60, 150, 333)


def saved_bases(folder: Path) -> list[Path]:
    """Arrays of several designs at several moments, saved in a folder."""
    found = []
    for name, design in DESIGNS.items():
        array, now = design(), 0
        for moment in MOMENTS:
            array.run(moment - now)
            now = moment
            found.append(folder / f"{name}.{moment}.npz")
            array.save(found[-1])
    return found


@cache
def members_of(path: Path) -> Members:
    """The arrays of a file."""
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def mutated(base: Path, number: int) -> bytes:
    """A saved array with one to four mistakes; which ones is said by the number alone."""
    rng = random.Random(number)
    if rng.random() < 0.1:
        return rng.choice(RAW)(rng, base.read_bytes())
    members = dict(members_of(base))
    for _ in range(rng.choice((1, 1, 2, 4))):
        rng.choice(MUTATIONS)(rng, members)
    return packed(members)


def packed(members: Members) -> bytes:
    """An archive, not compressed, as that takes most of the time."""
    made = io.BytesIO()
    np.savez(made, allow_pickle=True, **members)  # type: ignore[arg-type]
    return made.getvalue()


def _name(rng: random.Random, members: Members) -> str:
    """A member with elements; those of small tables as often as those of large ones."""
    return rng.choice([name for name, values in members.items() if name != HEADER and values.size])


def _value(rng: random.Random, values: npt.NDArray[Any]) -> int:
    what = rng.random()
    if what < 0.3:
        return rng.choice(NUMBERS)
    if what < 0.5:
        return rng.choice(EXTREMES)
    near = int(rng.choice(values.reshape(-1)[:4096])) if values.dtype.kind in "iub" else 0
    return near if what < 0.7 else near + rng.choice((-1, 1, -4, 4, 16))


def _put(values: npt.NDArray[Any], where: Any, value: int) -> None:
    if values.dtype.kind in "iu":
        low, high = np.iinfo(values.dtype).min, np.iinfo(values.dtype).max
        values[where] = min(max(value, int(low)), int(high))
    else:
        values[where] = value


def _some(rng: random.Random, members: Members) -> None:
    """Some elements have other values."""
    name = _name(rng, members)
    values = members[name] = members[name].copy()
    flat = values.reshape(-1)
    for _ in range(rng.choice((1, 1, 1, 3, 10))):
        _put(flat, rng.randrange(len(flat)), _value(rng, values))


def _pair(rng: random.Random, members: Members) -> None:
    """The columns of one row of a table, several at a time, have other plausible values."""
    table = _name(rng, members).partition(".")[0] + "."
    columns = [name for name in members if name.startswith(table) and members[name].size]
    if not columns:
        return
    row = rng.randrange(min(len(members[name]) for name in columns))
    for name in rng.sample(columns, min(len(columns), 4)):
        members[name] = members[name].copy()
        _put(members[name], row, _value(rng, members[name]))


def _fill(rng: random.Random, members: Members) -> None:
    name = _name(rng, members)
    members[name] = members[name].copy()
    _put(members[name], ..., _value(rng, members[name]))


def _form(rng: random.Random, members: Members) -> None:
    """A member has another type or shape."""
    name = _name(rng, members)
    values = members[name]
    members[name] = rng.choice(
        (
            lambda: values.astype(rng.choice((np.float64, np.int32, np.uint8, np.complex64))),
            lambda: values.astype(values.dtype.newbyteorder(">")),
            lambda: values[:0],
            lambda: values.reshape(-1),
            lambda: values.reshape(1, *values.shape),
            lambda: values.T,
            lambda: np.asfortranarray(values),
            lambda: values[: len(values) // 2] if values.ndim else values,
            lambda: np.concatenate([values, values]) if values.ndim else values,
            lambda: np.array(values.reshape(-1)[0]),
            lambda: np.array([None, {}], dtype=object),
            lambda: np.array(["a", "\x00b"]),
        )
    )()


def _missing(rng: random.Random, members: Members) -> None:
    del members[rng.choice(list(members))]


def _more(rng: random.Random, members: Members) -> None:
    what = rng.choice(("state/more", "../up", "/etc/x", "feed/1/words", "feed/-1/last", "caught/999/words"))
    other = rng.choice(("pattern/2", "external/x", "output/9/9/9", "buffer/77", "compared/1", "left/3/words"))
    members[rng.choice((what, other))] = np.zeros(rng.choice((0, 1, 8)), rng.choice((np.uint32, np.int64)))


def _renamed(rng: random.Random, members: Members) -> None:
    one, other = rng.choice(list(members)), rng.choice(list(members))
    members[one], members[other] = members[other], members[one]


def _said(rng: random.Random, members: Members) -> None:
    """The header says something else."""
    if HEADER not in members:
        return
    try:
        header = json.loads(members[HEADER].tobytes())
    except ValueError:
        return
    text = json.dumps(change(rng, header))
    if rng.random() < 0.1:
        at = rng.randrange(len(text))
        text = text[:at] + rng.choice('[]{},:"x9-') + text[at + 1 :]
    members[HEADER] = np.frombuffer(text.encode(), np.uint8)


def change(rng: random.Random, data: Any) -> Any:
    """Plain data with one mistake, somewhere in it."""
    if isinstance(data, dict) and data and rng.random() < 0.93:
        key = rng.choice([*data])
        if rng.random() < 0.04:
            return {k: v for k, v in data.items() if k != key}
        return {**data, key: change(rng, data[key])}
    if isinstance(data, list) and data and rng.random() < 0.9:
        at = rng.randrange(len(data))
        kept = [change(rng, data[at])] if rng.random() < 0.9 else rng.choice(([], [data[at]] * 2))
        return [*data[:at], *kept, *data[at + 1 :]]
    if isinstance(data, int) and not isinstance(data, bool) and rng.random() < 0.7:
        return rng.choice((data + 1, data - 1, *NUMBERS, *EXTREMES, 10**30))
    return rng.choice(
        (None, True, 0, -1, 1.5, "", "x", "<i4", [], {}, [[]], {"a": 1}, "\ud800", 10**400, data)
    )


MUTATIONS = (_some, _some, _some, _some, _pair, _pair, _fill, _form, _missing, _more, _renamed, _said, _said)


def _flip(rng: random.Random, data: bytes) -> bytes:
    made = bytearray(data)
    for _ in range(rng.choice((1, 1, 3))):
        made[rng.randrange(len(made))] ^= 1 << rng.randrange(8)
    return bytes(made)


def _cut(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.randrange(len(data))]


def _directory(rng: random.Random, data: bytes) -> bytes:
    """A mistake in the list of members at the end of an archive, or in the head of one of them."""
    made = bytearray(data)
    at = data.rindex(b"PK\x01\x02") if rng.random() < 0.5 else data.index(b"PK\x03\x04")
    for _ in range(2):
        made[min(at + rng.randrange(60), len(made) - 1)] = rng.choice((0, 1, 255, 128, rng.randrange(256)))
    return bytes(made)


def _zip(write: Callable[[zipfile.ZipFile], None]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as file:
        write(file)
    return made.getvalue()


def _npy(shape: str, descr: str = "'<i8'", data: bytes = b"") -> bytes:
    head = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + data


HOSTILE: Mapping[str, Callable[[], bytes]] = {
    "no archive": lambda: b"PK",
    "empty": lambda: _zip(zipfile.ZipFile.close),
    "huge": lambda: _zip(lambda file: file.writestr("header.npy", _npy("(1000000000000,)"))),
    "negative": lambda: _zip(lambda file: file.writestr("header.npy", _npy("(-1,)"))),
    "digits": lambda: _zip(lambda file: file.writestr("header.npy", _npy(f"({'9' * 5000},)"))),
    "objects": lambda: _zip(lambda file: file.writestr("header.npy", _npy("(1,)", "'|O'", b"cos\nsystem\n"))),
    "code": lambda: _zip(lambda file: file.writestr("header.npy", _npy("__import__('os').getpid()"))),
    "records": lambda: _zip(lambda file: file.writestr("header.npy", _npy("(1,)", "[('a', '<i8')]"))),
    "bomb": lambda: _zip(lambda file: file.writestr("header.npy", _npy("(1<<30,)") + bytes(1 << 24))),
    "long": lambda: _zip(lambda file: file.writestr("x.npy", _npy("(8388608,)", "'|u1'", bytes(1 << 24)))),
    "outside": lambda: _zip(lambda file: file.writestr("../../x.npy", _npy("(0,)"))),
    "folders": lambda: _zip(lambda file: file.writestr("state/", b"")),
    "nested": lambda: _zip(lambda file: file.writestr("header.npy", _npy("(9,)", "'|u1'", b"[" * 9))),
    "deep": lambda: packed({HEADER: np.frombuffer(b"[" * 100_000, np.uint8)}),
}
"""Archives that no program writes by mistake."""

RAW = (_flip, _flip, _cut, _directory, lambda rng, _: HOSTILE[rng.choice([*HOSTILE])]())


def look(path: Path) -> str:
    """Load an array and run on from it.

    Raises:
        MemtileError: it is refused.
    """
    array = Array.load(path)
    if not ENABLED:
        array.engine._state = checked(array.engine._state)
    return str(array.run(MAX_CYCLES).status)


def _run(bases: list[Path], folder: Path, number: int) -> Callable[[], str]:
    path = folder / f"{number % 64}.npz"
    path.write_bytes(mutated(bases[number % len(bases)], number))
    return partial(look, path)


def main(many: int, processes: int = 2) -> None:
    """Run many of them and print how they ended."""
    with tempfile.TemporaryDirectory() as folder:
        bases = saved_bases(Path(folder))
        made = partial(_run, bases, Path(folder))
        followed(run_all(range(many), made, processes, SECONDS), many, partial(print, flush=True))


if __name__ == "__main__":
    main(int(sys.argv[1]), *map(int, sys.argv[2:]))
