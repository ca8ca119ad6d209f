"""The program of a graph, compiled for the host: the user's sources, linked with memtile's recorder.

Kernels that a graph names have no body in its sources. Each function that is called and not defined gets a
body of its own that ends the program; its address gives the kernel its name.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from memtile.arch.tiles import Generation
from memtile.cpp import build
from memtile.cpp.build import Product, Sources, built
from memtile.cpp.compilers import Compiler, cache_folder
from memtile.cpp.symbols import linkage
from memtile.errors import InputFileError
from memtile.output_files import write_output
from memtile.system import system

_RUNTIME = Path(build.__file__).with_name("runtime")
_SOURCES = (_RUNTIME / "graph_recorder.cc", _RUNTIME / "graph_host.cc")
_FLAGS = (
    "-O0",
    "-fexceptions",
    "-fno-sanitize=all",  # ziglang checks what is not optimised; AMD's simulators do not
    "-Wno-narrowing",
    "-DMEMTILE_GRAPH",
)
MACROS: Mapping[str, int] = {"__AIESIM__": 1, "__ADF_FRONTEND__": 1}
"""Macros that users ask for around their ``main``, defined unless others are given."""
_MISSING = re.compile(r"undefined (?:reference to|symbol:?) [`'\"]?(\w[\w.$@]*)")
_STANDARD = re.compile(
    r"_Z(?:n[wa]|d[la]|(?:T[ISTV]|GV|Th\w+?_|Tv\w+?_)?(?:N[KVrRO]*)?(?:S[absidot]|10__cxxabiv1|9__gnu_cxx)|TI[a-zDP])"
)
"""Symbols of the C++ library: of ``std``, its abbreviations, memory, and of what the compilers call."""
_LINK = ("-rdynamic", "-Wl,--wrap=main", "-lm", "-ldl", "-lpthread")
_STUB = """extern "C" __attribute__((section("memtile_missing")))
void memtile_stub_{number}() __asm__("{symbol}");
void memtile_stub_{number}() {{ memtile_adf_missing("{symbol}"); }}
"""


def graph_program(
    files: Sequence[Path],
    include: Sequence[Path] = (),
    defines: Mapping[str, str | int | None] = MACROS,
    flags: Sequence[str] = (),
    generation: Generation = "AIE-ML",
    instance: str = "",
) -> Path:
    """The executable of a graph's sources: from the cache, or compiled now.

    Args:
        files: C++ sources, one of which has ``main``; or, with ``instance``, headers of the graph.
        include: folders of headers, beside those of the sources.
        defines: macros; None = without a value.
        flags: more words for the compiler.
        generation: of the cores.
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
    folder = cache_folder().with_name("graphs")
    system().make_folder(folder, 0o700)
    source = folder / f"{sha256(text.encode()).hexdigest()[:24]}.cc"
    if not source.is_file():
        write_output(source, text)
    return source


def _link(sources: Sources, used: Compiler, objects: Sequence[Path], program: Path) -> None:
    """Link, with bodies for what has none."""
    every = [linkage(each) for each in objects]
    defined = set[str]().union(*(each[0] for each in every))
    needed = set[str]().union(*(each[1] for each in every))
    missing = {each for each in needed - defined if each.startswith("_Z") and not _STANDARD.match(each)}
    text = _linked(used, objects, missing, program)
    plain = {each for each in _MISSING.findall(text or "") if each in needed and not each.startswith("_Z")}
    if plain:  # kernels with C linkage, which look like functions of the C library
        text = _linked(used, objects, missing | plain, program)
    if text is not None:
        files = ", ".join(map(str, sources.files))
        raise InputFileError(f"{files}: the graph does not link.\n{text}")


def _linked(used: Compiler, parts: Sequence[Path], missing: set[str], program: Path) -> str | None:
    """Link with a body for each of some symbols; returns what the linker says if it fails."""
    # The first one keeps the section's own first name away from a kernel's.
    bodies = enumerate(["memtile_nothing", *sorted(missing)])
    lines = [_STUB.format(number=number, symbol=symbol) for number, symbol in bodies]
    stubs = program.with_name("missing.cc")
    text = 'extern "C" void memtile_adf_missing(const char*);\n' + "".join(lines)
    write_output(stubs, text, durable=False)
    return _said([*used.command, "-O0", "-fPIC", str(stubs), *map(str, parts), *_LINK, "-o", str(program)])


def _said(words: Sequence[str]) -> str | None:
    """What a linker says that fails; None = it did not."""
    environment = {**os.environ, "LC_ALL": "C"}
    done = subprocess.run(
        words, capture_output=True, check=False, text=True, errors="replace", env=environment
    )
    return done.stdout + done.stderr if done.returncode else None


PROGRAM = Product("graph", _SOURCES, _link, "graph")
