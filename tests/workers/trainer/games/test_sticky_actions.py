"""Tests that sticky actions match training and depend only on the seed of an episode."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from arcadia_workers.contract.config import PaacConfig, RunConfig, config_adapter
from arcadia_workers.contract.presets import PRESETS
from arcadia_workers.contract.protocols import PROTOCOLS
from arcadia_workers.trainer.environments.environments import AtariEnvironments
from arcadia_workers.trainer.evaluation.evaluating import differences
from arcadia_workers.trainer.games import playing, subjects
from arcadia_workers.trainer.games.emulator import AtariGame
from arcadia_workers.trainer.games.playing import play
from arcadia_workers.trainer.live import live_agent
from arcadia_workers.trainer.recording import replays
from tests.workers.trainer.evaluation import made_checkpoint

STICKY = PROTOCOLS["sticky-30min"]
ATARI_5 = ("BattleZone", "DoubleDunk", "NameThisGame", "Phoenix", "Qbert")


def modern(env: str = "ALE/Breakout-v5", **settings: object) -> RunConfig:
    """Return the preset of the modern protocol for a game."""
    preset = PRESETS["paac-sticky"].config.model_dump()
    return config_adapter.validate_python({**preset, "env": env, **settings})


def random_actions(count: int, seed: int = 0) -> list[int]:
    return [int(action) for action in np.random.default_rng(seed).integers(0, 18, count)]


def screens(env: str, seed: int, probability: float, actions: list[int]) -> Iterator[NDArray[np.uint8]]:
    """Yield the agent's observation after each action."""
    game = AtariGame(env, None, 4, "full", probability)
    game.begin(seed)
    for action in actions:
        game.step(action)
        yield np.asarray(game.observation)


@pytest.mark.required_cases(1)
@pytest.mark.parametrize("game", ["Breakout", *ATARI_5])
def test_evaluations_play_like_training(game: str) -> None:
    """Compare screens and rewards of the vector emulator and the single one for equal seeds and actions."""
    env = f"ALE/{game}-v5"
    training = AtariEnvironments(modern(env), num_envs=1, num_threads=1, seed=7)
    evaluation = AtariGame(env, STICKY.cap_frames, 4, "full", STICKY.repeat_action_probability)
    assert training.actions == evaluation.actions
    first = training.reset()
    evaluation.begin(7)
    assert (first[0] == evaluation.observation).all()
    score = 0.0
    for action in random_actions(300):
        training.send(np.array([action]))
        step = training.receive()
        evaluation.step(action)
        score += float(step.rewards[0])
        assert (evaluation.score, evaluation.over) == (score, bool(step.terminated[0]))
        # No agent sees the last screen.
        if evaluation.over:
            break
        assert (step.observations[0] == evaluation.observation).all()
    training.close()
    evaluation.close()


def test_the_same_seed_repeats_the_same_actions() -> None:
    actions = random_actions(60)
    once, again, other, never = (
        np.stack([*screens("ALE/Breakout-v5", seed, probability, actions)])
        for seed, probability in ((1, 0.25), (1, 0.25), (2, 0.25), (1, 0.0))
    )
    assert (once == again).all()
    assert (once != other).any()
    assert (once != never).any()


def test_training_is_reproducible_by_its_seed() -> None:
    def seen(seed: int) -> bytes:
        batch = AtariEnvironments(modern(), 2, 2, seed)
        batch.reset()
        for action in random_actions(30):
            batch.send(np.full(2, action))
            last = batch.receive().observations
        batch.close()
        return last.tobytes()

    assert seen(3) == seen(3) != seen(4)


def test_a_lost_life_does_not_end_the_game_and_all_actions_are_available(tmp_path: Path) -> None:
    protocol = replace(STICKY, cap_frames=8_000)
    subject = made_checkpoint.subject(tmp_path, modern(), protocol)
    (one,) = play(subject, protocol, 1, [0], playing.opening(protocol, None))
    assert one.episode.frames_before == 0
    game = subject.open_game()
    assert isinstance(game, AtariGame)
    assert len(game.action_names) == 18
    game.begin(1)
    lives = game.lives
    while game.lives == lives:
        game.step(1)
    assert not game.over


def test_the_random_policy_chooses_among_all_actions() -> None:
    game = subjects.random_subject("ALE/Pong-v5", STICKY).open_game()
    assert len(game.action_names) == 18
    assert len(subjects.random_subject("ALE/Pong-v5", PROTOCOLS["no-op-5min"]).open_game().action_names) == 6


def test_replays_and_live_games_repeat_actions_like_training() -> None:
    assert replays.of_training(modern()).protocol == "sticky-30min"
    assert live_agent.protocol_of(modern()).name == "sticky-30min"
    plain = PaacConfig(env="ALE/Breakout-v5")
    assert replays.of_training(plain).protocol == "no-op-5min"
    assert live_agent.protocol_of(plain).name == "no-op-30min"


def test_the_preset_matches_the_protocol() -> None:
    assert differences(modern(), STICKY) == ()
    unlike = differences(PaacConfig(env="ALE/Pong-v5", life_loss_ends_episode=True), STICKY)
    assert [sentence.split(".")[0] for sentence in unlike] == [
        "In training the emulator never repeats an action by chance",
        "In training the agent chose among the actions that have an effect in its game, and it still does",
        "In training a lost life ended the episode",
    ]
    assert "set Repeat-action probability to 0.25" in unlike[0]
