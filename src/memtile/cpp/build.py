"""Kernels compiled for the host, once: a shared library in the cache, found again by what it was made of.

A library stands for its sources, every header that they read, the flags and the compiler. Compiling is to run
the user's tool chain on the user's sources: whoever calls :func:`built` was asked to do so.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from subprocess import PIPE, STDOUT, Popen
from types import MappingProxyType

from memtile.arch.tiles import Generation
from memtile.cpp.compilers import STANDARD, Compiler, cache_folder, compiler
from memtile.errors import InputFileError
from memtile.jit.progress import shown
from memtile.output_files import write_output
from memtile.system import alone, system

SUFFIXES = (".cc", ".cpp", ".cxx")
INCLUDE = Path(__file__).with_name("include")
RUNTIME = Path(__file__).with_name("runtime") / "core.cc"
ARCHITECTURES: Mapping[Generation, int] = MappingProxyType({"AIE-ML": 20, "AIE2P": 21, "AIE-ML v2": 22})
"""Generation of a core -> what AMD's compilers define ``__AIE_ARCH__`` as: UG1076, Macro for Device
Architectures; AMD's guide to custom operations, AIE Kernel Programming (21 and 22)."""
_GENERATED = "cpp-generated"
_INPUTS, _OBJECT = "inputs.json", "runtime.o"
_PRELUDE = Path("memtile", "prelude.h")
_PRECOMPILED = f"{_PRELUDE}.gch"  # GCC takes it for the header if it was compiled with the same options
_HEADERS = "cpp-headers"
_FEW = 8  # precompiled headers that stay in the cache, 60 MB each
_OF_SOURCES = ("-D", "-U", "-I")  # options that a precompiled header need not share
_SHARED = ("-f", "-W", "-O", "-std=")
_LINES = 20  # of a compiler's errors: a screen
_STAY = 256  # libraries and objects that stay in the cache
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
_OF_RUNTIME = (
    "-fexceptions",  # it says what was thrown
    "-g0",  # names and lines are those of the user's sources
)
_WRAPPED = ("memcpy", "memmove", "memset")
_UNDEFINED = re.compile(r"undefined (?:reference to|symbol:?) [`'\"]?([^'\"\n]+?)['\"]?$", re.MULTILINE)
_TWICE = re.compile(r"(?:multiple definition of|duplicate symbol:?) [`'\"]?([^'\"`;\n]+)")


@dataclass(frozen=True, slots=True)
class Product:
    """What sources are made into.

    Attributes:
        file: its name in the folder.
        runtime: sources of memtile that are linked too, compiled once for all with the same options.
        link: makes it from the object files.
        what: it is, for messages.
    """

    file: str
    runtime: tuple[Path, ...]
    link: Callable[[Sources, Compiler, Sequence[Path], Path], None]
    what: str


@dataclass(frozen=True, slots=True)
class Sources:
    """What a library is made of.

    Attributes:
        files: C++ sources that are linked with each other.
        include: folders of headers, beside those of the sources and of memtile.
        defines: macros; None = without a value.
        flags: more words for the compiler.
        generation: of the core.
        sanitize: every access of memory is checked.
        shown: the files as messages name them, where they are generated from others; empty = as they are.
    """

    files: tuple[Path, ...]
    include: tuple[Path, ...] = ()
    defines: Mapping[str, str | int | None] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    generation: Generation = "AIE-ML"
    sanitize: bool = False
    shown: tuple[Path, ...] = ()

    @property
    def names(self) -> tuple[Path, ...]:
        """The files, for messages."""
        return self.shown or self.files

    def options(self, prelude: bool = True) -> list[str]:
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
            *("-include", str(_PRELUDE)) * prelude,
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

    def make(place: Path) -> dict[str, str]:
        with shown(line_for([file.name for file in dict.fromkeys(sources.names)])):
            return _make(sources, found, place, product)

    return _kept(_key(sources, found, product), product.file, make)


def _kept(
    name: str, product: str, make: Callable[[Path], Mapping[str, str]], room: str = "cpp", most: int = _STAY
) -> Path:
    """A file of the cache: as it is, or made now, if what it was made of is not as it was.

    Args:
        name: of its folder.
        product: its own, below that.
        make: puts it into a folder, and returns the files that it read with their hashes.
        room: folder of the cache.
        most: how many stay in it.
    """
    folder, own = cache_folder(room) / name, Path(product).parts[0]
    with alone(f"{folder}.lock") as unique:
        if not _is_current(folder, product):
            place = folder.with_name(f"{folder.name}{unique}.new")
            system().remove_folder(place)  # of a process that was killed
            system().make_folder(place)
            try:
                _fill(place, own, make)
                _name(place, folder, product)
            finally:
                system().remove_folder(place)
            _forget_old(folder, most)
        system().mark_used(folder)
    return folder / product


def _name(place: Path, folder: Path, product: str) -> None:
    """Give a complete folder its name."""
    if _is_current(folder, product):  # without locks another process may have made it meanwhile
        return
    try:
        system().remove_folder(folder)
        system().replace(place, folder)
    except OSError:
        if not _is_current(folder, product):
            raise
    system().sync_folder(folder.parent)


def _fill(place: Path, own: str, make: Callable[[Path], Mapping[str, str]]) -> None:
    """Make a product, and note what it was made of; both are on the disk: no later run checks them."""
    inputs = json.dumps(make(place))
    for each in place.iterdir():
        if each.name != own:
            each.unlink()
    with system().open(place / _INPUTS, "xb", buffered=True) as file:
        file.write(inputs.encode())
    for each in sorted(place.rglob("*")):
        if each.is_file():
            with system().open(each, "rb", buffered=False) as file:
                system().sync(file)
    for folder in (place, *(each for each in sorted(place.rglob("*")) if each.is_dir())):
        system().sync_folder(folder)


def generated(name: str, text: str) -> Path:
    """A C++ source that memtile writes, kept beside compiled kernels; the same text is the same file.

    Args:
        name: of the file.
        text: of it.
    """
    folder = cache_folder(_GENERATED) / hashlib.sha256(text.encode()).hexdigest()[:24]
    system().make_folder(folder, 0o700)
    file = folder / name
    if not file.is_file() or file.read_text("utf-8") != text:
        write_output(file, text, durable=False)
    return file


def _key(sources: Sources, used: Compiler, product: Product) -> str:
    """Name of the folder of a library: its sources by path, options and compiler."""
    files = [str(file.resolve()) for file in sources.files]
    said = [*files, *sources.options(), *own_options(used), *used.command, used.version]
    said += [product.file, *_OF_RUNTIME, *map(_hash, product.runtime)]
    return hashlib.sha256("\0".join(said).encode()).hexdigest()[:24]


def _is_current(folder: Path, product: str) -> bool:
    """Whether a file is there, and every file that it was made of is as it was."""
    try:
        inputs = _inputs(folder)
        return (folder / product).is_file() and all(_hash(Path(name)) == was for name, was in inputs.items())
    except (OSError, ValueError):
        return False


def _inputs(folder: Path) -> dict[str, str]:
    """The files that what a folder of the cache holds was made of, and their hashes then."""
    found: dict[str, str] = json.loads((folder / _INPUTS).read_text("utf-8"))
    return found


def _hash(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _make(sources: Sources, used: Compiler, place: Path, product: Product) -> dict[str, str]:
    """Compile and link into a folder; the files that were read."""
    limit = f"-ferror-limit={_ERRORS}" if used.is_clang else f"-fmax-errors={_ERRORS}"
    options = [*_precompiled(sources, used), *sources.options(), *own_options(used), limit]
    targets = [place / f"{number}.o" for number in range(len(sources.files))]
    running = [_begun(used, *each, options) for each in zip(sources.files, targets, strict=True)]
    runtime = [_runtime(file, sources, used) for file in product.runtime]
    _finish(sources.names, running, product.what)
    product.link(sources, used, [*targets, *runtime], place / product.file)
    read = _read_by(targets)
    for each in runtime:
        read |= _inputs(each.parent)
    return read


def _precompiled(sources: Sources, used: Compiler) -> list[str]:
    """Options by which GCC finds what every source includes compiled; none for others.

    A source whose macros change the header gets the text of it: GCC sees to that.
    """
    flags = [flag for flag in sources.flags if not flag.startswith(_OF_SOURCES)]
    if used.is_clang or not all(flag.startswith(_SHARED) for flag in flags):
        return []
    of = replace(sources, files=(), include=(), defines={}, flags=tuple(flags), shown=())
    options = [*of.options(prelude=False), *own_options(used), "-x", "c++-header"]

    def make(place: Path) -> dict[str, str]:
        target = place / _PRECOMPILED
        target.parent.mkdir(exist_ok=True)  # of a process that was killed
        _finish([_PRELUDE], [_begun(used, INCLUDE / _PRELUDE, target, options)], "header")
        return _read_by([target])

    said = hashlib.sha256("\0".join([*options, *used.command, used.version]).encode()).hexdigest()
    made = _kept(said[:24], _PRECOMPILED, make, _HEADERS, _FEW)
    return [f"-I{made.parents[1]}", "-fpch-deps"]


def _runtime(file: Path, sources: Sources, used: Compiler) -> Path:
    """The object of a source of memtile: one for all products with the same options."""
    of = replace(sources, files=(file,), include=(), defines={})  # those are for the user's own sources
    options = [*of.options(prelude=False), *own_options(used), *_UNCHECKED * of.sanitize, *_OF_RUNTIME]

    def make(place: Path) -> dict[str, str]:
        _finish([file], [_begun(used, file, place / _OBJECT, options)], "run time")
        return _read_by([place / _OBJECT])

    said = hashlib.sha256("\0".join([*options, *used.command, used.version]).encode()).hexdigest()
    return _kept(f"{file.stem}-{said[:24]}", _OBJECT, make)


def _begun(used: Compiler, file: Path, target: Path, options: Sequence[str]) -> Popen[str]:
    """The compiler that is at a source."""
    words = [*used.command, *options, "-fdiagnostics-color=never", "-MMD", "-MF", f"{target}.d"]
    words += ["-c", str(file.resolve()), "-o", str(target)]
    return Popen(words, stdout=PIPE, stderr=STDOUT, text=True, errors="replace")


def _finish(names: Sequence[Path], running: Sequence[Popen[str]], what: str) -> None:
    """Wait for compilers; the first that failed says why."""
    said = [(begun.communicate()[0], begun.returncode) for begun in running]
    for file, (text, code) in zip(names, said, strict=True):
        if code:
            raise InputFileError(f"{file}: the {what} does not compile.\n{screen(text, file)}")


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


def _read_by(targets: Sequence[Path]) -> dict[str, str]:
    """The files that the compiler says it read for object files, with their hashes."""
    words: list[str] = []
    for target in targets:
        rules = Path(f"{target}.d").read_text("utf-8")
        words += rules.replace("\\\n", " ").replace("\\ ", "\0").split()
    paths = [Path(word.replace("\0", " ")) for word in words if not word.endswith(":")]
    return {str(path): _hash(path) for path in paths if path.is_file()}


def _forget_old(mine: Path, most: int) -> None:
    others = [each for each in mine.parent.iterdir() if each.is_dir() and each != mine]
    for each in sorted(others, key=_used, reverse=True)[most - 1 :]:
        system().remove_folder(each)


def _used(folder: Path) -> float:
    """When a library was used last; one that another process has forgotten meanwhile, never."""
    try:
        return folder.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def line_for(names: Sequence[str]) -> Callable[[float], str]:
    """What a terminal says while sources are compiled, if that takes long."""
    begun = time.monotonic()

    def line(now: float) -> str:
        spent = now - begun
        return f"  compiling {', '.join(names)} ({spent:.0f} s)" if spent > _QUIET_SECONDS else ""

    return line
