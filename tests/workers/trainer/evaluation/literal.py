"""A literal reference player of the protocols with one ALEInterface, frame by frame, and OpenCV for pictures."""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import ale_py
import cv2
import numpy as np
from ale_py.roms import get_rom_path
from numpy.typing import NDArray

Screen = NDArray[np.uint8]
Choose = Callable[[Screen], int]


@dataclass
class Game:
    """An emulator with the score and frames since its reset."""

    emulator: ale_py.ALEInterface
    score: int = 0
    frames: int = 0

    def act(self, action: int) -> None:
        self.score += self.emulator.act(ale_py.Action(action))
        self.frames += 1


@dataclass(frozen=True)
class Result:
    """Result of one episode of a protocol."""

    score: int
    frames: int
    length: int


def opened(rom: str, seed: int) -> Game:
    """Open a game and reset it."""
    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    emulator = ale_py.ALEInterface()
    emulator.setFloat("repeat_action_probability", 0.0)
    emulator.setInt("random_seed", seed)
    file = get_rom_path(rom)
    assert file
    emulator.loadROM(file)
    emulator.reset_game()
    return Game(emulator)


def after_noops(rom: str, seed: int, noops: int) -> Game:
    """Open a game and take no-op actions for some frames."""
    game = opened(rom, seed)
    for _ in range(noops):
        game.act(0)
    return game


def at_start_point(rom: str, seed: int, actions: Iterable[tuple[int, int]]) -> Game:
    """Open a game and repeat the actions before a start point."""
    game = opened(rom, seed)
    for action, frames in actions:
        for _ in range(frames):
            game.act(action)
    return game


def small(screens: list[Screen]) -> Screen:
    """Return what the agent sees of a decision's last two screens."""
    brighter = np.maximum(screens[-1], screens[-2] if len(screens) > 1 else screens[-1])
    return np.asarray(cv2.resize(brighter, (84, 84), interpolation=cv2.INTER_AREA), dtype=np.uint8)


def play(game: Game, cap: int, frames_per_action: int, choose: Choose, own_points_only: bool = False) -> Result:
    """Play until the game ends or reaches the cap."""
    legal = game.emulator.getMinimalActionSet()
    blank = np.zeros((84, 84), dtype=np.uint8)
    seen = deque([blank, blank, blank, small([game.emulator.getScreenGrayscale()])], maxlen=4)
    score_before, length = game.score if own_points_only else 0, 0
    while not game.emulator.game_over() and game.frames < cap:
        action = legal[choose(np.stack(seen))].value
        length += 1
        screens = []
        for _ in range(frames_per_action):
            if not game.emulator.game_over() and game.frames < cap:
                game.act(action)
                screens.append(game.emulator.getScreenGrayscale())
        seen.append(small(screens))
    return Result(game.score - score_before, game.frames, length)
