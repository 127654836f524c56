"""The stand-in for wandb below `arcadia run`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

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
with wandb.Artifact("weights", type="model").new_file("x") as file:
    file.write("y")
for _ in range(2):
    wandb.log_artifact(None)

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


def test_each_unknown_name_is_reported_once(tmp_path: Path) -> None:
    done = commands.run_program(PROGRAM, tmp_path)
    for name in ("sdk.lib.RunDisabled", "Artifact", "log_artifact", "some_decorator"):
        assert done.stderr.count(f"arcadia: wandb.{name} is not recorded by Arcadia and has no effect.\n") == 1
    assert done.stderr.count("wandb.watch has no effect") == 1
    assert "Traceback" not in done.stderr
