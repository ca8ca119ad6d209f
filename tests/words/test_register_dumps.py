"""Do register dumps say the same as text and as JSON?"""

from __future__ import annotations

import json

from memtile.io.program.program_formats import read_program
from memtile.io.program.register_dump import dump_json, dump_text
from memtile.runs.operations import BlockWrite, Write

TEXT = """\
# a memory tile
0x021A0000 0x80        # length
0x021A0004: 131072

35389440 = 2
0x02100000, 1 2 0x3
"""
OPERATIONS = (
    Write(0x021A0000, 0x80),
    Write(0x021A0004, 131072),
    Write(0x021C0000, 2),
    BlockWrite(0x02100000, (1, 2, 3)),
)


def test_text_in_its_forms() -> None:
    program = read_program(TEXT.encode(), "r.txt")
    assert (program.format, program.operations) == ("dump", OPERATIONS)
    assert program.operations[2].place == "r.txt, line 5"


def test_json_in_its_forms() -> None:
    items = [{"address": "0x021A0000", "value": 128}, {"address": 35258372, "value": "131072"}]
    for data in (items, {"0x021A0000": "0x80", "35258372": 131072}):
        assert read_program(json.dumps(data).encode(), "r.json").operations == OPERATIONS[:2]


def test_what_is_written_is_read_again_word_by_word() -> None:
    words = (*OPERATIONS[:3], *(Write(0x02100000 + 4 * n, n + 1) for n in range(3)))
    assert read_program(dump_text(OPERATIONS).encode(), "d").operations == words
    assert read_program(dump_json(OPERATIONS).encode(), "d").operations == words
    assert dump_text(OPERATIONS[:2]) == "0x021A0000 0x00000080\n0x021A0004 0x00020000\n"
    assert json.loads(dump_json(OPERATIONS[:1])) == [{"address": "0x021A0000", "value": "0x00000080"}]
    assert read_program(dump_json(()).encode(), "d").operations == ()
