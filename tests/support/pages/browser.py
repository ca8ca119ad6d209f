"""A real Chromium, driven over its debugging pipe: keys, mouse, pictures, what it says and fetches."""

from __future__ import annotations

import base64
import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from left_out import need_program

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
]
WAIT = 60  # seconds for an answer
READY = "document.body?.dataset.ready"
"""What our own pages say when they are."""
KEYS = {
    "Enter": 13,
    "Escape": 27,
    "Tab": 9,
    " ": 32,
    "ArrowLeft": 37,
    "ArrowUp": 38,
    "ArrowRight": 39,
    "ArrowDown": 40,
}


def chromium() -> str:
    """Its path; a test without it is left out, and fails on a build server."""
    return need_program("chromium")


class Page:
    """An open page.

    Attributes:
        said: what it wrote to its console, and its errors.
        fetched: addresses that it asked for.
    """

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to, self._from, self._rest = to_browser, from_browser, b""
        self._last, self._session = 0, ""
        self.said: list[str] = []
        self.fetched: list[str] = []

    def open(self, address: str, width: int, height: int, scheme: str, ready: str = READY) -> None:
        """Open an address in a new tab, in the ``light`` or ``dark`` scheme; wait until it is ready."""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")
        self.ask("Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=True, flatten=True)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.ask("Emulation.setEmulatedMedia", features=features)
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        self.go(address, ready)

    def go(self, address: str, ready: str = "document.readyState === 'complete'") -> None:
        """Go to an address in the same tab; wait until an expression is true there."""
        self.ask("Page.navigate", url=address)
        self.wait(ready)

    def wait(self, ready: str) -> None:
        """Wait until an expression is true."""
        self.evaluate(
            f"new Promise(done => {{ const look = () => {ready} ? done() : setTimeout(look, 10); look(); }})"
        )

    def evaluate(self, script: str) -> Any:
        """The value of an expression; of a promise, what it becomes."""
        found = self.ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def press(self, *keys: str, shift: bool = False) -> None:
        """Press and let go of keys, one after another."""
        for key in keys:
            code = KEYS.get(key, ord(key[0].upper()))
            how = {"key": key, "windowsVirtualKeyCode": code, "modifiers": 8 if shift else 0}
            text = {"text": "\r" if key == "Enter" else key} if len(key) == 1 or key == "Enter" else {}
            self.ask("Input.dispatchKeyEvent", type="keyDown", **how, **text)
            self.ask("Input.dispatchKeyEvent", type="keyUp", **how)

    def mouse(self, kind: str, x: float, y: float, **how: Any) -> None:
        """One event of the mouse: ``mousePressed``, ``mouseMoved``, ``mouseReleased``, ``mouseWheel``."""
        self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, **how)

    def picture(self, path: Path, *, whole: bool = False) -> None:
        """Save what is seen, or the whole page, as a PNG."""
        found = self.ask("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(found["data"]))

    def printed(self) -> bytes:
        """The page as a PDF, as it is printed."""
        return base64.b64decode(self.ask("Page.printToPDF", printBackground=True)["data"])

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The answer to a message of the debugging protocol."""
        asked = self._send(method, self._session, parameters)
        while True:
            answer = self._next()
            if answer.get("id") == asked:
                assert "error" not in answer, (method, answer["error"])
                result: dict[str, Any] = answer["result"]
                return result
            self._note(answer)

    def _send(self, method: str, session: str, parameters: dict[str, Any]) -> int:
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        return self._last

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            piece = os.read(self._from, 1 << 20)
            assert piece, "the browser has ended"
            self._rest += piece
        first, _, self._rest = self._rest.partition(b"\0")
        found: dict[str, Any] = json.loads(first)
        return found

    def _note(self, event: dict[str, Any]) -> None:
        about = event.get("params", {})
        match event.get("method"):
            case "Runtime.consoleAPICalled":
                self.said.append(f"{about['type']}: {[each.get('value') for each in about['args']]}")
            case "Runtime.exceptionThrown":
                self.said.append(f"exception: {about['exceptionDetails']}")
            case "Log.entryAdded":
                self.said.append(f"{about['entry']['level']}: {about['entry']['text']}")
            case "Network.requestWillBeSent":
                self.fetched.append(about["request"]["url"])
            case "Target.attachedToTarget":  # a worker of the page, which waits until it is watched too
                for method in ("Runtime.enable", "Network.enable", "Runtime.runIfWaitingForDebugger"):
                    self._send(method, about["sessionId"], {})


@contextmanager
def opened(
    file: Path | str,
    profile: Path,
    *,
    width: int = 1400,
    height: int = 900,
    scheme: str = "light",
    ready: str = READY,
) -> Iterator[Page]:
    """A file, or an address, in a browser of its own, ready."""
    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()

    def give_pipes() -> None:
        spare_in, spare_out = os.dup(theirs_in), os.dup(theirs_out)
        os.dup2(spare_in, 3)
        os.dup2(spare_out, 4)

    browser = subprocess.Popen(
        [chromium(), *FLAGS, f"--user-data-dir={profile}"],
        preexec_fn=give_pipes,
        close_fds=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs_in)
    os.close(theirs_out)
    page = Page(ours_out, ours_in)
    try:
        page.open(file if isinstance(file, str) else file.as_uri(), width, height, scheme, ready)
        yield page
    finally:
        browser.terminate()
        browser.wait(WAIT)
        os.close(ours_out)
        os.close(ours_in)
