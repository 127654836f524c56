"""Command line of a calibration. It does not load torch, so that mistakes are reported immediately."""

import argparse
from dataclasses import dataclass
from pathlib import Path

from workers.contract.calibrations import (
    MAX_EPISODES,
    MAX_EVERY,
    USUAL_EPISODES,
    USUAL_FUTURES,
    USUAL_MOMENTS,
    CalibrationOptions,
)
from workers.trainer.evaluation.request import RequestError
from workers.trainer.futures.request import add_size, check_size
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
    add_size(parser, USUAL_FUTURES)
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
