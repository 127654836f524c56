"""One calibration, from the checkpoint to the document."""

import time
from collections.abc import Callable, Sequence

import numpy as np

from workers.contract.calibrations import (
    MAX_BINS,
    MAX_WORST,
    CalibrationBin,
    CalibrationDocument,
    JudgedMoment,
    Regret,
)
from workers.contract.intervals import t_interval
from workers.trainer.calibration.judging import judged_moments
from workers.trainer.calibration.request import CalibrateRequest
from workers.trainer.futures.players import load
from workers.trainer.host import devices


def calibrate(request: CalibrateRequest, should_stop: Callable[[], bool] = lambda: False) -> CalibrationDocument:
    """Judge the decisions of several episodes."""
    began = time.monotonic()
    devices.compute_in(1)
    player = load(request.run_directory, request.step, request.protocol)
    judged = [
        moment
        for episode in range(request.episodes)
        for moment in judged_moments(player, episode, request, should_stop)
    ]
    errors = [moment.value - moment.mean for moment in judged]
    return CalibrationDocument(
        env=player.config.env,
        algorithm=player.checkpoint.algorithm,
        checkpoint_step=player.checkpoint.file.step,
        protocol=player.protocol.name,
        acting=player.subject.acting,
        seed=request.seed,
        episodes=request.episodes,
        every=request.every,
        futures=request.futures,
        horizon=request.horizon,
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
    """Return the mean regret, or None for continuous actions."""
    regrets = [moment.regret for moment in judged if moment.regret is not None]
    return Regret(mean=float(np.mean(regrets)), interval=t_interval(regrets)) if regrets else None
