"""Headless Chromium, driven by the DevTools protocol through a pipe, so that the standard library is enough."""
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile

NAME = os.path.basename(sys.argv[0])


class Browser:
    """One tab of one browser; `with` ends it and removes its profile."""

    def __init__(self):
        program = shutil.which("chromium") or shutil.which("google-chrome")
        if not program:
            sys.exit("%s: neither chromium nor google-chrome is here" % NAME)
        self.profile = tempfile.mkdtemp()
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()

        # The protocol wants its pipe at descriptors 3 and 4, which may be taken by the ends themselves.
        def place():
            ends = os.dup(to_browser), os.dup(from_browser)
            high = [os.dup(e) for e in ends]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage", "--remote-debugging-pipe",
             "--no-first-run", "--disable-extensions", "--disable-background-networking", "--user-data-dir=" + self.profile,
             "about:blank"],
            preexec_fn=place, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer = b""
        self.count = 0
        self.events = []
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Performance"):
            self.call(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def receive(self):
        while b"\0" not in self.buffer:
            piece = os.read(self.read_end, 1 << 16)
            if not piece:
                sys.exit("%s: Chromium ended" % NAME)
            self.buffer += piece
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        self.count += 1
        number = self.count
        message = {"id": number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == number:
                if "error" in answer:
                    sys.exit("%s: %s: %s" % (NAME, method, answer["error"]))
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, method):
        while not any(e.get("method") == method for e in self.events):
            self.events.append(self.receive())

    def show(self, url, width, theme):
        """Opens a page, which may be the one that is shown, and forgets what was said before."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", media="screen", features=[{"name": "prefers-color-scheme", "value": theme}])
        self.events = []
        self.call("Page.navigate", url=url)
        self.wait_for("Page.loadEventFired")

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]))

    def evaluate(self, script):
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in answer:
            sys.exit("%s: %s" % (NAME, answer["exceptionDetails"]))
        return answer["result"].get("value")


def complaints(events, url):
    """What the console said, and what was asked for beside the page itself."""
    for event in events:
        params = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            yield "console", params["exceptionDetails"].get("text", "") + str(params["exceptionDetails"].get("exception", ""))
        elif event.get("method") == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            yield "console", str(params["args"])
        elif event.get("method") == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            yield "console", params["entry"]["text"]
        elif event.get("method") == "Network.requestWillBeSent" and params["request"]["url"] != url:
            yield "load", params["request"]["url"]
