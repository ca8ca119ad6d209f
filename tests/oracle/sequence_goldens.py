"""Host sequences of mlir-aie's compiler tests: what FileCheck expects, beside what the importer makes.

``python tests/oracle/sequence_goldens.py FOLDER.. [--json]`` reads ``CHECK`` lines of ``aiex.npu``
operations, of BDs and of tasks, and looks for each of them, in order, among the register accesses of the
sequence. The layout of BDs is that of mlir-aie (WriteBdToBlockWritePattern), not that of the project. The
exit code is 1 if a text differs without a word. None of the tests is in the project.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memtile import Array, MemtileError
from memtile.importers.mlir.configure import configure
from memtile.importers.mlir.forms.device_forms import devices
from memtile.importers.mlir.reader import read
from memtile.importers.mlir.sequence.program import arguments_of, is_scalar, program_of
from memtile.importers.mlir.token_packets import Text
from memtile.importers.mlir.value_check import check_values
from memtile.runs.operations import BlockWrite, MaskPoll, MaskWrite, Other, Write

Facts = dict[str, Any]
SAME, OTHER, DIFFERS, REFUSED = "same", "other form", "differs", "refused by name"
GOOD, ACCEPTED = "refused as mlir-aie does", "accepted, mlir-aie refuses"
NOTHING, ELSEWHERE = "nothing to compare", "an error of one pass alone"
_PASS_ERRORS = re.compile(
    r"without assigned ID|without associated address|not placed|still has uses|has no head_bd_ids|"
    r"does not reference a valid configure_task|unassigned IDs|Runtime-valued control flow"
)
"""Errors of a pass that runs without those before it."""
_NUMBER = 4  # of arguments that are numbers


@dataclass
class Verdict:
    """What came of a part of a file.

    Attributes:
        name: of the file, and number of its part.
        kind: one of the names above.
        says: why.
    """

    name: str
    kind: str
    says: str = ""


@dataclass
class Expected:
    """What an operation of the ``CHECK`` lines must be.

    Attributes:
        kind: of the register access.
        facts: that are said of it.
        line: that says it.
    """

    kind: str
    facts: Facts = field(default_factory=dict)
    line: str = ""


_BDS = {  # word, lowest bit, bits, by name; by role of the tile
    "interface": {
        "buffer_length": (0, 0, 32), "buffer_offset": (1, 0, 32), "enable_packet": (2, 30, 1),
        "packet_id": (2, 19, 5), "packet_type": (2, 16, 3), "d0_size": (3, 20, 10), "d0_stride": (3, 0, 20),
        "burst": (4, 30, 2), "d1_size": (4, 20, 10), "d1_stride": (4, 0, 20), "axcache": (5, 24, 4),
        "d2_stride": (5, 0, 20), "iteration_current": (6, 26, 6), "iteration_size": (6, 20, 6),
        "iteration_stride": (6, 0, 20),
        "next_bd": (7, 27, 4), "use_next_bd": (7, 26, 1), "valid_bd": (7, 25, 1), "lock_rel_val": (7, 18, 7),
        "lock_rel_id": (7, 13, 4), "lock_acq_enable": (7, 12, 1), "lock_acq_val": (7, 5, 7),
        "lock_acq_id": (7, 0, 4),
    },
    "memory": {
        "enable_packet": (0, 31, 1), "packet_type": (0, 28, 3), "packet_id": (0, 23, 5),
        "buffer_length": (0, 0, 17), "d0_zero_before": (1, 26, 6), "next_bd": (1, 20, 6),
        "use_next_bd": (1, 19, 1), "buffer_offset": (1, 0, 19), "d0_size": (2, 17, 10),
        "d0_stride": (2, 0, 17),
        "d1_zero_before": (3, 27, 5), "d1_size": (3, 17, 10), "d1_stride": (3, 0, 17),
        "d2_zero_before": (4, 27, 4), "d2_stride": (4, 0, 17), "d2_zero_after": (5, 28, 4),
        "d1_zero_after": (5, 23, 5), "d0_zero_after": (5, 17, 6), "iteration_current": (6, 23, 6),
        "iteration_size": (6, 17, 6), "iteration_stride": (6, 0, 17), "valid_bd": (7, 31, 1),
        "lock_rel_val": (7, 24, 7), "lock_rel_id": (7, 16, 8), "lock_acq_enable": (7, 15, 1),
        "lock_acq_val": (7, 8, 7), "lock_acq_id": (7, 0, 8),
    },
    "compute": {
        "buffer_length": (0, 0, 14), "enable_packet": (1, 30, 1), "packet_id": (1, 19, 5),
        "packet_type": (1, 16, 3), "d1_stride": (2, 13, 13), "d0_stride": (2, 0, 13), "d1_size": (3, 21, 8),
        "d0_size": (3, 13, 8), "d2_stride": (3, 0, 13), "iteration_current": (4, 19, 6),
        "iteration_size": (4, 13, 6), "iteration_stride": (4, 0, 13), "next_bd": (5, 27, 4),
        "use_next_bd": (5, 26, 1), "valid_bd": (5, 25, 1), "lock_rel_val": (5, 18, 7),
        "lock_rel_id": (5, 13, 4),
        "lock_acq_enable": (5, 12, 1), "lock_acq_val": (5, 5, 7), "lock_acq_id": (5, 0, 4),
    },
}  # fmt: skip
_PLACES = {"interface": (0x1D000, 16), "memory": (0xA0000, 48), "compute": (0x1D000, 16)}
_QUEUES = {  # first register of S2MM 0, channels of a direction
    "interface": (0x1D204, 2), "memory": (0xA0604, 6), "compute": (0x1DE04, 2),
}  # fmt: skip
_STRIDE, _COLUMN, _ROW, _OFFSET = 0x20, 25, 20, (1 << 20) - 1


def _role(row: int) -> str:
    return {0: "interface", 1: "memory"}.get(row, "compute")


def accesses(steps: Sequence[object]) -> Iterator[Facts]:
    """What steps of a sequence are, with what their bits say."""
    for step in steps:
        if isinstance(step, BlockWrite):
            yield {"kind": "block", "address": step.address, "words": step.words, **_bd(step)}
        elif isinstance(step, MaskWrite | MaskPoll):
            kind = "maskwrite32" if isinstance(step, MaskWrite) else "maskpoll"
            yield {"kind": kind, "address": step.address, "value": step.value, "mask": step.mask}
        elif isinstance(step, Write):
            yield {"kind": "write32", "address": step.address, "value": step.value, **_push(step)}
        elif isinstance(step, Other):
            said = dict(step.details)
            if step.name == "DDR_PATCH":
                yield {"kind": "patch", "addr": said["address"], "arg_idx": said["argument"], **said}
            elif "columns" in said:
                yield {"kind": "sync", **said, "column_num": said["columns"], "row_num": said["rows"]}


def _bd(step: BlockWrite) -> Facts:
    column, row, offset = step.address >> _COLUMN, step.address >> _ROW & 31, step.address & _OFFSET
    base, many = _PLACES[_role(row)]
    number, rest = divmod(offset - base, _STRIDE)
    if rest or not 0 <= number < many or len(step.words) < (6 if _role(row) == "compute" else 8):
        return {}
    fields = {n: step.words[w] >> low & (1 << bits) - 1 for n, (w, low, bits) in _BDS[_role(row)].items()}
    return {"bd": True, "bd_id": number, "column": column, "row": row, **fields}


def _push(step: Write) -> Facts:
    column, row, offset = step.address >> _COLUMN, step.address >> _ROW & 31, step.address & _OFFSET
    first, many = _QUEUES[_role(row)]
    place, rest = divmod(offset - first, 8)
    if rest or not 0 <= place < 2 * many:
        return {}
    port = {"direction": place // many, "channel": place % many, "token": step.value >> 31}
    number = {"bd_id": step.value & 63, "repeat": step.value >> 16 & 255}
    return {"push": True, "column": column, "row": row, **port, **number}


_CHECK = re.compile(
    r"^\s*//\s*([A-Z][A-Z0-9_]*)(-SAME|-NEXT|-DAG|-COUNT-[0-9]+|-NOT|-LABEL|-EMPTY)?:\s?(.*)$"
)
_CONSTANT = re.compile(r"%(?:\[\[(\w+)(?::[^\]]*)?\]\]) = arith\.constant (-?\d+)")
_NAMED = re.compile(r"%c(-?\d+)(?:_(?:i\d+|index))?")
_FIELD = re.compile(r"(\w+) = (-?\d+)")


def prefixes(text: str) -> Iterator[str]:
    """The prefixes of the lines that the ``RUN`` lines of a file check."""
    runs = re.sub(r"\\\n\s*//\s*RUN:", " ", "\n".join(re.findall(r"// RUN:.*|//.*RUN:.*", text)))
    for line in runs.splitlines():
        if "FileCheck" in line:
            found = re.search(r"--?check-prefix(?:es)?[= ]([\w,]+)", line)
            yield from (found[1].split(",") if found else ["CHECK"])


def expected(part: str, prefix: str) -> Iterator[Expected]:
    """What lines of a prefix say of register accesses, in order."""
    known: dict[str, int] = {}
    lines: list[str] = []
    for line in part.splitlines():
        found = _CHECK.match(line)
        if found is None or found[1] != prefix or found[2] in ("-NOT", "-LABEL", "-EMPTY"):
            continue
        if found[2] == "-SAME" and lines:
            lines[-1] += " " + found[3]
        else:
            lines += (
                [found[3]] * int((found[2] or "").removeprefix("-COUNT-") or 1)
                if (found[2] or "").startswith("-COUNT")
                else [found[3]]
            )
    for line in lines:
        known |= {name: int(value) for name, value in _CONSTANT.findall(line)}
        yield from _operation(line, known)


def _operands(text: str, known: dict[str, int]) -> list[int | None]:
    found: list[int | None] = []
    for operand in re.findall(r"%(?:\[\[\w+\]\]|\{\{.*?\}\}|[\w\-]+)", text):
        captured, named = re.fullmatch(r"%\[\[(\w+)\]\]", operand), _NAMED.fullmatch(operand)
        found.append(known.get(captured[1]) if captured else int(named[1]) if named else None)
    return found


def _operation(line: str, known: dict[str, int]) -> Iterator[Expected]:
    name = _NAMES.search(line)
    if name is None:
        return
    called, rest = name[1].rpartition(".")[2], line[name.end() :]
    attributes = {key: int(value) for key, value in _FIELD.findall(rest)}
    if called == "writebd":
        blank = not attributes.get("buffer_length", 1)  # other writes fill it up
        attributes = {k: v for k, v in attributes.items() if k not in _UNREAD and (v or not blank)}
    if called in _READERS:
        made = _READERS[called](rest, attributes, known)
        if made or called != "write32":  # of which nothing is said
            yield Expected(_KINDS.get(called, called), made, line)


def _given(_rest: str, attributes: Facts, _known: dict[str, int]) -> Facts:
    return attributes


def _numbered(_rest: str, attributes: Facts, _known: dict[str, int]) -> Facts:
    return {"bd_id": attributes["id"]} if "id" in attributes else {}


def _global(rest: str, _attributes: Facts, _known: dict[str, int]) -> Facts:
    words = re.search(r"dense<\[?([^\]>]*)(\]?)", re.sub(r"\{\{.*?\}\}", "_", rest))
    numbers = [each.strip() for each in words[1].split(",")] if words else []
    return {"words": numbers, "all": bool(words and words[2])}


def _patched(rest: str, attributes: Facts, known: dict[str, int]) -> Facts:
    operands = _operands(rest.partition(":")[0], known)
    offset = {"offset": operands[0]} if operands and operands[0] is not None else {}
    return {k: v for k, v in attributes.items() if k in ("addr", "arg_idx")} | offset


def _synchronised(rest: str, attributes: Facts, known: dict[str, int]) -> Facts:
    names = ("column", "row", "direction", "channel", "column_num", "row_num")
    operands = zip(names, _operands(rest, known), strict=False)
    return {n: v for n, v in operands if v is not None} | attributes


def _addressed(rest: str, attributes: Facts, known: dict[str, int]) -> Facts:
    operands = _operands(rest.partition("{column")[0], known)
    named = zip(("address", "value", "mask"), operands, strict=False)
    facts = {name: value & 0xFFFFFFFF for name, value in named if value is not None}
    if "address" in facts and {"column", "row"} <= attributes.keys():
        place = attributes["column"] << _COLUMN | attributes["row"] << _ROW
        facts["address"] = place | facts["address"] & _OFFSET
    return facts


def _pushed(rest: str, _attributes: Facts, known: dict[str, int]) -> Facts:
    port = re.search(r"\((\d+), (\d+), (\w+) ?: ?(\d+)\)", rest)
    facts: Facts = {}
    if port:
        facts = {"column": int(port[1]), "row": int(port[2]), "direction": int(port[3] == "MM2S")}
        facts["channel"] = int(port[4])
    for name in ("bd_id", "repeat"):
        found = re.search(rf"{name} (\S+)", rest)
        value = _operands(found[1], known) if found else []
        facts |= {name: value[0]} if value and value[0] is not None else {}
    token = re.search(r"issue_token = (\w+)", rest)
    return facts | ({"token": int(token[1] == "true")} if token else {})


def _described(rest: str, attributes: Facts, _known: dict[str, int]) -> Facts:
    facts: Facts = {"bd_id": attributes["bd_id"]} if "bd_id" in attributes else {}
    kind = re.search(r"memref<[^>]*?x?[a-z]+(\d+)", rest)
    if kind and "len" in attributes:
        facts["buffer_length"] = attributes["len"] * int(kind[1]) // 32
    sizes = re.search(r"sizes = \[(\d+), \d+, \d+, \d+\] strides = \[(\d+)", rest)
    if sizes and int(sizes[2]):
        facts["iteration_size"] = max(int(sizes[1]) - 1, 0)
    return facts


_NAMES = re.compile(r"(aiex\.npu\.\w+|npu\.\w+|writebd|aie\.dma_bd|aiex\.dma_start_task|memref\.global)\b")
_UNREAD = ("d2_size", "out_of_order_id", "burst_length")  # of writebd: no register has them, or by a code
_READERS: dict[str, Callable[[str, Facts, dict[str, int]], Facts]] = {
    "writebd": _given,
    "blockwrite": _given,
    "global": _global,
    "address_patch": _patched,
    "write32": _addressed,
    "maskwrite32": _addressed,
    "maskpoll": _addressed,
    "push_queue": _pushed,
    "sync": _synchronised,
    "dma_memcpy_nd": _numbered,
    "dma_bd": _described,
    "dma_start_task": _given,
}
_KINDS = {
    "writebd": "bd",
    "blockwrite": "block",
    "global": "words",
    "address_patch": "patch",
    "push_queue": "push",
    "dma_memcpy_nd": "bd",
    "dma_bd": "bd",
    "dma_start_task": "push",
}


def _fits(wanted: Expected, found: Facts) -> bool:
    if wanted.kind not in (found["kind"], *(key for key in ("bd", "push") if key in found)):
        return False
    return all(_equal(name, value, found) for name, value in wanted.facts.items())


def _equal(name: str, value: int, found: Facts) -> bool:
    bits = {"lock_acq_val": 127, "lock_rel_val": 127}.get(name)
    if bits is None and "bd" in found and name in _BDS[_role(found["row"])]:
        bits = (1 << _BDS[_role(found["row"])][name][2]) - 1
    if name not in found:
        return "bd" in found and value == 0
    return bool(found[name] == value if bits is None else found[name] == value & bits)


def compare(wanted: Sequence[Expected], found: Sequence[Facts]) -> tuple[str, str]:
    """Whether what is wanted is found in order: a kind of verdict, and what is missing first."""
    at, kind = 0, SAME
    for each in wanted:
        if each.kind == "words":
            if not any(_worded(each.facts, other.get("words", ())) for other in found):
                return DIFFERS, each.line
            continue
        place = next((n for n in range(at, len(found)) if _fits(each, found[n])), None)
        if place is None and each.kind in ("maskwrite32", "write32"):
            again = range(max(at - 1, 0), len(found))  # one block may be several writes
            place, kind = next((n for n in again if _same_register(each, found[n])), None), OTHER
        if place is None and each.kind == "write32" and each.facts:  # configuration, in another order
            place, kind = next((n for n in range(at) if _fits(each, found[n])), None), OTHER
        if place is None:
            return DIFFERS, each.line
        at = max(at, place + 1)
    return kind, ""


def _worded(facts: Facts, words: Sequence[int]) -> bool:
    wanted = facts["words"]
    pairs = zip(wanted, words, strict=False)
    numbers = (not each.lstrip("-").isdigit() or int(each) & 0xFFFFFFFF == word for each, word in pairs)
    whole = len(wanted) == len(words) if facts["all"] else len(wanted) <= len(words)
    return whole and all(numbers)


def _same_register(wanted: Expected, found: Facts) -> bool:
    """Whether another operation writes the register: a block its word, or another place of a buffer."""
    at = wanted.facts.get("address")
    if wanted.kind == "maskwrite32":
        return bool(found["kind"] == wanted.kind and found["address"] == at)
    place = (at if at is not None else found.get("address", 0)) - found.get("address", -1)
    value = wanted.facts.get("value")
    inside = found["kind"] == "block" and 0 <= place < 4 * len(found["words"])
    return inside and (value is None or at is None or found["words"][place // 4] == value)


def made(name: str, part: str) -> list[Facts]:
    """The register accesses of all host sequences of a text.

    Raises:
        MemtileError: it is refused.
    """
    tree = read(Text(name, part))
    check_values(tree)
    found, steps = devices(tree), list[object]()
    for device in found:
        for sequence in device.sequences.values():
            array = Array(device.device)
            numbers = {n: _NUMBER for n, kind in enumerate(arguments_of(sequence)) if is_scalar(kind)}
            others = {each.name: each for each in devices(read(Text(name, part)))}
            own = others[device.name] if len(others) > 1 else devices(read(Text(name, part)))[0]
            chosen = list(own.sequences.values())[list(device.sequences).index(_key(device, sequence))]
            steps += program_of(configure(own, array), chosen, numbers, others).steps
    return list(accesses(steps))


def _key(device: Any, sequence: Any) -> str:
    return next(str(key) for key, value in device.sequences.items() if value is sequence)


def _freed(part: str) -> str:
    """A text whose tasks report no end, as its test tries one pass: waits give their BDs back."""
    for name in set(re.findall(r"aiex\.dma_await_task\((%[\w#]+)\)", part)):
        part = re.sub(rf"aiex\.dma_free_task\({re.escape(name)}\)", "", part)
    return part.replace("aiex.dma_await_task", "aiex.dma_free_task")


def judge(file: Path, root: Path) -> Iterator[Verdict]:
    """Verdicts of the parts of a file."""
    text = file.read_text()
    parts = re.split(r"^// -----.*$", text, flags=re.M)
    named = dict.fromkeys(prefixes(text))
    failing = "not aie-opt" in text
    for number, part in enumerate(parts, 1):
        if "runtime_sequence" not in re.sub(r"//.*", "", part):
            continue
        name = f"{file.relative_to(root)}#{number}" if len(parts) > 1 else str(file.relative_to(root))
        errors = re.findall(r"expected-error.*?\{\{(.*?)\}\}", part)
        errors += re.findall(r"// CHECK:\s*(.*)", part) if failing and not errors else []
        part = part.replace("NPUDEVICE", "npu1").replace(
            "0xBEEF", "0xBEEC"
        )  # the same word, at a place that DMAs reach
        found = _judged(name, part, errors, named)
        if "reports no end" in found.says and "tasks-to-npu" not in text:
            found = _judged(name, _freed(part), errors, named)
        yield found


def _judged(name: str, part: str, errors: list[str], named: dict[str, None]) -> Verdict:
    try:
        found = made(name, part)
    except MemtileError as error:
        says = str(error).splitlines()[0]
        return Verdict(name, GOOD if errors else REFUSED, says)
    if errors:
        alone = all(_PASS_ERRORS.search(each) for each in errors)
        return Verdict(name, ELSEWHERE if alone else ACCEPTED, errors[0])
    if re.search(r"^\s*aie\.trace", part, re.M):
        return Verdict(name, OTHER, "traces are read and change nothing")
    verdicts = []
    tasks = "aiex.dma_configure_task" in part or "aie.bd_chain" in part
    for prefix in named:
        wanted = [each for each in expected(part, prefix) if tasks or "aie.dma_bd(" not in each.line]
        if wanted:
            verdicts.append(compare(wanted, found))
    if not verdicts:
        return Verdict(name, NOTHING)
    return Verdict(name, *max(verdicts, key=lambda each: (SAME, OTHER, DIFFERS).index(each[0])))


def main() -> int:
    """Print the verdicts of folders."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--json", action="store_true", help="as JSON")
    given = parser.parse_args()
    files = [(file, root) for root in given.folders for file in sorted(root.rglob("*.mlir"))]
    found = [verdict for file, root in files for verdict in judge(file, root)]
    if given.json:
        print(json.dumps([vars(each) for each in found], indent=1))
    else:
        for each in found:
            print(f"{each.kind:28} {each.name}" + (f": {each.says[:150]}" if each.says else ""))
        for kind, many in Counter(each.kind for each in found).most_common():
            print(f"{many:5} {kind}")
    return int(any(each.kind == DIFFERS for each in found))


if __name__ == "__main__":
    sys.exit(main())
