"""The document of an evaluation as a table for readers."""

from workers.contract.games import ENVIRONMENTS
from workers.contract.protocols import PROTOCOLS
from workers.contract.protocols.document import EvaluationDocument


def table(document: EvaluationDocument) -> str:
    """Write who played how, each episode, and what the scores say."""
    return "\n".join([*_head(document), "", *_episodes(document), "", *_verdict(document)])


def _head(document: EvaluationDocument) -> list[str]:
    title, step = ENVIRONMENTS[document.env].title, document.checkpoint_step
    who = "the random policy" if step is None else f"{document.algorithm}, checkpoint of step {step:,}"
    lines = [
        f"{title} ({document.env}): {who}, acting {document.acting}, seed {document.seed}",
        f"{document.protocol}: {PROTOCOLS[document.protocol].sentence}",
    ]
    if used := document.starts:
        lines.append(f"Start points: {used.source} ({used.starts} points, sha256 {used.sha256[:12]}…)")
    return lines


def _episodes(document: EvaluationDocument) -> list[str]:
    rows = [
        f"{episode.number:7}  {episode.score:12,.6g}  {episode.frames:9,}  {episode.length:8,}  {episode.ended}"
        for episode in document.episodes
    ]
    return [f"{'episode':>7}  {'score':>12}  {'frames':>9}  {'length':>8}  ended", *rows]


def _verdict(document: EvaluationDocument) -> list[str]:
    lines = [f"mean            {document.mean:,.6g}", f"median          {document.median:,.6g}"]
    if document.standard_error is not None and document.interval is not None:
        low, high = document.interval
        lines.append(f"standard error  {document.standard_error:,.3g}")
        lines.append(f"interval        {low:,.6g} to {high:,.6g} (95 %, bootstrap, of the mean)")
    if document.human_normalised is not None and (by := document.normalised_by):
        lines.append(
            f"normalised      {document.human_normalised:,.1f} % "
            f"(random {by.random:,.6g} is 0, human {by.human:,.6g} is 100: {by.source}, {by.table})"
        )
    else:
        lines.append(f"normalised      no: {document.not_normalised_because}")
    return lines
