"""Tests that every protocol gives the same scores as a literal loop over the emulator, frame by frame."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from arcadia_workers.contract.config import A3cConfig, GorilaConfig, PaacConfig
from arcadia_workers.contract.protocols import PROTOCOLS, EvaluationProtocol
from arcadia_workers.contract.protocols.document import GREEDY, Acting, PlayedEpisode
from arcadia_workers.trainer.evaluation import evaluating
from arcadia_workers.trainer.games import playing, subjects
from arcadia_workers.trainer.games.playing import LANES, ActionTrail, play
from arcadia_workers.trainer.games.subjects import Subject
from tests.workers.trainer.evaluation import literal, made_checkpoint
from tests.workers.trainer.evaluation.literal import Result

SEED = 3


def results(
    subject: Subject, protocol: EvaluationProtocol, numbers: list[int], begin: playing.Open | None = None
) -> list[Result]:
    """Play episodes with the code under test."""
    episodes = [one.episode for one in play(subject, protocol, SEED, numbers, begin or playing.opening(protocol, None))]
    ordered: list[PlayedEpisode] = sorted(episodes, key=lambda episode: numbers.index(episode.number))
    return [Result(int(e.score), e.frames, e.length) for e in ordered]


def uniformly(seed: int, actions: int) -> Callable[[literal.Screen], int]:
    """Return a chooser that acts like the random policy."""
    random = np.random.default_rng(seed)
    return lambda _: int(random.integers(actions))


@pytest.mark.required_cases(1)
@pytest.mark.parametrize(("game", "actions"), [("breakout", 4), ("seaquest", 18)])
@pytest.mark.parametrize("name", ["no-op-5min", pytest.param("no-op-30min", marks=pytest.mark.nightly)])
def test_noop_starts_give_the_scores_of_the_literal_loop(name: str, game: str, actions: int) -> None:
    protocol = PROTOCOLS[name]
    subject = subjects.random_subject(f"ALE/{game.title()}-v5", protocol)
    literally = []
    for number in range(3):
        drawn = playing.draws(protocol, SEED, number)
        assert 1 <= drawn.noops <= 30
        begun = literal.after_noops(game, drawn.emulator_seed, drawn.noops)
        choose = uniformly(drawn.acting_seed, actions)
        literally.append(literal.play(begun, protocol.cap_frames or 0, frames_per_action=6, choose=choose))
    assert results(subject, protocol, [0, 1, 2]) == literally
    assert len({result.frames for result in literally}) == 3


# The emulator starts Name This Game with 134 frames that do not count toward the cap.
@pytest.mark.parametrize(("env", "rom"), [("ALE/Pong-v5", "pong"), ("ALE/NameThisGame-v5", "name_this_game")])
@pytest.mark.parametrize("cap", [401, 402])
def test_the_cap_includes_noops_and_can_end_an_episode_within_a_decision(cap: int, env: str, rom: str) -> None:
    protocol = replace(PROTOCOLS["no-op-5min"], cap_frames=cap)
    subject = subjects.random_subject(env, protocol)
    (one,) = play(subject, protocol, SEED, [0], playing.opening(protocol, None))
    drawn = playing.draws(protocol, SEED, 0)
    assert one.episode.frames_before == drawn.noops
    assert (one.episode.frames, one.episode.ended) == (cap, "cut off")
    begun = literal.after_noops(rom, drawn.emulator_seed, drawn.noops)
    expected = literal.play(begun, cap, 6, uniformly(drawn.acting_seed, 6))
    assert Result(int(one.episode.score), one.episode.frames, one.episode.length) == expected


def test_an_agent_sees_and_acts_as_in_the_literal_loop(tmp_path: Path) -> None:
    protocol = replace(PROTOCOLS["no-op-5min"], cap_frames=1000)
    config = PaacConfig(env="ALE/Pong-v5")
    subject = made_checkpoint.subject(tmp_path, config, protocol, GREEDY)
    chosen: list[int] = []

    def greedily(screens: literal.Screen) -> int:
        batch = torch.from_numpy(np.stack([screens] * LANES))
        chosen.append(int(subject.network.predict(batch, ())[0].numbers[0].argmax()))
        return chosen[-1]

    drawn = playing.draws(protocol, SEED, 0)
    begun = literal.after_noops("pong", drawn.emulator_seed, drawn.noops)
    expected = literal.play(begun, 1000, frames_per_action=4, choose=greedily)
    assert results(subject, protocol, [0]) == [expected]
    assert expected.length == len(chosen) > 100
    assert len(set(chosen)) > 1


def random_trails(game: str, episodes: int) -> list[ActionTrail]:
    """Return the action trails of the random policy."""
    protocol = replace(PROTOCOLS["no-op-30min"], cap_frames=1500)
    subject = subjects.random_subject(game, protocol)
    played = play(subject, protocol, SEED, range(episodes), playing.opening(protocol, None))
    return [one.trail for one in played if one.trail]


@pytest.mark.required_cases(1)
@pytest.mark.parametrize("name", [pytest.param("human-starts", marks=pytest.mark.nightly), "agent-starts"])
def test_starts_give_the_scores_of_the_literal_loop_without_points_before_the_start(name: str) -> None:
    env, protocol = "ALE/Seaquest-v5", replace(PROTOCOLS[name], cap_frames=1600)
    assert protocol.starts_from
    trails, source = random_trails(env, 3), "the random policy"
    points = evaluating.cut(env, trails, 4, seed=1, player=protocol.starts_from, source=source)
    literally, points_before = [], 0
    for number, start in enumerate(points.starts):
        begun = literal.at_start_point("seaquest", start.seed, start.actions)
        points_before += begun.score
        choose = uniformly(playing.draws(protocol, SEED, number).acting_seed, 18)
        literally.append(literal.play(begun, 1600, 6, choose, own_points_only=True))
    assert points_before > 0
    assert 1600 in {result.frames for result in literally}  # includes the frames before the start
    subject = subjects.random_subject(env, protocol)
    assert results(subject, protocol, list(range(4)), playing.opening(protocol, points)) == literally


def test_plain_episodes_give_the_scores_of_a_gymnasium_loop() -> None:
    import gymnasium

    protocol = PROTOCOLS["episodes"]
    literally = []
    for number in range(10):
        drawn = playing.draws(protocol, SEED, number)
        env, choose, score, over = gymnasium.make("CartPole-v1"), np.random.default_rng(drawn.acting_seed), 0.0, False
        env.reset(seed=drawn.emulator_seed)
        while not over:
            _, reward, terminated, truncated, _ = env.step(int(choose.integers(2)))
            score, over = score + float(reward), terminated or truncated
        literally.append(Result(int(score), int(score), int(score)))
    assert results(subjects.random_subject("CartPole-v1", protocol), protocol, list(range(10))) == literally


@pytest.mark.required_cases(1)
@pytest.mark.parametrize(
    ("config", "acting"),
    [
        pytest.param(PaacConfig(env="ALE/Breakout-v5"), None, id="policy"),
        pytest.param(GorilaConfig(env="ALE/Breakout-v5"), None, id="values", marks=pytest.mark.nightly),
        pytest.param(A3cConfig(env="Arcadia/Catch-v0", lstm_units=8), None, id="memory"),
        pytest.param(A3cConfig(env="Arcadia/Target-v0", lstm_units=8), GREEDY, id="continuous"),
    ],
)
def test_a_score_does_not_depend_on_other_episodes(
    config: PaacConfig | GorilaConfig | A3cConfig, acting: Acting | None, tmp_path: Path
) -> None:
    atari = config.environment.family.has_start_points
    protocol = replace(PROTOCOLS["no-op-5min"], cap_frames=200) if atari else PROTOCOLS["episodes"]
    subject = made_checkpoint.subject(tmp_path, config, protocol, acting)
    numbers = list(range(LANES + 1))
    together = results(subject, protocol, numbers)
    assert together == results(subject, protocol, numbers)
    alone = [results(subject, protocol, [number])[0] for number in (0, 5, LANES)]
    assert alone == [together[number] for number in (0, 5, LANES)]


def test_an_agents_lstm_is_cleared_at_the_end_of_an_episode(tmp_path: Path) -> None:
    """Compare consecutive episodes in one lane with episodes played alone, which begin with an empty memory."""
    protocol = PROTOCOLS["episodes"]
    subject = made_checkpoint.subject(tmp_path, A3cConfig(env="CartPole-v1", lstm_units=32), protocol, GREEDY)
    numbers = list(range(0, 10 * LANES, LANES))
    assert results(subject, protocol, numbers) == [results(subject, protocol, [number])[0] for number in numbers]
