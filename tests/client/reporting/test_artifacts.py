"""Artifacts of scripts in a real backend: made by one script, used by another, and killed in between."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from arcadia import Client, NotFoundError

from tests.client.reporting.conftest import Start, complete
from tests.workers.waiting import PATIENCE_SECONDS

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
