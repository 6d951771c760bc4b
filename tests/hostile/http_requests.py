"""Requests to the live page's server that no browser would send, from a seed: it answers everybody else as before.

python tests/hostile/http_requests.py [--seed N] [--seconds S] [--keep DIR] | --replay FILE
"""

import contextlib
import http.client
import random
import re
import socket
import sys
import threading

from fuzzing import KEEP, cases, command_line, damage_bytes, keep_failure, kept_failure

from arena.live import LiveView

ANSWER_SECONDS = 20.0
MOST_THREADS = 40
METHODS = (b"GET", b"GET", b"HEAD", b"POST", b"PUT", b"OPTIONS", b"TRACE", b"CONNECT", b"get", b"\xff", b"G" * 5000)
PATHS = (
    b"/",
    b"/state.json",
    b"/state.json?games=0",
    b"/../../etc/passwd",
    b"//",
    b"/%00",
    b"/%ff",
    b"*",
    b"",
    b"/x" * 9000,
)
PATHS += (b"http://example.org/", b"/state.json?" + b"a=1&" * 3000, b"/?<script>", b"/\x1b[2J")
VALUES = (
    "0",
    "1",
    "-1",
    "999999999",
    "9999999999",
    "9" * 5000,
    "\u00b2",
    "\u0663",
    "1e3",
    "",
    "x",
    "0x10",
    "1%00",
    " 1",
    "+1",
)
HEADERS = (
    b"Host: localhost",
    b"Host: 127.0.0.1",
    b"Host: [::1]:80",
    b"Host: example.org",
    b"Host:",
    b"Host: localhost\r\nHost: example.org",
    b"Connection: keep-alive",
    b"Connection: close",
    b"Content-Length: 5",
    b"Content-Length: -1",
    b"Content-Length: 99999999999999999999",
    b"Content-Length: x",
    b"Transfer-Encoding: chunked",
    b"Transfer-Encoding: gzip",
    b"Expect: 100-continue",
    b"Upgrade: websocket",
    b"Range: bytes=0-99999999999999",
    b"Cookie: " + b"a" * 20_000,
    b"X\x00Y: z",
    b": nothing",
    b"no colon",
    b" folded",
    b"X: \xff\xfe\x1b[2J",
)
VERSIONS = (b"HTTP/1.1", b"HTTP/1.1", b"HTTP/1.0", b"HTTP/0.9", b"HTTP/9.9", b"", b"HTTP/1.1 x", b"ftp")
BODIES = (
    b"",
    b"",
    b"hello",
    b"5\r\nhello\r\n0\r\n\r\n",
    b"FFFFFFFFFFFFFFFF\r\n",
    b"-1\r\n",
    b"x" * 200_000,
    b"\x00" * 100,
)


def make_request(rng):
    path = rng.choice(PATHS)
    if rng.random() < 0.3:
        path = b"/state.json?games=" + rng.choice(VALUES).encode()
    lines = [b" ".join((rng.choice(METHODS), path, rng.choice(VERSIONS)))]
    lines += [HEADERS[0]] if rng.random() < 0.7 else []
    lines += rng.choices(HEADERS, k=rng.choice((0, 1, 1, 3)))
    request = b"\r\n".join(lines) + b"\r\n\r\n" + rng.choice(BODIES)
    if rng.random() < 0.3:
        request = damage_bytes(request, rng)
    return request * rng.choice((1, 1, 1, 3))


class Site:
    """The server of a run's page, with a page to show."""

    def __init__(self):
        self.view = LiveView(0)
        self.view.snapshot.page = b"<p>the page</p>"
        self.view.server.start()
        self.port = self.view.server.port

    def close(self):
        self.view.server.close()

    def send(self, data, patient):
        """Everything that comes back, if somebody waits for it."""
        received = b""
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=ANSWER_SECONDS)
        with connection, contextlib.suppress(OSError):
            connection.sendall(data)
            if patient:
                connection.shutdown(socket.SHUT_WR)
                while chunk := connection.recv(65536):
                    received += chunk
        return received


def problem_with(site, data, patient):
    """What is wrong after a request, or None."""
    try:
        received = site.send(data, patient)
        if received:
            # HTTP/0.9 has no status line; everything else has.
            status = re.match(rb"HTTP/1\.[01] (\d\d\d) ", received)
            assert status, f"no status in {received[:80]!r}"
            assert b"Traceback" not in received, "a traceback"
            found = {int(code) for code in re.findall(rb"^HTTP/1\.[01] (\d\d\d) ", received, re.MULTILINE)}
            assert 500 not in found, "an internal error"
            if b"example.org" in data and b"localhost" not in data and b"127.0.0.1" not in data and b"::1" not in data:
                assert 200 not in found, "another site's name is answered"
        connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=ANSWER_SECONDS)
        with contextlib.closing(connection):
            connection.request("GET", "/")
            reply = connection.getresponse()
            assert (reply.status, reply.read()) == (200, b"<p>the page</p>"), "the page is not there any more"
        assert threading.active_count() < MOST_THREADS, f"{threading.active_count()} threads"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def case_of(case):
    rng = random.Random(case)
    return make_request(rng), rng.random() < 0.9


def replay(path):
    """Sends a kept request again; what is still wrong, or None."""
    kept = kept_failure(path)
    if "data" not in kept:
        kept["data"], kept["patient"] = case_of(kept["case"])
    site = Site()
    try:
        return problem_with(site, kept["data"], kept["patient"])
    finally:
        site.close()


def run(seed, seconds, keep=KEEP, most=None):
    """Sends requests until the time is over, or so many; counts of requests, bytes and problems."""
    counts = {"requests": 0, "bytes": 0, "problems": 0}
    site = Site()
    try:
        for case in cases("http", seed, seconds, keep, most):
            data, patient = case_of(case)
            counts["requests"] += 1
            counts["bytes"] += len(data)
            problem = problem_with(site, data, patient)
            if problem is not None:
                counts["problems"] += 1
                keep_failure(keep, f"http-{case}", problem, data=data, patient=patient)
    finally:
        site.close()
    return counts


if __name__ == "__main__":
    sys.exit(command_line(__doc__.splitlines()[0], run, replay))
