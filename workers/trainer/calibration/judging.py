"""Judgment of single decisions by their futures."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from workers.contract.calibrations import JudgedMoment
from workers.contract.inference import t_interval
from workers.contract.spaces import Discrete
from workers.trainer.calibration.request import CalibrateRequest
from workers.trainer.futures.moments import Moment, moments
from workers.trainer.futures.players import Player
from workers.trainer.futures.returns import future
from workers.trainer.futures.simulating import Plan, draws, simulate


def judged_moments(
    player: Player, episode: int, every: int, request: CalibrateRequest, should_stop: Callable[[], bool]
) -> Iterator[JudgedMoment]:
    """Play an episode and judge every k-th decision."""
    for moment in moments(player.subject, player.protocol, request.seed, episode):
        if moment.decision % every == 0:
            yield judged(player, moment, episode, request, should_stop)


def judged(
    player: Player, moment: Moment, episode: int, request: CalibrateRequest, should_stop: Callable[[], bool]
) -> JudgedMoment:
    """Simulate the futures of a decision. They are those of `arcadia futures` with the same options."""
    drawn = draws(request.seed, episode, moment.decision, request.options.futures)

    def returns(*first: int) -> list[float]:
        branches = simulate(player.subject, moment, drawn, Plan(request.options.horizon, first=first), should_stop)
        return [future(branch, player.config).discounted_return for branch in branches]

    found = returns()
    mean = float(np.mean(found))
    lost = None
    if request.options.measure_regret and isinstance(moment.game.actions, Discrete):
        lost = regret(np.array([returns(action) for action in range(moment.game.actions.count)]), int(moment.action))
    return JudgedMoment(
        episode=episode,
        decision=moment.decision,
        value=float(moment.output.values[0]),
        mean=mean,
        interval=t_interval(found) or (mean, mean),
        standard_error=float(np.std(found, ddof=1) / len(found) ** 0.5),
        regret=lost,
    )


def regret(returns: NDArray[np.float64], chosen: int) -> float:
    """Return the mean return lost by an action against the best one. `returns` has a row for each action.

    The best of several noisy means is too high on average. So one half of the futures chooses the best action and the
    other half measures it, then the halves swap roles.
    """
    halves = returns[:, ::2], returns[:, 1::2]
    losses = []
    for choosing, measuring in (halves, halves[::-1]):
        best = int(choosing.mean(axis=1).argmax())
        losses.append(float(measuring[best].mean() - measuring[chosen].mean()))
    return sum(losses) / len(losses)
