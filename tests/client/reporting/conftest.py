"""Fixtures with a backend and scripts that log to it."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from arcadia import Client

from tests.server_process import Server
from tests.workers.waiting import PATIENCE_SECONDS

Start = Callable[..., "subprocess.Popen[str]"]


class Backend:
    """A backend that a test may kill and start again at the same address."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._server = Server(directory)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.port}"

    def kill(self) -> None:
        """Kill the backend."""
        self._server.close()

    def start(self) -> None:
        """Start the backend again."""
        self._server = Server(self._directory, port=self._server.port)


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[Backend]:
    """Start a backend without workers."""
    backend = Backend(tmp_path / "data")
    yield backend
    backend.kill()


@pytest.fixture
def client(backend: Backend) -> Iterator[Client]:
    """Connect to the backend."""
    with Client(backend.url) as client:
        yield client


@pytest.fixture
def journals(tmp_path: Path) -> Path:
    """Return the folder of the journals."""
    return tmp_path / "journals"


@pytest.fixture
def start(backend: Backend, journals: Path) -> Iterator[Start]:
    """Start scripts that log to the backend. They are killed after the test."""
    processes: list[subprocess.Popen[str]] = []

    def start(program: str, stdin: int | None = None, **variables: str) -> "subprocess.Popen[str]":
        environment = {"ARCADIA_URL": backend.url, "ARCADIA_JOURNALS": str(journals), "PATH": os.environ["PATH"]}
        # Tests compare all metrics of a run.
        environment["ARCADIA_SYSTEM_METRICS"] = "off"
        process = subprocess.Popen(
            [sys.executable, "-c", f"import arcadia, math, os, sys, time\n{program}"],
            env=environment | variables,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate(timeout=PATIENCE_SECONDS)


def complete(process: "subprocess.Popen[str]") -> str:
    """Wait until a script ends successfully, and return its output."""
    output, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0, errors
    return output
