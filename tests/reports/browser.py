"""Headless Chromium, driven through its debugging port with real clicks and keys."""

import json
import shutil
import subprocess
import time
import urllib.request

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
CODES = {"Escape": 27, " ": 32, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowRight": 39, "Enter": 13, "Tab": 9}
OPTIONS = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", "--remote-allow-origins=*"]


class Browser:
    """A page in Chromium; a context manager.

    requests    URLs that the page requested, without data: and blob: URLs
    errors      exceptions and console errors
    """

    def __init__(self, page, folder, settings=()):
        """Open a page; `settings` are commands with their parameters, which are sent before."""
        from websocket import create_connection

        self.requests, self.errors, self.count = [], [], 0
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen([CHROMIUM, *OPTIONS, f"--user-data-dir={folder}", "about:blank"], **quiet)
        try:
            port = folder / "DevToolsActivePort"
            wait_until(lambda: port.is_file() and "\n" in port.read_text())
            with urllib.request.urlopen(f"http://127.0.0.1:{port.read_text().split()[0]}/json") as listed:
                tab = next(one for one in json.load(listed) if one["type"] == "page")
            self.socket = create_connection(tab["webSocketDebuggerUrl"], timeout=60)
            for part in ("Page", "Runtime", "Network"):
                self.send(f"{part}.enable")
            still = {"name": "prefers-reduced-motion", "value": "reduce"}  # disables autoplay
            self.send("Emulation.setEmulatedMedia", features=[still])
            for command, parameters in settings:
                self.send(command, **parameters)
            self.send("Page.navigate", url=page.as_uri())
            wait_until(lambda: self.evaluate("document.readyState") == "complete")
        except BaseException:
            self.process.kill()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()
        self.process.terminate()
        self.process.wait(30)

    def send(self, method, **params):
        self.count += 1
        self.socket.send(json.dumps({"id": self.count, "method": method, "params": params}))
        while True:
            message = json.loads(self.socket.recv())
            if message.get("id") == self.count:
                assert "error" not in message, message
                return message["result"]
            self.handle_event(message.get("method"), message.get("params", {}))

    def handle_event(self, method, params):
        if method == "Network.requestWillBeSent":
            address = params["request"]["url"]
            self.requests += [] if address.startswith(("data:", "blob:")) else [address]
        if method == "Runtime.exceptionThrown" or (method == "Runtime.consoleAPICalled" and params["type"] == "error"):
            self.errors.append(params)

    def evaluate(self, expression):
        """Return the value of a JavaScript expression."""
        message = self.send("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in message, message
        return message["result"].get("value")

    def press(self, key):
        for kind in ("rawKeyDown", "keyUp"):
            self.send(
                "Input.dispatchKeyEvent", type=kind, key=key, code=key.strip() or "Space", windowsVirtualKeyCode=CODES[key]
            )

    def click(self, x, y):
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        time.sleep(0.3)  # plotly.js polls the hovered point
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)


def wait_until(condition, seconds=60):
    """Wait until the condition is true."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "timeout"
        time.sleep(0.05)
