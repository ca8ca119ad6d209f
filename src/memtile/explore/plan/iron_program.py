"""A planned design as a program of IRON, with kernels in C++: what mlir-aie builds for an NPU.

The program has the tiles, FIFOs and walks of the plan as object FIFOs, and its own kernels. It needs nothing
of memtile; ``memtile run`` runs it too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.resources import files

from memtile.arch.core_costs import BLOCKS
from memtile.arch.devices import device as find_device
from memtile.errors import DesignError

_DEVICES = ("npu1", "npu2")
_C_TYPES = {"int8": "int8_t", "int16": "int16_t", "int32": "int32_t", "float32": "float"}
_MULTIPLIERS = {"int8": "i8", "int16": "i16", "bfloat16": "bf16"}
_BLOCKED = """\
using Product = aie::mmul<{r}, {s}, {t}, IN, IN>;

static void add_product(const IN *a, const IN *b, OUT *c) {
  for (int j = 0; j < WIDE / {t}; j++)
    for (int i = 0; i < TALL / {r}; i++) {
      OUT *at = c + (j * TALL + i * {r}) * {t};
      Product sum(aie::load_v<{r} * {t}>(at));
      for (int p = 0; p < DEEP / {s}; p++)
        sum.mac(aie::load_v<{r} * {s}>(a + (p * TALL + i * {r}) * {s}),
                aie::load_v<{s} * {t}>(b + (p * (WIDE / {t}) + j) * {s} * {t}));
      aie::store_v(at, sum.to_vector<OUT>());
    }
}
"""
_PLAIN = """\
static void add_product(const IN *a, const IN *b, OUT *c) {
  for (int i = 0; i < TALL; i++)
    for (int p = 0; p < DEEP; p++)
      for (int j = 0; j < WIDE; j++)
        c[i * WIDE + j] += a[i * DEEP + p] * b[p * WIDE + j];
}
"""
_ROOT = """\
static float root(float value) {
  float guess = value > 1 ? value : 1;
  for (int n = 0; n < 40; n++)
    guess = (guess + value / guess) / 2;
  return guess;
}

"""
_REDUCED = {
    "sum": """\
    Number sum = 0;
    for (int n = 0; n < WIDTH; n++)
      sum += at[n];
    made[row] = sum;
""",
    "max": """\
    Number most = at[0];
    for (int n = 1; n < WIDTH; n++)
      most = at[n] > most ? at[n] : most;
    made[row] = most;
""",
    "normalise": """\
    float sum = 0, squares = 0;
    for (int n = 0; n < WIDTH; n++)
      sum += at[n];
    const float mean = sum / WIDTH;
    for (int n = 0; n < WIDTH; n++)
      squares += (at[n] - mean) * (at[n] - mean);
    const float scale = 1 / root(squares / WIDTH + 1e-5f);
    for (int n = 0; n < WIDTH; n++)
      made[row * WIDTH + n] = Number((at[n] - mean) * scale);
""",
}
"""What a row of numbers becomes, in plain C++."""
Values = Mapping[str, object]


def iron_source(layer: str, title: str, values: Values, head: str) -> str:
    """The text of a program of IRON.

    Args:
        layer: name of the planned design.
        title: the layer in one line.
        values: arguments of the planned design, by name; :func:`iron_fault` finds none in them.
        head: lines about the plan.
    """
    text = files("memtile.explore.plan.iron").joinpath(f"{layer}.py.in").read_text(encoding="utf-8")
    doc = f'"""{title}, as memtile plan laid it out, for IRON.\n\n{head}\n\n'
    doc += "Run it with mlir-aie on an NPU, or with ``memtile run`` on this computer.\n"
    for name, value in _FILLED[layer](values).items():
        text = text.replace(f"<{name}>", value.rstrip("\n"))
    return f'{doc}"""\n\n{text}'


def iron_fault(layer: str, values: Values) -> tuple[str, str, str] | None:
    """What a program of IRON cannot have of a plan, what is allowed, and what to do; None = nothing."""
    if layer not in _FILLED:
        says = f"a plan of {layer} has no form as a program of IRON"
        step = "Write it as Python (--out FILE.py), or its machine as MLIR (--out FILE.mlir)."
        return says, ", ".join(_FILLED), step
    if values["device"] not in _DEVICES:
        return f"the plan is for {values['device']}", " and ".join(_DEVICES), "Plan it for one of these."
    if values.get("keep", "none") != "none":
        says = f"the plan keeps {str(values['keep']).upper()} in memory tiles and sends it again"
        return says, "keep = none: an object FIFO sends an object once", "Take a design without it: --pick N."
    if any(values.get(name) for name in ("zero_rows", "zero_columns", "zero_depth")):
        says = "the plan fills up tiles with zeros that lie in no matrix"
        return says, "sizes that the blocks divide", "Pad the matrices with zeros, and plan that."
    if values.get("links", "circuits") != "circuits":
        return "the plan sends bands as packets", "links = circuits", "Take a design with circuits: --pick N."
    return None


def iron_refusal(layer: str, fault: tuple[str, str, str], other: int | None) -> DesignError:
    """The error of a design that IRON cannot have.

    Args:
        layer: name of the planned design.
        fault: what :func:`iron_fault` found.
        other: number of the best design that it can have; None = there is none.
    """
    says, allowed, step = fault
    if "--pick N" in step:
        take = "--tried N tries more designs" if other is None else f"--pick {other} is the best one"
        step = step.replace("--pick N", take)
    where, source = f"plan {layer}", "IRON: ObjectFifo"
    return DesignError.of("iron", says, allowed, says, step, reason="plan_iron", where=where, source=source)


def _gemm(values: Values) -> Mapping[str, str]:
    """What fills the holes of the product."""
    dtype = str(values["dtype"])
    device = find_device(str(values["device"]))
    names = ("m", "k", "n"), ("columns", "rows"), ("tall", "wide", "deep"), ("s", "t"), ("ways", "depth")
    lines = [
        f"{', '.join(map(str.upper, each))} = {', '.join(str(values[n]) for n in each)}" for each in names
    ]
    lines += [f'DTYPE, DEVICE, SPREAD = "{dtype}", "{device.name}", "{values["spread"]}"']
    block = BLOCKS[device.generation].get(_MULTIPLIERS.get(dtype, ""))
    into = "float" if dtype == "bfloat16" else "int32_t"
    types = f"using IN = {_C_TYPES.get(dtype, dtype)};\nusing OUT = {into};\n"
    sizes = ", ".join(f"{name.upper()} = {values[name]}" for name in ("tall", "wide", "deep"))
    multiply = _PLAIN
    if block is not None:
        for name, size in zip("rst", block, strict=True):
            multiply = (_BLOCKED if name == "r" else multiply).replace(f"{{{name}}}", str(size))
    return {
        "VALUES": "\n".join(lines),
        "INCLUDES": "#include <aie_api/aie.hpp>\n" if block is not None else "",
        "MULTIPLY": f"{types}constexpr int {sizes};\n\n{multiply}",
    }


def _rows(values: Values) -> Mapping[str, str]:
    """What fills the holes of the row-wise reductions."""
    names = ("rows", "width"), ("columns", "cores"), ("tall", "depth")
    lines = [
        f"{', '.join(map(str.upper, each))} = {', '.join(str(values[n]) for n in each)}" for each in names
    ]
    lines += [f'DTYPE, DEVICE, WHAT = "{values["dtype"]}", "{values["device"]}", "{values["what"]}"']
    body = _REDUCED[str(values["what"])]
    kernel = f"using Number = {_C_TYPES[str(values['dtype'])]};\n"
    kernel += f"constexpr int TALL = {values['tall']}, WIDTH = {values['width']};\n\n"
    kernel += _ROOT if values["what"] == "normalise" else ""
    kernel += 'extern "C" void reduce_rows(const Number *rows, Number *made) {\n'
    kernel += "  for (int row = 0; row < TALL; row++) {\n    const Number *at = rows + row * WIDTH;\n"
    return {"VALUES": "\n".join(lines), "KERNEL": f"{kernel}{body}  }}\n}}\n"}


_FILLED: Mapping[str, Callable[[Values], Mapping[str, str]]] = {"gemm": _gemm, "rows": _rows}
