"""Tests of the package in Arcadia: its presets train, and its agents are recorded and evaluated."""

from pathlib import Path

import pytest
from arcadia.plugins import METHODS, PRESETS, Environment
from arcadia.plugins.training import TRAINERS, NullRun
from arcadia_ppo.config import PpoConfig

from arcadia_workers.contract import events
from arcadia_workers.contract.events import event_adapter
from arcadia_workers.contract.games import ENVIRONMENTS
from arcadia_workers.contract.protocols import PROTOCOLS
from arcadia_workers.contract.tracks import read
from arcadia_workers.trainer import replay, session
from arcadia_workers.trainer.errors import StopRequest
from arcadia_workers.trainer.games import playing, subjects
from arcadia_workers.trainer.games.playing import play
from arcadia_workers.trainer.launching import Launch
from arcadia_workers.trainer.run.journal import Journal

OWN = [name for name, preset in PRESETS.items() if preset.config.algorithm == "ppo"]
FEW = {"num_envs": 2, "t_max": 8, "minibatch_size": 8, "checkpoint_seconds": 60}


def test_the_method_is_registered_with_its_presets() -> None:
    assert METHODS["ppo"].config is PpoConfig
    assert {"ppo-pong", "ppo-cartpole", "ppo-half-cheetah", "ppo-hopper", "ppo-walker2d"} <= set(OWN)


@pytest.mark.parametrize("name", OWN)
def test_a_preset_makes_its_first_updates(name: str) -> None:
    config = PRESETS[name].config
    run = NullRun(stop_at_step=16)
    TRAINERS["ppo"].train(type(config).model_validate(config.model_dump() | FEW), run)
    assert run.step >= 16
    assert run.updates > 0
    assert run.saved[-1].step == run.step


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"env": "Arcadia/Target-v0", "normalize_observations": True}, id="continuous"),
        pytest.param({"env": "Arcadia/Recall-v0", "lstm_units": 4}, id="memory"),
    ],
)
def test_an_agent_is_trained_recorded_and_evaluated(fields: dict[str, object], tmp_path: Path) -> None:
    config = PpoConfig.model_validate({"total_steps": 64, **FEW, **fields})
    with Journal(tmp_path) as journal:
        assert session.train(Launch(config, tmp_path, resume=False, progress_bar=False), journal, StopRequest()) == 0
    reported = [event_adapter.validate_json(line) for line in (tmp_path / "events.jsonl").read_bytes().splitlines()]
    saved = [event for event in reported if isinstance(event, events.CheckpointEvent)][-1]

    assert replay.record(tmp_path, saved.checkpoint.file).complete
    track = read(next(tmp_path.rglob("*.npz")))
    actions = len(track.head.action_names)
    environment: Environment = ENVIRONMENTS[config.env]
    assert track.columns["numbers"].shape[1] == (2 * actions if environment.actions == "continuous" else actions)

    checkpoint, read_config = subjects.read(tmp_path, None)
    protocol = PROTOCOLS["episodes"]
    subject = subjects.agent_subject(checkpoint, read_config, protocol, None)
    played = list(play(subject, protocol, 1, [0, 1], playing.opening(protocol, None)))
    assert len(played) == 2
