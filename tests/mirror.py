"""A server of files on loopback, which can also behave as servers do on bad days."""

import http.server
import threading

import pytest


class Mirror(http.server.ThreadingHTTPServer):
    """Serves ``files`` (path -> bytes) and keeps what it was asked for.

    ``cuts``: path -> how many bytes to send before the connection ends, one entry a request. ``status``: path -> an
    error to answer with. ``stalls``: paths of which the first half is sent, and no more until ``go_on`` is set.
    """

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files, self.cuts, self.status, self.asked = {}, {}, {}, []
        self.stalls, self.go_on = set(), threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_address[1]}/"


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        mirror, path = self.server, self.path.lstrip("/")
        mirror.asked.append(path)
        if path in mirror.status or path not in mirror.files:
            self.send_error(mirror.status.get(path, 404))
            return
        content = mirror.files[path]
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if path in mirror.stalls:
            self.wfile.write(content[: len(content) // 2])
            mirror.go_on.wait(60)
            return
        cuts = mirror.cuts.get(path)
        self.wfile.write(content[: cuts.pop(0)] if cuts else content)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def mirror(monkeypatch, tmp_path):
    """A mirror that this process fetches from, into a cache of its own."""
    server = Mirror()
    monkeypatch.setenv("TLS_TASKS_MIRROR", server.address)
    monkeypatch.setenv("TLS_TASKS_CACHE", str(tmp_path / "cache"))
    yield server
    server.go_on.set()
    server.shutdown()
    server.server_close()
