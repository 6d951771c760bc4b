"""The server behind every page, against clients that are slow, silent, strange or from elsewhere."""

import contextlib
import http.client
import json
import os
import socket
import subprocess
import sys
import threading
import time

import pytest
from support import ROOT

from web import server as web_server
from web.server import HTML, Answer, Server, host_name, refusal

PATIENCE = 60.0
LARGE = b"x" * 20_000_000  # more than socket buffers take


def answer(path, query):
    if path == "/":
        return Answer(b"<p>page</p>", HTML)
    if path == "/large":
        return Answer(LARGE, "text/plain")
    if path == "/query":
        return Answer(json.dumps(query).encode(), "application/json")
    if path == "/bad":
        return refusal(400, "not like this")
    if path == "/broken":
        raise RuntimeError("a mistake in what answers")
    return None


@pytest.fixture
def server():
    running = Server(0, answer)
    running.start()
    yield running
    running.close()


def ask(server, path="/", method="GET", body=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    with contextlib.closing(connection):
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        reply = connection.getresponse()
        return reply.status, reply.read(), reply.headers


def raw(server, data):
    """What the server sends on a connection until it closes it."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        received = b""
        with contextlib.suppress(OSError):  # it need not read all that it refuses
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ConnectionError):
            while chunk := connection.recv(65536):
                received += chunk
        return received


@contextlib.contextmanager
def half_sent_requests(server, count):
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            connection = stack.enter_context(socket.socket())
            connection.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                connection.connect(("127.0.0.1", server.port))
            with contextlib.suppress(OSError):
                connection.send(b"GET / HTTP/1.1\r\nHost: loc")
        yield


def test_only_what_is_answered_is_there(server):
    status, body, headers = ask(server)
    assert (status, body, headers["Content-Type"]) == (200, b"<p>page</p>", HTML)
    for path in ("/x", "/../etc/passwd", "/%2e%2e/etc/passwd", "//etc/passwd", "/favicon.ico", "/page/", "/\\x"):
        assert ask(server, path)[0] == 404
    assert ask(server, "/bad")[:2] == (400, b"not like this\n")


def test_headers_that_keep_other_pages_out(server):
    for path in ("/", "/nothing", "/bad"):
        headers = ask(server, path)[2]
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cache-Control"] == "no-store"
        assert "Access-Control-Allow-Origin" not in headers


def test_host_names(server):
    for good in ("localhost", "LOCALHOST:1234", "127.0.0.1", f"127.0.0.1:{server.port}", "[::1]", "[::1]:80"):
        assert ask(server, Host=good)[0] == 200, good
    for bad in (
        "evil.example",
        "evil.example:80",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "0.0.0.0",
        "[::2]",
    ):
        assert ask(server, Host=bad)[0] == 403, bad
    assert b" 403 " in raw(server, b"GET / HTTP/1.0\r\n\r\n")
    assert b" 200 " not in raw(server, b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n")


def test_what_can_be_changed_needs_a_secret():
    with pytest.raises(ValueError, match="secret"):
        Server(0, answer, change=answer)


def test_a_secret_path_and_its_token():
    done = []

    def change(path, data):
        done.append((path, data))
        return Answer(b"{}", "application/json") if path == "/do" else None

    running = Server(0, answer, change=change, secret="s3", body_bytes=100)
    running.start()
    try:
        assert running.address.endswith(f":{running.port}/s3/")
        assert ask(running, "/s3/")[0] == 200
        assert ask(running, "/s3/query?a=1")[1] == b'{"a": ["1"]}'
        for path in ("/", "/query", "/s/", "/s33/", "/S3/", "/x/s3/"):
            assert ask(running, path)[0] == 404, path
        good = {"Content_Type": "application/json", "X_Quetzal_Token": running.token}
        assert ask(running, "/s3/do", "POST", b'{"x": 1}', **good)[0] == 200
        assert ask(running, "/s3/other", "POST", b"{}", **good)[0] == 404
        assert done == [("/do", {"x": 1}), ("/other", {})]
        for change_in in (
            {"X_Quetzal_Token": "wrong"},
            {"Origin": "http://evil.example"},
            {"Origin": "null"},
            {"Host": "evil.example"},
        ):
            assert ask(running, "/s3/do", "POST", b"{}", **good | change_in)[0] == 403
        assert ask(running, "/s3/do", "POST", b"{}", **good | {"Content_Type": "text/plain"})[0] == 415
        assert ask(running, "/s3/do", "POST", b"[1]", **good)[0] == 400
        assert ask(running, "/s3/do", "DELETE", **good)[0] == 405
        assert ask(running, "/s3/do", "POST", b'{"x": "' + b"y" * 200 + b'"}', **good)[0] == 413
        assert len(done) == 2
    finally:
        running.close()


def test_names_in_host_headers():
    assert host_name("LocalHost:80") == "localhost"
    assert host_name("[::1]:80") == "::1"
    assert host_name("") == ""


def test_another_address_answers_to_any_name():
    """Who asks for it is reached from other machines, by names that only they know."""
    running = Server(0, answer, "0.0.0.0")
    running.start()
    try:
        assert ask(running, Host="box.example")[0] == 200
    finally:
        running.close()


def test_every_address_is_named_as_one_that_can_be_opened(monkeypatch):
    monkeypatch.setattr(web_server, "own_address", lambda family: "192.0.2.7")
    with contextlib.closing(Server(0, answer, "0.0.0.0")) as running:
        assert running.addresses == [f"http://127.0.0.1:{running.port}/", f"http://192.0.2.7:{running.port}/"]
        assert running.address == running.addresses[0]
    monkeypatch.setattr(web_server, "own_address", lambda family: None)  # no network
    with contextlib.closing(Server(0, answer, "0.0.0.0")) as running:
        assert running.addresses == [f"http://127.0.0.1:{running.port}/"]


def test_the_own_address_is_none_that_is_refused():
    found = web_server.own_address(socket.AF_INET)
    assert found is None or socket.inet_aton(found) != bytes(4)


def test_methods(server):
    assert ask(server, method="HEAD")[:2] == (200, b"")
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "BREW"):
        status, _, headers = ask(server, method=method)
        assert (status, headers["Allow"]) == (405, "GET, HEAD")


def test_odd_queries(server):
    assert json.loads(ask(server, "/query?a=1&a=2&b=")[1]) == {"a": ["1", "2"], "b": [""]}
    for query in ("%C2%B2", "%FF%FE", "a=%00", "&&&===", "%", "%zz", "a" * 8000):
        assert ask(server, f"/query?{query}")[0] == 200
    assert b" 400 " in raw(server, b"GET /query?\xb2=\xff HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    assert ask(server, "/query?" + "&".join(f"a{number}=1" for number in range(1000)))[0] == 400


def test_requests_have_a_size(server):
    assert b" 200 " not in raw(server, b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: %b\r\n\r\n" % (b"x" * 100_000))
    assert b" 413 " in raw(server, b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n")


@pytest.mark.parametrize(
    "data",
    [
        b"\r\n\r\n",
        b"\0" * 1000,
        b"GET\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: \xb2\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffff\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ],
)
def test_what_is_no_request_gets_no_page(server, data):
    assert b"page" not in raw(server, data)
    assert ask(server)[0] == 200


def test_a_mistake_ends_one_answer_only(server, capfd):
    status, body, _ = ask(server, "/broken")
    assert status == 500
    assert b"mistake" not in body
    assert ask(server)[0] == 200
    assert capfd.readouterr() == ("", "")


def test_half_sent_requests_take_no_threads_and_keep_nobody_out(server, capfd):
    assert ask(server)[0] == 200
    before = threading.active_count()
    with half_sent_requests(server, 300):
        began = time.monotonic()
        assert ask(server)[0] == 200
        assert time.monotonic() - began < 20  # about a second for every hundred that came before
        assert threading.active_count() == before
    assert capfd.readouterr() == ("", "")  # the terminal belongs to others


def test_stopping_is_quick_whoever_is_connected():
    running = Server(0, answer)
    running.start()
    with half_sent_requests(running, 50), contextlib.ExitStack() as stack:
        for _ in range(4):  # who asks for much and reads nothing
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", running.port)))
            connection.sendall(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n")
        connection.recv(1)  # being answered
        began = time.monotonic()
        running.close()
        assert time.monotonic() - began < 1.0
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", running.port), timeout=5).close()


def test_stopping_a_loop_that_wakes_up_by_itself(server, monkeypatch):
    """An answer that was just finished wakes the loop, too, and it may end before `close` has woken it."""
    trigger, thread = server._server.trigger, server._thread

    def pull_late():
        os.write(trigger.trigger, b"x")
        thread.join(PATIENCE)
        os.write(trigger.trigger, b"x")

    monkeypatch.setattr(trigger, "_physical_pull", pull_late)
    server.close()
    assert not thread.is_alive()
    server.close()  # twice is no mistake


def test_readers_that_do_not_read_are_dropped(server, monkeypatch):
    """Also when nothing can be written to them, which waitress itself would wait for."""
    monkeypatch.setattr(web_server, "_IDLE_SECONDS", 1.0)
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        connection.sendall(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n")
        received = len(connection.recv(1000))
        deadline = time.monotonic() + PATIENCE
        while server._server.active_channels and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not server._server.active_channels
        with contextlib.suppress(ConnectionResetError):
            while chunk := connection.recv(1_000_000):
                received += len(chunk)
        assert received < len(LARGE)
    assert ask(server)[0] == 200


@pytest.mark.parametrize("drops", [b"GET / HTTP/1.1\r\nX: " + b"x" * 1_000, b"\r\n" * 500])
def test_requests_that_drip_are_dropped(server, monkeypatch, drops):
    """Each byte is a sign of life, but a hundred connections like this would keep everybody else out."""
    monkeypatch.setattr(web_server, "_REQUEST_SECONDS", 1.0)
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        with pytest.raises(ConnectionError):  # by one of the drops after the end
            for drop in drops:
                connection.send(bytes([drop]))
                time.sleep(0.05)
        assert not server._server.active_channels


def test_a_connection_may_last_longer_than_a_request(server, monkeypatch):
    monkeypatch.setattr(web_server, "_REQUEST_SECONDS", 0.5)
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    with contextlib.closing(connection):
        for _ in range(15):
            connection.request("GET", "/")
            assert connection.getresponse().read() == b"<p>page</p>"
            assert len(server._server.active_channels) == 1
            time.sleep(0.1)


def test_many_slow_readers_hold_no_thread(server):
    with contextlib.ExitStack() as stack:
        for _ in range(20):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE))
            connection.sendall(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n")
        began = time.monotonic()
        assert ask(server)[0] == 200
        assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    "start", ["import command.match, command.tournament, arena.run", "import command.go, uci_engine.engine"]
)
def test_only_who_serves_a_page_loads_the_server(start):
    """What the UCI process imports before `uciok` is what a GUI waits for."""
    code = f"{start}; import sys; print(sorted(name for name in sys.modules if name.startswith(('waitress', 'web.server'))))"
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"


def test_addresses():
    with contextlib.closing(Server(0, answer)) as first:
        assert first.address == f"http://127.0.0.1:{first.port}/"
        with pytest.raises(OSError):
            Server(first.port, answer)
    for port in (-1, 65536, 99999):
        with pytest.raises(ValueError):
            Server(port, answer)
    with pytest.raises(OSError):
        Server(0, answer, "no.such.host.invalid")
    if socket.has_ipv6:
        with contextlib.suppress(OSError), contextlib.closing(Server(0, answer, "::1")) as third:
            assert third.address == f"http://[::1]:{third.port}/"
