"""Text table of an evaluation's document."""

from workers.contract.games import ENVIRONMENTS
from workers.contract.protocols import PROTOCOLS
from workers.contract.protocols.document import EvaluationDocument


def table(document: EvaluationDocument) -> str:
    """Return the document as text: who played, each episode, and the statistics."""
    return "\n".join([*_head(document), "", *_episodes(document), "", *_verdict(document)])


def rounded(number: float) -> str:
    """Format a number with at most two decimals."""
    return f"{number:,.2f}".removesuffix("0").removesuffix(".0")


def _head(document: EvaluationDocument) -> list[str]:
    title, step = ENVIRONMENTS[document.env].title, document.checkpoint_step
    who = "the random policy" if step is None else f"{document.algorithm}, checkpoint of step {step:,}"
    lines = [
        f"{title} ({document.env}): {who}, acting {document.acting}, seed {document.seed}",
        f"{document.protocol}: {PROTOCOLS[document.protocol].sentence}",
    ]
    if used := document.starts:
        lines.append(f"Start points: {used.source} ({used.starts} points, sha256 {used.sha256[:12]}…)")
    return [*lines, *document.unlike_training]


def _episodes(document: EvaluationDocument) -> list[str]:
    rows = [
        f"{episode.number:7}  {rounded(episode.score):>12}  {episode.frames:9,}  {episode.length:8,}  {episode.ended}"
        for episode in document.episodes
    ]
    return [f"{'episode':>7}  {'score':>12}  {'frames':>9}  {'length':>8}  ended", *rows]


def _verdict(document: EvaluationDocument) -> list[str]:
    lines = [f"mean            {rounded(document.mean)}", f"median          {rounded(document.median)}"]
    if document.distinct is not None and document.distinct < len(document.scores):
        lines.append(f"distinct        {document.distinct} of {len(document.scores)} episodes; the others repeat them")
    if document.standard_error is not None and document.interval is not None:
        low, high = document.interval
        lines.append(f"standard error  {rounded(document.standard_error)}")
        lines.append(f"interval        {rounded(low)} to {rounded(high)} (95 %, of the mean)")
    if document.human_normalized is not None and (by := document.normalized_by):
        lines.append(
            f"normalized      {document.human_normalized:,.1f} % "
            f"(random {rounded(by.random)} is 0, human {rounded(by.human)} is 100: {by.source}, {by.table})"
        )
    else:
        lines.append(f"normalized      no: {document.not_normalized_because}")
    return lines
