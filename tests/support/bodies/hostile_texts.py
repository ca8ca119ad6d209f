"""MLIR texts with payloads in them, which must never become code; the same ones for the same number.

A payload is Python that calls :data:`CANARY`, or what confuses those who quote: it is put into attributes,
symbols, strings, types, brackets, aliases, maps and numbers of valid texts. :func:`watched` sees whether
any of it is executed, or compiled as part of what the importer generates.

By hand: ``PYTHONPATH=tests python tests/support/bodies/hostile_texts.py --texts 100000``.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import random
import re
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from memtile.importers.design import load
from memtile.importers.loaded import Loaded
from memtile.importers.mlir.sequence.program import is_scalar
from memtile.importers.mlir.token_packets import Text
from places import TESTS
from support.bodies.body_runs import MAKERS, Stub, actions_of, text_of, written
from support.mlir.mlir_texts import CALL, PASSTHROUGH
from support.mutated.mutated_runs import BAD, MAX_CYCLES, Ended, Everything, ended, followed, limited, run_all

CANARY = "PWNED"
MARK = Path(tempfile.gettempdir()) / "memtile-payload-ran"
SECONDS = 20
_MEMORY = 1 << 30  # bytes that a text may need beyond what the process has
_STEPS = 100  # actions of a core that a text without host sequence may do
_CALL = f"{CANARY}()"
_SHELL = f"touch {MARK}"

RUNNING: Sequence[str] = (
    f'__import__("os").system("{_SHELL}")',
    f"__import__('os').system('{_SHELL}')",
    f"(lambda: {_CALL})()",
    f'exec("{_CALL}")',
    f"eval('{_CALL}')",
    _CALL,
    _CALL,
    f'print("{CANARY}")',
    f"open('{MARK}', 'w')",
    f"(x := {_CALL})",
    f"[{_CALL} for _ in (1,)]",
    f"{{{_CALL}}}",
    f"{{{{{_CALL}}}}}",
    f"%s % {_CALL}",
    "().__class__.__base__.__subclasses__()",
    f"1 if {_CALL} else 2",
    f"0 + {_CALL}",
    f"0*{_CALL}",
    f"-{_CALL}",
    f"0 or {_CALL}",
    f"0; {_CALL}",
    f"0)\n    {_CALL}\n    (0",
    f"0]\n    {_CALL}\n    [0",
    f"0\n{_CALL}\n",
    f"']; {_CALL}; ['",
    f'"]; {_CALL}; ["',
    f"'); {_CALL}; ('",
    f'"); {_CALL}; ("',
    f"f'{{{_CALL}}}'",
    f"*{_CALL}",
    f"**{_CALL}",
    f"yield {_CALL}",
    f"x={_CALL}",
    f"np.{CANARY}",
    f"np.load('{CANARY}')",
    f"getattr(np, '{CANARY}')",
    f"core.{CANARY}()",
    f"# at 0\n    {_CALL}",
    f"#{CANARY}",
    f"@site {_CALL}",
    f"4 + {CANARY}",
    CANARY,
    "exit",
)
"""Python that calls the canary, a shell, or what no text may name."""
CONFUSING: Sequence[str] = (
    "quit()",
    "breakpoint()",
    "{0.__class__}",
    "{cycles}",
    "cycles",
    "core",
    "views",
    "externals",
    "body",
    "np",
    "self",
    "None",
    "True",
    "__builtins__",
    "lambda: 0",
    "\\",
    "\\n",
    "\\x41",
    "\\\\",
    "\n",
    "\r",
    "\t",
    "\0",
    "'",
    '"',
    "'''",
    '"' * 3,
    "//",
    "/*",
    "#",
    "`",
    "$(id)",
    "\u2028",
    "\u202e",
    "\u00e9",
    "\u0661\u0662",
    "\uff11",
    "\u00b2",
    "\u09e9",
    f"{chr(0xFF30)}WNED()",
    "1_000",
    "0x10",
    "0b1",
    "0o7",
    "1e999",
    "1j",
    "1.0.0",
    "-0",
    "+1",
    "--1",
    "~1",
    "1e5",
    "nan",
    "0xFFFFFFFFFFFFFFFFFF",
    "inf",
    "9" * 5000,
    "(" * 500,
    "-" * 2000 + "1",
    "a" * 20_000,
    "[" * 300 + "]" * 300,
    "<" * 400,
    "1+" * 1500 + "1",
    "%" + "a" * 3000,
    "18446744073709551616",
    "-9223372036854775808",
    "-9223372036854775809",
    "i99999999999",
    "vector<1000000000000xi8>",
    "memref<?x?x?xi32>",
    "tensor<4xi32>",
    "!aie.none",
    "none",
    "()",
    "{}",
    "<>",
    "",
)
"""Quotes, brackets, look-alikes of digits, words of generated code, and what is long, deep or large."""
_WRAPPED: Sequence[Callable[[str], str]] = (
    *[str] * 5,
    *[lambda text: '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'] * 3,
    lambda text: f'"{text}"',
    lambda text: '["' + text.replace('"', "'") + '"]',
    lambda text: '["' + text.replace('"', "'") + '", 1]',
    lambda text: f"({text})",
    lambda text: f"[{text}]",
    lambda text: f"{{{text}}}",
    lambda text: f"<{text}>",
    lambda text: f"dense<{text}>",
    lambda text: f'dense<"{text}">',
    lambda text: f"array<i64: {text}>",
    lambda text: f"affine_map<(d0) -> ({text})>",
    lambda text: f"affine_map<({text}) -> (0)>",
    lambda text: f"affine_map<()[{text}] -> (s0)>",
    lambda text: f"affine_set<(d0) : ({text} >= 0)>",
    lambda text: f"#p<{text}>",
    lambda text: f'@"{text}"',
    lambda text: f'%"{text}"',
    lambda text: f"%{text}",
    lambda text: f"0 + {text}",
    lambda text: f"{text} : i32",
    lambda text: f"a = {text}",
)
_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[%@^#!]?[\w$.]+|->|::|[^\s\w]')
_PLACES: Sequence[re.Pattern[str]] = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?<![\w%@^.#])-?\d+(?:\.\d+)?(?![\w.])",
        r"%[\w$.#]+",
        r"@[\w$.]+",
        r'"(?:[^"\\\n]|\\.)*"',
        r"(?<=<)[^<>\n]+(?=>)",
        r"(?<=\[)[^\[\]\n]*(?=\])",
        r"(?<=\()[^()\n]*(?=\))",
        r"(?<=\{)[^{}\n]+(?=\})",
        r"(?<== )(?:(?:array|dense|#[\w.]+)<[^<>]*>|\[[^\[\]]*\]|[^\s,>}]+)",
        r"(?<=: )[\w<>?!.]+",
        r"\b(?:affine_map|affine_set)<[^>]*->?[^>]*>",
        r"#[\w.]+",
        r"\b[a-z]+\.[\w.]+",
        r"\b[a-z_]+(?= =)",
        r"(?<=<)\w+(?=>)",
    )
)
"""Numbers, values, symbols, strings, insides of brackets, attributes, types, maps, aliases, names."""


@cache
def seeds() -> tuple[tuple[str, str], ...]:
    """Valid texts: a body for each operation in both forms, with its name, and devices and host sequences."""
    bodies = [
        (text_of([written(name, n, generic=generic)]), name)
        for generic in (False, True)
        for n, name in enumerate(MAKERS)
    ]
    texts = (TESTS / "support" / "mlir" / "device_texts.mlir").read_text("utf-8").split("\n// -----\n")
    return (*bodies, *[(text, "") for text in (*texts * 6, PASSTHROUGH, CALL)])


def hostile(number: int) -> str:
    """The text of a number."""
    rng = random.Random(number)
    text, name = seeds()[number % len(seeds())]
    for _ in range(rng.choice((1, 1, 1, 2))):
        text = _with_payload(rng, text, name)
    return text


def _with_payload(rng: random.Random, text: str, name: str) -> str:
    payload = rng.choice(_WRAPPED)(rng.choice(RUNNING if rng.random() < 0.65 else CONFUSING))
    if rng.random() < 0.05:  # an alias, and one of its uses
        text, payload = f"#alias{CANARY} = {payload}\n{text}", f"#alias{CANARY}"
    lines = [line.span() for line in re.finditer(r"[^\n]+", text) if name in line[0]]
    first, end = rng.choice(lines) if lines and rng.random() < 0.8 else (0, len(text))
    found = list(rng.choice((*_PLACES, _TOKEN)).finditer(text, first, end))
    at = rng.choice(found or list(_TOKEN.finditer(text)))
    way = rng.random()
    if way < 0.7:
        return text[: at.start()] + payload + text[at.end() :]
    if way < 0.85:
        return text[: at.end()] + payload + text[at.end() :]
    return text[: at.start()] + payload + rng.choice((", ", " ", "")) + text[at.start() :]


# watching --------------------------------------------------------------------------------------------------

_executed: list[str] = []
_CALLS = (
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.spawn",
    "os.fork",
    "os.forkpty",
    "subprocess.Popen",
    "pty.spawn",
)
_NAMES = frozenset(
    {
        CANARY,
        "__import__",
        "exec",
        "eval",
        "open",
        "print",
        "getattr",
        "exit",
        "quit",
        "breakpoint",
        "__builtins__",
        "globals",
        "self",
        "externals_",
    }
)
_NODES = (
    ast.Lambda,
    ast.NamedExpr,
    ast.JoinedStr,
    ast.Import,
    ast.ImportFrom,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
    ast.Await,
    ast.Starred,
)


def suspicious(source: Any) -> str:
    """What generated code, a tree or text, has that only a payload brings; empty = nothing."""
    try:
        tree = source if isinstance(source, ast.AST) else ast.parse(source or "")
    except SyntaxError as error:
        return f"no Python: {error}"
    for node in ast.walk(tree):
        name = getattr(node, "id", "") or getattr(node, "attr", "") or getattr(node, "arg", "")
        if isinstance(node, _NODES) or name in _NAMES or (isinstance(name, str) and name.startswith("__")):
            return ast.dump(node)[:200]
    return ""


def _seen(event: str, given: tuple[Any, ...]) -> None:
    """An audit hook, active while :func:`watched` is."""
    if not _active:
        return
    if event in _CALLS or (event == "open" and str(MARK) in str(given[0])):
        _executed.append(f"{event} {given!r:.200}")
    elif event == "compile" and str(given[1]).startswith(("<core", "<piece", "<body", "b'<")):
        found = suspicious(given[0])
        if found:
            _executed.append(f"compiled {found}")


_active: list[bool] = []


@cache
def _hooked() -> None:
    sys.addaudithook(_seen)


@contextmanager
def watched() -> Iterator[list[str]]:
    """Context in which execution of payloads is noted, in the list that it gives."""
    _hooked()
    _executed.clear()
    MARK.unlink(missing_ok=True)
    setattr(builtins, CANARY, lambda *_: _executed.append(f"{CANARY} was called"))
    _active.append(True)
    try:
        yield _executed
    finally:
        _active.clear()
        delattr(builtins, CANARY)
    if MARK.exists():
        MARK.unlink()
        _executed.append("a shell was called")


@contextmanager
def _alarm() -> Iterator[None]:
    def late(*_: object) -> None:
        raise TimeoutError(f"more than {SECONDS} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def run(text: str) -> str:
    """Load a text and run it on zeros; how it ended.

    Raises:
        MemtileError: the text is refused.
        AssertionError: something of it was executed.
    """
    with warnings.catch_warnings(), limited(_MEMORY), watched() as executed, _alarm():
        warnings.simplefilter("ignore")
        try:
            design = load(Text("hostile.mlir", text), functions=Everything())
            says = _ran(design)
        finally:
            assert not executed, executed[:3]
    return says


def _ran(design: Loaded) -> str:
    if design.sequence is None:
        for kernel in design.kernels.values():
            for _ in islice(actions_of(kernel, Stub({})), _STEPS):  # all buffers are zeros
                pass
        return "ran"
    arguments = [1 if is_scalar(kind) else None for kind in design.arguments]
    done = design.run(*arguments, pad_arguments=True, max_cycles=MAX_CYCLES)
    return str(done.result.status)


def made(number: int) -> Callable[[], str]:
    """The run of a number's text."""
    return lambda: run(hostile(number))


def main() -> int:
    """Run a campaign; 0 if nothing is executed and all ends as it should."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--texts", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--show", type=int, help="print the text of a number and how it ends")
    given = parser.parse_args()
    if given.show is not None:
        sys.stdout.write(hostile(given.show) + "\n")
        one: Ended = ended(given.show, made(given.show))
        sys.stdout.write(f"{one.kind}: {one.says}\n{one.text}\n")
        return int(one.kind in BAD)
    numbers = range(given.first, given.first + given.texts)
    found = followed(run_all(numbers, made, given.workers), given.texts, lambda line: print(line, flush=True))
    return int(any(each.kind in BAD for each in found))


if __name__ == "__main__":
    np.seterr(all="ignore")
    sys.exit(main())
