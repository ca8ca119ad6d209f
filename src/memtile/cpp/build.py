"""Kernels compiled for the host, once: a shared library in the cache, found again by what it was made of.

A library stands for its sources, every header that they read, the flags and the compiler. Compiling is to run
the user's tool chain on the user's sources: whoever calls :func:`built` was asked to do so.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from filelock import FileLock

from memtile.cpp.compilers import STANDARD, Compiler, compiler
from memtile.errors import InputFileError
from memtile.jit.cache import cache_directory
from memtile.jit.progress import shown
from memtile.sim.loop.compiled_sources import ENGINE

SUFFIXES = (".cc", ".cpp", ".cxx")
INCLUDE = Path(__file__).with_name("include")
RUNTIME = Path(__file__).with_name("runtime") / "core.cc"
ARCHITECTURES: Mapping[str, int] = MappingProxyType({"AIE-ML": 20, "AIE2P": 21})
"""Generation of a core -> what AMD's compilers define ``__AIEARCH__`` as (xchesscc, Peano)."""
_GENERATED = "cpp-generated"
_LINES = 20  # of a compiler's errors: a screen
_STAY = 64  # libraries that stay in the cache
_QUIET_SECONDS = 2.0
_ERRORS = 5
_CODE = (
    "-fPIC",
    "-g",
    "-fno-exceptions",
    "-fno-omit-frame-pointer",
    "-fno-optimize-sibling-calls",  # the line of a call that waits is that of its frame
    "-fno-strict-aliasing",
    "-ffp-contract=off",
    "-w",
)
_PLAIN = ("-O2", "-fwrapv")
_SANITIZED = (
    "-O1",
    "-fsanitize=thread",
    "-fsanitize=undefined",
    "-fno-sanitize=vptr",  # it needs the compiler's own library
    "-fno-sanitize-recover=all",
)
_CLANG = (
    "-gdwarf-4",  # of Clang's DWARF 5, addr2line (binutils 2.40) loses who called an inlined function
    "-fno-sanitize=function",  # a part of -fsanitize=undefined that needs Clang's own run time
    "-Dmin_iteration_count(n)=pipeline(disable)",  # a hint of Peano's "#pragma clang loop"
)
_GCC = ("-fno-gnu-unique",)
_UNCHECKED = ("-fno-sanitize=all",)
_OF_RUNTIME = ("-fexceptions",)  # it says what was thrown
_WRAPPED = ("memcpy", "memmove", "memset")
_UNDEFINED = re.compile(r"undefined (?:reference to|symbol:?) [`'\"]?([^'\"\n]+?)['\"]?$", re.MULTILINE)
_TWICE = re.compile(r"(?:multiple definition of|duplicate symbol:?) [`'\"]?([^'\"`;\n]+)")


@dataclass(frozen=True, slots=True)
class Product:
    """What sources are made into.

    Attributes:
        file: its name in the folder.
        runtime: sources of memtile that are compiled too.
        link: makes it from the object files.
        what: it is, for messages.
        linked: other sources of memtile that ``link`` puts in.
    """

    file: str
    runtime: tuple[Path, ...]
    link: Callable[[Sources, Compiler, Sequence[Path], Path], None]
    what: str
    linked: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Sources:
    """What a library is made of.

    Attributes:
        files: C++ sources that are linked with each other.
        include: folders of headers, beside those of the sources and of memtile.
        defines: macros; None = without a value.
        flags: more words for the compiler.
        generation: of the core, a key of :data:`ARCHITECTURES`.
        sanitize: every access of memory is checked.
        shown: the files as messages name them, where they are generated from others; empty = as they are.
    """

    files: tuple[Path, ...]
    include: tuple[Path, ...] = ()
    defines: Mapping[str, str | int | None] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    generation: str = "AIE-ML"
    sanitize: bool = False
    shown: tuple[Path, ...] = ()

    @property
    def names(self) -> tuple[Path, ...]:
        """The files, for messages."""
        return self.shown or self.files

    def options(self) -> list[str]:
        """The compiler's options for a source of the user."""
        number = ARCHITECTURES[self.generation]
        own = {"MEMTILE_GENERATION": number // 10 if number % 10 == 0 else number, "MEMTILE_COUNT": 1}
        own |= {"__AIENGINE__": 2, "__AIEARCH__": number, "__AIE_ARCH__": number}
        if self.sanitize:
            own["MEMTILE_SANITIZE"] = 1
        macros = [*own.items(), *self.defines.items()]
        return [
            STANDARD,
            *_CODE,
            *(_SANITIZED if self.sanitize else _PLAIN),
            *(f"-D{name}" if value is None else f"-D{name}={value}" for name, value in macros),
            *(f"-I{folder}" for folder in (*self.include, INCLUDE)),
            "-include",
            "memtile/prelude.h",
            *self.flags,
        ]


def own_options(used: Compiler) -> tuple[str, ...]:
    """Options that a compiler takes and others lack."""
    return _CLANG if used.is_clang else _GCC


def built(sources: Sources, product: Product | None = None) -> Path:
    """The shared library of these sources, or another product: from the cache, or compiled now.

    Raises:
        InputFileError: there is no compiler, or the sources do not compile; with the user's file and line.
    """
    product = product or KERNELS
    for file in sources.files:
        if not file.is_file():
            raise InputFileError(f"{file}: there is no such file. Give a C++ source of {product.what}s.")
    found = compiler()
    folder = cache_folder() / _key(sources, found, product)
    with FileLock(f"{folder}.lock"):
        library = folder / product.file
        if not _is_current(folder, product):
            with shown(line_for([file.name for file in dict.fromkeys(sources.names)])):
                _make(sources, found, folder, product)
            _forget_old(folder)
        os.utime(folder)
    return library


def generated(name: str, text: str) -> Path:
    """A C++ source that memtile writes, kept beside compiled kernels; the same text is the same file.

    Args:
        name: of the file.
        text: of it.
    """
    folder = cache_folder(_GENERATED) / hashlib.sha256(text.encode()).hexdigest()[:24]
    folder.mkdir(mode=0o700, exist_ok=True)
    file = folder / name
    if not file.is_file() or file.read_text("utf-8") != text:
        with tempfile.NamedTemporaryFile("w", dir=folder, encoding="utf-8", delete=False) as begun:
            begun.write(text)
        Path(begun.name).replace(file)
    return file


def cache_folder(name: str = "cpp") -> Path:
    """A folder of the cache, beside that of the engine, which memtile keeps to the user."""
    folder = cache_directory(ENGINE).parents[1] / name
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def _key(sources: Sources, used: Compiler, product: Product) -> str:
    """Name of the folder of a library: its sources by path, options and compiler."""
    files = [str(file.resolve()) for file in sources.files]
    said = [*files, *sources.options(), *own_options(used), *used.command, used.version]
    said += [product.file, *map(_hash, (*product.runtime, *product.linked))]
    return hashlib.sha256("\0".join(said).encode()).hexdigest()[:24]


def _is_current(folder: Path, product: Product) -> bool:
    """Whether a library is there, and every file that it was made of is as it was."""
    try:
        inputs = json.loads((folder / "inputs.json").read_text("utf-8"))
        return (folder / product.file).is_file() and all(
            _hash(Path(name)) == was for name, was in inputs.items()
        )
    except (OSError, ValueError):
        return False


def _hash(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _make(sources: Sources, used: Compiler, folder: Path, product: Product) -> None:
    """Compile and link into a folder, which is complete or not there."""
    with tempfile.TemporaryDirectory(prefix="build-", dir=folder.parent) as name:
        place = Path(name, "out")
        place.mkdir()
        objects = _compiled(sources, used, place, product)
        product.link(sources, used, objects, place / product.file)
        inputs = {str(path): _hash(path) for path in _read_by(place) if path.is_file()}
        (place / "inputs.json").write_text(json.dumps(inputs), "utf-8")
        for each in place.glob("*.[od]"):
            each.unlink()
        shutil.rmtree(folder, ignore_errors=True)
        place.rename(folder)


def _compiled(sources: Sources, used: Compiler, place: Path, product: Product) -> list[Path]:
    """The object files of the sources, and of the run time."""
    limit = f"-ferror-limit={_ERRORS}" if used.is_clang else f"-fmax-errors={_ERRORS}"
    own = own_options(used)
    running = []
    names = (*sources.names, *product.runtime)
    for number, file in enumerate((*sources.files, *product.runtime)):
        target = place / f"{number}.o"
        own_file = file in product.runtime
        more = (*_UNCHECKED * (own_file and sources.sanitize), *_OF_RUNTIME * own_file)
        words = [
            *used.command,
            *sources.options(),
            *own,
            *more,
            limit,
            "-fdiagnostics-color=never",
            "-MMD",
            "-MF",
        ]
        words += [str(target.with_suffix(".d")), "-c", str(file.resolve()), "-o", str(target)]
        begun = subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        )
        running.append((names[number], target, begun))
    said = [(file, begun.communicate()[0], begun.returncode) for file, _, begun in running]
    for file, text, code in said:
        if code:
            raise InputFileError(f"{file}: the {product.what} does not compile.\n{screen(text, file)}")
    return [target for _, target, _ in running]


def _link(sources: Sources, used: Compiler, objects: Sequence[Path], library: Path) -> None:
    options = ["-shared", "-Wl,-Bsymbolic", "-Wl,-z,defs", "-Wl,-z,noexecstack"]
    if sources.sanitize:
        options += [f"-Wl,--wrap={name}" for name in _WRAPPED]
    words = [*used.command, *options, *map(str, objects), "-o", str(library), "-lm"]
    done = subprocess.run(words, capture_output=True, check=False, text=True, errors="replace")
    if not done.returncode:
        return
    files, text = ", ".join(map(str, dict.fromkeys(sources.names))), done.stdout + done.stderr
    if missing := sorted(set(_UNDEFINED.findall(text))):
        says = (
            f"{missing[0]} is called and not defined{f', and {len(missing) - 1} more' if missing[1:] else ''}"
        )
        step = "Give the source that defines it too: --kernels for each, or cpp('a.cc', 'b.cc')."
        raise InputFileError(f"{files}: {says}. {step}")
    if twice := _TWICE.search(text):
        step = "Give sources that have functions of one name one by one, each in a cpp(...) of its own."
        raise InputFileError(f"{files}: {twice[1]} is defined twice. {step}")
    raise InputFileError(f"{files}: the kernels do not link.\n{screen(text, library)}")


KERNELS = Product("kernels.so", (RUNTIME,), _link, "kernel")


def screen(text: str, file: Path) -> str:
    """The errors of a compiler, at most a screen of them, with the file as the user named it."""
    lines = text.replace(str(file.resolve()), str(file)).splitlines()
    first = next((n for n, line in enumerate(lines) if "error:" in line), 0)
    context = [
        line
        for line in lines[:first]
        if line.startswith(("In file included", "                 from")) and f"/{_GENERATED}/" not in line
    ][-2:]
    shown = [*context, *lines[first : first + _LINES]]
    left = len(lines) - first - _LINES
    return "\n".join([*shown, *([f"... {left} more lines of the compiler"] if left > 0 else [])])


def _read_by(place: Path) -> Iterator[Path]:
    """The files that the compiler says it read."""
    for rules in place.glob("*.d"):
        words = rules.read_text("utf-8").replace("\\\n", " ").replace("\\ ", "\0").split()
        yield from (Path(word.replace("\0", " ")) for word in words if not word.endswith(":"))


def _forget_old(mine: Path) -> None:
    others = [each for each in mine.parent.iterdir() if each.is_dir() and each != mine]
    for each in sorted(others, key=lambda path: path.stat().st_mtime, reverse=True)[_STAY - 1 :]:
        shutil.rmtree(each, ignore_errors=True)


def line_for(names: Sequence[str]) -> Callable[[float], str]:
    """What a terminal says while sources are compiled, if that takes long."""
    begun = time.monotonic()

    def line(now: float) -> str:
        spent = now - begun
        return f"  compiling {', '.join(names)} ({spent:.0f} s)" if spent > _QUIET_SECONDS else ""

    return line
