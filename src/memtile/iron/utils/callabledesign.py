"""``aie.utils.callabledesign``: a design with parameters, built and run when it is called."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

from memtile.iron.extras.context import mlir_mod_ctx
from memtile.iron.ops.operations import Module
from memtile.iron.taking import with_values
from memtile.iron.utils import ensure_current_device
from memtile.iron.utils.design_context import compile_context
from memtile.iron.utils.markers import COMPILE_TIME, DispatchTime, In, InOut, Out

CONFIG = [
    "use_cache",
    "source_files",
    "aiecc_flags",
    "compile_flags",
    "include_paths",
    "object_files",
    "trace_config",
    "full_elf",
    "is_placed",  # until April 2026: whether the function builds operations itself; it makes no difference
]
"""Options that are not parameters of the design."""


class Parameters:
    """What the parameters of a function are.

    Attributes:
        compile: those that the design is built with.
        tensors: arguments of the host sequence, in order.
        others: all else.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.signature = inspect.signature(function)
        try:
            hints = typing.get_type_hints(function, include_extras=True)
        except (
            NameError,
            TypeError,
            AttributeError,
        ):  # names of annotations that are not there when it is asked
            hints = {}
        self.compile: list[str] = []
        self.tensors: list[str] = []
        self.others: list[str] = []
        self.dispatch: dict[str, DispatchTime] = {}
        for name, parameter in self.signature.parameters.items():
            hint = hints.get(name, parameter.annotation)
            if isinstance(hint, DispatchTime):
                self._take_dispatch(name, parameter, hint)
                continue
            kind = (
                self.compile
                if _is_compile_time(hint)
                else self.tensors
                if hint in (In, Out, InOut)
                else self.others
            )
            kind.append(name)

    def _take_dispatch(self, name: str, parameter: inspect.Parameter, mark: DispatchTime) -> None:
        if parameter.kind is not inspect.Parameter.KEYWORD_ONLY:
            raise TypeError(
                f"{name} is a DispatchTime parameter: it must come after * in the function's parameters"
            )
        self.dispatch[name] = mark
        self.compile.append(name)

    @property
    def by_place(self) -> list[str]:
        """Those that a call gives by place: tensors, or all of a function without marks (until June 2026)."""
        return self.tensors or self.others

    def constants(self, given: dict[str, Any], *, open: bool = False) -> dict[str, Any]:
        """Numbers of ``DispatchTime`` parameters, those of the call or of the signature.

        Args:
            given: of the call.
            open: one that the call does not give is its type: an argument of the sequence.

        Raises:
            TypeError: one has none.
        """
        found = {}
        for name, mark in self.dispatch.items():
            if open and name not in given:
                found[name] = mark.dtype
                continue
            value = given.get(name, self.signature.parameters[name].default)
            if value is inspect.Parameter.empty:
                raise TypeError(
                    f"{name} is a DispatchTime parameter without a default: give {name}= in the call"
                )
            found[name] = mark.constant(name, value)
        return found


def _is_compile_time(hint: Any) -> bool:
    if get_origin(hint) is Annotated:
        return COMPILE_TIME in get_args(hint)[1:]
    return get_origin(hint) is not None and any(_is_compile_time(each) for each in get_args(hint))


class CallableDesign:
    """A design: a function that builds it, and values of some of its parameters.

    Args:
        mlir_generator: the function; it gives a module, or builds into the one that is open.
        compile_kwargs: values of its ``CompileTime`` parameters.
        config: options of mlir-aie's compiler, kept for what reads them.

    Raises:
        TypeError: the function has no such parameter.
    """

    def __init__(
        self,
        mlir_generator: Callable[..., Any],
        *,
        compile_kwargs: dict[str, Any] | None = None,
        **config: Any,
    ) -> None:
        unknown = [name for name in config if name not in CONFIG]
        if unknown:
            raise TypeError(f"no option {', '.join(unknown)}; known are {', '.join(CONFIG)}")
        self.mlir_generator, self.config = mlir_generator, config
        self.compile_kwargs = dict(compile_kwargs or {})
        self.parameters = Parameters(mlir_generator)
        self.trace_config = config.get("trace_config")
        self._kernel_cache: dict[Any, Any] = {}  # mlir-aie's name; programs clear it
        self._check(self.compile_kwargs)

    def _check(self, given: dict[str, Any]) -> None:
        unknown = [name for name in given if name not in self.parameters.signature.parameters]
        if unknown:
            raise TypeError(
                f"{self.generator_name} has no parameter {', '.join(unknown)}; it is built with "
                f"{', '.join(self.parameters.compile) or 'none'}"
            )

    def __repr__(self) -> str:
        names = ", ".join(self.parameters.compile) or "none"
        return f"CallableDesign({self.generator_name}, parameters: {names})"

    @property
    def generator_name(self) -> str:
        """Of the function."""
        return getattr(self.mlir_generator, "__name__", str(self.mlir_generator))

    def specialize(self, **overrides: Any) -> CallableDesign:
        """Another one, with more values or options."""
        config = self.config | {name: value for name, value in overrides.items() if name in CONFIG}
        values = {
            name: value
            for name, value in overrides.items()
            if name not in CONFIG or name in self.parameters.compile
        }
        return CallableDesign(self.mlir_generator, compile_kwargs=self.compile_kwargs | values, **config)

    def generate(
        self, tensors: typing.Sequence[Any] = (), *, open_dispatch: bool = False, **values: Any
    ) -> Module:
        """Build the module, for the device that is chosen.

        Args:
            tensors: arguments of the host sequence, as far as the function looks at them.
            open_dispatch: ``DispatchTime`` parameters without a value are arguments of the sequence.
            values: of parameters, before those that are kept.
        """
        ensure_current_device()
        merged = with_values(self, self.compile_kwargs | values, self.parameters.compile)
        self._check(merged)
        merged = merged | self.parameters.constants(merged, open=open_dispatch)
        given = dict(zip(self.parameters.by_place, tensors, strict=False))
        missing = {name: None for name in self.parameters.tensors if name not in given}
        with compile_context(**merged), mlir_mod_ctx() as context:
            made = self.mlir_generator(**(missing | given | merged))
        found = made if isinstance(made, Module) else context.module
        if not found.body.operations:
            raise TypeError(
                f"{self.generator_name} gives no design: it returns Program(...).resolve_program()"
            )
        return found

    def generate_mlir(self, *tensors: Any, **values: Any) -> Module:
        """The module; ``DispatchTime`` parameters are arguments of its sequence if none has a number."""
        given = self.compile_kwargs | values
        parameters = self.parameters.signature.parameters
        leaves_open = all(
            name not in given and parameters[name].default is not inspect.Parameter.empty
            for name in self.parameters.dispatch
        )
        return self.generate(tensors, open_dispatch=leaves_open, **values)

    def as_mlir(self, *tensors: Any, **values: Any) -> str:
        """The text of the module, see :meth:`generate_mlir`."""
        return str(self.generate_mlir(*tensors, **values))

    def _compiled(self, arguments: typing.Sequence[Any] = (), **values: Any) -> Any:
        """The design with its kernels, for running it now or later."""
        from memtile.iron.compiled_design import CompiledDesign

        return CompiledDesign.of(self.generate(arguments, **values), self.program, self.config)

    @property
    def compilable(self) -> CallableDesign:
        """Itself: mlir-aie has another class for what is compiled and not called."""
        return self

    @property
    def aiecc_flags(self) -> tuple[str, ...]:
        """Options of mlir-aie's compiler."""
        return tuple(self.config.get("aiecc_flags") or ())

    @property
    def program(self) -> str:
        """File of the function."""
        code = getattr(inspect.unwrap(self.mlir_generator), "__code__", None)
        return getattr(code, "co_filename", "module")

    def compile(
        self,
        xclbin_path: Path | str | None = None,
        inst_path: Path | str | None = None,
        elf_path: Path | str | None = None,
        full_elf_path: Path | str | None = None,
        pdi_path: Path | str | None = None,
    ) -> tuple[Path, Path | None]:
        """Build the design and write what memtile runs it from, at the paths of mlir-aie's files.

        Args:
            xclbin_path: of the design; with ``inst_path``, or neither: then both go to memtile's cache.
            inst_path: of its instructions.
            elf_path: of the design once more.
            full_elf_path: of design and instructions in one file, instead of those two.
            pdi_path: of the design once more.

        Returns:
            The path of the design and that of the instructions; None for the second of a full ELF.

        Raises:
            ValueError: only one of the two paths, or those and a full ELF.
        """
        from memtile.iron.utils.artifacts import Artifacts

        paths = Artifacts(xclbin_path, inst_path, elf_path, full_elf_path, pdi_path)
        return paths.write(self._compiled(), full_elf=bool(self.config.get("full_elf")))

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Build the design and run it with tensors.

        Raises:
            TypeError: a tensor by name, or more arguments than the function takes.
        """
        parameters = self.parameters
        by_name = [name for name in named if name in parameters.tensors]
        if by_name:
            raise TypeError(
                f"{self.generator_name} takes {', '.join(by_name)} by place: In, Out and InOut are tensors"
            )
        if len(arguments) > len(parameters.tensors) + len(parameters.others):
            raise TypeError(
                f"{self.generator_name} takes {len(parameters.tensors)} tensors, not {len(arguments)} "
                f"arguments; {', '.join(parameters.compile)} are given by name"
            )
        fixed = [name for name in named if name in parameters.dispatch and name in self.compile_kwargs]
        if fixed:
            raise TypeError(
                f"{', '.join(fixed)} of {self.generator_name} is fixed by specialize(); make another one"
            )
        from memtile.iron.running import run_design
        from memtile.iron.utils.npuruntime import KernelHandle, KernelResult

        values = {name: value for name, value in named.items() if name in parameters.signature.parameters}
        design = self._compiled(arguments, **values)
        done, before = run_design(design, [each for each in arguments if not callable(each)])
        return KernelHandle(design), KernelResult(done, before=before)


def jit(mlir_generator: Callable[..., Any] | None = None, **kwargs: Any) -> Any:
    """Make a design of a function; with or without options and values of its parameters.

    Raises:
        TypeError: the function has no such parameter.
    """
    if mlir_generator is None:
        return lambda function: jit(function, **kwargs)
    config = {name: value for name, value in kwargs.items() if name in CONFIG}
    values = {name: value for name, value in kwargs.items() if name not in CONFIG}
    return CallableDesign(mlir_generator, compile_kwargs=values, **config)


__all__ = ["CallableDesign", "jit"]
