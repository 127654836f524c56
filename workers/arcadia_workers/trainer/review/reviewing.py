"""One review, from the checkpoint to the document."""

import time
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import torch

from arcadia_workers.contract.action_names import Continuous
from arcadia_workers.contract.config import RunConfig
from arcadia_workers.contract.config.emulator import protocol_of
from arcadia_workers.contract.games import ENVIRONMENTS
from arcadia_workers.contract.inference.means import Floats
from arcadia_workers.contract.live import KeptActions
from arcadia_workers.contract.protocols import PROTOCOLS
from arcadia_workers.contract.review import (
    KEPT_GAME,
    MAX_REVIEWED,
    Reason,
    ReviewDocument,
    ReviewedDecision,
    ReviewOptions,
)
from arcadia_workers.trainer.evaluation.request import RequestError
from arcadia_workers.trainer.futures.experiment import outcome
from arcadia_workers.trainer.futures.simulating import (
    Moment,
    Plan,
    Player,
    draws,
    load,
    moments,
    player_of,
    simulate_each,
)
from arcadia_workers.trainer.games import subjects
from arcadia_workers.trainer.host import devices
from arcadia_workers.trainer.methods.trainer import Action
from arcadia_workers.trainer.recording.recording import StoppedError
from arcadia_workers.trainer.recording.replays import check_result
from arcadia_workers.trainer.review import ReviewRequest
from arcadia_workers.trainer.review.procedure import ReviewInProgress, Simulate, preselect
from arcadia_workers.trainer.review.situations import Situations

Advance = Callable[[ReviewDocument, int, int], None]
"""Receives what is known so far, and how many of the decisions are finished."""


@dataclass
class WatchedEpisode:
    """A played episode, as far as it tells which decisions are suspicious."""

    names: tuple[str, ...] = ()
    taken: list[Action] = field(default_factory=list)
    taken_names: list[str] = field(default_factory=list)
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
    episode, game = WatchedEpisode(), None
    for moment in _moments(player, request, actions):
        game = moment.game
        if actions and moment.decision == len(actions):
            break  # the recording was cut here
        if isinstance(game.actions, Continuous):
            raise RequestError("only discrete actions can be reviewed, and this environment has continuous actions")
        if stop():
            raise StoppedError("the review was stopped")
        episode.taken.append(moment.action)
        episode.taken_names.append(game.name_of(moment.action))
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
    with closing(_moments(player, request, episode.taken, other)) as again:
        for moment in again:
            if stop():
                raise StoppedError("the review was stopped")
            if moment.decision in decisions:
                [game] = moment.game.branch([0])
                kept[moment.decision] = replace(moment, game=game)
            if len(kept) == len(decisions):
                break
    return kept


def _moments(
    player: Player, request: ReviewRequest, actions: Sequence[Action], other: Player | None = None
) -> Generator[Moment, None, None]:
    """Play the episode of a request, or its kept game."""
    watching, kept = other.subject if other else None, request.kept
    begin = (lambda game, _number, _draws: game.begin(kept.seed)) if kept else None
    return moments(
        player.subject, player.protocol, request.seed, request.episode, other=watching, actions=actions, begin=begin
    )


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
        moment = kept[decision]
        own = len(moment.game.action_names)
        branches = simulate_each(
            acting.subject,
            moment,
            draws(request.seed, request.episode, decision, futures),
            [replace(plan, first=(action if action < own else moment.action,)) for action in firsts],
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
    """Review an episode of a run's checkpoint, or a kept game by its agent."""
    if request.kept:
        player = watcher(request.run_directory, request.step, request.kept)
    else:
        player = load(request.run_directory, request.step, request.protocol)
    return reviewed(request, player, should_stop=should_stop, advance=advance)


def watcher(directory: Path, step: int | None, kept: KeptActions) -> Player:
    """Load a checkpoint's agent, to continue a kept game by the rules under which it was played."""
    checkpoint, config = subjects.read(directory, step)
    if config.env != kept.env:
        titles = [f"{ENVIRONMENTS[env].title} ({env})" for env in (config.env, kept.env)]
        raise RequestError(f"the agent plays {titles[0]}, and the kept game is of {titles[1]}: name an agent of it")
    usual = PROTOCOLS[protocol_of(config.model_dump())]
    rules = replace(usual, name=KEPT_GAME, opening="plain", noops=None, cap_frames=None, repeat_action_probability=0.0)
    return player_of(checkpoint, config, rules)


def decisions_of(player: Player, kept: KeptActions) -> Sequence[Action]:
    """Return the decisions of a kept game. Raise OtherGameError if its actions lead to another result."""
    with closing(player.subject.open_game()) as game:
        game.begin(kept.seed)
        game.hold(kept.actions)
        check_result(game, kept)
        return game.decisions(kept.actions)


def reviewed(
    request: ReviewRequest,
    player: Player,
    *,
    actions: Sequence[Action] = (),
    known: ReviewDocument | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    advance: Advance = lambda _document, _done, _total: None,
) -> ReviewDocument:
    """Review an episode or a kept game, and continue from what is known. Stop early if `should_stop` says so."""
    began = time.monotonic()
    devices.compute_in(1)
    config, options = player.config, request.options
    if (game := request.kept) is not None:
        request = replace(request, seed=game.seed, episode=0)
        actions = decisions_of(player, game)
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
        ReviewedDecision(decision=decision, reason=reason, taken=episode.taken_names[decision])
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
        probabilities=[
            float(policy[int(action)]) if int(action) < len(policy) else 0.0
            for policy, action in zip(policies, episode.taken, strict=True)
        ],
        doubts=(-(policies * np.log(policies + 1e-12)).sum(axis=1)).tolist(),
        gamma=config.gamma,
        count=options.decisions,
    )
