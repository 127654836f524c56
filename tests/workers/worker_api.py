"""An in-memory worker API over HTTP, for tests of unusual responses of the backend."""

import hashlib
import json
import re
import ssl
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

TOKEN = "worker-token"
Answer = tuple[int, Any]


def problem(status: int, kind: str, **more: object) -> Answer:
    """Return a problem document."""
    return status, {"type": f"/problems/{kind}", "title": kind, "status": status, **more}


@dataclass
class WorkerApi:
    """State of the fake backend. Tests set its responses and read what it received."""

    claims: list[dict[str, Any]] = field(default_factory=list)
    # Run and attempt of each claim by the job of a scheduler.
    asked_for: list[tuple[int, int]] = field(default_factory=list)
    job_claims: list[dict[str, Any]] = field(default_factory=list)
    # By job ID. Jobs without an entry continue.
    jobs_desired: dict[int, str | None] = field(default_factory=dict)
    desired: str = "run"
    drain: bool = False
    changes: list[dict[str, Any]] = field(default_factory=list)
    away: bool = False
    is_token_wrong: bool = False
    stale: bool = False
    installation: str = ""
    blocks_uploads: bool = False
    fails_on_release: bool = False
    refuse_events: bool = False
    fails_on: set[int] = field(default_factory=set)
    events: dict[tuple[int, int], dict[int, dict[str, Any]]] = field(default_factory=dict)
    batches: list[tuple[int, int]] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    # What arrived of files that are sent in pieces, and the size of each piece.
    parts: dict[str, bytes] = field(default_factory=dict)
    pieces: list[int] = field(default_factory=list)
    # After how many bytes to cut the connection of each of the next pieces.
    cuts: list[int] = field(default_factory=list)
    downloads: dict[int, bytes] = field(default_factory=dict)
    hashes: dict[int, str] = field(default_factory=dict)
    starts: bytes | None = None
    starts_hash: str | None = None
    releases: list[dict[str, Any]] = field(default_factory=list)
    job_events: dict[tuple[int, int], dict[int, dict[str, Any]]] = field(default_factory=dict)
    job_releases: list[dict[str, Any]] = field(default_factory=list)
    downloaded: int = 0
    heartbeats: list[dict[str, Any]] = field(default_factory=list)
    goodbyes: int = 0
    requests: int = 0

    # The file with the key and the certificate, to listen with HTTPS.
    certificate: Path | None = None

    def __post_init__(self) -> None:
        """Start listening."""
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        if self.certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._server.daemon_threads = True
        self.url = f"{'https' if self.certificate else 'http'}://127.0.0.1:{self._server.server_port}"
        self.lock = threading.Lock()
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()

    def points(self, run: int, attempt: int) -> list[int]:
        """Return the sequence numbers of the received events in order."""
        return list(self.events.get((run, attempt), {}))

    def answer(self, method: str, url: str, body: bytes) -> Answer:
        """Return the response to one request."""
        path, query = urlsplit(url).path.removeprefix("/api/v1/worker"), dict(parse_qsl(urlsplit(url).query))
        with self.lock:
            self.requests += 1
            if self.is_token_wrong:
                return problem(401, "unauthorized")
            if self.away:
                return problem(503, "away")
            if method == "PUT":
                return (413, b"<html>Too large</html>") if self.blocks_uploads else self._upload(query, body)
            if path.endswith("/files"):
                return self._append(query, body) if method == "PATCH" else (200, self._progress(query))
            if method == "GET":
                self.downloaded += 1
                name = path.rpartition("/")[2]
                content = self.starts if name == "starts" else self.downloads.get(int(name))
                return (200, content) if content is not None else problem(404, "not-found")
            return self._post(path, json.loads(body))

    def tag(self, name: str) -> str | None:
        """Return the expected hash of a download."""
        return self.hashes.get(int(name)) if name.isdigit() else self.starts_hash

    def _post(self, path: str, body: dict[str, Any]) -> Answer:
        if path == "/heartbeat":
            self.heartbeats.append(body)
            if self.stale and body["run"]:
                return problem(409, "stale-attempt")
            jobs = [{**held, "desired": self.jobs_desired.get(held["id"], "run")} for held in body["jobs"]]
            desired, changes = (self.desired, self.changes) if body["run"] else (None, [])
            return 200, {
                "desired": desired,
                "lease_seconds": 60,
                "jobs": jobs,
                "changes": changes,
                "drain": self.drain,
            }
        if path.endswith("claim"):
            return self._claim(path, body)
        if path == "/goodbye":
            self.goodbyes += 1
            return 204, None
        match = re.fullmatch(r"/(runs|jobs)/(\d+)/(events|release)", path)
        assert match, path
        if self.stale:
            return problem(409, "stale-attempt")
        if match[3] == "release" and self.fails_on_release:
            return problem(500, "internal")
        run = match[1] == "runs"
        if match[3] == "release":
            releases = self.releases if run else self.job_releases
            releases.append({"run" if run else "job": int(match[2]), **body})
            return 200, {"state": "finished" if run else "done"}
        return self._take_events(self.events if run else self.job_events, int(match[2]), body)

    def _claim(self, path: str, body: dict[str, Any]) -> Answer:
        claims = self.job_claims if path == "/jobs/claim" else self.claims
        if match := re.fullmatch(r"/runs/(\d+)/claim", path):
            if not claims:
                return problem(409, "stale-attempt", detail=f"There is nothing to do: run {match[1]} is stopped.")
            self.asked_for.append((int(match[1]), body["attempt"]))
        return (200, self._claimed(claims)) if claims else (204, None)

    def _claimed(self, claims: list[dict[str, Any]]) -> dict[str, Any]:
        return {"installation": self.installation, **claims.pop(0)}

    def _take_events(self, events: dict[tuple[int, int], Any], number: int, body: dict[str, Any]) -> Answer:
        if self.refuse_events:
            return problem(422, "invalid", detail="events.0.values: no such metric")
        if any(event["seq"] in self.fails_on and event["kind"] != "log" for event in body["events"]):
            return problem(500, "internal", detail="Something went wrong.")
        known = events.setdefault((number, body["attempt"]), {})
        for event in body["events"]:
            if event["seq"] > len(known) + 1:
                return problem(409, "sequence-gap", expected=len(known) + 1)
            if event["kind"] == "checkpoint":
                assert event["checkpoint"]["file"] in self.files, "an event came before the file it names"
            known.setdefault(event["seq"], event)
        self.batches.append((body["events"][0]["seq"], body["events"][-1]["seq"]))
        return 200, {"acknowledged": len(known)}

    def _upload(self, query: dict[str, str], body: bytes) -> Answer:
        if self.stale:
            return problem(409, "stale-attempt")
        assert hashlib.sha256(body).hexdigest() == query["sha256"]
        self.files[query["path"]] = body
        return 200, {"file_id": len(self.files)}

    def _append(self, query: dict[str, str], body: bytes) -> Answer:
        path, received = query["path"], self.parts.get(query["path"], b"")
        if len(received) != int(query["offset"]):
            return problem(409, "upload-offset")
        is_cut = bool(self.cuts)
        part = self.parts[path] = received + (body[: self.cuts.pop(0)] if is_cut else body)
        self.pieces.append(len(part) - len(received))
        if is_cut:
            return 502, b"<html>The connection was cut</html>"
        if len(part) == int(query["size"]):
            self._upload(query, part)
        return 200, self._progress(query)

    def _progress(self, query: dict[str, str]) -> dict[str, Any]:
        is_whole = query["path"] in self.files
        return {"file_id": 1 if is_whole else None, "offset": len(self.parts.get(query["path"], b""))}


def _type_of(content: Any, status: int) -> str:
    if isinstance(content, bytes):
        return "text/html" if content.startswith(b"<") else "application/octet-stream"
    return "application/problem+json" if status >= 400 else "application/json"


def _handler(api: WorkerApi) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Otherwise each response waits 40 ms between its head and its body (Nagle's algorithm).
        disable_nagle_algorithm = True

        def _serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            assert self.headers["Authorization"] == f"Bearer {TOKEN}"
            shown = self.headers["Arcadia-Installation"]
            if shown is not None and shown != api.installation:
                status, content = problem(421, "other-installation")
            else:
                status, content = api.answer(self.command, self.path, body)
            raw = content if isinstance(content, bytes) else b"" if content is None else json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", _type_of(content, status))
            if self.command == "GET" and (tag := api.tag(urlsplit(self.path).path.rpartition("/")[2])):
                self.send_header("ETag", f'"{tag}"')
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        do_GET = do_PATCH = do_POST = do_PUT = _serve  # noqa: N815 - the names http.server looks for

        def log_message(self, *_: object) -> None:
            """Suppress the request log."""

    return Handler
