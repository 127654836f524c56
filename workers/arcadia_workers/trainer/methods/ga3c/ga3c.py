"""GA3C: queues between the agents and one model (Babaeizadeh et al. 2017, section 4)."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from functools import partial

import numpy as np
import torch
from pydantic import JsonValue, TypeAdapter

from arcadia_workers.contract.action_names import number_of_actions
from arcadia_workers.contract.config import Ga3cConfig
from arcadia_workers.trainer.environments.own_environment import OwnEnvironment, interface
from arcadia_workers.trainer.host.devices import cores
from arcadia_workers.trainer.host.memory import room
from arcadia_workers.trainer.host.processes import Link, Processes
from arcadia_workers.trainer.methods.ga3c.crew import FILES_OF_AN_AGENT, Adjustment, Counts, Ga3cCrew
from arcadia_workers.trainer.methods.ga3c.experiences import (
    Desk,
    Exchange,
    Experiences,
    bytes_of_agent,
    free_shared_memory,
)
from arcadia_workers.trainer.methods.ga3c.model import Model, TrainingBatch
from arcadia_workers.trainer.methods.ga3c.record_queues import QueueClosed
from arcadia_workers.trainer.networks import networks
from arcadia_workers.trainer.networks.gradients import body_dtype
from arcadia_workers.trainer.run.run import FIRST_UPDATE, TrainingRun, TrainingState, prefixed, starting

TICK_SECONDS = 0.1
# The paper's fastest setting had 8 agents per core.
AGENTS_PER_CORE = 8
MOST_AGENTS, MOST_THREADS = 1024, 16

counts_adapter = TypeAdapter(Counts)


def agent(link: Link, config: Ga3cConfig, seed: int, desk: Desk) -> None:
    """Run an agent: request policies, act in an environment, and submit the experiences."""
    environment = OwnEnvironment(config, seed)
    try:
        with suppress(QueueClosed):  # training is over
            play(config, environment, np.random.default_rng(seed), desk, stopping=lambda: link.stopping)
    finally:
        environment.close()


def play(
    config: Ga3cConfig,
    environment: OwnEnvironment,
    random: np.random.Generator,
    desk: Desk,
    stopping: Callable[[], bool],
) -> None:
    """Submit every experience once: t_max per rollout, fewer at the end of an episode or at a stop."""
    full, rollout = None, desk.new_rollout()
    while not stopping():
        policy, value = desk.ask(rollout, environment.observation)
        if full:  # R = V(s_{t+k}), from the prediction for the next action
            desk.submit(full, value, config.gamma)
            full = None
        action = draw(policy, random.random())
        outcome = environment.step(np.array([action]))
        desk.keep(rollout, action, outcome.reward)

        done, last_state = rollout, environment.observation
        episode = environment.begin_again() if outcome.over else None
        if outcome.terminal:
            desk.submit(done, 0.0, config.gamma, episode)
            rollout = desk.new_rollout()
        elif outcome.over:  # a time limit cut the episode: its last state has a value
            rollout = desk.new_rollout()
            _, value = desk.ask(rollout, last_state)
            desk.submit(done, value, config.gamma, episode)
        elif done.length == config.t_max:
            full, rollout = done, desk.new_rollout()

    _, value = desk.ask(rollout, environment.observation)
    for unfinished in (full, rollout):
        if unfinished:
            desk.submit(unfinished, value, config.gamma)
    desk.leave()


def draw(policy: list[float], uniform: float) -> int:
    """Draw an action from π, given a uniform number in [0, 1)."""
    for action, probability in enumerate(policy):
        uniform -= probability
        if uniform < 0:
            return action
    return policy.index(max(policy))  # rounding made the probabilities add up to less than 1


def predictor(model: Model, exchange: Exchange) -> None:
    """Run a predictor: answer all waiting requests with one pass of the network."""
    dismissed = False
    while not dismissed:
        rows, dismissed = exchange.take_requests()
        if rows:
            model.predict(exchange.experiences, rows)
            exchange.answer(rows)


def trainer(model: Model, exchange: Exchange, config: Ga3cConfig) -> None:
    """Run a trainer: collect rollouts in a batch, and update the network when the batch is full."""
    batch = TrainingBatch(exchange.experiences, config)
    while submission := exchange.take_submission():
        batch.add(submission)
        exchange.free(submission.first_row)
        if batch.is_full:
            model.train(batch)
            batch.clear()
    if batch.size and not exchange.closing:
        model.train(batch)  # dismissed with a partial batch, whose rollouts exist nowhere else


def train(config: Ga3cConfig, run: TrainingRun) -> None:
    """Train as in section 4, with queues between agents, predictors and trainers, and adjusted numbers of each."""
    start = run.restored
    random = np.random.default_rng((config.seed, start.step if start else 0))
    observation_shape, actions = interface(config)
    torch.manual_seed(config.seed)
    network = networks.build(config, observation_shape, actions, body_dtype(config, run.device)).to(run.device)
    model = Model(config, network, run.device)
    most = largest(config, observation_shape)
    counts = restore(start, model, config).within(most) if start else configured(config)
    exchange = Exchange(Experiences.allocate(config, most.agents, observation_shape, number_of_actions(actions)))
    adjustment = Adjustment(counts, most, config.adjustment_seconds, random)
    reporter = Ga3cReporter(run, model, exchange, config.environment.frames_per_step)

    def start_agent(processes: Processes, desk: Desk) -> int:
        return processes.start(agent, config, int(random.integers(2**31)), desk)

    def save() -> None:
        with model.updating:
            reporter.progress()
            run.save(state(model, config.environment.frames_per_step, adjustment.kept, config))

    crew = Ga3cCrew(
        exchange, most, start_agent, partial(predictor, model, exchange), partial(trainer, model, exchange, config)
    )
    run.start_step(starting(adjustment.counts.agents, "agent"))
    with crew:
        crew.bring_to(adjustment.counts)
        run.start_step(FIRST_UPDATE)
        while model.step < config.total_steps and not run.should_stop():
            crew.bring_to(adjustment.counts)
            crew.watch(TICK_SECONDS)
            if config.dynamic_adjustment and model.updates:
                adjustment.observe(time.monotonic(), model.updates)
            reporter.progress()
            run.apply_changes(config)
            if run.metrics_due():
                run.metrics(reporter.metrics(adjustment.counts))
            if run.checkpoint_due() and model.updates:
                save()
        exchange.closing = True  # so that no update follows the last checkpoint
        save()


class Ga3cReporter:
    """Reporter of the work of agents, predictors and trainers to the run."""

    def __init__(self, run: TrainingRun, model: Model, exchange: Exchange, frames_per_step: int) -> None:
        self._run, self._model, self._exchange, self._frames_per_step = run, model, exchange, frames_per_step
        self._updates = 0
        self._since = time.monotonic()
        self._sizes: list[tuple[int, int]] = []

    def progress(self) -> None:
        """Report the step and the finished episodes."""
        self._sizes.append(self._exchange.sizes())
        for step, episode in self._model.take_episodes():
            self._run.episode(step, step * self._frames_per_step, episode.episode_return, episode.length)
        step, updates = self._model.step, self._model.updates
        self._run.advance(step, step * self._frames_per_step, updates - self._updates)
        self._updates = updates

    def metrics(self, counts: Counts) -> dict[str, float]:
        """Return the metrics of the time since the last call."""
        tally, now = self._model.take_tally(), time.monotonic()
        prediction_queue, training_queue = (sum(sizes) / len(sizes) for sizes in zip(*self._sizes, strict=True))
        values = {
            "throughput/predictions_per_second": tally.predictions / (now - self._since),
            "ga3c/agents": counts.agents,
            "ga3c/predictors": counts.predictors,
            "ga3c/trainers": counts.trainers,
            "ga3c/prediction_queue": prediction_queue,
            "ga3c/training_queue": training_queue,
        }
        self._since, self._sizes = now, []
        if tally.prediction_batches:
            values["ga3c/prediction_batch"] = tally.predictions / tally.prediction_batches
        if last := tally.last:
            values |= {
                "ga3c/training_batch": tally.experiences / tally.updates,
                "ga3c/policy_lag": tally.lag / tally.experiences,
                "train/policy_loss": last.losses.policy.item() / last.experiences,
                "train/value_loss": last.losses.value.item() / last.experiences,
                "train/entropy": last.losses.entropy.item() / last.experiences,
                "train/grad_norm": last.gradient_norm.item(),
                "train/learning_rate": last.learning_rate,
                **self._model.network_metrics(),
            }
        return values


def configured(config: Ga3cConfig) -> Counts:
    """Return the configured numbers, which training starts with."""
    return Counts(config.num_agents, config.num_predictors, config.num_trainers)


def largest(config: Ga3cConfig, observation_shape: tuple[int, ...]) -> Counts:
    """Return the adjustment's upper limits. They fix the number of agents' slots, which cannot grow during training."""
    counts = configured(config)
    if not config.dynamic_adjustment:
        return counts
    memory = free_shared_memory() / 4 / bytes_of_agent(config, observation_shape)
    affordable = min(memory, room(FILES_OF_AN_AGENT))
    wanted = min(max(2 * counts.agents, AGENTS_PER_CORE * cores()), MOST_AGENTS)
    return Counts(max(counts.agents, int(min(wanted, affordable))), MOST_THREADS, MOST_THREADS)


def state(model: Model, frames_per_step: int, counts: Counts, config: Ga3cConfig) -> TrainingState:
    """Return everything the next update depends on, except the agents, which start new episodes."""
    tensors = prefixed("network", model.parameters.named())
    tensors["optimizer.mean_square"] = model.optimizer.mean_square
    facts: dict[str, JsonValue] = {"counts": asdict(counts), "configured": asdict(configured(config))}
    return TrainingState(model.step, model.step * frames_per_step, tensors, facts)


def restore(start: TrainingState, model: Model, config: Ga3cConfig) -> Counts:
    """Restore a saved state. Return its adjusted numbers, or the configured ones if the configuration has changed."""
    model.parameters.load(start.component("network"))
    if not start.has_only_weights:
        model.optimizer.mean_square.copy_(start.tensors["optimizer.mean_square"])
    model.step = start.step
    wanted = configured(config)
    if config.dynamic_adjustment and start.facts["configured"] == asdict(wanted):
        return counts_adapter.validate_python(start.facts["counts"])
    return wanted
