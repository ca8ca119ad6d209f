"""Entries: compiled functions that Python calls, as machine code from the cache (``native``) or the package
(``bundled_engine``), or made of bitcode (``bitcode``) that the package carries or Numba translates.

Where this Numba does not hand its machine code over, or ``MEMTILE_JIT=numba`` says so, Numba itself keeps and
calls it: slower to load and to call, otherwise the same.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from ctypes import c_int64, c_void_p
from functools import cached_property
from inspect import signature
from typing import Any
from zlib import crc32

from memtile.jit import bundled_engine, native
from memtile.jit.bitcode import Processor, object_file, optimised, this_processor
from memtile.jit.cache import Sources, cache_directory
from memtile.jit.settings import settings
from memtile.jit.struct_layout import layout_of
from memtile.jit.structs import StructPlace, place_of

BY_NUMBA = os.environ.get("MEMTILE_JIT") == "numba"


class CompiledEntry:
    """A compiled function of a struct, numbers and further structs, all 64-bit integers; it gives one.

    It is compiled, or what is kept is loaded, when it is first called. The layouts of all structs that it
    takes have to be known then (``struct_layout.lay_out``).

    Args:
        function: what to compile; its first number is the address of the struct.
        sources: what it is made of.
        kinds: of the structs that it takes.
        by_numba: have Numba call it.

    Attributes:
        function: as it was written.
        sources: what it is made of.
    """

    def __init__(
        self, function: Callable[..., int], sources: Sources, *kinds: type, by_numba: bool = BY_NUMBA
    ) -> None:
        self.function, self.sources, self._kinds, self._by_numba = function, sources, kinds, by_numba
        self._numbers = len(signature(function).parameters)
        self.__name__ = function.__name__

    def __call__(self, struct: Any, *numbers: int) -> int:
        """Call it without the lock of the interpreter: other threads run meanwhile."""
        place: StructPlace = struct.place or place_of(struct)
        if self.free(place.result, place.error, place.given, *map(c_int64, numbers)):
            raise RuntimeError(f"{self.__name__}: an error in compiled code")
        return place.answer.value

    @property
    def held(self) -> Any:
        """``held(place.result, place.error, place.given, *numbers)``; ``place.answer`` has the result.

        The numbers are ``c_int64``.

        The lock of the interpreter is held, so it is for what takes less than a microsecond or so.
        """
        return self._calls.held

    @cached_property
    def free(self) -> Any:
        """The call of ``held`` without the interpreter's lock; true where something went wrong."""
        return self._calls.free

    @cached_property
    def _calls(self) -> native.Calls:
        code = self.kept() or (None if self._by_numba else self._compiled())
        return native.load(code) if code else self._numba_calls()

    def kept(self) -> native.MachineCode | None:
        """The machine code on disk, None if there is none for these sources, structs and this processor.

        What was compiled for this very processor comes before what the package carries for many.
        """
        return self.in_cache() or self.in_package().code

    def in_cache(self) -> native.MachineCode | None:
        """The machine code in the cache, None if there is none."""
        if self._by_numba:
            return None
        return native.kept(cache_directory(self.sources), self.__name__, self._about)

    def in_package(self) -> bundled_engine.BundledEngine:
        """What the package carries, and why nothing of it fits."""
        if self._by_numba:
            return bundled_engine.NOTHING
        return bundled_engine.found(self.function, self.sources, self._about)

    @property
    def _about(self) -> str:
        layouts = [layout_of(kind) for kind in self._kinds]
        return f"{crc32(repr(layouts).encode()):08x}"

    def bitcode(self, processor: Processor) -> native.MachineCode | None:
        """What the package carries as bitcode, else what Numba translates, optimised for a processor.

        Returns:
            The code; None if Numba has to call it.
        """
        if carried := self.in_package().bitcode:
            return carried
        from memtile.jit.parts import bitcode_of

        with settings(cache_directory(self.sources)):
            made = bitcode_of(self.function, self._numbers)
        content = None if made is None else optimised(made[1], processor)
        if made is None or content is None:
            return None
        return native.MachineCode(made[0], self._about, content)

    def _compiled(self) -> native.MachineCode | None:
        """Compile it and keep what comes out; None if Numba has to call it."""
        source = self.bitcode(this_processor())
        if source is None:
            return None
        code = source._replace(content=object_file(source.content, this_processor()))
        native.keep(cache_directory(self.sources), self.__name__, code)
        return code

    def _numba_calls(self) -> native.Calls:
        """Numba's own way, with its own cache."""
        from memtile.jit.parts import compiled_entry

        with settings(cache_directory(self.sources)):
            compiled = compiled_entry(self.function)

        def call(result: c_void_p, _error: c_void_p, *numbers: Any) -> int:
            plain = [getattr(number, "value", number) for number in numbers]
            c_int64.from_address(result.value or 0).value = compiled(*plain)
            return 0

        return native.Calls(call, call)
