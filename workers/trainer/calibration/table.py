"""Calibrations as text."""

from workers.contract.calibrations import CalibrationDocument
from workers.contract.games import ENVIRONMENTS
from workers.trainer.futures.table import with_interval


def table(document: CalibrationDocument) -> str:
    """Return the document as text: the errors, the bins and the worst moments."""
    return "\n".join([*_head(document), "", *_errors(document), "", *_bins(document), "", *_worst(document)])


def _head(document: CalibrationDocument) -> list[str]:
    return [
        f"{ENVIRONMENTS[document.env].title} ({document.env}): {document.algorithm}, checkpoint of step "
        f"{document.checkpoint_step:,}, {document.protocol}, acting {document.acting}, seed {document.seed}",
        f"{len(document.moments)} moments of {document.episodes} episodes, {document.futures} futures of up to "
        f"{document.horizon} decisions each, {document.seconds:.1f} s",
    ]


def _errors(document: CalibrationDocument) -> list[str]:
    regret = document.regret
    correlation = "none" if document.correlation is None else f"{document.correlation:.3f}"
    return [
        f"bias         {with_interval(document.bias, document.bias_interval)}",
        f"rmse         {document.rmse:.3f}",
        f"correlation  {correlation}",
        f"regret       {with_interval(regret.mean, regret.interval) if regret else 'not measured'}",
    ]


def _bins(document: CalibrationDocument) -> list[str]:
    rows = [f"{one.count:>7}  {one.value:>8.3f}  {with_interval(one.mean, one.interval)}" for one in document.bins]
    return [f"{'moments':>7}  {'value':>8}  mean return", *rows]


def _worst(document: CalibrationDocument) -> list[str]:
    rows = [
        f"{each.episode:>7}  {each.decision:>8}  {each.value:>8.3f}  {with_interval(each.mean, each.interval)}"
        for each in document.worst
    ]
    return [f"{'episode':>7}  {'decision':>8}  {'value':>8}  mean return at the worst moments", *rows]
