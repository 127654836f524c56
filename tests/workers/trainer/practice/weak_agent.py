"""An agent of Catch with a weakness: in its training, the ball never fell in the first columns."""

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import gymnasium
import pytest

from arcadia_workers.contract.config import PaacConfig
from arcadia_workers.contract.review import ReviewOptions
from arcadia_workers.trainer.environments.worlds.puzzles import COLUMNS, Catch
from arcadia_workers.trainer.futures.simulating import Player, load, moments
from arcadia_workers.trainer.methods import TRAINERS
from arcadia_workers.trainer.review import ReviewRequest, reviewing
from arcadia_workers.trainer.run import checkpoints
from arcadia_workers.trainer.run.run import NullRun

CONFIG = PaacConfig(
    env="Arcadia/Catch-v0",
    total_steps=60_000,
    num_envs=16,
    t_max=5,
    rmsprop_epsilon=1e-5,
    max_grad_norm=0.5,
    value_cost=0.5,
    gamma=0.98,
    learning_rate=0.003,
    learning_rate_decay="none",
    checkpoint_seconds=3_600,
)


def train(directory: Path, seen: Collection[int], monkeypatch: pytest.MonkeyPatch, **settings: object) -> None:
    """Train an agent that sees only balls in these columns. Write its checkpoint."""
    config = CONFIG.model_copy(update=settings)

    def reset(self: Catch, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        gymnasium.Env.reset(self, seed=seed, options=options)
        ball = sorted(seen)[int(self.np_random.integers(len(seen)))]
        self._row, self._ball, self._paddle = 0, ball, COLUMNS // 2
        return self._board(), {}

    run = NullRun()
    with monkeypatch.context() as patched:
        patched.setattr(Catch, "reset", reset)
        TRAINERS["paac"].train(config, run)
    checkpoints.write(directory, run.saved[-1], config, {})


def lost_episodes(player: Player, seed: int, count: int, most: int = 2_000) -> list[int]:
    """Return the first episodes that the agent loses."""
    lost: list[int] = []
    for episode in range(most):
        *_, last = moments(player.subject, player.protocol, seed, episode)
        if last.game.score < 0:
            lost.append(episode)
        if len(lost) == count:
            break
    return lost


def review_lost(directory: Path, folder: Path, seed: int, count: int) -> list[Path]:
    """Review episodes that the agent loses. Return the files of the reviews."""
    player, files = load(directory, None, None), []
    folder.mkdir(parents=True, exist_ok=True)
    for episode in lost_episodes(player, seed, count):
        request = ReviewRequest(directory, None, None, seed, episode, ReviewOptions(every=1, horizon=20))
        files.append(folder / f"{episode}.json")
        files[-1].write_text(json.dumps(reviewing.reviewed(request, player).model_dump(mode="json")))
    return files
