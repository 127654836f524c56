"""Command line of a calibration. It does not load torch, so that mistakes are reported immediately."""

import argparse
from dataclasses import dataclass
from pathlib import Path

from workers.contract.calibrations import MAX_EPISODES
from workers.trainer.evaluation.request import RequestError
from workers.trainer.futures.request import add_size, check_size
from workers.trainer.recording.request import agent_parser, check_agent

USUAL_EPISODES, USUAL_EVERY, USUAL_FUTURES = 3, 200, 16


@dataclass(frozen=True)
class CalibrateRequest:
    """Parsed command line. Without a protocol, the default one of the run's environment is used."""

    run_directory: Path
    step: int | None
    protocol: str | None
    seed: int
    episodes: int
    every: int
    futures: int
    horizon: int


def parser() -> argparse.ArgumentParser:
    """Return the argument parser."""
    parser = agent_parser("arcadia calibrate", "Compare an agent's values with simulated futures; needs no server.")
    add = parser.add_argument
    add("--episodes", type=int, default=USUAL_EPISODES, metavar="N", help=f"default: {USUAL_EPISODES}")
    add(
        "--every",
        type=int,
        default=USUAL_EVERY,
        metavar="K",
        help=f"judge every K-th decision of an episode (default: {USUAL_EVERY})",
    )
    add_size(parser, USUAL_FUTURES)
    add("--json", action="store_true", help="print one JSON document instead of a table")
    return parser


def read(options: argparse.Namespace) -> CalibrateRequest:
    """Check the arguments and return the request."""
    check_agent(options)
    check_size(options)
    if not 1 <= options.episodes <= MAX_EPISODES:
        raise RequestError(f"--episodes {options.episodes}: give a number from 1 to {MAX_EPISODES}")
    if options.every < 1:
        raise RequestError(f"--every {options.every}: give a number from 1")
    return CalibrateRequest(
        options.run_dir,
        options.checkpoint,
        options.protocol,
        options.seed,
        options.episodes,
        options.every,
        options.futures,
        options.horizon,
    )
