"""Headless Chromium over its DevTools pipe: nothing but the standard library."""

import base64
import json
import os
import subprocess
from pathlib import Path


class Browser:
    """A Chromium with one page; a context manager."""

    def __init__(self, folder: Path) -> None:
        to_chromium, self._out = os.pipe()
        self._in, from_chromium = os.pipe()
        command = [
            *("chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"),
            *("--disable-dev-shm-usage", "--host-resolver-rules=MAP * ~NOTFOUND"),
            *("--remote-debugging-pipe", f"--user-data-dir={folder}", "about:blank"),
        ]

        def hand_over() -> None:  # Chromium reads from 3 and writes to 4
            spare = [os.dup(to_chromium), os.dup(from_chromium)]
            for place, end in enumerate(spare, start=3):
                os.dup2(end, place)
                os.set_inheritable(place, True)

        self._process = subprocess.Popen(
            command,
            preexec_fn=hand_over,
            pass_fds=(3, 4),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_chromium)
        os.close(from_chromium)
        self._waiting, self._number, self._session = b"", 0, None
        self.events: list[dict] = []
        page = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, *_: object) -> None:
        self._session = None
        self.call("Browser.close")
        self._process.wait(timeout=30)
        os.close(self._out)
        os.close(self._in)

    def call(self, method: str, **parameters: object) -> dict:
        """Call a method of the DevTools protocol and return its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            found = self._next()
            if found.get("id") != self._number:
                self.events.append(found)
                continue
            if "error" in found:
                raise RuntimeError(f"{method}: {found['error']['message']}")
            return found["result"]

    def open(self, path: Path, width: int, height: int = 900, dark: bool = False) -> None:
        """Open a file in a window of this size."""
        self.events.clear()
        self.call(
            "Emulation.setDeviceMetricsOverride",
            **{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600},
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url=path.resolve().as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._next())

    def evaluate(self, expression: str) -> object:
        """Return the value of a JavaScript expression; a promise is awaited."""
        found = self.call(
            "Runtime.evaluate",
            **{"expression": expression, "awaitPromise": True, "returnByValue": True},
        )
        if "exceptionDetails" in found:
            raise RuntimeError(json.dumps(found["exceptionDetails"])[:2000])
        return found["result"].get("value")

    def press(self, key: str, code: int = 0, text: str = "") -> None:
        """Press a key and let it go."""
        about = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **about)
        self.call("Input.dispatchKeyEvent", type="keyUp", **about)

    def screenshot(self, path: Path) -> None:
        """Write what the window shows as PNG."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def _next(self) -> dict:
        while b"\0" not in self._waiting:
            part = os.read(self._in, 1 << 20)
            if not part:
                raise RuntimeError("Chromium has ended")
            self._waiting += part
        message, _, self._waiting = self._waiting.partition(b"\0")
        return json.loads(message)
