"""Helpers that make agents with untrained weights, as run directories and as unpacked agent files."""

import importlib.util
import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from arcadia_workers.contract.agents import document as names
from arcadia_workers.contract.agents.writing import AgentSource, write_agent
from arcadia_workers.contract.config import RunConfig, TrainingConfig, config_adapter
from arcadia_workers.contract.protocols import PROTOCOLS, EvaluationProtocol
from arcadia_workers.trainer.games import playing, subjects
from arcadia_workers.trainer.games.playing import play
from tests.workers.trainer.evaluation import made_checkpoint

STEP, FRAMES = 1_000, 4_000
TITLES: dict[str, dict[str, Any]] = {
    "cartpole": {"algorithm": "paac", "env": "CartPole-v1"},
    "pong": {"algorithm": "paac", "env": "ALE/Pong-v5", "network": "nips"},
    "pong-large": {"algorithm": "ga3c", "env": "ALE/Pong-v5", "network": "large-stride-2", "action_set": "full"},
    "lstm": {"algorithm": "a3c", "env": "CartPole-v1", "lstm_units": 16},
    "pong-lstm": {"algorithm": "a3c", "env": "ALE/Pong-v5", "lstm_units": 32},
    "continuous": {"algorithm": "a3c", "env": "Pendulum-v1", "lstm_units": 16, "activation": "relu"},
    "q": {"algorithm": "paac_q", "env": "CartPole-v1"},
    "dueling": {"algorithm": "gorila", "env": "ALE/Breakout-v5", "network": "nature", "dueling": True},
    "catch": {"algorithm": "paac", "env": "Arcadia/Catch-v0", "hidden_layers": 3},
}


def config_of(title: str) -> RunConfig:
    """Return one of the configurations."""
    return config_adapter.validate_python({"total_steps": 100_000, **TITLES[title]})


def save_checkpoint(directory: Path, config: RunConfig) -> Path:
    """Save a checkpoint with untrained weights. Return its path."""
    return directory / made_checkpoint.write(directory, config, STEP)


def names_of_protocols(config: TrainingConfig) -> list[str]:
    """Return the names of the protocols that fit a configuration."""
    return [name for name, protocol in PROTOCOLS.items() if protocol.fits(config.environment.family)]


@dataclass(frozen=True)
class UnpackedAgent:
    """An unpacked agent file and the run directory that it was made from."""

    folder: Path
    directory: Path

    @property
    def document(self) -> dict[str, Any]:
        """Return the content of agent.json."""
        document: dict[str, Any] = json.loads((self.folder / names.MANIFEST).read_text())
        return document

    @property
    def player(self) -> ModuleType:
        """Return play.py of the file as a module."""
        spec = importlib.util.spec_from_file_location("play", self.folder / names.PLAYER)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    def set_cap(self, frames: int) -> None:
        """Limit the frames of episodes."""
        document = self.document
        for protocol in document["protocols"]:
            protocol["cap_frames"] = frames
        (self.folder / names.MANIFEST).write_text(json.dumps(document))


def unpacked(tmp_path: Path, config: RunConfig, **source: Any) -> UnpackedAgent:
    """Return the unpacked agent file of an untrained checkpoint."""
    directory = tmp_path / "run"
    path = save_checkpoint(directory, config)
    file = tmp_path / "made.agent.zip"
    with file.open("wb") as target:
        write_agent(AgentSource("A run", path.read_bytes(), **source), target)
    with zipfile.ZipFile(file) as archive:
        archive.extractall(tmp_path / "unpacked")
    return UnpackedAgent(tmp_path / "unpacked", directory)


def evaluate(
    directory: Path, protocol: EvaluationProtocol, seed: int, episodes: int, acting: Any = None
) -> list[float]:
    """Return the scores of an evaluation in Arcadia."""
    checkpoint, config = subjects.read(directory, None)
    subject = subjects.agent_subject(checkpoint, config, protocol, acting)
    played = play(subject, protocol, seed, range(episodes), playing.opening(protocol, None))
    return [one.episode.score for one in sorted(played, key=lambda one: one.episode.number)]


def random_states(shape: list[int], *, pixels: bool, count: int = 256) -> Any:
    """Return random observations."""
    random = np.random.default_rng(1)
    if pixels:
        return random.integers(256, size=(count, *shape), dtype=np.uint8)
    return random.normal(size=(count, *shape)).astype(np.float32)
