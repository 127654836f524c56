"""Tests that checkpoints are restored exactly and damage is detected."""

import hashlib
import json
import math
from pathlib import Path

import pytest
import safetensors.torch
import torch
from safetensors.torch import load_file

from arcadia_workers.contract import layout
from arcadia_workers.contract.layout import METADATA
from arcadia_workers.contract.presets import PRESETS
from arcadia_workers.trainer.run import checkpoints
from arcadia_workers.trainer.run.checkpoints import CheckpointError
from arcadia_workers.trainer.run.run import TrainingState, snapshot

CONFIG = PRESETS["paac-cartpole"].config


def state(step: int = 100) -> TrainingState:
    """Return a state with tensors of several shapes and types."""
    tensors = {
        "network.weight": torch.randn(3, 4, generator=torch.Generator().manual_seed(step)),
        "network.bias": torch.arange(3, dtype=torch.bfloat16),
        "optimizer.count": torch.tensor(7),
        "sampler.random": torch.Generator().manual_seed(1).get_state(),
    }
    return TrainingState(step, 4 * step, tensors, {"counter": 3, "list": [1, "two", None]})


def write(directory: Path, step: int = 100) -> Path:
    """Write a checkpoint and return its path."""
    return directory / checkpoints.write(directory, state(step), CONFIG, {"torch": "1"}).file


def flip_a_byte(path: Path) -> None:
    """Damage a file by changing a byte in its middle."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def test_a_state_is_restored_exactly(tmp_path: Path) -> None:
    written = state()
    checkpoints.write(tmp_path, written, CONFIG, {})
    checkpoint = checkpoints.newest(tmp_path, pytest.fail)
    assert checkpoint is not None
    read = checkpoint.state
    assert (read.step, read.frames, read.facts) == (100, 400, {"counter": 3, "list": [1, "two", None]})
    assert read.tensors.keys() == written.tensors.keys()
    for name, tensor in written.tensors.items():
        assert read.tensors[name].dtype == tensor.dtype
        assert torch.equal(read.tensors[name], tensor)
    assert checkpoint.config == CONFIG.model_dump(mode="json")


def test_a_restored_random_state_continues_its_sequence(tmp_path: Path) -> None:
    random = torch.Generator().manual_seed(5)
    torch.randn(10, generator=random)
    checkpoints.write(tmp_path, TrainingState(1, 1, {"random": random.get_state()}), CONFIG, {})
    expected = torch.randn(3, generator=random)
    restored = torch.Generator()
    restored.set_state(checkpoints.read(tmp_path / layout.checkpoint_file(1)).state.tensors["random"])
    assert torch.equal(torch.randn(3, generator=restored), expected)


def test_the_file_is_plain_safetensors_and_its_manifest_has_its_hash(tmp_path: Path) -> None:
    path = write(tmp_path)
    assert "network.weight" in load_file(path)
    manifest = json.loads(path.with_suffix(".json").read_text())
    assert manifest == {
        "file": "checkpoints/step-000000000100.safetensors",
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "bytes": path.stat().st_size,
        "step": 100,
        "frames": 400,
    }


def test_equal_states_give_equal_files(tmp_path: Path) -> None:
    assert write(tmp_path / "a").read_bytes() == write(tmp_path / "b").read_bytes()


def test_the_newest_checkpoint_is_used(tmp_path: Path) -> None:
    for step in (9, 100, 20):
        write(tmp_path, step)
    checkpoint = checkpoints.newest(tmp_path, pytest.fail)
    assert checkpoint is not None
    assert checkpoint.state.step == 100


def test_without_checkpoints_there_is_nothing_to_resume(tmp_path: Path) -> None:
    assert checkpoints.newest(tmp_path, pytest.fail) is None


@pytest.mark.parametrize("damage", ["flip", "truncate", "remove", "manifest"])
def test_a_damaged_newest_checkpoint_is_reported_and_the_previous_one_is_used(tmp_path: Path, damage: str) -> None:
    write(tmp_path, 50)
    path = write(tmp_path, 100)
    match damage:
        case "flip":
            flip_a_byte(path)
        case "truncate":
            path.write_bytes(path.read_bytes()[:-10])
        case "remove":
            path.unlink()
        case _:
            path.with_suffix(".json").write_text("{")
    warnings: list[str] = []
    checkpoint = checkpoints.newest(tmp_path, warnings.append)
    assert checkpoint is not None
    assert checkpoint.state.step == 50
    assert len(warnings) == 1
    assert "step-000000000100" in warnings[0]
    assert "continuing from step 50" in warnings[0]


@pytest.mark.parametrize("wrong", [math.nan, math.inf])
def test_a_diverged_newest_checkpoint_is_reported_and_the_previous_one_is_used(tmp_path: Path, wrong: float) -> None:
    write(tmp_path, 50)
    diverged = state(100)
    diverged.tensors["network.bias"][1] = wrong
    checkpoints.write(tmp_path, diverged, CONFIG, {})
    warnings: list[str] = []
    checkpoint = checkpoints.newest(tmp_path, warnings.append)
    assert checkpoint is not None
    assert checkpoint.state.step == 50
    assert "step-000000000100.safetensors has weights that are NaN or infinite" in warnings[0]


def test_if_all_checkpoints_are_damaged_the_error_gives_advice(tmp_path: Path) -> None:
    flip_a_byte(write(tmp_path, 50))
    flip_a_byte(write(tmp_path, 100))
    with pytest.raises(CheckpointError, match=r"no checkpoint can be read: .*100.*50.*delete"):
        checkpoints.newest(tmp_path, pytest.fail)


def test_a_manifest_cannot_name_a_file_outside_its_folder(tmp_path: Path) -> None:
    path = write(tmp_path)
    manifest = json.loads(path.with_suffix(".json").read_text())
    path.rename(tmp_path / "elsewhere.safetensors")
    path.with_suffix(".json").write_text(json.dumps({**manifest, "file": "../elsewhere.safetensors"}))
    with pytest.raises(CheckpointError, match="cannot be read"):
        checkpoints.newest(tmp_path, pytest.fail)


def rewrite(path: Path, content: bytes) -> None:
    """Replace the content of a checkpoint and update the hash in its manifest."""
    path.write_bytes(content)
    manifest = json.loads(path.with_suffix(".json").read_text())
    hashed = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    path.with_suffix(".json").write_text(json.dumps({**manifest, **hashed}))


WHOLE = {"step": 1, "frames": 4, "facts": {}, "config": {}}


@pytest.mark.parametrize(
    "reported", [[], {**WHOLE, "config": [1]}, {**WHOLE, "step": "x"}, {**WHOLE, "facts": None}, None]
)
def test_a_file_with_invalid_metadata_is_not_a_checkpoint(tmp_path: Path, reported: object) -> None:
    path = write(tmp_path)
    metadata = {METADATA: json.dumps(reported)} if reported is not None else None
    rewrite(path, safetensors.torch.save({"x": torch.zeros(1)}, metadata))
    with pytest.raises(CheckpointError, match="is not a checkpoint: its metadata is missing or damaged"):
        checkpoints.read(path)


@pytest.mark.parametrize("content", [b"", b"\x02" + 7 * b"\0" + b"[]", b"rubbish"])
def test_a_file_of_another_format_is_not_a_checkpoint(tmp_path: Path, content: bytes) -> None:
    path = write(tmp_path)
    rewrite(path, content)
    with pytest.raises(CheckpointError, match="is not a checkpoint"):
        checkpoints.read(path)


def test_a_damaged_manifest_is_named(tmp_path: Path) -> None:
    path = write(tmp_path)
    path.with_suffix(".json").write_text("{")
    with pytest.raises(CheckpointError, match=r"its manifest, step-000000000100\.json, is damaged"):
        checkpoints.read(path)


def test_prune_keeps_only_the_listed_files(tmp_path: Path) -> None:
    for step in (1, 2, 3):
        write(tmp_path, step)
    checkpoints.prune(tmp_path, [layout.checkpoint_file(2)])
    assert sorted(path.name for path in (tmp_path / "checkpoints").iterdir()) == [
        "step-000000000002.json",
        "step-000000000002.safetensors",
    ]


def test_tidy_removes_files_without_a_manifest(tmp_path: Path) -> None:
    write(tmp_path, 1)
    write(tmp_path, 2).with_suffix(".json").unlink()
    (tmp_path / "checkpoints/.step-000000000003.safetensors.tmp").write_bytes(b"half")
    checkpoints.tidy(tmp_path)
    assert len(list((tmp_path / "checkpoints").iterdir())) == 2


def test_a_snapshot_does_not_change_during_training(tmp_path: Path) -> None:
    flat = torch.zeros(32)
    # Overlapping and strided, like possible views of a flat buffer.
    views = {
        "first": flat[:16].view(4, 4).t(),
        "second": flat[8:],
    }
    copy = snapshot(TrainingState(1, 1, views))
    flat.add_(1)
    checkpoints.write(tmp_path, copy, CONFIG, {})
    read = checkpoints.read(tmp_path / layout.checkpoint_file(1)).state.tensors
    assert not read["first"].any()
    assert not read["second"].any()
