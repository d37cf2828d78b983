"""Chromium without a window, driven through its own debugging port: clicks and keys as a person makes them."""

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

    asked     addresses that the page asked for, without those that hold their data
    errors    what it complained of
    """

    def __init__(self, page, folder):
        from websocket import create_connection

        self.asked, self.errors, self.count = [], [], 0
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen([CHROMIUM, *OPTIONS, f"--user-data-dir={folder}", "about:blank"], **quiet)
        try:
            port = folder / "DevToolsActivePort"
            until(lambda: port.is_file() and "\n" in port.read_text())
            with urllib.request.urlopen(f"http://127.0.0.1:{port.read_text().split()[0]}/json") as listed:
                tab = next(one for one in json.load(listed) if one["type"] == "page")
            self.socket = create_connection(tab["webSocketDebuggerUrl"], timeout=60)
            for part in ("Page", "Runtime", "Network"):
                self.send(f"{part}.enable")
            still = {"name": "prefers-reduced-motion", "value": "reduce"}  # nothing plays by itself
            self.send("Emulation.setEmulatedMedia", features=[still])
            self.send("Page.navigate", url=page.as_uri())
            until(lambda: self.ask("document.readyState") == "complete")
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
            told = json.loads(self.socket.recv())
            if told.get("id") == self.count:
                assert "error" not in told, told
                return told["result"]
            self.hear(told.get("method"), told.get("params", {}))

    def hear(self, method, params):
        if method == "Network.requestWillBeSent":
            address = params["request"]["url"]
            self.asked += [] if address.startswith(("data:", "blob:")) else [address]
        if method == "Runtime.exceptionThrown" or (method == "Runtime.consoleAPICalled" and params["type"] == "error"):
            self.errors.append(params)

    def ask(self, expression):
        """The value of an expression of JavaScript."""
        told = self.send("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")

    def press(self, key):
        for kind in ("rawKeyDown", "keyUp"):
            self.send(
                "Input.dispatchKeyEvent", type=kind, key=key, code=key.strip() or "Space", windowsVirtualKeyCode=CODES[key]
            )

    def click(self, x, y):
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        time.sleep(0.3)  # figures look for what is under the pointer once in a while
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)


def until(true, seconds=60):
    """Wait for something to become true."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it does not happen"
        time.sleep(0.05)
