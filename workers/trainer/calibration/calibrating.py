"""One calibration, from the checkpoint to the document."""

import time
from collections.abc import Callable, Sequence

import numpy as np

from workers.contract.calibrations import (
    MAX_BINS,
    MAX_MOMENTS,
    MAX_WORST,
    USUAL_MOMENTS,
    CalibrationBin,
    CalibrationDocument,
    JudgedMoment,
    Regret,
)
from workers.contract.inference import t_interval
from workers.trainer.calibration.judging import judged_moments
from workers.trainer.calibration.request import CalibrateRequest
from workers.trainer.evaluation.request import RequestError
from workers.trainer.futures.moments import moments
from workers.trainer.futures.players import Player, load
from workers.trainer.host import devices
from workers.trainer.recording.recording import StoppedError

Advance = Callable[[int, int], None]
"""Reports how many decisions are judged, and how many will be."""


def calibrate(request: CalibrateRequest, should_stop: Callable[[], bool] = lambda: False) -> CalibrationDocument:
    """Judge the decisions of several episodes of a run's checkpoint."""
    return calibration(request, load(request.run_directory, request.step, request.protocol), should_stop=should_stop)


def calibration(
    request: CalibrateRequest,
    player: Player,
    advance: Advance = lambda _done, _total: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> CalibrationDocument:
    """Judge the decisions of several episodes."""
    began = time.monotonic()
    devices.compute_in(1)
    options = request.options
    every, total = spread(episode_lengths(player, request, should_stop), options.every)
    judged = []
    for episode in range(options.episodes):
        for moment in judged_moments(player, episode, every, request, should_stop):
            judged.append(moment)
            advance(len(judged), total)
    errors = [moment.value - moment.mean for moment in judged]
    return CalibrationDocument(
        env=player.config.env,
        algorithm=player.checkpoint.algorithm,
        checkpoint_step=player.checkpoint.file.step,
        protocol=player.protocol.name,
        acting=player.subject.acting,
        seed=request.seed,
        episodes=options.episodes,
        every=every,
        futures=options.futures,
        horizon=options.horizon,
        gamma=player.config.gamma,
        clip_rewards=player.config.clip_rewards,
        bias=float(np.mean(errors)),
        bias_interval=t_interval(errors),
        rmse=rmse(judged),
        correlation=correlation([moment.value for moment in judged], [moment.mean for moment in judged]),
        bins=bins(judged),
        regret=mean_regret(judged),
        worst=sorted(judged, key=lambda moment: -abs(moment.value - moment.mean))[:MAX_WORST],
        moments=judged,
        seconds=time.monotonic() - began,
    )


def episode_lengths(player: Player, request: CalibrateRequest, should_stop: Callable[[], bool]) -> list[int]:
    """Play the episodes without judging them. Return the number of decisions of each."""
    lengths = [0] * request.options.episodes
    for episode in range(request.options.episodes):
        for moment in moments(player.subject, player.protocol, request.seed, episode):
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


def rmse(judged: Sequence[JudgedMoment]) -> float:
    """Return the root mean square error of the values.

    The squared error against a mean of few futures contains the variance of that mean, which is subtracted.
    """
    squares = [(moment.value - moment.mean) ** 2 - moment.standard_error**2 for moment in judged]
    return float(np.sqrt(np.maximum(np.mean(squares), 0)))


def correlation(values: Sequence[float], means: Sequence[float]) -> float | None:
    """Return Pearson's correlation, or None if one of the series is constant."""
    if np.ptp(values) == 0 or np.ptp(means) == 0:
        return None
    return float(np.corrcoef(values, means)[0, 1])


def bins(judged: Sequence[JudgedMoment]) -> list[CalibrationBin]:
    """Group the moments by their values, with equal numbers in each bin."""
    ordered = sorted(judged, key=lambda moment: moment.value)
    parts = np.array_split(np.arange(len(ordered)), min(MAX_BINS, len(ordered)))
    return [_bin([ordered[index] for index in part]) for part in parts]


def _bin(moments: Sequence[JudgedMoment]) -> CalibrationBin:
    means = [moment.mean for moment in moments]
    return CalibrationBin(
        count=len(moments),
        value=float(np.mean([moment.value for moment in moments])),
        mean=float(np.mean(means)),
        interval=t_interval(means),
    )


def mean_regret(judged: Sequence[JudgedMoment]) -> Regret | None:
    """Return the mean regret, or None if no moment has one."""
    regrets = [moment.regret for moment in judged if moment.regret is not None]
    return Regret(mean=float(np.mean(regrets)), interval=t_interval(regrets)) if regrets else None
