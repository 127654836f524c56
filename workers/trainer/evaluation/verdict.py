"""Statistics of an evaluation: mean, median, standard error, interval and human-normalized score."""

from collections.abc import Sequence

import numpy as np

from workers.contract.inference.means import clustered_mean_error
from workers.contract.protocols import EvaluationProtocol
from workers.contract.protocols.document import EvaluationDocument, NormalizedBy, PlayedEpisode, StartsUsed
from workers.contract.protocols.starts import StartSetFile
from workers.contract.published.normalizing import normalized, reference
from workers.trainer.games.subjects import Subject
from workers.trainer.run import versions


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
    # Greedy agents play few different games from few different starts, and the others prove nothing more.
    plays = [(episode.play or episode.number, episode.score, episode.length) for episode in ordered]
    error = clustered_mean_error(scores, plays)
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
        distinct=len({*plays}),
        standard_error=error and error.standard_error,
        interval=error and error.interval,
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
