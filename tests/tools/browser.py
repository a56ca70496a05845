"""A headless Chromium that scripts and tests drive, over its own debugging pipe: no port, no driver, no package."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome-headless-shell")
VARIABLE = "PRONMETRIC_BROWSER"
_SECONDS = 600  # on a busy machine too


def until(check: Callable[[], Any]) -> Any:
    """What `check` gives, as soon as it gives something.

    Raises:
        RuntimeError: nothing came in ten minutes.
    """
    for _ in range(20 * _SECONDS):
        if found := check():
            return found
        time.sleep(0.05)
    raise RuntimeError(f"nothing came in {_SECONDS} seconds")


def find() -> str | None:
    """The program, named by PRONMETRIC_BROWSER or on the path; None where there is none."""
    return os.environ.get(VARIABLE) or next(filter(None, map(shutil.which, NAMES)), None)


_CONTRAST = """[...document.querySelectorAll(SELECTOR)]
  .filter((e) => e.offsetParent !== null && !e.disabled && e.textContent.trim()).map((e) => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const read = (...colours) => { for (const c of colours) { canvas.fillStyle = c; canvas.fillRect(0, 0, 1, 1); }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3); };
  const grounds = []; for (let n = e; n; n = n.parentElement) grounds.unshift(getComputedStyle(n).backgroundColor);
  const light = (rgb) => { const [r, g, b] = rgb.map((v) => v / 255)
    .map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const [a, b] = [light(read(...grounds)), light(read(...grounds, getComputedStyle(e).color))];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05); })"""


class Browser:
    """One page in a separate browser, closed at the end of the block; requests to the network fail."""

    def __init__(self, program: str) -> None:
        self._program = program
        self._number = 0
        self.events: list[dict[str, Any]] = []

    def __enter__(self) -> Browser:
        """Start it and attach to a page."""
        self._profile = tempfile.mkdtemp(prefix="pronmetric-browser-")
        to_browser, self._out = os.pipe()
        read, from_browser = os.pipe()
        flags = [
            *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"),
            *("--no-first-run", "--disable-extensions", "--disable-background-networking", "--disable-sync"),
            *(
                f"--user-data-dir={self._profile}",
                "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
                "--remote-debugging-pipe",
            ),
        ]
        # the browser reads its orders from descriptor 3 and answers on 4
        script = 'exec 3<&"$0" 4>&"$1"; shift 1; exec "$@"'
        self._process = subprocess.Popen(
            ["bash", "-c", script, str(to_browser), str(from_browser), self._program, *flags, "about:blank"],
            pass_fds=(to_browser, from_browser),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._answers = os.fdopen(read, "rb")
        self._session: str | None = None
        try:
            self._attach()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _attach(self) -> None:
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Performance.enable", timeDomain="threadTicks")

    def __exit__(self, *_: object) -> None:
        """End it."""
        os.close(self._out)
        self._answers.close()
        self._process.terminate()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self._profile, ignore_errors=True)

    def call(self, method: str, **parameters: Any) -> Any:
        """One command of the debugging protocol and its result; events that come before it are kept."""
        self._number += 1
        order: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            order["sessionId"] = self._session
        os.write(self._out, json.dumps(order).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def _read(self) -> dict[str, Any]:
        parts = bytearray()
        while (letter := self._answers.read(1)) != b"\0":
            if not letter:
                raise RuntimeError(f"{self._program} ended with {self._process.wait(timeout=_SECONDS)}")
            parts += letter
        return json.loads(parts)

    def open(self, path: Path | str, *, fragment: str = "") -> None:
        """Open a file from disk, or the address of a server on this machine, as a new page; wait until it is loaded."""
        self.visit("about:blank")  # else another fragment loads nothing
        self.visit(path, fragment=fragment)

    def visit(self, path: Path | str, *, fragment: str = "") -> None:
        """Go from the open page to a file or address, or load it again; wait until it is loaded.

        Unlike after `open`, a page of the same origin has the same process, and so sees all of the last page's writes
        to localStorage; a new process may read it before the last write. The open page with another fragment loads
        nothing: use `open`.
        """
        address = path if isinstance(path, str) else path.resolve().as_uri()
        self.events.clear()
        self.call("Page.navigate", url=address + fragment)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._read())

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression; a promise is waited for.

        Raises:
            RuntimeError: the script fails.
        """
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description") or details["text"])
        return answer["result"].get("value")

    def work(self) -> float:
        """Seconds of processor time that the page's main thread took since it was opened."""
        found = {item["name"]: item["value"] for item in self.call("Performance.getMetrics")["metrics"]}
        return found["TaskDuration"]

    def count_steps(self) -> None:
        """Count the steps of scripts from now on, which slows them; see `steps`."""
        self.call("Profiler.enable")
        self.call("Profiler.startPreciseCoverage", callCount=True, detailed=True)

    def steps(self) -> int:
        """Runs of functions, branches and loop bodies of scripts since the last call, on any machine alike.

        A page that is loaded again may have fewer, as the browser keeps its compiled scripts.
        """
        scripts = self.call("Profiler.takePreciseCoverage")["result"]
        return sum(part["count"] for one in scripts for function in one["functions"] for part in function["ranges"])

    def size(self, width: int, height: int, *, phone: bool = False, scale: float = 1) -> None:
        """The size of the window in CSS pixels."""
        metrics: Mapping[str, Any] = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": phone}
        self.call("Emulation.setDeviceMetricsOverride", **metrics)

    def dark(self, on: bool) -> None:
        """What the system is said to prefer."""
        feature = {"name": "prefers-color-scheme", "value": "dark" if on else "light"}
        self.call("Emulation.setEmulatedMedia", features=[feature])

    def press(self, key: str) -> None:
        """One key, down and up."""
        text = {"Enter": "\r", "Tab": ""}.get(key, key if len(key) == 1 else "")
        code = {"Enter": 13, "Tab": 9, "Escape": 27}.get(key, 0)
        for kind in ("keyDown", "keyUp"):
            more = {"text": text} if text and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **more)

    def contrasts(self, selector: str) -> list[float]:
        """The contrast (WCAG 2) of the text of each visible element with what is behind it."""
        return self.run(_CONTRAST.replace("SELECTOR", json.dumps(selector)))

    def picture(self) -> bytes:
        """What the window shows, as a WebP file."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="webp", quality=80)["data"])

    def faults(self) -> list[str]:
        """What the page complained of since it was opened: exceptions, errors on the console."""
        found = []
        for event in self.events:
            parameters = event.get("params", {})
            if event.get("method") == "Runtime.exceptionThrown":
                found.append(parameters["exceptionDetails"].get("exception", {}).get("description", "exception"))
            elif event.get("method") == "Log.entryAdded" and parameters["entry"]["level"] == "error":
                found.append(parameters["entry"]["text"])
            elif event.get("method") == "Runtime.consoleAPICalled" and parameters["type"] == "error":
                found.append(str(parameters["args"]))
        return found

    def requests(self) -> list[str]:
        """The addresses that the page asked for since it was opened."""
        return [e["params"]["request"]["url"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]
