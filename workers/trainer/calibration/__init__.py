"""Calibration: how well a critic's values predict the returns of simulated futures (`workers.trainer.futures`).

judging     the value, the futures and the regret of single decisions
calibrating one calibration, from the checkpoint to the document
request     the command line; loads no torch
table       the document as text
"""

import argparse
from dataclasses import dataclass
from pathlib import Path

from workers.contract.futures import (
    MAX_EPISODES,
    MAX_EVERY,
    USUAL_CALIBRATION_FUTURES,
    USUAL_EPISODES,
    USUAL_MOMENTS,
    CalibrationDocument,
    CalibrationOptions,
    Interval,
    Regret,
)
from workers.contract.games import ENVIRONMENTS
from workers.trainer.evaluation.request import RequestError
from workers.trainer.futures.request import add_size, check_size, with_interval
from workers.trainer.recording.request import agent_parser, check_agent


@dataclass(frozen=True)
class CalibrateRequest:
    """Parsed command line. Without a protocol, the default one of the run's environment is used."""

    run_directory: Path
    step: int | None
    protocol: str | None
    seed: int
    options: CalibrationOptions


def parser() -> argparse.ArgumentParser:
    """Return the argument parser."""
    parser = agent_parser("arcadia calibrate", "Compare an agent's values with simulated futures; needs no server.")
    add = parser.add_argument
    add("--episodes", type=int, default=USUAL_EPISODES, metavar="N", help=f"default: {USUAL_EPISODES}")
    add(
        "--every",
        type=int,
        metavar="K",
        help=f"judge every K-th decision of an episode (default: chosen so that about {USUAL_MOMENTS} decisions are "
        "judged)",
    )
    add_size(parser, USUAL_CALIBRATION_FUTURES)
    add("--no-regret", action="store_true", help="do not force each action, which takes most of the time")
    add("--json", action="store_true", help="print one JSON document instead of a table")
    return parser


def read(options: argparse.Namespace) -> CalibrateRequest:
    """Check the arguments and return the request."""
    check_agent(options)
    check_size(options)
    if not 1 <= options.episodes <= MAX_EPISODES:
        raise RequestError(f"--episodes {options.episodes}: give a number from 1 to {MAX_EPISODES}")
    if options.every is not None and not 1 <= options.every <= MAX_EVERY:
        raise RequestError(f"--every {options.every}: give a number from 1 to {MAX_EVERY:,}")
    return CalibrateRequest(
        options.run_dir,
        options.checkpoint,
        options.protocol,
        options.seed,
        CalibrationOptions(
            episodes=options.episodes,
            every=options.every,
            futures=options.futures,
            horizon=options.horizon,
            measure_regret=not options.no_regret,
        ),
    )


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
        f"rmse         {with_interval(document.rmse, document.rmse_interval)}",
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
    return f"between {low:.3f} and {high:.3f}" + ("  (95 %)" if regret.interval else ", by one episode")


def _bins(document: CalibrationDocument) -> list[str]:
    rows = [f"{one.count:>7}  {one.value:>8.3f}  {with_interval(one.mean, one.interval)}" for one in document.bins]
    return [f"{'moments':>7}  {'value':>8}  mean return", *rows]


def _worst(document: CalibrationDocument) -> list[str]:
    rows = [
        f"{each.episode:>7}  {each.decision:>8}  {each.value:>8.3f}  {with_interval(each.mean, each.interval)}"
        for each in document.worst
    ]
    return [f"{'episode':>7}  {'decision':>8}  {'value':>8}  mean return at the worst moments", *rows]
