"""Checkpoints that an earlier version wrote: every method plays them and goes on from them."""

import json
import sqlite3
from pathlib import Path

import pytest

from tests.earlier_installation import unpack
from workers.contract.config import GorilaConfig, config_adapter
from workers.trainer import replay
from workers.trainer.environments import own_environment
from workers.trainer.learning.optimizers import FlatParameters
from workers.trainer.methods import METHODS
from workers.trainer.methods.gorila.gorila import build
from workers.trainer.methods.gorila.train import restore, state
from workers.trainer.run import checkpoints
from workers.trainer.run.checkpoints import LoadedCheckpoint
from workers.trainer.run.run import NullRun, snapshot

ALGORITHMS = {1: "paac", 2: "a3c", 3: "ga3c", 4: "gorila"}
MORE_STEPS = 200
KEPT = """
    SELECT c.run_id, f.stored_path, c.sha256, c.bytes, c.step, c.frames
    FROM checkpoints c JOIN files f ON f.id = c.file_id
"""


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A run directory with the checkpoint of each run, named by its number."""
    unpack(tmp_path)
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "replays").mkdir()
    with sqlite3.connect(tmp_path / "arcadia.db") as database:
        rows = database.execute(KEPT).fetchall()
    for number, stored, sha256, size, step, frames in rows:
        file = f"checkpoints/{number}.safetensors"
        (tmp_path / "files" / stored).rename(tmp_path / file)
        manifest = {"file": file, "sha256": sha256, "bytes": size, "step": step, "frames": frames}
        (tmp_path / file).with_suffix(".json").write_text(json.dumps(manifest))
    return tmp_path


def read(directory: Path, number: int) -> LoadedCheckpoint:
    """Read a run's checkpoint."""
    return checkpoints.read(directory / "checkpoints" / f"{number}.safetensors")


@pytest.mark.parametrize("number", ALGORITHMS)
def test_an_earlier_checkpoint_plays_an_episode(directory: Path, number: int) -> None:
    assert replay.record(directory, f"checkpoints/{number}.safetensors").episode_return > 0


@pytest.mark.parametrize("number", [1, 2, 3])
def test_training_goes_on_from_an_earlier_checkpoint(directory: Path, number: int) -> None:
    checkpoint = read(directory, number)
    config = config_adapter.validate_python(checkpoint.config)
    assert config.algorithm == ALGORITHMS[number]
    run = NullRun(restored=checkpoint.state)
    METHODS[config.algorithm].train(config.model_copy(update={"total_steps": checkpoint.state.step + MORE_STEPS}), run)
    assert run.saved[-1].step >= checkpoint.state.step + MORE_STEPS
    assert run.saved[-1].tensors.keys() == checkpoint.state.tensors.keys()


def test_gorilas_server_takes_over_an_earlier_checkpoint(directory: Path) -> None:
    checkpoint = read(directory, 4)
    config = GorilaConfig.model_validate(checkpoint.config)
    run = NullRun(restored=snapshot(checkpoint.state))
    assert run.restored is not None
    parameters = FlatParameters(build(config, *own_environment.interface(config)))
    whole = restore(run.restored, config, parameters)
    assert whole.updates == checkpoint.state.facts["updates"]
    again = state(whole, checkpoint.state.step, config, parameters, {})
    assert again.tensors.keys() == checkpoint.state.tensors.keys()
