"""Measurement of the agents of a practice, and the document of what practice changed."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from time import monotonic

import numpy as np
import torch

from arcadia_workers.contract.futures import Interval
from arcadia_workers.contract.inference.losses import cautious_interval
from arcadia_workers.contract.inference.means import Floats, clustered_mean_error, t_interval
from arcadia_workers.contract.practice import (
    ACTION_SYMBOLS,
    ARMS,
    FUTURES,
    AgentAtMoment,
    AgentMeasurement,
    Arm,
    Difference,
    HeldOutMoment,
    PlannedMoment,
    PracticeCost,
    PracticeDocument,
    PracticePlan,
    TrainedArm,
    verdict_of,
)
from arcadia_workers.contract.protocols.document import Acting, PlayedEpisode
from arcadia_workers.trainer.futures.experiment import outcome
from arcadia_workers.trainer.futures.simulating import Moment, Plan, Player, draws, moments, simulate_each
from arcadia_workers.trainer.games import playing
from arcadia_workers.trainer.recording.recording import StoppedError

# Reviews use futures with smaller numbers, so these are fresh.
FIRST_FUTURE = 1_000

Stop = Callable[[], bool]
Advance = Callable[[int, int], None]


def measure(
    agent: Player, plan: PracticePlan, evaluations: int, stop: Stop, advance: Advance = lambda _done, _total: None
) -> AgentMeasurement:
    """Let an agent play on from the held-out moments, and evaluate it. `advance` receives the progress and total."""
    began, total = monotonic(), len(plan.held_out) + evaluations
    at_moments: list[AgentAtMoment] = []
    for each in play_on(agent, plan, stop):
        at_moments.append(each)
        advance(len(at_moments), total)
    opening = playing.opening(agent.protocol, None)
    episodes: list[PlayedEpisode] = []
    for played in playing.play(agent.subject, agent.protocol, plan.evaluation_seed, range(evaluations), opening, stop):
        episodes.append(played.episode)
        advance(len(at_moments) + len(episodes), total)
    if stop():
        raise StoppedError("practice was stopped")
    episodes.sort(key=lambda episode: episode.number)
    return AgentMeasurement(moments=at_moments, episodes=episodes, seconds=monotonic() - began)


def play_on(agent: Player, plan: PracticePlan, stop: Stop) -> Iterator[AgentAtMoment]:
    """Yield what an agent does at each held-out moment. It has watched the episode so far."""
    for episode in plan.held_out_episodes:
        at = (episode.seed, episode.episode)
        wanted = {each.decision: each for each in plan.held_out if (each.seed, each.episode) == at}
        actions = [ACTION_SYMBOLS.index(symbol) for symbol in episode.actions]
        with closing(moments(agent.subject, agent.protocol, *at, actions=actions)) as watched:
            for moment in watched:
                if moment.decision in wanted:
                    yield at_moment(agent, moment, wanted[moment.decision], plan.horizon, stop)
                if moment.decision == len(actions):
                    break


def at_moment(agent: Player, moment: Moment, mistake: PlannedMoment, horizon: int, stop: Stop) -> AgentAtMoment:
    """Return what an agent does at a moment: by fresh futures, which all agents share, and by its output."""
    plan = Plan(horizon, "outcome" if agent.config.clip_rewards else "horizon")
    futures = range(FIRST_FUTURE, FIRST_FUTURE + FUTURES)
    drawn = draws(mistake.seed, mistake.episode, mistake.decision, futures)
    [branches] = simulate_each(agent.subject, moment, drawn, [plan], stop)
    outcomes = np.clip([outcome(each, agent.config) for each in branches], -mistake.scale, mistake.scale)
    action = moment.game.action_names.index(mistake.taken)
    probability = probability_of(action, moment.output.numbers[0], agent.subject.acting)
    return AgentAtMoment(outcome=float(outcomes.mean()), probability=probability)


def probability_of(action: int, numbers: torch.Tensor, acting: Acting) -> float:
    """Return the probability of an action, given the numbers of a policy's or a Q network's head."""
    if acting.name == "sampled":
        return float(torch.softmax(numbers.double(), dim=-1)[action])
    epsilon = acting.epsilon or 0.0
    return (1 - epsilon) * (int(numbers.argmax()) == action) + epsilon / len(numbers)


def difference_at_moments(practice: Floats, control: Floats, largest: float) -> Difference:
    """Compare numbers by pair and moment, whose differences have at most this magnitude.

    The interval over moments allows for rare large differences, so few moments make it wide.
    """
    differences = practice - control
    if len(differences) > 1:
        return _over_pairs(differences.mean(axis=1))
    values = differences[0].tolist()
    interval = cautious_interval(values, largest)
    return Difference(
        mean=float(np.mean(values)),
        interval=interval,
        unit="moment",
        count=len(values),
        verdict=verdict_of(interval),
    )


def difference_of_scores(
    practice: Sequence[Sequence[PlayedEpisode]], control: Sequence[Sequence[PlayedEpisode]]
) -> Difference:
    """Compare the scores of episodes with equal seeds, by pair. Episodes that both agents repeat count once."""
    scores = [np.array([[each.score for each in episodes] for episodes in arm]) for arm in (practice, control)]
    differences = scores[0] - scores[1]
    if len(differences) > 1:
        return _over_pairs(differences.mean(axis=1))
    plays = [(one.play, other.play) for one, other in zip(practice[0], control[0], strict=True)]
    error = clustered_mean_error(differences[0].tolist(), plays)
    interval = error.interval if error else None
    return Difference(
        mean=float(differences.mean()),
        interval=interval,
        unit="episode",
        count=len(set(plays)),
        verdict=verdict_of(interval),
    )


def _over_pairs(differences: Floats) -> Difference:
    interval = t_interval(differences.tolist())
    return Difference(
        mean=float(differences.mean()),
        interval=interval,
        unit="pair",
        count=len(differences),
        verdict=verdict_of(interval),
    )


def document(
    player: Player, plan: PracticePlan, before: AgentMeasurement, arms: Sequence[TrainedArm]
) -> PracticeDocument:
    """Return what practice changed. The player is any of its agents, and all arms are measured."""
    measured = {(arm.name, arm.pair): arm.measured for arm in arms if arm.measured}
    practice, control = ([each for (name, _), each in measured.items() if name == wanted] for wanted in ARMS)

    def by_moment(agents: Sequence[AgentMeasurement], field: str) -> Floats:
        return np.array([[getattr(moment, field) for moment in agent.moments] for agent in agents])

    repeated = difference_at_moments(by_moment(practice, "probability"), by_moment(control, "probability"), 1.0)
    scale = max(each.scale for each in plan.held_out)
    return PracticeDocument(
        env=player.config.env,
        algorithm=player.checkpoint.algorithm,
        checkpoint_step=plan.checkpoint_step,
        protocol=plan.protocol,
        acting=player.subject.acting,
        # Evaluations use the seed after those of the reviews.
        seed=plan.evaluation_seed - 1,
        share=plan.options.share,
        before=plan.options.before,
        steps=plan.steps,
        pairs=plan.options.pairs,
        futures=FUTURES,
        horizon=plan.horizon,
        gamma=player.config.gamma,
        clip_rewards=player.config.clip_rewards,
        evaluation_seed=plan.evaluation_seed,
        practiced=plan.practiced,
        held_out=[
            HeldOutMoment(
                **mistake.model_dump(),
                before=before.moments[at],
                practice=[agent.moments[at] for agent in practice],
                control=[agent.moments[at] for agent in control],
            )
            for at, mistake in enumerate(plan.held_out)
        ],
        arms=[arm_of(plan, arm, arm.measured) for arm in arms if arm.measured],
        mistakes=difference_at_moments(by_moment(practice, "outcome"), by_moment(control, "outcome"), 2 * scale),
        repeated=repeated.model_copy(update={"verdict": verdict_of(reversed_interval(repeated.interval))}),
        score=difference_of_scores([agent.episodes for agent in practice], [agent.episodes for agent in control]),
        cost=PracticeCost(
            training_steps=plan.steps * len(arms),
            futures=FUTURES * len(plan.held_out) * (len(arms) + 1),
            evaluation_episodes=plan.options.evaluations * len(arms),
            training_seconds=sum(arm.training_seconds for arm in arms),
            measuring_seconds=sum(agent.seconds for agent in (before, *measured.values())),
        ),
    )


def reversed_interval(interval: Interval | None) -> Interval | None:
    """Return the interval of the negative difference."""
    return (-interval[1], -interval[0]) if interval else None


def arm_of(plan: PracticePlan, arm: TrainedArm, measured: AgentMeasurement) -> Arm:
    """Return the description of an arm."""
    scores = [episode.score for episode in measured.episodes]
    return Arm(
        name=arm.name,
        pair=arm.pair,
        directory=arm.directory,
        run_id=arm.run_id,
        seed=arm.seed,
        share=plan.options.share if arm.name == "practice" else 0.0,
        first_step=plan.checkpoint_step,
        last_step=plan.checkpoint_step + plan.steps,
        outcome=float(np.mean([moment.outcome for moment in measured.moments])),
        probability=float(np.mean([moment.probability for moment in measured.moments])),
        score=float(np.mean(scores)),
        scores=scores,
    )
