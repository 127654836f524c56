"""REINFORCE on CartPole, with the arguments, names and calls of CleanRL's single-file scripts.

    python bench/scripts/cleanrl_reinforce.py --logger tensorboard

The logger is `tensorboard` as in CleanRL, `wandb`, or `arcadia`, the client's own functions.
"""

import argparse
import os
import random
import time
from collections.abc import Callable, Mapping

import gymnasium
import numpy as np
import torch

Log = Callable[[Mapping[str, float], int], None]
Save = Callable[[str], object]


def parse_args() -> tuple[argparse.Namespace, str]:
    """Return the arguments of the experiment, and the logger."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--exp-name", default=os.path.basename(__file__)[: -len(".py")])  # noqa: PTH119 - as in CleanRL
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--env-id", default="CartPole-v1")
    parser.add_argument("--total-timesteps", type=int, default=2_000)
    parser.add_argument("--learning-rate", default="2.5e-3")
    parser.add_argument("--gamma", type=float, default=0.99)
    parser.add_argument("--anneal-lr", action="store_true")
    parser.add_argument("--save-model", action="store_true")
    parser.add_argument("--logger", default="tensorboard")
    args = parser.parse_args()
    logger = args.logger
    del args.logger
    return args, logger


def start_logging(args: argparse.Namespace, logger: str) -> tuple[Log, Save]:
    """Return a function that logs metrics at a step, and one that saves a file."""
    run_name = f"{args.env_id}__{args.exp_name}__{args.seed}__{int(time.time())}"
    if logger == "wandb":
        import wandb  # type: ignore[import-not-found]

        wandb.init(project="cleanRL", config=vars(args), name=run_name, group="reinforce", save_code=True)
        return lambda values, step: wandb.log(dict(values), step=step), wandb.save
    if logger == "arcadia":
        import arcadia

        run = arcadia.init("cleanRL", run_name, args)

        def log_to_arcadia(values: Mapping[str, float], step: int) -> None:
            run.log({**values, "episode/return": values["charts/episodic_return"]}, step)

        return log_to_arcadia, run.log_artifact
    from tensorboardX import SummaryWriter

    writer = SummaryWriter(f"runs/{run_name}")
    rows = "\n".join(f"|{key}|{value}|" for key, value in vars(args).items())
    writer.add_text("hyperparameters", f"|param|value|\n|-|-|\n{rows}")

    def log(values: Mapping[str, float], step: int) -> None:
        for name, value in values.items():
            writer.add_scalar(name, value, step)

    return log, lambda _file: None


def main() -> None:
    """Train."""
    args, logger = parse_args()
    log, save = start_logging(args, logger)
    random.seed(args.seed)
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    env = gymnasium.wrappers.RecordEpisodeStatistics(gymnasium.make(args.env_id))
    policy = torch.nn.Sequential(torch.nn.Linear(4, 64), torch.nn.Tanh(), torch.nn.Linear(64, 2))
    optimizer = torch.optim.Adam(policy.parameters(), lr=float(args.learning_rate))
    global_step, start, seed = 0, time.time(), args.seed
    while global_step < args.total_timesteps:
        observation, _ = env.reset(seed=seed)
        seed += 1
        log_probabilities, rewards, done = [], [], False
        while not done:
            choice = torch.distributions.Categorical(logits=policy(torch.as_tensor(observation)))
            action = choice.sample()
            log_probabilities.append(choice.log_prob(action))
            observation, reward, terminated, truncated, info = env.step(action.item())
            rewards.append(float(reward))
            done = terminated or truncated
            global_step += 1
        returns = np.zeros(len(rewards), np.float32)
        following = 0.0
        for index in reversed(range(len(rewards))):
            following = returns[index] = rewards[index] + args.gamma * following
        loss = -(torch.stack(log_probabilities) * torch.as_tensor(returns - returns.mean())).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        values = {
            "charts/episodic_return": float(info["episode"]["r"]),
            "charts/episodic_length": float(info["episode"]["l"]),
            "charts/SPS": global_step / (time.time() - start),
            "losses/policy_loss": loss.item(),
        }
        log(values, global_step)
    if args.save_model:
        torch.save(policy.state_dict(), f"{args.exp_name}.cleanrl_model")
        save(f"{args.exp_name}.cleanrl_model")
    env.close()


if __name__ == "__main__":
    main()
