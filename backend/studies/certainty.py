"""Studies until certain: which points are decided, and which get another seed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from backend.studies.results import PlannedRun
from backend.studies.specification import Specification
from workers.contract.games import env_title
from workers.contract.inference.elimination import PointEvidence, eliminate
from workers.contract.inference.means import Floats

DecisionState = Literal["undecided", "decided", "limit_reached"]

RunsByPoint = Mapping[int, Sequence[PlannedRun]]

MAX_NAMES = 3


@dataclass(frozen=True)
class Decision:
    """Decision on a point: ranked lower than another, the only one left in its environment, or undecided."""

    state: DecisionState
    # None until the point has a run.
    env: str | None
    # Number of the point that beats this one, or None.
    beaten_by: int | None
    evidence: PointEvidence
    # Mean score of its finished runs, or None.
    mean: float | None


def decide(spec: Specification, runs_by_point: RunsByPoint) -> dict[int, Decision]:
    """Return the decision on each point. Only points of the same environment compete."""
    numbers = [*runs_by_point]
    envs = [_env(runs_by_point[number]) for number in numbers]
    scores = _scores([*runs_by_point.values()])
    evidence = eliminate(scores, envs)
    undecided = {index for index, each in enumerate(evidence) if each.beaten_by is None}
    found = {}
    for index, (number, each) in enumerate(zip(numbers, evidence, strict=True)):
        has_rival = any(envs[other] == envs[index] for other in undecided - {index})
        is_decided = index not in undecided or not has_rival
        is_full = len(runs_by_point[number]) >= spec.seed_limit
        state: DecisionState = "decided" if is_decided else "limit_reached" if is_full else "undecided"
        beaten_by = None if each.beaten_by is None else numbers[each.beaten_by]
        found[number] = Decision(state, envs[index], beaten_by, each, _mean(scores[index]))
    return found


def undecided_points(spec: Specification, runs_by_point: RunsByPoint) -> list[int]:
    """Return the points that get another seed once all runs have ended."""
    return [number for number, each in decide(spec, runs_by_point).items() if each.state == "undecided"]


def describe(spec: Specification, decisions: Mapping[int, Decision], labels: Mapping[int, str]) -> str:
    """Return the verdict in each environment as sentences."""
    envs = dict.fromkeys(each.env for each in decisions.values())
    sentences = []
    for env in envs:
        own = {number: each for number, each in decisions.items() if each.env == env}
        prefix = f"{env_title(env)}: " if len(envs) > 1 and env is not None else ""
        sentences.append(prefix + _describe_environment(spec, own, labels))
    return " ".join(sentences)


def _describe_environment(spec: Specification, decisions: Mapping[int, Decision], labels: Mapping[int, str]) -> str:
    left = [number for number, each in decisions.items() if each.beaten_by is None]
    if len(decisions) == 1:
        return "There is nothing to compare."
    if len(left) == 1:
        return f"{labels[left[0]]} ranks highest: the runs of every other point tend to score lower." + _describe_means(
            decisions, left[0], labels
        )
    names = [labels[number] for number in left[:MAX_NAMES]]
    *first, last = [*names, f"{len(left) - MAX_NAMES} more"] if len(left) > MAX_NAMES else names
    is_full = all(decisions[number].state == "limit_reached" for number in left)
    limit = f" at the limit of {spec.seed_limit} seeds" if is_full else ""
    return f"Undecided{limit}: {', '.join(first)} and {last}."


def _describe_means(decisions: Mapping[int, Decision], highest: int, labels: Mapping[int, str]) -> str:
    """Return a warning if a point has a higher mean than the one that ranks highest, or an empty text."""
    means = {number: each.mean for number, each in decisions.items() if each.mean is not None}
    other = max(means, key=lambda number: means[number])
    if other == highest or means[other] <= means.get(highest, -np.inf):
        return ""
    return (
        f" The means disagree: {labels[other]} has a mean of {means[other]:.4g}, and {labels[highest]} one of "
        f"{means[highest]:.4g}. Ranks do not count how large a score is."
    )


def _mean(scores: Floats) -> float | None:
    known = scores[np.isfinite(scores)]
    return float(known.mean()) if len(known) else None


def _env(runs: Sequence[PlannedRun]) -> str | None:
    """Return the environment of a point. It is unknown until the point has a run."""
    return next((run.env for run in runs if run.env is not None), None)


def _scores(runs: Sequence[Sequence[PlannedRun]]) -> Floats:
    found = [[run.score for run in each if run.is_scored] for each in runs]
    scores = np.full((len(found), max(map(len, found), default=0)), np.nan)
    for row, each in zip(scores, found, strict=True):
        row[: len(each)] = each
    return scores
