"""The program of a graph, compiled for the host: the user's sources, linked with memtile's recorder.

Kernels that a graph names have no body in its sources. Each function that is called and not defined gets a
body of its own that ends the program; its address gives the kernel its name.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from memtile.cpp import build
from memtile.cpp.build import Product, Sources, built
from memtile.cpp.compilers import Compiler
from memtile.errors import InputFileError
from memtile.output_files import write_output

_RUNTIME = Path(build.__file__).with_name("runtime")
_SOURCES = (_RUNTIME / "graph_recorder.cc", _RUNTIME / "graph_host.cc")
_FLAGS = ("-O0", "-fexceptions", "-Wno-narrowing")
MACROS: Mapping[str, int] = {"__AIESIM__": 1, "__ADF_FRONTEND__": 1}
"""Macros that users ask for around their ``main``, defined unless others are given."""
_MISSING = re.compile(r"undefined (?:reference to|symbol:?) [`'\"]?(\w[\w.$@]*)")
_LINK = ("-rdynamic", "-Wl,--wrap=main", "-Wl,--no-demangle", "-lm", "-ldl", "-lpthread")
_STUB = """extern "C" __attribute__((section("memtile_missing")))
void memtile_stub_{number}() __asm__("{symbol}");
void memtile_stub_{number}() {{ memtile_adf_missing("{symbol}"); }}
"""


def graph_program(
    files: Sequence[Path],
    include: Sequence[Path] = (),
    defines: Mapping[str, str | int | None] = MACROS,
    flags: Sequence[str] = (),
    generation: str = "AIE-ML",
    instance: str = "",
) -> Path:
    """The executable of a graph's sources: from the cache, or compiled now.

    Args:
        files: C++ sources, one of which has ``main``; or, with ``instance``, headers of the graph.
        include: folders of headers, beside those of the sources.
        defines: macros; None = without a value.
        flags: more words for the compiler.
        generation: of the cores, a key of :data:`memtile.cpp.build.ARCHITECTURES`.
        instance: a graph that the sources do not make: ``my_graph<16> gr`` or only its class.

    Raises:
        InputFileError: there is no compiler, or the sources do not compile; with the user's file and line.
    """
    chosen = tuple(files)
    if instance:
        headers = [each for each in chosen if each.suffix not in build.SUFFIXES]
        chosen = (*(each for each in chosen if each not in headers), _instance(instance, headers))
    folders = tuple(dict.fromkeys([*include, *(each.resolve().parent for each in files)]))
    sources = Sources(chosen, folders, defines, (*_FLAGS, *flags), generation)
    return built(sources, PROGRAM)


def _instance(instance: str, headers: Sequence[Path]) -> Path:
    """A source that makes a graph of a class."""
    kind, _, name = instance.strip().rpartition(" ")
    if not kind or not name.isidentifier():
        kind, name = instance.strip(), "gr"
    text = "".join(f'#include "{each.resolve()}"\n' for each in headers) + f"{kind} {name};\n"
    folder = build.cache_folder().with_name("graphs")
    folder.mkdir(mode=0o700, exist_ok=True)
    source = folder / f"{sha256(text.encode()).hexdigest()[:24]}.cc"
    if not source.is_file():
        write_output(source, text)
    return source


def _copied(_sources: Sources, _used: Compiler, objects: Sequence[Path], target: Path) -> None:
    """Leave the objects of the recorder in the cache, as ``recorder.0`` and so on, and how many they are."""
    for number, each in enumerate(objects):
        shutil.copy(each, target.with_name(f"recorder.{number}"))
    target.write_text(str(len(objects)), "utf-8")


def _recorder(sources: Sources) -> list[Path]:
    """The objects of the recorder for a compiler, which all graphs share."""
    plain = Sources(_SOURCES, (_RUNTIME,), {}, _FLAGS, sources.generation)
    listed = built(plain, Product("recorder", (), _copied, "recorder"))
    return [listed.with_name(f"recorder.{number}") for number in range(len(_SOURCES))]


def _link(sources: Sources, used: Compiler, objects: Sequence[Path], program: Path) -> None:
    """Link, with bodies for what has none."""
    # An object's name decides what a linker driver takes it for.
    own = []
    for each in _recorder(sources):
        own.append(program.with_name(f"{each.name}.o"))
        shutil.copy(each, own[-1])
    parts = [*map(str, objects), *map(str, own)]
    words = [*used.command, *parts, *_LINK, "-o", str(program)]
    text = _said(words)
    if text is None:
        return
    missing = sorted(set(_MISSING.findall(text)) - {"main"})
    if not missing:
        files = ", ".join(map(str, sources.files))
        raise InputFileError(f"{files}: the graph does not link.\n{text}")
    stubs = program.with_name("missing.cc")
    # The first one keeps the section's own first name away from a kernel's.
    bodies = enumerate(["memtile_nothing", *missing])
    lines = [_STUB.format(number=number, symbol=symbol) for number, symbol in bodies]
    stubs.write_text('extern "C" void memtile_adf_missing(const char*);\n' + "".join(lines), "utf-8")
    words = [*used.command, "-O0", "-fPIC", str(stubs), *words[len(used.command) :]]
    text = _said(words)
    if text is not None:
        files = ", ".join(map(str, sources.files))
        raise InputFileError(f"{files}: the graph does not link.\n{text}")


def _said(words: Sequence[str]) -> str | None:
    """What a linker says that fails; None = it did not."""
    environment = {**os.environ, "COLLECT_NO_DEMANGLE": "1", "LC_ALL": "C"}
    done = subprocess.run(
        words, capture_output=True, check=False, text=True, errors="replace", env=environment
    )
    return done.stdout + done.stderr if done.returncode else None


PROGRAM = Product("graph", (), _link, "graph", _SOURCES)
