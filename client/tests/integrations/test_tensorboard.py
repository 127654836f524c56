"""Recording of a SummaryWriter below `arcadia run`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from capture import commands
from reporting import scripts

PROGRAM = """
import numpy as np
from tensorboardX import SummaryWriter

writer = SummaryWriter("logs/train")
for step in range(3):
    writer.add_scalar("losses/value", np.float32(step / 2), step * 10)
writer.add_scalar("charts/episodic_return", 21.0, global_step=30)
writer.add_scalar("unnumbered", 1.0)
writer.add_scalar("unnumbered", 2.0)
writer.add_scalars("rates", {"actor": 0.1, "critic": 0.2}, 5)
writer.add_histogram("weights", np.array([0.0, 1.0, 1.0]), 6)
writer.add_image("screen", np.zeros((3, 4, 6), np.uint8), 7)
writer.add_images("screens", np.zeros((2, 4, 6, 3), np.uint8), 8, dataformats="NHWC")
writer.add_text("hyperparameters", "|param|value|\\n|-|-|\\n|seed|3|\\n|env_id|CartPole-v1|")
writer.add_text("note", "warm-up ends")
writer.add_hparams({"gamma": 0.99}, {"hparam/score": 7.0})
with SummaryWriter("logs/eval") as other:
    other.add_scalar("score", 3.5, 9)
print("the script ends")
"""


@pytest.mark.nightly
def test_every_method_is_recorded(tmp_path: Path) -> None:
    folder = tmp_path / "journals"
    done = commands.run(["--", "sh", "-c", 'cd "$1" && exec "$2" -c "$3"', "sh", *arguments(tmp_path)], folder)
    assert done.stdout == "the script ends\n", done.stderr
    assert done.returncode == 0
    assert scripts.metrics(folder) == [
        (0, {"losses/value": 0.0}),
        (10, {"losses/value": 0.5}),
        (20, {"losses/value": 1.0}),
        (30, {"charts/episodic_return": 21.0, "episode/return": 21.0}),
        (0, {"unnumbered": 1.0}),
        (1, {"unnumbered": 2.0}),
        (5, {"rates/actor": 0.1, "rates/critic": 0.2}),
        (8, {"hparam/score": 7.0}),
        (9, {"eval/score": 3.5}),
    ]
    events = scripts.events(folder)
    media = [(each["step"], each["name"], each["media"]) for each in scripts.of_kind("media", events)]
    assert media == [(6, "weights", "histogram"), (7, "screen", "image"), *[(8, "screens", "image")] * 2]
    assert [each["values"] for each in scripts.of_kind("config", events)] == [
        {"seed": 3, "env_id": "CartPole-v1"},
        {"gamma": 0.99},
    ]
    assert "note: warm-up ends" in [each["message"] for each in scripts.of_kind("log", events)]
    assert list((tmp_path / "logs" / "train").glob("events.out.tfevents.*"))


def arguments(folder: Path) -> list[str]:
    return [str(folder), sys.executable, PROGRAM]
