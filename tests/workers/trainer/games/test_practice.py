"""Tests that batches with practice play as ordinary ones, and begin where a reviewed episode was."""

from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from arcadia_workers.contract.config import A3cConfig, RunConfig
from arcadia_workers.contract.practice import ACTION_SYMBOLS, PracticeConfig, PracticedEpisode
from arcadia_workers.trainer.environments import environments
from arcadia_workers.trainer.environments.environments import Environments, EnvironmentStep
from arcadia_workers.trainer.games.emulator import AtariGame
from arcadia_workers.trainer.games.games import PlayableGame
from arcadia_workers.trainer.games.practice import PracticeStartError, begin, open_game, reach

# One environment of each family with discrete actions, and pixels beside vectors. The vectorized CartPole draws its
# random numbers together, so a single one is compared.
GYMNASIUM = {
    "Arcadia/Catch-v0": 3,
    "CartPole-v1": 1,
    "Acrobot-v1": 2,
    "LunarLander-v3": 2,
    "Arcadia/Labyrinth-v0": 2,
    "Arcadia/CarRacing-v0": 1,
}
SEED = 5


@pytest.fixture(autouse=True)
def _headless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


def atari(**settings: object) -> RunConfig:
    """Return the configuration of a game that always begins in the same way."""
    return A3cConfig.model_validate({"env": "ALE/Breakout-v5", "min_noops": 1, "max_noops": 1, **settings})


def played(game: PlayableGame, actions: Sequence[int], noops: int = 0) -> PlayableGame:
    """Play an episode up to the end of the actions."""
    begin(game, SEED, noops)
    for action in actions:
        game.step(action)
    assert not game.over
    return game


def practicing(
    config: RunConfig, actions: Sequence[int], share: float, *, noops: int = 0, before: int = 2
) -> RunConfig:
    """Return the configuration with practice from a mistake after these actions."""
    game = played(open_game(config, 0.0), actions, noops)
    episode = PracticedEpisode(
        seed=SEED,
        noops=noops,
        actions="".join(ACTION_SYMBOLS[action] for action in actions),
        mistakes=(len(actions),),
        seen=float(game.observation.mean()),
        score=game.score,
    )
    game.close()
    return config.model_copy(update={"practice": PracticeConfig(share=share, before=before, episodes=(episode,))})


def stepped(batch: Environments, count: int, actions: int) -> Iterator[EnvironmentStep]:
    """Take the same random actions in any batch."""
    random = np.random.default_rng(0)
    for _ in range(count):
        batch.send(random.integers(0, actions, batch.num_envs))
        yield batch.receive()


def assert_equal_batches(one: Environments, other: Environments, steps: int, actions: int) -> int:
    """Compare two batches, and return how many episodes have ended."""
    ended = 0
    assert (one.actions, one.observation_shape, one.frames_per_step) == (
        other.actions,
        other.observation_shape,
        other.frames_per_step,
    )
    assert np.array_equal(one.reset(), other.reset())
    for ours, theirs in zip(stepped(one, steps, actions), stepped(other, steps, actions), strict=True):
        for name in ("rewards", "terminated", "truncated", "life_lost", "fresh"):
            assert np.array_equal(getattr(ours, name), getattr(theirs, name)), name
        assert ours.observations.dtype == theirs.observations.dtype
        # The last screens of an episode of Atari differ. ale-py's batches do not show the last frames.
        seen = ~(ours.terminated | ours.truncated) if len(one.observation_shape) == 3 else slice(None)
        assert np.array_equal(ours.observations[seen], theirs.observations[seen])
        ended += int((ours.terminated | ours.truncated).sum())
    one.close()
    other.close()
    return ended


@pytest.mark.parametrize("env", GYMNASIUM)
def test_without_a_share_gymnasium_plays_as_in_training(env: str) -> None:
    config = A3cConfig(env=env)
    control = practicing(config, [0, 1], 0.0)
    number, steps = GYMNASIUM[env], 20 if env == "Arcadia/CarRacing-v0" else 150
    count = len(open_game(config, 0.0).action_names)
    one, other = (environments.make(each, number, 7) for each in (control, config))
    ended = assert_equal_batches(one, other, steps, count)
    assert ended or env in ("Acrobot-v1", "Arcadia/CarRacing-v0", "Arcadia/Labyrinth-v0")


@pytest.mark.required_cases(2)
@pytest.mark.parametrize(
    "settings",
    [
        {"cap_frames": 402},
        {"fire_at_reset": False, "repeat_action_probability": 0.25, "min_noops": 0},
        {"env": "ALE/Pong-v5", "cap_frames": 200},
        {"env": "ALE/Freeway-v5", "cap_frames": 401, "action_set": "full", "fire_at_reset": True},
        {"env": "ALE/Amidar-v5", "min_noops": 0},
    ],
    ids=lambda settings: " ".join(f"{name}={value}" for name, value in settings.items()),
)
def test_without_a_share_atari_plays_as_in_training(settings: dict[str, object]) -> None:
    config = atari(**settings)
    control = practicing(config, [0, 1], 0.0)
    count = len(open_game(config, 0.0).action_names)
    one, other = (environments.make(each, 3, 7, 2) for each in (control, config))
    steps = 400 if "cap_frames" not in settings else 120
    assert assert_equal_batches(one, other, steps, count) >= (2 if "cap_frames" in settings else 0)


@pytest.mark.nightly
def test_without_a_share_the_numbers_of_no_ops_are_equally_frequent() -> None:
    config = practicing(atari(fire_at_reset=False, min_noops=1, max_noops=3, cap_frames=4), [0, 1], 0.0, before=9)
    [start] = reach(config.model_copy(update={"cap_frames": 100}), config.practice)  # type: ignore[arg-type]
    assert start.decision == 0
    batch = environments.make(config, 2, 1)
    batch.reset()
    frames: list[int] = []
    for step in stepped(batch, 240, 4):
        if step.fresh.any():
            frames += [lane.game.frames for lane in batch._lanes]  # type: ignore[attr-defined]
    batch.close()
    counts = np.bincount(frames)
    assert counts[0] == 0
    assert all(55 <= count <= 105 for count in counts[1:])
    assert len(counts) == 4


@pytest.mark.parametrize("env", [*GYMNASIUM, "ALE/Breakout-v5"])
def test_episodes_begin_in_the_state_of_the_reviewed_episode(env: str) -> None:
    """Compare the observations from a start on with those of the episode itself."""
    config = A3cConfig(env=env)
    trail = [1, 0, 1, 1] if env == "Arcadia/Catch-v0" else [1, 0, 1, 1, 0, 1, 0]
    noops = 3 if env.startswith("ALE/") else 0
    before = 2
    episode = played(open_game(config, 0.0), trail[:-before], noops)
    batch = environments.make(practicing(config, trail, 1.0, noops=noops, before=before), 3, 1, 2)
    first = batch.reset()
    for _ in range(2 if env == "LunarLander-v3" else 1):
        assert all(np.array_equal(seen, episode.observation) for seen in first)
    # LunarLander's engines have noise, which is drawn anew.
    if env != "LunarLander-v3":
        for action in trail[-before:]:
            episode.step(action)
            batch.send(np.full(3, action))
            step = batch.receive()
            assert all(np.array_equal(seen, episode.observation) for seen in step.observations)
            assert not step.fresh.any()
    batch.close()


def test_the_share_of_episodes_begins_at_mistakes_and_the_control_draws_the_same_numbers() -> None:
    config = A3cConfig(env="Arcadia/Catch-v0")

    def openings(share: float) -> list[bytes]:
        batch = environments.make(practicing(config, [1, 1], share, before=0), 4, 3)
        batch.reset()
        seen = []
        for step in stepped(batch, 600, 3):
            seen += [observation.tobytes() for observation in step.observations[step.fresh]]
        # The own environments of both have drawn the same numbers.
        batch.close()
        return seen

    practice, control, every = openings(0.5), openings(0.0), openings(1.0)
    [start] = set(every)
    assert 0.4 < practice.count(start) / len(practice) < 0.6
    assert start not in control
    # Practice begins later in an episode, so it has more episodes in the same steps.
    assert len(every) > len(practice) > len(control)


def test_each_start_is_reached_once_and_equally_frequent() -> None:
    config = atari()
    wide = practicing(config, [1, 0, 2, 3, 0, 1], 1.0, before=1)
    assert wide.practice is not None
    [episode] = wide.practice.episodes
    several = wide.practice.model_copy(update={"episodes": (episode.model_copy(update={"mistakes": (2, 4, 6)}),)})
    starts = reach(config, several)
    assert [start.decision for start in starts] == [1, 3, 5]
    branches = [start.branch(1, 1) for start in starts]
    assert {branch.emulator_number for branch in branches} == {1}
    assert len({branch.observation.tobytes() for branch in branches}) == 3


def test_the_frame_limit_counts_the_decisions_before_the_start() -> None:
    config = practicing(atari(cap_frames=40), [0] * 6, 1.0, before=2)
    batch = environments.make(config, 2, 1)
    batch.reset()
    lengths = [bool(step.truncated.all()) for step in stepped(batch, 6, 1)]
    batch.close()
    assert lengths.index(True) + 1 == 40 // 4 - 4
    with pytest.raises(PracticeStartError, match="set cap_frames above 16"):
        environments.make(config.model_copy(update={"cap_frames": 16}), 1, 1).reset()


def test_a_lost_life_is_reported_after_a_start() -> None:
    batch = environments.make(practicing(atari(), [1, 1, 1], 1.0), 2, 1)
    batch.reset()
    losses = 0
    for _ in range(150):
        batch.send(np.ones(2, dtype=np.int64))
        losses += int(batch.receive().life_lost.sum())
    batch.close()
    assert losses >= 4


@pytest.mark.nightly
def test_sticky_actions_after_a_start_are_those_of_the_run() -> None:
    actions = np.random.default_rng(1).integers(0, 4, (40, 1))

    def seen(probability: float, seed: int) -> bytes:
        config = practicing(atari(repeat_action_probability=probability), [1, 0, 1], 1.0)
        batch = environments.make(config, 1, seed)
        batch.reset()
        for row in actions:
            batch.send(row)
            last = batch.receive().observations
        batch.close()
        return last.tobytes()

    assert seen(0.0, 1) == seen(0.0, 2)
    assert seen(0.25, 1) == seen(0.25, 1) != seen(0.25, 2)


def test_a_state_that_is_not_reached_again_is_an_error() -> None:
    config = practicing(A3cConfig(env="CartPole-v1"), [0, 1, 0], 1.0)
    assert config.practice is not None
    [episode] = config.practice.episodes
    for wrong in ({"seen": episode.seen + 0.01}, {"score": 2.0}, {"seed": 6}, {"actions": "111"}):
        other = config.practice.model_copy(update={"episodes": (episode.model_copy(update=wrong),)})
        with pytest.raises(PracticeStartError, match="review the agent again on this machine"):
            reach(config, other)
    with pytest.raises(PracticeStartError, match="has action 7, but the game has only 2 actions"):
        reach(config, config.practice.model_copy(update={"episodes": (episode.model_copy(update={"actions": "711"}),)}))


def test_an_action_outside_the_set_is_refused() -> None:
    batch = environments.make(practicing(A3cConfig(env="CartPole-v1"), [0], 0.5), 1, 1)
    batch.reset()
    with pytest.raises(ValueError, match="between 0 and 1"):
        batch.send(np.array([2]))
    batch.close()


def test_runs_without_practice_use_the_vectorized_emulator() -> None:
    batch = environments.make(atari(), 1, 1)
    assert type(batch).__name__ == "AtariEnvironments"
    batch.close()
    assert isinstance(open_game(atari(), 0.0), AtariGame)
