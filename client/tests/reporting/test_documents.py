"""The examples of the page about logging work, and the page lists every method."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import arcadia
import pytest
from reporting import scripts
from reporting.reported_server import ReportedServer

DOCUMENT = (Path(__file__).parents[3] / "docs" / "client" / "logging.md").read_text()
EXAMPLES = re.findall(r"^```python\n(.*?)^```", DOCUMENT, re.DOTALL | re.MULTILINE)


@pytest.fixture
def server() -> Iterator[ReportedServer]:
    """Serve reported runs."""
    server = ReportedServer()
    yield server
    server.close()


def test_every_example_runs(server: ReportedServer, tmp_path: Path) -> None:
    # tests/client/reporting uses an artifact of a real server.
    (tmp_path / "work").mkdir()
    lines = [f"os.chdir({str(tmp_path / 'work')!r})", *(each for each in EXAMPLES if "use_artifact" not in each)]
    done = scripts.run("\n".join(lines), tmp_path / "journals", ARCADIA_MODE="online", ARCADIA_URL=server.url)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{server.url}/runs/7\n101\n"
    names = list(dict.fromkeys(each["name"] for each in server.registrations if "name" in each))
    assert names == ["first try", "media", "with a model", "notes", "stoppable", "in two parts"]
    assert [end["outcome"] for end in server.of_kind("end")] == ["finished"] * 7
    assert {media["media"] for media in server.of_kind("media")} == {"image", "histogram", "table"}
    assert len(server.of_kind("metrics")) == 2_003


@pytest.mark.parametrize("kind", [arcadia.ReportedRun, arcadia.Image, arcadia.Video, arcadia.Histogram, arcadia.Table])
def test_every_public_name_is_listed(kind: type) -> None:
    names = {name for name, _ in inspect.getmembers(kind) if not name.startswith("_")} - {"content", "data", "kind"}
    assert {*names, kind.__name__ if kind is not arcadia.ReportedRun else "init"} <= set(re.findall(r"\w+", DOCUMENT))


def test_every_argument_of_init_is_listed() -> None:
    assert set(inspect.signature(arcadia.init).parameters) <= set(re.findall(r"\w+", DOCUMENT)) | {"config"}
