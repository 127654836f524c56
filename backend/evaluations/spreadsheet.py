"""Evaluations as CSV: a line an episode, or a line an evaluation."""

from collections.abc import Iterable, Iterator

from backend.errors import Conflict
from backend.evaluations.schemas import EvaluationWithEpisodes, RunEvaluation
from backend.web.csv_files import csv_line

EPISODE = ("episode", "score", "frames", "frames_before", "length", "ended")
EVALUATION = (
    *("evaluation", "state", "superseded", "step", "frames", "protocol", "starts", "acting", "epsilon", "seed"),
    *("episodes", "mean", "median", "standard_error", "interval_low", "interval_high"),
    *("human_normalised", "normalised_by", "checkpoint_sha256", "finished_at"),
)


def episode_lines(evaluation: EvaluationWithEpisodes) -> Iterator[str]:
    """Every episode of an evaluation that is done."""
    if evaluation.state != "done":
        raise Conflict("It is not done, so that some of its episodes are missing yet.")
    rows = ((e.number, e.score, e.frames, e.frames_before, e.length, e.ended) for e in evaluation.episodes)
    return (csv_line(row) for row in (EPISODE, *rows))


def evaluation_lines(evaluations: Iterable[RunEvaluation]) -> Iterator[str]:
    """Evaluations, with what those that are done have found."""
    yield csv_line(EVALUATION)
    for each in evaluations:
        by = each.normalised_by
        yield csv_line(
            (
                *(each.id, each.state, "true" if each.superseded else "false", each.step, each.frames, each.protocol),
                *(each.start_set and each.start_set.sha256, each.acting.name, each.acting.epsilon, each.seed),
                *(each.episodes_total, each.mean, each.median, each.standard_error, *(each.interval or (None, None))),
                *(each.human_normalised, by and f"{by.source}, {by.table}", each.checkpoint_sha256),
                each.finished_at and each.finished_at.isoformat(),
            )
        )
