"""Returns of futures, and means over them."""

from collections.abc import Sequence

import numpy as np

from workers.contract.config import RunConfig
from workers.contract.futures import FAN, Future, MeanReturn
from workers.contract.inference.means import t_interval
from workers.trainer.futures.simulating import Branch
from workers.trainer.recording.diary import discounted


def future(branch: Branch, config: RunConfig) -> Future:
    """Return the result of a finished future.

    The return is computed as training computes the targets of the value: with its discount, clipped rewards and lost
    lives. Where the future was stopped, it continues with the value of the last state.
    """
    game, value = branch.game, branch.value or 0.0
    rewards = np.clip(branch.rewards, -1, 1) if config.clip_rewards else np.asarray(branch.rewards)
    ends = branch.lives_lost if config.life_loss_ends_episode else [False] * len(rewards)
    is_bootstrapped = not any(ends) and (config.bootstraps if game.cut_off else not game.over)
    lost = np.flatnonzero(branch.lives_lost)
    return Future(
        discounted_return=float(discounted(rewards.tolist(), ends, config.gamma, value * is_bootstrapped)[0]),
        bootstrap=config.gamma ** len(rewards) * value if is_bootstrapped else None,
        score=sum(branch.rewards),
        decisions=len(rewards),
        life_lost_after=int(lost[0]) + 1 if len(lost) else None,
        ended="cut off" if game.cut_off else "over" if game.over else "stopped",
    )


def estimate(values: Sequence[float]) -> MeanReturn:
    """Return the mean with its interval."""
    mean = float(np.mean(values)) if values else None
    return MeanReturn(count=len(values), mean=mean, interval=t_interval(values))


def score_fan(branches: Sequence[Branch]) -> list[list[float]]:
    """Return quantiles of the score after each decision. Futures that have ended keep their score."""
    longest = max(len(branch.rewards) for branch in branches)
    scores = [np.cumsum(np.pad(branch.rewards, (0, longest - len(branch.rewards)))) for branch in branches]
    quantiles: list[list[float]] = np.quantile(scores, FAN, axis=0).T.tolist()
    return quantiles


def survival(futures: Sequence[Future]) -> list[float]:
    """Return the share of futures that have neither lost a life nor ended by the game, after each decision."""
    deaths = [each.life_lost_after or (each.decisions if each.ended == "over" else None) for each in futures]
    longest = max(each.decisions for each in futures)
    alive = [[death is None or death > decision for death in deaths] for decision in range(1, longest + 1)]
    return [float(np.mean(row)) for row in alive]
