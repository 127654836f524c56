"""Steps a second of one contender, measured in a process of its own: `python -m bench.rates paac ALE/Pong-v5 10`."""

import json
import os
import sys
import time
from collections.abc import Callable

# Before torch is imported, as the trainer does it.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np

from workers.trainer import devices, environments
from workers.trainer.algorithms import paac
from workers.trainer.config import PaacConfig
from workers.trainer.run import NullRun
from workers.trainer.spaces import number_of_actions

WARM_UP_SECONDS = 3.0
SB3_ENVS = 16

Rate = Callable[[str, float], float]


class Stopwatch:
    """Counts steps from the end of the warm-up to the end of the measurement."""

    def __init__(self, seconds: float) -> None:
        self._begin = time.perf_counter() + WARM_UP_SECONDS
        self._end = self._begin + seconds
        self._first: tuple[float, int] | None = None
        self.rate = 0.0

    def running(self, step: int) -> bool:
        """Note where the run is; say whether to go on."""
        now = time.perf_counter()
        if self._first is None:
            if now >= self._begin:
                self._first = (now, step)
            return True
        if now < self._end:
            return True
        self.rate = (step - self._first[1]) / (now - self._first[0])
        return False


class TimedRun(NullRun):
    """A run that stops when the stopwatch does."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.stopwatch = Stopwatch(seconds)

    def should_stop(self) -> bool:
        return not self.stopwatch.running(self.step)

    def metrics_due(self) -> bool:
        return False


def ceiling(env: str, seconds: float) -> float:
    """The environments alone: same number, same threads, random actions, nobody learning."""
    config = PaacConfig(env=env)
    batch = environments.make(config, config.num_envs, seed=1, num_threads=config.num_workers)
    batch.reset()
    actions = np.random.default_rng(1).integers(0, number_of_actions(batch.actions), (1000, config.num_envs))
    stopwatch, step = Stopwatch(seconds), 0
    while stopwatch.running(step):
        batch.send(actions[step // config.num_envs % 1000])
        batch.receive()
        step += config.num_envs
    batch.close()
    return stopwatch.rate


def paac_rate(env: str, seconds: float) -> float:
    """PAAC with the paper's settings and arch_nips."""
    config, run = PaacConfig(env=env, network="nips"), TimedRun(seconds)
    devices.set_threads(config, run.device)
    paac.train(config, run)
    return run.stopwatch.rate


def stable_baselines3_a2c(env: str, seconds: float, processes: bool) -> float:
    """A2C of Stable-Baselines3 on 16 environments with its own Atari wrappers."""
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
    vectorised = SubprocVecEnv if processes else DummyVecEnv
    envs = VecFrameStack(make_atari_env(f"{game}NoFrameskip-v4", SB3_ENVS, seed=1, vec_env_cls=vectorised), 4)
    model = A2C("CnnPolicy", envs, policy_kwargs={"optimizer_kwargs": {"eps": 1e-5}}, device="cpu", seed=1)
    model.learn(1_000_000_000, callback=Watch())
    envs.close()
    return stopwatch.rate


CONTENDERS: dict[str, Rate] = {
    "ceiling": ceiling,
    "paac": paac_rate,
    "sb3-a2c-dummy": lambda env, seconds: stable_baselines3_a2c(env, seconds, processes=False),
    "sb3-a2c-subproc": lambda env, seconds: stable_baselines3_a2c(env, seconds, processes=True),
}


def main() -> None:
    """Measure one contender and print its rate as JSON."""
    contender, env, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    print(json.dumps({"contender": contender, "env": env, "steps_per_second": CONTENDERS[contender](env, seconds)}))


if __name__ == "__main__":
    main()
