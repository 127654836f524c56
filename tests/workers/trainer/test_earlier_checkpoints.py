"""Tests that every method plays checkpoints of an earlier version and continues from them."""

import hashlib
import json
import sqlite3
from pathlib import Path

import pytest
import safetensors.torch

from arcadia_workers.contract import layout
from arcadia_workers.contract.config import GorilaConfig, PaacConfig, config_adapter
from arcadia_workers.contract.layout import METADATA
from arcadia_workers.contract.tracks import RENAMED
from arcadia_workers.trainer import commands, launching, replay
from arcadia_workers.trainer.environments import own_environment
from arcadia_workers.trainer.learning.optimizers import FlatParameters
from arcadia_workers.trainer.methods import TRAINERS
from arcadia_workers.trainer.methods.gorila.gorila import build
from arcadia_workers.trainer.methods.gorila.train import restore, state
from arcadia_workers.trainer.run import checkpoints
from arcadia_workers.trainer.run.checkpoints import LoadedCheckpoint
from arcadia_workers.trainer.run.run import NullRun, snapshot
from tests.earlier_installation import METHODS, unpack

MORE_STEPS = 200
KEPT = """
    SELECT c.run_id, f.stored_path, c.sha256, c.bytes, c.step, c.frames
    FROM checkpoints c JOIN files f ON f.id = c.file_id ORDER BY c.id
"""


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Return a run directory with the checkpoint of each run, named by its number."""
    unpack(tmp_path)
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "replays").mkdir()
    with sqlite3.connect(tmp_path / "data" / "arcadia.db") as database:
        rows = database.execute(KEPT).fetchall()
    for number, stored, sha256, size, step, frames in rows:
        file = f"checkpoints/{number}.safetensors"
        (tmp_path / "data" / "files" / stored).rename(tmp_path / file)
        manifest = {"file": file, "sha256": sha256, "bytes": size, "step": step, "frames": frames}
        (tmp_path / file).with_suffix(".json").write_text(json.dumps(manifest))
    return tmp_path


def read(directory: Path, number: int) -> LoadedCheckpoint:
    """Read a run's checkpoint."""
    return checkpoints.read(directory / "checkpoints" / f"{number}.safetensors")


@pytest.mark.required_cases(1)
@pytest.mark.parametrize("number", METHODS)
def test_an_earlier_checkpoint_plays_an_episode(directory: Path, number: int) -> None:
    assert replay.record(directory, f"checkpoints/{number}.safetensors").episode_return > 0


@pytest.mark.parametrize("number", [4, 5, 6])
def test_training_continues_from_an_earlier_checkpoint(directory: Path, number: int) -> None:
    checkpoint = read(directory, number)
    config = config_adapter.validate_python(checkpoint.config)
    assert config.algorithm == METHODS[number]
    run = NullRun(restored=checkpoint.state)
    TRAINERS[config.algorithm].train(config.model_copy(update={"total_steps": checkpoint.state.step + MORE_STEPS}), run)
    assert run.saved[-1].step >= checkpoint.state.step + MORE_STEPS
    assert run.saved[-1].tensors.keys() == checkpoint.state.tensors.keys()


def test_gorilas_server_restores_an_earlier_checkpoint(directory: Path) -> None:
    checkpoint = read(directory, 10)
    config = GorilaConfig.model_validate(checkpoint.config)
    run = NullRun(restored=snapshot(checkpoint.state))
    assert run.restored is not None
    parameters = FlatParameters(build(config, *own_environment.interface(config)))
    whole = restore(run.restored, config, parameters)
    assert whole.updates == checkpoint.state.facts["updates"]
    again = state(whole, checkpoint.state.step, config, parameters, {})
    assert again.tensors.keys() == checkpoint.state.tensors.keys()


def with_earlier_names(text: str) -> str:
    """Return the JSON of a configuration in the format of an earlier version."""
    for old, new in RENAMED.items():
        text = text.replace(new, old)
    return text


def rename_as_before(path: Path) -> None:
    """Give a checkpoint the metadata of an earlier version."""
    tensors = safetensors.torch.load_file(path)
    with safetensors.safe_open(path, "pt") as file:
        metadata = file.metadata()[METADATA]
    content = safetensors.torch.save(tensors, {METADATA: with_earlier_names(metadata)})
    path.write_bytes(content)
    manifest = json.loads(path.with_suffix(".json").read_text())
    manifest |= {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    path.with_suffix(".json").write_text(json.dumps(manifest))


def test_a_checkpoint_with_earlier_field_names_continues_and_is_evaluated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = PaacConfig(
        env="CartPole-v1", num_envs=4, total_steps=200, centered_inputs=True, initialization="orthogonal"
    )
    run = NullRun()
    TRAINERS["paac"].train(config, run)
    path = tmp_path / checkpoints.write(tmp_path, run.saved[-1], config, {}).file
    rename_as_before(path)
    (tmp_path / layout.CONFIG).write_text(config.model_dump_json())
    assert b"centred_inputs" in path.read_bytes()

    arguments = ["--dir", str(tmp_path), "--resume", "--set", "total_steps=400"]
    launch = launching.read(launching.parser().parse_args(arguments))
    assert launch.config == config.model_copy(update={"total_steps": 400})
    restored = checkpoints.newest(tmp_path, pytest.fail)
    assert restored is not None
    continued = NullRun(restored=restored.state)
    TRAINERS["paac"].train(launch.config, continued)
    assert continued.saved[-1].step >= 400

    options = ["evaluate", "--run-dir", str(tmp_path), "--protocol", "episodes", "--episodes", "2", "--json"]
    assert commands.main(options) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["algorithm"], len(document["episodes"])) == ("paac", 2)
