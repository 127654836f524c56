"""The callback of Stable-Baselines3."""

from __future__ import annotations

from pathlib import Path

import pytest
from capture import commands
from reporting import scripts

pytest.importorskip("stable_baselines3")

PROGRAM = """
from stable_baselines3 import A2C
from arcadia.integrations.sb3 import ArcadiaCallback

model = A2C("MlpPolicy", "CartPole-v1", n_steps=8, learning_rate=0.002, seed=1, device="cpu")
model.learn(400, callback=ArcadiaCallback("cartpole", "first", tags=["baseline"]), log_interval=10)
run = arcadia.init()
run.should_stop = lambda: run.step >= 40
model.learn(1_000_000, callback=ArcadiaCallback(run=run), log_interval=1)
print(model.num_timesteps)
run.discard()
"""


@pytest.mark.nightly
def test_a_training_is_logged_and_stops_on_request(tmp_path: Path) -> None:
    done = scripts.run(PROGRAM, tmp_path)
    assert done.returncode == 0, done.stderr
    assert 40 <= int(done.stdout) < 1_000
    logged = scripts.metrics(tmp_path)
    returns = [(step, values) for step, values in logged if "episode/return" in values]
    assert len(returns) >= 2
    assert all(values["episode/return"] == values["episode/length"] for _step, values in returns)
    assert [step for step, values in logged if "train/value_loss" in values] == [80, 160, 240, 320, 400]
    events = scripts.events(tmp_path)
    (config,) = scripts.of_kind("config", events)
    assert config["values"]["algorithm"] == "A2C"
    assert (config["values"]["n_steps"], config["values"]["learning_rate"]) == (8, 0.002)
    assert [each["outcome"] for each in scripts.of_kind("end", events)] == ["finished"]
    (description,) = scripts.directory(tmp_path).glob("2*.json")
    text = description.read_text()
    for part in ('"method": "A2C"', '"env": "CartPole-v1"', '"total_steps": 400', '"Stable-Baselines3"'):
        assert part in text


WANDB = """
import json, sys
from stable_baselines3 import A2C
from arcadia.integrations.sb3 import WandbCallback

folder = sys.argv[1]
model = A2C("MlpPolicy", "CartPole-v1", n_steps=8, seed=1, device="cpu")
model.learn(40, callback=WandbCallback(gradient_save_freq=5, model_save_path=folder + "/models", model_save_freq=16))
A2C.load(folder + "/models/model.zip")
"""


@pytest.mark.nightly
def test_models_of_wandbs_callback_are_logged(tmp_path: Path) -> None:
    program = WANDB.replace("sys.argv[1]", repr(str(tmp_path)))
    done = scripts.run(program, tmp_path / "journals")
    assert done.returncode == 0, done.stderr
    logged = [event["artifact"] for event in scripts.of_kind("artifact", scripts.events(tmp_path / "journals"))]
    assert [(each["name"], each["kind"], each["metadata"]["num_timesteps"]) for each in logged] == [
        ("model", "model", 16),
        ("model", "model", 32),
        ("model", "model", 40),
    ]
    assert "gradient_save_freq has no effect" in done.stderr


UNCHANGED = """
from stable_baselines3 import A2C
from stable_baselines3.common.callbacks import CallbackList, CheckpointCallback
from wandb.integration.sb3 import WandbCallback

model = A2C("MlpPolicy", "CartPole-v1", n_steps=8, seed=1, device="cpu")
for callback in (
    None,
    lambda *_values: True,
    [CheckpointCallback(1_000, "{folder}")],
    CallbackList([WandbCallback()]),
):
    model.learn(40, callback=callback, log_interval=5, reset_num_timesteps=False)
"""


@pytest.mark.nightly
def test_an_unchanged_script_is_logged_once_below_arcadia_run(tmp_path: Path) -> None:
    journals = tmp_path / "journals"
    done = commands.run_program(UNCHANGED.format(folder=tmp_path / "checkpoints"), journals)
    assert done.returncode == 0, done.stderr
    logged = scripts.metrics(journals)
    assert [step for step, values in logged if "train/value_loss" in values] == [40, 80, 120, 160]
    ends = [step for step, values in logged if "episode/return" in values]
    assert ends
    assert ends == sorted(set(ends))
    settings = [each["values"] for each in scripts.of_kind("config", scripts.events(journals))]
    assert {(each["env"], each["algorithm"], each["seed"]) for each in settings} == {("CartPole-v1", "A2C", 1)}


# Each import order initializes the modules of Stable-Baselines3 and gymnasium in another order.
FIRST_IMPORTS = [
    "from stable_baselines3 import PPO",
    "import gymnasium",
    "from stable_baselines3.common.vec_env import VecVideoRecorder",
    "from arcadia.integrations.sb3 import ArcadiaCallback",
    "import wandb; from wandb.integration.sb3 import WandbCallback",
]
IS_HOOKED = """
from gymnasium.wrappers import RecordVideo
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.vec_env import VecVideoRecorder

for method in (BaseAlgorithm._init_callback, RecordVideo.stop_recording, VecVideoRecorder._stop_recording):
    assert method.__wrapped__, method
    assert not hasattr(method.__wrapped__, "__wrapped__"), method
"""


@pytest.mark.required_cases(2)
@pytest.mark.parametrize("first", FIRST_IMPORTS)
def test_the_libraries_are_hooked_whatever_is_imported_first(first: str, tmp_path: Path) -> None:
    done = commands.run_program(first + IS_HOOKED, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "was not recorded" not in done.stderr
