"""Is a saved array that somebody else wrote data and nothing more, refused in a sentence or run to an end?"""

from __future__ import annotations

import io
import json
import re
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memtile import Array
from memtile.arch.registers import WORD_BITS
from memtile.errors import InputFileError
from memtile.forms import Each, Either, NamedForms, Such, misfit
from support.mutated import mutated_arrays
from support.mutated.mutated_arrays import HEADER, HOSTILE, Members, members_of, packed, saved_bases
from support.mutated.mutated_runs import BAD, run_all

MANY = 60


@pytest.fixture(scope="module")
def bases() -> Iterator[list[Path]]:
    with tempfile.TemporaryDirectory() as folder:
        yield saved_bases(Path(folder))


@pytest.fixture
def members(bases: list[Path]) -> Members:
    return dict(members_of(bases[2]))


def refusal(members: Members, tmp_path: Path) -> str:
    path = tmp_path / "saved.npz"
    path.write_bytes(packed(members))
    with pytest.raises(InputFileError) as caught:
        Array.load(path)
    text = str(caught.value)
    assert text.startswith(f"{path}: ")
    assert "\n" not in text
    return text.removeprefix(f"{path}: ")


@pytest.mark.chance
def test_mutated_arrays_are_refused_or_run(bases: list[Path]) -> None:
    """In a process of their own: compiled code would end this one."""
    with tempfile.TemporaryDirectory() as folder:
        made = partial(mutated_arrays._run, bases, Path(folder))
        found = list(run_all(range(MANY), made, 1, mutated_arrays.SECONDS))
    assert [each for each in found if each.kind in BAD] == []
    assert {each.kind for each in found} == {"result", "error"}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_archives_are_one_sentence(name: str, tmp_path: Path) -> None:
    path = tmp_path / "saved.npz"
    path.write_bytes(HOSTILE[name]())
    says = "makes the arrays longer than" if name == "huge" else "not an array that memtile saved"
    with pytest.raises(InputFileError, match=says) as caught:
        Array.load(path)
    assert len(str(caught.value)) < 400


def test_arrays_that_were_not_touched_load(bases: list[Path]) -> None:
    assert [Array.load(base).engine.now for base in bases] == 3 * list(mutated_arrays.MOMENTS)


def test_a_value_is_refused_by_its_member(members: Members, tmp_path: Path) -> None:
    link = members["state/switch.link"].copy()
    link[3] = np.iinfo(np.int64).max
    assert refusal(members | {"state/switch.link": link}, tmp_path) == (
        "member 'state/switch.link': switch.link[3] is 9223372036854775807; it must be -1 (what a run of "
        "this model leaves there). The file is damaged or was changed: save the array again."
    )


def test_a_form_is_refused_by_its_member(members: Members, tmp_path: Path) -> None:
    held = members["state/fifos.held"].astype(np.float64)
    assert refusal(members | {"state/fifos.held": held}, tmp_path) == (
        f"member 'state/fifos.held': it is float64 [{len(held)}], not int64 [{len(held)}] (the model of the "
        "array). The file is damaged or was changed: save the array again."
    )


def test_members_that_are_missing_or_strange_are_refused(members: Members, tmp_path: Path) -> None:
    few = {name: values for name, values in members.items() if name != "state/locks.value"}
    assert "member 'state/locks.value': it is missing" in refusal(few, tmp_path)
    for name in ("state/more", "feed/99999/words", "feed/0x1/words", "pattern/1/2", "output/7/7/7", "a/../b"):
        assert f"{name!r}: it is of no use here" in refusal(
            members | {name: np.zeros(1, np.uint32)}, tmp_path
        )


def test_an_archive_has_a_limit(bases: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTILE_LIMITS", "saved_bytes=1000")
    with pytest.raises(InputFileError) as caught:
        Array.load(bases[0])
    assert re.fullmatch(
        r".*: its member '\S+' makes the arrays longer than 1,000 bytes\. "
        r"Set MEMTILE_LIMITS=saved_bytes=NUMBER to allow more\.",
        str(caught.value),
    )


def test_a_member_twice_is_refused(bases: list[Path], tmp_path: Path) -> None:
    path = tmp_path / "saved.npz"
    data = io.BytesIO(bases[0].read_bytes())
    with mutated_arrays.zipfile.ZipFile(data, "a") as file, pytest.warns(UserWarning, match="Duplicate"):
        file.writestr("header.npy", file.read("header.npy"))
    path.write_bytes(data.getvalue())
    with pytest.raises(InputFileError, match=r"its member 'header\.npy' is there twice"):
        Array.load(path)


def with_header(members: Members, change: Callable[[dict[str, Any]], None]) -> Members:
    header = json.loads(members[HEADER].tobytes())
    change(header)
    return members | {HEADER: np.frombuffer(json.dumps(header).encode(), np.uint8)}


HEADERS: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "device": (lambda h: h.update(device="npu99"), "npu99"),
    "columns": (lambda h: h.update(columns=-1), "columns is -1; it must be 1..255"),
    "many": (lambda h: h.update(columns=200), "columns"),
    "timing": (lambda h: h["timing"].update(task_start=1 << 40), "task_start"),
    "missing": (lambda h: h.pop("buses"), "buses is missing"),
    "strange": (lambda h: h.update(more=1), "'more' is no key"),
    "lock": (lambda h: h["engine"]["locks"].update({"9999": "x"}), "header.engine.locks is 9999"),
    "negative": (lambda h: h["engine"]["locks"].update({"-1": "x"}), "'-1' is no key"),
    "core": (lambda h: h["engine"]["kernels"].update({"99": ["k", None, []]}), "engine.kernels is 99"),
    "released": (lambda h: h["engine"]["kernels"].update({"0": ["k", None, [9999]]}), "is 9999"),
    "upset": (lambda h: h["engine"].update(upsets=[[10**6, 1, 1 << 40, [3]]]), "upset of tile 1"),
    "struck": (lambda h: h["engine"].update(struck=[[1, 1, 1 << 40, [3]]]), "engine.struck is 1099511627776"),
    "buffer": (lambda h: h.update(expected=[[[0, 1], "nothing"]]), "names 'nothing', which the array does"),
    "array": (lambda h: h.update(compared=[["x", "nothing"]]), "names 'nothing', which the array does not"),
    "dtype": (
        lambda h: h["tiles"][0][1]["memory"]["buffers"].append(["b", 0, [1], "O"]),
        "is 'O'; it must be",
    ),
    "place": (lambda h: h["tiles"][-1].__setitem__(0, [9, 9]), "column is 9"),
    "port": (lambda h: h["circuits"].update(taken=[[["shim", 0, 0, True, "x"], "y"]]), "it must be a port"),
    "text": (lambda h: h["fifo_names"].append("\ud800"), "it must be text"),
}


@pytest.mark.parametrize("name", HEADERS)
def test_a_header_is_refused_by_what_it_says(name: str, members: Members, tmp_path: Path) -> None:
    change, says = HEADERS[name]
    assert says in refusal(with_header(members, change), tmp_path)


def test_buffers_in_memory_that_is_not_there_are_refused(members: Members, tmp_path: Path) -> None:
    """The model gets the place of an external buffer from the buffer, not from the file."""
    regions = members["state/regions"].copy()
    regions[0, 1] = 1 << 40
    assert "member 'state/regions': regions[0, 1] is 1099511627776" in refusal(
        members | {"state/regions": regions}, tmp_path
    )


def compared_design() -> Array:
    """An array whose file has expected data of all three kinds."""
    array = Array("npu1", columns=1)
    tile, sent = array.memory_tile(0), np.arange(8, dtype=np.int32)
    buffer = tile.buffer("a", (2, 4), dtype=np.int32, data=sent.reshape(2, 4))
    tile.expect(buffer, sent.reshape(2, 4))
    tile.mm2s[0].start(tile.read(buffer))
    tile.mm2s[0].expect(sent.reshape(2, 4).astype(np.int16).repeat(2))
    array.external("x", back := sent.copy())
    array.expect_array("x", back, sent)
    return array


COMPARED = ("output/0/1/6", "buffer/0", "compared/0")


@pytest.fixture(scope="module")
def compared() -> Members:
    with tempfile.TemporaryDirectory() as folder:
        compared_design().save(path := Path(folder) / "saved.npz")
        return members_of(path)


@pytest.mark.parametrize("name", COMPARED)
@pytest.mark.parametrize(
    "change",
    [
        lambda values: values[:-1],
        lambda values: values.reshape(2, -1),
        lambda values: values.astype(np.complex64),
        lambda values: values.astype(values.dtype.newbyteorder(">")),
        lambda values: values.view(np.uint8),
    ],
    ids=["shorter", "dimensions", "complex", "byte order", "bytes"],
)
def test_expected_data_has_the_form_of_what_it_is_compared_with(
    name: str, change: Callable[[Any], Any], compared: Members, tmp_path: Path
) -> None:
    assert f"member {name!r}: it is " in refusal(compared | {name: change(compared[name])}, tmp_path)


@pytest.mark.parametrize("name", COMPARED)
def test_expected_data_is_there(name: str, compared: Members, tmp_path: Path) -> None:
    few = {each: values for each, values in compared.items() if each != name}
    assert f"member {name!r}: it is missing" in refusal(few, tmp_path)
    another = f"{name[:-1]}{int(name[-1]) + 1}"
    more = compared | {another: compared[name]}
    assert f"member {another!r}: it is of no use here" in refusal(more, tmp_path)


def test_external_buffers_are_those_of_the_header(compared: Members, tmp_path: Path) -> None:
    few = {each: values for each, values in compared.items() if each != "external/x"}
    assert "member 'external/x': it is missing" in refusal(few, tmp_path)
    more = compared | {"external/y": compared["external/x"]}
    assert "member 'external/y': it is of no use here" in refusal(more, tmp_path)


@pytest.mark.parametrize(
    ("buffer", "says"),
    [
        (["a", 0, [3], "|u1"], "size and place must be whole 32-bit words"),
        (["a", 2, [8], "<i4"], "size and place must be whole 32-bit words"),
        (["a", 1 << 40, [8], "<i4"], "the buffer takes bytes"),
        (["a", 0, [1] * 33 + [8], "<i4"], "it must be a list of at most 32"),
        (["a", 0, [0, 8], "<i4"], "it must be 1.."),
    ],
)
def test_buffers_of_a_file_are_in_memory(
    buffer: list[Any], says: str, compared: Members, tmp_path: Path
) -> None:
    def change(header: dict[str, Any]) -> None:
        ((_, tile),) = [each for each in header["tiles"] if each[0] == [0, 1]]
        tile["memory"]["buffers"] = [buffer]

    elements = np.zeros(int(np.prod(buffer[2])) % (1 << 20), np.dtype(buffer[3]))
    assert says in refusal(with_header(compared, change) | {"buffer/0": elements}, tmp_path)


def test_types_that_numpy_lacks_are_there_again(tmp_path: Path) -> None:
    array = Array("npu1", columns=1)
    tile = array.memory_tile(0)
    buffer = tile.buffer("a", 8, dtype="bfloat16")
    tile.expect(buffer, np.zeros(8))
    tile.mm2s[0].start(tile.read(buffer))
    tile.mm2s[0].expect(tile.load(buffer))
    array.save(tmp_path / "saved.npz")
    assert Array.load(tmp_path / "saved.npz").run().good


def test_streams_have_a_flag_for_each_word(members: Members, tmp_path: Path) -> None:
    more = {"left/1/words": np.zeros(2, np.uint32), "left/1/last": np.zeros(1, np.uint8)}
    assert "left/1/last[0] is 1; it must be 2 flags" in refusal(members | more, tmp_path)
    more["left/1/last"] = np.full(2, 2, np.uint8)
    assert "left/1/last[0] is 2, allowed are 0..1" in refusal(members | more, tmp_path)


def test_patterns_are_those_of_their_channels(members: Members, tmp_path: Path) -> None:
    length = members["state/ports.pattern_length"].copy()
    length[0] = 1
    assert "ports.pattern_length[0] is 1" in refusal(
        members | {"state/ports.pattern_length": length}, tmp_path
    )
    never = {"pattern/0": np.zeros(3, np.int64)}
    assert "it must be a cycle in which the port is ready" in refusal(members | never, tmp_path)


FORM = {
    "a": Each(range(4)),
    "b": NamedForms(float, str.isdigit),
    "c": Either((str, None)),
    "d": (bool, Such(lambda value: value == 7, "seven")),
}
GOOD = {"a": [0, 3], "b": {"1": 1.5, "2": 2}, "c": None, "d": [True, 7]}


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (GOOD, None),
        ([], "head is a list of 0; it must be an object"),
        ({}, "head.a is missing"),
        (GOOD | {"e": 1}, "head.'e' is no key of this object"),
        (GOOD | {"a": [0, 4]}, "head.a[1] is 4; it must be 0..3"),
        (GOOD | {"a": [True]}, "head.a[0] is True; it must be 0..3"),
        (GOOD | {"a": {}}, "head.a is an object of 0; it must be a list"),
        (GOOD | {"b": {"x": 1}}, "head.b.'x' is no key of this object"),
        (GOOD | {"b": {"1": float("nan")}}, "head.b.1 is nan; it must be a finite number"),
        (GOOD | {"c": 1}, "head.c is 1; it must be text"),
        (GOOD | {"d": [True]}, "head.d is a list of 1; it must be a list of 2"),
        (GOOD | {"d": [True, 8]}, "head.d[1] is 8; it must be seven"),
        (GOOD | {"d": [0, 7]}, "head.d[0] is 0; it must be true or false"),
        (
            GOOD | {"d": [1 << 2 * WORD_BITS, 7]},
            "head.d[0] is a number beyond 64 bits; it must be true or false",
        ),
        (GOOD | {"c": 9.5}, "head.c is 9.5; it must be text"),
    ],
)
def test_a_form_names_what_does_not_fit(data: object, says: str | None) -> None:
    assert misfit(data, FORM, "head") == says


def test_long_values_are_shown_in_part() -> None:
    assert misfit("x" * 999, None, "a") == f"a is '{'x' * 56}...; it must be null"
