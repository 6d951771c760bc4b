"""One server for every page: on this machine only unless asked otherwise, and never in the way of what it shows.

waitress reads requests and sends answers in one loop without a thread per connection, so that slow or silent clients
cost a socket each, of which there are few. Threads only call `answer` and `change`, which should return what is ready.

A page that can change something is served under a secret path, which other users of this machine do not know. What
changes something is a POST of JSON with the page's token in a header: another site's page knows neither, and a browser
would ask us first whether it may send such a header, which is refused.
"""

import contextlib
import hashlib
import hmac
import http
import json
import logging
import os
import socket
import threading
import time
from typing import NamedTuple
from urllib.parse import parse_qs

from waitress import create_server, wasyncore
from waitress.channel import HTTPChannel

EVERYWHERE = ("0.0.0.0", "::")
LOOPBACK = ("localhost", "127.0.0.1", "::1")

_THREADS = 2
_CONNECTIONS = 100
_IDLE_SECONDS = 10.0
_IDLE_SECONDS_WHEN_FULL = 1.0
_REQUEST_SECONDS = 60.0  # from a request's first byte to its last
_REQUEST_SECONDS_WHEN_FULL = 5.0
_HEADER_BYTES = 16_384
_BODY_BYTES = 65_536
_QUERY_FIELDS = 20
_UNLIMITED = 1 << 40

_HEADERS = [
    ("Cache-Control", "no-store"),
    # Pages allow their own style and script in a policy of their own; this one is for whatever else is answered.
    (
        "Content-Security-Policy",
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self';"
        " base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Referrer-Policy", "no-referrer"),
    ("X-Content-Type-Options", "nosniff"),
]

HTML = "text/html; charset=utf-8"
JSON = "application/json"
PGN = "application/x-chess-pgn; charset=utf-8"
TOKEN_HEADER = "X-Quetzal-Token"
TEXT = "text/plain; charset=utf-8"


class Answer(NamedTuple):
    body: bytes
    kind: str
    status: int = 200


def refusal(status, reason=None):
    """An answer that says why there is none."""
    return Answer(f"{reason or http.HTTPStatus(status).phrase}\n".encode(), TEXT, status)


def host_name(header):
    """The name in a Host header, without the port and the brackets of an IPv6 address."""
    if header.startswith("["):
        return header[1:].partition("]")[0].lower()
    return header.partition(":")[0].lower()


def own_address(family):
    """This machine's address in its network, from which a packet to far away would leave; None without one. Nothing is sent."""
    with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1" if family == socket.AF_INET else "2001:db8::1", 9))
        return probe.getsockname()[0]
    return None


def page_hosts(host, family):
    """Under which names a server on this address is found: first here, then from other machines."""
    if host not in EVERYWHERE:
        return [host]
    here, outside = "127.0.0.1" if family == socket.AF_INET else "::1", own_address(family)
    return [here] if outside in (here, None) else [here, outside]


class _Channel(HTTPChannel):
    """A connection that knows how long it has been sending a request: to waitress every byte is a sign of life."""

    unfinished_since = None

    def received(self, data):
        if self.unfinished_since is None:
            self.unfinished_since = time.time()
        return super().received(data)

    def service(self):
        self.unfinished_since = None  # a request is there as a whole
        super().service()


class Server:
    """Listens from the beginning, answers between `start` and `close`.

    `answer(path, query)` gets the path and the query as lists of texts by name, in one of the server's threads; it returns
    an `Answer`, or None where there is nothing. `change(path, data)` gets what a page has sent as a dict. With a `secret`
    everything is below the path of that name, and callers see what follows it.
    """

    def __init__(self, port, answer, host="127.0.0.1", *, change=None, secret="", body_bytes=_BODY_BYTES):
        """OSError if the address is not to be had, ValueError if there is none such."""
        if not 0 <= port <= 65535:  # getaddrinfo would take the rest of a division
            raise ValueError("ports are from 0 to 65535")
        if change is not None and not secret:
            raise ValueError("what can be changed needs a secret")
        self._answer = answer
        self._change = change
        self._prefix = f"/{secret}" if secret else ""
        self._body_bytes = body_bytes
        # Not the secret itself, which is in the address and so in histories; but after a restart still the same.
        self.token = hashlib.sha256(f"token {secret}".encode()).hexdigest()
        self._is_local = host in LOOPBACK
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        self._socket = socket.socket(family, kind, protocol)
        try:
            if os.name == "posix":  # elsewhere this would let two programs have the same port
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._socket.bind(address)
            self._socket.listen()
        except BaseException:
            self._socket.close()
            raise
        self.port = self._socket.getsockname()[1]
        names = [f"[{name}]" if ":" in name else name for name in page_hosts(host, family)]
        self.addresses = [f"http://{name}:{self.port}{self._prefix}/" for name in names]
        self.address = self.addresses[0]
        self._map = {}
        self._server = None
        self._thread = None
        self._is_stopping = False

    def start(self):
        # Its warnings are about clients; without a handler they would be printed into what the terminal shows.
        logging.getLogger("waitress").addHandler(logging.NullHandler())
        self._server = create_server(
            self._application,
            map=self._map,
            sockets=[self._socket],
            threads=_THREADS,
            connection_limit=_CONNECTIONS,
            max_request_header_size=_HEADER_BYTES,
            max_request_body_size=self._body_bytes,
            # Answers are given as a whole: they wait in memory, not in a file, and no thread waits for their being sent.
            outbuf_overflow=_UNLIMITED,
            outbuf_high_watermark=_UNLIMITED,
            ident="quetzal",
            log_socket_errors=False,
        )
        self._server.channel_class = _Channel
        self._thread = threading.Thread(target=self._serve, name="web-server", daemon=True)
        self._thread.start()

    def close(self):
        """Ends at once: whoever is still being answered is cut off."""
        if self._thread is None:
            self._socket.close()
            return
        self._is_stopping = True
        # The loop may wake up by itself and be gone before this wakes it: what is written to is closed only behind it.
        self._server.trigger.pull_trigger()
        self._thread.join()
        self._thread = None
        self._server.task_dispatcher.shutdown(timeout=0.5)
        wasyncore.close_all(self._map, ignore_all=True)

    def _serve(self):
        while not self._is_stopping:
            wasyncore.loop(timeout=1.0, use_poll=True, map=self._map, count=1)
            self._drop_idle()

    def _drop_idle(self):
        """Closes connections on which nothing moves, or too little to make a request.

        waitress's own time-out waits until the client can be written to, which one that reads nothing never allows.
        """
        channels = list(self._server.active_channels.values())
        is_full = len(channels) > _CONNECTIONS // 2
        idle = _IDLE_SECONDS_WHEN_FULL if is_full else _IDLE_SECONDS
        whole = _REQUEST_SECONDS_WHEN_FULL if is_full else _REQUEST_SECONDS
        now = time.time()
        for channel in channels:
            since = channel.unfinished_since
            is_late = now - channel.last_activity > idle or (since is not None and now - since > whole)
            if is_late and not channel.requests:
                channel.handle_close()

    def _application(self, environ, start_response):
        answer = self._checked_answer(environ)
        headers = [("Content-Type", answer.kind), ("Content-Length", str(len(answer.body))), *_HEADERS]
        if answer.status == http.HTTPStatus.METHOD_NOT_ALLOWED:
            headers.append(("Allow", "GET, HEAD" if self._change is None else "GET, HEAD, POST"))
        start_response(f"{answer.status} {http.HTTPStatus(answer.status).phrase}", headers)
        return [] if environ["REQUEST_METHOD"] == "HEAD" else [answer.body]

    def _checked_answer(self, environ):
        # A page from elsewhere must not read this one by giving its own name our address.
        if self._is_local and host_name(environ.get("HTTP_HOST", "")) not in LOOPBACK:
            return refusal(http.HTTPStatus.FORBIDDEN, "this server answers to localhost only")
        path = environ["PATH_INFO"]
        if self._prefix:
            first, _, rest = path[1:].partition("/")
            if not hmac.compare_digest(f"/{first}".encode(), self._prefix.encode()):
                return refusal(http.HTTPStatus.NOT_FOUND)
            path = f"/{rest}"
        if environ["REQUEST_METHOD"] == "POST" and self._change is not None:
            return self._changed(path, environ)
        if environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
            return refusal(http.HTTPStatus.METHOD_NOT_ALLOWED)
        try:
            query = parse_qs(environ["QUERY_STRING"], keep_blank_values=True, max_num_fields=_QUERY_FIELDS)
        except ValueError:
            return refusal(http.HTTPStatus.BAD_REQUEST, "too many fields")
        return self._answer(path, query) or refusal(http.HTTPStatus.NOT_FOUND)

    def _changed(self, path, environ):
        """The answer to a request to change something, if our own page has sent it."""
        origin = environ.get("HTTP_ORIGIN")
        if origin is not None and origin != f"http://{environ.get('HTTP_HOST', '')}":
            return refusal(http.HTTPStatus.FORBIDDEN, "another site's page may not do this")
        token = environ.get("HTTP_" + TOKEN_HEADER.upper().replace("-", "_"), "")
        if not hmac.compare_digest(token.encode("utf-8", "replace"), self.token.encode()):
            return refusal(http.HTTPStatus.FORBIDDEN, "the token is missing or wrong: reload the page")
        if environ.get("CONTENT_TYPE", "").partition(";")[0].strip() != JSON:
            return refusal(http.HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
        try:
            data = json.loads(environ["wsgi.input"].read(self._body_bytes))
        except (ValueError, RecursionError):
            return refusal(http.HTTPStatus.BAD_REQUEST, "this is no JSON")
        if not isinstance(data, dict):
            return refusal(http.HTTPStatus.BAD_REQUEST, "JSON, but no object")
        return self._change(path, data) or refusal(http.HTTPStatus.NOT_FOUND)
