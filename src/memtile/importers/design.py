"""A design of mlir-aie from its text into an array: ``load`` it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from memtile.arch.core_costs import CoreCosts
from memtile.arch.devices import device as find_device
from memtile.arch.timing import Timing
from memtile.cpp.kernels import cpp
from memtile.design.array import Array
from memtile.errors import DesignError, InputFileError, Problem, raise_if
from memtile.importers.bodies.texts import fill
from memtile.importers.kernels.cpp_arguments import design_findings, without_types
from memtile.importers.kernels.cpp_functions import (
    Given,
    check_references,
    compiled,
    references_in,
    uncompiled,
)
from memtile.importers.kernels.linked_sources import Beside, with_linked
from memtile.importers.kernels.user_functions import (
    CoreFunctions,
    check_functions,
    functions_for,
    lost_results,
)
from memtile.importers.loaded import Loaded, design_problem
from memtile.importers.mlir.configure import Configured, configure
from memtile.importers.mlir.description import DeviceDescription
from memtile.importers.mlir.design_rules import check_rules
from memtile.importers.mlir.forms.device_forms import devices
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.known_check import check_known, unknown_operation
from memtile.importers.mlir.launch_lines import said_by_lines
from memtile.importers.mlir.reader import read
from memtile.importers.mlir.sequence.loads import loaded_by
from memtile.importers.mlir.sequence.program import (
    SequenceProgram,
    known_program_of,
)
from memtile.importers.mlir.sequence.sequence_reader import NO_PARAMETERS, Parameters
from memtile.importers.mlir.token_packets import BUILD_FILES, Text
from memtile.importers.mlir.tree import Region
from memtile.importers.mlir.value_check import check_values
from memtile.input_files import read_beside, read_bytes
from memtile.runs.core_kernels import Kernels

_KINDS = {
    b"\x1f\x8b": "compressed by gzip",
    b"\xff\xfe": "UTF-16 text",
    b"\xfe\xff": "UTF-16 text",
    b"PK": "a zip",
}
_NUMBER = re.compile(r"#([1-9][0-9]{0,8})")  # a device by its place in the text
NO_TAKER = "mlir_parameter"
"""Of parameters that a text cannot take."""
_NO_FUNCTIONS: Mapping[str, Callable[..., Any]] = {}


class Printed(Protocol):
    """What prints itself in generic form, as operations of MLIR's Python bindings do."""

    def get_asm(self, *, print_generic_op_form: bool) -> str:
        """The text."""
        ...


class MlirModule(Protocol):
    """A module of MLIR's Python bindings, as those of mlir-aie make it."""

    @property
    def operation(self) -> Printed:
        """What prints it."""
        ...


def load(
    file: Path | str | Text | MlirModule,
    *,
    device: str | None = None,
    name: str | None = None,
    sequence: str | None = None,
    functions: Given = _NO_FUNCTIONS,
    parameters: Parameters = NO_PARAMETERS,
    costs: CoreCosts | None = None,
    timing: Timing | None = None,
    bodies: Path | str | None = None,
    sources_beside: bool | Beside = False,
) -> Loaded:
    """Return the design of a file of MLIR text, configured, with its cores ready to run.

    Args:
        file: as mlir-aie, IRON or a lowering pass printed it; its text; or a module of mlir-aie's Python
            bindings, which is taken through its generic print.
        device: device to use instead of the text's; required if the text names none.
        name: symbol of the device in the text, if the text has several, or its position, ``"#2"``.
        sequence: symbol of the host sequence, where the device has several.
        functions: functions that cores call and the text only declares, by name; they get NumPy views and
            numbers; or ``memtile.kernels.cpp(...)`` for one or all. ``memtile.kernels.aie`` has the others.
        parameters: of the scratchpad, by name: the values that a host program writes there before a run.
            Numbers of their types; of ``bf16`` the number, or its bits as a whole number. ``"0"`` is the
            first word where none has a name.
        costs: cycles of the operations of cores.
        timing: timing constants.
        bodies: text with the bodies of cores for which this one has ELF files; that of the same build by
            itself, where aiecc's names say which one it is.
        sources_beside: compile C++ beside the file, named as objects that it links, where that is missing;
            what does it may be given, as ``partial(memtile.kernels.cpp, sanitize=True)``.

    Raises:
        InputFileError: the file cannot be read, is not MLIR, or has an unknown construct; names its place.
        DesignError: the device cannot hold the design.
    """
    options = {each: value for each, value in locals().items() if each != "file"}

    def again(other: Text, /, **more: Any) -> Loaded:
        return load(other, **{**options, **more})

    from memtile.importers.kernels.body import without_contents  # slow to load, and only needed here
    from memtile.importers.kernels.kernel import kernels

    text = file if isinstance(file, Text) else text_of(file)
    described = _chosen(text, found := devices(_tree(text)), name)
    filled = fill(described, Path(text.name), Path(bodies) if bodies is not None else None)
    still = _still(described, found, device, sequence, parameters, timing)
    known = _functions(still, functions, Path(text.name).parent, sources_beside)
    own = kernels(still.configured, known, costs)
    for place, kernel in own.items():
        still.array.compute_tile(*place).run_kernel(kernel, endless=getattr(kernel, "endless", None))
    still = replace(still, source=text, loads=again)

    def kernels_of(other: Configured) -> Kernels:
        return kernels(other, functions_for(other.device, known.own, still.array.device.name), costs)

    notes = (*still.notes, *filled, *without_contents(described), *known.notes)
    return replace(still, kernels=own, kernels_of=kernels_of, notes=notes, references=known.references)


def _functions(still: Loaded, given: Given, folder: Path, beside: bool | Beside) -> CoreFunctions:
    """The functions that cores call: of the user, the library, and C++ sources in a folder."""
    described, device = still.configured.device, still.array.device
    known = functions_for(described, compiled(given, device.generation), device.name)
    known = known._replace(references=references_in(given))
    if beside:
        make = cpp if isinstance(beside, bool) else beside
        known = with_linked(described, known, folder, device.generation, make)
    check_references(known.references, known.own)
    return known._replace(notes=[*known.notes, *without_types(described, known)])


class ReadText(NamedTuple):
    """A text with its tree, for whoever needs it twice: reading takes a second for 5 MB.

    Attributes:
        text: what was read.
        tree: its operations.
    """

    text: Text
    tree: Region

    @classmethod
    def of(cls, file: Path | str) -> ReadText:
        """A file of MLIR text.

        Raises:
            InputFileError: the file cannot be read or is no MLIR.
        """
        text = text_of(file)
        return cls(text, read(text))


def sequence_names(given: ReadText) -> list[tuple[str, list[str]]]:
    """The devices of a text, by symbol, in its order, each with its host sequences.

    Raises:
        InputFileError: an operation that is not as any tool prints it.
    """
    return [(each.name or each.device, [*each.sequences]) for each in devices(given.tree)]


def parameter_names(file: Path | str) -> list[str]:
    """The parameters of the scratchpad that the devices of a file of MLIR text have.

    Raises:
        InputFileError: the file cannot be read or is no MLIR.
    """
    return list(dict.fromkeys(name for each in devices(read(text_of(file))) for name in each.parameters))


def load_still(
    file: Path | str | Text | ReadText,
    *,
    device: str | None = None,
    name: str | None = None,
    sequence: str | None = None,
    parameters: Parameters = NO_PARAMETERS,
    functions: Given = _NO_FUNCTIONS,
    compiles: bool = False,
) -> Loaded:
    """A design as it stands before it runs: configured, with its host sequence, without kernels.

    Functions that cores call need not be known; those that are must fit the text.

    Args:
        file: of MLIR text, or what was read of it.
        device: device to be, whatever the text says.
        name: symbol of the device of the text, where it has several.
        sequence: symbol of the host sequence, where the device has several.
        parameters: of the scratchpad, by name; those that are not given are 0.
        functions: functions that cores call and the text only declares, by name; then those of the library.
        compiles: those in C++ are compiled, to see whether they take what the text passes; else they may be
            anything.

    Raises:
        InputFileError: as :func:`load`; parameters of a text whose host sequence cannot take any: there is
            none, or its steps depend on numbers that only a run has.
        DesignError: the device cannot hold the design.
    """
    options = {each: value for each, value in locals().items() if each != "file"}

    def again(other: Text, /, **more: Any) -> Loaded:
        return load_still(other, **{**options, **more})

    tree = file.tree if isinstance(file, ReadText) else None
    if isinstance(file, ReadText):
        file = file.text
    text = file if isinstance(file, Text) else text_of(file)
    found = devices(_tree(text, tree))
    described = _chosen(text, found, name)
    still = _still(described, found, device, sequence, _Zeros(parameters), None)
    own = compiled(functions, still.array.device.generation) if compiles else uncompiled(functions)
    known = functions_for(described, own, still.array.device.name)
    check_functions(described, known)
    open_ = still.sequence is not None and still.sequence.is_open
    if parameters and (open_ or not any(each.sequences for each in found)):
        raise InputFileError(_no_taker(text.name, parameters, open_=open_))
    loads = still.sequence.loads if still.sequence else ()
    lost = [
        (made.tiles[tile].place, each)
        for made in (still.configured, *loads)
        for tile, each in lost_results(made.device, own)
    ]
    notes = (*still.notes, *known.notes, *without_types(described, known))
    findings = design_findings(described, known)
    return replace(still, notes=notes, lost=lost, findings=findings, source=text, loads=again)


def _no_taker(where: str, parameters: Parameters, *, open_: bool) -> Problem:
    names = ", ".join(parameters)
    why = "the host sequence depends on numbers that only a run has" if open_ else "there is no host sequence"
    return Problem(
        "parameters",
        names,
        "parameters that a host sequence brings to the array",
        f"nothing takes the parameter{'s' * (len(parameters) > 1)} {names}: {why}",
        "Give them to memtile run." if open_ else "Leave --set out.",
        reason=NO_TAKER,
        where=where,
        source="docs/mlir.md",
    )


class _Zeros(dict[str, float]):
    """Numbers without a value are 0."""

    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> int:
        return 0


def _still(
    described: DeviceDescription,
    found: Sequence[DeviceDescription],
    device: str | None,
    sequence: str | None,
    parameters: Parameters,
    timing: Timing | None,
) -> Loaded:
    """A device of a text in an array, without kernels."""
    check_known(described.operation)
    raise_if(_unknown(described), InputFileError)
    array = Array(_device_name(described, device), timing=timing)
    check_rules(described, array.device)
    made = configure(described, array)
    others = {each.symbol: each for each in found}
    program = _program(made, sequence, others, parameters)
    return Loaded(
        array,
        made,
        program,
        {},
        lambda _: {},
        others,
        _notes(described),
        parameters,
        said_by_lines(described),
    )


def text_of(file: Path | str | MlirModule) -> Text:
    """The text of a file or of a module.

    Raises:
        InputFileError: the file cannot be read.
    """
    if not isinstance(file, Path | str):
        return Text("module", file.operation.get_asm(print_generic_op_form=True))
    if isinstance(file, str) and "\n" in file:
        says = "the text of a design was given instead of the name of its file"
        step = "Give the name of a file that has the text, or the module that printed it."
        raise InputFileError(
            design_problem("file", "a text", "the name of a file, or a module", says, step=step)
        )
    data = read_bytes(file, "text_bytes")
    try:
        text = Text.of(str(file), data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n"))
        return replace(text, build="\n".join(read_beside(file, BUILD_FILES)))
    except UnicodeDecodeError as error:
        kind = next((kind for start, kind in _KINDS.items() if data.startswith(start)), "")
        says = f"the file is {kind}" if kind else f"byte {error.start} is not UTF-8 text"
        raise InputFileError(f"{file}: {says}. Give MLIR as UTF-8 text.") from None


def _tree(text: Text, tree: Region | None = None) -> Region:
    """The operations of a text, which may be read, in which every value is defined once, and of one type."""
    tree = read(text) if tree is None else tree
    check_values(tree)
    return tree


def _chosen(text: Text, found: Sequence[DeviceDescription], name: str | None) -> DeviceDescription:
    """The device of a text that is meant."""
    names = [each.name or each.device for each in found]
    if name is not None:
        by_number = _NUMBER.fullmatch(name)
        found = (
            found[int(by_number[1]) - 1 : int(by_number[1])]
            if by_number
            else [each for each in found if name in (each.name, each.device, each.symbol)]
        )
    if len(found) == 1:
        return found[0]
    configured = {name for each in found for name in _configured_by(each) if name != each.symbol}
    with_sequence = [each for each in found if each.sequences and each.symbol not in configured]
    if name is None and len(with_sequence) == 1:
        return with_sequence[0]
    given = f"{len(names)} devices: {', '.join(names)}" if names else "no device"
    says = f"the text has {given}" + (f", none of them {name}" if name and names else "")
    step = (
        "Give a text with aie.device: npu.*.mlir of mlir-air and Triton-XDNA, *.aiecc.mlir of IREE "
        "(docs/compilers.md); or a folder of a build."
    )
    if len(names) > 1:
        step = f"Say which one is meant, by name or as #1 to #{len(names)}: --kernel {names[0]}:, or name=."
    raise InputFileError(design_problem("device", given, "one aie.device", says, where=text.name, step=step))


def _configured_by(device: DeviceDescription) -> Iterator[str]:
    """Symbols of the devices that the host sequences of one let take the array."""
    for sequence in device.sequences.values():
        for inner in sequence.walk():
            if symbol := loaded_by(inner):
                yield symbol


def _device_name(described: DeviceDescription, wanted: str | None) -> str:
    """The device to be: what the user says, else what the text says."""
    if wanted is not None:
        return find_device(wanted).name
    try:
        return find_device(described.device).name
    except DesignError as error:
        says = f"the text leaves the device open: {described.device}"
        form, step = OperationForm(described.operation), "Say it with --device npu1 or --device npu2."
        if not described.device.isupper():
            raise form.error(str(error), "a device", reason="device") from None
        raise form.error(says, "a device such as npu1", reason="device_open", step=step) from None


def _program(
    made: Configured,
    name: str | None,
    others: Mapping[str, DeviceDescription],
    parameters: Parameters,
) -> SequenceProgram | None:
    sequences = made.device.sequences
    if not sequences:
        return None
    if name is None and len(sequences) > 1:
        listed = ", ".join(sequences)
        says = f"the device has {len(sequences)} host sequences: {listed}"
        step = f"Say which one is meant: --kernel :{next(iter(sequences))}, or sequence= of memtile.load."
        raise InputFileError(design_problem("sequence", listed, "one", says, step=step))
    chosen = name or next(iter(sequences))
    if chosen not in sequences:
        raise InputFileError(design_problem("sequence", chosen, f"one of {', '.join(sequences)}"))
    operation = sequences[chosen]
    return known_program_of(made, operation, others, parameters)


def _unknown(described: DeviceDescription) -> list[Problem]:
    """Operations of the device that nothing is known of and that may matter."""
    return [
        problem
        for operations in described.unknown.values()
        for problem in unknown_operation(operations[0]).problems
    ]


def _notes(described: DeviceDescription) -> tuple[str, ...]:
    skipped = described.operation.tokens.text.skipped
    log = [f"the {skipped} lines before the first line of MLIR are a log, and skipped"] if skipped else []
    ignored = [
        f"{name}: read {count} times, changes nothing here" for name, count in described.ignored.items()
    ]
    return (*log, *ignored)
