"""Requests of futures, and their document as text. This module does not load torch."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from arcadia_workers.contract.futures import (
    MAX_HORIZON,
    ActionFutures,
    Challenge,
    FuturesDocument,
    FuturesOptions,
    Interval,
    MeanReturn,
)
from arcadia_workers.contract.games import ENVIRONMENTS
from arcadia_workers.contract.inference.losses import DECISIVE
from arcadia_workers.trainer.evaluation.request import RequestError


@dataclass(frozen=True)
class FuturesRequest:
    """Futures to simulate. Without a protocol, the default one of the run's environment is used."""

    run_directory: Path
    step: int | None
    protocol: str | None
    seed: int
    episode: int
    options: FuturesOptions
    agent: Path | None = None
    agent_step: int | None = None
    videos: Path | None = None


def parsed_actions(first: Sequence[str], names: Sequence[str]) -> tuple[int, ...]:
    """Return the indices of the forced actions: names, each followed by ×N to repeat it."""
    by_name = {name.casefold(): index for index, name in enumerate(names)}
    actions = tuple(action for text in first for action in _parsed_action(text, by_name, names))
    if len(actions) > MAX_HORIZON:
        raise RequestError(f"--first has {len(actions):,} actions: force at most {MAX_HORIZON:,}")
    return actions


def _parsed_action(text: str, by_name: dict[str, int], names: Sequence[str]) -> Iterator[int]:
    name, times = text, 1
    if text.casefold() not in by_name and (match := re.fullmatch(r"(.+?)\s*[×xX*]\s*(\d{1,5})", text.strip())):
        name, times = match[1], int(match[2])
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
        return "unknown: too few futures differ for an interval"
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
        ends = {"reward": "reward", "life": "lost life", "outcome": "reward or lost life"}
        lines.append(f"Futures end at the next {ends[document.until]}.")
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
