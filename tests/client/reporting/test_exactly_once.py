"""Kills of the script, of its uploader and of the backend: every point arrives exactly once."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from operator import itemgetter
from pathlib import Path

import httpx
import numpy as np
import psutil
import pytest
from arcadia import Client

from tests.client.reporting.conftest import Backend, Start
from tests.workers.waiting import PATIENCE_SECONDS, wait_until

# Logs distinct values until it is killed, so that a duplicate point is noticed.
ENDLESS = """
run = arcadia.init("kills", id="mine")
while True:
    number = run.step + 1
    run.log({"number": number, "half": number / 2})
    time.sleep(0.001)
"""
A2C_ON_PONG = """
import ale_py, gymnasium
from arcadia.integrations.sb3 import ArcadiaCallback
from stable_baselines3 import A2C
from stable_baselines3.common.env_util import make_atari_env
from stable_baselines3.common.vec_env import VecFrameStack

gymnasium.register_envs(ale_py)
environments = VecFrameStack(make_atari_env("PongNoFrameskip-v4", n_envs=2, seed=1), 4)
model = A2C("CnnPolicy", environments, seed=1, device="cpu")
model.learn(100_000_000, callback=ArcadiaCallback("pong", "A2C", id="mine"), log_interval=5)
"""
# REINFORCE, with the calls and names of CleanRL.
CLEANRL_SCRIPT = """
import gymnasium, time, torch
from tensorboardX import SummaryWriter

torch.manual_seed(1)
torch.set_num_threads(1)
writer = SummaryWriter("runs/CartPole-v1__reinforce__1")
writer.add_text("hyperparameters", "|param|value|\\n|-|-|\\n|learning_rate|0.01|\\n|seed|1|")
env = gymnasium.wrappers.RecordEpisodeStatistics(gymnasium.make("CartPole-v1"))
policy = torch.nn.Sequential(torch.nn.Linear(4, 64), torch.nn.Tanh(), torch.nn.Linear(64, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)
began, global_step, seed = time.time(), 0, 1
while True:
    observation, _ = env.reset(seed=seed)
    seed, log_probabilities, rewards, done = seed + 1, [], [], False
    while not done:
        choice = torch.distributions.Categorical(logits=policy(torch.as_tensor(observation)))
        action = choice.sample()
        observation, reward, terminated, truncated, info = env.step(action.item())
        log_probabilities.append(choice.log_prob(action))
        rewards.append(reward)
        global_step, done = global_step + 1, terminated or truncated
        writer.add_scalar("charts/SPS", int(global_step / (time.time() - began)), global_step)
    writer.add_scalar("charts/episodic_return", info["episode"]["r"], global_step)
    writer.add_scalar("charts/episodic_length", info["episode"]["l"], global_step)
    returns = torch.tensor(rewards).flip(0).cumsum(0).flip(0)
    loss = -(torch.stack(log_probabilities) * (returns - returns.mean())).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    writer.add_scalar("losses/policy_loss", loss.item(), global_step)
"""
ARCADIA_RUN = f"""
os.chdir(os.path.dirname(os.environ["ARCADIA_JOURNALS"]))
script = {CLEANRL_SCRIPT!r}
command = [sys.executable, "-m", "arcadia", "run", "--id", "mine", "--", sys.executable, "-c", script]
os.execv(sys.executable, command)
"""
STORM_SECONDS = 90.0
TRAINING_SECONDS = 120.0


def uploaders(folder: Path) -> list[psutil.Process]:
    """Return the uploaders of the run."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or []
        if "arcadia.reporting.uploader" in words and str(folder) in words:
            found.append(process)
    return found


def journal(folder: Path) -> list[tuple[int, dict[str, float]]]:
    """Return the steps and values that the scripts of the run have logged."""
    lines = [line for file in sorted(folder.glob("*.jsonl")) for line in file.read_text().splitlines()]
    events = [json.loads(line) for line in lines]
    return [(event["step"], event["values"]) for event in events if event["kind"] == "metrics"]


def stored(client: Client, run_id: int) -> list[tuple[int, float]]:
    """Return all points of the metric that numbers the points."""
    steps, values = client.run(run_id).metrics("number").to_lists()["number"]
    return [(int(step), value) for step, value in zip(steps, values, strict=True)]


def logged_metrics(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """Return the points of each metric that the scripts of the run have logged."""
    points: dict[str, list[tuple[int, float]]] = {}
    for step, values in journal(folder):
        for name, value in values.items():
            points.setdefault(name, []).append((step, float(value)))
    return points


def points_of_the_only_run(client: Client) -> int:
    """Return the number of points in the backend."""
    try:
        response = httpx.get(f"{client.url}/api/v1/runs", timeout=PATIENCE_SECONDS)
        runs = response.json()["items"]
        return len(stored(client, runs[0]["id"])) if runs else 0
    except (httpx.TransportError, ValueError):
        return 0


def kill_uploaders(folder: Path) -> None:
    for process in uploaders(folder):
        process.kill()


def sync(folder: Path, url: str) -> None:
    """Upload the rest of a journal, as a user does after its host was lost."""
    command = [sys.executable, "-m", "arcadia", "sync", str(folder), "--url", url]
    subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE_SECONDS)


def assert_each_point_is_stored_once(client: Client, folder: Path) -> None:
    (run,) = client.runs()
    logged = journal(folder)
    assert len(logged) == len({step for step, _ in logged}) > 0
    assert stored(client, run.id) == [(step, values["number"]) for step, values in logged]


def test_every_point_arrives_once_when_uploader_backend_and_script_are_killed(
    backend: Backend, client: Client, start: Start, journals: Path
) -> None:
    folder = journals / "mine"
    script = start(ENDLESS)
    wait_until(lambda: points_of_the_only_run(client) > 100)
    kill_uploaders(folder)
    wait_until(lambda: uploaders(folder))
    before = points_of_the_only_run(client)
    wait_until(lambda: points_of_the_only_run(client) > before)
    backend.kill()
    wait_for_lines(folder, len(journal_lines(folder)) + 100)
    backend.start()
    before = points_of_the_only_run(client)
    wait_until(lambda: points_of_the_only_run(client) > before)
    script.kill()
    wait_until(lambda: (folder / "complete").exists())
    assert_each_point_is_stored_once(client, folder)
    (run,) = client.runs()
    assert run.state == "failed"
    assert "probably killed" in (run.failure or run.state_reason or "")


OFFLINE = """
run = arcadia.init("copied", id="mine", mode="offline")
for number in range(5_000):
    run.log({"number": number})
    if number == 2_000:
        print("copy", flush=True)
        sys.stdin.read(1)
run.finish()
"""


@pytest.mark.nightly
def test_a_copy_of_a_journal_may_be_uploaded_while_its_script_runs(
    backend: Backend, client: Client, start: Start, journals: Path, tmp_path: Path
) -> None:
    script = start(OFFLINE, stdin=subprocess.PIPE)
    assert script.stdout is not None
    assert script.stdout.readline() == "copy\n"
    wait_until(lambda: list((journals / "mine").glob("*.provenance")))
    copy = shutil.copytree(journals / "mine", tmp_path / "copy" / "mine")
    script.communicate("x", timeout=PATIENCE_SECONDS)
    assert script.returncode == 0
    sync(copy, backend.url)
    (run,) = client.runs()
    assert (run.state, len(stored(client, run.id))) == ("failed", 2_001)
    sync(journals / "mine", backend.url)
    assert stored(client, run.id) == [(number, float(number)) for number in range(5_000)]
    sync(copy, backend.url)
    run.refresh()
    assert (run.state, run.failure, run.state_reason, run.warnings) == ("finished", None, None, [])


def journal_lines(folder: Path) -> list[str]:
    """Return the lines of all journals, including the open one."""
    return [line for file in folder.glob("*.jsonl") for line in file.read_text().splitlines()]


def wait_for_lines(folder: Path, count: int) -> None:
    """Wait until the journals have more lines than this."""
    wait_until(lambda: len(journal_lines(folder)) > count)


@pytest.mark.nightly
def test_every_point_arrives_once_in_a_storm_of_kills(
    backend: Backend, client: Client, start: Start, journals: Path
) -> None:
    folder, dice = journals / "mine", random.Random(os.environ.get("PYTEST_XDIST_WORKER", "storm"))
    script = start(ENDLESS)
    end = time.monotonic() + STORM_SECONDS
    while time.monotonic() < end:
        wait_for_lines(folder, len(journal_lines(folder)) + dice.randrange(500))
        victim = dice.choice(["script", "uploader", "backend", "all"])
        if victim in ("uploader", "all"):
            kill_uploaders(folder)
        if victim in ("script", "all"):
            script.send_signal(signal.SIGKILL)
            script.wait(PATIENCE_SECONDS)
        if victim in ("backend", "all"):
            backend.kill()
            backend.start()
        if script.poll() is not None:
            script = start(ENDLESS)
    script.kill()
    script.wait(PATIENCE_SECONDS)
    kill_uploaders(folder)
    wait_until(lambda: not uploaders(folder))
    sync(folder, backend.url)
    assert_each_point_is_stored_once(client, folder)


@pytest.mark.nightly
@pytest.mark.parametrize("program", [A2C_ON_PONG, ARCADIA_RUN], ids=["Stable-Baselines3", "SummaryWriter"])
def test_every_point_of_a_training_arrives_once_although_backend_and_uploader_are_killed(
    program: str, backend: Backend, client: Client, start: Start, journals: Path, request: pytest.FixtureRequest
) -> None:
    folder, dice = journals / "mine", random.Random(request.node.name)
    script = start(program)
    end = time.monotonic() + TRAINING_SECONDS
    while time.monotonic() < end:
        wait_for_lines(folder, len(journal_lines(folder)) + dice.randrange(1, 20))
        if dice.random() < 0.5:
            kill_uploaders(folder)
        else:
            backend.kill()
            wait_for_lines(folder, len(journal_lines(folder)) + dice.randrange(1, 20))
            backend.start()
    (run,) = client.runs()
    run.stop()
    script.communicate(timeout=PATIENCE_SECONDS)
    wait_until(lambda: (folder / "complete").exists())
    assert run.refresh().state == "stopped"
    logged, stored_metrics = logged_metrics(folder), run.metrics().to_lists()
    assert stored_metrics.keys() == logged.keys() > {"episode/return"}
    for name, points in logged.items():
        steps, values = stored_metrics[name]
        np.testing.assert_array_equal(np.column_stack([steps, values]), sorted(points, key=itemgetter(0)), name)
