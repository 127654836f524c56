"""One calibration, from the checkpoint to the document."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from arcadia_workers.contract.action_names import Discrete
from arcadia_workers.contract.config import RunConfig
from arcadia_workers.contract.futures import (
    MAX_BINS,
    MAX_MOMENTS,
    MAX_WORST,
    USUAL_MOMENTS,
    CalibrationBin,
    CalibrationDocument,
    CalibrationErrors,
    Future,
    Interval,
    JudgedMoment,
    LossBounds,
    Regret,
)
from arcadia_workers.contract.inference.losses import bound_loss, loss_interval
from arcadia_workers.contract.inference.means import clustered_mean_error, jackknife_interval, t_interval
from arcadia_workers.contract.jobs import CalibrationParameters
from arcadia_workers.contract.protocols import EvaluationProtocol
from arcadia_workers.contract.protocols.document import Acting
from arcadia_workers.trainer.evaluation.request import RequestError
from arcadia_workers.trainer.futures.simulating import Moment, Plan, Player, draws, future, moments, simulate_each
from arcadia_workers.trainer.host import devices
from arcadia_workers.trainer.recording.recording import StoppedError


def judged_moments(
    player: Player, episode: int, every: int, which: CalibrationParameters, should_stop: Callable[[], bool]
) -> Iterator[JudgedMoment]:
    """Play an episode and judge every k-th decision."""
    for moment in moments(player.subject, player.protocol, which.seed, episode):
        if moment.decision % every == 0:
            yield judged(player, moment, episode, which, should_stop)


def judged(
    player: Player, moment: Moment, episode: int, which: CalibrationParameters, should_stop: Callable[[], bool]
) -> JudgedMoment:
    """Simulate the futures of a decision. They are those of `arcadia futures` with the same options."""
    drawn = draws(which.seed, episode, moment.decision, range(which.futures))

    def simulated(*plans: Plan) -> list[list[Future]]:
        branches = simulate_each(player.subject, moment, drawn, plans, should_stop)
        return [[future(branch, player.config) for branch in each] for each in branches]

    plan = Plan(which.horizon)
    [futures] = simulated(plan)
    discounted = [each.discounted_return for each in futures]
    mean = float(np.mean(discounted))
    regret = None
    if which.measure_regret and isinstance(moment.game.actions, Discrete):
        forced = simulated(*(replace(plan, first=(action,)) for action in range(moment.game.actions.count)))
        returns = np.array([[each.discounted_return for each in of_action] for of_action in forced])
        regret = LossBounds(**bound_loss(returns, int(moment.action))._asdict())
    weights = [player.config.gamma**each.decisions * (each.bootstrap is not None) for each in futures]
    return JudgedMoment(
        episode=episode,
        decision=moment.decision,
        value=float(moment.output.values[0]),
        mean=mean,
        interval=t_interval(discounted),
        standard_error=float(np.std(discounted, ddof=1) / len(discounted) ** 0.5),
        regret=regret,
        bootstrap_weight=float(np.mean(weights)),
    )


Advance = Callable[[int, int], None]
"""Reports how many decisions are judged, and how many will be."""


def calibration(
    which: CalibrationParameters,
    player: Player,
    advance: Advance = lambda _done, _total: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> CalibrationDocument:
    """Judge the decisions of several episodes."""
    began = time.monotonic()
    devices.compute_in(1)
    every, total = spread(episode_lengths(player, which, should_stop), which.every)
    judged = []
    for episode in range(which.episodes):
        for moment in judged_moments(player, episode, every, which, should_stop):
            judged.append(moment)
            advance(len(judged), total)
    return CalibrationDocument(
        env=player.config.env,
        algorithm=player.checkpoint.algorithm,
        checkpoint_step=player.checkpoint.file.step,
        protocol=player.protocol.name,
        acting=player.subject.acting,
        seed=which.seed,
        episodes=which.episodes,
        every=every,
        futures=which.futures,
        horizon=which.horizon,
        gamma=player.config.gamma,
        clip_rewards=player.config.clip_rewards,
        bins=bins(judged),
        worst=sorted(judged, key=lambda moment: -abs(moment.value - moment.mean))[:MAX_WORST],
        moments=judged,
        warnings=differences_from_training(player.config, player.protocol, player.subject.acting),
        seconds=time.monotonic() - began,
        **errors(judged).model_dump(),
    )


def episode_lengths(player: Player, which: CalibrationParameters, should_stop: Callable[[], bool]) -> list[int]:
    """Play the episodes without judging them. Return the number of decisions of each."""
    lengths = [0] * which.episodes
    for episode in range(which.episodes):
        for moment in moments(player.subject, player.protocol, which.seed, episode):
            if should_stop():
                raise StoppedError("the calibration was stopped")
            lengths[episode] = moment.decision + 1
    return lengths


def spread(lengths: Sequence[int], every: int | None) -> tuple[int, int]:
    """Return the distance between judged decisions, and their number. Raise RequestError if it is too large."""
    step = every or max(1, round(sum(lengths) / USUAL_MOMENTS))
    total = sum(-(-length // step) for length in lengths)
    if total > MAX_MOMENTS:
        raise RequestError(
            f"{total:,} decisions would be judged, and the limit is {MAX_MOMENTS:,}: set every to at least "
            f"{-(-sum(lengths) // MAX_MOMENTS) + 1}, or choose fewer episodes"
        )
    return step, total


def errors(judged: Sequence[JudgedMoment]) -> CalibrationErrors:
    """Return the errors over all moments. Moments of an episode are related, so intervals are clustered by episode."""
    episodes = [moment.episode for moment in judged]
    biases = [moment.value - moment.mean for moment in judged]
    error = clustered_mean_error(biases, episodes)

    def around(statistic: Callable[[Sequence[JudgedMoment]], float | None], least: float, most: float) -> Statistic:
        return _with_interval(statistic, judged, episodes, least, most)

    related, related_interval = around(correlation, -1.0, 1.0)
    skilled, skilled_interval = around(skill, -math.inf, 1.0)
    return CalibrationErrors(
        bias=float(np.mean(biases)),
        bias_interval=error and error.interval,
        bootstrap_weight=float(np.mean([moment.bootstrap_weight for moment in judged])),
        rmse=math.sqrt(squared_error(judged)),
        correlation=related,
        correlation_interval=related_interval,
        skill=skilled,
        skill_interval=skilled_interval,
        regret=mean_regret(judged),
    )


Statistic = tuple[float | None, Interval | None]


def _with_interval(
    statistic: Callable[[Sequence[JudgedMoment]], float | None],
    judged: Sequence[JudgedMoment],
    episodes: Sequence[int],
    least: float,
    most: float,
) -> Statistic:
    """Return a statistic with its 95 % interval by the jackknife. None where it is not defined.

    An interval without a possible value has no meaning: the noise of the futures hides the statistic.
    """
    ends = jackknife_interval(lambda indices: statistic([judged[index] for index in indices]), episodes)
    if ends is None or ends[1] <= least or ends[0] >= most:
        return statistic(judged), None
    return statistic(judged), (max(least, ends[0]), min(most, ends[1]))


def squared_error(judged: Sequence[JudgedMoment]) -> float:
    """Return the mean square error of the values: the squared bias, and the variance of the errors around it.

    The variance of errors against means of few futures contains the variance of these means, which is subtracted. The
    rest is never below zero, so the error is never smaller than the bias.
    """
    differences = np.array([moment.value - moment.mean for moment in judged])
    noise = np.mean([moment.standard_error**2 for moment in judged])
    return float(differences.mean() ** 2 + max(0.0, differences.var() - noise * (1 - 1 / len(judged))))


def correlation(judged: Sequence[JudgedMoment]) -> float | None:
    """Return Pearson's correlation of values and mean returns, or None if one of the series is constant."""
    values, means = ([moment.value for moment in judged], [moment.mean for moment in judged])
    if np.ptp(values) == 0 or np.ptp(means) == 0:
        return None
    return float(np.corrcoef(values, means)[0, 1])


def skill(judged: Sequence[JudgedMoment]) -> float | None:
    """Return the share of the variance of returns that the values explain, or None if the returns do not differ."""
    variance = np.var([moment.mean for moment in judged]) - np.mean([moment.standard_error**2 for moment in judged])
    return 1 - squared_error(judged) / float(variance) if variance > 0 else None


def bins(judged: Sequence[JudgedMoment]) -> list[CalibrationBin]:
    """Group the moments by their values, with equal numbers in each bin."""
    ordered = sorted(judged, key=lambda moment: moment.value)
    parts = np.array_split(np.arange(len(ordered)), min(MAX_BINS, len(ordered)))
    return [_bin([ordered[index] for index in part]) for part in parts]


def _bin(moments: Sequence[JudgedMoment]) -> CalibrationBin:
    means = [moment.mean for moment in moments]
    error = clustered_mean_error(means, [moment.episode for moment in moments])
    return CalibrationBin(
        count=len(moments),
        value=float(np.mean([moment.value for moment in moments])),
        mean=float(np.mean(means)),
        interval=error and error.interval,
    )


def mean_regret(judged: Sequence[JudgedMoment]) -> Regret | None:
    """Return the mean regret, or None if no moment has one."""
    regrets = [(moment.regret, moment.episode) for moment in judged if moment.regret is not None]
    if not regrets:
        return None
    return Regret(
        at_least=float(np.mean([regret.at_least for regret, _ in regrets])),
        at_most=float(np.mean([regret.at_most for regret, _ in regrets])),
        interval=loss_interval([regret for regret, _ in regrets], [episode for _, episode in regrets]),
    )


def differences_from_training(config: RunConfig, protocol: EvaluationProtocol, acting: Acting) -> list[str]:
    """Return how the episodes differ from those that the critic was trained in, as sentences."""
    sentences = []
    if config.environment.family.has_action_sets and protocol.opening == "no-ops":
        trained, played = config.repeat_action_probability, protocol.repeat_action_probability
        if trained != played:
            sentences.append(
                f"The emulator repeats actions with a probability of {played:g} in these episodes, and of {trained:g} "
                "in training."
            )
    if acting.name == "epsilon-greedy":
        sentences.append(
            f"{acting.epsilon:.0%} of the actions are random here, while the values assume the best action."
        )
    elif acting.name == "greedy":
        sentences.append("The agent always takes the most probable action here, and draws actions in training.")
    return sentences
