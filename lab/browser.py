"""A real Chromium without a screen, told what to do over a pipe (Chrome DevTools Protocol, `--remote-debugging-pipe`)."""

import base64
import json
import os
import select
import subprocess
import time
from pathlib import Path

from lab.processes import Process, wait_until

PROGRAM = "/usr/bin/chromium"


class BrowserError(Exception):
    """The page threw, or the browser did not answer."""


class Browser:
    """One page. Leaving it ends the browser, by its id."""

    def __init__(self, folder: Path, width: int = 1280, height: int = 1000):
        self.folder = folder
        self.size = width, height
        self.problems: list[str] = []  # what the page itself complains of
        self._number = 0
        self._rest = b""

    def __enter__(self) -> "Browser":
        orders, answers = os.pipe(), os.pipe()

        def take_pipes() -> None:
            # First away from 3 and 4, which may be these pipes themselves.
            read, write = os.dup(orders[0]), os.dup(answers[1])
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.folder.mkdir(parents=True, exist_ok=True)
        with open(self.folder / "chromium.log", "wb") as log:
            child = subprocess.Popen(  # pylint: disable=subprocess-popen-preexec-fn
                [PROGRAM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                 "--disable-background-networking", "--disable-component-update", "--remote-debugging-pipe",
                 f"--user-data-dir={self.folder}/profile", f"--window-size={self.size[0]},{self.size[1]}", "about:blank"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, close_fds=False, preexec_fn=take_pipes)
        child.returncode = 0
        self.process = Process.of(child.pid)
        os.close(orders[0])
        os.close(answers[1])
        self._out, self._in = orders[1], answers[0]
        try:
            page = wait_until(lambda: next((one for one in self._ask("Target.getTargets")["targetInfos"] if one["type"] == "page"), None),
                              60.0, f"Chromium: see {self.folder}/chromium.log")
            self._session = self._ask("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Log"):
                self.ask(f"{domain}.enable")
            self.ask("Emulation.setDeviceMetricsOverride", width=self.size[0], height=self.size[1], deviceScaleFactor=1, mobile=False)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_) -> None:
        self.process.kill()
        os.close(self._out)
        os.close(self._in)

    def open(self, url: str) -> None:
        self.ask("Page.navigate", url=url)

    def run(self, expression: str):
        """The value of a JavaScript expression in the page."""
        answer = self.ask("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise BrowserError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def text(self, selector: str = "body") -> str:
        return self.run(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''")

    def wait_text(self, words: str, selector: str = "body", seconds: float = 60.0) -> str:
        try:
            return wait_until(lambda: words in (text := self.text(selector)) and text, seconds, f"'{words}' on the page", every=0.1)
        except TimeoutError:
            raise TimeoutError(f"waited {seconds:.0f} s for '{words}'; the page says:\n{self.text()}") from None

    def click(self, words: str, selector: str = "button", times: int = 1) -> None:
        """As a mouse does, in the middle of the first such element with these words in it; twice at the same place is a double click."""
        find = (f"[...document.querySelectorAll({json.dumps(selector)})].find((one) => one.innerText.includes({json.dumps(words)}))")
        box = self.run(f"(() => {{ const one = {find}; if (!one) return null; one.scrollIntoView({{block: 'center'}});"
                       " const box = one.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; })()")
        if box is None:
            raise BrowserError(f"there is no {selector} '{words}':\n{self.text()}")
        for number in range(1, times + 1):
            for kind in ("mousePressed", "mouseReleased"):
                self.ask("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=number)

    def type(self, text: str) -> None:
        """Into what has the focus."""
        self.ask("Input.insertText", text=text)

    def screenshot(self, path: Path) -> None:
        """Of the whole page."""
        picture = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(picture["data"]))

    def ask(self, method: str, **params) -> dict:
        return self._ask(method, self._session, **params)

    def _ask(self, method: str, session: str = "", **params) -> dict:
        self._number += 1
        order = {"id": self._number, "method": method, "params": params, **({"sessionId": session} if session else {})}
        os.write(self._out, json.dumps(order).encode() + b"\0")
        end = time.monotonic() + 60.0
        while True:
            message = self._next(end)
            if message.get("id") == self._number:
                if "error" in message:
                    raise BrowserError(f"{method}: {message['error']}")
                return message["result"]
            self._hear(message)

    def _next(self, end: float) -> dict:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._in], [], [], max(0.0, end - time.monotonic()))
            more = os.read(self._in, 1 << 16) if ready else b""
            if not more:
                raise BrowserError(f"Chromium does not answer: see {self.folder}/chromium.log")
            self._rest += more
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)

    def _hear(self, message: dict) -> None:
        params = message.get("params", {})
        if message.get("method") == "Runtime.exceptionThrown":
            self.problems.append(str(params["exceptionDetails"]))
        if message.get("method") == "Log.entryAdded" and params["entry"]["level"] == "error" and params["entry"]["source"] != "network":
            self.problems.append(params["entry"]["text"])
