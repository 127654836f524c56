"""Measure one contender's steps per second, in its own process: `python -m bench.rates paac ALE/Pong-v5 10`."""

import json
import os
import time
from collections.abc import Callable

# Set this before importing torch, as the trainer does.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import torch

from arcadia_workers.contract.config import (
    A3cConfig,
    Ga3cConfig,
    NStepQConfig,
    PaacConfig,
    RunConfig,
    SynchronousFields,
)
from arcadia_workers.trainer.environments import episodes as environments_alone
from arcadia_workers.trainer.host import devices
from arcadia_workers.trainer.methods import TRAINERS
from arcadia_workers.trainer.run.run import NullRun
from bench.arguments import read_arguments

WARM_UP_SECONDS = 3.0
SB3_ENVS = 16

Rate = Callable[[str, float], float]


class Stopwatch:
    """A counter of steps over some seconds. It starts after the first step and a warm-up."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._begin: float | None = None
        self._first: tuple[float, int] | None = None
        self.rate = 0.0

    def running(self, step: int) -> bool:
        """Record the step, and return True to continue."""
        now = time.perf_counter()
        if self._begin is None:
            if step:
                self._begin = now + WARM_UP_SECONDS
        elif self._first is None:
            if now >= self._begin:
                self._first = (now, step)
        elif now >= self._first[0] + self._seconds:
            self.rate = (step - self._first[1]) / (now - self._first[0])
            return False
        return True


class TimedRun(NullRun):
    """A run that stops when the stopwatch does."""

    def __init__(self, seconds: float, device: torch.device) -> None:
        super().__init__(device=device)
        self.stopwatch = Stopwatch(seconds)

    def should_stop(self) -> bool:
        return not self.stopwatch.running(self.step)

    def metrics_due(self) -> bool:
        return False


def ceiling(config: SynchronousFields, seconds: float) -> float:
    """Measure the environments alone, in the same number and threads, with random actions and without learning."""
    rate = environments_alone.measure(config, seconds, should_stop=lambda: False)
    assert rate is not None  # nothing stops it
    return rate


def of_method(config: RunConfig, seconds: float) -> float:
    """Measure one of our methods."""
    run = TimedRun(seconds, devices.resolve(config.device))
    devices.set_threads(config, run.device)
    TRAINERS[config.algorithm].train(config, run)
    return run.stopwatch.rate


def method(config: RunConfig) -> Rate:
    """Return the measurement of one of our methods, on any game."""
    return lambda env, seconds: of_method(config.model_copy(update={"env": env}), seconds)


def stable_baselines3_a2c(env: str, seconds: float, processes: bool) -> float:
    """Measure Stable-Baselines3's A2C on 16 environments with its own Atari wrappers."""
    import ale_py
    import gymnasium
    from stable_baselines3 import A2C
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.env_util import make_atari_env
    from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecFrameStack

    gymnasium.register_envs(ale_py)
    stopwatch = Stopwatch(seconds)

    class Watch(BaseCallback):
        def _on_step(self) -> bool:
            return stopwatch.running(self.num_timesteps)

    game = env.removeprefix("ALE/").removesuffix("-v5")
    vectorized = SubprocVecEnv if processes else DummyVecEnv
    envs = VecFrameStack(make_atari_env(f"{game}NoFrameskip-v4", SB3_ENVS, seed=1, vec_env_cls=vectorized), 4)
    model = A2C("CnnPolicy", envs, policy_kwargs={"optimizer_kwargs": {"eps": 1e-5}}, device="cpu", seed=1)
    model.learn(1_000_000_000, callback=Watch())
    envs.close()
    return stopwatch.rate


# Enough agents and threads to keep two cores busy. The adjustment would take minutes to find these numbers.
GA3C = Ga3cConfig(
    network="nips",
    num_agents=16,
    num_predictors=1,
    num_trainers=1,
    device="cpu",
    dynamic_adjustment=False,
    min_training_batch=40,
)

CONTENDERS: dict[str, Rate] = {
    "ceiling": lambda env, seconds: ceiling(PaacConfig(env=env), seconds),
    "paac": method(PaacConfig(network="nips", device="cpu")),
    "paac-128": method(PaacConfig(network="nips", device="cpu", num_envs=128)),
    "ga3c": method(GA3C),
    # t_max 5 as in the paper, and 20 as its authors often used.
    "a3c-1-5": method(A3cConfig(network="nips", num_actors=1)),
    "a3c-2-5": method(A3cConfig(network="nips", num_actors=2)),
    "a3c-1-20": method(A3cConfig(network="nips", num_actors=1, t_max=20)),
    "a3c-2-20": method(A3cConfig(network="nips", num_actors=2, t_max=20)),
    "n-step-q-2": method(NStepQConfig(network="nips", num_actors=2)),
    "sb3-a2c-dummy": lambda env, seconds: stable_baselines3_a2c(env, seconds, processes=False),
    "sb3-a2c-subproc": lambda env, seconds: stable_baselines3_a2c(env, seconds, processes=True),
}


def main() -> None:
    """Measure one contender and print its rate as JSON."""
    kinds = {"contender": str, "env": str, "seconds": float}
    contender, env, seconds = read_arguments("bench.rates", f"{__doc__} Contenders: {', '.join(CONTENDERS)}.", kinds)
    print(json.dumps({"contender": contender, "env": env, "steps_per_second": CONTENDERS[contender](env, seconds)}))


if __name__ == "__main__":
    main()
