"""One review, from the checkpoint to the document."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

import numpy as np
import torch

from arcadia_workers.contract.action_names import Continuous
from arcadia_workers.contract.config import RunConfig
from arcadia_workers.contract.inference.means import Floats
from arcadia_workers.contract.review import MAX_REVIEWED, Reason, ReviewDocument, ReviewedDecision, ReviewOptions
from arcadia_workers.trainer.evaluation.request import RequestError
from arcadia_workers.trainer.futures.experiment import outcome
from arcadia_workers.trainer.futures.simulating import Moment, Plan, Player, draws, load, moments, simulate_each
from arcadia_workers.trainer.host import devices
from arcadia_workers.trainer.methods.trainer import Action
from arcadia_workers.trainer.recording.recording import StoppedError
from arcadia_workers.trainer.review import ReviewRequest
from arcadia_workers.trainer.review.procedure import ReviewInProgress, Simulate, preselect
from arcadia_workers.trainer.review.situations import Situations

Advance = Callable[[ReviewDocument, int, int], None]
"""Receives what is known so far, and how many of the decisions are finished."""


@dataclass
class WatchedEpisode:
    """A played episode, as far as it tells which decisions are suspicious."""

    names: tuple[str, ...]
    taken: list[Action] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    policies: list[Floats] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    lives: list[int] = field(default_factory=list)

    @property
    def rewards(self) -> Floats:
        """Return the raw reward after each decision."""
        return np.diff(self.scores)

    @property
    def losses(self) -> list[bool]:
        """Return whether a point or a life was lost after each decision."""
        return [bool(lost) for lost in (self.rewards < 0) | (np.diff(self.lives) < 0)]


def watch(
    player: Player, request: ReviewRequest, actions: Sequence[Action], stop: Callable[[], bool]
) -> WatchedEpisode:
    """Play the episode. Recorded actions are taken first."""
    episode, game = WatchedEpisode(()), None
    for moment in moments(player.subject, player.protocol, request.seed, request.episode, actions=actions):
        game = moment.game
        if actions and moment.decision == len(actions):
            break  # the recording was cut here
        if isinstance(game.actions, Continuous):
            raise RequestError("only discrete actions can be reviewed, and this environment has continuous actions")
        if stop():
            raise StoppedError("the review was stopped")
        episode.taken.append(moment.action)
        episode.values.append(float(moment.output.values[0]))
        # Action values are read as the numbers of a softmax policy.
        episode.policies.append(torch.softmax(moment.output.numbers[0].double(), dim=-1).numpy())
        episode.scores.append(game.score)
        episode.lives.append(game.lives)
    if game is None:
        raise RequestError("the episode ended before the first decision, so there is nothing to review")
    episode.names = game.action_names
    episode.scores.append(game.score)
    episode.lives.append(game.lives)
    return episode


def keep(
    player: Player,
    request: ReviewRequest,
    episode: WatchedEpisode,
    decisions: Collection[int],
    stop: Callable[[], bool],
    other: Player | None = None,
) -> dict[int, Moment]:
    """Play the episode again, and keep these decisions so that they can be continued, by another agent if given."""
    kept: dict[int, Moment] = {}
    watching = other.subject if other else None
    with closing(
        moments(player.subject, player.protocol, request.seed, request.episode, other=watching, actions=episode.taken)
    ) as again:
        for moment in again:
            if stop():
                raise StoppedError("the review was stopped")
            if moment.decision in decisions:
                [game] = moment.game.branch([0])
                kept[moment.decision] = replace(moment, game=game)
            if len(kept) == len(decisions):
                break
    return kept


@dataclass(frozen=True)
class Outcomes:
    """Outcomes and raw scores of futures, with a row for each first action."""

    outcomes: Floats
    scores: Floats


def simulator(acting: Player, kept: Mapping[int, Moment], request: ReviewRequest) -> Simulate:
    """Return the simulator of the futures in which an agent continues the kept decisions."""
    config = acting.config
    plan = Plan(request.options.horizon, "outcome" if config.clip_rewards else "horizon")

    def simulate(decision: int, firsts: Sequence[int], futures: range) -> Outcomes:
        branches = simulate_each(
            acting.subject,
            kept[decision],
            draws(request.seed, request.episode, decision, futures),
            [replace(plan, first=(action,)) for action in firsts],
        )
        return Outcomes(
            np.array([[outcome(branch, config) for branch in each] for each in branches]),
            np.array([[sum(branch.rewards) for branch in each] for each in branches]),
        )

    return simulate


def review(
    request: ReviewRequest,
    should_stop: Callable[[], bool] = lambda: False,
    *,
    advance: Advance = lambda _document, _done, _total: None,
) -> ReviewDocument:
    """Review an episode of a run's checkpoint."""
    player = load(request.run_directory, request.step, request.protocol)
    return reviewed(request, player, should_stop=should_stop, advance=advance)


def reviewed(
    request: ReviewRequest,
    player: Player,
    *,
    actions: Sequence[Action] = (),
    known: ReviewDocument | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    advance: Advance = lambda _document, _done, _total: None,
) -> ReviewDocument:
    """Review an episode, and continue from what is known. Stop early if `should_stop` says so."""
    began = time.monotonic()
    devices.compute_in(1)
    config, options = player.config, request.options
    episode = watch(player, request, actions, should_stop)
    wanted = to_review(config, episode, options, known)
    kept = keep(player, request, episode, {each.decision for each in wanted}, should_stop)

    def document() -> ReviewDocument:
        return ReviewDocument(
            env=config.env,
            algorithm=player.checkpoint.algorithm,
            checkpoint_step=player.checkpoint.file.step,
            protocol=player.protocol.name,
            seed=request.seed,
            episode=request.episode,
            acting=player.subject.acting,
            horizon=options.horizon,
            gamma=config.gamma,
            clip_rewards=config.clip_rewards,
            decisions=len(episode.taken),
            score=episode.scores[-1],
            reviewed=in_progress.reviewed,
            situations=situations.of(in_progress.reviewed),
            simulations=in_progress.simulations + (known.simulations if known else 0),
            seconds=time.monotonic() - began + (known.seconds if known else 0.0),
        )

    situations = Situations(player.subject.network, kept)
    simulate = simulator(player, kept, request)
    in_progress = ReviewInProgress(wanted, episode.names, simulate, is_clipped=config.clip_rewards)
    total = len(wanted)
    in_progress.run(should_stop, lambda: advance(document(), total - in_progress.waiting, total))
    return document()


def to_review(
    config: RunConfig, episode: WatchedEpisode, options: ReviewOptions, known: ReviewDocument | None
) -> list[ReviewedDecision]:
    """Return the known decisions, and those that the options add."""
    earlier = [each.model_copy() for each in known.reviewed] if known else []
    have = {each.decision for each in earlier}
    return earlier + [
        ReviewedDecision(decision=decision, reason=reason, taken=episode.names[int(episode.taken[decision])])
        for decision, reason in chosen(config, episode, options)
        if decision not in have
    ]


def chosen(config: RunConfig, episode: WatchedEpisode, options: ReviewOptions) -> list[tuple[int, Reason]]:
    """Return the decisions to review with the reason, by what the episode has shown."""
    if options.every:
        if (count := -(-len(episode.taken) // options.every)) > MAX_REVIEWED:
            least = -(-len(episode.taken) // MAX_REVIEWED)
            raise RequestError(
                f"{count:,} decisions are too many; the limit is {MAX_REVIEWED:,}: set every to at least {least}"
            )
        return [(decision, "every") for decision in range(0, len(episode.taken), options.every)]
    policies = np.stack(episode.policies)
    return preselect(
        values=episode.values,
        rewards=(np.clip(episode.rewards, -1, 1) if config.clip_rewards else episode.rewards).tolist(),
        losses=episode.losses,
        probabilities=policies[range(len(policies)), [int(action) for action in episode.taken]].tolist(),
        doubts=(-(policies * np.log(policies + 1e-12)).sum(axis=1)).tolist(),
        gamma=config.gamma,
        count=options.decisions,
    )
