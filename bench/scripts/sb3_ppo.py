"""PPO of Stable-Baselines3 on CartPole.

    python bench/scripts/sb3_ppo.py --logger none

The logger is `none`, `tensorboard`, which needs that package, `wandb`, or `arcadia`, the client's callback. The monitor
files are written in each case.
"""

import argparse
from typing import Any

from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env


def make_callback(logger: str) -> Any:
    """Return the callback of a logger, or None."""
    if logger == "wandb":
        import wandb  # type: ignore[import-not-found]
        from wandb.integration.sb3 import WandbCallback  # type: ignore[import-not-found]

        wandb.init(project="sb3", name="wandb", config={"total_timesteps": 2_048}, sync_tensorboard=True)
        return WandbCallback(verbose=2, model_save_path="models")
    if logger == "arcadia":
        from arcadia.integrations.sb3 import ArcadiaCallback

        return ArcadiaCallback("sb3", "callback")
    return None


def main() -> None:
    """Train."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--logger", default="none")
    parser.add_argument("--total-timesteps", type=int, default=2_048)
    args = parser.parse_args()
    environments = make_vec_env("CartPole-v1", n_envs=4, seed=1, monitor_dir="monitor")
    log = "logs" if args.logger == "tensorboard" else None
    model = PPO("MlpPolicy", environments, n_steps=128, learning_rate=2.5e-4, seed=1, device="cpu", tensorboard_log=log)
    model.learn(args.total_timesteps, callback=make_callback(args.logger))


if __name__ == "__main__":
    main()
