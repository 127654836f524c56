"""Practice from the reviews to the document: both arms train, play on from held-out mistakes, and are evaluated.

Everything is kept in the folder of the practice. A practice that was stopped continues from there.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch
from pydantic import BaseModel, ConfigDict, ValidationError

from arcadia_workers.contract import layout
from arcadia_workers.contract.futures import Interval
from arcadia_workers.contract.inference.losses import cautious_interval
from arcadia_workers.contract.inference.means import Floats, clustered_mean_error, t_interval
from arcadia_workers.contract.practice import (
    ACTION_SYMBOLS,
    AgentAtMoment,
    Arm,
    ArmName,
    Difference,
    HeldOutMoment,
    PracticeCost,
    PracticeDocument,
    verdict_of,
)
from arcadia_workers.contract.protocols.document import Acting, PlayedEpisode
from arcadia_workers.contract.review import ReviewDocument
from arcadia_workers.trainer.errors import TrainerError
from arcadia_workers.trainer.evaluation.request import RequestError
from arcadia_workers.trainer.futures.experiment import outcome
from arcadia_workers.trainer.futures.simulating import Moment, Plan, Player, draws, load, moments, simulate_each
from arcadia_workers.trainer.games import playing
from arcadia_workers.trainer.games.practice import reach
from arcadia_workers.trainer.host import devices
from arcadia_workers.trainer.practice import PracticeRequest
from arcadia_workers.trainer.practice.arms import ARMS, arm_config, arm_directory, train, training_seconds
from arcadia_workers.trainer.practice.planning import PlannedMoment, PracticePlan, check_review, make_plan, trace
from arcadia_workers.trainer.recording.recording import StoppedError
from arcadia_workers.trainer.review import ReviewRequest, reviewing
from arcadia_workers.trainer.run import durable_files
from arcadia_workers.trainer.run.progress import duration

FUTURES = 64
# Reviews use futures with smaller numbers, so these are fresh.
FIRST_FUTURE = 1_000
PLAN, REVIEWS = "plan.json", "reviews"

Stop = Callable[[], bool]
Show = Callable[[str], None]
Model = TypeVar("Model", bound=BaseModel)


class AgentMeasurement(BaseModel):
    """What an agent does at the held-out moments, and its evaluation episodes."""

    model_config = ConfigDict(extra="forbid")

    moments: list[AgentAtMoment]
    episodes: list[PlayedEpisode]
    seconds: float


def read_if_exists(path: Path, model: type[Model]) -> Model | None:
    """Return the document in a file, or None if there is no file."""
    try:
        return model.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        raise RequestError(f"{path} cannot be read: choose another --out, or delete the file") from error


def write(path: Path, document: BaseModel) -> None:
    """Write a document to a file of the practice."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        durable_files.write(path, document.model_dump_json(indent=2).encode())
    except OSError as error:
        raise TrainerError(f"{path} cannot be written: {error.strerror}") from error


Measurements = dict[tuple[ArmName, int], AgentMeasurement]
"""The arms by name and pair."""


def practice(request: PracticeRequest, stop: Stop, show: Show) -> PracticeDocument:
    """Practice, or continue a practice that was stopped."""
    devices.compute_in(1)
    player = load(request.run_directory, request.step, request.protocol)
    plan = planned(request, player, stop, show)
    arms = [(name, pair) for pair in range(1, plan.options.pairs + 1) for name in ARMS]
    show(
        f"{len(plan.practiced)} mistakes are practiced, and {len(plan.held_out)} are kept to measure. The cost: "
        f"{len(arms)} arms of {plan.steps:,} steps, then {FUTURES} futures at each kept mistake by {len(arms) + 1} "
        f"agents, and {plan.options.evaluations} evaluation episodes per arm"
    )
    for number, (name, pair) in enumerate(arms):

        def show_speed(speed: float, left: int = len(arms) - number) -> None:
            seconds = left * plan.steps / speed
            show(f"About {duration(seconds)} of training at {speed:,.0f} steps per second")

        config = arm_config(player.config, plan, name, pair, player.checkpoint.file.step)
        directory = arm_directory(request.out, name, pair)
        show(f"Training {directory}")
        train(directory, config, request.run_directory / player.checkpoint.file.file, stop, show_speed)
    show("Measuring")
    before = measure(request.out / "before.json", player, plan, 0, stop)
    measured: Measurements = {}
    for name, pair in arms:
        directory = arm_directory(request.out, name, pair)
        agent = load(directory, None, plan.protocol)
        path = directory.with_name(f"{name}.json")
        measured[name, pair] = measure(path, agent, plan, plan.options.evaluations, stop)
    return document(request, player, plan, before, measured)


def planned(request: PracticeRequest, player: Player, stop: Stop, show: Show) -> PracticePlan:
    """Return the plan in the folder, or review the agent and make one."""
    plan = read_if_exists(request.out / PLAN, PracticePlan)
    if plan is None:
        episodes = [trace(player, review, stop) for review in reviews_of(request, player, stop, show)]
        plan = make_plan(player, request.options, episodes)
        # Raises if the mistakes cannot be restored.
        reach(player.config, plan.practice)
        write(request.out / PLAN, plan)
    ours = (player.checkpoint.file.sha256, player.protocol.name, request.options)
    if (plan.checkpoint_sha256, plan.protocol, plan.options) != ours:
        raise RequestError(
            f"--out {request.out} holds the practice of another agent or with other options: repeat these, or choose a "
            "new folder"
        )
    return plan


def reviews_of(request: PracticeRequest, player: Player, stop: Stop, show: Show) -> Iterator[ReviewDocument]:
    """Yield the given reviews, or review episodes of the agent."""
    for file in request.reviews:
        review = read_if_exists(file, ReviewDocument)
        if review is None:
            raise RequestError(f"--review {file}: there is no such file")
        check_review(review, player)
        yield review
    for episode in [] if request.reviews else range(request.episodes):
        show(f"Reviewing episode {episode + 1} of {request.episodes}")
        path = request.out / REVIEWS / f"seed-{request.seed}-episode-{episode}.json"
        wanted = ReviewRequest(
            request.run_directory, request.step, request.protocol, request.seed, episode, request.review
        )
        review = reviewing.reviewed(wanted, player, known=read_if_exists(path, ReviewDocument), should_stop=stop)
        write(path, review)
        if stop():
            raise StoppedError("practice was stopped")
        yield review


def measure(path: Path, agent: Player, plan: PracticePlan, evaluations: int, stop: Stop) -> AgentMeasurement:
    """Let an agent play on from the held-out moments, and evaluate it. Keep the result in a file."""
    if kept := read_if_exists(path, AgentMeasurement):
        return kept
    began = time.monotonic()
    at_moments = [*play_on(agent, plan, stop)]
    opening = playing.opening(agent.protocol, None)
    played = [*playing.play(agent.subject, agent.protocol, plan.evaluation_seed, range(evaluations), opening, stop)]
    if stop():
        raise StoppedError("practice was stopped")
    episodes = sorted((each.episode for each in played), key=lambda episode: episode.number)
    measured = AgentMeasurement(moments=at_moments, episodes=episodes, seconds=time.monotonic() - began)
    write(path, measured)
    return measured


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
    request: PracticeRequest, player: Player, plan: PracticePlan, before: AgentMeasurement, measured: Measurements
) -> PracticeDocument:
    """Return what practice changed."""
    practice, control = ([arm for (name, _), arm in measured.items() if name == wanted] for wanted in ARMS)

    def by_moment(arms: Sequence[AgentMeasurement], field: str) -> Floats:
        return np.array([[getattr(moment, field) for moment in arm.moments] for arm in arms])

    repeated = difference_at_moments(by_moment(practice, "probability"), by_moment(control, "probability"), 1.0)
    scale = max(each.scale for each in plan.held_out)
    arms = [arm_of(request.out, player, plan, name, pair, arm) for (name, pair), arm in measured.items()]
    return PracticeDocument(
        env=player.config.env,
        algorithm=player.checkpoint.algorithm,
        checkpoint_step=player.checkpoint.file.step,
        protocol=plan.protocol,
        acting=player.subject.acting,
        seed=request.seed,
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
                practice=[arm.moments[at] for arm in practice],
                control=[arm.moments[at] for arm in control],
            )
            for at, mistake in enumerate(plan.held_out)
        ],
        arms=arms,
        mistakes=difference_at_moments(by_moment(practice, "outcome"), by_moment(control, "outcome"), 2 * scale),
        repeated=repeated.model_copy(update={"verdict": verdict_of(reversed_interval(repeated.interval))}),
        score=difference_of_scores([arm.episodes for arm in practice], [arm.episodes for arm in control]),
        cost=PracticeCost(
            training_steps=plan.steps * len(arms),
            futures=FUTURES * len(plan.held_out) * (len(arms) + 1),
            evaluation_episodes=plan.options.evaluations * len(arms),
            training_seconds=sum(training_seconds(arm_directory(request.out, *at)) for at in measured),
            measuring_seconds=sum(each.seconds for each in (before, *measured.values())),
        ),
    )


def reversed_interval(interval: Interval | None) -> Interval | None:
    """Return the interval of the negative difference."""
    return (-interval[1], -interval[0]) if interval else None


def arm_of(out: Path, player: Player, plan: PracticePlan, name: ArmName, pair: int, measured: AgentMeasurement) -> Arm:
    """Return the description of an arm."""
    first = player.checkpoint.file.step
    config = arm_config(player.config, plan, name, pair, first)
    directory = arm_directory(out, name, pair)
    scores = [episode.score for episode in measured.episodes]
    return Arm(
        name=name,
        pair=pair,
        directory=str(directory),
        seed=config.seed,
        share=plan.options.share if name == "practice" else 0.0,
        first_step=first,
        last_step=layout.newest_step(directory),
        outcome=float(np.mean([moment.outcome for moment in measured.moments])),
        probability=float(np.mean([moment.probability for moment in measured.moments])),
        score=float(np.mean(scores)),
        scores=scores,
    )
