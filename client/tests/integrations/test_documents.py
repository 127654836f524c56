"""The examples and commands of the page about integrations work."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from capture import commands
from importing.wandb_logs import write_wandb
from reporting import scripts
from reporting.reported_server import ReportedServer
from reporting.scripts import wait_until
from tensorboardX import SummaryWriter

WAIT_SECONDS = 120.0
DOCUMENT = (Path(__file__).parents[3] / "docs" / "client" / "integrations.md").read_text()
EXAMPLES: list[str] = re.findall(r"^```python\n(.*?)^```", DOCUMENT, re.DOTALL | re.MULTILINE)
COMMANDS: list[str] = re.findall(r"^    (arcadia .+)$", DOCUMENT, re.MULTILINE) + re.findall(
    r"`(arcadia run .+?)`", DOCUMENT
)
SCRIPT = "import sys, wandb\nwandb.init()\nwandb.log({'loss': 0.5})\nprint(sys.argv[1:])\n"


@pytest.fixture
def server() -> Iterator[ReportedServer]:
    """Serve reported runs."""
    server = ReportedServer()
    yield server
    server.close()


def example(library: str) -> str:
    """Return the only example that imports a library."""
    (found,) = (each for each in EXAMPLES if re.search(rf"^(from|import) {library}", each, re.MULTILINE))
    return found


def start_command(prefix: str, server: ReportedServer, folder: Path) -> subprocess.Popen[str]:
    """Start the command of the page that begins with these words, in a folder."""
    (found,) = (each for each in COMMANDS if each.startswith(prefix))
    arguments = [sys.executable if each == "python" else each for each in shlex.split(found)[1:]]
    environment = {"ARCADIA_URL": server.url, "ARCADIA_JOURNALS": str(folder / "journals")}
    return subprocess.Popen(
        [sys.executable, "-m", "arcadia", *arguments],
        cwd=folder,
        env={**os.environ, **environment, "PYTHONPATH": commands.PACKAGES},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )


def run_command(prefix: str, server: ReportedServer, folder: Path) -> str:
    """Run a command of the page to its end, and return its output."""
    with start_command(prefix, server, folder) as process:
        output, _ = process.communicate(timeout=WAIT_SECONDS)
    assert process.returncode == 0
    return output


def write_tensorboard(folder: Path) -> None:
    with SummaryWriter(str(folder)) as writer:
        writer.add_scalar("loss", 0.5, 1)


def test_the_page_has_only_examples_that_are_tested() -> None:
    assert len(EXAMPLES) == 2
    assert [each.split()[1] for each in COMMANDS] == ["run", "follow", *["import-logs"] * 4, "run"]


def test_the_example_of_wandb_logs_its_losses(tmp_path: Path) -> None:
    done = commands.run_program(example("wandb"), tmp_path)
    assert done.returncode == 0, done.stderr
    assert scripts.metrics(tmp_path) == [(step, {"loss": 1 / (step + 1)}) for step in range(100)]


@pytest.mark.nightly
def test_the_example_of_stable_baselines3_logs_a_training(tmp_path: Path) -> None:
    pytest.importorskip("stable_baselines3")
    done = scripts.run(example("stable_baselines3"), tmp_path)
    assert done.returncode == 0, done.stderr
    assert any("episode/return" in values for _, values in scripts.metrics(tmp_path))
    assert [each["outcome"] for each in scripts.of_kind("end", scripts.events(tmp_path))] == ["finished"]


@pytest.mark.parametrize(
    ("prefix", "arguments"),
    [("arcadia run --project", ["--seed", "3"]), ("arcadia run --id", ["--resume"])],
    ids=["new", "continued"],
)
def test_a_command_is_logged(prefix: str, arguments: list[str], server: ReportedServer, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    assert run_command(prefix, server, tmp_path) == f"{arguments}\n"
    assert server.metrics() == [(0, {"loss": 0.5})]
    assert [each["outcome"] for each in server.of_kind("end")] == ["finished"]


def test_a_folder_of_tensorboard_is_followed(server: ReportedServer, tmp_path: Path) -> None:
    write_tensorboard(tmp_path / "logs")
    with start_command("arcadia follow", server, tmp_path) as process:
        wait_until(lambda: server.metrics() == [(1, {"loss": 0.5})])
        process.send_signal(signal.SIGINT)
        assert process.wait(WAIT_SECONDS) == 0
    assert server.registrations[0]["project"] == "maze"


def test_a_folder_of_tensorboard_is_imported(server: ReportedServer, tmp_path: Path) -> None:
    write_tensorboard(tmp_path / "logs")
    run_command("arcadia import-logs --from tensorboard", server, tmp_path)
    assert server.metrics() == [(1, {"loss": 0.5})]


def test_a_folder_of_monitor_files_is_imported(server: ReportedServer, tmp_path: Path) -> None:
    folder = tmp_path / "rl-zoo" / "logs" / "ppo"
    folder.mkdir(parents=True)
    (folder / "0.monitor.csv").write_text('#{"t_start": 1000.5, "env_id": "CartPole-v1"}\nr,l,t\n20.0,20,0.5\n')
    run_command("arcadia import-logs --from monitor", server, tmp_path)
    assert server.metrics() == [(20, {"episode/return": 20.0, "episode/length": 20.0})]


def test_a_csv_file_is_imported(server: ReportedServer, tmp_path: Path) -> None:
    (tmp_path / "progress.csv").write_text("time/total_timesteps,train/loss\n100,0.5\n")
    run_command("arcadia import-logs --from csv", server, tmp_path)
    assert server.metrics() == [(100, {"train/loss": 0.5})]


def test_a_folder_of_wandb_is_imported(server: ReportedServer, tmp_path: Path) -> None:
    write_wandb(tmp_path / "wandb" / "offline-run-20261127_040945-abc123", 2)
    run_command("arcadia import-logs --from wandb", server, tmp_path)
    assert server.metrics() == [(step, {"loss": step / 2, "train/return": "Infinity"}) for step in range(2)]
