"""``memtile bd``: descriptors to register words, back again, and what they do in words and pictures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from memtile.arch.tiles import TileName
from memtile.bd.codec import decode as decode_words
from memtile.bd.descriptor_cases import (
    case_of,
    hex_words,
    items_of,
    parse_case,
    parse_words,
    refusal,
    words_of_case,
)
from memtile.bd.explain import oddities
from memtile.cli import lower
from memtile.cli.exit_codes import ExitCode
from memtile.cli.input_file import read_json_lines
from memtile.cli.result_output import print_answers
from memtile.errors import DescriptorError
from memtile.input_files import STDIN

app = typer.Typer(
    help="Encode, decode and explain buffer descriptors; create them from tilings.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

# \b keeps the line breaks
ENCODE_EXAMPLES = """\b
Examples:
  memtile bd encode cases.json
  echo '{"tile": "memory", "length": 64, "address": 131072}' | memtile bd encode -
"""
DECODE_EXAMPLES = """\b
Examples:
  memtile bd decode words.json
  echo '{"tile": "compute", "words": [16, 0, 0, 0, 0, "0x02000000"]}' | memtile bd decode -
"""
EXPLAIN_EXAMPLES = """\b
Examples:
  memtile bd explain 0x80 0xA0000 0x10000F 0x200000 0 0 0 0x8140FF41
  memtile bd explain --tile compute 16 0 0 0 0 0x02000000
  memtile bd encode case.json | memtile bd explain -
"""

app.command("tiling", epilog=lower.EXAMPLES)(lower.lower)

Result = dict[str, Any]
File = Annotated[str, typer.Argument(metavar="FILE|-", help="JSON file; - is standard input.")]
Words = Annotated[
    list[str] | None,
    typer.Argument(metavar="WORD...|FILE|-", help="Register words, word 0 first; or a JSON file."),
]
Tile = Annotated[TileName, typer.Option(help="Tile kind, where the input names none.")]


@app.command(epilog=ENCODE_EXAMPLES)
def encode(file: File = STDIN) -> None:
    """Turn descriptors into register words.

    Reads one descriptor or a list as JSON: tile, bd, length, address (words), dims [[step, wrap], ...], pad,
    iteration, next, acquire, release, packet, ooo_id, compression, tlast_suppress, valid, axi. Writes, in
    order, {"tile", "bd", "words": ["0x...", ...]}, with "notes" on what is legal and seldom meant, or
    {"error": {"reason", "field", "message"}}; a list for a list. Lines of JSON are a list. Exits with 1
    when a descriptor was refused.
    """

    def answer(item: object) -> Result:
        words = hex_words(words_of_case(item))
        bd, descriptor = parse_case(item)
        notes = [line.text for line in oddities(descriptor)]
        found = {"tile": descriptor.tile, "bd": bd, "words": words}
        return found | ({"notes": notes} if notes else {})

    _answer_each(file, answer)


@app.command(epilog=DECODE_EXAMPLES)
def decode(file: File = STDIN) -> None:
    """Turn register words back into descriptors; the inverse of encode.

    Reads {"tile": ..., "bd": ..., "words": [...]} or a list of them, words as numbers or hexadecimal strings.
    Writes, in order, descriptors in the form that encode reads, or {"error": ...}. Exits with 1 when some
    words are not those of a descriptor.
    """

    def answer(item: object) -> Result:
        tile, bd, words = parse_words(item)
        return case_of(decode_words(tile, words, bd), bd)

    _answer_each(file, answer)


@app.command(epilog=EXPLAIN_EXAMPLES)
def explain(
    words: Words = None,
    tile: Tile = "memory",
    bd: Annotated[int, typer.Option(help="BD number of words on the command line.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Explain what register words do, in words and in pictures of the access order.

    The first picture is the stream of one execution, one row per D0 loop: the word that each position comes
    from or goes to. The second is the memory: the stream position that touches each word.
    """
    from memtile.report.lowering import explained_json, print_explained

    if words and len(words) > 1:
        items, single = [{"tile": tile, "bd": bd, "words": words}], True
    else:
        items, single = items_of(read_json_lines(words[0] if words else STDIN))
    cases = [parse_words(item, tile) for item in items]
    if as_json:
        results = [explained_json(case) for case in cases]
        print_answers(results, single=single)
        return
    for case in cases:
        print_explained(case)


def _answer_each(file: str, answer: Callable[[object], Result]) -> None:
    """Write the answer to each item of ``file``, or why there is none."""
    items, single = items_of(read_json_lines(file))
    results: list[Result] = []
    for item in items:
        try:
            results.append(answer(item))
        except DescriptorError as error:
            results.append({"error": refusal(error)})
    print_answers(results, single=single)
    if any("error" in result for result in results):
        raise typer.Exit(ExitCode.BAD_RESULT)
