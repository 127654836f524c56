"""CSV export of evaluations: one line per episode, or one line per evaluation."""

from collections.abc import Iterable, Iterator

from backend.errors import Conflict
from backend.evaluations.schemas import EvaluationWithEpisodes, RunEvaluation
from backend.web.csv_files import csv_line

EPISODE_COLUMNS = ("episode", "score", "frames", "frames_before", "length", "ended")
EVALUATION_COLUMNS = (
    *("evaluation", "state", "superseded", "step", "frames", "protocol", "starts", "acting", "epsilon", "seed"),
    *("episodes", "distinct", "mean", "median", "standard_error", "interval_low", "interval_high"),
    *("human_normalized", "normalized_by", "checkpoint_sha256", "finished_at"),
)


def episode_lines(evaluation: EvaluationWithEpisodes) -> Iterator[str]:
    """Return the CSV lines of all episodes. Raise Conflict if the evaluation is not done."""
    if evaluation.state != "done":
        raise Conflict("The evaluation is not done, so some of its episodes are missing.")
    rows = ((e.number, e.score, e.frames, e.frames_before, e.length, e.ended) for e in evaluation.episodes)
    return (csv_line(row) for row in (EPISODE_COLUMNS, *rows))


def evaluation_lines(evaluations: Iterable[RunEvaluation]) -> Iterator[str]:
    """Yield the CSV lines of evaluations with their results."""
    yield csv_line(EVALUATION_COLUMNS)
    for each in evaluations:
        by = each.normalized_by
        yield csv_line(
            (
                *(each.id, each.state, "true" if each.superseded else "false", each.step, each.frames, each.protocol),
                *(each.start_set and each.start_set.sha256, each.acting.name, each.acting.epsilon, each.seed),
                *(each.episodes_total, each.distinct, each.mean, each.median, each.standard_error),
                *(each.interval or (None, None)),
                *(each.human_normalized, by and f"{by.source}, {by.table}", each.checkpoint_sha256),
                each.finished_at and each.finished_at.isoformat(),
            )
        )
