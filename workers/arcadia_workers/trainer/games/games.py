"""Environments that are played one episode after another."""

import copy
import pickle
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import groupby
from typing import Any, Protocol, cast

import gymnasium
import numpy as np

from arcadia_workers.contract import live
from arcadia_workers.contract.action_names import ActionSpace, Continuous, action_names
from arcadia_workers.contract.games import ENVIRONMENTS
from arcadia_workers.contract.plugins.loading import PROVIDERS
from arcadia_workers.contract.protocols.starts import HeldAction
from arcadia_workers.trainer.environments.environments import (
    Observations,
    action_space,
    observed,
    read_by_networks,
    registered,
)
from arcadia_workers.trainer.games.video import Frame, drop
from arcadia_workers.trainer.methods.trainer import Action

Watch = Callable[[Frame], None]
"""Receives each picture of a game."""

NO_LIVES = -1
# For environments that do not state their rate.
USUAL_PICTURES_PER_SECOND = 30
# Their Box2D world survives a reset, and earlier contacts change the next episode.
KEEP_THEIR_WORLD = ("BipedalWalker-v3", "BipedalWalkerHardcore-v3")
# Families whose environments are plain Python objects, so that a deep copy continues exactly.
COPIED_FAMILIES = ("first-steps", "classic-control", "mazes")


class PlayableGame(Protocol):
    """Environment that counts its own score, frames and lives."""

    observation_shape: tuple[int, ...]
    actions: ActionSpace
    action_names: tuple[str, ...]
    frames_per_step: int
    pictures_per_second: int
    # The factor by which each pixel is enlarged in width and height for display.
    scale: int
    observation: Observations
    # The program that simulates the environment, with its version.
    emulator: str
    # Games with different numbers can take steps at the same time.
    emulator_number: int
    # True if a person can do nothing.
    can_rest: bool
    seed: int
    # Since the reset.
    score: float
    frames: int
    over: bool
    # True if a cap or a time limit ended the episode.
    cut_off: bool

    @property
    def lives(self) -> int:
        """The number of lives left, or NO_LIVES."""
        ...

    def show(self, watch: Watch) -> None:
        """Pass the current picture and each following one to `watch`."""
        ...

    def begin(self, seed: int) -> None:
        """Reset the environment to the start of an episode."""
        ...

    def begin_another(self) -> None:
        """Reset the environment without a seed, as in training: it continues its random numbers."""
        ...

    def step(self, action: Action) -> None:
        """Take one decision of the agent."""
        ...

    def play(self, choose: Callable[[], str]) -> None:
        """Take one decision of a person, who chooses the name of an action for each frame of it."""
        ...

    @property
    def trail(self) -> Sequence[HeldAction]:
        """The actions since the reset, each with the number of frames that it was held."""
        ...

    def hold(self, actions: Iterable[HeldAction]) -> None:
        """Take the actions of a trail, until all are done or the game is over."""
        ...

    def decisions(self, trail: Iterable[HeldAction]) -> Sequence[Action]:
        """Return a trail as actions, one for each decision. The last one may be longer than the trail."""
        ...

    def name_of(self, action: Action) -> str:
        """Return the name of a discrete action, or of what a person did in the frames of a decision."""
        ...

    def branch(self, seeds: Sequence[int]) -> "Sequence[PlayableGame]":
        """Return one game per seed that continues from here, with the environment's random numbers of that seed."""
        ...

    def filmed_branch(self, seed: int) -> "PlayableGame":
        """Return a branch that can show its pictures."""
        ...

    def fingerprint(self) -> bytes | None:
        """Return bytes that are equal only for branches that continue equally. None if they are not known."""
        ...

    def close(self) -> None:
        """End the environment."""
        ...


class GymnasiumGame:
    """Environment of gymnasium or Arcadia. It shows pictures only if it was opened for filming."""

    scale = 1
    lives = NO_LIVES
    emulator = f"gymnasium {gymnasium.__version__}"
    emulator_number = 0

    def __init__(self, env: str, *, filmed: bool = False) -> None:
        self._name, self._make = env, partial(_made, env, filmed)
        self._env = self._make()
        self._copy = _copier(env)
        self._begins_in_a_new_world = env in KEEP_THEIR_WORLD
        self.actions = action_space(env, self._env.action_space)
        self.action_names = action_names(env, self.actions)
        self.observation_shape = self._env.observation_space.shape or ()
        self.can_rest = live.allow_rest(self.action_names)
        self.frames_per_step = ENVIRONMENTS[env].frames_per_step
        self.pictures_per_second = int(self._env.metadata.get("render_fps") or USUAL_PICTURES_PER_SECOND)
        self._watch: Watch | None = None
        self._last_pictures: list[Frame] = []

    def show(self, watch: Watch) -> None:
        self._last_pictures = self._pictures() or self._last_pictures
        watch(self._last_pictures[-1])
        self._watch = watch

    def begin(self, seed: int) -> None:
        if self._begins_in_a_new_world:
            self._env.close()
            self._env = self._make()
        self.seed = seed
        self._reset(seed)

    def begin_another(self) -> None:
        self._reset(None)

    def _reset(self, seed: int | None) -> None:
        observation, _ = self._env.reset(seed=seed)
        self._taken = list[Action]()
        self.observation = observed(observation)
        self.score, self.frames, self.over, self.cut_off = 0.0, 0, False, False

    def step(self, action: Action) -> None:
        if isinstance(self.actions, Continuous):
            action = np.clip(action, self.actions.low, self.actions.high).astype(np.float32)
        observation, reward, terminated, truncated, _ = self._env.step(action)
        self._taken.append(action)
        self.observation = observed(observation)
        self.score += float(reward)
        self.frames += self.frames_per_step
        self.over, self.cut_off = bool(terminated or truncated), bool(truncated and not terminated)
        if self._watch:
            pictures = self._pictures()
            # Some environments draw a picture only at some steps.
            self._last_pictures = pictures or self._last_pictures
            for picture in pictures:
                self._watch(picture)

    def play(self, choose: Callable[[], str]) -> None:
        self.step(self.action_names.index(choose()))

    @property
    def trail(self) -> list[HeldAction]:
        return [(int(action), self.frames_per_step * len([*same])) for action, same in groupby(self._taken)]

    def hold(self, actions: Iterable[HeldAction]) -> None:
        for action, frames in actions:
            for _ in range(frames // self.frames_per_step):
                if not self.over:
                    self.step(action)

    def decisions(self, trail: Iterable[HeldAction]) -> list[int]:
        return [action for action, frames in trail for _ in range(frames // self.frames_per_step)]

    def name_of(self, action: Action) -> str:
        return self.action_names[int(action)]

    def branch(self, seeds: Sequence[int]) -> "list[GymnasiumGame]":
        return [self._branch(seed) for seed in seeds]

    def filmed_branch(self, seed: int) -> "GymnasiumGame":
        branch = GymnasiumGame(self._name, filmed=True)
        branch.begin(self.seed)
        branch.show(drop)
        for action in self._taken:
            branch.step(action)
        branch._env.unwrapped.np_random = np.random.default_rng(seed)
        return branch

    def fingerprint(self) -> bytes | None:
        # Only plain Python objects show their whole state when pickled.
        return pickle.dumps((self._env, self.observation)) if self._copy is copy.deepcopy else None

    def close(self) -> None:
        self._env.close()

    def _branch(self, seed: int) -> "GymnasiumGame":
        branch = copy.copy(self)
        branch._env = self._copy(self._env) if self._copy else self._replayed()
        branch._env.unwrapped.np_random = np.random.default_rng(seed)
        branch._taken, branch._watch = list(self._taken), None
        return branch

    def _replayed(self) -> gymnasium.Env[Any, Any]:
        """Return another environment, brought here by the same actions."""
        env = self._make()
        env.reset(seed=self.seed)
        for action in self._taken:
            env.step(action)
        return env

    def _pictures(self) -> list[Frame]:
        # All pictures since the last call. Environments that repeat actions draw several per step.
        return [np.asarray(picture) for picture in cast(list[Frame], self._env.render())]


def _made(env: str, filmed: bool) -> gymnasium.Env[Any, Any]:
    environment = ENVIRONMENTS[env]
    if environment.family.simulator == "mujoco":
        from arcadia_workers.trainer.environments.worlds import physics  # loads the physics engine

        physics.redirect_warnings()
        if filmed and not environment.shows_pixels:
            return read_by_networks(physics.Filmed(gymnasium.make(registered(env))), name=env)
    made = gymnasium.make(registered(env), render_mode="rgb_array_list" if filmed else None)
    return read_by_networks(made, name=env)


def _copier(env: str) -> Callable[[gymnasium.Env[Any, Any]], gymnasium.Env[Any, Any]] | None:
    """Return a function that copies an environment exactly, or None if its actions must be replayed instead."""
    environment = ENVIRONMENTS[env]
    if ("environment", env) in PROVIDERS:
        return None
    if environment.family.simulator == "mujoco" and not environment.shows_pixels:
        from arcadia_workers.trainer.environments.worlds import physics  # loads the physics engine

        return physics.copied
    return copy.deepcopy if environment.family.name in COPIED_FAMILIES else None
