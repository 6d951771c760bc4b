"""A browser for tests: Chromium without a window, driven over the WebDriver protocol with the standard library alone."""

import base64
import json
import os
import re
import shutil
import subprocess
import time
import urllib.request

DRIVER = shutil.which("chromedriver")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
MISSING = None if DRIVER and CHROMIUM else "needs Chromium and its driver (Debian: chromium, chromium-driver)"
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class Browser:
    def __init__(self, profile):
        # The sanitizers of a checked build are for our code, not for Chromium.
        environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
        self.driver = subprocess.Popen(
            [DRIVER, "--port=0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            errors="replace",
            env=environment,
        )
        for line in self.driver.stdout:
            started = re.search(r"started successfully on port (\d+)", line)
            if started:
                break
        else:
            self._end_driver()
            raise OSError("the driver did not start")
        self.address = f"http://127.0.0.1:{started[1]}"
        # The sandbox needs rights that a container may not give; the pages are our own.
        flags = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--window-size=1280,1000",
        ]
        options = {"binary": CHROMIUM, "args": [*flags, f"--user-data-dir={profile}"]}
        capabilities = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        try:
            answer = self.post("/session", {"capabilities": {"alwaysMatch": capabilities}})
        except BaseException:
            self._end_driver()
            raise
        self.session = f"/session/{answer['sessionId']}"

    def _end_driver(self):
        self.driver.kill()
        self.driver.wait()
        self.driver.stdout.close()

    def post(self, path, values=None, method="POST"):
        data = json.dumps(values or {}).encode() if method == "POST" else None
        request = urllib.request.Request(self.address + path, data, method=method)
        with urllib.request.urlopen(request, timeout=300) as answer:
            return json.load(answer)["value"]

    def open(self, address):
        self.post(f"{self.session}/url", {"url": address})

    def run(self, script, *arguments):
        """What a piece of JavaScript returns."""
        return self.post(f"{self.session}/execute/sync", {"script": script, "args": list(arguments)})

    def run_async(self, script, *arguments):
        """What a piece of JavaScript gives to the function that is its last argument."""
        return self.post(f"{self.session}/execute/async", {"script": script, "args": list(arguments)})

    def devtools(self, command, **parameters):
        return self.post(f"{self.session}/goog/cdp/execute", {"cmd": command, "params": parameters})

    def emulate(self, width, height, scheme="light"):
        """A screen of this size, a phone's if it is narrow, and what its owner prefers."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.devtools("Emulation.setDeviceMetricsOverride", **metrics)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.devtools("Emulation.setEmulatedMedia", features=features)

    def press(self, key):
        """A key of the keyboard, to whatever has the focus; names as in WebDriver's table of code points."""
        keys = {
            "Escape": "\ue00c",
            "ArrowLeft": "\ue012",
            "ArrowUp": "\ue013",
            "ArrowDown": "\ue015",
            "ArrowRight": "\ue014",
            "Tab": "\ue004",
            "Enter": "\ue007",
            "Home": "\ue011",
        }
        strokes = [{"type": kind, "value": keys.get(key, key)} for kind in ("keyDown", "keyUp")]
        actions = [{"type": "key", "id": "keyboard", "actions": strokes}]
        self.post(f"{self.session}/actions", {"actions": actions})

    def find(self, selector):
        return self.post(f"{self.session}/element", {"using": "css selector", "value": selector})[_ELEMENT]

    def click(self, selector):
        """A real click, which fails if something lies over the element."""
        self.post(f"{self.session}/element/{self.find(selector)}/click")

    def point(self, *moves, press=True):
        """The mouse goes to the first point, is pressed there, goes on to the others and is let go."""
        steps = [{"type": "pointerMove", "duration": 0, "x": round(x), "y": round(y)} for x, y in moves]
        down, up = ([{"type": kind, "button": 0}] if press else [] for kind in ("pointerDown", "pointerUp"))
        actions = [{"type": "pointer", "id": "mouse", "actions": [steps[0], *down, *steps[1:], *up]}]
        self.post(f"{self.session}/actions", {"actions": actions})

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0]).innerText", selector)

    def wait_for(self, script, seconds=300.0):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            value = self.run(script)
            if value:
                return value
            time.sleep(0.1)
        raise TimeoutError(f"still not: {script}")

    def complaints(self):
        """Errors on the console, without those about an icon that nobody has."""
        entries = self.post(f"{self.session}/se/log", {"type": "browser"})
        return [entry["message"] for entry in entries if "favicon" not in entry["message"]]

    def screenshot(self, path):
        path.write_bytes(base64.b64decode(self.post(f"{self.session}/screenshot", method="GET")))

    def close(self):
        try:
            self.post(self.session, method="DELETE")
        finally:
            self._end_driver()
