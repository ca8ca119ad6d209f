"""Which tests speak of what a function speaks of? A search by rare words, as search engines do it.

The words of a test are those of its text, of its parameters above it, of the constants and helpers of its
file that it names, and the modules that the file imports.

A helper of a few lines has few words, so those of what calls it in its file, and of what it names there,
count too, but less.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path

from chosen_plugin import Test, key
from listed import PACKAGE, SOURCE

TESTS = Path(__file__).parents[1]
FOLDERS = ("data", "faults", "clients", "timing", "words")
WORD = re.compile(r"[A-Za-z]\w+\.\w{3,}|[A-Za-z]\w{4,}")
SENTENCE = re.compile(r"""[^"'{}\\\n]{12,}""")
BEGIN = re.compile(r"^(?:@|def |class |[A-Z_]\w*(?:: [^=\n]*)? = )", re.MULTILINE)
OWN = re.compile(r"^(?:def |class )?(\w+)", re.MULTILINE)  # of what stands at the margin
NAMES = re.compile(r"\w+")
IMPORTED = re.compile(r"^from (memtile[.\w]*) import", re.MULTILINE)
DOCSTRING = re.compile(r'""".*?"""', re.DOTALL)
ELSEWHERE = ("test_adf*", "test_aie_api*", "test_graph*", "test_*mutants.py")  # other rooms
NEAR = 0.3  # the weight of a word of what is around a function
COMMON = 150  # tests; a word that more of them have says nothing


@cache
def index() -> tuple[dict[str, list[int]], list[Test], list[str]]:
    """Tests by word, their keys, and their texts."""
    having, tests, texts = defaultdict[str, list[int]](list), list[Test](), list[str]()
    for folder in FOLDERS:
        for file in sorted((TESTS / folder).glob("test_*.py")):
            if any(file.match(pattern) for pattern in ELSEWHERE):
                continue
            text = file.read_text(encoding="utf-8")
            modules = set(IMPORTED.findall(text))
            place = file.relative_to(TESTS.parent).as_posix()
            every = {OWN.findall(part)[0]: part for part in parts(text)}
            for name, part in every.items():
                if name.startswith("test_"):
                    used = with_used(part, every)
                    for word in words_of(used) | modules:
                        having[word].append(len(tests))
                    tests.append(key(f"{place}::{name}"))
                    texts.append(used)
    return having, tests, texts


def with_used(part: str, every: Mapping[str, str]) -> str:
    """A test with the constants and helpers of its file that it names, and those that these name."""
    found, last = {part: None}, [part]
    for _ in range(2):
        names = {name for each in last for name in set(NAMES.findall(each)) & every.keys()}
        last = [every[name] for name in sorted(names) if every[name] not in found]
        found |= dict.fromkeys(last)
    return "\n".join(found)


def parts(text: str) -> list[str]:
    """What begins at the margin, each with the decorators before it."""
    begins = [match.start() for match in BEGIN.finditer(text)]
    found, before = list[str](), ""
    for first, end in zip(begins, [*begins[1:], len(text)], strict=True):
        piece = before + text[first:end]
        if text.startswith("@", first):
            before = piece
        else:
            found.append(piece)
            before = ""
    return found


def words_of(text: str) -> set[str]:
    """Words of a text, ``a.b`` and its parts."""
    found = set(WORD.findall(text))
    return found | {part for word in found for part in word.split(".") if len(part) > 4}


@cache
def pieces(file: str) -> dict[str, str]:
    """What begins at the margin of a file of the source, or is a function in a class there, by name."""
    text = (SOURCE / PACKAGE / file).read_text(encoding="utf-8")
    lines = text.split("\n")
    found = dict[str, str]()
    for node in ast.parse(text).body:
        inner = node.body if isinstance(node, ast.ClassDef) else [node]
        for each in inner:
            target = each.targets[0] if isinstance(each, ast.Assign) else getattr(each, "target", None)
            name = getattr(each, "name", None) or getattr(target, "id", None)
            if name:
                found[name] = "\n".join(lines[each.lineno - 1 : each.end_lineno])
    return found


def around(file: str, name: str, function: str) -> list[str]:
    """What calls a function in its file, what calls that, and constants and functions that it names."""
    every = pieces(file)
    own = name.rpartition(".")[2]
    called = [every[word] for word in sorted(set(NAMES.findall(function)) & every.keys() - {own})]
    found, last = dict.fromkeys(called), {own}
    for _ in range(2):
        calls = {n for n, text in every.items() if n not in last and last & set(NAMES.findall(text))}
        found |= dict.fromkeys(every[each] for each in sorted(calls))
        last = calls
    return [*found]


def alike(file: str, name: str, function: str, known: Collection[str], most: int) -> list[Test]:
    """The tests that share the rarest words with a function.

    Args:
        file: of the function, below the package.
        name: its name, with those around it.
        function: its text.
        known: files of tests that are about the file; those in them are likelier.
        most: how many.
    """
    having, tests, texts = index()
    score = defaultdict[int, float](float)
    own = {
        "memtile." + file.removesuffix(".py").removesuffix("/__init__").replace("/", "."),
        *name.split("."),
    }
    mine = words_of(DOCSTRING.sub("", function, count=1))
    near = "\n".join(around(file, name, function))
    weights = dict.fromkeys(sorted(words_of(near)), NEAR) | dict.fromkeys(sorted(mine), 1.0)
    for word, weight in (weights | dict.fromkeys(sorted(own), 3.0)).items():
        found = having.get(word, ())
        if len(found) <= COMMON:
            for test in found:
                score[test] += weight / len(found)
    sentences = {each.strip(): 3 * NEAR for each in SENTENCE.findall(near)}
    sentences |= {each.strip(): 3.0 for each in SENTENCE.findall(function)}
    for sentence, weight in sentences.items():
        found = [number for number, text in enumerate(texts) if sentence in text]
        for test in found[:COMMON]:
            score[test] += weight / len(found)
    for test in score:
        score[test] *= 2 if tests[test][0] in known else 1
    return [tests[test] for test in sorted(score, key=lambda test: (-score[test], test))[:most]]
