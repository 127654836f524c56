"""Atari emulator, frame by frame, as in the papers: a lost life does not end the game."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from functools import cache, cached_property
from itertools import groupby
from pathlib import Path

import ale_py
import numpy as np

from arcadia_workers.contract.action_names import ActionSpace, Discrete
from arcadia_workers.contract.config.emulator import ActionSet
from arcadia_workers.contract.protocols.starts import MAX_ACTION, HeldAction
from arcadia_workers.trainer.environments import environments
from arcadia_workers.trainer.environments.environments import Observations
from arcadia_workers.trainer.games.games import NO_LIVES, Watch
from arcadia_workers.trainer.games.video import SIDE, Frame, Screen, shrunk
from arcadia_workers.trainer.host.devices import cores
from arcadia_workers.trainer.methods.trainer import Action

STACK = 4
EMULATOR = f"ale-py {ale_py.__version__}"
# Branches are played in as many threads. The emulator lets other threads run while it plays a frame.
EMULATORS = min(4, cores())
# Greater than the numbers of an agent's actions.
HELD = 1_000


def held(frames: Sequence[int]) -> int:
    """Return a person's decision as one action, from the action of the full set in each of its frames."""
    number = 0
    for action in reversed(frames):
        number = number * (MAX_ACTION + 1) + action
    return HELD + number


def held_in(action: int, frames: int) -> list[int]:
    """Return the action of the full set in each frame of a person's decision."""
    number, chosen = action - HELD, list[int]()
    for _ in range(frames):
        number, first = divmod(number, MAX_ACTION + 1)
        chosen.append(first)
    return chosen


@cache
def game_of(env: str, action_set: ActionSet = "minimal") -> tuple[Path, tuple[ale_py.Action, ...]]:
    """Return the ROM of a game and one of its action sets."""
    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    rom = environments.path_of(env)
    emulator = ale_py.ALEInterface()
    emulator.loadROM(rom)
    legal = emulator.getMinimalActionSet() if action_set == "minimal" else emulator.getLegalActionSet()
    return rom, tuple(legal)


def _opened(repeat_action_probability: float) -> ale_py.ALEInterface:
    """Return an emulator without a game."""
    emulator = ale_py.ALEInterface()
    emulator.setFloat("repeat_action_probability", repeat_action_probability)
    emulator.setInt("frame_skip", 1)
    emulator.setBool("color_averaging", False)
    return emulator


class AtariGame:
    """Atari game that ends at its own end or at the cap.

    An agent sees four screens, four frames apart. Each is the pixelwise maximum of two successive frames. When the
    agent takes over, it sees only the current screen, as at the start of an episode in training.

    With sticky actions, the emulator randomly repeats the previous frame's action. It uses the seed of the episode, so
    the same actions lead to the same screens.
    """

    observation_shape: tuple[int, ...] = (STACK, SIDE, SIDE)
    actions: ActionSpace
    observation: Observations
    pictures_per_second = 60
    scale = 2
    emulator = EMULATOR
    emulator_number = 0
    can_rest = True

    def __init__(
        self,
        env: str,
        cap_frames: int | None,
        frames_per_step: int,
        action_set: ActionSet = "minimal",
        repeat_action_probability: float = 0.0,
    ) -> None:
        self._rom, self._legal = game_of(env, action_set)
        self.actions = Discrete(len(self._legal))
        self.action_names = tuple(action.name for action in self._legal)
        self.frames_per_step = frames_per_step
        self._cap_frames = cap_frames
        # For branches, which repeat actions themselves.
        self.repeat_action_probability = repeat_action_probability
        self._emulator = _opened(repeat_action_probability)
        self._watch: Watch | None = None

    @property
    def lives(self) -> int:
        return self._emulator.lives() if self._has_lives else NO_LIVES

    def show(self, watch: Watch) -> None:
        watch(self.picture())
        self._watch = watch

    def begin(self, seed: int) -> None:
        self._emulator.setInt("random_seed", seed)
        self._emulator.loadROM(self._rom)  # applies the seed
        self.seed = seed
        self.begin_another()

    def begin_another(self) -> None:
        self._emulator.reset_game()
        self._has_lives = self._emulator.lives() > 0
        self.trail: list[HeldAction] = []
        self.score, self.frames, self.over, self.cut_off = 0.0, 0, False, False
        self._see([])

    def hold(self, actions: Iterable[HeldAction]) -> None:
        """Hold actions of the full set for their frames, until all are done or the game is over."""
        for action, frames in actions:
            for _ in range(frames):
                if not self.over:
                    self._frame(ale_py.Action(action))
        self._see([])

    def step(self, action: Action) -> None:
        if int(action) >= HELD:
            self._decide(map(ale_py.Action, held_in(int(action), self.frames_per_step)).__next__)
            return
        chosen = self._legal[int(action)]
        self._decide(lambda: chosen)

    def play(self, choose: Callable[[], str]) -> None:
        self._decide(lambda: ale_py.Action.__members__[choose()])

    def _decide(self, choose: Callable[[], ale_py.Action]) -> None:
        """Take one decision. Choose an action for each of its frames."""
        screens: list[Screen] = []
        for remaining in reversed(range(self.frames_per_step)):
            self._frame(choose())
            if remaining < 2 or self.over:
                screens.append(self._emulator.getScreenGrayscale())
            if self.over:
                break
        self._see(screens)

    def decisions(self, trail: Iterable[HeldAction]) -> list[int]:
        numbers = [action.value for action in self._legal]
        frames = [action for action, frames in trail for _ in range(frames)]
        decisions = []
        for first in range(0, len(frames), self.frames_per_step):
            chosen = frames[first : first + self.frames_per_step]
            if len({*chosen}) == 1 and chosen[0] in numbers:
                decisions.append(numbers.index(chosen[0]))
            else:
                decisions.append(held(chosen))
        return decisions

    def name_of(self, action: Action) -> str:
        if int(action) < HELD:
            return self.action_names[int(action)]
        named = [ale_py.Action(each).name for each in held_in(int(action), self.frames_per_step)]
        return ", ".join(f"{name} {len([*same])}" for name, same in groupby(named))

    def branch(self, seeds: Sequence[int]) -> "list[AtariBranch]":
        state = self._emulator.cloneState()
        return [AtariBranch(self, state, seed, number % EMULATORS) for number, seed in enumerate(seeds)]

    def filmed_branch(self, seed: int) -> "AtariBranch":
        [branch] = self.branch([seed])
        branch.first_picture = self.picture()
        return branch

    def picture(self) -> Frame:
        """Return the current picture. For a branch, call it before another one takes a step."""
        return self._emulator.getScreenRGB()

    @cached_property
    def branching_emulators(self) -> list[ale_py.ALEInterface]:
        """Other emulators, which the branches share because loading a game takes 0.1 s."""
        emulators = [_opened(repeat_action_probability=0.0) for _ in range(EMULATORS)]
        for emulator in emulators:
            emulator.loadROM(self._rom)
            emulator.reset_game()
            # Before its first frame, an emulator does not continue the states of Qbert and Tetris exactly.
            emulator.act(ale_py.Action.NOOP)
        return emulators

    def fingerprint(self) -> bytes | None:
        return None

    def close(self) -> None:
        """Do nothing: the emulator ends with the object."""

    def screen_hash(self) -> str:
        """Return a hash that identifies the current screen."""
        return hashlib.sha256(self._emulator.getScreen().tobytes()).hexdigest()

    def _frame(self, action: ale_py.Action) -> None:
        self.score += self._emulator.act(action)
        self.frames += 1
        # Amidar counts its lives from the first frame on, not at the reset.
        self._has_lives = self._has_lives or self._emulator.lives() > 0
        if self._watch:
            self._watch(self.picture())
        number = action.value
        if self.trail and self.trail[-1][0] == number:
            self.trail[-1] = (number, self.trail[-1][1] + 1)
        else:
            self.trail.append((number, 1))
        # The emulator's own cap would count the frames that it plays automatically to open some games.
        self.cut_off = self._cap_frames is not None and self.frames >= self._cap_frames
        self.over = self.cut_off or self._emulator.game_over()

    def _see(self, screens: list[Screen]) -> None:
        """Append a new screen to the stack. Before the agent's first decision the stack is empty."""
        seen = np.zeros(self.observation_shape, dtype=np.uint8)
        if screens:
            seen[:-1] = self.observation[1:]
            seen[-1] = shrunk(np.maximum(screens[0], screens[-1]))
        else:
            seen[-1] = shrunk(self._emulator.getScreenGrayscale())
        self.observation = seen


class AtariBranch(AtariGame):
    """Continuation of an Atari game. The branches of a game share emulators and swap their states.

    The emulator's states do not contain the action that sticky actions repeat. So a branch repeats actions itself, with
    its own seed.
    """

    def __init__(self, game: AtariGame, state: ale_py.ALEState, seed: int, emulator_number: int) -> None:
        # Loaded before the fields are copied, so that the game and all its branches share them.
        emulators = game.branching_emulators
        self.__dict__ |= game.__dict__
        self.emulator_number = emulator_number
        self._emulator, self._state = emulators[emulator_number], state
        self._lives, self._watch = game.lives, None
        self.trail = list(game.trail)
        self._random = np.random.default_rng(seed)
        self._held = ale_py.Action(game.trail[-1][0]) if game.trail else ale_py.Action.NOOP
        # The emulator's states do not contain the picture, which appears with their next frame.
        self.first_picture: Frame | None = None

    def show(self, watch: Watch) -> None:
        if self.first_picture is not None:
            watch(self.first_picture)
        self._watch = watch

    @property
    def lives(self) -> int:
        return self._lives

    def branch(self, seeds: Sequence[int]) -> "list[AtariBranch]":
        return [AtariBranch(self, self._state, seed, number % EMULATORS) for number, seed in enumerate(seeds)]

    def fingerprint(self) -> bytes:
        random = repr((self._random.bit_generator.state, self._held)) if self.repeat_action_probability else ""
        return self._state.serialize() + self.observation.tobytes() + random.encode()

    def _decide(self, choose: Callable[[], ale_py.Action]) -> None:
        self._emulator.restoreState(self._state)
        super()._decide(choose)
        self._state, self._lives = self._emulator.cloneState(), super().lives

    def _frame(self, action: ale_py.Action) -> None:
        if self._random.random() >= self.repeat_action_probability:
            self._held = action
        super()._frame(self._held)
