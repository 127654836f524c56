"""CSV export of calibrations: one line per judged decision, or one line per calibration."""

from collections.abc import Iterable, Iterator

from backend.calibrations.schemas import CalibrationWithDocument, RunCalibration
from backend.errors import Conflict
from backend.web.csv_files import csv_line

MOMENT_COLUMNS = (
    *("episode", "decision", "value", "mean_return", "interval_low", "interval_high"),
    *("standard_error", "regret"),
)
CALIBRATION_COLUMNS = (
    *("calibration", "state", "superseded", "step", "frames", "protocol", "seed"),
    *("episodes", "every", "futures", "horizon", "moments"),
    *("bias", "bias_low", "bias_high", "rmse", "correlation", "regret", "regret_low", "regret_high"),
    *("checkpoint_sha256", "finished_at"),
)


def moment_lines(calibration: CalibrationWithDocument) -> Iterator[str]:
    """Return the CSV lines of all judged decisions. Raise Conflict if the calibration is not done."""
    if calibration.document is None:
        raise Conflict("The calibration is not done, so it has no judged decisions yet.")
    rows = (
        (each.episode, each.decision, each.value, each.mean, *each.interval, each.standard_error, each.regret)
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
        return (None,) * 8
    regret = errors.regret
    return (
        *(errors.bias, *(errors.bias_interval or (None, None)), errors.rmse, errors.correlation),
        *(regret and regret.mean, *((regret and regret.interval) or (None, None))),
    )
