"""Command line of futures. It does not load torch, so that mistakes are reported immediately."""

import argparse
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from workers.contract.futures import (
    MAX_FUTURES,
    MAX_HORIZON,
    MAX_TEMPERATURE,
    MIN_FUTURES,
    MIN_TEMPERATURE,
    USUAL_FUTURES,
    USUAL_HORIZON,
    FuturesOptions,
)
from workers.trainer.evaluation.request import RequestError
from workers.trainer.recording.request import check_episode, episode_parser


@dataclass(frozen=True)
class FuturesRequest:
    """Parsed command line. Without a protocol, the default one of the run's environment is used."""

    run_directory: Path
    step: int | None
    protocol: str | None
    seed: int
    episode: int
    options: FuturesOptions
    agent: Path | None = None
    agent_step: int | None = None
    videos: Path | None = None


def parser() -> argparse.ArgumentParser:
    """Return the argument parser."""
    parser = episode_parser(
        "arcadia futures",
        "Simulate how an episode of an agent continues from one of its decisions; needs no server.",
    )
    add = parser.add_argument
    add("--decision", type=int, metavar="K", required=True, help="the decision to continue from, counted from 0")
    add_size(parser, USUAL_FUTURES)
    add(
        "--until", choices=["horizon", "reward", "life"], default="horizon", help="also stop at a reward or a lost life"
    )
    add(
        "--first",
        action="append",
        default=[],
        metavar="ACTION",
        help="force the first action, such as LEFT, or repeat it, such as LEFT×10 or LEFTx10; give the option several "
        "times for a sequence",
    )
    add("--each-action", action="store_true", help="also force each action first and compare them")
    add(
        "--temperature",
        type=float,
        default=1.0,
        metavar="T",
        help="divide the policy's logits by T: above 1 futures explore more, below 1 less (default: 1)",
    )
    add("--agent", type=Path, metavar="DIR", help="let the agent of another run act in the futures")
    add("--agent-checkpoint", type=int, metavar="STEP", help="the step of its checkpoint (default: the newest)")
    add(
        "--videos",
        type=Path,
        metavar="DIR",
        help="write videos of the best, median and worst future, and of all blended, into this directory",
    )
    add("--json", action="store_true", help="print one JSON document instead of a table")
    return parser


def add_size(parser: argparse.ArgumentParser, futures: int) -> None:
    """Add the options for the number of futures and their length."""
    parser.add_argument(
        "--futures",
        type=int,
        default=futures,
        metavar="N",
        help=f"futures per decision, {MIN_FUTURES} to {MAX_FUTURES} (default: {futures})",
    )
    parser.add_argument(
        "--horizon",
        type=int,
        default=USUAL_HORIZON,
        metavar="H",
        help=f"longest future, in decisions (default: {USUAL_HORIZON})",
    )


def check_size(options: argparse.Namespace) -> None:
    """Check the number of futures and their length."""
    if not MIN_FUTURES <= options.futures <= MAX_FUTURES:
        raise RequestError(f"--futures {options.futures}: give a number from {MIN_FUTURES} to {MAX_FUTURES}")
    if not 1 <= options.horizon <= MAX_HORIZON:
        raise RequestError(f"--horizon {options.horizon}: give a number from 1 to {MAX_HORIZON:,}")


def read(options: argparse.Namespace) -> FuturesRequest:
    """Check the arguments and return the request."""
    check_episode(options)
    check_size(options)
    if options.decision < 0:
        raise RequestError(f"--decision {options.decision}: decisions count from 0")
    if options.first and options.each_action:
        raise RequestError("--each-action forces each action first: remove --first")
    if not MIN_TEMPERATURE <= options.temperature <= MAX_TEMPERATURE:
        raise RequestError(
            f"--temperature {options.temperature:g}: give a number from {MIN_TEMPERATURE:g} to {MAX_TEMPERATURE:g}"
        )
    if options.agent_checkpoint is not None and options.agent is None:
        raise RequestError("--agent-checkpoint is only for --agent DIR")
    if options.agent is not None and not options.agent.is_dir():
        raise RequestError(f"there is no run directory {options.agent}")
    return FuturesRequest(
        options.run_dir,
        options.checkpoint,
        options.protocol,
        options.seed,
        options.episode,
        _futures_options(options),
        options.agent,
        options.agent_checkpoint,
        options.videos,
    )


def _futures_options(options: argparse.Namespace) -> FuturesOptions:
    try:
        named = FuturesOptions.model_fields.keys() & vars(options).keys()
        values = {name: getattr(options, name) for name in named}
        return FuturesOptions.model_validate(values | {"record_videos": options.videos is not None})
    except ValidationError as error:
        problem = error.errors()[0]
        raise RequestError(f"--{problem['loc'][0]}: {problem['msg']}") from error


def parsed_actions(first: Sequence[str], names: Sequence[str]) -> tuple[int, ...]:
    """Return the indices of the forced actions: names, each followed by ×N to repeat it."""
    by_name = {name.casefold(): index for index, name in enumerate(names)}
    actions = tuple(action for text in first for action in _parsed_action(text, by_name, names))
    if len(actions) > MAX_HORIZON:
        raise RequestError(f"--first has {len(actions):,} actions: force at most {MAX_HORIZON:,}")
    return actions


def _parsed_action(text: str, by_name: dict[str, int], names: Sequence[str]) -> Iterator[int]:
    name, times = text, 1
    if text.casefold() not in by_name and (found := re.fullmatch(r"(.+?)\s*[×xX*]\s*(\d{1,5})", text.strip())):
        name, times = found[1], int(found[2])
    action = by_name.get(name.strip().casefold())
    if action is None:
        raise RequestError(f"--first {text}: there is no action {name!r}; choose one of {', '.join(names)}")
    return (action for _ in range(times))
