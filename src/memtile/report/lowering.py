"""Lowered tilings and explained descriptors, for people and for programs (JSON)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from memtile.access.describe import describe
from memtile.access.drawing import Grid, memory_grid, stream_grid
from memtile.access.expected import Expected, matches, stream_elements
from memtile.access.graph_text.found import GraphTiling
from memtile.access.lowering.lower import Lowering
from memtile.access.lowering.nest import Item, Nest, Repeat, Zeros
from memtile.access.request import Request
from memtile.access.tiling import NO_PORT
from memtile.access.tiling_cases import TilingCase, parse_tiling
from memtile.access.tiling_views import numpy_steps
from memtile.access.walk import Addresses, Loop
from memtile.arch.tiles import WORD_BYTES
from memtile.bd.codec import encode
from memtile.bd.descriptor import Descriptor, Packet
from memtile.bd.descriptor_cases import WordCase, case_of, hex_words, refusal
from memtile.bd.explain import Explanation, Line, count, explain, explain_words
from memtile.errors import TransferError
from memtile.sheet import stdout_console

SHOWN = 6  # items of a sequence before it is cut


def request_loops(request: Request) -> str:
    """The loops as they were asked for, by dimension; single turns left out."""
    loops = [f"{wrap} x d{d}{stride:+}" for d, wrap, stride in request.axes if wrap > 1]
    start = ", ".join(str(extent.start) for extent in request.extents)
    return f"from ({start}): {', '.join(loops) or 'one element'}"


def item_lines(items: Sequence[Item], unit: str) -> list[str]:
    """One line per box of accesses; addresses and steps in ``unit``."""
    lines = [_item(item, unit) for item in items[:SHOWN]]
    return [*lines, f"... {len(items) - SHOWN} more"] if len(items) > SHOWN else lines


def _item(item: Item, unit: str) -> str:
    match item:
        case Zeros(size):
            return f"{size} zeros"
        case Repeat(count, step, items):
            return f"{count} x {step:+} of [{'; '.join(item_lines(items, unit))}]"
        case Nest(base, loops):
            return f"from {unit} {base}: {', '.join(map(_loop, reversed(loops))) or 'once'}"


def _loop(loop: Loop) -> str:
    zeros = [f"{n} {side}" for n, side in ((loop.before, "before"), (loop.after, "after")) if n]
    return f"{loop.wrap} x {loop.step:+}" + (f" [zeros: {', '.join(zeros)}]" if zeros else "")


_TOPIC = 11  # columns
_ORDER_TOPICS = ("order", "padding")  # what of an explanation does not depend on the buffer's place


@dataclass(frozen=True)
class Answer:
    """What became of one tiling.

    Attributes:
        name: id of the tiling, or ``tiling`` and its number in the list.
        case: the tiling; ``None`` when it could not be read.
        lowering: its descriptors; ``None`` when there are none.
        error: why there are none.
        note: what was assumed of the tiling.
    """

    name: str
    case: TilingCase | None
    lowering: Lowering | None
    error: TransferError | None
    note: str = ""

    @cached_property
    def chain(self) -> tuple[Descriptor, ...]:
        """The descriptors in the BDs of the channel from the first on; those of each task linked.

        With a ``packet_port_id`` those that read send the header of its stream, and the one that writes is
        named by headers, so that no other leads to it.
        """
        descriptors = self.lowering.descriptors if self.lowering else ()
        packet = Packet(self.port) if self.port != NO_PORT and self.reads else None
        ends = [bds.stop - 1 for bds, _ in self.tasks]
        return tuple(
            d.but(next=None if bd in ends else bd + 1, packet=packet) for bd, d in enumerate(descriptors)
        )

    @cached_property
    def tasks(self) -> tuple[tuple[range, int], ...]:
        """Per task of the channel its BDs and its runs."""
        tasks = self.lowering.tasks if self.lowering else ()
        stops = accumulate(len(task.descriptors) for task in tasks)
        return tuple(
            (range(stop - len(task.descriptors), stop), task.runs)
            for task, stop in zip(tasks, stops, strict=True)
        )

    @property
    def port(self) -> int:
        """The packet port of the tiling; -1 for none."""
        return self.case.tiling.packet_port_id if self.case else NO_PORT

    @property
    def reads(self) -> bool:
        """Whether the tiling is read by MM2S."""
        return self.case is not None and self.case.access == "read"

    @cached_property
    def elements(self) -> Addresses | None:
        """Element indices of the stream, from the walk of the descriptors; -1 for padding."""
        if self.case is None or self.lowering is None:
            return None
        return stream_elements(self.lowering.tasks, self.case.element_bits)

    @property
    def as_declared(self) -> bool:
        """Whether a good tiling was lowered, or one that the input calls bad was refused."""
        legal = self.case is None or self.case.legal
        return (self.lowering is not None) == legal

    def as_json(self, *, elements: bool = False) -> dict[str, Any]:
        """``descriptors``, ``bds``, ``runs`` and ``tasks``, with ``elements`` if asked for; or ``error``."""
        if self.error is not None:
            return {"error": refusal(self.error)}
        listed = [case_of(descriptor, bd) for bd, descriptor in enumerate(self.chain)]
        data: dict[str, Any] = {
            "descriptors": listed,
            "bds": len(listed),
            "runs": self.lowering.runs if self.lowering else 0,
            "tasks": [{"bds": list(bds), "runs": runs} for bds, runs in self.tasks],
        }
        if elements and self.elements is not None:
            data["elements"] = self.elements.tolist()
        return data


def answer(item: object, number: int, **override: Any) -> Answer:
    """Read and lower one tiling, as JSON or of a C++ text; ``override`` goes to ``parse_tiling``."""
    name, case, note = f"tiling {number}", None, ""
    try:
        if isinstance(item, GraphTiling):
            name, note = item.name, item.assumed
            item = item.case()
        case = parse_tiling(item, **override)
        name = case.name or name
        return Answer(name, case, case.lowered(), None, note)
    except TransferError as error:
        return Answer(name, case, None, error, note)


def wrong_sequences(answers: Sequence[Answer]) -> tuple[list[str], int]:
    """Names of the tilings whose stream is not the published one, and how many were compared."""
    streams = {a.name: a.elements for a in answers}
    verdicts = [
        (a.name, _verdict(a.case.expected, a, streams)) for a in answers if a.case and a.case.expected
    ]
    compared = [(name, right) for name, right in verdicts if right is not None]
    return [name for name, right in compared if not right], len(compared)


def _verdict(expected: Expected, given: Answer, streams: Mapping[str, Addresses | None]) -> bool | None:
    """Whether the stream is right; None when it is written from a tiling that is not in the list."""
    if given.elements is None:
        return False
    written = streams.get(expected.read)
    return None if expected.read and written is None else matches(expected, given.elements, written)


def print_answer(given: Answer, console: Console) -> None:
    """Print the loops after each rewrite step, the descriptors and their words, and the counts."""
    console.print(Text(headline(given), style="bold"), soft_wrap=True)
    if given.error is not None:
        known = given.case is not None and not given.case.legal
        for message in given.error.messages:
            text = f"  refused{', as the input says' if known else ''}: {message}"
            console.print(Text(text, style="" if known else "red"), soft_wrap=True)
        return
    for topic, text in _lines(given):
        console.print(Text.assemble((f"  {topic:<{_TOPIC}}", "cyan"), text), soft_wrap=True)


def headline(given: Answer) -> str:
    """The tiling in one line."""
    if given.case is None:
        return given.name
    tiling, case = given.case.tiling, given.case
    if case.memref is not None:
        sizes = " x ".join(map(str, case.memref.sizes)) or "one"
        what = f"{sizes} elements of {case.element_bits} bits"
        return f"{given.name}: {case.access} {what} with strides {list(case.memref.strides)}"
    buffer, tile = (" x ".join(map(str, size)) for size in (tiling.buffer_dimension, tiling.tile))
    what = f"{buffer} elements of {case.element_bits} bits"
    return f"{given.name}: {case.access} {what} in tiles of {tile}"


def _lines(given: Answer) -> Iterator[tuple[str, str]]:
    lowering = given.lowering
    if lowering is None:
        return
    if given.note:
        yield "elements", given.note
    yield "asked", request_loops(lowering.request)
    yield from _numpy(given)
    yield from _topic("clipped", item_lines(lowering.clipped, "element"))
    yield from _topic("in words", item_lines(lowering.boxes, "word"))
    for bd, descriptor in enumerate(given.chain):
        yield from _topic(f"BD {bd}", list(_fields_shown(descriptor)))
        yield "", " ".join(hex_words(encode(descriptor, bd)))
    if len(given.tasks) > 1:
        for n, (bds, runs) in enumerate(given.tasks):
            name = f"BD {bds[0]}" if len(bds) == 1 else f"BDs {bds[0]} to {bds[-1]}"
            yield f"task {n}", f"{name}, {count(runs, 'run')}"
    yield "uses", _counts(lowering)
    if given.port != NO_PORT:
        yield "packets", _packets(given)
    if given.case and given.case.published_bds is not None:
        yield (
            "published",
            f"{count(given.case.published_bds, 'BD')} by AMD's compiler, its two phases together",
        )
    checked = lowering.certificate
    moved = f"{count(checked.words, 'word')}, {checked.pads} of them padding"
    yield "checked", f"the walk of the descriptors is the order asked for: {moved}"


def _numpy(given: Answer) -> Iterator[tuple[str, str]]:
    """The order as NumPy writes it, of a tiling that reads some of the buffer."""
    if given.case is None or given.case.memref is not None:
        return
    try:
        steps = numpy_steps(given.case.tiling)
    except TransferError:  # zeros alone, which the picture and the words show
        return
    yield "NumPy", f"{steps.text}, a of shape {steps.shape}"


def _topic(topic: str, lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    for n, line in enumerate(lines):
        yield "" if n else topic, line


def _fields_shown(descriptor: Descriptor) -> Iterator[str]:
    size = f"{count(descriptor.length, 'word')} ({descriptor.length * WORD_BYTES} bytes)"
    yield f"{size} from word {descriptor.address} of the buffer"
    for topic, text in explain(descriptor).lines:
        if topic.startswith(_ORDER_TOPICS):
            yield f"{topic}: {text}"
    step, wrap, _ = descriptor.iteration
    if wrap > 1:
        yield f"iteration: each run starts {count(step, 'word')} further, {count(wrap, 'position')} in turn"


def _counts(lowering: Lowering) -> str:
    kind, bds = lowering.kind, count(len(lowering.descriptors), "BD")
    bank = f"{len(kind.bd_bank(0))} that a channel of the {kind.title} reaches"
    if len(lowering.tasks) > 1:
        runs = f"{count(lowering.runs, 'run')} of their chains"
        return f"{bds} in {len(lowering.tasks)} tasks, of {bank}; {runs}"
    return f"{bds} of {bank}; {count(lowering.runs, 'run')} of the chain"


def _packets(given: Answer) -> str:
    """What the packet port of the tiling comes to."""
    if given.reads:
        return f"each run of a BD is a packet with the header of port {given.port}, here its stream id"
    return f"the BD stores packets of port {given.port} whose header names it, on a channel out of order"


def print_summary(answers: Sequence[Answer], console: Console) -> None:
    """Print what became of a list: ours beside AMD's published counts, refusals, wrong sequences."""
    rows = [(a, a.case.published_bds) for a in answers if a.case and a.case.published_bds is not None]
    if rows:
        table = Table(title="BDs", title_justify="left", title_style="bold")
        for name in ("tiling", "ours", "published (two phases)"):
            table.add_column(name, justify="left" if name == "tiling" else "right")
        for given, published in rows:
            table.add_row(given.name, str(len(given.chain)) if given.lowering else "refused", str(published))
        console.print(table)
    wrong, compared = wrong_sequences(answers)
    refused = [a for a in answers if a.error is not None]
    expected = sum(a.as_declared for a in refused)
    console.print(
        Text(f"{len(answers) - len(refused)} of {count(len(answers), 'tiling')} lowered, every walk checked")
    )
    if refused:
        console.print(Text(f"{len(refused)} refused, {expected} of them as the input says"))
    if compared:
        named = f": {', '.join(wrong)}" if wrong else ""
        console.print(
            Text(f"{count(len(wrong), 'wrong sequence')} of {compared} published{named}"), soft_wrap=True
        )


def explained_json(case: WordCase) -> dict[str, Any]:
    """What register words do, as plain data.

    Raises:
        DescriptorError: the words are not those of a BD.
    """
    explanation, grids = _explained(case)
    return {
        "descriptor": case_of(explanation.descriptor, case.bd),
        "words": hex_words(case.words),
        "lines": [line._asdict() for line in explanation.lines],
        "pictures": [asdict(grid) for grid in grids],
        "problems": [problem.as_json() for problem in explanation.problems],
    }


def print_explained(case: WordCase, console: Console | None = None) -> None:
    """Print what register words do, pictures of the access order, and why they are not legal, if so.

    Raises:
        DescriptorError: the words are not those of a BD.
    """
    explanation, grids = _explained(case)
    console = console or stdout_console()
    console.print(Text(f"{explanation.descriptor.kind.title}, BD {case.bd}", style="bold"))
    table = Table.grid(padding=(0, 2))
    table.add_column(style="cyan", no_wrap=True)
    table.add_column()
    for topic, text in explanation.lines:
        table.add_row(topic, Text(text))
    console.print(table)
    for grid in grids:
        console.print(Text(f"\n{grid.title}", style="bold"))
        console.print(Text("\n".join(grid.lines())), soft_wrap=True)
    for problem in explanation.problems:
        console.print(Text(f"\nnot legal: {problem.message}", style="red"), soft_wrap=True)


def _explained(case: WordCase) -> tuple[Explanation, tuple[Grid, Grid]]:
    explanation = explain_words(case.tile, case.words, case.bd)
    if order := describe(explanation.descriptor):
        explanation = replace(explanation, lines=(*explanation.lines, Line("einops", f"as {order}")))
    return explanation, (stream_grid(explanation.descriptor), memory_grid(explanation.descriptor))
