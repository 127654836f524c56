"""Building blocks for the trainer halves of plug-ins. It loads PyTorch, so only the trainer imports it."""

# isort: split
from arcadia_workers.contract.action_names import ActionSpace, Continuous, Discrete, number_of_actions
from arcadia_workers.trainer.environments.environments import Environments, EnvironmentStep, make
from arcadia_workers.trainer.environments.episodes import EpisodeBook
from arcadia_workers.trainer.environments.own_environment import OwnEnvironment, interface
from arcadia_workers.trainer.errors import TrainerError
from arcadia_workers.trainer.host.devices import compute_in, restore_generator
from arcadia_workers.trainer.host.memory import Need, outputs_size, prepared_size, row_size, state_size
from arcadia_workers.trainer.learning.optimizers import Adam, FlatParameters, Optimizer, RMSProp, clip_to_norm
from arcadia_workers.trainer.learning.policies import (
    Categorical,
    EpsilonGreedy,
    Gaussian,
    Policy,
    RolloutSampler,
    annealed,
    policy_over,
)
from arcadia_workers.trainer.learning.returns import decayed, generalized_advantages, n_step_returns
from arcadia_workers.trainer.methods import TRAINERS
from arcadia_workers.trainer.methods.paac import needs as framework_needs
from arcadia_workers.trainer.methods.paac.framework import Actors, Framework, Rollout, Updater, pick
from arcadia_workers.trainer.methods.trainer import (
    NetworkOutput,
    TrainedActionValues,
    TrainedAgent,
    TrainedNetwork,
    TrainedPolicy,
    Trainer,
    load_action_values,
    load_policy,
    load_weights,
)
from arcadia_workers.trainer.networks.agents import Agent, BatchTape, GaussianHead, Memory
from arcadia_workers.trainer.networks.bodies import PixelBody, ReadingsFilter, VectorBody, build_body
from arcadia_workers.trainer.networks.gradients import ALONE, SideBySide, body_dtype, initialized
from arcadia_workers.trainer.networks.lstm import Lstm, cleared
from arcadia_workers.trainer.networks.networks import ActionValues, ActorCritic, build, build_action_values
from arcadia_workers.trainer.networks.outputs import Tape
from arcadia_workers.trainer.run.run import FIRST_UPDATE, NullRun, TrainingRun, TrainingState, prefixed, starting

__all__ = [
    "ALONE",
    "FIRST_UPDATE",
    "TRAINERS",
    "ActionSpace",
    "ActionValues",
    "ActorCritic",
    "Actors",
    "Adam",
    "Agent",
    "BatchTape",
    "Categorical",
    "Continuous",
    "Discrete",
    "EnvironmentStep",
    "Environments",
    "EpisodeBook",
    "EpsilonGreedy",
    "FlatParameters",
    "Framework",
    "Gaussian",
    "GaussianHead",
    "Lstm",
    "Memory",
    "Need",
    "NetworkOutput",
    "NullRun",
    "Optimizer",
    "OwnEnvironment",
    "PixelBody",
    "Policy",
    "RMSProp",
    "ReadingsFilter",
    "Rollout",
    "RolloutSampler",
    "SideBySide",
    "Tape",
    "TrainedActionValues",
    "TrainedAgent",
    "TrainedNetwork",
    "TrainedPolicy",
    "Trainer",
    "TrainerError",
    "TrainingRun",
    "TrainingState",
    "Updater",
    "VectorBody",
    "annealed",
    "body_dtype",
    "build",
    "build_action_values",
    "build_body",
    "cleared",
    "clip_to_norm",
    "compute_in",
    "decayed",
    "framework_needs",
    "generalized_advantages",
    "initialized",
    "interface",
    "load_action_values",
    "load_policy",
    "load_weights",
    "make",
    "n_step_returns",
    "number_of_actions",
    "outputs_size",
    "pick",
    "policy_over",
    "prefixed",
    "prepared_size",
    "restore_generator",
    "row_size",
    "starting",
    "state_size",
]
