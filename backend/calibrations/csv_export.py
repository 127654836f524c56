"""CSV export of calibrations: one line per judged decision, or one line per calibration."""

from collections.abc import Iterable, Iterator

from backend.calibrations.schemas import CalibrationWithDocument, RunCalibration
from backend.errors import Conflict
from backend.web.csv_files import csv_line
from workers.contract.calibrations import LossBounds
from workers.contract.futures import Interval

MOMENT_COLUMNS = (
    *("episode", "decision", "value", "mean_return", "interval_low", "interval_high"),
    *("standard_error", "regret_at_least", "regret_at_most", "bootstrap_weight"),
)
CALIBRATION_COLUMNS = (
    *("calibration", "state", "superseded", "step", "frames", "protocol", "seed"),
    *("episodes", "every", "futures", "horizon", "moments"),
    *("bias", "bias_low", "bias_high", "bootstrap_weight", "rmse", "rmse_low", "rmse_high"),
    *("correlation", "correlation_low", "correlation_high", "skill", "skill_low", "skill_high"),
    *("regret_at_least", "regret_at_most", "regret_low", "regret_high"),
    *("checkpoint_sha256", "finished_at"),
)


def moment_lines(calibration: CalibrationWithDocument) -> Iterator[str]:
    """Return the CSV lines of all judged decisions. Raise Conflict if the calibration is not done."""
    if calibration.document is None:
        raise Conflict("The calibration is not done, so it has no judged decisions yet.")
    rows = (
        (
            *(each.episode, each.decision, each.value, each.mean, *each.interval, each.standard_error),
            *_bounds(each.regret),
            each.bootstrap_weight,
        )
        for each in calibration.document.moments
    )
    return (csv_line(row) for row in (MOMENT_COLUMNS, *rows))


def calibration_lines(calibrations: Iterable[RunCalibration]) -> Iterator[str]:
    """Yield the CSV lines of calibrations with their results."""
    yield csv_line(CALIBRATION_COLUMNS)
    for each in calibrations:
        yield csv_line(
            (
                *(each.id, each.state, "true" if each.superseded else "false", each.step, each.frames),
                *(each.protocol, each.seed, each.episodes, each.every, each.futures, each.horizon),
                *(each.moments_total, *_errors(each), each.checkpoint_sha256),
                each.finished_at and each.finished_at.isoformat(),
            )
        )


def _errors(calibration: RunCalibration) -> tuple[float | None, ...]:
    if (errors := calibration.errors) is None:
        return (None,) * 17
    return (
        *(errors.bias, *_ends(errors.bias_interval), errors.bootstrap_weight),
        *(errors.rmse, *_ends(errors.rmse_interval)),
        *(errors.correlation, *_ends(errors.correlation_interval)),
        *(errors.skill, *_ends(errors.skill_interval)),
        *(*_bounds(errors.regret), *_ends(errors.regret.interval if errors.regret else None)),
    )


def _ends(interval: Interval | None) -> tuple[float | None, float | None]:
    return interval or (None, None)


def _bounds(regret: LossBounds | None) -> tuple[float | None, float | None]:
    return (regret.at_least, regret.at_most) if regret else (None, None)
