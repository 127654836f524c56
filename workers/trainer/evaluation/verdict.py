"""Statistics of an evaluation: mean, median, standard error, interval and human-normalized score."""

from collections.abc import Sequence

import numpy as np

from workers.contract.protocols import EvaluationProtocol
from workers.contract.protocols.document import EvaluationDocument, NormalizedBy, PlayedEpisode, StartsUsed
from workers.contract.protocols.starts import StartSetFile
from workers.contract.published.normalizing import normalized, reference
from workers.trainer.games.subjects import Subject
from workers.trainer.run import versions

RESAMPLES = 10_000
# Limit for the scores drawn in one step, to bound memory.
MAX_DRAWN_SCORES = 1_000_000


def standard_error(scores: Sequence[float]) -> float | None:
    """Return the standard error of the mean, or None for a single score."""
    return float(np.std(scores, ddof=1) / len(scores) ** 0.5) if len(scores) > 1 else None


def interval(scores: Sequence[float], seed: int) -> tuple[float, float] | None:
    """Return the middle 95 % of the means of samples drawn with replacement (the percentile bootstrap)."""
    if len(scores) < 2:
        return None
    random, of = np.random.default_rng(seed), np.asarray(scores, dtype=np.float64)
    at_once = max(1, MAX_DRAWN_SCORES // len(of))
    parts = [min(at_once, RESAMPLES - done) for done in range(0, RESAMPLES, at_once)]
    means = [of[random.integers(len(of), size=(part, len(of)))].mean(axis=1) for part in parts]
    low, high = np.percentile(np.concatenate(means), [2.5, 97.5])
    return float(low), float(high)


def document(
    subject: Subject,
    protocol: EvaluationProtocol,
    seed: int,
    starts: StartSetFile | None,
    episodes: Sequence[PlayedEpisode],
) -> EvaluationDocument:
    """Return the document of an evaluation."""
    ordered = sorted(episodes, key=lambda episode: episode.number)
    scores = [episode.score for episode in ordered]
    mean = float(np.mean(scores))
    by = reference(subject.env, protocol.name)
    return EvaluationDocument(
        protocol=protocol.name,
        env=subject.env,
        algorithm=subject.algorithm,
        checkpoint_step=subject.checkpoint.step if subject.checkpoint else None,
        checkpoint_sha256=subject.checkpoint.sha256 if subject.checkpoint else None,
        acting=subject.acting,
        seed=seed,
        frames_per_action=subject.frames_per_action,
        unlike_training=list(subject.unlike_training),
        starts=_used(starts),
        scores=scores,
        mean=mean,
        median=float(np.median(scores)),
        standard_error=standard_error(scores),
        interval=interval(scores, seed),
        human_normalized=normalized(mean, by) if isinstance(by, NormalizedBy) else None,
        normalized_by=by if isinstance(by, NormalizedBy) else None,
        not_normalized_because=by if isinstance(by, str) else None,
        episodes=ordered,
        versions=versions.captured(
            {"algorithm": subject.algorithm, "env": subject.env, "evaluation_protocol": protocol.name}
        ),
    )


def _used(starts: StartSetFile | None) -> StartsUsed | None:
    if starts is None:
        return None
    return StartsUsed(player=starts.player, sha256=starts.sha256, starts=len(starts.starts), source=starts.source)
