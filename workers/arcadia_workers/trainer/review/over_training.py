"""Mistakes of several checkpoints at the same moments: `arcadia review --over-training`.

One checkpoint plays the episodes. At moments spread evenly over them, each checkpoint takes its own decision, and plays
on itself in the futures.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from arcadia_workers.contract.futures import MeanReturn
from arcadia_workers.contract.inference.means import t_interval
from arcadia_workers.contract.review import AgentMistakes, MistakesDocument, ReviewedDecision
from arcadia_workers.trainer.futures.simulating import Moment, Player, draws, load
from arcadia_workers.trainer.games.subjects import chooser
from arcadia_workers.trainer.recording.recording import StoppedError
from arcadia_workers.trainer.review import ReviewRequest
from arcadia_workers.trainer.review.procedure import ReviewInProgress
from arcadia_workers.trainer.review.reviewing import WatchedEpisode, keep, simulator, watch

# The number of the random draw that chooses an agent's own action. Futures have smaller numbers.
OWN = 10**9


def over_training(
    request: ReviewRequest,
    steps: Sequence[int],
    episodes: int,
    should_stop: Callable[[], bool] = lambda: False,
    advance: Callable[[AgentMistakes], None] = lambda _: None,
) -> MistakesDocument:
    """Review the decisions of these checkpoints at the moments of some episodes."""
    player = load(request.run_directory, request.step, request.protocol)
    requests = [replace(request, episode=request.episode + number) for number in range(episodes)]
    watched = [(each, watch(player, each, (), should_stop)) for each in requests]
    checkpoints = []
    for step in steps:
        agent = load(request.run_directory, step, request.protocol)
        checkpoints.append(mistakes_of(agent, player, watched, should_stop))
        advance(checkpoints[-1])
    return MistakesDocument(
        env=player.config.env,
        algorithm=player.checkpoint.algorithm,
        protocol=player.protocol.name,
        seed=request.seed,
        episodes=episodes,
        horizon=request.options.horizon,
        played_by=player.checkpoint.file.step,
        checkpoints=checkpoints,
    )


def mistakes_of(
    agent: Player,
    player: Player,
    watched: Sequence[tuple[ReviewRequest, WatchedEpisode]],
    should_stop: Callable[[], bool],
) -> AgentMistakes:
    """Review an agent's decisions at moments of episodes that another one played."""
    began = time.monotonic()
    found: list[ReviewedDecision] = []
    losses: list[float] = []
    simulations = 0
    for request, episode in watched:
        chosen = spread(len(episode.taken), request.options.decisions)
        kept = keep(player, request, episode, chosen, should_stop, agent)
        decisions = [
            ReviewedDecision(decision=at, reason="every", taken=episode.names[own_action(agent, kept[at], request)])
            for at in chosen
        ]
        simulate = simulator(agent, kept, request)
        review = ReviewInProgress(
            decisions, episode.names, simulate, is_clipped=agent.config.clip_rewards, measures_all=True
        )
        review.run(should_stop)
        if should_stop():
            raise StoppedError("the review was stopped")
        found += review.reviewed
        losses.append(float(np.mean([(each.loss.mean or 0.0) if each.loss else 0.0 for each in review.reviewed])))
        simulations += review.simulations
    return AgentMistakes(
        checkpoint_step=agent.checkpoint.file.step,
        reviewed=len(found),
        mistakes=sum(each.finding == "mistake" for each in found),
        loss=MeanReturn(count=len(losses), mean=float(np.mean(losses)), interval=t_interval(losses)),
        simulations=simulations,
        seconds=time.monotonic() - began,
    )


def spread(length: int, count: int) -> list[int]:
    """Return decisions at equal distances, all if they are fewer."""
    count = min(count, length)
    return [int((number + 0.5) * length / count) for number in range(count)]


def own_action(agent: Player, moment: Moment, request: ReviewRequest) -> int:
    """Return the action that an agent takes at a moment."""
    [drawn] = draws(request.seed, request.episode, moment.decision, [OWN])
    choose = chooser(agent.subject.acting, moment.game.actions, drawn.acting_seed)
    return int(choose(moment.output.numbers))
