"""Calibration: how well a critic's values predict the returns of simulated futures (`arcadia_workers.trainer.futures`).

This module has the document as text, and loads no torch.
"""

from arcadia_workers.contract.futures import CalibrationDocument, Interval, Regret
from arcadia_workers.contract.games import ENVIRONMENTS
from arcadia_workers.trainer.futures.request import with_interval


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
    def described(value: float | None, interval: Interval | None) -> str:
        return "none" if value is None else with_interval(value, interval)

    return [
        f"bias         {with_interval(document.bias, document.bias_interval)}",
        f"rmse         {with_interval(document.rmse, None)}",
        f"correlation  {described(document.correlation, document.correlation_interval)}",
        f"skill        {described(document.skill, document.skill_interval)}",
        f"regret       {_regret(document.regret)}",
        f"own values   {document.bootstrap_weight:.1%} of the returns are the critic's own values",
        *document.warnings,
    ]


def _regret(regret: Regret | None) -> str:
    if regret is None:
        return "not measured"
    low, high = regret.interval or (regret.at_least, regret.at_most)
    return f"between {low:.3f} and {high:.3f}" + ("  (95 %)" if regret.interval else ", without an interval")


def _bins(document: CalibrationDocument) -> list[str]:
    rows = [f"{one.count:>7}  {one.value:>8.3f}  {with_interval(one.mean, one.interval)}" for one in document.bins]
    return [f"{'moments':>7}  {'value':>8}  mean return", *rows]


def _worst(document: CalibrationDocument) -> list[str]:
    rows = [
        f"{each.episode:>7}  {each.decision:>8}  {each.value:>8.3f}  {with_interval(each.mean, each.interval)}"
        for each in document.worst
    ]
    return [f"{'episode':>7}  {'decision':>8}  {'value':>8}  mean return at the worst moments", *rows]
