"""Tests that a branch of a game that repeats the recorded actions equals the recorded game, frame by frame."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import islice, pairwise
from pathlib import Path

import numpy as np
import pytest

from arcadia_workers.contract.action_names import Continuous
from arcadia_workers.contract.config import A3cConfig, PaacConfig, RunConfig
from arcadia_workers.trainer.futures.experiment import moment_at
from arcadia_workers.trainer.futures.simulating import Branch, Moment, Plan, draws, moments, simulate, simulate_each
from arcadia_workers.trainer.games.emulator import AtariBranch, AtariGame
from arcadia_workers.trainer.games.games import GymnasiumGame, PlayableGame
from arcadia_workers.trainer.games.subjects import Subject
from arcadia_workers.trainer.methods.trainer import Action
from tests.workers.trainer.evaluation import made_checkpoint
from tests.workers.trainer.recording.test_recording import protocol_of

GAMES = (
    "Pong Breakout Boxing Freeway Qbert Tetris Seaquest SpaceInvaders MontezumaRevenge MsPacman DoubleDunk Pitfall"
).split()
CONTINUOUS = ("Hopper-v5", "Humanoid-v5", "Arcadia/ReacherPixels-v0")
REQUIRED = ("Qbert", "CartPole-v1", "Hopper-v5", "Arcadia/Labyrinth-v0 with memory")
CASES: dict[str, RunConfig] = {
    **{game: PaacConfig(env=f"ALE/{game}-v5") for game in GAMES},
    "Tetris with memory": A3cConfig(env="ALE/Tetris-v5", lstm_units=8),
    "CartPole-v1": PaacConfig(env="CartPole-v1"),
    "Acrobot-v1": PaacConfig(env="Acrobot-v1"),
    "Hopper-v5": A3cConfig(env="Hopper-v5"),
    "Humanoid-v5": A3cConfig(env="Humanoid-v5"),
    "Arcadia/ReacherPixels-v0": A3cConfig(env="Arcadia/ReacherPixels-v0"),
    "Arcadia/CarRacing-v0": PaacConfig(env="Arcadia/CarRacing-v0"),
    "Arcadia/Labyrinth-v0": PaacConfig(env="Arcadia/Labyrinth-v0"),
    "Arcadia/Labyrinth-v0 with memory": A3cConfig(env="Arcadia/Labyrinth-v0", lstm_units=8),
}
DECISIONS, BEFORE = 60, 3


def marks(case: str) -> Sequence[pytest.MarkDecorator]:
    """Mark most cases for the nightly stage."""
    return () if case in REQUIRED else (pytest.mark.nightly,)


@pytest.fixture(autouse=True)
def _headless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


def seen(game: PlayableGame) -> tuple[object, ...]:
    """Return everything that must be equal. The screen belongs to the current emulator state."""
    screen = game.screen_hash() if isinstance(game, AtariGame) else None
    return game.observation.tobytes(), game.score, game.lives, game.frames, game.over, screen


def recorded(subject: Subject, config: RunConfig) -> list[tuple[Action, float, tuple[object, ...]]]:
    """Play an episode. Return each action with the value before it and the state after it."""
    played = list(islice(_played(subject, config), DECISIONS + 1))
    return [(action, value, after) for (action, value, _), (_, _, after) in pairwise(played)]


def _played(subject: Subject, config: RunConfig) -> Iterator[tuple[Action, float, tuple[object, ...]]]:
    for moment in moments(subject, protocol_of(config), 3, 1):
        yield moment.action, float(moment.output.values[0]), seen(moment.game)


@contextmanager
def at_decision(subject: Subject, config: RunConfig, decision: int) -> Iterator[Moment]:
    """Play the same episode up to a decision."""
    with closing(moments(subject, protocol_of(config), 3, 1)) as episode:
        yield moment_at(episode, decision, lambda: False)


@pytest.mark.parametrize("case", [pytest.param(case, marks=marks(case)) for case in CASES])
def test_branches_repeat_the_recorded_game(case: str, tmp_path: Path) -> None:
    config = CASES[case]
    subject = made_checkpoint.subject(tmp_path, config, protocol_of(config))
    rows = recorded(subject, config)
    assert len(rows) > BEFORE
    random = np.random.default_rng(0)
    with at_decision(subject, config, BEFORE) as moment:
        repeating, *others = moment.game.branch([1, 2, 3])
        for action, _, after in rows[BEFORE:]:
            repeating.step(action)
            assert seen(repeating) == after
            # The steps of the other branches must not change the first one.
            for other in others:
                if not other.over:
                    other.step(anything(other, random))


@pytest.mark.parametrize("case", [pytest.param(case, marks=marks(case)) for case in CASES if case not in CONTINUOUS])
def test_forced_recorded_actions_lead_to_the_recorded_value(case: str, tmp_path: Path) -> None:
    config = CASES[case]
    subject = made_checkpoint.subject(tmp_path, config, protocol_of(config))
    rows = recorded(subject, config)
    actions = tuple(int(action) for action, _, _ in rows[BEFORE:-1])
    with at_decision(subject, config, BEFORE) as moment:
        drawn = draws(seed=1, episode=1, decision=BEFORE, futures=range(8))
        branches = simulate(subject, moment, drawn, Plan(len(actions), first=actions))
    # The batch is larger than in the episode, so results are rounded differently.
    values = [branch.value for branch in branches]
    assert values == pytest.approx([rows[-1][1]] * 8, rel=1e-3, abs=1e-4)


def test_a_person_plays_in_a_branch(tmp_path: Path) -> None:
    config = CASES["Qbert"]
    subject = made_checkpoint.subject(tmp_path, config, protocol_of(config))
    rows = recorded(subject, config)
    with at_decision(subject, config, BEFORE) as moment:
        repeating, other = moment.game.branch([1, 2])
        for action, _, after in rows[BEFORE:]:
            name = moment.game.action_names[int(action)]
            repeating.play(lambda name=name: name)  # type: ignore[misc]
            assert seen(repeating) == after
            other.step(0)


def anything(game: PlayableGame, random: np.random.Generator) -> Action:
    """Return a random action."""
    if isinstance(game.actions, Continuous):
        return random.uniform(game.actions.low, game.actions.high).astype(np.float32)
    return int(random.integers(game.actions.count))


def test_branches_draw_separate_random_numbers(tmp_path: Path) -> None:
    """Compare branches with sticky actions, which depend on the seed of the branch."""
    config = PaacConfig(env="ALE/Breakout-v5", repeat_action_probability=0.25, action_set="full")
    subject = made_checkpoint.subject(tmp_path, config, protocol_of(config))
    with at_decision(subject, config, BEFORE) as moment:
        branches = moment.game.branch([1, 1, 2, 3])
        random = np.random.default_rng(0)
        for _ in range(20):
            action = anything(moment.game, random)
            for branch in branches:
                branch.step(action)
        observations = [branch.observation.tobytes() for branch in branches]
    assert observations[0] == observations[1]
    assert len(set(observations)) == 3


@pytest.mark.parametrize("case", [pytest.param(case, marks=marks(case)) for case in CASES if case not in CONTINUOUS])
def test_equal_futures_are_played_once_and_end_as_if_played_alone(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = CASES[case]
    subject = made_checkpoint.subject(tmp_path, config, protocol_of(config))
    with at_decision(subject, config, BEFORE) as moment:
        drawn = draws(seed=1, episode=1, decision=BEFORE, futures=range(4))
        plans = [Plan(20, until="outcome", first=(action,)) for action in range(len(moment.game.action_names))]
        merged = simulate_each(subject, moment, drawn, plans)
        for game in (AtariBranch, GymnasiumGame):
            monkeypatch.setattr(game, "fingerprint", lambda _game: None)
        alone = simulate_each(subject, moment, drawn, plans)
    assert [[played(branch) for branch in branches] for branches in merged] == [
        [played(branch) for branch in branches] for branches in alone
    ]


def played(branch: Branch) -> tuple[object, ...]:
    """Return what a future did and how it ended."""
    actions = [np.asarray(action).tolist() for action in branch.actions]
    return actions, branch.rewards, branch.lives_lost, branch.game.over, pytest.approx(branch.value, rel=1e-3, abs=1e-4)
