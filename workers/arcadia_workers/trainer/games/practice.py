"""Batches of environments whose episodes begin at an agent's mistakes, for practice and its control.

The mistakes are reached once by their actions and then branched. All other episodes begin as in training without
practice. The control, whose share is 0, draws the same random numbers.
"""

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import cast

import ale_py
import numpy as np

from arcadia_workers.contract.action_names import number_of_actions
from arcadia_workers.contract.config import TrainingConfig
from arcadia_workers.contract.practice import ACTION_SYMBOLS, PracticeConfig, PracticedEpisode
from arcadia_workers.contract.protocols.starts import SEEDS, HeldAction
from arcadia_workers.trainer.environments.environments import Actions, EnvironmentStep, Observations
from arcadia_workers.trainer.errors import TrainerError
from arcadia_workers.trainer.games.emulator import EMULATORS, AtariGame
from arcadia_workers.trainer.games.games import GymnasiumGame, PlayableGame

# How far a state may differ from the stored one. Machines round differently.
TOLERANCE = 1e-4
# Distinguishes the random numbers of a lane from those of its environment, which have the same seed.
STREAM = 1


class PracticeStartError(TrainerError):
    """A mistake cannot be reached again, so that practice cannot begin there."""


def open_game(config: TrainingConfig, repeat_action_probability: float) -> PlayableGame:
    """Open a game of a run. The frame limit of Atari games is left to the caller, who does not count no-ops."""
    if config.environment.family.simulator == "ale":
        frames = config.environment.frames_per_step
        return AtariGame(config.env, None, frames, config.action_set, repeat_action_probability)
    return GymnasiumGame(config.env)


def begin(game: PlayableGame, seed: int, noops: int) -> None:
    """Bring a game to the first decision of a reviewed episode."""
    game.begin(seed)
    if noops:
        game.hold([(ale_py.Action.NOOP.value, noops)])


def fits(game: PlayableGame, episode: PracticedEpisode) -> bool:
    """Return True if a game is at the episode's last mistake."""
    reached, stored = (float(game.observation.mean()), game.score), (episode.seen, episode.score)
    return not game.over and all(
        math.isclose(*pair, rel_tol=TOLERANCE, abs_tol=TOLERANCE) for pair in zip(reached, stored, strict=True)
    )


class PracticeStart:
    """A state at which practice begins, and how many decisions it is after the normal start of its episode."""

    def __init__(self, game: PlayableGame, decision: int) -> None:
        self._game, self.decision = game, decision

    def branch(self, seed: int, emulator: int) -> PlayableGame:
        """Return a game that continues from here. An Atari game continues in the emulator with this number."""
        return self._game.branch([seed] * (emulator + 1))[-1]


def reach(config: TrainingConfig, practice: PracticeConfig) -> list[PracticeStart]:
    """Play the episodes up to their mistakes, and return where practice begins."""
    game = open_game(config, practice.repeat_action_probability)
    if isinstance(game, AtariGame):
        game.repeat_action_probability = config.repeat_action_probability
    try:
        starts = [start for episode in practice.episodes for start in _reach(game, episode, practice.before)]
    finally:
        game.close()
    late = max(start.decision for start in starts)
    if isinstance(game, AtariGame) and late * game.frames_per_step >= config.cap_frames:
        raise PracticeStartError(
            f"practice begins at decision {late:,}, but the run cuts off games after {config.cap_frames:,} frames: "
            f"set cap_frames above {late * game.frames_per_step:,}"
        )
    return starts


def _reach(game: PlayableGame, episode: PracticedEpisode, before: int) -> Iterator[PracticeStart]:
    actions = [ACTION_SYMBOLS.index(symbol) for symbol in episode.actions]
    if max(actions, default=0) >= number_of_actions(game.actions):
        raise PracticeStartError(
            f"a practiced episode has action {max(actions)}, but the game has only {len(game.action_names)} actions: "
            "use the action set with which it was reviewed"
        )
    wanted = set(episode.starts(before))
    begin(game, episode.seed, episode.noops)
    for decision in range(len(actions) + 1):
        if game.over:
            break
        if decision in wanted:
            [branch] = game.branch([0])
            yield PracticeStart(branch, decision)
        if decision < len(actions):
            game.step(actions[decision])
    if not fits(game, episode):
        raise PracticeStartError(
            "the actions of a practiced episode lead to another state here, so its mistakes cannot be restored: "
            "review the agent again on this machine, with an environment that repeats an episode exactly by its seed"
        )


class PracticeLane:
    """One environment of a batch. It draws the same random numbers for each episode, wherever it begins."""

    def __init__(self, config: TrainingConfig, practice: PracticeConfig, seed: int, emulator: int) -> None:
        self._practice, self._emulator, self._seed = practice, emulator, seed
        self._own = self.game = open_game(config, config.repeat_action_probability)
        # As the emulator counts them: with a minimum of 1, the maximum can be drawn too.
        self._noops = config.min_noops, max(config.min_noops, config.max_noops + config.min_noops - 1)
        self._fires = _presses_fire(config, self._own)
        self._cap = config.cap_frames if isinstance(self._own, AtariGame) else math.inf
        self._random = np.random.default_rng([STREAM, seed])
        self._decisions = 0

    def begin(self, starts: Sequence[PracticeStart], *, is_first: bool = False) -> None:
        """Begin an episode."""
        draw = self._random.integers
        is_practice = self._random.random() < self._practice.share
        number, seed, noops = int(draw(len(starts))), int(draw(SEEDS)), int(draw(*self._noops, endpoint=True))
        if is_first:
            self._own.begin(self._seed)
        if self.game is not self._own:
            self.game.close()
        if is_practice:
            self.game, self._decisions = starts[number].branch(seed, self._emulator), starts[number].decision
            return
        self.game, self._decisions = self._own, 0
        if not is_first:
            self._own.begin_another()
        if isinstance(self._own, AtariGame) and (opening := self._opening(noops)):
            self._own.hold(opening)

    def step(self, action: int) -> tuple[float, bool]:
        """Take a decision. Return the reward, and whether a life was lost."""
        game, lives = self.game, self.game.lives
        # Counted anew, because differences of sums would be rounded.
        game.score = 0.0
        game.step(action)
        self._decisions += 1
        return game.score, game.lives < lives

    @property
    def is_cut_off(self) -> bool:
        """True if the frame limit or a time limit has ended the episode."""
        return self.game.cut_off or self._decisions * self._own.frames_per_step >= self._cap

    @property
    def is_terminated(self) -> bool:
        """True if the environment has ended the episode."""
        return self.game.over and not self.game.cut_off

    def close(self) -> None:
        """End the environments."""
        for game in {id(game): game for game in (self.game, self._own)}.values():
            game.close()

    def _opening(self, noops: int) -> list[HeldAction]:
        """Return the actions before the first decision. FIRE counts as a no-op."""
        fire = [(ale_py.Action.FIRE.value, 1)] if self._fires else []
        rest = noops - len(fire)
        return [*fire, (ale_py.Action.NOOP.value, rest)] if rest > 0 else fire


def _presses_fire(config: TrainingConfig, game: PlayableGame) -> bool:
    return config.fire_at_reset and ale_py.Action.FIRE.name in game.action_names


class PracticeEnvironments:
    """Environments of a run with practice. Atari games step in threads, as many as have emulators."""

    def __init__(self, config: TrainingConfig, num_envs: int, seed: int, num_threads: int) -> None:
        if config.practice is None:
            raise ValueError("the configuration has no practice")
        self._config, self._practice = config, config.practice
        is_atari = config.environment.family.simulator == "ale"
        threads = min(num_threads, num_envs, EMULATORS) if is_atari else 1
        first = seed * num_envs % (2**31 - num_envs) if is_atari else seed * num_envs
        self._lanes = [PracticeLane(config, self._practice, first + i, i % threads) for i in range(num_envs)]
        # The lanes of a thread share an emulator for practice.
        self._groups = [range(number, num_envs, threads) for number in range(threads)]
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="practice") if threads > 1 else None
        own = self._lanes[0].game
        self.num_envs, self.actions = num_envs, own.actions
        self.observation_shape, self.frames_per_step = own.observation_shape, own.frames_per_step
        self._starts: list[PracticeStart] = []
        self._over = np.zeros(num_envs, dtype=np.bool_)
        self._actions: Actions | None = None
        self._stepping: list[Future[None]] = []

    def reset(self) -> Observations:
        self._starts = self._starts or reach(self._config, self._practice)
        for lane in self._lanes:
            lane.begin(self._starts, is_first=True)
        self._over = np.zeros(self.num_envs, dtype=np.bool_)
        return self._observations()

    def send(self, actions: Actions) -> None:
        highest = number_of_actions(self.actions) - 1
        if actions.min() < 0 or actions.max() > highest:
            raise ValueError(f"actions must lie between 0 and {highest}, got {actions.tolist()}")
        self._actions = actions.copy()
        self._rewards = np.zeros(self.num_envs, dtype=np.float32)
        self._lives_lost = np.zeros(self.num_envs, dtype=np.bool_)
        if self._threads:
            self._stepping = [self._threads.submit(self._step, lanes) for lanes in self._groups]

    def receive(self) -> EnvironmentStep:
        if self._actions is None:
            raise RuntimeError("receive() needs a send() before it")
        if self._threads:
            for stepping in self._stepping:
                stepping.result()
        else:
            self._step(self._groups[0])
        self._actions = None
        fresh = self._over
        step = EnvironmentStep(
            self._observations(),
            self._rewards,
            np.array([lane.is_terminated for lane in self._lanes]),
            np.array([lane.is_cut_off for lane in self._lanes]),
            life_lost=self._lives_lost,
            fresh=fresh,
        )
        self._over = step.terminated | step.truncated
        return step

    def close(self) -> None:
        if self._threads:
            self._threads.shutdown()
        for lane in self._lanes:
            lane.close()

    def _step(self, lanes: range) -> None:
        """Take a decision in these lanes, or begin an episode where the last one has ended."""
        for i in lanes:
            if self._over[i]:
                self._lanes[i].begin(self._starts)
            elif self._actions is not None:
                self._rewards[i], self._lives_lost[i] = self._lanes[i].step(int(self._actions[i]))

    def _observations(self) -> Observations:
        return cast(Observations, np.stack([lane.game.observation for lane in self._lanes]))
