"""Compare the two orders of grayscale and the maximum over two frames: `python -m bench.gray_maximum`.

Training takes grayscale first. PAAC's paper takes the maximum of each color first. The two differ where an object of
one color replaces an object of another color between two frames.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import ale_py
import numpy as np
from numpy.typing import NDArray

from arcadia_workers.contract.protocols.document import EvaluationDocument
from arcadia_workers.trainer import commands
from arcadia_workers.trainer.evaluation import evaluating
from arcadia_workers.trainer.evaluation.report import JobReport
from arcadia_workers.trainer.games import emulator, subjects
from arcadia_workers.trainer.games.video import Screen, shrunk
from arcadia_workers.trainer.methods.trainer import Action

GAMES = ("ALE/Pong-v5", "ALE/Breakout-v5", "ALE/Seaquest-v5", "ALE/SpaceInvaders-v5")
FRAMES_PER_STEP = 4
# The emulator's palette of grays: luminance of each color.
LUMINANCE = (0.2989, 0.5870, 0.1140)

Picture = NDArray[np.uint8]


@dataclass(frozen=True)
class Difference:
    """Differences between the agent's screens of the two orders."""

    screens: int
    differing_screens: float
    differing_pixels: float
    mean_gap: float
    largest_gap: int


def gray(picture: Picture) -> Screen:
    """Return the luminance of a picture by the emulator's palette."""
    return np.rint(picture.astype(np.float64) @ LUMINANCE).astype(np.uint8)


def pairs(env: str, decisions: int, seed: int) -> Iterator[tuple[Screen, Screen]]:
    """Yield the agent's screen by both orders after each decision of a random player."""
    rom, legal = emulator.game_of(env)
    game = ale_py.ALEInterface()
    game.setFloat("repeat_action_probability", 0.0)
    game.setInt("random_seed", seed)
    game.loadROM(rom)
    random = np.random.default_rng(seed)
    for _ in range(decisions):
        if game.game_over():
            game.reset_game()
        action = legal[random.integers(len(legal))]
        for _ in range(FRAMES_PER_STEP - 1):
            game.act(action)
        before, before_gray = game.getScreenRGB(), game.getScreenGrayscale()
        game.act(action)
        after, after_gray = game.getScreenRGB(), game.getScreenGrayscale()
        yield shrunk(np.maximum(before_gray, after_gray)), shrunk(gray(np.maximum(before, after)))


def compare(env: str, decisions: int, seed: int) -> Difference:
    """Play at random and count the pixels that differ."""
    gaps = np.array([np.abs(one.astype(int) - other) for one, other in pairs(env, decisions, seed)])
    differing = gaps[gaps > 0]
    return Difference(
        screens=len(gaps),
        differing_screens=float((gaps > 0).any(axis=(1, 2)).mean()),
        differing_pixels=float((gaps > 0).mean()),
        mean_gap=float(differing.mean()) if len(differing) else 0.0,
        largest_gap=int(gaps.max()),
    )


class MaximumFirst(emulator.AtariGame):
    """A game that agents see with the maximum of each color taken before grayscale."""

    def step(self, action: Action) -> None:
        """Do an action, and compute the newest screen again if the game saw two frames."""
        pictures: list[Picture] = []
        show = self._watch
        self._watch = lambda picture: pictures.append(picture.copy())
        super().step(action)
        self._watch = show
        self.observation[-1] = shrunk(gray(np.maximum(*pictures[-2:]))) if len(pictures) > 1 else self.observation[-1]


def evaluate(directory: Path, episodes: int, game: type[emulator.AtariGame]) -> EvaluationDocument:
    """Evaluate the newest checkpoint of a run directory in this kind of game."""
    options = f"--protocol no-op-5min --episodes {episodes} --seed 1".split()
    with patch.object(subjects, "AtariGame", game):
        request = commands.read_evaluation(
            commands.parser().parse_args(["evaluate", "--run-dir", str(directory), *options])
        )
        found = evaluating.evaluate(request, JobReport(), lambda: False)
    if found is None:
        raise SystemExit("the evaluation was stopped")
    return found


def main() -> None:
    """Print a row for each game, and the scores of a trained agent by both orders."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--decisions", type=int, default=2_000)
    parser.add_argument("--run-dir", type=Path, help="a trained agent to evaluate by both orders")
    parser.add_argument("--episodes", type=int, default=6)
    arguments = parser.parse_args()
    print("game: screens that differ, pixels that differ, mean and largest gap of these, of 255")
    for env in GAMES:
        found = compare(env, arguments.decisions, seed=1)
        print(
            f"{env}: {found.differing_screens:.1%}, {found.differing_pixels:.4%}, "
            f"{found.mean_gap:.1f}, {found.largest_gap}",
            flush=True,
        )
    if arguments.run_dir:
        for name, game in (("grayscale first", emulator.AtariGame), ("maximum first", MaximumFirst)):
            document = evaluate(arguments.run_dir, arguments.episodes, game)
            print(f"{name}: mean {document.mean}, scores {document.scores}", flush=True)


if __name__ == "__main__":
    main()
