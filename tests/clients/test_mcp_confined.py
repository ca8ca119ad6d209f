"""Do tools of agents stay below their root, whatever an agent or the author of a file asks for?"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters, stdio_client
from mcp.types import CallToolResult
from typer.testing import CliRunner

from memtile.cli.agents.tool_arguments import MOST_SECONDS, as_text, check_arguments, with_marks
from memtile.cli.main import app
from memtile.errors import InputFileError
from support.sandbox.sandbox_rig import DESIGN, Rig, rig, why_not

pytestmark = pytest.mark.slow  # a server and its worker
Call = tuple[str, dict[str, Any]]
SECRET = "hunter2 is the password"
PROBE = """
import json, os, socket, subprocess
def trial(what):
    try:
        return what() and "done"
    except OSError as error:
        return type(error).__name__
FOUND = {
    "write": trial(lambda: open("../outside/new", "w")),
    "read": trial(lambda: open("../outside/secret.txt").read()),
    "network": trial(lambda: socket.socket()),
    "token": os.environ.get("API_TOKEN"),
    "inside": trial(lambda: open("probed", "w")),
}
"""


@pytest.fixture(scope="module")
def place() -> Iterator[Rig]:
    """A root, ``project``, with files that lead out of it."""
    with rig() as made:
        (made.outside / "secret.txt").write_text(SECRET)
        (made.outside / "design.py").write_text(DESIGN)
        made.write("design.py", DESIGN)
        for name, target in {
            "out.py": "../outside/design.py",
            "out.mlir": "/etc/passwd",
            "folder": "../outside",
            "loop": "loop",
            "deep": "folder/secret.txt",
        }.items():
            (made.project / name).symlink_to(target)
        os.mkfifo(made.project / "pipe.txt")
        (made.project / "build").mkdir()
        (made.project / "build" / "insts.txt").symlink_to(made.outside / "secret.txt")
        yield made


def ask(place: Rig, calls: list[Call], *options: str) -> list[CallToolResult]:
    """The results of calls of a server whose root is the project."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "memtile", "mcp", *options],
        env={**place.environment, "API_TOKEN": "hunter2"},
        cwd=str(place.project),
    )

    async def both() -> list[CallToolResult]:
        with anyio.fail_after(500):
            async with Client(stdio_client(server)) as client:
                return [await client.call_tool(name, arguments) for name, arguments in calls]

    return anyio.run(both)


def outside(place: Rig) -> list[Call]:
    """Calls that name files which are not below the root, each in another way."""
    far = str(place.outside / "design.py")
    paths = [
        *(
            "/etc/passwd",
            "/",
            "..",
            "../outside",
            "../outside/design.py",
            far,
            f"//{far}",
            "/proc/self/environ",
        ),
        *(
            "out.py",
            "out.mlir",
            "folder",
            "folder/design.py",
            "./folder/../folder/secret.txt",
            "deep",
            "loop",
        ),
        *(
            "build/../../outside/design.py",
            f"../{place.project.name}x",
            "/dev/zero",
            "/proc/self/fd/0",
            "pipe.txt",
        ),
        *("~/../../etc/passwd/../shadow", "design.py\0.txt", "x" * 5000, "a/" * 3000, "/dev/stdin"),
    ]
    calls: list[Call] = [(tool, {"path": path}) for path in paths[:-2] for tool in ("run", "check")]
    calls += [("explain", {"dump": path}) for path in paths[:12]]
    calls += [("explain", {"dump": "design.py", "design": path}) for path in (far, "out.py", "/etc/passwd")]
    calls += [("run", {"path": "design.mlir", "kernels": path}) for path in (far, "out.py", "/etc/passwd")]
    for path in ("/etc/passwd", "folder/secret.txt", "deep", "/proc/1/environ", "../outside/secret.txt"):
        calls.append(("run", {"text": "module {}", "kind": "mlir", "inputs": {"0": path}}))
    return calls


LONE = "\ud800"
HALVES: list[Call] = [
    ("run", {"text": f"x = '{LONE}'"}),
    ("check", {"text": "def design(): pass", "device": f"npu1{LONE}"}),
    ("check", {"path": f"design{LONE}.py"}),
    ("run", {"text": "module {}", "kind": "mlir", "inputs": {LONE: "x.npy"}}),
    ("run", {"text": "x", "settings": {"a": LONE}}),
    ("run", {"text": "x", "settings": {LONE: 1}}),
    ("lower", {"memref": LONE}),
    ("lower", {"tiling": {"buffer_dimension": [LONE]}}),
    ("descriptor", {"words": [LONE]}),
    ("descriptor", {"fields": {LONE: 1}}),
    ("limits", {"device": LONE}),
    ("limits", {"device": f"\U0001f600{LONE}"}),
]
BROKEN: list[Call] = [
    ("run", {"path": "design.py", "seconds": 1e300}),
    ("run", {"path": "design.py", "seconds": MOST_SECONDS + 1}),
    ("limits", {"device": "\0"}),
    ("limits", {"device": "\x1b]52;c;eA==\x07"}),
    ("run", {"text": "\0" * 100, "kind": "py"}),
    ("run", {"path": "build"}),
    ("check", {"text": "\u202edef design(): pass"}),
    ("run", {"path": "design.py", "settings": {"words": "__import__('os').system('x')"}}),
    ("run", {"path": "design.py", "max_cycles": -5}),
    ("descriptor", {"fields": {"tile": "memory", "length": 10**400}}),
]


def test_nothing_outside_the_root_is_read_and_every_argument_gets_its_sentence(place: Rig) -> None:
    calls = [*outside(place), *BROKEN]
    assert len(calls) + len(HALVES) >= 80
    for (tool, arguments), result in zip(calls, ask(place, calls), strict=True):
        text = result.content[0].text  # type: ignore[union-attr]
        about = f"{tool} {ascii(arguments)[:200]}: {text[:300]}"
        assert "hunter2" not in text, about
        assert "root:x" not in text, about
        assert "Traceback" not in text, about
        if (tool, arguments) not in BROKEN:
            assert result.is_error, about
            error = json.loads(text)["error"]
            assert error["reason"] == "root", about
            assert error["message"].startswith("arguments of the tool: "), about


def test_halves_of_surrogate_pairs_are_named_over_a_pipe(place: Rig) -> None:
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    messages: list[dict[str, Any]] = [
        {"id": 0, "method": "initialize", "params": about},
        {"method": "notifications/initialized"},
    ]
    for number, (tool, arguments) in enumerate(HALVES, 1):
        messages.append(
            {"id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        )
    command = [sys.executable, "-m", "memtile", "mcp"]
    with subprocess.Popen(
        command, cwd=place.project, env=place.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for message in messages:
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in range(len(HALVES) + 1)]
        server.stdin.close()
    for answer in answers:
        if answer["id"]:
            assert "a text with half of a surrogate pair" in json.dumps(answer), answer


def test_other_messages_are_passed_on_as_they_are() -> None:
    for line in (b'{"a": "\\ud83d\\ude00"}\n', b'{"a": 1}\n', b'{"\\ud800\n', b"[" * 9999 + b"\\ud800\n"):
        found = with_marks(line)
        assert found == line or json.loads(found) == json.loads(line)


def test_designs_are_programs_in_a_sandbox(place: Rig) -> None:
    if why_not():
        pytest.skip(f"no sandbox here: {why_not()}")
    probe = DESIGN + PROBE + "\nraise SystemExit(json.dumps(FOUND))\n"
    (confined,) = ask(place, [("run", {"text": probe})])
    said = confined.content[0].text  # type: ignore[union-attr]
    found = json.loads(re.search(r"\{\\\"write.*?\}", said)[0].replace("\\", ""))  # type: ignore[index]
    assert found.pop("inside") == "done"
    assert (place.project / "probed").exists()
    assert found.pop("token") is None
    assert set(found.values()) <= {"PermissionError", "OSError"}, found
    assert not (place.outside / "new").exists()


def test_without_a_sandbox_answers_say_so_and_secrets_stay_with_the_server(place: Rig) -> None:
    probe = "import os\nassert 'API_TOKEN' not in os.environ\n" + DESIGN
    first, last = ask(place, [("run", {"text": probe}), ("limits", {})], "--no-sandbox")
    warned = first.structured_content
    assert warned is not None
    assert warned["good"], warned
    assert warned["warning"].startswith("designs run without a sandbox, with the rights of the server: ")
    assert "warning" not in (last.structured_content or {})
    memory = "import numpy\nnumpy.ones(3 << 27)\n" + DESIGN
    (large,) = ask(place, [("run", {"text": memory})], "--no-sandbox", "--sandbox-memory", "2")
    assert large.is_error
    error = json.loads(large.content[0].text)["error"]  # type: ignore[union-attr]
    assert error["reason"] == "memory"
    assert error["message"].startswith("memtile run: more memory is needed than is allowed. ")


def test_relative_paths_and_links_that_stay_inside_are_read(place: Rig) -> None:
    (place.project / "inside.py").symlink_to("design.py")
    paths = ("design.py", "inside.py", str(place.project / "design.py"), "build/../design.py")
    for result in ask(place, [("check", {"path": path}) for path in paths]):
        assert (result.structured_content or {})["good"], result


def test_all_wrong_arguments_are_named_at_once(tmp_path: Path) -> None:
    arguments = {"path": "/a", "kernels": "../b", "inputs": {"x": "/c"}, "seconds": float("nan")}
    with pytest.raises(InputFileError) as caught:
        check_arguments(tmp_path, arguments)
    fields = [problem.field for problem in caught.value.problems]
    assert fields == ["path", "kernels", "inputs['x']", "seconds"]


def test_the_root_of_a_server_is_a_folder_of_one_project(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["mcp"])
    assert done.exit_code == 2
    assert "holds the home folder" in done.output.replace("\n", " ")
    assert CliRunner().invoke(app, ["mcp", "--root", "nowhere"]).exit_code == 2


def test_answers_hold_only_text() -> None:
    assert as_text({"a\ud800": ["\udfff", {"b": 1.5}], "c": "\U0001f600"}) == {
        "a\\ud800": ["\\udfff", {"b": 1.5}],
        "c": "\U0001f600",
    }
