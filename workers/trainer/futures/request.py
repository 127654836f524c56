"""Command line of futures, and their document as text. It does not load torch, so mistakes are reported fast."""

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ValidationError

from workers.contract.futures import (
    MAX_FUTURES,
    MAX_HORIZON,
    MAX_TEMPERATURE,
    MIN_FUTURES,
    MIN_TEMPERATURE,
    USUAL_FUTURES,
    USUAL_HORIZON,
    ActionFutures,
    Challenge,
    FuturesDocument,
    FuturesOptions,
    Interval,
    MeanReturn,
)
from workers.contract.games import ENVIRONMENTS
from workers.contract.inference.losses import DECISIVE
from workers.contract.plugins.loading import load_named_in_environment
from workers.trainer.errors import StopRequest, show
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


def table(document: FuturesDocument) -> str:
    """Return the document as text: the moment, the verdict on the value, and the actions."""
    return "\n".join(
        [
            *_head(document),
            "",
            *_verdict(document),
            *_actions(document),
            *_videos(document),
            f"{document.seconds:.1f} s",
        ]
    )


def described(estimate: MeanReturn) -> str:
    """Return a mean with its interval."""
    return "none" if estimate.mean is None else with_interval(estimate.mean, estimate.interval)


def with_interval(mean: float, interval: Interval | None) -> str:
    """Return a number with its interval, if it has one."""
    return f"{mean:.3f}" + (f"  (95 % {interval[0]:.3f} to {interval[1]:.3f})" if interval else "")


def verdict(document: FuturesDocument) -> str:
    """Return what the futures say about the critic, or how they compare with V if it did not foresee them.

    Futures that end in the critic's own estimate show an error only if that estimate is right.
    """
    if document.interval is None:
        return "unknown"
    low, high = document.interval
    is_altered = bool(document.first) or document.temperature != 1
    if low == high:
        return "all futures have the same return, so they have no interval"
    if low <= document.value <= high:
        return "no difference from V is shown" if is_altered else "no error of the critic is shown"
    is_low = document.value < low
    if is_altered:
        conclusion = f"these futures return {'more' if is_low else 'less'} than V"
    else:
        conclusion = f"the critic is too {'low' if is_low else 'high'}"
    if document.bootstrapped.count == 0:
        return conclusion
    return (
        f"{conclusion} if the critic's estimates at the end of {document.bootstrapped.count} of {document.count} "
        "futures are right"
    )


def _head(document: FuturesDocument) -> list[str]:
    lines = [
        f"{ENVIRONMENTS[document.env].title} ({document.env}): {document.algorithm}, checkpoint of step "
        f"{document.checkpoint_step:,}, {document.protocol}, seed {document.seed}, episode {document.episode}",
        f"{document.count} futures of up to {document.horizon} decisions from decision {document.decision}, "
        f"acting {document.acting}",
    ]
    if document.until != "horizon":
        lines.append(f"Futures end at the next {'lost life' if document.until == 'life' else 'reward'}.")
    if document.first:
        lines.append(f"Forced first: {', '.join(document.first)}")
    if document.temperature != 1:
        lines.append(f"Temperature: {document.temperature:g}")
    if document.agent:
        lines.append(f"Acting agent: {document.agent}, checkpoint of step {document.agent_step:,}")
    return lines


def _verdict(document: FuturesDocument) -> list[str]:
    lost = sum(future.life_lost_after is not None for future in document.futures)
    return [
        f"value         {document.value:.3f}  {verdict(document)}",
        f"mean          {described(document)}",
        f"terminal      {described(document.terminal)}, {document.terminal.count} futures",
        f"bootstrapped  {described(document.bootstrapped)}, {document.bootstrapped.count} futures",
        f"score         {described(document.score)}",
        f"lost a life   {lost} of {document.count}",
    ]


def _actions(document: FuturesDocument) -> list[str]:
    if not document.actions:
        return []
    title = "Q" if document.actions[0].probability is None else "probability"
    rows = [f"{each.name:<20}  {_predicted(each):>11.3f}  {described(each)}" for each in document.actions]
    tested = [describe_challenge(document.challenge)] if document.challenge else []
    return ["", f"{'first action':<20}  {title:>11}  mean", *rows, *tested, ""]


def describe_challenge(challenge: Challenge) -> str:
    """Return whether another action than the taken one is shown to be better."""
    if challenge.action is None:
        return f"No action had better outcomes than {challenge.taken}, so none was tested."
    tested = f"{challenge.pairs} fresh pairs, e-value {challenge.e_value:.3g} of {DECISIVE:g}"
    if challenge.loss:
        return f"{challenge.action} is better than {challenge.taken} by {described(challenge.loss)}: {tested}"
    more = f"; about {challenge.pairs_needed:,} pairs would show it" if challenge.pairs_needed else ""
    return f"No better action is shown: {challenge.action} against {challenge.taken}, {tested}{more}"


def _videos(document: FuturesDocument) -> list[str]:
    return [f"{video.shows} future: {video.file}" for video in document.videos]


def _predicted(action: ActionFutures) -> float:
    number = action.action_value if action.probability is None else action.probability
    return number or 0.0


Compute = Callable[[argparse.Namespace, StopRequest], BaseModel]


def run_program(options: argparse.Namespace, compute: Compute, table: Callable[..., str]) -> int:
    """Compute a document and print it. Return the exit status."""
    load_named_in_environment()
    stop = StopRequest()
    try:
        stop.listen()
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
        document = compute(options, stop)
    except KeyboardInterrupt:
        print(f"{stop.reason}: there is no result", file=sys.stderr)
        return 1
    except Exception as error:
        show(error)
        return 2 if isinstance(error, RequestError) else 1
    print(document.model_dump_json(indent=2) if options.json else table(document), flush=True)
    return 0
