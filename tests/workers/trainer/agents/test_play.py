"""Tests that play.py of agent files gets the same scores as an evaluation."""

from dataclasses import replace
from pathlib import Path

import pytest

from arcadia_workers.contract.protocols import PROTOCOLS
from arcadia_workers.contract.protocols.document import GREEDY, Acting
from tests.workers.trainer.agents.made_agents import config_of, evaluate, names_of_protocols, unpacked

CAP_FRAMES = 600


@pytest.mark.parametrize(
    ("title", "episodes"),
    [("cartpole", 12), ("lstm", 12), ("continuous", 3), ("q", 12), ("catch", 12)],
)
def test_environments_of_gymnasium_get_the_same_scores(tmp_path: Path, title: str, episodes: int) -> None:
    agent = unpacked(tmp_path, config_of(title))
    expected = evaluate(agent.directory, PROTOCOLS["episodes"], 7, episodes)
    assert agent.player.main(["--seed", "7", "--episodes", str(episodes)]) == expected
    assert len(set(expected)) > 1


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("pong", "no-op-5min"),
        ("pong-large", "sticky-30min"),
        ("pong-lstm", "no-op-5min"),
        ("dueling", "no-op-5min"),
    ],
)
def test_atari_games_get_the_same_scores(tmp_path: Path, title: str, name: str) -> None:
    agent = unpacked(tmp_path, config_of(title))
    agent.set_cap(CAP_FRAMES)
    protocol = replace(PROTOCOLS[name], cap_frames=CAP_FRAMES)
    expected = evaluate(agent.directory, protocol, 2, 9)
    assert agent.player.main(["--seed", "2", "--episodes", "9", "--protocol", name]) == expected
    assert any(expected)


@pytest.mark.parametrize("title", ["cartpole", "continuous", "q"])
def test_every_way_to_act_gets_the_same_scores(tmp_path: Path, title: str) -> None:
    agent = unpacked(tmp_path, config_of(title))
    expected = evaluate(agent.directory, PROTOCOLS["episodes"], 1, 2, GREEDY)
    assert agent.player.main(["--episodes", "2", "--acting", "greedy"]) == expected
    if title != "continuous":
        expected = evaluate(agent.directory, PROTOCOLS["episodes"], 1, 2, Acting(name="epsilon-greedy", epsilon=0.3))
        assert agent.player.main(["--episodes", "2", "--acting", "epsilon-greedy", "--epsilon", "0.3"]) == expected


def test_the_default_protocol_is_that_of_the_run(tmp_path: Path) -> None:
    config = config_of("pong").model_copy(update={"evaluation_protocol": "no-op-30min"})
    listed = [protocol["name"] for protocol in unpacked(tmp_path, config).document["protocols"]]
    assert listed[0] == "no-op-30min"
    assert set(listed) == set(names_of_protocols(config)) - {"human-starts", "agent-starts"}


def test_action_values_cannot_be_sampled(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    agent = unpacked(tmp_path, config_of("q"))
    with pytest.raises(SystemExit):
        agent.player.main(["--acting", "sampled"])
    assert "use epsilon-greedy" in capsys.readouterr().err
