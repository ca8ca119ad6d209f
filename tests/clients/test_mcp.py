"""Do agents get the tools over a real pipe, and answers that let them repair what they wrote?"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import pytest
from mcp import Client
from typer.testing import CliRunner

from memtile.cli.agents.brief_answers import BYTES
from memtile.cli.agents.server import FRONT, SKILL, skill_text
from memtile.cli.agents.tools import TOOLS
from memtile.cli.main import app
from support.commands.agent_session import ask, data, talk
from support.designs.broken_designs import BROKEN, RING, Broken
from support.mlir.mlir_texts import PARAMETER
from support.pages import skill_page

DESIGN = re.findall(r"```python\n(.*?)```", skill_text(), re.DOTALL)[0]
pytestmark = pytest.mark.slow  # each test starts a server or two


@pytest.fixture(scope="module")
def answers() -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """By name of the case the answers to it and to its repair."""
    calls = [(case.tool, arguments) for case in BROKEN for arguments in (case.bad, case.good)]
    found = iter(ask(*calls))
    return {case.name: (next(found), next(found)) for case in BROKEN}


def faults(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """Its findings, or its error."""
    parts = [answer, *answer.get("designs", ()), *answer.get("answers", ())]
    return [
        fault for part in parts for fault in (*part.get("findings", ()), *filter(None, [part.get("error")]))
    ]


def test_there_are_at_least_twenty_mistakes_and_each_tool_that_judges_meets_one() -> None:
    assert len(BROKEN) >= 20
    assert {case.tool for case in BROKEN} == {"check", "run", "lower", "descriptor"}
    assert len({case.name for case in BROKEN}) == len(BROKEN)


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: case.name)
def test_a_mistake_is_named_and_its_repair_is_good(
    case: Broken, answers: dict[str, tuple[dict[str, Any], dict[str, Any]]]
) -> None:
    bad, good = answers[case.name]
    found = faults(bad)
    assert not bad.get("good", False)
    assert tuple(fault.get("code", fault.get("reason")) for fault in found) == case.names
    assert case.says in found[0]["message"]
    assert "memtile_" not in json.dumps(bad)  # the folder of the text, which is gone
    assert case.fix in found[0].get("fix", "")
    assert bool(case.fix) == bool(found[0].get("fix"))
    assert good["good"], good
    assert faults(good) == []


def test_an_agent_gets_the_skill_and_the_tools_with_their_arguments() -> None:
    async def look(client: Client) -> Any:
        skill = await client.read_resource(SKILL)
        return await client.list_tools(), skill.contents[0].text, client.instructions  # type: ignore[union-attr]

    listed, skill, instructions = talk(look)
    assert skill == instructions == skill_text()
    assert [tool.name for tool in listed.tools] == [*(tool.__name__ for tool in TOOLS), "more"]
    for tool in listed.tools:
        for argument in tool.input_schema["properties"]:
            assert f"`{argument}`" in tool.description, (tool.name, argument)
        assert f"`{tool.name}`" in skill
    assert CliRunner().invoke(app, ["mcp", "--skill"]).stdout == FRONT + skill


def test_the_page_has_the_skill_as_it_is() -> None:
    page = (Path(__file__).parents[2] / "docs" / "agents.md").read_text(encoding="utf-8")
    assert page == skill_page.with_skill(page)
    assert page.count(skill_page.MARK) == 1


def test_the_design_of_the_skill_is_good_and_its_codes_are_those_of_memtile() -> None:
    from memtile.explain.findings import CODES

    checked, ran = ask(("check", {"text": DESIGN}), ("run", {"text": DESIGN, "settings": {"words": 32}}))
    assert checked["good"]
    assert (ran["good"], ran["bit_exact"], ran["findings"]) == (True, True, [])
    assert ran["parameters"] == [{"name": "words", "value": 32}]
    assert set(re.findall(r"MT\d{4}", skill_text())) <= CODES.keys()


def test_what_a_design_prints_or_reads_does_not_meet_the_protocol() -> None:
    noisy = "import os, subprocess, sys\n" + RING.replace(
        "    tile = Mem",
        "    print('x')\n    os.write(1, b'y\\n')\n    subprocess.run(['echo', 'z'])\n"
        "    assert sys.stdin.read() == ''\n    tile = Mem",
    )
    first, second = ask(("run", {"text": noisy}), ("run", {"text": RING}))
    assert first["good"], first
    assert second["good"]


def test_a_design_that_leaves_loops_or_fails_does_not_take_the_server_with_it() -> None:
    leaves = "def design():\n    raise SystemExit(3)\n"
    long = RING.replace("repeat=2", "repeat=256").replace(
        "feed(data)", "feed(np.zeros((256, 4, 8), np.int32))"
    )
    calls = [
        ("run", {"text": leaves}),
        ("run", {"text": long, "seconds": -1.0}),
        ("check", {"path": "none.py"}),
        ("check", {}),
        ("run", {"path": "a.py", "text": RING}),
        ("lower", {}),
        ("limits", {"device": "npu9"}),
        ("run", {"text": RING}),
    ]
    left, over, missing, neither, both, empty, device, last = ask(*calls)
    assert left["error"]["message"].startswith("the code of the design left its process (SystemExit(3))")
    assert over["status"] == "interrupted"
    assert missing["error"]["message"] == "none.py: there is no such file or folder."
    assert neither["error"]["message"].startswith("arguments of the tool: path and text is neither")
    assert "path and text is both" in both["error"]["message"]
    assert "give a tiling or a memref" in empty["error"]["message"]
    assert "Did you mean npu2?" in device["error"]["message"]
    assert last["good"]


ENDLESS = "import time\ndef design():\n    while True:\n        time.sleep(1)\n"


def test_a_call_that_its_client_takes_back_ends_and_the_next_one_is_answered() -> None:
    async def lose_patience(client: Client) -> Any:
        with anyio.move_on_after(2):
            await client.call_tool("run", {"text": ENDLESS})
        with anyio.fail_after(30):
            return data(await client.call_tool("run", {"text": RING}))

    assert talk(lose_patience)["good"]


def processes_with(text: str) -> list[str]:
    """Processes whose command line has a text in it."""
    found = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it ended meanwhile
            found += [str(process)] if text.encode() in process.read_bytes() else []
    return found


def test_the_server_ends_with_its_client_in_the_middle_of_a_call(tmp_path: Path) -> None:
    here = tmp_path / "here"
    told = f"os.symlink('sleeping', {str(here)!r})"
    deaf = f"import os, time\ndef design():\n    {told}\n    time.sleep(1000)\n"
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    lines: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": about},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "run", "arguments": {"text": deaf}}},
        {"id": 3, "method": "tools/list", "params": {}},
    ]
    with subprocess.Popen(
        [sys.executable, "-m", "memtile", "mcp", "--root", str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for line in lines:
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **line}) + "\n")
            server.stdin.flush()
        assert '"id":1' in server.stdout.readline().replace(" ", "")
        assert '"id":3' in server.stdout.readline().replace(" ", "")
        until = time.monotonic() + 120
        while not here.is_symlink() and time.monotonic() < until:
            time.sleep(0.05)
        server.stdin.close()
        try:
            assert server.wait(30) == 0
        finally:
            server.kill()
    until = time.monotonic() + 10
    while processes_with(str(tmp_path)):  # nor does the process of its tools stay
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_design_that_never_ends_or_ends_its_process_leaves_the_server() -> None:
    gone = "import os\n\ndef design():\n    os._exit(7)\n"
    calls = [("run", {"text": gone}), ("run", {"text": ENDLESS, "seconds": 0.5}), ("run", {"text": RING})]
    ended, late, last = ask(*calls)
    assert ended["error"]["message"] == (
        "the code of the design ended its process (the process ended with exit code 7); a design must return"
    )
    assert late["error"]["message"] == (
        "the code of the design did not return within 0.5 s; a design must return"
    )
    assert last["good"]


def test_a_design_that_never_ends_takes_the_seconds_that_it_was_given() -> None:
    loop = "try:\n            [*range(9)]\n        except Exception:\n            pass\n"
    busy = f"def design():\n    while True:\n        {loop}"

    async def timed(client: Client) -> tuple[float, Any]:
        assert data(await client.call_tool("run", {"text": RING}))["good"]  # its process is there then
        begin = time.monotonic()
        found = data(await client.call_tool("run", {"text": busy, "seconds": 1}))
        return time.monotonic() - begin, found

    took, found = talk(timed)
    assert "did not return within 1 s" in found["error"]["message"]
    assert took < 3


def test_an_argument_of_a_wrong_type_is_named_with_what_it_must_be() -> None:
    memref, seconds, missing = ask(
        ("lower", {"memref": {"shape": [4, 8]}}), ("run", {"seconds": {}}), ("registers", {})
    )
    assert "memref is an object; it must be the text of an MLIR type" in memref["error"]["message"]
    assert seconds["error"]["message"] == (
        "arguments of the tool: seconds is an object; it must be a number (schema of the tool)."
    )
    assert "query is missing" in missing["error"]["message"]


def test_the_tools_that_look_up_compare_and_plan() -> None:
    rows = {"layer": "rows", "sizes": {"rows": 16, "width": 8}, "columns": 1, "count": 2}
    ring = Path(__file__).parents[2] / "examples" / "transpose.py"
    registers, docs, code, page, same, planned, misfit = ask(
        ("registers", {"query": "0xA0604", "tile": "memory"}),
        ("docs", {"query": "scrubber"}),
        ("docs", {"query": "MT0302 of a lock"}),
        ("docs", {"page": "agents"}),
        ("diff", {"first": str(ring), "second": str(ring)}),
        ("plan", {**rows, "write": "py"}),
        ("plan", {**rows, "sizes": {"height": 3}}),
    )
    assert registers["registers"][0]["name"] == "DMA_S2MM_0_Start_Queue"
    assert docs["sections"][0]["page"] == "protection.md"
    assert code["sections"][0]["page"] == "findings.md"
    assert code["sections"][0]["text"].startswith("| MT0302 |")
    assert page["headings"][:2] == ["Agents", "Data and programs"]
    assert same["same"]
    assert planned["good"]
    assert "def design(" in planned["text"]
    assert "a layer rows has rows, width, dtype, what" in misfit["error"]["message"]


def test_a_file_that_changes_between_two_calls_is_read_anew(tmp_path: Path) -> None:
    """With the module beside it, and in the same second, in which Python would take what it compiled."""
    design, beside = tmp_path / "ring.py", tmp_path / "numbers_of_ring.py"
    design.write_text("from numbers_of_ring import EMPTY\n" + RING.replace("lock(1", "lock(EMPTY"))

    async def change(client: Client) -> list[bool]:
        found = []
        for empty in (1, 0, 1):
            beside.write_text(f"EMPTY = {empty}\n")
            os.utime(beside, (1e9, 1e9))
            found.append(data(await client.call_tool("check", {"path": str(design)}))["good"])
        return found

    assert talk(change, "--root", str(tmp_path)) == [True, False, True]


def test_pages_are_read_though_they_are_outside_of_the_root(tmp_path: Path) -> None:
    (page,) = ask(("docs", {"page": "agents"}), root=tmp_path)
    assert page["headings"][0] == "Agents"


def test_no_argument_is_silently_left_aside(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([3] + 7 * [0], np.int32))
    mlir = {"text": PARAMETER, "kind": "mlir"}
    three, without, inputs, kernels, settings, unknown, misspelt, right, wrong = ask(
        ("run", {**mlir, "settings": {"p": 3}}),
        ("run", mlir),
        ("run", {"text": RING, "inputs": {"0": "a.npy"}}),
        ("run", {"text": RING, "kernels": "k.py"}),
        ("run", {"text": "0x0 0x0", "kind": "txt", "settings": {"p": 3}}),
        ("run", {"text": RING, "settings": {"p": 3}}),
        ("run", {"text": RING, "expects": {"0": "a.npy"}}),
        *(("run", {"text": PARAMETER, "settings": {"p": n}, "expect": {"0": "a.npy"}}) for n in (3, 4)),
        root=tmp_path,
    )
    assert "run has no argument 'expects'; did you mean expect" in misspelt["error"]["message"]
    assert (right["good"], right["bit_exact"]) == (True, True)
    assert (wrong["good"], wrong["bit_exact"]) == (False, False)
    (words,) = three["outputs"].values()
    assert words["first"][0] == 3
    assert "scratchpad parameter p has no value" in without["error"]["message"]
    assert "has no use for inputs" in inputs["error"]["message"]
    assert "has no use for kernels" in kernels["error"]["message"]
    assert "has no use for settings" in settings["error"]["message"]
    assert "'p'" in unknown["error"]["message"] or "p" in unknown["error"]["message"].split()


def test_limits_are_those_of_the_device_and_long_answers_are_short() -> None:
    of_npu2, with_timing, lowered, whole = ask(
        ("limits", {"device": "npu2"}),
        ("limits", {"device": "npu1", "timing": True}),
        ("lower", {"memref": "memref<128x128xi32>", "elements": True}),
        ("run", {"text": RING, "whole": True, "races": False}),
    )
    assert list(of_npu2["devices"]) == ["npu2"]
    assert of_npu2["tile_kinds"]["AIE2P memory tile"]["locks"] == 64
    assert {row["name"] for row in with_timing["timing"]} >= {"external_latency"}
    (answer,) = lowered["answers"]
    assert (len(answer["elements"]), answer["elements_in_all"]) == (4096, 128 * 128)
    assert answer["words"][0][0] == "0x00004000"
    assert whole["channels"][0]["cycles"].keys() >= {"bank_conflict"}


def test_a_launch_is_chosen_by_the_argument_or_the_text_and_said() -> None:
    text = "// RUN: %aiecc --get-full-elf %s\n" + PARAMETER
    said, chosen, python = ask(
        ("run", {"text": text, "kind": "mlir", "settings": {"p": 3}}),
        ("run", {"text": text, "kind": "mlir", "settings": {"p": 3}, "dispatch": "xclbin"}),
        ("run", {"text": RING, "dispatch": "elf"}),
    )
    assert said["launch"] == {"dispatch": "elf", "why": "as RUN: lines of the text say"}
    assert chosen["launch"] == {"dispatch": "xclbin", "why": "as the option says"}
    assert "has no use for dispatch" in python["error"]["message"]


def test_a_dump_is_explained(tmp_path: Path) -> None:
    path, dump = tmp_path / "stuck.py", tmp_path / "core.bin"
    path.write_text(
        "import numpy as np\nfrom memtile import Array\n\ndef design():\n"
        "    array = Array('npu1', 1)\n    tile = array.memory_tile(0)\n    full = tile.lock(0, 'full')\n"
        "    read = tile.read(tile.buffer('b', 8)).guarded(full.acquire(), None)\n"
        "    tile.mm2s[0].start(read)\n    tile.mm2s[0].collect()\n    return array\n"
    )
    done = CliRunner().invoke(app, ["run", str(path), "--coredump", str(dump)])
    assert done.exit_code == 1, done.output
    (found,) = ask(("explain", {"dump": str(dump), "design": str(path), "device": "npu1"}), root=tmp_path)
    assert not found["good"]
    assert "lock 0 'full'" in json.dumps(found)


def test_without_the_package_it_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "mcp.py").write_text("raise ImportError('none')\n")
    done = subprocess.run(
        [sys.executable, "-m", "memtile", "mcp"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "Install it: pip install mcp" in " ".join(done.stderr.split())


def test_a_long_answer_is_cut_and_the_rest_is_read_by_its_place() -> None:
    """Thirty tasks that wait for locks which nobody gives, and a hundred tilings."""
    lines = [
        "from memtile import MemoryTile",
        "def design():",
        "    tile = MemoryTile()",
        "    for n in range(30):",
        "        read = tile.read(tile.buffer(f'b{n}', 8)).guarded(tile.lock(0, f'l{n}').acquire(), None)",
        "        tile.mm2s[n % 6].start(read)",
        "    return tile",
    ]
    tiling = {"buffer_dimension": [8], "element_bits": 32}
    checked, lowered, short, page = ask(
        ("check", {"text": "\n".join(lines)}),
        ("lower", {"tiling": [tiling] * 100}),
        ("lower", {"tiling": [tiling] * 100, "most_bytes": BYTES}),
        ("more", {"answer": "a1", "path": "answers[99].words"}),
    )
    (design,) = checked["designs"]
    assert len(design["findings"]) >= 30
    assert (len(lowered["answers"]), lowered["good"]) == (100, True)
    assert len(json.dumps(short)) <= BYTES
    assert short["more"]["left_out"] == {"answers": "1..99 of 100"}
    assert page["value"] == lowered["answers"][99]["words"]
