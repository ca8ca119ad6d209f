"""Is a planted defect found, and does each reader survive the inputs that it once did not?"""

from __future__ import annotations

import json
import random

import pytest

from adversary import search
from adversary.fuzz import FOUND, found_by
from adversary.lines import SOURCE, covered
from adversary.readers import READERS
from adversary.search import Failure, Search, failure_of, reduced
from memtile.adf.description import read
from memtile.errors import DesignError, InputFileError
from memtile.io.json_text import parse_json

ONCE = sorted(path.name for path in FOUND.iterdir())
"""Readers that once did not survive an input."""


def planted(data: bytes) -> None:
    """A reader with a defect behind four decisions: by chance alone once in 4,096 inputs."""
    if data[:1] == b"d":
        if data[1:2] == b"e":
            if data[2:3] == b"e":
                if data[3:4] == b"p":
                    raise KeyError(data)
                raise InputFileError("three")
            raise InputFileError("two")
        raise InputFileError("one")
    raise InputFileError("none")


def other_letter(rng: random.Random, data: bytes) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + bytes([rng.choice(b"abcdefgp")]) + data[at + 1 :]


def test_a_planted_defect_is_found_and_reduced() -> None:
    found = Search(planted, (other_letter,), __file__).run([b"abcdefgh"], 1, seconds=20, inputs=600)
    (failure,) = found.failures.values()
    assert failure.says.startswith("KeyError ")
    assert failure.data == b"deep"
    assert found.accepted == 0


def test_an_input_that_takes_for_ever_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(_: bytes) -> None:
        while True:
            pass

    monkeypatch.setattr(search, "SECONDS", 0.01)
    failure = failure_of(endless, b"x")
    assert failure is not None
    assert failure.says.startswith("TooSlowError")


def test_an_error_of_another_place_is_not_the_same_failure() -> None:
    def of(data: bytes) -> Failure | None:
        return Failure(f"place {data[:1]!r}", data, "") if data else None

    assert reduced(Failure("place b'a'", b"abab", ""), of).data == b"a"


@pytest.mark.parametrize("name", ONCE)
def test_what_a_reader_once_did_not_survive_is_refused_or_read(name: str) -> None:
    for data in found_by(name):
        failure = failure_of(READERS[name].read, data, READERS[name].allowed)
        assert failure is None, failure.text


def graph(**lists: object) -> str:
    return json.dumps({"format": "memtile graph", "version": 1, **lists})


def port(number: int, owner: int) -> dict[str, object]:
    return {"id": number, "name": "p", "owner": owner, "direction": "in", "number": 0, "kind": "plio"}


def plio(number: int, of: int) -> dict[str, object]:
    common = {"graph": -1, "direction": "in", "label": "a", "width": 32}
    return {"id": number, "name": "a", "port": of, **common}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (graph(plios=[plio(1, 2)]), "plios[0].port has the id 2, which none of ports has"),
        (
            graph(not_equal=[{"objects": [7, 8]}]),
            "not_equal[0].objects has the id 7, which none of the objects has",
        ),
        (graph(ports=[port(1, 7)]), "ports[0].owner is 7, and no object has this id"),
        (graph(ports=[port(1, -1), port(1, -1)]), "ports[1] has the id 1, which ports[0] has too"),
        (
            graph(plios=[plio(1, 3), plio(2, 3)], ports=[port(3, 2)]),
            "plios[0].port has ports[0], whose owner is 2, not 1",
        ),
    ],
)
def test_ids_of_a_graph_that_no_object_has_are_refused(text: str, says: str) -> None:
    with pytest.raises(InputFileError) as caught:
        read(text, "g.json")
    assert str(caught.value) == f"g.json: {says}."


@pytest.mark.parametrize(
    ("name", "file", "says"),
    [
        (
            "answers",
            "nothing.txt",
            "server localhost:1: the result of the server cannot be read",
        ),
        ("answers", "code_that_there_is_not.txt", "no finding has the code 'MT9999'"),
        ("calls", "mark_at_no_cycle.csv", "a mark is in cycle '1e999'; it must be a whole number from 0 on"),
        ("compiled", "half_of_a_pair.json", "a text has half of a surrogate pair. Give Unicode text."),
        ("compiled", "no_name.json", "Expected `str`, got `null` - at `$.name`. Compile the design again."),
        ("costs", "cycles_of_an_object.json", "load is {'': 1} cycles, allowed are 0..8 whole cycles"),
        (
            "numbers",
            "more_than_64_bits.txt",
            "9223372036854775808 does not fit the output of int32.",
        ),
        ("records", "stream_to_nothing.json", "Write it again: memtile run DESIGN --record FILE.json."),
    ],
)
def test_what_is_refused_is_named(name: str, file: str, says: str) -> None:
    with pytest.raises((InputFileError, DesignError)) as caught:
        READERS[name].read((FOUND / name / file).read_bytes())
    assert says in str(caught.value)


HIGH, LOW, BACKSLASH = r"\ud83d", r"\ude00", "\\\\"


@pytest.mark.parametrize(
    "text",
    [
        HIGH + LOW,
        r"\uDBFF\uDFFF" + HIGH + LOW,
        BACKSLASH + HIGH[1:],
        BACKSLASH + HIGH + LOW,
        HIGH,
        LOW,
        HIGH + HIGH + LOW,
        HIGH + LOW + LOW,
        HIGH + BACKSLASH + LOW,
        BACKSLASH + HIGH[1:] + LOW,
        HIGH + BACKSLASH + LOW[1:],
    ],
)
def test_halves_of_surrogate_pairs_are_refused(text: str) -> None:
    given = f'["{text}"]'
    if any("\ud800" <= letter <= "\udfff" for letter in json.loads(given)[0]):
        with pytest.raises(InputFileError, match="half of a surrogate pair"):
            parse_json(given, "a.json")
    else:
        assert parse_json(given, "a.json") == json.loads(given)


def test_the_same_seed_searches_alike() -> None:
    def searched(seed: int) -> list[bytes]:
        return Search(planted, (other_letter,), __file__).run([b"abcdefgh"], seed, 20, inputs=100).kept

    assert searched(3) == searched(3) != searched(4)


def test_lines_that_ran_are_counted() -> None:
    found = Search(READERS["npy"].read, (), str(SOURCE)).run(READERS["npy"].seeds(), 0, 20, inputs=1)
    some = covered(["io/npy.py"], found.ways.lines)
    none = covered(["io/npy.py"], {})
    assert 0 < some.ran < some.lines == none.lines
    assert none.ran == 0
    assert len(some.missed) < len(none.missed)
