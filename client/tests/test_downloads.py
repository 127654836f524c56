"""Downloads: complete or absent, resumed, and checked."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from arcadia import Client, DownloadError
from arcadia._sync import downloads
from arcadia._sync.downloads import download
from fake_server import URL, FakeServer

CONTENT = bytes(range(256)) * 40
ETAG = f'"{hashlib.sha256(CONTENT).hexdigest()}"'
HEAD = httpx.Response(200, headers={"ETag": ETAG, "Content-Length": str(len(CONTENT))})


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retry immediately."""
    monkeypatch.setattr(downloads, "PAUSE_SECONDS", 0.0)


class Interrupted(httpx.SyncByteStream):
    """A response whose connection breaks."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def __iter__(self) -> Iterator[bytes]:
        yield self._content
        raise httpx.ReadError("broken")


def ranged(request: httpx.Request) -> httpx.Response:
    """Answer as the server does."""
    written = request.headers.get("Range")
    if written is None:
        return httpx.Response(200, content=CONTENT, headers={"ETag": ETAG})
    assert request.headers["If-Range"] == ETAG
    start = int(written.removeprefix("bytes=").rstrip("-"))
    return httpx.Response(206, content=CONTENT[start:], headers={"ETag": ETAG})


def fetch(server: FakeServer, target: Path | None, name: str = "a.bin") -> Path:
    return download(Client(URL, transport=server.transport).transport, 5, target, name)


def answers(*gets: object) -> FakeServer:
    """Return a server that answers HEAD, and then the GET requests in order."""
    return FakeServer({"/files/5": [HEAD, *gets]})


def test_a_file_is_saved_under_its_name_in_a_folder(tmp_path: Path) -> None:
    assert fetch(answers(ranged), tmp_path) == tmp_path / "a.bin"
    assert (tmp_path / "a.bin").read_bytes() == CONTENT
    assert [each.name for each in tmp_path.iterdir()] == ["a.bin"]


def test_missing_folders_are_created(tmp_path: Path) -> None:
    assert fetch(answers(ranged), tmp_path / "new" / "b.bin").read_bytes() == CONTENT


def test_an_interrupted_download_continues_at_its_end(tmp_path: Path) -> None:
    broken = httpx.Response(200, stream=Interrupted(CONTENT[:1000]), headers={"ETag": ETAG})
    server = answers(broken, ranged)
    assert fetch(server, tmp_path).read_bytes() == CONTENT
    assert server.requests[-1].headers["Range"] == "bytes=1000-"


def test_a_later_call_continues_where_the_first_stopped(tmp_path: Path) -> None:
    broken = [httpx.Response(200, stream=Interrupted(CONTENT[:1000])) for _ in range(1)]
    refused = [httpx.Response(404, json={"detail": "gone"})]
    with pytest.raises(Exception, match="gone"):
        fetch(answers(*broken, *refused), tmp_path)
    assert not (tmp_path / "a.bin").exists()
    server = answers(ranged)
    assert fetch(server, tmp_path).read_bytes() == CONTENT
    assert server.requests[-1].headers["Range"] == "bytes=1000-"


def test_a_server_that_ignores_the_range_sends_everything(tmp_path: Path) -> None:
    broken = httpx.Response(200, stream=Interrupted(CONTENT[:1000]))
    whole = httpx.Response(200, content=CONTENT)
    assert fetch(answers(broken, whole), tmp_path).read_bytes() == CONTENT


def test_damaged_content_is_rejected_and_removed(tmp_path: Path) -> None:
    damaged = httpx.Response(200, content=CONTENT[:-1] + b"x")
    with pytest.raises(DownloadError, match="its hash is wrong"):
        fetch(answers(damaged), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_existing_file_is_replaced_only_by_a_complete_one(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"old")
    with pytest.raises(DownloadError):
        fetch(answers(httpx.Response(200, content=b"short")), tmp_path)
    assert (tmp_path / "a.bin").read_bytes() == b"old"
    fetch(answers(ranged), tmp_path)
    assert (tmp_path / "a.bin").read_bytes() == CONTENT


def test_a_file_in_the_place_of_a_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "afile").write_text("mine")
    with pytest.raises(DownloadError, match="afile is a file"):
        fetch(answers(ranged), tmp_path / "afile" / "model.pt")
