"""Trace which files requests pass in the backend, and write docs/ways.md: `python -m bench.ways --write`.

Without `--write`, print the page. A test traces the requests again and compares the files.
"""

import argparse
import ast
import secrets
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from fastapi import FastAPI
from fastapi.testclient import TestClient
from starlette.types import Receive, Scope, Send

from arcadia_backend.app import create_app
from arcadia_backend.config import Settings
from bench.tables.pages import markdown
from tests.factories import CARTPOLE, Api, metrics, started

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "ways.md"
WORKER_TOKEN = secrets.token_hex(16)
# Packages that serve every request. Other packages are the request's own.
GENERAL = ("web", "database", "accounts", "live", "errors.py", "config.py", "files")
OWN = (ROOT / "backend" / "arcadia_backend", ROOT / "workers" / "arcadia_workers")

TITLES = {
    "launch": "`POST /runs`: a run is launched",
    "claim": "`POST /worker/claim`: a worker takes the run",
    "events": "`POST /worker/runs/1/events`: a batch of metrics is stored",
    "curve": "`GET /figures/curves`: a page shows the curve",
    "evaluation": "`POST /runs/1/evaluations`: an evaluation is requested",
    "claim_job": "`POST /worker/claim`: a worker takes the evaluation",
}

INTRODUCTION = """# Ways through the backend

    python -m bench.ways --write

The command makes these requests and records every function that runs for them. Each table has the
files in the order of their first function. The packages that serve every request are left out. The
[architecture](architecture.md) explains the steps before and after.
"""


@dataclass
class RequestWay:
    """The functions that ran for a request, by their file, in order of the first one."""

    functions: dict[Path, set[str]] = field(default_factory=dict)

    def record(self, frame: FrameType) -> None:
        """Note a function of the own files."""
        path = Path(frame.f_code.co_filename)
        # Comprehensions and lambdas are part of the function around them.
        if not frame.f_code.co_name.startswith("<") and is_own(path):
            self.functions.setdefault(path, set()).add(frame.f_code.co_qualname)


def is_own(path: Path) -> bool:
    """Return True if a file belongs to a noun, and not to the packages that serve every request."""
    root = next((root for root in OWN if path.is_relative_to(root)), None)
    return root is not None and path.relative_to(root).parts[0] not in GENERAL


_way: ContextVar[RequestWay | None] = ContextVar("way", default=None)


def _profile(frame: FrameType, kind: str, _argument: Any) -> None:
    if kind == "call" and (way := _way.get()) is not None:
        way.record(frame)


class TracedApplication:
    """An application whose requests are traced. Background threads are not part of a request."""

    def __init__(self, app: FastAPI) -> None:
        self.app = app
        self.way: RequestWay | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request. Its context reaches the thread that runs the endpoint."""
        _way.set(self.way if scope["type"] == "http" else None)
        await self.app(scope, receive, send)


@contextmanager
def profiled() -> Iterator[None]:
    """Call `_profile` for each function in all threads that start inside the block."""
    threading.setprofile(_profile)
    sys.setprofile(_profile)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def trace_ways(folder: Path) -> dict[str, RequestWay]:
    """Make each request twice, and return the way of the second, when all modules are loaded."""
    app = create_app(Settings.model_validate({"data_dir": folder, "worker_token": WORKER_TOKEN, "sweep_seconds": 60}))
    traced = TracedApplication(app)
    found: dict[str, RequestWay] = {}

    def trace(name: str, request: Callable[[], Any]) -> Any:
        traced.way = found[name] = RequestWay()
        result = request()
        traced.way = None
        return result

    with profiled(), TestClient(traced, base_url="http://localhost") as user:
        worker = TestClient(traced, base_url="http://localhost", headers={"Authorization": f"Bearer {WORKER_TOKEN}"})
        worker.portal = user.portal
        api = Api(user, worker)
        for _turn in ("load the modules", "trace"):
            run = trace("launch", lambda: user.post("/api/v1/runs", json={"config": CARTPOLE}).json())["id"]
            attempt = trace("claim", api.claim)["attempt"]
            api.send(run, attempt, started())
            values = {"train/entropy": 0.5}
            trace("events", lambda: api.send(run, attempt, metrics(2, 100, values, [20.0])))  # noqa: B023
            query = {"runs": run, "metric": "episode/return"}
            trace("curve", lambda: user.get("/api/v1/figures/curves", params=query).raise_for_status())  # noqa: B023
            api.save(run, attempt, 3, 100)
            trace("evaluation", lambda: api.evaluate(run))  # noqa: B023
            job = trace("claim_job", api.claim_job)
            api.release_job(job["job_id"], job["attempt"], "cancelled")
    return found


def title_of(path: Path) -> str:
    """Return the first line of a module's docstring."""
    return (ast.get_docstring(ast.parse(path.read_text())) or "").partition("\n")[0]


def page(ways: dict[str, RequestWay]) -> str:
    """Return the page as Markdown."""
    parts = [INTRODUCTION]
    for name, way in ways.items():
        functions = sum(map(len, way.functions.values()))
        rows = [
            [f"`{path.relative_to(ROOT)}`", str(len(names)), title_of(path)] for path, names in way.functions.items()
        ]
        parts.append(f"## {TITLES[name]}\n\n{len(rows)} files, {functions} functions.\n")
        parts.append("\n".join(markdown([["file", "functions", "content"], *rows])) + "\n")
    return "\n".join(parts)


def main() -> None:
    """Print or write the page."""
    parser = argparse.ArgumentParser(prog="python -m bench.ways", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write docs/ways.md")
    write = parser.parse_args().write
    with tempfile.TemporaryDirectory() as folder:
        text = page(trace_ways(Path(folder)))
    if write:
        PAGE.write_text(text)
    else:
        print(text)


if __name__ == "__main__":
    main()
