"""Training with Gorila: starts Ray and a crew, and saves checkpoints."""

import contextlib
from collections.abc import Iterator

import torch
from pydantic import JsonValue

from arcadia_workers.contract.config import GorilaConfig
from arcadia_workers.trainer.environments import own_environment
from arcadia_workers.trainer.learning.optimizers import FlatParameters
from arcadia_workers.trainer.methods.gorila.gorila import build
from arcadia_workers.trainer.methods.gorila.parameter_server import ShardState, first_statistics
from arcadia_workers.trainer.methods.gorila.ray_cluster import NOTICE_SECONDS, RayCluster, RayLostError, address
from arcadia_workers.trainer.methods.gorila.reporter import Reporter
from arcadia_workers.trainer.run.run import FIRST_UPDATE, TrainingRun, TrainingState, prefixed

TICK_SECONDS = 0.1


def train(config: GorilaConfig, run: TrainingRun) -> None:
    """Start Ray or join a cluster, and train there."""
    run.start_step("Joining the Ray cluster" if address() else "Starting Ray")
    with RayCluster() as cluster:
        train_on(cluster, config, run)


def train_on(cluster: RayCluster, config: GorilaConfig, run: TrainingRun) -> None:
    """Train the network with a crew until T reaches the end or the run should stop."""
    from arcadia_workers.trainer.methods.gorila.crew import GorilaCrew  # imports Ray, which only Gorila needs

    torch.manual_seed(config.seed)
    interface = own_environment.interface(config)
    parameters = FlatParameters(build(config, *interface))
    start = run.restored
    whole = restore(start, config, parameters) if start else fresh(config, parameters)
    first_step = start.step if start else 0
    reporter = Reporter(run, config, whole.updates, start.facts if start else {})
    run.start_step("Starting the roles")
    with GorilaCrew(cluster, config, interface, whole, first_step, run.log) as crew:
        run.start_step(FIRST_UPDATE)
        try:
            with lost_ray_noticed(cluster):
                while crew.step < config.total_steps and not run.should_stop():
                    crew.watch(TICK_SECONDS)
                    reporter.report(crew)
                    crew.change(run.apply_changes(config))
                    if run.checkpoint_due():
                        run.save(state(crew.state(), crew.step, config, parameters, reporter.facts))
                crew.dismiss()
                whole = crew.state()
        except RayLostError:
            # The next attempt continues from here, at most the interval of backups earlier.
            reporter.report(crew, last=True)
            run.save(state(crew.backup, crew.step, config, parameters, reporter.facts))
            raise
        reporter.report(crew, last=True)
        run.save(state(whole, crew.step, config, parameters, reporter.facts))


@contextlib.contextmanager
def lost_ray_noticed(cluster: RayCluster) -> Iterator[None]:
    """Raise RayLostError instead of the error of a call that failed because Ray was killed."""
    try:
        yield
    except Exception:
        cluster.check(NOTICE_SECONDS)
        raise


def fresh(config: GorilaConfig, parameters: FlatParameters) -> ShardState:
    """Return the parameter server's state before the first update."""
    values = parameters.values.numpy().copy()
    return ShardState(values, first_statistics(config, values), values, 0)


def state(
    whole: ShardState, step: int, config: GorilaConfig, parameters: FlatParameters, facts: dict[str, JsonValue]
) -> TrainingState:
    """Return a checkpoint's state. Replay memories and environments are not saved and start empty."""
    parameters.values.copy_(torch.from_numpy(whole.values.copy()))
    tensors = prefixed("network", parameters.named()) | {
        "optimizer.statistics": torch.from_numpy(whole.statistics.copy()),
        "target.values": torch.from_numpy(whole.target.copy()),
    }
    facts = {**facts, "updates": whole.updates, "optimizer": config.optimizer}
    return TrainingState(step, step * config.environment.frames_per_step, tensors, facts)


def restore(start: TrainingState, config: GorilaConfig, parameters: FlatParameters) -> ShardState:
    """Restore the parameter server's state. If the optimizer has changed, its statistics are reset."""
    parameters.load(start.component("network"))
    first = fresh(config, parameters)
    if start.has_only_weights:
        return first
    same = start.facts["optimizer"] == config.optimizer
    statistics = start.tensors["optimizer.statistics"].numpy() if same else first.statistics
    return ShardState(
        first.values, statistics, start.tensors["target.values"].numpy(), int(str(start.facts["updates"]))
    )
