"""``aie.iron.kernel``: functions in C++ that workers call."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, get_args

import numpy as np

from memtile.iron.buffer import Buffer
from memtile.iron.dialects.aie import external_func
from memtile.iron.helpers.dialects.func import as_argument, function_type
from memtile.iron.ops.attributes import ArrayAttr, IntegerAttr
from memtile.iron.ops.operation_classes import operation_class, outcome
from memtile.iron.ops.operations import InsertionPoint, Operation, Value, top_of
from memtile.iron.ops.scalars import build
from memtile.iron.ops.types import IntegerType, MemRefType, Type
from memtile.iron.resolvable import Resolvable


class BaseKernel(Resolvable):
    """A function that workers call.

    Args:
        name: of the function.
        arg_types: NumPy's types of its arguments.

    Raises:
        ValueError: it has no name.
    """

    def __init__(self, name: str, arg_types: Sequence[Any] | None = None) -> None:
        if not name:
            raise ValueError("a kernel needs a name, that of its function")
        self._name, self._arg_types = name, list(arg_types or ())
        self._op: Any = None

    @property
    def name(self) -> str:
        """Of the function."""
        return self._name

    def arg_types(self) -> list[Any]:
        """NumPy's types of its arguments."""
        return list(self._arg_types)

    def _argument(self, arg_index: int) -> Any:
        if not 0 <= arg_index < len(self._arg_types):
            raise ValueError(
                f"kernel {self._name} has {len(self._arg_types)} arguments, none with number {arg_index}"
            )
        return self._arg_types[arg_index]

    def arg_shape(self, arg_index: int = 0) -> tuple[int, ...]:
        """The dimensions of an argument.

        Raises:
            ValueError: it has none, or there is no such argument.
        """
        found = self._argument(arg_index)
        shape = (get_args(found) or (getattr(found, "shape", None),))[0]
        if not isinstance(shape, (tuple, list)):
            raise ValueError(f"argument {arg_index} of kernel {self._name} is a number, no array")
        return tuple(shape)

    def arg_dtype(self, arg_index: int = 0) -> Any:
        """The type of the elements of an argument.

        Raises:
            ValueError: it has none, or there is no such argument.
        """
        found = self._argument(arg_index)
        inner = get_args(found)
        if len(inner) < 2:
            raise ValueError(f"argument {arg_index} of kernel {self._name} is a number, no array")
        return np.dtype((get_args(inner[1]) or (inner[1],))[0])

    def tile_size(self, arg_index: int = 0) -> int:
        """The first dimension of an argument."""
        return self.arg_shape(arg_index)[0]

    def __call__(self, *args: Any, **more: Any) -> Any:
        """Call it in a worker; a buffer of several dimensions is given as one of one where it takes that.

        Raises:
            ValueError: it is in no worker, or takes another number of arguments.
        """
        if len(args) != len(self._arg_types):
            raise ValueError(
                f"kernel {self._name} expects {len(self._arg_types)} arguments, {len(args)} were passed"
            )
        for number, (given, wanted) in enumerate(zip(args, self._arg_types, strict=True)):
            if not get_args(wanted) and (
                isinstance(given, str | list) or len(getattr(given, "shape", ())) > 0
            ):
                raise ValueError(
                    f"argument {number} of kernel {self._name}: expected scalar {wanted}, not {given!r}"
                )
        if self._op is None:
            raise ValueError(f"kernel {self._name} is not built: give it to the Worker as an argument")
        type = function_type(self._op)
        given = [each.op if isinstance(each, Buffer) else each for each in args]
        values = [_flat(as_argument(each, want), want) for each, want in zip(given, type.inputs, strict=True)]
        return outcome(operation_class("func.call")(type.results, self._name, values))


def _flat(value: Value, want: Type) -> Value:
    """A buffer in one dimension, where all its elements are wanted so."""
    have = value.type
    if not isinstance(have, MemRefType) or not isinstance(want, MemRefType) or have == want:
        return value
    fits = have.element_type == want.element_type and want.rank == 1 and have.rank > 1 and have.layout is None
    if not fits or int(np.prod(have.shape)) != want.shape[0]:
        return value
    all_of_them = ArrayAttr([ArrayAttr([IntegerAttr(_Bare(), at) for at in range(have.rank)])])
    return build("memref.collapse_shape", want, value, all_of_them)  # type: ignore[no-any-return]


class _Bare(IntegerType):
    """The type of numbers that are written without one."""

    def __init__(self) -> None:
        super().__init__(64)


class Kernel(BaseKernel):
    """A function in an object file.

    Args:
        name: of the function.
        object_file_name: that has it.
        arg_types: NumPy's types of its arguments.
        link_with_mode: ``"merge"``: the file is merged before code is made.
    """

    def __init__(
        self,
        name: str,
        object_file_name: str,
        arg_types: Sequence[Any] | None = None,
        *,
        link_with_mode: str | None = None,
    ) -> None:
        super().__init__(name, arg_types)
        self._object_file_name, self._link_with_mode = object_file_name, link_with_mode

    @property
    def object_file_name(self) -> str:
        """That has it."""
        return self._object_file_name

    @property
    def link_with_mode(self) -> str | None:
        """How it is linked."""
        return self._link_with_mode

    def resolve(self, loc: object = None, ip: Any = None) -> None:
        """Build the declaration, once in each module: kernels of the library outlive their designs."""
        if self._op is None or top_of(self._op.block) is not top_of(InsertionPoint.current.block):
            self._op = external_func(
                self._name,
                self._arg_types,
                link_with=self._object_file_name,
                link_with_mode=self._link_with_mode,
            )


class ExternalFunction(Kernel):
    """A function in C++ source.

    Args:
        name: of the function.
        object_file_name: default = made of the name.
        source_file: that has it, or
        source_string: its text.
        arg_types: NumPy's types of its arguments.
        include_dirs: where headers are looked for.
        compile_flags: options of the compiler.
        symbol_prefix: before the name of the function in the design, with ``_`` between.
        use_chess: AMD's other compiler; here they are one.
        inline: the function becomes part of the core.

    Raises:
        ValueError: no source, or an object file of the same name with other contents.
    """

    _instances: ClassVar[set[Any]] = set()

    def __init__(
        self,
        name: str,
        object_file_name: str | None = None,
        source_file: str | None = None,
        source_string: str | None = None,
        arg_types: Sequence[Any] | None = None,
        include_dirs: Sequence[str] | None = None,
        compile_flags: Sequence[str] | None = None,
        *,
        symbol_prefix: str | None = None,
        use_chess: bool = False,
        inline: bool = False,
    ) -> None:
        if source_file is None and source_string is None:
            raise ValueError(f"ExternalFunction {name} needs its source: source_file or source_string")
        if inline and (use_chess or symbol_prefix):
            raise ValueError(f"ExternalFunction {name}: inline goes with neither use_chess nor symbol_prefix")
        self._original_name, self._symbol_prefix = name, symbol_prefix
        self._source_file, self._source_string = (
            source_file,
            None if source_file is not None else source_string,
        )
        self._include_dirs, self._compile_flags = list(include_dirs or ()), list(compile_flags or ())
        self._use_chess, self._inline = use_chess, inline
        called = f"{symbol_prefix}_{name}" if symbol_prefix else name
        suffix = ".ll" if inline else ".o"
        if inline and object_file_name and Path(object_file_name).suffix.lower() not in (".ll", ".bc"):
            raise ValueError(
                f"ExternalFunction {name}: object_file_name is {object_file_name!r}. With inline=True the "
                f"file has LLVM IR: end its name in .ll for text or .bc for bitcode."
            )
        super().__init__(
            called,
            object_file_name or f"{called}{suffix}",
            arg_types,
            link_with_mode="merge" if inline else None,
        )
        self._keep_apart(object_file_name is not None)
        ExternalFunction._instances.add(self)

    def _keep_apart(self, named: bool) -> None:
        """Give it another object file where one of that name has other contents."""
        for other in ExternalFunction._instances:
            if (other._name, other._object_file_name) != (
                self._name,
                self._object_file_name,
            ) or other == self:
                continue
            if named:
                raise ValueError(
                    f"two ExternalFunctions {self._name} with other contents have one file "
                    f"{self._object_file_name}; give them other names, or other object_file_name"
                )
            path = Path(self._object_file_name)
            self._object_file_name = f"{path.stem}_{self._content_digest()[:8]}{path.suffix}"
            return

    def resolve(self, loc: object = None, ip: Any = None) -> None:
        """Build the declaration; of equal kernels the last one that was built is known."""
        super().resolve(loc, ip)
        ExternalFunction._instances.discard(self)
        ExternalFunction._instances.add(self)

    @property
    def source(self) -> str:
        """Its text."""
        if self._source_string is not None:
            return self._source_string
        assert self._source_file is not None
        return Path(self._source_file).read_text(encoding="utf-8")

    def _content_digest(self) -> str:
        """Of all that its object file is made of."""
        try:
            text = self.source
        except OSError:
            text = f"no file {self._source_file}"
        parts = (self._name, str(self._arg_types), *self._include_dirs, *sorted(self._compile_flags), text)
        return hashlib.sha256("|".join((*parts, str(self._inline))).encode()).hexdigest()[:16]

    def __hash__(self) -> int:
        return int(self._content_digest(), 16)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ExternalFunction) and self._content_digest() == other._content_digest()

    def __repr__(self) -> str:
        return f"ExternalFunction({self._name!r}, digest={self._content_digest()})"


__all__ = ["BaseKernel", "ExternalFunction", "Kernel", "Operation"]
