# SPDX-License-Identifier: BSD-3-Clause
"""A headless Chromium, spoken to in its own protocol (DevTools) through two pipes, and offline."""

from __future__ import annotations

import base64
import io
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe"),
    *("--no-first-run", "--disable-background-networking", "--window-size=640,480"),
)
# The protocol is that of the file descriptors 3 and 4.
START = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
for end, number in zip(ends, (3, 4)):
    os.dup2(end, number)
os.execv(sys.argv[3], sys.argv[3:])
"""
PATIENCE = 60.0  # seconds for what takes a fraction of one on an idle machine


class Browser:
    """One page; a context, which ends the process."""

    def __init__(self, folder: Path) -> None:
        assert CHROMIUM is not None
        read, theirs_out = os.pipe()
        theirs_in, self._write = os.pipe()
        command = [CHROMIUM, *FLAGS, f"--user-data-dir={folder / 'profile'}", "about:blank"]
        start = [sys.executable, "-c", START, str(theirs_in), str(theirs_out), *command]
        self._process = subprocess.Popen(start, pass_fds=(theirs_in, theirs_out), stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        self._read = os.fdopen(read, "rb")
        self._buffer = b""
        self._count, self._session = 0, ""
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        rates = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
        self.call("Network.emulateNetworkConditions", offline=True, **rates)

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.terminate()
        self._process.wait()
        os.close(self._write)
        self._read.close()

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._count:
                assert "error" not in answer, answer
                return answer["result"]

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            piece = self._read.read1(1 << 16)  # type: ignore[attr-defined]
            assert piece, "Chromium has ended"
            self._buffer += piece
        message, self._buffer = self._buffer.split(b"\0", 1)
        answer = json.loads(message)
        if "method" in answer:
            self.events.append(answer)
        return answer

    def open(self, path: Path, fragment: str = "") -> None:
        self.events.clear()
        self.call("Page.navigate", url="about:blank")  # another fragment of one page would not load it again
        self.wait(lambda: any(event["method"] == "Page.loadEventFired" for event in self.events))
        self.events.clear()
        self.call("Page.navigate", url=path.as_uri() + fragment)
        self.wait(lambda: any(event["method"] == "Page.loadEventFired" for event in self.events))

    def wait(self, done: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE
        while not done():
            assert time.monotonic() < end, "the page does not come to it"
            self.evaluate("new Promise(done => setTimeout(done, 20))")

    def evaluate(self, expression: str) -> Any:
        """The value of JavaScript in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def screenshot(self) -> Any:
        """What is seen: a picture of Pillow."""
        Image = pytest.importorskip("PIL.Image")
        data = base64.b64decode(self.call("Page.captureScreenshot")["data"])
        return Image.open(io.BytesIO(data)).convert("RGB")

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    @property
    def complaints(self) -> list[dict[str, Any]]:
        """Errors and warnings in the console, and uncaught exceptions."""
        return [
            event
            for event in self.events
            if event["method"] == "Runtime.exceptionThrown"
            or (event["method"] == "Log.entryAdded" and event["params"]["entry"]["level"] in ("error", "warning"))
            or (event["method"] == "Runtime.consoleAPICalled" and event["params"]["type"] in ("error", "warning"))
        ]

    @property
    def requests(self) -> list[str]:
        """What was asked for, beside data in the page itself."""
        sent = [event for event in self.events if event["method"] == "Network.requestWillBeSent"]
        urls = [event["params"]["request"]["url"] for event in sent]
        return [url for url in urls if not url.startswith("data:")]
