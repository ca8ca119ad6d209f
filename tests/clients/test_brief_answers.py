"""Has an answer of an agent's tool the size that was asked for, and can all of the rest be read?"""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from memtile.bd.descriptor_cases import wrong_keys
from memtile.cli.agents.brief_answers import BYTES, StoredAnswers
from memtile.errors import InputFileError
from memtile.plain_text import json_text

ROW = {"channel": "memory(0,1) S2MM 0", "cycles": {"moving": 1048576, "idle": 25393}}
ANSWER: dict[str, Any] = {
    "parameters": ["x" * 300] * 9,
    "status": "stuck",
    "channels": [{**ROW, "n": n} for n in range(96)],
    "findings": [{"code": "MT0301", "message": "m" * 500, "sides": ["s" * 90] * 9}],
    "text": "abc" * 2000,
}


def test_what_decides_comes_first_and_the_rest_has_its_place() -> None:
    short = StoredAnswers().brief(ANSWER)
    assert len(json.dumps(short)) <= BYTES
    assert short["status"] == "stuck"
    assert short["findings"] == ANSWER["findings"]
    assert short["more"]["answer"] == "a1"
    assert short["more"]["left_out"]["parameters"] == "1..8 of 9"


def test_pages_of_a_list_and_of_a_text_are_all_of_it() -> None:
    stored = StoredAnswers()
    stored.brief(ANSWER)
    for path in ("channels", "text", "parameters"):
        read: list[Any] = []
        begin: int | None = 0
        while begin is not None:
            page = stored.page("a1", path, begin)
            assert len(json.dumps(page)) <= BYTES
            read += page["value"]
            begin = page["next"]
        assert read == [*ANSWER[path]]
    assert stored.page("a1", "channels[95].n")["value"] == 95


@pytest.mark.parametrize("given", [("a2", ""), ("a1", "nothing"), ("a1", "channels[96]")])
def test_a_place_that_is_not_there_is_refused(given: tuple[str, str]) -> None:
    stored = StoredAnswers()
    stored.brief(ANSWER)
    with pytest.raises(InputFileError, match=r"stored are a1|there are"):
        stored.page(*given)


def test_a_suggestion_names_only_keys_that_are_listed() -> None:
    """A remark is read over: to suggest it would be of no use."""
    known, remarks = {"tile", "num_buffers"}, frozenset({"num_buffers"})
    (wrong,) = wrong_keys(["num_buffer"], known, (), remarks)
    assert (wrong.allowed, wrong.next_step) == ("tile", "")


def made(random: Random, depth: int) -> Any:
    kind = random.randrange(4 if depth else 2)
    if kind == 0:
        return random.randrange(10**6)
    if kind == 1:
        return random.choice("aéx") * random.randrange(500)
    if kind == 2:
        return [made(random, depth - 1) for _ in range(random.randrange(12))]
    return {f"field {n}": made(random, depth - 1) for n in range(random.randrange(9))}


def test_every_answer_has_its_size_whatever_is_in_it() -> None:
    cut = 0
    for seed in range(60):
        answer = {f"{n}": made(Random(seed * 9 + n), 3) for n in range(5)}
        short = StoredAnswers().brief(answer)
        assert len(json_text(short).encode()) <= BYTES
        cut += "more" in short
    assert cut > 10
