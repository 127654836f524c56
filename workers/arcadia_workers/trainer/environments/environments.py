"""Batches of environments behind one interface: send actions, then receive the step they led to."""

import contextlib
import io
import os
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

import ale_py
import gymnasium
import numpy as np
from ale_py.roms import get_rom_path
from ale_py.vector_env import AtariVectorEnv
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray

from arcadia_workers.contract.action_names import ActionSpace, Continuous, Discrete, number_of_actions
from arcadia_workers.contract.config import TrainingConfig
from arcadia_workers.contract.games import ENVIRONMENTS, rom_of
from arcadia_workers.contract.plugins.discovery import resolve
from arcadia_workers.contract.plugins.loading import PROVIDERS
from arcadia_workers.trainer.environments import worlds as worlds  # registers Arcadia's environments with gymnasium
from arcadia_workers.trainer.errors import TrainerError
from arcadia_workers.trainer.host import devices


class MissingGameError(TrainerError):
    """The ROM of the game was not found."""


def check(env: str) -> None:
    """Raise if an Atari game's ROM is missing."""
    if ENVIRONMENTS[env].family.simulator == "ale":
        path_of(env)


def path_of(env: str) -> Path:
    """Return the path of a game's ROM."""
    try:
        # ale-py prints the folder, but standard output may contain a document.
        with contextlib.redirect_stdout(io.StringIO()):
            path = get_rom_path(rom_of(env))
    except OSError as error:
        raise _missing(env, error) from error
    if path is None:
        raise MissingGameError(f"ale-py does not know {env}: choose another game")
    return path


def _missing(env: str, error: OSError) -> MissingGameError:
    """Return an error message with the searched folder, the problem and the fix."""
    file = f"{rom_of(env)}.bin"
    if isinstance(error, NotADirectoryError):
        wrong = "is no folder"
    elif isinstance(error, FileNotFoundError):
        wrong = f"has no {file}"
    elif error.strerror:
        wrong = f"has a {file} that cannot be read ({error.strerror})"
    else:  # has another hash
        wrong = f"has a {file} that is not the game's"
    if folder := os.environ.get("ALE_ROMS_DIR"):
        return MissingGameError(
            f"{env} is missing: ALE_ROMS_DIR is {folder}, which {wrong}. "
            f"Unset it to play the games that come with ale-py, or put the game's {file} there"
        )
    return MissingGameError(f"{env} is missing: this installation of ale-py {wrong}. Install ale-py again")


Floats = NDArray[np.float32]
Flags = NDArray[np.bool_]
Actions = NDArray[np.int64] | NDArray[np.float32]
Observations = NDArray[np.uint8] | NDArray[np.float32]

# Height and width of the frames that convolutions read.
PIXELS = (84, 84)


@dataclass(frozen=True)
class EnvironmentStep:
    """Result of one action in every environment, with raw rewards.

    A row is `fresh` if its episode had ended before this step: its action was ignored, its reward is 0 and its
    observation opens the next episode (autoreset on the next step). Learners leave fresh rows out.
    """

    observations: Observations
    rewards: Floats
    terminated: Flags
    truncated: Flags
    life_lost: Flags
    fresh: Flags


class Environments(Protocol):
    """Batch of environments that step together."""

    num_envs: int
    observation_shape: tuple[int, ...]
    actions: ActionSpace
    frames_per_step: int

    def reset(self) -> Observations:
        """Begin an episode in every environment."""
        ...

    def send(self, actions: Actions) -> None:
        """Start a step; call `receive` once after every `send`."""
        ...

    def receive(self) -> EnvironmentStep:
        """Wait for the step that was sent."""
        ...

    def close(self) -> None:
        """End the environments and their threads."""
        ...


class UnsupportedSpaceError(TrainerError):
    """Agents cannot read an environment's observations, or cannot choose its actions."""


def action_space(env: str, space: gymnasium.Space[Any]) -> ActionSpace:
    """Convert gymnasium's action space. Raise if it differs from the environment's description."""
    kind = ENVIRONMENTS[env].actions
    if isinstance(space, gymnasium.spaces.Discrete) and space.start == 0 and kind == "discrete":
        return Discrete(int(space.n))
    if (
        isinstance(space, gymnasium.spaces.Box)
        and len(space.shape) == 1
        and kind == "continuous"
        and space.is_bounded()
    ):
        return Continuous(tuple(map(float, space.low)), tuple(map(float, space.high)))
    wanted = "Discrete actions from 0" if kind == "discrete" else "a bounded Box of one dimension"
    raise UnsupportedSpaceError(f"{env} takes {space}, but its description promises {kind} actions: {wanted}")


def read_by_networks(env: gymnasium.Env[Any, Any], *, name: str) -> gymnasium.Env[Any, Any]:
    """Return an environment whose observations networks can read. Flatten those of an environment of vectors.

    Dictionaries, texts and pictures become one vector. Raise for observations without a fixed size.
    """
    space = env.observation_space
    if ENVIRONMENTS[name].shows_pixels:
        if isinstance(space, gymnasium.spaces.Box) and space.dtype == np.uint8 and space.shape[1:] == PIXELS:
            return env
        raise UnsupportedSpaceError(f"{name} shows {space}, but networks for pixels read bytes in (frames, 84, 84)")
    if isinstance(space, gymnasium.spaces.Box) and len(space.shape) == 1:
        return env
    if not space.is_np_flattenable:
        raise UnsupportedSpaceError(f"{name} shows {space}, which has no fixed size, so no network can read it")
    return gymnasium.wrappers.FlattenObservation(env)


def registered(env: str) -> str:
    """Import the module that registers an environment with gymnasium, if it has one. Return the environment's id."""
    if module := ENVIRONMENTS[env].module:
        import_module(module)
    return env


def observed(seen: Any) -> Observations:
    """Copy an observation. Pixels stay bytes, everything else becomes float32."""
    array = np.array(seen)
    return array if array.dtype == np.uint8 else array.astype(np.float32)


@cache
def starting_frames(env: str) -> int:
    """Return the number of frames that the emulator plays automatically to open a game, such as to select its mode."""
    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    emulator = ale_py.ALEInterface()
    emulator.setFloat("repeat_action_probability", 0.0)  # otherwise Double Dunk's menu sometimes takes longer
    emulator.loadROM(path_of(env))
    return emulator.getEpisodeFrameNumber()


class AtariEnvironments:
    """Atari games with the papers' preprocessing, stepped by C++ threads.

    The emulator draws the number of no-ops from 0 to one less than its limit. To draw from 1, the limit is one higher,
    and a game that drew 0 is reset again. The other numbers stay equally likely.
    """

    frames_per_step = 4

    def __init__(self, config: TrainingConfig, num_envs: int, num_threads: int, seed: int) -> None:
        self._games = AtariVectorEnv(
            rom_of(config.env),
            num_envs,
            num_threads=num_threads,
            noop_max=config.max_noops + config.min_noops,
            use_fire_reset=config.fire_at_reset,
            repeat_action_probability=config.repeat_action_probability,
            full_action_space=config.action_set == "full",
            max_num_frames_per_episode=config.cap_frames,
            frameskip=self.frames_per_step,
            maxpool=True,
            episodic_life=False,
            life_loss_info=False,
            reward_clipping=False,
            autoreset_mode=AutoresetMode.NEXT_STEP,
        )
        self.num_envs = num_envs
        self.actions = action_space(config.env, self._games.single_action_space)
        self._fewest_frames = starting_frames(config.env) + config.min_noops if config.min_noops else 0
        self._highest = number_of_actions(self.actions) - 1
        self.observation_shape: tuple[int, ...] = (4, 84, 84)
        self._seeds = np.arange(num_envs, dtype=np.int64) + seed * num_envs % (2**31 - num_envs)
        self._over = np.zeros(num_envs, dtype=np.bool_)
        self._lives = np.zeros(num_envs, dtype=np.int32)

    def reset(self) -> Observations:
        observations, info = self._with_noops(*self._games.reset(seed=self._seeds), np.ones(self.num_envs, np.bool_))
        self._over = np.zeros(self.num_envs, dtype=np.bool_)
        self._lives = info["lives"].copy()
        return observations

    def send(self, actions: Actions) -> None:
        # An action outside the set would make an emulator thread throw and `recv` wait forever.
        if actions.min() < 0 or actions.max() > self._highest:
            raise ValueError(f"actions must lie between 0 and {self._highest}, got {actions.tolist()}")
        self._games.send(actions)

    def receive(self) -> EnvironmentStep:
        observations, rewards, terminated, truncated, info = self._games.recv()
        fresh = self._over
        observations, info = self._with_noops(observations, info, fresh)
        lives = info["lives"].copy()
        step = EnvironmentStep(
            observations,
            rewards.astype(np.float32),
            terminated,
            truncated,
            life_lost=(lives < self._lives) & ~fresh,
            fresh=fresh,
        )
        self._over, self._lives = terminated | truncated, lives
        return step

    def _with_noops(
        self, observations: Observations, info: dict[str, Any], opening: Flags
    ) -> tuple[Observations, dict[str, Any]]:
        """Reset games again if they drew too few no-ops."""
        while (few := opening & (info["episode_frame_number"] < self._fewest_frames)).any():
            observations, info = self._games.reset(options={"reset_mask": few})
        return observations, info

    def close(self) -> None:
        self._games.close()


class GymnasiumEnvironments:
    """Environments of gymnasium and Arcadia, stepped in this process."""

    def __init__(self, env: str, num_envs: int, seed: int) -> None:
        if ENVIRONMENTS[env].family.simulator == "mujoco":
            from arcadia_workers.trainer.environments.worlds import physics  # loads the physics engine

            physics.redirect_warnings()
        # The vectorized environments of plug-ins may need other observations, so they step one by one.
        is_built_in = ("environment", env) not in PROVIDERS
        vectorized = is_built_in and gymnasium.spec(env).vector_entry_point is not None
        self._envs: VectorEnv[Observations, Actions, Any] = (
            gymnasium.make_vec(env, num_envs, vectorization_mode="vector_entry_point")
            if vectorized
            else gymnasium.make_vec(
                registered(env),
                num_envs,
                vectorization_mode="sync",
                wrappers=[cast(Any, partial(read_by_networks, name=env))],
            )
        )
        self.num_envs = num_envs
        self.frames_per_step = ENVIRONMENTS[env].frames_per_step
        self.actions = action_space(env, self._envs.single_action_space)
        self.observation_shape = self._envs.single_observation_space.shape or ()
        # Environment i is seeded with this and i, so that runs with neighboring seeds share no environments.
        self._seed = seed * num_envs
        self._over = np.zeros(num_envs, dtype=np.bool_)
        self._actions: Actions | None = None

    def reset(self) -> Observations:
        observations, _ = self._envs.reset(seed=self._seed)
        self._over = np.zeros(self.num_envs, dtype=np.bool_)
        return observed(observations)

    def send(self, actions: Actions) -> None:
        if isinstance(self.actions, Continuous):
            # A Gaussian policy is unbounded, but the environments are bounded. A diverged policy outputs NaN, on which
            # Box2D would fail before the divergence is reported.
            bounded = np.clip(np.nan_to_num(actions), self.actions.low, self.actions.high)
            actions = bounded.astype(np.float32)
        self._actions = actions

    def receive(self) -> EnvironmentStep:
        if self._actions is None:
            raise RuntimeError("receive() needs a send() before it")
        observations, rewards, terminated, truncated, _ = self._envs.step(self._actions)
        self._actions = None
        fresh = self._over
        step = EnvironmentStep(
            # Copy: gymnasium reuses its buffers, and learners keep what they receive.
            observed(observations),
            np.asarray(rewards, dtype=np.float32),
            terminated.copy(),
            truncated.copy(),
            life_lost=np.zeros(self.num_envs, dtype=np.bool_),
            fresh=fresh,
        )
        self._over = step.terminated | step.truncated
        return step

    def close(self) -> None:
        self._envs.close()


# The games of practice are made of this package and of methods, so it is found by name.
PRACTICE = "arcadia_workers.trainer.games.practice:PracticeEnvironments"


def make(config: TrainingConfig, num_envs: int, seed: int, num_threads: int = 1) -> Environments:
    """Open `num_envs` environments of the run's game; Atari games step in at most `num_threads` threads."""
    if config.practice:
        practicing: Environments = resolve(PRACTICE)(config, num_envs, seed, num_threads)
        return practicing
    if config.environment.family.simulator == "ale":
        threads = min(num_threads, num_envs, devices.cores())
        return AtariEnvironments(config, num_envs, threads, seed)
    return GymnasiumEnvironments(config.env, num_envs, seed)
