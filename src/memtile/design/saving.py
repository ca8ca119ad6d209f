"""Arrays as files: a run goes on in another process as if it had never stopped.

A file is a NumPy ``.npz`` archive without pickled objects: the arrays of ``sim.loop.engine_snapshot``, and a
header with what the design declared. It belongs to one state of the sources: the columns of another one may
mean other things, so that such a file is refused, never misread.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from memtile.arch.timing import Timing, timing_in_force
from memtile.design.archive import HEADER, Archive, Member, opened, refused
from memtile.design.channels import Channel
from memtile.design.circuits import End
from memtile.design.events import SwitchEnd
from memtile.design.object_fifo import End as FifoEnd
from memtile.design.object_fifo import ObjectFifo
from memtile.design.packet_bus import PacketBus, PacketStream
from memtile.design.router import RouteDemand
from memtile.errors import DesignError, InputFileError, MemtileError, Problem, raise_if
from memtile.forms import misfit
from memtile.jit.cache import source_hash
from memtile.model.checking.saved import ArrayForm, forms
from memtile.output_files import output_file
from memtile.sim.loop.compiled_model import COMPILED
from memtile.sim.loop.engine_snapshot import Snapshot, form_of_port, put_back, take

if TYPE_CHECKING:
    from memtile.design.array import Array as Design
    from memtile.design.buffers import Buffer

Array = npt.NDArray[Any]
FORMAT = "memtile array 2"
_HEADER = "header"
_MOST_HEADER = 1 << 26  # bytes
_ANY = ArrayForm(None, None)


def save(design: Design, path: Path | str) -> None:
    """Write an array between two runs; see ``Array.save``."""
    raise_if(_open_work(design), DesignError)
    snapshot = take(design.engine)
    header = {
        "format": FORMAT,
        "sources": source_hash(COMPILED),
        "device": design.device.name,
        "columns": design.columns,
        "timing": asdict(design.engine.timing),
        "engine": snapshot.facts,
        "tiles": [[tile.place, tile._saved()] for tile in design.tiles],
        "circuits": design.circuits.saved(),
        "buses": [[bus.name, bus.keeps_headers, _streams(bus)] for bus in design.buses],
        "fifos": [_fifo(fifo) for fifo in design.fifos],
        **design._saved_runs(),
    }
    arrays = snapshot.arrays | _expected(design)
    arrays[_HEADER] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    with output_file(path) as file:
        # of numbers alone: NumPy 2.0 would take allow_pickle for one of them
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


def load(design: Callable[..., Design], path: Path | str) -> Design:
    """An array as :func:`save` left it; see ``Array.load``.

    Args:
        design: makes the array of a device.
        path: the file.
    """
    with opened(Path(path)) as archive, _named(path):
        header = _header(path, archive)
        timing = Timing(**header["timing"])
        if (differing := timing_in_force(timing)) != timing:
            raise InputFileError(_other_timing(str(path), timing, differing))
        made = design(header["device"], header["columns"], timing)
        try:
            raise_if(_not_of(made, header, archive), InputFileError)
            _restore(made, header, {name: archive.read(name) for name in archive.members})
        except LookupError as error:
            says = f"names {error}, which the array does not have"
            raise InputFileError(_damaged("header", says)) from None
    return made


def _restore(made: Design, header: dict[str, Any], arrays: dict[str, Array]) -> None:
    """Bring a new array to where the one of the file was.

    Raises:
        LookupError: the header names what the array does not have.
    """
    expected: defaultdict[tuple[int, int], dict[int, Array]] = defaultdict(dict)
    for name in [name for name in arrays if name.startswith("output/")]:
        column, row, channel = map(int, name.split("/")[1:])
        expected[column, row][channel] = arrays[name]
    for (column, row), saved in header["tiles"]:
        made.tile(column, row)._restore(saved, expected[column, row])
    made.circuits.restore(header["circuits"])
    put_back(made.engine, Snapshot(arrays, header["engine"]))
    buses = [
        PacketBus.restored(name, [_stream(made, saved) for saved in streams], keep_headers=keep)
        for name, keep, streams in header["buses"]
    ]
    made._restore_runs(header, arrays, buses, [_made_fifo(made, saved) for saved in header["fifos"]])


def _damaged(member: str, says: str, allowed: str = "what Array.save writes") -> Problem:
    """What is wrong with a member of a file."""
    return Problem(
        member,
        says,
        allowed,
        f"it {says}",
        "The file is damaged or was changed: save the array again.",
        reason="saved_array",
        where=f"member {member!r}",
        source="the model of the array",
    )


@contextmanager
def _named(path: Path | str) -> Iterator[None]:
    """Context in which what is wrong with an array is an error that names its file."""
    try:
        yield
    except MemtileError as error:
        if str(error).startswith(f"{path}: "):
            raise
        raise InputFileError(f"{path}: {error}") from None


def _other_timing(path: str, saved: Timing, wanted: Timing) -> Problem:
    names = [name for name in asdict(saved) if getattr(saved, name) != getattr(wanted, name)]
    had = ", ".join(f"{name} = {getattr(saved, name)}" for name in names)
    return Problem(
        "timing",
        ", ".join(f"{name} = {getattr(wanted, name)}" for name in names),
        had,
        f"the array was saved with {had}; a saved array cannot continue with other constants",
        "Build the design again, or leave these constants out.",
        reason="timing",
        where=path,
        source="the state of an array belongs to its constants",
    )


def _open_work(design: Design) -> list[Problem]:
    """What was declared and is not written to the registers yet, and arrays that would be lost."""
    external = {id(buffer.array) for buffer in design.engine.external.buffers.values()}
    problems = [
        ("flow", f"{flow} without a circuit", f"{flow} has no circuit yet", "Call route() or run() first.")
        for flow in design.circuits.waiting
    ]
    problems += [
        (
            "host sequence",
            f"{sequence.host.name} that has not ended",
            f"{sequence.host.name} has not ended, and a Python generator cannot be saved",
            "Run on until it ends, or save before it is given to the array.",
        )
        for sequence in design.hosts
        if not sequence.ended
    ]
    problems += [
        (
            "array",
            f"{name}, which is no external buffer, is compared",
            f"the array {name} is compared, but is no external buffer and would be lost",
            "Compare an external buffer instead.",
        )
        for name, array, _ in design.compared
        if id(array) not in external
    ]
    return [
        Problem(
            field,
            given,
            "what the registers and buffers of the array hold",
            says,
            step,
            reason="save",
            where=f"array {design.device.name}",
            source="files have registers, memory and external buffers",
        )
        for field, given, says, step in problems
    ]


def _expected(design: Design) -> dict[str, Array]:
    """What outputs and buffers are compared with."""
    found = {
        f"output/{tile.place[0]}/{tile.place[1]}/{n}": channel.expected
        for tile in design.tiles
        for n, channel in enumerate((*tile.s2mm, *tile.mm2s))
        if channel.expected is not None and tile.place is not None
    }
    found |= {f"buffer/{n}": data for n, (_, _, data) in enumerate(design.expected)}
    return found | {f"compared/{n}": data for n, (_, _, data) in enumerate(design.compared)}


def _streams(bus: PacketBus) -> list[Any]:
    return [
        [stream.id, _end(stream.source), [_end(end) for end in stream.targets], stream.flow.saved()]
        for stream in bus.streams
    ]


def _stream(design: Design, saved: list[Any]) -> PacketStream:
    number, source, targets, flow = saved
    ends = tuple(_made_end(design, end) for end in targets)
    return PacketStream(number, _made_end(design, source), RouteDemand.restored(flow), ends)


def _end(end: End) -> list[Any]:
    port = end.port if isinstance(end, SwitchEnd) else end.number
    return [end.tile.place, end.receives, port]


def _made_end(design: Design, saved: list[Any]) -> End:
    (column, row), receives, port = saved
    tile = design.tile(column, row)
    if isinstance(port, str):
        return SwitchEnd(tile, port, receives)
    channels: tuple[Channel, ...] = tile.s2mm if receives else tile.mm2s
    return channels[int(port)]


def _fifo(fifo: ObjectFifo) -> dict[str, Any]:
    return {
        "name": fifo.name,
        "depths": fifo.depths,
        "repeat": fifo.repeat,
        "shape": fifo.shape,
        "dtype": fifo.dtype.str,
        "ends": [_fifo_end(end) for end in (fifo.producer, *fifo.consumers)],
        "flow": fifo.flow.saved(),
    }


def _fifo_end(end: FifoEnd) -> list[Any]:
    locks = [lock.id for lock in end.locks or ()]
    return [_end(end.channel), [buffer.name for buffer in end.buffers], locks]


def _made_fifo(design: Design, saved: Mapping[str, Any]) -> ObjectFifo:
    producer, *consumers = (_made_fifo_end(design, end) for end in saved["ends"])
    return ObjectFifo.restored(
        design,
        saved["name"],
        tuple(saved["depths"]),
        tuple(saved["shape"]),
        dtype=np.dtype(saved["dtype"]),
        repeat=saved["repeat"],
        producer=producer,
        consumers=tuple(consumers),
        flow=RouteDemand.restored(saved["flow"]),
    )


def _made_fifo_end(design: Design, saved: list[Any]) -> FifoEnd:
    (place, receives, number), names, locks = saved
    tile = design.tile(*place)
    named: dict[str, Buffer] = {buffer.name: buffer for buffer in tile.buffers}
    by_id = {lock.id: lock for lock in tile.locks}
    pair = (by_id[locks[0]], by_id[locks[1]]) if locks else None
    channel = (tile.s2mm if receives else tile.mm2s)[number]
    return FifoEnd(tile, channel, tuple(named[name] for name in names), pair)


def _header(path: Path | str, archive: Archive) -> dict[str, Any]:
    """The header of a file that this version has written.

    Raises:
        InputFileError: there is none, it is of another version, or it says what no array has.
    """
    member = archive.members.get(_HEADER)
    if member is None or (member.dtype, len(member.shape)) != (np.dtype(np.uint8), 1):
        raise InputFileError(f"{path}: the file is not an array that memtile saved: it has no header.")
    if member.bytes > _MOST_HEADER:
        raise refused(path, _HEADER, f"is longer than {_MOST_HEADER:,} bytes")
    try:
        header = json.loads(archive.read(_HEADER).tobytes())
    except (ValueError, RecursionError) as error:
        raise refused(path, _HEADER, f"is no JSON: {error}") from None
    found = (header.get("format"), header.get("sources")) if isinstance(header, dict) else (None, None)
    if found != (FORMAT, source_hash(COMPILED)):
        raise InputFileError(
            f"{path}: saved by other sources of memtile ({found[0]}, {found[1]}; these are {FORMAT}, "
            f"{source_hash(COMPILED)}), whose columns may mean other things. Build the design again."
        )
    if wrong := misfit(header, HEADER):
        raise refused(path, _HEADER, f"has another form: {wrong}")
    return cast(dict[str, Any], header)


def _not_of(made: Design, header: Mapping[str, Any], archive: Archive) -> list[Problem]:
    """What an archive has too few or too many, or of another form than arrays of this device have."""
    found, problems = archive.members, []
    wanted = {f"state/{name}": form for name, form in forms(made.engine.state).items()}
    wanted |= _forms_of_header(header, found)
    problems += [_damaged(name, "is missing") for name in wanted if name not in found]
    for name, member in found.items():
        form = wanted.get(name) or form_of_port(made.engine, name)
        if form is None:
            problems.append(_damaged(name, "is of no use here", "members that Array.save writes"))
        elif not form.fits(member.dtype, member.shape):
            problems.append(_damaged(name, f"is {member.dtype} {list(member.shape)}, not {form}", str(form)))
    return problems[:1]


def _forms_of_header(header: Mapping[str, Any], found: Mapping[str, Member]) -> dict[str, ArrayForm]:
    """The forms of the header and of the members that it names; compared data has that of its other side.

    Raises:
        LookupError: the header names what the array does not have.
    """
    made = {_HEADER: ArrayForm(np.dtype(np.uint8), (-1,))}
    external = {name: found.get(f"external/{name}") for name in header["engine"]["external"]}
    made |= {f"external/{name}": _ANY for name in external}
    buffers: defaultdict[tuple[int, int], dict[str, ArrayForm]] = defaultdict(dict)
    for (column, row), tile in header["tiles"]:
        for n, channel in enumerate(tile["channels"]):
            if channel["shapes"]:
                made[f"output/{column}/{row}/{n}"] = _flat(channel["dtype"], channel["shapes"])
        for name, _, shape, dtype in tile["memory"]["buffers"]:
            buffers[column, row][name] = _flat(dtype, [shape])
    for n, ((column, row), name) in enumerate(header["expected"]):
        made[f"buffer/{n}"] = buffers[column, row][name]
    for n, (_, name) in enumerate(header["compared"]):
        if member := external[name]:
            made[f"compared/{n}"] = _flat(member.dtype, [member.shape])
    return made


def _flat(dtype: npt.DTypeLike, shapes: Sequence[Sequence[int]]) -> ArrayForm:
    """The form of arrays of some shapes, one after the other."""
    return ArrayForm(np.dtype(dtype), (sum(map(prod, shapes)),))
