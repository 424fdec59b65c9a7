"""A headless Chromium for tests and stills, driven over its DevTools protocol."""

import base64
import contextlib
import itertools
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from websockets.sync.client import connect

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

# WebGL is computed in software, so that pages look the same everywhere; nothing goes out by itself.
OPTIONS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--hide-scrollbars",
    "--remote-debugging-port=0",
]


class Browser:
    """Chromium with one empty profile; use it in a ``with`` statement, which ends all of its processes.

    Args:
        size: Of the window's inside, in pixels.
        timeout: For whatever is waited for [s].
    """

    def __init__(self, size=(900, 600), timeout=60.0):
        if CHROMIUM is None:
            raise FileNotFoundError("there is no chromium or google-chrome on the path")
        self._size, self._timeout = size, timeout

    def __enter__(self):
        self._profile = tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True)
        self._process = subprocess.Popen(
            [CHROMIUM, *OPTIONS, f"--user-data-dir={self._profile.name}", "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            self._address = self._wait_for_address()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._profile.cleanup()

    def _wait_for_address(self):
        file = Path(self._profile.name) / "DevToolsActivePort"
        deadline = time.monotonic() + self._timeout
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                raise RuntimeError(f"{CHROMIUM} ended with code {self._process.returncode}")
            lines = file.read_text().splitlines() if file.exists() else []
            if len(lines) == 2:
                return f"ws://127.0.0.1:{lines[0]}{lines[1]}"
            time.sleep(0.05)
        raise TimeoutError(f"{CHROMIUM} did not start within {self._timeout:g} s")

    def open(self, url):
        """A new tab showing that address, loaded."""
        with Session(self._address, self._timeout) as browser:
            target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        page = Page(self._address.split("/devtools/")[0] + f"/devtools/page/{target}", self._timeout)
        for domain in ("Page", "Runtime", "Network", "Log"):
            page.call(f"{domain}.enable")
        width, height = self._size
        page.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        page.call("Page.navigate", url=url)
        page.wait_for("location.href !== 'about:blank' && document.readyState === 'complete'")
        return page


class Session:
    """A connection to one part of the browser."""

    def __init__(self, address, timeout):
        self._socket = connect(address, max_size=None, open_timeout=timeout)
        self._timeout = timeout
        self._ids = itertools.count(1)
        self.events = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._socket.close()

    def call(self, method, **parameters):
        """Result of a method of the protocol; events that come in meanwhile are kept."""
        sent = next(self._ids)
        self._socket.send(json.dumps({"id": sent, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv(timeout=self._timeout))
            if message.get("id") == sent:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]
            self.events.append(message)


class Page(Session):
    """A tab; use it in a ``with`` statement to close it before the browser."""

    def __exit__(self, *_):
        self.call("Page.close")
        super().__exit__()

    def evaluate(self, expression):
        """Value of a JavaScript expression; a promise is waited for."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            thrown = answer["exceptionDetails"]
            raise RuntimeError(thrown.get("exception", {}).get("description", thrown["text"]))
        return answer["result"].get("value")

    def wait_for(self, condition):
        """The value of a JavaScript expression, once it is true."""
        deadline = time.monotonic() + self._timeout
        while time.monotonic() < deadline:
            if value := self.evaluate(condition):
                return value
            time.sleep(0.05)
        raise TimeoutError(f"{condition} is not true after {self._timeout:g} s; errors: {self.errors()}")

    def next_frame(self):
        """Waits until what has changed is drawn."""
        self.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => drawn())))")

    def screenshot(self, path=None):
        """PNG of what is seen, also into a file."""
        shot = base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
        if path is not None:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).write_bytes(shot)
        return shot

    def errors(self):
        """What the page logged as errors, or did not catch."""
        found = []
        for event in self.events:
            given = event.get("params", {})
            match event.get("method"):
                case "Runtime.exceptionThrown":
                    found.append(given["exceptionDetails"]["exception"].get("description", "?"))
                case "Runtime.consoleAPICalled" if given["type"] in ("error", "assert"):
                    found.append(" ".join(str(each.get("value", each.get("description"))) for each in given["args"]))
                case "Log.entryAdded" if given["entry"]["level"] == "error":
                    found.append(given["entry"]["text"])
        return found

    def requests(self):
        """Addresses that were asked for over a network or from the disk; data in the page itself is none."""
        urls = []
        for event in self.events:
            if event.get("method") == "Network.requestWillBeSent":
                urls.append(event["params"]["request"]["url"])
            elif event.get("method") == "Network.webSocketCreated":
                urls.append(event["params"]["url"])
        return [url for url in urls if not url.startswith(("data:", "blob:", "about:"))]
