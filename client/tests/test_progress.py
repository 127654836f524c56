"""Progress bars: on a terminal, in a notebook, and silent elsewhere."""

from __future__ import annotations

import hashlib
import io
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest
from arcadia import Client
from arcadia import notebook as notebook_module
from arcadia._sync.downloads import download
from arcadia.notebook import ProgressBar
from fake_server import URL, FakeServer
from rich.console import Console

CONTENT = b"weights" * 1_000
ETAG = f'"{hashlib.sha256(CONTENT).hexdigest()}"'


class Notebook(ModuleType):
    """Stand-in for IPython.display that records the displayed objects."""

    def __init__(self) -> None:
        super().__init__("IPython.display")
        self.shown: list[str] = []

    def HTML(self, text: str) -> str:  # noqa: N802 - its name in IPython
        return text

    def display(self, content: str, *, display_id: bool) -> Notebook:
        assert display_id
        self.shown.append(content)
        return self

    def update(self, content: str) -> None:
        self.shown.append(content)


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Notebook:
    """Run in a notebook."""
    found = Notebook()
    monkeypatch.setitem(sys.modules, "IPython", ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", found)
    monkeypatch.setattr(notebook_module, "Console", lambda **_options: Console(force_jupyter=True))
    return found


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Run on a terminal, and return its output."""
    shown = io.StringIO()
    terminal = Console(file=shown, force_terminal=True, width=120, color_system=None)
    monkeypatch.setattr(notebook_module, "Console", lambda **_options: terminal)
    return shown


def fetch(folder: Path, **options: Any) -> Path:
    """Download a file."""
    headers = {"ETag": ETAG, "Content-Length": str(len(CONTENT))}
    answers = [httpx.Response(200, headers=headers), httpx.Response(200, content=CONTENT, headers=headers)]
    transport = Client(URL, transport=FakeServer({"/files/5": answers}).transport).transport
    return download(transport, 5, folder, "a.bin", **options)


def test_a_download_on_a_terminal_shows_its_share_and_size(terminal: io.StringIO, tmp_path: Path) -> None:
    assert fetch(tmp_path).read_bytes() == CONTENT
    last = terminal.getvalue().rpartition("Downloading a.bin")[2]
    assert "100 %" in last
    assert "6.84 KiB" in last


def test_a_disabled_bar_is_not_shown(terminal: io.StringIO, tmp_path: Path) -> None:
    fetch(tmp_path, progress=False)
    assert terminal.getvalue() == ""


def test_without_a_terminal_a_download_is_silent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fetch(tmp_path)
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_a_notebook_shows_few_updates_and_the_last_one(notebook: Notebook) -> None:
    with ProgressBar("<Run 12>") as bar:
        assert bar.is_shown
        for step in range(1, 1_001):
            bar.update(step / 1_000, f"step {step}")
    assert len(notebook.shown) < 100
    assert "&lt;Run 12&gt;: 100% step 1000" in notebook.shown[-1]
    assert 'value="1.0000"' in notebook.shown[-1]
