"""Saliency of a recorded episode, which is replayed from its actions."""

from collections.abc import Callable, Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from workers.contract.archives import Column
from workers.contract.config import RunConfig
from workers.contract.jobs import SaliencyParameters
from workers.contract.protocols import PROTOCOLS
from workers.contract.saliency import Saliency, SaliencyHead
from workers.trainer.games import subjects
from workers.trainer.games.games import PlayableGame
from workers.trainer.games.subjects import Subject
from workers.trainer.host import devices
from workers.trainer.recording.diary import kind_of_numbers
from workers.trainer.recording.recording import StoppedError
from workers.trainer.recording.repeating import OtherEpisodeError, begin, check_score, recorded_actions
from workers.trainer.recording.saliency import BLUR_SIGMA, FIRST, SIGMA, SPACING, saliency
from workers.trainer.run.checkpoints import LoadedCheckpoint

STEPS = 255


def salient(
    checkpoint: LoadedCheckpoint,
    config: RunConfig,
    which: SaliencyParameters,
    advance: Callable[[int], None],
    should_stop: Callable[[], bool] = lambda: False,
) -> Saliency:
    """Compute the saliency of a recording. `advance` receives the number of finished decisions."""
    devices.compute_in(1)
    subject = subjects.agent_subject(checkpoint, config, PROTOCOLS[which.protocol], None)
    game = subject.open_game()
    found: list[tuple[Tensor, Tensor]] = []
    try:
        for maps in _retraced(subject, game, which):
            if should_stop():
                raise StoppedError("the saliency was stopped")
            found.append(maps)
            advance(len(found))
        check_score(game, which.score)
    finally:
        game.close()
    head = SaliencyHead(
        env=config.env,
        algorithm=checkpoint.algorithm,
        checkpoint_step=checkpoint.file.step,
        checkpoint_sha256=checkpoint.file.sha256,
        numbers_kind=kind_of_numbers(subject.network.output_kind, game.actions),
        side=subject.observation_shape[-1],
        first=FIRST,
        spacing=SPACING,
        sigma=SIGMA,
        blur_sigma=BLUR_SIGMA,
    )
    policy, value = (torch.stack(maps).numpy() for maps in zip(*found, strict=True))
    return Saliency(head, {**_column("policy", policy), **_column("value", value)})


def _retraced(subject: Subject, game: PlayableGame, which: SaliencyParameters) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield S_π and S_V of each decision."""
    begin(game, PROTOCOLS[which.protocol], which.seed, which.episode)
    memory = subject.network.initial_memory(1)
    for number, action in enumerate(recorded_actions(which.actions)):
        if game.over:
            raise OtherEpisodeError(f"the episode ended here after {number} of {len(which.actions)} decisions")
        observation = torch.from_numpy(np.asarray(game.observation))
        yield saliency(subject.network, observation, memory)
        _, memory = subject.network.predict(observation[None], memory)
        game.step(action)


def _column(name: str, maps: NDArray[np.float32]) -> dict[str, Column]:
    """Quantize the maps relative to each decision's peak."""
    peaks = maps.max(axis=(1, 2))
    # A diverged network outputs NaN, which is kept as the peak.
    shares = np.nan_to_num(maps / np.where(peaks > 0, peaks, 1)[:, None, None])
    return {name: np.round(shares * STEPS).astype(np.uint8), f"{name}_peak": peaks}
