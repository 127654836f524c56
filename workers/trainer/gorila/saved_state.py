"""What a Gorila run saves and goes on from."""

import torch
from pydantic import JsonValue

from workers.trainer.config import GorilaConfig
from workers.trainer.gorila.parameter_server import ShardState, first_statistics
from workers.trainer.optimizers import FlatParameters
from workers.trainer.run import TrainingState, part


def fresh(config: GorilaConfig, parameters: FlatParameters) -> ShardState:
    """θ⁺ and θ⁻ at the beginning."""
    values = parameters.values.numpy().copy()
    return ShardState(values, first_statistics(config, values), values, 0)


def state(
    whole: ShardState, step: int, config: GorilaConfig, parameters: FlatParameters, facts: dict[str, JsonValue]
) -> TrainingState:
    """What the next update depends on, but for the replay memories and the environments, which begin anew."""
    parameters.values.copy_(torch.from_numpy(whole.values.copy()))
    tensors = part("network", parameters.named()) | {
        "optimizer.statistics": torch.from_numpy(whole.statistics.copy()),
        "target.values": torch.from_numpy(whole.target.copy()),
    }
    facts = {**facts, "updates": whole.updates, "optimizer": config.optimizer}
    return TrainingState(step, step * config.environment.frames_per_step, tensors, facts)


def restore(start: TrainingState, config: GorilaConfig, parameters: FlatParameters) -> ShardState:
    """Put a saved state back in place; another optimizer begins with its own statistics."""
    parameters.load(start.part("network"))
    first = fresh(config, parameters)
    same = start.facts["optimizer"] == config.optimizer
    statistics = start.tensors["optimizer.statistics"].numpy() if same else first.statistics
    return ShardState(
        first.values, statistics, start.tensors["target.values"].numpy(), int(str(start.facts["updates"]))
    )
