"""Command line of a recording. It does not load torch, so that mistakes are reported immediately."""

import argparse
from dataclasses import dataclass
from pathlib import Path

from workers.contract.protocols import PROTOCOLS
from workers.trainer.evaluation.request import LARGEST_SEED, RequestError, protocol_parser

LONGEST_SECONDS = 300.0
MOST_EPISODES = 1_000_000


@dataclass(frozen=True)
class RecordRequest:
    """Parsed command line. Without a protocol, the default one of the run's environment is used."""

    run_directory: Path
    step: int | None
    protocol: str | None
    seed: int
    episode: int
    longest_seconds: float
    folder: Path
    json: bool


def agent_parser(prog: str, description: str) -> argparse.ArgumentParser:
    """Return a parser with the options that select an agent and how it plays."""
    parser = protocol_parser(prog, description)
    add = parser.add_argument
    add("--run-dir", type=Path, metavar="DIR", required=True, help="the run whose agent plays")
    add("--checkpoint", type=int, metavar="STEP", help="the step of its checkpoint (default: the newest)")
    add("--protocol", metavar="NAME", help="how episodes begin and end (below; default: the run's protocol)")
    add("--seed", type=int, default=1, metavar="S", help="the same seed gives the same episodes (default: 1)")
    return parser


def episode_parser(prog: str, description: str) -> argparse.ArgumentParser:
    """Return a parser with the options that select an episode of an agent."""
    parser = agent_parser(prog, description)
    parser.add_argument(
        "--episode",
        type=int,
        default=0,
        metavar="N",
        help="index of the episode in an evaluation with this seed, from 0",
    )
    return parser


def parser() -> argparse.ArgumentParser:
    """Return the argument parser."""
    parser = episode_parser(
        "arcadia record",
        "Record an episode of an agent as a video, with a track of its observations, values and rewards; needs no "
        "server.",
    )
    add = parser.add_argument
    add(
        "--longest",
        type=float,
        default=LONGEST_SECONDS,
        metavar="SECONDS",
        help=f"cut longer recordings (default: {LONGEST_SECONDS:.0f})",
    )
    add("--out", type=Path, metavar="DIR", required=True, help="a new folder for recording.mp4, seen.mp4, track.npz")
    add("--json", action="store_true", help="print a JSON document about the recording")
    return parser


def read(options: argparse.Namespace) -> RecordRequest:
    """Check the arguments and return the request."""
    check_episode(options)
    if not 0 < options.longest < float("inf"):
        raise RequestError(f"--longest {options.longest}: give a number of seconds above 0")
    if options.out.exists() and (not options.out.is_dir() or any(options.out.iterdir())):
        raise RequestError(f"--out {options.out} is not an empty folder: choose a new one")
    return RecordRequest(
        options.run_dir,
        options.checkpoint,
        options.protocol,
        options.seed,
        options.episode,
        options.longest,
        options.out,
        options.json,
    )


def check_agent(options: argparse.Namespace) -> None:
    """Check the arguments that select an agent and how it plays."""
    if not options.run_dir.is_dir():
        raise RequestError(f"there is no run directory {options.run_dir}")
    if options.protocol is not None and options.protocol not in PROTOCOLS:
        raise RequestError(f"there is no protocol {options.protocol!r}: choose one of {', '.join(PROTOCOLS)}")
    if options.protocol is not None and PROTOCOLS[options.protocol].starts_from:
        raise RequestError(f"{options.protocol} needs start points, which cannot be chosen here: use no-op-5min")
    if not 0 <= options.seed <= LARGEST_SEED:
        raise RequestError(f"--seed {options.seed}: give a number from 0 to 2⁶³ − 1")


def check_episode(options: argparse.Namespace) -> None:
    """Check the arguments that select an episode of an agent."""
    check_agent(options)
    if not 0 <= options.episode < MOST_EPISODES:
        raise RequestError(f"--episode {options.episode}: give a number from 0 to {MOST_EPISODES - 1:,}")
