"""Reviews: at which decisions of an episode the agent lost, by simulated futures (`arcadia_workers.trainer.futures`).

This module has the request and the document as text, and loads no torch.
"""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from arcadia_workers.contract.games import ENVIRONMENTS
from arcadia_workers.contract.live import KeptActions
from arcadia_workers.contract.review import MistakesDocument, ReviewDocument, ReviewedDecision, ReviewOptions
from arcadia_workers.trainer.futures.request import described


@dataclass(frozen=True)
class ReviewRequest:
    """The episode to review. Without a protocol, the default one of the run's environment is used.

    A kept game is reviewed instead of an episode of the agent, if given.
    """

    run_directory: Path
    step: int | None
    protocol: str | None
    seed: int
    episode: int
    options: ReviewOptions
    kept: KeptActions | None = None


def table(document: ReviewDocument) -> str:
    """Return the document as text: the mistakes, and how many decisions were reviewed."""
    found = Counter(each.finding for each in document.reviewed)
    lines = [
        f"{ENVIRONMENTS[document.env].title} ({document.env}): {document.algorithm}, checkpoint of step "
        f"{document.checkpoint_step:,}, {document.protocol}, seed {document.seed}, episode {document.episode}, "
        f"acting {document.acting}",
        f"{document.decisions:,} decisions, score {document.score:g}; {len(document.reviewed):,} reviewed with "
        f"{document.simulations:,} futures of up to {document.horizon} decisions, {document.seconds:.1f} s",
        "",
        f"mistakes shown        {found['mistake']}",
        f"no mistake shown      {found['not shown'] + found['no challenger']}",
        f"not finished          {found['waiting'] + found['testing']}",
    ]
    mistakes = sorted((each for each in document.reviewed if each.finding == "mistake"), key=lambda it: it.decision)
    if mistakes:
        lines += ["", f"{'decision':>8}  {'taken':<18}  {'better':<18}  {'e-value':>9}  loss"]
        lines += [_row(each) for each in mistakes]
    if len(document.situations) > 1:
        lines += ["", "similar situations, the most costly first"]
        lines += [f"  decisions {', '.join(map(str, each.decisions))}" for each in document.situations]
    return "\n".join(lines)


def _row(each: ReviewedDecision) -> str:
    loss = described(each.loss) if each.loss else "not measured yet"
    return f"{each.decision:>8}  {each.taken:<18}  {each.better or '':<18}  {each.e_value:>9.3g}  {loss}"


def checkpoints_table(document: MistakesDocument) -> str:
    """Return the mistakes of several checkpoints as text."""
    lines = [
        f"{ENVIRONMENTS[document.env].title} ({document.env}): {document.algorithm}, {document.protocol}, seed "
        f"{document.seed}, {document.episodes} episodes of the checkpoint of step {document.played_by:,}",
        "",
        f"{'checkpoint':>12}  {'reviewed':>8}  {'mistakes':>8}  mean loss of a decision",
    ]
    lines += [
        f"{each.checkpoint_step:>12,}  {each.reviewed:>8}  {each.mistakes:>8}  {described(each.loss)}"
        for each in document.checkpoints
    ]
    return "\n".join(lines)
