"""Judgment of single decisions by their futures."""

from collections.abc import Callable, Iterator

import numpy as np

from workers.contract.calibrations import JudgedMoment, LossBounds
from workers.contract.futures import Future
from workers.contract.inference.losses import bound_loss
from workers.contract.inference.means import t_interval
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
    drawn = draws(request.seed, episode, moment.decision, range(request.options.futures))

    def simulated(*first: int) -> list[Future]:
        branches = simulate(player.subject, moment, drawn, Plan(request.options.horizon, first=first), should_stop)
        return [future(branch, player.config) for branch in branches]

    def returns(*first: int) -> list[float]:
        return [each.discounted_return for each in simulated(*first)]

    futures = simulated()
    found = [each.discounted_return for each in futures]
    mean = float(np.mean(found))
    regret = None
    if request.options.measure_regret and isinstance(moment.game.actions, Discrete):
        of_actions = np.array([returns(action) for action in range(moment.game.actions.count)])
        regret = LossBounds(**bound_loss(of_actions, int(moment.action))._asdict())
    weights = [player.config.gamma**each.decisions * (each.bootstrap is not None) for each in futures]
    return JudgedMoment(
        episode=episode,
        decision=moment.decision,
        value=float(moment.output.values[0]),
        mean=mean,
        interval=t_interval(found) or (mean, mean),
        standard_error=float(np.std(found, ddof=1) / len(found) ** 0.5),
        regret=regret,
        bootstrap_weight=float(np.mean(weights)),
    )
