"""Command line of an evaluation. It does not load torch, so that mistakes are reported immediately."""

import argparse
import os
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from workers.contract import layout
from workers.contract.games import ENVIRONMENTS, id_of
from workers.contract.protocols import PROTOCOLS, EvaluationProtocol, fitting_protocols
from workers.contract.protocols.document import USUAL_EPSILON, Acting
from workers.trainer.errors import TrainerError

LARGEST_SEED = 2**63 - 1
CUT_FROM = "cut start points from no-op-5min or no-op-30min"


class RequestError(TrainerError):
    """The command line requests an evaluation that is not possible."""


@dataclass(frozen=True)
class EvaluateRequest:
    """Parsed command line."""

    protocol: EvaluationProtocol
    run_directory: Path | None
    step: int | None
    env: str | None
    episodes: int | None
    seed: int
    acting: Acting | None
    starts: Path | None
    save_starts: Path | None
    events: Path | None
    json: bool


def protocol_parser(prog: str, description: str) -> argparse.ArgumentParser:
    """Return a parser without options, whose help lists the protocols."""
    protocols = "\n".join(f"  {protocol.name:<12}  {protocol.sentence}" for protocol in PROTOCOLS.values())
    return argparse.ArgumentParser(
        prog=prog,
        description=description,
        epilog=f"protocols:\n{protocols}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def parser() -> argparse.ArgumentParser:
    """Return the argument parser."""
    parser = protocol_parser("arcadia evaluate", "Evaluate an agent by a protocol; needs no server.")
    add = parser.add_argument
    add("--run-dir", type=Path, metavar="DIR", help="the run whose agent is evaluated")
    add("--checkpoint", type=int, metavar="STEP", help="the step of its checkpoint (default: the newest)")
    add("--random", action="store_true", help="evaluate the random policy instead")
    add("--game", metavar="NAME", help="the random policy's environment, such as pong or CartPole-v1")
    add("--protocol", metavar="NAME", help="the evaluation protocol (below)")
    add("--episodes", type=int, metavar="N", help="number of episodes (default: as in the protocol)")
    add("--seed", type=int, default=1, metavar="S", help="the same seed gives the same scores (default: 1)")
    add(
        "--acting",
        choices=["sampled", "greedy", "epsilon-greedy"],
        help="default: sampled for methods that learn a policy, epsilon-greedy for methods that learn values",
    )
    add("--epsilon", type=float, metavar="E", help=f"share of random actions (default: {USUAL_EPSILON})")
    add("--starts", type=Path, metavar="FILE", help="the set of start points, for human-starts and agent-starts")
    add("--save-starts", type=Path, metavar="FILE", help="cut a set for agent-starts from the episodes played")
    add("--json", action="store_true", help="print one JSON document instead of a table")
    add("--dir", type=Path, metavar="DIR", help="a new folder for events.jsonl")
    return parser


def read(options: argparse.Namespace) -> EvaluateRequest:
    """Check the arguments and return the request."""
    protocol = _protocol(options.protocol)
    if options.episodes is not None and options.episodes < 1:
        raise RequestError(f"--episodes {options.episodes}: play at least one")
    if not 0 <= options.seed <= LARGEST_SEED:
        raise RequestError(f"--seed {options.seed}: give a number from 0 to 2⁶³ − 1")
    if protocol.starts_from and not options.starts:
        raise RequestError(f"{protocol.name} needs a set of start points: --starts FILE")
    if options.starts and not protocol.starts_from:
        raise RequestError(f"{protocol.name} has no start points: remove --starts, or use another protocol")
    if options.save_starts and protocol.starts_from:
        # Some points would be cut from the stored play that precedes the agent's.
        raise RequestError(f"--save-starts is not for {protocol.name}: {CUT_FROM}")
    if options.save_starts and protocol.repeat_action_probability:
        raise RequestError(f"--save-starts is not for {protocol.name}, whose emulator repeats actions: {CUT_FROM}")
    _check_directories(options)
    return EvaluateRequest(
        protocol,
        options.run_dir,
        options.checkpoint,
        _random_env(options),
        options.episodes,
        options.seed,
        _acting(options),
        options.starts,
        options.save_starts,
        options.dir,
        options.json,
    )


def check_fit(protocol: EvaluationProtocol, env: str, saves_starts: bool) -> None:
    """Raise if the protocol does not fit the environment."""
    family = ENVIRONMENTS[env].family
    if not protocol.fits(family):
        raise RequestError(f"{protocol.name} is not for {env}: use {' or '.join(fitting_protocols(family))}")
    if saves_starts and not family.has_start_points:
        raise RequestError(f"{env} has no start points: --save-starts is for Atari games")


def _protocol(name: str | None) -> EvaluationProtocol:
    if name is None:
        raise RequestError(f"choose a protocol: --protocol with one of {', '.join(PROTOCOLS)}")
    if name not in PROTOCOLS:
        raise RequestError(f"there is no protocol {name!r}: choose one of {', '.join(PROTOCOLS)}")
    return PROTOCOLS[name]


def _random_env(options: argparse.Namespace) -> str | None:
    """Return the environment of the random policy, or None if an agent is evaluated."""
    if options.random == (options.run_dir is not None):
        raise RequestError("choose who is evaluated: --run-dir DIR, or --random with --game NAME")
    if not options.random:
        if options.game:
            raise RequestError("--game is only for --random; an agent plays the game of its training")
        return None
    if options.checkpoint is not None or options.acting or options.epsilon is not None:
        raise RequestError(
            "--random has no checkpoint and only one acting: remove --checkpoint, --acting and --epsilon"
        )
    if not options.game:
        raise RequestError("choose the game of the random policy: --game NAME, such as --game pong")
    try:
        return id_of(options.game)
    except ValueError as error:
        raise RequestError(f"--game: {error}") from error


def _acting(options: argparse.Namespace) -> Acting | None:
    if options.acting is None and options.epsilon is not None:
        raise RequestError("--epsilon is only for --acting epsilon-greedy")
    if options.acting is None:
        return None
    usual = USUAL_EPSILON if options.acting == "epsilon-greedy" else None
    try:
        return Acting(name=options.acting, epsilon=usual if options.epsilon is None else options.epsilon)
    except ValidationError as error:
        raise RequestError(f"--epsilon {options.epsilon}: only epsilon-greedy takes one, between 0 and 1") from error


def _check_directories(options: argparse.Namespace) -> None:
    if options.run_dir is not None and not options.run_dir.is_dir():
        raise RequestError(f"there is no run directory {options.run_dir}")
    if options.dir is not None and any((options.dir / name).exists() for name in (layout.CONFIG, layout.EVENTS)):
        raise RequestError(f"--dir {options.dir} already holds a run or an evaluation: choose a new folder")
    # An error at the end would lose all played episodes.
    if (file := options.save_starts) is not None and (file.is_dir() or not os.access(file.parent, os.W_OK)):
        raise RequestError(f"--save-starts {file} cannot be written: name a file in an existing folder")
