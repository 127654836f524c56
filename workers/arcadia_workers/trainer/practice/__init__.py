"""Practice: does training from an agent's mistakes repair them? `arcadia practice` compares it with a control.

planning    which mistakes are practiced, and which are kept to measure
arms        trains the two runs of a pair
measuring   what the agents do afterward, and the document
practicing  the whole procedure, for the command and for jobs

This module has the request and the document as text, and loads no torch.
"""

from dataclasses import dataclass
from pathlib import Path

from arcadia_workers.contract.games import ENVIRONMENTS
from arcadia_workers.contract.practice import Difference, PracticeDocument, PracticeOptions, describe_verdict
from arcadia_workers.contract.review import ReviewOptions


@dataclass(frozen=True)
class PracticeRequest:
    """The agent that practices. Without files of reviews, `episodes` episodes are reviewed."""

    run_directory: Path
    step: int | None
    protocol: str | None
    seed: int
    reviews: tuple[Path, ...]
    episodes: int
    review: ReviewOptions
    options: PracticeOptions
    out: Path


WORDS = {"moment": "held-out moments", "episode": "evaluation episodes", "pair": "pairs"}


def table(document: PracticeDocument) -> str:
    """Return the document as text: what was practiced, what the arms do, and the two verdicts."""
    held, episodes = document.held_out, {(each.seed, each.episode) for each in document.practiced}
    known = sum(each.was_practiced for each in held)
    again = f" ({known} of them show what a practiced one shows)" if known else ""
    lines = [
        f"{ENVIRONMENTS[document.env].title} ({document.env}): {document.algorithm}, checkpoint of step "
        f"{document.checkpoint_step:,}, {document.protocol}, acting {document.acting}",
        f"{len(document.practiced)} mistakes of {len(episodes)} episodes were practiced: {document.share:.0%} of the "
        f"episodes began {document.before} decisions before one",
        f"{len(held)} mistakes were kept from practice{again}",
        f"{len(document.arms)} arms trained {document.steps:,} steps each, {document.cost.training_seconds:,.0f} s",
        "",
        f"{'':<24}  {'before':>7}  {'control':>7}  {'practice':>8}  difference",
        _row("outcome", _mean([each.before.outcome for each in held]), document, "outcome", document.mistakes),
        _row(
            "probability of repeating",
            _mean([each.before.probability for each in held]),
            document,
            "probability",
            document.repeated,
        ),
        _row("score", None, document, "score", document.score),
        "",
        f"did these mistakes become rarer?  {describe_verdict(document.mistakes)}",
        f"did the score rise?               {describe_verdict(document.score)}",
        "",
        *_scope(document),
    ]
    return "\n".join(lines)


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _row(name: str, before: float | None, document: PracticeDocument, field: str, difference: Difference) -> str:
    control, practice = (
        _mean([getattr(arm, field) for arm in document.arms if arm.name == which]) for which in ("control", "practice")
    )
    ends = difference.interval
    interval = f"95 % {ends[0]:+.3f} to {ends[1]:+.3f}" if ends else "too few for an interval"
    first = "" if before is None else f"{before:.3f}"
    return (
        f"{name:<24}  {first:>7}  {control:>7.3f}  {practice:>8.3f}  {difference.mean:+.3f} ({interval}, "
        f"{difference.count} {WORDS[difference.unit]})"
    )


def _scope(document: PracticeDocument) -> list[str]:
    if document.pairs > 1:
        return [
            "The intervals are over pairs that were trained with different seeds, so they speak about practice of this",
            "agent, at these mistakes.",
        ]
    return [
        "The intervals speak about these two trained agents, not about practice in general. --pairs 3 or more trains",
        "more of them.",
    ]
