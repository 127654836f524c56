"""Artifacts of scripts in a real backend: made by one script, used by another, and killed in between."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import arcadia
import pytest
from arcadia import Client, NotFoundError
from arcadia.reporting import uploader
from arcadia.reporting.layout import JournalDirectory

from tests.client.reporting.conftest import Start, complete
from tests.server_process import Server
from tests.workers.waiting import PATIENCE_SECONDS

DOCUMENT = (Path(__file__).parents[3] / "docs" / "client" / "logging.md").read_text()
EXAMPLES = re.findall(r"^```python\n(.*?)^```", DOCUMENT, re.DOTALL | re.MULTILINE)

MAKE = """
from pathlib import Path
os.chdir(os.environ["WORK"])
with arcadia.init("maze", "makes", id="makes") as run:
    run.log({"loss": 1.0})
    for score in (1, 2, 2):
        Path("model.pt").write_text(f"weights {score}")
        Path("eval").mkdir(exist_ok=True)
        Path("eval/scores.csv").write_text(f"score\\n{score}\\n")
        run.log_artifact({"model.pt": "model.pt", "eval": "eval"}, "model", kind="model",
                         aliases=["best"] if score == 2 else [], metadata={"score": score})
"""
USE = """
with arcadia.init("maze", "uses", id="uses") as run:
    model = run.use_artifact("model:best")
    print(model.reference, model.metadata["score"], (model.path / "model.pt").read_text())
    print(sorted(each.name for each in model.download(os.environ["WORK"] + "/copy").iterdir()))
"""
KILLED = """
run = arcadia.init("maze", "killed", id="killed", mode="offline")
run.log_artifact(os.environ["WORK"] + "/weights", name="last")
os.kill(os.getpid(), 9)
"""


@pytest.mark.nightly
def test_an_artifact_of_one_script_is_used_by_another(client: Client, start: Start, tmp_path: Path) -> None:
    variables = {"WORK": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    complete(start(MAKE, **variables))
    output = complete(start(USE, **variables)).splitlines()
    assert output == ["model:v1 2 weights 2", "['eval', 'model.pt']"]
    version = client.artifact("maze/model")
    assert (version.reference, version.aliases, version.kind) == ("model:v1", ["latest", "best"], "model")
    assert [(file.path, file.bytes) for file in version.files] == [("eval/scores.csv", 8), ("model.pt", 9)]
    assert (list(version.made_by.values()), list(version.used_by.values())) == (["makes"], ["uses"])
    (artifact,) = client.artifacts(project="maze")
    assert [each.version for each in artifact.versions()] == [1, 0]
    assert [each.reference for each in client.run("uses").artifacts("used")] == ["model:v1"]
    assert [each.reference for each in client.run("makes").artifacts()] == ["model:v0", "model:v1"]
    first = client.artifact("model:v0", project="maze").set_alias("first")
    assert first.aliases == ["first"]
    assert first.remove_alias("first").aliases == []
    saved = first.download(tmp_path / "saved", progress=False)
    assert (saved / "model.pt").read_text() == "weights 1"
    first.delete()
    with pytest.raises(NotFoundError, match="model has no version v0"):
        client.artifact("model:v0", project="maze")


@pytest.mark.nightly
def test_what_the_server_rejects_is_reported_and_loses_nothing_else(tmp_path: Path) -> None:
    """A file that is larger than the server takes, and a journal of an earlier client with a wrong field."""
    (tmp_path / "large").write_bytes(bytes(20_000_000))
    with arcadia.init("maze", mode="offline", directory=tmp_path) as run:
        run.log({"loss": 1.0})
        run.log_artifact(tmp_path / "large")
    (description,) = run.directory.glob("*-*.json")
    written = json.loads(description.read_text())
    written["registration"] |= {"total_steps": 0, "name": 5}
    description.write_text(json.dumps(written))
    server = Server(tmp_path / "data", settings={"ARCADIA_MAX_FILE_BYTES": "1000000"})
    try:
        url = f"http://127.0.0.1:{server.port}"
        result = uploader.sync(JournalDirectory(run.directory), url)
        assert result.problem is None
        name, total_steps, large = result.left_out
        with Client(url) as client:
            (logged,) = client.runs(project="maze")
            assert (logged.state, logged.metrics("loss").to_lists()["loss"]) == ("finished", ([0], [1.0]))
            warnings = [line.message for line in logged.log() if line.level == "warning"]
        assert warnings == [f"{name} {total_steps}", large]
        deleted, kept = uploader.clean([tmp_path])
        assert (deleted, [journal.path for journal in kept]) == ([], [run.directory])
    finally:
        server.close()


@pytest.mark.nightly
def test_the_artifact_of_a_killed_script_is_delivered_whole(
    client: Client, start: Start, journals: Path, tmp_path: Path
) -> None:
    weights = bytes(range(256)) * 40_000
    (tmp_path / "weights").write_bytes(weights)
    script = start(KILLED, WORK=str(tmp_path))
    script.communicate(timeout=PATIENCE_SECONDS)
    assert script.returncode == -signal.SIGKILL
    (tmp_path / "weights").unlink()
    command = [sys.executable, "-m", "arcadia", "sync", str(journals), "--url", client.url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
    assert done.returncode == 0, done.stderr
    version = client.artifact("maze/last")
    assert (version.download(tmp_path / "saved", progress=False) / "weights").read_bytes() == weights
    assert client.run("killed").state == "failed"


@pytest.mark.nightly
def test_the_documented_examples_work(client: Client, start: Start, tmp_path: Path) -> None:
    for example in (each for each in EXAMPLES if "_artifact" in each):
        complete(start(f"os.chdir({str(tmp_path)!r})\n{example}", XDG_CACHE_HOME=str(tmp_path / "cache")))
    assert (tmp_path / "models/best/model.pt").read_bytes() == b"weights"
    assert list(client.artifact("maze/agent:best").used_by.values()) == ["evaluation"]
