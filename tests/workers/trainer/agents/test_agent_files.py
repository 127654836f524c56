"""Tests for agent files of run directories."""

import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch
import yaml

from arcadia_workers.contract import layout
from arcadia_workers.contract.agents import document as names
from arcadia_workers.contract.agents import weights
from arcadia_workers.contract.agents.document import AgentDocument
from arcadia_workers.contract.protocols.document import SAMPLED, EvaluationDocument
from arcadia_workers.trainer.agents import main
from arcadia_workers.trainer.run import checkpoints
from tests.workers.trainer.agents.made_agents import FRAMES, STEP, TITLES, config_of, save_checkpoint, unpacked
from tests.workers.trainer.evaluation import made_checkpoint


def evaluation(scores: list[float]) -> EvaluationDocument:
    """Return the document of an evaluation."""
    return EvaluationDocument(
        protocol="episodes",
        env="CartPole-v1",
        algorithm="paac",
        checkpoint_step=STEP,
        acting=SAMPLED,
        seed=1,
        frames_per_action=1,
        scores=scores,
        mean=sum(scores) / len(scores),
        median=sorted(scores)[len(scores) // 2],
        standard_error=1.0,
        interval=(min(scores), max(scores)),
        human_normalized=None,
        episodes=[],
    )


@pytest.mark.parametrize("title", TITLES)
def test_the_document_describes_every_network(tmp_path: Path, title: str) -> None:
    agent = unpacked(tmp_path, config_of(title))
    document = AgentDocument.model_validate(agent.document)
    assert document.network is not None
    loaded = safetensors.torch.load_file(agent.folder / names.WEIGHTS)
    assert set(document.network.weight_names()) == loaded.keys()
    assert (document.step, document.frames) == (STEP, FRAMES)
    assert document.config["env"] == document.environment.id == TITLES[title]["env"]


def test_every_member_is_listed_with_its_hash(tmp_path: Path) -> None:
    agent = unpacked(tmp_path, config_of("cartpole"))
    listed = {each["path"]: each["sha256"] for each in agent.document["contents"]}
    found = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in agent.folder.iterdir()
        if path.name != names.MANIFEST
    }
    assert found == listed
    assert set(listed) == {names.WEIGHTS, names.ONNX, names.CARD, names.CONFIG, names.PLAYER}


def test_the_card_has_the_metadata_of_the_hub(tmp_path: Path) -> None:
    found = evaluation([10.0, 12.0, 20.0])
    agent = unpacked(tmp_path, config_of("cartpole"), evaluations=[found], curve=[(0, 1.0), (100, 9.5)])
    _, front, text = (agent.folder / names.CARD).read_text().split("---\n", 2)
    metadata: dict[str, Any] = yaml.safe_load(front)
    assert metadata["library_name"] == "arcadia"
    assert {"reinforcement-learning", "CartPole-v1", "paac"} <= set(metadata["tags"])
    (result,) = metadata["model-index"][0]["results"]
    assert result["dataset"]["name"] == "CartPole-v1"
    assert result["metrics"][0]["type"] == "mean_reward"
    assert result["metrics"][0]["value"] == "14.00 +/- 4.32"
    assert "| episodes | sampled | 3 | 14 | 10 to 20 | 12 | – | 1 |" in text
    assert "<svg" in (agent.folder / names.CURVE).read_text()


def test_a_checkpoint_in_bfloat16_keeps_its_numbers(tmp_path: Path) -> None:
    config = config_of("cartpole")
    state = made_checkpoint.state(config, STEP)
    state.tensors = {name: tensor.bfloat16() for name, tensor in state.tensors.items()}
    checkpoints.write(tmp_path / "run", state, config, {})
    file = tmp_path / "half.agent.zip"
    assert main(["export", "--run-dir", str(tmp_path / "run"), str(file)]) == 0
    with zipfile.ZipFile(file) as archive:
        tensors = weights.read(archive.read(names.WEIGHTS))
    assert weights.read(weights.pack(tensors, {})) == tensors
    for name, tensor in state.component("network").items():
        assert torch.equal(torch.from_numpy(tensors[name].to_float32()), tensor.float())


def test_a_run_directory_is_exported_with_its_curve_and_replay(tmp_path: Path) -> None:
    directory = tmp_path / "run"
    save_checkpoint(directory, config_of("cartpole"))
    (directory / layout.REPLAYS).mkdir()
    (directory / layout.replay_file(STEP)).write_bytes(b"film")
    episodes = [{"step": s, "frames": s, "episode_return": float(s), "length": 1} for s in (10, 500, 2_000)]
    events = [
        {"kind": "metrics", "episodes": episodes},
        {"kind": "checkpoint", "step": STEP, "best": True},
    ]
    (directory / layout.EVENTS).write_text("\n".join(map(json.dumps, events)) + '\n{"kind": "met')
    score = tmp_path / "score.json"
    score.write_text(evaluation([1.0, 2.0]).model_dump_json())
    file = tmp_path / "a.agent.zip"
    arguments = ["export", "--run-dir", str(directory), "--checkpoint", "best", "--evaluation", str(score), str(file)]
    assert main(arguments) == 0
    with zipfile.ZipFile(file) as archive:
        assert archive.read(names.REPLAY) == b"film"
        document = json.loads(archive.read(names.MANIFEST))
        assert [each["mean"] for each in document["evaluations"]] == [1.5]
        assert archive.read(names.CURVE).count(b"polyline") == 1
    assert main(arguments) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--checkpoint", "7"], "has no checkpoint '7'; it has 1000"),
        (["--checkpoint", "best"], "no best checkpoint"),
        (["--evaluation", "nowhere.json"], "cannot be read"),
    ],
)
def test_mistakes_are_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    save_checkpoint(tmp_path / "run", config_of("cartpole"))
    assert main(["export", "--run-dir", str(tmp_path / "run"), *arguments, str(tmp_path / "a.zip")]) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "a.zip").exists()
