"""Futures of one decision, from the checkpoint to the document, with the best action's test and videos."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from arcadia_workers.contract.action_names import Continuous
from arcadia_workers.contract.config import RunConfig
from arcadia_workers.contract.futures import (
    MAX_PAIRS,
    ActionFutures,
    Challenge,
    Future,
    FuturesDocument,
    FuturesOptions,
    FuturesVideo,
    MeanReturn,
)
from arcadia_workers.contract.inference.losses import DECISIVE, loss_evidence, pairs_needed
from arcadia_workers.trainer.evaluation.request import RequestError
from arcadia_workers.trainer.futures.films import Ghosts, film_some
from arcadia_workers.trainer.futures.request import FuturesRequest, parsed_actions
from arcadia_workers.trainer.futures.simulating import (
    Branch,
    FutureSeeds,
    Moment,
    Plan,
    Player,
    draws,
    estimate,
    future,
    load,
    load_other,
    moments,
    score_fan,
    simulate_each,
    survival,
)
from arcadia_workers.trainer.games.emulator import AtariGame
from arcadia_workers.trainer.games.games import PlayableGame
from arcadia_workers.trainer.host import devices
from arcadia_workers.trainer.methods.trainer import Action
from arcadia_workers.trainer.recording.recording import StoppedError, displayed_numbers

# Pairs are simulated in blocks until a loss is shown, or is unlikely after some of them.
BLOCK = 32
FEWEST_PAIRS, HOPELESS = 64, 0.2

Simulate = Callable[[Sequence[Plan], range], list[list[Branch]]]
"""Simulates the futures of these numbers by each plan."""


def outcome(branch: Branch, config: RunConfig) -> float:
    """Return the discounted reward of a future without the value of its last state."""
    rewards = np.asarray(branch.rewards)
    if config.clip_rewards:
        ends = np.flatnonzero((rewards != 0) | np.asarray(branch.lives_lost))
        rewards = np.clip(rewards[: ends[0] + 1] if len(ends) else rewards, -1, 1)
    return float(rewards @ config.gamma ** np.arange(len(rewards)))


@dataclass
class Challenger:
    """The action with the best outcomes in the screen, against the taken one."""

    acting: Player
    plan: Plan
    simulate: Simulate
    action: int
    taken: int
    scale: float

    def differences(self, futures: range) -> list[float]:
        """Return how much better the outcome is in each of these futures."""
        plan = replace(self.plan, until="outcome" if self.acting.config.clip_rewards else "horizon")
        one, other = self.simulate([replace(plan, first=(action,)) for action in (self.action, self.taken)], futures)
        return [self._limited(a) - self._limited(b) for a, b in zip(one, other, strict=True)]

    def _limited(self, branch: Branch) -> float:
        return float(np.clip(outcome(branch, self.acting.config), -self.scale, self.scale))


def challenge(
    acting: Player,
    plan: Plan,
    simulate: Simulate,
    screen: Sequence[Sequence[Branch]],
    taken: int,
    names: Sequence[str],
) -> Challenge:
    """Choose the action with the best outcomes in the screen, and test it with fresh futures."""
    outcomes = np.array([[outcome(branch, acting.config) for branch in branches] for branches in screen])
    scale = 1.0 if acting.config.clip_rewards else float(np.abs(outcomes).max()) or 1.0
    means = outcomes.mean(axis=1)
    if means[taken] == means.max():
        return Challenge(taken=names[taken], action=None, scale=scale)
    challenger = Challenger(acting, plan, simulate, int(means.argmax()), taken, scale)
    first = len(screen[0])
    returns: list[float] = []
    evidence = 1.0
    while evidence < DECISIVE and len(returns) < MAX_PAIRS and (len(returns) < FEWEST_PAIRS or evidence >= HOPELESS):
        returns += challenger.differences(range(first + len(returns), first + len(returns) + BLOCK))
        evidence = loss_evidence(returns, scale)
    is_better = evidence >= DECISIVE
    # The pairs that show a loss overstate it, so it is measured with others.
    last = first + len(returns)
    measured = challenger.differences(range(last, last + FEWEST_PAIRS)) if is_better else []
    return Challenge(
        taken=names[taken],
        action=names[challenger.action],
        scale=scale,
        pairs=len(returns),
        e_value=evidence,
        is_better=is_better,
        pairs_needed=None if is_better else pairs_needed(returns, scale),
        loss=estimate(measured) if is_better else None,
    )


GHOSTS_FILE = "future-ghosts.mp4"
Advance = Callable[[int, int], None]
"""Receives the finished and the total work of the simulations, in decisions."""


def run(request: FuturesRequest, should_stop: Callable[[], bool] = lambda: False) -> FuturesDocument:
    """Load the agents, and simulate the requested futures."""
    player = load(request.run_directory, request.step, request.protocol)
    other = load_other(request.agent, request.agent_step, player) if request.agent else None
    return simulated(request, player, other, should_stop=should_stop)


def simulated(
    request: FuturesRequest,
    player: Player,
    other: Player | None = None,
    actions: Sequence[Action] = (),
    should_stop: Callable[[], bool] = lambda: False,
    advance: Advance = lambda _done, _total: None,
) -> FuturesDocument:
    """Play the episode up to the requested decision, and simulate its futures.

    Another agent may act in them. Recorded actions make the episode the same on another host.
    """
    began, acting, options = time.monotonic(), other or player, request.options
    devices.compute_in(1)
    check_temperature(options, acting)
    watching = other.subject if other else None
    played = moments(player.subject, player.protocol, request.seed, request.episode, other=watching, actions=actions)
    with closing(played):
        moment = moment_at(played, options.decision, should_stop)
        plan = Plan(options.horizon, options.until, first_actions(options, moment.game), options.temperature)
        total = options.work(len(moment.game.action_names))
        draw = partial(draws, request.seed, request.episode, options.decision)
        drawn = draw(range(options.futures))
        simulator = Simulator(acting, moment, drawn, plan, should_stop, lambda done: advance(min(done, total), total))
        directory = request.videos if options.renders_videos else None
        with ghosts_of(moment, options, directory) as ghosts:
            [branches] = simulator.simulate([plan], ghosts)
        screen = simulator.simulate([replace(plan, first=(action,)) for action in actions_to_compare(options, moment)])
        tested = test_best(simulator, draw, screen) if screen else None
        futures = [future(branch, acting.config) for branch in branches]
        videos = film_some(directory, options.videos_of, moment, branches, drawn, futures, should_stop)
        if ghosts:
            videos.append(FuturesVideo(shows="ghosts", future=None, file=GHOSTS_FILE))
        advance(total, total)
    returns = [each.discounted_return for each in futures]
    return FuturesDocument(
        env=player.config.env,
        algorithm=player.checkpoint.algorithm,
        checkpoint_step=player.checkpoint.file.step,
        protocol=player.protocol.name,
        seed=request.seed,
        episode=request.episode,
        decision=options.decision,
        horizon=options.horizon,
        until=options.until,
        first=[moment.game.action_names[action] for action in plan.first],
        acting=acting.subject.acting,
        temperature=options.temperature,
        agent=str(request.agent) if request.agent else None,
        agent_step=other.checkpoint.file.step if other else None,
        gamma=acting.config.gamma,
        clip_rewards=acting.config.clip_rewards,
        value=float(moment.output.values[0]),
        returns=returns,
        **estimates(futures),
        score_fan=score_fan(branches),
        survival=survival(futures),
        actions=list(by_action(simulator, screen)),
        challenge=tested,
        futures=futures,
        videos=videos,
        seconds=time.monotonic() - began,
        **estimate(returns).model_dump(),
    )


def estimates(futures: Sequence[Future]) -> dict[str, MeanReturn]:
    """Return the means of futures that ended, of futures that were cut off, and of all scores."""
    return {
        "terminal": estimate([each.discounted_return for each in futures if each.bootstrap is None]),
        "bootstrapped": estimate([each.discounted_return for each in futures if each.bootstrap is not None]),
        "score": estimate([each.score for each in futures]),
    }


def moment_at(episode: Iterable[Moment], decision: int, should_stop: Callable[[], bool]) -> Moment:
    """Play an episode up to a decision."""
    last = -1
    for moment in episode:
        if should_stop():
            raise StoppedError("the futures were stopped")
        if moment.decision == decision:
            return moment
        last = moment.decision
    raise RequestError(f"--decision {decision}: the episode has {last + 1} decisions, so choose 0 to {last}")


def check_temperature(options: FuturesOptions, acting: Player) -> None:
    """Raise if a temperature is requested of an agent that draws no actions from a policy."""
    if options.temperature != 1 and acting.subject.acting.name != "sampled":
        raise RequestError(
            f"--temperature {options.temperature:g}: this agent acts {acting.subject.acting} by action values, "
            "not by a policy: remove the temperature"
        )


def first_actions(options: FuturesOptions, game: PlayableGame) -> tuple[int, ...]:
    """Return the forced first actions."""
    if isinstance(game.actions, Continuous) and (options.first or options.each_action):
        raise RequestError("only discrete actions can be forced, and this environment has continuous actions")
    return parsed_actions(options.first, game.action_names)


def ghosts_of(moment: Moment, options: FuturesOptions, directory: Path | None) -> AbstractContextManager[Ghosts | None]:
    """Return the ghosts of an Atari game. The branches of other environments show no pictures."""
    if directory is None or options.videos_of == "first" or not isinstance(moment.game, AtariGame):
        return nullcontext()
    return Ghosts(directory / GHOSTS_FILE, moment.game)


@dataclass
class Simulator:
    """Simulator of futures from one moment, always with the same random numbers. It reports the finished work."""

    acting: Player
    moment: Moment
    drawn: Sequence[FutureSeeds]
    plan: Plan
    should_stop: Callable[[], bool]
    advance: Callable[[int], None]
    done: int = 0

    def simulate(self, plans: Sequence[Plan], ghosts: Ghosts | None = None) -> list[list[Branch]]:
        """Simulate the futures of each plan. Ghosts see them."""
        if not plans:
            return []
        before = self.done
        self.done += len(plans) * self.plan.horizon
        branches = simulate_each(
            self.acting.subject,
            self.moment,
            self.drawn,
            plans,
            self.should_stop,
            lambda played: self.advance(before + len(plans) * played),
            ghosts,
        )
        self.advance(self.done)
        return branches


def actions_to_compare(options: FuturesOptions, moment: Moment) -> range:
    """Return the actions that are forced first."""
    return range(len(moment.game.action_names) if options.each_action else 0)


def test_best(
    simulator: Simulator, draw: Callable[[range], list[FutureSeeds]], screen: Sequence[Sequence[Branch]]
) -> Challenge:
    """Test the action with the best futures against the taken one, with futures that are drawn for it."""
    moment = simulator.moment

    def simulate_fresh(plans: Sequence[Plan], futures: range) -> list[list[Branch]]:
        return replace(simulator, drawn=draw(futures)).simulate(plans)

    taken = int(moment.action)
    return challenge(simulator.acting, simulator.plan, simulate_fresh, screen, taken, moment.game.action_names)


def by_action(simulator: Simulator, screen: Sequence[Sequence[Branch]]) -> Iterator[ActionFutures]:
    """Yield the returns of the futures of each action."""
    acting, moment = simulator.acting, simulator.moment
    output_kind = acting.subject.network.output_kind
    numbers = displayed_numbers(moment.output.numbers[0], output_kind, moment.game.actions).tolist()
    for name, number, branches in zip(moment.game.action_names, numbers, screen, strict=False):
        yield ActionFutures(
            name=name,
            probability=number if output_kind == "policy" else None,
            action_value=number if output_kind == "values" else None,
            **estimate([future(branch, acting.config).discounted_return for branch in branches]).model_dump(),
        )
