"""A recorded episode repeated from its actions, for the saliency of its decisions and for start points."""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from arcadia_workers.contract.archives import Column
from arcadia_workers.contract.config import RunConfig
from arcadia_workers.contract.jobs import SaliencyParameters, StartPointsParameters
from arcadia_workers.contract.protocols import PROTOCOLS, EvaluationProtocol
from arcadia_workers.contract.protocols.starts import StartSetFile, starts_at
from arcadia_workers.contract.tracks import Saliency, SaliencyHead
from arcadia_workers.trainer.errors import TrainerError
from arcadia_workers.trainer.evaluation.evaluating import StartsError
from arcadia_workers.trainer.evaluation.report import SavedPoints
from arcadia_workers.trainer.games import playing, subjects
from arcadia_workers.trainer.games.games import PlayableGame
from arcadia_workers.trainer.games.subjects import Subject, opener
from arcadia_workers.trainer.host import devices
from arcadia_workers.trainer.methods.trainer import Action, TrainedNetwork
from arcadia_workers.trainer.networks.agents import Memory
from arcadia_workers.trainer.recording.recording import StoppedError, kind_of_numbers
from arcadia_workers.trainer.run.checkpoints import LoadedCheckpoint


class OtherEpisodeError(TrainerError):
    """The actions of a recording do not lead to the same result."""


def begin(game: PlayableGame, protocol: EvaluationProtocol, seed: int, episode: int) -> None:
    """Bring a game to the first decision of a recorded episode."""
    playing.opening(protocol, None)(game, episode, playing.draws(protocol, seed, episode))


def recorded_actions(taken: Sequence[int] | Sequence[Sequence[float]]) -> Iterator[Action]:
    """Yield the actions of a recording as games take them."""
    for action in taken:
        yield action if isinstance(action, int) else np.array(action, dtype=np.float32)


def check_score(game: PlayableGame, score: float, when: str = "") -> None:
    """Raise OtherEpisodeError if the actions led to another score than the recorded one."""
    # Other machines round fractional rewards differently.
    if not math.isclose(game.score, score, rel_tol=1e-4, abs_tol=1e-4):
        raise OtherEpisodeError(
            f"the actions of the replay led to {game.score:g} points here{when}, not {score:g}: "
            "record the checkpoint again on this machine"
        )


# The paper's: σ² = 25 of the mask M, σ = 3 of the blur A, and a place every five pixels.
SIGMA, BLUR_SIGMA, SPACING = 5.0, 3.0, 5
FIRST = SPACING // 2
# States per forward pass. This number fits the CPU's cache.
ROWS = 64


def places(side: int) -> list[int]:
    """Return the rows, or columns, of the grid on a picture of this size."""
    return list(range(FIRST, side, SPACING))


def gaussian(centers: Tensor, side: int, sigma: float) -> Tensor:
    """Return, for each center, e^(−d²/2σ²) of every pixel's distance from it."""
    distance = torch.arange(side) - centers[:, None]
    return torch.exp(-(distance**2) / (2 * sigma**2))


@cache
def masks(side: int) -> Tensor:
    """Return M of every place of the grid, row by row: (places, side, side)."""
    bells = gaussian(torch.tensor(places(side)), side, SIGMA)
    return torch.einsum("iy,jx->ijyx", bells, bells).flatten(0, 1)


@cache
def _blurring(side: int) -> Tensor:
    weights = gaussian(torch.arange(side), side, BLUR_SIGMA)
    return weights / weights.sum(dim=1, keepdim=True)


def blurred(state: Tensor) -> Tensor:
    """Return A(I): each pixel becomes the mean of its neighbors by a Gaussian of their distance."""
    matrix = _blurring(state.shape[-1])
    return matrix @ state @ matrix.T


def perturbed(state: Tensor) -> Iterator[Tensor]:
    """Yield Φ(I, i, j) of all places in batches: (places, channels, side, side)."""
    change = blurred(state) - state
    for some in masks(state.shape[-1]).split(ROWS):
        yield state + some[:, None] * change


def saliency(network: TrainedNetwork, observation: Tensor, memory: Memory) -> tuple[Tensor, Tensor]:
    """Return S_π and S_V of every place of the grid for one observation, read with the memory of one episode."""
    state = observation.float()
    plain, _ = network.predict(state[None], memory)
    policy, value = [], []
    for batch in perturbed(state):
        output, _ = network.predict(
            batch, tuple((h.expand(len(batch), -1), c.expand(len(batch), -1)) for h, c in memory)
        )
        policy.append((output.numbers - plain.numbers).square().sum(dim=-1) / 2)
        value.append((output.values - plain.values).square() / 2)
    side = len(places(state.shape[-1]))
    return torch.cat(policy).view(side, side), torch.cat(value).view(side, side)


def points(
    which: StartPointsParameters, advance: Callable[[int], None], should_stop: Callable[[], bool] = lambda: False
) -> SavedPoints:
    """Return the start points of a recorded episode. `advance` receives the number of finished points.

    The agent is not needed, since its actions are known. So the checkpoint may have been deleted.
    """
    protocol = PROTOCOLS[which.protocol]
    game = playing.emulated(opener(which.env, protocol, which.frames_per_action, which.action_set)())
    begin(game, protocol, which.seed, which.episode)
    screens: list[tuple[int, str]] = []
    taken = 0
    for decision in which.decisions:
        for action in which.actions[taken:decision]:
            if should_stop():
                raise StoppedError("saving the start points was stopped")
            game.step(action)
        taken = decision
        if game.over:
            raise OtherEpisodeError(f"the episode ended here before decision {decision + 1} of the replay")
        if not game.frames:
            raise StartsError("the episode begins with its first decision: choose a later one as a start point")
        screens.append((game.frames, game.screen_hash()))
        advance(len(screens))
    check_score(game, which.score, when=" before the last start point")
    saved = SavedPoints(game.seed, game.trail, game.emulator, screens)
    _check_size(which, saved)
    return saved


def _check_size(which: StartPointsParameters, saved: SavedPoints) -> None:
    starts = starts_at(saved.seed, saved.actions, saved.screens)
    stored = StartSetFile(env=which.env, player="agent", source=which.source, emulator=saved.emulator, starts=starts)
    if (size := len(stored.content)) > which.max_bytes:
        raise StartsError(
            f"the start points take {size:,} bytes, more than the limit of {which.max_bytes:,} "
            "(ARCADIA_MAX_BODY_BYTES): save fewer points, or an earlier decision"
        )


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
    pairs: list[tuple[Tensor, Tensor]] = []
    try:
        for maps in _retraced(subject, game, which):
            if should_stop():
                raise StoppedError("the saliency was stopped")
            pairs.append(maps)
            advance(len(pairs))
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
    policy, value = (torch.stack(maps).numpy() for maps in zip(*pairs, strict=True))
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
