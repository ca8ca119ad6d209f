"""Do kernels of a graph get the parameters that its host updates, and the host what they give?"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np
import pytest

from memtile.adf.kernel_calls import Value
from memtile.adf.planning import plan_of
from memtile.adf.running import GraphRun
from memtile.errors import DesignError
from memtile.explain.findings import Severity
from memtile.explain.results import Status
from memtile.sim.kernels.actions import Action
from memtile.sim.kernels.kernel_core import Core
from support.adf.plans import calls, ints
from support.adf.sketch import ROOT, Sketch, buffer, parameter


def scaled(scale_type: str = "int32", **more: Any) -> tuple[GraphRun, int, int]:
    """In -> x * scale -> out, with the sum of each block as a parameter that the host reads."""
    g = Sketch()
    a, z = g.plio("in"), g.plio("out", "out")
    k = g.kernel(
        "k",
        [buffer("int32", 16), parameter(scale_type, **more)],
        [buffer("int32", 16), parameter("int32", direction="inout", is_async=more.get("is_async", False))],
    )
    scale, total = g.graph_port("scale", "in"), g.graph_port("total", "out")
    g.connect(a, k.ins[0])
    g.connect(scale, k.ins[1], "parameter")
    g.connect(k.outs[0], z)
    g.connect(k.outs[1], total, "parameter")

    def body(core: Core, x: Any, factor: Value, y: Any, sums: Any) -> Generator[Action, Any, None]:
        ints(y)[:] = ints(x) * factor.bits
        ints(sums)[0] += ints(x).sum()
        yield core.cycles(10)

    run = GraphRun(plan_of(g.description(), "npu1"), calls(**{f"k{k.id}": body}))
    run.init(ROOT)
    return run, scale, total


def word(number: int) -> bytes:
    return number.to_bytes(4, "little")


def test_each_call_waits_for_an_update_of_a_synchronous_parameter() -> None:
    run, scale, total = scaled()
    data = np.arange(48, dtype=np.int32).reshape(3, 16)
    run.feed("in", data)
    run.run(ROOT, 3)
    sums = []
    for factor in (2, 3, 5):
        run.update(scale, word(factor))
        sums.append(int.from_bytes(run.read(total), "little"))
    run.end(ROOT)
    found = run.result()
    assert found.result.status is Status.FINISHED
    assert (found.outputs["gr.out"].words.reshape(3, 16) == data * [[2], [3], [5]]).all()
    assert sums == np.cumsum(data.sum(axis=1)).tolist()


def test_calls_of_the_host_take_no_time() -> None:
    """DEV-ADF-33."""
    run, scale, _ = scaled()
    engine = run.lowered.array.engine
    began = engine.now
    run.feed("in", np.arange(16, dtype=np.int32))
    run.update(scale, word(1))
    run.run(ROOT, 1)
    assert engine.now == began
    run.end(ROOT)
    assert engine.now > began


def test_too_few_updates_of_a_synchronous_parameter_are_counted() -> None:
    run, scale, total = scaled()
    run.feed("in", np.arange(48, dtype=np.int32))
    run.run(ROOT, 3)
    for factor in (2, 3):
        run.update(scale, word(factor))
        run.read(total)
    run.end(ROOT)
    (found,) = run.result().result.findings
    assert found.message == (
        "gr.k waits for an update of scale.in[0]; the host has updated it 2 times, for 3 iterations."
    )
    assert found.fix.startswith("Update it once for each call of the kernel")


def test_updates_wait_for_the_kernel_and_say_when_it_never_comes() -> None:
    run, scale, _ = scaled()
    run.update(scale, word(1))
    run.update(scale, word(2))
    with pytest.raises(
        DesignError, match=r"gr\.k\.in\[1\]: update\(\) waits, but no further call of gr\.k takes"
    ):
        run.update(scale, word(3))


def test_an_asynchronous_parameter_is_the_last_value() -> None:
    run, scale, total = scaled(is_async=True)
    data = np.arange(64, dtype=np.int32).reshape(4, 16)
    run.feed("in", data)
    run.update(scale, word(7))
    run.update(scale, word(2))
    run.run(ROOT, 2)
    run.wait(ROOT)
    run.update(scale, word(9))
    run.run(ROOT, 2)
    run.end(ROOT)
    assert int.from_bytes(run.read(total), "little") == data.sum()
    assert (run.result().outputs["gr.out"].words.reshape(4, 16) == data * [[2], [2], [9], [9]]).all()


def test_the_first_call_waits_for_the_first_update_unless_there_is_an_initial_value() -> None:
    """DEV-ADF-32."""
    for initial, status in (("", Status.STUCK), (word(4).hex(), Status.FINISHED)):
        run, *_ = scaled(is_async=True, initial=initial)
        run.feed("in", np.arange(16, dtype=np.int32))
        run.run(ROOT, 1)
        run.end(ROOT)
        found = run.result()
        assert found.result.status is status
        assert len(found.outputs["gr.out"].words) == (16 if initial else 0)
        if not initial:
            assert found.waits == ("gr.k waits for an update of gr.k.in[1]",)
            (finding,) = found.result.findings
            assert finding.code == "MT0302"
            assert finding.message == (
                "gr.k waits for an update of scale.in[0]; the host has given it no value."
            )
            assert finding.fix == "Update it before the graph runs, or give it an initial_value."


def test_a_kernel_beside_others_waits_for_the_host_alone() -> None:
    """The code of the other kernel does not say what it releases; only the host updates a parameter."""
    g = Sketch()
    k = g.kernel("k", [buffer("int32", 16), parameter("int32")], [buffer("int32", 16)])
    other = g.kernel("other", [buffer("int32", 16)], [buffer("int32", 16)])
    scale = g.graph_port("scale", "in")
    g.connect(g.plio("in"), k.ins[0])
    g.connect(scale, k.ins[1], "parameter")
    g.connect(k.outs[0], other.ins[0])
    g.connect(other.outs[0], g.plio("out", "out"))

    def times(core: Core, x: Any, factor: Value, y: Any) -> Generator[Action, Any, None]:
        ints(y)[:] = ints(x) * factor.bits
        yield core.cycles(10)

    def copied(core: Core, x: Any, y: Any) -> Generator[Action, Any, None]:
        ints(y)[:] = ints(x)
        yield core.cycles(10)

    run = GraphRun(plan_of(g.description(), "npu1"), calls(**{f"k{k.id}": times, f"k{other.id}": copied}))
    run.init(ROOT)
    run.feed("in", np.arange(32, dtype=np.int32))
    run.run(ROOT, 2)
    run.update(scale, word(3))
    run.end(ROOT)
    (found,) = run.result().result.findings
    assert (found.code, found.severity) == ("MT0302", Severity.ERROR)
    assert found.message.endswith("the host has updated it 1 time, for 2 iterations.")


def test_values_of_another_size_are_refused() -> None:
    run, scale, total = scaled()
    with pytest.raises(DesignError, match=r"gr\.k\.in\[1\]: parameter is 8 bytes; it must be 4 bytes"):
        run.update(scale, bytes(8))
    with pytest.raises(
        DesignError, match="update of it; it must be update of inputs, read of what kernels give"
    ):
        run.update(total, word(1))


def test_a_value_of_less_than_a_word_has_the_bytes_of_its_type() -> None:
    """As blacklevel of Vitis Libraries, L2 of vision, has one of 8 and one of 16 bits."""
    for name, nbytes in (("uint8", 1), ("int16", 2)):
        run, scale, _ = scaled(name, is_async=True)
        run.update(scale, (7).to_bytes(nbytes, "little"))
        run.feed("in", np.arange(16, dtype=np.int32))
        run.run(ROOT, 1)
        run.end(ROOT)
        assert run.result().outputs["gr.out"].words.tolist() == [7 * each for each in range(16)]
        with pytest.raises(DesignError, match=f"parameter is 4 bytes; it must be {nbytes} bytes"):
            run.update(scale, word(7))


def test_one_port_of_a_graph_updates_the_parameters_of_several_kernels() -> None:
    g = Sketch()
    scale, bodies = g.graph_port("scale", "in"), {}

    def body(core: Core, x: Any, factor: Value, y: Any) -> Generator[Action, Any, None]:
        ints(y)[:] = ints(x) * factor.bits
        yield core.cycles(10)

    for n in (0, 1):
        k = g.kernel(f"k{n}", [buffer("int32", 16), parameter()], [buffer("int32", 16)])
        g.connect(g.plio(f"in{n}"), k.ins[0])
        g.connect(scale, k.ins[1], "parameter")
        g.connect(k.outs[0], g.plio(f"out{n}", "out"))
        bodies[f"k{k.id}"] = body
    run = GraphRun(plan_of(g.description(), "npu1"), calls(**bodies))
    run.init(ROOT)
    for n in (0, 1):
        run.feed(f"in{n}", np.arange(16, dtype=np.int32))
    run.update(scale, word(6))
    run.run(ROOT, 1)
    run.end(ROOT)
    found = run.result()
    assert found.iterations == {"gr": 1}
    for n in (0, 1):
        assert (found.outputs[f"gr.out{n}"].words == np.arange(16) * 6).all()
