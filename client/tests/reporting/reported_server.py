"""A small server of reported runs. It acknowledges events as Arcadia does, and fails when a test requests it."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

EVENTS = re.compile(r"/api/v1/reported/runs/(\d+)/events")
FILE = re.compile(r"/api/v1/reported/runs/(\d+)/files/([0-9a-f]{64})\?writer=(.+)")
ARTIFACT_FILE = re.compile(r"/api/v1/reported/runs/(\d+)/artifact-files/([0-9a-f]{64})\?writer=(.+)")
MISSING = re.compile(r"/api/v1/reported/runs/(\d+)/artifact-files/missing\?writer=(.+)")


class Rejection(Exception):  # noqa: N818 - a response, not an error of the test
    """A response with an error."""

    def __init__(self, status: int, detail: str = "This is wrong.", **more: Any) -> None:
        super().__init__(detail)
        self.status, self.problem = status, {"detail": detail, **more}


class ReportedServer:
    """A server on a port of this host, which can be closed and opened again."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.runs: dict[str, int] = {}
        self.registrations: list[dict[str, Any]] = []
        self.events: dict[str, list[dict[str, Any]]] = {}
        # Events that arrived under the number of another one.
        self.conflicts: dict[str, list[dict[str, Any]]] = {}
        # When a writer was reported as killed.
        self.killed: dict[str, float] = {}
        self.files: dict[str, bytes] = {}
        self.requests: list[tuple[str, str, int]] = []
        self.desired = "run"
        # Called with each request. It may raise a Rejection; events of that request are not stored.
        self.before: Callable[[str, Any], None] = lambda _path, _body: None
        # Called after events are stored: raise to lose the response.
        self.after: Callable[[], None] = lambda: None
        self._server: ThreadingHTTPServer | None = None
        self.port = 0
        self.open()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def open(self) -> None:
        """Listen, on the same port as before."""
        server = self._server = ThreadingHTTPServer(("127.0.0.1", self.port), self._handler())
        self.port = server.server_port
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def metrics(self) -> list[tuple[int, dict[str, Any]]]:
        """Return the steps and values of all writers' metrics."""
        return [(event["step"], event["values"]) for event in self.of_kind("metrics")]

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        """Return the events of one kind, of all writers in order."""
        with self.lock:
            writers = sorted(self.events)
            every = [event for writer in writers for event in self.events[writer] + self.conflicts.get(writer, [])]
            return [event for event in every if event["kind"] == kind]

    def answer(self, method: str, path: str, body: bytes, headers: Any) -> dict[str, Any]:
        """Answer a request. Raise a Rejection."""
        if headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        with self.lock:
            self.requests.append((method, path, len(body)))
            if found := FILE.fullmatch(path) or ARTIFACT_FILE.fullmatch(path):
                self.before(path, body)
                assert hashlib.sha256(body).hexdigest() == found[2]
                self.files[found[2]] = body
                return {"file_id": len(self.files)}
            parsed = json.loads(body)
            self.before(path, parsed)
            if MISSING.fullmatch(path):
                return {"missing": [each for each in parsed["sha256"] if each not in self.files]}
            return self._store(path, parsed)

    def _store(self, path: str, parsed: dict[str, Any]) -> dict[str, Any]:
        writer = parsed["writer"]
        if not (found := EVENTS.fullmatch(path)):
            self.registrations.append(parsed)
            run_id = self.runs.setdefault(parsed["key"], len(self.runs) + 7)
            stored = self.events.setdefault(writer, [])
            return {
                "run_id": run_id,
                "attempt": len(self.events),
                "acknowledged": len(stored),
                "conflicts": len(self.conflicts.get(writer, ())),
                "desired": self.desired,
                "path": f"/runs/{run_id}",
            }
        assert int(found[1]) in self.runs.values()
        stored = self.events[writer]
        for event in parsed["events"]:
            if event["seq"] <= len(stored):
                conflicts = self.conflicts.setdefault(writer, [])
                if event != stored[event["seq"] - 1] and event not in conflicts:
                    conflicts.append(event)
                continue
            if event["seq"] != len(stored) + 1:
                raise Rejection(409, "Events are missing.", expected=len(stored) + 1)
            if event["kind"] == "media" and "sha256" in event:
                assert event["sha256"] in self.files
            if event["kind"] == "artifact":
                assert all(each["sha256"] in self.files for each in event["artifact"]["entries"] if "sha256" in each)
            stored.append(event)
        if "killed_at" in parsed:
            self.killed[writer] = parsed["killed_at"]
        self.after()
        count = len(self.conflicts.get(writer, ()))
        return {"acknowledged": len(stored), "conflicts": count, "desired": self.desired}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                try:
                    status, answer = 200, server.answer(self.command, self.path, body, self.headers)
                except Rejection as rejection:
                    status, answer = rejection.status, rejection.problem
                except ConnectionError:
                    self.close_connection = True
                    return
                content = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_PUT = do_POST  # noqa: N815 - the name that http.server calls

            def log_message(self, *_arguments: Any) -> None:
                """Print nothing."""

        return Handler
