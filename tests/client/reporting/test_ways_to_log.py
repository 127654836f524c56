"""The same script, logged in several ways, has the same columns."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from arcadia import Client

from tests.client.reporting.conftest import Backend
from tests.workers.waiting import PATIENCE_SECONDS

SCRIPTS = Path(__file__).parents[3] / "bench" / "scripts"
Arcadia = Callable[..., None]


@pytest.fixture
def command(backend: Backend, tmp_path: Path) -> Arcadia:
    """Return a function that runs a command, with `arcadia` for the command line."""

    def run(*arguments: str, folder: str = ".", **variables: str) -> None:
        (tmp_path / folder).mkdir(exist_ok=True)
        program = [sys.executable, "-m", "arcadia"] if arguments[0] == "arcadia" else [sys.executable]
        environment = {"ARCADIA_URL": backend.url, "ARCADIA_JOURNALS": str(tmp_path / "journals")}
        environment["ARCADIA_SYSTEM_METRICS"] = "off"
        done = subprocess.run(
            [*program, *arguments[1:]],
            cwd=tmp_path / folder,
            env={**os.environ, **environment, **variables},
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stderr

    return run


def columns(client: Client, fields: list[str]) -> list[dict[str, Any]]:
    """Return these columns of each run, oldest first."""
    runs = sorted((client.run(run.id).data for run in client.runs()), key=lambda run: run["id"])
    shown = ["algorithm", "env", "episodes", "last_return", "best_return"]
    return [{name: run[name] for name in shown} | {name: run["config"].get(name) for name in fields} for run in runs]


@pytest.mark.nightly
def test_a_script_of_cleanrl_has_the_same_columns_in_four_ways(command: Arcadia, client: Client) -> None:
    script = str(SCRIPTS / "cleanrl_reinforce.py")
    command("arcadia", "run", "--", sys.executable, script, "--total-timesteps", "500")
    command("arcadia", "run", "--", sys.executable, script, "--total-timesteps", "500", "--logger", "wandb")
    command("python", script, "--total-timesteps", "500", "--logger", "arcadia")
    command("arcadia", "import-logs", "--from", "tensorboard", "runs")
    fields = ["seed", "learning_rate", "gamma", "anneal_lr", "total_timesteps", "exp_name", "env_id"]
    first, *others = columns(client, fields)
    assert others == [first] * 3
    assert (first["algorithm"], first["env"], first["seed"]) == ("cleanrl_reinforce", "CartPole-v1", 1)
    assert (first["learning_rate"], first["anneal_lr"], first["total_timesteps"]) == (0.0025, False, 500)
    assert first["episodes"] > 10
    runs = sorted(client.runs(), key=lambda run: run.id)
    assert [run.name.partition("__")[0] for run in runs] == ["cleanrl_reinforce.py", *["CartPole-v1"] * 3]
    assert [run.data["project"] for run in runs] == ["Main", "cleanRL", "cleanRL", "Main"]
    (grouped,) = client.runs(filter="group:reinforce")
    assert grouped.id == runs[1].id


@pytest.mark.nightly
def test_a_script_of_sb3_has_the_same_columns_in_four_ways(command: Arcadia, client: Client) -> None:
    script = str(SCRIPTS / "sb3_ppo.py")
    short = ("--total-timesteps", "512")
    command("arcadia", "run", "--", sys.executable, script, *short, folder="captured")
    command("arcadia", "run", "--", sys.executable, script, *short, "--logger", "wandb", folder="wandb")
    command("python", script, *short, "--logger", "arcadia", folder="callback")
    command("arcadia", "import-logs", "--from", "monitor", "captured/monitor")
    fields = ["seed", "learning_rate", "n_steps", "batch_size", "policy", "clip_range"]
    first, *others, imported = columns(client, fields)
    assert others == [first] * 2
    assert (first["algorithm"], first["env"], first["seed"]) == ("PPO", "CartPole-v1", 1)
    assert (first["learning_rate"], first["n_steps"], first["clip_range"]) == (0.00025, 128, 0.2)
    # Monitor files have neither the method nor its settings.
    same = ("env", "episodes", "last_return", "best_return")
    assert [imported[name] for name in same] == [first[name] for name in same]
    assert first["episodes"] > 5
