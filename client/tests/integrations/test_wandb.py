"""The stand-in for wandb below `arcadia run`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from capture import commands
from reporting import scripts

PROGRAM = """
import numpy as np
import wandb
from wandb.sdk.lib import RunDisabled

assert wandb.run is None
run = wandb.init(project="maze", name="first", config={"rate": "1e-1"}, tags=["baseline"], notes="A note.",
                 group="sweep", job_type="train", entity="team", id="abc")
wandb.define_metric("train/*", step_metric="global_step")
wandb.log({"loss": 0.5, "text": "hello"})
wandb.log({"loss": 0.25}, commit=False)
wandb.log({"train": {"return": 7}, "global_step": 400})
wandb.log({"loss": 0.125}, step=9)
wandb.log({
    "screen": [wandb.Image(np.zeros((4, 6, 3), np.uint8), caption="start")],
    "weights": wandb.Histogram(np_histogram=([1, 2], [0.0, 0.5, 1.0])),
    "results": wandb.Table(columns=["level", "score"], data=[["easy", 3.5]]),
    "episode": wandb.Video(np.zeros((3, 3, 16, 16), np.uint8), fps=4),
})
wandb.config.seed = 3
wandb.config.update({"layers": 2}, allow_val_change=True)
wandb.summary["best"] = 7
run.summary.update({"inner": {"score": np.float32(0.5)}, "file": "best.zip", "nothing": None})
run.name, run.notes, run.tags = "second", "Another note.", (*run.tags, "late")
wandb.alert("Diverged", "The loss is NaN.", level=wandb.AlertLevel.WARN)
wandb.watch(None, log="all")
wandb.watch(None)
for _ in range(2):
    wandb.Html("<p>")

@wandb.some_decorator
def answer():
    return 42

try:
    raise KeyError
except wandb.errors.CommError:
    pass
except KeyError:
    print(answer(), run.name, wandb.config.rate, dict(run.config)["layers"], run.summary["loss"], wandb.run is run)
wandb.finish()
print(wandb.run)
"""


def test_calls_of_wandb_are_recorded(tmp_path: Path) -> None:
    done = commands.run_program(PROGRAM, tmp_path)
    assert done.stdout == "42 second 1e-1 2 0.125 True\nNone\n", done.stderr
    assert done.returncode == 0
    assert scripts.metrics(tmp_path) == [
        (0, {"loss": 0.5}),
        (1, {"loss": 0.25}),
        (400, {"train/return": 7, "global_step": 400}),
        (9, {"loss": 0.125}),
        (9, {"summary/best": 7}),
        (9, {"summary/inner/score": 0.5}),
    ]
    events = scripts.events(tmp_path)

    def of_kind(kind: str) -> list[dict[str, Any]]:
        return scripts.of_kind(kind, events)

    media = [(each["step"], each["name"], each["media"]) for each in scripts.of_kind("media", events)]
    assert media == [
        (9, "screen", "image"),
        (9, "weights", "histogram"),
        (9, "results", "table"),
        (9, "episode", "video"),
    ]
    settings: dict[str, object] = {}
    for event in scripts.of_kind("config", events):
        settings |= event["values"]
    assert settings == {"group": "sweep", "job_type": "train", "rate": 0.1, "seed": 3, "layers": 2}
    descriptions = [{name: each.get(name) for name in ("name", "project")} for each in of_kind("description")]
    assert descriptions == [{"name": "first", "project": "maze"}, {"name": "second", "project": None}]
    assert [each["text"] for each in of_kind("notes")] == ["A note.", "Another note."]
    assert "summary/file: best.zip" in [each["message"] for each in of_kind("log")]
    (alert,) = scripts.of_kind("alert", events)
    assert (alert["level"], alert["title"], alert["text"]) == ("warning", "Diverged", "The loss is NaN.")
    assert [each["add"] for each in of_kind("tags")] == [["baseline"], ["baseline", "late"]]


def test_names_given_to_arcadia_run_are_kept(tmp_path: Path) -> None:
    program = "import wandb; wandb.init(project='cleanRL', name='CartPole__1').name = 'third'"
    done = commands.run(["--name", "mine", "--", sys.executable, "-c", program], tmp_path)
    assert done.returncode == 0, done.stderr
    (described,) = scripts.of_kind("description", scripts.events(tmp_path))
    assert (described["project"], described.get("name")) == ("cleanRL", None)


@pytest.mark.nightly
def test_each_unknown_name_is_reported_once(tmp_path: Path) -> None:
    done = commands.run_program(PROGRAM, tmp_path)
    for name in ("sdk.lib.RunDisabled", "Html", "some_decorator"):
        assert done.stderr.count(f"arcadia: wandb.{name} is not recorded by Arcadia and has no effect.\n") == 1
    assert done.stderr.count("wandb.watch has no effect") == 1
    assert "Traceback" not in done.stderr


ARTIFACTS = """
import os, tempfile
from pathlib import Path
import wandb

run = wandb.init(project="maze")
os.makedirs("data/deep")
Path("data/deep/a.csv").write_text("a")
Path("model.pt").write_text("first")
artifact = wandb.Artifact("my weights", type="model", description="Best so far.", metadata={"score": 3})
artifact.add_file("model.pt")
with tempfile.TemporaryDirectory() as folder:
    Path(folder, "temporary").write_text("t")
    artifact.add_file(os.path.join(folder, "temporary"), name="inner/kept")
artifact.add_dir("data", name="data")
artifact.add_reference("s3://bucket/far")
with artifact.new_file("notes.txt") as file:
    file.write("n")
artifact.add(wandb.Table(columns=["x"], data=[[1]]), "table")
Path("model.pt").write_text("changed")
logged = run.log_artifact(artifact, aliases=["best", "latest", "v3"]).wait()
print(Path(logged.download(), "model.pt").read_text())
wandb.log_artifact("data", name="folder", type="dataset")
run.log_model("model.pt", name="policy")
run.link_model("model.pt", "registered", aliases=["staging"])
print(wandb.save("*.pt"))
Path("model.pt").write_text("changed again")
wandb.log_artifact("none.pt")
logged.ttl
logged.ttl
try:
    run.use_artifact("entity/project/policy:latest")
except Exception as error:
    print(type(error).__name__, "not online" in str(error))
"""


def test_artifacts_and_models_are_logged(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    program = f"import os; os.chdir({str(work)!r})\n{ARTIFACTS}"
    done = commands.run_program(program, tmp_path / "journals")
    assert done.stdout == "first\n['model.pt']\nArcadiaError True\n", done.stderr
    logged = [event["artifact"] for event in scripts.of_kind("artifact", scripts.events(tmp_path / "journals"))]
    names = ["my-weights", "folder", "policy", "registered", "model.pt", "model.pt"]
    assert [(each["name"], each["kind"]) for each in logged] == list(
        zip(names, ["model", "dataset", "model", "model", "file", "file"], strict=True)
    )
    first = logged[0]
    paths = ["model.pt", "inner/kept", "data/deep/a.csv", "far", "notes.txt", "table.json"]
    assert [entry["path"] for entry in first["entries"]] == paths
    assert (first["aliases"], first["metadata"]) == (["best", "latest"], {"score": 3, "description": "Best so far."})
    assert logged[3]["aliases"] == ["staging"]
    assert logged[4]["entries"] != logged[5]["entries"]
    assert "'my weights' of wandb is logged as my-weights" in done.stderr
    assert "The artifact none.pt was not recorded (ArcadiaError: The artifact none.pt has no files." in done.stderr
    assert done.stderr.count("wandb.Artifact.ttl is not recorded") == 1
