"""kill -9 of the backend during an import. Nothing is stored, and the import can be repeated."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from arcadia_backend.files.storage import ABANDONED_SECONDS, INCOMING, TRASH
from tests.backend.reported.conftest import PNG, Script
from tests.factories import sha256
from tests.server_process import Server
from tests.workers.waiting import PATIENCE_SECONDS, wait_until

PICTURES = [PNG + bytes([number]) for number in range(3)]

# Code that kills the backend at one place of an import.
DEATH = """
import os, signal
from arcadia_backend.archives import reading
def die(*_): os.kill(os.getpid(), signal.SIGKILL)
"""
PLACES = {
    "when the files are unpacked": "reading.lock_imports = die",
    "when a file is in its place": """
place = reading.link_or_copy
def place_and_die(*paths):
    place(*paths)
    die()
reading.link_or_copy = place_and_die
""",
    "before the commit": """
link = reading._Import._link_parents
def link_and_die(work):
    link(work)
    die()
reading._Import._link_parents = link_and_die
""",
}


@contextmanager
def serving(folder: Path, before: str = "") -> Iterator[tuple[Server, httpx.Client]]:
    """Serve a data folder. Run the code `before` first."""
    server = Server(folder, before)
    root = server.address.removesuffix("/api/v1")
    try:
        with httpx.Client(base_url=root, timeout=PATIENCE_SECONDS, trust_env=False) as user:
            yield server, user
    finally:
        server.close()


def make_archive(folder: Path) -> bytes:
    """Return an archive of a run with points and pictures, from another installation."""
    with serving(folder) as (_server, user):
        script = Script(user)
        script.begin(method="PPO", env="anything", name="mine")
        script.post(*[script.metrics(step, loss=1 / (step + 1)) for step in range(500)])
        for step, picture in enumerate(PICTURES):
            script.upload(picture)
            script.log("media", step=step, name="screen", media="image", sha256=sha256(picture))
        script.log("end", outcome="finished")
        return user.get("/api/v1/archives", params={"runs": script.run_id}).content


def files_in(folder: Path) -> list[Path]:
    """Return the stored files and the incoming ones, without the trash."""
    found = (path for path in (folder / "files").glob("*/*") if path.is_file())
    return sorted(path for path in found if path.parent.name != TRASH)


def read(user: httpx.Client, run_id: int) -> dict[str, Any]:
    """Return the points and the pictures of a run."""
    media = user.get(f"/api/v1/runs/{run_id}/media").json()["items"]
    points = user.get(f"/api/v1/export/runs/{run_id}.csv").text
    return {
        "loss": points.count("\n") - 1,
        "pictures": [user.get(f"/api/v1/files/{each['file_id']}").content for each in media],
    }


@pytest.mark.nightly
@pytest.mark.parametrize("place", PLACES)
def test_the_import_can_be_repeated(tmp_path: Path, place: str) -> None:
    archive = make_archive(tmp_path / "other")
    folder = tmp_path / "data"
    with serving(folder, DEATH + PLACES[place]) as (server, user):
        with pytest.raises(httpx.TransportError):
            user.post("/api/v1/archives", content=archive)
        server.process.wait(timeout=PATIENCE_SECONDS)
    left = files_in(folder)
    assert [path for path in left if path.parent.name == INCOMING], "the backend was killed during the import"
    long_ago = time.time() - ABANDONED_SECONDS - 60
    for path in left:
        os.utime(path, (long_ago, long_ago))
    with serving(folder) as (_server, user):
        assert user.get("/api/v1/runs").json()["total"] == 0
        wait_until(lambda: files_in(folder) == [])
        (run_id,) = user.post("/api/v1/archives", content=archive).json()["runs"]
        found = read(user, run_id)
        assert (found["loss"], sorted(found["pictures"])) == (500, PICTURES)
        again = user.post("/api/v1/archives", content=archive).json()
        assert (again["runs"], again["already"]) == ([], [run_id])
        assert len(files_in(folder)) == len(PICTURES)
